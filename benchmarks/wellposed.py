"""T.stability of problems that are well-posed and of problems that are not: where the limit of the warning stands.

Usage: python benchmarks/wellposed.py [--only WORD] [--seconds S] [--gigabytes G] [--record FILE]

Exits with 1 if a well-posed problem is called ill-posed, or an ill-posed one is not, but for those that are known to be
beyond reach. --only measures the problems with the word in their names; what takes longer than S seconds, or more than
G gigabytes, is ended and told as exceeded.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any

import jax.numpy as jnp
import numpy as np
from casewise import EXCEEDED, Found, Limits, add_limits, casewise, limits_of
from common import console, save, table

import kernop as ko
from kernop.trust.wellposed import LIMIT, STEADY_LIMIT

LINE, SQUARE, DISK, CUBE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1]), ko.Ball([0, 0], 1), ko.Box([0] * 3, [1] * 3)
AROUND, AROUND_SQUARE = ko.Interval(-1, 1), ko.Box([-1, -1], [1, 1])
FOUR = ko.Box([0] * 4, [1] * 4)
ROD, PLATE, BLOCK = ko.SpaceTime(LINE, (0, 1)), ko.SpaceTime(SQUARE, (0, 0.1)), ko.SpaceTime(CUBE, (0, 0.1))
RESONANCE = 5.0 * np.pi**2


def minus_laplacian(u: Any) -> Any:
    return -ko.laplacian(u)


def bilaplacian(u: Any) -> Any:
    return ko.laplacian(ko.laplacian(u))


def heat(diffusivity: float) -> Any:
    return lambda u: ko.dt(u) - diffusivity * ko.laplacian(u)


def wave(speed: float) -> Any:
    return lambda u: ko.dt(u, 2) - speed**2 * ko.laplacian(u)


def helmholtz(squared: float) -> Any:
    return lambda u: -ko.laplacian(u) - squared * u


def drift(diffusivity: float) -> Any:
    return lambda u: -diffusivity * ko.laplacian(u) + ko.dot([1.0, 0.5], ko.grad(u))


def flow(diffusivity: float, *strain: float) -> Any:
    """−ε Δu + Σ s_k x_k ∂_k u: away from the origin along an axis with s > 0."""

    def op(u: Any) -> Any:
        carried = [(lambda x, k=k, s=s: s * x[..., k]) * ko.partial(u, k) for k, s in enumerate(strain)]
        return -diffusivity * ko.laplacian(u) + sum(carried)

    return op


def transport(u: Any) -> Any:
    return ko.dt(u) + ko.partial(u, 0)


def problem(op: Any, domain: Any, *conditions: ko.Condition) -> ko.Problem:
    return ko.Problem(ko.Equation(op, on=domain, name="f"), *conditions)


def dirichlet(op: Any, domain: Any) -> ko.Problem:
    return problem(op, domain, ko.Dirichlet(domain.boundary))


def from_start(op: Any, domain: ko.SpaceTime) -> ko.Problem:
    return problem(op, domain, ko.Dirichlet(domain.walls), ko.Initial(domain.initial))


def with_velocity(op: Any) -> ko.Problem:
    return problem(op, ROD, ko.Dirichlet(ROD.walls), ko.Initial(ROD.initial), ko.Initial(ROD.initial, "v", order=1))


def corner(x: Any) -> Any:
    return (x[..., 0] == 0) & (x[..., 1] < 0.2)


def elastic(ratio: float, *conditions: Any) -> ko.Problem:
    """Plane strain of a square, Young's modulus 1; conditions of their stress."""
    lame, shear = ratio / ((1 + ratio) * (1 - 2 * ratio)), 0.5 / (1 + ratio)

    def stress(u: Any) -> Any:
        strain = ko.sym(ko.grad(u))
        return 2 * shear * strain + lame * ko.trace(strain) * ko.identity(strain)

    stated = [condition(stress) if callable(condition) else condition for condition in conditions]
    return ko.Problem(ko.Equation(lambda u: -ko.div(stress(u)), on=SQUARE), *stated, unknowns={"u": 2})


def traction(*sides: str) -> Any:
    return lambda stress: ko.Condition(lambda u: ko.normal_component(stress(u)), on=SQUARE.face(*sides), name="t")


def stokes(*conditions: Any) -> ko.Problem:
    return ko.Problem(
        ko.Equation(lambda u, p: -ko.laplacian(u) + ko.grad(p), on=SQUARE, name="f"),
        ko.Equation(lambda u: ko.div(u), on=SQUARE, name="c"),
        ko.Dirichlet(SQUARE.boundary, of="u"),
        *conditions,
        unknowns={"u": 2, "p": 1},
    )


