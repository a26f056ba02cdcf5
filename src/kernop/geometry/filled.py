"""The inside of a cloud of points: simplices between neighbours, without those that bridge a gap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay, KDTree, QhullError

from kernop.basics.errors import BoolArray, FloatArray
from kernop.geometry.extents import slack

#: Beyond so many dimensions there are too many simplices.
HIGHEST = 3
#: A simplex with points of the inside may be so many times larger than their usual distance from their neighbours, and
#: one with points of the boundary alone, across which there may be a hole, so many times.
WIDE, ACROSS = 4.0, 1.5


@dataclass(frozen=True, eq=False)
class Filled:
    """What points fill: never more than their convex hull.

    Arguments:
        x: the points, (n, d), those of the inside first.
        inner: how many of them lie inside; the others are on the boundary.
        normal: of the others, (n − inner, d), or None.
    """

    x: FloatArray
    inner: int
    normal: FloatArray | None

    @cached_property
    def _scale(self) -> tuple[FloatArray, FloatArray]:
        """An origin, and units in which the points span a cube: time and space do not compare."""
        sides = np.ptp(self.x, axis=0)
        return self.x.min(axis=0), np.where(sides > 0.0, sides, 1.0)

    @cached_property
    def _places(self) -> FloatArray:
        low, units = self._scale
        return (self.x - low) / units

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self._places)

    @cached_property
    def _gaps(self) -> FloatArray:
        """How far the neighbours of each point are, (n,): the mean of 2d of them."""
        k = min(2 * self.x.shape[1] + 1, len(self.x))
        distance = np.asarray(self._tree.query(self._places, k=k)[0]).reshape(len(self.x), -1)
        return distance[:, 1:].mean(axis=1) if k > 1 else np.zeros(len(self.x))

    @cached_property
    def _net(self) -> tuple[Delaunay, BoolArray] | None:
        """The simplices, and which of them are filled; None where there are none."""
        d = self.x.shape[1]
        if not 2 <= d <= HIGHEST or len(self.x) < d + 2:
            return None
        try:
            net = Delaunay(self._places)
        except QhullError:  # all on one line, or in one plane
            return None
        return net, self._kept(np.asarray(net.simplices))

    def _kept(self, simplices: NDArray[np.int32]) -> BoolArray:
        corners = self._places[simplices]
        pairs = corners[:, :, None, :] - corners[:, None, :, :]
        longest = np.sqrt(np.max(np.sum(np.square(pairs), axis=3), axis=(1, 2)))
        usual = np.max(self._gaps[simplices], axis=1)
        rim = np.all(simplices >= self.inner, axis=1)
        kept = longest <= np.where(rim, ACROSS, WIDE) * usual
        if self.normal is None:
            return kept
        middle = corners.mean(axis=1)
        behind = self._behind(middle)
        return np.where(rim, behind & (longest <= WIDE * usual), kept & (behind | (longest <= 2.0 * usual)))

    def _behind(self, places: FloatArray) -> BoolArray:
        """Do points lie behind the boundary point that is nearest?"""
        assert self.normal is not None
        rim = self._places[self.inner :]
        nearest = KDTree(rim).query(places)[1]
        outward = self.normal[nearest] * self._scale[1]  # the normal as a direction in these units
        return np.sum((places - rim[nearest]) * outward, axis=1) <= 0.0

    def inward(self) -> BoolArray:
        """Which normals point, within 60°, to the points of the inside that are nearest? (n − inner,)"""
        near = 2 * self.x.shape[1]
        if self.normal is None or self.inner <= near:
            return np.zeros(len(self.x) - self.inner, dtype=bool)
        rim, (_, units) = self._places[self.inner :], self._scale
        numbers = np.asarray(KDTree(self._places[: self.inner]).query(rim, k=near)[1])
        away = np.mean(self._places[numbers] - rim[:, None, :], axis=1)
        outward = self.normal * units
        length = np.linalg.norm(away, axis=1) * np.linalg.norm(outward, axis=1)
        return np.sum(away * outward, axis=1) > 0.5 * length

    def contains(self, x: FloatArray) -> BoolArray:
        """Which rows of x (m, d) lie in what is filled, or are points of the cloud?"""
        low, units = self._scale
        places = (x - low) / units
        distance, number = self._tree.query(places)
        found = np.asarray(distance) <= np.max(slack(np.zeros(1), np.ones(1)))
        if self.x.shape[1] == 1:
            return found | self._between(places[:, 0])
        if self._net is None:
            within = np.all((places >= 0.0) & (places <= np.ptp(self._places, axis=0)), axis=1)
            return found | (within & (np.asarray(distance) <= self._gaps[number]))
        net, kept = self._net
        simplex = net.find_simplex(places, tol=1e-9)
        return found | ((simplex >= 0) & kept[simplex])

    def _between(self, places: FloatArray) -> BoolArray:
        """On a line: between two neighbours that are not too far apart."""
        order = np.argsort(self._places[:, 0], kind="stable")
        line = self._places[order, 0]
        after = np.searchsorted(line, places, side="right")
        inside = (after > 0) & (after < len(line))
        k = np.clip(after, 1, len(line) - 1)
        first, last = order[k - 1], order[k]
        rim = (first >= self.inner) & (last >= self.inner)
        usual = np.maximum(np.maximum(self._gaps[first], self._gaps[last]), 2.0 * np.median(self._gaps))
        return inside & (line[k] - line[k - 1] <= np.where(rim, ACROSS, WIDE) * usual)
