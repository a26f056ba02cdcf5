"""The inverse multiquadric kernel."""

from __future__ import annotations

import math
from collections.abc import Collection

from jax import Array

from kernop.basics.stored import stored
from kernop.kernels.radial import Radial


@stored("InverseMultiquadric")
class InverseMultiquadric(Radial):
    """K(x, y) = (1 + |x − y|² / ℓ²)^(−1/2), ℓ = lengthscale. Smooth, with long tails."""

    in_numpy = True

    @property
    def smoothness(self) -> float:
        return math.inf

    def profile(self, t: Array, orders: Collection[int]) -> dict[int, Array]:
        """F^(m)(t) = (−1)^m (1/2)(3/2)⋯(m − 1/2) (1 + t)^(−1/2 − m)."""
        base, value = 1.0 / (1.0 + t), (1.0 + t) ** -0.5
        return {m: math.prod(-(i + 0.5) for i in range(m)) * value * base**m for m in orders}
