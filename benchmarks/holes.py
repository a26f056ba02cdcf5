"""Solutions with a pole in a hole, off its middle, by ``ko.learn(problem)``: with multipoles and without.

Each solution is exact: log r, Y_0(kr), K_0(kr), 1/r and the like, with the distance r from a place in the hole that is
not its middle; and beside it one that is smooth everywhere, which must not become worse. On none of these problems was
anything tuned.

Usage: python benchmarks/holes.py [name of a problem]...
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from common import save, table
from scipy.special import k0, y0

import kernop as ko
from kernop.methods import filling

jax.config.update("jax_enable_x64", True)

SQUARE, DISK = ko.Box([0, 0], [1, 1]), ko.Ball([0, 0], 1.0)
NINE = [(0.22 + 0.28 * i, 0.22 + 0.28 * j) for i in range(3) for j in range(3)]
STAR = [(0.25 + 0.1 * (-1) ** k) * np.array([np.cos(k * np.pi / 5), np.sin(k * np.pi / 5)]) for k in range(10)]
FLOW = np.array([5.0, -3.0])


def distance(x: Any, place: Any) -> Any:
    return np.linalg.norm(np.asarray(x) - np.asarray(place), axis=-1)


def smooth(x: Any) -> Any:
    product = jnp.sin(3.0 * x[..., 0] + 0.3) * jnp.cos(2.0 * x[..., 1] - 0.2)
    return product * jnp.exp(0.5 * x[..., 2]) if x.shape[-1] == 3 else product


@dataclass(frozen=True)
class Case:
    """A domain, a solution of the equation without a right-hand side, and the equation; the hole's own condition."""

    domain: Callable[[], Any]
    exact: Callable[[Any], Any]
    op: Callable[[Any], Any] = lambda u: -ko.laplacian(u)
    hole: Any = None  # Neumann there


def ring(centre: tuple[float, ...] = (-0.2, 0.3), radius: float = 0.35) -> Any:
    return DISK - ko.Ball(centre, radius)


def without_nine() -> Any:
    domain: Any = SQUARE
    for centre in NINE:
        domain = domain - ko.Ball(centre, 0.07)
    return domain


def shell() -> Any:
    return ko.Box([-1, -1, -1], [1, 1, 1]) - ko.Ball([0.2, 0.1, -0.1], 0.4)


def slope(x: Any) -> Any:
    """∂u/∂n of log r on the hole of `ring`, whose normals point into it."""
    to = np.asarray(x) - [-0.1, 0.4]
    normal = ([-0.2, 0.3] - np.asarray(x)) / 0.35
    return np.sum(to * normal, axis=-1) / np.sum(to**2, axis=-1)


CASES = {
    "Laplace": Case(ring, lambda x: np.log(distance(x, [-0.1, 0.4]))),
    "Neumann on the hole": Case(ring, lambda x: np.log(distance(x, [-0.1, 0.4])), hole=ko.Ball((-0.2, 0.3), 0.35)),
    "Helmholtz, k = 10": Case(
        ring, lambda x: y0(10.0 * distance(x, [-0.1, 0.4])), lambda u: -ko.laplacian(u) - 100.0 * u
    ),
    "reaction": Case(ring, lambda x: k0(6.0 * distance(x, [-0.1, 0.4])), lambda u: -ko.laplacian(u) + 36.0 * u),
    "advection": Case(
        ring,
        lambda x: np.exp(np.asarray(x) @ FLOW / 2) * k0(np.linalg.norm(FLOW) / 2 * distance(x, [-0.1, 0.4])),
        lambda u: -ko.laplacian(u) + FLOW[0] * ko.partial(u, 0) + FLOW[1] * ko.partial(u, 1),
    ),
    "thin ring": Case(lambda: ring((0.03, 0.0), 0.9), lambda x: np.log(distance(x, [0.5, 0.3]))),
    "near the rim": Case(lambda: ring((0.55, 0.2), 0.35), lambda x: np.log(distance(x, [0.6, 0.3]))),
    "small hole": Case(lambda: ring((0.4, -0.3), 0.04), lambda x: np.log(distance(x, [0.41, -0.3]))),
    "square hole": Case(lambda: DISK - ko.Box([-0.2, -0.4], [0.4, 0.2]), lambda x: np.log(distance(x, [0.25, 0.05]))),
    "star-shaped hole": Case(lambda: DISK - ko.Polygon(STAR), lambda x: np.log(distance(x, [0.1, 0.05]))),
    "nine holes": Case(
        without_nine,
        lambda x: sum((-1) ** k * np.log(distance(x, np.add(own, 0.02))) for k, own in enumerate(NINE)),
    ),
    "cube": Case(shell, lambda x: 1.0 / distance(x, [0.3, 0.2, -0.1])),
    "cube, reaction": Case(
        shell,
        lambda x: np.exp(-4.0 * distance(x, [0.3, 0.2, -0.1])) / distance(x, [0.3, 0.2, -0.1]),
        lambda u: -ko.laplacian(u) + 16.0 * u,
    ),
}


def posed(case: Case) -> ko.Problem:
    domain = case.domain()
    equation = ko.Equation(case.op, on=domain, name="f")
    if case.hole is None:
        return ko.Problem(equation, ko.Dirichlet(on=domain.boundary, name="g"))
    outer = ko.Dirichlet(on=domain.boundary.of(DISK), name="g")
    return ko.Problem(equation, outer, ko.Neumann(on=domain.boundary.of(case.hole), name="h"))


def learned(case: Case) -> list[str]:
    """Largest relative errors of both solutions, and the estimate of the first."""
    problem = posed(case)
    T = ko.learn(problem)
    x = problem["f"].on.sample(2000, "uniform", seed=77).x
    given = {"f": 0.0, "g": case.exact} | ({} if case.hole is None else {"h": slope})
    u, cells = T(**given), list[str]()
    for found, exact in ((u, case.exact), (T(**problem.manufacture(smooth, T.points)), smooth)):
        wanted = np.asarray(exact(x))
        cells.append(f"{np.max(np.abs(found(x) - wanted)) / np.max(np.abs(wanted)):.1e}")
    return [cells[0], f"{u.error_estimate().relative_linf:.1e}", cells[1]]


def row(name: str) -> list[str]:
    poles, seconds = dict(filling.MULTIPOLES), list[float]()
    cells = list[str]()
    for share in (dict.fromkeys(poles, 0.0), poles):
        filling.MULTIPOLES.update(share)
        started = time.process_time()
        cells += learned(CASES[name])
        seconds.append(time.process_time() - started)
    return [name, *cells, f"{seconds[0]:.1f}", f"{seconds[1]:.1f}"]


def main(*names: str) -> None:
    warnings.simplefilter("ignore")
    kinds = ["error", "estimate", "smooth"]
    header = ["problem", *(f"without: {kind}" for kind in kinds), *(f"with: {kind}" for kind in kinds), "s", "s"]
    rows = list[list[str]]()
    for name in names or CASES:
        rows.append(row(name))
        print(*rows[-1], sep=" | ", flush=True)
    table("A pole in a hole, without and with functions that have poles", header, rows)
    save("holes", {"header": header, "rows": rows})


if __name__ == "__main__":
    main(*sys.argv[1:])
