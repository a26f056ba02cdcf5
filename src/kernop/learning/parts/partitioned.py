"""Learning an operator made of parts: with cells of one size, or with smaller and smaller ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from kernop.basics.checks import check_integer, check_number
from kernop.basics.errors import ArgumentError, FloatArray, MemoryLimitError, SingularGramError
from kernop.basics.linalg import norms
from kernop.basics.progress import Stages
from kernop.basics.versions import now
from kernop.collocation.cells.divisible import pieces_of
from kernop.collocation.cells.elliptic import Kind, kind_of
from kernop.collocation.cells.grading import Corners
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.tiling import tiled, touched
from kernop.collocation.scales import fitted
from kernop.geometry.edges import reentrant
from kernop.language.problem import Problem
from kernop.learning.parts.degrees import DegreeRule, expected, largest_cell, same_degree
from kernop.learning.parts.followed import Followed, Seen, bent_parts, space_on_parts
from kernop.learning.parts.plan import CARRIED, LEAST, LOWER, SHALLOW, Plan
from kernop.learning.task import Task
from kernop.methods.parts.glued import PartsFactorisation
from kernop.methods.parts.joining import glued_operator, watched
from kernop.methods.parts.leaves import Known
from kernop.methods.parts.partition import Partition, counts_for, held_low
from kernop.operators.operator import SolutionOperator
from kernop.operators.report import Level, Report, Status
from kernop.trust.diagnosis import Diagnosis

#: Cells along the longest side, to begin with; how often wrong ones are halved, and those of another operator.
FIRST, STEPS, OTHERS = 2, 8, 3
#: A part is wrong if an error there is more than this part of the tolerance …
MARK = 0.3
#: … or this, for the first operator, which is coarser than the second will be.
COARSE_MARK = 10.0
#: … or what is about this part of it in terms of errors on known solutions, of which bumps have less than parts tell,
#: and coefficients that are not smooth make more: between these, where degrees are chosen.
RESOLVED = (0.05, 3.0)
#: At most so many cells along the longest side to begin with.
MOST_FIRST = 16
#: The error at which grading aims, as a part of the tolerance; in space it is the tolerance itself.
AIM = 1e-3
#: In space parts are at most so many, and on bodies with re-entrant edges so many, because the matrices of the top of
#: the tree grow faster than their number.
SPACE_MOST, REENTRANT_MOST = 512, 1000
#: What is raised where cells cannot be cut, or parts not be glued.
CANNOT = (ArgumentError, SingularGramError, MemoryLimitError)
#: What is aimed at by default, and how many numbers an operator may have before it is refined once more.
GOAL, ENOUGH = 1e-9, 3e7
#: The estimated error is the change from the level before times the rate at which changes fall, at least so much: a
#: lucky one says nothing of other data; and this. From a change of more than the last part of u no rate is seen …
RATE, SAFETY, UNSEEN = 0.1, 2.0, 0.1
#: What is aimed at, as a part of what was, where operators of other cells do not agree.
AGAIN = 0.03
#: Where coefficients are not smooth in parts errors fall like the size of these, or slower.
SLOW = 0.5
#: … nor from a step to fewer than so many times the functions: u changes little there because little is refined.
STEP = 1.05


def partitioned(
    task: Task,
    method: Partition,
    tol: float | None,
    inputs: Sequence[Any] | None,
    budget: int,
    stage: Stages,
    asked: bool = True,
) -> SolutionOperator:
    """The operator made of parts: of one size if the method names it, or so many at most, till the tolerance holds.

    Arguments:
        asked: did the user ask for the tolerance?
    """
    pieces = pieces_of(task.problem)
    wanted = GOAL if tol is None else check_number("tol", tol, above=0.0)
    if method.cells is not None and tol is None:
        target = 1.0 if pieces.dim == 3 else max(LEAST, AIM * wanted)
        return _learned(
            task, method, pieces, Plan(cells=method.cells, target=target, degrees=_fixed(task, method)), stage
        )
    cells = FIRST if method.cells is None else method.cells
    most = check_integer("budget", budget, least=1)
    if pieces.dim == 3:
        rough = pieces.boxed and reentrant(pieces.whole)
        most = min(most, REENTRANT_MOST if rough else SPACE_MOST)
        ungraded = method.levels is None and not rough and (tol is None or inputs is not None or not pieces.boxed)
        method = replace(method, levels=0) if ungraded else method
    return _refined(task, method, pieces, cells, wanted, asked and tol is not None, inputs, most, stage)


def cells_for(problem: Problem, pieces: Pieces, tol: float) -> int:
    """How many cells there are if corners are graded for a tolerance."""
    return Plan(cells=FIRST, target=max(LEAST, AIM * tol), degrees=same_degree(1)).number(problem, pieces, None)


def _fixed(task: Task, method: Partition) -> DegreeRule:
    return same_degree(method.degree_for(task.problem.dim))


def _learned(
    task: Task, method: Partition, pieces: Pieces, plan: Plan, stage: Stages, known: Known | None = None
) -> SolutionOperator:
    problem = task.problem
    with stage("sample"):
        cells, places = plan.laid(problem, pieces, method.levels)
        singular = touched(problem, pieces, cells, places)
        degrees = held_low(plan.degrees(cells, singular), singular, problem.dim)
        counts = [counts_for(problem.dim, degree) for degree in degrees.tolist()]
        placed = tiled(problem, pieces, cells, singular, counts, task.seed)
    with stage("collocate"):
        ansatz, rows = fitted(problem, placed.points, task.frame, cut=False)
    with stage("factorise") as tick:
        crew = watched(task.crew, tick)
        own = degrees[placed.owners[:, 0]]
        factorisation = glued_operator(problem, placed, own, method, rows, ansatz, known, crew)
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


def _refined(
    task: Task,
    method: Partition,
    pieces: Pieces,
    cells: int,
    tol: float,
    asked: bool,
    inputs: Sequence[Any] | None,
    most: int,
    stage: Stages,
) -> SolutionOperator:
    """With cells halved where they are wrong, until what is measured meets the tolerance.

    The first operator is coarser in every respect, so that the change to the second tells of degrees and of grading.
    Where the depth of grading is given, a deeper one is asked in the end what it leaves. Where coefficients jump on
    lines that cut cells, one of other cells is, since levels have the same cells there, and leave the same; if it does
    not agree, a smaller tolerance is aimed at.
    """
    follow = Followed(task, pieces, inputs)
    plan = _planned(task, method, pieces, cells, tol).within(most, task.problem, pieces, method.levels)
    first = replace(plan, target=min(1.0, SHALLOW * plan.target), degrees=_coarse(task, method, plan, tol))
    known: Known = {}
    levels = list[Level]()
    status: Status = "budget"
    operator, seen, estimates, asked_all, aim = None, None, list[float](), False, tol
    for step in range(STEPS):
        started = time.perf_counter()
        try:
            operator = _learned(task, method, pieces, plan if step else first, stage, known)
        except CANNOT:
            if step < 2:
                raise
            break
        before, seen = seen, follow(operator)
        changes = None if before is None else changes_from(seen, before.values)
        graded, fluxes = follow.graded(plan, method), follow.fluxes
        grown = len(operator.factorisation.expansion) / levels[-1].centers if step else np.inf
        told = errors_from_changes(levels, changes, grown, slowly=asked_all)
        estimates = [max(graded, fluxes, estimate) for estimate in told]
        levels.append(_level(operator, seen, estimates, changes, time.perf_counter() - started))
        stage.say(str(levels[-1]))
        good = step and max(seen.error, *told, seen.wrong.max() / COARSE_MARK) <= aim
        slow = seen.rough | bent_parts(operator) if good and not asked_all else None
        if slow is not None and np.any(slow):
            plan, asked_all = plan.halving(space_on_parts(operator).mosaic, slow), True
            if plan.number(task.problem, pieces, method.levels) > most:
                break
            continue
        if good:
            other = _otherwise(method, plan, follow.cut)
            if other is not None and (follow.cut or np.any(space_on_parts(operator).mosaic.singular)):
                others = _resolved(task, *other, pieces, aim, stage, known, follow).values
                estimates = np.maximum(estimates, SAFETY * np.array(changes_from(seen, others))).tolist()
                levels[-1] = replace(levels[-1], error=max(levels[-1].error, *estimates))
                finer = _finer(plan, operator, seen, AGAIN * aim, step)
                fits = step + 1 < STEPS and finer.number(task.problem, pieces, method.levels) <= most
                if max(estimates) > tol and method.levels is None and fits:
                    plan, aim = finer, AGAIN * aim
                    continue
            status = "met" if max(estimates, default=0.0) <= tol else "stagnated"
            break
        if step and (graded > tol or (not asked and _numbers(operator) > ENOUGH)):
            break
        finer, asked_all = _finer(plan, operator, seen, aim, step), asked_all and bool(np.any(seen.rough))
        if asked_all:
            finer = finer.halving(space_on_parts(operator).mosaic, seen.rough)
        now, then = (own.number(task.problem, pieces, method.levels) for own in (plan, finer))
        same = not plan.varied and now == then  # no change would tell of u
        if step and then > most:
            finer, asked_all = replace(finer, target=plan.target, halved=plan.halved), False
            same = not plan.varied or not finer.richer(space_on_parts(operator))
        if step and same:
            break
        plan = finer if step else finer.within(most, task.problem, pieces, method.levels)
    assert operator is not None
    assert seen is not None
    report = Report(
        status=status,
        tol=tol,
        levels=tuple(levels),
        returned=len(levels) - 1,
        measured=seen.measured,
        followed=follow.names,
        estimates=tuple(estimates),
        asked=asked,
        space=_told(operator),
    )
    return replace(operator, report=report)


def _numbers(operator: SolutionOperator) -> int:
    """How many numbers its parts and their groups have, equal ones once."""
    found = operator.factorisation
    assert isinstance(found, PartsFactorisation)
    groups, seen = [found.root], dict[int, int]()
    while groups:
        group = groups.pop()
        groups += group.children
        matrices = (*(group.factor or ())[:1], group.down, group.up)
        seen |= {id(own): own.size for own in matrices if own is not None}
    return sum(own.numbers for own in {id(own): own for own in found.locals}.values()) + sum(seen.values())


def _otherwise(method: Partition, plan: Plan, cut: bool) -> tuple[Partition, Plan] | None:
    """What is asked in the end about errors that are the same on all levels; None if there are none.

    Arguments:
        cut: do lines on which coefficients jump cut cells?
    """
    if method.levels is not None:
        return replace(method, levels=method.levels + 1), plan
    if cut:
        return method, replace(plan, cells=plan.cells + ceil(plan.cells / 2), halved=frozenset[Corners]())
    return None


def _resolved(
    task: Task, method: Partition, plan: Plan, pieces: Pieces, tol: float, stage: Stages, known: Known, follow: Followed
) -> Seen:
    """What is seen of an operator of other cells as fine as a tolerance asks for, or after some steps."""
    for step in range(1, OTHERS):
        operator = _learned(task, method, pieces, plan, stage, known)
        seen = follow(operator)
        if seen.wrong.max() <= COARSE_MARK * tol:
            return seen
        plan = _finer(plan, operator, seen, tol, step)
    return follow(_learned(task, method, pieces, plan, stage, known))


def _varied(task: Task, method: Partition) -> bool:
    """May degrees differ from part to part? In the plane, for equations of second order, unless one is given, or the
    depth of grading: then nothing but smaller cells would tell what it leaves.
    """
    kind = kind_of(task.problem)
    second = isinstance(kind, Kind) and kind.order == 2
    free = method.degree is None and method.levels is None
    return free and task.problem.dim == 2 and not task.problem.timed and second


def _planned(task: Task, method: Partition, pieces: Pieces, cells: int, tol: float) -> Plan:
    """The cells to begin with, and degrees."""
    target = min(1.0, max(LEAST, (1.0 if pieces.dim == 3 else AIM) * tol))
    if not _varied(task, method):
        return Plan(cells=cells, target=target, degrees=_fixed(task, method))
    shortest, longest = float(np.min(task.frame.shortest)), float(np.max(task.frame.high - task.frame.low))
    fewest = cells
    while method.cells is None and longest / cells > largest_cell(tol) * shortest and cells < MOST_FIRST:
        cells *= 2
    return Plan(cells=cells, target=target, degrees=expected(tol, shortest), varied=True, fewest=fewest)


def _coarse(task: Task, method: Partition, plan: Plan, tol: float) -> DegreeRule:
    """The degrees of the first operator, lower than those that are planned."""
    if plan.varied:
        return expected(tol, float(np.min(task.frame.shortest)), LOWER)
    return same_degree(max(2, method.degree_for(task.problem.dim) - LOWER))


def _finer(plan: Plan, operator: SolutionOperator, seen: Seen, tol: float, step: int) -> Plan:
    """What is planned where parts are more wrong than they may be."""
    space = space_on_parts(operator)
    if plan.varied:
        told = seen.error / max(float(seen.wrong.max()), 1e-300)  # the error, as a part of what the worst part tells
        allowed = tol * (float(np.clip(MARK / told, *RESOLVED)) if told > 0.0 else 1.0)
        return plan.resolved(space, seen.wrong, seen.slope, allowed, step)
    allowed = max((MARK if step else COARSE_MARK) * tol, CARRIED * float(seen.wrong.max()))
    return plan.refined(space.mosaic, seen.wrong > allowed, step)


def _level(
    operator: SolutionOperator,
    seen: Seen,
    estimates: Sequence[float],
    changes: tuple[float, ...] | None,
    seconds: float,
) -> Level:
    """What was reached by one operator."""
    return Level(
        centers=len(operator.factorisation.expansion),
        points=operator.n_points,
        error=seen.error if seen.measured else max(estimates, default=1.0),
        seconds=seconds,
        changes=changes,
        misfit=seen.misfit,
    )


def _told(operator: SolutionOperator) -> str:
    """The tree in words."""
    space = space_on_parts(operator)
    dim = space.mosaic.pieces.dim
    sides = (np.min if dim == 3 else np.max)(space.mosaic.sides[:, :dim], axis=1)  # in space, across edges
    depth = round(float(np.log2(np.max(sides) / np.min(sides))))
    return f"{len(sides)} parts of {space.told_degrees}, halved up to {depth} times"


def changes_from(seen: Seen, others: FloatArray) -> tuple[float, ...]:
    """How far solutions are from others (n, B), relative, in L2 or L∞; each unknown in units of its largest value."""
    apart, size = np.abs((seen.values - others) / seen.sizes), np.abs(seen.values / seen.sizes)
    pairs = [(norms(apart), norms(size)), (np.max(apart, axis=0, initial=0.0), np.max(size, axis=0, initial=0.0))]
    found = np.max([a / np.where(b > 0.0, b, 1.0) for a, b in pairs], axis=0)
    return tuple(map(float, found))


def errors_from_changes(
    levels: Sequence[Level], changes: tuple[float, ...] | None, grown: float, *, slowly: bool = False
) -> list[float]:
    """The error of each solution, estimated: its change from the level before, times the rate at which changes fall.

    Arguments:
        grown: how many times the functions of the level before there are.
        slowly: errors fall like the size of parts at best; then changes go up and down, and the one before counts too.
    """
    if changes is None:
        return []
    least = SLOW if slowly else RATE
    before = (levels[-1].changes if levels and grown >= STEP else None) or ()
    rates = [
        1.0 if b > UNSEEN else min(1.0, max(least, a / b if b > 0.0 else 0.0))
        for a, b in zip(changes, before, strict=False)
    ]
    found = [SAFETY * change * rate for change, rate in zip(changes, rates or [1.0] * len(changes), strict=True)]
    if slowly and before:
        return [max(own, SAFETY * SLOW**2 * b) for own, b in zip(found, before, strict=True)]
    return found
