"""QR factorisations by Householder reflections."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import check_shape
from kernop.basics.frozen import frozen
from kernop.basics.linalg.products import EPS, product
from kernop.basics.linalg.threads import threads_for
from kernop.basics.stored import stored

#: Reflectors that are applied together.
BLOCK = 64
#: A factorisation that is timed to tell how long others take, (rows, columns); those of less than so many times its
#: operations are not worth it.
TIMED, LARGE = (768, 384), 30.0


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
        """Is R invertible, by more than rounding?"""
        diagonal = np.abs(np.diagonal(self.upper))
        return bool(np.min(diagonal) > EPS**1.5 * np.max(diagonal))

    def rotated(self, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Qᵀ [b; 0] for b of shape (n, B), n ≤ m: its first L rows, and the others, whose squares are the misfit."""
        c, count = self._reflected(b, transposed=True), self.packed.shape[1]
        return c[:count], c[count:]

    def times(self, top: FloatArray) -> FloatArray:
        """Q [top; 0] for top of shape (L, B): (m, B)."""
        return self._reflected(top, transposed=False)

    def _reflected(self, b: FloatArray, *, transposed: bool) -> FloatArray:
        """Q [b; 0], or Qᵀ [b; 0]: c ← c − V_p T_p V_pᵀ c for each p, or with T_pᵀ; V_p is triangular on top."""
        c = np.zeros((len(self.packed), b.shape[1]))
        c[: len(b)] = b
        for columns, triangle, t in self._panels if transposed else reversed(self._panels):
            top, below, tail = c[columns], c[columns.stop :], self.packed[columns.stop :, columns]
            w = (t.T if transposed else t) @ (triangle.T @ top + product(tail.T, below))
            top -= triangle @ w
            below -= product(tail, w)
        return c

    @cached_property
    def _panels(self) -> list[tuple[slice, FloatArray, FloatArray]]:
        """The columns of each V_p, the unit triangle on top of it, and T_p, without what LAPACK keeps beside them."""
        (size, count), found = self.t.shape, list[tuple[slice, FloatArray, FloatArray]]()
        for start in range(0, count, size):
            own = slice(start, min(start + size, count))
            triangle = np.tril(self.packed[own, own], -1)
            np.fill_diagonal(triangle, 1.0)
            found.append((own, triangle, np.triu(self.t[: own.stop - start, own])))
        return frozen(found)

    def columns(self, n: int) -> FloatArray:
        """The first n rows of Q, (n, L): an orthonormal basis of the column space, if n = m."""
        size, count = self.t.shape
        tau = self.t[np.arange(count) % size, np.arange(count)]
        with threads_for(_operations(*self.packed.shape)):
            q, _, _ = lapack.dorgqr(self.packed, tau, lwork=64 * count)  # works on a copy
        return q[:n]


def orthogonal(a: FloatArray, *, overwrite: bool = False) -> Orthogonal:
    """QR factorisation of ``a`` (m, L), m ≥ L, by Householder reflections.

    ``a`` stays as it is, unless it may be overwritten and is in Fortran order.
    """
    own = a if overwrite else np.array(a, order="F")
    with threads_for(_operations(*a.shape)):
        packed, t, _ = lapack.dgeqrt(min(BLOCK, a.shape[1]), own, overwrite_a=1)
    return Orthogonal(packed, t)


def qr_seconds(rows: int, columns: int) -> float:
    """About how long `orthogonal` takes for so large a matrix, now and here: in proportion to a small one.

    0 for matrices that are not large: a fraction of a second.
    """
    share = _operations(rows, columns) / _operations(*TIMED)
    if share < LARGE:
        return 0.0
    small = np.asfortranarray(np.random.default_rng(0).normal(size=TIMED))
    started = time.perf_counter()
    orthogonal(small, overwrite=True)
    return share * (time.perf_counter() - started)


def _operations(rows: int, columns: int) -> float:
    return 2.0 * columns**2 * (rows - columns / 3.0)


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


def orthonormal(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Q (m, L) and R (L, L) with A = Q R, for A (m, L) in Fortran order, m ≥ L, which is lost; other threads run on."""
    count = a.shape[1]
    with threads_for(_operations(*a.shape)):
        packed, tau, _, _ = lapack.dgeqrf(a, lwork=BLOCK * count, overwrite_a=1)
        upper = np.triu(packed[:count])
        q, _, _ = lapack.dorgqr(packed, tau, lwork=BLOCK * count, overwrite_a=1)
    return q, upper
