"""Learning an operator made of parts: with cells of one size, or with smaller and smaller ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from math import comb
from typing import Any

import numpy as np

from kernop.basics.errors import FloatArray, SingularGramError, check_number
from kernop.basics.linalg import norms
from kernop.basics.progress import Stages
from kernop.basics.versions import now
from kernop.collocation.data import inputs_in_advance
from kernop.collocation.functionals import Functionals
from kernop.collocation.grading import cells_of, pieces_of, singular_places, supported_pieces
from kernop.collocation.mosaic import Mosaic
from kernop.collocation.pieces import Pieces
from kernop.collocation.sampling import interior
from kernop.collocation.scales import fitted
from kernop.collocation.tiling import tiled
from kernop.language.problem import Problem
from kernop.learning.heldout import OnProbes
from kernop.learning.joining import glued_operator
from kernop.learning.task import Task
from kernop.methods.partition import BESIDE_SINGULARITIES, Partition, PartRows
from kernop.operators.operator import SolutionOperator
from kernop.operators.report import Level, Report, Status
from kernop.operators.solution import Solution
from kernop.trust.diagnosis import Diagnosis

#: Cells along the longest side, from level to level, for d = 1, 2 and 3.
NUMBERS = ((2, 4, 8, 16, 32, 64), (2, 4, 8, 16, 24), (2, 4, 6, 8))
#: The error at which grading aims, as a part of the tolerance, and the least one.
AIM, LEAST = 1e-3, 1e-14
#: What is aimed at by default.
GOAL = 1e-9
#: Where u is like r to a power below this, one space is not enough.
ROUGH = 1.0 - 1e-6
#: Points inside at which solutions of two levels are compared.
INSIDE = 600
#: The estimated error is the change from the level before times the rate at which changes fall, and this.
SAFETY = 2.0


def partitioned(
    task: Task, method: Partition, tol: float | None, inputs: Sequence[Any] | None, stage: Stages
) -> SolutionOperator:
    """The operator made of parts: of one size if the method names it, or until the tolerance holds."""
    pieces = pieces_of(task.problem)
    wanted = GOAL if tol is None else check_number("tol", tol, above=0.0)
    target = max(LEAST, AIM * wanted)
    if method.cells is not None and tol is None:
        return _learned(task, method, pieces, method.cells, target, stage)
    numbers = NUMBERS[task.problem.dim - 1] if method.cells is None else (method.cells, 2 * method.cells)
    return _refined(task, method, pieces, numbers, wanted, tol is not None, inputs, stage)


def in_parts_if_better(
    task: Task, operator: SolutionOperator, tol: float, inputs: Sequence[Any] | None, stage: Stages
) -> SolutionOperator:
    """An operator made of parts, if one space has missed the tolerance at a corner or a jump, and parts come nearer.

    Arguments:
        task: with the problem as the user stated it: parts need no interfaces where coefficients jump.
        operator: of one space.
    """
    report = operator.report
    if report is None or (report.met and not report.missed) or not _rough(task.problem):
        return operator
    try:
        other = partitioned(task, Partition(), tol, inputs, stage)
    except SingularGramError:  # parts that cannot be glued: one space has told that it missed
        return operator
    found = other.report
    if found is None or not (found.met or _worst(found) < _worst(report)):
        return operator
    missed = ", ".join(f"{name} by {error:.0e}" for name, error in report.missed.items()) or f"{report.error:.0e}"
    return replace(other, report=replace(found, space=f"{found.space}, where one space missed {missed}"))


def _rough(problem: Problem) -> bool:
    """Has u singularities at corners, or where conditions change, that no smooth space resolves, or does its flux jump?

    Corners that are convex leave u smooth enough for one space, unless the data are incompatible there.
    """
    pieces = supported_pieces(problem)
    if isinstance(pieces, str):
        return False
    _, exponents = singular_places(problem, pieces)
    return pieces.parts is not None or bool(np.any(exponents < ROUGH))


def _worst(report: Report) -> float:
    """The largest error of a report, measured or estimated."""
    return max(report.error, *(report.estimates or (1.0,)))


def _learned(
    task: Task, method: Partition, pieces: Pieces, number: int, target: float, stage: Stages
) -> SolutionOperator:
    problem = task.problem
    degree, q = method.degrees_for(problem.dim)
    _, least = Partition(degree=min(degree, BESIDE_SINGULARITIES)).degrees_for(problem.dim)
    with stage("sample"):
        cells, places = cells_of(problem, pieces, number, target, method.levels)
        inside = 2 * comb(degree + problem.dim, problem.dim)
        placed = tiled(problem, pieces, cells, places, inside, (q, least), task.seed)
    with stage("collocate"):
        ansatz, rows = fitted(problem, placed.points, task.frame, cut=False)
    with stage("factorise"):
        factorisation = glued_operator(problem, placed, method, rows, _part_rows(placed, problem, rows), ansatz)
    return SolutionOperator(
        problem=problem,
        points=placed.points,
        method=method,
        factorisation=factorisation,
        stats=stage.seconds,
        noise=None,
        about={"when": now(), "seed": int(task.seed), "sampling": task.sampling},
        diagnosis=Diagnosis(),
        functionals=rows,
    )


def _part_rows(placed: Mosaic, problem: Problem, rows: Functionals) -> list[PartRows]:
    """Which rows each part has. An integral over several parts belongs to none."""
    names = [name for name in problem.names if name in placed.points]
    owners = [name for name, own in zip(names, rows.conditions, strict=True) for _ in own.blocks]
    first = np.cumsum([0, *map(len, rows.blocks)])
    alone = len(placed.owners) == 1
    found: list[PartRows] = []
    for part in range(len(placed.owners)):
        slices: list[tuple[int, slice]] = []
        for k, (name, block) in enumerate(zip(owners, rows.blocks, strict=True)):
            if block.starts is not None:
                slices += [(k, slice(0, len(block)))] if alone else []
                continue
            a, b = placed.starts[name][part : part + 2].tolist()
            slices += [(k, slice(a, b))] if b > a else []
        numbers = np.concatenate([first[k] + np.arange(own.start, own.stop) for k, own in slices])
        found.append(PartRows(tuple(slices), numbers))
    return found


def _refined(
    task: Task,
    method: Partition,
    pieces: Pieces,
    numbers: Sequence[int],
    tol: float,
    asked: bool,
    inputs: Sequence[Any] | None,
    stage: Stages,
) -> SolutionOperator:
    """With smaller and smaller cells, until what is measured meets the tolerance."""
    target = max(LEAST, AIM * tol)
    known = inputs_in_advance(task.problem, inputs) if inputs is not None else None
    followed = tuple(f"input {k}" for k in range(len(known))) if known is not None else _constant(task)
    x = interior(task.problem, INSIDE, task.seed + 1).x
    operators, levels, values = list[SolutionOperator](), list[Level](), list[FloatArray]()
    measured, status = "", "budget"
    for number in numbers:
        started = time.perf_counter()
        operator = _learned(task, method, pieces, number, target, stage)
        error = 0.0
        if known is None and pieces.parts is None:
            probes = OnProbes(task.problem, task.frame, task.seed, operator.ansatz, operator.collocated)
            error, measured = probes(operator).error, probes.known
        answers = _answers(operator, known)
        values.append(np.column_stack([_flat(u(x)) for u in answers]))
        changes = None if len(values) == 1 else _changes(values[-1], values[-2])
        operators.append(operator)
        levels.append(
            Level(
                centers=len(operator.factorisation.expansion),
                points=operator.n_points,
                error=max(error, max(_estimates(levels, changes), default=1.0)) if not measured else error,
                seconds=time.perf_counter() - started,
                changes=changes,
                misfit=max(float(np.max(u.misfits)) for u in answers if u.misfits is not None),
            )
        )
        stage.say(str(levels[-1]))
        if changes is not None and max(error, *_estimates(levels[:-1], changes)) <= tol:
            status = "met"
            break
    report = Report(
        status=_status(status),
        tol=tol,
        levels=tuple(levels),
        returned=len(levels) - 1,
        measured=measured,
        followed=followed,
        estimates=tuple(_estimates(levels[:-1], levels[-1].changes)),
        asked=asked,
        space=f"{len(operators[-1].factorisation.expansion.mosaic.owners)} parts",  # pyright: ignore[reportAttributeAccessIssue]
    )
    return replace(operators[-1], report=report)


def _status(word: str) -> Status:
    return "met" if word == "met" else "budget"


def _constant(task: Task) -> tuple[str, ...]:
    return tuple(f"{name} = 1" for name in task.problem.inputs)


def _answers(operator: SolutionOperator, known: Sequence[Any] | None) -> tuple[Solution, ...]:
    """The solutions of inputs, or of constant data."""
    names = operator.problem.inputs
    return operator.answers(known or [{name: float(name == own) for name in names} for own in names])


def _flat(values: Any) -> FloatArray:
    """The values of all unknowns at all places, in one column; each unknown in units of its largest value."""
    fields = values if isinstance(values, tuple) else (values,)
    sizes = [float(np.max(np.abs(field))) or 1.0 for field in fields]
    return np.concatenate([np.ravel(field) / size for field, size in zip(fields, sizes, strict=True)])


def _changes(now_: FloatArray, before: FloatArray) -> tuple[float, ...]:
    """How far solutions are from those before, relative, in L2 or L∞."""
    apart, now_ = np.abs(now_ - before), np.abs(now_)
    pairs = [(norms(apart), norms(now_)), (np.max(np.abs(apart), axis=0), np.max(np.abs(now_), axis=0))]
    found = np.max([a / np.where(b > 0.0, b, 1.0) for a, b in pairs], axis=0)
    return tuple(map(float, found))


def _estimates(levels: Sequence[Level], changes: tuple[float, ...] | None) -> list[float]:
    """The error of each solution: its change from the level before, times the rate at which changes fall."""
    if changes is None:
        return []
    before = levels[-1].changes if levels else None
    rates = [
        1.0 if before is None else min(1.0, a / b if b > 0.0 else 0.0)
        for a, b in zip(changes, before or changes, strict=True)
    ]
    return [SAFETY * change * rate for change, rate in zip(changes, rates, strict=True)]
