"""One space for the whole domain, or an operator made of parts: which of them, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kernop.basics.errors import JumpError, OperatorError
from kernop.basics.progress import Stages
from kernop.collocation.cells.divisible import pieces_of, supported_pieces
from kernop.collocation.cells.jumps import broken, fixed_jumps, jumps
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.singularities import singularities
from kernop.collocation.squeezed import squeezed
from kernop.geometry.edges import reentrant
from kernop.language.conditions import Condition
from kernop.language.piecewise import Piecewise
from kernop.language.problem import Problem
from kernop.language.unknowns import Unknowns
from kernop.learning.parts.partitioned import CANNOT, cells_for, partitioned
from kernop.learning.refine import GOOD
from kernop.learning.task import Task
from kernop.methods.parts.partition import Partition
from kernop.operators.operator import SolutionOperator
from kernop.operators.report import Report
from kernop.trust.resolution import open_jumps, with_interfaces

#: Where u is like r to a power below this, one space is not enough.
ROUGH = 1.0 - 1e-6
#: At most so many cells where no tolerance is asked for.
MODEST = 1200


def in_parts_at_once(
    task: Task, tol: float | None, inputs: Sequence[Any] | None, budget: int, stage: Stages
) -> SolutionOperator | None:
    """An operator made of parts, where no smooth space is good enough: at corners, changes and crossings of jumps.

    Jumps without corners or crossings are left to one space for each side, unless a tolerance is asked for, a piece
    between them is too thin for that, or nothing differentiates any coefficient that jumps there, so that both sides
    would share one space. On a line parts cost no more. In space and time parts are taken for a tolerance where
    coefficients jump on an interval: over the plane they take minutes.

    Arguments:
        task: with the problem as the user stated it: parts need no interfaces where coefficients jump.
        tol: what is asked for; None for what is good enough by default, if a modest number of cells is enough.
    """
    jumps_count = tol is not None or task.problem.dim == 1
    reason = singular(task.problem, ROUGH, jumps=jumps_count) or _between(task.problem)
    if reason is None or (tol is None and not _modest(task.problem)):
        return None
    if task.problem.timed and (tol is None or task.problem.dim > 2):
        return None
    wanted, most = (GOOD, min(budget, MODEST)) if tol is None else (tol, budget)
    try:
        found = partitioned(task, Partition(), wanted, inputs, most, stage, asked=tol is not None)
    except CANNOT as error:
        if isinstance(error, OperatorError) and not isinstance(error, JumpError):
            raise  # what the equation does not tell where coefficients jump, one space would guess
        return None
    assert found.report is not None
    return replace(found, report=replace(found.report, space=f"{found.report.space}, because {reason}"))


def one_space_may_do(parts: SolutionOperator) -> bool:
    """Have parts missed a tolerance where coefficients jump, and u has no singular places? Then one space for each side
    may do: a ring of a hundredth of its radius takes thousands of parts.
    """
    report, problem = parts.report, parts.problem
    asked = report is not None and report.asked and not report.met and not problem.timed
    return asked and problem.unknowns.total == 1 and singular(problem, ROUGH, jumps=False) is None


def better(parts: SolutionOperator, other: SolutionOperator) -> SolutionOperator:
    """Which of two has the smaller error, as it is measured or estimated."""
    one, two = parts.report, other.report
    return other if one is not None and two is not None and _worst(two) < _worst(one) else parts


def _between(problem: Problem) -> str | None:
    """Why one space for each piece between jumps is not enough in the plane, in words; None if it is."""
    if problem.dim != 2 or problem.timed or isinstance(supported_pieces(problem), str):
        return None
    with_interface, cut = (_regions(problem, own) for own in (jumps, broken))
    if not cut <= with_interface:
        return "a coefficient that nothing differentiates jumps"
    if fixed_jumps(problem):
        return "data that are fixed jump"
    whole = with_interfaces(problem)
    if open_jumps(whole):  # equations of several unknowns do not tell which flux is continuous; that of parts is
        return "coefficients jump"
    found = squeezed(whole)
    return None if found is None else str(found)


def _regions(problem: Problem, found: Callable[[Condition, Unknowns], tuple[Piecewise, ...]]) -> set[int]:
    """What the regions of some coefficients of all conditions are known by."""
    functions = [own for c in problem.conditions for own in found(c, problem.unknowns)]
    return {id(region) for own in functions for region in own.regions}


def in_parts_if_better(
    task: Task, operator: SolutionOperator, inputs: Sequence[Any] | None, budget: int, stage: Stages
) -> SolutionOperator:
    """An operator made of parts, if one space has missed its tolerance, and parts come nearer.

    On a line and in the plane it need not have corners: layers and coefficients that are not smooth are missed, too. In
    space, without inputs, it must be made of boxes, whose edges are known.
    """
    report = operator.report
    if report is None or (report.met and not report.missed) or not _divisible(task.problem, inputs):
        return operator
    try:
        other = partitioned(task, Partition(), report.tol, inputs, budget, stage)
    except CANNOT:  # one space has told that it missed
        return operator
    found = other.report
    if found is None or not (found.met or _worst(found) < _worst(report)):
        return operator
    missed = ", ".join(f"{name} by {error:.0e}" for name, error in report.missed.items()) or f"{report.error:.0e}"
    space = f"{found.space}, where one space missed {missed}"
    return replace(other, report=replace(found, asked=report.asked, space=space))


def _modest(problem: Problem) -> bool:
    """Is a modest number of cells enough, or better than one space for each of the pieces between jumps?"""
    pieces = pieces_of(problem)
    if pieces.dim == 3:  # for what is good by default, re-entrant edges need tens of thousands of cells
        return False
    return pieces.parts is not None or cells_for(problem, pieces, GOOD) <= MODEST


def _divisible(problem: Problem, inputs: Sequence[Any] | None) -> bool:
    """Can a problem be solved in parts, and may that be better than in one space?"""
    if problem.timed:
        return False
    pieces = supported_pieces(problem)
    if isinstance(pieces, str):
        return False
    return pieces.dim < 3 or (singular(problem, np.inf) is not None if inputs is None else pieces.boxed)


def singular(problem: Problem, below: float, jumps: bool = True) -> str | None:
    """Why u is not smooth, in words: at a place it is like r to a power below this, or coefficients jump; else None.

    The powers are those of one unknown. Where they are below 1, several are singular too, by powers of their own.

    Arguments:
        jumps: are those of coefficients a reason, wherever they are?
    """
    pieces = supported_pieces(problem)
    if isinstance(pieces, str) or (problem.unknowns.total > 1 and below > 1.0):
        return None
    if pieces.dim == 3:  # by itself only on bodies made of boxes: elsewhere edges are not known
        return _at_edges(pieces, below) if pieces.boxed else None
    if jumps and pieces.parts is not None:
        return "coefficients jump" if problem.dim > 1 else "coefficients jump or bend"
    around = singularities(problem, pieces)
    places, exponents = around.places, around.exponents
    if not np.any(exponents < below):
        return None
    worst = int(np.argmin(exponents))
    power = f"like r^{exponents[worst]:.2f}" if problem.unknowns.total == 1 else "singular"
    return f"u is {power} at x = {np.array2string(places[worst], precision=3, suppress_small=True)}"


def _at_edges(pieces: Pieces, below: float) -> str | None:
    """Why u is not smooth at the edges of a body made of boxes."""
    if reentrant(pieces.whole):
        return "u is like r^0.67 at re-entrant edges"
    return "u is like r² log r at the edges of a box" if below > 2.0 else None


def _worst(report: Report) -> float:
    """The largest error of a report, measured or estimated; nothing is known of constant data without an estimate."""
    return max(report.error, *(report.estimates or ((1.0,) if report.measured else (0.0,))))
