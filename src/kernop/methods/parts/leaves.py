"""The parts of an operator: their rows in units of their own; equal ones are found, and others learned in threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import frozen
from kernop.basics.linalg import EPS
from kernop.basics.shelf import Shelf, shelf_for
from kernop.collocation.cells.fluxes import Exchange
from kernop.collocation.functionals import Block, Functionals
from kernop.language.fields import MultiIndex, Term
from kernop.methods.parts.local import Leaf, Local
from kernop.methods.parts.patterns import Family, LocalRows, Pattern, bubbles, pattern_of, star_pattern
from kernop.methods.parts.placing import Placing
from kernop.methods.parts.skeleton import Skeleton, ordered_for, skeleton_of
from kernop.methods.parts.space import PartsSpace, by_degree
from kernop.methods.parts.subtrees import Fitted
from kernop.methods.parts.traces import Trace

#: How far the normalised coefficients of two parts may be apart so that they count as equal.
EQUAL = 1e-13
#: Parts with which a part is compared, and patterns of points with which its own are.
COMPARED, PATTERNS = 256, 16
#: How much more the source of a star counts than what comes in on its outside.
SOURCES = 1e3


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
        self._sums = np.empty(COMPARED)
        self._same: dict[bytes, int] = {}
        self.parts: list[Fitted] = []

    def find(self, numbers: FloatArray, near: float) -> tuple[int, bool]:
        """The part whose numbers are the same, or, among the first ones, as near as this; and whether it is known.

        If it is not, it is remembered as one that is about to be learned.
        """
        digest = blake2b(numbers.data, digest_size=16).digest()
        exact = self._same.get(digest)
        if exact is not None:
            return exact, True
        total = float(_factors(len(numbers)) @ numbers)
        room = 2.0 * len(numbers) * near + 1e-12
        for k in np.flatnonzero(np.abs(self._sums[: len(self._near)] - total) < room).tolist():
            seen, own = self._near[k]
            if np.max(np.abs(seen - numbers)) < near:
                return own, True
        number = self._same[digest] = len(self._same)
        if number < COMPARED:
            self._sums[number] = total
            self._near.append((numbers, number))
        return number, False


@lru_cache(maxsize=16)
def _factors(count: int) -> FloatArray:
    """So many random factors, always the same."""
    return frozen(np.random.default_rng(0).uniform(-1.0, 1.0, count))


#: Parts that are known, by the kinds of their rows.
Known = dict[tuple[object, ...], Alike]


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Functionals at points in units of the parts in which these lie.

    Arguments:
        terms: the A pairs (k, α).
        coefficients: in units of the part, (n, A).
        z: places in [−1, 1]^d, (n, d).
        starts: see `Block`.
    """

    terms: tuple[Term, ...]
    coefficients: FloatArray
    z: FloatArray
    starts: NDArray[np.intp] | None


@dataclass(frozen=True, eq=False)
class Waiting:
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


def _with_terms(block: Block, terms: tuple[Term, ...]) -> Block:
    """The same functionals with coefficients of these terms, of which some may be 0."""
    if block.terms == terms:
        return block
    places = [block.terms.index(term) if term in block.terms else -1 for term in terms]
    padded = np.hstack([block.coefficients, np.zeros((len(block.coefficients), 1))])
    return replace(block, terms=terms, coefficients=padded[:, places])