WELL_POSED = {
    "Stokes": stokes(ko.Mean(SQUARE, of="p")),
    "elasticity": elastic(0.3, ko.Dirichlet(SQUARE.face("left")), traction("right", "top", "bottom")),
    "nearly incompressible": elastic(0.499, ko.Dirichlet(SQUARE.face("left")), traction("right", "top", "bottom")),
    "Poisson, line": dirichlet(minus_laplacian, LINE),
    "Poisson, square": dirichlet(minus_laplacian, SQUARE),
    "Poisson, disk": dirichlet(minus_laplacian, DISK),
    "Poisson, cube": dirichlet(minus_laplacian, CUBE),
    "Poisson, 4-D": dirichlet(minus_laplacian, FOUR),
    "Poisson, box 1 : 100": dirichlet(minus_laplacian, ko.Box([0, 0], [100, 1])),
    "Darcy a2": dirichlet(lambda u: -ko.div((lambda x: jnp.exp(x[..., 0] + x[..., 1])) * ko.grad(u)), SQUARE),
    "clamped beam": problem(bilaplacian, LINE, ko.Dirichlet(LINE.boundary), ko.Neumann(LINE.boundary)),
    "clamped plate": problem(bilaplacian, SQUARE, ko.Dirichlet(SQUARE.boundary), ko.Neumann(SQUARE.boundary)),
    "three sides insulated": problem(
        minus_laplacian, SQUARE, ko.Dirichlet(SQUARE.face("left")), ko.Neumann(SQUARE.face("right", "top", "bottom"))
    ),
    "Dirichlet on a twentieth": problem(
        minus_laplacian,
        SQUARE,
        ko.Dirichlet(SQUARE.boundary.where(corner)),
        ko.Neumann(SQUARE.boundary.where(lambda x: ~corner(x))),
    ),
    "Robin, u + ∂u/∂n": problem(minus_laplacian, SQUARE, ko.Robin(1.0, 1.0, SQUARE.boundary)),
    "Robin, 0.01 u + ∂u/∂n": problem(minus_laplacian, SQUARE, ko.Robin(0.01, 1.0, SQUARE.boundary)),
    "heat": from_start(heat(0.1), ROD),
    "heat, diffusivity 1": from_start(heat(1.0), ROD),
    "heat, plate": from_start(heat(1.0), PLATE),
    "heat, block": from_start(heat(1.0), BLOCK),
    "heat, insulated": problem(heat(0.1), ROD, ko.Neumann(ROD.walls), ko.Initial(ROD.initial)),
    "wave": with_velocity(wave(1.0)),
    "wave, speed 10": with_velocity(wave(10.0)),
    "transport": problem(
        transport, ROD, ko.Dirichlet(ROD.walls.where(lambda x: x[..., 0] < 0.5)), ko.Initial(ROD.initial)
    ),
    "advection–diffusion 0.1": dirichlet(drift(0.1), SQUARE),
    "advection–diffusion 0.001": dirichlet(drift(0.001), SQUARE),
    "into a turning point, 1e-4": dirichlet(flow(1e-4, -1.0), AROUND),
    "past a stagnation point, 1e-4": dirichlet(flow(1e-4, 1.0, -1.0), AROUND_SQUARE),
    "out of a square, with reaction, 1e-4": dirichlet(lambda u: flow(1e-4, 1.0, 1.0)(u) + u, AROUND_SQUARE),
    "reaction 1e4": dirichlet(helmholtz(-1e4), SQUARE),
    "Helmholtz 20, line": dirichlet(helmholtz(400.0), LINE),
    "Helmholtz 200, line": dirichlet(helmholtz(4e4), LINE),
    "Helmholtz 10, square": dirichlet(helmholtz(100.0), SQUARE),
    "Helmholtz 20, square": dirichlet(helmholtz(400.0), SQUARE),
    "Helmholtz 50, square": dirichlet(helmholtz(2500.0), SQUARE),
}
ILL_POSED = {
    "out of a line, 0.01": dirichlet(flow(0.01, 1.0), AROUND),
    "out of a line, 1e-4": dirichlet(flow(1e-4, 1.0), AROUND),
    "out of a square, 0.02": dirichlet(flow(0.02, 1.0, 1.0), AROUND_SQUARE),
    "out of a square, 1e-4": dirichlet(flow(1e-4, 1.0, 1.0), AROUND_SQUARE),
    "1e-4 from a resonance": dirichlet(helmholtz(RESONANCE * 1.0001), SQUARE),
    "resonance": dirichlet(helmholtz(RESONANCE), SQUARE),
    "resonance, line": dirichlet(helmholtz(np.pi**2), LINE),
    "pure Neumann, line": problem(minus_laplacian, LINE, ko.Neumann(LINE.boundary)),
    "pure Neumann, square": problem(minus_laplacian, SQUARE, ko.Neumann(SQUARE.boundary)),
    "pure Neumann, disk": problem(minus_laplacian, DISK, ko.Neumann(DISK.boundary)),
    "pure Neumann, cube": problem(minus_laplacian, CUBE, ko.Neumann(CUBE.boundary)),
    "pure Neumann, 4-D": problem(minus_laplacian, FOUR, ko.Neumann(FOUR.boundary)),
    "no boundary condition": problem(minus_laplacian, SQUARE),
    "a side missing": problem(minus_laplacian, SQUARE, ko.Dirichlet(SQUARE.face("left", "top", "bottom"))),
    "Cauchy data": problem(minus_laplacian, SQUARE, ko.Dirichlet(SQUARE.face("left")), ko.Neumann(SQUARE.face("left"))),
    "Cauchy data, three sides": problem(
        minus_laplacian, SQUARE, ko.Dirichlet(SQUARE.face("left", "top", "bottom")), ko.Neumann(SQUARE.face("left"))
    ),
    "plate without slopes": dirichlet(bilaplacian, SQUARE),
    "backward heat": from_start(heat(-0.1), ROD),
    "heat from its end": problem(heat(0.1), ROD, ko.Dirichlet(ROD.walls), ko.Dirichlet(ROD.final, "end")),
    "heat without start": problem(heat(0.1), ROD, ko.Dirichlet(ROD.walls)),
    "heat, block without start": problem(heat(1.0), BLOCK, ko.Dirichlet(BLOCK.walls)),
    "heat, a wall missing": problem(
        heat(0.1), ROD, ko.Dirichlet(ROD.walls.where(lambda x: x[..., 0] < 0.5)), ko.Initial(ROD.initial)
    ),
    "wave without velocity": from_start(wave(1.0), ROD),
    "wave, values at both times": problem(
        wave(1.0), ROD, ko.Dirichlet(ROD.walls), ko.Initial(ROD.initial), ko.Dirichlet(ROD.final, "end")
    ),
    "wave of speed 0.7, both times": problem(
        wave(0.7), ROD, ko.Dirichlet(ROD.walls), ko.Initial(ROD.initial), ko.Dirichlet(ROD.final, "end")
    ),
    "Stokes without a mean": stokes(),
    "elasticity, tractions alone": elastic(0.3, traction("left", "right", "top", "bottom")),
    "transport without inflow": problem(transport, ROD, ko.Initial(ROD.initial)),
    "transport with outflow": problem(
        transport, ROD, ko.Dirichlet(ROD.walls.where(lambda x: x[..., 0] > 0.5)), ko.Initial(ROD.initial)
    ),
}


