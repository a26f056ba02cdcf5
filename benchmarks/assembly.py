"""Assembly of the generalised Gram matrix, Darcy a2, N = 4000, against NumPy; and learn against its parts.

Usage: python benchmarks/assembly.py [few]

With "few", only blocks of few entries: how long NumPy takes, a compiled function, and its compiler.
"""

from __future__ import annotations

import sys
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
from common import interleaved, once, peak_during, save, table

import kernop as ko
from kernop.basics import linalg
from kernop.collocation import assembly
from kernop.collocation.ansatz import collocate
from kernop.collocation.functionals import Block, Functionals
from kernop.collocation.sampling import sample
from kernop.paper.darcy import darcy_problem, exponential

POINTS = {"f": 2500, "g": 1500}
N = sum(POINTS.values())
KERNEL = ko.Gaussian(1.0)
RIDGE = 5e-5 * N


def numpy_gram(interior: np.ndarray, boundary: np.ndarray) -> np.ndarray:
    """The same matrix as one would write it in NumPy: P u = −a(Δu + u_x + u_y), a = exp(x + y), K = exp(−|z|²)."""

    def parts(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        z = x[:, None] - y[None]
        return z[..., 0], z[..., 1], np.exp(-np.sum(z**2, axis=-1))

    a = np.exp(interior.sum(axis=1))
    s, t, k = parts(interior, interior)
    r2 = s * s + t * t
    # (Δ + ∂_x + ∂_y) in x and (Δ − ∂_x − ∂_y) of the difference in y.
    bilaplacian = 16 * r2 * r2 - 64 * r2 + 32
    mixed = (2 - 4 * s * s) + (2 - 4 * t * t) - 8 * s * t
    ff = a[:, None] * a[None] * (bilaplacian + mixed) * k
    s, t, k = parts(interior, boundary)
    fg = -a[:, None] * (4 * (s * s + t * t) - 4 - 2 * s - 2 * t) * k
    gg = parts(boundary, boundary)[2]
    return np.block([[ff, fg], [fg.T, gg]])


def learn(problem: ko.Problem) -> ko.SolutionOperator:
    return ko.learn(
        problem, kernel=KERNEL, points=POINTS, sampling="uniform", regularization=5e-5, method=ko.Full(), seed=0
    )


def other_problem() -> ko.Problem:
    return darcy_problem(lambda x: 1.0 + x[..., 0] * jnp.sin(3.0 * x[..., 1]))


def assemble(functionals: Functionals) -> np.ndarray:
    return assembly.gram(KERNEL, functionals, remedy="use fewer points")


#: Rows and columns of small blocks, each with an operator of second order on one side or on both.
SIZES = ((2, 1000), (8, 1000), (64, 64), (100, 100), (64, 512))
SECOND, VALUE = ((0, 0), (1, 0), (0, 1), (2, 0), (0, 2)), ((0, 0),)


def few_entries() -> None:
    """Milliseconds for small blocks: in NumPy, compiled, and compiled for the first time in this process."""
    rng, rows = np.random.default_rng(0), list[list[str]]()
    for (n, m), other in product(SIZES, (VALUE, SECOND)):
        left, right = (
            Functionals((Block(rng.random((k, 2)), tuple((0, a) for a in alphas), rng.random((k, len(alphas)))),))
            for k, alphas in ((n, SECOND), (m, other))
        )

        def entries(limit: int, left: Functionals = left, right: Functionals = right) -> np.ndarray:
            assembly.FEW = limit
            return assembly.cross(KERNEL, left, right)

        jax.clear_caches()
        first = once(lambda entries=entries: entries(0))
        seconds = interleaved({"NumPy": lambda e=entries: e(2**62), "JAX": lambda e=entries: e(0)}, rounds=50)
        figures = (*seconds.values(), first)
        rows.append([f"{n} × {m}", str(len(SECOND) * len(other)), *(f"{1e3 * value:.3g}" for value in figures)])
    table("Small blocks, milliseconds", ["entries", "pairs of terms", "NumPy", "JAX", "JAX, the first time"], rows)


def main() -> None:
    problem = darcy_problem(exponential)
    first = once(lambda: learn(problem))
    before = assembly.compiled_functions()
    second = once(lambda: learn(other_problem()))
    recompiled = assembly.compiled_functions() - before
    points = sample(problem, POINTS, "uniform", 0)
    functionals = collocate(problem, points)
    x, y = points["f"].x, points["g"].x

    lower, naive = np.tril(assemble(functionals)), np.tril(numpy_gram(x, y))
    agreement = float(np.abs(lower - naive).max() / np.abs(naive).max())
    lower[np.diag_indices(N)] += RIDGE
    regular = np.asfortranarray(lower)

    def dpotrf() -> None:
        linalg.cholesky(copies.pop())

    memory = peak_during(lambda: learn(problem)) / (8 * N**2)
    copies = [regular.copy(order="F") for _ in range(8)]
    seconds = interleaved(
        {
            "assembly": lambda: assemble(functionals),
            "NumPy": lambda: numpy_gram(x, y),
            "dpotrf": dpotrf,
            "learn": lambda: learn(problem),
        },
        rounds=7,
    )
    speedup = seconds["NumPy"] / seconds["assembly"]
    overhead = seconds["learn"] / (seconds["assembly"] + seconds["dpotrf"])
    rows = [[name, f"{value:.3f}"] for name, value in seconds.items()]
    table(f"Gram matrix, Darcy a2, N = {N}: median seconds, warm", ["", "seconds"], rows)
    figures = {
        "n": N,
        "seconds": seconds,
        "numpy over assembly": speedup,
        "learn over assembly + dpotrf": overhead,
        "first learn, with compilation, seconds": first,
        "learn of a second operator, seconds": second,
        "functions compiled for the second operator": recompiled,
        "largest difference to NumPy, relative": agreement,
        "peak memory of learn in N² doubles": memory,
    }
    table("Assembly", ["", "value"], [[k, f"{v:.3g}"] for k, v in figures.items() if not isinstance(v, dict)])
    save("assembly", figures)


if __name__ == "__main__":
    few_entries() if "few" in sys.argv[1:] else main()
