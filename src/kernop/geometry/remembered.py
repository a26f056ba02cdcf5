"""Regions whose functions are not known any more: a file holds their points, and no function."""

from __future__ import annotations

import numpy as np

from kernop.basics.checks import check_number
from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, fail
from kernop.basics.stored import storable, stored
from kernop.geometry.box import Box
from kernop.geometry.lookup import Lookup
from kernop.geometry.points import Points, subset
from kernop.geometry.region import Region, Subregion, Where
from kernop.geometry.spacetime import Cylinder, SpaceTime


@stored("part")
class Remembered(Subregion):
    """Those points of a region that were used, where the predicate, or the function, that defines it is lost.

    Arguments:
        base: the region of which it is a part; where that is not known either, the box around it, or the box's faces.
        points: what is known of it; no other point counts as inside.
        measure: that of the part, as it was estimated when the predicate was there.
    """

    known = False

    def __init__(self, base: Region, points: Points, measure: float) -> None:
        super().__init__(base, check_number("measure", measure, above=0.0))
        self.points, self._lookup = points, Lookup(points.x)

    def _contains(self, x: FloatArray) -> BoolArray:
        return self._lookup.rows(x) >= 0

    def normals(self, x: FloatArray) -> FloatArray | None:
        """The stored normals; the points of a region are all that is known of it."""
        return None if self.points.normal is None else self.points.normal[self._lookup.rows(x)]

    def _draw(self, n: int, scheme: str, rng: np.random.Generator) -> Points:
        if n > len(self.points):
            remedy = "ask for at most that many, or load the operator with load(path, problem=…)"
            got = f"{n} points of {self!r}, of which {len(self.points)} were stored"
            raise fail(ArgumentError, "n", got, remedy)
        return subset(self.points, n, scheme, rng)


def remembered(region: Region, points: Points) -> Region:
    """A region as a file can hold it: itself, or these points of it if it is defined by a user's function."""
    if storable(region) and not isinstance(region, Remembered):
        return region
    return Remembered(_around(region), points, region.measure)


def _around(region: Region) -> Region:
    """A region that can be stored, holds this one, and has its dimension; bounds are those of this one if possible."""
    if isinstance(region, Where | Remembered):
        return _around(region.base)
    if storable(region):
        return region
    if isinstance(region, SpaceTime):
        return _cylinder(region)
    if isinstance(region, Cylinder):
        return Cylinder(_cylinder(region.spacetime), region.parts)
    low, high = region.bounds
    box = Box(low, np.where(high > low, high, low + 1.0))
    return box if region.intrinsic_dim == region.dim else box.boundary


def _cylinder(region: SpaceTime) -> SpaceTime:
    return SpaceTime(_around(region.space), region.times)
