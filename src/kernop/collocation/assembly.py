"""Assembly of generalised Gram matrices P_i^(1) Q_j^(2) K, by tiles of a fixed shape.

Blocks of functionals are padded to whole tiles, so that one compiled function serves every number of points, the
working memory beyond the result is a few tiles, and only one triangle of a symmetric matrix is computed. A small tile
and its transpose come from one compiled function, and so do a kernel with one lengthscale and with one for each axis.
Entries of few functions are computed in NumPy, where the kernel can: a compiled function would wait a hundred times
longer for its compiler than NumPy takes. Last bits differ between the two, and R⁻¹ makes much of them near the rounding
limit, so it is the columns that decide: the functions of a space have the same bits at one point and at many.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal, NamedTuple

import jax
import numpy as np

from kernop.basics.checks import check_memory
from kernop.basics.errors import FloatArray
from kernop.basics.frozen import Kept
from kernop.basics.precision import eagerly
from kernop.basics.progress import Tick
from kernop.collocation.functionals import Block, Functionals
from kernop.kernels import Kernel
from kernop.kernels.derivatives import diagonal, pairwise, plain_diagonal, plain_pairwise
from kernop.language.fields import MultiIndex

#: Tile sides: for a point or two and nothing else, for a few, and for many. Every side more is one more function to
#: compile for each pair of operators: a few rows among others, as the ends of an interval, have none of their own.
TINY, SMALL, LARGE = 8, 64, 512
#: Up to so many columns are computed in NumPy.
FEW = 128
#: Rows of which the norms are computed at once in NumPy.
MANY = 8192


class Tile(NamedTuple):
    """Rows, columns and values of a finished tile, None for zeros; with ``turned``, of its transpose."""

    rows: slice
    cols: slice
    values: Any
    turned: bool


#: The multi-indices of one component of the unknowns in a block, and their coefficients along a strip, (A, side).
Part = dict[int, tuple[tuple[MultiIndex, ...], Any]]


class _Strips:
    """A block cut into strips of equal length, padded by functionals that are zero; component by component."""

    def __init__(self, block: Block, rows: slice, least: int = SMALL) -> None:
        self.block, self.rows, self.dim = block, rows, block.x.shape[1]
        self.side = next(side for side in (least, SMALL, LARGE) if len(block) <= side or side == LARGE)

    @cached_property
    def parts(self) -> list[tuple[slice, Any, Part]]:
        """The rows, places (d, side) and coefficients of each strip, as JAX takes them."""
        block, n, start = self.block, len(self.block), self.rows.start
        # JAX takes a few numbers faster than we could give it an array of its own.
        held = np.ascontiguousarray if n <= SMALL else _held
        padded = -(-n // self.side) * self.side
        x, phi = np.empty((self.dim, padded)), np.zeros((len(block.terms), padded))
        x[:, :n], x[:, n:], phi[:, :n] = block.x.T, block.x[-1:].T, block.coefficients.T
        alphas = {k: tuple(block.terms[j][1] for j in own) for k, own in block.components.items()}

        def strip(i: int) -> tuple[slice, Any, Part]:
            along, inside = slice(start + i, start + min(i + self.side, n)), slice(i, i + self.side)
            parts = {k: (alphas[k], held(phi[own, inside])) for k, own in block.components.items()}
            return along, held(x[:, inside]), parts

        return [strip(i) for i in range(0, padded, self.side)]


def _held(values: FloatArray) -> Any:
    return jax.device_put(np.ascontiguousarray(values))  # jnp.asarray would compile something for each shape


#: Strips that were cut before: the same centres meet many points, and the rows of a growing factor many pivots.
_cut: Kept[Functionals, list[_Strips]] = Kept()


def _strips(functionals: Functionals) -> list[_Strips]:
    if len(functionals) <= TINY:
        return [_Strips(block, rows, TINY) for rows, block in functionals]
    return _cut.of(functionals, lambda: [_Strips(block, rows) for rows, block in functionals])


def _tiles(
    kernel: Kernel, left: list[_Strips], right: list[_Strips], *, upper: bool, quick: bool = False
) -> Iterator[Tile]:
    """Tiles in order of their rows; with ``upper`` only those that reach above the diagonal.

    One tile is computed ahead while the last one is copied out.
    """
    few = sum(len(beside.block) for beside in right) <= FEW
    own = _plain_tiles if kernel.in_numpy and (quick or few) else _compiled_tiles
    waiting: deque[Tile] = deque()
    for above in left:
        for tile in own(kernel, above, right, upper=upper):
            waiting.append(tile)
            if len(waiting) > 1:
                yield waiting.popleft()
    yield from waiting


def _compiled_tiles(kernel: Kernel, above: _Strips, right: list[_Strips], *, upper: bool) -> Iterator[Tile]:
    """The tiles of the rows of one block, by compiled functions."""
    spread = kernel.spread(above.dim)
    for rows, x, phi in above.parts:
        for beside in right:
            for cols, y, psi in beside.parts:
                if upper and cols.stop <= rows.start:
                    continue
                if _turned(above.side, phi, beside.side, psi):
                    yield Tile(rows, cols, _values(spread, y, psi, x, phi), turned=True)
                else:
                    yield Tile(rows, cols, _values(spread, x, phi, y, psi), turned=False)


def _plain_tiles(kernel: Kernel, above: _Strips, right: list[_Strips], *, upper: bool) -> Iterator[Tile]:
    """The same in NumPy, some rows at a time and all columns of a block."""
    for start in range(0, len(above.block), LARGE):
        block = above.block[start : start + LARGE]
        rows = slice(above.rows.start + start, above.rows.start + start + len(block))
        for beside in right:
            if not upper or beside.rows.stop > rows.start:
                yield Tile(rows, beside.rows, _plain(kernel, block, beside.block), turned=False)


def _turned(side: int, phi: Part, other: int, psi: Part) -> bool:
    """Is the transpose of a tile computed? Of two tiles that are each other's, one is, and compiled once for both.

    The rows are the shorter side, or come first by their multi-indices. Tiles of the largest side stay as they are:
    to turn one takes as long as a third of its entries.
    """
    if side == other == LARGE:
        return False
    return (side, [alphas for alphas, _ in phi.values()]) > (other, [alphas for alphas, _ in psi.values()])


def _plain(kernel: Kernel, block: Block, other: Block) -> FloatArray | None:
    """The entries of two blocks in NumPy; None if they have no component in common."""
    values: FloatArray | None = None
    x, y, phi, psi = block.x.T, other.x.T, block.coefficients.T, other.coefficients.T
    for k, one in block.components.items():
        if k in other.components:
            two = other.components[k]
            alphas, betas = tuple(block.terms[j][1] for j in one), tuple(other.terms[j][1] for j in two)
            with np.errstate(all="ignore"):  # as in JAX, what is not finite is told by those who use it
                part = plain_pairwise(kernel, x, phi[one], alphas, y, psi[two], betas)
            values = part if values is None else values + part
    return values


def _values(kernel: Kernel, x: object, phi: Part, y: object, psi: Part) -> Any:
    """Σ_k P_i^(1) Q_j^(2) K over the components that both sides have; components are independent of each other."""
    values = None
    for k, (alphas, coefficients) in phi.items():
        if k in psi:
            part = pairwise(kernel, x, coefficients, alphas, y, psi[k][1], psi[k][0])
            values = part if values is None else values + part
    return values


def _trimmed(tile: Tile) -> FloatArray:
    shape = (tile.rows.stop - tile.rows.start, tile.cols.stop - tile.cols.start)
    if tile.values is None:
        return np.zeros(shape)
    values = np.asarray(tile.values)
    return (values.T if tile.turned else values)[: shape[0], : shape[1]]


def gram(kernel: Kernel, functionals: Functionals, *, remedy: str, tick: Tick | None = None) -> FloatArray:
    """The lower triangle of G_ij = P_i^(1) P_j^(2) K, (N, N) in Fortran order; above the diagonal: undefined."""
    n = len(functionals)
    check_memory("points", n * n, f"{n} points with a Gram matrix of {n} × {n}", remedy)
    if functionals.summed:
        return cross(kernel, functionals, functionals, order="F")
    matrix = np.empty((n, n))
    with eagerly():
        strips = _strips(functionals)
        for tile in _tiles(kernel, strips, strips, upper=True):
            matrix[tile.rows, tile.cols] = _trimmed(tile)
            if tick is not None:
                # The part of the triangle above this row that is done.
                tick(1.0 - (1.0 - tile.rows.stop / n) ** 2)
    return matrix.T  # the upper triangle by rows is the lower one by columns


def cross(
    kernel: Kernel,
    left: Functionals,
    right: Functionals,
    order: Literal["C", "F"] = "C",
    out: FloatArray | None = None,
    quick: bool = False,
) -> FloatArray:
    """P_i^(1) Q_j^(2) K for i in ``left`` and j in ``right``, shape (n, m); by rows, or by columns for LAPACK.

    ``out`` is written to if it is given. With ``quick``, a few rows of many functions are computed in NumPy too.
    """
    n, m = len(left), len(right)
    if out is None:
        check_memory("x", n * m, f"{n} points against {m} functionals", "evaluate fewer points at once")
        out = np.empty((n, m), order=order)
    if left.summed or right.summed:
        return _summed(kernel, left, right, out)
    with eagerly():
        for tile in _tiles(kernel, _strips(left), _strips(right), upper=False, quick=quick and n <= TINY):
            out[tile.rows, tile.cols] = _trimmed(tile)
    return out


def _summed(kernel: Kernel, left: Functionals, right: Functionals, out: FloatArray) -> FloatArray:
    """Entries of rows or columns that are sums, block by block from those at single points."""
    if right.summed:
        parts = cross(kernel, left, right.pointwise)
        for (cols, block), own in zip(right, right.divided(parts, axis=1), strict=True):
            out[:, cols] = block.collected(own, axis=1)
    else:
        parts = cross(kernel, left.pointwise, right)
        for (rows, block), own in zip(left, left.divided(parts), strict=True):
            out[rows] = block.collected(own)
    return out


def apply(kernel: Kernel, left: Functionals, right: Functionals, c: FloatArray) -> FloatArray:
    """Σ_j (P_i^(1) Q_j^(2) K) c_j without holding the matrix; c (m, B) ↦ (n, B)."""
    if left.summed or right.summed:
        return cross(kernel, left, right) @ c
    result = np.zeros((len(left), c.shape[1]))
    with eagerly():
        for tile in _tiles(kernel, _strips(left), _strips(right), upper=False):
            if tile.values is not None:
                result[tile.rows] += _trimmed(tile) @ c[tile.cols]
    return result


def squared_norms(kernel: Kernel, functionals: Functionals) -> FloatArray:
    """The diagonal P_i^(1) P_i^(2) K of the Gram matrix, (N,): in NumPy if the kernel can, which needs no compiling."""
    if functionals.summed:
        return np.concatenate([_own_norms(kernel, block) for block in functionals.blocks])
    if kernel.in_numpy:
        pieces = (block[i : i + MANY] for block in functionals.blocks for i in range(0, len(block), MANY))
        return np.concatenate([_diagonal_of(kernel, piece) for piece in pieces])
    with eagerly():
        parts: list[FloatArray] = []
        for strips in _strips(functionals):
            spread = kernel.spread(strips.dim)
            for rows, x, phi in strips.parts:
                values = sum(diagonal(spread, x, own, alphas) for alphas, own in phi.values())
                parts.append(np.asarray(values)[: rows.stop - rows.start])
    return np.concatenate(parts)


def _diagonal_of(kernel: Kernel, block: Block) -> FloatArray:
    """The squared norms of the rows of a block in NumPy."""
    x, phi, values = block.x.T, block.coefficients.T, np.zeros(len(block))
    for own in block.components.values():
        values += plain_diagonal(kernel, x, phi[own], tuple(block.terms[j][1] for j in own))
    return values


def _own_norms(kernel: Kernel, block: Block) -> FloatArray:
    """The squared norms of the rows of a block, some of which may be sums."""
    if block.starts is None:
        return squared_norms(kernel, Functionals((block,)))
    rows = (Functionals((block[i : i + 1],)) for i in range(len(block)))
    return np.array([cross(kernel, row, row)[0, 0] for row in rows])


def compiled_functions() -> int:
    """How many assembly functions have been compiled in this process."""
    return int(pairwise._cache_size())  # pyright: ignore[reportAttributeAccessIssue]
