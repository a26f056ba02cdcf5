"""Coverings: points of a set such that no point of the set is far from all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from kernop.basics.errors import ArgumentError, FloatArray
from kernop.geometry import Ball, Box, Interval, Region, SpaceTime
from kernop.geometry.sequences import cell_centres, fair_counts

#: Neighbours that are nearer than this, in cells, tell more about rounding than about slopes.
TOO_NEAR = 0.05
#: Points across every side of a box, however thin, if there are enough of them.
ROWS = 8
#: Cells that are looked at, for each point that was asked for: most of a cube is not near a sphere.
CELLS = 100


class NotApplicableError(ArgumentError):
    """Why there is no bound for a problem."""


@dataclass(frozen=True, eq=False)
class Covering:
    """Points x_i = ξ(p_i) such that every x = ξ(p) of the set that they cover has min_i |p − p_i| ≤ fill.

    Arguments:
        x: the points, (n, d).
        places: p_i, (n, k), in units of a cell along each axis: axes of space and of time do not compare.
        fill: the fill distance in these units.
    """

    x: FloatArray
    places: FloatArray
    fill: float

    def __len__(self) -> int:
        return len(self.x)

    def times(self, other: Covering) -> Covering:
        """The product: covers the product of the two sets."""
        x, places = (
            np.hstack([np.repeat(one, len(other), axis=0), np.tile(two, (len(self), 1))])
            for one, two in ((self.x, other.x), (self.places, other.places))
        )
        return Covering(x, places, float(np.hypot(self.fill, other.fill)))

    def supremum(self, values: FloatArray) -> FloatArray:
        """max_i |r_i| + fill · s for values r (n, B) at the points: (B,).

        s is √k times the steepest slope |r_i − r_j| / |p_i − p_j| between neighbours. If r is nowhere steeper than s,
        as a function of p, this is at least the supremum of |r| over the set.
        """
        return np.max(np.abs(values), axis=0) + self.fill * self.steepness(values)

    def steepness(self, values: FloatArray) -> FloatArray:
        """√k times the steepest slope between neighbours, for each cell: (B,)."""
        n, k = self.places.shape
        if n == 1 or self.fill == 0.0:
            return np.zeros(values.shape[1])
        found = KDTree(self.places).query(self.places, k=min(n, 2 * k + 1))
        distance, near = (np.asarray(part).T[1:] for part in found)
        steepest = np.zeros(values.shape[1])
        for far, j in zip(distance, near, strict=True):
            apart = far > TOO_NEAR
            rise = np.abs(values[apart] - values[j[apart]])
            steepest = np.maximum(steepest, np.max(rise / far[apart, None], axis=0, initial=0.0))
        return np.sqrt(k) * steepest


def inside(domain: Region, number: int) -> Covering:
    """About ``number`` points that cover a box, a ball, or such a space in time."""
    if isinstance(domain, SpaceTime):
        space, moments = _split(number, domain.dim)
        return inside(domain.space, space).times(inside(Interval(*domain.times), moments))
    if isinstance(domain, Ball):
        return _ball(domain, number)
    if isinstance(domain, Box):
        return _grid(*domain.bounds, number)
    raise NotApplicableError(f"{domain!r} has no covering with a known fill distance")


def surface(domain: Region, number: int) -> list[Covering]:
    """Coverings of the pieces of the boundary, about ``number`` points each; of a cylinder, walls and initial slice."""
    if isinstance(domain, SpaceTime):
        space, moments = _split(number, domain.dim - 1)
        clock = inside(Interval(*domain.times), moments)
        start = Covering(np.array([[domain.times[0]]]), np.zeros((1, 0)), 0.0)
        walls = [piece.times(clock) for piece in surface(domain.space, space)]
        return [*walls, inside(domain.space, number).times(start)]
    return [_sphere(domain, number)] if isinstance(domain, Ball) and domain.dim > 1 else _faces(*domain.bounds, number)


def _split(number: int, dim: int) -> tuple[int, int]:
    """How many points of a covering in so many dimensions are for space, and how many for each of them for time."""
    moments = max(2, round(number ** (1.0 / dim)))
    return max(2, number // moments), moments


def _grid(low: FloatArray, high: FloatArray, number: int) -> Covering:
    """The centres of cells of equal angles θ, x = (1 − cos θ)/2 on each side: residuals are largest near edges and
    corners, and there the points are dense, at distances of O(1/n²). None lies on an edge, where data may be infinite.
    """
    counts = fair_counts(number, tuple(high - low), ROWS)
    if min(counts) < 2:
        raise NotApplicableError(f"{number} points do not cover a box in {len(low)} dimensions: two along each side do")
    t = cell_centres(counts)
    return Covering(low + (high - low) * np.sin(0.5 * np.pi * t) ** 2, t * counts, 0.5 * float(np.sqrt(len(low))))


def _faces(low: FloatArray, high: FloatArray, number: int) -> list[Covering]:
    """Each of the 2d faces of a box."""
    pieces: list[Covering] = []
    for axis in range(len(low)):
        free = np.arange(len(low)) != axis
        face = _grid(low[free], high[free], number) if free.any() else Covering(np.zeros((1, 0)), np.zeros((1, 0)), 0.0)
        for end in (low, high):
            x = np.tile(end, (len(face), 1))
            x[:, free] = face.x
            pieces.append(Covering(x, face.places, face.fill))
    return pieces


def _ball(ball: Ball, number: int) -> Covering:
    """Cells of the cube around it; those beyond it are moved to the nearest point of it, which brings all nearer."""
    k, d = max(2, round(number ** (1.0 / ball.dim))), ball.dim
    _check_cells(k**d, d, number)
    cell, fill = 2.0 * ball.radius / k, 0.5 * float(np.sqrt(d))
    x = ball.radius * (2.0 * cell_centres((k,) * d) - 1.0)
    far = np.linalg.norm(x, axis=1, keepdims=True)
    near = far[:, 0] <= ball.radius + fill * cell
    x = (x * np.minimum(1.0, ball.radius / np.maximum(far, 1e-300)))[near]
    return Covering(ball.center + x, x / cell, fill)


def _sphere(ball: Ball, number: int) -> Covering:
    """Points of equal angles on a circle; beyond, cells near the sphere moved onto it, which doubles the distance."""
    d, r = ball.dim, ball.radius
    if d == 2:
        angle = 2.0 * np.pi * (np.arange(number) + 0.5) / number
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return Covering(ball.center + r * circle, circle * number / (2.0 * np.pi), 0.5)
    k = max(3, round((number / (2.0 * d)) ** (1.0 / (d - 1))))  # k^(d−1) cells on each of 2d sides of the cube
    _check_cells((k + 2) ** d, d, number)
    cell, fill = 2.0 * r / k, 0.5 * float(np.sqrt(d))
    x = cell * (np.stack(np.meshgrid(*[np.arange(k + 2)] * d, indexing="ij"), axis=-1).reshape(-1, d) - (k + 1) / 2)
    far = np.linalg.norm(x, axis=1)
    near = (np.abs(far - r) <= fill * cell) & (far > 0.0)
    sphere = r * x[near] / far[near, None]
    return Covering(ball.center + sphere, sphere / cell, 2.0 * fill)


def _check_cells(cells: int, dim: int, number: int) -> None:
    """Raise before more cells are made than a covering of so many points can be worth."""
    if cells > CELLS * number:
        raise NotApplicableError(f"{number} points do not cover a ball in {dim} dimensions: its cube has {cells} cells")
