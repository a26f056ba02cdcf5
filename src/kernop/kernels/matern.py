"""Matérn kernels of half-integer smoothness."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from functools import lru_cache

from jax import Array

from kernop.basics.checks import check_number
from kernop.basics.errors import ArgumentError, fail
from kernop.basics.stored import Numbers, stored
from kernop.kernels.base import numerical
from kernop.kernels.laurent import Laurent, laurent_values, root
from kernop.kernels.radial import Radial

#: Each further ν is a term more that is compiled, and beyond this it is a Gaussian to all who look.
LARGEST = 100.5


@stored("Matern")
class Matern(Radial):
    """The Matérn kernel with ν = p + 1/2, p = 0, 1, 2, …; ν = 1/2 is exp(−r), ν → ∞ a Gaussian exp(−r²/2).

    With s = √(2ν) |x − y| / ℓ: K = e^(−s) p!/(2p)! Σ_i (p+i)! / (i! (p−i)!) (2s)^(p−i). It has 2p derivatives.
    """

    in_numpy = True

    def __init__(self, nu: float, lengthscale: Numbers) -> None:
        self.nu = check_number("nu", nu, above=0.0, most=LARGEST)
        if self.nu % 1.0 != 0.5:
            raise fail(ArgumentError, "nu", f"{self.nu:g}", "give a half-integer: 0.5, 1.5, 2.5, …")
        super().__init__(lengthscale)

    @property
    def smoothness(self) -> float:
        return 2.0 * (self.nu - 0.5)

    def smoother(self, order: int) -> str:
        return f"use nu = {math.ceil(order / 2) + 0.5:g} or more, or ko.Gaussian"

    def profile(self, t: Array, orders: Collection[int]) -> dict[int, Array]:
        """F^(m)(t) = c (−ν)^m s^(ν−m) K_(ν−m)(s): by d/dt = (ν/s) d/ds and (1/s d/ds) s^ν K_ν = −s^(ν−1) K_(ν−1)."""
        s = root(2.0 * self.nu * t)
        decay = numerical(s).exp(-s)
        return {m: self.nu**m * laurent_values(_polynomial(int(self.nu), m), s) * decay for m in orders}


@lru_cache(maxsize=512)
def _polynomial(p: int, m: int) -> Laurent:
    """q with F^(m) = ν^m q(s) e^(−s), from K of half-integer order; K_(−n) = K_n gives the poles for m > p.

    √(2/π) s^(n+1/2) K_(n+1/2)(s) = e^(−s) Σ_i (n+i)! / (i! (n−i)! 2^i) s^(n−i) for n ≥ 0.
    """
    order = p - m
    n, pole = max(order, -order - 1), min(0, 2 * order + 1)
    first = Fraction((-1) ** m * 2**p * math.factorial(p), math.factorial(2 * p))
    terms = {i: Fraction(math.factorial(n + i), math.factorial(i) * math.factorial(n - i) * 2**i) for i in range(n + 1)}
    return {n - i + pole: first * term for i, term in terms.items()}
