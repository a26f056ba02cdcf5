"""Error against the frequency of the test input: kernop, the Green operator, a DeepONet and a Fourier neural operator.

Every method gets the same inputs, as functions, and is measured on the same grid; see README.md. Run from the root of
the repository:

    python -m benchmarks.peers.extrapolation                # all, about a quarter of an hour on one core
    python -m benchmarks.peers.extrapolation --only fno     # these again, the others from the JSON file
    python -m benchmarks.peers.extrapolation --draw         # table and figure from the JSON file
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from benchmarks.common import OUT, console, save, table
from benchmarks.peers import deeponet, fno
from benchmarks.peers.tasks import Task, Test, Trained, darcy_task, helmholtz_task

from kernop.operators.operator import SolutionOperator
from kernop.paper import green
from kernop.paper.pairs import training_pairs
from kernop.plotting import pyplot
from kernop.plotting import save as save_figure
from kernop.trust.metrics import relative_l2

CHOICE = 2_000_000  # the seed of the pairs by which the Green operator's λ is chosen, as in benchmarks/green.py
NAME = "extrapolation"


# --- errors ----------------------------------------------------------------------------------------------------------


def errors(task: Task, predict: Callable[[Test], np.ndarray]) -> dict[str, Any]:
    """Mean relative L2 errors on the grid of the task."""

    def mean(test: Test) -> float:
        return float(np.mean(relative_l2(predict(test), test.exact)))

    return {
        "in distribution": mean(task.in_distribution()),
        "out of distribution": [mean(task.at_frequency(k)) for k in task.frequencies],
    }


def scaled(task: Task, trained: Trained, f: np.ndarray) -> np.ndarray:
    """What a user does who knows that u depends on f linearly (and on the boundary values): amplitudes as in training.

    u = N(0) + s (N(f/s) − N(0)), with s such that f/s has the root mean square of the training fields.
    """
    s = np.sqrt(np.mean(f**2, axis=0)) / task.fields.scale
    rest = trained.apply(np.zeros_like(f[:, :1]))
    return rest + s * (trained.apply(f / s) - rest)


def better(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The smaller error of two, for each test set."""
    return {name: np.minimum(one[name], other[name]).tolist() for name in one}


# --- methods ---------------------------------------------------------------------------------------------------------


def with_kernop(task: Task, learn: Callable[[], SolutionOperator]) -> dict[str, Any]:
    started = time.perf_counter()
    T = learn()
    seconds = time.perf_counter() - started
    zero = {name: 0.0 for name in task.experiment.problem.inputs if name != "f"}
    found = errors(task, lambda test: T(f=test.source(T.points["f"].x), **zero)(task.grid))
    return {"seconds": seconds, **found}


def with_green(task: Task, learn: Callable[[], green.GreenOperator]) -> dict[str, Any]:
    T = learn()
    found = errors(task, lambda test: T(test.source(T.grid[:, None]), task.grid[:, 0]))
    return {"seconds": T.seconds, **found}


def chosen_green() -> green.GreenOperator:
    held_out = training_pairs(20, 100, CHOICE)
    candidates = [green.minimise(20, regularization=10.0**-k) for k in range(2, 17)]
    best = min(candidates, key=lambda T: np.mean(relative_l2(T(held_out.sources), held_out.solutions)))
    return replace(best, seconds=sum(T.seconds for T in candidates))


def with_network(task: Task, package: Any, settings: Any) -> dict[str, Any]:
    trained: Trained = package.train(task, settings)
    plain = errors(task, lambda test: trained.apply(test.source(trained.sensors)))
    by_scaling = errors(task, lambda test: scaled(task, trained, test.source(trained.sensors)))
    described = {name: value for name, value in asdict(settings).items() if not callable(value)}
    return {
        "seconds": trained.seconds,
        **better(plain, by_scaling),
        "f as it is": plain,
        "f scaled": by_scaling,
        "settings": described,
        "parameters": trained.parameters,
        "losses": trained.losses,
    }


TASKS: dict[str, Callable[[], Task]] = {"Helmholtz 20": helmholtz_task, "Darcy a2": darcy_task}
NETWORKS: dict[str, dict[str, Any]] = {
    "Helmholtz 20": {"DeepONet": (deeponet, deeponet.HELMHOLTZ), "FNO": (fno, fno.HELMHOLTZ)},
    "Darcy a2": {"DeepONet": (deeponet, deeponet.DARCY), "FNO": (fno, fno.DARCY)},
}


def methods(name: str, task: Task) -> dict[str, Callable[[], dict[str, Any]]]:
    """By name, what learns and measures."""
    found: dict[str, Callable[[], dict[str, Any]]] = {
        "kernop": lambda: with_kernop(task, task.experiment.learn_by_default),
        "kernop Full, paper's settings": lambda: with_kernop(task, task.experiment.learn_as_paper),
    }
    if name == "Helmholtz 20":
        found["Green operator, 500 epochs"] = lambda: with_green(task, lambda: green.fit(20))
        found["Green operator, closed form"] = lambda: with_green(task, chosen_green)
    for label, (package, settings) in NETWORKS[name].items():
        found[label] = lambda package=package, settings=settings: with_network(task, package, settings)
    return found


