"""Meshes to look at: points of a domain and of its boundary, and the simplices between them that lie inside.

They carry no equation. A grid alone would show a curved boundary as a staircase.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import Delaunay

from kernop.basics.checks import check_memory
from kernop.basics.errors import ArgumentError, FloatArray, IntArray, fail
from kernop.basics.frozen import frozen
from kernop.geometry.sequences import tensor_grid
from kernop.views.scene import Scene

#: Simplices that are flatter than this part of a usual one are left out.
FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class Mesh:
    """Points and simplices between them.

    Arguments:
        x: the points, (n, d).
        simplices: the numbers of the corners of each, (m, d + 1).
    """

    x: FloatArray
    simplices: IntArray

    def __post_init__(self) -> None:
        frozen((self.x, self.simplices))


def spots(own: Scene, points: int) -> FloatArray:
    """About so many points of a domain, on a grid, and points of its boundary: (n, d)."""
    check_memory("points", 40 * points * own.dim, f"{points} points", "ask for fewer")
    shape = own.shape_of(points)
    grid = tensor_grid(own.lines(shape))
    around = int(2 * own.dim * max(shape) ** (own.dim - 1))
    return np.concatenate([grid[own.contains(grid)], own.rim(around)])


def mesh_of(own: Scene, points: int) -> Mesh:
    """About so many points of a domain, and the simplices between them."""
    x = spots(own, points)
    if own.dim == 1:
        return _segments(own, np.unique(x, axis=0))
    if len(x) <= own.dim + 1:
        raise nothing_inside(own)
    scaled = (x - own.low) / (own.high - own.low)
    corners = Delaunay(scaled).simplices
    edges = scaled[corners[:, 1:]] - scaled[corners[:, :1]]
    size = np.abs(np.linalg.det(edges))
    kept = size > FLAT * np.median(size)
    kept[kept] = own.contains(x[corners[kept]].mean(axis=1))
    if not kept.any():
        raise nothing_inside(own)
    used, numbers = np.unique(corners[kept], return_inverse=True)
    return Mesh(x[used], numbers.reshape(-1, own.dim + 1).astype(np.intp))


def _segments(own: Scene, x: FloatArray) -> Mesh:
    """On a line: neighbours whose middle lies inside."""
    pairs = np.column_stack([np.arange(len(x) - 1), np.arange(1, len(x))])
    pairs = pairs[own.contains(x[pairs].mean(axis=1))] if len(pairs) else pairs
    if not len(pairs):
        raise nothing_inside(own)
    return Mesh(x, pairs)


def nothing_inside(own: Scene) -> ArgumentError:
    """The error of a cut that misses the domain, or of a domain that is not known."""
    got = f"no point of the domain{f' where {own.where}' if own.where else ''}"
    known = "load the operator with load(path, problem=…), which knows its domain"
    return fail(ArgumentError, "u", got, "cut where the domain is" if own.where else known)
