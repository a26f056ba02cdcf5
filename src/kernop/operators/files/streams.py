"""Streams in a file: all points, cut into the same batches as before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.parts import Reader, Writer
from kernop.collocation.batches import Stream, used_up
from kernop.language.problem import Problem
from kernop.methods import Factorisation, Method
from kernop.methods.accumulators import Penalty
from kernop.methods.streamed import StreamedFactorisation
from kernop.operators.files.operator import write_operator

#: What is stored of a solution: is it of a single input, y (L, B), and what it leaves of the data, (B,).
Stored = tuple[bool, FloatArray, FloatArray | None]


def write_streamed(
    file: Writer, problem: Problem, method: Method, factorisation: Factorisation, solutions: Sequence[Stored]
) -> None:
    """All points, where the batches begin, what is kept of the rows, and the solutions that were asked for."""
    assert isinstance(factorisation, StreamedFactorisation)
    stream = factorisation.rows.stream
    if not stream.again:
        raise used_up("give arrays or ko.Batches to learn: the file of a stream holds its points")
    write_stream(file, stream, problem, method, factorisation)
    write_triangle(file.below("factorisation"), factorisation.upper, factorisation.penalty, factorisation.noise)
    write_solutions(file, solutions)


def write_stream(file: Writer, stream: Stream, problem: Problem, method: Method, factorisation: Factorisation) -> None:
    """The operator with all points of its stream, and where the batches begin; not the factorisation itself."""
    starts = np.array([list((stream.start(k) or {}).values()) for k in range((stream.number or 0) + 1)], dtype=np.intp)
    points = {name: stream.points(name) for name in problem.names}
    cuts = {name: np.unique(starts[1:-1, k]).tolist() for k, name in enumerate(problem.names)}
    write_operator(file, problem, points, method, factorisation, cuts)
    file["batches"] = len(starts) - 1
    file.array("starts", starts)


def read_starts(file: Reader, sizes: Sequence[int]) -> NDArray[np.intp]:
    """Where the batches begin, for conditions with so many points; no batch is empty."""
    number = file.integer("batches", least=1, most=sum(sizes))
    starts = file.whole("starts", (number + 1, len(sizes)), least=0, most=max(sizes))
    steps = np.diff(starts, axis=0)
    if np.any(starts[0]) or np.any(starts[-1] != sizes) or np.any(steps < 0) or not np.all(np.any(steps, axis=1)):
        raise file.wrong("starts", "not where batches begin")
    return starts


def write_triangle(file: Writer, upper: FloatArray, penalty: Penalty, noise: float) -> None:
    """What is kept of the rows."""
    file["kind"], file["noise"] = "stream", noise
    file.triangle("upper", upper, lower=False)
    if isinstance(penalty, np.ndarray):
        file.array("penalty", penalty)
    else:
        file["penalty"] = float(penalty)


def write_solutions(file: Writer, solutions: Sequence[Stored]) -> None:
    """Those of the inputs that were known in advance."""
    file["solutions"] = len(solutions)
    for k, (single, y, misfits) in enumerate(solutions):
        part = file.below(f"solution {k}")
        part["single"] = single
        part.array("y", y)
        part.array("misfit", np.full(y.shape[1], np.nan) if misfits is None else misfits)
