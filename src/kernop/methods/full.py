"""The estimator of the Differential Representer Theorem, by Cholesky factorisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernop import gram
from kernop.collocation import Functionals
from kernop.errors import ArgumentError, FloatArray, NonFiniteError, SingularGramError, fail
from kernop.frame import Frame
from kernop.kernels import Gaussian, Kernel
from kernop.linalg import EPS, Cholesky, cholesky
from kernop.methods.base import Expansion, Factorisation, Method, Setting
from kernop.methods.weights import row_weights


@dataclass(frozen=True)
class Full(Method):
    """û = Σ c_i P_i^(1)K with c = (G + λN W⁻¹)⁻¹ h, the minimiser of (1/N) Σ w_i |P_i u − h_i|² + λ‖u‖².

    O(N²) memory and O(N³) time, once. With unit weights and a Gaussian this is the paper's estimator.
    """

    @property
    def default_weights(self) -> str:
        return "unit"

    def derivatives_needed(self, order: int) -> int:
        return 2 * order

    def factorise(self, setting: Setting) -> FullFactorisation:
        functionals, kernel = setting.functionals, setting.kernel or wide_gaussian(setting.frame)
        regularization, squares, diagonal = ridge(kernel, setting)
        scales = normalisation(squares + diagonal)
        unit = functionals.scaled(scales)
        remedy = "use ko.LowRank() for the same estimator, the default ko.Subspace(), or fewer points"
        matrix = gram.gram(kernel, unit, remedy=remedy, tick=setting.tick)
        np.fill_diagonal(matrix, 1.0)
        factor, failed = cholesky(matrix)
        check_pivots(factor, failed, regularization, float(np.mean(1.0 / scales**2)))
        return FullFactorisation(Expansion(kernel, unit), regularization, factor, scales)


@dataclass(frozen=True, eq=False)
class FullFactorisation(Factorisation):
    """S (G + λN W⁻¹) S = L Lᵀ, with S that makes the diagonal 1; the expansion is in the scaled representers."""

    factor: Cholesky
    scales: FloatArray

    def coefficients(self, h: FloatArray) -> FloatArray:
        return self.factor.solve(self.scales[:, None] * h)

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        return (self.factor.solve(e.T).T * self.scales,)

    def variance(self, left: Functionals) -> FloatArray:
        half = self.factor.half_solve(self.expansion.matrix(left).T)
        prior = gram.squared_norms(self.expansion.kernel, left)
        return np.maximum(0.0, prior - np.einsum("ij,ij->j", half, half))


def wide_gaussian(frame: Frame) -> Gaussian:
    """The default kernel of the RKHS estimators: a Gaussian as wide as the problem, axis by axis."""
    return Gaussian(np.maximum(frame.high - frame.low, 1e-3 * frame.units))


def ridge(kernel: Kernel, setting: Setting) -> tuple[float, FloatArray, FloatArray]:
    """λ, G_ii (N,), and the diagonal λN W⁻¹ that λ adds, (N,). By default λN is 1e-12 of the mean of G_ii."""
    squares = gram.squared_norms(kernel, setting.functionals)
    if not np.all(np.isfinite(squares)):
        bad = int(np.argmax(~np.isfinite(squares)))
        got = f"{kernel!r}, whose derivatives at x = y are {squares[bad]} (row {bad})"
        raise fail(NonFiniteError, "kernel", got, "use a kernel with finite derivatives at x = y, such as ko.Gaussian")
    n = len(squares)
    chosen = setting.regularization
    if chosen is None:
        chosen = 1e-12 * float(np.mean(squares)) / n
    return chosen, squares, chosen * n / row_weights(setting.weights, setting.functionals, squares)


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


def check_pivots(factor: Cholesky, failed: int, regularization: float, scale: float) -> None:
    """Refuse a factor whose smallest pivot is rounding error: its solutions would be noise."""
    n = len(factor.lower)
    smallest = -np.inf if failed else float(np.min(factor.pivots))
    # A pivot of 1 carries rounding errors that add up like a random walk of N steps.
    threshold = max(10.0, np.sqrt(n)) * EPS
    if smallest > threshold:
        return
    enough = 1e3 * threshold * scale / n
    found = f"pivot {failed} of {n} is not positive" if failed else f"its smallest pivot is {smallest:.1e} of 1"
    got = f"{regularization:g}, with which the Gram matrix is singular to working precision ({found})"
    remedy = (
        f"give regularization={enough:.0e} or more, a shorter lengthscale, or fewer points; or remove duplicate points"
    )
    raise fail(SingularGramError, "regularization", got, remedy)
