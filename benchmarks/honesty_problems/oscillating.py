"""Oscillating solutions: a few periods along one axis, both, or in a direction between them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from honesty_problems.case import LINE, SQUARE, Case, along, flux_out, laplace, poisson
from honesty_problems.case import manufactured as made
from honesty_problems.case import manufactured_poisson as made_poisson

FAMILY = "oscillating"


def sines(*frequencies: float) -> Any:
    """∏ sin(π m_k x_k) over the axes whose frequency is not 0."""
    return lambda x: jnp.prod(
        jnp.stack([jnp.sin(jnp.pi * m * x[..., k]) for k, m in enumerate(frequencies) if m]), axis=0
    )


def sine_source(*frequencies: int) -> Case:
    """−Δu = ∏ sin(π m_k x_k), u = 0: f and u are the same up to a factor."""

    def f(x: Any) -> Any:
        return np.prod(np.sin(np.pi * np.asarray(frequencies) * x), axis=-1)

    factor = np.pi**2 * sum(m**2 for m in frequencies)
    name = "source " + " ".join(f"sin {m}π{axis}" for m, axis in zip(frequencies, "xyz", strict=False))
    return Case(FAMILY, name, 1e-3, poisson(SQUARE), {"f": f, "g": 0.0}, lambda x: f(x) / factor, stated=True)


def plane_wave(x: Any) -> Any:
    return jnp.cos(12 * x[..., 0] + 9 * x[..., 1] + 0.4)


def varying(x: Any) -> Any:
    return 2.0 + jnp.sin(3 * x[..., 0]) * jnp.cos(2 * x[..., 1])


def chirp(x: Any) -> Any:
    """From less than a period to many: the wave number grows from 0 to 40."""
    return jnp.sin(20 * x[..., 0] ** 2)


def advected(u: Any) -> Any:
    return lambda x: -0.1 * laplace(u, 2)(x) + along(u, 0)(x) + 0.5 * along(u, 1)(x)


CASES = (
    made_poisson(FAMILY, "sin 6πx sin 6πy", 1e-6, SQUARE, sines(6, 6)),
    made_poisson(FAMILY, "sin 6πx sin 6πy, coarse", 1e-3, SQUARE, sines(6, 6)),
    made_poisson(FAMILY, "sin 6πx", 1e-3, SQUARE, sines(6, 0)),
    made_poisson(FAMILY, "sin 8πy", 1e-6, SQUARE, sines(0, 8)),
    made_poisson(FAMILY, "sin 4πx sin 2πy", 1e-8, SQUARE, sines(4, 2)),
    made_poisson(FAMILY, "sin 3πx sin 7πy", 1e-3, SQUARE, sines(3, 7)),
    made_poisson(FAMILY, "1-D, 3 periods", 1e-8, LINE, sines(6)),
    made_poisson(FAMILY, "1-D, 20 periods", 1e-6, LINE, sines(40), stated=False),
    made_poisson(FAMILY, "1-D chirp", 1e-3, LINE, chirp, stated=False),
    made(
        FAMILY,
        "Helmholtz, a plane wave",
        1e-6,
        SQUARE,
        lambda u: -ko.laplacian(u) - 225.0 * u,
        plane_wave,
        lambda x: 0.0 * x[..., 0],
    ),
    made(
        FAMILY,
        "Darcy, sin 5πx sin 6πy",
        1e-3,
        SQUARE,
        lambda u: -ko.div(varying * ko.grad(u)),
        sines(5, 6),
        flux_out(varying, sines(5, 6), 2),
    ),
    made(
        FAMILY,
        "advection–diffusion, sin 6πx",
        1e-6,
        SQUARE,
        lambda u: -0.1 * ko.laplacian(u) + ko.dot([1.0, 0.5], ko.grad(u)),
        sines(6, 0),
        advected(sines(6, 0)),
    ),
    sine_source(5, 5),
    made_poisson(FAMILY, "sin 20πx sin 20πy", 1e-3, SQUARE, sines(20, 20), stated=False),
)
