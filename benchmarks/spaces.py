"""Which functions? Translates, polynomials of total degree, and translates augmented by polynomials, side by side.

Usage: python benchmarks/spaces.py [--domains]

The relative L2 error of u (the worst of four sums of plane waves with the given |k|) for −Δu = f, u = g on the unit
cube, with L functions and 3 L points; with --domains, centres that fill the box of a ball against centres that follow it.
"""

from __future__ import annotations

import sys
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import save, table

import kernop as ko
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


def error(domain: Any, size: float, number: int, basis: Any) -> float:
    problem, (field, exact) = poisson(domain), waves(domain.dim, size)
    operator = ko.learn(problem, points=3 * number, method=ko.Subspace(number, basis=basis))
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


if __name__ == "__main__":
    if "--domains" in sys.argv:
        domains()
    else:
        spaces()
