"""The parts of an operator: their rows in units of their own; equal ones are found, and others learned in threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.linalg import EPS
from kernop.basics.shelf import Shelf, shelf_for
from kernop.collocation.fluxes import Exchange
from kernop.collocation.functionals import Block, Functionals
from kernop.language.fields import MultiIndex, Term
from kernop.methods.parts.local import Leaf, Local, LocalRows, Pattern
from kernop.methods.parts.space import PartsSpace, by_degree
from kernop.methods.parts.subtrees import Fitted
from kernop.methods.parts.traces import Trace

#: How far the normalised coefficients of two parts may be apart so that they count as equal.
EQUAL = 1e-13
#: Parts with which a part is compared, and patterns of points with which its own are.
COMPARED, PATTERNS = 256, 16


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


@dataclass(frozen=True, eq=False)
class Plan:
    """Which parts are to be learned.

    Arguments:
        waiting: what they are learned from, by the number of the part, and where what is learned is remembered.
        found: for each part, among which it is remembered, and its number there.
    """

    waiting: dict[int, tuple[Alike, Leaf]]
    found: list[tuple[Alike, int]]

    def alike(self, strengths: FloatArray, sums: int) -> list[int]:
        """A number for each part, the same for those that turn what comes in into the same."""
        numbers: dict[object, int] = {}
        pairs = enumerate(zip(self.found, strengths.tolist(), strict=True))
        keys = [k if sums else (id(own), number, f"{s:.12e}") for k, ((own, number), s) in pairs]
        return [numbers.setdefault(key, len(numbers)) for key in keys]


class Leaves:
    """The parts of an operator before they are learned."""

    def __init__(
        self,
        space: PartsSpace,
        functionals: Functionals,
        part_rows: Sequence[PartRows],
        *,
        degrees: NDArray[np.int64],
        crossing: Exchange | None,
        traces: Sequence[Trace],
        owned: Sequence[Sequence[tuple[int, int]]],
        counts: Sequence[float] = (),
    ) -> None:
        self._space, self._degrees, self._crossing, self._traces = space, degrees.tolist(), crossing, traces
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

    def planned(self, known: Known) -> Plan:
        """Which parts are to be learned: equal ones once, and none of those that are known already."""
        waiting: dict[int, tuple[Alike, Leaf]] = {}
        found: list[tuple[Alike, int]] = []
        for k in range(len(self._part_rows)):
            pieces = self._pieces(k)
            numbers = np.concatenate([own.table[rows].ravel() for own, rows, _ in pieces])
            kinds = tuple((own.terms, len(own.table[rows]), kind) for own, rows, kind in pieces)
            alike = known.setdefault((kinds, self._degrees[k]), Alike())
            number = alike.find(numbers, EQUAL + 32.0 * EPS * float(self._far[k]))
            if number is None:
                number = alike.add(numbers)
                waiting[k] = alike, self._leaf(k, pieces)
            found.append((alike, number))
        return Plan(waiting, found)

    def built(self, plan: Plan, fitted: Mapping[int, Fitted]) -> list[Built]:
        """All parts, when those that were to be learned are."""
        for k, (alike, _) in plan.waiting.items():
            alike.parts.append(fitted[k])
        return [self._built(k, alike.parts[number]) for k, (alike, number) in enumerate(plan.found)]

    def shelf(self, plan: Plan) -> Shelf | None:
        """Where the matrices of parts that are to be learned stand if they do not fit into memory."""
        most = len(by_degree(self._space.dim, max(self._degrees))) * self._space.components
        what = f"{len(plan.waiting)} parts of {most} functions, no two of them alike"
        remedy = "use fewer cells, a lower degree, a machine with more memory, or let TMPDIR name a folder with room"
        return shelf_for("method", sum(leaf.numbers for _, leaf in plan.waiting.values()), what, remedy)

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

    def _leaf(self, k: int, pieces: Sequence[tuple[_Scaled, slice, str]]) -> Leaf:
        near = 8.0 * EPS * (1.0 + float(self._far[k]))
        rows: dict[str, list[LocalRows]] = {"data": [], "into": [], "out": []}
        for own, part, kind in pieces:
            table, width = own.table[part], len(own.terms)
            alphas = tuple(sorted({alpha for _, alpha in own.terms}))
            pattern = self._pattern(table[:, width:], self._degrees[k], alphas, near)
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
            counts=tuple(self._counts[c] for c, _ in self._part_rows[k].slices) if self._counts else (),
        )

    def _pattern(self, z: FloatArray, degree: int, alphas: tuple[MultiIndex, ...], near: float) -> Pattern:
        """Places in the unit cell: those of a part before, if they are the same to rounding."""
        seen = self._patterns.setdefault((degree, alphas, len(z)), [])
        for pattern in seen:
            if np.max(np.abs(pattern.z - z), initial=0.0) < near:
                return pattern
        found = Pattern(np.ascontiguousarray(z), by_degree(self._space.dim, degree), alphas)
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
