"""The one place where arguments are checked: memory, arrays, numbers, kinds, words, and functions of the user."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable, Collection
from typing import Any, SupportsIndex

import numpy as np
from jax.errors import TracerArrayConversionError

from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FloatArray,
    KernopError,
    MemoryLimitError,
    NonFiniteError,
    NumberArray,
    ShapeError,
    describe,
    fail,
    naming,
)
from kernop.basics.memory import available_memory

#: Arrays of more numbers than this are copied only after a look at the memory that is free.
LARGE = 2**22
#: Room for so many numbers is taken without a look.
SMALL = 2**20


def check_memory(name: str, doubles: int, what: str, remedy: str) -> None:
    """Raise before allocating ``doubles`` numbers that would not fit; so few that they always do are not looked at."""
    if doubles <= SMALL:
        return
    needed, free = min(8 * doubles, 2**100), available_memory()  # beyond that a number may have no float
    if free is not None and needed > free:
        got = f"{what}, which needs {needed / 2**30:.1f} GiB where {free / 2**30:.1f} GiB are free"
        raise fail(MemoryLimitError, name, got, remedy)


def as_array(name: str, value: object, remedy: str, source: str = "") -> NumberArray:
    """``value`` as an array of whatever it holds, without a copy if it is one; nothing of it is masked.

    ``source`` says in a message where it comes from, if not from the caller.
    """
    if isinstance(value, range):  # the one short value that is a long array
        check_memory(name, (value.stop - value.start) // value.step, describe(value), remedy)
    try:
        array = np.asarray(value)
    except TracerArrayConversionError as error:
        got = f"{source}values that JAX traces, as inside jit, grad or vmap"
        raise fail(ArgumentTypeError, name, got, f"call it outside of them; {remedy}") from error
    except Exception as error:  # ragged lists: whatever the conversion says
        raise fail(ArgumentTypeError, name, f"{source}{describe(value)}", remedy) from error
    if np.ma.is_masked(value):
        got = f"{source}{np.ma.count_masked(value)} of {array.size} values that are masked"
        raise fail(NonFiniteError, name, got, f"fill them, or leave them out; {remedy}")
    return array


def check_array(
    name: str,
    value: object,
    *,
    remedy: str,
    copy: bool = True,
    complex_too: bool = False,
    units: str | None = None,
    shape: tuple[int, ...] | None = None,
) -> NumberArray:
    """A finite float64 copy of ``value``, complex128 if that is allowed; never objects. ``copy=False`` copies only if
    it must. With ``units``, the remedy for values whose squares overflow, those are refused too; with ``shape``, arrays
    of another one.
    """
    array = as_array(name, value, remedy)
    if array.dtype.kind not in ("fiubc" if complex_too else "fiub"):
        wanted = "numbers are needed" if complex_too else "real numbers are needed"
        raise fail(ArgumentTypeError, name, f"an array of dtype {array.dtype}", f"{wanted}; {remedy}")
    # A broadcast array takes no memory, and its sum forever.
    if array.size > LARGE and (copy or array.dtype.str[1:] not in ("f8", "c16") or 0 in array.strides):
        check_memory(name, array.size, describe(array), "give fewer at once")
    array = _doubles(array, copy)
    if not finite_squares(array):  # one fast pass for good data; the count only when there may be bad ones
        bad = int(array.size - np.count_nonzero(np.isfinite(array)))
        if bad:
            raise fail(NonFiniteError, name, f"{bad} of {array.size} values that are NaN or infinite", remedy)
        if units is not None:
            check_squares(name, array, units)
    if shape is not None and array.shape != shape:
        raise fail(ShapeError, name, f"an array of shape {array.shape}", remedy)
    return array


def _doubles(array: NumberArray, copy: bool) -> NumberArray:
    wanted = np.complex128 if array.dtype.kind == "c" else np.float64
    if array.dtype == wanted:
        return np.array(array) if copy else array
    with np.errstate(over="ignore"):  # of longer floats
        return np.array(array, dtype=wanted)


def finite_squares(array: NumberArray) -> bool:
    """Is the sum of the squares finite? All that is done with numbers needs that much room."""
    flat = array.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(np.vdot(flat, flat).real)


def check_squares(name: str, array: NumberArray, remedy: str) -> NumberArray:
    """The array, if the sum of its squares is finite: all that is done with it needs that much room."""
    if finite_squares(array):
        return array
    raise fail(NonFiniteError, name, f"values as large as {np.max(np.abs(array)):g}, whose squares overflow", remedy)


def check_coordinates(name: str, value: object, dim: int | None = None) -> FloatArray:
    """Points as an (n, d) array; n ≥ 1. A flat array is read as n points on the line when d = 1."""
    wanted = "(n, d)" if dim is None else f"(n, {dim})"
    units = "choose units in which coordinates are near 1"
    array = check_array(name, value, remedy=f"give points as an array of shape {wanted}", units=units)
    if array.ndim == 1 and dim == 1:
        array = array[:, None]
    if array.ndim != 2 or (dim is not None and array.shape[1] != dim):
        remedy = f"give points as an array of shape {wanted}, one row for each point"
        raise fail(ShapeError, name, f"an array of shape {array.shape}", remedy)
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise fail(ShapeError, name, f"an empty array of shape {array.shape}", "give at least one point")
    return array


def check_number(
    name: str,
    value: object,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    below: float = math.inf,
    most: float = math.inf,
    remedy: str | None = None,
) -> float:
    """A finite real number within the limits that are given; ``remedy`` is for what is no number."""
    limits = {"greater than": above, "at least": least, "below": below, "at most": most}
    bound = " and ".join(f"{words} {x:g}" for words, x in limits.items() if math.isfinite(x)) or "finite"
    instead = remedy or f"give one real number that is {bound}"
    array = as_array(name, value, instead)
    if array.shape != () or array.dtype.kind not in "fiu":
        raise fail(ArgumentTypeError, name, describe(value), instead)
    with np.errstate(over="ignore"):
        number = float(array)
    if not math.isfinite(number):
        raise fail(NonFiniteError, name, describe(value), f"give a number that is {bound}")
    if not (above < number < below and least <= number <= most):
        raise fail(ArgumentError, name, f"{number:g}", f"give a number that is {bound}")
    return number


def check_scalar(name: str, value: object, remedy: str) -> float | complex:
    """A finite number, real or complex; what is complex stays so even if its imaginary part is 0."""
    array = as_array(name, value, remedy)
    if array.dtype.kind != "c":
        return check_number(name, value, remedy=remedy)
    if array.shape != ():
        raise fail(ArgumentTypeError, name, describe(value), remedy)
    number = complex(array)
    if not cmath.isfinite(number):
        raise fail(NonFiniteError, name, describe(value), "give a number that is finite")
    return number


def check_integer(name: str, value: object, *, least: int, most: float = math.inf) -> int:
    """A whole number from ``least`` to ``most``."""
    if type(value) is int and least <= value <= most:
        return value
    remedy = f"give a whole number, at least {least}{f' and at most {most}' if most < math.inf else ''}"
    try:
        if isinstance(value, bool) or np.ma.is_masked(value) or not isinstance(value, SupportsIndex):
            raise TypeError
        number = operator.index(value)
    except TypeError as error:
        raise fail(ArgumentTypeError, name, describe(value), remedy) from error
    if not least <= number <= most:
        raise fail(ArgumentError, name, describe(number), remedy)
    return number


def check_kind(name: str, value: Any, kind: Any, remedy: str) -> Any:
    """The value, if it is an instance of a class, or of one of several: ``Region``, ``str | None``, ``Callable``."""
    if not isinstance(value, kind):
        raise fail(ArgumentTypeError, name, describe(value), remedy)
    return value


def check_flag(name: str, value: object) -> bool:
    """True or False, and not what only counts as such: a list, or an array, was meant for another argument."""
    return bool(check_kind(name, value, bool | np.bool_, "give True or False"))


def called(name: str, function: Callable[..., Any], *arguments: object, remedy: str) -> Any:
    """The result of a user's function.

    What it raises passes as it is: it is the user's, and the traceback shows the line. A call that does not even begin,
    because the function takes other arguments, is reported by us; and so is StopIteration, which a loop around us would
    take for its end.
    """
    try:
        with naming(name):
            return function(*arguments)
    except StopIteration as error:
        got = "a function that raised StopIteration"
        raise fail(ArgumentError, name, got, "let it return a value, or catch what next(…) raises in it") from error
    except TypeError as error:
        begun = error.__traceback__ is not None and error.__traceback__.tb_next is not None
        if isinstance(error, KernopError) or (begun and not isinstance(function, type)):
            raise
        raise fail(ArgumentTypeError, name, f"a function that cannot be called so: {error}", remedy) from error


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """The value, if it is one of the words that may be chosen."""
    if not isinstance(value, str) or value not in choices:
        raise fail(ArgumentError, name, describe(value), "choose one of " + ", ".join(map(repr, choices)))
    return value
