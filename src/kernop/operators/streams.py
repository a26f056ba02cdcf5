"""Streams in a file: all points, cut into the same batches as before, and what was kept of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, IntArray, fail
from kernop.basics.fitting import REMEDY, check_shape
from kernop.basics.stored import stored
from kernop.collocation.batches import recorded
from kernop.collocation.rows import StreamedRows
from kernop.collocation.stream import Stream
from kernop.geometry import Points
from kernop.language.problem import Problem
from kernop.methods import Answer, Combination, Subspace
from kernop.methods.regression import Regression
from kernop.methods.streamed import KeptOfRows, StreamedFactorisation
from kernop.operators.solution import Solution


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
@dataclass(frozen=True, eq=False, kw_only=True)
class StreamRecord(KeptOfRows):
    """What is stored of a streamed factorisation; the points are those of the operator.

    Arguments:
        starts: how many points of each condition come before batch k, (K + 1, conditions).
        solutions: those of inputs that were known in advance.
        contrast: how much rows count by the part of the domain they are in; see `Regression`.
    """

    method: Subspace
    starts: IntArray
    solutions: tuple[SolutionRecord, ...]
    contrast: FloatArray | None = None

    def check(self) -> None:
        super().check()
        count, steps = len(self.expansion), np.diff(self.starts, axis=0)
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

    def answer(self, h: FloatArray) -> Answer:
        raise self._refusal("asked before it is revived")

    def revived(self, problem: Problem, points: Mapping[str, Points]) -> StreamedFactorisation:
        """The factorisation, whose rows are those of a problem at all points."""
        if self.starts[-1].tolist() != [len(own) for own in points.values()]:
            raise fail(ArgumentError, "path", "a stream whose batches do not have all points", REMEDY)
        rows = StreamedRows(recorded(problem, points, self.starts), self.expansion.ansatz)
        regression = Regression(rows, self.expansion, self.weights, self.method.solver == "qr", self.contrast)
        return StreamedFactorisation(**_shared(self), regression=regression)

    def solved(self, problem: Problem) -> tuple[Solution, ...]:
        """The solutions of inputs that were known in advance."""
        return tuple(
            Solution(
                problem=problem,
                function=Combination(self.expansion, own.y, None if own.misfit is None else self.upper),
                single=own.single,
                left=own.misfit,
                paired=own.paired,
            )
            for own in self.solutions
        )


def stream_record(factorisation: StreamedFactorisation, solutions: Sequence[Solution]) -> StreamRecord:
    """What is stored of a streamed factorisation, and of solutions."""
    records = tuple(SolutionRecord(u.single, u.function.y, u.misfits, u.paired) for u in solutions)
    starts, parts = _starts(factorisation.rows.stream), factorisation.regression.contrast
    return StreamRecord(**_shared(factorisation), starts=starts, solutions=records, contrast=parts)


def _shared(kept: KeptOfRows) -> dict[str, Any]:
    """The arguments that a streamed factorisation and its record have in common."""
    return {field.name: getattr(kept, field.name) for field in fields(KeptOfRows)}


def _starts(stream: Stream) -> IntArray:
    stream.check_again("give arrays or ko.Batches to learn: the file of a stream holds its points")
    return np.array([list((stream.start(k) or {}).values()) for k in range((stream.number or 0) + 1)], dtype=np.intp)
