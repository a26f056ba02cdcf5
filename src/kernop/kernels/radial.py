"""Radial kernels: K(x, y) = F(|z|²) with z = (x − y) / lengthscale. A kernel is its scalar profile F, F', F'', …"""

from __future__ import annotations

import math
import operator
from abc import abstractmethod
from collections.abc import Collection, Iterable
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from jax import Array

from kernop.basics.errors import FloatArray
from kernop.basics.stored import Numbers
from kernop.kernels.base import Coordinates, Kernel, Partials, changed, check_axes, check_lengthscale
from kernop.language.fields import MultiIndex

#: What multiplies an array; a plain 1 costs nothing.
Scalar = Array | FloatArray | float


class Radial(Kernel):
    """A kernel with a profile. The lengthscale is a number, or one for each axis."""

    leaves = ("lengthscale",)

    def __init__(self, lengthscale: Numbers) -> None:
        self.lengthscale = check_lengthscale(lengthscale)

    @abstractmethod
    def profile(self, t: Array, orders: Collection[int]) -> dict[int, Array]:
        """F^(m)(t) at t = |z|² ≥ 0 for each m in ``orders``.

        Where F^(m) has a pole at t = 0 (m beyond half the smoothness) the value there does not matter, but must be
        finite: it is multiplied by a power of z that vanishes.
        """

    def check_dim(self, dim: int) -> None:
        check_axes(self.lengthscale, dim)

    def spread(self, dim: int) -> Kernel:
        if np.ndim(self.lengthscale) == 1:
            return self
        return changed(self, {"lengthscale": np.full(dim, self.lengthscale)})

    def scaled(self, z: Coordinates) -> tuple[list[Array], list[Scalar]]:
        """z / lengthscale and 1 / lengthscale, axis by axis."""
        per_axis = np.ndim(self.lengthscale) == 1
        rates: list[Scalar] = [1.0 / n for n in self.lengthscale] if per_axis else [1.0 / self.lengthscale] * len(z)
        return [part * rate for rate, part in zip(rates, z, strict=True)], rates

    def partials(self, z: Coordinates, gammas: Collection[MultiIndex]) -> Partials:
        s, rates = self.scaled(z)
        orders = {sum(gamma) - k for gamma in gammas for k in range(sum(g // 2 for g in gamma) + 1)}
        derivatives = self.profile(squared(s), sorted(orders))
        powers = [powers_of(part, max(gamma[k] for gamma in gammas)) for k, part in enumerate(s)]
        return {gamma: times([chain_rule(gamma, powers, derivatives), scale(rates, gamma)]) for gamma in gammas}


def squared(s: list[Array]) -> Array:
    """|s|² = Σ_k s_k²."""
    return reduce(operator.add, [part * part for part in s])


def scale(rates: list[Scalar], gamma: MultiIndex) -> Scalar:
    """Π_k rate_k^γ_k: what the substitution z = rate · (x − y) puts in front of ∂^γ."""
    return times(rate**g if g > 1 else rate for rate, g in zip(rates, gamma, strict=True) if g)


def times(factors: Iterable[Scalar]) -> Any:
    """The product of the factors but for those that are the number 1, which would be compiled; 1 if there is none."""
    kept: list[Any] = [factor for factor in factors if not (isinstance(factor, float) and factor == 1.0)]
    return reduce(operator.mul, kept) if kept else 1.0


def powers_of(s: Array, highest: int) -> list[Scalar]:
    """1, s, s², …; the 1 is the number, so that it costs nothing."""
    powers: list[Scalar] = [1.0]
    for _ in range(highest):
        powers.append(times([powers[-1], s]))
    return powers


def chain_rule(gamma: MultiIndex, powers: list[list[Scalar]], derivatives: dict[int, Array]) -> Array:
    """∂^γ F(|z|²) = Σ_{2j ≤ γ} [Π_k γ_k! / (j_k! (γ_k − 2j_k)!) (2 z_k)^(γ_k − 2j_k)] F^(|γ| − |j|)(|z|²)."""
    terms: list[Array] = []
    for j in product(*(range(g // 2 + 1) for g in gamma)):
        weight: float = 1.0
        for g, i in zip(gamma, j, strict=True):
            weight *= math.factorial(g) / (math.factorial(i) * math.factorial(g - 2 * i)) * 2.0 ** (g - 2 * i)
        monomial = times(power[g - 2 * i] for g, i, power in zip(gamma, j, powers, strict=True))
        terms.append(times([derivatives[sum(gamma) - sum(j)], times([weight, monomial])]))
    return reduce(operator.add, terms)
