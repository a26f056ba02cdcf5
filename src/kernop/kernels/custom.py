"""A user's own kernel, differentiated automatically."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from kernop.basics.checks import as_array, called, check_kind, check_number
from kernop.basics.errors import OperatorError, ShapeError, fail
from kernop.kernels.base import Coordinates, Kernel, Partials
from kernop.language.fields import MultiIndex

#: A number at a point p.
PointFunction = Callable[[Array], Array]


class CustomKernel(Kernel):
    """K(x, y) as a function of two points of shape (d,) that returns a number, written with jax.numpy.

    Arguments:
        function: symmetric and positive definite; that is the caller's promise.
        smoothness: how many derivatives it has in x and y together; the default says: as many as asked for.

    Derivatives are nested forward-mode derivatives of ``function``. They cost far more than a closed form, and a
    square root at x = y gives NaN, which is reported.
    """

    stationary = False

    def __init__(self, function: Callable[[Array, Array], Any], smoothness: float = math.inf) -> None:
        check_kind("function", function, Callable, "give a function K(x, y) of two points")
        self.function = function
        unlimited = isinstance(smoothness, float) and smoothness == math.inf
        self._smoothness = math.inf if unlimited else check_number("smoothness", smoothness, least=0.0)

    @property
    def smoothness(self) -> float:
        return self._smoothness

    def smoother(self, order: int) -> str:
        return f"give one with {order} derivatives (and smoothness={order} or more), or use ko.Gaussian"

    def check_dim(self, dim: int) -> None:
        """A function of points can be used in any dimension that it accepts."""

    def partials(self, z: Coordinates, gammas: Collection[MultiIndex]) -> Partials:
        place = jnp.stack(jnp.broadcast_arrays(*z), axis=-1)
        flat = place.reshape(-1, len(z))
        return {gamma: jax.vmap(self._derivative(gamma))(flat).reshape(place.shape[:-1]) for gamma in gammas}

    def _derivative(self, gamma: MultiIndex) -> PointFunction:
        """∂^γ K as a function of p = (x, y): one derivative along the last axis that has any, of those before it."""
        if not any(gamma):
            return self._value
        axis = max(k for k, times in enumerate(gamma) if times)
        inner = self._derivative((*gamma[:axis], gamma[axis] - 1, *gamma[axis + 1 :]))
        return lambda p: jax.jvp(inner, (p,), (jnp.zeros_like(p).at[axis].set(1.0),))[1]

    def _value(self, p: Array) -> Array:
        """K(x, y) at p = (x, y) of shape (2d,), one real number, whatever the function returns."""
        x, y = jnp.split(p, 2)
        remedy = "map two points of shape (d,) to one real number, with jax.numpy"
        try:
            returned = called("kernel", self.function, x, y, remedy=remedy)
        except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
            why = str(error).partition("\n")[0]
            raise fail(OperatorError, "kernel", f"{self!r}, which JAX cannot differentiate ({why})", remedy) from error
        value = returned if isinstance(returned, Array) else as_array("kernel", returned, remedy, f"{self!r}, giving ")
        if value.shape != () or value.dtype.kind not in "fiub":
            got = f"{self!r}, which returns an array of shape {value.shape} and dtype {value.dtype}"
            raise fail(ShapeError, "kernel", got, remedy)
        return jnp.asarray(value, dtype=jnp.float64)

    def __repr__(self) -> str:
        return f"CustomKernel({getattr(self.function, '__name__', 'function')})"
