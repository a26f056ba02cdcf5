"""Smooth solutions on every kind of domain with nothing but ``ko.learn(problem)``: errors and their estimates.

−Δu = f and u = g on the boundary; in space and time ∂u/∂t − Δu = f, u = g on the walls and at the beginning. The first
solution is smooth everywhere; the second, where the domain has a hole, is the logarithm (in space 1/r) of the distance
from its middle: smooth on the domain, and singular not far from it.

Usage: python benchmarks/domains.py [name of a domain]...
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import trimesh
from common import save, table

import kernop as ko

jax.config.update("jax_enable_x64", True)

STAR = [(1.0 + 0.35 * (-1) ** k) * np.array([np.cos(k * np.pi / 5), np.sin(k * np.pi / 5)]) for k in range(10)]
TOOTH = [(1.0 + 0.12 * (k % 4 < 2)) * np.array([np.cos(k * np.pi / 24), np.sin(k * np.pi / 24)]) for k in range(48)]
L_SHAPE = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]
FACETS = trimesh.creation.icosphere(subdivisions=3)
SQUARE, CUBE, DISK = ko.Box([0, 0], [1, 1]), ko.Box([0, 0, 0], [1, 1, 1]), ko.Ball([0, 0], 1.0)
LASTING = (0.0, 0.5)


def torus(x: Any) -> Any:
    return jnp.hypot(jnp.hypot(x[..., 0], x[..., 1]) - 1.0, x[..., 2]) - 0.4


def ellipse(x: Any) -> Any:
    return x[..., 0] ** 2 / 4.0 + x[..., 1] ** 2 - 1.0


def smooth(x: Any, timed: bool = False) -> Any:
    """sin(3x + 0.3) cos(2y − 0.2) e^(z/2), as far as there are coordinates, and e^(−t/2)."""
    factors = (lambda s: jnp.sin(3.0 * s + 0.3), lambda s: jnp.cos(2.0 * s - 0.2), lambda s: jnp.exp(0.5 * s))
    decay, places = (jnp.exp(-0.5 * x[..., -1]), x[..., :-1]) if timed else (1.0, x)
    for k in range(places.shape[-1]):
        decay = decay * factors[k](places[..., k])
    return decay


def source(x: Any, timed: bool = False) -> Any:
    """−Δu, or ∂u/∂t − Δu, of it."""
    factor = sum((9.0, 4.0, -0.25)[: x.shape[-1] - timed]) - 0.5 * timed
    return factor * smooth(x, timed)


def fundamental(middle: tuple[float, ...]) -> Callable[[Any], Any]:
    def u(x: Any) -> Any:
        square = jnp.sum((x - jnp.asarray(middle)) ** 2, axis=-1)
        return 0.5 * jnp.log(square) if len(middle) == 2 else 1.0 / jnp.sqrt(square)

    return u


def poisson(domain: Any) -> ko.Problem:
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g")
    )


def heat(domain: Any) -> ko.Problem:
    """One condition for the walls and the beginning, so that data are f and g as elsewhere."""
    return ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=domain, name="f"),
        ko.Dirichlet(on=domain.walls, name="g"),
        ko.Initial(on=domain.initial, name="u0"),
    )


def heat_by_halves(domain: Any) -> ko.Problem:
    """The same with an equation on each half of space, told by a predicate."""
    left, right = (domain.space.where(side) for side in (lambda x: x[..., 0] < 0.4, lambda x: x[..., 0] >= 0.4))
    whole = heat(domain)
    parts = (
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=ko.SpaceTime(part, domain.times), name=name)
        for part, name in ((left, "f"), (right, "f_right"))
    )
    return ko.Problem(*parts, *whole.conditions[1:])


def cloud(domain: Any, inner: int, outer: int) -> ko.PointCloud:
    """Independent points of a domain and of its boundary, with nothing else known."""
    rim = domain.boundary.sample(outer, "halton", seed=6)
    return ko.PointCloud(domain.sample(inner, "uniform", seed=5).x, rim.x, rim.normal)


@dataclass(frozen=True)
class Case:
    """How a domain is made, the middle of its hole, and what is solved on it."""

    make: Callable[[], Any]
    hole: tuple[float, ...] | None = None
    posed: Callable[[Any], ko.Problem] = poisson


def lasting(space: Any, posed: Callable[[Any], ko.Problem] = heat) -> Case:
    return Case(lambda: ko.SpaceTime(space(), LASTING), posed=posed)


CASES = {
    "interval": Case(lambda: ko.Interval(-1.0, 1.0)),
    "two intervals": Case(lambda: ko.Interval(0.0, 2.0) - ko.Interval(0.7, 1.2)),
    "square": Case(lambda: SQUARE),
    "disk": Case(lambda: DISK),
    "L-shaped polygon": Case(lambda: ko.Polygon(L_SHAPE)),
    "polygon with a hole": Case(lambda: ko.Polygon([[0, 0], [3, 0], [1, 2]], holes=[[[1, 0.5], [1.5, 0.5], [1, 1]]])),
    "star": Case(lambda: ko.Polygon(STAR)),
    "gear with a hole": Case(lambda: ko.Polygon(TOOTH) - ko.Ball([0, 0], 0.4), (0.0, 0.0)),
    "annulus": Case(lambda: DISK - ko.Ball([0, 0], 0.4), (0.0, 0.0)),
    "eccentric annulus": Case(lambda: DISK - ko.Ball([0.3, 0], 0.4), (0.3, 0.0)),
    "square with a hole": Case(lambda: SQUARE - ko.Ball([0.5, 0.5], 0.25), (0.5, 0.5)),
    "lens": Case(lambda: DISK & ko.Ball([1, 0], 1.0)),
    "two boxes": Case(lambda: SQUARE | ko.Box([1, 0.25], [2, 0.75])),
    "implicit ellipse": Case(lambda: ko.Implicit(ellipse, ([-2, -1], [2, 1]))),
    "half an implicit ellipse": Case(lambda: ko.Implicit(ellipse, ([-2, -1], [2, 1])) & ko.Box([0, -1], [2, 1])),
    "cloud of a disk": Case(lambda: cloud(DISK, 3000, 400)),
    "cloud of an annulus": Case(lambda: cloud(DISK - ko.Ball([0, 0], 0.4), 3000, 500), (0.0, 0.0)),
    "cube": Case(lambda: CUBE),
    "ball": Case(lambda: ko.Ball([0, 0, 0], 1.0)),
    "implicit torus": Case(lambda: ko.Implicit(torus, ([-1.5, -1.5, -0.5], [1.5, 1.5, 0.5]))),
    "cube with a hole": Case(lambda: CUBE - ko.Ball([0.5, 0.5, 0.5], 0.3), (0.5, 0.5, 0.5)),
    "faceted ball": Case(lambda: ko.Solid(FACETS.vertices, FACETS.faces)),
    "faceted ball with a hole": Case(
        lambda: ko.Solid(FACETS.vertices, FACETS.faces) - ko.Ball([0, 0, 0], 0.4), (0.0, 0.0, 0.0)
    ),
    "cloud of a cube": Case(lambda: cloud(CUBE, 6000, 3000)),
    "interval × time": lasting(lambda: ko.Interval(-1.0, 1.0)),
    "interval in two halves × time": lasting(lambda: ko.Interval(-1.0, 1.0), heat_by_halves),
    "L-shaped polygon × time": lasting(lambda: ko.Polygon(L_SHAPE)),
    "disk × time": lasting(lambda: DISK),
    "square with a hole × time": lasting(lambda: SQUARE - ko.Ball([0.5, 0.5], 0.25)),
    "implicit ellipse × time": lasting(lambda: ko.Implicit(ellipse, ([-2, -1], [2, 1]))),
}


def row(name: str) -> list[str]:
    case = CASES[name]
    started = time.perf_counter()
    domain = case.make()
    made = time.perf_counter() - started
    problem = case.posed(domain)
    started = time.perf_counter()
    T = ko.learn(problem)
    learned = time.perf_counter() - started
    cells = [name, f"{made:.2f}", f"{learned:.1f}", f"{T.report.levels[T.report.returned].centers}"]
    x = domain.sample(2000, "uniform", seed=77).x
    pairs = [(lambda x: source(x, domain.timed), lambda x: smooth(x, domain.timed))]
    pairs += [] if case.hole is None else [(lambda x: 0.0 * x[..., 0], fundamental(case.hole))]
    for f, u in pairs:
        solution = T(**{name: f if name.startswith("f") else u for name in T.points})
        wanted = np.asarray(u(x))
        error = np.linalg.norm(solution(x) - wanted) / np.linalg.norm(wanted)
        cells += [f"{error:.1e}", f"{solution.error_estimate().relative_l2:.1e}"]
    return cells + ["", ""] * (2 - len(pairs))


def main(*names: str) -> None:
    header = ["domain", "made, s", "learned, s", "functions", "smooth: error", "estimate", "hole: error", "estimate"]
    rows = list[list[str]]()
    for name in names or CASES:
        rows.append(row(name))
        print(*rows[-1], sep=" | ", flush=True)
    table("Smooth solutions with learn(problem)", header, rows)
    save("domains", {"header": header, "rows": rows})


if __name__ == "__main__":
    main(*sys.argv[1:])
