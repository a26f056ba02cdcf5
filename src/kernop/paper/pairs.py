"""Sources and solutions of −u″ − ω²u = f on (0, 1), u(0) = −0.1, u(1) = 0.1: what the Green operator learns from."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

import numpy as np
from jax import Array
from scipy.linalg import solve_banded

from kernop.basics.errors import FloatArray

#: The grid of the method, and how many times finer the one is on which the labels are found.
POINTS, FINER = 100, 100
#: The boundary values u(0) and u(1).
ENDS = (-0.1, 0.1)


def exact_green(omega: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """G(x, y) = sin(ω min(x, y)) sin(ω(1 − max(x, y))) / (ω sin ω): −u″ − ω²u = δ_x, u(0) = u(1) = 0."""
    low, high = np.minimum(x, y), np.maximum(x, y)
    return np.sin(omega * low) * np.sin(omega * (1.0 - high)) / (omega * np.sin(omega))


def exact_offset(omega: float, y: FloatArray) -> FloatArray:
    """β(y): −β″ − ω²β = 0 with the boundary values."""
    return (ENDS[0] * np.sin(omega * (1.0 - y)) + ENDS[1] * np.sin(omega * y)) / np.sin(omega)


GridValues = TypeVar("GridValues", FloatArray, Array)


class Pairs(NamedTuple, Generic[GridValues]):
    """n sources f and solutions u on a grid, (m, n) each, of NumPy or JAX."""

    sources: GridValues
    solutions: GridValues


def training_pairs(omega: float, n: int = 100, seed: int = 0) -> Pairs[FloatArray]:
    """f = 100 · GP with covariance exp(−d²/0.01), and the solutions u of −u″ − ω²u = f with the boundary values."""
    fine = np.linspace(0.0, 1.0, (POINTS - 1) * FINER + 1)
    sources = 100.0 * _gaussian_process(fine, n, np.random.default_rng(seed))
    return Pairs(sources[::FINER], solve(omega, sources)[::FINER])


def _gaussian_process(x: FloatArray, n: int, rng: np.random.Generator, scale: float = 0.1) -> FloatArray:
    """n draws at x (p,), (p, n), with covariance exp(−d²/ℓ²): Gaussian averages of white noise.

    exp(−(x − y)²/ℓ²) = (2/ℓ√π) ∫ exp(−2(x − s)²/ℓ²) exp(−2(y − s)²/ℓ²) ds, and a sum over s at a distance of ℓ/4 is the
    integral to rounding.
    """
    step = scale / 4.0
    s = np.arange(-4.0 * scale, 1.0 + 4.0 * scale + step / 2, step)
    bumps = np.exp(-2.0 * ((x[:, None] - s) / scale) ** 2) * np.sqrt(2.0 * step / (scale * np.sqrt(np.pi)))
    return bumps @ rng.normal(size=(len(s), n))


def solve(omega: float, sources: FloatArray) -> FloatArray:
    """−u″ − ω²u = f on a uniform grid of [0, 1], (p, n) ↦ (p, n), by Numerov's differences of fourth order.

    −(u_{j−1} − 2u_j + u_{j+1})/h² = (g_{j−1} + 10g_j + g_{j+1})/12 with g = f + ω²u.
    """
    inner, h = len(sources) - 2, 1.0 / (len(sources) - 1)
    beside, middle = -1.0 / h**2 - omega**2 / 12.0, 2.0 / h**2 - 10.0 * omega**2 / 12.0
    bands = np.repeat([[beside], [middle], [beside]], inner, axis=1)
    right = (sources[:-2] + 10.0 * sources[1:-1] + sources[2:]) / 12.0
    right[0] -= beside * ENDS[0]
    right[-1] -= beside * ENDS[1]
    first, last = (np.full((1, sources.shape[1]), value) for value in ENDS)
    return np.concatenate([first, solve_banded((1, 1), bands, right), last])
