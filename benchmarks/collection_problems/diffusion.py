"""Heat in space and time."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.special import j0

import kernop as ko
from collection_problems.entry import Entry, along, exact, heat, spacetime

FAMILY = "heat"
LINE, AROUND = ko.Interval(0, 1), ko.Interval(-1, 1)
ZERO = 2.404825557695773


def fading(rate: float) -> Any:
    return lambda x: jnp.exp(-rate * x[..., 1]) * jnp.sin(jnp.pi * x[..., 0])


def cooling_disk(x: Any) -> Any:
    """The slowest mode of a disk, κ = 0.2."""
    return np.exp(-0.2 * ZERO**2 * x[..., 2]) * j0(ZERO * np.hypot(x[..., 0], x[..., 1]))


def spreading(x: Any) -> Any:
    """A Gaussian of σ = 0.1 at first, κ = 0.05."""
    square = 0.01 + 0.1 * x[..., 1]
    return jnp.sqrt(0.01 / square) * jnp.exp(-((x[..., 0] - 0.2) ** 2) / (2 * square))


def polynomial(x: Any) -> Any:
    return 1 + x[..., 0] ** 2 + 3 * x[..., 1] ** 2 + 1.2 * x[..., 2]


def insulated() -> ko.Problem:
    cylinder = ko.SpaceTime(LINE, (0, 0.5))
    return ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=cylinder, name="f"),
        ko.Neumann(on=cylinder.walls, name="q"),
        ko.Initial(on=cylinder.initial, name="u0"),
    )


def insulated_truth(x: Any) -> Any:
    mode = lambda n: np.exp(-((n * np.pi) ** 2) * x[..., 1]) * np.cos(n * np.pi * x[..., 0])
    return 1 + mode(1) + 0.5 * mode(3)


def _conductivity(x: Any) -> Any:
    return 0.1 * (1 + 0.8 * jnp.sin(6 * x[..., 0]) * jnp.cos(4 * x[..., 1]))


def plate(x: Any) -> Any:
    s, t, tau = x[..., 0], x[..., 1], x[..., 2]
    return jnp.exp(-tau) * jnp.sin(3 * s + t) + tau * jnp.cos(2 * t - s)


def plate_source(x: Any) -> Any:
    flux = sum(along(lambda y, k=k: _conductivity(y) * along(plate, k)(y), k)(x) for k in range(2))
    return along(plate, 2)(x) - flux


def reacting(x: Any) -> Any:
    """The forced rod of a chemical reaction, with 4 and 8 half waves."""
    s, t = x[..., 0], x[..., 1]
    total = jnp.sin(s) + jnp.sin(2 * s) / 2 + jnp.sin(3 * s) / 3 + jnp.sin(4 * s) / 4 + jnp.sin(8 * s) / 8
    return jnp.exp(-t) * total


PLATE = ko.SpaceTime(ko.Box([0, 0], [1, 1]), (0, 1))
ENTRIES = (
    heat(FAMILY, "DeepXDE heat, κ = 0.4", ko.SpaceTime(LINE, (0, 1)), 0.4, fading(0.4 * np.pi**2),
         "DeepXDE demonstrations, heat equation"),
    heat(FAMILY, "DeepXDE diffusion with a source", ko.SpaceTime(AROUND, (0, 1)), 1.0, fading(1.0),
         "DeepXDE demonstrations, diffusion equation"),
    heat(FAMILY, "Müller–Zeinhofer, κ = 1/4", ko.SpaceTime(LINE, (0, 1)), 0.25, fading(np.pi**2 / 4),
         "Müller & Zeinhofer, Achieving high accuracy with PINNs via energy natural gradients (2023), heat"),
    Entry(FAMILY, "cooling disk", spacetime(ko.SpaceTime(ko.Ball([0, 0], 1), (0, 1)),
                                            lambda u: ko.dt(u) - 0.2 * ko.laplacian(u)),
          {"f": 0.0, "g": 0.0, "u0": cooling_disk}, cooling_disk,
          "Carslaw & Jaeger, Conduction of Heat in Solids (1959), section 7.6"),
    heat(FAMILY, "Gaussian that spreads", ko.SpaceTime(AROUND, (0, 1)), 0.05, spreading,
         "Carslaw & Jaeger, Conduction of Heat in Solids (1959), section 2.2"),
    heat(FAMILY, "FEniCS tutorial, 1 + x² + 3y² + 1.2t", ko.SpaceTime(ko.Box([0, 0], [1, 1]), (0, 2)), 1.0,
         polynomial, "Langtangen & Logg, Solving PDEs in Python (2016), section 3.1"),
    Entry(FAMILY, "insulated rod, modes 1 and 3", insulated, {"f": 0.0, "q": 0.0, "u0": insulated_truth},
          insulated_truth, "Strauss, Partial Differential Equations (2008), section 4.2"),
    Entry(FAMILY, "heated plate of varying conductivity",
          spacetime(PLATE, lambda u: ko.dt(u) - ko.div(_conductivity * ko.grad(u))),
          {"f": exact(plate_source), "g": exact(plate), "u0": exact(plate)}, exact(plate),
          "after Hao et al., PINNacle (2023), Heat2d-VC; manufactured"),
    heat(FAMILY, "diffusion with reaction, five modes", ko.SpaceTime(ko.Interval(-np.pi, np.pi), (0, 1)), 1.0,
         reacting, "DeepXDE demonstrations, diffusion-reaction equation"),
)  # fmt: skip
