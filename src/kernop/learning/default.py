"""Learning without a tolerance: as many functions as the problem asks for, quietly.

A few numbers of functions are tried, from few to many. More are better until they are dependent to working precision:
on a line that is soon, in five dimensions never. What is returned is the last operator that is not worse than the best
by a factor of 3, in the geometric mean of its errors on known solutions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kernop.learning.heldout import Findings, Measure
from kernop.learning.refine import level_of
from kernop.operators.operator import SolutionOperator
from kernop.operators.report import Level, Report

#: Numbers of functions that are tried, on a line, in the plane, and beyond.
LEVELS = ((100, 400, 800, 1600), (250, 1100, 1800, 3000), (250, 1800, 3000))
#: From so many functions on, what is good on all known solutions is not improved further, nor what is excellent in the
#: mean over them, nor what is good in the mean and does not get better on the worst.
ENOUGH = (400, 1100, 1800)
GOOD, EXCELLENT = 1e-6, 1e-10
#: A level that is so many times worse in the mean over known solutions ends the search, and one that is nearly as good
#: as the best is preferred to it if it has more functions: data that nobody has seen may need them.
WORSE, NEARLY = 10.0, 3.0
#: What is as small as this is as good as any.
SMALL = 1e-12
#: Where u is not resolved at all, a level that is no better says nothing of the next.
RESOLVED = 1e-2


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
        tick: is told what was tried.
        components: of the unknowns, among which the functions are shared out.
    """
    levels, best, before = list[Level](), None, None
    measure: Measure | None = None
    least = np.inf
    number, numbers = 0, planned(dim, budget)
    for number in numbers:
        started, centers = time.perf_counter(), max(1, number // components)
        operator = build(centers)
        measure = measure or measure_of(operator)
        found = measure(operator)
        levels.append(level_of(operator, centers, found, before, started))
        tick(f"{centers} functions: error {found.error:.1e}")
        least = min(found.score, least)
        if best is None or found.score <= max(NEARLY * least, SMALL):
            best = operator, found, len(levels) - 1
        if _done(found, before, least, number, dim):
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
