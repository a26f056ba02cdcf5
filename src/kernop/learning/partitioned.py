"""Learning an operator made of parts: with cells of one size, or with smaller and smaller ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.checks import check_integer, check_number
from kernop.basics.errors import ArgumentError, FloatArray, MemoryLimitError, SingularGramError, fail
from kernop.basics.linalg import norms
from kernop.basics.progress import Stages
from kernop.basics.versions import now
from kernop.collocation.crossings import strength
from kernop.collocation.data import inputs_in_advance
from kernop.collocation.divisible import pieces_of
from kernop.collocation.elliptic import Kind, kind_of
from kernop.collocation.grading import least_error
from kernop.collocation.pieces import Pieces
from kernop.collocation.sampling import interior
from kernop.collocation.scales import fitted
from kernop.collocation.tiling import tiled, touched
from kernop.language.ops import itself
from kernop.language.problem import Problem
from kernop.learning.degrees import DegreeRule, expected, largest_cell, same_degree, slopes
from kernop.learning.heldout import OnProbes, plain_data
from kernop.learning.plan import CARRIED, LEAST, LOWER, SHALLOW, Plan, rings
from kernop.learning.task import Task
from kernop.methods import Answer
from kernop.methods.joining import glued_operator, watched
from kernop.methods.partition import Partition, PartsFactorisation, counts_for, held_low
from kernop.methods.parts.leaves import Known
from kernop.methods.parts.space import PartsSpace
from kernop.operators.operator import SolutionOperator
from kernop.operators.report import Level, Report, Status
from kernop.trust.diagnosis import Diagnosis
from kernop.trust.estimates.partwise import errors_by_parts

#: Cells along the longest side, to begin with, and how often wrong ones are halved.
FIRST, STEPS = 2, 8
#: A part is wrong if an error there is more than this part of the tolerance …
MARK = 0.3
#: … or this, for the first operator, which is coarser than the second will be.
COARSE_MARK = 10.0
#: … or what is about this part of it in terms of errors on known solutions, of which bumps have less than parts tell,
#: and coefficients that are not smooth make more: between these, where degrees are chosen.
RESOLVED = (0.05, 3.0)
#: At most so many cells along the longest side to begin with.
MOST_FIRST = 16
#: The error at which grading aims, as a part of the tolerance.
AIM = 1e-3
#: In a box in space cells without grading leave an error of about 2⁻⁸: so it aims at so many times the tolerance; and
#: parts are at most so many, because the matrices of the top of the tree grow faster than their number.
SPACE_AIM, SPACE_MOST = 2.0**8, 512
#: What is raised where cells cannot be cut, or parts not be glued.
CANNOT = (ArgumentError, SingularGramError, MemoryLimitError)
#: What is aimed at by default.
GOAL = 1e-9
#: Points inside at which solutions of two levels are compared, and by which their sizes are seen.
INSIDE, FEW = 600, 200
#: Constant data of which more than this is left by balance alone contradict each other, and are not followed.
CONTRADICT = 1e-2
#: What grading leaves of an error, as a part of what it aims at; what a part leaves of the balance of its fluxes, in
#: units of what its coefficients make of u: measured for a disk in a uniform field with contrasts of 10³ and 10⁶.
GRADED, LEAK = 0.1, 1e-10
#: The estimated error is the change from the level before times the rate at which changes fall, at least so much: a
#: lucky one says nothing of other data; and this.
RATE, SAFETY = 0.1, 2.0


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
        most = min(most, SPACE_MOST)
        ungraded = method.levels is None and (tol is None or inputs is not None or not pieces.boxed)
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
        singular = touched(cells, places)
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
    Where the depth of grading is given, a deeper one is asked in the end what it leaves.
    """
    follow = _Followed(task, pieces, inputs)
    plan = _planned(task, method, pieces, cells, tol).within(most, task.problem, pieces, method.levels)
    first = replace(plan, target=min(1.0, SHALLOW * plan.target), degrees=_coarse(task, method, plan, tol))
    known: Known = {}
    levels, values = list[Level](), list[FloatArray]()
    status: Status = "budget"
    operator, seen, estimates = None, None, list[float]()
    for step in range(STEPS):
        started = time.perf_counter()
        try:
            operator = _learned(task, method, pieces, plan if step else first, stage, known)
        except CANNOT:
            if step < 2:
                raise
            break
        seen = follow(operator)
        values.append(seen.values)
        changes = _changes(values[-1], values[-2]) if step else None
        graded, fluxes = follow.graded(plan, method), follow.fluxes
        estimates = [max(graded, fluxes, estimate) for estimate in _estimates(levels, changes)]
        levels.append(_level(operator, seen, estimates, changes, time.perf_counter() - started))
        stage.say(str(levels[-1]))
        if step and max(seen.error, *_estimates(levels[:-1], changes), seen.wrong.max() / COARSE_MARK) <= tol:
            if method.levels is not None and np.any(_space(operator).mosaic.singular):
                deeper = replace(method, levels=method.levels + 1)
                other = follow(_learned(task, deeper, pieces, plan, stage, known)).values
                estimates = list(np.maximum(estimates, SAFETY * np.array(_changes(other, seen.values))).tolist())
            status = "met" if max(estimates, default=0.0) <= tol else "stagnated"
            break
        if step and graded > tol:
            break
        finer = _finer(plan, operator, seen, tol, step)
        same = method.levels is not None and replace(finer, target=plan.target) == plan  # no change would tell of u
        if step and finer.number(task.problem, pieces, method.levels) > most:
            finer = replace(finer, target=plan.target, halved=plan.halved)
            same = not plan.varied or not finer.richer(_space(operator))
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
    target = min(1.0, max(LEAST, (SPACE_AIM if pieces.dim == 3 else AIM) * tol))
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


