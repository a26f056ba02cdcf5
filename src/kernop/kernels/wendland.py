"""Wendland's compactly supported kernels."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from functools import lru_cache

import jax.numpy as jnp
from jax import Array

from kernop.basics.checks import check_integer
from kernop.basics.errors import ArgumentError, fail
from kernop.basics.stored import Numbers, stored
from kernop.kernels.laurent import Laurent, combine, derivative, laurent_values, multiply
from kernop.kernels.radial import Radial

#: Each further k is a term more that is compiled, and nobody needs eighty derivatives.
LARGEST = 40


@stored("Wendland")
class Wendland(Radial):
    """Wendland's φ_{3,k}: zero beyond |x − y| = ℓ, polynomial inside, 2k derivatives, positive definite for d ≤ 3.

    k = 0: (1−r)²;  k = 1: (1−r)⁴(4r+1);  k = 2: (1−r)⁶(35r²+18r+3)/3;  k = 3: (1−r)⁸(32r³+25r²+8r+1); and on.
    """

    def __init__(self, k: int, lengthscale: Numbers) -> None:
        self.k = check_integer("k", k, least=0, most=LARGEST)
        super().__init__(lengthscale)

    @property
    def smoothness(self) -> float:
        return 2.0 * self.k

    def smoother(self, order: int) -> str:
        return f"use k = {math.ceil(order / 2)} or more, or ko.Gaussian"

    def check_dim(self, dim: int) -> None:
        super().check_dim(dim)
        if dim > 3:
            got = f"Wendland in {dim} dimensions, where it is not positive definite"
            raise fail(ArgumentError, "kernel", got, "use Gaussian or Matern beyond 3 dimensions")

    def profile(self, t: Array, orders: Collection[int]) -> dict[int, Array]:
        r = jnp.where(t > 0.0, jnp.sqrt(jnp.where(t > 0.0, t, 1.0)), 0.0)
        inside = jnp.maximum(0.0, 1.0 - r)
        return {m: inside ** _vanishing(self.k, m) * laurent_values(_cofactor(self.k, m), r) for m in orders}


def _vanishing(k: int, m: int) -> int:
    """The power of (1 − r) in F^(m): each derivative takes one."""
    return max(0, 2 * k + 2 - m)


@lru_cache(maxsize=512)
def _cofactor(k: int, m: int) -> Laurent:
    """q with F^(m) = (1 − r)^(2k+2−m) q(r) inside, where d/dt = 1/(2r) d/dr."""
    if m == 0:
        return _wendland(k)
    power, q = _vanishing(k, m - 1), _cofactor(k, m - 1)
    if power == 0:
        inner = derivative(q)
    else:  # ((1−r)^power q)' = (1−r)^(power−1) ((1−r) q' − power q)
        inner = combine((1, multiply({0: Fraction(1), 1: Fraction(-1)}, derivative(q))), (-power, q))
    return {n - 1: c / 2 for n, c in inner.items()}


@lru_cache(maxsize=64)
def _wendland(k: int) -> Laurent:
    """q with φ_{3,k} = (1 − r)^(2k+2) q(r), q(0) = 1, from φ_{3,k} = I^k (1−r)^(k+2), (Iφ)(r) = ∫_r^1 t φ(t) dt."""
    exponent = k + 2
    p: Laurent = {n: Fraction((-1) ** n * math.comb(exponent, n)) for n in range(exponent + 1)}
    for _ in range(k):
        primitive = {n + 2: c / (n + 2) for n, c in p.items()}
        p = combine((-1, primitive), (1, {0: sum(primitive.values(), Fraction(0))}))
    for _ in range(2 * k + 2):
        p = _divide_by_one_minus_r(p)
    return {n: c / p[0] for n, c in p.items()}


def _divide_by_one_minus_r(p: Laurent) -> Laurent:
    """p / (1 − r), exactly: the coefficients of the quotient are running sums."""
    quotient: Laurent = {}
    running = Fraction(0)
    for n in range(max(p)):
        running += p.get(n, Fraction(0))
        quotient[n] = running
    return quotient
