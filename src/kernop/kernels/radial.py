"""Radial kernels: K(x, y) = F(|z|²) with z = (x − y) / lengthscale. A kernel is its scalar profile F, F', F'', …"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Collection
from itertools import product
from typing import Any

import numpy as np

from kernop.basics.stored import Numbers
from kernop.kernels.base import Coordinates, Kernel, Partials, check_axes, check_lengthscale
from kernop.language.fields import MultiIndex


class Radial(Kernel):
    """A kernel with a profile. The lengthscale is a number, or one for each axis."""

    leaves = ("lengthscale",)

    def __init__(self, lengthscale: Numbers) -> None:
        self.lengthscale = check_lengthscale(lengthscale)

    @abstractmethod
    def profile(self, t: Any, orders: Collection[int]) -> dict[int, Any]:
        """F^(m)(t) at t = |z|² ≥ 0 for each m in ``orders``.

        Where F^(m) has a pole at t = 0 (m beyond half the smoothness) the value there does not matter, but must be
        finite: it is multiplied by a power of z that vanishes.
        """

    def check_dim(self, dim: int) -> None:
        check_axes(self.lengthscale, dim)

    def scaled(self, z: Coordinates) -> tuple[list[Any], list[Any]]:
        """z / lengthscale and 1 / lengthscale, axis by axis."""
        per_axis = np.ndim(self.lengthscale) == 1
        rates = [1.0 / (self.lengthscale[k] if per_axis else self.lengthscale) for k in range(len(z))]
        return [rate * part for rate, part in zip(rates, z, strict=True)], rates

    def partials(self, z: Coordinates, gammas: Collection[MultiIndex]) -> Partials:
        s, rates = self.scaled(z)
        orders = {sum(gamma) - k for gamma in gammas for k in range(sum(g // 2 for g in gamma) + 1)}
        derivatives = self.profile(sum(part * part for part in s), sorted(orders))
        powers = [powers_of(part, max(gamma[k] for gamma in gammas)) for k, part in enumerate(s)]
        return {gamma: chain_rule(gamma, powers, derivatives) * scale(rates, gamma) for gamma in gammas}


def scale(rates: list[Any], gamma: MultiIndex) -> Any:
    """Π_k rate_k^γ_k: what the substitution z = rate · (x − y) puts in front of ∂^γ."""
    return math.prod(rate**g for rate, g in zip(rates, gamma, strict=True) if g)


def powers_of(s: Any, highest: int) -> list[Any]:
    """1, s, s², …; the 1 is the number, so that it costs nothing."""
    powers: list[Any] = [1.0]
    for _ in range(highest):
        powers.append(powers[-1] * s)
    return powers


def chain_rule(gamma: MultiIndex, powers: list[list[Any]], derivatives: dict[int, Any]) -> Any:
    """∂^γ F(|z|²) = Σ_{2j ≤ γ} [Π_k γ_k! / (j_k! (γ_k − 2j_k)!) (2 z_k)^(γ_k − 2j_k)] F^(|γ| − |j|)(|z|²)."""
    total = 0.0
    for j in product(*(range(g // 2 + 1) for g in gamma)):
        weight, monomial = 1.0, 1.0
        for g, i, power in zip(gamma, j, powers, strict=True):
            weight *= math.factorial(g) / (math.factorial(i) * math.factorial(g - 2 * i)) * 2.0 ** (g - 2 * i)
            monomial = monomial * power[g - 2 * i]
        total = total + weight * monomial * derivatives[sum(gamma) - sum(j)]
    return total
