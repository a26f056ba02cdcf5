"""The parts of an operator: their rows in units of their own; equal ones are found, and others learned in threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from kernop.basics.checks import check_memory
from kernop.basics.errors import FloatArray
from kernop.basics.linalg import EPS
from kernop.collocation.fluxes import Exchange
from kernop.collocation.functionals import Block, Functionals
from kernop.language.fields import MultiIndex, Term
from kernop.methods.parts.gluing import Crew
from kernop.methods.parts.local import Leaf, Local, LocalRows, Pattern, learned
from kernop.methods.parts.space import PartsSpace
from kernop.methods.parts.traces import Trace

#: How far the normalised coefficients of two parts may be apart so that they count as equal.
EQUAL = 1e-13
#: Parts with which a part is compared, and patterns of points with which its own are.
COMPARED, PATTERNS = 256, 16

#: What a part does, and the weights of its blocks of rows.
Fitted = tuple[Local, list[float]]


@dataclass(frozen=True, eq=False)
class PartRows:
    """The rows of one part among all rows.

    Arguments:
        slices: one for each block that has rows there: its number and its rows.
        numbers: of all of them, (n,).
    """

    slices: tuple[tuple[int, slice], ...]
    numbers: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Built:
    """A part that is learned.

    Arguments:
        local: what it does.
        roots: √w of its rows, (n,).
        strength: the unit of what goes out of it.
    """

    local: Local
    roots: FloatArray
    strength: float


class Alike:
    """Parts with rows of the same kinds, by the numbers that make them.

    Numbers that are near each other have sums with fixed random factors that are: so few are compared one by one.
    """

    def __init__(self) -> None:
        self._near: list[tuple[FloatArray, int]] = []
        self._sums: list[float] = []
        self._same: dict[bytes, int] = {}
        self._factors = np.empty(0)
        self.parts: list[Fitted] = []

    def find(self, numbers: FloatArray, near: float) -> int | None:
        """The part whose numbers are the same, or, among the first ones, as near as this."""
        exact = self._same.get(_digest(numbers))
        if exact is not None:
            return exact
        room = 2.0 * len(numbers) * near + 1e-12
        for k in np.flatnonzero(np.abs(np.array(self._sums) - self._sum(numbers)) < room).tolist():
            seen, own = self._near[k]
            if np.max(np.abs(seen - numbers)) < near:
                return own
        return None

    def add(self, numbers: FloatArray) -> int:
        """Remember a part, which is about to be learned; its number."""
        number = len(self._same)
        self._same[_digest(numbers)] = number
        if len(self._near) < COMPARED:
            self._near.append((numbers, number))
            self._sums.append(self._sum(numbers))
        return number

    def _sum(self, numbers: FloatArray) -> float:
        if len(self._factors) != len(numbers):
            self._factors = np.random.default_rng(0).uniform(-1.0, 1.0, len(numbers))
        return float(self._factors @ numbers)


def _digest(numbers: FloatArray) -> bytes:
    return blake2b(numbers.tobytes(), digest_size=16).digest()


#: Parts that are known, by the kinds of their rows.
Known = dict[tuple[object, ...], Alike]


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Functionals at points in units of the parts in which these lie.

    Arguments:
        terms: the A pairs (k, α).
        table: coefficients in units of the part, and places in [−1, 1]^d, (n, A + d).
        starts: see `Block`.
    """

    terms: tuple[Term, ...]
    table: FloatArray
    starts: NDArray[np.intp] | None


