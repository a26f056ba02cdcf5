"""The inequalities of the paper as functions of numbers, and the rates that follow from them.

With u the true solution for data h = P u, B = P*P, M ≥ ‖P_x‖ for all x, and points X^(1..N) drawn independently:

    estimation      ‖T̂h − T_λ h‖_H     (T_λ: the estimator with infinitely many points)
    approximation   ‖T_λ h − u‖_H     (small for small λ, if u = B^γ ψ with ‖ψ‖_H ≤ S)

All of them are norms of the RKHS, which bound values and derivatives: |∂^α u(x)| ≤ κ ‖u‖_H for |α| ≤ s.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from kernop.basics.checks import check_integer, check_number
from kernop.basics.errors import ArgumentError, fail

Arguments = ParamSpec("Arguments")


def _representable(bound: Callable[Arguments, float]) -> Callable[Arguments, float]:
    """Refuse numbers so extreme that the bound overflows."""

    @wraps(bound)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> float:
        try:
            value = bound(*args, **kwargs)
        except (OverflowError, ZeroDivisionError):
            value = math.inf
        if not math.isfinite(value):
            got = "numbers too extreme for the bound to be a float"
            raise fail(ArgumentError, bound.__name__, got, "use a larger λ, or a kernel with smaller derivatives")
        return value

    return checked


@_representable
def pathwise(points: int, regularization: float, norm: float, solution_norm: float = 1.0, delta: float = 0.05) -> float:
    """‖T̂h − T_λ h‖ ≤ (√(8L/N) + 1) √(2L/(Nλ²)) M² ‖u‖ (1 + M/√λ), L = log(4/δ), for one h with probability 1 − δ.

    The paper prints L = log(2/δ), but its proof joins two events of probability 1 − δ/2 each, which takes log(4/δ).

    Arguments:
        points: N.
        regularization: λ > 0.
        norm: M, a bound on the norms of the functionals; the paper's is binom(d+s, d) C κ.
        solution_norm: ‖u‖_H; 1 gives the bound relative to it.
        delta: δ, strictly between 0 and 1.
    """
    n, lam, m = _common(points, regularization, norm)
    size, log = check_number("solution_norm", solution_norm, least=0.0), math.log(4.0 / check_probability(delta))
    return _bernstein(n, log) * _amplification(lam, m) * size


@_representable
def points_needed(regularization: float, norm: float, delta: float = 0.05) -> float:
    """The N from which `pathwise` says anything: there it is ‖u‖, and ‖T̂h − T_λ h‖ ≤ ‖u‖ is true of any points.

    (T̂P and T_λP are symmetric and between 0 and 1, so that their difference is between −1 and 1.)
    """
    _, lam, m = _common(1, regularization, norm)
    q, log = _amplification(lam, m), math.log(4.0 / check_probability(delta))
    # With y = √(2L/N) the bound is (2y + 1) y q; the root of (2y + 1) y q = 1, written without cancellation.
    y = (2.0 / q) / (1.0 + math.sqrt(1.0 + 8.0 / q))
    return 2.0 * log / y**2


@_representable
def sharper(points: int, regularization: float, norm: float, gap: float, delta: float = 0.05) -> float:
    """‖T̂h − T_λ h‖ ≤ (√(8L/N) + 1) √(2L/(Nλ²)) M² ‖u − T_λ h‖, L = log(2/δ), with probability 1 − δ.

    Not in the paper. With w = u − T_λ h the two terms of its proof are one, T̂h − T_λ h = (B_N + λ)⁻¹ (B_N − B) w,
    so that its lemma is needed once, for w, whose norm is at most ‖u‖, and at most Sλ^γ under a source condition.

    Arguments:
        gap: ‖u − T_λ h‖_H, or a bound on it; all others as for `pathwise`.
    """
    n, lam, m = _common(points, regularization, norm)
    size, log = check_number("gap", gap, least=0.0), math.log(2.0 / check_probability(delta))
    return _bernstein(n, log) * m**2 / lam * size


@_representable
def uniform(
    points: int, regularization: float, norm: float, rank: float, gamma: float, source: float = 1.0, delta: float = 0.05
) -> float:
    """sup ‖T̂h − T_λ h‖ ≤ (2S/λ) M^(2γ+2) (√(8L/N) + 4L/(3N)), L = log(14 r_N/δ), with probability 1 − δ.

    The supremum is over all h whose solution is u = B^γ ψ with ‖ψ‖_H ≤ S.

    Arguments:
        rank: the effective rank r_N ≥ 1, see `effective_rank`.
        gamma: γ, from 0 to 1.
        source: S ≥ 0; all others as for `pathwise`.
    """
    n, lam, m = _common(points, regularization, norm)
    exponent, size = check_exponent(gamma), check_number("source", source, least=0.0)
    log = math.log(14.0 * check_number("rank", rank, least=1.0) / check_probability(delta))
    return 2.0 * size / lam * m ** (2.0 * exponent + 2.0) * (math.sqrt(8.0 * log / n) + 4.0 * log / (3.0 * n))


@_representable
def approximation(regularization: float, gamma: float, source: float = 1.0) -> float:
    """‖T_λ h − u‖ ≤ S λ^γ for all h with u = B^γ ψ and ‖ψ‖_H ≤ S; γ from 0 to 1."""
    lam = check_number("regularization", regularization, above=0.0)
    return check_number("source", source, least=0.0) * lam ** check_exponent(gamma)


def rate(alpha: float, gamma: float) -> float:
    """The r in N^(−r), the order of the total error for λ ~ N^(−α), 0 < α ≤ 1/2: min(αγ, (1 − 2α)/2)."""
    a = check_number("alpha", alpha, above=0.0, most=0.5)  # beyond, nothing is known to converge
    return min(a * check_exponent(gamma), 0.5 * (1.0 - 2.0 * a))


def best_alpha(gamma: float) -> float:
    """The α = 1/(2(1 + γ)) for which the rate is highest."""
    return 0.5 / (1.0 + check_exponent(gamma))


def best_rate(gamma: float) -> float:
    """The highest rate, γ/(2(1 + γ))."""
    return check_exponent(gamma) * best_alpha(gamma)


def _bernstein(n: int, log: float) -> float:
    """(√(8L/N) + 1) √(2L/N): how far a mean of N vectors of norm 1 is from its expectation."""
    return (math.sqrt(8.0 * log / n) + 1.0) * math.sqrt(2.0 * log / n)


def _amplification(lam: float, norm: float) -> float:
    """M²/λ (1 + M/√λ)."""
    return norm**2 / lam * (1.0 + norm / math.sqrt(lam))


def _common(points: int, regularization: float, norm: float) -> tuple[int, float, float]:
    return (
        check_integer("points", points, least=1),
        check_number("regularization", regularization, above=0.0),
        check_number("norm", norm, above=0.0),
    )


def check_probability(delta: float) -> float:
    """δ, a probability of failure."""
    return check_number("delta", delta, above=0.0, below=1.0)


def check_exponent(gamma: float) -> float:
    """γ of a source condition; Tikhonov regularisation gains nothing from more than 1."""
    return check_number("gamma", gamma, least=0.0, most=1.0)
