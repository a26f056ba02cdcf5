"""Data that do not fit together at corners, where conditions meet, or where f jumps: u is not smooth there."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erf

import kernop as ko
from honesty_problems.case import LINE, SQUARE, Case, dirichlet, poisson

FAMILY = "corners"


def torsion(height: float, x: Any) -> Any:
    """−Δu = 1, u = 0 on the boundary of [0, 1] × [0, h], h ≤ 1.

    A parabola across one pair of walls and a series that falls exponentially with the distance from the other pair;
    of the two such forms, the one whose pair is farther away.
    """
    s, y = x[..., 0], x[..., 1]
    far_ends = np.minimum(s, 1 - s) >= np.minimum(y, height - y)
    return np.where(far_ends, _torsion(height, 1.0, y, s), _torsion(1.0, height, s, y))


def _torsion(wide: float, long: float, across: Any, along: Any) -> Any:
    """The form with the parabola in ``across``, 0 … wide, and ends at along = 0 and long."""
    n = np.arange(1, 4000, 2) * np.pi / wide
    total = across * (wide - across) / 2
    for rows in np.array_split(np.arange(len(across)), 1 + len(across) // 500):
        a, b = across[rows, None], along[rows, None]
        ends = (np.exp(-n * b) + np.exp(-n * (long - b))) / (1 + np.exp(-n * long))
        total[rows] -= (ends * np.sin(n * a)) @ (4 / (wide * n**3))
    return total


def cube_torsion(x: Any) -> Any:
    """−Δu = 1, u = 0 on the unit cube: the solution on a square minus a series that falls away from two faces."""
    order = np.argsort(np.minimum(x, 1 - x), axis=1)  # the axis with the farthest faces is the last
    a, b, c = np.take_along_axis(x, order, axis=1).T
    m = np.arange(1, 160, 2)
    squares = m[:, None] ** 2 + m[None, :] ** 2
    rate = np.pi * np.sqrt(squares)
    weights = 16 / (np.pi**4 * m[:, None] * m[None, :] * squares)
    total = torsion(1.0, np.stack([a, b], axis=1))
    for i in range(len(x)):
        ends = (np.exp(-rate * c[i]) + np.exp(-rate * (1 - c[i]))) / (1 + np.exp(-rate))
        total[i] -= np.sin(m * np.pi * a[i]) @ (weights * ends) @ np.sin(m * np.pi * b[i])
    return total


def lid(x: Any) -> Any:
    """Δu = 0, u = 1 at the top of the unit square and 0 elsewhere: images of the solution in a half strip."""
    sine = np.sin(np.pi * x[..., 0])
    below = 1 - x[..., 1]

    def strip(distance: Any) -> Any:
        return 2 / np.pi * np.arctan2(sine, np.sinh(np.pi * distance))

    return sum(strip(below + 2 * k) - strip(2 - below + 2 * k) for k in range(8))


def half_warm_disk(x: Any) -> Any:
    """Δu = 0 in the unit disk, u = 1 on the upper half of the circle and 0 on the lower."""
    rest = 1 - x[..., 0] ** 2 - x[..., 1] ** 2
    return 0.5 + np.arctan2(2 * x[..., 1], np.maximum(rest, 0.0)) / np.pi


def quench(diffusivity: float, x: Any) -> Any:
    """u_t = κ u_xx, u = 1 at first and 0 at both ends: the heat kernel on a square wave of period 2."""
    s, spread = x[..., 0], np.sqrt(4 * diffusivity * np.maximum(x[..., 1], 1e-300))
    return sum((-1) ** k * (erf((k + 1 - s) / spread) - erf((k - s) / spread)) / 2 for k in range(-12, 13))


def quenched() -> ko.Problem:
    cylinder = ko.SpaceTime(LINE, (0, 1))
    return ko.Problem(
        ko.Equation(lambda u: ko.partial(u, -1) - 0.1 * ko.partial(u, 0, 2), on=cylinder, name="f"),
        ko.Dirichlet(on=cylinder.walls, name="g"),
        ko.Initial(on=cylinder.initial, name="u0"),
    )


def quenched_bar() -> ko.Problem:
    """The same with unit diffusivity: most of it is over after a tenth of the time."""
    cylinder = ko.SpaceTime(LINE, (0, 1))
    return ko.Problem(
        ko.Equation(lambda u: ko.partial(u, -1) - ko.partial(u, 0, 2), on=cylinder, name="f"),
        ko.Dirichlet(on=cylinder.walls, name="g"),
        ko.Initial(on=cylinder.initial, name="u0"),
    )


SLIT = ko.Box([-1, 0], [1, 1])


def slit_problem() -> ko.Problem:
    """On the bottom, u is given to the left of 0 and its flux to the right."""
    insulated = lambda x: (x[..., 1] < 1e-9) & (x[..., 0] > 0)
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SLIT, name="f"),
        ko.Dirichlet(on=SLIT.boundary.where(lambda x: ~insulated(x)), name="g"),
        ko.Neumann(on=SLIT.boundary.where(insulated), name="q"),
    )


def slit(x: Any) -> Any:
    """The real part of √(x + iy)."""
    return np.sqrt(np.maximum(np.hypot(x[..., 0], x[..., 1]) + x[..., 0], 0.0) / 2)


def step(x: Any) -> Any:
    return np.where(x[..., 0] < 0.4, 1.0, -2.0)


def stepped(x: Any) -> Any:
    """−u″ = 1 for x < 0.4 and −2 beyond, u(0) = u(1) = 0: two parabolas with one slope where they meet."""
    s = x[..., 0]
    # u = p s − s²/2, then u + 3 (s − 0.4)² / 2; p from u(1) = 0.
    p = 0.5 - 1.5 * 0.36
    return p * s - s**2 / 2 + 1.5 * np.maximum(s - 0.4, 0.0) ** 2


def on_top(x: Any) -> Any:
    return np.where(x[..., 1] > 1 - 1e-9, 1.0, 0.0)


def on_upper_half(x: Any) -> Any:
    return np.where(x[..., 1] > 0, 1.0, 0.0)


ONE = {"f": 1.0, "g": 0.0}
COLD = {"f": 0.0, "g": 0.0, "u0": 1.0}
CASES = (
    Case(FAMILY, "f = 1 on the square", 1e-3, poisson(SQUARE), ONE, lambda x: torsion(1.0, x)),
    Case(FAMILY, "f = 1 on the square, finer", 1e-8, poisson(SQUARE), ONE, lambda x: torsion(1.0, x)),
    Case(FAMILY, "f = 1 on a strip 1:10", 1e-6, poisson(ko.Box([0, 0], [1, 0.1])), ONE, lambda x: torsion(0.1, x)),
    Case(FAMILY, "f = 1 on the cube", 1e-3, poisson(ko.Box([0, 0, 0], [1, 1, 1])), ONE, cube_torsion),
    Case(FAMILY, "g = 1 on one side", 1e-3, poisson(SQUARE), {"f": 0.0, "g": on_top}, lid),
    Case(FAMILY, "g = 1 on one side, finer", 1e-6, poisson(SQUARE), {"f": 0.0, "g": on_top}, lid),
    Case(
        FAMILY, "g = 1 on half a circle", 1e-3, poisson(ko.Ball([0, 0], 1)), {"f": 0.0, "g": on_upper_half},
        half_warm_disk,
    ),
    Case(FAMILY, "heat, cold walls", 1e-3, quenched, COLD, lambda x: quench(0.1, x)),
    Case(FAMILY, "heat, cold walls, finer", 1e-6, quenched_bar, COLD, lambda x: quench(1.0, x)),
    Case(FAMILY, "Dirichlet meets Neumann", 1e-3, slit_problem, {"f": 0.0, "g": slit, "q": 0.0}, slit),
    Case(FAMILY, "a jump in f, 1-D", 1e-6, dirichlet(LINE, lambda u: -ko.laplacian(u)), {"f": step, "g": 0.0}, stepped),
)  # fmt: skip
