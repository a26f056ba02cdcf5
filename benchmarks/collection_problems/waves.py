"""Waves in space and time."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.special import j0

import kernop as ko
from collection_problems.entry import Entry, Published, along, exact, spacetime, wave

FAMILY = "waves"
LINE = ko.Interval(0, 1)
STRING = ko.SpaceTime(LINE, (0, 1))


def two_modes(x: Any) -> Any:
    mode = lambda n: jnp.sin(n * jnp.pi * x[..., 0]) * jnp.cos(2 * n * jnp.pi * x[..., 1])
    return mode(1) + 0.5 * mode(4)


def membrane(x: Any) -> Any:
    s, t = jnp.sin(jnp.pi * x[..., 0]), jnp.sin(jnp.pi * x[..., 1])
    return s * t * jnp.cos(np.sqrt(2) * jnp.pi * x[..., 2])


def pulses(width: float) -> Any:
    """The formula of d'Alembert: a Gaussian that splits, and the images that make u = 0 at the ends."""

    def gauss(s: Any) -> Any:
        return sum(
            jnp.exp(-((s - 0.4 - 2 * k) ** 2) / (2 * width**2)) - jnp.exp(-((s + 0.4 - 2 * k) ** 2) / (2 * width**2))
            for k in range(-2, 3)
        )

    return lambda x: (gauss(x[..., 0] - x[..., 1]) + gauss(x[..., 0] + x[..., 1])) / 2


def drum_modes() -> tuple[Any, Any]:
    """Sine coefficients of exp(−40((x − 0.4)² + y²)) on [−1, 1]², by the trapezoidal rule, and frequencies."""
    s = np.linspace(-1, 1, 2001)[1:-1]
    n = np.arange(1, 61)
    sines = np.sin(n[:, None] * np.pi * (s + 1) / 2)
    a, b = sines @ np.exp(-40 * (s - 0.4) ** 2) * 1e-3, sines @ np.exp(-40 * s**2) * 1e-3
    return np.outer(a, b), np.pi / 2 * np.hypot(n[:, None], n[None, :])


def drum(x: Any) -> Any:
    weights, frequencies = drum_modes()
    n = np.arange(1, 61)
    total = []
    for part in np.array_split(np.asarray(x), max(1, len(x) // 250)):
        along_x = np.sin(n * np.pi * (part[:, :1] + 1) / 2)
        along_y = np.sin(n * np.pi * (part[:, 1:2] + 1) / 2)
        clocks = np.cos(frequencies * part[:, 2, None, None])
        total.append(np.einsum("ij,mi,mj,mij->m", weights, along_x, along_y, clocks))
    return np.concatenate(total)


def telegraph(u: Any) -> Any:
    """u_tt + 8u_t + 4u − u_xx."""
    return ko.dt(u, 2) + 8 * ko.dt(u) + 4 * u - ko.laplacian(u)


def telegraph_truth(x: Any) -> Any:
    return jnp.exp(-x[..., 1]) * jnp.sin(x[..., 0])


def telegraph_source(x: Any) -> Any:
    """(1 − 8 + 4 + 1) u."""
    return -2 * telegraph_truth(x)


def circular(x: Any) -> Any:
    """A standing wave on a disk, k = 10."""
    return j0(10 * np.hypot(x[..., 0], x[..., 1])) * np.cos(10 * x[..., 2] + 0.3)


def circular_rate(x: Any) -> Any:
    return -10 * j0(10 * np.hypot(x[..., 0], x[..., 1])) * np.sin(10 * x[..., 2] + 0.3)


def packet(x: Any) -> Any:
    """iu_t + u_xx = 0 from exp(−x² + 2ix)."""
    s, t = x[..., 0], x[..., 1]
    spread = 1 + 4j * t
    return np.exp((-(s**2) + 2j * s - 4j * t) / spread) / np.sqrt(spread)


def _index(x: Any) -> Any:
    return (1 + 0.5 * jnp.sin(3 * x[..., 0])) ** 2


def inhomogeneous(x: Any) -> Any:
    return jnp.cos(6 * x[..., 0] - 7 * x[..., 1]) + x[..., 0] * x[..., 1] ** 2


def inhomogeneous_source(x: Any) -> Any:
    u = inhomogeneous
    return along(u, 1, 2)(x) - along(lambda y: _index(y) * along(u, 0)(y), 0)(x)


DRUM = ko.SpaceTime(ko.Box([-1, -1], [1, 1]), (0, 1))
ROOM = ko.SpaceTime(ko.Ball([0, 0], 1), (0, 1))
ROD = ko.SpaceTime(ko.Interval(0, np.pi), (0, 1))
EMPTY = ko.SpaceTime(ko.Interval(-4, 6), (0, 1))
ENTRIES = (
    wave(FAMILY, "PINNacle Wave1d-C", STRING, 2.0, two_modes,
         "Wang, Yu & Perdikaris, When and why PINNs fail to train (2022); Hao et al., PINNacle (2023), Wave1d-C",
         published=Published(9.79e-2, "Hao et al., PINNacle (2023), PINN-NTK")),
    wave(FAMILY, "membrane, sin πx sin πy", ko.SpaceTime(ko.Box([0, 0], [1, 1]), (0, 1)), 1.0, membrane,
         "Langtangen & Linge, Finite Difference Computing with PDEs (2017), section 2.12"),
    wave(FAMILY, "d'Alembert, σ = 0.05", STRING, 1.0, pulses(0.05),
         "Strauss, Partial Differential Equations (2008), section 3.2"),
    Entry(FAMILY, "Trefethen p20, a drum", spacetime(DRUM, lambda u: ko.dt(u, 2) - ko.laplacian(u), velocity=True),
          {"f": 0.0, "g": 0.0, "u0": lambda x: np.exp(-40 * ((x[..., 0] - 0.4) ** 2 + x[..., 1] ** 2)), "v0": 0.0},
          drum, "Trefethen, Spectral Methods in MATLAB (2000), program 20; sine series, 60 × 60"),
    Entry(FAMILY, "telegraph equation", spacetime(ROD, telegraph, velocity=True),
          {"f": exact(telegraph_source), "g": 0.0, "u0": exact(telegraph_truth),
           "v0": exact(lambda x: -telegraph_truth(x))}, exact(telegraph_truth),
          "Dehghan & Shokri, A numerical method for solving the hyperbolic telegraph equation (2008)"),
    Entry(FAMILY, "standing wave on a disk, k = 10",
          spacetime(ROOM, lambda u: ko.dt(u, 2) - ko.laplacian(u), velocity=True),
          {"f": 0.0, "g": circular, "u0": circular, "v0": circular_rate}, circular,
          "Morse & Ingard, Theoretical Acoustics (1968), section 5.2"),
    Entry(FAMILY, "free Schrödinger packet", spacetime(EMPTY, lambda u: 1j * ko.dt(u) + ko.laplacian(u)),
          {"f": 0.0, "g": packet, "u0": packet}, packet,
          "Griffiths, Introduction to Quantum Mechanics (2005), problem 2.43"),
    Entry(FAMILY, "wave in an inhomogeneous string",
          spacetime(STRING, lambda u: ko.dt(u, 2) - ko.div(_index * ko.grad(u)), velocity=True),
          {"f": exact(inhomogeneous_source), "g": exact(inhomogeneous), "u0": exact(inhomogeneous),
           "v0": exact(along(inhomogeneous, 1))}, exact(inhomogeneous),
          "after Langtangen & Linge, Finite Difference Computing with PDEs (2017), section 2.7; manufactured"),
)  # fmt: skip
