"""Closed surfaces of triangles: their volume, the distance of points from them, and which points are inside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import KDTree

from kernop.basics.errors import BoolArray, FloatArray, IntArray
from kernop.geometry.triangles import Triangles

#: Triangles are looked for by points on them that are at most this part of the extent apart.
NET = 1.0 / 40
#: Points farther from the surface than so many distances of these points need no exact distance.
EXACT = 4.0
#: About so many pairs of a point and a triangle are looked at together.
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


@dataclass(kw_only=True, frozen=True, eq=False)
class TriangleColumns:
    """Triangles by the columns of a grid that they stand over, seen along a direction in which nothing is aligned.

    Arguments:
        turn: the rotation, (3, 3).
        corners: the turned triangles, (m, 3, 3).
        low, cell, count: the grid of columns.
        starts, numbers: the triangles of each column.
    """

    turn: FloatArray
    corners: FloatArray
    low: FloatArray
    cell: FloatArray
    count: int
    starts: IntArray
    numbers: IntArray

    @classmethod
    def of(cls, corners: FloatArray) -> TriangleColumns:
        turn, _ = np.linalg.qr(np.random.default_rng(7).standard_normal((3, 3)))
        corners = corners @ turn
        flat = corners[..., :2]
        low, high = flat.min(axis=(0, 1)), flat.max(axis=(0, 1))
        count = int(np.clip(np.sqrt(len(corners)), 1, 512))
        cell = (high - low) / count
        first = np.clip((flat.min(axis=1) - low) // cell, 0, count - 1).astype(np.intp)
        last = np.clip((flat.max(axis=1) - low) // cell, 0, count - 1).astype(np.intp)
        wide = last - first + 1
        each = wide[:, 0] * wide[:, 1]
        number, within = np.repeat(np.arange(len(corners)), each), _counted(each)
        i = first[number, 0] + within // wide[number, 1]
        j = first[number, 1] + within % wide[number, 1]
        column = i * count + j
        order = np.argsort(column, kind="stable")
        starts = np.searchsorted(column[order], np.arange(count * count + 1))
        return cls(turn=turn, corners=corners, low=low, cell=cell, count=count, starts=starts, numbers=number[order])

    def inside(self, x: FloatArray) -> BoolArray:
        x = x @ self.turn
        place = np.floor((x[:, :2] - self.low) / self.cell)
        over = np.all((place >= 0) & (place < self.count), axis=1)
        column = np.where(over, place[:, 0] * self.count + place[:, 1], 0).astype(np.intp)
        counts = np.where(over, self.starts[column + 1] - self.starts[column], 0)
        odd = np.zeros(len(x), dtype=bool)
        for rows in np.array_split(np.flatnonzero(counts), 1 + np.sum(counts) // PAIRS):
            which = np.repeat(rows, counts[rows])
            numbers = self.numbers[self.starts[column[which]] + _counted(counts[rows])]
            crossed = _above(x[which], self.corners[numbers])
            odd[rows] = np.bincount(which[crossed], minlength=len(x))[rows] % 2 == 1
        return odd


def _above(x: FloatArray, corners: FloatArray) -> BoolArray:
    """Does the upward ray from x (n, 3) cross its triangle (n, 3, 3)? Neighbours agree on the edge between them."""
    flat = corners[..., :2] - x[:, None, :2]
    a, b = flat, np.roll(flat, -1, axis=1)
    swap = (a[..., 0] > b[..., 0]) | ((a[..., 0] == b[..., 0]) & (a[..., 1] > b[..., 1]))
    first, last = np.where(swap[..., None], b, a), np.where(swap[..., None], a, b)
    cross = first[..., 0] * last[..., 1] - first[..., 1] * last[..., 0]
    left = np.where(swap, -1.0, 1.0) * np.where(cross >= 0.0, 1.0, -1.0)
    hit = np.abs(np.sum(left, axis=1)) == 3.0
    signed = np.where(swap, -cross, cross)
    weights = np.roll(signed, -1, axis=1)  # the edge opposite to each corner
    total = np.sum(weights, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        height = np.sum(weights * corners[..., 2], axis=1) / total
    return hit & (total != 0.0) & (height > x[:, 2])


def _counted(counts: IntArray) -> IntArray:
    """0, 1, …, n − 1 for each n of the counts, one after the other."""
    return np.arange(int(np.sum(counts))) - np.repeat(np.cumsum(counts) - counts, counts)