class Leaves:
    """The parts of an operator before they are learned."""

    def __init__(
        self,
        space: PartsSpace,
        functionals: Functionals,
        part_rows: Sequence[PartRows],
        *,
        crossing: Exchange | None,
        traces: Sequence[Trace],
        owned: Sequence[Sequence[tuple[int, int]]],
        counts: Sequence[float] = (),
    ) -> None:
        self._space, self._crossing, self._traces = space, crossing, traces
        self._part_rows, self._owned, self._counts = part_rows, owned, counts
        first, last = space.mosaic.boxes
        self._half, self._middle = 0.5 * (last - first), 0.5 * (last + first)
        self._far = np.max(np.abs(self._middle / self._half), axis=1)
        self._starts = np.cumsum([0, *(len(own.nodes) for own in traces)]).tolist()
        self._scale(functionals)
        self._patterns: dict[tuple[object, ...], list[Pattern]] = {}

    def _scale(self, functionals: Functionals) -> None:
        """All rows in units of their parts."""
        count = len(self._part_rows)
        places = [np.zeros(len(block.x), dtype=np.intp) for block in functionals.blocks]
        for k, rows in enumerate(self._part_rows):
            for c, own in rows.slices:
                places[c][own if functionals.blocks[c].starts is None else slice(None)] = k
        pairs = list(zip(functionals.blocks, places, strict=True))
        self._sizes = [self._units(block, place, count) for block, place in pairs]
        self._data = [self._scaled(b, p, size) for (b, p), size in zip(pairs, self._sizes, strict=True)]
        self.strengths = np.zeros(count)
        self._into: list[list[_Scaled]] = []
        self._out: list[list[_Scaled]] = []
        if self._crossing is not None:
            sides = np.repeat(self._space.mosaic.sewn.sides, self._space.mosaic.sewn.counts, axis=0)
            for side, blocks in enumerate(self._crossing.outgoing):
                for block in blocks:
                    self.strengths = np.maximum(self.strengths, self._units(block, sides[:, side], count))
            self.strengths[self.strengths == 0.0] = 1.0
            ones = np.ones(count)
            for side in (0, 1):
                own = sides[:, side]
                self._into.append([self._scaled(b, own, ones) for b in self._crossing.incoming[side]])
                self._out.append([self._scaled(b, own, self.strengths) for b in self._crossing.outgoing[side]])
        self.strengths[self.strengths == 0.0] = 1.0

    def _powers(self, alphas: Sequence[MultiIndex]) -> FloatArray:
        """half^α for all parts, (P, A); negative where a part is mirrored along an odd number of axes of α."""
        return np.stack([np.prod(self._half ** np.array(alpha), axis=1) for alpha in alphas], axis=1)

    def _units(self, block: Block, place: NDArray[np.intp], count: int) -> FloatArray:
        """The size of the coefficients of a block in each part, in its units, (P,); 0 where it has no points."""
        found = np.zeros(count)
        np.maximum.at(found, place, np.max(np.abs(block.coefficients / self._powers(block.alphas)[place]), axis=1))
        return found

    def _scaled(self, block: Block, place: NDArray[np.intp], sizes: FloatArray) -> _Scaled:
        n, width = block.coefficients.shape
        table = np.empty((n, width + block.x.shape[1]))
        table[:, :width] = block.coefficients / self._powers(block.alphas)[place] / sizes[place, None]
        table[:, width:] = (block.x - self._middle[place]) / self._half[place]
        return _Scaled(block.terms, table, block.starts)

    def built(self, known: Known, crew: Crew) -> list[Built]:
        """All parts: equal ones, and those that are known already, are learned once."""
        waiting: list[tuple[Alike, Leaf]] = []
        found: list[tuple[Alike, int]] = []
        for k in range(len(self._part_rows)):
            pieces = self._pieces(k)
            numbers = np.concatenate([own.table[rows].ravel() for own, rows, _ in pieces])
            singular = int(self._space.mosaic.singular[k])
            kinds = tuple((own.terms, len(own.table[rows]), kind) for own, rows, kind in pieces)
            alike = known.setdefault((kinds, int(self._space.degrees.max()), singular), Alike())
            number = alike.find(numbers, EQUAL + 32.0 * EPS * float(self._far[k]))
            if number is None:
                number = alike.add(numbers)
                # At the edges of a box in space u is like r² log r: all polynomials are of use there.
                held = bool(singular) and self._space.dim < 3
                waiting.append((alike, self._leaf(k, pieces, held)))
            found.append((alike, number))
        what = f"{len(waiting)} parts of {self._space.each} functions, no two of them alike"
        remedy = "use fewer cells, a lower degree, or a machine with more memory"
        check_memory("method", sum(leaf.numbers for _, leaf in waiting), what, remedy)
        for (alike, _), own in zip(waiting, crew(learned, [leaf for _, leaf in waiting]), strict=True):
            alike.parts.append(own)
        return [self._built(k, alike.parts[number]) for k, (alike, number) in enumerate(found)]

    def _pieces(self, k: int) -> list[tuple[_Scaled, slice, str]]:
        """The rows of a part: data, and, seam after seam, channel after channel, what comes in, and what goes out."""
        found = [
            (self._data[c], slice(None) if self._data[c].starts is not None else own, "data")
            for c, own in self._part_rows[k].slices
        ]
        for kind, sides in (("into", self._into), ("out", self._out)):
            for seam, side in self._owned[k] if sides else ():
                nodes = slice(self._starts[seam], self._starts[seam + 1])
                found += [(own, nodes, kind) for own in sides[side]]
        return found

    def _leaf(self, k: int, pieces: Sequence[tuple[_Scaled, slice, str]], singular: bool) -> Leaf:
        near = 8.0 * EPS * (1.0 + float(self._far[k]))
        rows: dict[str, list[LocalRows]] = {"data": [], "into": [], "out": []}
        for own, part, kind in pieces:
            table, width = own.table[part], len(own.terms)
            pattern = self._pattern(table[:, width:], tuple(sorted({alpha for _, alpha in own.terms})), near)
            rows[kind].append(LocalRows(own.terms, np.ascontiguousarray(table[:, :width]), pattern, own.starts))
        crossing = self._crossing
        channels = 0 if crossing is None else len(crossing.incoming[0])
        return Leaf(
            data=tuple(rows["data"]),
            into=tuple(rows["into"]),
            out=tuple(rows["out"]),
            traces=tuple(self._traces[seam] for seam, _ in self._owned[k] for _ in range(channels)),
            components=self._space.components,
            leading=() if crossing is None else crossing.leading,
            doubled=crossing is not None and crossing.doubled,
            singular=singular,
            counts=tuple(self._counts[c] for c, _ in self._part_rows[k].slices) if self._counts else (),
        )

    def _pattern(self, z: FloatArray, alphas: tuple[MultiIndex, ...], near: float) -> Pattern:
        """Places in the unit cell: those of a part before, if they are the same to rounding."""
        seen = self._patterns.setdefault((alphas, len(z)), [])
        for pattern in seen:
            if np.max(np.abs(pattern.z - z), initial=0.0) < near:
                return pattern
        found = Pattern(np.ascontiguousarray(z), self._space.degrees, alphas)
        if len(seen) < PATTERNS:
            seen.append(found)
        return found

    def _built(self, k: int, own: Fitted) -> Built:
        local, weights = own
        slices = zip(self._part_rows[k].slices, weights, strict=True)
        roots = [np.full(part.stop - part.start, 1.0 / (self._sizes[c][k] * w)) for (c, part), w in slices]
        return Built(local, np.concatenate(roots), float(self.strengths[k]))


def unit_of(block: Block, half: FloatArray) -> float:
    """The size of coefficients in units of a part."""
    powers = np.array([np.prod(half ** np.array(alpha)) for alpha in block.alphas])
    return float(np.max(np.abs(block.coefficients) / powers))
