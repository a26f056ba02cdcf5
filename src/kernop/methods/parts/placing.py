"""Where the rows of parts stand, in units of the parts: what is the same for all coefficients, and is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray, IntArray
from kernop.basics.frozen import Kept, frozen
from kernop.collocation.cells.mosaic import Mosaic, Seams
from kernop.collocation.functionals import Block, Functionals
from kernop.language.fields import MultiIndex
from kernop.methods.parts.patterns import Pattern
from kernop.methods.parts.traces import Trace, trace_of

#: So many are kept for each mosaic.
RECENT = 4


@dataclass(frozen=True, eq=False)
class PartRows:
    """The rows of one part among all rows.

    Arguments:
        slices: one for each block that has rows there: its number and its rows.
        numbers: of all of them, (n,).
    """

    slices: tuple[tuple[int, slice], ...]
    numbers: NDArray[np.intp]


@dataclass(kw_only=True, frozen=True, eq=False)
class Placing:
    """Rows of conditions, and of seams, in the parts of a mosaic.

    It knows nothing of the mosaic, with which it is kept.

    Arguments:
        boxes: of the parts, see `Mosaic`.
        sewn: the seams.
        owned: the seams of each part, see `Mosaic.seams_of_parts`.
        part_rows: which rows each part has.
        x: the points of each block.
        starts: of each block, see `Block`.
        patterns: those that parts had the last time, as long as they are remembered elsewhere; they are probably used
            again.
    """

    boxes: tuple[FloatArray, FloatArray]
    sewn: Seams
    owned: tuple[tuple[tuple[int, int], ...], ...]
    part_rows: tuple[PartRows, ...]
    x: tuple[FloatArray, ...]
    starts: tuple[IntArray | None, ...]
    patterns: WeakValueDictionary[tuple[object, ...], Pattern] = field(
        default_factory=WeakValueDictionary[tuple[object, ...], Pattern]
    )
    _units: dict[tuple[int, tuple[MultiIndex, ...]], FloatArray] = field(
        default_factory=dict[tuple[int, tuple[MultiIndex, ...]], FloatArray]
    )

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        """Of all seams."""
        return tuple(map(trace_of, self.sewn.split))

    @cached_property
    def half(self) -> FloatArray:
        """Half of the sides of each part, (P, d); negative along axes along which it is mirrored."""
        low, high = self.boxes
        return 0.5 * (high - low)

    @cached_property
    def middle(self) -> FloatArray:
        """(P, d)."""
        low, high = self.boxes
        return 0.5 * (high + low)

    @cached_property
    def far(self) -> FloatArray:
        """How far parts are from 0, in units of their own, (P,)."""
        return np.max(np.abs(self.middle / self.half), axis=1)

    @cached_property
    def parts(self) -> tuple[NDArray[np.intp], ...]:
        """The part in which each point of each block lies, (n,); behind them, that of each node of a seam."""
        found = [np.zeros(len(x), dtype=np.intp) for x in self.x]
        for k, rows in enumerate(self.part_rows):
            for c, own in rows.slices:
                found[c][own if self.starts[c] is None else slice(None)] = k
        return *found, np.repeat(np.arange(len(self.part_rows)), np.diff(self.seam_starts))

    @cached_property
    def z(self) -> tuple[FloatArray, ...]:
        """The same places in [−1, 1]^d of their parts, (n, d)."""
        places = *self.x, np.concatenate([self.sewn.x, self.sewn.x])[self.seam_nodes]
        pairs = zip(places, self.parts, strict=True)
        return frozen(tuple((x - self.middle[part]) / self.half[part] for x, part in pairs))

    def units(self, block: int, alphas: tuple[MultiIndex, ...]) -> FloatArray:
        """half^α of the part of each of these places, (n, A); negative where a part is mirrored along an odd number of
        axes of α."""
        key = block, alphas
        if key not in self._units:
            powers = np.prod(self.half[:, None, :] ** np.array(alphas), axis=2)
            self._units[key] = frozen(powers[self.parts[block]])
        return self._units[key]

    @cached_property
    def _seams(self) -> tuple[NDArray[np.intp], list[int]]:
        starts = np.cumsum([0, *self.sewn.counts])
        pairs = np.array([pair for own in self.owned for pair in own], dtype=np.intp).reshape(-1, 2)
        counts = np.diff(starts)[pairs[:, 0]]
        ends = np.cumsum(counts)
        first = starts[pairs[:, 0]] + starts[-1] * pairs[:, 1]
        nodes = np.repeat(first - (ends - counts), counts) + np.arange(int(np.sum(counts)))
        before = np.cumsum([0, *map(len, self.owned)])
        return nodes, np.append(0, ends)[before].tolist()

    @property
    def seam_nodes(self) -> NDArray[np.intp]:
        """The nodes of the seams of each part, part after part: numbers among all from below, and then from above."""
        return self._seams[0]

    @property
    def seam_starts(self) -> list[int]:
        """Where those of each part begin, (P + 1,)."""
        return self._seams[1]

    @cached_property
    def free(self) -> NDArray[np.intp]:
        """The rows that no part has, which are integrals, (k,)."""
        sizes = [len(x) if own is None else len(own) - 1 for x, own in zip(self.x, self.starts, strict=True)]
        found = np.ones(sum(sizes), dtype=bool)
        for rows in self.part_rows:
            found[rows.numbers] = False
        return np.flatnonzero(found)

    def holds(self, blocks: Sequence[Block]) -> bool:
        """Are these the same rows?"""
        mine = zip(self.x, self.starts, strict=True)
        return len(blocks) == len(self.x) and all(
            block.x is x and (block.starts is starts or _same(block.starts, starts))
            for block, (x, starts) in zip(blocks, mine, strict=True)
        )


def _same(one: IntArray | None, other: IntArray | None) -> bool:
    return one is not None and other is not None and np.array_equal(one, other)


_placings: Kept[Mosaic, list[Placing]] = Kept()


def placing_of(mosaic: Mosaic, functionals: Functionals, inner: Sequence[bool], names: Sequence[str]) -> Placing:
    """Where rows stand: those of the inside of each part first. An integral over several parts belongs to none.

    Arguments:
        functionals: all N rows.
        inner: is the condition of a block one inside the domain?
        names: of the conditions of blocks.
    """
    known, blocks = _placings.of(mosaic, list[Placing]), functionals.blocks
    for own in tuple(known):
        if own.holds(blocks):
            return own
    part_rows = tuple(_rows(mosaic, functionals, inner, names))
    found = Placing(
        boxes=mosaic.boxes,
        sewn=mosaic.sewn,
        owned=mosaic.seams_of_parts,
        part_rows=part_rows,
        x=tuple(own.x for own in blocks),
        starts=tuple(own.starts for own in blocks),
    )
    known[:] = [found, *known[: RECENT - 1]]
    return found


def _rows(mosaic: Mosaic, rows: Functionals, inner: Sequence[bool], names: Sequence[str]) -> list[PartRows]:
    first = np.cumsum([0, *map(len, rows.blocks)])
    alone = len(mosaic.owners) == 1
    order = sorted(range(len(inner)), key=lambda k: not inner[k])
    found: list[PartRows] = []
    for part in range(len(mosaic.owners)):
        slices: list[tuple[int, slice]] = []
        for k in order:
            block = rows.blocks[k]
            if block.starts is not None:
                slices += [(k, slice(0, len(block)))] if alone else []
                continue
            a, b = mosaic.starts[names[k]][part : part + 2].tolist()
            slices += [(k, slice(a, b))] if b > a else []
        numbers = np.concatenate([first[k] + np.arange(own.start, own.stop) for k, own in slices])
        found.append(PartRows(tuple(slices), frozen(numbers)))
    return found
