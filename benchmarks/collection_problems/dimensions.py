"""Four and more dimensions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from collection_problems.entry import Entry, Published, dirichlet, exact, heat, poisson

FAMILY = "four and more dimensions"
PINNACLE = "Hao et al., PINNacle (2023)"
RITZ = "E & Yu, The Deep Ritz method (2018)"


def cube(d: int) -> ko.Box:
    return ko.Box([0] * d, [1] * d)


def quarter_sines(x: Any) -> Any:
    return jnp.sum(jnp.sin(jnp.pi / 2 * x), axis=-1)


def cosines(x: Any) -> Any:
    return jnp.sum(jnp.cos(jnp.pi * x), axis=-1)


def eigenmode(x: Any) -> Any:
    return jnp.prod(jnp.sin(jnp.pi * x), axis=-1)


def pairs(x: Any) -> Any:
    """x₁x₂ + x₃x₄ + …: harmonic."""
    return np.sum(np.asarray(x)[..., ::2] * np.asarray(x)[..., 1::2], axis=-1)


def insulated() -> ko.Problem:
    """−Δu + π²u = f, ∂u/∂n = 0 on [0, 1]⁵."""
    domain = cube(5)
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) + np.pi**2 * u, on=domain, name="f"),
        ko.Neumann(on=domain.boundary, name="q"),
    )


BALL = ko.SpaceTime(ko.Ball([0] * 5, 1), (0, 1))


def ball() -> ko.Problem:
    """u_t − Δu/5 = f, ∂u/∂n = q on the sphere."""
    return ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u) / 5, on=BALL, name="f"),
        ko.Neumann(on=BALL.walls, name="q"),
        ko.Initial(on=BALL.initial, name="u0"),
    )


def growing(x: Any) -> Any:
    x = np.asarray(x)
    return np.exp(np.sum(x[..., :-1] ** 2, axis=-1) / 2 + x[..., -1])


def growing_source(x: Any) -> Any:
    return -np.sum(np.asarray(x)[..., :-1] ** 2, axis=-1) / 5 * growing(x)


def three_and_time(x: Any) -> Any:
    return jnp.exp(-0.3 * jnp.pi**2 * x[..., 3]) * jnp.prod(jnp.sin(jnp.pi * x[..., :3]), axis=-1)


def gauss(x: Any) -> Any:
    return jnp.exp(-jnp.sum((x - 0.4) ** 2, axis=-1))


ENTRIES = (
    poisson(FAMILY, "4-D Poisson, a product of sines", cube(4), eigenmode,
            "the first eigenfunction; Han, Jentzen & E's cube in four dimensions"),
    poisson(FAMILY, "PINNacle PNd, d = 5", cube(5), quarter_sines, f"{PINNACLE}, PNd",
            published=Published(4.67e-4, f"{PINNACLE}, L-BFGS")),
    poisson(FAMILY, "5-D Poisson, Σ cos πx", cube(5), cosines,
            "Müller & Zeinhofer, Achieving high accuracy with PINNs via energy natural gradients (2023), 5-D Poisson"),
    Entry(FAMILY, "Deep Ritz, Neumann, d = 5", insulated,
          {"f": exact(lambda x: 2 * jnp.pi**2 * cosines(x)), "q": 0.0}, exact(cosines), f"{RITZ}, section 3.3"),
    poisson(FAMILY, "PINNacle PNd, d = 8", cube(8), quarter_sines, f"{PINNACLE}, PNd in more dimensions"),
    Entry(FAMILY, "Deep Ritz, d = 10", dirichlet(cube(10), lambda u: -ko.laplacian(u)), {"f": 0.0, "g": pairs},
          pairs, f"{RITZ}, section 3.2"),
    poisson(FAMILY, "10-D Poisson, Σ sin πx/2", cube(10), quarter_sines, f"{PINNACLE}, PNd in more dimensions"),
    Entry(FAMILY, "PINNacle HNd, a 5-ball in time", ball,
          {"f": growing_source, "q": growing, "u0": growing}, growing, f"{PINNACLE}, HNd",
          published=Published(1.19e-4, f"{PINNACLE}, L-BFGS")),
    heat(FAMILY, "heat in three dimensions", ko.SpaceTime(cube(3), (0, 1)), 0.1, three_and_time,
         "Carslaw & Jaeger, Conduction of Heat in Solids (1959), section 6.2"),
    poisson(FAMILY, "8-D Poisson, a Gaussian", cube(8), gauss, "after Genz's family of Gaussians (1984)"),
)  # fmt: skip
