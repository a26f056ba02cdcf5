"""What T.on(x) costs beyond the matrix products that it needs: Darcy a2 onto a 61 × 61 grid.

A thousand right-hand sides at once, and one at a time; ``bare`` is the products alone, on data that is ready.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from common import console, interleaved, save, table

import kernop as ko
from kernop.paper.darcy import darcy_problem, exponential
from kernop.paper.experiment import square_grid

PROBLEM = darcy_problem(exponential)
GRID = square_grid(61)
COUNT = 1000


def measure(centers: int) -> dict[str, float]:
    """Seconds for each right-hand side, with the checks and without."""
    operator = ko.learn(PROBLEM, points=3 * centers, method=ko.Subspace(centers=centers))
    fixed = operator.on(GRID)
    wave = np.random.default_rng(0).normal(scale=2.0, size=(2, COUNT))
    many = PROBLEM.manufacture(lambda x: jnp.sin(x @ wave), operator.points)
    one = {name: np.ascontiguousarray(values[:, 0]) for name, values in many.items()}
    ready = {id(data): np.concatenate(list(data.values())) for data in (many, one)}

    def bare(data: dict[str, np.ndarray]) -> np.ndarray:
        found = ready[id(data)]
        for matrix in reversed(fixed.matrices):
            found = matrix @ found
        return found

    # Apart, because a thousand solutions drive the matrices out of the cache.
    seconds = interleaved({"many": lambda: fixed(**many), "many, bare": lambda: bare(many)}, rounds=15, warm=2)
    seconds |= interleaved({"one": lambda: fixed(**one), "one, bare": lambda: bare(one)}, rounds=200, warm=20)
    return {
        "centres": centers,
        "matrices": len(fixed.matrices),
        "each of 1000, µs": 1e6 * seconds["many"] / COUNT,
        "each of 1000 / bare": seconds["many"] / seconds["many, bare"],
        "one, µs": 1e6 * seconds["one"],
        "one / bare": seconds["one"] / seconds["one, bare"],
    }


def main() -> None:
    rows = [measure(centers) for centers in (64, 120, 250, 400, 700, 1400)]
    table("T.on(grid), Darcy a2", list(rows[0]), [[f"{v:.3g}" for v in row.values()] for row in rows])
    worst = max(row["each of 1000 / bare"] for row in rows)
    console.print(f"1000 right-hand sides: at most {worst:.2f} of the bare products")
    save("apply", {"rows": rows})


if __name__ == "__main__":
    main()
