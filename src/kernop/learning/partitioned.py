"""Learning an operator made of parts: with cells of one size, or with smaller and smaller ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from kernop.basics.checks import check_integer, check_number
from kernop.basics.errors import ArgumentError, FloatArray, MemoryLimitError, SingularGramError, fail
from kernop.basics.linalg import norms
from kernop.basics.progress import Stages
from kernop.basics.versions import now
from kernop.collocation.crossings import strength
from kernop.collocation.data import inputs_in_advance
from kernop.collocation.divisible import pieces_of
from kernop.collocation.grading import Corners, cells_of, corners_of, least_error
from kernop.collocation.mosaic import Mosaic
from kernop.collocation.pieces import Pieces
from kernop.collocation.sampling import interior
from kernop.collocation.scales import fitted
from kernop.collocation.tiling import tiled
from kernop.language.ops import itself
from kernop.language.problem import Problem
from kernop.learning.heldout import OnProbes, plain_data
from kernop.learning.task import Task
from kernop.methods import Answer
from kernop.methods.joining import glued_operator, watched
from kernop.methods.partition import Partition, PartsFactorisation
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
#: What is below this part of the worst error of a part may come from there: cells are not halved for it.
CARRIED = 1e-2
#: Cells below this part of the extent, nearer to a singularity than this many of their sizes, belong to its grading.
SMALL, NEAR = 2.0**-5, 2.5
#: The first operator has polynomials of a degree lower by this, and corners graded for an error larger by this factor.
LOWER, SHALLOW = 2, 16.0
#: The factor by which that error grows until there are not too many cells.
SHALLOWER = 4.0
#: The error at which grading aims, as a part of the tolerance, and the least one.
AIM, LEAST = 1e-3, 1e-14
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
        return _learned(task, method, pieces, Plan(method.cells, target), stage)
    cells = FIRST if method.cells is None else method.cells
    most = check_integer("budget", budget, least=1)
    if pieces.dim == 3:
        most = min(most, SPACE_MOST)
        ungraded = method.levels is None and (tol is None or inputs is not None or not pieces.boxed)
        method = replace(method, levels=0) if ungraded else method
    return _refined(task, method, pieces, cells, wanted, asked and tol is not None, inputs, most, stage)


def cells_for(problem: Problem, pieces: Pieces, tol: float) -> int:
    """How many cells there are if corners are graded for a tolerance."""
    return Plan(FIRST, max(LEAST, AIM * tol)).number(problem, pieces, None)


def _learned(
    task: Task, method: Partition, pieces: Pieces, plan: Plan, stage: Stages, known: Known | None = None
) -> SolutionOperator:
    problem = task.problem
    with stage("sample"):
        cells, places = cells_of(problem, pieces, plan.cells, plan.target, method.levels, plan.halved)
        placed = tiled(problem, pieces, cells, places, method.counts_for(problem.dim), task.seed)
    with stage("collocate"):
        ansatz, rows = fitted(problem, placed.points, task.frame, cut=False)
    with stage("factorise") as tick:
        crew = watched(task.crew, tick)
        factorisation = glued_operator(problem, placed, method, rows, ansatz, known, crew)
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
    """
    degree, _ = method.degrees_for(task.problem.dim)
    follow = _Followed(task, pieces, inputs)
    coarse = replace(method, degree=max(2, degree - LOWER))
    aim = SPACE_AIM if pieces.dim == 3 else AIM
    plan = Plan(cells, min(1.0, max(LEAST, aim * tol))).within(most, task.problem, pieces, method.levels)
    first = replace(plan, target=min(1.0, SHALLOW * plan.target))
    known: Known = {}
    levels, values = list[Level](), list[FloatArray]()
    status: Status = "budget"
    operator, seen, estimates = None, None, list[float]()
    for step in range(STEPS):
        started = time.perf_counter()
        try:
            operator = _learned(task, method if step else coarse, pieces, plan if step else first, stage, known)
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
            status = "met" if max(estimates, default=0.0) <= tol else "stagnated"
            break
        if step and graded > tol:
            break
        allowed = max((MARK if step else COARSE_MARK) * tol, CARRIED * float(seen.wrong.max()))
        finer = plan.refined(_space(operator).mosaic, seen.wrong > allowed, step)
        same = method.levels is not None and replace(finer, target=plan.target) == plan  # no change would tell of u
        if step and (same or finer.number(task.problem, pieces, method.levels) > most):
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
    degree = int(np.max(np.sum(space.degrees, axis=1)))
    return f"{len(sides)} parts of degree {degree}, halved up to {depth} times"


