"""Learning to a tolerance: more centres and points, until the residual where nothing was learned meets it.

At a corner where the data do not fit together, or at a jump, the residual stays large however many centres there are,
while u still becomes better. So for the inputs of a user the solutions count as well: the change from one level to the
next, û_k − û_{k−1} = T_k(residual of û_{k−1}), is what the richer operator says of the error of the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kernop.heldout import Findings
from kernop.solution_operator import SolutionOperator

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
    """One attempt.

    Attributes:
        centers, points: how many.
        residual: the worst relative residual on held-out points.
        seconds: what it took.
        change: how far the solutions of the user's inputs are from those of the level before, the worst relative rms;
            None if there is no such level, or no inputs.
    """

    centers: int
    points: int
    residual: float
    seconds: float
    change: float | None = None

    def __str__(self) -> str:
        moved = "" if self.change is None else f"u changes by {self.change:.1e}, "
        sizes = f"{self.centers:6d} centres, {self.points:6d} points"
        return f"{sizes}: residual {self.residual:.1e}, {moved}{self.seconds:.2f} s"


@dataclass(frozen=True)
class Report:
    """What learning to a tolerance did, and why it stopped.

    Attributes:
        status: "met", "stagnated" (more centres did not help) or "budget" (more centres were not allowed).
        tol: what was asked for.
        levels: every attempt, in order.
        returned: the number of the level whose operator was returned, from 0.
    """

    status: Status
    tol: float
    levels: tuple[Level, ...]
    returned: int

    @property
    def best(self) -> Level:
        """The level of the operator that was returned."""
        return self.levels[self.returned]

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
        lines += [f"{'>' if k == self.returned else ' '} {level}" for k, level in enumerate(self.levels)]
        return "\n".join(lines)


@dataclass
class _Progress:
    """The least residual and the least change so far, and for how many levels neither fell."""

    residual: float = np.inf
    change: float = np.inf
    stale: int = 0

    def better(self, level: Level) -> bool:
        """Is this the best level so far? Two in a row that do not get on by a factor end the search."""
        change = np.inf if level.change is None else level.change
        closer = change < self.change / IMPROVEMENT
        on = closer or level.residual < self.residual / IMPROVEMENT or self.residual > RESOLVED
        lower = level.residual < self.residual
        self.stale = 0 if on else self.stale + 1
        self.residual, self.change = min(self.residual, level.residual), min(self.change, change)
        return closer or lower


def _next(centers: int, budget: int) -> int:
    """The budget itself, if it is little more: a small step would change u by little, and seem a success."""
    following = round(GROWTH * centers)
    return budget if 1.25 * following > budget else following


def refine(
    build: Callable[[int, int], SolutionOperator],
    tol: float,
    budget: int,
    measure: Callable[[SolutionOperator], Findings],
    dim: int,
    tick: Callable[[str], None],
) -> SolutionOperator:
    """Grow the number of centres until the residual meets ``tol``, nothing gets better, or the budget is used up.

    ``build(centers, points)`` learns one level. Nothing of a level is of use to the next: another number of centres
    has another spacing, so another lengthscale, so another matrix; only the compiled functions are shared.
    """
    levels: list[Level] = []
    progress, before = _Progress(), None
    best: tuple[SolutionOperator, int] | None = None
    centers = min(START[min(dim, len(START)) - 1], budget)
    status: Status = "budget"
    while True:
        started = time.perf_counter()
        operator = build(centers, POINTS_PER_CENTRE * centers)
        found = measure(operator)
        change = None if before is None else found.change(before)
        level = Level(centers, operator.n_points, found.residual, time.perf_counter() - started, change)
        levels.append(level)
        tick(f"{centers} centres: residual {found.residual:.1e}")
        if progress.better(level) or best is None:
            best = operator, len(levels) - 1
        if found.residual <= tol:
            status = "met"
            break
        if progress.stale >= 2:
            status = "stagnated"
            break
        if centers >= budget:
            break
        before, centers = found, _next(centers, budget)
    return replace(best[0], report=Report(status, tol, tuple(levels), best[1]))