#: Small divisors: what the conditions do not see has a very high frequency.
BEYOND_REACH = {"wave of speed 0.7, both times"}


def measured(name: str) -> Found:
    """T.stability of the problem of this name, and whether it is called ill-posed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stability = ko.learn((WELL_POSED | ILL_POSED)[name]).diagnosis.stability
    if stability is None:
        return {"number": np.nan, "ill-posed": False}
    return {"number": float(stability.number), "ill-posed": bool(stability.ill_posed)}


def row(name: str, found: Found) -> list[str]:
    if EXCEEDED in found:
        return [name, "–", f"exceeded {found[EXCEEDED]}"]
    return [name, f"{found['number']:.1e}", "warned" if found["ill-posed"] else ""]


def run(title: str, names: list[str], limits: Limits) -> dict[str, Found]:
    """The table of these problems; what was found of those that kept to their limits."""
    found = dict(casewise(measured, names, limits))
    table(title, ["problem", "T.stability", ""], [row(name, own) for name, own in found.items()])
    return {name: own for name, own in found.items() if EXCEEDED not in own}


def main() -> None:
    parser = argparse.ArgumentParser(description="T.stability of problems that are well-posed and of others")
    parser.add_argument("--only", default="", metavar="WORD", help="the problems with this in their names")
    add_limits(parser)
    options = parser.parse_args()
    well, ill = (
        run(title, [name for name in problems if options.only in name], limits_of(options))
        for title, problems in (("Well-posed", WELL_POSED), ("Ill-posed", ILL_POSED))
    )
    steady = [name for name, own in well.items() if own["number"] > LIMIT and not own["ill-posed"]]
    wrong = [name for name, own in well.items() if own["ill-posed"]]
    missed = [name for name, own in ill.items() if not own["ill-posed"]]
    most = max((own["number"] for own in well.values() if own["number"] <= LIMIT), default=np.nan)
    least = min((own["number"] for own in ill.values() if own["ill-posed"]), default=np.nan)
    console.print(
        f"{len(well)} well-posed: at most {most:.0f}, or steady ({', '.join(steady)}), called ill-posed: "
        f"{', '.join(wrong) or 'none'}; {len(ill)} ill-posed: at least {least:.0f} but for {len(missed)} "
        f"({', '.join(missed)}); the limit is {LIMIT:g}, {STEADY_LIMIT:g} for steady ones"
    )
    save("wellposed", {"well-posed": well, "ill-posed": ill})
    if wrong or set(missed) - BEYOND_REACH:
        sys.exit(1)


if __name__ == "__main__":
    main()
