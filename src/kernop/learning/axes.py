"""How finely each axis is resolved, relative to the others, for the inputs of a user.

sin 20πx sin πy needs many functions along x and few along y; which axis it is, the equation does not tell, but the
inputs do. The first guess is how fast their data vary along each axis. From there, and from where the equation alone
would begin, one axis after the other is refined or coarsened as long as the residual of the inputs, at places that were
not used, falls by a factor. The number of functions stays the same meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.ansatz import Ansatz, condition_layouts
from kernop.collocation.data import inputs_in_advance, values_at
from kernop.collocation.sampling import held_out
from kernop.collocation.units import FINEST, Frame
from kernop.language.problem import Problem

#: An axis is refined by the first factor as long as that helps, then by the second.
STEPS = (4.0, 2.0)
#: The residual must fall by this factor, or the axes stay as they are.
GAIN = 1.5
#: At most so many frames are tried.
TRIALS = 16
#: Points of each condition at which data are differentiated, and the step as a part of the unit of an axis.
PLACES, STEP = 200, 1e-4


def followed(start: Frame, guess: Frame, residual: Callable[[Frame], float], enough: float) -> Frame:
    """The frame whose axes give the least residual, of those that were tried.

    Arguments:
        start: what is kept if nothing is better.
        guess: another beginning.
        residual: that of the inputs with functions in a frame.
        enough: a residual that need not be smaller.
    """
    search = _Search(residual)
    best, least = start, search(start)
    if (first := search(guess)) < least / GAIN:
        best, least = guess, first
    axes = np.eye(len(start.units))
    for step in STEPS:
        # One axis finer; or, where that is not the same as another one finer, one axis coarser.
        moves = [factor**axis for factor in ((step, 1.0 / step) if len(axes) > 2 else (step,)) for axis in axes]
        moved = True
        while moved:
            moved = False
            for factors in moves:
                while least > enough and (found := search(other := finer(best, factors))) < least / GAIN:
                    best, least, moved = other, found, True
    return best


def finer(frame: Frame, factors: FloatArray) -> Frame:
    """With axes that are resolved so many times finer beside each other; the coarsest has 1, and none more than 64."""
    now = np.ones(len(frame.units)) if frame.fineness is None else frame.fineness
    wanted = now * factors
    return replace(frame, fineness=np.minimum(wanted / np.min(wanted), FINEST))


@dataclass
class _Search:
    """Residuals by frame, each found once; infinite when enough were tried."""

    residual: Callable[[Frame], float]
    known: dict[bytes, float] = field(default_factory=dict[bytes, float])

    def __call__(self, frame: Frame) -> float:
        key = np.round(np.log2(finer(frame, np.ones(1)).resolved), 6).tobytes()
        if key not in self.known:
            self.known[key] = self.residual(frame) if len(self.known) < TRIALS else np.inf
        return self.known[key]


def as_data_vary(problem: Problem, inputs: Sequence[object] | None, frame: Frame, seed: int) -> Frame:
    """Axes as fine as the data of the inputs vary along them: rms ∂_j h / rms h, the most of any condition and input.

    An axis along which no data are given is as coarse as the coarsest other one.
    """
    rates = np.zeros(problem.dim)
    layouts = condition_layouts(problem, Ansatz(problem.unknowns))
    for condition, layout in zip(problem.conditions, layouts, strict=True):
        if condition.integral:
            continue
        points, (low, high) = held_out(problem, condition, PLACES, seed), condition.on.bounds
        for given in inputs_in_advance(problem, inputs):
            value = given.get(condition.name, condition.data)
            for axis in np.flatnonzero(high > low) if callable(value) else ():
                shift = np.where(np.arange(problem.dim) == axis, STEP * frame.units, 0.0)
                try:
                    sides = [
                        np.asarray(values_at(condition, value, replace(points, x=points.x + sign * shift), layout))
                        for sign in (-0.5, 0.5)
                    ]
                except Exception:  # a user's function need not be defined beside its region, and this is but a guess
                    continue
                size = np.linalg.norm(sides[0] + sides[1]) / 2.0
                if size > 0.0:
                    rates[axis] = max(rates[axis], float(np.linalg.norm(sides[1] - sides[0]) / size) / STEP)
    seen = rates[rates > 0.0]
    return finer(replace(frame, fineness=None), np.where(rates > 0.0, rates, np.min(seen))) if len(seen) else frame
