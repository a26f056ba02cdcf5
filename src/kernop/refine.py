"""Learning to a tolerance: more centres and points, until the residual where nothing was learned meets it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kernop.solution import SolutionOperator

Status = Literal["met", "stagnated", "budget"]

#: Points for each centre, the growth of the number of centres, and where it starts for d = 1, 2, 3, ….
POINTS_PER_CENTRE, GROWTH = 3, 1.6
START = (8, 40, 100, 200)
#: A level that does not improve on the best one by this factor has stagnated; two in a row end the search, once the
#: inputs are resolved at all.
IMPROVEMENT, RESOLVED = 1.5, 1e-2


class ToleranceWarning(UserWarning):
    """The tolerance was not met; the best operator is returned."""


@dataclass(frozen=True)
class Level:
    """One attempt: centres, points, the worst relative residual on held-out points, seconds."""

    centers: int
    points: int
    residual: float
    seconds: float


@dataclass(frozen=True)
class Report:
    """What learning to a tolerance did, and why it stopped.

    Attributes:
        status: "met", "stagnated" (more centres did not help) or "budget" (more centres were not allowed).
        tol: what was asked for.
        levels: every attempt, in order.
    """

    status: Status
    tol: float
    levels: tuple[Level, ...]

    @property
    def best(self) -> Level:
        """The level of the operator that was returned."""
        return min(self.levels, key=lambda level: level.residual)

    @property
    def residual(self) -> float:
        """The measured relative residual of the operator that was returned."""
        return self.best.residual

    @property
    def met(self) -> bool:
        """Was the tolerance met?"""
        return self.status == "met"

    def __str__(self) -> str:
        reason = {
            "met": "tolerance met",
            "stagnated": "NOT met: more centres did not help",
            "budget": "NOT met: the budget of centres is used up",
        }[self.status]
        lines = [f"{reason}: residual {self.residual:.1e}, asked for {self.tol:.1e}"]
        lines += [
            f"  {at.centers:6d} centres, {at.points:6d} points: residual {at.residual:.1e}, {at.seconds:.2f} s"
            for at in self.levels
        ]
        return "\n".join(lines)


def refine(
    build: Callable[[int, int], SolutionOperator],
    tol: float,
    budget: int,
    residual: Callable[[SolutionOperator], float],
    dim: int,
    tick: Callable[[str], None],
) -> SolutionOperator:
    """Grow the number of centres until the residual meets ``tol``, stops falling, or the budget is used up.

    ``build(centers, points)`` learns one level. Nothing of a level is of use to the next: another number of centres
    has another spacing, so another lengthscale, so another matrix; only the compiled functions are shared.
    """
    levels: list[Level] = []
    best: SolutionOperator | None = None
    least, stale = np.inf, 0
    centers = min(START[min(dim, len(START)) - 1], budget)
    status: Status = "budget"
    while True:
        started = time.perf_counter()
        operator = build(centers, POINTS_PER_CENTRE * centers)
        found = residual(operator)
        levels.append(Level(centers, operator.n_points, found, time.perf_counter() - started))
        tick(f"{centers} centres: residual {found:.1e}")
        stale = 0 if found < least / IMPROVEMENT or least > RESOLVED else stale + 1
        if best is None or found < least:
            best, least = operator, found
        if found <= tol:
            status = "met"
            break
        if stale >= 2:
            status = "stagnated"
            break
        if centers >= budget:
            break
        centers = min(round(GROWTH * centers), budget)
    return replace(best, report=Report(status, tol, tuple(levels)))
