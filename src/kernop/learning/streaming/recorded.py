"""Streams in a file: all points, cut into the same batches as before, and what was kept of their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import check_shape
from kernop.basics.stored import Upper, stored
from kernop.collocation.batches import Batch, Stream
from kernop.geometry import Points
from kernop.language.problem import Problem
from kernop.learning.streaming.operator import Here, StreamedFactorisation, StreamedOperator, StreamPoints
from kernop.learning.streaming.plan import Plan
from kernop.learning.streaming.rows import Rows
from kernop.methods import Answer, Combination, Subspace
from kernop.methods.accumulators import Penalty
from kernop.methods.base import envelope_of
from kernop.methods.leastsquares import SubspaceFactorisation
from kernop.operators.closing import closed_problem, enveloped, form_at, known_envelope
from kernop.operators.operator import REWRITE, SolutionOperator, closed
from kernop.operators.solution import Solution


class Recorded(Stream):
    """Batches of points that are all in memory.

    Arguments:
        points: of each condition, by name.
        starts: how many points of each condition come before batch k, (K + 1, conditions).
    """

    def __init__(self, problem: Problem, points: Mapping[str, Points], starts: NDArray[np.intp]) -> None:
        super().__init__(problem)
        self._points, self._starts = dict(points), starts
        self.number = len(starts) - 1

    def __getitem__(self, k: int) -> Batch:
        first, last = self.start(k), self.start(k + 1)
        return {n: own[first[n] : last[n]] for n, own in self._points.items() if last[n] > first[n]}

    def start(self, k: int) -> dict[str, int]:
        return dict(zip(self.problem.names, self._starts[k].tolist(), strict=True))

    def points(self, name: str) -> Points:
        return self._points[name]


@stored("solution of a stream", by_value=False)
@dataclass(frozen=True, eq=False)
class SolutionRecord:
    """The solution of inputs that were known in advance.

    Arguments:
        single: is it one function, and not B of them?
        y: coordinates Q₁ᵀ √W h, (L, B).
        misfit: what they leave of the data, (B,); None: y are coefficients.
    """

    single: bool
    y: FloatArray
    misfit: FloatArray | None

    def check(self) -> None:
        """Raise unless there is a misfit for each of B functions."""
        check_shape("y", self.y, None, 1 if self.single else None)
        if self.misfit is not None:
            check_shape("misfit", self.misfit, self.y.shape[1])


@stored("stream", by_value=False)
@dataclass(frozen=True, eq=False)
class StreamRecord(SubspaceFactorisation):
    """What is stored of a streamed factorisation; the points are those of the operator.

    Arguments:
        method: how it was learned.
        upper: R, (L, L).
        penalty: P.
        starts: how many points of each condition come before batch k, (K + 1, conditions).
        solutions: those of inputs that were known in advance.
    """

    method: Subspace
    upper: Upper
    penalty: Penalty
    starts: NDArray[np.intp]
    solutions: tuple[SolutionRecord, ...]

    @property
    def size(self) -> int:
        return int(np.sum(self.starts[-1]))

    def check(self) -> None:
        super().check()
        count, steps = len(self.expansion.functionals), np.diff(self.starts, axis=0)
        check_shape("upper", self.upper, count, count)
        check_shape("starts", self.starts, None, len(self.weights))
        if np.any(self.starts[0]) or np.any(steps < 0) or not len(steps) or not np.all(np.any(steps, axis=1)):
            raise fail(ArgumentError, "starts", "numbers that are not where batches begin", REWRITE)
        if isinstance(self.penalty, np.ndarray):
            check_shape("penalty", self.penalty, count, count)
        for record in self.solutions:
            check_shape("y", record.y, count, record.y.shape[1])
        if self.method.batch is None:
            raise fail(ArgumentError, "method", "one without batches", REWRITE)

    @property
    def rkhs(self) -> bool:
        return self.method.penalty == "rkhs"

    def answer(self, h: FloatArray) -> Answer:
        raise self._refusal("asked before it is revived")

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        raise self._refusal("asked before it is revived")

    def half_solve(self, b: FloatArray) -> FloatArray:
        raise self._refusal("asked before it is revived")

    def revived(self, operator: SolutionOperator) -> StreamedOperator:
        """The operator, whose passes run in this process; ``T.with_client(client)`` gives it workers again."""
        problem, points = operator.problem, operator.points
        if self.starts[-1].tolist() != [len(own) for own in points.values()]:
            raise fail(ArgumentError, "path", "a stream whose batches do not have all points", REWRITE)
        stream = Recorded(problem, points, self.starts)
        plan = Plan(Rows(problem, self.expansion, self.weights), stream, self.method)
        base = (self.expansion, self.regularization, self.weights)
        return StreamedOperator(
            problem,
            StreamPoints(stream),
            self.method,
            StreamedFactorisation(*base, self.noise, plan, self.upper, self.penalty, Here()),
            operator.stats,
            operator.report,
            operator.noise,
            operator.about,
            operator.diagnosis,
            rows=operator.n_points,
            solutions=tuple(self._solution(problem, record) for record in self.solutions),
        )

    def _solution(self, problem: Problem, record: SolutionRecord) -> Solution:
        u = Combination(self.expansion, record.y, None if record.misfit is None else self.upper)
        return Solution(problem, u, record.single, misfits=record.misfit)


@closed.register
def _(operator: StreamedOperator) -> SolutionOperator:
    factor = operator.factorisation
    assert isinstance(factor, StreamedFactorisation)
    problem, method, stream = operator.problem, factor.plan.method, factor.plan.stream
    if not stream.again:
        remedy = "give arrays or ko.Batches to learn: the file of a stream holds its points"
        raise fail(ArgumentError, "T", "an operator whose points have passed (they came from an iterator)", remedy)
    starts = np.array([list((stream.start(k) or {}).values()) for k in range((stream.number or 0) + 1)], dtype=np.intp)
    points = {name: stream.points(name) for name in problem.names}
    cuts = {name: np.unique(starts[1:-1, k]).tolist() for k, name in enumerate(problem.names)}
    envelope = envelope_of(method)
    forms = {c.name: form_at(c, points[c.name], envelope, cuts[c.name]) for c in problem.conditions}
    record = StreamRecord(
        expansion=factor.expansion,
        regularization=factor.regularization,
        weights=factor.weights,
        noise=factor.noise,
        method=method,
        upper=factor.upper,
        penalty=factor.penalty,
        starts=starts,
        solutions=tuple(SolutionRecord(u.single, u.function.y, u.misfits) for u in operator.solutions),
    )
    plain = SolutionOperator(
        closed_problem(problem, points, forms, envelope, cuts),
        points,
        method,
        record,
        operator.stats,
        operator.report,
        operator.noise,
        operator.about,
        operator.diagnosis,
    )
    if envelope is None:
        return plain
    held, factorisation = enveloped(method, record, known_envelope(envelope, points, cuts))
    return replace(plain, method=held, factorisation=factorisation)
