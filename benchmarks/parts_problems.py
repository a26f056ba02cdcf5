"""The problems of benchmarks/parts.py: Darcy flow on the unit square with two coefficients, and waves that solve it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from common import once

import kernop as ko

SQUARE = ko.Box([0, 0], [1, 1])
#: Seconds of the processor; with ``wall`` on the command line those of the wall.
CLOCK = time.perf_counter if "wall" in sys.argv else time.process_time
#: Right-hand sides in a block.
BLOCK = 64
RNG = np.random.default_rng(0)
#: Directions and phases of the solutions.
ANGLE, PHASE = RNG.uniform(0.0, np.pi, BLOCK), RNG.uniform(0.0, 2.0 * np.pi, BLOCK)
PLACES = RNG.random((4000, 2))


def wavy(x: Any) -> Any:
    """A coefficient that no two parts have alike."""
    return 1.5 + jnp.sin(7.0 * x[..., 0] + 1.0) * jnp.cos(5.0 * x[..., 1])


def wavy_slopes(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same, and its derivatives, by hand."""
    one, other = 7.0 * x[..., 0] + 1.0, 5.0 * x[..., 1]
    return (
        1.5 + np.sin(one) * np.cos(other),
        7.0 * np.cos(one) * np.cos(other),
        -5.0 * np.sin(one) * np.sin(other),
    )


def exponential(x: Any) -> Any:
    """Darcy a2."""
    return jnp.exp(x[..., 0] + x[..., 1])


def exponential_slopes(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same, and its derivatives."""
    value = np.exp(x[..., 0] + x[..., 1])
    return value, value, value


COEFFICIENTS: dict[str, tuple[Any, Any]] = {
    "wavy": (wavy, wavy_slopes),
    "exp(x + y)": (exponential, exponential_slopes),
}


@dataclass(frozen=True)
class Waves:
    """Solutions sin(k·x + b) with |k| the same for all, and what they ask for."""

    number: float
    slopes: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]

    @property
    def k(self) -> np.ndarray:
        """(2, B)."""
        return self.number * np.stack([np.cos(ANGLE), np.sin(ANGLE)])

    def u(self, x: np.ndarray) -> np.ndarray:
        """(…, B)."""
        return np.sin(x @ self.k + PHASE)

    def f(self, x: np.ndarray) -> np.ndarray:
        """−∇·(a∇u) = a |k|² sin − ∇a·k cos, (…, B)."""
        a, along_x, along_y = (own[..., None] for own in self.slopes(x))
        angle = x @ self.k + PHASE
        return a * self.number**2 * np.sin(angle) - (along_x * self.k[0] + along_y * self.k[1]) * np.cos(angle)


def relative(found: np.ndarray, truth: np.ndarray) -> float:
    """The worst relative L2 error of the block."""
    shape = (-1, found.shape[-1])
    apart, truth = (found - truth).reshape(shape), truth.reshape(shape)
    return float(np.max(np.linalg.norm(apart, axis=0) / np.linalg.norm(truth, axis=0)))


def darcy(coefficient: Any) -> ko.Problem:
    return ko.Problem(
        ko.Equation(lambda u: -ko.div(coefficient * ko.grad(u)), on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.boundary, name="g"),
    )


def timed(job: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, and what it gives."""
    kept: list[Any] = []
    seconds = once(lambda: kept.append(job()), CLOCK)
    return seconds, kept[0]
