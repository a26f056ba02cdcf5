"""T.update and T.remove against learning again: Darcy a2 with a few more points, and without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from common import interleaved, save, table

import kernop as ko
from kernop.methods import Method
from kernop.paper import darcy

EXPERIMENT = darcy("a2")
PROBLEM = EXPERIMENT.problem
PAPER = {"kernel": ko.Gaussian(EXPERIMENT.lengthscale), "regularization": EXPERIMENT.regularization}
Points = dict[str, ko.Points]


def drawn(counts: Mapping[str, int], seed: int) -> Points:
    return {name: PROBLEM[name].on.sample(count, "uniform", seed) for name, count in counts.items()}


def difference(one: ko.SolutionOperator, other: ko.SolutionOperator) -> float:
    """The largest relative difference of 50 solutions on the grid of the experiment."""
    data = PROBLEM.manufacture(EXPERIMENT.family, other.points)
    a, b = one(**data)(EXPERIMENT.grid), other(**data)(EXPERIMENT.grid)
    return float(np.max(np.linalg.norm(a - b, axis=0) / np.linalg.norm(b, axis=0)))


def measure(method: Method, old: Points, new: Points, settings: dict[str, Any]) -> dict[str, float]:
    start = ko.learn(PROBLEM, points=old, method=method, **settings)
    more = start.update(new)
    fixed: dict[str, Any] = {"method": method, "kernel": start.kernel, "weights": start.weights}

    def again(operator: ko.SolutionOperator) -> ko.SolutionOperator:
        return ko.learn(PROBLEM, points=operator.points, regularization=operator.regularization or None, **fixed)

    # The first rows: the worst case for a Cholesky factor.
    some = {name: np.arange(len(points)) for name, points in new.items()}
    jobs = {
        "learn": lambda: again(more),
        "update": lambda: start.update(new),
        "one": lambda: more.remove({"f": [0]}),
        "some": lambda: more.remove(some),
    }
    seconds = interleaved(jobs, rounds=7, warm=2)
    fewer = more.remove(some)
    return {
        "learning again, s": seconds["learn"],
        "update, s": seconds["update"],
        "learning / update": seconds["learn"] / seconds["update"],
        "learning / removal of one": seconds["learn"] / seconds["one"],
        "learning / removal of as many": seconds["learn"] / seconds["some"],
        "difference after update": difference(more, again(more)),
        "difference after removal": difference(fewer, again(fewer)),
    }


def main() -> None:
    few, fresh = drawn({"f": 2500, "g": 1500}, 0), drawn({"f": 63, "g": 37}, 1)
    many, more = drawn({"f": 5000, "g": 3000}, 0), drawn({"f": 125, "g": 75}, 1)
    figures = {
        "Full, 4000 + 100": measure(ko.Full(), few, fresh, PAPER),
        "LowRank, 4000 + 100": measure(ko.LowRank(), few, fresh, PAPER),
        "Subspace(1000), 8000 + 200": measure(ko.Subspace(1000), many, more, {}),
        "Subspace(1000, normal), 8000 + 200": measure(ko.Subspace(1000, solver="normal"), many, more, {}),
    }
    headings = ["differences: the largest of 50 solutions, relative", *figures]
    rows = [[key, *(f"{column[key]:.3g}" for column in figures.values())] for key in next(iter(figures.values()))]
    table("More points, and fewer, Darcy a2", headings, rows)
    save("update", figures)


if __name__ == "__main__":
    main()
