"""Learning to a tolerance: more centres and points, until the error on known solutions meets it.

At a corner where the data do not fit together, at a jump or in a layer, the residual stays large however many centres
there are, while u still becomes better. So solutions whose truth is not known (of constant data, or of a user's inputs)
are followed from level to level: û_k − û_{k−1} = T_k(residual of û_{k−1}) is what the richer operator says of the error
of the other, and the rate at which it falls says what is left at level k.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernop.learning.heldout import Findings, Measure
from kernop.operators.operator import SolutionOperator
from kernop.operators.report import Level, Report, Status

#: Points for each centre, the growth of the number of centres, and where it starts for d = 1, 2, 3, ….
POINTS_PER_CENTRE, GROWTH = 3, 1.6
START = (16, 100, 200, 300)
#: A level that does not improve on the best one by this factor has stagnated; two in a row end the search, once the
#: inputs are resolved at all.
IMPROVEMENT, RESOLVED = 1.5, 1e-2
#: An estimate from a change and its rate, with room for rates that get worse.
SAFETY = 1.5


class ToleranceWarning(UserWarning):
    """The tolerance was not met; the best operator is returned."""


@dataclass
class _Progress:
    """The least error and the least change so far, and for how many levels neither fell."""

    error: float = np.inf
    change: float = np.inf
    stale: int = 0

    def better(self, level: Level, follow: bool) -> bool:
        """Is this the best level so far? Two in a row that do not get on by a factor end the search."""
        change = np.inf if level.change is None or not follow else level.change
        closer = change < self.change / IMPROVEMENT
        on = closer or level.error < self.error / IMPROVEMENT or self.error > RESOLVED
        lower = level.error < self.error
        self.stale = 0 if on else self.stale + 1
        self.error, self.change = min(self.error, level.error), min(self.change, change)
        return closer or lower


def _next(centers: int, budget: int) -> int:
    """The budget itself, if it is little more: a small step would change u by little, and seem a success."""
    following = round(GROWTH * centers)
    return budget if 1.25 * following > budget else following


def _estimates(levels: list[Level]) -> tuple[float, ...] | None:
    """The error of each solution of unknown truth at the last level: its change, times the rate at which that falls."""
    last = levels[-1].changes
    if last is None:
        return None
    before = levels[-2].changes if len(levels) > 1 else None
    rates = [1.0] * len(last) if before is None else [_rate(*pair) for pair in zip(last, before, strict=True)]
    return tuple(SAFETY * change * rate for change, rate in zip(last, rates, strict=True))


def _rate(change: float, before: float) -> float:
    return min(1.0, change / before) if before > 0.0 else 0.0


def _in_reach(levels: list[Level], tol: float, budget: int) -> bool:
    """Can the estimates that miss the tolerance meet it within the budget, at the rate at which they fall?"""
    estimates = _estimates(levels)
    if estimates is None or len(levels) < 3 or levels[-2].changes is None:
        return True
    steps = np.log(budget / levels[-1].centers) / np.log(GROWTH)
    pairs = zip(estimates, levels[-1].changes or (), levels[-2].changes, strict=True)
    return all(e <= tol or e * _rate(change, before) ** steps <= tol for e, change, before in pairs)


def level_of(
    operator: SolutionOperator, centers: int, found: Findings, before: Findings | None, started: float
) -> Level:
    """What an attempt found that began at a time of `time.perf_counter`."""
    rough = operator.diagnosis.roughness
    unresolved = rough.part if rough is not None and rough.unresolved else 0.0
    return Level(
        centers=centers,
        points=operator.n_points,
        error=max(found.error, min(1.0, unresolved)),
        seconds=time.perf_counter() - started,
        changes=None if before is None else tuple(map(float, found.changes(before))),
        misfit=found.misfit,
        roughness=unresolved,
    )


def refine(
    build: Callable[[int], SolutionOperator],
    tol: float,
    budget: int,
    measure_of: Callable[[SolutionOperator], Measure],
    dim: int,
    tick: Callable[[str], None],
    examined: Callable[[SolutionOperator], SolutionOperator] = lambda operator: operator,
) -> SolutionOperator:
    """Grow the number of centres until the error meets ``tol``, nothing gets better, or the budget is used up.

    ``build(centers)`` learns one level, and ``measure_of`` tells from the first one how all are measured.
    Nothing of a level is of use to the next: another number of centres has another spacing, so another lengthscale, so
    another matrix; only the compiled functions are shared. When the known solutions meet the tolerance, those of
    constant data are followed further as long as they can meet it too. ``examined`` looks at the coefficients of the
    first level, where a jump is refused at once, and of those that would be accepted.
    """
    levels: list[Level] = []
    measure: Measure | None = None
    progress, before = _Progress(), None
    best: tuple[SolutionOperator, int] | None = None
    centers = min(START[min(dim, len(START)) - 1], budget)
    status: Status = "budget"
    while True:
        started = time.perf_counter()
        operator = build(centers)
        measure = measure or measure_of(operator)
        found = measure(operator)
        if not levels or found.error <= tol:
            operator = examined(operator)
        level = level_of(operator, centers, found, before, started)
        levels.append(level)
        tick(f"{centers} centres: error {level.error:.1e}")
        met = level.error <= tol
        if progress.better(level, not measure.known) or best is None or (met and measure.known):
            best = operator, len(levels) - 1
        estimates = _estimates(levels)
        if met:
            status = "met"
            followed = measure.known and (estimates is None or not max(estimates, default=0.0) <= tol)
            if not followed or not _in_reach(levels, tol, budget):
                break
        elif status == "met":  # it was met by the level before, and following constant data spoilt it
            break
        if progress.stale >= 2 and status != "met":
            status = "stagnated"
            break
        if centers >= budget:
            break
        before, centers = found, _next(centers, budget)
    operator, returned = best
    if operator.diagnosis.roughness is None:
        operator = examined(operator)
    report = Report(
        status=status,
        tol=tol,
        levels=tuple(levels),
        returned=returned,
        measured=measure.known,
        followed=measure.unknown,
        estimates=_estimates(levels[: returned + 1]),
    )
    return replace(operator, report=report)
