"""Heat and waves on parts of space, each for all times of a slab: errors against exact solutions, beside one space.

``rod``: heat in two materials, conductivities 1 and 0.1, by an eigenfunction whose flux is continuous. ``bar``: a pulse
at a jump of the speed of waves, of which a part is reflected. ``plate``: e^(−t) r^⅔ sin(2θ/3) on an L-shape.
Slabs follow each other by T.march. A word on the command line runs one of the tables. Seconds are processor time; set
OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from common import save, table
from scipy.optimize import brentq

import kernop as ko

#: Where the materials of a rod meet, and their conductivities.
KINK, CONDUCTS = 0.4, (1.0, 0.1)
#: The speeds of waves in a bar on either side of its middle, and the width of the pulse.
SPEEDS, WIDTH = (1.0, 0.5), 0.15
#: Cells and degree of rods and bars; cells, degree and levels of plates.
LINES = ((2, 10), (2, 14), (2, 19), (8, 10), (8, 14), (8, 19))
PLATES = ((2, 6, 6), (2, 8, 12), (2, 10, 20))
#: Functions of one space.
ONE = 1500

Field = Callable[[Any], np.ndarray]


def eigenfunction() -> Field:
    """The third one of (a u′)′ = −λu, u(0) = u(1) = 0, times exp(−λt)."""
    (k, one), (m, other) = ((np.sqrt(1.0 / a), a) for a in CONDUCTS)

    def flux(root: float) -> float:
        left, right = k * root * KINK, m * root * (1.0 - KINK)
        return one * k * np.cos(left) * np.sin(right) + other * m * np.sin(left) * np.cos(right)

    grid = np.linspace(0.1, 12.0, 4000)
    root = [brentq(flux, a, b) for a, b in pairwise(grid) if flux(a) * flux(b) < 0.0][2]

    def u(x: Any) -> np.ndarray:
        s, t = np.asarray(x)[..., 0], np.asarray(x)[..., 1]
        left = np.sin(k * root * s) * np.sin(m * root * (1.0 - KINK))
        right = np.sin(m * root * (1.0 - s)) * np.sin(k * root * KINK)
        return np.exp(-(root**2) * t) * np.where(s <= KINK, left, right)

    return u


def pulse(x: Any, order: int = 0) -> np.ndarray:
    """A pulse that comes from the left, what is reflected and what passes; or its derivative in time."""
    c, other = SPEEDS
    s, late = np.asarray(x)[..., 0], c * np.asarray(x)[..., 1]

    def form(at: np.ndarray) -> np.ndarray:
        found = np.exp(-(((at - 0.2) / WIDTH) ** 2))
        return 2.0 * c * (at - 0.2) / WIDTH**2 * found if order else found

    back, through = (c - other) / (c + other), 2.0 * c / (c + other)
    left = form(s - late) + back * form(1.0 - s - late)
    return np.where(s <= 0.5, left, through * form(0.5 + (s - 0.5) * c / other - late))


def corner(x: Any) -> np.ndarray:
    """e^(−t) r^⅔ sin(2θ/3)."""
    x = np.asarray(x)
    angle = np.arctan2(x[..., 1], x[..., 0])
    angle = np.where(angle < -1e-9, angle + 2.0 * np.pi, angle)
    return np.exp(-x[..., 2]) * np.hypot(x[..., 0], x[..., 1]) ** (2.0 / 3.0) * np.sin(2.0 * angle / 3.0)


def stated(space: Any, op: Callable[[Any], Any], duration: float, moving: bool) -> tuple[Any, ko.Problem]:
    """A slab of time, and an equation on it with all that determines u."""
    slab = ko.SpaceTime(space, (0.0, duration))
    begins = [ko.Initial(on=slab.initial, name="u0")]
    begins += [ko.Initial(on=slab.initial, name="v0", order=1)] if moving else []
    return slab, ko.Problem(ko.Equation(op, on=slab, name="f"), ko.Dirichlet(on=slab.walls, name="g"), *begins)


def halves(kink: float, values: Sequence[float]) -> ko.Piecewise:
    sides = (ko.Interval(0.0, kink), ko.Interval(kink, 1.0))
    return ko.Piecewise({ko.SpaceTime(own, (0.0, 1e3)): a for own, a in zip(sides, values, strict=True)})


def measured(
    name: str,
    title: str,
    slab: Any,
    problem: ko.Problem,
    data: dict[str, Any],
    exact: Field,
    steps: int,
    methods: Sequence[Any],
) -> None:
    """One slab, and several of them, by each of some methods."""
    x = slab.sample(2000, "uniform", seed=3).x
    far = x * np.append(np.ones(x.shape[1] - 1), float(steps))
    rows: list[list[str]] = []
    for method in methods:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            started = time.process_time()
            T = ko.learn(problem, method=method)
            learned = time.process_time() - started
            started = time.process_time()
            u = T(**data)
            applied = time.process_time() - started
            found = [_relative(u(x), exact(x))]
            started = time.process_time()
            later = T.march(steps, **data)
            marched = time.process_time() - started
            found.append(_relative(later(far), exact(far)))
        parts = len(getattr(T.factorisation, "locals", (0,)))
        what = repr(method) if isinstance(method, ko.Subspace) else f"degree {method.degree}, cells {method.cells}"
        sizes = [what, str(parts), str(len(T.factorisation.expansion))]
        errors = [f"{error:.1e}" for error in found]
        seconds = [f"{value:.2f}" for value in (learned, applied, marched)]
        rows.append([*sizes, *seconds, *errors, f"{u.misfit:.0e}", f"{later.spectral_radius:.5f}"])
        print(" · ".join(rows[-1]), flush=True)
        del T, u, later
    header = [
        "method",
        "parts",
        "functions",
        "learn, s",
        "T(…), s",
        "march, s",
        "error, one slab",
        f"error, {steps} slabs",
    ]
    header += ["misfit", "spectral radius"]
    table(title, header, rows)
    save(f"parts_time_{name}", {"header": header, "rows": rows})


def _relative(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.max(np.abs(found - truth)) / np.max(np.abs(truth)))


def rod() -> None:
    a, u = halves(KINK, CONDUCTS), eigenfunction()
    slab, problem = stated(ko.Interval(0.0, 1.0), lambda v: ko.dt(v) - ko.div(a * ko.grad(v)), 0.1, moving=False)
    methods = [*(ko.Partition(cells=cells, degree=degree) for cells, degree in LINES), ko.Subspace(ONE)]
    measured("rod", "Heat in two materials, τ = 0.1", slab, problem, {"f": 0.0, "g": 0.0, "u0": u}, u, 10, methods)


def bar() -> None:
    a = halves(0.5, [c**2 for c in SPEEDS])
    slab, problem = stated(ko.Interval(0.0, 1.0), lambda v: ko.dt(v, 2) - ko.div(a * ko.grad(v)), 0.1, moving=True)
    methods = [*(ko.Partition(cells=cells, degree=degree) for cells, degree in LINES), ko.Subspace(ONE)]
    data = {"f": 0.0, "g": pulse, "u0": pulse, "v0": lambda x: pulse(x, 1)}
    measured("bar", "A pulse at a jump of the speed, τ = 0.1", slab, problem, data, pulse, 10, methods)


def plate() -> None:
    ell = ko.Polygon([(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)])
    slab, problem = stated(ell, lambda v: ko.dt(v) - ko.laplacian(v), 0.1, moving=False)
    methods = [ko.Partition(cells=cells, degree=degree, levels=levels) for cells, degree, levels in PLATES]
    data = {"f": lambda x: -corner(x), "g": corner, "u0": corner}
    measured("plate", "Heat on an L-shape, τ = 0.1", slab, problem, data, corner, 4, [*methods, ko.Subspace(ONE)])


TABLES = {"rod": rod, "bar": bar, "plate": plate}


def main() -> None:
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()
