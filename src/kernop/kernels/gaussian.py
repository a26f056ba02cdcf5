"""The Gaussian kernel."""

from __future__ import annotations

import math
from collections.abc import Collection

from jax import Array

from kernop.basics.stored import stored
from kernop.kernels.base import Coordinates, Partials, numerical
from kernop.kernels.radial import Radial, Scalar, scale, squared, times
from kernop.language.fields import MultiIndex


@stored("Gaussian")
class Gaussian(Radial):
    """K(x, y) = exp(−|x − y|² / η²), η = lengthscale; the paper's convention (no factor 2)."""

    in_numpy = True

    @property
    def smoothness(self) -> float:
        return math.inf

    def profile(self, t: Array, orders: Collection[int]) -> dict[int, Array]:
        value = numerical(t).exp(-t)
        return {m: (-1.0) ** m * value for m in orders}

    def partials(self, z: Coordinates, gammas: Collection[MultiIndex]) -> Partials:
        """The same as for every radial kernel, factored by axis: ∂^n e^(−s²) = (−1)^n H_n(s) e^(−s²)."""
        s, rates = self.scaled(z)
        square = squared(s)
        value = numerical(square).exp(-square)
        hermite = [hermite_polynomials(part, max(gamma[k] for gamma in gammas)) for k, part in enumerate(s)]

        def tensor(gamma: MultiIndex) -> Array:
            return times([value, times(h[g] for h, g in zip(hermite, gamma, strict=True)), scale(rates, gamma)])

        return {gamma: tensor(gamma) for gamma in gammas}


def hermite_polynomials(s: Array, highest: int) -> list[Scalar]:
    """(−1)^n H_n(s) for n = 0 … highest, so that h_(n+1) = −2 s h_n − 2 n h_(n−1)."""
    h: list[Scalar] = [1.0, -2.0 * s]
    for n in range(1, highest):
        h.append(h[1] * h[n] - 2.0 * n * h[n - 1])
    return h[: highest + 1]
