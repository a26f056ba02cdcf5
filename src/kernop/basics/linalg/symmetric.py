"""Symmetric matrices: Cholesky factors, and what changes of the matrix make of them; eigenvalues."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, eigh, lapack

from kernop.basics.errors import BoolArray, FloatArray, IntArray
from kernop.basics.linalg.threads import threads_for
from kernop.basics.linalg.triangles import PANEL, add_rows, right_solve_lower
from kernop.basics.stored import Lower, stored


@stored("cholesky", by_value=False)
@dataclass(frozen=True, eq=False)
class Cholesky:
    """A = L Lᵀ; ``lower`` holds L in its lower triangle (Fortran order), and leftovers above it."""

    lower: Lower

    def solve(self, b: FloatArray) -> FloatArray:
        """A⁻¹ b for b of shape (N,) or (N, B)."""
        with threads_for(2.0 * b.size * len(b)):
            x, _ = lapack.dpotrs(self.lower, np.asfortranarray(b), lower=1)
        return x

    def half_solve(self, b: FloatArray) -> FloatArray:
        """L⁻¹ b for b of shape (N, B)."""
        with threads_for(float(b.size) * len(b)):
            x, _ = lapack.dtrtrs(self.lower, np.asfortranarray(b), lower=1)
        return x

    def half_solve_transposed(self, b: FloatArray) -> FloatArray:
        """L⁻ᵀ b for b of shape (N, B)."""
        with threads_for(float(b.size) * len(b)):
            x, _ = lapack.dtrtrs(self.lower, np.asfortranarray(b), lower=1, trans=1)
        return x

    @property
    def log_determinant(self) -> float:
        """The logarithm of the determinant of A, log det A = 2 Σ log L_ii."""
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

    def without(self, dropped: BoolArray) -> Cholesky:
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
    with threads_for(len(a) ** 3 / 3.0):
        lower, info = lapack.dpotrf(a, lower=1, overwrite_a=1, clean=0)
    return Cholesky(lower), int(info)


def pivoted_cholesky(a: FloatArray, smallest: float) -> tuple[IntArray, FloatArray]:
    """Rows k of a symmetric A, and lower triangular L with A[k][:, k] = L Lᵀ, as far as pivots exceed ``smallest``."""
    with threads_for(len(a) ** 3 / 3.0):
        packed, order, rank, _ = lapack.dpstrf(np.asfortranarray(a), tol=smallest, lower=1)
    kept = np.asarray(order[:rank] - 1, dtype=np.intp)
    return kept, np.tril(packed[:rank, :rank])


def eigenpairs(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues (N,) and eigenvectors (N, N) of the symmetric matrix whose lower triangle is in ``a``, in place."""
    with threads_for(9.0 * len(a) ** 3):
        return eigh(a, lower=True, driver="evd", overwrite_a=True, check_finite=False)
