"""The heat equation u_t − 0.1 u_xx = f on (0, 1) × (0, 1), zero on the walls.

The paper states u(x, 0) = 0, but its test functions do not vanish at t = 0: the initial data is an input here.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from kernop.geometry import Interval, SpaceTime
from kernop.language.calculus import dt, laplacian
from kernop.language.conditions import Dirichlet, Equation, Initial
from kernop.language.problem import Problem
from kernop.paper.experiment import Experiment, Reported, square_grid


def heat_modes(x: Array) -> Array:
    """The paper's 100 decaying modes in (x, t), (i, j) ∈ {0, …, 9}², zero on the walls."""
    i, j = (a.ravel() for a in np.meshgrid(np.arange(10), np.arange(10), indexing="ij"))
    m, rate = i % 4 + 1, j % 4 + 1
    phi = 2.0 * np.pi * i / 10.0
    s, t = x[..., :1], x[..., 1:2]
    first = jnp.sin(2 * np.pi * m * s + phi) * jnp.exp(-rate * t)
    second = 0.3 * jnp.sin(2 * np.pi * (m + 1) * s) * jnp.exp(-(rate + 1.0) * t)
    return 1.2 * s * (1.0 - s) * (first + second)


def heat() -> Experiment:
    """The paper's heat equation, u_t − 0.1 u_xx = f with zero walls: its points, settings and test family."""
    cylinder = SpaceTime(Interval(0, 1), (0, 1))
    problem = Problem(
        Equation(lambda u: dt(u) - 0.1 * laplacian(u), on=cylinder, name="f"),
        Dirichlet(on=cylinder.walls, name="g", data=0),
        Initial(on=cylinder.initial, name="u0"),
    )
    return Experiment(
        name="heat",
        problem=problem,
        points={"f": 1800, "g": 1800, "u0": 1400},
        lengthscale=0.08,
        regularization=1e-5,
        family=heat_modes,
        grid=square_grid(101),
        paper=Reported(3.610, 1.874e-3, 4.227e-3),
    )
