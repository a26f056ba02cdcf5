"""Space–time cylinders: a spatial domain times a time interval. Time is the last coordinate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kernop.basics.checks import check_array, check_integer
from kernop.basics.errors import ArgumentError, ArgumentTypeError, BoolArray, FloatArray, ShapeError, describe, fail
from kernop.basics.stored import stored
from kernop.geometry.box import Interval
from kernop.geometry.domain import BoundaryPieces, Domain
from kernop.geometry.extents import check_extent
from kernop.geometry.patch import Patch
from kernop.geometry.points import Points
from kernop.geometry.region import Patchwork, Region, Where, unrestricted


@stored("space-time")
@dataclass(frozen=True, eq=False, repr=False)
class SpaceTime(Patchwork):
    """The cylinder space × [t0, t1]; a point is (x_1, …, x_{d−1}, t).

    Arguments:
        space: the spatial domain: any domain, or a part of one, ``domain.where(…)``.
        times: first and last time.
    """

    timed = True
    space: Region
    times: tuple[float, float]

    def __post_init__(self) -> None:
        if not isinstance(unrestricted(self.space), Domain):
            remedy = "give an Interval, a Box, a Ball or another domain, or a part of one"
            raise fail(ArgumentTypeError, "space", describe(self.space), remedy)
        ends = check_array("times", self.times, remedy="give (t0, t1)")
        if ends.shape != (2,):
            raise fail(ShapeError, "times", f"shape {ends.shape}", "give (t0, t1)")
        if ends[0] >= ends[1]:
            raise fail(ArgumentError, "times", f"({ends[0]:g}, {ends[1]:g})", "give t0 < t1")
        check_extent("times", ends[:1], ends[1:])
        object.__setattr__(self, "times", (float(ends[0]), float(ends[1])))
        check_extent("space, times", *self.bounds)

    @property
    def clock(self) -> Interval:
        """The interval [t0, t1] of time."""
        return Interval(*self.times)

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return _corners(self.space, self.clock)

    @property
    def patches(self) -> tuple[Patch, ...]:
        return _product(self.space, self.clock)

    def _contains(self, x: FloatArray) -> BoolArray:
        return self.space.contains(x[:, :-1]) & self.clock.contains(x[:, -1:])

    def quadrature(self, n: int) -> Points:
        """A product of rules in space and in time, where space has one that is better than its patches."""
        return super().quadrature(n) if self.whole else _rule(self.space, self.clock, n)

    @property
    def rim(self) -> Patchwork:
        """The boundary of the spatial domain."""
        if isinstance(self.space, Domain):
            return self.space.boundary
        got = f"the boundary of {self.space!r}, which a predicate does not define"
        remedy = "give a space that has one, such as domain & Implicit(…), or state walls on SpaceTime(domain, times)"
        raise fail(ArgumentError, "walls", got, remedy)

    @property
    def initial(self) -> Cylinder:
        """The slice t = t0; its normal points to the past."""
        return Cylinder(self, ("initial",))

    @property
    def final(self) -> Cylinder:
        """The slice t = t1."""
        return Cylinder(self, ("final",))

    @property
    def walls(self) -> Cylinder:
        """The boundary of space at all times; the normal is spatial."""
        return Cylinder(self, ("walls",))

    @property
    def boundary(self) -> Cylinder:
        """The whole boundary of the cylinder: walls, initial and final slice."""
        return Cylinder(self, ("walls", "initial", "final"))

    def __repr__(self) -> str:
        return f"SpaceTime({self.space!r}, {self.times})"


@stored("cylinder")
@dataclass(frozen=True, eq=False, repr=False)
class Cylinder(Patchwork):
    """Parts of the boundary of a space–time cylinder: walls, initial slice, final slice.

    Arguments:
        spacetime: what is inside.
        parts: which of them, each once.
    """

    timed = True
    spacetime: SpaceTime
    parts: tuple[Literal["walls", "initial", "final"], ...]

    def __post_init__(self) -> None:
        if not self.parts or len(set(self.parts)) < len(self.parts):
            raise fail(ArgumentError, "parts", describe(self.parts), "give walls, initial or final, each once")

    @property
    def enclosed(self) -> SpaceTime:
        return self.spacetime

    @property
    def _factors(self) -> dict[str, tuple[Region, Patchwork]]:
        """Each part as a product of a region of space and one of time."""
        space, clock = self.spacetime.space, self.spacetime.clock
        slices = {part: (space, clock.face(end)) for part, end in _ENDS.items()}
        return {part: (self._rim, clock) if part == "walls" else slices[part] for part in self.parts}

    @property
    def _rim(self) -> Region:
        """The part of the boundary of space on which the walls stand."""
        return self.spacetime.rim

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        low, high = zip(*(_corners(*pair) for pair in self._factors.values()), strict=True)
        return np.min(low, axis=0), np.max(high, axis=0)

    @property
    def patches(self) -> tuple[Patch, ...]:
        return tuple(patch for pair in self._factors.values() for patch in _product(*pair))

    def _belongs(self, x: FloatArray) -> dict[str, BoolArray]:
        """Which points lie on which part; the first part that fits owns the point."""
        free, owned = np.ones(len(x), dtype=bool), dict[str, BoolArray]()
        for part, (space, time) in self._factors.items():
            owned[part] = free & space.contains(x[:, :-1]) & time.contains(x[:, -1:])
            free = free & ~owned[part]
        return owned

    def _contains(self, x: FloatArray) -> BoolArray:
        return np.any(list(self._belongs(x).values()), axis=0)

    def normals(self, x: FloatArray) -> FloatArray | None:
        normal = np.zeros_like(x)
        for part, mine in self._belongs(x).items():
            for region, axes in zip(self._factors[part], (slice(None, -1), slice(-1, None)), strict=True):
                own = region.normals(x[mine, axes])
                normal[mine, axes] = 0.0 if own is None else own
        return normal

    def quadrature(self, n: int) -> Points:
        """A product of rules in space and in time, where space has one that is better than its patches."""
        if self.whole or len(self.parts) > 1:
            return super().quadrature(n)
        ((space, time),) = self._factors.values()
        rule = _rule(space, time, n)
        return replace(rule, normal=self.normals(rule.x))

    def of(self, source: Region) -> Wall:
        """The walls that stand on a piece of the boundary of space: ``walls.of(space.face("left"))``.

        ``source`` is a piece of that boundary, or a domain of which space is made: ``walls.of(hole)``.
        """
        if self.parts != ("walls",):
            raise fail(ArgumentError, "source", f"a piece of {self!r}", "ask the walls for it: spacetime.walls.of(…)")
        rim = self._rim
        if isinstance(rim, BoundaryPieces) and not (isinstance(source, Where) and unrestricted(source) == rim):
            source = source if isinstance(source, BoundaryPieces) and source.domain == rim.domain else rim.of(source)
        return Wall(self.spacetime, source)

    def __repr__(self) -> str:
        name = "boundary" if len(self.parts) == 3 else self.parts[0]
        return f"{self.spacetime!r}.{name}"


@stored("wall")
class Wall(Cylinder):
    """The walls of a space–time cylinder on a piece of the boundary of space. Made by ``spacetime.walls.of(piece)``.

    Arguments:
        spacetime: what is inside.
        piece: a part of the boundary of space.
    """

    piece: Region

    def __init__(self, spacetime: SpaceTime, piece: Region) -> None:
        super().__init__(spacetime, ("walls",))
        rim = spacetime.rim
        fits = isinstance(piece, Region) and isinstance(unrestricted(piece), Patchwork) and piece.dim == rim.dim
        fits = fits and piece.intrinsic_dim == rim.intrinsic_dim
        if not fits or not np.all(rim.contains(piece.sample(16).x)):
            raise fail(ArgumentError, "piece", describe(piece), f"give a part of {rim!r}")
        object.__setattr__(self, "piece", piece)

    @property
    def _rim(self) -> Region:
        return self.piece

    def __repr__(self) -> str:
        return f"{self.spacetime!r}.walls.of({self.piece!r})"


_ENDS = {"initial": "left", "final": "right"}


def _rule(space: Region, time: Patchwork, n: int) -> Points:
    """The product of a rule of space and one of time, with about n nodes."""
    n = check_integer("n", n, least=1)
    moments = max(1, round(n ** (1.0 / space.dim / 2))) if time.intrinsic_dim else 1
    return product_rule(space.quadrature(max(1, n // moments)), time.quadrature(moments))


def product_rule(inner: Points, outer: Points) -> Points:
    """The product of a quadrature rule of space and one of time."""
    assert inner.weight is not None
    assert outer.weight is not None
    x = np.hstack([np.repeat(inner.x, len(outer), axis=0), np.tile(outer.x, (len(inner), 1))])
    return Points(x, None, True, np.outer(inner.weight, outer.weight).ravel())


def _cover(region: Region) -> tuple[Patch, ...]:
    """The patches of a region; of a part those of the whole, of which the predicate keeps a part."""
    if isinstance(region, Patchwork):
        return region.patches
    assert isinstance(region, Where)
    parts = (region.restricted(patch) for patch in _cover(region.base))
    return tuple(patch for patch in parts if patch.measure > 0.0)


def _corners(space: Region, time: Patchwork) -> tuple[FloatArray, FloatArray]:
    """The corners of the bounding box of a region of space times one of time."""
    (low, high), (first, last) = space.bounds, time.bounds
    return np.append(low, first), np.append(high, last)


def _product(space: Region, time: Patchwork) -> tuple[Patch, ...]:
    """The patches of a product of a region of space and one of time."""
    return tuple(_times(one, other) for one in _cover(space) for other in time.patches)


def _times(space: Patch, time: Patch) -> Patch:
    """The product of two patches; where one has normals, these are normals of the product."""
    split = len(space.sides)

    def place(t: FloatArray) -> Points:
        factors = space.place(t[:, :split]), time.place(t[:, split:])
        normals = [np.zeros_like(p.x) if p.normal is None else p.normal for p in factors]
        plain = all(p.normal is None for p in factors)
        return Points(np.hstack([p.x for p in factors]), None if plain else np.hstack(normals))

    inside = space.keeps
    keeps = None if inside is None else lambda t: inside(t[:, :split])
    measure, sides = space.measure * time.measure, space.sides + time.sides
    return Patch(measure, sides, place, keeps=keeps, part=space.part, smooth=space.smooth)
