"""The one place that computes P^(1) Q^(2) K: an operator on each argument of a kernel.

With normal forms P = Σ_α φ_α ∂^α and Q = Σ_β ψ_β ∂^β,

    P^(1) Q^(2) K(x, y) = Σ_γ Σ_{(α, β) ↦ γ} φ_α(x) ψ_β(y) ∂_x^α ∂_y^β K(x, y),

where pairs with the same derivative of K share it. The multi-indices are structure and the coefficients are data, so
one compiled function serves all operators with the same multi-indices.
"""

from __future__ import annotations

import operator
from functools import partial, reduce
from typing import Any

import jax
from jax import Array

from kernop.kernels import Kernel
from kernop.kernels.base import joint
from kernop.language.fields import MultiIndex

Alphas = tuple[MultiIndex, ...]


def _combine(
    kernel: Kernel, x: list[Array], phi: list[Array], alphas: Alphas, y: list[Array], psi: list[Array], betas: Alphas
) -> Array:
    """Σ_{α, β} φ_α ψ_β ∂_x^α ∂_y^β K for arrays that broadcast against each other.

    Nothing is added to 0 or multiplied by 1: every operation that is written takes time to compile, needed or not.
    """
    z, index = joint(kernel, x, y)
    signed = [b if index(alphas[0], beta)[1] > 0 else -b for beta, b in zip(betas, psi, strict=True)]  # by β alone
    weights: dict[MultiIndex, Array] = {}
    for alpha, a in zip(alphas, phi, strict=True):
        for beta, b in zip(betas, signed, strict=True):
            gamma, _ = index(alpha, beta)
            weights[gamma] = weights[gamma] + a * b if gamma in weights else a * b
    table = kernel.partials(z, list(weights))
    return reduce(operator.add, [weight * table[gamma] for gamma, weight in weights.items()])


def plain_pairwise(kernel: Kernel, x: Any, phi: Any, alphas: Alphas, y: Any, psi: Any, betas: Alphas) -> Any:
    """P_i^(1) Q_j^(2) K for all pairs: x (d, n), phi (A, n), y (d, m), psi (B, m) ↦ (n, m).

    One row for each coordinate, so that the innermost loop reads numbers that lie side by side: half of the time. With
    arrays of NumPy, and a kernel that takes them, it is computed at once: for a few points, without waiting for JAX.
    """
    return _combine(kernel, [*x[:, :, None]], [*phi[:, :, None]], alphas, [*y[:, None, :]], [*psi[:, None, :]], betas)


def plain_diagonal(kernel: Kernel, x: Any, phi: Any, alphas: Alphas) -> Any:
    """P_i^(1) P_i^(2) K(x_i, x_i), the squared RKHS norm of each functional, for x (d, n) and phi (A, n): (n,)."""
    return _combine(kernel, [*x], [*phi], alphas, [*x], [*phi], alphas)


#: The same, compiled.
pairwise = partial(jax.jit, static_argnums=(3, 6))(plain_pairwise)
diagonal = partial(jax.jit, static_argnums=(3,))(plain_diagonal)
