"""Smooth solutions, on domains of several sizes and places, under several operators and conditions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.special import airy

import kernop as ko
from honesty_problems.case import LINE, SQUARE, Case, along, dirichlet, exact, flux_out, laplace
from honesty_problems.case import manufactured as made
from honesty_problems.case import manufactured_poisson as made_poisson

FAMILY = "smooth"
FAR = ko.Box([10.0, -22.0], [13.0, -19.0])
#: A symmetric diffusion tensor with the eigenvalues 3 and 1/3, turned by 30°.
TENSOR = np.array([[7 / 3, 2 / np.sqrt(3)], [2 / np.sqrt(3), 1.0]])


def waves(x: Any) -> Any:
    return jnp.sin(2 * x[..., 0] + 1) * jnp.cos(3 * x[..., 1]) + 0.5 * jnp.exp(x[..., 0] * x[..., 1])


def saddle(x: Any) -> Any:
    return jnp.exp(1.5 * x[..., 0]) * jnp.cos(1.5 * x[..., 1])


def ridge(x: Any) -> Any:
    return jnp.cos(3 * x[..., 0] - 2 * x[..., 1]) / (1.5 + x[..., 0])


def growing(x: Any) -> Any:
    return jnp.exp(x[..., 0]) * jnp.sin(5 * x[..., 0]) + 1.0


def far(x: Any) -> Any:
    return jnp.sin(x[..., 0]) * jnp.cos(1.3 * x[..., 1]) + 4.0


def permeability(x: Any) -> Any:
    return 1.0 + x[..., 0] ** 2 + jnp.sin(2 * x[..., 1]) ** 2


def tensor_flux(u: Any) -> Any:
    """−∇·(A ∇u) for the constant tensor A."""
    mixed = along(along(u, 0), 1)
    rows = [(TENSOR[0, 0], along(u, 0, 2)), (2 * TENSOR[0, 1], mixed), (TENSOR[1, 1], along(u, 1, 2))]
    return lambda x: -sum(weight * part(x) for weight, part in rows)


def mixed_sides() -> ko.Problem:
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) + u, on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.face("left"), name="g"),
        ko.Neumann(on=SQUARE.face("right", "top"), name="q"),
        ko.Robin(2.0, 1.0, on=SQUARE.face("bottom"), name="r"),
    )


def mixed_data(u: Any) -> dict[str, Any]:
    def outward(x: Any) -> Any:
        return jnp.where(x[..., 0] > 1 - 1e-9, along(u, 0)(x), along(u, 1)(x))

    return {
        "f": exact(lambda x: u(x) - laplace(u, 2)(x)),
        "g": exact(u),
        "q": exact(outward),
        "r": exact(lambda x: 2 * u(x) - along(u, 1)(x)),
    }


def plate() -> ko.Problem:
    """A plate on simple supports: Δ²u = f, u = g, Δu = m."""
    return ko.Problem(
        ko.Equation(lambda u: ko.laplacian(ko.laplacian(u)), on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.boundary, name="g"),
        ko.Condition(ko.laplacian, on=SQUARE.boundary, name="m"),
    )


def plate_data(u: Any) -> dict[str, Any]:
    bent = laplace(u, 2)
    return {"f": exact(laplace(bent, 2)), "g": exact(u), "m": exact(bent)}


def airy_sum(x: Any) -> Any:
    first, _, second, _ = airy(x[..., 0])
    return first + 0.1 * second


def helmholtz(square: float) -> Any:
    return lambda u: -ko.laplacian(u) - square * u


def helmholtz_source(u: Any, square: float) -> Any:
    return lambda x: -laplace(u, 1)(x) - square * u(x)


CASES = (
    made_poisson(FAMILY, "Poisson", 1e-8, SQUARE, waves),
    made_poisson(FAMILY, "Laplace, harmonic data", 1e-6, SQUARE, saddle),
    made_poisson(FAMILY, "Poisson, coarse tolerance", 1e-3, SQUARE, ridge),
    made_poisson(FAMILY, "Poisson, far from the origin", 1e-6, FAR, far),
    made(
        FAMILY,
        "Darcy",
        1e-8,
        SQUARE,
        lambda u: -ko.div(permeability * ko.grad(u)),
        ridge,
        flux_out(permeability, ridge, 2),
    ),
    made(FAMILY, "tensor", 1e-6, SQUARE, lambda u: -ko.div(ko.matvec(TENSOR, ko.grad(u))), waves, tensor_flux(waves)),
    made(FAMILY, "Helmholtz 15", 1e-8, LINE, helmholtz(225.0), growing, helmholtz_source(growing, 225.0)),
    made(
        FAMILY,
        "Helmholtz near a resonance",
        1e-6,
        LINE,
        helmholtz(np.pi**2 + 0.02),
        growing,
        helmholtz_source(growing, np.pi**2 + 0.02),
    ),
    Case(FAMILY, "Dirichlet, Neumann, Robin", 1e-6, mixed_sides, mixed_data(waves), exact(waves), stated=True),
    Case(FAMILY, "plate on supports", 1e-6, plate, plate_data(waves), exact(waves), stated=True),
    Case(
        FAMILY,
        "Airy",
        1e-8,
        dirichlet(ko.Interval(-5, 2), lambda u: ko.laplacian(u) - (lambda x: x[..., 0]) * u),
        {"f": 0.0, "g": airy_sum},
        airy_sum,
        stated=True,
    ),
)
