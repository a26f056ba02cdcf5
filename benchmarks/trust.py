"""Error estimates against true errors: is the estimate near the truth, above it, and is the bound never violated?

Truth is by manufactured solutions: random nets, sums of Gaussian bumps, polynomials, and the families of the paper,
over a range of frequencies. None of them resembles the probes that an operator learns its stability constant from, and
the seeds here were not used when the estimate was designed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import matplotlib as mpl
import numpy as np
from common import console, save, table
from numpy.typing import NDArray
from tol import PROBLEMS as SMOOTH

import kernop as ko
from kernop.experiments.darcy import checkerboard, darcy_problem
from kernop.experiments.families import heat_modes, helmholtz_waves, random_nets
from kernop.functions import Function
from kernop.operators import apply_operator, identity

PROBLEMS = {
    "Poisson": SMOOTH["Poisson"],
    "Darcy a2": SMOOTH["Darcy a2"],
    "Darcy a3": darcy_problem(checkerboard),
    "Helmholtz 20": SMOOTH["Helmholtz 20"],
    "heat": SMOOTH["heat"],
    "advection–diffusion": SMOOTH["advection–diffusion"],
}
CENTRES = {1: (12, 24, 48), 2: (100, 200, 400)}
EACH, TESTS, COVERING = 50, 3000, 2500
NORMS = ("L2", "Linf")
FIGURE = Path("docs/figures/trust.png")
Array = NDArray[np.float64]


def frequencies(rng: np.random.Generator, low: float, high: float, count: int) -> Array:
    return np.exp(rng.uniform(np.log(low), np.log(high), count))


def steep_nets(dim: int, seed: int, width: int = 16) -> Function:
    """Tanh nets whose slopes run from 0.5 to 8."""
    rng = np.random.default_rng(seed)
    inner = rng.normal(size=(EACH, dim, width)) * frequencies(rng, 0.5, 8.0, EACH)[:, None, None]
    bias = -np.einsum("mdw,mwd->mw", inner, rng.random((EACH, width, dim)))
    outer = rng.normal(size=(EACH, width)) / np.sqrt(width)
    return lambda x: jnp.einsum("nmw,mw->nm", jnp.tanh(jnp.einsum("nd,mdw->nmw", x, inner) + bias), outer)


def bumps(dim: int, seed: int, number: int = 5) -> Function:
    """Sums of Gaussian bumps, 0.1 to 0.6 wide."""
    rng = np.random.default_rng(seed)
    centre, height = rng.random((EACH, number, dim)), rng.normal(size=(EACH, number))
    width = frequencies(rng, 0.1, 0.6, EACH * number).reshape(EACH, number)

    def sums(x: Any) -> Any:
        square = sum((x[:, k, None, None] - centre[:, :, k]) ** 2 for k in range(dim))
        return jnp.sum(height * jnp.exp(-square / width**2), axis=-1)

    return sums


def polynomials(dim: int, seed: int, most: int = 8) -> Function:
    """Random Chebyshev series of total degree 1 to 8."""
    rng = np.random.default_rng(seed)
    total = np.indices((most + 1,) * dim).sum(axis=0)
    degree = rng.integers(1, most + 1, EACH).reshape((EACH,) + (1,) * dim)
    weights = rng.normal(size=(EACH, *total.shape)) * (total <= degree)

    def series(s: Any) -> Any:
        z = 2.0 * s - 1.0
        terms = [jnp.ones_like(z), z]
        while len(terms) <= most:
            terms.append(2.0 * z * terms[-1] - terms[-2])
        return jnp.stack(terms, axis=-1)

    if dim == 1:
        return lambda x: jnp.einsum("ni,mi->nm", series(x[:, 0]), weights)
    return lambda x: jnp.einsum("ni,nj,mij->nm", series(x[:, 0]), series(x[:, 1]), weights)


def families(name: str, dim: int, seed: int) -> Iterator[Function]:
    """Four or more families of 50 solutions."""
    yield from (steep_nets(dim, seed), bumps(dim, seed + 1), polynomials(dim, seed + 2))
    if name == "Helmholtz 20":
        yield helmholtz_waves(20.0, EACH, seed=seed + 3)
    elif name == "heat":
        yield heat_modes
    else:
        yield random_nets(EACH, dim, seed=seed + 3)


@dataclass(frozen=True, eq=False)
class Compared:
    """True errors, estimates and bounds of many solutions; L2 and L∞ relative to u, bounds absolute like ``sup``."""

    l2: Array
    linf: Array
    estimated_l2: Array
    estimated_linf: Array
    sup: Array
    bound: Array

    @staticmethod
    def of(parts: list[Compared]) -> Compared:
        """All solutions of several parts."""
        return Compared(*(np.concatenate([getattr(p, name) for p in parts]) for name in Compared.__dataclass_fields__))


def compare(operator: ko.SolutionOperator, u: Function) -> Compared:
    problem = operator.problem
    data = {name: manufactured(problem, name, u) for name in problem.inputs}
    found = operator(**data)
    estimate = found.error_estimate(covering=COVERING)
    places = problem.conditions[0].on.sample(TESTS, "uniform", seed=31_337)
    exact = apply_operator(identity, u, places)
    error = found(places.x) - exact
    rms, sup = np.linalg.norm(error, axis=0) / np.linalg.norm(exact, axis=0), np.max(np.abs(error), axis=0)
    bound = np.full(len(rms), np.nan) if estimate.bound is None else estimate.bound.linf
    largest = np.max(np.abs(exact), axis=0)
    return Compared(rms, sup / largest, estimate.relative_l2, estimate.relative_linf, sup, bound)


def manufactured(problem: ko.Problem, name: str, u: Function) -> Function:
    return lambda x: apply_operator(problem[name].op, u, ko.Points(np.asarray(x)))


def operators(name: str, problem: ko.Problem) -> Iterator[tuple[str, ko.SolutionOperator]]:
    """Three resolutions of the default, and the estimator of the paper, where bias rules."""
    for centres in CENTRES[problem.dim]:
        yield f"{centres} centres", ko.learn(problem, method=ko.Subspace(centers=centres), points=4 * centres)
    kernel, ridge = (ko.Gaussian(1.0), 5e-5) if problem.dim == 2 else (ko.Gaussian(0.1), 1e-7)
    yield "Full, paper's λ", ko.learn(problem, kernel=kernel, regularization=ridge, points=600, method=ko.Full())


def summary(found: Compared) -> dict[str, Any]:
    l2, linf = found.estimated_l2 / found.l2, found.estimated_linf / found.linf
    bounded = bool(np.all(np.isfinite(found.bound)))
    return {
        "inputs": len(l2),
        "true L2": [float(np.min(found.l2)), float(np.max(found.l2))],
        "effectivity L2": float(np.median(l2)),
        "exceeded L2": float(np.mean(l2 < 1.0)),
        "effectivity Linf": float(np.median(linf)),
        "exceeded Linf": float(np.mean(linf < 1.0)),
        "bound / error": float(np.median(found.bound / found.sup)) if bounded else None,
        "bound violated": int(np.sum(found.bound < found.sup)) if bounded else None,
    }


def shown(result: dict[str, Any]) -> list[str]:
    low, high = result["true L2"]
    norms = [f"{result[f'effectivity {norm}']:.1f}, {100 * result[f'exceeded {norm}']:.1f} %" for norm in NORMS]
    bounded = result["bound violated"] is not None
    bound = [f"{result['bound / error']:.0f}", str(result["bound violated"])] if bounded else ["–", "–"]
    return [str(result["inputs"]), f"{low:.0e} … {high:.0e}", *norms, *bound]


def draw(results: dict[str, Compared]) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.6), layout="constrained")
    for (name, found), colour in zip(results.items(), plt.colormaps["tab10"].colors, strict=False):
        dots = {"s": 4, "alpha": 0.35, "color": colour, "linewidths": 0}
        axes[0].scatter(found.l2, found.estimated_l2, label=name, **dots)
        axes[1].scatter(found.linf, found.estimated_linf, **dots)
        axes[2].scatter(found.sup, found.bound, **dots)
    titles = ("relative L2 error", "relative L∞ error", "sup|u − û|: guaranteed bound")
    for axis, title, quantity in zip(axes, titles, ("estimate", "estimate", "bound"), strict=True):
        axis.set(xscale="log", yscale="log", title=title, xlabel="true error", ylabel=quantity)
        ends = np.array([1e-15, 1e2])
        axis.plot(ends, ends, color="black", linewidth=0.8)
        axis.plot(ends, 5.0 * ends, color="black", linewidth=0.6, linestyle=":")
        axis.set(xlim=(3e-15, 3e1), ylim=(3e-15, 3e3))
    axes[0].legend(markerscale=4, fontsize=8, loc="upper left")
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=130)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seed", type=int, default=2026, help="of the solutions")
    seed = arguments.parse_args().seed
    rows: list[list[str]] = []
    figures: dict[str, Any] = {}
    drawn: dict[str, Compared] = {}
    for name, problem in PROBLEMS.items():
        levels: list[Compared] = []
        for label, operator in operators(name, problem):
            found = Compared.of([compare(operator, u) for u in families(name, problem.dim, seed)])
            levels.append(found)
            figures[f"{name}, {label}"] = result = summary(found)
            rows.append([f"{name}, {label}", *shown(result)])
            print(*rows[-1], sep=" | ", flush=True)
        drawn[name] = Compared.of(levels)
    norms = ["L2: median, exceeded", "L∞: median, exceeded"]
    headings = ["", "inputs", "true error, L2", *norms, "bound ÷ error", "violated"]
    table("Estimate ÷ true error: median, and how often the truth exceeded the estimate", headings, rows)
    draw(drawn)
    console.print(f"Figure: {FIGURE}")
    save("trust", figures)


if __name__ == "__main__":
    main()
