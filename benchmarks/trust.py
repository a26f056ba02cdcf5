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
from narrow import narrow, reach
from numpy.typing import NDArray
from tol import PROBLEMS as SMOOTH

import kernop as ko
from kernop.language.functions import Function
from kernop.language.ops import apply_operator, itself
from kernop.paper.darcy import checkerboard, strong_problem
from kernop.paper.experiment import random_nets
from kernop.paper.heat import heat_modes
from kernop.paper.helmholtz import helmholtz_waves
from kernop.plotting import COLOURS

PROBLEMS = {
    "Poisson": SMOOTH["Poisson"],
    "Darcy a2": SMOOTH["Darcy a2"],
    "Darcy a3": strong_problem(checkerboard),
    "Helmholtz 20": SMOOTH["Helmholtz 20"],
    "heat": SMOOTH["heat"],
    "advection–diffusion": SMOOTH["advection–diffusion"],
}
CENTRES = {1: (12, 24, 48), 2: (100, 200, 400)}
EACH, TESTS, EDGES, COVERING = 50, 3000, 800, 2500
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
    inner, *rims = (condition.on for condition in problem.conditions)
    places = [inner.sample(TESTS, "uniform", seed=31_337), *(rim.sample(EDGES, "uniform", seed=31_338) for rim in rims)]
    exact = np.concatenate([apply_operator(itself, u, part) for part in places])
    error = found(np.concatenate([part.x for part in places])) - exact
    rms = np.linalg.norm(error[:TESTS], axis=0) / np.linalg.norm(exact[:TESTS], axis=0)
    sup = np.max(np.abs(error), axis=0)
    bound = np.full(len(rms), np.nan) if estimate.bound is None else estimate.bound.linf
    largest = np.max(np.abs(exact), axis=0)
    return Compared(rms, sup / largest, estimate.relative_l2, estimate.relative_linf, sup, bound)


def manufactured(problem: ko.Problem, name: str, u: Function) -> Function:
    return lambda x: apply_operator(problem[name].op, u, problem[name].on.adopt(x))


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
    colours = np.asarray([mpl.colors.to_rgb(colour) for colour in COLOURS])
    for name, colour in zip(results, colours, strict=False):
        axes[0].scatter([], [], s=4, color=colour, label=name)
    pairs = (("l2", "estimated_l2"), ("linf", "estimated_linf"), ("sup", "bound"))
    for axis, (truth, said) in zip(axes, pairs, strict=True):
        x, y = (np.concatenate([getattr(found, part) for found in results.values()]) for part in (truth, said))
        of = np.repeat(np.arange(len(results)), [len(getattr(found, truth)) for found in results.values()])
        order = np.random.default_rng(0).permutation(len(x))  # lest the last problem hides the others
        axis.scatter(x[order], y[order], s=4, alpha=0.35, c=colours[of[order]], linewidths=0)
    titles = ("relative L2 error", "relative L∞ error", "sup|u − û|: bound from samples")
    for axis, title, quantity in zip(axes, titles, ("estimate", "estimate", "bound"), strict=True):
        axis.set(xscale="log", yscale="log", title=title, xlabel="true error", ylabel=quantity)
        ends = np.array([1e-15, 1e2])
        axis.plot(ends, ends, color="black", linewidth=0.8, label="the true error")
        axis.plot(ends, 5.0 * ends, color="black", linewidth=0.6, linestyle=":", label="five times that")
        axis.set(xlim=(3e-15, 3e1), ylim=(3e-15, 3e3))
    axes[0].legend(markerscale=4, fontsize=8, loc="upper left")
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=130)


def torsion(x: Array) -> Array:
    """−Δu = 1, u = 0 on the boundary of the square, whose corners make u rough: by its Fourier series."""
    s, t = x[:, 0], x[:, 1]
    n = np.pi * np.arange(1, 400, 2)[:, None]
    decay = (np.exp(-n * t) + np.exp(-n * (1.0 - t))) / (1.0 + np.exp(-n))
    return 0.5 * s * (1.0 - s) - np.sum(4.0 / n**3 * np.sin(n * s) * decay, axis=0)


def bent(x: Array) -> Array:
    """A parabola to the left of another, so that Δu jumps."""
    return np.where(x[..., 0] >= 0.5, 2.0, 3.0) * (x[..., 0] - 0.5) ** 2 + x[..., 1] ** 2


