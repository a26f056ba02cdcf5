"""Adaptive centres: narrower functions, and more points, in the cells where the residual of a user's inputs is large.

Wide functions fill the domain; over them are layers of narrower ones (`Layers`), each of half the spacing of the one
before, in the cells of a 2^d-tree. One step measures the residual of the inputs at fresh points, marks the cells that
hold most of it, fills them, and learns again. More wide functions are the other possible step. They are taken as long
as the residual falls fast with them, as it does for smooth solutions, and where it is spread over the domain; otherwise
whichever step has gained more for its functions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray, IntArray
from kernop.collocation.data import Input, inputs_in_advance
from kernop.collocation.sampling import can_be_fresh, interior
from kernop.geometry import Points
from kernop.language.problem import Problem
from kernop.learning.refine import level_of
from kernop.learning.strata import Residuals, residuals, strata, thickened
from kernop.methods.spaces import Layers
from kernop.methods.spaces.layers import DEEPEST, numbers
from kernop.operators.operator import SolutionOperator
from kernop.operators.report import Level, Report, Status

#: The part of the squared residual that marked cells hold.
BULK = 0.9
#: The residual is local if it is in at most this part of the domain.
LOCAL = 0.25
#: A cell is too large if its residual is in less than one of its 2^d parts, as seen by so many points in each …
SEEN = 4
#: … and then a smaller one is taken, at most so many levels deeper.
DESCENT = 3
#: The growth of the number of functions in one step, at most.
GROWTH = 1.6
#: Smooth solutions: with L functions the residual falls faster than 1 / L to this power.
FAST = 3.0
#: A residual above this says nothing of rates: the inputs are not resolved at all.
RESOLVED = 0.1
#: A step that does not improve on the best one by this factor has stagnated; so many in a row end the search.
IMPROVEMENT, PATIENCE = 1.2, 4
#: From this part of the budget on it is used up: a few more functions would cost as much as all.
USED = 0.95
#: Points inside at which solutions are compared from step to step.
INSIDE = 600

#: Learns one level from points: with so many functions, or with layers.
Build = Callable[[int | Layers, Mapping[str, Points]], SolutionOperator]
#: The points for so many functions that fill the domain.
Place = Callable[[int], Mapping[str, Points]]


def adaptable(problem: Problem) -> bool:
    """Has every condition points wherever they are needed? Clouds have no others than their own."""
    return can_be_fresh(problem) and all(condition.on.known for condition in problem.conditions)


def smooth(levels: Sequence[Level]) -> bool:
    """Has the residual fallen so fast with the last functions that filled the domain, that more of them are better?"""
    if len(levels) < 2 or not levels[-1].error < min(RESOLVED, levels[-2].error):
        return False
    before, last = levels[-2:]
    return float(np.log(before.error / last.error) / np.log(last.centers / before.centers)) > FAST


def marked(layers: Layers, found: Residuals) -> NDArray[np.int64]:
    """The cells that hold the bulk of the residual, worst first, (n, 1 + d).

    Each place counts for the cell in which the next narrower functions would be; for a smaller one, if the residual of
    that cell is in a small part of it.
    """
    level = np.clip(layers.filled_at(found.x) + 1, min(layers.first, DEEPEST), DEEPEST)
    for _ in range(DESCENT):
        cells, own, sums = _gathered(layers, found, level, found.squares)
        peaked, volume = (
            _gathered(layers, found, level, values)[2] for values in (found.squares**2 / found.shares, found.shares)
        )
        part = sums**2 / np.where(peaked > 0.0, peaked, np.inf) / volume
        seen = np.bincount(own) >= SEEN * 2**layers.dim
        deeper = seen & (part < 0.5**layers.dim) & (cells[:, 0] < DEEPEST)
        level = level + deeper[own]
    cells, _, sums = _gathered(layers, found, level, found.squares)
    order = np.argsort(-sums, kind="stable")
    count = 1 + int(np.searchsorted(np.cumsum(sums[order]), BULK * np.sum(sums)))
    return cells[order[:count]]


def _gathered(
    layers: Layers, found: Residuals, level: NDArray[np.int64], values: FloatArray
) -> tuple[NDArray[np.int64], IntArray, FloatArray]:
    """The cells of these levels in which the places lie, (m, 1 + d); the cell of each place, (n,); and sums, (m,)."""
    k = numbers(found.x, layers.low, layers.side / 2.0 ** level[:, None])
    cells, own = np.unique(np.column_stack([level, k]), axis=0, return_inverse=True)
    return cells, own.ravel(), np.bincount(own.ravel(), weights=values).astype(np.float64)


def narrowed(layers: Layers, found: Residuals, budget: int) -> Layers:
    """With narrower functions where the residual is: the worst cells, as far as the budget goes, and GROWTH."""
    chosen, most = marked(layers, found), min(budget, round(GROWTH * layers.size))
    low, high = 0, len(chosen)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if layers.filled(chosen[:middle]).size <= most else (low, middle - 1)
    one = layers.filled(chosen[: max(low, 1)])
    return one if one.size <= budget else layers


def widened(layers: Layers, budget: int) -> Layers:
    """With more wide functions, by GROWTH and as far as the budget goes."""
    most = min(budget, round(GROWTH * layers.size))
    return layers.widened(layers.number + most - layers.size)


@dataclass
class _Course:
    """Which step is next, from what steps of both kinds have gained.

    A gain is the power of the number of functions with which the residual fell.
    """

    gains: dict[str, float] = field(default_factory=dict[str, float])
    last: tuple[str, int, float] | None = None  # the step, and from what number and residual

    def choose(self, size: int, found: Residuals) -> str:
        """The next step: "wide", more functions that fill the domain, or "narrow", smaller ones at the residual."""
        if self.last is not None and size > self.last[1]:
            step, before, error = self.last
            self.gains[step] = float(np.log(error / found.error) / np.log(size / before))
        step = self._next(found)
        self.last = step, size, found.error
        return step

    def _next(self, found: Residuals) -> str:
        wide, narrow = self.gains.get("wide"), self.gains.get("narrow", np.inf)
        if wide is None or wide > FAST or found.part > LOCAL:
            return "wide"
        if found.error > RESOLVED or narrow >= wide:
            return "narrow"
        self.gains["narrow"] = np.inf  # what was poor may be good after the other step
        return "wide"


def adapted(
    build: Build,
    place: Place,
    layers: Layers,
    problem: Problem,
    inputs: Sequence[object] | None,
    tol: float,
    budget: int,
    *,
    seed: int = 0,
    tick: Callable[[str], None] = lambda text: None,
) -> SolutionOperator:
    """Learn with functions that are narrow where the inputs need it, until their residual meets ``tol``.

    Arguments:
        build: learns one level.
        place: gives the points of a uniform level.
        layers: where to start: a few wide functions.
        problem: the conditions; see `adaptable`.
        inputs: as for `learn`; their residuals tell where functions are missing.
        budget: at most so many functions.
        tick: is called with what was tried, in words.

    It ends when nothing gets better, or the budget is used up; the best level is returned. A space with layers that
    misses the tolerance is compared with one of as many wide functions, so the result is no worse than that.
    """
    search = _Search(
        build=build, place=place, problem=problem, inputs=inputs_in_advance(problem, inputs), seed=seed, tick=tick
    )
    course, stale, least, status = _Course(), 0, np.inf, "budget"
    while True:
        found = search.try_(layers)
        stale = 0 if found.error < least / IMPROVEMENT or least > RESOLVED else stale + 1
        least = min(least, found.error)
        if found.error <= tol or stale >= PATIENCE:
            status = "met" if found.error <= tol else "stagnated"
            break
        step = course.choose(layers.size, found)
        following = widened(layers, budget) if step == "wide" else narrowed(layers, found, budget)
        if following.size <= layers.size and step == "narrow":
            following = widened(layers, budget)
        if following.size <= layers.size or layers.size >= USED * budget:
            break
        layers = following
    if status != "met" and len(layers.cells):
        uniform = layers.widened(layers.size)
        status = "met" if search.try_(replace(uniform, cells=uniform.cells[:0])).error <= tol else status
    return search.best(tol, status)


@dataclass(kw_only=True)
class _Search:
    """The levels that were tried, and the best of them."""

    build: Build
    place: Place
    problem: Problem
    inputs: Sequence[Input]
    seed: int
    tick: Callable[[str], None]
    levels: list[Level] = field(default_factory=list[Level])
    found: list[Residuals] = field(default_factory=list[Residuals])
    operator: SolutionOperator | None = None  # the best
    _uniform: tuple[int, Mapping[str, Points]] | None = None

    def try_(self, layers: Layers) -> Residuals:
        started = time.perf_counter()
        if self._uniform is None or self._uniform[0] != layers.number:
            self._uniform = layers.number, self.place(layers.number)
        uniform = self._uniform[1]
        points = thickened(self.problem, uniform, layers, self.seed)
        operator = self.build(layers if len(layers.cells) else layers.number, points)
        fresh = strata(self.problem, uniform, layers, self.seed + 1)
        inside = operator.ansatz.evaluations(interior(self.problem, INSIDE, self.seed + 1).x)
        found = residuals(operator, self.inputs, fresh, inside)
        before = self.found[-1].findings if self.found else None
        if self.operator is None or found.error < min(own.error for own in self.found):
            self.operator = operator
        self.found.append(found)
        seconds = time.perf_counter() - started
        self.levels.append(level_of(operator, layers.size, found.findings, before, seconds))
        self.tick(f"{layers!r}: residual {found.error:.1e}")
        return found

    def best(self, tol: float, status: Status) -> SolutionOperator:
        """The operator with the least residual, with a report of all."""
        assert self.operator is not None
        errors = [own.error for own in self.found]
        report = Report(
            status=status,
            tol=tol,
            levels=tuple(self.levels),
            returned=errors.index(min(errors)),
            followed=tuple(f"input {k}" for k in range(len(self.inputs))),
        )
        return replace(self.operator, report=report)
