"""A user's function f with f < 0 inside, f > 0 outside: its values, its gradient, and the way to its zero set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from kernop.basics.checks import as_array, called
from kernop.basics.errors import ArgumentError, FloatArray, NonFiniteError, ShapeError, describe, fail
from kernop.basics.precision import float64

#: The name of the argument in messages, and what it should be.
NAME, REMEDY = "distance", "give a function of x (n, d) that returns (n,), negative inside, as in x[..., 0] - 1"
#: Steps of Newton's method, and how near it comes, as a part of the extent; where
#: steps do not get smaller any more, they may be as large as rounding.
STEPS, NEAR, ROUNDING = 30, 1e-15, 1e-12
#: The zero of a function is not so many cells of a grid away from where it changes its sign.
FAR = 2.0
#: Rows that a function gets at once: never other numbers than these.
FEW, CHUNK = 64, 4096
#: The step of differences where JAX cannot differentiate, as a part of the extent.
DIFFERENCE = 6e-6


@dataclass(frozen=True, eq=False)
class LevelSet:
    """A function of x (n, d) and its gradient.

    Arguments:
        function: the user's, written with JAX or with NumPy.
        extent: the longest side of the box in which it is looked at.
        dim: the number d of coordinates.
    """

    function: Callable[[Any], Any]
    extent: float
    dim: int

    def values(self, x: FloatArray) -> FloatArray:
        """f at the rows of x, (n,)."""
        found = np.concatenate([np.empty(0), *(self._values(part)[: len(part)] for part in _chunks(x))])
        if not np.all(np.isfinite(found)):
            got = f"a function that is not finite at {x[np.argmin(np.isfinite(found))]}"
            raise fail(NonFiniteError, NAME, got, "make it finite within bounds")
        return found

    def _values(self, x: FloatArray) -> FloatArray:
        padded = _padded(x)
        try:
            with float64(), np.errstate(all="ignore"):
                found = called(NAME, self.function, padded, remedy=REMEDY)
        except IndexError as error:
            got = f"a function that fails on x of shape (n, {self.dim}): {error}"
            raise fail(ShapeError, NAME, got, REMEDY) from error
        values = as_array(NAME, found, REMEDY, "a function that returns ")
        if values.shape != (len(padded),) or values.dtype.kind not in "fiu":
            raise fail(ShapeError, NAME, f"a function that returns {describe(values)} of {values.dtype}", REMEDY)
        return np.asarray(values, dtype=np.float64)

    @cached_property
    def _derivative(self) -> Callable[[FloatArray], Array] | None:
        """∇f by JAX, compiled; None for a function that is written with NumPy."""
        derivative = jax.jit(jax.grad(lambda x: jnp.sum(self.function(x))))
        try:
            with float64():
                derivative(_padded(np.ones((1, self.dim))))
        except Exception:  # whatever NumPy says to what JAX traces
            return None
        return derivative

    def gradient(self, x: FloatArray) -> FloatArray:
        """∇f at the rows of x, (n, d): by JAX, or by central differences; 0 where it is not finite."""
        derivative = self._derivative
        if derivative is not None:
            with float64():
                parts = [np.asarray(derivative(_padded(part)))[: len(part)] for part in _chunks(x)]
            found = np.concatenate([np.empty((0, self.dim)), *parts])
        else:
            step = DIFFERENCE * self.extent
            shifts = step * np.eye(self.dim)
            found = np.stack([self.values(x + e) - self.values(x - e) for e in shifts], axis=1) / (2.0 * step)
        return np.where(np.isfinite(found), found, 0.0)

    def normals(self, x: FloatArray) -> FloatArray:
        """∇f / |∇f|, (n, d)."""
        gradient = self.gradient(x)
        slope = np.linalg.norm(gradient, axis=1, keepdims=True)
        if np.any(slope == 0.0):
            place = x[np.argmin(slope)]
            remedy = "give a function with a gradient on its zero set, such as a signed distance"
            raise fail(ArgumentError, NAME, f"a function without a slope at {place}", remedy)
        return gradient / slope

    def projected(self, x: FloatArray, reach: float) -> FloatArray:
        """The points of the zero set that Newton's method finds along the gradient, from rows of x near it, (n, d).

        No step is longer than ``reach``.
        """
        x, before = np.array(x), np.inf
        for _ in range(STEPS):
            gradient, values = self.gradient(x), self.values(x)
            square = np.sum(np.square(gradient), axis=1)
            step = -values / np.where(square > 0.0, square, 1.0)
            length = np.abs(step) * np.sqrt(square)
            x = x + (step * np.minimum(1.0, reach / np.maximum(length, 1e-300)))[:, None] * gradient
            most = float(np.max(length))
            if most <= NEAR * self.extent or (most <= ROUNDING * self.extent and most >= 0.5 * before):
                break
            before = most
        return x

    def found(self, x: FloatArray, reach: float) -> FloatArray:
        """The same from places between which f changes its sign, not farther apart than ``reach``; it must be near."""
        there = self.projected(x, reach)
        far = np.linalg.norm(there - x, axis=1) > FAR * reach
        if np.any(far):
            place = np.array2string(x[np.argmax(far)], precision=4)
            got = f"a function that changes its sign at {place} without being 0 there"
            remedy = "give a continuous function; for a domain of several parts combine them: Implicit(f, …) & Box(…)"
            raise fail(ArgumentError, NAME, got, remedy)
        return there


def _chunks(x: FloatArray) -> list[FloatArray]:
    return [x[start : start + CHUNK] for start in range(0, len(x), CHUNK)]


def _padded(x: FloatArray) -> FloatArray:
    """x with its last row repeated, to one of two lengths: JAX compiles once for each shape."""
    return np.pad(x, ((0, (FEW if len(x) <= FEW else CHUNK) - len(x)), (0, 0)), mode="edge")
