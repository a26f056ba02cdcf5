"""The Schrödinger equation −Δu + Vu = f on the unit square, u = 0 on its boundary, with a hexagonal barrier V."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from kernop.geometry import Box
from kernop.language.calculus import laplacian
from kernop.language.problem import Dirichlet, Equation, Problem
from kernop.paper.experiment import Experiment, Reported, square_grid
from kernop.paper.families import schrodinger_modes


def hexagon(x: Array) -> Array:
    """V = 1000 on the hexagon max(|x−½|, ½|x−½| + √3/2 |y−½|) ≤ 0.2, else 0."""
    s, t = jnp.abs(x[..., 0] - 0.5), jnp.abs(x[..., 1] - 0.5)
    return jnp.where(jnp.maximum(s, 0.5 * s + 0.5 * np.sqrt(3.0) * t) <= 0.2, 1000.0, 0.0)


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