# --- table and figure ------------------------------------------------------------------------------------------------


def show(name: str, result: dict[str, Any]) -> None:
    headings = ["", "train, s", "in distr.", *(f"k = {k:g}" for k in result["frequencies"])]
    rows = [
        [label, f"{m['seconds']:.1f}", *(f"{e:.1e}" for e in (m["in distribution"], *m["out of distribution"]))]
        for label, m in result["methods"].items()
    ]
    table(f"{name}: mean relative L2 error; training range k < {result['range']:.1f}", headings, rows)


STYLES: dict[str, dict[str, Any]] = {
    "kernop": {"color": "#0b5cad", "marker": "o", "linewidth": 2.4},
    "kernop Full, paper's settings": {"color": "#6baed6", "marker": "s", "linewidth": 1.8},
    "Green operator, closed form": {"color": "#31a354", "marker": "D", "linewidth": 1.8},
    "Green operator, 500 epochs": {"color": "#a1d99b", "marker": "d", "linewidth": 1.8},
    "DeepONet": {"color": "#e6550d", "marker": "^", "linewidth": 1.8},
    "FNO": {"color": "#a50f15", "marker": "v", "linewidth": 1.8},
}
LEGEND = {"DeepONet": "physics-informed DeepONet (DeepXDE)", "FNO": "Fourier neural operator (neuraloperator)"}
TITLES = {
    "Helmholtz 20": "Helmholtz, ω = 20:  u ∼ x(1−x) sin(kx + φ)",
    "Darcy a2": "Darcy, a = exp(x+y):  u ∼ x(1−x)y(1−y) sin(kπx + φ) sin(kπy + ψ)",
}


def draw(results: dict[str, Any]) -> None:
    plt = pyplot()
    figure, axes = plt.subplots(1, len(results), figsize=(12.5, 5.0), layout="constrained", sharey=True)
    for axis, (name, result) in zip(axes, results.items(), strict=True):
        k = np.array(result["frequencies"])
        aside = k[0] / 1.9  # where errors in distribution are shown
        for label, style in STYLES.items():
            if label in result["methods"]:
                found = result["methods"][label]
                axis.plot(k, found["out of distribution"], label=LEGEND.get(label, label), **style)
                axis.plot(aside, found["in distribution"], **{**style, "markerfacecolor": "white"})
        axis.axvspan(k[0] / 1.25, result["range"], color="0.92", zorder=0, linewidth=0)
        axis.axhline(1.0, color="0.4", linewidth=0.8, linestyle=":")
        axis.text(aside / 1.3, 1.4, "100 %", color="0.4", fontsize=9)
        axis.set(xscale="log", yscale="log", title=TITLES[name], xlabel="frequency k of the test solution")
        axis.set_xticks([aside, *k], ["new fields,\nin distribution", *(f"{value:g}" for value in k)])
        axis.minorticks_off()
        axis.set_xlim(aside / 1.35, k[-1] * 1.2)
        axis.text(
            np.sqrt(k[0] / 1.25 * result["range"]), 0.985, "frequencies of the training inputs",
            transform=axis.get_xaxis_transform(), ha="center", va="top", color="0.4", fontsize=9,
        )  # fmt: skip
        axis.grid(axis="y", alpha=0.3)
    axes[0].set_ylabel("mean relative L2 error")
    low, high = axes[0].get_ylim()
    axes[0].set_ylim(low, high * 10.0)
    figure.legend(*axes[0].get_legend_handles_labels(), frameon=False, ncols=3, loc="outside lower center")
    console.print(f"Figure: {save_figure(figure, OUT / f'{NAME}.png')}")


# --- the story -------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", help="beginnings of the names of methods to run; the rest as saved")
    parser.add_argument("--task", choices=TASKS, help="only this problem; the other as saved")
    parser.add_argument("--draw", action="store_true", help="run nothing")
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    path = OUT / f"{NAME}.json"
    fresh = not (wanted.only or wanted.task or wanted.draw)
    results: dict[str, Any] = {} if fresh or not path.exists() else json.loads(path.read_text())["tasks"]
    for name, make in TASKS.items():
        if wanted.draw or wanted.task not in (None, name):
            continue
        task = make()
        result = results.setdefault(name, {"methods": {}})
        result |= {"frequencies": task.frequencies, "range": task.fields.range / task.unit}
        jobs = methods(name, task)
        for label, job in jobs.items():
            if wanted.only and not any(label.lower().startswith(start.lower()) for start in wanted.only):
                continue
            console.print(f"{name}: {label} …")
            result["methods"][label] = job()
            packages = {package: version(package) for package in ("torch", "deepxde", "neuraloperator")}
            save(NAME, {"packages": packages, "threads": torch.get_num_threads(), "tasks": results})
        result["methods"] = {label: result["methods"][label] for label in jobs if label in result["methods"]}
    for name, result in results.items():
        show(name, result)
    draw(results)


if __name__ == "__main__":
    main()
