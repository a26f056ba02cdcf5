"""Holes of domains: parts of the complement that a domain surrounds, each with a ball in it.

They are looked for on a grid, so all that must be known of a domain is which points lie in it. What is narrower than a
cell of the grid is not found, and a hole that a channel connects to the outside is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from kernop.basics.errors import BoolArray, FloatArray
from kernop.geometry.sequences import tensor_grid

#: Cells along the longest side of the grid on which holes are looked for, and of that on which one is looked at.
CELLS, CLOSER = {2: 96, 3: 40}, {2: 64, 3: 20}

#: Tells of each row of x (n, d) in which part of a domain it lies, from 0; −1 for none.
Which = Callable[[FloatArray], NDArray[np.integer]]


@dataclass(frozen=True, eq=False)
class Hole:
    """A ball in a hole, about the largest.

    Arguments:
        centre: its centre, (d,).
        radius: its radius.
    """

    centre: FloatArray
    radius: float


def holes_in(which: Which, parts: int, low: FloatArray, high: FloatArray) -> tuple[tuple[Hole, ...], ...]:
    """The holes of each part of a domain in the box from low to high, in the plane or in space.

    What lies in another part may be a hole of this one: an inclusion is a hole of what is around it.
    """
    grid = _Grid.over(low, high, CELLS[len(low)])
    found = grid.values(which)
    return tuple(_holes(which, part, grid, found == part) for part in range(parts))


@dataclass(frozen=True, eq=False)
class _Grid:
    """Cells with a first corner and sides (d,) each, so many along each axis."""

    low: FloatArray
    sides: FloatArray
    shape: tuple[int, ...]

    @classmethod
    def over(cls, low: FloatArray, high: FloatArray, most: int) -> _Grid:
        shape = np.maximum(4, np.ceil((high - low) / np.max(high - low) * most)).astype(int)
        return cls(low, (high - low) / shape, tuple(shape.tolist()))

    def values(self, which: Which) -> NDArray[np.integer]:
        """Where the middles of the cells lie, in the shape of the grid."""
        middles = tensor_grid([np.arange(n) + 0.5 for n in self.shape])
        return which(self.low + self.sides * middles).reshape(self.shape)

    def around(self, cells: tuple[slice, ...], most: int) -> _Grid:
        """A finer grid over some cells, and two beyond them on every side."""
        first, last = (np.array([getattr(own, end) for own in cells]) for end in ("start", "stop"))
        return _Grid.over(self.low + (first - 2) * self.sides, self.low + (last + 2) * self.sides, most)


def _holes(which: Which, part: int, grid: _Grid, inside: BoolArray) -> tuple[Hole, ...]:
    """The holes of one part that are seen on a grid."""
    if not np.any(inside):
        return ()
    labels, count = _components(~np.pad(inside, 1))
    cells = [own for k, own in enumerate(ndimage.find_objects(labels), 1) if k != labels.flat[0]]
    assert len(cells) == count - 1
    near = [grid.around(tuple(slice(s.start - 1, s.stop - 1) for s in own), CLOSER[inside.ndim]) for own in cells]
    return tuple(hole for own in near for hole in _balls(own, own.values(which) != part))


def _balls(grid: _Grid, empty: BoolArray) -> list[Hole]:
    """A ball in each component of cells that does not touch the edge of the grid."""
    labels, _ = _components(empty)
    edge = np.ones(empty.shape, dtype=bool)
    edge[(slice(1, -1),) * empty.ndim] = False
    touching = np.unique(labels[edge])
    found = list[Hole]()
    for k in np.setdiff1d(np.unique(labels[labels > 0]), touching).tolist():
        depth = np.asarray(ndimage.distance_transform_edt(labels == k, sampling=grid.sides))
        cell, deepest = float(np.max(grid.sides)), float(np.max(depth))
        if deepest > 2.0 * cell:  # the distance from the middle of a cell beyond the boundary
            middle = np.mean(np.argwhere(depth > deepest - 0.5 * cell), axis=0)
            if empty[tuple(np.round(middle).astype(int))]:
                found.append(Hole(grid.low + grid.sides * (middle + 0.5), deepest - cell))
    return found


def _components(cells: BoolArray) -> tuple[NDArray[np.integer], int]:
    """Connected cells, also across their corners, numbered from 1; 0 elsewhere."""
    labels, count = ndimage.label(cells, np.ones((3,) * cells.ndim))  # pyright: ignore[reportGeneralTypeIssues]
    return labels, count
