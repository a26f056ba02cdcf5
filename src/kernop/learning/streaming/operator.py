"""The operator that a stream gives: factors L × L, and the points to pass over again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from kernop.basics.errors import ArgumentError, ArgumentTypeError, FloatArray, ShapeError, check_array, describe, fail
from kernop.basics.linalg import add_rows, left_over, norms, solve_upper, transpose_solve_upper
from kernop.collocation.batches import Stream, chain
from kernop.collocation.changes import fresh
from kernop.collocation.data import named_inputs
from kernop.geometry import Points
from kernop.learning.streaming.cluster import OnWorkers
from kernop.learning.streaming.materialized import materialize
from kernop.learning.streaming.places import Places
from kernop.learning.streaming.plan import BatchData, Plan
from kernop.methods import Answer, Combination
from kernop.methods.accumulators import Penalty
from kernop.methods.leastsquares import SubspaceFactorisation
from kernop.operators.operator import SolutionOperator
from kernop.operators.solution import Solution

#: Corrections of later inputs end when they change the fit by less than this part, grow, or after so many passes.
SMALL_CORRECTION, MOST_CORRECTIONS = 1e-13, 8
#: So that data of zeros is not divided by zero.
TINIEST = float(np.finfo(np.float64).tiny)


class Passes(Protocol):
    """Runs a pass over a stream: here, or spread over workers."""

    def moments(self, plan: Plan, data: BatchData, c: FloatArray | None) -> FloatArray:
        """Σ_k A_kᵀ r_k with r_k = h_k − A_k c over all batches, and below it Σ_k |r_k|²: (L + 1, B)."""
        ...


class Here:
    """Passes in this process."""

    def moments(self, plan: Plan, data: BatchData, c: FloatArray | None) -> FloatArray:
        """See `Passes`."""
        return plan.moments(data, c, range(plan.stream.number or 0))


@dataclass(frozen=True, eq=False)
class StreamedFactorisation(SubspaceFactorisation):
    """RᵀR = AᵀWA + PᵀP; c = R⁻¹ R⁻ᵀ AᵀW h by a pass over the points, corrected by more passes if R is from QR.

    The corrections c += R⁻¹ R⁻ᵀ (AᵀW (h − A c) − PᵀP c), with the residual h − A c at every point, give the accuracy
    of QR although Q is not kept: each shrinks the error by about ε · cond(R), and P keeps that below 1.

    Arguments:
        upper: R, (L, L).
        penalty: P.
        passes: who passes over the points.
    """

    plan: Plan
    upper: FloatArray
    penalty: Penalty
    passes: Passes

    def answer(self, h: FloatArray) -> Answer:
        roots, place = (
            dict(zip(self.plan.rows.problem.names, np.sqrt(self.weights), strict=True)),
            Places(self.plan.stream),
        )
        return self.solve(
            lambda k, batch: np.concatenate([roots[name] * h[rows] for name, rows in place.rows(k, batch).items()])
        )

    def solve(self, data: BatchData) -> Answer:
        """The functions for the data of every batch, B columns of them."""
        self.check_again()
        moments, squares = self._pass(data, None)
        y, size = transpose_solve_upper(self.upper, moments), np.sqrt(squares)
        residual, last = left_over(size, y), np.inf
        for _ in range(MOST_CORRECTIONS if self.plan.method.solver == "qr" else 0):
            c = solve_upper(self.upper, y)
            gradient, squares = self._pass(data, c)
            residual = np.sqrt(squares)
            step = transpose_solve_upper(self.upper, gradient - self._penalty_times(c))
            worst = np.max(norms(step) / np.maximum(norms(y), TINIEST))
            if not worst < last:
                break
            y, last = y + step, worst
            if worst <= SMALL_CORRECTION:
                break
        return Answer(Combination(self.expansion, y, self.upper), residual, size)

    def _pass(self, data: BatchData, c: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        found = self.passes.moments(self.plan, data, c)
        return found[:-1], found[-1]

    def check_again(self) -> None:
        """Refuse a pass over points that came from an iterator."""
        if not self.plan.stream.again:
            remedy = "give arrays or ko.Batches to learn, or this input in learn(inputs=[…]), for T.solutions"
            raise fail(ArgumentError, "T", "an operator whose points have passed (they came from an iterator)", remedy)

    def _penalty_times(self, c: FloatArray) -> FloatArray:
        if not isinstance(self.penalty, np.ndarray):
            return self.penalty**2 * c
        return self.penalty.T @ (self.penalty @ c)

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        remedy = "use T(…)(x), or T.materialize() first, which holds an N × L matrix in memory or on disk"
        raise fail(ArgumentError, "T.on", "an operator that was learned from a stream", remedy)

    def half_solve(self, b: FloatArray) -> FloatArray:
        return transpose_solve_upper(self.upper, b)

    @property
    def rkhs(self) -> bool:
        return self.plan.method.penalty == "rkhs"


class StreamPoints(Mapping[str, Points]):
    """The points of each condition, brought together when they are asked for."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def __getitem__(self, name: str) -> Points:
        if name not in self._stream.problem.names:
            raise KeyError(name)
        return self._stream.points(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream.problem.names)

    def __len__(self) -> int:
        return len(self._stream.problem.names)


