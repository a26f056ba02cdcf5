"""The estimator of the Differential Representer Theorem, by Cholesky factorisation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernop.basics.checks import check_memory
from kernop.basics.errors import ArgumentError, FloatArray, NonFiniteError, SingularGramError, fail
from kernop.basics.fitting import check_permutation, check_positive, check_shape
from kernop.basics.linalg import EPS, Cholesky, cholesky, norms, right_solve_lower, right_solve_upper
from kernop.basics.stored import stored
from kernop.collocation import assembly
from kernop.collocation.functionals import Functionals
from kernop.collocation.units import Frame
from kernop.kernels import Gaussian, Kernel
from kernop.methods.base import Answer, Factorisation, Method, Permutation, RowNumbers, Setting, others, woven
from kernop.methods.expansion import Combination
from kernop.methods.posterior import Posterior
from kernop.methods.spaces import KernelFunctions
from kernop.methods.weights import condition_weights, repeated

TOO_LARGE = "use ko.LowRank() for the same estimator, the default ko.Subspace(), or fewer points"


@stored("Full")
@dataclass(frozen=True)
class Full(Method):
    """û = Σ c_i P_i^(1)K with c = (G + λN W⁻¹)⁻¹ h, the minimiser of (1/N) Σ w_i |P_i u − h_i|² + λ‖u‖².

    O(N²) memory and O(N³) time, once. With unit weights and a Gaussian this is the paper's estimator.
    """

    def factorise(self, setting: Setting) -> FullFactorisation:
        functionals, kernel = setting.functionals, setting.kernel or wide_gaussian(setting.frame)
        found = ridge(kernel, setting)
        scales = normalisation(found.squares + found.diagonal)
        unit = functionals.scaled(scales)
        matrix = assembly.gram(kernel, unit, remedy=TOO_LARGE, tick=setting.tick)
        np.fill_diagonal(matrix, 1.0)
        factor, failed = cholesky(matrix)
        check_pivots(factor, failed, found.regularization, scales)
        return FullFactorisation(
            expansion=KernelFunctions(kernel, unit, setting.ansatz),
            regularization=found.regularization,
            weights=found.weights,
            factor=factor,
            scales=scales,
            order=np.arange(len(scales)),
        )


@dataclass(kw_only=True, frozen=True, eq=False)
class KernelFactorisation(Factorisation):
    """One whose functions are those of a kernel, which is the covariance of its prior.

    Arguments:
        factor: the Cholesky factor of what is solved with.
        scales: S, what each row is multiplied by, (N,).
        order: the order of the functions in the factor, (L,).
    """

    expansion: KernelFunctions
    factor: Cholesky
    scales: FloatArray
    order: Permutation

    def check(self) -> None:
        super().check()
        count = len(self.expansion)
        check_positive("scales", self.scales, None)
        check_shape("factor", self.factor.lower, count, count)
        check_permutation("order", self.order, count)

    @property
    def size(self) -> int:
        return len(self.scales)

    @property
    def kernel(self) -> Kernel:
        return self.expansion.kernel

    @property
    def freedom(self) -> int:
        return len(self.scales)

    def log_determinant(self) -> float:
        return self.factor.log_determinant - 2.0 * float(np.sum(np.log(self.scales)))


@stored("full", by_value=False)
@dataclass(kw_only=True, frozen=True, eq=False)
class FullFactorisation(KernelFactorisation):
    """S (G + λN W⁻¹) S = Pᵀ L Lᵀ P, with S that makes the diagonal 1; the expansion is in the scaled representers.

    The permutation P puts rows that came later below those that were there: (P h)_i = h[order[i]].
    """

    def check(self) -> None:
        super().check()
        check_shape("scales", self.scales, len(self.expansion))

    def answer(self, h: FloatArray) -> Answer:
        """û = k_xᵀ L⁻ᵀ y with y = L⁻¹ S h, and h − P û = λN W⁻¹ A⁻¹ h."""
        y = self.factor.half_solve((self.scales[:, None] * h)[self.order])
        u = Combination(self.expansion, y, self.factor.lower.T, self.order)
        weights = repeated(self.weights, self.expansion.functionals)
        left = self.regularization * len(h) * (self.scales / np.sqrt(weights))[:, None] * u.coefficients
        return Answer(u, norms(left), norms(np.sqrt(weights)[:, None] * h))

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        """The first of the two solves is that of `Combination.apply`, to the last bit: rough data make much of it."""
        half = right_solve_upper(self.factor.lower.T, e[:, self.order])
        solved = np.empty(e.shape)
        solved[:, self.order] = right_solve_lower(self.factor.lower, half, transposed=False)
        return (solved * self.scales,)

    def posterior(self, left: Functionals) -> Posterior:
        """K_ij − k_iᵀ A⁻¹ k_j with A = G + λN W⁻¹. With a_i = A⁻¹ k_i the noise has the part λN a_iᵀ W⁻¹ a_j of it.

        That part is computed apart, because it does not cancel.
        """
        half = self.factor.half_solve(self.expansion.matrix(left).T[self.order])
        noise = self.regularization * len(self.scales) / repeated(self.weights, self.expansion.functionals)
        roots = (np.sqrt(noise) * self.scales)[self.order]
        spread = roots[:, None] * self.factor.half_solve_transposed(half)
        return Posterior(self.kernel, left, np.vstack([half, spread]), spread)

    def misfit(self, h: FloatArray) -> FloatArray:
        half = self.factor.half_solve((self.scales[:, None] * h)[self.order])
        return np.einsum("ij,ij->j", half, half)

    def extended(self, functionals: Functionals, new: RowNumbers) -> FullFactorisation:
        """Rows below L: L₂₁ = G₂₁ L⁻ᵀ, L₂₂ L₂₂ᵀ = G₂₂ − L₂₁ L₂₁ᵀ; O(N² n). The ridge of the old rows stays."""
        n, total, kernel = len(self.scales), len(functionals), self.kernel
        check_memory("points", total**2, f"{total} points with a Gram matrix of {total} × {total}", TOO_LARGE)
        fresh = functionals.take(new)
        ridge = self.regularization * n / repeated(self.weights, functionals)[new]
        own = normalisation(finite_squared_norms(kernel, fresh) + ridge)
        unit = fresh.scaled(own)
        square = assembly.gram(kernel, unit, remedy=TOO_LARGE)
        np.fill_diagonal(square, 1.0)
        beside = assembly.cross(kernel, unit, self.expansion.functionals)[:, self.order]
        factor, failed = self.factor.bordered(beside, square)
        scales = woven(self.scales, own, new)
        check_pivots(factor, failed, self.regularization * n / total, scales)
        return self._with(functionals, factor, scales, np.concatenate([others(new, total)[self.order], new]))

    def without(self, functionals: Functionals, gone: RowNumbers) -> FullFactorisation:
        """G_SS = L_SS L_SSᵀ + L_SD L_SDᵀ for kept rows S and dropped D: an update of L_SS, stable; O(N² n)."""
        kept = others(gone, len(self.scales))
        dropped = np.isin(self.order, gone)
        order = np.searchsorted(kept, self.order[~dropped])
        return self._with(functionals, self.factor.without(dropped), self.scales[kept], order)

    def _with(
        self, functionals: Functionals, factor: Cholesky, scales: FloatArray, order: Permutation
    ) -> FullFactorisation:
        expansion = replace(self.expansion, functionals=functionals.scaled(scales))
        regularization = self.regularization * len(self.scales) / len(scales)
        return replace(
            self, expansion=expansion, regularization=regularization, factor=factor, scales=scales, order=order
        )


def wide_gaussian(frame: Frame) -> Gaussian:
    """The default kernel of the RKHS estimators: a Gaussian as wide as the problem, axis by axis."""
    return Gaussian(np.maximum(frame.high - frame.low, 1e-3 * frame.units))


@dataclass(frozen=True, eq=False)
class Ridge:
    """λ, the weights of the conditions, G_ii (N,), and the diagonal λN W⁻¹ that λ adds, (N,)."""

    regularization: float
    weights: tuple[float, ...]
    squares: FloatArray
    diagonal: FloatArray


def ridge(kernel: Kernel, setting: Setting) -> Ridge:
    """What λ adds to the diagonal. By default λN is 1e-12 of the mean of G_ii."""
    squares, chosen = finite_squared_norms(kernel, setting.functionals), setting.regularization
    if chosen is None:
        chosen = 1e-12 * float(np.mean(squares)) / len(squares)
    weights = condition_weights(setting.weights, setting.functionals, squares)
    return Ridge(chosen, weights, squares, chosen * len(squares) / repeated(weights, setting.functionals))


def finite_squared_norms(kernel: Kernel, functionals: Functionals) -> FloatArray:
    """G_ii = ‖P_i‖², the squared norms of the functionals, (N,), all finite."""
    squares = assembly.squared_norms(kernel, functionals)
    if not np.all(np.isfinite(squares)):
        bad = int(np.argmax(~np.isfinite(squares)))
        got = f"{kernel!r}, whose derivatives at x = y are {squares[bad]} (row {bad})"
        raise fail(NonFiniteError, "kernel", got, "use a kernel with finite derivatives at x = y, such as ko.Gaussian")
    return squares


def normalisation(diagonal: FloatArray) -> FloatArray:
    """Scales s_i that make the diagonal of the regularised Gram matrix 1.

    The estimator does not change. Pivots then measure, in units of the functional itself, how much of it is not
    already said by the others, so that a singular matrix can be recognised whatever the scales of the conditions.
    """
    if np.any(diagonal <= 0.0):
        row = int(np.argmax(diagonal <= 0.0))
        got = f"a condition that vanishes at a point (row {row})"
        raise fail(ArgumentError, "points", got, "leave out points where all coefficients are 0, or give λ > 0")
    return 1.0 / np.sqrt(diagonal)


def check_pivots(factor: Cholesky, failed: int, regularization: float, scales: FloatArray) -> None:
    """Refuse a factor whose smallest pivot is rounding error: its solutions would be noise."""
    n = len(scales)
    smallest = -np.inf if failed else float(np.min(factor.pivots))
    # A pivot of 1 carries rounding errors that add up like a random walk of N steps.
    threshold = max(10.0, np.sqrt(n)) * EPS
    if smallest > threshold:
        return
    enough = 1e3 * threshold * float(np.mean(1.0 / scales**2)) / n
    found = f"pivot {failed} of {n} is not positive" if failed else f"its smallest pivot is {smallest:.1e} of 1"
    got = f"{regularization:g}, with which the Gram matrix is singular to working precision ({found})"
    remedy = (
        f"give regularization={enough:.0e} or more, a shorter lengthscale, or fewer points; or remove duplicate points"
    )
    raise fail(SingularGramError, "regularization", got, remedy)
