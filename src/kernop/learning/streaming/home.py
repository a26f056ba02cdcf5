"""What comes home from workers: the accumulators of chunks, merged in a fixed order and written to a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernop.basics.codec import fits
from kernop.basics.linalg import one_thread
from kernop.learning.streaming.checkpoint import CheckpointFile, State, restored, state_of
from kernop.methods.accumulators import Accumulator
from kernop.methods.regression import Regression


def merged(one: Accumulator, other: Accumulator) -> Accumulator:
    """What is kept of the rows of both, which stay as they are: Dask may need them again if it loses the result."""
    with one_thread():
        return one.merged(other)


class Home:
    """A binary tree of accumulators, of which those that are complete and not yet merged are held.

    Its leaves are the chunks, in their order; node i of a level is merged from nodes 2i and 2i + 1 of the level below,
    whichever of them is there first. So the bits are those of any other way to climb the tree.

    Arguments:
        count: the number of chunks.
        file: where the tree is written, and read from if it is there.
    """

    def __init__(self, regression: Regression, count: int, file: CheckpointFile) -> None:
        self._file, self._levels = file, [count]
        while self._levels[-1] > 1:
            self._levels.append(-(-self._levels[-1] // 2))
        self._nodes: dict[tuple[int, int], Accumulator] = {}
        self._digests: dict[int, Any] = {}
        self._read(regression)

    def has(self, chunk: int) -> bool:
        """Is a chunk here, alone or merged with others?"""
        return any((level, chunk >> level) in self._nodes for level in range(len(self._levels)))

    def put(self, chunk: int, accumulator: Accumulator, digest: str) -> None:
        """A chunk has come, with the digest of its points; the file is written if it is time."""
        self._digests[chunk] = digest
        level, i = 0, chunk
        while level + 1 < len(self._levels):
            if i ^ 1 < self._levels[level]:
                other = self._nodes.pop((level, i ^ 1), None)
                if other is None:
                    break
                accumulator = merged(accumulator, other) if i % 2 == 0 else merged(other, accumulator)
            level, i = level + 1, i // 2
        self._nodes[level, i] = accumulator
        self._file.offer(self._state)

    def whole(self) -> Accumulator:
        """What is kept of all chunks."""
        return self._nodes[len(self._levels) - 1, 0]

    def check(self, seen: Mapping[int, tuple[int, str]]) -> None:
        """Refuse a file that was made from other points: of every chunk that is here, the rows and the digest."""
        rows = {node: sum(seen[k][0] for k in self._below(*node)) for node in self._nodes}
        if any(self._digests[k] != digest for k, (_, digest) in seen.items()) or any(
            node.rows != rows[place] for place, node in self._nodes.items()
        ):
            raise self._file.other()

    def _below(self, level: int, i: int) -> range:
        """The chunks of a node."""
        return range(i << level, min((i + 1) << level, self._levels[0]))

    def _state(self) -> State:
        kept = [
            {"points": [self._digests[chunk] for chunk in self._below(*place)], **state_of(accumulator)}
            for place, accumulator in self._nodes.items()
        ]
        return {"nodes": list(self._nodes), "kept": kept}

    def _read(self, regression: Regression) -> None:
        state = self._file.read()
        if state is None:
            return
        nodes: Any = state.get("nodes")
        kept: Any = state.get("kept")
        if not fits(tuple[tuple[int, int], ...], nodes) or not fits(tuple[Any, ...], kept) or len(nodes) != len(kept):
            raise self._file.other()
        for place, own in zip(nodes, kept, strict=True):
            self._put_back(place, own, regression.accumulator())

    def _put_back(self, place: tuple[int, int], own: Any, accumulator: Accumulator) -> None:
        if place not in self._places() or any(self.has(chunk) for chunk in self._below(*place)):
            raise self._file.other()
        below = self._below(*place)
        if not restored(accumulator, own) or not fits(tuple[str, ...], own.get("points")):
            raise self._file.other()
        if len(own["points"]) != len(below):
            raise self._file.other()
        self._digests |= dict(zip(below, own["points"], strict=True))
        self._nodes[place] = accumulator

    def _places(self) -> Iterator[tuple[int, int]]:
        return ((level, i) for level, size in enumerate(self._levels) for i in range(size))
