"""Domains given by a function: where it is negative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from kernop.basics.checks import check_array, check_kind
from kernop.basics.errors import ArgumentError, FloatArray, ShapeError, describe, fail
from kernop.basics.frozen import frozen
from kernop.geometry.domain import Carved, WholeBoundary
from kernop.geometry.extents import check_extent
from kernop.geometry.levelset import NAME, REMEDY, LevelSet
from kernop.geometry.loops import crossings, loop
from kernop.geometry.patch import Patch
from kernop.geometry.points import Points
from kernop.geometry.tetrahedra import triangles
from kernop.geometry.triangles import Triangles

#: Cells along the longest side of the grid on which the boundary is looked for, in the plane and in space.
CELLS = {2: 200, 3: 48}
#: Points of the boundary from which the distance is known; so many of their gaps away it is that of the function.
NET, NEAR = 4096, 4.0


class Implicit(Carved):
    """The domain {x : distance(x) < 0} in the plane or in space.

    ``distance`` is a signed distance, or any function that is negative inside, positive outside, smooth near its zero
    set, and has a slope there; it is written with JAX or with NumPy. Features smaller than 1/200 of the bounds (1/48 in
    space) may be missed. For a domain with corners combine several: ``Implicit(f, …) & Implicit(g, …)``.

    Arguments:
        distance: a function of x (n, d) that returns (n,).
        bounds: lower and upper corner of a box that holds the domain, (d,) each.
    """

    def __init__(self, distance: Callable[[Any], Any], bounds: Any) -> None:
        check_kind(NAME, distance, Callable, REMEDY)
        box = check_array("bounds", bounds, remedy="give two corners, (lo, hi)")
        if box.ndim != 2 or len(box) != 2 or box.shape[1] not in CELLS:
            got = f"an array of shape {box.shape}"
            raise fail(ShapeError, "bounds", got, "give lower and upper corner, each of 2 or 3 numbers")
        if np.any(box[0] >= box[1]):
            raise fail(ArgumentError, "bounds", describe(bounds), "give lo < hi on every axis")
        check_extent("bounds", *box)
        self.function, self._box = distance, frozen(box)
        self.level = LevelSet(distance, float(np.max(box[1] - box[0])), box.shape[1])
        self._volume = np.nan
        _ = self.sheet
        self.check_thickness(NAME)

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        low, high = self._tight
        return low.copy(), high.copy()

    @cached_property
    def dim(self) -> int:
        return self._box.shape[1]

    @cached_property
    def _grid(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values on a grid that is one cell larger than the bounds; its first node, and its cell."""
        sides = self._box[1] - self._box[0]
        counts = np.maximum(8, np.round(CELLS[self.dim] * sides / np.max(sides))).astype(int)
        cell = sides / counts
        low = self._box[0] - 1.07 * cell  # so that nodes are on no round numbers, where a function may vanish
        axes = [low[k] + cell[k] * np.arange(counts[k] + 4) for k in range(self.dim)]
        nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        values = self.level.values(nodes.reshape(-1, self.dim)).reshape(nodes.shape[:-1])
        self._check_closed(nodes, values)
        return values, low, cell

    def _check_closed(self, nodes: FloatArray, values: FloatArray) -> None:
        inside = values < 0.0
        low, high = self._box.tolist()
        if not inside.any():
            got = f"a function that is negative nowhere from {low} to {high}"
            raise fail(ArgumentError, NAME, got, "let it be negative inside, or give the bounds of the domain")
        rim = np.ones_like(inside)
        rim[(slice(1, -1),) * self.dim] = False
        if np.all(inside[rim]):
            got = f"a function that is negative all around the bounds, from {low} to {high}"
            raise fail(ArgumentError, NAME, got, "turn its sign: it is negative inside the domain, positive outside")
        if np.any(inside & rim):
            got = f"a function that is negative beyond the bounds, at {nodes[inside & rim][0].round(4)}"
            remedy = "give bounds that hold the domain, or cut it: Implicit(…) & Box(…)"
            raise fail(ArgumentError, "bounds", got, remedy)

    @cached_property
    def sheet(self) -> tuple[Patch, ...]:
        """The boundary: lines in the plane, one surface in space."""
        values, low, cell = self._grid
        if self.dim == 3:
            return (self._surface(triangles(values, low, cell), float(np.max(cell))),)
        found: list[Patch] = []
        for chain in crossings(values < 0.0):
            i, j, axis = np.array(chain).T
            here, there = values[i, j], values[i + (axis == 0), j + (axis == 1)]
            nodes, rows = low + cell * np.column_stack([i, j]), np.arange(len(chain))
            nodes[rows, axis] += cell[axis] * here / (here - there)  # the zero on an edge, by linear interpolation
            if len(nodes) >= 4:
                found.extend(loop(nodes, self.level))
        return tuple(found)

    def _surface(self, corners: FloatArray, reach: float) -> Patch:
        """Triangles near the zero set, (m, 3, 3), as a patch of it."""
        moved = self.level.found(corners.reshape(-1, 3), reach).reshape(-1, 3, 3)
        net = Triangles.ordered(moved)
        net = Triangles(net.corners[net.areas > 1e-12 * np.max(net.areas)])
        area, self._volume = self._extrapolated(net, reach)

        def place(t: FloatArray) -> Points:
            x = self.level.projected(net.place(t)[0], reach)
            return Points(x, self.level.normals(x))

        return Patch(area, (area**0.5, area**0.5), place, smooth=False)

    def _extrapolated(self, net: Triangles, reach: float) -> tuple[float, float]:
        """The area of the zero set and the volume within: of the triangles, and of four for each, extrapolated."""
        middles = 0.5 * (net.corners + np.roll(net.corners, -1, axis=1))  # of the edges ab, bc, ca
        middles = self.level.projected(middles.reshape(-1, 3), reach).reshape(-1, 3, 3)
        (a, b, c), (p, q, r) = np.moveaxis(net.corners, 1, 0), np.moveaxis(middles, 1, 0)
        four = ((a, p, r), (b, q, p), (c, r, q), (p, q, r))
        finer = Triangles(np.concatenate([np.stack(own, axis=1) for own in four]))
        found: list[tuple[float, float]] = []
        for own in (net, finer):
            place = own.corners.mean(axis=1)
            heights = np.sum((place - 0.5 * self._box.sum(axis=0)) * own.crosses, axis=1)
            outward = np.sign(np.sum(own.crosses * self.level.gradient(place), axis=1))
            found.append((float(np.sum(own.areas)), float(np.sum(heights * outward)) / 6.0))
        area, volume = ((4.0 * fine - coarse) / 3.0 for coarse, fine in zip(*found, strict=True))
        return area, volume

    @cached_property
    def _size(self) -> float:
        return self._volume if self.dim == 3 else super()._size

    @cached_property
    def _tight(self) -> tuple[FloatArray, FloatArray]:
        """Bounds of many points of the boundary, and a little more, within those that are given."""
        t = np.linspace(0.0, 1.0, 257)[:, None] if self.dim == 2 else np.random.default_rng(0).random((20_000, 2))
        x = np.concatenate([patch.place(t).x for patch in self.sheet])
        room = 0.02 * np.max(self._grid[2]) if self.dim == 2 else 0.5 * np.max(self._grid[2])
        low, high = x.min(axis=0) - room, x.max(axis=0) + room
        return np.maximum(low, self._box[0] - 1e-9 * room), np.minimum(high, self._box[1] + 1e-9 * room)

    @cached_property
    def _net(self) -> tuple[KDTree, float]:
        """Points all over the boundary, and how far any point of it is from one, about."""
        x = self.boundary.sample(NET).x
        gap = 2.0 * (self.boundary.measure / NET) ** (1.0 / (self.dim - 1))
        return KDTree(x), gap

    def height(self, x: FloatArray) -> FloatArray:
        tree, gap = self._net
        away = np.asarray(tree.query(x)[0])
        values, distance = self.level.values(x), away - 0.5 * gap
        near = np.flatnonzero(away <= NEAR * gap)
        if len(near):
            slope = np.linalg.norm(self.level.gradient(x[near]), axis=1)
            distance[near] = np.minimum(np.abs(values[near]) / np.maximum(slope, 1e-300), away[near])
        return np.sign(values) * distance

    @property
    def boundary(self) -> ZeroSet:
        """The zero set of the function."""
        return ZeroSet(self)

    def __repr__(self) -> str:
        low, high = self._box.tolist()
        return f"Implicit({getattr(self.function, '__name__', 'function')}, ({low}, {high}))"


@dataclass(frozen=True, eq=False, repr=False)
class ZeroSet(WholeBoundary):
    """The boundary of a domain that is given by a function."""

    domain: Implicit

    @property
    def enclosed(self) -> Implicit:
        return self.domain

    @property
    def patches(self) -> tuple[Patch, ...]:
        return self.domain.sheet

    def normals(self, x: FloatArray) -> FloatArray | None:
        return self.domain.level.normals(x)
