"""Why centres reach beyond the domain: error against padding and lengthscale, on the paper's points."""

from __future__ import annotations

import numpy as np
from common import save, table
from scipy.stats import qmc

import kernop as ko
from kernop.paper import Experiment, darcy, heat, measure, schrodinger

PADDINGS = (0, 1, 2, 3, 4, 6)
WIDTHS = (2.5, 3.0, 3.5, 4.0, 6.0)
NUMBER = 1000


def error(experiment: Experiment, padding: float, width: float) -> float:
    """With 1000 quasi-random centres in the unit square and ``padding`` spacings around it."""
    h = 1.0 / (np.sqrt(NUMBER) - 2.0 * padding)
    unit = qmc.Halton(2, scramble=True, rng=np.random.default_rng(0)).random(NUMBER)
    method = ko.Subspace(centers=unit * (1.0 + 2.0 * padding * h) - padding * h)
    operator = ko.learn(
        experiment.problem, kernel=ko.Gaussian(width * h), points=experiment.points, sampling="uniform", method=method
    )
    return measure(experiment, operator).mean_l2


def main() -> None:
    figures: dict[str, dict[str, float]] = {}
    for experiment in (darcy("a2"), schrodinger(), heat()):
        found = {(w, p): error(experiment, p, w) for w in WIDTHS for p in PADDINGS}
        rows = [[f"{w:g} spacings", *(f"{found[w, p]:.0e}" for p in PADDINGS)] for w in WIDTHS]
        headings = ["lengthscale", *(f"padding {p}" for p in PADDINGS)]
        table(f"{experiment.name}, {NUMBER} centres: relative L2 error", headings, rows)
        figures[experiment.name] = {f"width {w:g}, padding {p}": value for (w, p), value in found.items()}
    save("centres", figures)


if __name__ == "__main__":
    main()