@dataclass(frozen=True)
class Plan:
    """Which cells a domain is cut into.

    Arguments:
        cells: about so many along the longest side.
        target: the error at which grading aims.
        halved: cells that are halved because they were wrong.
    """

    cells: int
    target: float
    halved: frozenset[Corners] = frozenset()

    def number(self, problem: Problem, pieces: Pieces, depth: int | None) -> int:
        """How many cells there are, graded so deeply."""
        cells, _ = cells_of(problem, pieces, self.cells, self.target, depth, self.halved)
        return len(cells.low)

    def within(self, most: int, problem: Problem, pieces: Pieces, depth: int | None) -> Plan:
        """Graded less deeply, or not halved, until there are at most so many cells, if that helps."""
        if self.number(problem, pieces, depth) <= most or self == Plan(self.cells, 1.0):
            return self
        return Plan(self.cells, min(1.0, SHALLOWER * self.target)).within(most, problem, pieces, depth)

    def refined(self, mosaic: Mosaic, wrong: NDArray[np.bool_], step: int) -> Plan:
        """With cells halved whose parts are wrong, (P,); if none is, with deeper grading, and, without it, all.

        In space cells of different sizes beside each other are no gain: a box is graded to its edges, and any other
        domain cut into more cells.
        """
        if mosaic.pieces.dim == 3 and not mosaic.pieces.boxed:
            return replace(self, cells=self.cells + ceil(self.cells / 2)) if step or np.any(wrong) else self
        if mosaic.boxes[0].shape[1] == 3 and np.any(mosaic.singular):  # a box in space that is graded to its edges
            return replace(self, target=max(LEAST, self.target / SHALLOW)) if step else self
        if step == 0:
            return self if not np.any(wrong) else self._halving(mosaic, wrong)
        if np.any(wrong):
            return self._halving(mosaic, wrong)
        if np.any(mosaic.singular):
            return replace(self, target=max(LEAST, self.target / SHALLOW**2))
        return self._halving(mosaic, np.ones(len(mosaic.owners), dtype=bool))

    def _halving(self, mosaic: Mosaic, wrong: NDArray[np.bool_]) -> Plan:
        low, high = mosaic.cells.low, mosaic.cells.high
        cells = np.unique(mosaic.owners[wrong, 0])
        return replace(self, halved=self.halved | {corners_of(low[cell], high[cell]) for cell in cells.tolist()})


def _rings(mosaic: Mosaic) -> NDArray[np.intp]:
    """Small cells around singularities: what is wrong there comes from within, and deeper grading mends it."""
    d = mosaic.pieces.dim
    low, high = mosaic.cells.low[:, :d], mosaic.cells.high[:, :d]
    size, middle = np.max(high - low, axis=1), 0.5 * (low + high)
    tips = middle[np.unique(mosaic.owners[mosaic.singular == 1, 0])]
    small = np.flatnonzero(
        size < SMALL * float(np.max(mosaic.cells.corners[0, 1, :d] - mosaic.cells.corners[0, 0, :d]))
    )
    if len(tips) == 0 or len(small) == 0:
        return np.empty(0, dtype=np.intp)
    far, _ = KDTree(tips).query(middle[small], p=np.inf)
    return small[far < NEAR * size[small]]


@dataclass(frozen=True)
class _Seen:
    """What is seen of an operator: how wrong it is on known solutions, and others inside, (n, B); and on each part."""

    error: float
    measured: str
    misfit: float
    values: FloatArray
    wrong: FloatArray


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
            return _Seen(0.0, "", misfit, values, self._wrong(operator, columns))
        task = self._task
        probes = OnProbes(task.problem, task.frame, task.seed, operator.ansatz, operator.collocated)
        data = probes.data(operator)
        answer = operator.factorisation.answer(data)
        left_out = np.array([name not in self.names for name in probes.unknown], dtype=bool)
        worst = _relative_by_parts(
            operator, data, answer, np.append(np.zeros(data.shape[1] - len(left_out), bool), left_out)
        )
        return _Seen(probes.judged(answer).error, probes.known, misfit, values, worst)

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

    def _wrong(self, operator: SolutionOperator, h: FloatArray) -> FloatArray:
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
) -> FloatArray:
    """The largest error of a solution on each part, about, relative to the solution: (P,); 0 beside singularities.

    Arguments:
        left_out: solutions that do not count, (B,).
    """
    wrong = errors_by_parts(operator.factorisation, operator.collocated, answer.u, h)
    assert wrong is not None
    mosaic = _space(operator).mosaic
    wrong[(mosaic.singular == 1) | np.isin(mosaic.owners[:, 0], _rings(mosaic))] = 0.0
    x = interior(operator.problem, FEW, 0).x
    size = np.max(np.abs(answer.u.apply(operator.ansatz.evaluations(x))), axis=0)
    size = np.where(size > 0.0, size, np.inf)
    return np.max(wrong / (size if left_out is None else np.where(left_out, np.inf, size)), axis=1)


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
        1.0 if before is None else min(1.0, max(RATE, a / b if b > 0.0 else 0.0))
        for a, b in zip(changes, before or changes, strict=True)
    ]
    return [SAFETY * change * rate for change, rate in zip(changes, rates, strict=True)]
