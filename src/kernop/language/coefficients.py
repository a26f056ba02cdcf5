"""Coefficients of an operator: numbers and functions of place, with the little algebra that the product rule needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import jax
import numpy as np

from kernop.basics.checks import check_scalar
from kernop.basics.errors import ArgumentError, fail
from kernop.language.functions import Function, values_of_function
from kernop.language.slopes import slope_of_function

#: A function of coordinates (n, d) and normals (n, d) or None.
PlaceFunction = Callable[[Any, Any], Any]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Coefficient:
    """A number, real or complex, or a function of place, that multiplies a derivative of u. Constants are folded.

    Arguments:
        constant: the number; None for a function.
        at: the function.
        sources: the functions of which derivatives were taken on the way to this one.
        functions: those of the user in it.
        itself: the function of the user that it is, if it is one.
    """

    constant: float | complex | None
    at: PlaceFunction
    sources: tuple[Coefficient, ...] = ()
    functions: tuple[Function, ...] = ()
    itself: Function | None = None

    @staticmethod
    def of(value: object) -> Coefficient:
        """Read a user's coefficient: a number or a function of x."""
        if isinstance(value, Coefficient):
            return value
        if callable(value):
            return Coefficient(
                None, lambda x, _: values_of_function("coefficient", value, x, ()), functions=(value,), itself=value
            )
        remedy = "a coefficient is a number or a function of x, such as lambda x: jnp.exp(x[..., 0])"
        number = check_scalar("coefficient", value, remedy)
        return Coefficient(number, lambda x, _: np.full(x.shape[0], number))

    def __add__(self, other: Coefficient) -> Coefficient:
        if self.constant is not None and other.constant is not None:
            return Coefficient.of(self.constant + other.constant)
        if self.constant == 0.0 or other.constant == 0.0:
            return other if self.constant == 0.0 else self
        return Coefficient(None, lambda x, n: self.at(x, n) + other.at(x, n), *_together(self, other))

    def __mul__(self, other: Coefficient) -> Coefficient:
        if self.constant is not None and other.constant is not None:
            return Coefficient.of(self.constant * other.constant)
        if self.constant == 1.0 or other.constant == 1.0:
            return other if self.constant == 1.0 else self
        if self.constant == 0.0 or other.constant == 0.0:
            return Coefficient.of(0.0)
        return Coefficient(None, lambda x, n: self.at(x, n) * other.at(x, n), *_together(self, other))

    def inverse(self) -> Coefficient:
        """The coefficient 1 / a of a coefficient a."""
        if self.constant is not None:
            if self.constant == 0.0:
                raise fail(ArgumentError, "coefficient", "a division by 0", "divide by a number that is not 0")
            return Coefficient.of(1.0 / self.constant)
        return Coefficient(None, lambda x, n: 1.0 / self.at(x, n), self.sources, self.functions)

    def partial(self, axis: int) -> Coefficient:
        """∂/∂x_axis, by forward-mode differentiation of the whole cloud at once; normals are held fixed."""
        if self.constant is not None:
            return Coefficient.of(0.0)
        own = self.itself
        slope = (
            directional(self.at, axis) if own is None else lambda x, _: slope_of_function("coefficient", own, x, axis)
        )
        return Coefficient(None, slope, (self, *self.sources), self.functions)


def _together(one: Coefficient, other: Coefficient) -> tuple[tuple[Coefficient, ...], tuple[Function, ...]]:
    """The sources and the functions of both, each once."""
    return _once((*one.sources, *other.sources)), _once((*one.functions, *other.functions))


def _once(values: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple({id(value): value for value in values}.values())


def directional(function: PlaceFunction, axis: int) -> PlaceFunction:
    """∂/∂x_axis of a function of place, for all points at once."""

    def derivative(x: Any, n: Any) -> Any:
        tangent = np.zeros(x.shape)
        tangent[:, axis] = 1.0
        return jax.jvp(lambda y: function(y, n), (x,), (tangent,))[1]

    return derivative
