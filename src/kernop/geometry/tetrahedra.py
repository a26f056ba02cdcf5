"""The surface on which a function vanishes, as triangles: each cell of a grid is cut into six tetrahedra."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray


def triangles(values: FloatArray, low: FloatArray, cell: FloatArray) -> FloatArray:
    """Triangles (m, 3, 3) on which the linear interpolant of values (nx, ny, nz) vanishes.

    Arguments:
        low: the place of the first value, (3,).
        cell: the distances of neighbours along the axes, (3,).
    """
    inside = values < 0.0
    shape = np.array(values.shape)
    count = np.zeros(shape - 1, dtype=int)
    for corner in np.ndindex(2, 2, 2):
        count += inside[tuple(slice(c, c + n - 1) for c, n in zip(corner, shape, strict=True))]
    cells = np.argwhere((count > 0) & (count < 8))
    found: list[FloatArray] = []
    for order in permutations(range(3)):  # a tetrahedron for each way along three edges from one corner to the opposite
        path = np.concatenate([np.zeros((1, 3), dtype=int), np.cumsum(np.eye(3, dtype=int)[list(order)], axis=0)])
        nodes = cells[:, None, :] + path  # (m, 4, 3)
        found.extend(_cut(low + cell * nodes, values[tuple(np.moveaxis(nodes, 2, 0))]))
    return np.concatenate(found) if found else np.zeros((0, 3, 3))


def _cut(x: FloatArray, f: FloatArray) -> list[FloatArray]:
    """The triangles in tetrahedra x (m, 4, 3) with values f (m, 4)."""
    order = np.argsort(f, axis=1)
    x, f = np.take_along_axis(x, order[:, :, None], axis=1), np.take_along_axis(f, order, axis=1)
    below = np.count_nonzero(f < 0.0, axis=1)

    def zero(rows: BoolArray, i: int, j: int) -> FloatArray:
        """The zero between corners i and j."""
        part = f[rows, i] / (f[rows, i] - f[rows, j])
        return x[rows, i] + part[:, None] * (x[rows, j] - x[rows, i])

    one, two, three = (below == k for k in (1, 2, 3))
    square = [zero(two, 0, 2), zero(two, 0, 3), zero(two, 1, 3), zero(two, 1, 2)]
    return [
        np.stack([zero(one, 0, k) for k in (1, 2, 3)], axis=1),
        np.stack([zero(three, k, 3) for k in (0, 1, 2)], axis=1),
        np.stack(square[:3], axis=1),
        np.stack([square[0], square[2], square[3]], axis=1),
    ]
