"""Three and four dimensions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

import kernop as ko
from honesty_problems.case import flux_out
from honesty_problems.case import manufactured as made
from honesty_problems.case import manufactured_poisson as made_poisson

FAMILY = "dimensions"
CUBE, TESSERACT = ko.Box([0, 0, 0], [1, 1, 1]), ko.Box([0, 0, 0, 0], [1, 1, 1, 1])


def swell(x: Any) -> Any:
    return jnp.sin(x[..., 0] + 2 * x[..., 1]) * jnp.cos(1.5 * x[..., 2]) + x[..., 0] * x[..., 2]


def one_axis(x: Any) -> Any:
    return jnp.sin(2 * jnp.pi * x[..., 2])


def blob(x: Any) -> Any:
    return jnp.exp(-((x[..., 0] - 0.5) ** 2 + (x[..., 1] - 0.45) ** 2 + (x[..., 2] - 0.55) ** 2) / (2 * 0.15**2))


def sum_of_four(x: Any) -> Any:
    return jnp.exp(-jnp.sum((x - 0.4) ** 2, axis=-1)) + jnp.sin(x[..., 0] + x[..., 3])


def rising(x: Any) -> Any:
    return 1 + 0.5 * x[..., 0] * x[..., 1] + 0.3 * x[..., 2]


CASES = (
    made_poisson(FAMILY, "3-D Poisson, coarse", 1e-3, CUBE, swell),
    made_poisson(FAMILY, "3-D Poisson", 1e-6, CUBE, swell),
    made_poisson(FAMILY, "3-D, one period", 1e-3, CUBE, one_axis),
    made_poisson(FAMILY, "3-D bump σ = 0.15", 1e-3, CUBE, blob),
    made(FAMILY, "3-D Darcy", 1e-3, CUBE, lambda u: -ko.div(rising * ko.grad(u)), swell, flux_out(rising, swell, 3)),
    made_poisson(FAMILY, "4-D Poisson", 1e-3, TESSERACT, sum_of_four),
)
