"""Streams in a file: all points, cut into the same batches as before, and what was kept of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import REMEDY, check_shape
from kernop.basics.stored import Upper, stored
from kernop.collocation.batches import Stream, recorded
from kernop.collocation.rows import StreamedRows
from kernop.geometry import Points
from kernop.language.problem import Problem
from kernop.methods import Answer, Combination, Subspace
from kernop.methods.accumulators import Penalty
from kernop.methods.leastsquares import SubspaceFactorisation
from kernop.methods.regression import Regression, Runner
from kernop.methods.streamed import StreamedFactorisation
from kernop.operators.solution import Solution

REVIVE = "asked before it is revived"


@stored("solution of a stream", by_value=False)
@dataclass(frozen=True, eq=False)
class SolutionRecord:
    """The solution of inputs that were known in advance.

    Arguments:
        single: is it one function, and not B of them?
        y: coordinates Q₁ᵀ √W h, (L, B); (L, 2 B) if paired.
        misfit: what they leave of the data, (B,); None: y are coefficients.
        paired: are they the real parts of complex functions, followed by their imaginary parts?
    """

    single: bool
    y: FloatArray
    misfit: FloatArray | None
    paired: bool

    def check(self) -> None:
        """Raise unless there is a misfit for each of B functions."""
        each = 2 if self.paired else 1
        check_shape("y", self.y, None, each if self.single else None)
        if self.misfit is not None:
            check_shape("misfit", self.misfit, self.y.shape[1] // each)


@stored("stream", by_value=False)
@dataclass(frozen=True, eq=False)
class StreamRecord(SubspaceFactorisation):
    """What is stored of a streamed factorisation; the points are those of the operator.

    Arguments:
        method: how it was learned.
        upper: R, (L, L).
        penalty: P.
        n: the number N of rows.
        runner: who passes over the rows.
        starts: how many points of each condition come before batch k, (K + 1, conditions).
        solutions: those of inputs that were known in advance.
    """

    method: Subspace
    upper: Upper
    penalty: Penalty
    n: int
    runner: Runner
    starts: NDArray[np.intp]
    solutions: tuple[SolutionRecord, ...]

    @property
    def size(self) -> int:
        return self.n

    def check(self) -> None:
        super().check()
        count, steps = len(self.expansion.functionals), np.diff(self.starts, axis=0)
        check_shape("upper", self.upper, count, count)
        check_shape("starts", self.starts, None, len(self.weights))
        if np.any(self.starts[0]) or np.any(steps < 0) or not len(steps) or not np.all(np.any(steps, axis=1)):
            raise fail(ArgumentError, "starts", "numbers that are not where batches begin", REMEDY)
        if isinstance(self.penalty, np.ndarray):
            check_shape("penalty", self.penalty, count, count)
        for record in self.solutions:
            check_shape("y", record.y, count, record.y.shape[1])
        if self.method.batch is None:
            raise fail(ArgumentError, "method", "one without batches", REMEDY)

    @property
    def rkhs(self) -> bool:
        return self.method.rkhs

    def answer(self, h: FloatArray) -> Answer:
        raise self._refusal(REVIVE)

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        raise self._refusal(REVIVE)

    def half_solve(self, b: FloatArray) -> FloatArray:
        raise self._refusal(REVIVE)

    def revived(self, problem: Problem, points: Mapping[str, Points]) -> StreamedFactorisation:
        """The factorisation, whose rows are those of a problem at all points."""
        if self.starts[-1].tolist() != [len(own) for own in points.values()]:
            raise fail(ArgumentError, "path", "a stream whose batches do not have all points", REMEDY)
        rows = StreamedRows(recorded(problem, points, self.starts), self.expansion.ansatz)
        regression = Regression(rows, self.expansion, self.weights, self.method.solver == "qr")
        base = (self.expansion, self.regularization, self.weights, self.noise, self.method)
        return StreamedFactorisation(*base, regression, self.upper, self.penalty, self.n, self.runner)

    def solved(self, problem: Problem) -> tuple[Solution, ...]:
        """The solutions of inputs that were known in advance."""
        return tuple(
            Solution(
                problem=problem,
                function=Combination(self.expansion, own.y, None if own.misfit is None else self.upper),
                single=own.single,
                misfits=own.misfit,
                paired=own.paired,
            )
            for own in self.solutions
        )


def stream_record(factorisation: StreamedFactorisation, solutions: Sequence[Solution]) -> StreamRecord:
    """What is stored of a streamed factorisation, and of solutions."""
    assert isinstance(factorisation.method, Subspace)
    return StreamRecord(
        expansion=factorisation.expansion,
        regularization=factorisation.regularization,
        weights=factorisation.weights,
        noise=factorisation.noise,
        method=factorisation.method,
        upper=factorisation.upper,
        penalty=factorisation.penalty,
        n=factorisation.n,
        runner=factorisation.runner,
        starts=_starts(factorisation.rows.stream),
        solutions=tuple(SolutionRecord(u.single, u.function.y, u.misfits, u.paired) for u in solutions),
    )


def _starts(stream: Stream) -> NDArray[np.intp]:
    stream.check_again("give arrays or ko.Batches to learn: the file of a stream holds its points")
    return np.array([list((stream.start(k) or {}).values()) for k in range((stream.number or 0) + 1)], dtype=np.intp)


def cuts_of(record: StreamRecord, names: Sequence[str]) -> dict[str, list[int]]:
    """Where the points of each condition are cut into batches."""
    return {name: np.unique(record.starts[1:-1, k]).tolist() for k, name in enumerate(names)}
