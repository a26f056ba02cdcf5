"""A pass in chunks: a tree of accumulators, merged in a fixed order, and written to a checkpoint.

A pass is cut into chunks of batches, whose number depends on the stream and on the functions alone; every chunk gives
an accumulator, and a binary tree merges them. So the bits do not depend on who computed which chunk, nor on when it
was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernop.basics.linalg import one_thread
from kernop.collocation.batches import MOST_BATCHES, Batch, batch_digest
from kernop.learning.streaming.checkpoint import CheckpointFile
from kernop.methods.accumulators import DIGESTS, Accumulator, KeptRows
from kernop.methods.regression import Regression

#: A pass is cut into this many chunks, if there are enough batches, …
CHUNKS = 16
#: … into more if chunks would have more batches than this, …
MOST_BATCHES_OF_CHUNK = 50
#: … and into fewer if an accumulator would see less rows for each function than this: two triangles are merged at the
#: cost of 0.4 rows for each.
ROWS_PER_FUNCTION = 8


def chunks(batches: int, most: int = MOST_BATCHES) -> list[range]:
    """The batches in chunks, at most so many."""
    count = min(batches, most, max(CHUNKS, -(-batches // MOST_BATCHES_OF_CHUNK)))
    return [range(i * batches // count, (i + 1) * batches // count) for i in range(count)]


def chunks_of(regression: Regression) -> list[range]:
    """The chunks of the pass that accumulates: not so many that mergers cost too much. An iterator is one chunk.

    If they are fewer for that reason, it is a power of 2, which divides among most workers.
    """
    stream = regression.rows.stream
    if stream.number is None:
        return [range(MOST_BATCHES)]
    rows = stream.number * sum(map(len, stream.sampled()[0].values()))
    enough = max(1, rows // (ROWS_PER_FUNCTION * regression.count))
    return chunks(stream.number, 1 << enough.bit_length() - 1)


def merged(one: Accumulator, other: Accumulator) -> Accumulator:
    """What is kept of the rows of both, which stay as they are."""
    with one_thread:
        return one.merged(other)


def seen(regression: Regression, batches: Iterable[tuple[int, Batch]]) -> tuple[int, int]:
    """How many rows some batches give, and the sum of their digests."""
    found = [(regression.rows.length(batch), batch_digest(k, batch)) for k, batch in batches]
    return sum(rows for rows, _ in found), sum(digest for _, digest in found) % DIGESTS


class Home:
    """A binary tree of accumulators, of which those that are not yet merged are held, by the batches that they have.

    Its leaves are the chunks, in their order; a node is merged from two neighbours, whichever of them is there first.
    Of one chunk there may be a part.

    Arguments:
        file: where the tree is written, and read from if it is there.
    """

    def __init__(self, regression: Regression, file: CheckpointFile | None = None) -> None:
        self.chunks, self._regression, self._file = chunks_of(regression), regression, file
        #: A node with its neighbour, in their order.
        self._pairs: dict[range, tuple[range, range]] = {}
        level = self.chunks
        while len(level) > 1:
            pairs = [(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
            self._pairs |= {one: pair for pair in pairs for one in pair}
            level = [*map(_joined, pairs), *(level[-1:] if len(level) % 2 else [])]
        self._root = level[0]
        self._nodes: dict[range, Accumulator] = {}
        for kept in () if file is None else file.read():
            self._put_back(kept)

    def has(self, chunk: range) -> bool:
        """Is all of a chunk here, alone or merged with others?"""
        return any(chunk.start in node and self._whole(node) for node in self._nodes)

    def begun(self, chunk: range) -> Accumulator:
        """That of a chunk that is not all here."""
        return self._nodes.setdefault(chunk, self._regression.accumulator())

    def put(self, chunk: range, accumulator: Accumulator) -> None:
        """All of a chunk has come."""
        self._nodes[chunk] = accumulator
        while (pair := self._pairs.get(chunk)) is not None and all(map(self._whole, pair)):
            chunk = _joined(pair)
            self._nodes[chunk] = merged(*map(self._nodes.pop, pair))

    def offer(self) -> None:
        """Write the tree to the file, if there is one and it is time."""
        if self._file is not None:
            self._file.offer(lambda: tuple(part.kept(node.start) for node, part in self._nodes.items()))

    def root(self) -> Accumulator:
        """What is kept of all chunks."""
        return self._nodes[self._root]

    def known(self) -> list[range]:
        """The chunks that are all here; those of which a part is here are forgotten."""
        self._nodes = {node: part for node, part in self._nodes.items() if self._whole(node)}
        return [chunk for chunk in self.chunks if self.has(chunk)]

    def reach(self) -> int:
        """How many batches are here from the first on, up to one that is not; what comes later is forgotten."""
        nodes, batches = sorted(self._nodes.items(), key=lambda item: item[0].start), 0
        self._nodes = {}
        for node, part in nodes:
            if node.start == batches:
                self._nodes[node], batches = part, batches + part.batches
        return batches

    def check(self, rows: int, digest: int) -> None:
        """Refuse a file that was made from other points, by how many rows, and which digest, its batches have now."""
        parts = self._nodes.values()
        if self._file is not None and (
            rows != sum(part.rows for part in parts) or (digest - sum(part.digest for part in parts)) % DIGESTS
        ):
            raise self._file.other()

    def _whole(self, node: range) -> bool:
        return node in self._nodes and self._nodes[node].batches == len(node)

    def _put_back(self, kept: KeptRows) -> None:
        """What a file holds: a node, or a part of a chunk."""
        part, exact = self._regression.accumulator(), range(kept.first, kept.first + kept.batches)
        begun = (c for c in self.chunks if c.start == kept.first and 0 < kept.batches < len(c))
        node = exact if exact in (*self.chunks, *self._pairs, self._root) else next(begun, None)
        size = len(part.matrix) * (len(part.matrix) + 1) // 2
        taken = node is None or any(own.start < node.stop and node.start < own.stop for own in self._nodes)
        if node is None or taken or kept.packed.shape != (size,):
            assert self._file is not None
            raise self._file.other()
        part.restore(kept)
        self._nodes[node] = part


def _joined(pair: tuple[range, range]) -> range:
    return range(pair[0].start, pair[1].stop)
