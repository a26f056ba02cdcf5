"""What digits cost: parts by tolerances from 1e-2 to 1e-10, with functions, points, processor time and true errors.

The constants of ``learning/degrees.py`` and ``learning/plan.py`` were chosen on these five problems, and those of what
is allowed in ``learning/partitioned.py`` on the groundwater of ``parts_examples.py`` too.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import save, table
from corners import CASES, DISK, SQUARE, poisson, some

import kernop as ko

TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)


def square() -> tuple[ko.Problem, tuple[Any, ...], Any, Any]:
    """−Δu = 1, u = 0, at 400 places: ½x(1 − x) less a series of sines in x."""
    x, k = some(SQUARE), np.pi * np.arange(1, 16001, 2)
    y = np.abs(x[:, 1:] - 0.5)
    across = (np.exp(k * (y - 0.5)) + np.exp(-k * (y + 0.5))) / (1.0 + np.exp(-k))
    series = np.sum(4.0 / k**3 * np.sin(k * x[:, :1]) * across, axis=1)
    return poisson(SQUARE), (1.0, 0.0), x, 0.5 * x[:, 0] * (1.0 - x[:, 0]) - series


def disk() -> tuple[ko.Problem, tuple[Any, ...], Any, Any]:
    exact = lambda x: np.exp(x[..., 0]) * np.sin(3.0 * x[..., 1])
    return poisson(DISK), (lambda x: 8.0 * exact(x), exact), some(DISK), exact(some(DISK))


def wavy() -> tuple[ko.Problem, tuple[Any, ...], Any, Any]:
    """−div(a ∇u) with a = 1 + ½ sin 20x sin 20y, and u = sin(3x + 2y)."""
    a = lambda x: 1.0 + 0.5 * jnp.sin(20.0 * x[..., 0]) * jnp.sin(20.0 * x[..., 1])
    problem = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary))
    exact = lambda x: np.sin(3.0 * x[..., 0] + 2.0 * x[..., 1])

    def source(x: Any) -> Any:
        (s, c), (t, d) = ((np.sin(20.0 * x[..., j]), np.cos(20.0 * x[..., j])) for j in (0, 1))
        slope = np.cos(3.0 * x[..., 0] + 2.0 * x[..., 1])
        return 13.0 * (1.0 + 0.5 * s * t) * exact(x) - 10.0 * (3.0 * c * t + 2.0 * s * d) * slope

    return problem, (source, exact), some(SQUARE), exact(some(SQUARE))


PROBLEMS: dict[str, Callable[[], tuple[ko.Problem, tuple[Any, ...], Any, Any]]] = {
    "square, f = 1": square,
    "disk, smooth": disk,
    "wavy coefficient": wavy,
    "L-shape, f = 1": CASES["L-shape, f = 1"],
    "mixed conditions, r^½": CASES["mixed conditions, r^½"],
}


def run(name: str, tol: float) -> list[str]:
    problem, data, x, truth = PROBLEMS[name]()
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        T = ko.learn(problem, method=ko.Partition(), tol=tol)
        seconds = time.process_time() - started
        error = np.max(np.abs(T(*data)(x) - truth)) / np.max(np.abs(truth))
    space, report = T.factorisation.expansion, T.report
    assert report is not None
    told = (report.space or "").split(" of ")[-1].split(",")[0]
    sizes = [str(len(space.uppers)), told, str(len(space)), str(T.n_points)]  # type: ignore[attr-defined]
    return [name, f"{tol:.0e}", *sizes, f"{seconds:.1f}", f"{error:.0e}", "met" if report.met else "not met"]


def main() -> None:
    words = sys.argv[1:]
    chosen = [name for name in PROBLEMS if not words or any(word in name for word in words)]
    run(chosen[0], 1e-2)  # compiles
    rows: list[list[str]] = []
    for name in chosen:
        for tol in TOLERANCES:
            rows.append(run(name, tol))
            print(" · ".join(rows[-1]), flush=True)
    header = ["problem", "tol", "parts", "degrees", "functions", "points", "processor [s]", "error", "report"]
    table("Parts by a tolerance", header, rows)
    save("digits", {"header": header, "rows": rows})


if __name__ == "__main__":
    main()
