"""Corners, mixed conditions and holes: ``ko.learn(problem, tol=1e-8)`` alone, beside one space.

Errors are those of u at places where the truth is known: series, digits from the literature, exact solutions.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from common import save, table

import kernop as ko

SQUARE, ELL = ko.Box([0, 0], [1, 1]), ko.Polygon([[-1, -1], [1, -1], [1, 0], [0, 0], [0, 1], [-1, 1]])
HALF = ko.Box([-1, 0], [1, 1])
PLATE = ko.Box([-1, -1], [1, 1]) - ko.Ball([-0.3, -0.2], 0.3) - ko.Polygon([[0.2, 1.1], [0.5, 0.3], [0.8, 1.1]])


def poisson(domain: Any) -> ko.Problem:
    return ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=domain), ko.Dirichlet(on=domain.boundary))


def centre_of_the_square() -> float:
    """−Δu = 1, u = 0 on the unit square: u(½, ½) by a series of cosh that converges fast."""
    n = np.arange(1, 60, 2)
    sign = (-1.0) ** ((n - 1) // 2)
    return float(1.0 / 8.0 - np.sum(4.0 * sign / (np.pi**3 * n**3) / np.cosh(n * np.pi / 2.0)))


def mixed() -> ko.Problem:
    free, held = (HALF.face("bottom").where(lambda x, s=s: s * x[..., 0] > 0) for s in (-1, 1))
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=HALF),
        ko.Neumann(on=free, name="q", data=0.0),
        ko.Dirichlet(on=held, name="held", data=0.0),
        ko.Dirichlet(on=HALF.face("left", "right", "top"), name="g"),
    )


def root(x: Any) -> Any:
    """r^½ sin(θ/2)."""
    return np.sqrt(np.hypot(x[..., 0], x[..., 1])) * np.sin(0.5 * np.arctan2(x[..., 1], x[..., 0]))


def notch(x: Any) -> Any:
    """Harmonic around the tip (½, 0.3) of the notch, whose angle is 2π − 2 atan(3/8): r^α sin(αθ), 0 on both edges."""
    y = x - np.array([0.5, 0.3])
    opening = np.arctan(0.3 / 0.8)
    power = np.pi / (2.0 * np.pi - 2.0 * opening)
    turned = np.arctan2(y[..., 1], y[..., 0]) - (0.5 * np.pi + opening)
    angle = np.mod(turned + 1e-9, 2.0 * np.pi) - 1e-9  # 0 on the first edge, not 2π
    return np.hypot(y[..., 0], y[..., 1]) ** power * np.sin(power * angle)


DISK = ko.Ball([0, 0], 1)


def mixed_disk() -> ko.Problem:
    """u is given on the left half of the circle, its normal derivative on the right half."""
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=DISK),
        ko.Dirichlet(on=DISK.boundary.where(lambda x: x[..., 0] < 0), name="g"),
        ko.Neumann(on=DISK.boundary.where(lambda x: x[..., 0] >= 0), name="q"),
    )


def top(x: Any) -> Any:
    """Re (z − i)^½, harmonic in the disk, which is like r^½ where the conditions change."""
    return np.real(np.sqrt(x[..., 0] + 1j * (x[..., 1] - 1.0) - 0j))


def slope(x: Any) -> Any:
    """Its normal derivative on the circle."""
    found = 0.5 / np.sqrt(x[..., 0] + 1j * (x[..., 1] - 1.0) - 0j)
    return np.real(found) * x[..., 0] - np.imag(found) * x[..., 1]


def some(domain: Any) -> Any:
    return domain.sample(400, "uniform", seed=1).x


#: Problem, data, places, truth there.
CASES: dict[str, Callable[[], tuple[ko.Problem, tuple[Any, ...], Any, Any]]] = {
    "square, f = 1": lambda: (poisson(SQUARE), (1.0, 0.0), np.array([[0.5, 0.5]]), centre_of_the_square()),
    "L-shape, f = 1": lambda: (
        poisson(ELL),
        (1.0, 0.0),
        np.array([[-0.5, -0.5], [-0.5, 0.5]]),
        np.array([0.13105296203, 0.10236215766]),
    ),
    "mixed conditions, r^½": lambda: (mixed(), (0.0, root), some(HALF), root(some(HALF))),
    "half of a circle, r^½": lambda: (mixed_disk(), (0.0, top, slope), some(DISK), top(some(DISK))),
    "hole and notch, r^0.56": lambda: (poisson(PLATE), (0.0, notch), some(PLATE), notch(some(PLATE))),
}


def run(name: str, method: Any) -> list[str]:
    problem, data, x, truth = CASES[name]()
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        T = ko.learn(problem, method=method, tol=1e-8)
        seconds = time.process_time() - started
        u = T(*data)
        error = np.max(np.abs(u(x) - truth)) / np.max(np.abs(truth))
    parts = getattr(getattr(T.factorisation.expansion, "mosaic", None), "owners", [0])
    kind = "one space" if isinstance(method, ko.Subspace) else "by itself"
    met = "met" if T.report is not None and T.report.met and not T.report.missed else "not met"
    return [name, kind, str(len(parts)), f"{seconds:.1f}", f"{error:.1e}", met]


def main() -> None:
    chosen = [name for name in CASES if not sys.argv[1:] or any(word in name for word in sys.argv[1:])]
    rows: list[list[str]] = []
    for name in chosen:
        for method in (None, ko.Subspace()):
            rows.append(run(name, method))
            print(" · ".join(rows[-1]), flush=True)
    header = ["problem", "space", "parts", "processor [s]", "error", "tol 1e-8"]
    table("Corners, with learn(problem, tol=1e-8)", header, rows)
    save("corners", {"header": header, "rows": rows})


if __name__ == "__main__":
    main()