class Leaves:
    """The parts of an operator before they are learned."""

    def __init__(
        self,
        space: PartsSpace,
        functionals: Functionals,
        placing: Placing,
        *,
        degrees: NDArray[np.int64],
        crossing: Exchange | None,
        counts: Sequence[float] = (),
    ) -> None:
        self._space, self._degrees, self._crossing = space, degrees.tolist(), crossing
        self._placing, self._counts = placing, counts
        self._patterns: dict[tuple[object, ...], list[Pattern]] = {}
        count = len(placing.part_rows)
        owns = [block.coefficients / placing.units(c, block.alphas) for c, block in enumerate(functionals.blocks)]
        self._sizes = [_sizes(own, place, count) for own, place in zip(owns, placing.parts, strict=False)]
        self._data = [
            _Scaled(block.terms, own / sizes[place, None], z, block.starts)
            for block, own, sizes, place, z in zip(
                functionals.blocks, owns, self._sizes, placing.parts, placing.z, strict=False
            )
        ]
        self.strengths = np.ones(count)
        self._into: list[_Scaled] = []
        self._out: list[_Scaled] = []
        if crossing is not None:
            self._into, out = self._on_seams(crossing.incoming), self._on_seams(crossing.outgoing)
            place = placing.parts[-1]
            found = np.max([_sizes(own.coefficients, place, count) for own in out], axis=0)
            self.strengths = np.where(found > 0.0, found, 1.0)
            unit = self.strengths[place, None]
            self._out = [replace(own, coefficients=own.coefficients / unit) for own in out]

    def _on_seams(self, blocks: tuple[tuple[Block, ...], tuple[Block, ...]]) -> list[_Scaled]:
        """Channel after channel, functionals of each part at the nodes of all its seams, part after part."""
        placing, found = self._placing, list[_Scaled]()
        for pair in zip(*blocks, strict=True):
            terms = tuple(dict.fromkeys((*pair[0].terms, *pair[1].terms)))
            both = np.concatenate([_with_terms(block, terms).coefficients for block in pair])[placing.seam_nodes]
            units = placing.units(-1, tuple(alpha for _, alpha in terms))
            found.append(_Scaled(terms, both / units, placing.z[-1], None))
        return found

    def planned(self, known: Known) -> Waiting:
        """Which parts are to be learned: equal ones once, and none of those that are known already."""
        waiting: dict[int, tuple[Alike, Leaf]] = {}
        found: list[tuple[Alike, int]] = []
        for k, owned in enumerate(self._placing.owned):
            pieces = self._pieces(k)
            numbers = [array[rows].ravel() for own, rows, _ in pieces for array in (own.coefficients, own.z)]
            singular = int(self._space.mosaic.singular[k])
            kinds = tuple((own.terms, rows.stop - rows.start, kind) for own, rows, kind in pieces)
            traces = tuple(self._placing.traces[seam] for seam, _ in owned)
            star = self._space.mosaic.star_of.get(k)
            key = (kinds, tuple(map(len, traces)), self._degrees[k], singular, None if star is None else star.key)
            alike = known.setdefault(key, Alike())
            # On a line what a short part takes for u at both ends counts as a flux, u over its length.
            near = EQUAL + (32.0 * EPS * float(self._placing.far[k]) if self._space.dim > 1 else 0.0)
            number, seen = alike.find(np.concatenate(numbers), near)
            if not seen:
                waiting[k] = alike, self._leaf(k, pieces, traces)
            found.append((alike, number))
        return Waiting(waiting, found)

    def built(self, plan: Waiting, fitted: Mapping[int, Fitted]) -> list[Built]:
        """All parts, when those that were to be learned are."""
        for k, (alike, _) in plan.waiting.items():
            alike.parts.append(fitted[k])
        return [self._built(k, alike.parts[number]) for k, (alike, number) in enumerate(plan.found)]

    def shelf(self, plan: Waiting) -> Shelf | None:
        """Where the matrices of parts that are to be learned stand if they do not fit into memory."""
        most = len(self._space.degrees) * self._space.components
        what = f"{len(plan.waiting)} parts of {most} functions, no two of them alike"
        remedy = "use fewer cells, a lower degree, a machine with more memory, or let TMPDIR name a folder with room"
        return shelf_for("method", sum(leaf.numbers for _, leaf in plan.waiting.values()), what, remedy)

    def _pieces(self, k: int) -> list[tuple[_Scaled, slice, str]]:
        """The rows of a part: data, and, channel after channel, what comes in, and what goes out on its seams."""
        found = [
            (self._data[c], slice(0, len(self._data[c].z)) if self._data[c].starts is not None else own, "data")
            for c, own in self._placing.part_rows[k].slices
        ]
        nodes = slice(*self._placing.seam_starts[k : k + 2])
        found += [(own, nodes, kind) for kind, all_ in (("into", self._into), ("out", self._out)) for own in all_]
        return found

    def _leaf(self, k: int, pieces: Sequence[tuple[_Scaled, slice, str]], traces: tuple[Trace, ...]) -> Leaf:
        crossing = self._crossing
        doubled = crossing is not None and crossing.doubled
        skeleton, rows = None, dict[str, list[LocalRows]]()
        # In space few functions are bubbles, and traces resolve too little of the others: equations tell more of them.
        plain = self._space.components == 1 and self._space.dim < 3 and not self._space.mosaic.singular[k]
        if plain and not doubled:
            rows = self._rows(k, pieces, "lobatto")
            skeleton = _skeleton(rows["data"], rows["into"], traces)
            if skeleton is not None and len(rows["data"]) == len(skeleton.weights) + 1 and rows["data"][0].pattern.grid:
                rows["data"][0] = self._rows(k, pieces[:1], "laplace")["data"][0]
        if skeleton is None:
            rows = self._rows(k, pieces, "legendre")
        return Leaf(
            data=tuple(rows["data"]),
            into=tuple(rows["into"]),
            out=tuple(rows["out"]),
            traces=traces,
            components=self._space.components,
            leading=() if crossing is None else crossing.leading,
            doubled=doubled,
            counts=self._counted(k),
            skeleton=skeleton,
        )

    def _counted(self, k: int) -> tuple[float, ...]:
        """How much more conditions count. Those of a star determine what its source makes, and nothing else of it."""
        slices = self._placing.part_rows[k].slices
        if k in self._space.mosaic.star_of:
            return (SOURCES,) * len(slices)
        return tuple(self._counts[c] for c, _ in slices) if self._counts else ()

    def _rows(self, k: int, pieces: Sequence[tuple[_Scaled, slice, str]], basis: Family) -> dict[str, list[LocalRows]]:
        """The functionals of a part by their kinds."""
        rows: dict[str, list[LocalRows]] = {"data": [], "into": [], "out": []}
        star = self._space.mosaic.star_of.get(k)
        for place, (own, part, kind) in enumerate(pieces):
            coefficients, z = own.coefficients[part], own.z[part]
            if star is not None:
                # Its functions solve the equation without terms of lower order.
                kept = [j for j, (_, alpha) in enumerate(own.terms) if kind != "data" or sum(alpha) == 2]
                terms = tuple(own.terms[j] for j in kept)
                pattern = star_pattern(z, tuple(sorted({alpha for _, alpha in terms})), star)
                rows[kind].append(LocalRows(terms, np.ascontiguousarray(coefficients[:, kept]), pattern))
                continue
            key = k, place, self._degrees[k], own.terms, basis
            pattern = self._placing.patterns.get(key)
            if pattern is None:
                near = 8.0 * EPS * (1.0 + float(self._placing.far[k]))
                alphas = tuple(sorted({alpha for _, alpha in own.terms}))
                pattern = self._placing.patterns[key] = self._pattern(z, self._degrees[k], alphas, basis, near)
            rows[kind].append(LocalRows(own.terms, coefficients, pattern, own.starts))
        return rows

    def _pattern(
        self, z: FloatArray, degree: int, alphas: tuple[MultiIndex, ...], basis: Family, near: float
    ) -> Pattern:
        """Places in the unit cell: those of a part before, if they are the same to rounding."""
        seen = self._patterns.setdefault((degree, alphas, basis, len(z)), [])
        for pattern in seen:
            if _near(pattern.z, z, near):
                return pattern
        found = pattern_of(z, ordered_for(by_degree(self._space.dim, degree), basis), alphas, basis)
        if len(seen) < PATTERNS:
            seen.append(found)
        return found

    def _built(self, k: int, own: Fitted) -> Built:
        local, weights = own
        slices = zip(self._placing.part_rows[k].slices, weights, strict=True)
        roots = [np.full(part.stop - part.start, 1.0 / (self._sizes[c][k] * w)) for (c, part), w in slices]
        return Built(local, np.concatenate(roots), float(self.strengths[k]))


