"""Matérn kernels of half-integer smoothness."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from functools import lru_cache
from typing import Any

import jax.numpy as jnp

from kernop.basics.errors import ArgumentError, check_number, fail
from kernop.basics.stored import Numbers, stored
from kernop.kernels.laurent import Laurent, combine, derivative, evaluate
from kernop.kernels.radial import Radial

#: Each further ν is a term more that is compiled, and beyond this it is a Gaussian to all who look.
LARGEST = 100.5


@stored("Matern")
class Matern(Radial):
    """The Matérn kernel with ν = p + 1/2, p = 0, 1, 2, …; ν = 1/2 is exp(−r), ν → ∞ a Gaussian exp(−r²/2).

    With s = √(2ν) |x − y| / ℓ: K = e^(−s) p!/(2p)! Σ_i (p+i)! / (i! (p−i)!) (2s)^(p−i). It has 2p derivatives.
    """

    def __init__(self, nu: float, lengthscale: Numbers) -> None:
        number = check_number("nu", nu, above=0.0)
        if number % 1.0 != 0.5:
            raise fail(ArgumentError, "nu", f"{number:g}", "give a half-integer: 0.5, 1.5, 2.5, …")
        if number > LARGEST:
            raise fail(ArgumentError, "nu", f"{number:g}", f"give {LARGEST:g} at most, or use ko.Gaussian")
        self.nu = number
        super().__init__(lengthscale)

    @property
    def smoothness(self) -> float:
        return 2.0 * (self.nu - 0.5)

    def smoother(self, order: int) -> str:
        return f"use nu = {math.ceil(order / 2) + 0.5:g} or more, or ko.Gaussian"

    def profile(self, t: Any, orders: Collection[int]) -> dict[int, Any]:
        """F^(m)(t) with d/dt = 2ν/(2s) d/ds, exactly, on polynomials in s times e^(−s)."""
        # √t has no derivative at 0; the double where keeps it out of sight of automatic differentiation.
        s = jnp.where(t > 0.0, jnp.sqrt(2.0 * self.nu * jnp.where(t > 0.0, t, 1.0)), 0.0)
        decay = jnp.exp(-s)
        return {m: (2.0 * self.nu) ** m * evaluate(_polynomial(int(self.nu), m), s) * decay for m in orders}


@lru_cache(maxsize=512)
def _polynomial(p: int, m: int) -> Laurent:
    """q with (1/(2s) d/ds)^m [q₀ e^(−s)] = q e^(−s)."""
    if m == 0:
        first = Fraction(math.factorial(p), math.factorial(2 * p))
        return {
            p - i: first * 2 ** (p - i) * Fraction(math.factorial(p + i), math.factorial(i) * math.factorial(p - i))
            for i in range(p + 1)
        }
    q = _polynomial(p, m - 1)
    return {n - 1: c / 2 for n, c in combine((1, derivative(q)), (-1, q)).items()}
