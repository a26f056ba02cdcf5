"""Where the rows of batches stand among all rows."""

from __future__ import annotations

import numpy as np

from kernop.basics.errors import ArgumentError, fail
from kernop.collocation.batches import Batch, Stream
from kernop.geometry import Points
from kernop.geometry.points import concatenate


class Places:
    """Where the rows of batches stand among all rows, which are in the order of the conditions."""

    def __init__(self, stream: Stream) -> None:
        counts = stream.counts
        if counts is None:
            remedy = "give arrays or ko.Batches to learn"
            raise fail(ArgumentError, "T", "an operator whose points have passed (they came from an iterator)", remedy)
        self._stream, self.counts = stream, counts
        ends = np.cumsum(list(counts.values()))
        self._first = dict(zip(counts, [0, *ends[:-1].tolist()], strict=True))

    def rows(self, k: int, batch: Batch) -> dict[str, slice]:
        """The rows of batch k, for each of its conditions."""
        before = self._stream.start(k) or {}
        first = {name: self._first[name] + before[name] for name in batch}
        return {name: slice(first[name], first[name] + len(points)) for name, points in batch.items()}

    def spread(self, number: int) -> Batch:
        """``number`` of all points, evenly spread over the rows; all of them if there are no more."""
        total = sum(self.counts.values())
        chosen = np.unique(np.linspace(0, total - 1, min(number, total)).round().astype(np.intp))
        parts: dict[str, list[Points]] = {name: [] for name in self.counts}
        for k in range(self._stream.number or 0):
            batch = self._stream[k]
            for name, rows in self.rows(k, batch).items():
                own = chosen[(chosen >= rows.start) & (chosen < rows.stop)] - rows.start
                if len(own):
                    parts[name].append(batch[name][own])
        return {name: concatenate(found) for name, found in parts.items() if found}
