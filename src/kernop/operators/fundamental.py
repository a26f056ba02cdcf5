"""Fundamental solutions: L₀ Φ = δ in all of space, for an operator L₀ with constant coefficients.

Second order, L₀ = −A:∇∇ + b·∇ + c with A symmetric and positive definite, in any dimension d: with P = A⁻¹,
β = P b / 2, κ² = c + b·P b / 4 and ρ² = (x − y)·P (x − y),

    Φ = e^{β·(x − y)} F(ρ) / √det A,    F = (κ / 2πρ)^ν K_ν(κρ) / 2π,    ν = d/2 − 1;

where κ² = −k² < 0 it is F = −(k / 2πρ)^ν Y_ν(kρ) / 4, and where κ = 0, F = Γ(ν) / (4 π^{d/2}) ρ^{−2ν}, or −log ρ / 2π
in the plane. Fourth order, L₀ = a Δ²: F = ρ² log ρ / 8πa in the plane, Γ(d/2 − 2) / (16 π^{d/2} a) ρ^{4−d} elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import kve, yv

from kernop.basics.errors import ArgumentError, FloatArray, NumberArray, fail
from kernop.language.fields import MultiIndex

#: Below this, κ² ρ² counts as 0 over the whole domain.
NO_DECAY = 1e-8
#: What a fundamental solution is not known of is refused in these words.
COVERED = (
    "known are real elliptic operators of second order, a Δ² with lower terms that vanish at y, and every operator on a"
    " line whose conditions at points are as many as its order"
)


@dataclass(kw_only=True, frozen=True, eq=False)
class Fundamental:
    """Φ(x, y) for one y, and its derivatives.

    Arguments:
        y: the place of the source, (d,).
        metric: P, (d, d).
        drift: β, (d,).
        kappa2: κ².
        factor: what F is multiplied by.
        kind: which F: of second order, or of a Δ².
        model: the coefficients of L₀, by multi-index.
    """

    y: FloatArray
    metric: FloatArray
    drift: FloatArray
    kappa2: float
    factor: float
    kind: Literal["second order", "biharmonic"]
    model: Mapping[MultiIndex, float]

    @property
    def infinite(self) -> bool:
        """Is Φ infinite at y?"""
        return len(self.y) >= (2 if self.kind == "second order" else 4)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Φ(x, y) for x (n, d): (n,); infinite at y itself in two dimensions and more."""
        values = self.derivative((0,) * len(self.y), x)
        same = np.all(x == self.y, axis=1)
        if self.infinite and np.any(same):
            values[same] = np.copysign(np.inf, self.factor)
        return values

    def derivative(self, alpha: MultiIndex, x: FloatArray) -> FloatArray:
        """∂^α Φ for x (n, d), (n,): by the rule for products and that of Faà di Bruno; 0 at y for α ≠ 0."""
        z = x - self.y
        q = z @ self.metric
        t = np.maximum(np.sum(z * q, axis=1), np.finfo(np.float64).tiny)
        axes = [axis for axis, count in enumerate(alpha) for _ in range(count)]
        shrink = np.sqrt(max(self.kappa2, 0.0) * t)
        profile = [self._profile(t, m) for m in range(len(axes) + 1)]
        total = np.zeros(len(x))
        for size in range(len(axes) + 1):
            for kept in combinations(range(len(axes)), size):
                rest = [axes[j] for j in range(len(axes)) if j not in kept]
                slope = math.prod(float(self.drift[axes[j]]) for j in kept)
                if slope == 0.0:
                    continue
                for pairs, singles in _matchings(tuple(rest)):
                    weight = slope * math.prod(float(self.metric[i, j]) for i, j in pairs)
                    single = np.prod(q[:, list(singles)], axis=1)
                    m = len(pairs) + len(singles)
                    total += weight * single * 2.0**m * profile[m]
        total *= self.factor * np.exp(z @ self.drift - shrink)
        return np.where(np.any(z != 0.0, axis=1), total, 0.0) if axes else total

    def _profile(self, t: FloatArray, m: int) -> FloatArray:
        """The m-th derivative of F by t = ρ², times e^{κρ} where it decays: (n,)."""
        d = len(self.y)
        if self.kind == "biharmonic":
            if d == 2:
                found = t * np.log(t) if m == 0 else np.log(t) + 1.0 if m == 1 else _power(t, -1.0, m - 2)
                return found / (16.0 * np.pi)
            return math.gamma(d / 2 - 2) / (16.0 * np.pi ** (d / 2)) * _power(t, 2 - d / 2, m)
        nu, rho = d / 2 - 1, np.sqrt(t)
        if self.kappa2 == 0.0:
            if d == 2:
                return -(np.log(t) if m == 0 else _power(t, -1.0, m - 1)) / (4.0 * np.pi)
            return math.gamma(nu) / (4.0 * np.pi ** (d / 2)) * _power(t, -nu, m)
        k = math.sqrt(abs(self.kappa2))
        bessel = kve(nu + m, k * rho) / (2.0 * np.pi) if self.kappa2 > 0.0 else -0.25 * yv(nu + m, k * rho)
        return (k / (2.0 * np.pi)) ** nu * (-k / 2.0) ** m * rho ** (-nu - m) * bessel


