"""Smooth solutions on every kind of domain with nothing but ``ko.learn(problem)``: errors and their estimates.

The first solution is smooth everywhere; the second, where the domain has a hole, is the logarithm (in space 1/r) of the
distance from its middle: smooth on the domain, and singular not far from it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
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
FACETS = trimesh.creation.icosphere(subdivisions=3)
SQUARE, CUBE = ko.Box([0, 0], [1, 1]), ko.Box([0, 0, 0], [1, 1, 1])


def torus(x: Any) -> Any:
    return jnp.hypot(jnp.hypot(x[..., 0], x[..., 1]) - 1.0, x[..., 2]) - 0.4


def ellipse(x: Any) -> Any:
    return x[..., 0] ** 2 / 4.0 + x[..., 1] ** 2 - 1.0


#: How a domain is made, and the middle of its hole.
DOMAINS: dict[str, tuple[Callable[[], Any], tuple[float, ...] | None]] = {
    "square": (lambda: SQUARE, None),
    "L-shaped polygon": (lambda: ko.Polygon([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]), None),
    "star": (lambda: ko.Polygon(STAR), None),
    "gear with a hole": (lambda: ko.Polygon(TOOTH) - ko.Ball([0, 0], 0.4), (0.0, 0.0)),
    "annulus": (lambda: ko.Ball([0, 0], 1.0) - ko.Ball([0, 0], 0.4), (0.0, 0.0)),
    "eccentric annulus": (lambda: ko.Ball([0, 0], 1.0) - ko.Ball([0.3, 0], 0.4), (0.3, 0.0)),
    "square with a hole": (lambda: SQUARE - ko.Ball([0.5, 0.5], 0.25), (0.5, 0.5)),
    "lens": (lambda: ko.Ball([0, 0], 1.0) & ko.Ball([1, 0], 1.0), None),
    "two boxes": (lambda: SQUARE | ko.Box([1, 0.25], [2, 0.75]), None),
    "implicit ellipse": (lambda: ko.Implicit(ellipse, ([-2, -1], [2, 1])), None),
    "implicit torus": (lambda: ko.Implicit(torus, ([-1.5, -1.5, -0.5], [1.5, 1.5, 0.5])), None),
    "cube with a hole": (lambda: CUBE - ko.Ball([0.5, 0.5, 0.5], 0.3), (0.5, 0.5, 0.5)),
    "faceted ball with a hole": (
        lambda: ko.Solid(FACETS.vertices, FACETS.faces) - ko.Ball([0, 0, 0], 0.4),
        (0.0, 0.0, 0.0),
    ),
}


def smooth(x: Any) -> Any:
    wave = jnp.sin(3.0 * x[..., 0] + 0.3) * jnp.cos(2.0 * x[..., 1] - 0.2)
    return wave * jnp.exp(0.5 * x[..., 2]) if x.shape[-1] == 3 else wave


def minus_laplacian(x: Any) -> Any:
    return (13.0 - (0.25 if x.shape[-1] == 3 else 0.0)) * smooth(x)


def fundamental(middle: tuple[float, ...]) -> Callable[[Any], Any]:
    def u(x: Any) -> Any:
        square = jnp.sum((x - jnp.asarray(middle)) ** 2, axis=-1)
        return 0.5 * jnp.log(square) if len(middle) == 2 else 1.0 / jnp.sqrt(square)

    return u


def row(name: str) -> list[str]:
    make, middle = DOMAINS[name]
    started = time.perf_counter()
    domain = make()
    made = time.perf_counter() - started
    problem = ko.Problem(
        ko.Equation(lambda v: -ko.laplacian(v), on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g")
    )
    started = time.perf_counter()
    T = ko.learn(problem)
    learned = time.perf_counter() - started
    cells = [name, f"{made:.2f}", f"{learned:.1f}", f"{T.report.levels[T.report.returned].centers}"]
    x = domain.sample(2000, "uniform", seed=77).x
    pairs = [(minus_laplacian, smooth)] + ([] if middle is None else [(0.0, fundamental(middle))])
    for f, u in pairs:
        solution = T(f, u)
        wanted = np.asarray(u(x))
        error = np.linalg.norm(solution(x) - wanted) / np.linalg.norm(wanted)
        cells += [f"{error:.1e}", f"{solution.error_estimate().relative_l2:.1e}"]
    return cells + ["", ""] * (2 - len(pairs))


def main(*names: str) -> None:
    rows = [row(name) for name in (names or DOMAINS)]
    header = ["domain", "made, s", "learned, s", "functions", "smooth: error", "estimate", "hole: error", "estimate"]
    table("−Δu = f, u = g with learn(problem)", header, rows)
    save("domains", {"header": header, "rows": rows})


if __name__ == "__main__":
    main(*sys.argv[1:])
