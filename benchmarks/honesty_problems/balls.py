"""Disks and balls."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.special import jv

import kernop as ko
from honesty_problems.case import Case, along, dirichlet, exact, laplace, poisson
from honesty_problems.case import manufactured_poisson as made_poisson

FAMILY = "balls"
DISK, BALL = ko.Ball([0, 0], 1), ko.Ball([0, 0, 0], 1)
SMALL = ko.Ball([2.0, -1.0], 0.25)


def waves(x: Any) -> Any:
    return jnp.sin(2 * x[..., 0] + 1) * jnp.cos(3 * x[..., 1])


def small_waves(x: Any) -> Any:
    return jnp.exp(3 * (x[..., 0] - 2)) * jnp.sin(8 * x[..., 1])


def bump(x: Any) -> Any:
    return jnp.exp(-((x[..., 0] - 0.2) ** 2 + (x[..., 1] + 0.1) ** 2) / (2 * 0.1**2))


def spiral(x: Any) -> Any:
    """A solution of Δu + 100 u = 0 of angular order 3."""
    radius, angle = np.hypot(x[..., 0], x[..., 1]), np.arctan2(x[..., 1], x[..., 0])
    return jv(3, 10 * radius) * np.cos(3 * angle)


def swell(x: Any) -> Any:
    return jnp.cos(x[..., 0] - x[..., 1]) * jnp.exp(x[..., 2])


def cooled_disk() -> ko.Problem:
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=DISK, name="f"), ko.Robin(3.0, 1.0, on=DISK.boundary, name="r")
    )


def cooled_data(u: Any) -> dict[str, Any]:
    outward = lambda x: x[..., 0] * along(u, 0)(x) + x[..., 1] * along(u, 1)(x)
    return {"f": exact(lambda x: -laplace(u, 2)(x)), "r": exact(lambda x: 3 * u(x) + outward(x))}


CASES = (
    made_poisson(FAMILY, "disk", 1e-8, DISK, waves),
    made_poisson(FAMILY, "a small disk far away", 1e-6, SMALL, small_waves),
    made_poisson(FAMILY, "disk, bump σ = 0.1", 1e-3, DISK, bump),
    made_poisson(FAMILY, "ball", 1e-3, BALL, swell),
    Case(
        FAMILY,
        "disk, f = 1",
        1e-6,
        poisson(DISK),
        {"f": 1.0, "g": 0.0},
        lambda x: (1 - np.sum(np.square(x), axis=-1)) / 4,
        stated=True,
    ),
    Case(
        FAMILY,
        "disk, Helmholtz 10",
        1e-6,
        dirichlet(DISK, lambda u: -ko.laplacian(u) - 100.0 * u),
        {"f": 0.0, "g": spiral},
        spiral,
        stated=True,
    ),
    Case(FAMILY, "disk, Robin", 1e-6, cooled_disk, cooled_data(waves), exact(waves), stated=True),
)
