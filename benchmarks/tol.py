"""Learning to a tolerance: what was asked for, what was measured, and the true error of solutions it never saw."""

from __future__ import annotations

import time
import warnings
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import console, save, table

import kernop as ko
from kernop.geometry import Region
from kernop.language.ops import apply_operator, itself
from kernop.trust.metrics import relative_l2

SQUARE, LINE = ko.Box([0, 0], [1, 1]), ko.Interval(0, 1)
CYLINDER = ko.SpaceTime(LINE, (0, 1))
TOLERANCES = (1e-3, 1e-6, 1e-9)


def dirichlet(domain: Any, op: Any) -> ko.Problem:
    return ko.Problem(ko.Equation(op, on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g"))


PROBLEMS = {
    "Poisson": dirichlet(SQUARE, lambda u: -ko.laplacian(u)),
    "Darcy a2": dirichlet(SQUARE, lambda u: -ko.div((lambda x: jnp.exp(x[..., 0] + x[..., 1])) * ko.grad(u))),
    "Helmholtz 20": dirichlet(LINE, lambda u: -ko.laplacian(u) - 400.0 * u),
    "heat": ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - 0.1 * ko.laplacian(u), on=CYLINDER, name="f"),
        ko.Dirichlet(on=CYLINDER.walls, name="g"),
        ko.Initial(on=CYLINDER.initial, name="u0"),
    ),
    "advection–diffusion": dirichlet(SQUARE, lambda u: -0.1 * ko.laplacian(u) + ko.dot([1.0, 0.5], ko.grad(u))),
}


def held_out(x: Any) -> Any:
    """Four solutions that no probe resembles: a wave, an exponential, an oscillation and a front."""
    s, t = x[..., 0], x[..., -1]
    waves = jnp.sin(2 * np.pi * s) * jnp.cos(np.pi * t)
    return jnp.stack(
        [jnp.sin(3 * s + 1) * jnp.cos(2 * t), jnp.exp(s - t), waves, jnp.tanh(3 * (s - 0.4)) + t**2], axis=-1
    )


def true_error(operator: ko.SolutionOperator, region: Region) -> float:
    problem = operator.problem
    u = operator(**problem.manufacture(held_out, operator.points))
    points = region.sample(2000, "uniform", seed=12345)
    return float(np.max(relative_l2(u(points.x), apply_operator(itself, held_out, points))))


def main() -> None:
    rows: list[list[str]] = []
    figures: dict[str, Any] = {}
    for name, problem in PROBLEMS.items():
        for tol in TOLERANCES:
            ko.learn(problem, tol=tol)  # compiles
            started = time.perf_counter()
            operator = ko.learn(problem, tol=tol)
            seconds = time.perf_counter() - started
            error, report = true_error(operator, problem.conditions[0].on), operator.report
            figures[f"{name}, {tol:g}"] = {
                "status": report.status,
                "error": report.error,
                "true error": error,
                "centers": report.best.centers,
                "seconds": seconds,
            }
            row = [report.status, f"{report.error:.1e}", f"{error:.1e}", str(report.best.centers), f"{seconds:.2f}"]
            rows.append([name, f"{tol:.0e}", *row])
    headings = ["problem", "tol", "status", "error, measured", "true error", "centres", "seconds"]
    table("learn(problem, tol=…)", headings, rows)
    save("tol", figures | honest() | corner())


def honest() -> dict[str, Any]:
    """Two problems that cannot be resolved."""
    hard = {
        "Helmholtz 2000, budget 200": lambda: ko.learn(
            dirichlet(LINE, lambda u: -ko.laplacian(u) - 2000.0**2 * u), tol=1e-6, budget=200
        ),
        "Poisson, a jump in the data": lambda: ko.learn(
            PROBLEMS["Poisson"], tol=1e-6, budget=1000, inputs=[(lambda x: np.where(x[..., 0] < 0.5, 4.0, 6.0), 0.0)]
        ),
    }
    found: dict[str, Any] = {}
    for name, learn in hard.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ko.ToleranceWarning)
            report = learn().report
        console.print(f"\n[bold]{name}[/]\n{report}")
        found[name] = {"status": report.status, "error": report.error}
    return found


def corner() -> dict[str, Any]:
    """Data that do not fit together at the corners: the residual stays, the solutions settle."""
    problem, pair = PROBLEMS["Darcy a2"], (lambda x: jnp.sin(3 * x[..., 0]), 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ko.ToleranceWarning)
        report = ko.learn(problem, tol=1e-8, inputs=[pair]).report
    console.print(f"\n[bold]Darcy a2, f = sin 3x, g = 0[/]\n{report}")
    rows: list[list[str]] = []
    for level in report.levels:
        operator = ko.learn(problem, points=level.points, method=ko.Subspace(level.centers))
        estimate = operator(*pair).error_estimate(covering=None)
        rows.append([str(level.centers), f"{estimate.relative_l2:.1e}", f"{estimate.relative_linf:.1e}"])
    table("its levels: estimated errors of u", ["centres", "relative L2", "relative L∞"], rows)
    return {"Darcy a2, f = sin 3x": {"status": report.status, "centres": report.best.centers, "estimates": rows}}


if __name__ == "__main__":
    main()
