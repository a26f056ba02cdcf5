"""Manufactured solutions: the learned operator against closed forms, for many equations, conditions and domains."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.precision import float64

LINE, SQUARE, CUBE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1]), ko.Box([0, 0, 0], [1, 1, 1])
DISK, BALL = ko.Ball([0.2, -0.1], 0.8), ko.Ball([0, 0, 0], 1)
CYLINDER = ko.SpaceTime(ko.Interval(0, 1), (0, 1))


def smooth(x):
    """A solution without symmetries, in any dimension."""
    k = jnp.arange(1, x.shape[-1] + 1)
    return jnp.sin(jnp.sum(k * x, axis=-1)) + 0.5 * jnp.exp(-jnp.sum(x, axis=-1)) + x[..., 0] ** 3


def waves(x):
    return jnp.cos(7.0 * x[..., 0] + 0.3)


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


@dataclass
class Case:
    conditions: list[Any]
    tolerance: float
    lengthscale: float = 1.0
    solution: Any = smooth
    points: int = 700


def dirichlet(domain, op, tolerance, **more):
    return Case([ko.Equation(op, on=domain), ko.Dirichlet(on=domain.boundary)], tolerance, **more)


def poisson(u):
    return -ko.laplacian(u)


CASES = {
    "Poisson 1-D": dirichlet(LINE, poisson, 1e-7, points=60, lengthscale=0.4),
    "Poisson 2-D": dirichlet(SQUARE, poisson, 1e-7),
    "Poisson 3-D": dirichlet(CUBE, poisson, 1e-5, lengthscale=1.5, points=1000),
    "Poisson disk": dirichlet(DISK, poisson, 1e-7),
    "Poisson ball": dirichlet(BALL, poisson, 1e-4, lengthscale=2.0, points=1000),
    "Darcy": dirichlet(SQUARE, lambda u: -ko.div(permeability * ko.grad(u)), 1e-7),
    "anisotropic": dirichlet(SQUARE, anisotropic, 1e-7),
    "Helmholtz": dirichlet(
        LINE, lambda u: -ko.laplacian(u) - 64.0 * u, 1e-5, points=80, lengthscale=0.3, solution=waves
    ),
    "Schrödinger": dirichlet(SQUARE, lambda u: -ko.laplacian(u) + (lambda x: 50.0 * (x[..., 0] < 0.5)) * u, 1e-7),
    "advection-diffusion": dirichlet(SQUARE, advection_diffusion, 1e-6),
    "heat": Case(
        [
            ko.Equation(lambda u: ko.dt(u) - 0.1 * ko.laplacian(u), on=CYLINDER),
            ko.Dirichlet(on=CYLINDER.walls),
            ko.Initial(on=CYLINDER.initial),
        ],
        1e-6,
        solution=decaying,
    ),
    "wave": Case(
        [
            ko.Equation(lambda u: ko.dt(u, 2) - ko.laplacian(u), on=CYLINDER),
            ko.Dirichlet(on=CYLINDER.walls),
            ko.Initial(on=CYLINDER.initial),
            ko.Initial(on=CYLINDER.initial, order=1, name="u1"),
        ],
        1e-6,
        solution=decaying,
    ),
    "biharmonic 1-D": Case(
        [
            ko.Equation(lambda u: ko.partial(u, 0, 4), on=LINE),
            ko.Dirichlet(on=LINE.boundary),
            ko.Neumann(on=LINE.boundary),
        ],
        1e-6,
        points=60,
        lengthscale=0.5,
    ),
    "biharmonic 2-D": Case(
        [
            ko.Equation(lambda u: ko.laplacian(ko.laplacian(u)), on=SQUARE),
            ko.Dirichlet(on=SQUARE.boundary),
            ko.Neumann(on=SQUARE.boundary),
        ],
        1e-6,
    ),
    "Neumann and Dirichlet, square": Case(
        [
            ko.Equation(poisson, on=SQUARE),
            ko.Dirichlet(on=SQUARE.face("left", "right")),
            ko.Neumann(on=SQUARE.face("bottom", "top")),
        ],
        1e-6,
    ),
    "Neumann and Dirichlet, disk": Case(
        [
            ko.Equation(poisson, on=DISK),
            ko.Dirichlet(on=DISK.boundary.where(left)),
            ko.Neumann(on=DISK.boundary.where(right)),
        ],
        1e-6,
    ),
    "Robin": Case(
        [ko.Equation(poisson, on=SQUARE), ko.Robin(lambda x: 2.0 + x[..., 1], 1.0, on=SQUARE.boundary)], 1e-6
    ),
    "Neumann only, with reaction": Case(
        [ko.Equation(lambda u: -ko.laplacian(u) + u, on=DISK), ko.Neumann(on=DISK.boundary)], 1e-6
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_full_estimator_recovers_a_manufactured_solution(name):
    case = CASES[name]
    problem = ko.Problem(*case.conditions)
    operator = ko.learn(
        problem,
        kernel=ko.Gaussian(case.lengthscale),
        points=case.points,
        regularization=1e-14,
        weights="balanced",
        method=ko.Full(),
    )
    u = operator(**problem.manufacture(case.solution, operator.points))
    x = problem.conditions[0].on.sample(400, "uniform", seed=99).x
    with float64():
        exact = np.asarray(case.solution(x))
    error = np.linalg.norm(u(x) - exact) / np.linalg.norm(exact)
    assert error < case.tolerance
