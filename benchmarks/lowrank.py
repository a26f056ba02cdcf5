"""LowRank against Full: Darcy a2 at the paper's settings, and N = 20 000, where the Gram matrix takes 3.2 GB."""

from __future__ import annotations

import numpy as np
from common import interleaved, peak_during, save, table

import kernop as ko
from kernop.paper import darcy


def main() -> None:
    experiment = darcy("a2")

    def learn(method: ko.Full | ko.LowRank, points: dict[str, int]) -> ko.SolutionOperator:
        return ko.learn(
            experiment.problem,
            kernel=ko.Gaussian(experiment.lengthscale),
            points=points,
            sampling="uniform",
            regularization=experiment.regularization,
            method=method,
        )

    points = dict(experiment.points)
    seconds = interleaved(
        {"Full": lambda: learn(ko.Full(), points), "LowRank": lambda: learn(ko.LowRank(), points)}, rounds=9, warm=2
    )
    full, low = learn(ko.Full(), points), learn(ko.LowRank(), points)
    data = experiment.problem.manufacture(experiment.family, full.points)
    a, b = full(**data)(experiment.grid), low(**data)(experiment.grid)
    agreement = float(np.max(np.linalg.norm(a - b, axis=0) / np.linalg.norm(a, axis=0)))
    large = {"f": 12500, "g": 7500}
    peak = peak_during(lambda: learn(ko.LowRank(), large))
    figures = {
        "Full, s": seconds["Full"],
        "LowRank, s": seconds["LowRank"],
        "times faster": seconds["Full"] / seconds["LowRank"],
        "rank": low.factorisation.rank,
        "largest relative difference of 50 solutions": agreement,
        "largest difference of the standard deviation": float(
            np.max(np.abs(full.std(experiment.grid) - low.std(experiment.grid)))
        ),
        "N = 20 000: peak memory, GB": peak / 1e9,
        "N = 20 000: seconds": interleaved({"large": lambda: learn(ko.LowRank(), large)}, rounds=3)["large"],
    }
    table("LowRank, Darcy a2, η = 1, λ = 5e-5, N = 4000", ["", "value"], [[k, f"{v:.3g}"] for k, v in figures.items()])
    save("lowrank", figures)


if __name__ == "__main__":
    main()
