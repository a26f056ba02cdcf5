"""Polygons in the plane, with holes, and their edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kernop.basics.checks import check_coordinates, check_integer
from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, IntArray, ShapeError, describe, fail
from kernop.basics.extras import needed
from kernop.basics.frozen import frozen
from kernop.basics.stored import stored
from kernop.geometry.domain import Carved
from kernop.geometry.extents import check_extent, slack
from kernop.geometry.patch import Patch
from kernop.geometry.points import Points
from kernop.geometry.region import Patchwork

#: Pairs of a point and an edge that are looked at together.
PAIRS = 2**20


@stored("polygon")
@dataclass(frozen=True, eq=False, repr=False)
class Polygon(Carved):
    """A polygon with holes. Vertices may be given in either direction; the last need not repeat the first.

    Edge i goes from vertex i to vertex i + 1; the edges of the first hole come after those of the outline, and so on.

    Arguments:
        vertices: of the outline, (n, 2).
        holes: the vertices of each hole, (n, 2).
    """

    vertices: FloatArray
    holes: tuple[FloatArray, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.holes, Iterable):
            raise fail(ArgumentError, "holes", describe(self.holes), "give a list of arrays (n, 2)")
        object.__setattr__(self, "vertices", _ring("vertices", self.vertices))
        object.__setattr__(self, "holes", tuple(_ring(f"holes[{k}]", hole) for k, hole in enumerate(self.holes)))
        check_extent("vertices", *self.bounds)
        wrong = _invalid(self.vertices, self.holes)
        if wrong is not None:
            got = f"a polygon that is not one: {wrong}"
            raise fail(ArgumentError, "vertices, holes" if self.holes else "vertices", got, _REMEDY)
        self.check_thickness("vertices")

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    @cached_property
    def segments(self) -> Segments:
        """All edges, of the outline first and then of the holes."""
        rings = [_segments(self.vertices, 1.0), *(_segments(hole, -1.0) for hole in self.holes)]
        return Segments(*map(np.concatenate, zip(*rings, strict=True)))

    def height(self, x: FloatArray) -> FloatArray:
        distance, _, inside = self.segments.seen_from(x)
        return np.where(inside, -distance, distance)

    @property
    def boundary(self) -> Edges:
        """All edges of outline and holes, with outward normals."""
        return Edges(self, tuple(range(len(self.segments.first))))

    def edge(self, *numbers: int) -> Edges:
        """The union of some edges by their numbers, as in ``polygon.edge(0, 2)``."""
        most = len(self.segments.first) - 1
        chosen = [check_integer("edge", number, least=0, most=most) for number in numbers]
        if not chosen:
            raise fail(ArgumentError, "edge", "no number", f"give some of 0 to {most}")
        return Edges(self, tuple(dict.fromkeys(chosen)))

    def __repr__(self) -> str:
        shown = f"{self.vertices.tolist()}" if len(self.vertices) <= 4 else f"<{len(self.vertices)} vertices>"
        return f"Polygon({shown}{f', {len(self.holes)} holes' if self.holes else ''})"


class Segments(NamedTuple):
    """m segments with outward normals: first and last points (m, 2), and normals (m, 2)."""

    first: FloatArray
    last: FloatArray
    normal: FloatArray

    def seen_from(self, x: FloatArray) -> tuple[FloatArray, IntArray, BoolArray]:
        """For each row of x (n, 2): the distance from the nearest segment, its number, and whether x is within all."""
        step = max(1, PAIRS // len(self.first))
        parts = [self._seen(x[start : start + step]) for start in range(0, max(1, len(x)), step)]
        distance, number, inside = zip(*parts, strict=True)
        return np.concatenate(distance), np.concatenate(number), np.concatenate(inside)

    def _seen(self, x: FloatArray) -> tuple[FloatArray, IntArray, BoolArray]:
        (ax, ay), (bx, by) = self.first.T, self.last.T
        px, py = x[:, :1], x[:, 1:]
        dx, dy = bx - ax, by - ay
        t = np.clip(((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy), 0.0, 1.0)
        square = np.square(px - ax - t * dx) + np.square(py - ay - t * dy)
        number = np.argmin(square, axis=1)
        passes = (ay > py) != (by > py)  # the ray to the right meets those that pass its height, to the right of x
        with np.errstate(divide="ignore", invalid="ignore"):
            right = px < ax + (py - ay) / dy * dx
        inside = np.count_nonzero(passes & right, axis=1) % 2 == 1
        return np.sqrt(square[np.arange(len(x)), number]), number, inside


@stored("edges")
@dataclass(frozen=True, eq=False, repr=False)
class Edges(Patchwork):
    """Some edges of a polygon. A vertex belongs to one of them, and has that edge's normal.

    Arguments:
        polygon: the polygon.
        numbers: of the edges, each once.
    """

    polygon: Polygon
    numbers: tuple[int, ...]

    def __post_init__(self) -> None:
        known = all(0 <= number < len(self.polygon.segments.first) for number in self.numbers)
        if not self.numbers or not known or len(set(self.numbers)) < len(self.numbers):
            raise fail(ArgumentError, "numbers", describe(self.numbers), "give numbers of edges, each once")

    @property
    def enclosed(self) -> Polygon:
        return self.polygon

    @cached_property
    def _segments(self) -> Segments:
        return Segments(*(own[list(self.numbers)] for own in self.polygon.segments))

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        both = np.concatenate([self._segments.first, self._segments.last])
        return both.min(axis=0), both.max(axis=0)

    @property
    def patches(self) -> tuple[Patch, ...]:
        return tuple(map(_edge, *self._segments))

    def _contains(self, x: FloatArray) -> BoolArray:
        return self._segments.seen_from(x)[0] <= np.max(slack(*self.polygon.bounds))

    def normals(self, x: FloatArray) -> FloatArray | None:
        return self._segments.normal[self._segments.seen_from(x)[1]]

    def __repr__(self) -> str:
        if len(self.numbers) == len(self.polygon.segments.first):
            return f"{self.polygon!r}.boundary"
        return f"{self.polygon!r}.edge({', '.join(map(str, self.numbers))})"


_REMEDY = "give the vertices of a line that closes and does not cross or touch itself, and holes inside it"


def _invalid(shell: FloatArray, holes: Sequence[FloatArray]) -> str | None:
    """What is wrong with a polygon, and where; None if its edges do not cross and its holes lie inside."""
    shapely = needed("shapely", "geometry", "Polygon")
    reason = str(shapely.is_valid_reason(shapely.Polygon(shell, list(holes))))
    if reason == "Valid Geometry":
        return None
    what, _, where = reason.partition("[")
    place = ", ".join(f"{float(number):.4g}" for number in where.rstrip("]").split()) if where else ""
    return what.lower() + (f" at ({place})" if place else "")


def _ring(name: str, value: object) -> FloatArray:
    """The vertices of a closed line, (n, 2); a last one that repeats the first is left out."""
    x = check_coordinates(name, value, 2)
    if len(x) > 1 and np.array_equal(x[0], x[-1]):
        x = x[:-1]
    if len(x) < 3:
        raise fail(ShapeError, name, f"{len(x)} vertices", "give at least 3, as an array (n, 2)")
    low, high = x.min(axis=0), x.max(axis=0)
    lengths = np.linalg.norm(np.roll(x, -1, axis=0) - x, axis=1)
    short = lengths <= 1e-11 * np.max(high - low)
    if np.any(short):
        k = int(np.argmax(short))
        got = f"vertices {k} and {(k + 1) % len(x)} that are the same, ({x[k, 0]:.4g}, {x[k, 1]:.4g})"
        raise fail(ArgumentError, name, got, "give each vertex once")
    long, wide = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)
    if wide <= 1e-11 * long:
        got = f"vertices that enclose no area, from ({low[0]:.4g}, {low[1]:.4g}) to ({high[0]:.4g}, {high[1]:.4g})"
        raise fail(ArgumentError, name, got, "give vertices that are not on one line")
    return frozen(x)


def _segments(ring: FloatArray, sign: float) -> Segments:
    """The edges of a closed line, with normals that point out of it for sign 1, and into it for −1."""
    last = np.roll(ring, -1, axis=0)
    along = (last - ring) / np.linalg.norm(last - ring, axis=1, keepdims=True)
    u, v = (ring - ring[0]).T
    turn = np.sign(u @ np.roll(v, -1) - v @ np.roll(u, -1))
    return Segments(ring, last, sign * turn * np.stack([along[:, 1], -along[:, 0]], axis=1))


def _edge(first: FloatArray, last: FloatArray, normal: FloatArray) -> Patch:
    length = float(np.linalg.norm(last - first))

    def place(t: FloatArray) -> Points:
        return Points(first + t * (last - first), np.tile(normal, (len(t), 1)))

    return Patch(length, (length,), place)
