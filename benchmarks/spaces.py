"""Which functions? Translates, polynomials of total degree, and translates augmented by polynomials, side by side.

Usage: python benchmarks/spaces.py [--domains | --shares | --axes]

The relative L2 error of u (the worst of four sums of plane waves with the given |k|) for −Δu = f, u = g on the unit
cube, with L functions and 3 L points. With --domains, centres that fill the box of a ball against centres that follow
it; with --shares, the error against the part of the points that the boundary gets; with --axes, a wave of speed 10
against the resolution in time.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import save, table

import kernop as ko
from kernop.collocation.units import frame_of
from kernop.methods import centres, subspace

BASES = ("translates", "augmented", "polynomials")
#: Dimension, wave number, numbers of functions.
CASES = (
    (1, 20.0, (20, 40, 80, 200)),
    (1, 60.0, (40, 80, 200, 400)),
    (2, 8.0, (250, 500, 1000, 1500)),
    (2, 24.0, (250, 500, 1000, 1500)),
    (3, 4.0, (250, 500, 1000, 1500)),
    (3, 12.0, (250, 500, 1000, 1500)),
    (5, 2.5, (250, 500, 1000, 1500)),
    (8, 2.0, (250, 500, 1000, 1500)),
)


def waves(d: int, size: float) -> tuple[Any, Any]:
    """Four sums of six plane waves, in JAX and in NumPy."""
    rng = np.random.default_rng(3)
    k = rng.normal(size=(4, 6, d))
    k *= size / np.linalg.norm(k, axis=-1, keepdims=True)
    b = rng.uniform(0.0, 2.0 * np.pi, size=(4, 6))

    def of(module: Any) -> Any:
        return lambda x: module.sum(module.cos(module.einsum("...d,bjd->...bj", x, k) + b), -1)

    return of(jnp), of(np)


def poisson(domain: Any) -> ko.Problem:
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g")
    )


def error(domain: Any, size: float, number: int, basis: Any, points: Any = None) -> float:
    problem, (field, exact) = poisson(domain), waves(domain.dim, size)
    operator = ko.learn(problem, points=points or 3 * number, method=ko.Subspace(number, basis=basis))
    x = domain.sample(2000, "uniform", seed=7).x
    truth = exact(x)
    found = operator(**problem.manufacture(field, operator.points))(x)
    return float(np.max(np.linalg.norm(found - truth, axis=0) / np.linalg.norm(truth, axis=0)))


def spaces() -> None:
    rows, figures = [], {}
    for d, size, numbers in CASES:
        domain = ko.Box([0.0] * d, [1.0] * d)
        for number in numbers:
            found = [error(domain, size, number, basis) for basis in BASES]
            figures[f"{d} {size} {number}"] = found
            rows.append([str(d), f"{size:g}", str(number), *(f"{e:.0e}" for e in found)])
    table("relative L2 error", ["d", "|k|", "L", *BASES], rows)
    save("spaces", figures)


def domains() -> None:
    follow, rows = centres.fill, list[list[str]]()
    for d, sizes in ((2, (9.0, 25.0)), (3, (4.0, 9.0)), (5, (2.0, 4.0))):
        for size in sizes:
            for number in (300, 1000):
                found: list[str] = []
                for fill in (lambda frame, n, inside=None: follow(frame, n), follow):
                    subspace.fill = fill
                    found.append(f"{error(ko.Ball([0.0] * d, 1.0), size, number, None):.0e}")
                rows.append([str(d), f"{size:g}", str(number), *found])
    subspace.fill = follow
    table("a ball: centres that fill its box, or follow it", ["d", "|k|", "L", "box", "ball"], rows)


def shares() -> None:
    rows, parts = list[list[str]](), (0.1, 0.2, 0.3, 0.5, 0.75)
    for d, size in ((2, 8.0), (3, 4.0), (5, 2.5), (8, 2.0)):
        domain = ko.Box([0.0] * d, [1.0] * d)
        points = [{"f": round(2000 * (1 - part)), "g": round(2000 * part)} for part in parts]
        rows.append([str(d), f"{size:g}", *(f"{error(domain, size, 1000, 'translates', p):.0e}" for p in points)])
    table("1000 translates, 2000 points: the part of the boundary", ["d", "|k|", *map(str, parts)], rows)


def axes() -> None:
    domain = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, 1.0))
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u, 2) - 100.0 * ko.laplacian(u), on=domain, name="f"),
        ko.Dirichlet(on=domain.walls, name="g"),
        ko.Initial(on=domain.initial, name="u0"),
        ko.Initial(on=domain.initial, name="v0", order=1),
    )

    def string(m: Any) -> Any:
        return lambda x: sum(
            a * m.sin(k * m.pi * x[..., 0]) * m.cos(10 * k * m.pi * x[..., 1]) for k, a in ((1, 1.0), (2, 0.5))
        )

    x = domain.sample(3000, "uniform", seed=9).x
    truth, frame, rows = string(np)(x), frame_of(problem), list[list[str]]()
    for finer in (1.0, 2.0, 5.0, 10.0, 20.0):
        chosen = centres.fill(replace(frame, fineness=np.array([1.0, finer])), 1000)
        method, kernel = ko.Subspace(chosen.z), ko.Gaussian(chosen.lengthscale)
        operator = ko.learn(problem, points=3000, method=method, kernel=kernel)
        found = operator(**problem.manufacture(string(jnp), operator.points))(x)
        rows.append([f"{finer:g}", f"{np.linalg.norm(found - truth) / np.linalg.norm(truth):.0e}"])
    table("a wave of speed 10, 1000 translates", ["finer in time", "error"], rows)


if __name__ == "__main__":
    ways = {"--domains": domains, "--shares": shares, "--axes": axes}
    next((way for option, way in ways.items() if option in sys.argv), spaces)()
