"""The two problems of the comparison: training inputs, an independent solver for the truth, and the test sets.

Inputs for training are smooth Gaussian random fields f = scale · GP with covariance exp(−|x − y|²/ℓ²). Their solutions
come from Chebyshev collocation, which shares nothing with the methods that are compared. The test sets: new fields of
the same distribution, and for each of several frequencies k, solutions that are known exactly, with f = Lu.

`python -m benchmarks.peers.tasks` prints how accurate that truth is, and what the corners of the square cost kernop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.polynomial.chebyshev import chebder, chebvander
from scipy.linalg import eig, inv, solve

import kernop as ko
from kernop.paper import darcy, helmholtz
from kernop.paper.experiment import Experiment, square_grid
from kernop.trust.metrics import relative_l2

OMEGA = 20.0
TRAINING, HELD_OUT = 0, 1_000_000  # seeds
PAIRS, TESTS = 1000, 50

Source = Callable[[np.ndarray], np.ndarray]  # x (n, d) ↦ f (n, B)


@dataclass(frozen=True)
class Fields:
    """scale · GP with covariance exp(−|x − y|²/ℓ²) in the unit cube, as sums of Gaussian bumps with random weights.

    exp(−(x − y)²/ℓ²) = (2/ℓ√π) ∫ exp(−2(x − s)²/ℓ²) exp(−2(y − s)²/ℓ²) ds, and a sum over s at a distance of ℓ/4 is
    the integral to rounding. A draw is a function: it can be evaluated anywhere. With ``vanishing`` it is multiplied by
    Π 4x(1 − x).
    """

    dim: int
    lengthscale: float
    scale: float
    vanishing: bool = False

    @cached_property
    def _centres(self) -> np.ndarray:
        step = self.lengthscale / 4.0
        return np.arange(-4.0 * self.lengthscale, 1.0 + 4.0 * self.lengthscale + step / 2.0, step)

    def draw(self, n: int, seed: int) -> np.ndarray:
        """The weights of n fields, (n, number of bumps)."""
        return np.random.default_rng(seed).normal(size=(n, len(self._centres) ** self.dim))

    def __call__(self, weights: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Their values at x (m, d), (m, n)."""
        factor = 1.0 / np.sqrt(2.0 * np.sqrt(np.pi))  # √(2 · step/ℓ√π)
        bumps = [factor * np.exp(-2.0 * ((axis[:, None] - self._centres) / self.lengthscale) ** 2) for axis in x.T]
        tensor = bumps[0] if self.dim == 1 else np.einsum("ms,mt->mst", *bumps).reshape(len(x), -1)
        values = self.scale * tensor @ weights.T
        return values * np.prod(4.0 * x * (1.0 - x), axis=1)[:, None] if self.vanishing else values

    @property
    def range(self) -> float:
        """The angular frequency below which 99 % of the power is, along each axis: the spectrum is exp(−κ²ℓ²/4)."""
        return 2.5758 * np.sqrt(2.0) / self.lengthscale


@dataclass(frozen=True, eq=False)
class Test:
    """Inputs f, as a function of x, and the solutions (m, B) on the grid of the task."""

    source: Source
    exact: np.ndarray


@dataclass(frozen=True, eq=False)
class Task:
    """A problem and everything that is shared by all who learn it.

    Arguments:
        experiment: the paper's problem, points, bandwidth and λ.
        fields: the distribution of the training inputs.
        grid: the tensor grid on which errors are measured, (m, d).
        sides: the points of the grid along each axis.
        solve: weights of fields ↦ solutions on the grid, (m, n).
        family: k ↦ B exact solutions of that frequency.
        frequencies: those k, and ``unit``, their angular frequency divided by k.
    """

    experiment: Experiment
    fields: Fields
    grid: np.ndarray
    sides: tuple[int, ...]
    solve: Callable[..., np.ndarray]
    family: Callable[[float], Any]
    frequencies: tuple[float, ...]
    unit: float

    def in_distribution(self) -> Test:
        """New fields of the training distribution."""
        weights = self.fields.draw(TESTS, HELD_OUT)
        return Test(lambda x: self.fields(weights, x), self.solve(weights))

    def at_frequency(self, k: float) -> Test:
        """Exact solutions of frequency k."""
        u, condition = self.family(k), self.experiment.problem["f"]
        exact = ko.apply_operator(lambda v: v, u, ko.Points(self.grid))
        return Test(lambda x: ko.apply_operator(condition.op, u, condition.on.adopt(x)), exact)


@dataclass(frozen=True, eq=False)
class Trained:
    """A network after training.

    Arguments:
        sensors: where it wants f, (n, d).
        apply: f (n, B) ↦ u (m, B) on the grid of the task.
        seconds: of training, without the making of the labels.
        parameters: their number.
        losses: the course of the training loss.
    """

    sensors: np.ndarray
    apply: Callable[[np.ndarray], np.ndarray]
    seconds: float
    parameters: int
    losses: list[float]


