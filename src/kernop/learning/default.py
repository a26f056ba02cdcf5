"""Learning without a tolerance: as many functions as the problem asks for, quietly.

Most problems are solved well with a number of functions that is known, which is tried first. If it does not, a few
numbers are tried, from few to many. More are better until they are dependent to working precision: on a line that is
soon, in five dimensions never. What is returned is the last operator that is not worse than the best by a factor of 3,
in the geometric mean of its errors on known solutions.
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
#: What is excellent in the mean, but above this on the worst known solution (of waves that are just resolved, say), is
#: tried once more with as many functions as that needs, at most so many times more.
AIM, MORE = 1e-8, 1.5
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
