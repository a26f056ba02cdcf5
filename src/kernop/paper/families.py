"""Families of test functions: exact solutions, from which data is made by automatic differentiation.

Each family maps x (n, d) to (n, M): M functions at once, written with jax.numpy.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from kernop.language.functions import Function


def random_nets(count: int, dim: int, *, width: int = 20, seed: int = 0) -> Function:
    """Neural networks with one hidden tanh layer and random Gaussian weights.

    u(x) = w·tanh(Wx + b) + c, weights N(0, 1/fan-in), biases N(0, 1/4). The paper does not give its architecture;
    this one is ours, chosen so that the paper's estimator has errors like those that the paper reports.
    """
    rng = np.random.default_rng(seed)
    inner = rng.normal(scale=1.0 / np.sqrt(dim), size=(count, dim, width))
    bias = rng.normal(scale=0.5, size=(count, width))
    outer = rng.normal(scale=1.0 / np.sqrt(width), size=(count, width))
    offset = rng.normal(scale=0.5, size=count)

    def nets(x: Array) -> Array:
        hidden = jnp.tanh(jnp.einsum("nd,mdw->nmw", x, inner) + bias)
        return jnp.einsum("nmw,mw->nm", hidden, outer) + offset

    return nets


def helmholtz_waves(omega: float, count: int = 100, *, seed: int = 0) -> Function:
    """−0.1 + 0.2x + x(1−x) sin(ω_k x + φ_k), ω_k = ω(0.7 + 0.6U), φ_k ~ U(0, 2π)."""
    rng = np.random.default_rng(seed)
    frequency = omega * (0.7 + 0.6 * rng.random(count))
    phase = 2.0 * np.pi * rng.random(count)

    def waves(x: Array) -> Array:
        s = x[..., :1]
        return -0.1 + 0.2 * s + s * (1.0 - s) * jnp.sin(frequency * s + phase)

    return waves


def helmholtz_nets(count: int = 100, *, seed: int = 0) -> Function:
    """−0.1 + 0.2x + x(1−x) NN_k(x) with random nets NN_k."""
    nets = random_nets(count, 1, seed=seed)

    def smooth(x: Array) -> Array:
        s = x[..., :1]
        return -0.1 + 0.2 * s + s * (1.0 - s) * nets(x)

    return smooth


def schrodinger_modes(x: Array) -> Array:
    """The paper's 100 oscillatory modes on the unit square, (i, j) ∈ {0, …, 9}², zero on the boundary."""
    i, j = (a.ravel() for a in np.meshgrid(np.arange(10), np.arange(10), indexing="ij"))
    m, n = i % 4 + 1, j % 4 + 1
    phi, psi = 2.0 * np.pi * i / 10.0, 2.0 * np.pi * j / 10.0
    s, t = x[..., :1], x[..., 1:2]
    waves = jnp.sin(2 * np.pi * m * s + phi) * jnp.sin(2 * np.pi * n * t + psi)
    waves = waves + 0.5 * jnp.cos(2 * np.pi * (m + n) * s + phi)
    waves = waves + 0.35 * jnp.sin(2 * np.pi * (m * s + n * t) + psi)
    return 1.5 * s * (1.0 - s) * t * (1.0 - t) * waves


def heat_modes(x: Array) -> Array:
    """The paper's 100 decaying modes in (x, t), (i, j) ∈ {0, …, 9}², zero on the walls."""
    i, j = (a.ravel() for a in np.meshgrid(np.arange(10), np.arange(10), indexing="ij"))
    m, rate = i % 4 + 1, j % 4 + 1
    phi = 2.0 * np.pi * i / 10.0
    s, t = x[..., :1], x[..., 1:2]
    first = jnp.sin(2 * np.pi * m * s + phi) * jnp.exp(-rate * t)
    second = 0.3 * jnp.sin(2 * np.pi * (m + 1) * s) * jnp.exp(-(rate + 1.0) * t)
    return 1.2 * s * (1.0 - s) * (first + second)