# --- the line --------------------------------------------------------------------------------------------------------


def helmholtz_task() -> Task:
    """−u″ − 400u = f on (0, 1), u(0) = −0.1, u(1) = 0.1; u = −0.1 + 0.2x + x(1 − x) sin(kx + φ)."""
    experiment = helmholtz(int(OMEGA))
    fields = Fields(1, 0.1, 100.0)
    line = np.linspace(0.0, 1.0, 160)

    def solve_line(weights: np.ndarray, degree: int = 64) -> np.ndarray:
        x, derivative, interpolate = chebyshev(degree)
        lift = -0.1 + 0.2 * x[:, None]
        operator = -derivative @ derivative - OMEGA**2 * np.eye(len(x))
        right = fields(weights, x[:, None]) + OMEGA**2 * lift
        found = np.zeros_like(right)
        found[1:-1] = solve(operator[1:-1, 1:-1], right[1:-1])
        return interpolate(line) @ (lift + found)

    def waves(k: float) -> Any:
        phase = 2.0 * np.pi * np.random.default_rng(0).random(TESTS)

        def u(x: Any) -> Any:
            s = x[..., :1]
            return -0.1 + 0.2 * s + s * (1.0 - s) * jnp.sin(k * s + phase)

        return u

    frequencies = (5.0, 10.0, 20.0, 40.0, 80.0, 160.0)
    return Task(experiment, fields, line[:, None], (160,), solve_line, waves, frequencies, 1.0)


# --- the plane -------------------------------------------------------------------------------------------------------


def darcy_task(*, vanishing: bool = False) -> Task:
    """−∇·(exp(x + y)∇u) = f on the unit square, u = 0 around; u = 16 x(1−x)y(1−y) sin(kπx + φ) sin(kπy + ψ).

    Divided by exp(x + y) the equation is −(u_xx + u_x) − (u_yy + u_y) = f exp(−x − y): AU + UAᵀ = F on a tensor grid.
    """
    experiment = darcy("a2")
    fields = Fields(2, 0.3, 1.0, vanishing)
    n = 24
    line = np.linspace(0.0, 1.0, n)

    def solve_plane(weights: np.ndarray, degree: int = 64) -> np.ndarray:
        x, derivative, interpolate = chebyshev(degree)
        operator = -(derivative @ derivative + derivative)[1:-1, 1:-1]
        values, vectors = eig(operator)
        there, back = interpolate(line)[:, 1:-1] @ vectors, inv(vectors)
        nodes = np.array(list(product(x[1:-1], x[1:-1])))
        right = (fields(weights, nodes).T * np.exp(-nodes.sum(axis=1))).reshape(-1, degree - 1, degree - 1)
        modes = back @ right @ back.T / (values[:, None] + values)
        return (there @ modes @ there.T).real.reshape(len(weights), -1).T

    def waves(k: float) -> Any:
        phase = 2.0 * np.pi * np.random.default_rng(0).random((2, TESTS))

        def u(x: Any) -> Any:
            s, t = x[..., :1], x[..., 1:2]
            bubble = 16.0 * s * (1.0 - s) * t * (1.0 - t)
            return bubble * jnp.sin(k * jnp.pi * s + phase[0]) * jnp.sin(k * jnp.pi * t + phase[1])

        return u

    return Task(experiment, fields, square_grid(n), (n, n), solve_plane, waves, (1.0, 2.0, 3.0, 4.0, 6.0, 8.0), np.pi)


# --- the truth -------------------------------------------------------------------------------------------------------


def chebyshev(degree: int) -> tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Chebyshev points of [0, 1] in descending order, the derivative there as a matrix, and interpolation to others."""
    t = np.cos(np.pi * np.arange(degree + 1) / degree)
    back = inv(chebvander(t, degree))
    derivative = 2.0 * chebvander(t, degree - 1) @ chebder(np.eye(degree + 1)) @ back
    return (t + 1.0) / 2.0, derivative, lambda x: chebvander(2.0 * x - 1.0, degree) @ back


def main() -> None:
    for task in (helmholtz_task(), darcy_task(), darcy_task(vanishing=True)):
        T, test, weights = task.experiment.learn_by_default(), task.in_distribution(), task.fields.draw(TESTS, HELD_OUT)
        zero = {name: 0.0 for name in task.experiment.problem.inputs if name != "f"}
        found = T(f=test.source(T.points["f"].x), **zero)(task.grid)
        name = task.experiment.name + (", fields that vanish on the boundary" if task.fields.vanishing else "")
        print(
            f"{name}: degree 64 against 96 {np.mean(relative_l2(test.exact, task.solve(weights, degree=96))):.0e}, "
            f"kernop in distribution {np.mean(relative_l2(found, test.exact)):.0e}"
        )


if __name__ == "__main__":
    main()
