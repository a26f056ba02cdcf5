"""Poisson in three dimensions: how the error falls with the number of points (the paper's convergence study).

−Δu = f on (0, 1)³, u = 0 on the boundary, by an envelope ρ = Π x_k (1 − x_k) and L = 5000 functions ρ K(z_j, ·). The
test functions are 50 eigenfunctions Π sin(π k_i x_i), k_i ≤ 4. The data sets are nested, so that one pass over 300 000
points gives the errors for every N.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from jax import Array

from kernop.basics.errors import FloatArray
from kernop.basics.storage import JsonObject
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.batches import Batches, stream
from kernop.collocation.rows import StreamedRows
from kernop.collocation.units import frame_of
from kernop.geometry import Box
from kernop.geometry.sequences import tensor_grid
from kernop.kernels import Gaussian
from kernop.language.calculus import laplacian
from kernop.language.conditions import Equation
from kernop.language.functions import evaluate_at
from kernop.language.problem import Problem
from kernop.learning.streaming import Passes
from kernop.methods import Setting, Subspace
from kernop.methods.streamed import factorised_rows
from kernop.operators.solution import Solution
from kernop.paper.experiment import MeanErrors
from kernop.paper.figures import convergence

CUBE = Box([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
PROBLEM = Problem(Equation(lambda u: -laplacian(u), on=CUBE, name="f"))
#: The paper's numbers of points, functions, and rows at a time.
SIZES = tuple(10_000 * n for n in (1, 2, 3, 5, 8, 12, 16, 20, 25, 30))
CENTERS, BATCH = 5000, 2000
MODES = np.array(list(product(range(1, 5), repeat=3)))[np.random.default_rng(0).permutation(64)[:50]]
#: λ as a function of N, by the paper's names; None: the default.
REGULARIZATIONS: dict[str, Callable[[int], float | None]] = {
    "fixed": lambda n: 1e-8,
    "adaptive": lambda n: 1e-7 * n**-0.4,
    "default": lambda n: None,
}
NORMS = {"l2": "relative L2", "linf": "relative L∞"}
#: The paper's fitted slopes of the relative L2 and L∞ errors.
PAPER_SLOPES = {"fixed": (0.38, 0.40), "adaptive": (0.52, 0.56)}


def envelope(x: Array) -> Array:
    """ρ(x) = Π x_k (1 − x_k)."""
    return jnp.prod(x * (1.0 - x), axis=-1)


def solutions(x: Array) -> Array:
    """Eigenfunctions of the Laplacian, (n, 50)."""
    return jnp.prod(jnp.sin(jnp.pi * MODES * x[..., None, :]), axis=-1)


def sources(x: Array) -> Array:
    """f = π² |k|² u, (n, 50)."""
    return jnp.pi**2 * jnp.sum(MODES**2, axis=-1) * solutions(x)


@dataclass(frozen=True)
class Study:
    """One line of the study.

    Arguments:
        estimator: "paper": functions centred at random in the cube, η = 0.2, normal equations, and both of the
            paper's λ; "default": centres, width and λ as kernop chooses them, by QR.
        centers, batch, sizes: see above; smaller ones for tests.
    """

    estimator: str = "paper"
    centers: int = CENTERS
    batch: int = BATCH
    sizes: Sequence[int] = SIZES

    @property
    def labels(self) -> tuple[str, ...]:
        """The regularisations that are compared."""
        return ("fixed", "adaptive") if self.estimator == "paper" else ("default",)

    @cached_property
    def _grid(self) -> FloatArray:
        return tensor_grid([np.arange(1, 24) / 24.0] * 3)

    def errors(self, dataset: int, tell: Callable[[float], None] = lambda part: None) -> JsonObject:
        """Mean relative L2 and L∞ errors over the modes, for one data set and every N, by regularisation."""

        def take(k: int) -> dict[str, FloatArray]:
            return {"f": np.random.default_rng([dataset, k]).random((self.batch, 3))}

        source = stream(PROBLEM, Batches(max(self.sizes) // self.batch, take), "uniform", 0, self.batch)
        method, rows = self._method(dataset), StreamedRows(source, Ansatz(envelope=envelope)).given([{"f": sources}])
        kernel = Gaussian(0.2) if self.estimator == "paper" else None
        setting = Setting(rows=rows, frame=frame_of(PROBLEM), kernel=kernel, weights=(1.0,), ansatz=rows.ansatz)
        regression = method.regression(setting, rows)
        found: dict[str, dict[str, list[float]]] = {label: {"l2": [], "linf": []} for label in self.labels}
        exact = evaluate_at("u", solutions, self._grid)
        accumulator, started = regression.accumulator(), time.perf_counter()
        for k in range(source.number or 0):
            regression.add(accumulator, rows[k])
            tell((k + 1) / (source.number or 1))
            if accumulator.rows in self.sizes:
                for label in self.labels:
                    ridge = REGULARIZATIONS[label](accumulator.rows)
                    answer = factorised_rows(method, regression, accumulator, ridge, Passes()).passed(rows)
                    values = Solution(problem=PROBLEM, function=answer.u, single=False)(self._grid)
                    for norm, error in vars(MeanErrors.of(values, exact)).items():
                        found[label][norm].append(error)
        return {"dataset": dataset, "seconds": time.perf_counter() - started, "errors": found}

    def _method(self, dataset: int) -> Subspace:
        if self.estimator == "paper":
            z = np.random.default_rng([dataset, 10**6]).random((self.centers, 3))
            return Subspace(centers=z, envelope=envelope, solver="normal", batch=self.batch)
        return Subspace(centers=self.centers, envelope=envelope, batch=self.batch)


def run(study: Study, datasets: int, folder: Path, tell: Callable[[str], None]) -> Iterator[JsonObject]:
    """The results of so many data sets; those that a file in ``folder`` has are not computed again."""
    folder.mkdir(parents=True, exist_ok=True)
    for dataset in range(datasets):
        path = folder / f"poisson3d-{study.estimator}-{study.centers}-{dataset}.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        if known.get("sizes") != list(study.sizes):
            name = f"{study.estimator}, data set {dataset}"
            errors = study.errors(dataset, lambda part, name=name: tell(f"{name}: {part:.0%}"))
            known = {"sizes": list(study.sizes), "batch": study.batch, **errors}
            partial = path.with_suffix(".part")
            partial.write_text(json.dumps(known, indent=1))
            partial.replace(path)
        tell(f"{study.estimator}, data set {dataset}: {known['seconds']:.0f} s")
        yield known


def summarised(results: Sequence[JsonObject]) -> JsonObject:
    """For each regularisation and norm: means and standard errors over the data sets, and the slope β of N^−β."""
    sizes = np.asarray(results[0]["sizes"])
    lines: JsonObject = {}
    for label, norms in results[0]["errors"].items():
        for norm in norms:
            values = np.array([result["errors"][label][norm] for result in results])
            mean = values.mean(axis=0)
            spread = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.zeros(len(sizes))
            slope = -float(np.polyfit(np.log(sizes), np.log(mean), 1)[0]) if len(sizes) > 1 else float("nan")
            lines[f"{label} {norm}"] = {"mean": mean.tolist(), "standard error": spread.tolist(), "slope": slope}
    seconds = [result["seconds"] for result in results]
    return {"sizes": sizes.tolist(), "data sets": len(results), "mean seconds": float(np.mean(seconds)), "lines": lines}


def small(estimator: str) -> Study:
    """The study at a size that takes a minute."""
    return Study(estimator, centers=1000, sizes=(10_000, 20_000, 40_000))


def draw_rates(found: JsonObject, folder: Path) -> list[Path]:
    """A figure for each regularisation: the paper's two, and the default."""
    paths: list[Path] = []
    for label in REGULARIZATIONS:
        result = found["default" if label == "default" else "paper"]
        lines = {name: result["lines"][f"{label} {norm}"] for norm, name in NORMS.items()}
        slopes = dict(zip(NORMS.values(), PAPER_SLOPES[label], strict=True)) if label in PAPER_SLOPES else None
        title = "kernop by default" if label == "default" else f"{label} regularisation"
        path = folder / f"poisson3d-{label}.png"
        paths.append(convergence(result["sizes"], lines, path, title=f"Poisson 3-D, {title}", slopes=slopes))
    return paths