def fundamental(y: FloatArray, coefficients: Mapping[MultiIndex, complex], size: float, name: str) -> Fundamental:
    """Φ of the operator with these coefficients, those of an equation at y; refused where it is not known.

    Arguments:
        size: the diameter of the domain.
        name: that of the equation.
    """
    table = {alpha: complex(value) for alpha, value in coefficients.items()}
    if any(value.imag for value in table.values()):
        raise _refused(name, f"an equation with complex coefficients at y = {y}")
    real = {alpha: value.real for alpha, value in table.items() if value.real}
    order = max((sum(alpha) for alpha in real), default=0)
    if order == 4:
        return _biharmonic(y, real, name)
    if order != 2:
        raise _refused(name, f"an equation of order {order} in {len(y)} dimensions")
    return _second_order(y, real, size, name)


def _second_order(y: FloatArray, real: Mapping[MultiIndex, float], size: float, name: str) -> Fundamental:
    d = len(y)
    units = np.eye(d, dtype=int)

    def coefficient(alpha: NDArray[np.int64]) -> float:
        return real.get(tuple(alpha.tolist()), 0.0)

    matrix = np.array(
        [[coefficient(units[i] + units[j]) * (1.0 if i == j else 0.5) for j in range(d)] for i in range(d)]
    )
    sign = -1.0 if np.trace(matrix) > 0.0 else 1.0
    A = -sign * matrix
    values = np.linalg.eigvalsh(A)
    if values[0] <= 1e-12 * values[-1]:
        raise _refused(name, f"an equation that is not elliptic at y = {y}: its matrix there is {matrix.tolist()}")
    P = np.linalg.inv(A)
    b = sign * np.array([coefficient(unit) for unit in units])
    beta, c = 0.5 * P @ b, sign * coefficient(0 * units[0])
    kappa2 = float(c + 0.25 * b @ P @ b)
    if abs(kappa2) * float(np.max(np.diag(P))) * size**2 < NO_DECAY:
        kappa2 = 0.0
    factor = sign / math.sqrt(float(np.linalg.det(A)))
    return Fundamental(
        y=y, metric=0.5 * (P + P.T), drift=beta, kappa2=kappa2, factor=factor, kind="second order", model=dict(real)
    )


def _biharmonic(y: FloatArray, real: Mapping[MultiIndex, float], name: str) -> Fundamental:
    d = len(y)
    a = real.get((4, *(0,) * (d - 1)), 0.0)
    units = 2 * np.eye(d, dtype=int)
    pattern = {tuple((one + other).tolist()) for one in units for other in units}
    model = {alpha: a * (1.0 if max(alpha) == 4 else 2.0) for alpha in pattern}
    top = {alpha: value for alpha, value in real.items() if sum(alpha) == 4}
    if a == 0.0 or top.keys() != model.keys() or any(abs(top[alpha] - model[alpha]) > 1e-12 * abs(a) for alpha in top):
        raise _refused(name, f"an equation of fourth order at y = {y} that is not a Δ²")
    if d == 4:
        raise _refused(name, "an equation of fourth order in four dimensions")
    return Fundamental(
        y=y, metric=np.eye(d), drift=np.zeros(d), kappa2=0.0, factor=1.0 / a, kind="biharmonic", model=model
    )


def _refused(name: str, got: str) -> Exception:
    return fail(ArgumentError, f"green, {name}", got, COVERED)


def _power(t: FloatArray, p: float, m: int) -> FloatArray:
    """The m-th derivative of t^p."""
    return math.prod(p - j for j in range(m)) * t ** (p - m)


def _matchings(axes: tuple[int, ...]) -> Iterator[tuple[list[tuple[int, int]], tuple[int, ...]]]:
    """All ways to make pairs of some of the axes and leave the others single."""
    if not axes:
        yield [], ()
        return
    first, rest = axes[0], axes[1:]
    for pairs, singles in _matchings(rest):
        yield pairs, (first, *singles)
    for j, other in enumerate(rest):
        for pairs, singles in _matchings(rest[:j] + rest[j + 1 :]):
            yield [(first, other), *pairs], singles


def operator_on(phi: Fundamental, coefficients: Mapping[MultiIndex, NumberArray], x: FloatArray) -> NumberArray:
    """(P Φ)(x) for an operator P with these coefficients at x (n, d): (n,)."""
    return sum((values * phi.derivative(alpha, x) for alpha, values in coefficients.items()), start=np.zeros(len(x)))


def remainder(phi: Fundamental, coefficients: Mapping[MultiIndex, NumberArray], x: FloatArray) -> NumberArray:
    """L Φ − δ for the equation with these coefficients at x (n, d): (n,).

    It is (L − L₀) Φ, from differences of coefficients: nothing, not even rounding, is left where they are the same.
    """
    zero = np.zeros(len(x))
    gaps = {alpha: coefficients.get(alpha, zero) - phi.model.get(alpha, 0.0) for alpha in {*coefficients, *phi.model}}
    return operator_on(phi, {alpha: gap for alpha, gap in gaps.items() if np.any(gap)}, x)