@dataclass(frozen=True, eq=False, repr=False)
class StreamedOperator(SolutionOperator):
    """T learned from a stream of points.

    Inputs that were known in advance are in `solutions`. Others pass over the points again, a few times, so give many
    at once: ``T.solve([(f1, g1), (f2, g2)])``, or functions with values (n, B).

    Attributes:
        rows: the number N of points.
        solutions: one for each of ``learn(inputs=[…])``.
    """

    rows: int = 0
    solutions: tuple[Solution, ...] = ()

    @property
    def n_points(self) -> int:
        return self.rows

    def __call__(self, *values: Any, **named: Any) -> Solution:
        """The solution for these inputs: a few passes over the points."""
        u = self._solve([named_inputs(self.problem, values, named)])[0]
        self._speak_up(u)
        return u

    @property
    def counts(self) -> dict[str, int] | None:
        return self._streamed.plan.stream.counts

    def solve(self, inputs: Sequence[Any]) -> tuple[Solution, ...]:
        """The solutions of several inputs, each a tuple in the order of the problem or a dictionary, in one go."""
        remedy = f"give a list of inputs, each a tuple ({', '.join(self.problem.inputs)}) or a dictionary"
        if isinstance(inputs, str | Mapping) or not isinstance(inputs, Sequence) or len(inputs) == 0:
            raise fail(ArgumentTypeError, "inputs", describe(inputs), remedy)
        return self._solve([named_inputs(self.problem, *_unpacked(value)) for value in inputs])

    def _solve(self, inputs: list[dict[str, Any]]) -> tuple[Solution, ...]:
        factor = self._streamed
        plan = factor.plan
        factor.check_again()
        known = [{name: self._checked(name, value) for name, value in given.items()} for given in inputs]
        widths = plan.rows.widths([plan.stream[0]], known)
        found = factor.solve(lambda k, batch: plan.rows.data(batch, known, widths, _start(plan.stream, k, known)))
        return self._solutions(found, widths, known)

    def _solutions(
        self, found: Answer, widths: Sequence[int | None], inputs: Sequence[Mapping[str, Any]]
    ) -> tuple[Solution, ...]:
        """One solution for each input; those without a width are single."""
        ends = np.cumsum([width or 1 for width in widths])
        columns = [slice(end - (width or 1), end) for end, width in zip(ends.tolist(), widths, strict=True)]
        return tuple(
            self.solution(found.column(own), width is None, None, given)
            for own, width, given in zip(columns, widths, inputs, strict=True)
        )

    def with_solutions(
        self, found: Answer, widths: Sequence[int | None], inputs: Sequence[Mapping[str, Any]]
    ) -> StreamedOperator:
        """The operator with the solutions of inputs that were known in advance."""
        return replace(self, solutions=self._solutions(found, widths, inputs) if widths else ())

    def _checked(self, name: str, value: Any) -> Any:
        """A function, or an array: a number (), or values at all points, (N_k,) or (N_k, B)."""
        if callable(value):
            return value
        array = check_array(
            name, value, remedy=f"give a function, a number, or values at T.points[{name!r}]", copy=False, what="data"
        )
        if array.ndim > 0:
            count = (self._streamed.plan.stream.counts or {}).get(name)
            if array.ndim > 2 or array.shape[0] != count or array.size == 0:
                remedy = f"give a function, a number, or values at the {count} points of T.points[{name!r}]"
                raise fail(ShapeError, name, describe(array), remedy)
        return array

    def update(self, points: Any) -> StreamedOperator:
        """T learned from these points too; the rows so far are not looked at again. See `SolutionOperator.update`."""
        factor = self._streamed
        factor.check_again()
        new = fresh(self.problem, points)
        stream = chain(factor.plan.stream, new, factor.plan.method.batch or sum(map(len, new.values())))
        upper = np.array(factor.upper, order="F")
        first = factor.plan.stream.number or 0
        for k in range(first, stream.number or 0):
            add_rows(upper, np.asfortranarray(factor.plan.rows.design(stream[k])))
        plan = replace(factor.plan, stream=stream, inputs=(), widths=())
        n = self.rows + sum(map(len, new.values()))
        # The penalty stays; that of the RKHS is λN.
        ridge = factor.regularization * (self.rows / n if factor.plan.method.penalty == "rkhs" else 1.0)
        longer = replace(factor, regularization=ridge, plan=plan, upper=upper)
        return replace(
            self, points=StreamPoints(stream), factorisation=longer, rows=n, solutions=(), stats={}, report=None
        )

    def remove(self, points: Any) -> StreamedOperator:
        """Refused: a triangle cannot be relieved of rows without losing all digits."""
        raise fail(ArgumentError, "T", "an operator that was learned from a stream", "learn again from what is left")

    def with_client(self, client: Any) -> StreamedOperator:
        """The same operator, whose passes run on the workers of a Dask client; in this process if it is None."""
        passes = Here() if client is None else OnWorkers(client)
        return replace(self, factorisation=replace(self._streamed, passes=passes))

    def materialize(self, path: str | os.PathLike[str] | None = None) -> SolutionOperator:
        """The same operator with an N × L factor in memory, or in a file that is mapped.

        It can then do all that operators do (`on`, `basis`), at O(N L) for each input.
        """
        factor = self._streamed
        factor.check_again()
        held = materialize(factor.plan, factor, factor.upper, factor.penalty, factor.noise, path)
        return SolutionOperator(
            self.problem, dict(self.points), self.method, held, self.stats, None, self.noise, self.about
        )

    def __repr__(self) -> str:
        inputs = ", ".join(self.problem.inputs)
        return f"StreamedOperator(({inputs}) ↦ u; {self.rows} points, {self.kernel!r}, {self.how})"

    @property
    def _streamed(self) -> StreamedFactorisation:
        assert isinstance(self.factorisation, StreamedFactorisation)
        return self.factorisation


def _unpacked(value: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(value, Mapping):
        return (), dict(value)
    return (tuple(value) if isinstance(value, tuple | list) else (value,)), {}


def _start(stream: Stream, k: int, inputs: Sequence[Mapping[str, Any]]) -> Mapping[str, int] | None:
    """Where batch k starts, if any input needs to know."""
    arrays = any(not callable(value) and np.ndim(value) > 0 for given in inputs for value in given.values())
    return stream.start(k) if arrays else None
