"""Manufactured solutions: the learned operator against closed forms, for many equations, conditions and domains."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.precision import float64

LINE, SQUARE, CUBE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1]), ko.Box([0, 0, 0], [1, 1, 1])
DISK, BALL = ko.Ball([0.2, -0.1], 0.8), ko.Ball([0, 0, 0], 1)
#: More points inside than functions; shared out by default, a ball has most of them on its boundary.
SPATIAL = {"f": 600, "g": 300}
#: The functions with which the default begins in space; it adds none if there may not be more.
FIRST = 1800
CYLINDER = ko.SpaceTime(ko.Interval(0, 1), (0, 1))


@jax.jit
def smooth(x):
    """A solution without symmetries, in any dimension."""
    k = jnp.arange(1, x.shape[-1] + 1)
    return jnp.sin(jnp.sum(k * x, axis=-1)) + 0.5 * jnp.exp(-jnp.sum(x, axis=-1)) + x[..., 0] ** 3


@jax.jit
def waves(x):
    return jnp.cos(7.0 * x[..., 0] + 0.3)


@jax.jit
def decaying(x):
    return jnp.sin(2.0 * x[..., 0] + 0.4) * jnp.exp(-x[..., 1]) + x[..., 1] ** 2


def permeability(x):
    return jnp.exp(0.5 * jnp.sum(x, axis=-1))


def left(x):
    return x[..., 0] < 0.2


def right(x):
    return x[..., 0] >= 0.2


def advection_diffusion(u):
    return -0.1 * ko.laplacian(u) + ko.dot([1.0, lambda x: x[..., 0]], ko.grad(u)) + 2.0 * u


def anisotropic(u):
    return -ko.div(
        ko.matvec(
            lambda x: jnp.stack(
                [
                    jnp.stack([1 + x[..., 0], 0.2 + 0 * x[..., 0]], -1),
                    jnp.stack([0.2 + 0 * x[..., 0], 1 + x[..., 1]], -1),
                ],
                -2,
            ),
            ko.grad(u),
        )
    )


#: Every method, with what it is given beside the problem: the case tells the points and the lengthscale.
METHODS = {
    "default": lambda case: {"budget": case.budget},
    "Full": lambda case: {**pointwise(case), "method": ko.Full()},
    "LowRank": lambda case: {**pointwise(case), "method": ko.LowRank()},
    "batches": lambda case: {"points": case.points, "method": ko.Subspace(batch=200)},
    "normal": lambda case: {"points": case.points, "method": ko.Subspace(solver="normal")},
    "representers": lambda case: {"points": case.points, "method": ko.Subspace(basis="representers")},
}


@dataclass(frozen=True)
class Case:
    """An equation, its solution, and the largest relative L2 error allowed to each of `METHODS`, in that order."""

    conditions: list[Any]
    allowed: tuple[float, ...]
    lengthscale: float = 1.0
    solution: Any = smooth
    points: Any = 700
    budget: int = 3000


def pointwise(case):
    """For the methods with a function at every point."""
    kernel = ko.Gaussian(case.lengthscale)
    return {"points": case.points, "kernel": kernel, "regularization": 1e-14, "weights": "balanced"}


def dirichlet(domain, op, allowed, **more):
    return Case([ko.Equation(op, on=domain), ko.Dirichlet(on=domain.boundary)], allowed, **more)


def poisson(u):
    return -ko.laplacian(u)


CASES = {
    "Poisson 1-D": dirichlet(LINE, poisson, (6e-12, 2e-8, 2e-8, 3e-11, 1e-7, 8e-7), points=60, lengthscale=0.4),
    "Poisson 2-D": dirichlet(SQUARE, poisson, (3e-12, 2e-8, 2e-7, 4e-10, 2e-7, 2e-7)),
    "Poisson 3-D": dirichlet(
        CUBE, poisson, (3e-11, 4e-6, 4e-6, 1e-5, 1e-4, 1e-6), lengthscale=1.5, points=SPATIAL, budget=FIRST
    ),
    "Poisson disk": dirichlet(DISK, poisson, (9e-13, 3e-8, 5e-8, 2e-10, 4e-7, 1e-6)),
    "Poisson ball": dirichlet(
        BALL, poisson, (5e-11, 5e-5, 6e-5, 1e-5, 4e-4, 5e-5), lengthscale=2.0, points=SPATIAL, budget=FIRST
    ),
    "Darcy": dirichlet(SQUARE, lambda u: -ko.div(permeability * ko.grad(u)), (3e-12, 1e-8, 2e-7, 3e-10, 2e-7, 2e-7)),
    "anisotropic": dirichlet(SQUARE, anisotropic, (3e-12, 2e-8, 1e-7, 4e-10, 2e-7, 2e-7)),
    "Helmholtz": dirichlet(
        LINE,
        lambda u: -ko.laplacian(u) - 64.0 * u,
        (1e-11, 4e-9, 4e-9, 3e-12, 2e-8, 9e-5),
        points=80,
        lengthscale=0.3,
        solution=waves,
    ),
    "Schrödinger": dirichlet(
        SQUARE,
        lambda u: -ko.laplacian(u) + (lambda x: 50.0 * (x[..., 0] < 0.5)) * u,
        (3e-12, 3e-8, 1e-7, 3e-10, 2e-7, 1e-7),
    ),
    "advection-diffusion": dirichlet(SQUARE, advection_diffusion, (3e-12, 1e-7, 2e-7, 3e-10, 2e-7, 2e-7)),
    "heat": Case(
        [
            ko.Equation(lambda u: ko.dt(u) - 0.1 * ko.laplacian(u), on=CYLINDER),
            ko.Dirichlet(on=CYLINDER.walls),
            ko.Initial(on=CYLINDER.initial),
        ],
        (2e-12, 2e-7, 2e-7, 4e-10, 2e-7, 1e-7),
        solution=decaying,
    ),
    "wave": Case(
        [
            ko.Equation(lambda u: ko.dt(u, 2) - ko.laplacian(u), on=CYLINDER),
            ko.Dirichlet(on=CYLINDER.walls),
            ko.Initial(on=CYLINDER.initial),
            ko.Initial(on=CYLINDER.initial, order=1, name="u1"),
        ],
        (1e-11, 7e-7, 7e-7, 2e-9, 1e-6, 2e-7),
        solution=decaying,
    ),
    "biharmonic 1-D": Case(
        [
            ko.Equation(lambda u: ko.partial(u, 0, 4), on=LINE),
            ko.Dirichlet(on=LINE.boundary),
            ko.Neumann(on=LINE.boundary),
        ],
        (8e-7, 5e-9, 2e-9, 8e-11, 8e-7, 1e-6),
        points=60,
        lengthscale=0.5,
    ),
    "biharmonic 2-D": Case(
        [
            ko.Equation(lambda u: ko.laplacian(ko.laplacian(u)), on=SQUARE),
            ko.Dirichlet(on=SQUARE.boundary),
            ko.Neumann(on=SQUARE.boundary),
        ],
        (9e-11, 3e-8, 5e-8, 6e-9, 3e-6, 4e-7),
    ),
    "Neumann and Dirichlet, square": Case(
        [
            ko.Equation(poisson, on=SQUARE),
            ko.Dirichlet(on=SQUARE.face("left", "right")),
            ko.Neumann(on=SQUARE.face("bottom", "top")),
        ],
        (2e-10, 2e-8, 2e-7, 3e-9, 3e-7, 1e-7),
    ),
    "Neumann and Dirichlet, disk": Case(
        [
            ko.Equation(poisson, on=DISK),
            ko.Dirichlet(on=DISK.boundary.where(left)),
            ko.Neumann(on=DISK.boundary.where(right)),
        ],
        (3e-11, 2e-7, 2e-7, 3e-9, 1e-6, 8e-7),
    ),
    "Robin": Case(
        [ko.Equation(poisson, on=SQUARE), ko.Robin(lambda x: 2.0 + x[..., 1], 1.0, on=SQUARE.boundary)],
        (3e-10, 1e-8, 2e-8, 4e-9, 2e-7, 1e-7),
    ),
    "Neumann only, with reaction": Case(
        [ko.Equation(lambda u: -ko.laplacian(u) + u, on=DISK), ko.Neumann(on=DISK.boundary)],
        (3e-11, 2e-7, 2e-7, 5e-9, 2e-6, 8e-7),
    ),
}


@pytest.mark.parametrize(("name", "method"), [(name, method) for name in CASES for method in METHODS])
def test_a_manufactured_solution_is_recovered(name, method):
    case = CASES[name]
    problem = ko.Problem(*case.conditions)
    operator = ko.learn(problem, **METHODS[method](case))
    u = operator(**problem.manufacture(case.solution, operator.points))
    x = problem.conditions[0].on.sample(400, "uniform", seed=99).x
    with float64():
        exact = np.asarray(case.solution(x))
    error = np.linalg.norm(u(x) - exact) / np.linalg.norm(exact)
    assert error < dict(zip(METHODS, case.allowed, strict=True))[method]
