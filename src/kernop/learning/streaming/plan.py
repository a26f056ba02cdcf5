"""What is done with a stream: one pass that accumulates, and passes over it again for later inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.batches import Batch, Stream
from kernop.learning.streaming.rows import Input, Rows
from kernop.methods import Subspace
from kernop.methods.accumulators import Accumulator, NormalSums, Triangle

#: The weighted data (n, B) of batch k, whose points are given.
BatchData = Callable[[int, Batch], FloatArray]


@dataclass(frozen=True, eq=False)
class Plan:
    """Which rows, of which points, with which inputs known in advance, and what is kept of them.

    Arguments:
        widths: the number of columns of each input; None for one that is a single function or number.
    """

    rows: Rows
    stream: Stream
    method: Subspace
    inputs: tuple[Input, ...] = ()
    widths: tuple[int | None, ...] = ()

    def accumulator(self) -> Accumulator:
        """An empty one."""
        kind = Triangle if self.method.solver == "qr" else NormalSums
        return kind(len(self.rows.expansion.functionals), sum(width or 1 for width in self.widths))

    def add(self, accumulator: Accumulator, batch: Batch) -> None:
        """Take in one batch."""
        design, data = accumulator.room(sum(map(len, batch.values())))
        self.rows.design(batch, out=design)
        if self.inputs:
            data[:] = self.rows.data(batch, self.inputs, self.widths)
        accumulator.add()

    def run(self, accumulator: Accumulator) -> Iterator[int]:
        """Take in batch after batch; yields how many are done after each."""
        for k, batch in enumerate(self.stream):
            self.add(accumulator, batch)
            yield k + 1

    def moments(self, data: BatchData, c: FloatArray | None, batches: Sequence[int]) -> FloatArray:
        """Σ A_kᵀ r_k with r_k = h_k − A_k c (without c: h_k) over some batches, and below it Σ |r_k|²: (L + 1, B)."""
        total: FloatArray | None = None
        for k in batches:
            batch = self.stream[k]
            design, left = self.rows.design(batch), data(k, batch)
            if c is not None:
                left = left - design @ c
            part = np.vstack([design.T @ left, np.sum(np.square(left), axis=0)])
            total = part if total is None else total + part
        assert total is not None
        return total
