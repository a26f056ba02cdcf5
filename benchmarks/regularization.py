"""The paper's estimator on Helmholtz with other λ: its error is proportional to λ, so λ decides what a table shows."""

from __future__ import annotations

from common import save, table

import kernop as ko
from kernop.paper import helmholtz, measure

FACTORS = (1, 3, 10, 30)


def errors(omega: int, smooth: bool) -> list[tuple[float, float]]:
    """Mean relative L2 and L∞ for each multiple of the paper's λ."""
    experiment = helmholtz(omega, smooth=smooth)
    found: list[tuple[float, float]] = []
    for factor in FACTORS:
        operator = ko.learn(
            experiment.problem,
            kernel=ko.Gaussian(experiment.lengthscale),
            points=experiment.points,
            sampling="uniform",
            regularization=factor * experiment.regularization,
            method=ko.Full(),
        )
        outcome = measure(experiment, operator)
        found.append((outcome.mean_l2, outcome.mean_linf))
    return found


def main() -> None:
    cases = [(omega, smooth) for smooth in (False, True) for omega in (20, 200)]
    results = {helmholtz(omega, smooth=smooth).name: errors(omega, smooth) for omega, smooth in cases}
    papers = {helmholtz(omega, smooth=smooth).name: helmholtz(omega, smooth=smooth).paper for omega, smooth in cases}
    rows = [
        [name, f"{papers[name].l2:.1e} {papers[name].linf:.1e}", *(f"{l2:.1e} {linf:.1e}" for l2, linf in found)]
        for name, found in results.items()
    ]
    table("Full(), relative L2 and L∞", ["", "paper, λ = 1e-7", *(f"λ = {f}e-7" for f in FACTORS)], rows)
    save("regularization", results)


if __name__ == "__main__":
    main()
