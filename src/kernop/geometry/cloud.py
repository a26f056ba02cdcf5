"""A domain known only by points: measured, scanned, or made by another program."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kernop.basics.checks import check_coordinates, check_flag
from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, describe, fail
from kernop.basics.stored import stored
from kernop.geometry.extents import LONGEST, SHORTEST
from kernop.geometry.filled import Filled
from kernop.geometry.points import Points, subset
from kernop.geometry.region import PointSet, Predicate, holds
from kernop.geometry.tables import table

#: One normal, and so many as a part of all, may seem to point inward: at a slit the nearest points are those beyond it.
STRAY = 0.05


@stored("point set")
class CloudRegion(PointSet):
    """A finite set of points; sampling takes a subset without repetition.

    Arguments:
        points: all points of the region.
        intrinsic_dim: the dimension of the set that they stand for, d inside and d − 1 on a boundary.
        label: how the region is shown.
    """

    def __init__(self, points: Points, intrinsic_dim: int, label: str) -> None:
        if not 0 <= intrinsic_dim <= points.dim:
            raise fail(ArgumentError, "intrinsic_dim", describe(intrinsic_dim), f"give 0 to {points.dim}")
        super().__init__(points)
        self._intrinsic_dim, self.label = intrinsic_dim, label

    @property
    def intrinsic_dim(self) -> int:
        return self._intrinsic_dim

    def where(self, predicate: Predicate) -> CloudRegion:
        kept = holds(predicate, self.points.x)
        if not np.any(kept):
            remedy = "give one that holds at some points"
            raise fail(ArgumentError, "predicate", f"one that is false at all points of {self!r}", remedy)
        return CloudRegion(self.points[kept], self._intrinsic_dim, f"{self.label}.where(...)")

    def _draw(self, n: int, scheme: str, rng: np.random.Generator) -> Points:
        if n > len(self.points):
            remedy = "ask for at most that many; a cloud cannot make new points"
            raise fail(ArgumentError, "n", f"{n} points of a cloud that has {len(self.points)}", remedy)
        return subset(self.points, n, scheme, rng)

    def __repr__(self) -> str:
        return f"{self.label}(n={len(self.points)}, d={self.dim})"


@stored("cloud")
class PointCloud(CloudRegion):
    """A domain given by interior points, boundary points and, for Neumann conditions, boundary normals.

    A point counts as inside when it lies between points of the cloud that are neighbours (in more than three
    dimensions: nearer to one than that one's neighbours). What is farther apart than usual is a gap, or a hole: the
    inside does not reach across it, nor beyond the points. With ``timed=True`` the last coordinate is time.

    Arguments:
        interior: points inside, (n, d), or the path of a CSV file with d columns.
        boundary: points on the boundary, (m, d), or the path of a CSV file with d columns, or 2d with normals.
        normals: outward unit normals of these, (m, d).
        timed: is the last coordinate time?
    """

    def __init__(self, interior: Any, boundary: Any, normals: Any = None, timed: bool = False) -> None:
        interior, boundary, normals = (
            table(name, Path(value)) if isinstance(value, str | Path) else value
            for name, value in (("interior", interior), ("boundary", boundary), ("normals", normals))
        )
        inner = Points(check_coordinates("interior", interior), timed=check_flag("timed", timed))
        if normals is None and np.shape(boundary)[1:] == (2 * inner.dim,):
            boundary, normals = np.hsplit(np.asarray(boundary), 2)
        outer = Points(check_coordinates("boundary", boundary, inner.dim), normals, inner.timed)
        super().__init__(inner, inner.dim, "PointCloud")
        self._boundary = CloudRegion(outer, inner.dim - 1, "PointCloud.boundary")
        with np.errstate(over="ignore"):
            side = float(np.max(np.subtract(*self.bounds[::-1])))
        if not SHORTEST <= side <= LONGEST:
            got = f"points that span {side:g} at most"
            raise fail(ArgumentError, "interior, boundary", got, "give points that differ, in units of a fitting size")
        self._check_outward()

    def _check_outward(self) -> None:
        """Raise if normals point to where the interior points are, as those do that a program guessed."""
        inward = self._filled.inward()
        if np.count_nonzero(inward) > 1 + STRAY * len(inward):
            got = f"{np.count_nonzero(inward)} of {len(inward)} that point inward, the first at "
            first = np.array2string(self._boundary.points.x[np.argmax(inward)], precision=4)
            raise fail(ArgumentError, "normals", got + first, "give normals that point out of the domain, turned by -1")

    def stored_arguments(self) -> dict[str, object]:
        """The arguments of the constructor."""
        inner, outer = self.points, self._boundary.points
        return {"interior": inner.x, "boundary": outer.x, "normals": outer.normal, "timed": self.timed}

    @property
    def boundary(self) -> CloudRegion:
        """The points of the boundary, as a region."""
        return self._boundary

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        (low, high), (rim_low, rim_high) = super().bounds, self._boundary.bounds
        return np.minimum(low, rim_low), np.maximum(high, rim_high)

    @cached_property
    def _filled(self) -> Filled:
        rim = self._boundary.points
        return Filled(np.concatenate([self.points.x, rim.x]), len(self.points), rim.normal)

    def _contains(self, x: FloatArray) -> BoolArray:
        return self._filled.contains(x)
