"""Second-order elliptic equations with smooth coefficients."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from collection_problems.entry import Entry, along, dirichlet, exact, flux_out, made, poisson
from collection_problems.spectral import separable

FAMILY = "elliptic, smooth"
SQUARE, AROUND, DISK = ko.Box([0, 0], [1, 1]), ko.Box([-1, -1], [1, 1]), ko.Ball([0, 0], 1)
FASSHAUER = "Fasshauer, Meshfree Approximation Methods with MATLAB (2007), chapter 39"
RICE = "Rice, Houstis & Dyksen, A population of linear second order elliptic PDEs (1981)"


def sines(x: Any) -> Any:
    return jnp.sin(jnp.pi * x[..., 0]) * jnp.sin(jnp.pi * x[..., 1])


def polynomial(x: Any) -> Any:
    s, t = x[..., 0], x[..., 1]
    return 2.0**40 * (s * (1 - s) * t * (1 - t)) ** 10


def half_cosine(x: Any) -> Any:
    return jnp.sin(jnp.pi * x[..., 0]) * jnp.cos(jnp.pi * x[..., 1] / 2)


def bubble(x: Any) -> Any:
    return 16 * x[..., 0] * (1 - x[..., 0]) * x[..., 1] * (1 - x[..., 1])


def _a(x: Any) -> Any:
    return 2 - x[..., 0] ** 2 - x[..., 1] ** 2


def _b(x: Any) -> Any:
    return jnp.exp(x[..., 0] - x[..., 1])


def varying_source(x: Any) -> Any:
    along_x = along(lambda y: _a(y) * along(bubble, 0)(y), 0)
    along_y = along(lambda y: _b(y) * along(bubble, 1)(y), 1)
    return along_x(x) + along_y(x)


def varying(u: Any) -> Any:
    return ko.partial(_a * ko.partial(u, 0), 0) + ko.partial(_b * ko.partial(u, 1), 1)


def _grow(x: Any) -> Any:
    return jnp.exp(x[..., 0] * x[..., 1])


def _fall(x: Any) -> Any:
    return jnp.exp(-x[..., 0] * x[..., 1])


def _sink(x: Any) -> Any:
    return 1 / (1 + x[..., 0] + x[..., 1])


def first_of_rice(x: Any) -> Any:
    return 0.75 * _grow(x) * sines(x)


def rice_operator(u: Any) -> Any:
    return ko.partial(_grow * ko.partial(u, 0), 0) + ko.partial(_fall * ko.partial(u, 1), 1) - u * _sink


def rice_source(x: Any) -> Any:
    u = first_of_rice
    along_x = along(lambda y: _grow(y) * along(u, 0)(y), 0)
    along_y = along(lambda y: _fall(y) * along(u, 1)(y), 1)
    return along_x(x) + along_y(x) - _sink(x) * u(x)


def layers(x: Any) -> Any:
    return 0.5 * (jnp.cosh(10 * x[..., 0]) / jnp.cosh(10.0) + jnp.cosh(20 * x[..., 1]) / jnp.cosh(20.0))


def layers_source(x: Any) -> Any:
    """(20² − 100) cosh 20y / (2 cosh 20)."""
    return 150 * jnp.cosh(20 * x[..., 1]) / jnp.cosh(20.0)


def flat_hill(x: Any) -> Any:
    return 100 / (100 + (x[..., 0] - 0.2) ** 2 + 2 * x[..., 1] ** 2)


def swirl(x: Any) -> Any:
    return jnp.exp(x[..., 0]) * jnp.sin(2 * x[..., 1]) + x[..., 0] * x[..., 2] ** 2 + jnp.cos(x[..., 2] - x[..., 1])


def _hills(x: Any) -> Any:
    return 1.1 + jnp.sin(x[..., 0] + 2 * x[..., 1]) * jnp.cos(x[..., 1])


def mixed() -> ko.Problem:
    """A flux on the right and the top, values on the left and the bottom, and a reaction."""
    return ko.Problem(
        ko.Equation(lambda u: -ko.div(_hills * ko.grad(u)) + 2.0 * u, on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.face("left", "bottom"), name="g"),
        ko.Condition(lambda u: _hills * ko.normal_derivative(u), on=SQUARE.face("right", "top"), name="q"),
    )


def mixed_truth(x: Any) -> Any:
    return jnp.cos(3 * x[..., 0] - 2 * x[..., 1]) + x[..., 1] * jnp.exp(x[..., 0])


def mixed_flux(x: Any) -> Any:
    right = x[..., 0] > 1 - 1e-12
    return _hills(x) * jnp.where(right, along(mixed_truth, 0)(x), along(mixed_truth, 1)(x))


def mixed_source(x: Any) -> Any:
    return flux_out(_hills, mixed_truth, 2)(x) + 2 * mixed_truth(x)


ripple = separable(
    lambda x, d: d @ d, lambda y, d: d @ d, lambda x, y: 10 * np.sin(8 * x * (y - 1)), 96
)  # fmt: skip

ENTRIES = (
    poisson(FAMILY, "Poisson, sin πx sin πy", SQUARE, sines,
            "Müller & Zeinhofer, Achieving high accuracy with PINNs via energy natural gradients (2023), 2-D Poisson"),
    poisson(FAMILY, "NIST polynomial, p = 10", SQUARE, polynomial,
            "Mitchell, A collection of 2D elliptic problems (2013), analytic solution"),
    made(FAMILY, "Fasshauer, sin πx cos πy/2", SQUARE, ko.laplacian, half_cosine,
         lambda x: -1.25 * jnp.pi**2 * half_cosine(x), FASSHAUER),
    made(FAMILY, "Fasshauer, two coefficients", SQUARE, varying, bubble, varying_source, FASSHAUER),
    made(FAMILY, "Rice 1, exponential coefficients", SQUARE, rice_operator, first_of_rice, rice_source, RICE),
    made(FAMILY, "Rice 10, cosh 10x and cosh 20y", SQUARE, lambda u: ko.laplacian(u) - 100 * u, layers,
         layers_source, RICE),
    poisson(FAMILY, "Larsson–Fornberg, a flat hill on the disk", DISK, flat_hill,
            "Larsson & Fornberg, A numerical study of some RBF based solution methods for elliptic PDEs (2003)"),
    Entry(FAMILY, "Trefethen p16, 10 sin 8x(y−1)", dirichlet(AROUND, ko.laplacian),
          {"f": lambda x: 10 * np.sin(8 * x[..., 0] * (x[..., 1] - 1)), "g": 0.0}, ripple,
          "Trefethen, Spectral Methods in MATLAB (2000), program 16; Chebyshev collocation, 97 × 97",
          needs_parts=True),
    poisson(FAMILY, "3-D Poisson, exponential and trigonometric", ko.Box([0, 0, 0], [1, 1, 1]), swirl,
            "manufactured, after Boisvert, Howe & Kahaner, FISHPAK/GAMS 3-D tests (1984)"),
    Entry(FAMILY, "Darcy with a reaction, fluxes on two sides", mixed,
          {"f": exact(mixed_source), "g": exact(mixed_truth), "q": exact(mixed_flux)}, exact(mixed_truth),
          "manufactured, after Rice & Boisvert, Solving Elliptic Problems Using ELLPACK (1985), mixed conditions"),
)  # fmt: skip
