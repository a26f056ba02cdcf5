"""The two sides of a surface, and limits on it: what coefficients and functions are there, seen from either side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernop.basics.errors import ArgumentError, BoolArray, NumberArray, fail
from kernop.geometry import Points, Region
from kernop.geometry.extents import meet

#: A surface is looked at from so far away, in units of the shortest side of what it encloses …
STEP = 1e-5
#: … and twice and three times as far: with these weights the values there make the limit on it, to third order.
LIMIT = (3.0, -3.0, 1.0)
#: Points of a surface by which it is seen where it lies.
LOOK = 512


@dataclass(frozen=True, eq=False)
class Side:
    """The points of a surface, seen from one side of it.

    Arguments:
        points: the points of the surface.
        near: the same points moved away from it, once, twice and three times as far.
    """

    points: Points
    near: tuple[Points, ...]

    def limit(self, values: Callable[[Points], NumberArray]) -> NumberArray:
        """The limit of values (n, …) on the surface."""
        return np.sum([weight * values(points) for weight, points in zip(LIMIT, self.near, strict=True)], axis=0)


def sides(surface: Region, points: Points, name: str) -> tuple[Side, Side]:
    """The side to which the normals of a surface point, and the other one."""
    if points.normal is None:
        remedy = "give points of the surface, or Points with normals"
        raise fail(ArgumentError, name, "points without normals on an interface", remedy)
    low, high = (surface.enclosed or surface).bounds
    extent = (high - low)[:-1] if surface.timed else high - low
    step = STEP * float(np.min(extent[extent > 0.0]))
    x, normal = points.x, points.normal
    plus, minus = (
        Side(points, tuple(replace(points, x=x + k * sign * step * normal) for k in (1, 2, 3))) for sign in (1.0, -1.0)
    )
    return plus, minus


def boundary_of(region: Region | None) -> Region | None:
    """The whole boundary of a region, if it knows it."""
    found = getattr(region, "boundary", None)
    return found if isinstance(found, Region) else None


def between_domains(surface: Region, points: Points, domains: Sequence[Region]) -> BoolArray:
    """Which points of a surface have one of the domains on either side, (n,)."""
    found = sides(surface, points, "on")
    plus, minus = (np.any([d.contains(side.near[0].x) for d in domains], axis=0) for side in found)
    return plus & minus


def check_closed(surfaces: Sequence[Region], domains: Sequence[Region], name: str) -> None:
    """Raise if interfaces leave open a part of the boundary of what they enclose, inside the domains.

    There nothing would tie u on one side to u on the other.
    """
    enclosed = {id(surface.enclosed): surface.enclosed for surface in surfaces}.values()
    for around in filter(None, map(boundary_of, enclosed)):
        points = around.sample(LOOK)
        held = np.any([own.contains(points.x) for own in surfaces if meet(own.bounds, around.bounds)], axis=0)
        free = between_domains(around, points, domains) & ~held
        if np.any(free):
            place = np.array2string(points.x[np.argmax(free)], precision=3)
            got = f"interfaces that leave open x = {place}, of {around!r}"
            raise fail(ArgumentError, name, got, "state one there too: nothing would tie the two sides together")
