"""Exact Laurent polynomials, for profiles that are polynomials in r = √t times a weight (Matérn, Wendland)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import jax.numpy as jnp
from jax import Array

#: Distances below this are taken for 0 where a power of them is a divisor.
NEAREST = 1e-13

#: Exponent ↦ coefficient.
Laurent = dict[int, Fraction]


def derivative(p: Laurent) -> Laurent:
    """The derivative p' of a Laurent polynomial."""
    return {n - 1: n * c for n, c in p.items() if n != 0}


def combine(*terms: tuple[Fraction | int, Laurent]) -> Laurent:
    """Σ factor · p over pairs (factor, p), without coefficients that are 0."""
    total: Laurent = {}
    for factor, p in terms:
        for n, c in p.items():
            total[n] = total.get(n, Fraction(0)) + factor * c
    return {n: c for n, c in total.items() if c != 0}


def multiply(p: Laurent, q: Laurent) -> Laurent:
    """The product p q of two Laurent polynomials."""
    return combine(*((c, {n + m: b for m, b in q.items()}) for n, c in p.items()))


def laurent_values(p: Mapping[int, Fraction], r: Array) -> Array:
    """p(r) by Horner's rule; the value at a pole r = 0 is finite (and of no meaning)."""
    if not p:
        return jnp.zeros_like(r)
    lowest, highest = min(min(p), 0), max(p)
    total = jnp.zeros_like(r)
    for n in range(highest, lowest - 1, -1):
        total = total * r + float(p.get(n, 0))
    if lowest == 0:
        return total
    # Nearer than this the pole meets a zero of higher order, and the product vanishes to rounding.
    return total / jnp.where(r > NEAREST, r, 1.0) ** (-lowest)
