"""Derivatives of a user's function along the axes, by compiled code where they are asked for often.

Compiled code keeps the numbers that a function found around it when it was compiled; the user may have changed them
since. So it is asked for the values as well, and believed only if these are, at all points, those of the function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any
from weakref import ref

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from kernop.basics.errors import FloatArray, NumberArray
from kernop.basics.frozen import Kept
from kernop.language.functions import Function, once_at, values_of_function

#: A function is compiled after so many derivatives, which take about as long as to compile it.
OFTEN = 16
#: Values are the same if they differ by this part, or by this part of the largest: compiled code rounds differently.
SAME, ROUNDING = 1e-9, 1e-13


class _Slopes:
    """Values of a function and its derivatives along all axes, by code that is compiled when it is worth it."""

    def __init__(self, function: Function) -> None:
        self._function = ref(function)  # which is the key by which this is kept, and shall not live longer for it
        self._asked = 0
        self._run: Callable[[FloatArray], Any] | None = None

    def at(self, x: FloatArray, values: NumberArray) -> NumberArray | None:
        """All derivatives at x (n, d), (d, n), of a function with these values there, (n,); None if not by this."""
        self._asked += 1
        if self._asked <= OFTEN:
            return None
        for fresh in (False, True):
            if self._run is None or fresh:
                self._run = self._compiled()
            try:
                found, slopes = map(np.asarray, self._run(x))
            except Exception:  # a function that asks for values, as in an if, cannot be compiled
                break
            if found.shape == values.shape and _same(found, values):
                return slopes
        self._asked = -(2**62)
        return None

    def _compiled(self) -> Callable[[FloatArray], Any]:
        def both(x: Any) -> Any:
            function = self._function()
            assert function is not None
            along = [jnp.zeros_like(x).at[:, axis].set(1.0) for axis in range(x.shape[1])]
            pairs = [jax.jvp(function, (x,), (tangent,)) for tangent in along]
            return pairs[0][0], jnp.stack([slope for _, slope in pairs])

        return jax.jit(both)


def _same(one: NumberArray, other: NumberArray) -> bool:
    size = np.abs(other)
    return bool(np.all(np.abs(one - other) <= SAME * size + ROUNDING * np.max(size)))


_slopes: Kept[Function, _Slopes] = Kept()


def slope_of_function(name: str, function: Function, x: Any, axis: int) -> Any:
    """∂/∂x_axis of a user's function at x (n, d), (n,); of NumPy unless JAX traces it."""
    if isinstance(function, FunctionType | partial) and isinstance(x, np.ndarray):
        known = once_at(function, x, "slopes", lambda: _compiled_slopes(name, function, x))
        if known is not None:
            return known[axis]
    tangent = np.zeros(x.shape)
    tangent[:, axis] = 1.0
    return jax.jvp(lambda y: values_of_function(name, function, y, ()), (x,), (tangent,))[1]


def _compiled_slopes(name: str, function: Function, x: FloatArray) -> NumberArray | None:
    values = values_of_function(name, function, x, ())
    if isinstance(values, Tracer):
        return None
    return _slopes.of(function, lambda: _Slopes(function)).at(x, values)
