"""Fourth order: plates and beams."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.polynomial import legendre

import kernop as ko
from collection_problems.entry import Entry, along, exact, laplace

FAMILY = "plates"
SQUARE, DISK, LINE, AROUND = ko.Box([0, 0], [1, 1]), ko.Ball([0, 0], 1), ko.Interval(0, 1), ko.Interval(-1, 1)


def bilaplacian(u: Any) -> Any:
    return ko.laplacian(ko.laplacian(u))


def clamped(domain: Any, op: Any = bilaplacian) -> Any:
    """u = g and ∂u/∂n = q on the boundary."""
    return lambda: ko.Problem(
        ko.Equation(op, on=domain, name="f"),
        ko.Dirichlet(on=domain.boundary, name="g"),
        ko.Neumann(on=domain.boundary, name="q"),
    )


def supported(domain: Any, op: Any = bilaplacian) -> Any:
    """u = g and Δu = m on the boundary."""
    return lambda: ko.Problem(
        ko.Equation(op, on=domain, name="f"),
        ko.Dirichlet(on=domain.boundary, name="g"),
        ko.Condition(ko.laplacian, on=domain.boundary, name="m"),
    )


def round_plate(x: Any) -> Any:
    return (1 - x[..., 0] ** 2 - x[..., 1] ** 2) ** 2 / 64


def sines(x: Any) -> Any:
    return jnp.sin(jnp.pi * x[..., 0]) * jnp.sin(jnp.pi * x[..., 1])


def squares(x: Any) -> Any:
    return sines(x) ** 2


def wavy(x: Any) -> Any:
    return jnp.exp(x[..., 0]) * jnp.sin(4 * x[..., 1]) + jnp.cos(5 * x[..., 0] - 2 * x[..., 1])


def twice(u: Any) -> Any:
    """Δ²u, by automatic differentiation along the axes."""
    inner = laplace(u, 2)
    return laplace(inner, 2)


def slope(u: Any) -> Any:
    """∂u/∂n on the unit square."""

    def q(x: Any) -> Any:
        s, t = x[..., 0], x[..., 1]
        along_x, along_y = along(u, 0)(x), along(u, 1)(x)
        sides = jnp.stack([s, 1 - s, t, 1 - t], axis=-1)
        values = jnp.stack([-along_x, along_x, -along_y, along_y], axis=-1)
        side = jnp.argmin(jnp.abs(sides), axis=-1)
        return jnp.take_along_axis(values, side[..., None], axis=-1)[..., 0]

    return q


@cache
def _uniform() -> Any:
    """Coefficients of the clamped plate under f = 1 on [−1, 1]² in the basis of `_beams`, by Galerkin's method."""
    nodes, weights = legendre.leggauss(120)
    value, second = _beams(nodes), _beams(nodes, 2)
    fourth, mass = second * weights @ second.T, value * weights @ value.T
    mixed = second * weights @ value.T
    n = len(value)
    system = np.kron(fourth, mass) + np.kron(mass, fourth) + np.kron(mixed, mixed.T) + np.kron(mixed.T, mixed)
    load = np.outer(value @ weights, value @ weights).ravel()
    return np.linalg.solve(system, load).reshape(n, n)


def _beams(t: Any, order: int = 0) -> Any:
    """Even functions that vanish with their slopes at ±1, (n, m): combinations of P_k, P_k+2, P_k+4 (Shen 1994)."""
    rows = []
    for k in range(0, 88, 2):
        c = np.zeros(k + 5)
        c[k], c[k + 2], c[k + 4] = 1.0, -2 * (2 * k + 5) / (2 * k + 7), (2 * k + 3) / (2 * k + 7)
        scale = 1 / np.sqrt(2 * (2 * k + 3) ** 2 * (2 * k + 5))
        rows.append(scale * legendre.legval(t, legendre.legder(c, order) if order else c))
    return np.stack(rows)


def uniform(x: Any) -> Any:
    """The clamped plate under a uniform load, on the unit square."""
    t = 2 * np.asarray(x) - 1
    found = np.einsum("im,ij,jm->m", _beams(t[..., 0]), _uniform(), _beams(t[..., 1]), optimize=True)
    return found / 16


def exponential_beam(x: Any) -> Any:
    """u″″ = eˣ, u = u′ = 0 at ±1."""
    s = x[..., 0]
    system = [[1, t, t**2, t**3] for t in (-1, 1)] + [[0, 1, 2 * t, 3 * t**2] for t in (-1, 1)]
    c = np.linalg.solve(np.array(system, float), [-np.exp(-1), -np.exp(1), -np.exp(-1), -np.exp(1)])
    return np.exp(s) + c[0] + c[1] * s + c[2] * s**2 + c[3] * s**3