def rough() -> dict[str, Any]:
    """Inputs that no smooth probe resembles: corner singularities, and a jump in f; also with data known as arrays."""
    problem, rows = PROBLEMS["Poisson"], list[list[str]]()
    places = problem.conditions[0].on.sample(TESTS, "uniform", seed=31_337).x
    cases = {
        "f = 1, g = 0": (lambda x: np.ones(len(x)), lambda x: np.zeros(len(x)), torsion),
        "a jump in f": (lambda x: np.where(x[..., 0] >= 0.5, -6.0, -8.0), bent, bent),
    }
    for centres in (100, 400):
        operator = ko.learn(problem, method=ko.Subspace(centers=centres), points=4 * centres)
        for name, (f, g, exact) in cases.items():
            u = operator(f, g)
            left = operator(f(operator.points["f"].x), g(operator.points["g"].x)).error_estimate()
            found, error = u.error_estimate(), np.abs(u(places) - exact(places))
            assert found.bound is not None
            figures = [np.sqrt(np.mean(error**2)), found.l2, left.l2, np.max(error), found.linf, left.linf]
            rows.append([f"{name}, {centres} centres", *(f"{v:.1e}" for v in [*figures, found.bound.linf])])
    headings = ["", "L2 error", "estimate", "leave-one-out", "L∞ error", "estimate", "leave-one-out", "bound"]
    table("Rough inputs, Poisson", headings, rows)
    return {row[0]: row[1:] for row in rows}


def constant_alone(seed: int, only: str) -> None:
    """Data known as arrays: leave-one-out residuals times a constant, without the correction by a richer operator."""
    rows: list[list[str]] = []
    for name, problem in PROBLEMS.items():
        if only not in name:
            continue
        places = problem.conditions[0].on.sample(TESTS, "uniform", seed=31_337)
        for centres in CENTRES[problem.dim]:
            operator = ko.learn(problem, method=ko.Subspace(centers=centres), points=4 * centres)
            ratios: list[Array] = []
            for u in families(name, problem.dim, seed):
                found, exact = operator(**problem.manufacture(u, operator.points)), apply_operator(itself, u, places)
                ratios.append(found.error_estimate().l2 / np.sqrt(np.mean((found(places.x) - exact) ** 2, axis=0)))
            every = np.concatenate(ratios)
            figures = [f"{v:.1f}" for v in np.quantile(every, [0.05, 0.5, 0.95])]
            rows.append([f"{name}, {centres} centres", *figures, f"{100 * np.mean(every < 1.0):.1f} %"])
    table("Leave-one-out, L2: estimate ÷ true error", ["", "5 %", "median", "95 %", "exceeded"], rows)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seed", type=int, default=2026, help="of the solutions")
    arguments.add_argument("--rough", action="store_true", help="only the inputs that are not smooth")
    arguments.add_argument("--constant", action="store_true", help="only estimates without a richer operator")
    arguments.add_argument("--narrow", action="store_true", help="only sources that are narrower than points see")
    arguments.add_argument("--unsearched", action="store_true", help="with --narrow: without the search of functions")
    arguments.add_argument("--reach", action="store_true", help="only how narrow a peak may be for the search")
    arguments.add_argument("--only", default="", help="problems whose name has this in it; no figure is drawn")
    given = arguments.parse_args()
    if given.reach:
        save("reach", reach(given.seed))
        return
    if given.narrow:
        save("narrow", narrow(given.seed, given.only, not given.unsearched))
        return
    if given.rough or given.constant:
        rough() if given.rough else constant_alone(given.seed, given.only)
        return
    rows: list[list[str]] = []
    figures: dict[str, Any] = {}
    drawn: dict[str, Compared] = {}
    for name, problem in PROBLEMS.items():
        if given.only not in name:
            continue
        levels: list[Compared] = []
        for label, operator in operators(name, problem):
            found = Compared.of([compare(operator, u) for u in families(name, problem.dim, given.seed)])
            levels.append(found)
            figures[f"{name}, {label}"] = result = summary(found)
            rows.append([f"{name}, {label}", *shown(result)])
            print(*rows[-1], sep=" | ", flush=True)
        drawn[name] = Compared.of(levels)
    norms = ["L2: median, exceeded", "L∞: median, exceeded"]
    headings = ["", "inputs", "true error, L2", *norms, "bound ÷ error", "violated"]
    table("Estimate ÷ true error: median, and how often the truth exceeded the estimate", headings, rows)
    if given.only:
        return
    draw(drawn)
    console.print(f"Figure: {FIGURE}")
    save("trust", figures | {"rough": rough()})


if __name__ == "__main__":
    main()
