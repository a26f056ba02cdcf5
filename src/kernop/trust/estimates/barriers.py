"""Barriers: functions w ≥ 0 with L w ≥ 1, which tell how much a residual of size 1 can move a solution.

L u = −Σ a_ij ∂_ij u + b·∇u + c u with a ≥ 0 and c ≥ 0. If L e = r inside and e = ρ on the boundary, then
|e| ≤ sup|ρ| + w sup|r| by the maximum principle. Since c w ≥ 0, a barrier for L − c is one for L.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernop.basics.errors import FloatArray

#: Slopes b / a that are tried for the slab barriers, between the least and the greatest that occur.
SLOPES = 9
#: Below this, βℓ might as well be 0, and the closed form would cancel.
LEAST_SLOPE = 1e-3


@dataclass(frozen=True, eq=False)
class Coefficients:
    """The coefficients a and b of L = −a:∇² + b·∇ + c at n points, along the m axes of space; c ≥ 0 is not needed.

    Arguments:
        x: the points, (n, m).
        a: the diffusion, (n, m, m).
        b: the velocity, (n, m).
    """

    x: FloatArray
    a: FloatArray
    b: FloatArray

    def divided(self, by: FloatArray) -> Coefficients:
        """Those of L / by, by > 0 (n,): the equation may be multiplied by any positive function."""
        return Coefficients(self.x, self.a / by[:, None, None], self.b / by[:, None])


class Barrier(NamedTuple):
    """A function w ≥ 0 with L w ≥ 1: its supremum, and its name for reports."""

    supremum: float
    name: str


def best_barrier(of: Coefficients, low: FloatArray, high: FloatArray, radius: float) -> Barrier | None:
    """The barrier of least supremum; None if none of them has L w > 0 at all points.

    Arguments:
        low, high: a box that holds the domain, (m,).
        radius: of a ball around the middle of the box that holds the domain.
    """
    found = [_quadratic(of, 0.5 * (low + high), radius)]
    found += [_slab(of, axis, low[axis], high[axis]) for axis in range(len(low))]
    return min((barrier for barrier in found if barrier is not None), default=None)


def _quadratic(of: Coefficients, middle: FloatArray, radius: float) -> Barrier | None:
    """w ∝ R² − |x − x₀|²: L w ∝ 2 tr a − 2 b·(x − x₀)."""
    least = float(np.min(np.einsum("nii->n", of.a) - np.einsum("ni,ni->n", of.b, of.x - middle)))
    return Barrier(radius**2 / (2.0 * least), "quadratic") if least > 0.0 else None


def _slab(of: Coefficients, axis: int, low: float, high: float) -> Barrier | None:
    """w ∝ v with −v″ + β v′ = 1 and v = 0 at both ends: L w ∝ a + (b − βa) v′. The best of several β.

    For b = 0 this is s(ℓ − s)/2 and sup w = ℓ²/8a; where b / a is constant, β = b / a has L w ∝ a.
    """
    a, b = of.a[:, axis, axis], of.b[:, axis]
    length, s = high - low, of.x[:, axis] - low
    if np.min(a) <= 0.0:
        return None
    ratio = b / a
    found: list[float] = []
    slopes = np.linspace(np.min(ratio), np.max(ratio), SLOPES)
    for beta in (0.0, *map(float, slopes[np.abs(slopes) * length > LEAST_SLOPE])):
        top, slope = _profile(beta, length, s)
        least = float(np.min(a + (b - beta * a) * slope))
        if least > 0.0:
            found.append(top / least)
    return Barrier(min(found), f"slab along axis {axis}") if found else None


def _profile(beta: float, length: float, s: FloatArray) -> tuple[float, FloatArray]:
    """max v and v′(s) for −v″ + β v′ = 1, v(0) = v(ℓ) = 0: v = s/β − (ℓ/β)(e^{βs} − 1)/(e^{βℓ} − 1)."""
    p = beta * length
    if p == 0.0:
        return length**2 / 8.0, 0.5 * length - s
    if p < 0.0:  # mirrored, so that no exponential overflows
        top, slope = _profile(-beta, length, length - s)
        return top, -slope
    decay = -np.expm1(-p)  # 1 − e^{−p}
    slope = 1.0 / beta - length * np.exp(beta * (s - length)) / decay
    # v′ = 0 at e^{βs} = (e^p − 1)/p.
    where = length + np.log(decay / p) / beta
    top = where / beta - length * (np.exp(beta * (where - length)) - np.exp(-p)) / (beta * decay)
    return float(top), slope
