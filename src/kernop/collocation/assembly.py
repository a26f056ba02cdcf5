"""Assembly of generalised Gram matrices P_i^(1) Q_j^(2) K, by tiles of a fixed shape.

Blocks of functionals are padded to whole tiles, so that one compiled function serves every number of points, the
working memory beyond the result is a few tiles, and only one triangle of a symmetric matrix is computed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

from kernop.basics.errors import FloatArray, check_memory
from kernop.basics.frozen import Kept
from kernop.basics.precision import eagerly
from kernop.basics.progress import Tick
from kernop.collocation.functionals import Functionals
from kernop.kernels import Kernel
from kernop.kernels.derivatives import diagonal, pairwise
from kernop.language.ops import NormalForm

#: Tile sides: for a few points, and for many.
SMALL, LARGE = 64, 512

#: Rows, columns and values of a finished tile.
Tile = tuple[slice, slice, Any]


class _Strips:
    """A block cut into strips of equal length, padded by functionals that are zero."""

    def __init__(self, block: NormalForm, start: int) -> None:
        n = len(block)
        self.side = SMALL if n <= SMALL else LARGE
        self.alphas = block.alphas
        padded = -(-n // self.side) * self.side
        x = np.concatenate([block.x, np.repeat(block.x[-1:], padded - n, axis=0)])
        phi = np.concatenate([block.coefficients, np.zeros((padded - n, len(block.alphas)))])
        self.parts = [
            (
                slice(start + i, start + min(i + self.side, n)),
                jnp.asarray(np.ascontiguousarray(x[i : i + self.side].T)),
                jnp.asarray(np.ascontiguousarray(phi[i : i + self.side].T)),
            )
            for i in range(0, padded, self.side)
        ]


#: Strips that were cut before: the same centres meet many points, and the rows of a growing factor many pivots.
_cut: Kept[Functionals, list[_Strips]] = Kept()


def _strips(functionals: Functionals) -> list[_Strips]:
    return _cut.of(functionals, lambda: [_Strips(block, rows.start) for rows, block in functionals])


def _tiles(kernel: Kernel, left: list[_Strips], right: list[_Strips], *, upper: bool) -> Iterator[Tile]:
    """Tiles in order of their rows; with ``upper`` only those that reach above the diagonal.

    One tile is computed ahead while the last one is copied out.
    """
    waiting: deque[Tile] = deque()
    for above in left:
        for rows, x, phi in above.parts:
            for beside in right:
                for cols, y, psi in beside.parts:
                    if upper and cols.stop <= rows.start:
                        continue
                    values = pairwise(kernel, x, phi, above.alphas, y, psi, beside.alphas)
                    waiting.append((rows, cols, values))
                    if len(waiting) > 1:
                        yield waiting.popleft()
    yield from waiting


def _trimmed(tile: Tile) -> FloatArray:
    rows, cols, values = tile
    return np.asarray(values)[: rows.stop - rows.start, : cols.stop - cols.start]


def gram(kernel: Kernel, functionals: Functionals, *, remedy: str, tick: Tick | None = None) -> FloatArray:
    """The lower triangle of G_ij = P_i^(1) P_j^(2) K, (N, N) in Fortran order; above the diagonal: undefined."""
    n = len(functionals)
    check_memory("points", n * n, f"{n} points with a Gram matrix of {n} × {n}", remedy)
    matrix = np.empty((n, n))
    with eagerly():
        strips = _strips(functionals)
        for tile in _tiles(kernel, strips, strips, upper=True):
            rows, cols, _ = tile
            matrix[rows, cols] = _trimmed(tile)
            if tick is not None:
                # The part of the triangle above this row that is done.
                tick(1.0 - (1.0 - rows.stop / n) ** 2)
    return matrix.T  # the upper triangle by rows is the lower one by columns


def cross(
    kernel: Kernel,
    left: Functionals,
    right: Functionals,
    order: Literal["C", "F"] = "C",
    out: FloatArray | None = None,
) -> FloatArray:
    """P_i^(1) Q_j^(2) K for i in ``left`` and j in ``right``, shape (n, m); by rows, or by columns for LAPACK.

    ``out`` is written to if it is given.
    """
    n, m = len(left), len(right)
    if out is None:
        check_memory("x", n * m, f"{n} points against {m} functionals", "evaluate fewer points at once")
        out = np.empty((n, m), order=order)
    with eagerly():
        for tile in _tiles(kernel, _strips(left), _strips(right), upper=False):
            rows, cols, _ = tile
            out[rows, cols] = _trimmed(tile)
    return out


def apply(kernel: Kernel, left: Functionals, right: Functionals, c: FloatArray) -> FloatArray:
    """Σ_j (P_i^(1) Q_j^(2) K) c_j without holding the matrix; c (m, B) ↦ (n, B)."""
    result = np.zeros((len(left), c.shape[1]))
    with eagerly():
        for tile in _tiles(kernel, _strips(left), _strips(right), upper=False):
            rows, cols, _ = tile
            result[rows] += _trimmed(tile) @ c[cols]
    return result


def squared_norms(kernel: Kernel, functionals: Functionals) -> FloatArray:
    """The diagonal P_i^(1) P_i^(2) K of the Gram matrix, (N,)."""
    with eagerly():
        parts: list[FloatArray] = []
        for strips in _strips(functionals):
            for rows, x, phi in strips.parts:
                parts.append(np.asarray(diagonal(kernel, x, phi, strips.alphas))[: rows.stop - rows.start])
    return np.concatenate(parts)


def compiled_functions() -> int:
    """How many assembly functions have been compiled in this process."""
    return int(pairwise._cache_size())  # pyright: ignore[reportAttributeAccessIssue]
