"""S = T.on(x): the operator T followed by evaluation at fixed points, which is one matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import frozen
from kernop.basics.linalg import one_thread, product
from kernop.basics.precision import float64
from kernop.collocation.data import InputValue, all_values, named_inputs
from kernop.collocation.functionals import Functionals, Layout
from kernop.operators.shapes import UserValues, by_unknown, values_of
from kernop.trust.estimates import Learned


@dataclass(frozen=True, eq=False)
class FixedOperator:
    """S = T.on(x): data ↦ values at fixed points, one or two matrix products for each input.

    Attributes:
        learned: what is known of T.
        x: the points, (M, d).
        matrices: their product is the kernel basis at x, (M, N); with a row for each part of each value.
        layout: how the values stand in rows.
        whole: is it u itself that is evaluated, with all unknowns?
    """

    learned: Learned
    x: FloatArray
    matrices: tuple[FloatArray, ...]
    layout: Layout
    whole: bool

    def __repr__(self) -> str:
        return f"FixedOperator(({', '.join(self.learned.problem.inputs)}) ↦ u at {len(self.x)} points)"

    @property
    def matrix(self) -> FloatArray:
        """The kernel basis at x, (M, N), with a row for each part of each value."""
        return reduce(product, self.matrices)

    def __call__(self, *values: InputValue, **named: InputValue) -> UserValues:
        """(M,), or (M, B) for B inputs; NumPy for NumPy inputs, JAX for JAX inputs."""
        learned, problem = self.learned, self.learned.problem
        rows = all_values(problem, named_inputs(problem, values, named), learned.points, learned.layouts)
        traced = isinstance(rows, jax.Array)
        with one_thread, float64():
            for matrix in reversed(self.matrices):
                rows = jnp.asarray(matrix) @ rows if traced else _times(matrix, rows)
            if self.layout != Layout():
                single = rows.ndim == 1
                rows = values_of(rows[:, None] if single else rows, self.layout, single=single)
            return by_unknown(rows, problem.unknowns) if self.whole else rows


def _times(matrix: FloatArray, rows: Any) -> Any:
    """A matrix times real or complex numbers, (N,) or (N, B)."""
    plain = rows.ndim == 2 and rows.dtype == np.float64
    return product(matrix, rows) if plain else matrix @ rows


@one_thread
def fixed(learned: Learned, x: FloatArray, left: Functionals, whole: bool) -> FixedOperator:
    """T followed by functionals of one operator at x: their matrix (M, N), or two matrices if that is less."""
    matrices = learned.factorisation.factors(learned.factorisation.expansion.matrix(left))
    if sum(matrix.size for matrix in matrices) > len(left) * matrices[-1].shape[1]:
        matrices = (reduce(product, matrices),)
    kept = frozen(tuple(map(np.ascontiguousarray, matrices)))
    return FixedOperator(learned, x, kept, left.layouts[0], whole)
