"""Thin boxes: sides in the ratios 1 : 10, 1 : 100 and 1 : 1000."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

import kernop as ko
from honesty_problems.case import Case, along, exact, laplace
from honesty_problems.case import manufactured_poisson as made_poisson

FAMILY = "thin"


def strip(height: float) -> ko.Box:
    return ko.Box([0, 0], [1, height])


def across(height: float) -> Any:
    """One half period across the strip, one period along it."""
    return lambda x: jnp.sin(2 * jnp.pi * x[..., 0] + 0.3) * jnp.cos(jnp.pi * x[..., 1] / height)


def lengthwise(x: Any) -> Any:
    """It varies along the strip alone."""
    return jnp.exp(x[..., 0]) * jnp.sin(4 * x[..., 0])


def tilted(height: float) -> Any:
    """A smooth function of x and y / height that is no product."""
    return lambda x: jnp.exp(-((x[..., 0] - 0.3 * x[..., 1] / height) ** 2)) + x[..., 1] / height


def waves_along(x: Any) -> Any:
    return jnp.sin(6 * jnp.pi * x[..., 0]) * (1 + x[..., 1])


def upright(x: Any) -> Any:
    return jnp.cos(2 * x[..., 1]) * (1 + (x[..., 0] / 0.02) ** 2)


def slab(x: Any) -> Any:
    return jnp.sin(2 * x[..., 0]) * jnp.cos(2 * x[..., 1]) * jnp.exp(10 * x[..., 2])


def heated_strip() -> ko.Problem:
    """−Δu = f, u = g at the ends, the flux is given on the long sides."""
    box = strip(0.05)
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=box, name="f"),
        ko.Dirichlet(on=box.face("left", "right"), name="g"),
        ko.Neumann(on=box.face("bottom", "top"), name="q"),
    )


def heated_data(u: Any) -> dict[str, Any]:
    slope = along(u, 1)
    outward = exact(lambda x: jnp.where(x[..., 1] > 0.025, 1.0, -1.0) * slope(x))
    return {"f": exact(lambda x: -laplace(u, 2)(x)), "g": exact(u), "q": outward}


CASES = (
    made_poisson(FAMILY, "1:10, across", 1e-6, strip(0.1), across(0.1)),
    made_poisson(FAMILY, "1:10, along", 1e-8, strip(0.1), lengthwise),
    made_poisson(FAMILY, "1:10, three periods along", 1e-3, strip(0.1), waves_along),
    made_poisson(FAMILY, "1:100, across", 1e-3, strip(0.01), across(0.01)),
    made_poisson(FAMILY, "1:100, along", 1e-6, strip(0.01), lengthwise),
    made_poisson(FAMILY, "1:100, tilted", 1e-6, strip(0.01), tilted(0.01)),
    made_poisson(FAMILY, "1:100, upright", 1e-6, ko.Box([0, 0], [0.02, 2]), upright),
    made_poisson(FAMILY, "1:1000, across", 1e-3, strip(0.001), across(0.001)),
    made_poisson(FAMILY, "1:1000, along", 1e-6, strip(0.001), lengthwise),
    made_poisson(FAMILY, "slab 1:20", 1e-3, ko.Box([0, 0, 0], [1, 1, 0.05]), slab),
    Case(
        FAMILY,
        "1:20, flux on the long sides",
        1e-6,
        heated_strip,
        heated_data(across(0.05)),
        exact(across(0.05)),
        stated=True,
    ),
)
