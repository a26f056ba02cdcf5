"""Domains in space: −Δu = 1 in a cube, whose edges are singular; bodies that cells do not fill; a ball in a cube, at
which a coefficient jumps.

The cube is made of parts that are graded to its edges, as told or by a tolerance; the ball by one space for each side,
and by parts. ``cube``, ``tol``, ``bodies`` or ``ball`` on the command line runs one of the tables. Seconds are
processor time; set OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import save, table

import kernop as ko

#: Cells along a side before grading, degree and levels.
SIZES = ((2, 8, 0), (2, 8, 1), (2, 8, 2), (2, 8, 3), (2, 10, 2), (2, 10, 3), (2, 10, 4))
#: Tolerances for the cube.
TOLERANCES = (1e-3, 1e-4, 1e-6)
#: Cells along the longest side and degrees for bodies.
BODY_SIZES = ((2, 10), (4, 10), (2, 14), (4, 14))
#: The conductivity of the ball, its radius, and sizes of the spaces.
INSIDE, RADIUS, FUNCTIONS = 10.0, 0.5, (500, 1000, 2000)
#: Cells and degrees of parts around it.
PARTS = ((2, 10), (4, 10), (4, 14))


def centre_of_cube() -> float:
    """u at the centre of the unit cube: that of a square, and a series that converges like exp(−4.4 n)."""
    m = 2.0 * np.arange(60) + 1.0
    sign = (-1.0) ** np.arange(60)
    square = 0.125 - 4.0 / np.pi**3 * np.sum(sign / (m**3 * np.cosh(np.minimum(0.5 * np.pi * m, 600.0))))
    i, j = np.meshgrid(m, m, indexing="ij")
    g = np.pi * np.hypot(i, j)
    terms = 16.0 * np.outer(sign, sign) / (np.pi**2 * i * j * g**2 * np.cosh(np.minimum(0.5 * g, 600.0)))
    return float(square - np.sum(terms))


def cube() -> None:
    """u at the centre against parts, with the memory of the process."""
    truth, box = centre_of_cube(), ko.Box([0, 0, 0], [1, 1, 1])
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=box), ko.Dirichlet(on=box.boundary))
    rows: list[list[str]] = []
    for cells, degree, levels in SIZES:
        started = time.process_time()
        T = ko.learn(problem, method=ko.Partition(cells=cells, degree=degree, levels=levels))
        learned = time.process_time() - started
        error = abs(float(quietly(T, 1.0, 0.0)(np.full((1, 3), 0.5))[0]) / truth - 1.0)
        parts, functions = len(T.factorisation.locals), len(T.factorisation.expansion)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        sizes = [str(value) for value in (degree, levels, parts, functions)]
        rows.append([*sizes, f"{learned:.1f}", f"{memory:.1f}", f"{error:.1e}"])
        print(" · ".join(rows[-1]), flush=True)
        del T
    header = ["degree", "levels", "parts", "functions", "learn, s", "memory at most, GB", "error at the centre"]
    table(f"−Δu = 1 in a cube: u = {truth:.12f} at the centre", header, rows)
    save("parts_cube", {"truth": truth, "header": header, "rows": rows})


def in_cube(x: np.ndarray) -> np.ndarray:
    """u in the unit cube: a double series of sines, closed in the third coordinate; to about 1e-7."""
    i, j = (own.ravel() for own in np.meshgrid(*[np.arange(1, 400, 2)] * 2, indexing="ij"))
    g = np.pi * np.hypot(i, j)
    across = np.sin(np.pi * np.outer(x[:, 0], i)) * np.sin(np.pi * np.outer(x[:, 1], j))
    along = 1.0 - (np.exp(-np.outer(x[:, 2], g)) + np.exp(-np.outer(1.0 - x[:, 2], g))) / (1.0 + np.exp(-g))
    return (across * along) @ (16.0 / (np.pi**2 * i * j * g**2))


def tolerance() -> None:
    """By a tolerance alone: what is promised, and how wrong f = 1 is at 60 places."""
    box, x = ko.Box([0, 0, 0], [1, 1, 1]), np.random.default_rng(5).random((60, 3))
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=box), ko.Dirichlet(on=box.boundary))
    rows: list[list[str]] = []
    truth = in_cube(x)
    for tol in TOLERANCES:
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            T = ko.learn(problem, tol=tol)
        learned = time.process_time() - started
        assert T.report is not None
        error = np.max(np.abs(quietly(T, 1.0, 0.0)(x) - truth)) / np.max(truth)
        met = "yes" if T.report.met else "no"
        rows.append([f"{tol:.0e}", met, T.report.space, f"{T.report.error:.1e}", f"{error:.1e}", f"{learned:.1f}"])
        print(" · ".join(rows[-1]), flush=True)
        del T
    header = ["tol", "met", "space", "error on smooth solutions", "error of f = 1", "learn, s"]
    table("−Δu = f in a cube by a tolerance", header, rows)
    save("parts_tol", {"header": header, "rows": rows})


def quietly(T: Any, *data: Any) -> Any:
    """Data that are not satisfied at edges are no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return T(*data)


