"""The exceptions of kernop, and the one place where arguments are checked.

Every exception that kernop raises on purpose derives from `KernopError`, and also from the built-in that fits, so
that ``except ValueError`` keeps working. A message names the argument, says what came, and what to do instead.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class KernopError(Exception):
    """Base of all exceptions that kernop raises on purpose."""


class ArgumentError(KernopError, ValueError):
    """An argument has a value that cannot be used."""


class ArgumentTypeError(KernopError, TypeError):
    """An argument is of a kind that cannot be used."""


class ShapeError(ArgumentError):
    """An array has the wrong shape, or the wrong number of coordinates."""


class NonFiniteError(ArgumentError):
    """NaN or infinity in data, points or coefficients."""


class InputNameError(ArgumentError):
    """An input name is unknown, missing or given twice."""


class OperatorError(ArgumentError):
    """An operator cannot be read as a linear differential operator."""


class NonlinearOperatorError(OperatorError):
    """An operator violates superposition."""


class RoughKernelError(ArgumentError):
    """A kernel has too few derivatives for the operator."""


class OutsideDomainError(ArgumentError):
    """Points lie outside the region where they are used."""


class MemoryLimitError(KernopError, MemoryError):
    """A matrix would not fit in memory; raised before anything is allocated."""


class SingularGramError(KernopError, np.linalg.LinAlgError):
    """A linear system is singular to working precision."""


class FileError(KernopError, ValueError):
    """A file is damaged, foreign, or does not fit what it is asked for."""


class ClusterError(KernopError, RuntimeError):
    """The workers, or the connection to them, were lost."""


class MissingExtraError(KernopError, ImportError):
    """An optional dependency is needed and not installed."""


def fail(kind: type[KernopError], name: str, got: str, remedy: str) -> KernopError:
    """Build an exception whose message names the argument, what came, and the remedy."""
    return kind(f"{name}: got {got}; {remedy}.")


@contextmanager
def naming(name: str) -> Generator[None]:
    """Put the name of a condition, or of an argument, before the message of every KernopError that passes."""
    try:
        yield
    except KernopError as error:
        raise type(error)(f"{name}: {error}") from error.__cause__


def describe(value: object) -> str:
    """A short description of a value for a message: its shape when it is an array, else its repr."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"an array of shape {shape}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _as_array(name: str, value: Any, remedy: str) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except Exception as error:  # ragged lists, tracers: whatever the conversion says
        raise fail(ArgumentTypeError, name, describe(value), remedy) from error


def check_array(name: str, value: Any, *, remedy: str, copy: bool = True) -> FloatArray:
    """A finite float64 copy of ``value``; never complex, never objects. ``copy=False`` copies only if it must."""
    array = _as_array(name, value, remedy)
    if array.dtype.kind not in "fiub":
        raise fail(ArgumentTypeError, name, f"an array of dtype {array.dtype}", f"real numbers are needed; {remedy}")
    array = np.array(array, dtype=np.float64, copy=copy or None)
    if not np.isfinite(np.sum(array)):  # one fast pass for good data; the count only when there may be bad ones
        bad = int(array.size - np.count_nonzero(np.isfinite(array)))
        if bad:
            raise fail(NonFiniteError, name, f"{bad} of {array.size} values that are NaN or infinite", remedy)
    return array


def check_coordinates(name: str, value: Any, dim: int | None = None) -> FloatArray:
    """Points as an (n, d) array; n ≥ 1. A flat array is read as n points on the line when d = 1."""
    wanted = "(n, d)" if dim is None else f"(n, {dim})"
    array = check_array(name, value, remedy=f"give points as an array of shape {wanted}")
    if array.ndim == 1 and dim == 1:
        array = array[:, None]
    if array.ndim != 2 or (dim is not None and array.shape[1] != dim):
        remedy = f"give points as an array of shape {wanted}, one row for each point"
        raise fail(ShapeError, name, f"an array of shape {array.shape}", remedy)
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise fail(ShapeError, name, f"an empty array of shape {array.shape}", "give at least one point")
    return array


def check_number(
    name: str, value: Any, *, above: float = -math.inf, least: float = -math.inf, remedy: str | None = None
) -> float:
    """A finite real number, greater than ``above`` and at least ``least``; ``remedy`` is for what is no number."""
    bound = f"greater than {above:g}" if above > -math.inf else f"at least {least:g}" if least > -math.inf else "finite"
    instead = remedy or f"give one real number that is {bound}"
    array = _as_array(name, value, instead)
    if array.shape != () or array.dtype.kind not in "fiu":
        raise fail(ArgumentTypeError, name, describe(value), instead)
    number = float(array)
    if not math.isfinite(number):
        raise fail(NonFiniteError, name, describe(value), f"give a number that is {bound}")
    if number <= above or number < least:
        raise fail(ArgumentError, name, f"{number:g}", f"give a number that is {bound}")
    return number


def check_integer(name: str, value: Any, *, least: int) -> int:
    """A whole number that is at least ``least``."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError as error:
        raise fail(ArgumentTypeError, name, describe(value), f"give a whole number, at least {least}") from error
    if number < least:
        raise fail(ArgumentError, name, str(number), f"give a whole number, at least {least}")
    return number


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise fail(ArgumentError, name, describe(value), "choose one of " + ", ".join(map(repr, choices)))
    return value
