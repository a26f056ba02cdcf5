"""Learning with more and more functions: to a tolerance, or the best of a few numbers of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernop.basics.checks import check_integer, check_number
from kernop.basics.errors import ArgumentError, fail
from kernop.basics.progress import Stages
from kernop.collocation.ansatz import Ansatz, condition_layouts
from kernop.collocation.functionals import Functionals
from kernop.collocation.probes import resolving
from kernop.collocation.sampling import can_be_fresh, sample, share_out, top_dimension
from kernop.collocation.units import Frame
from kernop.geometry import Points
from kernop.language.problem import Problem
from kernop.learning.adapt import USED, adaptable, adapted, smooth
from kernop.learning.axes import as_data_vary, followed
from kernop.learning.fixed_data import fixed_alone
from kernop.learning.heldout import Measure, OnBoth, OnInputs, OnProbes
from kernop.learning.refine import ENOUGH, POINTS_PER_CENTRE, by_default, refine
from kernop.learning.task import Task
from kernop.methods import Method, Subspace
from kernop.methods.spaces import DirectSum, Layers, Multipoles
from kernop.methods.spaces.layers import layers_in
from kernop.operators.operator import SolutionOperator
from kernop.trust.diagnosis import Diagnosis

#: Wide functions with which adaptive centres begin, and rows by which the waves of the equation are found.
TRIAL, FEW = 250, 200
#: Up to so many axes are resolved differently, and cells halved: beyond, thousands of functions resolve little of each.
MOST_AXES = 4
#: At least so many rows for each function, where the points are given or those of a cloud.
FEWEST_ROWS = 1.8
#: Residuals that are as large as the data tell nothing more: how large they are depends on rounding.
UNRESOLVED = 1.0


def grown(
    task: Task,
    method: Method,
    points: Any,
    tol: float | None,
    inputs: Sequence[object] | None,
    budget: int,
    stage: Stages,
    in_parts: Callable[[SolutionOperator, Sequence[object] | None], SolutionOperator],
) -> SolutionOperator:
    """With more and more functions: until an error where nothing was learned is small enough, or the best of a
    few if no tolerance is given.

    Functions that fill the domain come first; then, for inputs, and for fixed data that are not resolved, other axes;
    then parts (``in_parts`` gives the operator itself or a better one); and where those are not better, narrow
    functions.
    """
    problem = task.problem
    wanted = None if tol is None else check_number("tol", tol, above=0.0)
    growing = _growing(method, tol)
    given = sample(problem, points, task.sampling, task.seed) if points is not None else None
    most = check_integer("budget", budget, least=1)
    every = given if given is not None or can_be_fresh(problem) else task.placed(growing, _shares(problem, most))
    if every is not None:
        layouts = condition_layouts(problem, Ansatz(problem.unknowns))
        sizes = [1 if c.integral else len(every[c.name]) for c in problem.conditions]
        rows = sum(size * layout.parts for size, layout in zip(sizes, layouts, strict=True))
        most = min(most, max(1, int(rows / FEWEST_ROWS)))
    levels, components = _Levels(task, growing, given, inputs, stage), problem.unknowns.total
    narrow = given is None and growing.basis is None and problem.dim <= MOST_AXES and adaptable(problem)
    if wanted is None:
        uniform = min(most, _enough(problem)) if narrow and inputs is not None else most
        operator = by_default(levels.build, uniform, levels.measure, problem.dim, stage.say, components)
    else:
        most = most if every is None else max(1, most // components)
        operator = levels.refined(wanted, most)
    operator = levels.with_fixed_data(operator)
    known = levels.inputs is not None
    if known and growing.basis is None and 1 < problem.dim <= MOST_AXES:
        operator = levels.with_axes(operator, most)
    one, operator = operator, in_parts(operator, levels.inputs)
    if operator is not one:
        return operator
    if known and narrow:
        operator = levels.with_layers(operator, most)
    operator = operator if operator.diagnosis.roughness is not None else levels.examined(operator)
    space, report = operator.factorisation.expansion, operator.report
    poles = [own for own in space.summands if isinstance(own, Multipoles)] if isinstance(space, DirectSum) else []
    holes = len({(*own.centre.tolist(), own.radius) for own in poles})
    return operator if report is None else replace(operator, report=replace(report, holes=holes))


@dataclass
class _Levels:
    """Operators of one problem with more and more functions, whose errors are compared.

    Arguments:
        task: the problem and what belongs to it.
        method: with a number of functions that is ours to choose.
        given: the points, if they are the user's.
        inputs: what errors are measured by, if not by known solutions alone.
        stage: shows what is done.
    """

    task: Task
    method: Subspace
    given: Mapping[str, Points] | None
    inputs: Sequence[object] | None
    stage: Stages
    both: bool = field(default=False, init=False)  # are known solutions measured by beside inputs?
    ansatz: Ansatz | None = field(default=None, init=False)  # of the first level, by which all are measured
    frame: Frame | None = field(default=None, init=False)  # with axes as fine as the equation or inputs ask for
    axes: str = field(default="", init=False)  # how they are resolved if the inputs ask for it, in words

    def place(self, number: int) -> Mapping[str, Points]:
        """The points for so many functions."""
        with self.stage("sample"):
            return self.given or self.task.placed(self.method, _shares(self.task.problem, number))

    def fit(self, centers: int | Layers, placed: Mapping[str, Points]) -> SolutionOperator:
        """The operator with so many functions, or with layers, learned from points."""
        larger = replace(self.method, centers=centers)
        with self.stage("collocate"):
            self.ansatz, rows = self.task.rows(larger, placed, ansatz=self.ansatz)
        if self.frame is None and isinstance(rows, Functionals):
            self.frame = resolving(self.task.frame, rows.thinned(FEW).blocks, self.task.seed)
        finer = replace(self.task, frame=self.frame or self.task.frame)
        return finer.factorised(larger, placed, rows, self.ansatz, Diagnosis(), self.stage)

    def build(self, centers: int) -> SolutionOperator:
        """The operator with so many functions that fill the domain."""
        return self.fit(centers, self.place(centers))

    def examined(self, operator: SolutionOperator) -> SolutionOperator:
        """With what is seen of its coefficients."""
        return replace(operator, diagnosis=Diagnosis(None, self.task.roughness(operator.points)))

    def measure(self, operator: SolutionOperator) -> Measure:
        """What tells the error of operators that are written as this one is."""
        task, ansatz = self.task, operator.ansatz
        rows = operator.collocated if ansatz.envelope is None else None
        if self.inputs is None:
            return OnProbes(task.problem, task.frame, task.seed, ansatz, rows)
        inputs = OnInputs(task.problem, task.frame, self.inputs, task.seed, ansatz)
        return OnBoth(OnProbes(task.problem, task.frame, task.seed, ansatz, rows), inputs) if self.both else inputs

    def with_fixed_data(self, operator: SolutionOperator) -> SolutionOperator:
        """The operator, measured by the fixed data of the problem from now on if it would have to warn of them."""
        report, problem = operator.report, self.task.problem
        rest = fixed_alone(problem) if self.inputs is None and report is not None else None
        if report is None or rest is None or not operator.leaves(operator.answer(rest[0])):
            return operator
        self.inputs, self.both = rest, bool(problem.inputs)
        measure = self.measure(operator)
        found = measure(operator)
        levels = [replace(level, changes=None) for level in report.levels]
        levels[report.returned] = replace(report.best, error=max(found.error, report.error), misfit=found.misfit)
        return replace(
            operator,
            report=replace(
                report, status="stagnated", levels=tuple(levels), measured=measure.known, followed=(), estimates=None
            ),
        )

    def refined(self, tol: float, budget: int, start: int | None = None) -> SolutionOperator:
        """To a tolerance, with functions that fill the domain, from so many on."""
        dim = self.task.problem.dim
        return refine(self.build, tol, budget, self.measure, dim, self.stage.say, self.examined, start)

    def with_axes(self, operator: SolutionOperator, budget: int) -> SolutionOperator:
        """The operator, or a better one whose axes are as fine as the inputs ask for, if it does not meet them."""
        report, problem = operator.report, self.task.problem
        if report is None or report.met:
            return operator
        number = max(1, min(budget, _enough(problem)) // problem.unknowns.total)
        placed, measure, start = self.place(number), self.measure(operator), self.frame or self.task.frame

        def residual(frame: Frame) -> float:
            self.frame = frame
            found = measure(self.fit(number, placed)).error
            self.stage.say(f"axes {np.round(frame.fineness, 2) if frame.fineness is not None else 1}: {found:.1e}")
            return min(found, UNRESOLVED)

        guess = as_data_vary(problem, self.inputs, start, self.task.seed)
        self.frame = followed(start, guess, residual, report.tol)
        if self.frame is start:
            return operator
        ratios = () if self.frame.fineness is None else self.frame.fineness
        self.axes = f"axes resolved {' : '.join(f'{ratio:.3g}' for ratio in ratios)}"
        # Without a tolerance not as few functions as would do, but as many as are cheap.
        return self._better(operator, self.refined(report.tol, budget, None if report.asked else number))

    def with_layers(self, operator: SolutionOperator, budget: int) -> SolutionOperator:
        """The operator, or a better one with functions that are narrow where the inputs ask for it.

        Where the residual falls fast up to the last function of the budget, narrow ones would be missed elsewhere.
        """
        report, task = operator.report, self.task
        if report is None or report.met:
            return operator
        if report.levels[-1].centers >= USED * budget and smooth(report.levels):
            return operator
        start = layers_in(self.frame or task.frame, min(TRIAL, budget))
        other = adapted(
            self.fit,
            self.place,
            start,
            task.problem,
            self.inputs,
            report.tol,
            budget,
            seed=task.seed,
            tick=self.stage.say,
        )
        return self._better(operator, other)

    def _better(self, operator: SolutionOperator, other: SolutionOperator) -> SolutionOperator:
        """Which of two has the smaller error; asked for as the first was, with axes as they are now."""
        one, two = operator.report, other.report
        assert one is not None
        assert two is not None
        if not two.error < one.error:
            return operator
        return replace(other, report=replace(two, asked=one.asked, space=self.axes))


def _enough(problem: Problem) -> int:
    """The number of functions that is enough for most problems of more than one dimension."""
    return ENOUGH[1 if problem.dim <= 2 else 2]


def _shares(problem: Problem, number: int) -> Mapping[str, int]:
    """How many points of each condition so many functions need; all of a cloud, which has no others."""
    top, layouts = top_dimension(problem), condition_layouts(problem, Ansatz(problem.unknowns))
    pairs = zip(problem.conditions, layouts, strict=True)
    parts = [layout.parts for c, layout in pairs if c.on.intrinsic_dim == top and not c.integral]
    # An equation for several unknowns has fewer rows than they have components.
    each = round(POINTS_PER_CENTRE * number * problem.unknowns.total * len(parts) / sum(parts))
    return share_out(problem, each, whole_clouds=True)


def _growing(method: Method, tol: float | None) -> Subspace:
    """The method, if the number of its functions is ours to choose."""
    if method.batch is not None:
        remedy = "leave out batch, or give Subspace(centers=…, batch=…) and no tol"
        raise fail(ArgumentError, "tol", f"{tol} with a stream of points", remedy)
    if not isinstance(method, Subspace) or method.centers is not None:
        remedy = "leave tol out, or use method=ko.Subspace() without centers"
        raise fail(ArgumentError, "tol", f"a tolerance with {method!r}", remedy)
    return method
