"""Coefficients that jump, with a continuous flux: a 4 × 4 checkerboard, an inclusion of any contrast, a triangle.

−div(a ∇u) = 1, u = 0 on the boundary. Truth: exact solutions; else the change when cells are halved once more, and for
the checkerboard quadratic finite elements on meshes fitted to the jumps, extrapolated.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
import skfem
from common import save, table
from skfem.helpers import dot, grad

import kernop as ko

SQUARE, DISK = ko.Box([0, 0], [1, 1]), ko.Ball([0.45, 0.55], 0.25)
TRIANGLE = ko.Polygon([[0.3, 0.3], [0.75, 0.4], [0.45, 0.7]])
PLACES = np.array([[0.4, 0.4], [0.1, 0.7], [0.6, 0.3]])


def flow(a: Any) -> ko.Problem:
    return ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary))


def checkerboard(contrast: float) -> Any:
    boxes = [(i, j, ko.Box([i / 4, j / 4], [(i + 1) / 4, (j + 1) / 4])) for i in range(4) for j in range(4)]
    return ko.Piecewise({box: contrast if (i + j) % 2 else 1.0 for i, j, box in boxes})


def elements(contrast: float, refined: int) -> Any:
    """Quadratic elements on a mesh that is fitted to the checkerboard and graded at its crossings."""
    mesh = skfem.MeshTri.init_tensor(np.linspace(0, 1, 5), np.linspace(0, 1, 5)).refined(2)
    crossings = np.array([[i / 4, j / 4] for i in (1, 2, 3) for j in (1, 2, 3)])
    for k in range(refined):
        middle = mesh.p[:, mesh.t].mean(axis=1).T
        near = np.min(np.linalg.norm(middle[:, None] - crossings, axis=2), axis=1) < 0.12 * 0.6**k
        mesh = mesh.refined(np.flatnonzero(near))
    basis = skfem.Basis(mesh, skfem.ElementTriP2())
    middle = mesh.p[:, mesh.t].mean(axis=1)
    odd = (np.floor(4 * middle[0]) + np.floor(4 * middle[1])) % 2 == 1
    a = np.where(odd, contrast, 1.0)[:, None]
    stiffness = skfem.BilinearForm(lambda u, v, w: w.a * dot(grad(u), grad(v))).assemble(basis, a=a)
    load = skfem.LinearForm(lambda v, _: 1.0 * v).assemble(basis)
    u = skfem.solve(*skfem.condense(stiffness, load, D=basis.get_dofs()))
    return basis.probes(PLACES.T) @ u


def uniform_field(inside: float) -> Any:
    def exact(x: Any) -> Any:
        y = x - DISK.center
        square = np.sum(y**2, axis=-1)
        around = y[..., 0] * (1 - (inside - 1) / (inside + 1) * DISK.radius**2 / np.maximum(square, 1e-9))
        return np.where(square < DISK.radius**2, 2 / (inside + 1) * y[..., 0], around)

    return exact


def learned(a: Any, method: ko.Partition) -> tuple[ko.SolutionOperator, float]:
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        T = ko.learn(flow(a), method=method)
    return T, time.perf_counter() - started


def row(name: str, T: ko.SolutionOperator, seconds: float, error: float, against: str) -> list[str]:
    return [name, str(len(T.factorisation.expansion.mosaic.owners)), f"{seconds:.1f}", f"{error:.1e}", against]  # pyright: ignore


def changing(name: str, a: Any, cells: int, depths: tuple[int, int]) -> tuple[list[str], Any]:
    """The change of u from one depth of grading to a larger one."""
    values = []
    for depth in depths:
        T, seconds = learned(a, ko.Partition(cells=cells, levels=depth))
        values.append(T(1.0, 0.0)(PLACES))
    change = float(np.max(np.abs(values[1] - values[0])) / np.max(np.abs(values[1])))
    return row(name, T, seconds, change, f"{depths[0]} levels"), values[1]


def main() -> None:
    small = "--small" in sys.argv
    rows: list[list[str]] = []
    for inside in (10.0, 1e6, 1e-6):
        T, seconds = learned(
            ko.Piecewise({DISK: inside}, otherwise=1.0), ko.Partition(cells=4 if small else 8, levels=0)
        )
        exact = uniform_field(inside)
        x = SQUARE.sample(1000, "uniform", seed=1).x
        error = np.max(np.abs(T(0.0, exact)(x) - exact(x))) / np.max(np.abs(exact(x)))
        rows.append(row(f"disk 1 : {inside:g}", T, seconds, float(error), "exact"))
    rows.append(
        changing("triangle 1 : 10", ko.Piecewise({TRIANGLE: 10.0}, otherwise=1.0), 4, (8, 12) if small else (12, 20))[0]
    )
    found, values = changing("checkerboard 1 : 10", checkerboard(10.0), 4, (6, 9) if small else (16, 24))
    rows.append(found)
    coarse, fine = (elements(10.0, k) for k in ((4, 6) if small else (8, 12)))
    off = float(np.max(np.abs(values - fine)) / np.max(np.abs(values)))
    own = float(np.max(np.abs(fine - coarse)) / np.max(np.abs(fine)))
    rows.append([*rows[-1][:3], f"{off:.1e}", f"P2 elements, which change by {own:.0e}"])
    header = ["problem", "parts", "learn [s]", "error", "against"]
    table("Jumps of a coefficient, flux continuous", header, rows)
    save("jumps", {"header": header, "rows": rows})


if __name__ == "__main__":
    main()
