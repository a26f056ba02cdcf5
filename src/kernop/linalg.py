"""Dense linear algebra on the CPU: LAPACK and BLAS through SciPy, in place. The only file that knows them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, eigh, lapack
from threadpoolctl import ThreadpoolController

from kernop.errors import FloatArray

EPS = float(np.finfo(np.float64).eps)


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS uses one thread: for many small products between calls of JAX, whose own threads still
    wait for work and make those of BLAS several times slower."""
    return _threads().limit(limits=1, user_api="blas")


@dataclass(frozen=True, eq=False)
class Cholesky:
    """A = L Lᵀ; ``lower`` holds L in its lower triangle (Fortran order), and leftovers above it."""

    lower: FloatArray

    def solve(self, b: FloatArray) -> FloatArray:
        """A⁻¹ b for b of shape (N,) or (N, B)."""
        x, _ = lapack.dpotrs(self.lower, np.asfortranarray(b), lower=1)
        return x

    def half_solve(self, b: FloatArray) -> FloatArray:
        """L⁻¹ b for b of shape (N, B)."""
        x, _ = lapack.dtrtrs(self.lower, np.asfortranarray(b), lower=1)
        return x

    def half_solve_transposed(self, b: FloatArray) -> FloatArray:
        """L⁻ᵀ b for b of shape (N, B)."""
        x, _ = lapack.dtrtrs(self.lower, np.asfortranarray(b), lower=1, trans=1)
        return x

    @property
    def log_determinant(self) -> float:
        """log det A."""
        return float(np.sum(np.log(self.pivots)))  # rotations may leave L with negative numbers on its diagonal

    @property
    def pivots(self) -> FloatArray:
        """The squared diagonal of L: what was left of each diagonal entry when its turn came."""
        return np.square(np.diagonal(self.lower))

    def plus(self, rows: FloatArray) -> Cholesky:
        """The factor of A + BᵀB for B of shape (m, N), in O(N² m)."""
        upper = np.array(self.lower.T, order="F")
        add_rows(upper, np.array(rows, order="F"))
        return Cholesky(np.asfortranarray(upper.T))

    def bordered(self, beside: FloatArray, corner: FloatArray) -> tuple[Cholesky, int]:
        """The factor of [A bᵀ; b C] for b (m, N) and the lower triangle of C (m, m), in O(N² m); C is lost.

        The second value is 0, or the failing row + 1.
        """
        n, total = len(self.lower), len(self.lower) + len(beside)
        lower = np.empty((total, total), order="F")
        lower[:n, :n] = self.lower
        lower[n:, :n] = left = right_solve_lower(self.lower, beside)
        last, failed = cholesky(blas.dsyrk(-1.0, left, beta=1.0, c=corner, lower=1, overwrite_c=1))
        lower[n:, n:] = last.lower
        return Cholesky(lower), n + failed if failed else 0

    def without(self, dropped: NDArray[np.bool_]) -> Cholesky:
        """The factor of A without some of its rows and columns, in O(N² m): mask (N,) of the m that are dropped.

        With S kept and D dropped, A_SS = L_SS L_SSᵀ + L_SD L_SDᵀ, and rows above the first one dropped stay.
        """
        kept, gone = np.flatnonzero(~dropped), np.flatnonzero(dropped)
        lower = np.take(self.lower.T[kept], kept, axis=1, mode="clip").T  # in Fortran order
        first = gone[0]
        changed = kept[first:]
        below = np.where(changed[:, None] > gone, self.lower[np.ix_(changed, gone)], 0.0)
        _add_columns(lower[first:, first:], below)
        return Cholesky(lower)


