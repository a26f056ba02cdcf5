"""Triangular matrices: solving with them, adding rows to them, storing half of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import check_shape
from kernop.basics.linalg.products import by_columns
from kernop.basics.linalg.threads import threads_for
from kernop.basics.stored import stored

#: Columns that dtpqrt eliminates at a time.
PANEL = 32
#: Products of triangles with at most so many rows are BLAS's.
SMALL = 128


@stored("rotation", by_value=False)
@dataclass(frozen=True, eq=False)
class Rotation:
    """Orthogonal Q with [R; B] = Q [R'; 0], kept as reflectors: what `add_rows` did to a triangle R."""

    reflectors: FloatArray  # (m, L)
    t: FloatArray

    def check(self) -> None:
        """Raise unless reflectors and their triangles have as many columns."""
        check_shape("reflectors", self.reflectors, None, None)
        check_shape("t", self.t, None, self.reflectors.shape[1])
        if len(self.t) > self.t.shape[1]:
            raise fail(ArgumentError, "t", f"an array of {len(self.t)} rows", "write the file again")

    def transpose_times(self, top: FloatArray, below: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Qᵀ [top; below] for top (L, B) and below (m, B)."""
        a, b, _ = lapack.dtpmqrt(
            0, self.reflectors, self.t, np.asfortranarray(top), np.asfortranarray(below), side="L", trans="T"
        )
        return a, b

    def times(self, top: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Q [top; 0] for top (L, B): (L, B) and (m, B)."""
        below = np.zeros((len(self.reflectors), top.shape[1]), order="F")
        a, b, _ = lapack.dtpmqrt(0, self.reflectors, self.t, np.asfortranarray(top), below, side="L", trans="N")
        return a, b


def add_rows(upper: FloatArray, rows: FloatArray) -> Rotation:
    """R becomes R' with R'ᵀR' = RᵀR + BᵀB, in place and without squaring; B (m, L) is lost to the reflectors.

    Both in Fortran order; only the upper triangle of R (L, L) is read and written.
    """
    # A panel that is higher than the rows would mostly keep zeros; a few columns are faster than one.
    panel = min(PANEL, upper.shape[0], max(8, rows.shape[0]))
    with threads_for(2.0 * rows.size * len(upper)):
        _, reflectors, t, _ = lapack.dtpqrt(0, panel, upper, rows, overwrite_a=1, overwrite_b=1)
    return Rotation(reflectors, t)


def add_triangle(upper: FloatArray, other: FloatArray) -> None:
    """R becomes R' with R'ᵀR' = RᵀR + SᵀS for two upper triangles in Fortran order, in place; S is lost."""
    n = upper.shape[0]
    with threads_for(0.5 * n**3):
        lapack.dtpqrt(n, min(PANEL, n), upper, other, overwrite_a=1, overwrite_b=1)


def solve_lower(lower: FloatArray, b: FloatArray) -> FloatArray:
    """L⁻¹ b for a lower triangular L (r, r) and b (r, B)."""
    with threads_for(float(lower.size) * b.shape[1]):
        x, _ = lapack.dtrtrs(np.asfortranarray(lower), np.asfortranarray(b), lower=1)
    return x


def right_solve_lower(lower: FloatArray, b: FloatArray, *, transposed: bool = True) -> FloatArray:
    """b L⁻ᵀ, or b L⁻¹, for a lower triangular L (r, r) and b (n, r)."""
    with threads_for(float(lower.size) * len(b)):
        return blas.dtrsm(1.0, np.asfortranarray(lower), np.asfortranarray(b), side=1, lower=1, trans_a=int(transposed))


def solve_upper(upper: FloatArray, b: FloatArray) -> FloatArray:
    """R⁻¹ b for an upper triangular R (r, r) and b (r, B)."""
    triangle, lower = by_columns(upper)
    with threads_for(float(upper.size) * b.shape[1]):
        x, _ = lapack.dtrtrs(triangle, np.asfortranarray(b), lower=lower, trans=lower)
    return x


def transpose_solve_upper(upper: FloatArray, b: FloatArray) -> FloatArray:
    """R⁻ᵀ b for an upper triangular R (r, r) and b (r, B)."""
    triangle, lower = by_columns(upper)
    with threads_for(float(upper.size) * b.shape[1]):
        x, _ = lapack.dtrtrs(triangle, np.asfortranarray(b), lower=lower, trans=1 - lower)
    return x


def product_of_upper(one: FloatArray, other: FloatArray) -> FloatArray:
    """R S for two upper triangular (r, r), with zeros below their diagonals; by halves: BLAS knows one to be so."""
    n, half = len(one), len(one) // 2
    if n <= SMALL:
        return blas.dtrmm(1.0, np.asfortranarray(one), np.asfortranarray(other))
    found = np.zeros((n, n), order="F")
    found[:half, :half] = product_of_upper(one[:half, :half], other[:half, :half])
    found[half:, half:] = product_of_upper(one[half:, half:], other[half:, half:])
    np.matmul(one[:half], other[:, half:], out=found[:half, half:])
    return found


#: `right_solve_upper` solves multiples of so many rows. OpenBLAS has kernels of 4, 8, 12 and 24 columns: with 24 the
#: last bit of a row does not depend on which of them it meets.
ROWS = 24
#: Rows that it solves at a time: R is read from memory once for all of them.
TOGETHER = 20 * ROWS


def right_solve_upper(upper: FloatArray, b: FloatArray) -> FloatArray:
    """b R⁻¹ for an upper triangular R (r, r) and b (n, r), by rows.

    Padded to whole blocks, so that a row has the same bits whatever rows it comes with: near the rounding limit R⁻¹
    makes much of the last bit.
    """
    n, r = b.shape
    solved = np.zeros((-(-n // ROWS) * ROWS, r))
    solved[:n] = b
    triangle, lower = by_columns(upper)
    with threads_for(float(upper.size) * min(n, TOGETHER)):
        for start in range(0, n, TOGETHER):
            block = solved[start : start + TOGETHER]
            block[:] = blas.dtrsm(1.0, triangle, block.T, side=0, lower=lower, trans_a=1 - lower).T
    return solved[:n]


def packed(triangle: FloatArray, *, lower: bool) -> FloatArray:
    """A triangle (n, n) in Fortran order without what lies on the other side of its diagonal, (n (n + 1) / 2,)."""
    return np.concatenate(_columns(triangle, lower))


def unpack(values: FloatArray, triangle: FloatArray, *, lower: bool) -> None:
    """Fill a triangle (n, n) from what `packed` gave; the other side of its diagonal stays."""
    start = 0
    for column in _columns(triangle, lower):
        column[:] = values[start : start + len(column)]
        start += len(column)


def _columns(triangle: FloatArray, lower: bool) -> list[FloatArray]:
    """The columns of a triangle as far as it reaches: views that lie in one piece each."""
    return [triangle[j:, j] if lower else triangle[: j + 1, j] for j in range(len(triangle))]
