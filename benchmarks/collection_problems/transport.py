"""Transport, and advection with diffusion."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from collection_problems.entry import Entry, along, dirichlet, exact, laplace, made, spacetime

FAMILY = "transport"
AROUND = ko.Box([-1, -1], [1, 1])


def carried(domain: ko.SpaceTime, op: Any) -> Any:
    """A first-order equation with an inflow at the left end of a line."""
    left = float(domain.space.bounds[0][0])
    return lambda: ko.Problem(
        ko.Equation(op, on=domain, name="f"),
        ko.Dirichlet(on=domain.walls.where(lambda x: x[..., 0] < left + 1e-9), name="g"),
        ko.Initial(on=domain.initial, name="u0"),
    )


def convection(speed: float) -> Any:
    return lambda u: ko.dt(u) + speed * ko.partial(u, 0)


def moving_sine(speed: float) -> Any:
    return lambda x: np.sin(x[..., 0] - speed * x[..., 1])


def pdebench(x: Any) -> Any:
    s = 2 * np.pi * (x[..., 0] - 0.4 * x[..., 1])
    return 0.7 * np.sin(2 * s + 1.0) + 0.4 * np.sin(5 * s + 2.5)


A = 0.2


def _speed(x: Any) -> Any:
    return A + jnp.sin(x[..., 0] - 1) ** 2


def _clock(z: Any) -> Any:
    """∫₀ᶻ dz / (a + sin² z)."""
    turns = np.round(z / np.pi)
    inner = np.arctan(np.sqrt((A + 1) / A) * np.tan(z - turns * np.pi))
    return (inner + turns * np.pi) / np.sqrt(A * (A + 1))


def _position(clock: Any) -> Any:
    """The inverse of `_clock`."""
    phase = np.sqrt(A * (A + 1)) * clock
    turns = np.round(phase / np.pi)
    return np.arctan(np.sqrt(A / (A + 1)) * np.tan(phase - turns * np.pi)) + turns * np.pi


def trefethen(x: Any) -> Any:
    """Along characteristics, from exp(−100(x − 1)²)."""
    start = _position(_clock(x[..., 0] - 1) - x[..., 1])
    return np.exp(-100 * start**2)


def drifting(x: Any) -> Any:
    """u_t + 0.8u_x = 0.01u_xx."""
    s, spread = x[..., 0] - 0.5 - 0.8 * x[..., 1], 4 * x[..., 1] + 1
    return jnp.exp(-(s**2) / (0.01 * spread)) / jnp.sqrt(spread)


def ornstein(x: Any) -> Any:
    """p_t = (xp)_x + p_xx, from a Gaussian at 1.5 with σ² = 0.1."""
    mean, square = 1.5 * jnp.exp(-x[..., 1]), 1 - 0.9 * jnp.exp(-2 * x[..., 1])
    return jnp.exp(-((x[..., 0] - mean) ** 2) / (2 * square)) / jnp.sqrt(2 * jnp.pi * square)


def fokker_planck(u: Any) -> Any:
    return ko.dt(u) - u - (lambda x: x[..., 0]) * ko.partial(u, 0) - ko.laplacian(u)


def turning(x: Any) -> Any:
    """A Gaussian that turns about the origin and spreads, κ = 0.01."""
    s, t, tau = x[..., 0], x[..., 1], x[..., 2]
    square = 0.04 + 0.02 * tau
    centre = (s - 0.4 * jnp.cos(2 * tau)) ** 2 + (t - 0.4 * jnp.sin(2 * tau)) ** 2
    return 0.04 / square * jnp.exp(-centre / (2 * square))


def rotation(u: Any) -> Any:
    swirl = (lambda x: -2 * x[..., 1]) * ko.partial(u, 0) + (lambda x: 2 * x[..., 0]) * ko.partial(u, 1)
    return ko.dt(u) + swirl - 0.01 * ko.laplacian(u)


def layer(eps: float) -> Any:
    def u(x: Any) -> Any:
        s, t = x[..., 0], x[..., 1]
        return (1 - jnp.exp(-(1 - s) / eps)) * (1 - jnp.exp(-(1 - t) / eps)) * jnp.cos(jnp.pi * (s + t))

    return u


def nist(eps: float, **more: Any) -> Entry:
    u = layer(eps)
    f = lambda x: -eps * laplace(u, 2)(x) + 2 * along(u, 0)(x) + along(u, 1)(x)
    op = lambda v: -eps * ko.laplacian(v) + 2 * ko.partial(v, 0) + ko.partial(v, 1)
    return made(FAMILY, f"NIST boundary layer, ε = {eps:g}", AROUND, op, u, f,
                "Mitchell, A collection of 2D elliptic problems (2013), boundary layer", **more)  # fmt: skip


def channel(x: Any) -> Any:
    """20u_x − Δu = 0 that fades downstream as sin πy."""
    slow = 10 - np.sqrt(100 + np.pi**2)
    return np.exp(slow * x[..., 0]) * np.sin(np.pi * x[..., 1])


CHANNEL = ko.Box([0, 0], [3, 1])
ENTRIES = (
    Entry(FAMILY, "convection, β = 30", carried(ko.SpaceTime(ko.Interval(0, 2 * np.pi), (0, 1)), convection(30.0)),
          {"f": 0.0, "g": moving_sine(30.0), "u0": moving_sine(30.0)}, moving_sine(30.0),
          "Krishnapriyan et al., Characterizing possible failure modes in PINNs (2021), with an inflow"),
    Entry(FAMILY, "PDEBench advection, β = 0.4", carried(ko.SpaceTime(ko.Interval(0, 1), (0, 2)), convection(0.4)),
          {"f": 0.0, "g": pdebench, "u0": pdebench}, pdebench,
          "Takamoto et al., PDEBench (2022), 1-D advection, with an inflow"),
    Entry(FAMILY, "Trefethen p6, variable speed",
          carried(ko.SpaceTime(ko.Interval(0, np.pi), (0, 2)), lambda u: ko.dt(u) + _speed * ko.partial(u, 0)),
          {"f": 0.0, "g": trefethen, "u0": trefethen}, trefethen,
          "Trefethen, Spectral Methods in MATLAB (2000), program 6, to t = 2; by characteristics"),
    Entry(FAMILY, "Noye–Tan, a pulse that drifts",
          spacetime(ko.SpaceTime(ko.Interval(0, 2), (0, 1)),
                    lambda u: ko.dt(u) + 0.8 * ko.partial(u, 0) - 0.01 * ko.laplacian(u)),
          {"f": 0.0, "g": exact(drifting), "u0": exact(drifting)}, exact(drifting),
          "Noye & Tan, A third-order semi-implicit finite difference method (1988)"),
    Entry(FAMILY, "Ornstein–Uhlenbeck", spacetime(ko.SpaceTime(ko.Interval(-3, 3), (0, 1)), fokker_planck),
          {"f": 0.0, "g": exact(ornstein), "u0": exact(ornstein)}, exact(ornstein),
          "Risken, The Fokker–Planck Equation (1996), section 5.3"),
    Entry(FAMILY, "rotating hill", spacetime(ko.SpaceTime(AROUND, (0, 1)), rotation),
          {"f": 0.0, "g": exact(turning), "u0": exact(turning)}, exact(turning),
          "Donea & Huerta, Finite Element Methods for Flow Problems (2003), section 5.6, with diffusion"),
    nist(0.1),
    nist(0.01, needs_parts=True),
    Entry(FAMILY, "channel at Péclet 20", dirichlet(CHANNEL, lambda u: 20 * ko.partial(u, 0) - ko.laplacian(u)),
          {"f": 0.0, "g": channel}, channel, "Elman, Silvester & Wathen, Finite Elements and Fast Iterative "
          "Solvers (2014), after section 6.1"),
)  # fmt: skip
