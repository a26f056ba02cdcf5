"""Streams in a file: all points, cut into the same batches as before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.collocation.batches import Batch, Stream
from kernop.geometry import Points
from kernop.language.problem import Problem
from kernop.methods import Factorisation, Method
from kernop.methods.accumulators import Penalty
from kernop.operators.files import Reader, Writer, write_operator
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


def write_solutions(file: Writer, solutions: Sequence[Solution]) -> None:
    """Those of the inputs that were known in advance."""
    file["solutions"] = len(solutions)
    for k, u in enumerate(solutions):
        part = file.below(f"solution {k}")
        part["single"] = u.single
        part.array("y", u.function.y)
        part.array("misfit", np.full(u.function.width, np.nan) if u.misfits is None else u.misfits)
