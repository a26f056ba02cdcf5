"""Domains that are known by points alone: a flower r ≤ 1 + 0.3 cos 3θ."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from honesty_problems.case import Case, FloatArray, exact, laplace, poisson

FAMILY = "clouds"


def inside(n: int, seed: int) -> FloatArray:
    """Points of the flower, uniform by area."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.3, 1.3, (6 * n, 2))
    angle = np.arctan2(x[:, 1], x[:, 0])
    return x[np.hypot(x[:, 0], x[:, 1]) < 1 + 0.3 * np.cos(3 * angle)][:n]


def rim(n: int) -> FloatArray:
    angle = 2 * np.pi * np.arange(n) / n
    return (1 + 0.3 * np.cos(3 * angle))[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


FLOWER = ko.PointCloud(inside(2500, 0), rim(400))


def waves(x: Any) -> Any:
    return jnp.sin(2 * x[..., 0] + 1) * jnp.cos(2 * x[..., 1])


def bump(x: Any) -> Any:
    return jnp.exp(-((x[..., 0] - 0.2) ** 2 + (x[..., 1] + 0.1) ** 2) / (2 * 0.1**2))


def on_flower(name: str, tol: float, u: Any) -> Case:
    source = laplace(u, 2)
    data = {"f": exact(lambda x: -source(x)), "g": exact(u)}
    places = lambda: (inside(2500, 77), rim(501))
    return Case(FAMILY, name, tol, poisson(FLOWER), data, exact(u), stated=True, places=places)


CASES = (
    on_flower("flower, smooth", 1e-6, waves),
    on_flower("flower, bump σ = 0.1", 1e-3, bump),
)
