"""Another resolution along each axis: thin boxes, fast waves, unequal diffusion."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from collection_problems.entry import (
    Entry,
    Published,
    along,
    axis_sum,
    dirichlet,
    made,
    poisson,
    spacetime,
    wave,
)  # fmt: skip

FAMILY = "anisotropic"
SQUARE, LINE = ko.Box([0, 0], [1, 1]), ko.Interval(0, 1)
FOURIER = "Wang, Wang & Perdikaris, On the eigenvector bias of Fourier feature networks (2021)"
HERBIN = "Herbin & Hubert, Benchmark on discretization schemes for anisotropic diffusion, FVCA5 (2008)"


def stripes(x: Any) -> Any:
    return jnp.sin(20 * jnp.pi * x[..., 0]) * jnp.sin(jnp.pi * x[..., 1])


def multiscale_heat(x: Any) -> Any:
    """u_t = u_xx / (500π)² + u_yy / π²."""
    return np.exp(-((20 / 500) ** 2 + 1) * x[..., 2]) * np.asarray(
        np.sin(20 * np.pi * x[..., 0]) * np.sin(np.pi * x[..., 1])
    )


def fast_modes(x: Any) -> Any:
    mode = lambda n: jnp.sin(n * jnp.pi * x[..., 0]) * jnp.cos(10 * n * jnp.pi * x[..., 1])
    return mode(1) + mode(2)


def thin_mode(n: int) -> Any:
    """u_t = u_xx / (nπ)²."""
    return lambda x: np.exp(-x[..., 1]) * np.sin(n * np.pi * x[..., 0])


def long_strip(x: Any) -> Any:
    """Varies over the length of a box 100 : 1."""
    return jnp.sin(0.2 * x[..., 0]) * jnp.exp(0.5 * x[..., 1]) + 0.01 * x[..., 0]


def fin(x: Any) -> Any:
    """Harmonic."""
    return np.cos(0.5 * x[..., 0]) * np.cosh(0.5 * x[..., 1])


def bubble(x: Any) -> Any:
    return 16 * x[..., 0] * (1 - x[..., 0]) * x[..., 1] * (1 - x[..., 1])


def mild(u: Any) -> Any:
    """−∇·(K∇u), K = (1.5, 0.5; 0.5, 1.5)."""
    mixed = ko.partial(ko.partial(u, 0), 1)
    return -1.5 * ko.laplacian(u) - 1.0 * mixed


def mild_source(x: Any) -> Any:
    mixed = along(along(bubble, 0), 1)(x)
    return -1.5 * (along(bubble, 0, 2)(x) + along(bubble, 1, 2)(x)) - mixed


DELTA = 1e-3


def _tensor(x: Any) -> tuple[Any, Any, Any]:
    """Diffusion that turns about a point: 1 along circles, δ across them."""
    s, t = x[..., 0] + 0.5, x[..., 1] + 0.5
    square = s**2 + t**2
    return (DELTA * s**2 + t**2) / square, (DELTA - 1) * s * t / square, (s**2 + DELTA * t**2) / square


def sines(x: Any) -> Any:
    return jnp.sin(jnp.pi * x[..., 0]) * jnp.sin(jnp.pi * x[..., 1])


def turning(u: Any) -> Any:
    a, b, c = (lambda x, k=k: _tensor(x)[k] for k in range(3))
    flux_x = a * ko.partial(u, 0) + b * ko.partial(u, 1)
    flux_y = b * ko.partial(u, 0) + c * ko.partial(u, 1)
    return -ko.partial(flux_x, 0) - ko.partial(flux_y, 1)


def turning_source(x: Any) -> Any:
    flux_x = lambda y: _tensor(y)[0] * along(sines, 0)(y) + _tensor(y)[1] * along(sines, 1)(y)
    flux_y = lambda y: _tensor(y)[1] * along(sines, 0)(y) + _tensor(y)[2] * along(sines, 1)(y)
    return -along(flux_x, 0)(x) - along(flux_y, 1)(x)


def stretched(x: Any) -> Any:
    return jnp.sin(12 * x[..., 0]) * jnp.exp(-x[..., 1]) + x[..., 1] ** 2


STRIP = ko.Box([0, 0], [100, 1])
FIN = ko.Box([0, 0], [20, 1])
WALL = ko.SpaceTime(SQUARE, (0, 5))
ENTRIES = (
    Entry(FAMILY, "PINNacle Heat2d-MS",
          spacetime(WALL, lambda u: ko.dt(u) - axis_sum(u, 1 / (500 * np.pi) ** 2, 1 / np.pi**2)),
          {"f": 0.0, "g": 0.0, "u0": multiscale_heat}, multiscale_heat, "Hao et al., PINNacle (2023), Heat2d-MS",
          published=Published(6.21e-2, "Hao et al., PINNacle (2023), PINN")),
    wave(FAMILY, "wave of speed 10", ko.SpaceTime(LINE, (0, 1)), 10.0, fast_modes, FOURIER),
    Entry(FAMILY, "heat, sin 500πx",
          spacetime(ko.SpaceTime(LINE, (0, 1)), lambda u: ko.dt(u) - ko.laplacian(u) / (500 * np.pi) ** 2),
          {"f": 0.0, "g": 0.0, "u0": thin_mode(500)}, thin_mode(500), FOURIER),
    Entry(FAMILY, "heat, sin 50πx",
          spacetime(ko.SpaceTime(LINE, (0, 1)), lambda u: ko.dt(u) - ko.laplacian(u) / (50 * np.pi) ** 2),
          {"f": 0.0, "g": 0.0, "u0": thin_mode(50)}, thin_mode(50), f"{FOURIER}, with a tenth of the frequency"),
    made(FAMILY, "diffusion 1/(500π)² and 1/π²", SQUARE,
         lambda u: -axis_sum(u, 1 / (500 * np.pi) ** 2, 1 / np.pi**2), stripes,
         lambda x: ((20 / 500) ** 2 + 1) * stripes(x), "Hao et al., PINNacle (2023), the operator of Heat2d-MS"),
    poisson(FAMILY, "Poisson, sin 20πx sin πy", SQUARE, stripes,
            "the modes of Hao et al., PINNacle (2023), Heat2d-MS, in Poisson's equation"),
    poisson(FAMILY, "Poisson on a strip 100 : 1", STRIP, long_strip, "a slab; manufactured"),
    Entry(FAMILY, "Laplace on a fin 20 : 1", dirichlet(FIN, ko.laplacian), {"f": 0.0, "g": fin}, fin,
          "after Incropera & DeWitt, Fundamentals of Heat and Mass Transfer (2007), section 3.6; a harmonic function"),
    made(FAMILY, "FVCA5 test 1.1, mild anisotropy", SQUARE, mild, bubble, mild_source, HERBIN),
    made(FAMILY, "FVCA5 test 5, turning anisotropy", SQUARE, turning, sines, turning_source,
         f"{HERBIN}, turned about a point outside of the square"),
    made(FAMILY, "stretched grid, ε = 1e-3", SQUARE, lambda u: -axis_sum(u, 1e-3, 1.0), stretched,
         lambda x: -1e-3 * along(stretched, 0, 2)(x) - along(stretched, 1, 2)(x),
         "after Trottenberg, Oosterlee & Schüller, Multigrid (2001), section 5.1; manufactured"),
)  # fmt: skip
