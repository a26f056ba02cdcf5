"""The Helmholtz equation −u″ − ω²u = f on (0, 1), u(0) = −0.1, u(1) = 0.1."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from kernop.geometry import Interval
from kernop.language.calculus import laplacian
from kernop.language.conditions import Dirichlet, Equation
from kernop.language.functions import Function
from kernop.language.problem import Problem
from kernop.paper.experiment import Experiment, Reported, random_nets

PAPER: dict[tuple[int, bool], Reported] = {
    (20, False): Reported(1.533, 4.278e-3, 8.525e-3),
    (200, False): Reported(1.670, 1.610e-3, 1.609e-3),
    (20, True): Reported(1.533, 1.068e-3, 2.354e-3),
    (200, True): Reported(0.380, 9.929e-4, 1.585e-3),
}


def helmholtz_waves(omega: float, count: int = 100, *, seed: int = 0) -> Function:
    """−0.1 + 0.2x + x(1−x) sin(ω_k x + φ_k), ω_k = ω(0.7 + 0.6U), φ_k ~ U(0, 2π)."""
    rng = np.random.default_rng(seed)
    frequency = omega * (0.7 + 0.6 * rng.random(count))
    phase = 2.0 * np.pi * rng.random(count)

    return _with_ends(lambda x: jnp.sin(frequency * x[..., :1] + phase))


def helmholtz_nets(count: int = 100, *, seed: int = 0) -> Function:
    """−0.1 + 0.2x + x(1−x) NN_k(x) with random nets NN_k."""
    return _with_ends(random_nets(count, 1, seed=seed))


def _with_ends(v: Function) -> Function:
    """−0.1 + 0.2x + x(1−x) v(x), which has the boundary values of the equation."""

    def u(x: Array) -> Array:
        s = x[..., :1]
        return -0.1 + 0.2 * s + s * (1.0 - s) * v(x)

    return u


def helmholtz(omega: int = 20, *, smooth: bool = False, count: int = 100, seed: int = 0) -> Experiment:
    """The paper's experiment for ω = 20 or 200, with oscillatory or smooth test functions."""
    line = Interval(0, 1)
    problem = Problem(
        Equation(lambda u: -laplacian(u) - omega**2 * u, on=line, name="f"),
        Dirichlet(on=line.boundary, name="g", data=lambda x: -0.1 + 0.2 * x[..., 0]),
    )
    return Experiment(
        name=f"Helmholtz {omega}{' smooth' if smooth else ''}",
        problem=problem,
        points={"f": 1000, "g": 2},
        lengthscale=2.0 / omega,
        regularization=1e-7,
        family=helmholtz_nets(count, seed=seed) if smooth else helmholtz_waves(omega, count, seed=seed),
        grid=np.linspace(0.0, 1.0, 2001)[:, None],
        paper=PAPER[omega, smooth],
    )
