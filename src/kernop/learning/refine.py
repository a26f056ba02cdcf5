"""Learning with more and more functions: until a tolerance is met, or, without one, as many as the problem asks for.

At a corner where the data do not fit together, at a jump or in a layer, the residual stays large however many centres
there are, while u still becomes better. So solutions whose truth is not known (of constant data, or of a user's inputs)
are followed from level to level: û_k − û_{k−1} = T_k(residual of û_{k−1}) is what the richer operator says of the error
of the other, and the rate at which it falls says what is left at level k.

Without a tolerance, most problems are solved well with a number of functions that is known, which is tried first. If it
does not do, a few numbers are tried, from few to many. More are better until they are dependent to working precision:
on a line that is soon, in five dimensions never. What is returned is the last operator that is not worse than the best
by a factor of 3, in the geometric mean of its errors on known solutions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.learning.heldout import Findings, Measure
from kernop.operators.operator import SolutionOperator
from kernop.operators.report import Level, Report, Status

#: Points for each centre, and the number of centres with which the search starts for d = 1, 2, 3, ….
POINTS_PER_CENTRE = 3
START = (16, 100, 200, 300)
#: How much the number of centres grows: while the tolerance is far, at least, and when it is met by known solutions.
LEAP, STEP, GROWTH = 2.56, 1.3, 1.6
#: A level that does not improve on the best one by this factor has stagnated; two in a row end the search, once the
#: inputs are resolved at all.
IMPROVEMENT, RESOLVED = 1.5, 1e-2
#: Errors below this tell how fast they fall.
BEGUN = 0.1
#: An estimate is a change times the rate at which changes fall, and this, for rates that get worse; where they fall as
#: slowly as a power of the number of centres, it is the sum of all changes to come, up to so many times the last one.
SAFETY, SLOWEST, FASTEST = 1.5, 4.0, 64.0
#: Numbers of functions that are tried, on a line, in the plane, and beyond.
LEVELS = ((100, 400, 800, 1600), (250, 1100, 1800, 3000), (250, 1800, 3000))
#: From so many functions on, what is good on all known solutions is not improved further, nor what is excellent in the
#: mean over them, nor what is good in the mean and does not get better on the worst.
ENOUGH = (400, 1100, 1800)
GOOD, EXCELLENT = 1e-6, 1e-10
#: What is excellent in the mean, but above this on the worst known solution (of waves that are just resolved, say), is
#: tried once more with as many functions as that needs, at most so many times more.
AIM, MORE = 1e-8, 1.5
#: A level that is so many times worse in the mean over known solutions ends the search, and one that is nearly as good
#: as the best is preferred to it if it has more functions: data that nobody has seen may need them.
WORSE, NEARLY = 10.0, 3.0
#: What is as small as this is as good as any.
SMALL = 1e-12


class ToleranceWarning(UserWarning):
    """The tolerance was not met; the best operator is returned."""


@dataclass
class _Progress:
    """The least error and the least change so far, and for how many levels neither fell."""

    error: float = np.inf
    change: float = np.inf
    stale: int = 0

    def better(self, error: float, level: Level, follow: bool) -> bool:
        """Is this the best level so far? Two in a row that do not get on by a factor end the search.

        The error is the measured one: that of a level counts coefficients that are not resolved too, where they were
        looked at.
        """
        change = np.inf if level.change is None or not follow else level.change
        closer = change < self.change / IMPROVEMENT
        on = closer or error < self.error / IMPROVEMENT or self.error > RESOLVED
        lower = error < self.error
        self.stale = 0 if on else self.stale + 1
        self.error, self.change = min(self.error, error), min(self.change, change)
        return closer or lower


def _next(levels: list[Level], tol: float, budget: int, dim: int) -> int:
    """How many centres to try next: as many as errors that fall as exp(−c L^(1/d)) need for the tolerance.

    The budget itself, if it is little more: a small step would change u by little, and seem a success.
    """
    last, factor = levels[-1], LEAP
    if last.error <= tol:  # what is followed now are solutions of constant data
        factor = GROWTH
    elif len(levels) > 1 and last.error < min(BEGUN, levels[-2].error):
        sides = [level.centers ** (1.0 / dim) for level in levels[-2:]]
        rate = np.log(min(1.0, levels[-2].error) / last.error) / (sides[1] - sides[0])
        needed = (sides[1] + np.log(last.error / tol) / rate) ** dim
        factor = float(np.clip(needed / last.centers, STEP, LEAP))
    following = round(factor * last.centers)
    return budget if 1.25 * following > budget else following


def _estimates(levels: list[Level]) -> tuple[float, ...] | None:
    """The error of each solution of unknown truth at the last level: all changes that are still to come.

    If the error is like L^−p, a change from L to g L is the part g^p − 1 of the error that it leaves.
    """
    last = levels[-1].changes
    if last is None:
        return None
    if len(levels) < 3:
        return tuple(SAFETY * change for change in last)
    step = levels[-1].centers / levels[-2].centers
    rates = step ** -_powers(levels)
    to_come = np.minimum(SLOWEST, np.maximum(SAFETY * rates, rates / np.maximum(1.0 - rates, 1e-3)))
    return tuple((np.asarray(last) * to_come).tolist())


def _powers(levels: list[Level]) -> FloatArray:
    """p for each solution of unknown truth, by the last two changes, (B,): its error falls as L^−p.

    Then change / before = growth^−p (1 − step^−p) / (1 − growth^−p), which falls with p; by bisection.
    """
    *_, one, two, three = levels
    growth, step = two.centers / one.centers, three.centers / two.centers
    change, before = np.asarray(three.changes), np.asarray(two.changes)
    low, high = np.full(len(change), 1e-6), np.full(len(change), FASTEST)
    for _ in range(60):
        p = 0.5 * (low + high)
        steeper = change * (1.0 - growth**-p) < before * growth**-p * (1.0 - step**-p)
        low, high = np.where(steeper, p, low), np.where(steeper, high, p)
    return high


def _in_reach(levels: list[Level], tol: float, budget: int) -> bool:
    """Can the estimates that miss the tolerance meet it within the budget, at the rate at which they fall?"""
    estimates = _estimates(levels)
    if estimates is None or len(levels) < 3 or levels[-2].changes is None:
        return True
    left = budget / levels[-1].centers
    return all(e <= tol or e * left**-p <= tol for e, p in zip(estimates, _powers(levels), strict=True))


def level_of(
    operator: SolutionOperator, centers: int, found: Findings, before: Findings | None, seconds: float
) -> Level:
    """What an attempt found in so many seconds."""
    rough = operator.diagnosis.roughness
    unresolved = rough.part if rough is not None and rough.unresolved else 0.0
    return Level(
        centers=centers,
        points=operator.n_points,
        error=max(found.error, min(1.0, unresolved)),
        seconds=seconds,
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
    start: int | None = None,
) -> SolutionOperator:
    """Grow the number of centres until the error meets ``tol``, nothing gets better, or the budget is used up.

    ``build(centers)`` learns one level, the first with ``start`` of them (None: few), and ``measure_of`` tells from
    that one how all are measured.
    Nothing of a level is of use to the next: another number of centres has another spacing, so another lengthscale, so
    another matrix; only the compiled functions are shared. When the known solutions meet the tolerance, those of
    constant data are followed further as long as they can meet it too. ``examined`` looks at the coefficients of the
    first level, where a jump is refused at once, and of those that would be accepted.
    """
    levels: list[Level] = []
    measure: Measure | None = None
    progress, before = _Progress(), None
    best: tuple[SolutionOperator, int] | None = None
    centers = min(start or START[min(dim, len(START)) - 1], budget)
    status: Status = "budget"
    while True:
        started = time.perf_counter()
        operator = build(centers)
        measure = measure or measure_of(operator)
        found = measure(operator)
        if not levels or found.error <= tol:
            operator = examined(operator)
        level = level_of(operator, centers, found, before, time.perf_counter() - started)
        levels.append(level)
        tick(f"{centers} centres: error {level.error:.1e}")
        met = level.error <= tol
        if progress.better(found.error, level, not measure.known) or best is None or (met and measure.known):
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
        before, centers = found, _next(levels, tol, budget, dim)
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


def by_default(
    build: Callable[[int], SolutionOperator],
    budget: int,
    measure_of: Callable[[SolutionOperator], Measure],
    dim: int,
    tick: Callable[[str], None],
    components: int = 1,
) -> SolutionOperator:
    """The operator with the most functions among those that are nearly the best on known solutions.

    Arguments:
        build: learns from so many functions, and points for them.
        budget: at most so many functions.
        measure_of: tells from the first operator how all are measured.
        dim: of the domain.
        tick: is called with what was tried, in words.
        components: of the unknowns, among which the functions are shared out.
    """
    levels, best, before = list[Level](), None, None
    measure: Measure | None = None
    tried: dict[int, tuple[SolutionOperator, Findings, float]] = {}

    def attempt(number: int) -> Findings:
        nonlocal measure
        started, centers = time.perf_counter(), max(1, number // components)
        operator = build(centers)
        measure = measure or measure_of(operator)
        tried[number] = operator, measure(operator), time.perf_counter() - started
        tick(f"{centers} functions: error {tried[number][1].error:.1e}")
        return tried[number][1]

    least = np.inf
    numbers = planned(dim, budget)
    number = start = min(ENOUGH[min(dim, len(ENOUGH)) - 1], numbers[-1])
    first = attempt(start)
    settled = first.error <= GOOD and first.score <= EXCELLENT
    for number in _finer(start, first, dim, budget) if settled else numbers:
        if number not in tried:
            attempt(number)
        operator, found, seconds = tried.pop(number)
        levels.append(level_of(operator, max(1, number // components), found, before, seconds))
        least = min(found.score, least)
        if best is None or found.score <= max(NEARLY * least, SMALL):
            best = operator, found, len(levels) - 1
        if not settled and _done(found, before, least, number, dim):
            break
        before = found
    assert best is not None
    assert measure is not None
    operator, found, returned = best
    report = Report(
        status="met" if found.error <= GOOD else "stagnated" if number < numbers[-1] else "budget",
        tol=GOOD,
        levels=tuple(levels),
        returned=returned,
        measured=measure.known,
        followed=measure.unknown,
        asked=False,
    )
    return replace(operator, report=report)


def _finer(number: int, found: Findings, dim: int, budget: int) -> tuple[int, ...]:
    """A number of functions, and the one with which the worst error would be small, if it is like exp(−c L^(1/d))."""
    if found.error <= AIM:
        return (number,)
    finer = round(number * min(MORE, (np.log(AIM) / np.log(found.error)) ** dim))
    return (number, finer) if number < finer <= budget else (number,)


def planned(dim: int, budget: int) -> tuple[int, ...]:
    """The numbers of functions that are tried within a budget; the budget itself if the next one would exceed it."""
    numbers = LEVELS[min(dim, len(LEVELS)) - 1]
    within = tuple(number for number in numbers if number <= budget)
    return within if within and (within[-1] == numbers[-1] or 1.25 * within[-1] > budget) else (*within, budget)


def _done(found: Findings, before: Findings | None, least: float, number: int, dim: int) -> bool:
    """Is there no reason to try more functions?"""
    if found.error <= RESOLVED and found.score > max(WORSE * least, SMALL):
        return True
    if number < ENOUGH[min(dim, len(ENOUGH)) - 1]:
        return False
    hopeless = before is not None and found.error > before.error / WORSE and found.score <= GOOD
    return found.error <= GOOD or found.score <= EXCELLENT or hopeless
