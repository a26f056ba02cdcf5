"""Adam with amsgrad, for any tree of parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class Adam(NamedTuple):
    """What Adam with amsgrad remembers: steps taken, mean gradient, mean square, and the largest mean square so far."""

    steps: Any
    mean: Any
    square: Any
    largest: Any


def start(parameters: Any) -> Adam:
    """Nothing yet, for any tree of parameters."""
    zero = jax.tree.map(jnp.zeros_like, parameters)
    return Adam(0, zero, zero, zero)


def step(state: Adam, gradient: Any, rates: Any, decay: tuple[float, float] = (0.9, 0.999)) -> tuple[Adam, Any]:
    """The state after a gradient, and what to add to the parameters; ``rates`` has a learning rate for each.

    m ← β₁m + (1 − β₁)g, v ← β₂v + (1 − β₂)g², V ← max(V, v); the step is −rate · m/(1 − β₁ᵗ) / (√(V/(1 − β₂ᵗ)) + 1e-8).
    """
    first, second = decay
    steps = state.steps + 1
    mean = jax.tree.map(lambda m, g: first * m + (1.0 - first) * g, state.mean, gradient)
    square = jax.tree.map(lambda v, g: second * v + (1.0 - second) * g**2, state.square, gradient)
    largest = jax.tree.map(jnp.maximum, state.largest, square)

    def change(m: Any, v: Any, rate: Any) -> Any:
        return -rate * m / (1.0 - first**steps) / (jnp.sqrt(v / (1.0 - second**steps)) + 1e-8)

    return Adam(steps, mean, square, largest), jax.tree.map(change, mean, largest, rates)
