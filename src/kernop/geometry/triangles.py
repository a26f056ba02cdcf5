"""Triangles in space as the image of a unit square: points of it are even by area."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray, IntArray

#: Parameters are shifted by this: those of a grid would be those of vertices where triangles are alike.
SHIFT = 0.6180339887498949


@dataclass(frozen=True, eq=False)
class Triangles:
    """m triangles with the corners (m, 3, 3), in an order in which neighbours are near."""

    corners: FloatArray

    @classmethod
    def ordered(cls, corners: FloatArray) -> Triangles:
        """Triangles sorted along a curve that fills space: what is even in their order is so in space."""
        return cls(corners[np.argsort(_along_curve(corners.mean(axis=1)), kind="stable")])

    @cached_property
    def crosses(self) -> FloatArray:
        """(b − a) × (c − a) of each triangle, (m, 3): twice the area, along the normal."""
        a, b, c = np.moveaxis(self.corners, 1, 0)
        return np.cross(b - a, c - a)

    @cached_property
    def areas(self) -> FloatArray:
        """The areas of the triangles, (m,)."""
        return 0.5 * np.linalg.norm(self.crosses, axis=1)

    @cached_property
    def _until(self) -> FloatArray:
        """The part of the area up to the end of each triangle, (m,)."""
        total = np.cumsum(self.areas)
        return total / total[-1]

    def place(self, t: FloatArray) -> tuple[FloatArray, IntArray]:
        """Points for parameters in the unit square, (n, 2) ↦ (n, 3), and the numbers of their triangles, (n,).

        The first parameter chooses the triangle by area; where it is within the triangle's share, and the second, give
        the place in it. So area is preserved.
        """
        first = np.mod(t[:, 0] + SHIFT, 1.0)
        number = np.minimum(np.searchsorted(self._until, first, side="right"), len(self._until) - 1)
        before = np.where(number > 0, self._until[number - 1], 0.0)
        share = np.maximum(self._until[number] - before, 1e-300)
        u, v = np.sqrt(np.clip((first - before) / share, 0.0, 1.0)), t[:, 1]
        weights = np.stack([1.0 - u, u * (1.0 - v), u * v], axis=1)
        return np.einsum("nk,nkd->nd", weights, self.corners[number]), number


def _along_curve(x: FloatArray) -> NDArray[np.int64]:
    """A number for each point (n, 3) that orders them along a curve of cells within cells (Morton's)."""
    low, high = x.min(axis=0), x.max(axis=0)
    cell = np.clip((x - low) / max(float(np.max(high - low)), 1e-300) * 1023.0, 0, 1023).astype(np.int64)
    key = np.zeros(len(x), dtype=np.int64)
    for bit in range(10):
        for axis in range(3):
            key |= ((cell[:, axis] >> bit) & 1) << (3 * bit + axis)
    return key