def _sizes(own: FloatArray, place: NDArray[np.intp], count: int) -> FloatArray:
    """The largest of coefficients (n, A) in each part, (P,), for points that lie in parts (n,); 0 without points."""
    found = np.zeros(count)
    np.maximum.at(found, place, np.max(np.abs(own), axis=1))
    return found


def _near(one: FloatArray, other: FloatArray, distance: float) -> bool:
    return bool(np.abs(one - other).max(initial=0.0) < distance)


def _skeleton(data: Sequence[LocalRows], into: Sequence[LocalRows], traces: tuple[Trace, ...]) -> Skeleton | None:
    """What values on faces determine, if nothing else is given there, and enough inside to determine bubbles."""
    inside = list(takewhile(lambda own: not own.values_alone, data))
    outside = data[len(inside) :]
    if not inside or any(own.starts is not None for own in inside):
        return None
    count = int(np.sum(bubbles(inside[0].pattern.degrees)))
    if sum(map(len, inside)) < count or not all(own.values_alone for own in (*outside, *into)):
        return None
    given, taken = (tuple(own.pattern for own in rows) for rows in (outside, into))
    return skeleton_of(given, taken, traces, count)


def unit_of(block: Block, half: FloatArray, components: Sequence[int]) -> float:
    """The size of coefficients of some components, in units of a part with these half sides; 0 if it has none."""
    own = [j for j, (k, _) in enumerate(block.terms) if k in components]
    powers = np.array([np.prod(half ** np.array(block.alphas[j])) for j in own])
    return float(np.max(np.abs(block.coefficients[:, own]) / powers, initial=0.0))
