"""The full estimator at low rank: randomly pivoted Cholesky of the generalised Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernop import gram
from kernop.collocation import Functionals
from kernop.errors import ArgumentError, FloatArray, check_integer, check_number, fail
from kernop.kernels import Kernel
from kernop.linalg import (
    EPS,
    Cholesky,
    check_memory,
    cholesky,
    one_thread,
    pivoted_cholesky,
    right_solve_lower,
    solve_lower,
    solve_upper,
    subtract_product,
    syrk,
)
from kernop.methods.base import Expansion, Factorisation, Method, Setting
from kernop.methods.full import ridge, wide_gaussian


@dataclass(frozen=True)
class LowRank(Method):
    """The estimator of `Full`, with G replaced by the part of it that stands above the regularisation.

    With rows scaled so that the ridge λN W⁻¹ is the identity, Ĝ ≈ F Fᵀ is grown by columns until
    trace(Ĝ − F Fᵀ) ≤ tol: what is left out is then below the ridge by that factor, and û changes by less.

    Arguments:
        rank: at most so many columns; None: as many as needed.
        tol: see above.
        block: columns chosen at a time.
        seed: of the random pivots.
    """

    rank: int | None = None
    tol: float = 1e-4
    block: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rank is not None:
            check_integer("rank", self.rank, least=1)
        check_number("tol", self.tol, above=0.0)
        check_integer("block", self.block, least=1)
        check_integer("seed", self.seed, least=0)

    @property
    def default_weights(self) -> str:
        return "unit"

    def derivatives_needed(self, order: int) -> int:
        return 2 * order

    def factorise(self, setting: Setting) -> LowRankFactorisation:
        kernel = setting.kernel or wide_gaussian(setting.frame)
        regularization, squares, diagonal = ridge(kernel, setting)
        if not regularization > 0.0:
            raise fail(ArgumentError, "regularization", "0", "LowRank needs λ > 0: it keeps what stands above λ")
        scales = 1.0 / np.sqrt(diagonal)
        scaled = setting.functionals.scaled(scales)
        with one_thread():
            columns, pivots = self._grow(kernel, scaled, squares / diagonal)
        triangle = columns[pivots]  # lower triangular by construction
        order = np.argsort(pivots)
        normal = syrk(columns)
        normal[np.diag_indices(len(normal))] += 1.0
        factor, _ = cholesky(normal)
        expansion = Expansion(kernel, scaled.take(pivots[order]))
        return LowRankFactorisation(expansion, regularization, columns, scales, factor, triangle, order)

    def _grow(self, kernel: Kernel, functionals: Functionals, left: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
        """F (N, r) and the r pivots, in the order in which they were chosen; F[pivots] is lower triangular.

        ``left`` is what is left of the diagonal: at first, all of it.
        """
        rng = np.random.default_rng(self.seed)
        n = len(functionals)
        limit = n if self.rank is None else min(self.rank, n)
        # Below this a pivot is rounding error, and its column noise.
        smallest = max(self.tol / n, 100.0 * EPS * float(left.max()))
        f = np.empty((n, 0), order="F")
        pivots = np.empty(0, dtype=np.intp)
        while (known := len(pivots)) < limit and left.sum() > self.tol:
            size = min(self.block, limit - known, int(np.count_nonzero(left > smallest)))
            if size == 0:
                break
            f = _with_room(f, known, size)
            chosen = np.sort(rng.choice(n, size=size, replace=False, p=left / left.sum()))
            new = f[:, known : known + size]
            gram.cross(kernel, functionals, functionals.take(chosen).merged(), out=new)
            subtract_product(new, f[:, :known], f[chosen, :known])
            kept, lower = pivoted_cholesky(new[chosen], smallest)
            if len(kept) == 0:
                break
            added = new[:, : len(kept)]
            added[:] = right_solve_lower(lower, new[:, kept])
            pivots = np.concatenate([pivots, chosen[kept]])
            left = np.maximum(0.0, left - np.einsum("ij,ij->i", added, added))
            left[pivots] = 0.0
        return f[:, : len(pivots)], pivots


def _with_room(f: FloatArray, used: int, more: int) -> FloatArray:
    """f (n, capacity) in Fortran order, its first columns ``used``, with a capacity for ``more`` of them."""
    n, capacity = f.shape
    if used + more <= capacity:
        return f
    wanted = max(used + more, 2 * capacity, min(n, 256))
    check_memory("points", n * wanted, f"rank {wanted} for {n} rows", "give a larger λ")
    wider = np.empty((n, wanted), order="F")
    wider[:, :used] = f[:, :used]
    return wider


@dataclass(frozen=True, eq=False)
class LowRankFactorisation(Factorisation):
    """û = Σ β_j P_j K over the pivots, β = T⁻ᵀ (I + FᵀF)⁻¹ Fᵀ S h, T = F[pivots]."""

    columns: FloatArray
    scales: FloatArray
    factor: Cholesky
    triangle: FloatArray
    order: NDArray[np.intp]

    @property
    def rank(self) -> int:
        """The number of pivots."""
        return self.columns.shape[1]

    def coefficients(self, h: FloatArray) -> FloatArray:
        reduced = self.factor.solve(self.columns.T @ (self.scales[:, None] * h))
        return solve_upper(self.triangle.T, reduced)[self.order]

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        return self.factor.solve(self._features(e)).T, (self.scales[:, None] * self.columns).T

    def variance(self, left: Functionals) -> FloatArray:
        features = self._features(self.expansion.matrix(left))
        half = self.factor.half_solve(features)
        known = np.einsum("ij,ij->j", features, features) - np.einsum("ij,ij->j", half, half)
        return np.maximum(0.0, gram.squared_norms(self.kernel, left) - known)

    def _features(self, e: FloatArray) -> FloatArray:
        """T⁻¹ eᵀ with the columns of e in the order of the pivots, (r, M)."""
        unsorted = np.empty_like(self.order)
        unsorted[self.order] = np.arange(len(self.order))
        return solve_lower(self.triangle, e[:, unsorted].T)
