"""Local solutions and local sources: Gaussian bumps exp(−|x − c|² / 2σ²)."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from honesty_problems.case import LINE, SQUARE, Case, flux_out, poisson
from honesty_problems.case import manufactured as made
from honesty_problems.case import manufactured_poisson as made_poisson

FAMILY = "local"


def bump(centre: tuple[float, ...], width: float, x: Any) -> Any:
    """Written with jax.numpy."""
    return jnp.exp(-sum((x[..., k] - c) ** 2 for k, c in enumerate(centre)) / (2 * width**2))


def on_smooth(x: Any) -> Any:
    """A bump on a smooth ground that is larger than it."""
    return jnp.cos(x[..., 0] + 2 * x[..., 1]) + 0.3 * bump((0.7, 0.6), 0.06, x)


def dipole(x: Any) -> Any:
    return bump((0.3, 0.4), 0.06, x) - bump((0.65, 0.55), 0.08, x)


def rising(x: Any) -> Any:
    return jnp.exp(x[..., 0] + x[..., 1])


def source(centre: tuple[float, float], width: float, x: Any) -> Any:
    """The bump as a source, with NumPy."""
    return np.exp(-((x[..., 0] - centre[0]) ** 2 + (x[..., 1] - centre[1]) ** 2) / (2 * width**2))


def potential(centre: tuple[float, float], width: float, x: Any) -> Any:
    """−Δu = source, u = 0: the double sine series, whose coefficients are those of the Gaussian on all of ℝ².

    The walls are so far from the bump, and the coefficients fall so fast, that nothing above rounding is left out.
    """
    n = np.arange(1, int(12 / (np.pi * width)) + 2)
    first, second = (
        2 * width * np.sqrt(2 * np.pi) * np.exp(-((n * np.pi * width) ** 2) / 2) * np.sin(n * np.pi * c) for c in centre
    )
    weights = first[:, None] * second[None, :] / (np.pi**2 * (n[:, None] ** 2 + n[None, :] ** 2))
    left, right = (np.sin(np.pi * np.multiply.outer(x[..., k], n)) for k in (0, 1))
    return np.einsum("...m,mn,...n->...", left, weights, right)


def from_source(name: str, tol: float, centre: tuple[float, float], width: float) -> Case:
    inputs = {"f": partial(source, centre, width), "g": 0.0}
    return Case(FAMILY, name, tol, poisson(SQUARE), inputs, partial(potential, centre, width), stated=True)


CASES = (
    made_poisson(FAMILY, "bump σ = 0.1", 1e-6, SQUARE, partial(bump, (0.45, 0.6), 0.1)),
    made_poisson(FAMILY, "bump σ = 0.07, coarse", 1e-3, SQUARE, partial(bump, (0.6, 0.35), 0.07)),
    made_poisson(FAMILY, "bump σ = 0.05, coarse", 1e-3, SQUARE, partial(bump, (0.52, 0.47), 0.05)),
    made_poisson(FAMILY, "bump σ = 0.05", 1e-6, SQUARE, partial(bump, (0.31, 0.72), 0.05)),
    made_poisson(FAMILY, "bump σ = 0.08 at a wall", 1e-3, SQUARE, partial(bump, (0.98, 0.4), 0.08)),
    made_poisson(FAMILY, "dipole", 1e-3, SQUARE, dipole),
    made_poisson(FAMILY, "bump on a smooth ground", 1e-6, SQUARE, on_smooth),
    made_poisson(FAMILY, "1-D bump σ = 0.05", 1e-8, LINE, partial(bump, (0.37,), 0.05)),
    made(
        FAMILY,
        "Darcy, bump σ = 0.07",
        1e-6,
        SQUARE,
        lambda u: -ko.div(rising * ko.grad(u)),
        partial(bump, (0.4, 0.3), 0.07),
        flux_out(rising, partial(bump, (0.4, 0.3), 0.07), 2),
    ),
    from_source("source σ = 0.05", 1e-6, (0.5, 0.55), 0.05),
    from_source("source σ = 0.05, coarse", 1e-3, (0.5, 0.55), 0.05),
)
