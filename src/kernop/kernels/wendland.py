"""Wendland's compactly supported kernels."""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from jax import Array

from kernop.basics.checks import check_integer
from kernop.basics.errors import ArgumentError, fail
from kernop.basics.stored import Numbers, stored
from kernop.kernels.base import numerical
from kernop.kernels.laurent import Laurent, laurent_values, root
from kernop.kernels.radial import Radial

#: Each further k is a term more that is compiled, and nobody needs eighty derivatives.
LARGEST = 40


@stored("Wendland")
class Wendland(Radial):
    """Wendland's φ_{3,k}: zero beyond |x − y| = ℓ, polynomial inside, 2k derivatives, positive definite for d ≤ 3.

    k = 0: (1−r)²;  k = 1: (1−r)⁴(4r+1);  k = 2: (1−r)⁶(35r²+18r+3)/3;  k = 3: (1−r)⁸(32r³+25r²+8r+1); and on.
    """

    in_numpy = True

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
        r = root(t)
        inside = numerical(r).maximum(0.0, 1.0 - r)
        return {m: inside ** _vanishing(self.k, m) * laurent_values(_cofactor(self.k, m), r) for m in orders}


def _vanishing(k: int, m: int) -> int:
    """The power of (1 − r) in F^(m): each derivative takes one."""
    return max(0, 2 * k + 2 - m)


@lru_cache(maxsize=512)
def _cofactor(k: int, m: int) -> Laurent:
    """q with F^(m) = (1 − r)^(2k+2−m) q(r) inside, where d/dt = 1/(2r) d/dr; F(0) = 1.

    φ_{3,k} is a multiple of I^k (1−r)^(k+2) with (Iφ)(r) = ∫_r^1 t φ(t) dt, and d/dt takes Iφ to −φ/2. So F^(m) is one
    of I^(k−m) (1−r)^(k+2) and, beyond m = k, of derivatives of (1−r)^(k+2).
    """
    p, first = _integrated(k, k - m), Fraction((-1) ** m, 2**m) / _integrated(k, k)[0]
    for _ in range(m - k):
        p = {n - 2: -n * c for n, c in p.items() if n}
    for _ in range(_vanishing(k, m)):  # p / (1 − r): the coefficients of the quotient are running sums
        exponents = range(min(p), max(p))
        p = dict(zip(exponents, accumulate(p.get(n, Fraction(0)) for n in exponents), strict=True))
    return {n: first * c for n, c in p.items() if c}


def _integrated(k: int, times: int) -> Laurent:
    """I^times (1 − r)^(k+2); without any I if ``times`` is negative."""
    p: Laurent = {n: Fraction((-1) ** n * math.comb(k + 2, n)) for n in range(k + 3)}
    for _ in range(times):
        primitive = {n + 2: c / (n + 2) for n, c in p.items()}
        p = {0: sum(primitive.values(), Fraction(0))} | {n: -c for n, c in primitive.items()}
    return p
