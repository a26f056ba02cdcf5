"""Adam with amsgrad, for any tree of parameters."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

Tree = TypeVar("Tree")


class Adam(NamedTuple, Generic[Tree]):
    """What Adam with amsgrad remembers: steps taken, mean gradient, mean square, and the largest mean square so far."""

    steps: Array | int
    mean: Tree
    square: Tree
    largest: Tree


def start(parameters: Tree) -> Adam[Tree]:
    """Nothing yet, for any tree of parameters."""
    zero = jax.tree.map(jnp.zeros_like, parameters)
    return Adam(0, zero, zero, zero)


def step(
    state: Adam[Tree], gradient: Tree, rates: Tree, first: float = 0.9, second: float = 0.999
) -> tuple[Adam[Tree], Tree]:
    """The state after a gradient, and what to add to the parameters; ``rates`` has a learning rate for each.

    m ← β₁m + (1 − β₁)g, v ← β₂v + (1 − β₂)g², V ← max(V, v); the step is −rate · m/(1 − β₁ᵗ) / (√(V/(1 − β₂ᵗ)) + 1e-8).
    """
    steps = state.steps + 1
    mean = jax.tree.map(lambda m, g: first * m + (1.0 - first) * g, state.mean, gradient)
    square = jax.tree.map(lambda v, g: second * v + (1.0 - second) * g**2, state.square, gradient)
    largest = jax.tree.map(jnp.maximum, state.largest, square)

    def change(m: Array, v: Array, rate: Array) -> Array:
        return -rate * m / (1.0 - first**steps) / (jnp.sqrt(v / (1.0 - second**steps)) + 1e-8)

    return Adam(steps, mean, square, largest), jax.tree.map(change, mean, largest, rates)