def smooth(x: np.ndarray) -> np.ndarray:
    """w = (r² − R²) s with s = cos(x + y/2) exp(z/2); u = w / a is continuous, and so is its flux."""
    return (np.sum(x**2, axis=-1) - RADIUS**2) * np.cos(x[..., 0] + 0.5 * x[..., 1]) * np.exp(0.5 * x[..., 2])


def source(x: np.ndarray) -> np.ndarray:
    """−Δw = −6 s − 4 x·∇s + (r² − R²) s."""
    angle, grows = x[..., 0] + 0.5 * x[..., 1], np.exp(0.5 * x[..., 2])
    s = np.cos(angle) * grows
    along = -angle * np.sin(angle) * grows + 0.5 * x[..., 2] * s
    return -6.0 * s - 4.0 * along + (np.sum(x**2, axis=-1) - RADIUS**2) * s


def held(x: np.ndarray) -> np.ndarray:
    return smooth(x) / np.where(np.sum(x**2, axis=-1) < RADIUS**2, INSIDE, 1.0)


def uniform_field(x: np.ndarray) -> np.ndarray:
    """3z / (k + 2) inside, z (1 − (k − 1) / (k + 2) R³ / r³) outside."""
    r = np.maximum(np.linalg.norm(x, axis=-1), 1e-3)
    around = x[..., 2] * (1.0 - (INSIDE - 1.0) / (INSIDE + 2.0) * (RADIUS / r) ** 3)
    return np.where(r < RADIUS, 3.0 / (INSIDE + 2.0) * x[..., 2], around)


def bodies() -> None:
    """u = sin(2x + y) exp(z), which is smooth, on bodies whose surfaces cut the cells."""
    cube = ko.Box([-1, -1, -1], [1, 1, 1])
    torus = ko.Implicit(
        lambda x: (jnp.hypot(x[..., 0], x[..., 1]) - 0.7) ** 2 + x[..., 2] ** 2 - 0.09, ([-1, -1, -0.3], [1, 1, 0.3])
    )
    shapes = {
        "ball": ko.Ball([0, 0, 0], 1.0),
        "cube with a hollow": cube - ko.Ball([0.1, 0, 0], 0.45),
        "torus": torus,
        "cube without an octant": cube - ko.Box([0, 0, 0], [2, 2, 2]),
    }
    exact = lambda x: np.sin(2.0 * x[..., 0] + x[..., 1]) * np.exp(x[..., 2])
    rows: list[list[str]] = []
    for name, body in shapes.items():
        problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=body), ko.Dirichlet(on=body.boundary))
        x = body.sample(3000, "uniform", seed=2).x
        for cells, degree in BODY_SIZES:
            started = time.process_time()
            T = ko.learn(problem, method=ko.Partition(cells=cells, degree=degree))
            learned = time.process_time() - started
            f, g = 4.0 * exact(T.points["f"].x), exact(T.points["g"].x)
            error = np.max(np.abs(quietly(T, f, g)(x) - exact(x))) / np.max(np.abs(exact(x)))
            parts = str(len(T.factorisation.locals))
            rows.append([name, str(cells), str(degree), parts, f"{learned:.1f}", f"{error:.1e}"])
            print(" · ".join(rows[-1]), flush=True)
            del T
    header = ["body", "cells", "degree", "parts", "learn, s", "error"]
    table("A smooth solution on bodies in space: largest relative error", header, rows)
    save("parts_bodies", {"header": header, "rows": rows})


def ball() -> None:
    """Two exact solutions: one that is entire on either side, and that of a uniform field, with a pole in the ball."""
    box, inner = ko.Box([-1, -1, -1], [1, 1, 1]), ko.Ball([0, 0, 0], RADIUS)
    a = ko.Piecewise({inner: INSIDE}, otherwise=1.0)
    problem = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=box), ko.Dirichlet(on=box.boundary))
    x = box.sample(3000, "uniform", seed=2).x
    rows: list[list[str]] = []
    spaces = {f"one space, {number} functions": (ko.Subspace(number), 3 * number) for number in FUNCTIONS}
    parts = {f"parts, {cells} cells, degree {p}": (ko.Partition(cells=cells, degree=p), None) for cells, p in PARTS}
    for name, (method, points) in {**spaces, **parts}.items():
        started = time.process_time()
        T = ko.learn(problem, method=method, points=points)
        learned = time.process_time() - started
        pairs = ((source, held), (0.0, uniform_field))
        errors = [np.max(np.abs(quietly(T, f, exact)(x) - exact(x))) / np.max(np.abs(exact(x))) for f, exact in pairs]
        rows.append([name, f"{learned:.1f}", *(f"{error:.1e}" for error in errors)])
        print(" · ".join(rows[-1]), flush=True)
    header = ["method", "learn, s", "entire on either side", "uniform field"]
    table("A ball of conductivity 10 in a cube of 1: largest relative errors", header, rows)
    save("parts_ball", {"header": header, "rows": rows})


TABLES = {"cube": cube, "tol": tolerance, "bodies": bodies, "ball": ball}


def main() -> None:
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()
