"""The user's functions of x: coefficients, data, exact solutions. They are called here, and their values checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from kernop.basics.checks import LARGE, as_array, called, check_array, check_memory
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FloatArray,
    KernopError,
    OperatorError,
    ShapeError,
    describe,
    fail,
)
from kernop.basics.frozen import Kept
from kernop.basics.precision import float64

#: x of shape (n, d) ↦ values of shape (n,), or (n, k) of vectors, and with a last axis B for B functions at once.
Function = Callable[[Any], Any]

#: Fewer points than the last of these are padded to one of them.
ROWS = (2048, 8192)

#: Values at one point that differ by this part of the largest are the same: vectorised code rounds by rows.
SAME = 1e-5

#: Functions whose values do not depend on the other points.
_pointwise: Kept[Function, bool] = Kept()


def values_of_function(name: str, function: Function, x: object, shape: tuple[int, ...] | None = None) -> Any:
    """Values of a user's function at x (n, d), in float64 or complex128: (n, *shape); without ``shape``, (n, …).

    One number stands for a constant. A function that forgets ``...`` (``x[0]``) or an axis (``jnp.sum(x**2)``) mixes
    up the points; the values at the points themselves give it away, so they are looked at also while JAX
    differentiates, and the message says how to write it. One whose value at a point depends on the others
    (``f(x) - np.mean(f(x))``) or on chance is no function of x, and is refused too. Values are NumPy unless JAX traces
    them: every operation of JAX on arrays of a new shape is compiled first.
    """
    place = x if isinstance(x, np.ndarray) else _concrete(x)
    values = once_at(function, place, shape, lambda: _checked(name, function, place, shape))
    single = values.shape == ()
    if isinstance(x, Tracer):
        values = _call(name, function, x)
    if not single:
        return values
    return (jnp if isinstance(values, Tracer) else np).broadcast_to(values, len(place))


def _checked(name: str, function: Function, x: FloatArray, shape: tuple[int, ...] | None) -> Any:
    """The values of a function at places, or one number if it is a constant."""
    values = _call(name, function, x)
    if values.shape == () and shape in (None, ()):
        _check_constant(name, function, x, values)
    elif not _fits(values.shape, len(x), shape):
        remedy = _LAST_AXIS if not shape else f"map x of shape (n, d) to shape (n, {', '.join(map(str, shape))})"
        got = f"a function that maps x of shape {x.shape} to shape {values.shape}"
        raise fail(ShapeError, name, got, remedy)
    else:
        _check_pointwise(name, function, x, values)
    return values


def _concrete(x: object) -> FloatArray:
    """The places themselves, also within a jit of the user."""
    with jax.ensure_compile_time_eval():
        return np.asarray(jax.lax.stop_gradient(x))


#: What is known of functions at places while an operator is evaluated, with what tells it apart, which must live on.
_known: ContextVar[dict[tuple[int, int, object], tuple[Function, FloatArray, Any]] | None] = ContextVar(
    "known", default=None
)


@contextmanager
def remembering() -> Generator[None]:
    """A context in which a function is called once at the same array of places, however often it is asked for."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def once_at(function: Function, x: FloatArray, what: object, make: Callable[[], Any]) -> Any:
    """What is made of a function at places, as it was made before in the context of `remembering`."""
    known = _known.get()
    if known is None:
        return make()
    key = id(function), int(x.__array_interface__["data"][0]), what
    seen = known.get(key)
    if seen is not None and seen[1].shape == x.shape:
        return seen[2]
    found = make()
    if not isinstance(found, Tracer):
        known[key] = function, x, found
    return found


def evaluate_at(name: str, function: Function, x: FloatArray) -> Any:
    """Values of a user's function at points x (n, d), checked and finite: (n,), or (n, …).

    They are NumPy unless JAX traces them.
    """
    with float64():
        values = values_of_function(name, function, padded(x))[: len(x)]
    if isinstance(values, Tracer):
        return values
    return check_array(name, values, remedy="make it finite at all points", complex_too=True)


def padded(x: FloatArray) -> FloatArray:
    """x (n, d) with its last row repeated up to 2048 or 8192 rows, or to a power of two if there are more.

    JAX compiles every operation of a user's function once for each shape, which takes longer than to compute it, so
    there are few; and ``x[0]``, of shape (d,), can then not pass for ``x[..., 0]``.
    """
    n = len(x)
    rows = next((rows for rows in ROWS if n <= rows), 1 << (n - 1).bit_length())
    found = np.empty((rows, x.shape[1]))
    found[:n], found[n:] = x, x[-1]
    return found


