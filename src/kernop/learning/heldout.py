"""How wrong an operator is on solutions that are known, at places that it did not learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.basics.linalg import norms
from kernop.collocation.ansatz import PLAIN, Ansatz, collocate, condition_layouts
from kernop.collocation.cells.lasting import at_time
from kernop.collocation.data import Input, InputValue, all_values, concrete, inputs_in_advance, real_columns
from kernop.collocation.functionals import Functionals, Layout
from kernop.collocation.probes import Bumps, Probes, applied, oscillations, probes_of
from kernop.collocation.sampling import between, held_out, interior, top_dimension
from kernop.collocation.units import Frame
from kernop.geometry import Points
from kernop.language.problem import Problem
from kernop.methods import Answer, Combination
from kernop.operators.operator import SolutionOperator

#: Points at which residuals and errors are measured, all conditions together.
HELD_OUT = 1200
#: Periods of the oscillating probes over the shortest side, and widths of the local ones as a part of it, for
#: d = 1, 2, 3, …: what some thousand functions can resolve becomes coarser with every dimension.
PERIODS, WIDTHS = (5.0, 3.0, 1.5, 0.75), (0.05, 0.1, 0.2, 0.35)
#: Local probes.
BUMPS = 3
#: The wave that is data where no solution is known: its phase over the domain, less along every further axis.
PHASE, WAVE = 4.0, "a wave"
#: Errors below this do not count.
ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class Findings:
    """What an operator does where it did not learn.

    Attributes:
        error: the worst relative error of a known solution, in L2 or L∞; or, for the user's inputs, the worst relative
            residual.
        score: the geometric mean of the relative errors or residuals, by which operators are compared: the worst one
            may be hopeless for all of them.
        misfit: the largest part of their data that the solutions leave at the points of the operator.
        values: solutions whose truth is not known, at points inside, (n, B): those of the user's inputs, or those of
            constant data.
    """

    error: float
    score: float
    misfit: float
    values: FloatArray

    def changes(self, before: Findings) -> FloatArray:
        """How far each solution of unknown truth is from what it was before, relative, in L2 or L∞: (B,)."""
        return np.asarray(_relative(self.values - before.values, self.values, 1))


class OnProbes:
    """Errors of u itself, on manufactured solutions, at places inside and on the boundaries.

    The probes are smooth random fields of several length scales, waves with a few periods over the shortest side along
    each axis and in all directions, local bumps, and the free waves of the equation (all times the envelope, if the
    method has one). None of them has corner singularities or boundary layers, so the plain data that people try first
    are solved as well: each condition in turn has data 1, and a wave where these tell too little (`waves_tell_more`);
    all others have 0. Their truth is not known, but what they change from one operator to a richer one is.

    Arguments:
        rows: the conditions at some points, of which the free waves are sought; None collocates them.
    """

    def __init__(
        self,
        problem: Problem,
        frame: Frame,
        seed: int = 0,
        ansatz: Ansatz = PLAIN,
        rows: Functionals | None = None,
    ) -> None:
        self._problem = problem
        level = min(problem.dim, len(PERIODS)) - 1
        self.known = (
            f"smooth solutions, up to {PERIODS[level]:g} periods over the shortest side, "
            f"bumps down to {WIDTHS[level]:g} of it"
        )
        self._wavy = _wavy(problem) if waves_tell_more(problem) else ()
        self._frame = frame
        self.unknown = (*(f"{name} = 1" for name in problem.inputs), *(f"{name} = {WAVE}" for name in self._wavy))
        inside = interior(problem, HELD_OUT // 2, seed + 1)
        rims = [c.on for c in problem.conditions if c.on.intrinsic_dim < top_dimension(problem) and not c.integral]
        around = [between(rim, HELD_OUT // 8, seed + 1).x for rim in rims]
        self._places = ansatz.evaluations(np.concatenate([inside.x, *around]))
        self._inside = len(inside)
        if rows is None:  # without an envelope
            points = {c.name: held_out(problem, c, HELD_OUT // 8, seed + 1) for c in problem.conditions}
            rows = collocate(problem, points, replace(ansatz, envelope=None))
        self._fields: tuple[Probes | Bumps, ...] = (
            probes_of(rows.blocks, frame, seed + 1),
            oscillations(frame, PERIODS[level], seed + 1),
            Bumps(interior(problem, BUMPS, seed + 1).x, WIDTHS[level] * frame.shortest),
        )
        self._truth = self._all(self._places)

    def data(self, operator: SolutionOperator) -> FloatArray:
        """What the conditions of an operator make of the probes, and constant data, (N, B)."""
        rows = operator.collocated
        plain = np.zeros((len(rows), len(self.unknown)))
        for k, name in enumerate(self._problem.inputs):
            plain[rows.slices[self._problem.names.index(name)], k] = 1.0
        for k, name in enumerate(self._wavy, start=len(self._problem.inputs)):
            number = self._problem.names.index(name)
            x, parts = operator.points[name].x, rows.layouts[number].parts
            plain[rows.slices[number], k] = wave(x, self._frame, parts).T.ravel()
        return np.hstack([self._all(rows), plain])

    def __call__(self, operator: SolutionOperator) -> Findings:
        return self.judged(operator.factorisation.answer(self.data(operator)))

    def judged(self, answer: Answer) -> Findings:
        """How far the answer to `data` is off."""
        found = answer.u.apply(self._places)
        count = self._truth.shape[1]
        parts = len(self._places.blocks)
        error = _relative(found[:, :count] - self._truth, self._truth, parts)
        worst = float(np.max(error)) if np.all(np.isfinite(error)) else np.inf
        values = np.vstack([part[: self._inside, count:] for part in np.split(found, parts)])
        return Findings(worst, _geometric(error), float(np.max(answer.misfit[:count])), values)

    def _all(self, rows: Functionals) -> FloatArray:
        """What the functionals make of all fields, (N, B)."""
        return np.hstack([applied(fields, rows) for fields in self._fields])


class OnInputs:
    """Relative residuals of the user's inputs, at points of each condition that the operator did not learn from.

    The worst condition of the worst input counts; see `relative_residuals`.
    """

    known = ""

    def __init__(
        self, problem: Problem, frame: Frame, inputs: Sequence[object], seed: int = 0, ansatz: Ansatz = PLAIN
    ) -> None:
        self._inputs, self._units = inputs_in_advance(problem, inputs), frame.units
        self.unknown = tuple(f"input {k}" for k in range(len(self._inputs)))
        each = HELD_OUT // len(problem.conditions)
        points = {c.name: held_out(problem, c, each, seed + 1) for c in problem.conditions}
        self._rows = collocate(problem, points, ansatz)
        self._targets = data_columns(problem, self._inputs, points, self._rows.layouts)
        self._weights = [np.full((len(own), 1), 1.0 / len(own)) for own in self._rows.conditions]
        self._inside = ansatz.evaluations(interior(problem, HELD_OUT // 2, seed + 1).x)

    def __call__(self, operator: SolutionOperator) -> Findings:
        data = data_columns(operator.problem, self._inputs, operator.points, operator.layouts)
        answer = operator.factorisation.answer(np.hstack(data))
        values, targets = answer.u.apply(self._inside), np.hstack(self._targets)
        squares = relative_residuals(answer.u, self._rows, targets, self._weights, _rms(values), self._units)
        worst = np.max([np.sqrt(np.sum(own, axis=0)) for own in squares], axis=0)
        ends = np.cumsum([own.shape[1] for own in data])[:-1]  # the columns of each input
        each = np.array([np.max(own) for own in np.split(np.nan_to_num(worst, nan=np.inf), ends)])
        return Findings(float(np.max(each)), _geometric(each), float(np.max(answer.misfit)), values)


@dataclass(frozen=True, eq=False)
class OnBoth:
    """Errors on known solutions, and residuals of inputs that every solution contains: the worse of them."""

    probes: OnProbes
    inputs: OnInputs

    @property
    def known(self) -> str:
        """On what errors are measured, in words."""
        return f"{self.probes.known}; on the fixed data, the residual"

    @property
    def unknown(self) -> tuple[str, ...]:
        """The solutions whose truth is not known."""
        return self.probes.unknown

    def __call__(self, operator: SolutionOperator) -> Findings:
        one, two = self.probes(operator), self.inputs(operator)
        score = float(np.sqrt(one.score * max(two.score, ROUNDING)))
        return Findings(max(one.error, two.error), score, max(one.misfit, two.misfit), one.values)


#: How operators are measured where they did not learn.
Measure = OnProbes | OnInputs | OnBoth


def waves_tell_more(problem: Problem) -> bool:
    """Do equations have no data but fixed ones? Then 1 around the domain may have the solution 1, or another that is
    smooth, which tells nothing of corners. (On a line it does not matter.)
    """
    equations = [c for c in problem.conditions if c.on.intrinsic_dim == top_dimension(problem) and not c.integral]
    return problem.dim > 1 and not problem.timed and all(c.data is not None for c in equations)


def wave(x: FloatArray, frame: Frame, parts: int) -> FloatArray:
    """A wave for each of some parts of a value, at points x (n, d): (n, parts)."""
    phase = PHASE / (1.0 + np.arange(len(frame.low))) / (frame.high - frame.low)
    return np.cos(((np.asarray(x) - frame.low) @ phase)[:, None] + np.arange(parts))


def _wavy(problem: Problem) -> tuple[str, ...]:
    """The inputs whose data differ from point to point."""
    return tuple(name for name in problem.inputs if not problem[name].integral)


def plain_data(problem: Problem, frame: Frame, *, jumps: bool) -> dict[str, dict[str, InputValue]]:
    """Inputs by name: 1 for one condition and 0 for all others, in turn; and so a wave instead of 1, where that tells
    more.

    It does where coefficients jump, too, if they are those of one unknown: u = 1 for g = 1 tells nothing of them.

    In space and time each is multiplied by s⁴, s from 0 to 1 as time goes by, and all begins with 0: data that do not
    fit each other at the first time have solutions that no polynomial follows.
    """
    kinds = dict(zip(problem.names, condition_layouts(problem, Ansatz(problem.unknowns)), strict=True))

    def waves_for(name: str, x: FloatArray) -> FloatArray:
        found = wave(x, frame, kinds[name].components or 1)
        return found[:, 0] if kinds[name].components is None else found

    def after_rest(value: InputValue, x: FloatArray) -> FloatArray:
        s = (np.asarray(x)[..., -1] - frame.low[-1]) / (frame.high[-1] - frame.low[-1])
        return s**4 * (value(x) if callable(value) else value)

    followed = [name for name in problem.inputs if name not in at_time(problem, 0)]
    shapes: list[tuple[str, str, InputValue]] = [(name, "1", 1.0) for name in followed]
    if waves_tell_more(problem) or (jumps and problem.unknowns.total == 1):
        shapes += [(name, WAVE, partial(waves_for, name)) for name in _wavy(problem) if name in followed]
    if problem.timed:
        shapes = [(name, f"{word} after rest", partial(after_rest, value)) for name, word, value in shapes]
    return {
        f"{own} = {word}": {name: value if name == own else 0.0 for name in problem.inputs}
        for own, word, value in shapes
    }


def data_columns(
    problem: Problem, inputs: Sequence[Input], points: Mapping[str, Points], layouts: Sequence[Layout]
) -> list[FloatArray]:
    """The data of each input at points as rows, real and imaginary parts apart, (N, B)."""
    return [real_columns(concrete("inputs", all_values(problem, own, points, layouts))) for own in inputs]


def relative_residuals(
    u: Combination,
    rows: Functionals,
    targets: FloatArray,
    weights: Sequence[FloatArray],
    size: FloatArray,
    units: FloatArray,
) -> list[FloatArray]:
    """For each condition k the relative squares w_i |P_i û − h_i|² / s_k² of B inputs, (n, B).

    s_k = max(rms h_k, Σ_α rms φ_α · rms û / unit^α) is the size of the data, or what the operator makes of a field as
    large as û that varies over one unit.

    Arguments:
        rows, targets: the conditions at some points, and the data there, (N, B).
        weights: w_i of each condition, (n, 1), with which sums of squares are mean squares.
        size: rms û, (B,).
    """
    found, relative = u.apply(rows) - targets, list[FloatArray]()
    for own, part, w in zip(rows.slices, rows.conditions, weights, strict=True):
        scale = np.maximum(np.sqrt(np.sum(w * targets[own] ** 2, axis=0)), _unit_size(part, units) * size)
        relative.append(w * np.square(found[own] / np.where(scale > 0.0, scale, 1.0)))
    return relative


def _unit_size(rows: Functionals, units: FloatArray) -> float:
    """What an operator makes of a field of size 1 that varies over one unit."""
    steps = [np.prod(units ** np.asarray(block.alphas), axis=1) for block in rows.blocks]
    sizes = [np.sum(_rms(block.coefficients) / step) for block, step in zip(rows.blocks, steps, strict=True)]
    return float(max(sizes))


def _relative(error: FloatArray, truth: FloatArray, parts: int) -> FloatArray:
    """The larger of the relative errors in L2 and in L∞, for each column; 0 / 0 is 0: (B,).

    The rows are those of so many components, one after the other; the worst of them counts.
    """
    found: list[FloatArray] = []
    for e, t in zip(np.split(error, parts), np.split(truth, parts), strict=True):
        pairs = [(norms(e), norms(t)), (np.max(np.abs(e), axis=0), np.max(np.abs(t), axis=0))]
        found += [np.where(a == 0.0, 0.0, a / np.where(b > 0.0, b, 1e-300)) for a, b in pairs]
    return np.max(found, axis=0)


def _geometric(errors: FloatArray) -> float:
    """The geometric mean of errors (B,), all that is below rounding counting alike."""
    return float(np.exp(np.mean(np.log(np.maximum(np.nan_to_num(errors, nan=np.inf), ROUNDING)))))


def _rms(values: FloatArray) -> FloatArray:
    return np.sqrt(np.mean(np.square(values), axis=0))