def foundation(x: Any) -> Any:
    """u″″ + 4β⁴u = 4β⁴, β = 10, u = u′ = 0 at 0 and 1: layers of width 1/β."""
    b, s = 10.0, x[..., 0]
    basis = lambda r: [
        np.exp(-b * r) * np.cos(b * r), np.exp(-b * r) * np.sin(b * r),
        np.exp(b * (r - 1)) * np.cos(b * r), np.exp(b * (r - 1)) * np.sin(b * r),
    ]  # fmt: skip
    slopes = lambda r: [
        b * np.exp(-b * r) * (-np.cos(b * r) - np.sin(b * r)), b * np.exp(-b * r) * (np.cos(b * r) - np.sin(b * r)),
        b * np.exp(b * (r - 1)) * (np.cos(b * r) - np.sin(b * r)),
        b * np.exp(b * (r - 1)) * (np.cos(b * r) + np.sin(b * r)),
    ]  # fmt: skip
    c = np.linalg.solve(np.array([basis(0.0), basis(1.0), slopes(0.0), slopes(1.0)]), [-1, -1, 0, 0])
    return 1 + sum(ck * bk for ck, bk in zip(c, basis(s), strict=True))


BEAM = ko.SpaceTime(ko.Interval(0, np.pi), (0, 1))


def vibrating() -> ko.Problem:
    """u_tt + u_xxxx = f, simply supported."""
    return ko.Problem(
        ko.Equation(lambda u: ko.dt(u, 2) + ko.partial(u, 0, 4), on=BEAM, name="f"),
        ko.Dirichlet(on=BEAM.walls, name="g"),
        ko.Condition(lambda u: ko.partial(u, 0, 2), on=BEAM.walls, name="m"),
        ko.Initial(on=BEAM.initial, name="u0"),
        ko.Initial(on=BEAM.initial, name="v0", order=1),
    )


def vibration(x: Any) -> Any:
    return np.sin(x[..., 0]) * np.cos(4 * np.pi * x[..., 1])


def _clamped_with(name: str, u: Any, source: str) -> Entry:
    inputs = {"f": exact(twice(u)), "g": exact(u), "q": exact(slope(u))}
    return Entry(FAMILY, name, clamped(SQUARE), inputs, exact(u), source)


ENTRIES = (
    Entry(FAMILY, "clamped round plate", clamped(DISK), {"f": 1.0, "g": 0.0, "q": 0.0}, round_plate,
          "Timoshenko & Woinowsky-Krieger, Theory of Plates and Shells (1959), section 16"),
    Entry(FAMILY, "supported square plate, sinusoidal load", supported(SQUARE),
          {"f": exact(lambda x: 4 * jnp.pi**4 * sines(x)), "g": 0.0, "m": 0.0}, exact(sines),
          "Timoshenko & Woinowsky-Krieger, Theory of Plates and Shells (1959), section 27"),
    _clamped_with("clamped square plate, sin² sin²", squares,
                  "Mai-Duy & Tanner, Solving high order PDEs with RBF networks (2005); sin²πx sin²πy"),
    _clamped_with("clamped square plate, general data", wavy,
                  "after Bialecki & Karageorghis, spectral Chebyshev–Legendre biharmonic (2000); manufactured"),
    Entry(FAMILY, "clamped square plate, uniform load", clamped(SQUARE), {"f": 1.0, "g": 0.0, "q": 0.0}, uniform,
          "Timoshenko & Woinowsky-Krieger, section 44; Legendre–Galerkin (Shen 1994), degree 90"),
    Entry(FAMILY, "Trefethen p38, u″″ = eˣ", clamped(AROUND, lambda u: ko.partial(u, 0, 4)),
          {"f": lambda x: np.exp(x[..., 0]), "g": 0.0, "q": 0.0}, exponential_beam,
          "Trefethen, Spectral Methods in MATLAB (2000), program 38"),
    Entry(FAMILY, "beam on an elastic foundation, β = 10",
          clamped(LINE, lambda u: ko.partial(u, 0, 4) + 4e4 * u), {"f": 4e4, "g": 0.0, "q": 0.0}, foundation,
          "Hetényi, Beams on Elastic Foundation (1946)"),
    Entry(FAMILY, "vibrating beam", vibrating,
          {"f": lambda x: (1 - 16 * np.pi**2) * vibration(x), "g": 0.0, "m": 0.0, "u0": vibration, "v0": 0.0},
          vibration, "Kapoor et al., PINNs for solving forward and inverse problems in complex beam systems (2023)"),
)  # fmt: skip
