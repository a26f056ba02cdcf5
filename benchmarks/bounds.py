"""Do the bounds hold? −u″ = f on (0, 1), u = g at the ends, where the estimator of infinitely many points is known.

Points are drawn independently from μ: half of them uniform in (0, 1), half at the ends. The spectrum of B = P*P comes
from a Gauss–Legendre rule for μ; its eigenfunctions above rounding are an orthonormal basis in which T_λ h, T̂h and the
norm of the RKHS are a few numbers. The solution is u = B^½ ψ, with ψ from a step function: γ = 1/2, so the best
λ is N^(−1/3). For each N the errors of 500 draws are compared with the bounds.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import console, save, table

import kernop as ko
from kernop.collocation import assembly
from kernop.collocation.ansatz import collocate
from kernop.collocation.functionals import Functionals
from kernop.collocation.sampling import sample
from kernop.plotting import pyplot
from kernop.plotting import save as save_figure

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary, name="g")
)
KERNEL, GAMMA, DELTA, SEED = ko.Gaussian(1.0), 0.5, 0.05, 0
#: λ = N^(−α), and a λ that stays.
ALPHA, LAMBDA = ko.bounds.best_alpha(GAMMA), 0.1
SIZES, DRAWS, CHECKED = (50, 100, 200, 400, 800, 1600, 3200), 500, 5
ENDS = np.array([[0.0], [1.0]])
#: Bounds, and the errors that they bound.
LOOSE = {"pathwise": "one", "sharper": "one", "uniform": "every"}


@dataclass(frozen=True, eq=False)
class Population:
    """B in its eigenbasis e_1, …, e_m: eigenvalues (m,), and ⟨P_x K, e_i⟩ for any functional."""

    rule: Functionals
    weights: np.ndarray
    projection: np.ndarray
    values: np.ndarray
    psi: np.ndarray

    @property
    def u(self) -> np.ndarray:
        """The solution B^γ ψ in the basis."""
        return self.values**GAMMA * self.psi

    def features(self, functionals: Functionals) -> np.ndarray:
        """⟨P_x K, e_i⟩ for n functionals, (n, m)."""
        return assembly.apply(KERNEL, functionals, self.rule, self.projection)

    def regularised(self, lam: float) -> np.ndarray:
        """T_λ h in the basis."""
        return self.values / (self.values + lam) * self.u


def population(nodes: int = 200) -> Population:
    t, weights = np.polynomial.legendre.leggauss(nodes)
    places = sample(PROBLEM, {"f": 0.5 * (t[:, None] + 1.0), "g": ENDS})
    rule = collocate(PROBLEM, places)
    mass = np.concatenate([0.25 * weights, [0.25, 0.25]])
    roots = np.sqrt(mass)
    values, vectors = np.linalg.eigh(roots[:, None] * assembly.cross(KERNEL, rule, rule) * roots)
    kept = values > 1e-13 * values[-1]
    step = np.concatenate([np.sign(places["f"].x[:, 0] - 0.37), [-1.0, 1.0]])
    psi = vectors[:, kept].T @ (roots * step)
    return Population(rule, mass, roots[:, None] * vectors[:, kept] / np.sqrt(values[kept]), values[kept], psi)


def draws(truth: Population, n: int, number: int) -> Any:
    """For each draw: points in the interior, how many at each end, and the features of all of them, (n, m)."""
    rng = np.random.default_rng([SEED, n])
    counts = np.clip(rng.binomial(n, 0.5, size=number), 1, n - 1)
    x = rng.random((int(counts.sum()), 1))
    inside = truth.features(Functionals(collocate(PROBLEM, sample(PROBLEM, {"f": x, "g": ENDS})).blocks[:1]))
    ends = truth.features(Functionals(truth.rule.blocks[1:]))
    stops = np.cumsum(counts)
    for start, stop in zip(stops - counts, stops, strict=True):
        which = rng.integers(2, size=n - (stop - start))
        yield x[start:stop], which, np.concatenate([inside[start:stop], ends[which]])


def learned(x: np.ndarray, which: np.ndarray, lam: float) -> ko.SolutionOperator:
    points = {"f": x, "g": ENDS[which]}
    return ko.learn(PROBLEM, kernel=KERNEL, points=points, regularization=lam, method=ko.Full())


def by_kernop(truth: Population, x: np.ndarray, which: np.ndarray, h: np.ndarray, lam: float) -> np.ndarray:
    """T̂h by the library, in the basis."""
    found = learned(x, which, lam)(f=h[: len(x)], g=h[len(x) :])
    return truth.features(found.expansion.functionals).T @ found.coefficients[:, 0]


def measure(truth: Population, n: int, lam: float, number: int) -> dict[str, Any]:
    """Errors of all draws for one N and λ, beside the bounds."""
    identity = np.eye(len(truth.values))
    one, every, total, differences = list[float](), list[float](), list[float](), list[float]()
    target, gap = truth.regularised(lam), lam / (truth.values + lam)
    for k, (x, which, phi) in enumerate(draws(truth, n, number)):
        seen, h = phi.T @ phi / n, phi @ truth.u
        found = np.linalg.solve(seen + lam * identity, phi.T @ h / n)
        if k < CHECKED:
            differences.append(float(np.linalg.norm(found - by_kernop(truth, x, which, h, lam))))
        one.append(float(np.linalg.norm(found - target)))
        total.append(float(np.linalg.norm(found - truth.u)))
        # (T̂ − T_λ) P B^γ as a matrix: its norm is the largest error over all ψ of norm 1.
        error = np.linalg.solve(seen + lam * identity, (seen - np.diag(truth.values)) * (gap * truth.values**GAMMA))
        every.append(float(np.linalg.norm(error, 2)))
    known = ko.bounds.constants(PROBLEM, KERNEL)
    size, source = float(np.linalg.norm(truth.u)), float(np.linalg.norm(truth.psi))
    rank, far = effective_rank(truth), float(np.linalg.norm(gap * truth.u))
    return {
        "n": n,
        "lam": lam,
        "one": one,
        "every": [source * value for value in every],
        "total": total,
        "difference": max(differences),
        "solution_norm": size,
        "gap": far,
        "pathwise": ko.bounds.pathwise(n, lam, known.norm, size, DELTA),
        "sharper": ko.bounds.sharper(n, lam, known.functional, far, DELTA),
        "uniform": ko.bounds.uniform(n, lam, known.norm, rank, GAMMA, source, DELTA),
        "approximation": ko.bounds.approximation(lam, GAMMA, source),
        "points_needed": ko.bounds.points_needed(lam, known.norm, DELTA),
    }


def effective_rank(truth: Population) -> float:
    """r of E Z² = E ‖k_x‖² k_x ⊗ k_x − B², with the expectation by the rule."""
    phi = truth.features(truth.rule)
    scaled = phi * (truth.weights * np.sum(np.square(phi), axis=1))[:, None]
    variance = scaled.T @ phi - np.diag(truth.values**2)
    return float(np.trace(variance) / np.linalg.norm(variance, 2))


def slope(found: list[dict[str, Any]], name: str) -> float:
    """r in N^(−r), fitted to the medians (or to the bound)."""
    sizes = np.log([row["n"] for row in found])
    return -float(np.polyfit(sizes, np.log([np.median(row[name]) for row in found]), 1)[0])


def figure(found: list[dict[str, Any]], path: str) -> Path:
    plt = pyplot()
    drawn, axes = plt.subplots(1, 2, figsize=(12.5, 4.8), layout="constrained", sharex=True)
    sizes = np.array([row["n"] for row in found])

    def measured(axis: Any, name: str, label: str, colour: str) -> None:
        low, middle, high = np.quantile([row[name] for row in found], [0.025, 0.5, 0.975], axis=1)
        axis.plot(sizes, middle, "o-", color=colour, label=label)
        axis.fill_between(sizes, low, high, color=colour, alpha=0.25, linewidth=0)

    def line(axis: Any, name: str, label: str, style: str) -> None:
        axis.plot(sizes, [row[name] for row in found], style, color="0.2", label=label)

    measured(axes[0], "one", "measured, one input", "tab:blue")
    line(axes[0], "pathwise", "pathwise bound of the paper", "-")
    line(axes[0], "sharper", "sharper bound", "--")
    measured(axes[0], "every", "measured, worst input", "tab:orange")
    line(axes[0], "uniform", "uniform bound of the paper", ":")
    axes[0].axhline(found[0]["solution_norm"], color="0.7", linewidth=1.0, label="‖u‖: certain without any bound")
    axes[0].set(title=r"estimation error $\|\hat T h - T_\lambda h\|$", ylabel="norm of the RKHS")
    axes[0].legend(fontsize=8, loc="center right", bbox_to_anchor=(1.0, 0.76))
    measured(axes[1], "total", "measured, total", "tab:green")
    line(axes[1], "gap", "measured, approximation", "--")
    line(axes[1], "approximation", r"approximation bound $S\lambda^\gamma$", "-")
    start = 1.5 * np.median(found[0]["total"])
    rate = ko.bounds.rate(ALPHA, GAMMA)
    axes[1].plot(
        sizes, start * (sizes / sizes[0]) ** -rate, ":", color="crimson", label=f"predicted rate $N^{{-{rate:.3g}}}$"
    )
    axes[1].set(title=r"total error $\|\hat T h - u\|$")
    axes[1].legend(fontsize=8)
    for axis in axes:
        axis.set(xscale="log", yscale="log", xlabel="points N")
    return save_figure(drawn, path)


def show(found: list[dict[str, Any]], rule: str) -> None:
    def broken(row: dict[str, Any], errors: str, bound: str) -> str:
        return f"{np.mean(np.array(row[errors]) > row[bound]):.1%}"

    rows = [
        [
            f"{row['n']}",
            f"{row['lam']:.2g}",
            *(f"{value:.2g}" for value in np.quantile(row["one"], [0.5, 0.95])),
            f"{row['pathwise']:.2g}",
            broken(row, "one", "pathwise"),
            f"{row['sharper']:.2g}",
            broken(row, "one", "sharper"),
            f"{np.quantile(row['every'], 0.95):.2g}",
            f"{row['uniform']:.2g}",
            broken(row, "every", "uniform"),
        ]
        for row in found
    ]
    number = len(found[0]["one"])
    headings = [
        "N",
        "λ",
        "median",
        "95 %",
        "pathwise",
        "broken",
        "sharper",
        "broken",
        "worst h, 95 %",
        "uniform",
        "broken",
    ]
    size = found[0]["solution_norm"]
    title = f"λ = {rule}: ‖T̂h − T_λ h‖ of {number} draws, and bounds for δ = {DELTA}; ‖u‖ = {size:.3g}"
    table(title, headings, rows)


def show_total(found: list[dict[str, Any]]) -> None:
    rows = [
        [
            f"{row['n']}",
            f"{np.median(row['total']):.2g}",
            f"{row['gap']:.2g}",
            f"{row['approximation']:.2g}",
            f"{row['difference']:.0e}",
        ]
        for row in found
    ]
    headings = ["N", "total, median", "approximation", "S λ^γ", "ko.learn differs by"]
    table("λ = N^−α: total error, and T̂ by ko.learn", headings, rows)


def show_looseness(found: list[dict[str, Any]]) -> None:
    rows = [
        [
            f"{row['n']}",
            *(f"{row[bound] / np.quantile(row[name], 0.95):.2g}" for bound, name in LOOSE.items()),
            f"{row['points_needed']:.0e}",
        ]
        for row in found
    ]
    headings = ["N", *LOOSE, "N with pathwise < ‖u‖"]
    table("λ = N^−α: bound ÷ 95 % of the errors", headings, rows)


def show_rates(found: list[dict[str, Any]], fixed: list[dict[str, Any]]) -> None:
    rates = [
        ("λ = N^−α: estimation, one input (pathwise)", (1.0 - 3.0 * ALPHA) / 2.0, slope(found, "one")),
        ("λ = N^−α: estimation, one input (sharper)", 0.5 - (1.0 - GAMMA) * ALPHA, slope(found, "one")),
        ("λ = N^−α: estimation, worst input (uniform)", (1.0 - 2.0 * ALPHA) / 2.0, slope(found, "every")),
        ("λ = N^−α: total", ko.bounds.rate(ALPHA, GAMMA), slope(found, "total")),
        (f"λ = {LAMBDA}: estimation, one input", 0.5, slope(fixed, "one")),
        (f"λ = {LAMBDA}: estimation, worst input", 0.5, slope(fixed, "every")),
    ]
    rows = [[label, f"{theory:.3f}", f"{measured:.3f}"] for label, theory, measured in rates]
    table(f"Decay N^−r, α = {ALPHA:.3g}: r", ["", "predicted, at least", "measured"], rows)


def example(truth: Population, n: int = 400) -> ko.bounds.BoundsReport:
    """What a user sees, who knows neither γ nor S."""
    x, which, phi = next(draws(truth, n, 1))
    h = phi @ truth.u
    return ko.bounds.report(learned(x, which, n**-ALPHA), (h[: len(x)], h[len(x) :]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--figure", default="out/benchmarks/bounds.png")
    chosen = parser.parse_args()
    truth = population()
    found = [measure(truth, n, n**-ALPHA, chosen.draws) for n in SIZES]
    fixed = [measure(truth, n, LAMBDA, chosen.draws) for n in SIZES]
    show(found, "N^−α")
    show(fixed, f"{LAMBDA}")
    show_total(found)
    show_looseness(found)
    show_rates(found, fixed)
    console.print(f"S = {np.linalg.norm(truth.psi):.3g}, γ = {GAMMA}; estimated from one draw:")
    console.print(str(example(truth)), highlight=False)
    console.print(f"Figure: {figure(found, chosen.figure)}")
    save("bounds", {"shrinking": found, "fixed": fixed})


if __name__ == "__main__":
    main()
