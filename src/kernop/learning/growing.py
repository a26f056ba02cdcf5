"""Learning with more and more functions: to a tolerance, or the best of a few numbers of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kernop.basics.errors import ArgumentError, check_integer, check_number, fail
from kernop.basics.progress import Stages
from kernop.collocation.ansatz import Ansatz, condition_layouts
from kernop.collocation.functionals import Functionals
from kernop.collocation.probes import resolving
from kernop.collocation.sampling import can_be_fresh, sample, share_out, top_dimension
from kernop.geometry import Points
from kernop.language.problem import Problem
from kernop.learning.adapt import adaptable, adapted
from kernop.learning.default import ENOUGH, by_default
from kernop.learning.heldout import Measure, OnInputs, OnProbes
from kernop.learning.refine import POINTS_PER_CENTRE, refine
from kernop.learning.task import Task
from kernop.methods import Method, Subspace
from kernop.methods.spaces import Layers
from kernop.methods.spaces.layers import layers_in
from kernop.operators.operator import SolutionOperator
from kernop.trust.diagnosis import Diagnosis

#: Wide functions with which adaptive centres begin, and rows by which the waves of the equation are found.
TRIAL, FEW = 250, 200
#: At least so many rows for each function, where the points are given or those of a cloud.
FEWEST_ROWS = 1.8


def grown(
    task: Task, method: Method, points: Any, tol: float | None, inputs: Any, budget: int, stage: Stages
) -> SolutionOperator:
    """With more and more functions: until an error where nothing was learned is small enough, or the best of a
    few if no tolerance is given."""
    problem = task.problem
    wanted = None if tol is None else check_number("tol", tol, above=0.0)
    growing = _growing(method, tol)
    given = sample(problem, points, task.sampling, task.seed) if points is not None else None
    most = check_integer("budget", budget, least=1)
    every = given if given is not None or can_be_fresh(problem) else task.placed(growing, _shares(problem, most))
    if every is not None:
        most = min(most, max(1, int(_rows_at(problem, every) / FEWEST_ROWS)))

    ansatz: Ansatz | None = None  # of the first level, by which all are measured
    finer = task  # with axes as fine as the waves of the equation ask for, by the rows of the first level

    def place(number: int) -> Mapping[str, Points]:
        with stage("sample"):
            return given or task.placed(growing, _shares(problem, number))

    def fit(centers: int | Layers, placed: Mapping[str, Points]) -> SolutionOperator:
        nonlocal ansatz, finer
        larger, first = replace(growing, centers=centers), ansatz is None
        with stage("collocate"):
            ansatz, rows = task.rows(larger, placed, ansatz=ansatz)
        if first and isinstance(rows, Functionals):
            finer = replace(task, frame=resolving(task.frame, rows.thinned(FEW).blocks, task.seed))
        return finer.factorised(larger, placed, rows, ansatz, Diagnosis(), stage)

    def build(centers: int) -> SolutionOperator:
        return fit(centers, place(centers))

    def examined(operator: SolutionOperator) -> SolutionOperator:
        return replace(operator, diagnosis=Diagnosis(None, task.roughness(operator.points)))

    def measure(operator: SolutionOperator) -> Measure:
        return _measure(task, inputs, operator)

    local = inputs is not None and given is None and growing.basis is None and adaptable(problem)
    if wanted is None:
        uniform = min(most, ENOUGH[1 if problem.dim <= 2 else 2]) if local else most
        components = problem.unknowns.total
        operator = by_default(build, uniform, measure, problem.dim, stage.say, components)
    else:
        most = most if every is None else max(1, most // problem.unknowns.total)
        operator = refine(build, wanted, most, measure, problem.dim, stage.say, examined)
    report = operator.report
    if local and report is not None and not report.met:
        start = layers_in(finer.frame, min(TRIAL, most))
        other = adapted(fit, place, start, problem, inputs, report.tol, most, seed=task.seed, tick=stage.say)
        if other.report is not None and other.report.error < report.error:
            operator = replace(other, report=replace(other.report, asked=report.asked))
    return operator if operator.diagnosis.roughness is not None else examined(operator)


def _shares(problem: Problem, number: int) -> Mapping[str, int]:
    """How many points of each condition so many functions need; all of a cloud, which has no others."""
    return share_out(problem, _points_for(problem, POINTS_PER_CENTRE * number), whole_clouds=True)


def _rows_at(problem: Problem, points: Mapping[str, Points]) -> int:
    """The number of rows that the conditions have at some points, a complex one counted once."""
    unknowns = problem.unknowns
    layouts = zip(problem.conditions, condition_layouts(problem, Ansatz(unknowns)), strict=True)
    return sum((1 if c.integral else len(points[c.name])) * layout.parts for c, layout in layouts)


def _points_for(problem: Problem, n: int) -> int:
    """The points that give n rows for each component: an equation for several unknowns has fewer rows than they."""
    top = top_dimension(problem)
    own = zip(problem.conditions, condition_layouts(problem, Ansatz(problem.unknowns)), strict=True)
    parts = [layout.parts for condition, layout in own if condition.on.intrinsic_dim == top and not condition.integral]
    return round(n * problem.unknowns.total * len(parts) / sum(parts))


def _measure(task: Task, inputs: Any, operator: SolutionOperator) -> Measure:
    """What tells the error of operators that are written as this one is."""
    ansatz = operator.ansatz
    if inputs is not None:
        return OnInputs(task.problem, task.frame, inputs, task.seed, ansatz)
    rows = operator.collocated if ansatz.envelope is None else None
    return OnProbes(task.problem, task.frame, task.seed, ansatz, rows)


def _growing(method: Method, tol: float | None) -> Subspace:
    """The method, if the number of its functions is ours to choose."""
    if method.batch is not None:
        remedy = "leave out batch, or give Subspace(centers=…, batch=…) and no tol"
        raise fail(ArgumentError, "tol", f"{tol} with a stream of points", remedy)
    if not isinstance(method, Subspace) or method.centers is not None:
        remedy = "leave tol out, or use method=ko.Subspace() without centers"
        raise fail(ArgumentError, "tol", f"a tolerance with {method!r}", remedy)
    return method
