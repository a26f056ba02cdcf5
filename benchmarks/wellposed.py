"""T.stability of problems that are well-posed and of problems that are not: where the limit of the warning stands.

Usage: python benchmarks/wellposed.py [--part i/n]

Exits with 1 if a well-posed problem is called ill-posed, or an ill-posed one is not, but for those that are known to be
beyond reach. --part measures every n-th problem, from the i-th.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import console, save, table

import kernop as ko
from kernop.trust.wellposed import LIMIT, STEADY_LIMIT

LINE, SQUARE, DISK, CUBE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1]), ko.Ball([0, 0], 1), ko.Box([0] * 3, [1] * 3)
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
    "reaction 1e4": dirichlet(helmholtz(-1e4), SQUARE),
    "Helmholtz 20, line": dirichlet(helmholtz(400.0), LINE),
    "Helmholtz 200, line": dirichlet(helmholtz(4e4), LINE),
    "Helmholtz 10, square": dirichlet(helmholtz(100.0), SQUARE),
    "Helmholtz 20, square": dirichlet(helmholtz(400.0), SQUARE),
    "Helmholtz 50, square": dirichlet(helmholtz(2500.0), SQUARE),
}
ILL_POSED = {
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


def measured(problems: dict[str, ko.Problem]) -> dict[str, tuple[float, bool]]:
    """T.stability of each problem, and whether it is called ill-posed."""
    found: dict[str, tuple[float, bool]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, stated in problems.items():
            stability = ko.learn(stated).diagnosis.stability
            found[name] = (float(stability.number), stability.ill_posed) if stability else (np.nan, False)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="T.stability of problems that are well-posed and of others")
    parser.add_argument("--part", default="0/1", help="of the problems, i/n")
    part, parts = map(int, parser.parse_args().part.split("/"))
    chosen = [dict(list(problems.items())[part::parts]) for problems in (WELL_POSED, ILL_POSED)]
    well, ill = map(measured, chosen)
    for title, found in (("Well-posed", well), ("Ill-posed", ill)):
        rows = [[name, f"{number:.1e}", "warned" if warned else ""] for name, (number, warned) in found.items()]
        table(title, ["problem", "T.stability", ""], rows)
    steady = [name for name, (number, warned) in well.items() if number > LIMIT and not warned]
    wrong = [name for name, (_, warned) in well.items() if warned]
    missed = [name for name, (_, warned) in ill.items() if not warned]
    console.print(
        f"well-posed: at most {max(number for number, _ in well.values() if number <= LIMIT):.0f}, or steady "
        f"({', '.join(steady)}), called ill-posed: {', '.join(wrong) or 'none'}; "
        f"ill-posed: at least {min(number for number, warned in ill.values() if warned):.0f} "
        f"but for {len(missed)} ({', '.join(missed)}); the limit is {LIMIT:g}, {STEADY_LIMIT:g} for steady ones"
    )
    save("wellposed", {"well-posed": well, "ill-posed": ill})
    if wrong or set(missed) - BEYOND_REACH:
        sys.exit(1)


if __name__ == "__main__":
    main()
