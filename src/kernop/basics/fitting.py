"""Do the arrays of an object fit each other? Asked of what comes from a file; made by kernop itself they do."""

from __future__ import annotations

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, IntArray, NumberArray, ShapeError, describe, fail

REMEDY = "write the file again"


def check_shape(name: str, array: NumberArray, *shape: int | None) -> None:
    """Raise unless an array has this shape; None stands for any size but 0."""
    fits = array.ndim == len(shape) and all(n if m is None else n == m for n, m in zip(array.shape, shape, strict=True))
    if not fits:
        sides = " × ".join("n" if n is None else str(n) for n in shape)
        raise fail(ShapeError, name, f"an array of shape {array.shape} and not {sides}", REMEDY)


def check_positive(name: str, values: FloatArray | tuple[float, ...], *shape: int | None) -> None:
    """Raise unless an array has this shape and all its numbers are positive."""
    array = np.asarray(values)
    check_shape(name, array, *shape)
    if not np.all(array > 0.0):
        raise fail(ArgumentError, name, "numbers that are not positive", REMEDY)


def check_permutation(name: str, order: IntArray, n: int) -> None:
    """Raise unless an array has all numbers below n, each once."""
    check_shape(name, order, n)
    if not np.array_equal(np.sort(order), np.arange(n)):
        raise fail(ArgumentError, name, "no permutation", REMEDY)


def check_least(name: str, value: float, least: float) -> None:
    """Raise unless a number is at least so large."""
    if not value >= least:
        raise fail(ArgumentError, name, f"{describe(value)}, below {least:g}", REMEDY)