def _finer(plan: Plan, operator: SolutionOperator, seen: _Seen, tol: float, step: int) -> Plan:
    """What is planned where parts are more wrong than they may be."""
    space = _space(operator)
    if plan.varied:
        told = seen.error / max(float(seen.wrong.max()), 1e-300)  # the error, as a part of what the worst part tells
        allowed = tol * (float(np.clip(MARK / told, *RESOLVED)) if told > 0.0 else 1.0)
        return plan.resolved(space, seen.wrong, seen.slope, allowed, step)
    allowed = max((MARK if step else COARSE_MARK) * tol, CARRIED * float(seen.wrong.max()))
    return plan.refined(space.mosaic, seen.wrong > allowed, step)


def _level(
    operator: SolutionOperator,
    seen: _Seen,
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


def _space(operator: SolutionOperator) -> PartsSpace:
    space = operator.factorisation.expansion
    assert isinstance(space, PartsSpace)
    return space


def _told(operator: SolutionOperator) -> str:
    """The tree in words."""
    space = _space(operator)
    sides = np.max(space.mosaic.sides[:, : space.mosaic.pieces.dim], axis=1)
    depth = round(float(np.log2(np.max(sides) / np.min(sides))))
    return f"{len(sides)} parts of {space.told_degrees}, halved up to {depth} times"


@dataclass(kw_only=True, frozen=True)
class _Seen:
    """What is seen of an operator: how wrong it is on known solutions, and others inside, (n, B); and on each part,
    (P,), with the decay of the solution that is most wrong there, (P,).
    """

    error: float
    measured: str
    misfit: float
    values: FloatArray
    wrong: FloatArray
    slope: FloatArray


class _Followed:
    """Solutions by which operators are measured: those of inputs, or probes and constant data."""

    def __init__(self, task: Task, pieces: Pieces, inputs: Sequence[Any] | None) -> None:
        self._task, self._pieces, self._jumps = task, pieces, pieces.parts is not None
        self._known = inputs_in_advance(task.problem, inputs) if inputs is not None else None
        self._x = interior(task.problem, INSIDE, task.seed + 1).x
        count = len(self._known) if self._known is not None else 0
        self._plain = plain_data(task.problem, task.frame, waves=self._jumps)
        self.names = tuple(f"input {k}" for k in range(count)) or tuple(self._plain)
        if self._jumps and not self.names:
            got = "none, where nothing but the first time has data: 1 there does not fit the walls"
            raise fail(ArgumentError, "inputs", got, "give some that do, or Partition(cells=…) without tol")
        self._fresh = self._known is None
        self.fluxes = flux_error(task.problem, pieces, self._x)

    def __call__(self, operator: SolutionOperator) -> _Seen:
        if self._fresh:
            self.names, self._fresh = self._without_contradictions(operator), False
        answers = operator.answers(self._known or [self._plain[name] for name in self.names])
        values = np.column_stack([_flat(u(self._x)) for u in answers] or [np.empty((0, 0))])
        misfit = max((float(np.max(u.misfits)) for u in answers if u.misfits is not None), default=0.0)
        if self._known is not None or self._jumps:
            columns = np.hstack([u.data for u in answers if u.data is not None])
            wrong, slope = self._wrong(operator, columns)
            return _Seen(error=0.0, measured="", misfit=misfit, values=values, wrong=wrong, slope=slope)
        task = self._task
        probes = OnProbes(task.problem, task.frame, task.seed, operator.ansatz, operator.collocated)
        data = probes.data(operator)
        answer = operator.factorisation.answer(data)
        left_out = np.array([name not in self.names for name in probes.unknown], dtype=bool)
        wrong, slope = _relative_by_parts(
            operator, data, answer, np.append(np.zeros(data.shape[1] - len(left_out), bool), left_out)
        )
        error = probes.judged(answer).error
        return _Seen(error=error, measured=probes.known, misfit=misfit, values=values, wrong=wrong, slope=slope)

    def graded(self, plan: Plan, method: Partition) -> float:
        """What grading leaves of errors, about, where its depth is limited: from level to level it does not change."""
        deepest = least_error(self._task.problem, self._pieces) if method.levels is None else 0.0
        return max(deepest, GRADED * plan.target) if deepest > 0.0 else 0.0

    def _without_contradictions(self, operator: SolutionOperator) -> tuple[str, ...]:
        """Constant data that have a solution: where slopes alone are given, a source of 1 has none."""
        found = operator.factorisation
        assert isinstance(found, PartsFactorisation)
        if len(found.integrals) == 0:
            return self.names
        answers = operator.answers([self._plain[name] for name in self.names])
        h = np.hstack([u.data for u in answers if u.data is not None])
        fit = tuple(name for name, part in zip(self.names, found.imbalance(h), strict=True) if part < CONTRADICT)
        return self.names if self._jumps and not fit else fit

    def _wrong(self, operator: SolutionOperator, h: FloatArray) -> tuple[FloatArray, FloatArray]:
        return _relative_by_parts(operator, h, operator.factorisation.answer(h))


def flux_error(problem: Problem, pieces: Pieces, x: FloatArray) -> float:
    """What is left of errors, about, where coefficients jump: fluxes out of a part are not quite in balance.

    In a conductor on which no value is given u is nearly a constant, which the sum of small fluxes around it tells;
    those of its own parts are wrong by a small part of what large coefficients make of u.

    Arguments:
        x: places all over the domain, (n, d).
    """
    if pieces.parts is None or problem.unknowns.total > 1:
        return 0.0
    a, alone = strength(problem, x), np.ones(len(x), dtype=bool)
    for condition in problem.conditions:
        if condition.op is itself and not condition.integral:
            alone &= ~np.isin(pieces.which(x), pieces.which(condition.on.sample(INSIDE).x))
    return LEAK * float(np.max(a[alone], initial=0.0) / np.min(a))


def _relative_by_parts(
    operator: SolutionOperator, h: FloatArray, answer: Answer, left_out: NDArray[np.bool_] | None = None
) -> tuple[FloatArray, FloatArray]:
    """The largest error of a solution on each part, about, relative to the solution: (P,); 0 beside singularities.
    And how fast that solution decays there with the degree, (P,).

    Arguments:
        left_out: solutions that do not count, (B,).
    """
    wrong = errors_by_parts(operator.factorisation, operator.collocated, answer.u, h)
    assert wrong is not None
    mosaic = _space(operator).mosaic
    wrong[(mosaic.singular == 1) | np.isin(mosaic.owners[:, 0], rings(mosaic))] = 0.0
    x = interior(operator.problem, FEW, 0).x
    size = np.max(np.abs(answer.u.apply(operator.ansatz.evaluations(x))), axis=0)
    size = np.where(size > 0.0, size, np.inf)
    wrong /= size if left_out is None else np.where(left_out, np.inf, size)
    which = np.argmax(wrong, axis=1)[:, None]
    decay = slopes(_space(operator), answer.u.y)
    return np.take_along_axis(wrong, which, axis=1)[:, 0], np.take_along_axis(decay, which, axis=1)[:, 0]


def _flat(values: Any) -> FloatArray:
    """The values of all unknowns at all places, in one column; each unknown in units of its largest value."""
    fields = values if isinstance(values, tuple) else (values,)
    sizes = [float(np.max(np.abs(field))) or 1.0 for field in fields]
    return np.concatenate([np.ravel(field) / size for field, size in zip(fields, sizes, strict=True)])


def _changes(now_: FloatArray, before: FloatArray) -> tuple[float, ...]:
    """How far solutions are from those before, relative, in L2 or L∞."""
    apart, now_ = np.abs(now_ - before), np.abs(now_)
    pairs = [(norms(apart), norms(now_)), (np.max(apart, axis=0, initial=0.0), np.max(now_, axis=0, initial=0.0))]
    found = np.max([a / np.where(b > 0.0, b, 1.0) for a, b in pairs], axis=0)
    return tuple(map(float, found))


def _estimates(levels: Sequence[Level], changes: tuple[float, ...] | None) -> list[float]:
    """The error of each solution: its change from the level before, times the rate at which changes fall."""
    if changes is None:
        return []
    before = levels[-1].changes if levels else None
    rates = [
        1.0 if before is None else min(1.0, max(RATE, a / b if b > 0.0 else 0.0))
        for a, b in zip(changes, before or changes, strict=True)
    ]
    return [SAFETY * change * rate for change, rate in zip(changes, rates, strict=True)]
