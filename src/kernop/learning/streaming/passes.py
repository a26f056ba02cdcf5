"""Passes over all batches of rows: in this process or on workers, from the last checkpoint on if there is one."""

from __future__ import annotations

import time
from itertools import islice
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.progress import Tick
from kernop.basics.stored import stored
from kernop.collocation.batches import batch_digest
from kernop.learning.streaming.checkpoint import Checkpoint, CheckpointFile
from kernop.learning.streaming.cluster import Workers
from kernop.learning.streaming.home import Home, chunks, seen
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

    def stored_arguments(self) -> dict[str, None]:
        """Neither client nor checkpoint is for later passes."""
        return {"client": None, "checkpoint": None}

    def accumulate(self, regression: Regression, tick: Tick | None = None) -> Accumulator:
        """What is kept of all rows."""
        if self._workers is not None and not regression.rows.stream.again:
            remedy = "give arrays or ko.Batches, of which workers can read their parts"
            raise fail(ArgumentError, "points", "an iterator together with a client", remedy)
        if self._checkpoint is not None:
            self._file = CheckpointFile(self._checkpoint, regression)
        accumulate = in_order if self._workers is None else self._workers.accumulate
        return accumulate(regression, tick, self._file)

    def moments(self, regression: Regression, c: FloatArray | None) -> FloatArray:
        """`Regression.moments` over all batches."""
        if self._workers is not None:
            return self._workers.moments(regression, c)
        # In the sums of the workers, so that the bits are theirs.
        parts = [regression.moments(c, chunk) for chunk in chunks(regression.rows.stream.number or 0)]
        return np.sum(parts, axis=0)

    def with_client(self, client: Any) -> Passes:
        """Others, on the workers of another client, or in this process if it is None."""
        return Passes(client)

    def complete(self) -> None:
        """What was accumulated has been used: its checkpoint can go."""
        if self._file is not None:
            self._file.remove()


def in_order(regression: Regression, tick: Tick | None = None, file: CheckpointFile | None = None) -> Accumulator:
    """What is kept of all rows, batch after batch in this process.

    The points of a checkpoint are read again and compared; their rows are not made again.
    """
    home, batches = Home(regression, file), enumerate(regression.rows.stream)
    home.check(*seen(regression, islice(batches, home.reach())))
    rows, started = 0, time.perf_counter()
    for chunk in home.chunks:
        if home.has(chunk):
            continue
        part = home.begun(chunk)
        for k, batch in islice(batches, len(chunk) - part.batches):
            regression.add(part, regression.rows.at(batch, k), batch_digest(k, batch))
            home.offer()
            if tick is not None:
                rows += regression.rows.length(batch)
                rate = rows / (time.perf_counter() - started)
                tick((k + 1) / (regression.rows.stream.number or np.inf), f"{rows} rows, {rate:.3g} per second")
        part.room(0)  # lets the last batch go
        home.put(chunk, part)
    return home.root()
