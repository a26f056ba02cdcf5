"""What the bounds need of the spectrum: the effective rank, and how smooth a solution is in terms of B = P*P.

From N points, B is seen through G/N: with G = U S Uᵀ the eigenvalues are μ_i = S_i/N, and data h = P u has the
coefficients a_i = ⟨u, e_i⟩_H = (Uᵀh)_i / √S_i in the eigenfunctions. Weights are part of P and h.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.checks import check_kind, check_number
from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.linalg import EPS, eigenpairs
from kernop.trust.bounds.inequalities import check_exponent
from kernop.trust.criteria import Spectrum

#: Tails of the sum of a_i² are fitted where μ_i is so many times the smallest that is resolved: nearer to it they
#: are short of what was not resolved.
MARGIN = 100.0


@dataclass(frozen=True, eq=False)
class Source:
    """u = B^γ ψ with ‖ψ‖ ≤ S, as far as data at N points shows; the worst of several columns of data.

    Attributes:
        gamma: γ, from 0 to 1.
        size: S, ‖B^(−γ) u‖_H.
        solution_norm: ‖u‖_H of the part that is resolved, a lower bound that grows with N.
        values: the eigenvalues μ that are resolved, ascending, (r,).
        coefficients: a, (r, B).
    """

    gamma: float
    size: float
    solution_norm: float
    values: FloatArray
    coefficients: FloatArray

    def gap(self, regularization: object) -> float:
        """‖T_λ h − u‖_H = (Σ (λ/(μ_i + λ))² a_i²)^½ of the part that is resolved; at most S λ^γ."""
        lam = check_number("regularization", regularization, above=0.0)
        return _norm(lam / (self.values + lam), self.coefficients)


def source(spectrum: Spectrum, gamma: Any = None) -> Source:
    """The source condition that data fulfils.

    If u = B^γ ψ, the tails R(μ) = (Σ_{μ_i ≤ μ} a_i²)^½ are at most S μ^γ. So γ is the slope of log R against log μ,
    by least squares over the eigenvalues from `MARGIN` times the smallest resolved one up, and at most 1, beyond
    which the bounds do not improve. S is then the norm of ψ = B^(−γ) u over all resolved eigenvalues, so that
    ‖T_λ h − u‖ ≤ S λ^γ is true of the part of u that is resolved, whatever γ. What is not resolved by N points, or
    lies below rounding, is not seen: γ and S are estimates.

    Arguments:
        spectrum: of B, with the data, from `kernop.trust.criteria.spectrum`.
        gamma: γ if it is known; None estimates it.
    """
    _check(spectrum)
    values, coefficients = _resolved(spectrum)
    if not np.any(coefficients):
        raise fail(ArgumentError, "inputs", "data that is zero everywhere", "give data of a solution that is not 0")
    if gamma is None:
        exponent = min(_slope(values, column) for column in coefficients.T if np.any(column))
    else:
        exponent = check_exponent(gamma)
    size = _norm(values**-exponent, coefficients)
    return Source(exponent, size, _norm(np.ones(len(values)), coefficients), values, coefficients)


def effective_rank(spectrum: Spectrum) -> float:
    """r_N = tr V / ‖V‖ of the variance V = E Z² of Z = k_x ⊗ k_x − B, k_x = P_x K, with E over the N points.

    V = (1/N) Σ G_ii k_i ⊗ k_i − B_N² has the trace (1/N) Σ G_ii² − Σ μ_i², and in the eigenfunctions of B_N the
    matrix S^½ Uᵀ diag(G_ii/N) U S^½ − diag(μ²). It is 1 at least.
    """
    _check(spectrum)
    n = len(spectrum.values)
    squares = np.square(spectrum.vectors) @ spectrum.values
    kept = spectrum.values > _floor(spectrum.values)
    half = np.sqrt(squares / n)[:, None] * spectrum.vectors[:, kept] * np.sqrt(spectrum.values[kept])
    matrix = half.T @ half - np.diag(np.square(spectrum.values[kept] / n))
    trace = float(np.mean(np.square(squares)) - np.sum(np.square(spectrum.values / n)))
    largest = float(eigenpairs(np.asfortranarray(matrix))[0][-1])
    return max(1.0, trace / largest) if largest > 0.0 else 1.0


def _check(spectrum: Any) -> None:
    remedy = "give what kernop.trust.criteria.spectrum returns, or use ko.bounds.report(T, inputs)"
    check_kind("spectrum", spectrum, Spectrum, remedy)


def _resolved(spectrum: Spectrum) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues μ above rounding, ascending (r,), and the coefficients of the data (r, B)."""
    kept = spectrum.values > _floor(spectrum.values)
    values = spectrum.values[kept]
    return values / len(spectrum.values), spectrum.rotated[kept] / np.sqrt(values)[:, None]


def _floor(values: FloatArray) -> float:
    """Eigenvalues below this are rounding: those of a matrix with errors of a few units in the last place."""
    return 10.0 * len(values) * EPS * float(np.max(values))


def _slope(values: FloatArray, a: FloatArray) -> float:
    """d log R / d log μ, at most 1; R ascends with μ, so that it is not negative."""
    tails = np.sqrt(np.cumsum(np.square(a)))
    used = (values >= MARGIN * values[0]) & (tails > 0.0)
    if np.count_nonzero(used) < 3:
        got = f"data at points that resolve {len(values)} eigenvalues, too few to estimate γ"
        raise fail(ArgumentError, "inputs", got, "learn from more points, or give gamma")
    x, y = np.log(values[used]), np.log(tails[used])
    return float(min(1.0, max(0.0, np.polyfit(x, y, 1)[0])))


def _norm(factors: FloatArray, coefficients: FloatArray) -> float:
    """The largest of the norms of factors · a, over the columns."""
    return float(np.max(np.linalg.norm(factors[:, None] * coefficients, axis=0)))
