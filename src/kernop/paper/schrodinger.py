"""The Schrödinger equation −Δu + Vu = f on the unit square, u = 0 on its boundary, with a hexagonal barrier V."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from kernop.geometry import Box
from kernop.language.calculus import laplacian
from kernop.language.conditions import Dirichlet, Equation
from kernop.language.problem import Problem
from kernop.paper.experiment import Experiment, Reported, square_grid


def hexagon(x: Array) -> Array:
    """V = 1000 on the hexagon max(|x−½|, ½|x−½| + √3/2 |y−½|) ≤ 0.2, else 0."""
    s, t = jnp.abs(x[..., 0] - 0.5), jnp.abs(x[..., 1] - 0.5)
    return jnp.where(jnp.maximum(s, 0.5 * s + 0.5 * np.sqrt(3.0) * t) <= 0.2, 1000.0, 0.0)


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


def schrodinger() -> Experiment:
    """The paper's Schrödinger equation, −Δu + Vu = f with a hexagonal V: its points, settings and test family."""
    square = Box([0, 0], [1, 1])
    problem = Problem(
        Equation(lambda u: -laplacian(u) + hexagon * u, on=square, name="f"),
        Dirichlet(on=square.boundary, name="g", data=0),
    )
    return Experiment(
        name="Schrödinger",
        problem=problem,
        points={"f": 1200, "g": 800},
        lengthscale=0.08,
        regularization=3e-3,
        family=schrodinger_modes,
        grid=square_grid(101),
        paper=Reported(0.210, 4.549e-2, 7.480e-2),
    )
