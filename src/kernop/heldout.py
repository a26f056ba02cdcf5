"""The residual of an operator at points that it did not learn from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.data import concrete, values_at
from kernop.domains import Points
from kernop.errors import FloatArray
from kernop.frame import Frame
from kernop.functions import Function
from kernop.inputs import read_inputs
from kernop.operators import NormalForm, normal_form
from kernop.probes import Probes, free_waves, random_probes, together
from kernop.problem import Condition, Problem
from kernop.sampling import sample
from kernop.solution import Solution
from kernop.solution_operator import SolutionOperator

#: Points at which residuals are measured, all conditions together.
HELD_OUT = 1200


@dataclass(frozen=True, eq=False)
class _Rows:
    """A condition at its held-out points."""

    condition: Condition
    points: Points
    form: NormalForm
    scale: float  # what the operator makes of a field of size 1 that varies over one unit


@dataclass(frozen=True, eq=False)
class Findings:
    """What an operator does where it did not learn.

    Attributes:
        residual: the worst relative residual.
        values: the solutions for the user's inputs at points inside, (n, B); for probes, B = 0.
    """

    residual: float
    values: FloatArray

    def change(self, before: Findings) -> float | None:
        """The largest relative change (rms) of a solution since ``before``; None if there are none."""
        size = _rms(self.values)
        ratios = _rms(self.values - before.values) / np.where(size > 0.0, size, 1.0)
        return float(np.max(ratios)) if np.all(np.isfinite(ratios)) and len(ratios) else None


class HeldOut:
    """Relative residuals, for the user's inputs or for probes.

    For each condition k, rms(P_k û − h_k) / scale_k with scale_k = max(rms h_k, Σ_α rms φ_α · rms û / unit^α): the
    data, or what the operator makes of a field as large as û that varies over one unit. The worst condition of the
    worst input counts.

    The probes are exact solutions: smooth random fields of several length scales, and the free waves of the equation
    (times the envelope, if the method has one).
    They have no corner singularities and no boundary layers: to measure those, give ``inputs``.
    """

    def __init__(
        self, problem: Problem, frame: Frame, inputs: Any = None, seed: int = 0, envelope: Function | None = None
    ) -> None:
        self._problem = problem
        self._envelope = envelope
        points = sample(problem, HELD_OUT, "uniform", seed + 1)
        self._rows = [_rows(condition, points[condition.name], frame, envelope) for condition in problem.conditions]
        waves = (free_waves(row.form, frame, seed + 1) for row in self._rows)
        self._probes = together((random_probes(frame, seed + 1), *waves)) if inputs is None else None
        self._inputs = [] if inputs is None else read_inputs(problem, inputs)

    def __call__(self, operator: SolutionOperator) -> Findings:
        """The worst relative residual, and what the user's inputs give."""
        inside = max(self._rows, key=lambda row: row.condition.on.intrinsic_dim).points.x
        if self._probes is not None:
            solution = self._solve(self._probes, operator)
            return Findings(self._worst(solution, self._probes, solution(inside)), np.empty((len(inside), 0)))
        solutions = [operator(**given) for given in self._inputs]
        values = [solution(inside).reshape(len(inside), -1) for solution in solutions]
        residuals = map(self._worst, solutions, self._inputs, values)
        return Findings(max(residuals), np.hstack(values))

    def _solve(self, probes: Probes, operator: SolutionOperator) -> Solution:
        data = [probes.apply(self._form(row.condition, operator)) for row in self._rows]
        coefficients = operator.factorisation.coefficients(np.concatenate(data))
        return Solution(self._problem, operator.factorisation.expansion, coefficients, single=False)

    def _form(self, condition: Condition, operator: SolutionOperator) -> NormalForm:
        return normal_form(condition.op, operator.points[condition.name], multiplier=self._envelope)

    def _worst(self, solution: Solution, given: Mapping[str, Any] | Probes, values: FloatArray) -> float:
        size = _rms(values[:, 0] if solution.single else values)
        worst = 0.0
        for row, target in self._targets(solution, given):
            error = _rms(solution.apply(row.condition.op, row.points) - target)
            scale = np.maximum(_rms(target), row.scale * size)
            ratio = np.max(error / np.where(scale > 0.0, scale, 1.0))
            worst = max(worst, float(ratio) if np.isfinite(ratio) else np.inf)
        return worst

    def _targets(self, solution: Solution, given: Mapping[str, Any] | Probes) -> Iterator[tuple[_Rows, FloatArray]]:
        for row in self._rows:
            if isinstance(given, Probes):
                yield row, given.apply(row.form)
                continue
            value = given.get(row.condition.name, row.condition.data)
            target = concrete(row.condition.name, values_at(row.condition, value, row.points))
            yield row, target if solution.single or target.ndim == 2 else target[:, None]


def _rows(condition: Condition, points: Points, frame: Frame, envelope: Function | None) -> _Rows:
    form = normal_form(condition.op, points, multiplier=envelope, name=condition.name)
    units = np.prod(frame.units ** np.asarray(form.alphas), axis=1)
    return _Rows(condition, points, form, float(np.sum(_rms(form.coefficients) / units)))


def _rms(values: FloatArray) -> FloatArray:
    return np.sqrt(np.mean(np.square(values), axis=0))
