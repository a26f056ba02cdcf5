"""Do the bands tell the truth? Functions drawn from the prior, noisy data of them, and how often the band covers them.

For each problem and method: 400 functions at 200 points. The functions and their data are drawn together from the
prior covariance, by its eigenvectors, which no method uses. A solution whose scale is left open (`u.std`) is asked for
functions fifty times as large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import console, save, table
from scipy.stats import norm

import kernop as ko
from kernop.basics.errors import FloatArray
from kernop.basics.precision import float64
from kernop.collocation import assembly
from kernop.collocation.ansatz import collocate
from kernop.collocation.functionals import Functionals, evaluations
from kernop.kernels import Kernel
from kernop.methods import Method
from kernop.plotting import pyplot
from kernop.plotting import save as save_figure

NUMBER, PLACES, CENTRES, SCALE = 400, 200, 160, 50.0
NOMINAL = (0.5, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Case:
    """A problem with points, the kernel of the prior, and levels of noise."""

    problem: ko.Problem
    region: Any
    kernel: Kernel
    points: dict[str, int]
    noise: dict[str, float]


def cases() -> dict[str, Case]:
    square = ko.Box([0, 0], [1, 1])
    poisson = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=square, name="f"), ko.Dirichlet(on=square.boundary, name="g")
    )
    rod = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
    heat = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - 0.1 * ko.laplacian(u), on=rod, name="f"),
        ko.Dirichlet(on=rod.walls, name="g"),
        ko.Initial(on=rod.initial, name="u0"),
    )
    line = ko.Interval(0, 1)
    helmholtz = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) - 400.0 * u, on=line, name="f"),
        ko.Dirichlet(on=line.boundary, name="g"),
    )
    many, three = {"f": 200, "g": 80}, {"f": 200, "g": 60, "u0": 40}
    return {
        "Poisson, little noise": Case(poisson, square, ko.Gaussian(0.6), many, {"f": 0.1, "g": 0.01}),
        "Poisson, much noise": Case(poisson, square, ko.Gaussian(0.6), many, {"f": 5.0, "g": 0.3}),
        "heat": Case(heat, rod, ko.Gaussian([0.5, 0.7]), three, {"f": 0.1, "g": 0.05, "u0": 0.02}),
        "Helmholtz 20": Case(helmholtz, line, ko.Matern(4.5, 0.2), {"f": 80, "g": 2}, {"f": 2.0, "g": 0.01}),
    }


METHODS: tuple[tuple[str, Method], ...] = (
    ("Full", ko.Full()),
    ("LowRank", ko.LowRank()),
    ("Subspace rkhs", ko.Subspace(CENTRES, penalty="rkhs")),
    ("Subspace", ko.Subspace(CENTRES)),
)


def drawn(operator: ko.SolutionOperator, case: Case, x: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    """Functions at x (M, B) and their data with noise (N, B), from the prior of the method."""
    rng = np.random.default_rng(seed)
    rows = collocate(case.problem, operator.points)
    both = Functionals((evaluations(x), *rows.blocks))
    if isinstance(operator.method, ko.Subspace) and operator.method.penalty == "coefficients":
        trial = operator.factorisation.expansion.functionals
        found = assembly.cross(case.kernel, both, trial) @ rng.standard_normal((len(trial), NUMBER))
    else:
        scales = 1.0 / np.sqrt(assembly.squared_norms(case.kernel, both))
        values, vectors = np.linalg.eigh(assembly.cross(case.kernel, both.scaled(scales), both.scaled(scales)))
        root = vectors * np.sqrt(np.maximum(values, 0.0)) / scales[:, None]
        found = root @ rng.standard_normal((len(root), NUMBER))
    levels = np.repeat([case.noise[name] for name in case.problem.names], [len(block) for block in rows.blocks])
    return found[: len(x)], found[len(x) :] + levels[:, None] * rng.standard_normal((len(levels), NUMBER))


def by_name(operator: ko.SolutionOperator, h: FloatArray) -> dict[str, FloatArray]:
    ends = np.cumsum([len(points) for points in operator.points.values()])[:-1]
    return dict(zip(operator.points, np.split(h, ends), strict=True))


def coverage(away: FloatArray) -> list[float]:
    """The part of (M, B) distances, in standard deviations, that lies within each nominal band."""
    return [float(np.mean(away < norm.ppf(0.5 + 0.5 * level))) for level in NOMINAL]


def measure(case: Case, method: Method, seed: int) -> dict[str, Any]:
    settings = {"kernel": case.kernel, "points": case.points, "method": method, "seed": seed}
    stated = ko.learn(case.problem, noise=case.noise, **settings)
    x = case.region.sample(PLACES, "uniform", seed=seed + 1).x
    truth, h = drawn(stated, case, x, seed + 2)
    away = np.abs(stated(**by_name(stated, h))(x) - truth)
    left_open = ko.learn(case.problem, regularization=stated.regularization, weights=stated.weights, **settings)
    u = left_open(**by_name(left_open, SCALE * h))
    return {
        "coverage": coverage(away / stated.std(x)[:, None]),
        "coverage with the scale from the data": coverage(np.abs(u(x) - SCALE * truth) / u.std(x)),
        "error over std": float(np.sqrt(np.mean(away**2) / np.mean(stated.std(x) ** 2))),
        "relative": float(np.sqrt(np.mean(stated.std(x) ** 2) / np.mean(truth**2))),
    }


def without_prior(case: Case, seed: int) -> list[float]:
    """Least squares without λ on functions from the prior of the kernel: `u.std` finds the level of noise by itself."""
    reference = ko.learn(
        case.problem, kernel=case.kernel, points=case.points, noise=case.noise, method=ko.Full(), seed=seed
    )
    x = case.region.sample(PLACES, "uniform", seed=seed + 1).x
    truth, h = drawn(reference, case, x, seed + 2)
    weights = {name: level**-2 for name, level in case.noise.items()}
    operator = ko.learn(case.problem, points=reference.points, weights=weights, method=ko.Subspace(40))
    u = operator(**by_name(operator, h))
    return coverage(np.abs(u(x) - truth) / u.std(x))


def exact_data(centres: int) -> tuple[float, float, float]:
    """The default method without noise in the data: rms error, rms of `u.std`, and what its 95 % band covers."""
    case = cases()["Poisson, much noise"]
    operator = ko.learn(case.problem, method=ko.Subspace(centres), points=2000)
    x = case.region.sample(PLACES, "uniform", seed=3).x

    def solution(z: Any) -> Any:
        return jnp.sin(8 * z[..., 0] + z[..., 1]) * jnp.exp(z[..., 1])

    u = operator(**case.problem.manufacture(solution, operator.points))
    with float64():
        away = np.abs(u(x) - np.asarray(solution(jnp.asarray(x))))
    return float(np.sqrt(np.mean(away**2))), float(np.sqrt(np.mean(u.std(x) ** 2))), coverage(away / u.std(x))[3]


def example() -> tuple[FloatArray, FloatArray, ko.Solution]:
    """Points on the line, a function from the prior there, and the solution from noisy data of it."""
    case = replace(cases()["Helmholtz 20"], points={"f": 25, "g": 2}, noise={"f": 10.0, "g": 0.05})
    operator = ko.learn(case.problem, kernel=case.kernel, points=case.points, noise=case.noise, method=ko.Full())
    x = np.linspace(0, 1, 301)[:, None]
    truth, h = drawn(operator, case, x, 3)
    return x, truth[:, 0], operator(**by_name(operator, h[:, 0]))


def percent(values: list[float]) -> list[str]:
    return [f"{100 * value:.1f}" for value in values]


def line(name: str, label: str, one: dict[str, Any]) -> list[str]:
    fitted = percent(one["coverage with the scale from the data"])[NOMINAL.index(0.95)]
    return [name, label, *percent(one["coverage"]), fitted, f"{one['error over std']:.3f}", f"{one['relative']:.0e}"]


def figure(
    x: FloatArray,
    truth: FloatArray,
    mean: FloatArray,
    std: FloatArray,
    draws: FloatArray,
    coverage: dict[str, Sequence[float]],
) -> Path:
    """Left a band at points on the line (n,) with draws (n, B); right what bands cover, less what they say."""
    plt, levels = pyplot(), np.array(NOMINAL)
    drawn, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained", width_ratios=(1.5, 1))
    left.fill_between(x, mean - 1.96 * std, mean + 1.96 * std, color="tab:blue", alpha=0.2, label="95 % band")
    left.plot(x, draws, color="tab:blue", linewidth=0.6, alpha=0.7)
    left.plot(x, mean, color="tab:blue", linewidth=1.8, label="mean, and draws")
    left.plot(x, truth, color="black", linewidth=1.8, linestyle="--", label="truth")
    left.set(title="posterior of u from noisy data", xlabel="x", ylabel="u")
    left.legend(frameon=False)
    right.axhline(0.0, color="grey", linewidth=1.0)
    colours = plt.cm.viridis(np.linspace(0.0, 0.9, len(coverage)))
    for (label, values), colour, marker in zip(coverage.items(), colours, cycle("osD^"), strict=False):
        style = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 0.9, "alpha": 0.8}
        right.plot(100.0 * levels, 100.0 * (np.asarray(values) - levels), label=label, **style)
    right.set(title="truth in the band: measured − said, in %", xlabel="said, in %", ylim=(-5, 5))
    right.legend(frameon=False, fontsize=6, ncols=2)
    return save_figure(drawn, "docs/figures/calibration.png")


def main() -> None:
    found = {(name, label): measure(case, method, 10) for name, case in cases().items() for label, method in METHODS}
    bands = [f"{100 * level:g} %" for level in NOMINAL]
    table(
        f"Part of {NUMBER} functions at {PLACES} points within the band, in %",
        ["", "method", *bands, "95 %, u.std", "error ÷ std", "std ÷ u"],
        [line(*key, one) for key, one in found.items()],
    )
    flat = {name: without_prior(case, 10) for name, case in cases().items()}
    table("The same for Subspace(40) without λ, u.std", ["", *bands], [[n, *percent(c)] for n, c in flat.items()])
    exact = {centres: exact_data(centres) for centres in (30, 60, 120, 240, 500)}
    table(
        "Poisson without noise, Subspace without λ",
        ["centres", "error, rms", "u.std, rms", "in the 95 % band"],
        [[str(n), f"{error:.1e}", f"{std:.1e}", *percent([part])] for n, (error, std, part) in exact.items()],
    )
    x, truth, u = example()
    curves = {f"{name}: {label}": one["coverage"] for (name, label), one in found.items()}
    console.print(f"Figure: {figure(x[:, 0], truth, u(x), u.std(x), u.samples(x, 6, seed=1), curves)}")
    save(
        "calibration",
        {"nominal": NOMINAL, "found": {": ".join(k): v for k, v in found.items()}, "no prior": flat, "exact": exact},
    )


if __name__ == "__main__":
    main()
