"""Darcy flow −∇·(a∇u) = f on the unit square, u = g on its boundary: three permeabilities."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from kernop.geometry import Box
from kernop.language.calculus import div, grad, laplacian
from kernop.language.conditions import Dirichlet, Equation
from kernop.language.functions import Function
from kernop.language.problem import Problem
from kernop.language.unknowns import Operator
from kernop.paper.experiment import Experiment, Reported, random_nets, square_grid


def one(x: Array) -> Array:
    """a1 = 1."""
    return jnp.ones_like(x[..., 0])


def exponential(x: Array) -> Array:
    """a2 = exp(x + y)."""
    return jnp.exp(x[..., 0] + x[..., 1])


def checkerboard(x: Array) -> Array:
    """a3 = 1 where ⌊4x⌋ + ⌊4y⌋ is even, else 10.

    In the strong form this is −aΔu at every point. The test functions satisfy it, but it is not the Darcy problem
    with a continuous flux across the jumps.
    """
    return jnp.where((jnp.floor(4.0 * x[..., 0]) + jnp.floor(4.0 * x[..., 1])) % 2 == 0, 1.0, 10.0)


PERMEABILITIES: dict[str, tuple[Function, Reported]] = {
    "a1": (one, Reported(1.547, 2.531e-3, 5.083e-3)),
    "a2": (exponential, Reported(1.519, 4.454e-3, 8.143e-3)),
    "a3": (checkerboard, Reported(1.605, 6.629e-3, 8.272e-3)),
}


def darcy_problem(a: Function) -> Problem:
    """−∇·(a∇u) = f inside, u = g on the boundary."""
    return _on_square(lambda u: -div(a * grad(u)))


def strong_problem(a: Function) -> Problem:
    """−a Δu = f inside, u = g on the boundary: −∇·(a∇u) = f where a is constant, and no condition where it jumps."""
    return _on_square(lambda u: -(a * laplacian(u)))


def _on_square(op: Operator) -> Problem:
    square = Box([0, 0], [1, 1])
    return Problem(Equation(op, on=square, name="f"), Dirichlet(on=square.boundary, name="g"))


def darcy(case: str = "a2", *, nets: int = 50, seed: int = 0) -> Experiment:
    """The paper's experiment for permeability a1, a2 or a3."""
    a, paper = PERMEABILITIES[case]
    return Experiment(
        name=f"Darcy {case}",
        problem=strong_problem(a) if case == "a3" else darcy_problem(a),
        points={"f": 2500, "g": 1500},
        lengthscale=1.0,
        regularization=5e-5,
        family=random_nets(nets, 2, seed=seed),
        grid=square_grid(61),
        paper=paper,
    )
