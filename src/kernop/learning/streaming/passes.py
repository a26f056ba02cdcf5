"""Passes over all batches of rows: in this process or on workers, from the last checkpoint on if there is one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from kernop.basics.codec import fits
from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.progress import Tick
from kernop.basics.stored import stored
from kernop.collocation.batches import Batch
from kernop.learning.streaming.checkpoint import Checkpoint, CheckpointFile, State, chained, restored, state_of
from kernop.learning.streaming.cluster import Workers, chunks_of
from kernop.methods.accumulators import Accumulator
from kernop.methods.regression import Regression


@stored("passes", by_value=False)
class Passes:
    """Runs passes in this process, or on the workers of a Dask client.

    Those of an operator that comes from a file run in this process.

    Arguments:
        client: the client; None for this process.
        checkpoint: guards the pass that accumulates; removed by `complete`.
    """

    def __init__(self, client: Any = None, checkpoint: Checkpoint | None = None) -> None:
        self._workers = None if client is None else Workers(client)
        self._checkpoint, self._file = checkpoint, None

    def stored_arguments(self) -> dict[str, Any]:
        """Neither client nor checkpoint is for later passes."""
        return {"client": None, "checkpoint": None}

    def accumulate(self, regression: Regression, tick: Tick | None = None) -> Accumulator:
        """What is kept of all rows."""
        if self._workers is not None and not regression.rows.stream.again:
            remedy = "give arrays or ko.Batches, of which workers can read their parts"
            raise fail(ArgumentError, "points", "an iterator together with a client", remedy)
        if self._checkpoint is not None:
            count = None if self._workers is None else len(chunks_of(regression))
            self._file = CheckpointFile(self._checkpoint, regression, count)
        if self._workers is None:
            return in_order(regression, tick, self._file)
        return self._workers.accumulate(regression, tick, self._file)

    def moments(self, regression: Regression, c: FloatArray | None) -> FloatArray:
        """`Regression.moments` over all batches."""
        if self._workers is None:
            return regression.moments(c, range(regression.rows.stream.number or 0))
        return self._workers.moments(regression, c)

    def with_client(self, client: Any) -> Passes:
        """Others, on the workers of another client, or in this process if it is None."""
        return Passes(client)

    def complete(self) -> None:
        """What was accumulated has been used: its checkpoint can go."""
        if self._file is not None:
            self._file.remove()


def in_order(regression: Regression, tick: Tick | None = None, file: CheckpointFile | None = None) -> Accumulator:
    """What is kept of all rows, batch after batch in this process."""
    progress = _Progress(regression)
    batches = iter(regression.rows.stream)
    if file is not None:
        progress.resume(regression, batches, file)
    accumulator = progress.accumulator
    rows, started = accumulator.rows, time.perf_counter()
    for batch in batches:
        regression.add(accumulator, regression.rows.at(batch))
        progress.note(batch)
        if file is not None:
            file.offer(progress.state)
        if tick is not None:
            rate = (accumulator.rows - rows) / (time.perf_counter() - started)
            done = progress.batches / (regression.rows.stream.number or np.inf)
            tick(done, f"{accumulator.rows} rows, {rate:.3g} per second")
    return accumulator


class _Progress:
    """How far a pass in order has come: so many batches of points with this digest, and what is kept of their rows."""

    def __init__(self, regression: Regression) -> None:
        self.accumulator, self.batches, self.digest = regression.accumulator(), 0, b""

    def note(self, batch: Batch) -> None:
        """One more batch has been read."""
        self.batches, self.digest = self.batches + 1, chained(self.digest, batch)

    def state(self) -> State:
        """For a checkpoint."""
        return {"batches": self.batches, "read": self.digest.hex(), **state_of(self.accumulator)}

    def resume(self, regression: Regression, batches: Iterator[Batch], checkpoint: CheckpointFile) -> None:
        """Go on from a checkpoint: its points are read again and compared; their rows are not made again."""
        state = checkpoint.read()
        if state is None:
            return
        number: Any = state.get("batches")
        if not fits(int, number) or number < 1 or not restored(self.accumulator, state):
            raise checkpoint.other()
        rows = 0
        while self.batches < number and (batch := next(batches, None)) is not None:
            self.note(batch)
            rows += regression.rows.length(batch)
        if (self.batches, rows, self.digest.hex()) != (number, self.accumulator.rows, state.get("read")):
            raise checkpoint.other()
