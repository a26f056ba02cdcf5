"""Problems with singular u that kernop cannot cut into parts for an estimate: domains by `where`, systems, bodies.

u is the exact leading singular function, or harmonic with a power r^α of its own. The split was fixed before anything
was measured: what is tuned on differs from what is held out in angles, conditions and exponents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from collection_problems.entry import Entry, Function
from scipy.optimize import brentq
from scipy.special import lpmv

import kernop as ko

FAMILIES = ("corners by where", "systems at corners", "edges in space")
GRISVARD = "Grisvard, Elliptic Problems in Nonsmooth Domains (1985), section 4.4"
WILLIAMS = "Williams, J. Appl. Mech. 19 (1952) 526"
#: Lamé's constants of a material with Poisson's ratio 1/4 in plane strain, and 3 − 4ν.
LAME, SHEAR, KAPPA = 1.0, 1.0, 2.0
DISK, CUBE = ko.Ball([0, 0], 1), ko.Box([-1, -1, -1], [1, 1, 1])
SLAB, QUARTER = ko.Box([-1, -1, 0], [1, 1, 1]), ko.Box([0, -1, 0], [1, 0, 1])


def polar(x: Any) -> tuple[Any, Any]:
    """r, and θ from 0 to 2π, of which the ray θ = 0 is 0 in spite of rounding."""
    return np.hypot(x[..., 0], x[..., 1]), np.mod(np.arctan2(x[..., 1], x[..., 0]) + 1e-12, 2.0 * np.pi)


def ray(angle: float, beside: float) -> Any:
    """The ray from 0 to the unit circle at an angle, a side of a triangle whose other corner is at ``beside``."""
    along, other = (np.array([np.cos(a), np.sin(a)]) for a in (angle, beside))
    across = np.array([-along[1], along[0]])
    triangle = ko.Polygon(np.stack([0.0 * along, along, 0.5 * other]))
    return triangle.boundary.where(lambda x: np.abs(x @ across) < 1e-9)


def wedge(opening: float, kinds: str) -> Entry:
    """−Δu = 0 on the unit disk as far as 0 < θ < ω, by `where`: u = r^α Φ(αθ), fixed (D) or free (N) on the sides."""
    exponent = np.pi / opening * (0.5 if kinds == "DN" else 1.0)
    shape = np.cos if kinds == "NN" else np.sin

    def u(x: Any) -> Any:
        r, angle = polar(x)
        return r**exponent * shape(exponent * angle)

    def problem() -> ko.Problem:
        inside = lambda x: polar(x)[1] < opening
        sides = ray(0.0, -0.3), ray(opening, opening + 0.3)
        kind = {"D": ko.Dirichlet, "N": ko.Neumann}
        return ko.Problem(
            ko.Equation(lambda v: -ko.laplacian(v), on=DISK.where(inside), name="f"),
            ko.Dirichlet(on=DISK.boundary.where(inside), name="g"),
            *(kind[k](on=side, name=f"q{i}") for i, (k, side) in enumerate(zip(kinds, sides, strict=True))),
        )

    name = f"wedge of {opening / np.pi:g} π by where, {kinds}"
    return Entry("corners by where", name, problem, {"f": 0.0, "g": u, "q0": 0.0, "q1": 0.0}, u, GRISVARD)


def stress(u: Any) -> Any:
    """σ = 2μ ε + λ tr(ε) I."""
    strain = ko.sym(ko.grad(u))
    return 2.0 * SHEAR * strain + LAME * ko.trace(strain) * ko.identity(2)


def eigenfunction(opening: float, free: bool) -> tuple[float, Function]:
    """Williams' symmetric displacement r^λ Φ(θ) with 1/2 ≤ λ < 1 of a corner with free, or fixed, sides; and λ.

    By Muskhelishvili's potentials z^λ and B z^λ around the axis of the corner: the sides are free if
    sin λω + λ sin ω = 0, and fixed if κ sin λω = λ sin ω.
    """
    sign = 1.0 if free else -1.0 / KAPPA
    power = brentq(lambda a: np.sin(a * opening) + sign * a * np.sin(opening), 0.4, 0.999)
    turned = (1.0 if free else KAPPA) * np.cos(power * opening) + (1.0 if free else -1.0) * power * np.cos(opening)
    weight = -turned if free else turned

    def u(x: Any) -> Any:
        r, angle = polar(x)
        t, axis = angle - 0.5 * opening, np.exp(0.5j * opening)
        found = KAPPA * np.exp(1j * power * t) - power * np.exp(1j * (2 - power) * t) - weight * np.exp(-1j * power * t)
        found = axis * found * r**power
        return np.stack([found.real, found.imag], axis=-1)

    return power, u


def elastic(opening: float, kinds: str) -> Entry:
    """∇·σ = 0 on [−1, 1]² as far as 0 < θ < ω, with free (F) or clamped (C) sides at the corner."""
    along = np.array([np.cos(opening), np.sin(opening)])
    angles = np.array([0.25, 0.75, 1.25, 1.75]) * np.pi
    rim = np.sqrt(2.0) * np.stack([np.cos(angles), np.sin(angles)], axis=1)[angles < opening - 1e-9]
    domain = ko.Polygon(np.concatenate([[[0.0, 0.0], [1.0, 0.0]], rim, [along / np.max(np.abs(along))]]))
    _, u = eigenfunction(opening, kinds == "F")

    def side(x: Any) -> Any:
        first = (np.abs(x[..., 1]) < 1e-9) & (x[..., 0] > -1e-9)
        return first | ((np.abs(x[..., 0] * along[1] - x[..., 1] * along[0]) < 1e-9) & (x @ along > -1e-9))

    def problem() -> ko.Problem:
        beside = domain.boundary.where(side)
        free = ko.Condition(lambda v: ko.normal_component(stress(v)), on=beside, name="q")
        return ko.Problem(
            ko.Equation(lambda v: -ko.div(stress(v)), on=domain, name="f"),
            ko.Dirichlet(on=domain.boundary.where(lambda x: ~side(x)), name="g"),
            free if kinds == "F" else ko.Dirichlet(on=beside, name="q"),
            unknowns={"u": 2},
        )

    sides = "free" if kinds == "F" else "clamped"
    name = f"elastic corner of {opening / np.pi:g} π, {sides}"
    return Entry("systems at corners", name, problem, {"f": 0.0, "g": u, "q": 0.0}, u, WILLIAMS)


def edge(name: str, power: float, turn: float, free: bool) -> Entry:
    """r^α sin(αθ + φ), the same for all z, beside the edge of a slab without a quarter."""

    def u(x: Any) -> Any:
        r, angle = polar(x)
        return r**power * np.sin(power * angle + turn)

    def problem() -> ko.Problem:
        body = SLAB - QUARTER
        rim = body.boundary
        sides = rim.of(QUARTER)
        equation = ko.Equation(lambda v: -ko.laplacian(v), on=body, name="f")
        if not free:
            return ko.Problem(equation, ko.Dirichlet(on=rim, name="g"))
        on_quarter = lambda x: (
            (np.abs(x[..., 0]) < 1e-9) & (x[..., 1] < 0) | (np.abs(x[..., 1]) < 1e-9) & (x[..., 0] > 0)
        )
        outer = rim.where(lambda x: ~on_quarter(x))
        return ko.Problem(equation, ko.Dirichlet(on=outer, name="g"), ko.Neumann(on=sides, name="q"))

    inputs = {"f": 0.0, "g": u} | ({"q": 0.0} if free else {})
    return Entry("edges in space", name, problem, inputs, u, GRISVARD)


def changing() -> Entry:
    """√r sin θ/2 in a box, which is fixed on one half of the bottom and free on the other."""

    def u(x: Any) -> Any:
        r, angle = polar(x)
        return np.sqrt(r) * np.sin(0.5 * angle)

    def problem() -> ko.Problem:
        body = ko.Box([-1, 0, 0], [1, 1, 1])
        free = lambda x: (x[..., 1] < 1e-9) & (x[..., 0] < 0)
        return ko.Problem(
            ko.Equation(lambda v: -ko.laplacian(v), on=body, name="f"),
            ko.Dirichlet(on=body.boundary.where(lambda x: ~free(x)), name="g"),
            ko.Neumann(on=body.boundary.where(free), name="q"),
        )

    return Entry("edges in space", "box, Dirichlet meets Neumann", problem, {"f": 0.0, "g": u, "q": 0.0}, u, GRISVARD)


def fichera(power: float) -> Entry:
    """r^ν P_ν(cos φ), harmonic but for a ray in the octant that the cube lacks; φ is the angle to the opposite ray."""
    octant = ko.Box([0, 0, 0], [1, 1, 1])
    axis = np.ones(3) / np.sqrt(3.0)

    def u(x: Any) -> Any:
        r = np.linalg.norm(x, axis=-1)
        cosine = -(np.asarray(x) @ axis) / np.where(r > 0.0, r, 1.0)
        return r**power * lpmv(0, power, np.clip(cosine, -1.0, 1.0))

    def problem() -> ko.Problem:
        body = CUBE - octant
        equation = ko.Equation(lambda v: -ko.laplacian(v), on=body, name="f")
        return ko.Problem(equation, ko.Dirichlet(on=body.boundary, name="g"))

    return Entry("edges in space", f"Fichera's corner, r^{power:g}", problem, {"f": 0.0, "g": u}, u, GRISVARD)


def made(build: Callable[[float, str], Entry], *cases: tuple[float, str]) -> tuple[Entry, ...]:
    return tuple(build(opening * np.pi, kinds) for opening, kinds in cases)


TUNING = (
    *made(wedge, (1.9, "NN"), (1.5, "NN"), (1.0, "DN"), (1.5, "DD")),
    *made(elastic, (1.5, "F"), (1.5, "C")),
    edge("edge of 1.5 π, DD", 2 / 3, 0.0, free=False),
    edge("edge of 1.5 π, NN", 2 / 3, np.pi / 2, free=True),
)
HELD_OUT = (
    *made(wedge, (1.25, "NN"), (1.6, "NN"), (1.75, "NN"), (1.98, "NN"), (1.6, "DD"), (1.9, "DD")),
    *made(wedge, (1.25, "DN"), (1.75, "DN")),
    *made(elastic, (1.25, "F"), (1.75, "F"), (1.9, "F"), (1.75, "C")),
    edge("edge of 1.5 π, r^0.55", 0.55, 0.4, free=False),
    changing(),
    fichera(0.5),
)