_ONE = "give a function of one argument, x of shape (n, d)"
_EACH_POINT = (
    "compute means, maxima, sums over points and random numbers before, as numbers of their own, outside of it"
)
_LAST_AXIS = "write it with the coordinate on the last axis, as in x[..., 0], so that (n, d) gives (n,)"


def _fits(found: tuple[int, ...], n: int, shape: tuple[int, ...] | None) -> bool:
    return found[:1] == (n,) and (len(found) <= 3 if shape is None else found[1:] == shape)


def _check_constant(name: str, function: Function, x: FloatArray, value: Any) -> None:
    """A function that gives one number for all points must give the same for the first and for the last alone."""
    if isinstance(value, Tracer):  # a constant by which the user differentiates
        return
    if not all(np.array_equal(value, _call(name, function, row), equal_nan=True) for row in (x[:1], x[-1:])):
        raise fail(ShapeError, name, f"one number for all {len(x)} points together", _LAST_AXIS)


def _check_pointwise(name: str, function: Function, x: FloatArray, values: Any) -> None:
    """The value at a point must be the same with other points around it: here, with that point alone in all rows.

    Looked at once for each function. The shape stays, so that JAX compiles nothing.
    """
    written = isinstance(inspect.unwrap(function), FunctionType | MethodType | partial)
    if not written or isinstance(values, Tracer) or function in _pointwise:
        return
    row = len(x) // 2
    if len(x) > ROWS[-1] or np.all(x == x[row]):
        return

    known = np.asarray(values)
    if not np.all(np.isfinite(known)):  # which is reported with its place
        return

    def check() -> bool:
        again = np.asarray(_call(name, function, np.broadcast_to(x[row], x.shape).copy()))
        same = SAME * float(np.max(np.abs(known)))
        if known.shape == again.shape and np.all(np.abs(known[row] - again[row]) <= same):
            return True
        got = f"a function whose value at x = {x[row]} depends on the other points that it is given, or on chance"
        raise fail(ArgumentError, name, got, _EACH_POINT)

    _pointwise.of(function, check)


def _call(name: str, function: Function, x: Any) -> Any:
    """What a user's function says, as an array of float64, or of complex128; of NumPy unless JAX traces it."""
    try:
        values = _at_points(name, function, x) if isinstance(x, np.ndarray) else called(name, function, x, remedy=_ONE)
    except jax.errors.JAXTypeError as error:
        raise _not_for_jax(name, x) from error
    except IndexError as error:
        got = f"a function that fails on x of shape {x.shape}: {error}"
        raise fail(ShapeError, name, got, _LAST_AXIS) from error
    if isinstance(values, Tracer):
        return values.astype(jnp.complex128 if jnp.iscomplexobj(values) else jnp.float64)
    if isinstance(values, jax.Array):
        array = np.asarray(values)
    else:
        array = as_array(name, values, "return numbers", "a function that returns ")
        if array.dtype.kind not in "fiubc":
            raise fail(ArgumentTypeError, name, f"a function that returns {describe(values)}", "return numbers")
        if array.size > LARGE:
            check_memory(name, array.size, f"values of shape {array.shape}", "return one value for each point")
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64, copy=False)


def _not_for_jax(name: str, x: object) -> KernopError:
    """For a function that hands what JAX traces to NumPy: x, when we differentiate it, or what a user traces."""
    if not isinstance(x, Tracer):
        got = "a function that hands values which JAX traces to NumPy or SciPy"
        return fail(OperatorError, name, got, "write it with jax.numpy instead of numpy")
    remedy = (
        "write it with jax.numpy instead of NumPy or SciPy: its derivative is needed, because it stands under grad,"
        " div, laplacian or partial; for data there are ko.GridFunction(values, box) of an array,"
        " ko.ScatteredFunction(x, values) of values at points, and ko.Piecewise({region: value}) of a function that"
        " jumps"
    )
    return fail(OperatorError, name, "a function that JAX cannot differentiate", remedy)


def _at_points(name: str, function: Function, x: FloatArray) -> Any:
    """The function at points in NumPy, which refuses an index out of range; JAX would take the nearest."""
    try:
        with np.errstate(all="ignore"):  # values that are not finite are reported with their place
            return function(x)
    except IndexError:
        raise
    except Exception:  # code for JAX arrays alone, such as x.at[0].set(1.0)
        return called(name, function, jnp.asarray(x), remedy=_ONE)
