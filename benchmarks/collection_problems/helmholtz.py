"""Helmholtz equations: a few to many waves, real and complex."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.special import y0

import kernop as ko
from collection_problems.entry import Entry, along, dirichlet, laplace, made
from collection_problems.spectral import separable

FAMILY = "Helmholtz"
SQUARE, AROUND, DISK = ko.Box([0, 0], [1, 1]), ko.Box([-1, -1], [1, 1]), ko.Ball([0, 0], 1)
CUBE = ko.Box([-1, -1, -1], [1, 1, 1])
LONG = ko.Interval(0, 8)


def helmholtz(k: float) -> Any:
    """Δu + k² u."""
    return lambda u: ko.laplacian(u) + k**2 * u


def source(u: Any, k: float, dim: int = 2) -> Any:
    lap = laplace(u, dim)
    return lambda x: lap(x) + k**2 * u(x)


def product(*frequencies: float) -> Any:
    """Π sin ω_k x_k."""
    return lambda x: jnp.prod(jnp.sin(jnp.asarray(frequencies) * x), axis=-1)


def cosines(x: Any) -> Any:
    return jnp.cos(15 * x[..., 0]) * jnp.cos(15 * x[..., 1])


def locelm(x: Any) -> Any:
    s = x[..., 0]
    return jnp.sin(3 * jnp.pi * s + 3 * jnp.pi / 20) * jnp.cos(2 * jnp.pi * s + jnp.pi / 10) + 2


def point_source(x: Any) -> Any:
    """Y₀(20 |x − c|) of a source outside the disk."""
    return y0(20 * np.hypot(x[..., 0] - 1.3, x[..., 1] - 0.3))


K, ANGLE = 20.0, np.pi / 5
DIRECTION = np.array([np.cos(ANGLE), np.sin(ANGLE)])


def plane_wave(x: Any) -> Any:
    return np.exp(1j * K * (np.asarray(x) @ DIRECTION))


def impedance() -> ko.Problem:
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) - K**2 * u, on=SQUARE, name="f"),
        ko.Robin(-1j * K, 1.0, on=SQUARE.boundary, name="g"),
    )


def impedance_data(x: Any) -> Any:
    """∂u/∂n − iku of the plane wave."""
    x = np.asarray(x)
    faces = np.stack([x[..., 0], 1 - x[..., 0], x[..., 1], 1 - x[..., 1]])
    normals = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])
    out = (normals @ DIRECTION)[np.argmin(np.abs(faces), axis=0)]
    return 1j * K * (out - 1) * plane_wave(x)


def oscillatory(x: Any) -> Any:
    """sin(1 / (α + r)), α = 1/10π."""
    return jnp.sin(1 / (0.1 / jnp.pi + _radius(x)))


def _radius(x: Any) -> Any:
    return jnp.sqrt(x[..., 0] ** 2 + x[..., 1] ** 2)


def _well(x: Any) -> Any:
    return 1 / (0.1 / jnp.pi + _radius(x)) ** 4


def oscillatory_source(x: Any) -> Any:
    return -laplace(oscillatory, 2)(x) - _well(x) * oscillatory(x)


def medium(x: Any) -> Any:
    """The square of a refractive index with a lens."""
    return 1 + 0.8 * jnp.exp(-8 * (x[..., 0] ** 2 + x[..., 1] ** 2))


def lens_truth(x: Any) -> Any:
    return jnp.sin(12 * x[..., 0] + 3 * x[..., 1] ** 2) * jnp.exp(-x[..., 1])


def lens_source(x: Any) -> Any:
    return laplace(lens_truth, 2)(x) + 225 * medium(x) * lens_truth(x)


trefethen = separable(
    lambda x, d: d @ d + 81 * np.eye(len(x)), lambda y, d: d @ d,
    lambda x, y: np.exp(-10 * ((y - 1) ** 2 + (x - 0.5) ** 2)), 96,
)  # fmt: skip

ENTRIES = (
    made(FAMILY, "k = 1, sin πx sin 4πy", AROUND, helmholtz(1), product(np.pi, 4 * np.pi),
         source(product(np.pi, 4 * np.pi), 1), "Wang, Teng & Perdikaris, Gradient flow pathologies in PINNs (2021)"),
    made(FAMILY, "DeepXDE, k = 4π", SQUARE, lambda u: -ko.laplacian(u) - 16 * np.pi**2 * u,
         product(4 * np.pi, 4 * np.pi), lambda x: 16 * np.pi**2 * product(4 * np.pi, 4 * np.pi)(x),
         "DeepXDE demonstrations, Helmholtz equation over a 2D square domain, n = 2"),
    made(FAMILY, "Townsend–Olver, ω = 15", AROUND, helmholtz(15 * np.sqrt(2)), cosines,
         lambda x: 0.0 * x[..., 0], "Townsend & Olver, The automatic solution of PDEs (2015), at a lower frequency"),
    made(FAMILY, "Dong–Li, 20 periods on a line", LONG, lambda u: ko.laplacian(u) - 10 * u, locelm,
         lambda x: along(locelm, 0, 2)(x) - 10 * locelm(x), "Dong & Li, Local extreme learning machines (2021), 1-D"),
    Entry(FAMILY, "Trefethen p17, k = 9", dirichlet(AROUND, helmholtz(9)),
          {"f": lambda x: np.exp(-10 * ((x[..., 1] - 1) ** 2 + (x[..., 0] - 0.5) ** 2)), "g": 0.0}, trefethen,
          "Trefethen, Spectral Methods in MATLAB (2000), program 17; Chebyshev collocation, 97 × 97",
          needs_parts=True),
    Entry(FAMILY, "point source outside a disk, k = 20", dirichlet(DISK, helmholtz(20)),
          {"f": 0.0, "g": point_source}, point_source,
          "after Barnett & Betcke, Stability and convergence of the method of fundamental solutions (2008)"),
    Entry(FAMILY, "plane wave with an impedance, k = 20", impedance, {"f": 0.0, "g": impedance_data}, plane_wave,
          "Melenk & Babuška, The partition of unity finite element method (1996), section 4"),
    made(FAMILY, "NIST oscillatory, α = 1/10π", SQUARE, lambda u: -ko.laplacian(u) - u * _well, oscillatory,
         oscillatory_source, "Mitchell, A collection of 2D elliptic problems (2013), oscillatory", needs_parts=True),
    made(FAMILY, "3-D, sin 4πx sin 4πy sin 3πz", CUBE, helmholtz(1), product(4 * np.pi, 4 * np.pi, 3 * np.pi),
         source(product(4 * np.pi, 4 * np.pi, 3 * np.pi), 1, 3),
         "Cho et al., Separable physics-informed neural networks (2023), (2+1)-d Helmholtz"),
    made(FAMILY, "lens, k = 15", AROUND, lambda u: ko.laplacian(u) + u * (lambda x: 225 * medium(x)), lens_truth,
         lens_source, "after Gillman, Barnett & Martinsson, variable media (2015); manufactured"),
)  # fmt: skip
