"""An experiment as data, and how one is run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jax import Array

from kernop.basics.errors import FloatArray
from kernop.geometry import Points
from kernop.geometry.sequences import tensor_grid
from kernop.kernels import Gaussian
from kernop.language.functions import Function
from kernop.language.ops import apply_operator, itself
from kernop.language.problem import Problem
from kernop.learning.learn import learn
from kernop.methods import Full
from kernop.operators.operator import SolutionOperator
from kernop.trust.metrics import relative_l2, relative_linf


@dataclass(frozen=True)
class Reported:
    """What the paper's table says: seconds, mean relative L2 and L∞ error."""

    seconds: float | None
    l2: float
    linf: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Experiment:
    """One row of the paper's tables.

    Arguments:
        name: for tables and files.
        problem: the conditions.
        points: how many points for each condition.
        lengthscale, regularization: the paper's η and λ.
        family: the exact test solutions, x (n, d) ↦ (n, M).
        grid: where errors are measured, (m, d).
        paper: the paper's figures.
    """

    name: str
    problem: Problem
    points: Mapping[str, int]
    lengthscale: float
    regularization: float
    family: Function
    grid: FloatArray
    paper: Reported

    def learn_as_paper(self, seed: int = 0) -> SolutionOperator:
        """The paper's estimator with the paper's settings."""
        return learn(
            self.problem,
            kernel=Gaussian(self.lengthscale),
            points=self.points,
            sampling="uniform",
            regularization=self.regularization,
            method=Full(),
            seed=seed,
        )

    def learn_by_default(self, seed: int = 0) -> SolutionOperator:
        """kernop's default method on the paper's points; everything else is left to kernop."""
        return learn(self.problem, points=self.points, sampling="uniform", seed=seed)

    def exact(self) -> FloatArray:
        """The test solutions on the grid, (m, M)."""
        return apply_operator(itself, self.family, Points(self.grid))


@dataclass(frozen=True)
class MeanErrors:
    """Mean relative L2 and L∞ errors over a test set."""

    l2: float
    linf: float

    @staticmethod
    def of(found: FloatArray, exact: FloatArray) -> MeanErrors:
        """The errors of solutions found on a grid, (m, M), or (m,) for one."""
        return MeanErrors(float(np.mean(relative_l2(found, exact))), float(np.mean(relative_linf(found, exact))))


@dataclass(frozen=True, eq=False)
class Outcome:
    """Seconds to learn, seconds for all inputs, the solutions found on the grid, and the exact ones, (m, M) each."""

    learn_seconds: float
    apply_seconds: float
    found: FloatArray
    exact: FloatArray

    @property
    def mean_l2(self) -> float:
        """The mean relative L2 error over the test set."""
        return MeanErrors.of(self.found, self.exact).l2

    @property
    def mean_linf(self) -> float:
        """The mean relative L∞ error over the test set."""
        return MeanErrors.of(self.found, self.exact).linf


def measure(experiment: Experiment, operator: SolutionOperator) -> Outcome:
    """Apply an operator to the data of every test solution, and compare."""
    data = experiment.problem.manufacture(experiment.family, operator.points)
    exact = experiment.exact()
    started = time.perf_counter()
    found = operator(**data)(experiment.grid)
    seconds = time.perf_counter() - started
    return Outcome(sum(operator.stats.values()), seconds, found, exact)


def square_grid(n: int) -> FloatArray:
    """The (n × n) grid of the closed unit square, (n², 2); the first coordinate varies slowest."""
    return tensor_grid([np.linspace(0.0, 1.0, n)] * 2)


def random_nets(count: int, dim: int, *, width: int = 20, seed: int = 0) -> Function:
    """Neural networks with one hidden tanh layer and random Gaussian weights.

    u(x) = w·tanh(Wx + b) + c, weights N(0, 1/fan-in), biases N(0, 1/4). The paper does not give its architecture;
    this one is ours, chosen so that the paper's estimator has errors like those that the paper reports.
    """
    rng = np.random.default_rng(seed)
    inner = rng.normal(scale=1.0 / np.sqrt(dim), size=(count, dim, width))
    bias = rng.normal(scale=0.5, size=(count, width))
    outer = rng.normal(scale=1.0 / np.sqrt(width), size=(count, width))
    offset = rng.normal(scale=0.5, size=count)

    def nets(x: Array) -> Array:
        hidden = jnp.tanh(jnp.einsum("nd,mdw->nmw", x, inner) + bias)
        return jnp.einsum("nmw,mw->nm", hidden, outer) + offset

    return nets
