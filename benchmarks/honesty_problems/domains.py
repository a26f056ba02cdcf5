"""Polygons, holes, implicit domains, solids, and materials that `Piecewise` tells: smooth data, and rough ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

import kernop as ko
from honesty_problems.case import Case, Function, dirichlet, exact, poisson
from honesty_problems.case import manufactured_poisson as made_poisson

FAMILY = "domains"
CELL = ko.Box([-1, -1], [1, 1])
ELL = ko.Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])
TRIANGLE = ko.Polygon([(0, 0), (1, 0), (0.5, np.sqrt(0.75))])
STAR = ko.Polygon(
    [(r * np.cos(k), r * np.sin(k)) for k, r in zip(np.pi / 5 * np.arange(10), [1, 0.5] * 5, strict=True)]
)
RING = ko.Ball([0, 0], 1) - ko.Ball([0, 0], 0.4)
HOLE, SMALL = ko.Ball([0.2, 0.1], 0.4), ko.Ball([0.2, 0.1], 0.05)
ELLIPSE = ko.Implicit(lambda x: x[..., 0] ** 2 + 4 * x[..., 1] ** 2 - 1, ([-1, -0.5], [1, 0.5]))
PEANUT = ko.Implicit(
    lambda x: ((x[..., 0] - 0.6) ** 2 + x[..., 1] ** 2) * ((x[..., 0] + 0.6) ** 2 + x[..., 1] ** 2) - 0.15,
    ([-1.1, -0.6], [1.1, 0.6]),
)
TORUS = ko.Implicit(
    lambda x: jnp.hypot(jnp.hypot(x[..., 0], x[..., 1]) - 0.7, x[..., 2]) - 0.3, ([-1, -1, -0.3], [1, 1, 0.3])
)
PYRAMID = ko.Solid(
    [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 1)],
    [(0, 1, 2), (0, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)],
)


def waves(x: Any) -> Any:
    return jnp.sin(2 * x[..., 0] + 1) * jnp.cos(3 * x[..., 1])


def swell(x: Any) -> Any:
    return jnp.cos(x[..., 0] - x[..., 1]) * jnp.exp(x[..., 2])


def well(x: Any) -> Any:
    return jnp.log((x[..., 0] - 0.2) ** 2 + (x[..., 1] - 0.1) ** 2)


def dipole(x: Any) -> Any:
    return (x[..., 0] - 0.2) / ((x[..., 0] - 0.2) ** 2 + (x[..., 1] - 0.1) ** 2)


def bent(x: Any) -> Any:
    """Its second derivative has a kink at x = 0.1."""
    return jnp.maximum(x[..., 0] - 0.1, 0.0) ** 3 + x[..., 1]


def corner(x: Any) -> Any:
    """r^(2/3) sin(2θ/3) around the re-entrant corner of the L: harmonic, and 0 on both its edges."""
    angle = np.mod(np.arctan2(x[..., 1], x[..., 0]) - np.pi / 2, 2 * np.pi)
    return np.hypot(x[..., 0], x[..., 1]) ** (2 / 3) * np.sin(2 / 3 * np.minimum(angle, 1.5 * np.pi))


def insulated_corner(x: Any) -> Any:
    """r^(2/3) cos(2θ/3): no flux through the edges of the corner."""
    angle = np.mod(np.arctan2(x[..., 1], x[..., 0]) - np.pi / 2, 2 * np.pi)
    angle = np.where(angle > 1.75 * np.pi, 0.0, angle)
    return np.hypot(x[..., 0], x[..., 1]) ** (2 / 3) * np.cos(2 / 3 * np.minimum(angle, 1.5 * np.pi))


def insulated_ell() -> ko.Problem:
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=ELL, name="f"),
        ko.Dirichlet(on=ELL.edge(0, 1, 4, 5), name="g"),
        ko.Neumann(on=ELL.edge(2, 3), name="q"),
    )


def torsion(x: Any) -> Any:
    """−Δu = 1 in the triangle, u = 0 on its sides: the product of the three distances, over the height."""
    s, t = x[..., 0], x[..., 1]
    left, right = np.sqrt(0.75) * s - t / 2, np.sqrt(0.75) * (1 - s) - t / 2
    return t * left * right / np.sqrt(0.75)


def angle_seen(place: tuple[float, float]) -> Function:
    """The angle at which a point is seen from a place on the lower side of the boundary: harmonic, and jumps there."""
    return lambda x: np.arctan2(x[..., 1] - place[1], x[..., 0] - place[0])


def split(x: Any) -> Any:
    """arg(1 − z), which jumps by π at z = 1."""
    return np.arctan2(-x[..., 1], 1 - x[..., 0])


def lens(x: Any) -> Any:
    """−Δu = 1 in the ellipse."""
    return (1 - x[..., 0] ** 2 - 4 * x[..., 1] ** 2) / 10


def fibre(k: float, radius: float, order: int) -> tuple[Callable[[], ko.Problem], Function]:
    """A disk of conductivity k, and Re zⁿ disturbed by it: 2/(k + 1) zⁿ inside, zⁿ − (k − 1)/(k + 1) R²ⁿ z⁻ⁿ around."""
    a = ko.Piecewise({ko.Ball([0, 0], radius): k}, otherwise=1.0)

    def truth(x: Any) -> Any:
        z = x[..., 0] + 1j * x[..., 1]
        inside = np.abs(z) < radius
        away = np.where(inside, radius, z)
        outer = away**order - (k - 1) / (k + 1) * radius ** (2 * order) / away**order
        return np.real(np.where(inside, 2 / (k + 1) * z**order, outer))

    return dirichlet(CELL, lambda u: -ko.div(a * ko.grad(u))), truth


def of_fibre(name: str, tol: float, k: float, radius: float, order: int, stated: bool = False) -> Case:
    problem, truth = fibre(k, radius, order)
    return Case(FAMILY, name, tol, problem, {"f": 0.0, "g": truth}, truth, stated=stated, blind=True)


def untold() -> ko.Problem:
    """The same disk as a part of the plate that has no boundary: nothing tells where the flux is continuous."""
    disk = CELL.where(lambda x: np.hypot(x[..., 0], x[..., 1]) < 0.5)
    a = ko.Piecewise({disk: 10.0}, otherwise=1.0)
    return dirichlet(CELL, lambda u: -ko.div(a * ko.grad(u)))()


def layers() -> ko.Problem:
    a = ko.Piecewise({ko.Box([-1, -1], [1, 0.2]): 20.0, ko.Box([-1, 0.2], [1, 1]): 0.5})
    return dirichlet(CELL, lambda u: -ko.div(a * ko.grad(u)))()


def layered(x: Any) -> Any:
    """cos 2x times a solution across the layers, with u = 1 and the flux 1 where they meet."""
    y = 2 * (x[..., 1] - 0.2)
    return np.cos(2 * x[..., 0]) * (np.cosh(y) + np.sinh(y) / np.where(x[..., 1] < 0.2, 20.0, 0.5))


def open_hole() -> ko.Problem:
    """Nothing is said on the hole."""
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=RING, name="f"),
        ko.Dirichlet(on=RING.boundary.of(RING.first), name="g"),
    )


def sealed_plate() -> ko.Problem:
    """Pure Neumann data."""
    plate = CELL - HOLE
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=plate, name="f"), ko.Neumann(on=plate.boundary, name="q")
    )


def harmonic(name: str, tol: float, domain: Any, truth: Function, **more: Any) -> Case:
    """Δu = 0 with u given on the boundary."""
    return Case(FAMILY, name, tol, poisson(domain), {"f": 0.0, "g": truth}, truth, **more)


FIELD = fibre(10.0, 0.5, 1)[1]
CASES = (
    made_poisson(FAMILY, "star", 1e-8, STAR, waves),
    made_poisson(FAMILY, "L, smooth", 1e-6, ELL, waves),
    Case(FAMILY, "triangle, f = 1", 1e-6, poisson(TRIANGLE), {"f": 1.0, "g": 0.0}, torsion, stated=True),
    harmonic("triangle, a jump in g", 1e-3, TRIANGLE, angle_seen((0.3, 0.0))),
    harmonic("L, r^(2/3)", 1e-3, ELL, corner),
    harmonic("L, r^(2/3), finer", 1e-6, ELL, corner),
    Case(FAMILY, "L, insulated corner", 1e-3, insulated_ell, {"f": 0.0, "g": insulated_corner, "q": 0.0},
         insulated_corner),
    made_poisson(FAMILY, "annulus", 1e-8, RING, waves),
    harmonic("annulus, log r", 1e-6, RING, exact(lambda x: jnp.log(jnp.sum(x**2, axis=-1))), stated=True),
    harmonic("annulus, a jump in g", 1e-3, RING, split),
    made_poisson(FAMILY, "square with a hole", 1e-6, CELL - HOLE, waves),
    harmonic("square with a hole, well", 1e-3, CELL - HOLE, exact(well), stated=True),
    harmonic("square with a hole, dipole", 1e-6, CELL - HOLE, exact(dipole)),
    harmonic("square with a small hole, well", 1e-3, CELL - SMALL, exact(well)),
    made_poisson(FAMILY, "peanut", 1e-8, PEANUT, waves),
    made_poisson(FAMILY, "peanut, a kink in f", 1e-6, PEANUT, bent, stated=False),
    Case(FAMILY, "ellipse, f = 1", 1e-6, poisson(ELLIPSE), {"f": 1.0, "g": 0.0}, lens, stated=True),
    made_poisson(FAMILY, "torus", 1e-3, TORUS, swell),
    made_poisson(FAMILY, "pyramid", 1e-3, PYRAMID, swell),
    of_fibre("fibre", 1e-3, 10.0, 0.5, 1, stated=True),
    of_fibre("fibre, finer", 1e-6, 10.0, 0.5, 1, stated=True),
    of_fibre("fibre, contrast 1e-4", 1e-3, 1e-4, 0.5, 1),
    of_fibre("thin fibre", 1e-3, 10.0, 0.1, 1),
    of_fibre("fibre, order 8", 1e-3, 10.0, 0.7, 8),
    Case(FAMILY, "fibre without a boundary", 1e-3, untold, {"f": 0.0, "g": FIELD}, FIELD, blind=True),
    Case(FAMILY, "two layers", 1e-6, layers, {"f": 0.0, "g": layered}, layered, stated=True, blind=True),
    Case(FAMILY, "nothing said on a hole", 1e-3, open_hole, {"f": 0.0, "g": 1.0}, None),
    Case(FAMILY, "a hole, pure Neumann", 1e-3, sealed_plate, {"f": 0.0, "q": 0.0}, None),
)  # fmt: skip
