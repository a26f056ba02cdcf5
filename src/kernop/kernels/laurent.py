"""Exact Laurent polynomials, for profiles that are polynomials in r = √t times a weight (Matérn, Wendland)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from jax import Array

from kernop.kernels.base import numerical

#: Distances below this are taken for 0 where a power of them is a divisor.
NEAREST = 1e-13

#: Exponent ↦ coefficient.
Laurent = dict[int, Fraction]


def root(t: Array) -> Array:
    """√t for t ≥ 0, whose derivative at 0, which it has not, is 0 for automatic differentiation: the double where."""
    xp = numerical(t)
    return xp.where(t > 0.0, xp.sqrt(xp.where(t > 0.0, t, 1.0)), 0.0)


def laurent_values(p: Mapping[int, Fraction], r: Array) -> Array:
    """p(r) by Horner's rule; the value at a pole r = 0 is finite (and of no meaning)."""
    xp = numerical(r)
    if not p:
        return xp.zeros_like(r)
    lowest, highest = min(min(p), 0), max(p)
    total = xp.zeros_like(r)
    for n in range(highest, lowest - 1, -1):
        total = total * r + float(p.get(n, 0))
    if lowest == 0:
        return total
    # Nearer than this the pole meets a zero of higher order, and the product vanishes to rounding.
    return total / xp.where(r > NEAREST, r, 1.0) ** (-lowest)
