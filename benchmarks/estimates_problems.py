"""Problems on which estimates of errors are hard: corners, where no smooth field resembles u, and many short waves."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from collection_problems.entry import Entry, dirichlet, exact, laplace
from estimates_singular import HELD_OUT as SINGULAR_HELD_OUT
from estimates_singular import TUNING as SINGULAR_TUNING
from honesty_problems.corners import (
    COLD,
    cube_torsion,
    half_warm_disk,
    lid,
    on_top,
    on_upper_half,
    quench,
    quenched,
    quenched_bar,
    slit,
    slit_problem,
    step,
    stepped,
    torsion,
)

import kernop as ko

LINE, SQUARE, CUBE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1]), ko.Box([0] * 3, [1] * 3)
DISK, STRIP = ko.Ball([0, 0], 1), ko.Box([0, 0], [1, 0.1])
GRISVARD = "Grisvard, Elliptic Problems in Nonsmooth Domains (1985), section 4.4"
WIDE, QUARTER = ko.Box([-1, -1], [1, 1]), ko.Box([0, -1], [1, 0])


def minus_laplacian(u: Any) -> Any:
    return -ko.laplacian(u)


def kept(x: Any) -> Any:
    """All but the quarter x > 0 > y."""
    return ~((x[..., 0] > 1e-9) & (x[..., 1] < -1e-9))


def without_a_quarter(domain: Any, condition: Any = ko.Dirichlet) -> Any:
    """−Δu = f on a domain without a quarter, u = g on its boundary, and a condition on the sides of the quarter."""

    def problem() -> ko.Problem:
        return ko.Problem(
            ko.Equation(minus_laplacian, on=domain.where(kept), name="f"),
            ko.Dirichlet(on=domain.boundary.where(kept), name="g"),
            condition(on=QUARTER.face("left", "top"), name="q"),
        )

    return problem


def power(exponent: float, turn: float = 0.0) -> Any:
    """r^α sin(αθ + φ), harmonic but for the ray θ = 0, which it takes from above."""

    def u(x: Any) -> Any:
        angle = np.mod(np.arctan2(x[..., 1], x[..., 0]), 2.0 * np.pi)
        return np.hypot(x[..., 0], x[..., 1]) ** exponent * np.sin(exponent * angle + turn)

    return u


def corner(name: str, problem: Any, u: Any, source: str, **inputs: Any) -> Entry:
    return Entry("corners", name, problem, {"f": 0.0, "g": u} | inputs, u, source, needs_parts=True)


def sector(opening: float, kinds: str) -> Entry:
    """[−1, 1]² as far as 0 < θ < ω: u = r^α Φ(αθ), fixed (D) or free (N) on the first and on the last side."""
    along = np.array([np.cos(opening), np.sin(opening)])
    angles = np.array([0.25, 0.75, 1.25, 1.75]) * np.pi
    rim = np.sqrt(2.0) * np.stack([np.cos(angles), np.sin(angles)], axis=1)[angles < opening]
    domain = ko.Polygon(np.concatenate([[[0.0, 0.0], [1.0, 0.0]], rim, [along / np.max(np.abs(along))]]))
    exponent = np.pi / opening * (0.5 if kinds == "DN" else 1.0)

    def u(x: Any) -> Any:
        angle = np.mod(np.arctan2(x[..., 1], x[..., 0]) + 1e-12, 2.0 * np.pi)
        return np.hypot(x[..., 0], x[..., 1]) ** exponent * (np.cos if kinds == "NN" else np.sin)(exponent * angle)

    def free(x: Any) -> Any:
        first = (np.abs(x[..., 1]) < 1e-9) & (x[..., 0] > -1e-9) & (kinds == "NN")
        aside = np.abs(x[..., 0] * along[1] - x[..., 1] * along[0]) < 1e-9
        return first | (aside & (x @ along > -1e-9) & (kinds != "DD"))

    def problem() -> ko.Problem:
        sides = [ko.Neumann(on=domain.boundary.where(free), name="q", data=0.0)] if kinds != "DD" else []
        fixed = ko.Dirichlet(on=domain.boundary.where(lambda x: ~free(x)), name="g")
        return ko.Problem(ko.Equation(minus_laplacian, on=domain, name="f"), fixed, *sides)

    return corner(f"sector of {opening / np.pi:g} π, {kinds}", problem, u, GRISVARD)


def plus_smooth(x: Any) -> Any:
    return power(2 / 3)(x) + np.sin(2.0 * x[..., 0]) * np.cosh(2.0 * x[..., 1])


def plane_waves(x: Any, omega: float) -> Any:
    along = lambda angle: np.cos(angle) * x[..., 0] + np.sin(angle) * x[..., 1]
    return jnp.sin(omega * along(0.7) + 0.3) + 0.5 * jnp.sin(omega * along(2.0) + 0.3)


def wave_packet(x: Any, omega: float) -> Any:
    hill = jnp.sin(np.pi * x[..., 0]) * jnp.sin(np.pi * x[..., 1])
    return hill * jnp.cos(omega * (0.6 * x[..., 0] + 0.3 * x[..., 1]))


def helmholtz(name: str, omega: float, u: Any) -> Entry:
    own = lambda x: u(x, omega)
    lap = laplace(own, 2)
    inputs = {"f": exact(lambda x: -lap(x) - omega**2 * own(x)), "g": exact(own)}
    problem = dirichlet(SQUARE, lambda v: -ko.laplacian(v) - omega**2 * v)
    return Entry("many waves", name, problem, inputs, exact(own), "manufactured")


def half_of(entry: Entry) -> str:
    """ "tuning" or "held-out": for those below as they stand, for others by the hash of the name."""
    return "tuning" if entry in TUNING else "held-out" if entry in HELD_OUT else entry.half


ONE = {"f": 1.0, "g": 0.0}
PLAIN = dirichlet(SQUARE, minus_laplacian)
SECTORS = ((1.25, "DD"), (1.75, "DD"), (1.25, "NN"), (1.75, "NN"), (1.9, "NN"), (0.75, "DN"), (1.75, "DN"))
TUNING = (
    corner("L-shape, r^(2/3)", without_a_quarter(WIDE), power(2 / 3), GRISVARD, q=power(2 / 3)),
    Entry("corners", "Dirichlet meets Neumann", slit_problem, {"f": 0.0, "g": slit, "q": 0.0}, slit, GRISVARD),
    Entry("corners", "torsion of a square", PLAIN, ONE, lambda x: torsion(1.0, x), "series"),
    Entry("corners", "a lid that is 1", PLAIN, {"f": 0.0, "g": on_top}, lid, "images"),
    Entry(
        "corners", "half a circle that is 1", dirichlet(DISK, minus_laplacian), {"f": 0.0, "g": on_upper_half},
        half_warm_disk, "closed form",
    ),
    Entry("corners", "quenched rod", quenched, COLD, lambda x: quench(0.1, x), "images"),
    Entry(
        "corners", "a jump of f on a line", dirichlet(LINE, minus_laplacian), {"f": step, "g": 0.0}, stepped, "by hand",
    ),
    *(sector(opening * np.pi, kinds) for opening, kinds in SECTORS),
    helmholtz("plane waves, ω = 50", 50.0, plane_waves),
    helmholtz("plane waves, ω = 100", 100.0, plane_waves),
    helmholtz("a packet, ω = 100", 100.0, wave_packet),
    *SINGULAR_TUNING,
)  # fmt: skip
HELD_OUT = (
    corner("L-shape, r^(4/3)", without_a_quarter(WIDE), power(4 / 3), GRISVARD, q=power(4 / 3)),
    corner("L-shape, r^(2/3) and a smooth part", without_a_quarter(WIDE), plus_smooth, GRISVARD, q=plus_smooth),
    corner("three quarters of a disk, r^(2/3)", without_a_quarter(DISK), power(2 / 3), GRISVARD, q=power(2 / 3)),
    corner(
        "three quarters of a disk, free sides, r^(2/3)", without_a_quarter(DISK, ko.Neumann),
        power(2 / 3, np.pi / 2), GRISVARD, q=0.0,
    ),
    corner("square, r^(1/2)", PLAIN, power(0.5, 0.4), "manufactured"),
    corner("square, r^(3/2)", PLAIN, power(1.5, 0.4), "manufactured"),
    corner("square, r^(5/2)", PLAIN, power(2.5, 0.4), "manufactured"),
    Entry("corners", "torsion of a cube", dirichlet(CUBE, minus_laplacian), ONE, cube_torsion, "series"),
    Entry("corners", "torsion of a strip", dirichlet(STRIP, minus_laplacian), ONE, lambda x: torsion(0.1, x), "series"),
    Entry("corners", "quenched bar, κ = 1", quenched_bar, COLD, lambda x: quench(1.0, x), "images"),
    helmholtz("plane waves, ω = 70", 70.0, plane_waves),
    helmholtz("plane waves, ω = 130", 130.0, plane_waves),
    helmholtz("a packet, ω = 60", 60.0, wave_packet),
    *SINGULAR_HELD_OUT,
)  # fmt: skip