def _add_columns(lower: FloatArray, beside: FloatArray) -> None:
    """L becomes L' with L'L'ᵀ = L Lᵀ + B Bᵀ, by orthogonal steps [L B] Q = [L' 0], in place; B (n, m) is lost.

    `add_rows` does this to Lᵀ; here a large L need not be transposed twice, which would cost more than the steps.
    """
    n, m = beside.shape
    for start in range(0, n, size := max(PANEL, m)):
        panel, below = slice(start, start + size), slice(start + size, n)
        width = len(beside[panel])
        q, r = np.linalg.qr(np.hstack([np.tril(lower[panel, panel]), beside[panel]]).T, mode="complete")
        lower[panel, panel] = r[:width].T
        turned = np.hstack([lower[below, panel], beside[below]]) @ q
        lower[below, panel], beside[below] = turned[:, :width], turned[:, width:]


def cholesky(a: FloatArray) -> tuple[Cholesky, int]:
    """Factorise the lower triangle of ``a`` (Fortran order) in place; the second value is 0, or the failing row + 1."""
    lower, info = lapack.dpotrf(a, lower=1, overwrite_a=1, clean=0)
    return Cholesky(lower), int(info)


@dataclass(frozen=True, eq=False)
class Orthogonal:
    """A = Q R for A of shape (m, L), m ≥ L; Q is kept as Householder reflectors below the diagonal of ``packed``."""

    packed: FloatArray
    tau: FloatArray

    @property
    def upper(self) -> FloatArray:
        """R, (L, L), with leftovers below its diagonal."""
        return self.packed[: self.packed.shape[1]]

    @property
    def regular(self) -> bool:
        """Is R invertible, beyond any doubt of rounding?"""
        diagonal = np.abs(np.diagonal(self.upper))
        return bool(np.min(diagonal) > EPS**1.5 * np.max(diagonal))

    def least_squares(self, b: FloatArray) -> FloatArray:
        """argmin |A c − [b; 0]| for b of shape (n, B), n ≤ m: (L, B)."""
        solved, _ = lapack.dtrtrs(self.upper, self.rotated(b), lower=0)
        return solved

    def rotated(self, b: FloatArray) -> FloatArray:
        """The first L rows of Qᵀ [b; 0] for b of shape (n, B), n ≤ m: (L, B)."""
        return self._product("T", b)[: self.packed.shape[1]]

    def remainder(self, b: FloatArray) -> FloatArray:
        """min |A c − [b; 0]|² for each column of b (n, B), n ≤ m: (B,)."""
        return np.sum(np.square(self._product("T", b)[self.packed.shape[1] :]), axis=0)

    def times(self, top: FloatArray) -> FloatArray:
        """Q [top; 0] for top of shape (L, B): (m, B)."""
        return self._product("N", top)

    def _product(self, trans: str, b: FloatArray) -> FloatArray:
        padded = np.zeros((len(self.packed), b.shape[1]), order="F")
        padded[: len(b)] = b
        lwork = 64 * max(1, b.shape[1])
        product, _, _ = lapack.dormqr("L", trans, self.packed, self.tau, padded, lwork=lwork, overwrite_c=1)
        return product

    def columns(self, n: int) -> FloatArray:
        """The first n rows of Q, (n, L): an orthonormal basis of the column space, if n = m."""
        q, _, _ = lapack.dorgqr(self.packed, self.tau, lwork=64 * self.packed.shape[1])
        return q[:n]

    def right_solve(self, e: FloatArray) -> FloatArray:
        """e R⁻¹ for e of shape (M, L)."""
        return right_solve_upper(self.upper, e)


def orthogonal(a: FloatArray) -> Orthogonal:
    """QR factorisation of ``a`` (m, L), m ≥ L, by Householder reflections; ``a`` stays as it is."""
    packed, tau, _, _ = lapack.dgeqrf(np.array(a, order="F"), lwork=64 * a.shape[1], overwrite_a=1)
    return Orthogonal(packed, tau)


def syrk(a: FloatArray) -> FloatArray:
    """The lower triangle of AᵀA in Fortran order, with half of the work of a product; above the diagonal: zeros."""
    return blas.dsyrk(1.0, np.asfortranarray(a), trans=1, lower=1)


