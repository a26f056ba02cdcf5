"""Dense linear algebra on the CPU: LAPACK and BLAS through SciPy, in place. The only file that knows them."""

from __future__ import annotations

import math
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, eigh, lapack
from threadpoolctl import ThreadpoolController

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import check_shape
from kernop.basics.frozen import frozen
from kernop.basics.stored import Lower, stored

EPS = float(np.finfo(np.float64).eps)
#: Between this number and its inverse squares keep all digits.
SAFE = 1e-140


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


class _Limit:
    """The limit of BLAS to one thread is one setting of the process: the first who asks sets it, the last lifts it."""

    def __init__(self) -> None:
        self._lock, self._users, self._context = threading.Lock(), 0, None

    def enter(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._context: Any = _threads().limit(limits=1, user_api="blas")
                self._context.__enter__()

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._context.__exit__(None, None, None)


_limit = _Limit()


@contextmanager
def one_thread() -> Generator[None]:
    """A context in which BLAS uses one thread: for many small products between calls of JAX, whose own threads still
    wait for work and make those of BLAS several times slower."""
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


@stored("cholesky", by_value=False)
@dataclass(frozen=True, eq=False)
class Cholesky:
    """A = L Lᵀ; ``lower`` holds L in its lower triangle (Fortran order), and leftovers above it."""

    lower: Lower

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


#: Reflectors that are applied together.
BLOCK = 64


@stored("orthogonal", by_value=False)
@dataclass(frozen=True, eq=False)
class Orthogonal:
    """A = Q R for A of shape (m, L), m ≥ L, with Q = Π_p (I − V_p T_p V_pᵀ) over panels p of at most 64 columns.

    All products are NumPy's and only read: LAPACK's own `ormqr` writes to the reflectors while it applies them, and
    another thread would see that.

    Arguments:
        packed: R above and on the diagonal, the reflectors V below it (their diagonal is 1), (m, L).
        t: the upper triangles T_p side by side, (64, L) or fewer rows.
    """

    packed: FloatArray
    t: FloatArray

    def check(self) -> None:
        """Raise unless R is regular and there is a triangle T for each panel."""
        check_shape("packed", self.packed, None, None)
        rows, count = self.packed.shape
        check_shape("t", self.t, min(BLOCK, count), count)
        if rows < count:
            raise fail(ArgumentError, "packed", f"an array of {rows} rows", "write the file again")
        if not np.all(np.diagonal(self.packed)):
            raise fail(ArgumentError, "packed", "a triangle with a zero on its diagonal", "write the file again")

    @property
    def upper(self) -> FloatArray:
        """R, (L, L), with leftovers below its diagonal."""
        return self.packed[: self.packed.shape[1]]

    @property
    def regular(self) -> bool:
        """Is R invertible, beyond any doubt of rounding?"""
        diagonal = np.abs(np.diagonal(self.upper))
        return bool(np.min(diagonal) > EPS**1.5 * np.max(diagonal))

    def rotated(self, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Qᵀ [b; 0] for b of shape (n, B), n ≤ m: its first L rows, and the others, whose squares are the misfit."""
        c, count = np.zeros((len(self.packed), b.shape[1])), self.packed.shape[1]
        c[: len(b)] = b
        for top, below, triangle, tail, t in self._panels():
            self._reflect(c, top, below, triangle, tail, t.T)
        return c[:count], c[count:]

    def times(self, top: FloatArray) -> FloatArray:
        """Q [top; 0] for top of shape (L, B): (m, B)."""
        c = np.zeros((len(self.packed), top.shape[1]))
        c[: len(top)] = top
        for rows, below, triangle, tail, t in reversed(list(self._panels())):
            self._reflect(c, rows, below, triangle, tail, t)
        return c

    @staticmethod
    def _reflect(
        c: FloatArray, top: slice, below: slice, triangle: FloatArray, tail: FloatArray, t: FloatArray
    ) -> None:
        """c ← c − V t Vᵀ c in place, with V = [triangle; tail] in the rows ``top`` and ``below``."""
        w = t @ (triangle.T @ c[top] + tail.T @ c[below])
        c[top] -= triangle @ w
        c[below] -= tail @ w

    def _panels(self) -> Iterator[tuple[slice, slice, FloatArray, FloatArray, FloatArray]]:
        """The rows of each V_p where it is triangular and below, its values there, and T_p."""
        size, count = self.t.shape
        for start in range(0, count, size):
            columns = slice(start, min(start + size, count))
            triangle, t = self._small[start // size]
            yield columns, slice(columns.stop, None), triangle, self.packed[columns.stop :, columns], t

    @cached_property
    def _small(self) -> list[tuple[FloatArray, FloatArray]]:
        """The unit triangles on top of the V_p, and the T_p, without what else LAPACK keeps beside them."""
        size, count = self.t.shape
        found: list[tuple[FloatArray, FloatArray]] = []
        for start in range(0, count, size):
            stop = min(start + size, count)
            triangle = np.tril(self.packed[start:stop, start:stop], -1)
            np.fill_diagonal(triangle, 1.0)
            found.append((triangle, np.triu(self.t[: stop - start, start:stop])))
        return frozen(found)

    def columns(self, n: int) -> FloatArray:
        """The first n rows of Q, (n, L): an orthonormal basis of the column space, if n = m."""
        size, count = self.t.shape
        tau = self.t[np.arange(count) % size, np.arange(count)]
        q, _, _ = lapack.dorgqr(self.packed, tau, lwork=64 * count)  # works on a copy
        return q[:n]


def orthogonal(a: FloatArray) -> Orthogonal:
    """QR factorisation of ``a`` (m, L), m ≥ L, by Householder reflections; ``a`` stays as it is."""
    packed, t, _ = lapack.dgeqrt(min(BLOCK, a.shape[1]), np.array(a, order="F"), overwrite_a=1)
    return Orthogonal(packed, t)


def blocked(packed: FloatArray, tau: FloatArray) -> Orthogonal:
    """The factorisation whose reflectors are known by their scalars τ (L,) alone, as `geqrf` leaves them.

    T_p follows from (T_p)_jj = τ_j and T_p⁻¹ + T_p⁻ᵀ = V_pᵀ V_p.
    """
    count = packed.shape[1]
    size = min(BLOCK, count)
    t = np.zeros((size, count), order="F")
    for start in range(0, count, size):
        stop = min(start + size, count)
        v = np.tril(packed[start:, start:stop], -1)
        np.fill_diagonal(v, 1.0)
        gram, own = v.T @ v, t[:, start:stop]
        for j, scalar in enumerate(tau[start:stop]):
            own[:j, j] = -scalar * (own[:j, :j] @ gram[:j, j])
            own[j, j] = scalar
    return Orthogonal(packed, t)


def norms(columns: FloatArray) -> FloatArray:
    """The Euclidean norms of columns (n, B): (B,). Also of numbers whose squares leave the range."""
    if columns.shape[1] == 1:
        flat = columns[:, 0]
        with np.errstate(over="ignore"):
            found = np.array([math.sqrt(flat.dot(flat))])
    else:
        found = np.sqrt(np.einsum("ij,ij->j", columns, columns))  # silent where it overflows
    if found.min(initial=1.0) > SAFE and found.max(initial=1.0) < 1.0 / SAFE:
        return found
    size = np.max(np.abs(columns), axis=0, initial=0.0)
    unit = np.where(size > 0.0, size, 1.0)
    return unit * np.linalg.norm(columns / unit, axis=0)


def left_over(size: FloatArray, y: FloatArray) -> FloatArray:
    """√(|h|² − |y|²) of data of norms ``size`` (B,) with coordinates y (L, B): what is orthogonal to the space."""
    part = np.divide(norms(y), size, out=np.zeros_like(size), where=size > 0.0)
    return size * np.sqrt(np.maximum(0.0, 1.0 - part**2))


def syrk(a: FloatArray) -> FloatArray:
    """The lower triangle of AᵀA in Fortran order, with half of the work of a product; above the diagonal: zeros."""
    return blas.dsyrk(1.0, np.asfortranarray(a), trans=1, lower=1)


#: Columns that dtpqrt eliminates at a time.
PANEL = 32


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


def right_solve_lower(lower: FloatArray, b: FloatArray, *, transposed: bool = True) -> FloatArray:
    """b L⁻ᵀ, or b L⁻¹, for a lower triangular L (r, r) and b (n, r)."""
    return blas.dtrsm(1.0, np.asfortranarray(lower), np.asfortranarray(b), side=1, lower=1, trans_a=int(transposed))


def solve_upper(upper: FloatArray, b: FloatArray) -> FloatArray:
    """R⁻¹ b for an upper triangular R (r, r) and b (r, B)."""
    triangle, lower = _by_columns(upper)
    x, _ = lapack.dtrtrs(triangle, np.asfortranarray(b), lower=lower, trans=lower)
    return x


def transpose_solve_upper(upper: FloatArray, b: FloatArray) -> FloatArray:
    """R⁻ᵀ b for an upper triangular R (r, r) and b (r, B)."""
    triangle, lower = _by_columns(upper)
    x, _ = lapack.dtrtrs(triangle, np.asfortranarray(b), lower=lower, trans=1 - lower)
    return x


def _by_columns(upper: FloatArray) -> tuple[FloatArray, int]:
    """R in Fortran order and 0, or its transpose, which is lower triangular, and 1: whichever needs no copy."""
    if upper.flags.c_contiguous and not upper.flags.f_contiguous:
        return upper.T, 1
    return np.asfortranarray(upper), 0


#: Rows that `right_solve_upper` solves at a time. OpenBLAS has kernels of 4, 8, 12 and 24 columns: with 24 the last bit
#: of a row does not depend on which of them it meets.
ROWS = 24


def right_solve_upper(upper: FloatArray, b: FloatArray) -> FloatArray:
    """b R⁻¹ for an upper triangular R (r, r) and b (n, r), by rows.

    Blocks of one size, so that a row has the same bits whatever rows it comes with: near the rounding limit R⁻¹ makes
    much of the last bit.
    """
    n, r = b.shape
    solved = np.zeros((-(-n // ROWS) * ROWS, r))
    solved[:n] = b
    triangle, lower = _by_columns(upper)
    for start in range(0, n, ROWS):
        block = solved[start : start + ROWS]
        block[:] = blas.dtrsm(1.0, triangle, block.T, side=0, lower=lower, trans_a=1 - lower).T
    return solved[:n]


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
