"""Closed surfaces of triangles: their volume, and the distance of points from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import KDTree

from kernop.basics.errors import BoolArray, FloatArray, IntArray
from kernop.geometry.columns import TriangleColumns
from kernop.geometry.triangles import Triangles

#: Triangles are looked for by points on them that are at most this part of the extent apart.
NET = 1.0 / 40
#: Points farther from the surface than so many distances of these points need no exact distance.
EXACT = 4.0
#: Pairs of a point and a triangle that are looked at together.
PAIRS = 2**20
#: Points of the net that are looked at first.
FIRST = 12


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """A closed surface of triangles with outward normals.

    Arguments:
        vertices: (n, 3).
        faces: numbers of vertices, (m, 3), counter-clockwise seen from outside.
    """

    vertices: FloatArray
    faces: IntArray

    @cached_property
    def triangles(self) -> Triangles:
        """The triangles with their corners, in the order of the faces."""
        return Triangles(self.vertices[self.faces])

    @cached_property
    def normals(self) -> FloatArray:
        """The unit normals of the faces, (m, 3)."""
        return self.triangles.crosses / (2.0 * self.triangles.areas[:, None])

    @cached_property
    def volume(self) -> float:
        """Σ (a × b)·c / 6 over all triangles."""
        a, b, c = np.moveaxis(self.triangles.corners - self.vertices.mean(axis=0), 1, 0)
        return float(np.sum(np.cross(a, b) * c) / 6.0)

    @cached_property
    def _extent(self) -> float:
        return float(np.max(np.ptp(self.vertices, axis=0)))

    @cached_property
    def _net(self) -> tuple[KDTree, IntArray, float]:
        """Points on the triangles, the triangle of each, and how far any point of a triangle is from one at most."""
        spacing = NET * self._extent
        corners = self.triangles.corners
        longest = np.max(np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2), axis=1)
        parts = np.maximum(1, np.ceil(longest / spacing)).astype(int)
        found, own = list[FloatArray](), list[IntArray]()
        for number in np.unique(parts):
            rows = np.flatnonzero(parts == number)
            weights = _centroids(int(number))
            found.append(np.einsum("kc,mcd->mkd", weights, corners[rows]).reshape(-1, 3))
            own.append(np.repeat(rows, len(weights)))
        return KDTree(np.concatenate(found)), np.concatenate(own), 2.0 / 3.0 * float(np.max(longest / parts))

    def nearest(self, x: FloatArray) -> tuple[FloatArray, IntArray]:
        """The distance of each row of x (n, 3) from the surface, and a triangle that is nearest.

        Far from the surface the distance is a lower bound.
        """
        tree, own, radius = self._net
        distance, place = map(np.asarray, tree.query(x))
        bound, number = distance, own[place]
        reach = max(EXACT * radius, NET * self._extent)
        distance = np.where(bound > reach, bound - radius, np.inf)
        left, count = np.flatnonzero(bound <= reach), FIRST
        while len(left):  # all points of the net that may belong to a nearer triangle, or as many as there are
            count = min(count, tree.n)
            open_ = list[IntArray]()
            for rows in np.array_split(left, 1 + len(left) * count // PAIRS):
                apart, places = (np.asarray(part).reshape(len(rows), -1) for part in tree.query(x[rows], k=count))
                candidate = own[places]
                exact = _to_triangles(np.repeat(x[rows], count, axis=0), self.triangles.corners[candidate.ravel()])
                best = np.argmin(exact.reshape(candidate.shape), axis=1)
                at = np.arange(len(rows))
                distance[rows], number[rows] = exact.reshape(candidate.shape)[at, best], candidate[at, best]
                open_.append(rows[(apart[:, -1] < distance[rows] + radius) & (count < tree.n)])
            left, count = np.concatenate(open_), 4 * count
        return distance, number

    def touches(self, x: FloatArray, room: float) -> BoolArray:
        """Is a row of x (n, 3) on the surface, or no farther from it than so much?"""
        tree, _, radius = self._net
        found = np.asarray(tree.query(x, distance_upper_bound=radius + room)[0]) < np.inf
        found[found] = self.nearest(x[found])[0] <= room
        return found

    @cached_property
    def _columns(self) -> TriangleColumns:
        return TriangleColumns.of(self.triangles.corners)

    def inside(self, x: FloatArray) -> BoolArray:
        """Does a ray from each row of x (n, 3) cross the surface an odd number of times?"""
        return self._columns.inside(x)


def _centroids(number: int) -> FloatArray:
    """Barycentric coordinates of the centroids of number² equal parts of a triangle, (number², 3)."""
    i, j = np.indices((number, number)).reshape(2, -1)
    up, down = i + j < number, i + j < number - 1
    first = np.stack([i[up] + 1 / 3, j[up] + 1 / 3], axis=1)
    second = np.stack([i[down] + 2 / 3, j[down] + 2 / 3], axis=1)
    uv = np.concatenate([first, second]) / number
    return np.column_stack([1.0 - uv.sum(axis=1), uv])


def _to_triangles(x: FloatArray, corners: FloatArray) -> FloatArray:
    """The distance of each point (n, 3) from its triangle (n, 3, 3)."""
    a, b, c = np.moveaxis(corners, 1, 0)
    u, v, w = b - a, c - a, x - a
    uu, uv, vv, wu, wv = _dot(u, u), _dot(u, v), _dot(v, v), _dot(w, u), _dot(w, v)
    below = uu * vv - uv * uv
    with np.errstate(divide="ignore", invalid="ignore"):
        s, t = (vv * wu - uv * wv) / below, (uu * wv - uv * wu) / below
    within = (below > 0.0) & (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)
    distance = np.sqrt(np.minimum(np.minimum(_to_segments(w, u), _to_segments(w, v)), _to_segments(x - b, c - b)))
    normal = np.cross(u[within], v[within])
    distance[within] = np.abs(_dot(w[within], normal)) / np.sqrt(_dot(normal, normal))
    return distance


def _to_segments(w: FloatArray, along: FloatArray) -> FloatArray:
    """The squared distance of each point (n, 3) from the segment between 0 and its end."""
    t = np.clip(_dot(w, along) / np.maximum(_dot(along, along), 1e-300), 0.0, 1.0)
    apart = w - t[:, None] * along
    return _dot(apart, apart)


def _dot(p: FloatArray, q: FloatArray) -> FloatArray:
    return np.einsum("ij,ij->i", p, q)
