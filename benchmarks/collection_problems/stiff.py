"""Ordinary differential equations: layers, oscillations, variable coefficients, fourth order."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy.special import airy, erf, jv

import kernop as ko
from collection_problems.entry import Entry, along, dirichlet, made

FAMILY = "one dimension"
LINE, AROUND = ko.Interval(0, 1), ko.Interval(-1, 1)


def ends(left: float, right: float, middle: float = 0.5) -> Any:
    """Values at the two ends."""
    return lambda x: np.where(np.asarray(x)[..., 0] > middle, right, left)


def cantilever() -> ko.Problem:
    """u″″ = −1, clamped on the left and free on the right."""
    left, right = LINE.face("left"), LINE.face("right")
    return ko.Problem(
        ko.Equation(lambda u: ko.partial(u, 0, 4), on=LINE, name="f"),
        ko.Dirichlet(on=left, name="g"),
        ko.Condition(lambda u: ko.partial(u, 0), on=left, name="q"),
        ko.Condition(lambda u: ko.partial(u, 0, 2), on=right, name="m"),
        ko.Condition(lambda u: ko.partial(u, 0, 3), on=right, name="s"),
    )


def cantilever_truth(x: Any) -> Any:
    s = x[..., 0]
    return -(s**4) / 24 + s**3 / 6 - s**2 / 4


def airy_truth(x: Any) -> Any:
    """u″ = xu, u(−30) = 1, u(30) = 0: Bi is negligible."""
    return airy(np.asarray(x)[..., 0])[0] / airy(-30.0)[0]


def exponential(x: Any) -> Any:
    """u″ = e⁴ˣ, u(±1) = 0."""
    s = x[..., 0]
    return (np.exp(4 * s) - np.sinh(4) * s - np.cosh(4)) / 16


def outflow(eps: float) -> Any:
    """−εu″ − u′ = 1, u(0) = u(1) = 0."""
    return lambda x: (1 - np.exp(-x[..., 0] / eps)) / (1 - np.exp(-1 / eps)) - x[..., 0]


def shock(eps: float) -> Any:
    """εu″ + 2xu′ = 0, u(±1) = ±1."""
    return lambda x: erf(x[..., 0] / np.sqrt(eps)) / erf(1 / np.sqrt(eps))


def two_frequencies(x: Any) -> Any:
    return jnp.sin(2 * jnp.pi * x[..., 0]) + 0.1 * jnp.sin(50 * jnp.pi * x[..., 0])


def bessel(u: Any) -> Any:
    """x²u″ + xu′ + (x² − 1)u."""
    s = lambda x: x[..., 0]
    return (lambda x: s(x) ** 2) * ko.partial(u, 0, 2) + s * ko.partial(u, 0) + (lambda x: s(x) ** 2 - 1) * u


def bessel_truth(x: Any) -> Any:
    return jv(1, np.asarray(x)[..., 0]) / jv(1, 60.0)


def half_neumann() -> ko.Problem:
    """u″ = e⁴ˣ, u′(−1) = 0, u(1) = 0."""
    return ko.Problem(
        ko.Equation(lambda u: ko.partial(u, 0, 2), on=AROUND, name="f"),
        ko.Condition(lambda u: ko.partial(u, 0), on=AROUND.face("left"), name="q"),
        ko.Dirichlet(on=AROUND.face("right"), name="g"),
    )


def half_neumann_truth(x: Any) -> Any:
    s = x[..., 0]
    return (np.exp(4 * s) - 4 * np.exp(-4) * (s - 1) - np.exp(4)) / 16


def relaxation() -> ko.Problem:
    """u′ + 50u = f, u(0) given."""
    domain = ko.Interval(0, 2)
    return ko.Problem(
        ko.Equation(lambda u: ko.partial(u, 0) + 50.0 * u, on=domain, name="f"),
        ko.Dirichlet(on=domain.face("left"), name="g"),
    )


def relaxation_truth(x: Any) -> Any:
    """u′ = −50(u − cos t), u(0) = 0."""
    s = x[..., 0]
    return (2500 * np.cos(s) + 50 * np.sin(s) - 2500 * np.exp(-50 * s)) / 2501


def varying(x: Any) -> Any:
    return jnp.sin(jnp.exp(3 * x[..., 0]))


def varying_source(x: Any) -> Any:
    return along(varying, 0, 2)(x) + jnp.cos(10 * x[..., 0]) * along(varying, 0)(x) + jnp.exp(x[..., 0]) * varying(x)


def varying_operator(u: Any) -> Any:
    drift, reaction = (lambda x: jnp.cos(10 * x[..., 0])), (lambda x: jnp.exp(x[..., 0]))
    return ko.partial(u, 0, 2) + drift * ko.partial(u, 0) + reaction * u


GREENGARD = "Lee & Greengard, A fast adaptive numerical method for stiff two-point BVPs (1997)"
ENTRIES = (
    Entry(FAMILY, "DeepXDE cantilever, u″″ = −1", cantilever, {"f": -1.0, "g": 0.0, "q": 0.0, "m": 0.0, "s": 0.0},
          cantilever_truth, "DeepXDE demonstrations, Euler beam"),
    Entry(FAMILY, "Chebfun, Airy on [−30, 30]",
          dirichlet(ko.Interval(-30, 30), lambda u: ko.partial(u, 0, 2) - (lambda x: x[..., 0]) * u),
          {"f": 0.0, "g": ends(1.0, 0.0, 0.0)}, airy_truth, "Driscoll, Hale & Trefethen, Chebfun Guide (2014), "
          "chapter 7"),
    Entry(FAMILY, "Trefethen p13, u″ = e⁴ˣ", dirichlet(AROUND, ko.laplacian),
          {"f": lambda x: np.exp(4 * x[..., 0]), "g": 0.0}, exponential,
          "Trefethen, Spectral Methods in MATLAB (2000), program 13"),
    Entry(FAMILY, "Trefethen p33, u′(−1) = 0", half_neumann,
          {"f": lambda x: np.exp(4 * x[..., 0]), "q": 0.0, "g": 0.0}, half_neumann_truth,
          "Trefethen, Spectral Methods in MATLAB (2000), program 33"),
    Entry(FAMILY, "Chebfun, layer ε = 0.01", dirichlet(LINE, lambda u: -0.01 * ko.laplacian(u) - ko.partial(u, 0)),
          {"f": 1.0, "g": 0.0}, outflow(0.01), "Trefethen, Birkisson & Driscoll, Exploring ODEs (2018), chapter 20"),
    Entry(FAMILY, "layer ε = 0.001", dirichlet(LINE, lambda u: -0.001 * ko.laplacian(u) - ko.partial(u, 0)),
          {"f": 1.0, "g": 0.0}, outflow(0.001), "Trefethen, Birkisson & Driscoll, Exploring ODEs (2018), chapter 20"),
    Entry(FAMILY, "Lee–Greengard viscous shock, ε = 1e-3",
          dirichlet(AROUND, lambda u: 1e-3 * ko.laplacian(u) + (lambda x: 2 * x[..., 0]) * ko.partial(u, 0)),
          {"f": 0.0, "g": ends(-1.0, 1.0, 0.0)}, shock(1e-3), f"{GREENGARD}, at a larger ε"),
    made(FAMILY, "Poisson, sin 2πx + 0.1 sin 50πx", LINE, ko.laplacian, two_frequencies,
         along(two_frequencies, 0, 2), "Wang, Wang & Perdikaris, On the eigenvector bias of Fourier feature "
         "networks (2021)"),
    Entry(FAMILY, "Bessel on [0, 60]", dirichlet(ko.Interval(0, 60), bessel),
          {"f": 0.0, "g": ends(0.0, 1.0, 30.0)}, bessel_truth, f"{GREENGARD}, on a shorter interval"),
    Entry(FAMILY, "stiff relaxation, λ = 50", relaxation,
          {"f": lambda x: 50 * np.cos(x[..., 0]), "g": 0.0}, relaxation_truth,
          "Hairer & Wanner, Solving Ordinary Differential Equations II (1996), equation IV.1.1"),
    made(FAMILY, "chirp, variable coefficients", LINE, varying_operator, varying, varying_source,
         "after Driscoll, Hale & Trefethen, Chebfun Guide (2014), chapter 7; manufactured"),
)  # fmt: skip
