"""Two examples by a tolerance alone: groundwater in a log-normal permeability, and an L-shaped plate cooled by the air.

``python benchmarks/parts_examples.py`` says what ``learn(problem, tol=1e-6)`` promises, and what its answers are:
against finite elements on finer and finer meshes for the first, and against an operator of other cells for both.
``groundwater`` or ``plate`` on the command line runs one of them. Seconds are processor time.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import skfem
from common import save, table
from scipy.ndimage import gaussian_filter

import kernop as ko

TOL = 1e-6
SQUARE = ko.Box([0, 0], [1, 1])
WELLS, WIDTH = np.array([[0.3, 0.6], [0.7, 0.35]]), 0.1


def learned(problem: ko.Problem, **options: Any) -> tuple[ko.SolutionOperator, float]:
    """The operator, and processor time."""
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        T = ko.learn(problem, **options)
    return T, time.process_time() - started


def row(name: str, T: ko.SolutionOperator, seconds: float, errors: Mapping[str, float]) -> list[str]:
    """What was promised, and what came."""
    assert T.report is not None
    against = ", ".join(f"{error:.1e} from {who}" for who, error in errors.items())
    return [name, "met" if T.report.met else "not met", f"{T.report.error:.1e}", against, f"{seconds:.0f}"]


def plate() -> list[str]:
    """The plate of examples/l_shape.py."""
    shape = ko.Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])
    problem = ko.Problem(
        ko.Equation(lambda u: ko.laplacian(u), on=shape, data=0.0),
        ko.Dirichlet(on=shape.edge(4), name="hot"),
        ko.Robin(5.0, 1.0, on=shape.edge(1), name="air"),
        ko.Neumann(on=shape.edge(0, 2, 3, 5), name="insulated", data=0.0),
    )
    x = shape.sample(500, "uniform", seed=1).x
    T, seconds = learned(problem, tol=TOL)
    other, _ = learned(problem, method=ko.Partition(cells=3, degree=15))
    values, truth = (own(hot=1.0, air=0.0)(x) for own in (T, other))
    return row("L-shaped plate", T, seconds, {"3 cells, degree 15": _apart(values, truth)})


def permeability() -> ko.GridFunction:
    """That of examples/groundwater.py."""
    noise = np.random.default_rng(1).normal(size=(64, 64))
    return ko.GridFunction(np.exp(20 * gaussian_filter(noise, 8)), SQUARE)


def pump(x: np.ndarray) -> np.ndarray:
    """Two wells of equal rates, (…,)."""
    square = np.sum((x[..., None, :] - WELLS) ** 2, axis=-1)
    return -np.sum(np.exp(-square / WIDTH**2) / (np.pi * WIDTH**2), axis=-1)


def groundwater() -> list[str]:
    """The aquifer of examples/groundwater.py, two wells and a head of 2."""
    k = permeability()
    problem = ko.Problem(
        ko.Equation(lambda h: -ko.div(k * ko.grad(h)), on=SQUARE, name="q"),
        ko.Dirichlet(on=SQUARE.face("left"), name="head"),
        ko.Dirichlet(on=SQUARE.face("right"), name="sea", data=0.0),
        ko.Neumann(on=SQUARE.face("bottom", "top"), name="sides", data=0.0),
    )
    x = SQUARE.sample(500, "uniform", seed=1).x
    T, seconds = learned(problem, tol=TOL)
    values = T(q=pump, head=2.0)(x)
    coarse, fine = (elements(k, refined, x) for refined in (6, 7))
    other, _ = learned(problem, method=ko.Partition(cells=24, degree=11, levels=4))
    errors = {
        "24 × 24 cells, degree 11": _apart(values, other(q=pump, head=2.0)(x)),
        f"P2 on 128 × 128 cells, which changed by {_apart(coarse, fine):.0e}": _apart(values, fine),
    }
    return row("groundwater", T, seconds, errors)


def elements(k: Any, refined: int, x: np.ndarray) -> np.ndarray:
    """The same by quadratic elements."""
    basis = skfem.Basis(skfem.MeshTri().refined(refined), skfem.ElementTriP2())
    stiff = skfem.BilinearForm(lambda u, v, at: k(at.x.transpose(1, 2, 0)) * sum(u.grad * v.grad)).assemble(basis)
    load = skfem.LinearForm(lambda v, at: pump(at.x.transpose(1, 2, 0)) * v).assemble(basis)
    level, ends = 2.0 * (basis.doflocs[0] == 0), np.flatnonzero(basis.doflocs[0] % 1 == 0)
    return basis.probes(x.T) @ skfem.solve(*skfem.condense(stiff, load, x=level, D=ends))


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference, as a part of the largest value."""
    return float(np.max(np.abs(one - other)) / np.max(np.abs(other)))


TABLES = {"plate": plate, "groundwater": groundwater}


def main(names: Sequence[str]) -> None:
    rows: list[list[str]] = []
    for name in names or TABLES:
        rows.append(TABLES[name]())
        print(" · ".join(rows[-1]), flush=True)
    header = ["problem", f"tol = {TOL:g}", "it says", "largest difference", "learn, s"]
    table("By a tolerance alone", header, rows)
    save("parts_examples", {"header": header, "rows": rows})


if __name__ == "__main__":
    main(sys.argv[1:])
