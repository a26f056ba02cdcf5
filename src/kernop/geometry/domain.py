"""Domains: regions with an inside, an outside and a boundary; and what set operations make of them.

    A | B, A & B, A - B

A point of the boundary of a combination lies on the boundary of one of its parts. Both sides of it say whether it does,
just within that part and just outside: it is on the boundary if exactly one side is in the combination, and that
side says where outward is. Where the boundaries of several parts coincide, the first of them has the point.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from kernop.basics.checks import check_coordinates, check_integer, check_kind
from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, describe, fail
from kernop.basics.stored import stored
from kernop.geometry import moments
from kernop.geometry.corners import PlaneCorners, plane_corners
from kernop.geometry.cutting import cut
from kernop.geometry.extents import ROUNDINGS, around, check_thickness, short, slack
from kernop.geometry.patch import Patch, box_patch
from kernop.geometry.points import Points
from kernop.geometry.region import Patchwork, Region
from kernop.geometry.sides import Body, Sides


class Domain(Body):
    """A region of full dimension with a boundary, which set operations combine: A | B, A & B, A − B."""

    def distance(self, x: object) -> FloatArray:
        """The signed distance of each row of x (n, d) from the boundary, negative inside, (n,).

        Where the domain is a combination, or is known by a function, it is right to first order near the boundary.
        """
        return self.height(check_coordinates("x", x, self.dim))

    def _contains(self, x: FloatArray) -> BoolArray:
        return self.height(x) <= np.max(slack(*self.bounds))

    def holds(self, x: FloatArray) -> BoolArray:
        """Is each row of x (n, d) inside, to rounding, (n,)? `contains` is more tolerant, and pieces share points."""
        scale = max(float(np.max(np.abs(own))) for own in self.bounds)
        return self.height(x) <= ROUNDINGS * np.finfo(np.float64).eps * scale

    @cached_property
    def corners(self) -> PlaneCorners:
        """The corners of a plane domain: places (k, 2), and the angle of the domain at each, (k,)."""
        if self.dim != 2:
            raise fail(ArgumentError, "corners", f"a domain in {self.dim} dimensions", "ask a domain of the plane")
        return plane_corners(self.boundary.patches, float(np.max(np.subtract(*self.bounds[::-1]))))

    @property
    def leaves(self) -> tuple[Domain, ...]:
        """The domains of which it is made by set operations, from left to right; itself, if it is made of none."""
        return (self,)

    def __or__(self, other: Domain) -> SetOperation:
        return SetOperation("|", self, other)

    def __and__(self, other: Domain) -> SetOperation:
        return SetOperation("&", self, other)

    def __sub__(self, other: Domain) -> SetOperation:
        return SetOperation("-", self, other)


class Carved(Domain):
    """A domain that is known by its signed distance, carved out of its bounding box."""

    @cached_property
    def _size(self) -> float:
        """The measure: to rounding on a line and in the plane, elsewhere to about 1e-3 of it."""
        return moments.enclosed(self.boundary.patches, 0.5 * np.add(*self.bounds))

    @property
    def measure(self) -> float:
        """Length or area, to rounding; a volume, where surfaces are cut, to about 1e-3 of it."""
        return self._size

    @property
    def intrinsic_dim(self) -> int:
        return self.dim

    @property
    def patches(self) -> tuple[Patch, ...]:
        box = box_patch(*self.bounds)
        part = self._size / box.measure
        return (replace(box, measure=self._size, keeps=lambda t: self._contains(box.place(t).x), part=part),)

    def quadrature(self, n: int) -> Points:
        """In the plane quasi-random points with weights that integrate polynomials exactly; else quasi-Monte Carlo."""
        n = check_integer("n", n, least=1)
        if self.dim != 2 or n < moments.FEWEST or not self.boundary.whole:
            return super().quadrature(n)
        candidates = np.concatenate([self.sample(moments.candidates(n)).x, self._just_inside()])
        kept, weight = moments.positive_rule(candidates, n, self.boundary.patches, *self.bounds)
        return Points(candidates[kept], None, False, weight) if len(kept) else super().quadrature(n)

    def _just_inside(self) -> FloatArray:
        """Points near the boundary, and in corners, where rules need some."""
        points = self.boundary.sample(moments.AROUND)
        depth = 0.5 * self._size / self.boundary.measure * np.random.default_rng(0).random((len(points), 1)) ** 3
        x = points.x - depth * points.outward
        return x[self.height(x) < 0.0]

    def check_thickness(self, name: str) -> None:
        """Raise unless the domain has room for points."""
        check_thickness(name, *self.bounds, self._size, self.boundary.measure)


class WholeBoundary(Patchwork):
    """All of the boundary of a domain that is not a combination of others."""

    @property
    @abstractmethod
    def enclosed(self) -> Domain:
        """The domain whose boundary it is."""

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.enclosed.bounds

    def _contains(self, x: FloatArray) -> BoolArray:
        return np.abs(self.enclosed.height(x)) <= np.max(slack(*self.bounds))

    def __repr__(self) -> str:
        return f"{self.enclosed!r}.boundary"


@stored("combination")
@dataclass(frozen=True, eq=False, repr=False)
class SetOperation(Carved):
    """A union, an intersection or a difference of two domains of one dimension. Made by A | B, A & B, A − B.

    Arguments:
        operation: "|", "&" or "-".
        first, second: the domains.
    """

    operation: Literal["|", "&", "-"]
    first: Domain
    second: Domain

    def __post_init__(self) -> None:
        for domain in (self.first, self.second):
            check_kind("domains", domain, Domain, _REMEDY)
        if self.first.dim != self.second.dim:
            got = f"{self.first!r} in {self.first.dim} and {self.second!r} in {self.second.dim} dimensions"
            raise fail(ArgumentError, "domains", got, "combine domains of one dimension")
        if not self.boundary.patches:
            word = {"|": "union", "&": "intersection", "-": "difference"}[self.operation]
            one, other = (f"from {short(own.bounds[0])} to {short(own.bounds[1])}" for own in (self.first, self.second))
            got = f"an empty {word}: {self!r}, {one} and {other}"
            remedy = "subtract one that leaves a part of the first" if self.operation == "-" else "let them overlap"
            raise fail(ArgumentError, "domains", got, remedy)
        self.check_thickness("domains")

    @cached_property
    def dim(self) -> int:
        return self.first.dim

    @property
    def leaves(self) -> tuple[Domain, ...]:
        return (*self.first.leaves, *self.second.leaves)

    def _fold(self, values: Iterator[Any], union: Any, intersection: Any, complement: Any) -> Any:
        """What the operations make of one value for each leaf."""
        one, other = (
            side._fold(values, union, intersection, complement) if isinstance(side, SetOperation) else next(values)
            for side in (self.first, self.second)
        )
        if self.operation == "|":
            return union(one, other)
        return intersection(one, other if self.operation == "&" else complement(other))

    def height(self, x: FloatArray) -> FloatArray:
        return self._fold((leaf.height(x) for leaf in self.leaves), np.minimum, np.maximum, np.negative)

    def _holds(self, sides: Sequence[BoolArray]) -> BoolArray:
        """Whether points are in the combination, from whether they are in each leaf."""
        return self._fold(iter(sides), np.logical_or, np.logical_and, np.logical_not)

    @cached_property
    def sides(self) -> Sides:
        """Where its boundary is, on those of the leaves."""
        return Sides(self.leaves, self._holds)

    @property
    def boundary(self) -> BoundaryPieces:
        """The boundary; `of` gives the piece of it that comes from one of the domains."""
        return self._boundary

    @cached_property
    def _boundary(self) -> BoundaryPieces:
        return BoundaryPieces(self, tuple((number, leaf.boundary) for number, leaf in enumerate(self.leaves)))

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        low, high = self._bounds
        return low.copy(), high.copy()

    @cached_property
    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        (low, high), (low_too, high_too) = self.first.bounds, self.second.bounds
        if self.operation == "|":
            return np.minimum(low, low_too), np.maximum(high, high_too)
        if self.operation == "&":
            low, high = np.maximum(low, low_too), np.minimum(high, high_too)
        if self.dim > 2:
            return low, high
        return around(self.boundary.patches)

    @property
    def patches(self) -> tuple[Patch, ...]:
        if self.dim > 1:
            return super().patches
        ends = np.sort([patch.place(np.zeros((1, 0))).x[0, 0] for patch in self.boundary.patches])
        return tuple(box_patch(ends[k : k + 1], ends[k + 1 : k + 2]) for k in range(0, len(ends), 2))

    @cached_property
    def _size(self) -> float:
        if self.dim > 1:
            return super()._size
        return float(sum(patch.measure for patch in self.patches))

    def __repr__(self) -> str:
        return f"({self.first!r} {self.operation} {self.second!r})"


@stored("pieces")
@dataclass(frozen=True, eq=False, repr=False)
class BoundaryPieces(Patchwork):
    """Pieces of the boundary of a combination: the parts of the boundaries of its leaves that bound it.

    Arguments:
        domain: what is inside.
        sources: numbers of leaves, each with its boundary or a part of it.
    """

    domain: SetOperation
    sources: tuple[tuple[int, Region], ...]

    def __post_init__(self) -> None:
        known = range(len(self.domain.leaves))
        fit = all(k in known and isinstance(piece, Patchwork) for k, piece in self.sources)
        if not self.sources or not fit:
            raise fail(ArgumentError, "sources", describe(self.sources), "give numbers of leaves, and their boundaries")

    @property
    def enclosed(self) -> SetOperation:
        return self.domain

    @cached_property
    def dim(self) -> int:
        return self.domain.dim

    @property
    def intrinsic_dim(self) -> int:
        return self.dim - 1

    @property
    def patches(self) -> tuple[Patch, ...]:
        return self._patches

    @cached_property
    def _patches(self) -> tuple[Patch, ...]:
        found, sides = list[Patch](), self.domain.sides
        for number, piece in self.sources:
            assert isinstance(piece, Patchwork)
            sign, near = partial(sides.signs, leaf=number), partial(sides.nearness, leaf=number)
            for patch in piece.patches:
                found.extend(cut(patch, sign, near, sides.room))
        return tuple(found)

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        low, high = self._bounds
        return low.copy(), high.copy()

    @cached_property
    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        if self.dim > 2:
            every = [piece.bounds for _, piece in self.sources]
            low, high = np.min([own[0] for own in every], axis=0), np.max([own[1] for own in every], axis=0)
            return np.maximum(low, self.domain.bounds[0]), np.minimum(high, self.domain.bounds[1])
        return around(self.patches)

    def _outward(self, x: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Which points lie on these pieces, and their normals there, (n, d)."""
        found, normal = np.zeros(len(x), dtype=bool), np.zeros_like(x)
        for number, piece in self.sources:
            own = np.flatnonzero(~found & piece.contains(x))
            if not len(own):
                continue
            outward = piece.normals(x[own])
            signs = self.domain.sides.signs(Points(x[own], outward), number)
            own, kept = own[signs != 0], signs != 0
            assert outward is not None
            found[own], normal[own] = True, signs[kept, None] * outward[kept]
        return found, normal

    def _contains(self, x: FloatArray) -> BoolArray:
        return self._outward(x)[0]

    def normals(self, x: FloatArray) -> FloatArray | None:
        found, normal = self._outward(x)
        if not found.all():  # a corner, say, of which no piece is sure: the normal of any that has it
            for _, piece in self.sources:
                open_ = np.flatnonzero(~found & piece.contains(x))
                if len(open_):
                    own = piece.normals(x[open_])
                    assert own is not None
                    found[open_], normal[open_] = True, self._outward_of(x[open_], own)
        normal[~found, 0] = 1.0
        return normal

    def _outward_of(self, x: FloatArray, normal: FloatArray) -> FloatArray:
        """Normals turned so that a small step along them comes farther out of the domain than one back."""
        step = 1e-6 * float(np.max(np.subtract(*self.domain.bounds[::-1])))
        rise = self.domain.height(x + step * normal) - self.domain.height(x - step * normal)
        return np.where(rise[:, None] >= 0.0, normal, -normal)

    def of(self, source: Region) -> BoundaryPieces:
        """The piece of the boundary that comes from ``source``: a domain of the combination, or a part of its boundary.

        ``D.boundary.of(hole)``, ``D.boundary.of(box.face("left"))``, ``D.boundary.of(polygon.edge(2))``.
        """
        numbers = _numbers(self.domain, source)
        if numbers is not None:
            sources = tuple(own for own in self.sources if own[0] in numbers)
        else:
            sources = tuple((number, source) for number, piece in self.sources if _is_part(source, piece))[:1]
        found = BoundaryPieces(self.domain, sources) if sources else None
        if found is None or not found.patches:
            made = ", ".join(map(repr, self.domain.leaves))
            why = f"{source!r}, of which no part is a boundary of {self.domain!r}"
            raise fail(ArgumentError, "source", why, f"give one of {made}, or a part of its boundary")
        return found

    def __repr__(self) -> str:
        if all(piece == self.domain.leaves[number].boundary for number, piece in self.sources):
            if len(self.sources) == len(self.domain.leaves):
                return f"{self.domain!r}.boundary"
            return f"{self.domain!r}.boundary.of({', '.join(repr(self.domain.leaves[k]) for k, _ in self.sources)})"
        return f"{self.domain!r}.boundary.of({', '.join(repr(piece) for _, piece in self.sources)})"


_REMEDY = "combine domains such as Box, Ball, Polygon, Implicit or Solid; for a part of one, D & Implicit(…)"


def _numbers(domain: Domain, source: Region, first: int = 0) -> set[int] | None:
    """The numbers of the leaves of a part of a tree that is, or equals, the source; None if there is none."""
    if domain is source or domain == source:
        return set(range(first, first + len(domain.leaves)))
    if not isinstance(domain, SetOperation):
        return None
    left = _numbers(domain.first, source, first)
    right = _numbers(domain.second, source, first + len(domain.first.leaves))
    return None if left is None and right is None else (left or set()) | (right or set())


def _is_part(source: Region, piece: Region) -> bool:
    """Is a region a part of a boundary, made of patches that can be cut?"""
    fits = isinstance(source, Patchwork) and source.dim == piece.dim and source.intrinsic_dim == piece.intrinsic_dim
    return fits and bool(np.all(piece.contains(source.sample(16).x)))