#: Columns that dtpqrt eliminates at a time.
PANEL = 32


@dataclass(frozen=True, eq=False)
class Rotation:
    """Orthogonal Q with [R; B] = Q [R'; 0], kept as reflectors: what `add_rows` did to a triangle R."""

    reflectors: FloatArray  # (m, L)
    t: FloatArray

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
    _, reflectors, t, _ = lapack.dtpqrt(0, panel, upper, rows, overwrite_a=1, overwrite_b=1)
    return Rotation(reflectors, t)


def add_triangle(upper: FloatArray, other: FloatArray) -> None:
    """R becomes R' with R'ᵀR' = RᵀR + SᵀS for two upper triangles in Fortran order, in place; S is lost."""
    n = upper.shape[0]
    lapack.dtpqrt(n, min(PANEL, n), upper, other, overwrite_a=1, overwrite_b=1)


def add_square(lower: FloatArray, rows: FloatArray) -> None:
    """G += BᵀB on the lower triangle of G (L, L) in Fortran order, in place; B (m, L) by rows (C order)."""
    blas.dsyrk(1.0, rows.T, beta=1.0, c=lower, lower=1, overwrite_c=1)


def subtract_product(c: FloatArray, a: FloatArray, b: FloatArray) -> None:
    """c −= a bᵀ in place, for a (n, k) and b (m, k); c (n, m) and a in Fortran order."""
    blas.dgemm(-1.0, a, b, beta=1.0, c=c, trans_b=1, overwrite_c=1)


def solve_lower(lower: FloatArray, b: FloatArray) -> FloatArray:
    """L⁻¹ b for a lower triangular L (r, r) and b (r, B)."""
    x, _ = lapack.dtrtrs(np.asfortranarray(lower), np.asfortranarray(b), lower=1)
    return x


def right_solve_lower(lower: FloatArray, b: FloatArray) -> FloatArray:
    """b L⁻ᵀ for a lower triangular L (r, r) and b (n, r)."""
    return blas.dtrsm(1.0, np.asfortranarray(lower), np.asfortranarray(b), side=1, lower=1, trans_a=1)


def solve_upper(upper: FloatArray, b: FloatArray) -> FloatArray:
    """R⁻¹ b for an upper triangular R (r, r) and b (r, B)."""
    x, _ = lapack.dtrtrs(np.asfortranarray(upper), np.asfortranarray(b), lower=0)
    return x


def transpose_solve_upper(upper: FloatArray, b: FloatArray) -> FloatArray:
    """R⁻ᵀ b for an upper triangular R (r, r) and b (r, B)."""
    x, _ = lapack.dtrtrs(np.asfortranarray(upper), np.asfortranarray(b), lower=0, trans=1)
    return x


def right_solve_upper(upper: FloatArray, b: FloatArray) -> FloatArray:
    """b R⁻¹ for an upper triangular R (r, r) and b (n, r), in Fortran order."""
    return blas.dtrsm(1.0, np.asfortranarray(upper), np.asfortranarray(b), side=1, lower=0)


def pivoted_cholesky(a: FloatArray, smallest: float) -> tuple[NDArray[np.intp], FloatArray]:
    """Rows k of a symmetric A, and lower triangular L with A[k][:, k] = L Lᵀ, as far as pivots exceed ``smallest``."""
    packed, order, rank, _ = lapack.dpstrf(np.asfortranarray(a), tol=smallest, lower=1)
    kept = np.asarray(order[:rank] - 1, dtype=np.intp)
    return kept, np.tril(packed[:rank, :rank])


def eigenpairs(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues (N,) and eigenvectors (N, N) of the symmetric matrix whose lower triangle is in ``a``, in place."""
    return eigh(a, lower=True, driver="evd", overwrite_a=True, check_finite=False)


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
