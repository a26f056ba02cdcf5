"""Corners, slits, mixed conditions, holes and notches: ``ko.learn(problem, tol=1e-8)`` alone, beside one space.

Errors are those of u at places where the truth is known: series, digits from the literature, exact solutions. With
``--figure`` the error of the L-shape against functions, and against processor time, is drawn beside quadratic finite
elements (scikit-fem) on meshes that are refined where a residual estimator says so, and beside one space.
``--default`` takes ``ko.learn(problem)``, without a tolerance, and ``--parts`` leaves one space out.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from common import OUT, save, table
from corners_fem import adaptive

import kernop as ko
from kernop.plotting import COLOURS

SQUARE, ELL = ko.Box([0, 0], [1, 1]), ko.Polygon([[-1, -1], [1, -1], [1, 0], [0, 0], [0, 1], [-1, 1]])
HALF = ko.Box([-1, 0], [1, 1])
PLATE = ko.Box([-1, -1], [1, 1]) - ko.Ball([-0.3, -0.2], 0.3) - ko.Polygon([[0.2, 1.1], [0.5, 0.3], [0.8, 1.1]])
#: The lower edge of the crack is one side, the upper edge another: an angle of 2π but for 2e-3.
SLIT = ko.Polygon([[0, 0], [1, -1e-3], [1, -1], [-1, -1], [-1, 1], [1, 1], [1, 1e-3]])
DISK = ko.Ball([0, 0], 1)
ELL_PLACES, ELL_TRUTH = np.array([[-0.5, -0.5], [-0.5, 0.5]]), np.array([0.13105296203, 0.10236215766])


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


def at_tip(tip: Any, first: float, angle: float) -> Callable[[Any], Any]:
    """r^α sin(αθ) around a tip, with α = π / angle, and θ from the direction ``first`` on: 0 on both edges."""
    power = np.pi / angle

    def exact(x: Any) -> Any:
        y = x - np.asarray(tip)
        turned = np.mod(np.arctan2(y[..., 1], y[..., 0]) - first + 1e-9, 2.0 * np.pi) - 1e-9
        return np.hypot(y[..., 0], y[..., 1]) ** power * np.sin(power * turned)

    return exact


OPENING = np.arctan(0.3 / 0.8)
notch = at_tip([0.5, 0.3], 0.5 * np.pi + OPENING, 2.0 * np.pi - 2.0 * OPENING)
slit = at_tip([0.0, 0.0], np.arctan(1e-3), 2.0 * np.pi - 2.0 * np.arctan(1e-3))


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


def known(domain: Any, exact: Callable[[Any], Any]) -> tuple[ko.Problem, tuple[Any, ...], Any, Any]:
    return poisson(domain), (0.0, exact), some(domain), exact(some(domain))


def smooth(x: Any) -> Any:
    return np.sin(3.0 * x[..., 0] + x[..., 1]) + x[..., 1] ** 2


def smooth_source(x: Any) -> Any:
    return 10.0 * np.sin(3.0 * x[..., 0] + x[..., 1]) - 2.0


#: Problem, data, places, truth there.
CASES: dict[str, Callable[[], tuple[ko.Problem, tuple[Any, ...], Any, Any]]] = {
    "square, f = 1": lambda: (poisson(SQUARE), (1.0, 0.0), np.array([[0.5, 0.5]]), centre_of_the_square()),
    "L-shape, f = 1": lambda: (poisson(ELL), (1.0, 0.0), ELL_PLACES, ELL_TRUTH),
    "L-shape, smooth data": lambda: (poisson(ELL), (smooth_source, smooth), some(ELL), smooth(some(ELL))),
    "mixed conditions, r^½": lambda: (mixed(), (0.0, root), some(HALF), root(some(HALF))),
    "half of a circle, r^½": lambda: (mixed_disk(), (0.0, top, slope), some(DISK), top(some(DISK))),
    "slit, r^0.5002": lambda: known(SLIT, slit),
    "hole and notch, r^0.56": lambda: known(PLATE, notch),
}


def run(name: str, method: Any, tol: float | None) -> list[str]:
    problem, data, x, truth = CASES[name]()
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        T = ko.learn(problem, method=method, tol=tol)
        seconds = time.process_time() - started
        u = T(*data)
        error = np.max(np.abs(u(x) - truth)) / np.max(np.abs(truth))
    parts = getattr(getattr(T.factorisation.expansion, "mosaic", None), "owners", [0])
    kind = "one space" if isinstance(method, ko.Subspace) else "by itself"
    met = "met" if T.report is not None and T.report.met and not T.report.missed else "not met"
    return [
        name,
        kind,
        "default" if tol is None else f"{tol:.0e}",
        str(len(parts)),
        f"{seconds:.1f}",
        f"{error:.1e}",
        met,
    ]


def figure() -> dict[str, list[tuple[int, float, float]]]:
    """L-shape, f = 1: functions, seconds and error of parts, of one space, and of adaptive elements."""
    found: dict[str, list[tuple[int, float, float]]] = {"parts": [], "one space": [], "adaptive P2": []}
    methods = [("parts", ko.Partition(cells=2, degree=d, levels=k)) for d, k in ((7, 4), (9, 8), (13, 14), (19, 27))]
    methods += [("one space", ko.Subspace(n)) for n in (100, 300, 1000)]
    ko.learn(poisson(ELL), method=methods[0][1])  # compiles
    for name, method in methods:
        started = time.process_time()
        T = ko.learn(poisson(ELL), method=method)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            error = float(np.max(np.abs(T(1.0, 0.0)(ELL_PLACES) - ELL_TRUTH) / ELL_TRUTH))
        found[name].append((len(T.factorisation.expansion), time.process_time() - started, error))
    for size, seconds, values in adaptive(ELL_PLACES):
        found["adaptive P2"].append((int(size), seconds, float(np.max(np.abs(values - ELL_TRUTH) / ELL_TRUTH))))
    return found


def draw(found: dict[str, list[tuple[int, float, float]]]) -> None:
    from matplotlib.figure import Figure

    picture = Figure(figsize=(9, 3.6), layout="constrained")
    for k, label in enumerate(("functions", "processor time [s]")):
        axes = picture.add_subplot(1, 2, k + 1, xlabel=label, ylabel="relative error at two places")
        for (name, rows), colour, marker in zip(found.items(), COLOURS, "os^", strict=False):
            style = {"color": colour, "marker": marker, "markersize": 4, "label": name}
            axes.loglog([row[k] for row in rows], [row[2] for row in rows], **style)
    axes.legend(loc="lower left")
    OUT.mkdir(parents=True, exist_ok=True)
    picture.savefig(OUT / "corners.png", dpi=150)


def main() -> None:
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    chosen = [name for name in CASES if not words or any(word in name for word in words)]
    rows: list[list[str]] = []
    for name in chosen:
        default = "--default" in sys.argv
        tol = None if default else 1e-8
        jobs = [(None, tol)] if "--parts" in sys.argv else [(None, tol), (ko.Subspace(), tol)]
        jobs += [(None, 1e-10)] if name == "square, f = 1" and not default else []
        for method, tol in jobs:
            rows.append(run(name, method, tol))
            print(" · ".join(rows[-1]), flush=True)
    header = ["problem", "space", "tol", "parts", "processor [s]", "error", "report"]
    table("Corners, with learn(problem, tol=…)", header, rows)
    told: dict[str, Any] = {"header": header, "rows": rows}
    if "--figure" in sys.argv:
        told["L-shape"] = figure()
        draw(told["L-shape"])
        curves = [[name, str(n), f"{s:.2f}", f"{e:.1e}"] for name, own in told["L-shape"].items() for n, s, e in own]
        table("L-shape, f = 1", ["space", "functions", "processor [s]", "error"], curves)
    save("corners_default" if "--default" in sys.argv else "corners", told)


if __name__ == "__main__":
    main()
