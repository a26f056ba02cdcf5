"""Inputs after a streamed QR: errors after 0, 1, … corrections of the semi-normal equations, for several penalties.

Darcy a2, N = 4000, L = 1000, 20 manufactured solutions. Penalties L p² Σ_j ‖A_j‖² c_j² for the columns A_j of the
matrix; the last column is QR itself.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from common import save, table
from scipy.linalg import solve_triangular

import kernop as ko
from kernop.methods.leastsquares import design_matrix
from kernop.methods.weights import repeated
from kernop.paper.darcy import darcy_problem, exponential
from kernop.paper.experiment import square_grid
from kernop.trust.metrics import relative_l2

PROBLEM, GRID = darcy_problem(exponential), square_grid(31)
WAVE = np.random.default_rng(0).normal(scale=2.0, size=(2, 20))
PENALTIES, CORRECTIONS = (0.0, 1e-16, 3e-16, 1e-15, 3e-15, 1e-14, 1e-13), 8


def main() -> None:
    operator = ko.learn(PROBLEM, points=4000, method=ko.Subspace(centers=1000))
    expansion, rows = operator.factorisation.expansion, operator.collocated
    roots = np.sqrt(repeated(operator.factorisation.weights, rows))[:, None]
    a = roots * design_matrix(expansion, rows)
    solutions = lambda x: jnp.sin(x @ WAVE)
    data = PROBLEM.manufacture(solutions, operator.points)
    h = roots * np.concatenate([data["f"], data["g"]])
    exact = ko.apply_operator(lambda u: u, solutions, ko.Points(GRID))

    values = expansion.matrix(operator.ansatz.evaluations(GRID))

    def error(c: np.ndarray) -> float:
        return float(np.mean(relative_l2(values @ c, exact)))

    found: dict[str, list[float]] = {}
    for p in PENALTIES:
        delta = p * np.sqrt(a.shape[1]) * np.linalg.norm(a, axis=0)
        q, r = np.linalg.qr(np.vstack([a, np.diag(delta)]))
        errors, c = list[float](), np.zeros((a.shape[1], h.shape[1]))
        for _ in range(CORRECTIONS + 1):
            gradient = a.T @ (h - a @ c) - delta[:, None] ** 2 * c
            c = c + solve_triangular(r, solve_triangular(r, gradient, trans=1))
            errors.append(error(c))
        found[f"{p:g}"] = [*errors, error(solve_triangular(r, q[: len(a)].T @ h))]
    headings = ["penalty", *map(str, range(CORRECTIONS + 1)), "QR"]
    table("Errors after so many corrections", headings, [[k, *(f"{e:.0e}" for e in v)] for k, v in found.items()])
    save("corrections", found)


if __name__ == "__main__":
    main()
