"""Learning without a tolerance: as many functions as the problem asks for, quietly.

A few numbers of functions are tried, from few to many, and the operator that is best on known solutions is returned.
More functions are better until they are dependent to working precision: on a line that is soon, in five dimensions
never. So nobody has to know the number, and a larger one never makes the answer worse.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from kernop.learning.heldout import Findings, Measure
from kernop.learning.refine import POINTS_PER_CENTRE, level_of
from kernop.operators.operator import SolutionOperator
from kernop.operators.report import Level, Report

#: Numbers of functions that are tried, on a line and beyond.
LEVELS = ((24, 48, 96, 200, 400, 800), (250, 1000, 1730, 3000))
#: What is good enough is not improved further, from so many functions on.
GOOD, ENOUGH = 1e-6, (200, 1000)
#: Until then a level must improve on the best one by this factor in the mean over known solutions.
IMPROVEMENT = 2.0
#: Where u is not resolved at all, a level that is no better says nothing of the next.
RESOLVED = 1e-2


def by_default(
    build: Callable[[int, int], SolutionOperator],
    budget: int,
    measure_of: Callable[[SolutionOperator], Measure],
    dim: int,
    tick: Callable[[str], None],
) -> SolutionOperator:
    """The best operator of a few.

    Arguments:
        build: learns from so many functions and points.
        budget: at most so many functions.
        measure_of: tells from the first operator how all are measured.
        dim: of the domain.
        tick: is told what was tried.
    """
    levels, best, before = list[Level](), None, None
    measure: Measure | None = None
    for centers in planned(dim, budget):
        started = time.perf_counter()
        operator = build(centers, POINTS_PER_CENTRE * centers)
        measure = measure or measure_of(operator)
        found = measure(operator)
        levels.append(level_of(operator, centers, found, before, started))
        tick(f"{centers} functions: error {found.error:.1e}")
        previous, before = best, found
        if best is None or found.score < best[1].score:
            best = operator, found, len(levels) - 1
        if _good(found, best[1], None if previous is None else previous[1], centers, dim):
            break
    assert best is not None
    assert measure is not None
    operator, found, returned = best
    report = Report(
        status="met" if found.error <= GOOD else "budget",
        tol=GOOD,
        levels=tuple(levels),
        returned=returned,
        measured=measure.known,
        followed=measure.unknown,
        asked=False,
    )
    return replace(operator, report=report)


def planned(dim: int, budget: int) -> tuple[int, ...]:
    """The numbers of functions that are tried within a budget; the budget itself if the next one would exceed it."""
    numbers = LEVELS[min(dim, len(LEVELS)) - 1]
    within = tuple(number for number in numbers if number <= budget)
    return within if within and (within[-1] == numbers[-1] or 1.25 * within[-1] > budget) else (*within, budget)


def _good(found: Findings, best: Findings, before: Findings | None, centers: int, dim: int) -> bool:
    """Is there no reason to try more functions?"""
    if best.error <= GOOD and centers >= ENOUGH[min(dim, len(ENOUGH)) - 1]:
        return True
    if before is None or best.error > RESOLVED:
        return False
    return found.score > before.score / IMPROVEMENT
