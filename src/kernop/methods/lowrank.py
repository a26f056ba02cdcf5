"""The full estimator at low rank: randomly pivoted Cholesky of the generalised Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernop.basics.checks import check_integer, check_memory, check_number
from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import check_shape
from kernop.basics.linalg import (
    EPS,
    Cholesky,
    cholesky,
    norms,
    one_thread,
    pivoted_cholesky,
    right_solve_lower,
    solve_lower,
    subtract_product,
    syrk,
)
from kernop.basics.stored import Lower, stored
from kernop.collocation import assembly
from kernop.collocation.functionals import Functionals
from kernop.kernels import Kernel
from kernop.methods.base import Answer, Method, Permutation, RowNumbers, Setting, others, woven
from kernop.methods.expansion import Combination
from kernop.methods.full import KernelFactorisation, finite_squared_norms, ridge, wide_gaussian
from kernop.methods.posterior import Posterior
from kernop.methods.spaces import KernelFunctions
from kernop.methods.weights import repeated


@stored("LowRank")
@dataclass(frozen=True)
class LowRank(Method):
    """The estimator of `Full`, with G replaced by the part of it that stands above the regularisation.

    With rows scaled so that the ridge λN W⁻¹ is the identity, Ĝ ≈ F Fᵀ is grown by columns until
    trace(Ĝ − F Fᵀ) ≤ tol: what is left out is then below the ridge by that factor, and û changes by less. With a very
    small λ, or levels of noise that are very far apart, growth ends earlier, where all that is left is rounding error.

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
        checked = {
            "rank": None if self.rank is None else check_integer("rank", self.rank, least=1),
            "tol": check_number("tol", self.tol, above=0.0),
            "block": check_integer("block", self.block, least=1),
            "seed": check_integer("seed", self.seed, least=0),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def factorise(self, setting: Setting) -> LowRankFactorisation:
        kernel = setting.kernel or wide_gaussian(setting.frame)
        found = ridge(kernel, setting)
        if not found.regularization > 0.0:
            raise fail(ArgumentError, "regularization", "0", "LowRank needs λ > 0: it keeps what stands above λ")
        scales = 1.0 / np.sqrt(found.diagonal)
        scaled = setting.functionals.scaled(scales)
        nothing = np.empty((len(scales), 0), order="F")
        with np.errstate(over="ignore"):
            heights = found.squares / found.diagonal
        if not np.isfinite(np.sum(heights)):
            got = f"{found.regularization:g}, beside which the Gram matrix is infinite"
            raise fail(ArgumentError, "regularization", got, "give a larger λ")
        columns, pivots, left = self.grow(kernel, scaled, nothing, heights)
        if len(pivots) == 0:
            got = f"{found.regularization:g}, above which nothing of the Gram matrix stands"
            raise fail(ArgumentError, "regularization, tol", got, "give smaller ones, or use ko.Full()")
        return LowRankFactorisation(
            expansion=KernelFunctions(kernel, scaled.take(np.sort(pivots)), setting.ansatz),
            regularization=found.regularization,
            weights=found.weights,
            method=self,
            columns=columns,
            scales=scales,
            left=left,
            factor=regularised(columns),
            triangle=columns[pivots],  # lower triangular by construction
            order=np.argsort(pivots),
        )

    @one_thread
    def grow(
        self, kernel: Kernel, functionals: Functionals, f: FloatArray, left: FloatArray
    ) -> tuple[FloatArray, Permutation, FloatArray]:
        """F (N, r) with more columns, as many as ``tol`` asks for; their pivots in the order of choice; what is left.

        ``left`` is the diagonal of Ĝ − F Fᵀ, (N,): at first, without columns, that of Ĝ. F[pivots] is lower
        triangular in the new columns.
        """
        rng = np.random.default_rng(self.seed)
        n, first = f.shape
        limit = self.rank or first + n
        # Below this a pivot is rounding error, and its column noise.
        smallest = max(self.tol / n, 100.0 * EPS * float(np.max(left + np.einsum("ij,ij->i", f, f))))
        pivots = np.empty(0, dtype=np.intp)
        while (known := first + len(pivots)) < limit and left.sum() > self.tol:
            size = min(self.block, limit - known, int(np.count_nonzero(left > smallest)))
            if size == 0:
                break
            f = _with_room(f, known, size)
            chosen = np.sort(rng.choice(n, size=size, replace=False, p=left / left.sum()))
            new = f[:, known : known + size]
            assembly.cross(kernel, functionals, functionals.take(chosen).merged(), out=new)
            subtract_product(new, f[:, :known], f[chosen, :known])
            kept, lower = pivoted_cholesky(new[chosen], smallest)
            if len(kept) == 0:
                break
            added = new[:, : len(kept)]
            added[:] = right_solve_lower(lower, new[:, kept])
            # True but for rounding, and made exact: later rows are solved with F[pivots], and so is û.
            added[pivots], added[chosen[kept]] = 0.0, lower
            pivots = np.concatenate([pivots, chosen[kept]])
            left = np.maximum(0.0, left - np.einsum("ij,ij->i", added, added))
            left[pivots] = 0.0
        return f[:, : first + len(pivots)], pivots, left


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


@stored("low rank", by_value=False)
@dataclass(kw_only=True, frozen=True, eq=False)
class LowRankFactorisation(KernelFactorisation):
    """û = Σ β_j P_j K over the pivots, β = T⁻ᵀ (I + FᵀF)⁻¹ Fᵀ S h, T = F[pivots]."""

    method: LowRank
    columns: FloatArray
    left: FloatArray  # the diagonal of Ĝ − F Fᵀ
    triangle: Lower

    def check(self) -> None:
        super().check()
        count = len(self.expansion)
        check_shape("columns", self.columns, self.size, count)
        check_shape("left", self.left, self.size)
        check_shape("triangle", self.triangle, count, count)

    @property
    def rank(self) -> int:
        """The number of pivots."""
        return self.columns.shape[1]

    def answer(self, h: FloatArray) -> Answer:
        """û = φ(x)ᵀ y with the features φ = T⁻¹ P K(pivots) and y = (I + FᵀF)⁻¹ Fᵀ S h."""
        scaled = self.scales[:, None] * h
        y = self.factor.solve(self.columns.T @ scaled)
        # S = √W / √(λN): the data are in units of the noise.
        unit = np.sqrt(self.regularization * len(h))
        u = Combination(self.expansion, y, self.triangle.T, self._unsorted)
        return Answer(u, unit * norms(scaled - self.columns @ y), unit * norms(scaled))

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        return self.factor.solve(self._features(e)).T, (self.scales[:, None] * self.columns).T

    def posterior(self, left: Functionals) -> Posterior:
        """(K_ij − φ_iᵀ φ_j) + φ_iᵀ (I + FᵀF)⁻¹ φ_j with the features φ = T⁻¹ P K(pivots)."""
        features = self._features(self.expansion.matrix(left))
        return Posterior(self.kernel, left, features, self.factor.half_solve(features))

    def misfit(self, h: FloatArray) -> FloatArray:
        """|y − F z|² + |z|² with y = S h and z = (I + FᵀF)⁻¹ Fᵀ y: a sum, where yᵀ (I + F Fᵀ)⁻¹ y would cancel."""
        y = self.scales[:, None] * h
        z = self.factor.solve(self.columns.T @ y)
        left = y - self.columns @ z
        return np.einsum("ij,ij->j", left, left) + np.einsum("ij,ij->j", z, z)

    def extended(self, functionals: Functionals, new: RowNumbers) -> LowRankFactorisation:
        """Rows F_new = Ĝ[new, pivots] T⁻ᵀ, then more columns if ``tol`` asks for them; O(n r²), and O(N r) for each.

        The ridge λN W⁻¹ of the old rows stays.
        """
        n, rank, total = len(self.scales), self.rank, len(functionals)
        scales = np.sqrt(repeated(self.weights, functionals) / (self.regularization * n))
        scaled = functionals.scaled(scales)
        fresh = scaled.take(new)
        rows = self._features(self.expansion.matrix(fresh)).T
        rest = np.maximum(0.0, finite_squared_norms(self.kernel, fresh) - np.einsum("ij,ij->i", rows, rows))
        columns, pivots, left = self.method.grow(
            self.kernel, scaled, woven(self.columns, rows, new), woven(self.left, rest, new)
        )
        # More pivots behind the others, in one block, lest many small updates leave many small blocks.
        both = self.expansion.functionals.blocks + scaled.take(np.sort(pivots)).blocks
        functionals = Functionals(both).merged() if len(pivots) else self.expansion.functionals
        return replace(
            self,
            expansion=replace(self.expansion, functionals=functionals),
            regularization=self.regularization * n / total,
            columns=columns,
            scales=scales,
            left=left,
            factor=_with_columns(self.factor.plus(rows), columns),
            triangle=np.vstack([np.pad(self.triangle, ((0, 0), (0, len(pivots)))), columns[pivots]]),
            order=np.concatenate([self.order, rank + np.argsort(pivots)]),
        )

    def without(self, functionals: Functionals, gone: RowNumbers) -> LowRankFactorisation:
        """Rows of F are dropped, and I + FᵀF is computed again: O(N r²). Pivots without a point stay in the expansion:
        Ĝ ≈ F Fᵀ holds for the rows that are left."""
        n = len(self.scales)
        kept = others(gone, n)
        columns = np.asfortranarray(self.columns[kept])
        return replace(
            self,
            regularization=self.regularization * n / len(kept),
            columns=columns,
            scales=self.scales[kept],
            left=self.left[kept],
            factor=regularised(columns),
        )

    def _features(self, e: FloatArray) -> FloatArray:
        """T⁻¹ eᵀ with the columns of e in the order of the pivots, (r, M)."""
        return solve_lower(self.triangle, e[:, self._unsorted].T)

    @property
    def _unsorted(self) -> Permutation:
        """The inverse of `order`: which function of the expansion each pivot is."""
        return np.argsort(self.order)


def regularised(columns: FloatArray) -> Cholesky:
    """The factor of I + FᵀF."""
    return cholesky(_ridged(columns))[0]


def _ridged(columns: FloatArray) -> FloatArray:
    normal = syrk(columns)
    normal[np.diag_indices(len(normal))] += 1.0
    return normal


def _with_columns(factor: Cholesky, columns: FloatArray) -> Cholesky:
    """The factor of I + FᵀF when it is known for the first columns of F."""
    known = len(factor.lower)
    more = columns[:, known:]
    if more.shape[1] == 0:
        return factor
    return factor.bordered(more.T @ columns[:, :known], _ridged(more))[0]
