"""What a user gives to an operator or a solution: inputs by name, their values at points, places to evaluate at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from numpy.typing import ArrayLike

from kernop.basics.checks import as_array, check_array, check_choice, check_coordinates, check_scalar
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FloatArray,
    InputNameError,
    NumberArray,
    OutsideDomainError,
    ShapeError,
    describe,
    fail,
)
from kernop.basics.precision import float64
from kernop.collocation.functionals import Layout
from kernop.geometry import Points
from kernop.geometry.points import points_at
from kernop.language.conditions import Condition
from kernop.language.functions import Function, evaluate_at
from kernop.language.problem import Problem

#: What a user gives as the data of one condition, and one input: data by the names of conditions.
InputValue = Function | ArrayLike
Input = Mapping[str, InputValue]


def named_inputs(problem: Problem, values: Sequence[Any], named: Input, argument: str = "T") -> dict[str, InputValue]:
    """The inputs of a call T(…) by name: all of them, each once, in the order of the problem."""
    names = problem.inputs
    wanted = f"give ({', '.join(names)})"
    if len(values) > len(names):
        raise fail(InputNameError, argument, f"{len(values)} inputs", wanted)
    given = dict(zip(names, values, strict=False))
    for name, value in named.items():
        if name in given:
            raise fail(InputNameError, argument, f"{name!r} twice", wanted)
        if name not in names:
            fixed = " (its data is fixed in the problem)" if name in problem.names else ""
            raise fail(InputNameError, argument, f"the unknown input {name!r}{fixed}", wanted)
        given[name] = value
    missing = [name for name in names if name not in given]
    if missing:
        raise fail(InputNameError, argument, "no " + " and no ".join(map(repr, missing)), wanted)
    return {name: given[name] for name in names}


def listed_inputs(problem: Problem, inputs: object, argument: str = "inputs") -> list[dict[str, InputValue]]:
    """A list of inputs, each a tuple in the order of T or a dictionary, as dictionaries by name."""
    remedy = f"give a list of inputs, each a tuple ({', '.join(problem.inputs)}) or a dictionary"
    if isinstance(inputs, str) or not isinstance(inputs, Sequence):
        raise fail(ArgumentTypeError, "inputs", describe(inputs), remedy)
    if len(inputs) == 0:
        raise fail(ArgumentError, "inputs", "none", remedy)
    found: list[dict[str, InputValue]] = []
    for own in inputs:  # one after the other: a range is a short value and a long list, and its first number is refused
        values = own if isinstance(own, tuple | list) else (own,)
        found.append(named_inputs(problem, *(((), own) if isinstance(own, Mapping) else (values, {})), argument))
    return found


def inputs_in_advance(problem: Problem, inputs: object) -> list[dict[str, InputValue]]:
    """Inputs that are given to `learn`: functions and numbers, which are known wherever there are points."""
    found = listed_inputs(problem, inputs)
    remedy = "give a function or a number, which is known at all points"
    for name, part in (item for given in found for item in given.items()):
        if np.iterable(part) and not isinstance(part, str):
            raise fail(ArgumentError, f"inputs[{name!r}]", describe(part), remedy)
        if not callable(part):
            check_scalar(f"inputs[{name!r}]", part, remedy)
    return found


def all_values(problem: Problem, given: Input, points: Mapping[str, Points], layouts: Sequence[Layout]) -> Any:
    """Data of all conditions that have points as one column of rows (N,), or (N, B); a JAX array if any input is one.

    ``layouts`` are those of the conditions. Complex data of a real operator stay complex numbers.
    """
    pairs = [(c, own) for c, own in zip(problem.conditions, layouts, strict=True) if c.name in points]
    values = {c.name: values_at(c, given.get(c.name, c.data), points[c.name], own) for c, own in pairs}
    traced = any(isinstance(own, jax.Array) for own in values.values())
    with float64() if traced else nullcontext():
        library = jnp if traced else np
        columns = [layout.rows(values[c.name], library) for c, layout in pairs]
        widths = {name: column.shape[1] for name, column in zip(values, columns, strict=True) if column.ndim == 2}
        if len(set(widths.values())) > 1:
            got = ", ".join(f"{name!r} with {b}" for name, b in widths.items())
            remedy = "give the same number of columns to each input"
            raise fail(ShapeError, "T", f"batches that disagree ({got})", remedy)
        width = max(widths.values(), default=0)
        spread = [
            library.broadcast_to(column[:, None], (len(column), width)) if width and column.ndim == 1 else column
            for column in columns
        ]
        return library.concatenate(spread)


def number_of_values(condition: Condition, points: Points) -> int:
    """How many values the data of a condition has at points: one for each, or one for an integral."""
    return 1 if condition.integral else len(points)


def values_at(condition: Condition, value: object, points: Points, layout: Layout) -> Any:
    """Data of one condition at its points: (n,), or (n, k) of vectors, and (…, B) for B inputs at once."""
    if callable(value) and not condition.integral:
        value = evaluate_at(condition.name, value, points.x)
    return checked_values(condition, value, number_of_values(condition, points), layout)


def checked_values(condition: Condition, value: object, n: int | None, layout: Layout) -> Any:
    """Data of one condition, of which there are n values; none fit if their number is not known."""
    name, k = condition.name, layout.components
    remedy = _wanted(condition, n, k)
    if isinstance(value, str | bytes) or value is None:
        raise fail(ArgumentTypeError, name, describe(value), remedy)
    if callable(value):
        raise fail(ArgumentTypeError, name, "a function for an integral, which is one value", remedy)
    if isinstance(value, Tracer):
        with float64():
            column = jnp.asarray(value, dtype=np.complex128 if jnp.iscomplexobj(value) else np.float64)
            column = _spread(column, n, k, jnp)
    else:
        units = "choose units in which data is near 1"
        column = check_array(name, value, remedy=remedy, copy=False, complex_too=True, units=units)
        column = _spread(column, n, k, np)
        if isinstance(value, jax.Array):
            with float64():
                column = jnp.asarray(column)
    wanted = (n,) if k is None else (n, k)
    if column.shape[: len(wanted)] != wanted or column.ndim > len(wanted) + 1 or column.size == 0:
        raise fail(ShapeError, name, f"an array of shape {column.shape}", remedy)
    return column


def known_everywhere(condition: Condition, value: Any, layout: Layout) -> bool:
    """Is data known at all points: a function, a number, numbers for a vector, or the value of an integral?"""
    if callable(value) or condition.integral:
        return True
    numbers = () if layout.components is None else (layout.components,)
    remedy = "give a function of x, numbers, or values at the points"
    shaped = value if hasattr(value, "shape") else as_array(condition.name, value, remedy)
    return np.shape(shaped) in ((), numbers)


def _wanted(condition: Condition, n: int | None, k: int | None) -> str:
    """The remedy for data of a wrong shape or kind."""
    if condition.integral:
        return "give a number, or an array (1, B)" if k is None else f"give {k} numbers, or an array (1, {k}, B)"
    where = f"T.points[{condition.name!r}].x"
    if k is None:
        return f"give a function of x, a number, or values at {where} of shape ({n},) or ({n}, B)"
    shapes = f"({n}, {k}) or ({n}, {k}, B)"
    return f"give a function of x with values (n, {k}), {k} numbers, or values at {where} of shape {shapes}"


def _spread(column: Any, n: int | None, k: int | None, library: Any) -> Any:
    """A number, or the k numbers of a vector, at all points; anything else as it is."""
    if column.ndim == 0 or (k is not None and column.shape == (k,)):
        return library.broadcast_to(column, (n,) if k is None else (n, k))
    return column


def concrete(name: str, values: object, remedy: str = "call it outside jit, grad and vmap") -> NumberArray:
    """Data as numbers; values that JAX traces are refused."""
    if isinstance(values, Tracer):
        raise fail(ArgumentTypeError, name, "traced JAX values, as data inside jit, grad or vmap", remedy)
    return np.asarray(values)


def split_pairs(rows: NumberArray) -> FloatArray:
    """Complex data (N, B) of a real operator as real data (N, 2 B): real parts, then imaginary parts."""
    return np.hstack([np.real(rows), np.imag(rows)])


def real_columns(rows: NumberArray) -> FloatArray:
    """Data (N,) or (N, B), perhaps complex, as real columns."""
    columns = rows.reshape(len(rows), -1)
    return split_pairs(columns) if np.iscomplexobj(columns) else columns


def check_untraced(name: str, x: object) -> None:
    """Raise if JAX traces the places at which u is asked for: u is computed in NumPy."""
    if isinstance(x, Tracer):
        remedy = (
            "for derivatives by x use u.grad(x) or u.apply(op, x), outside of them; for derivatives by the data use"
            " S = T.on(x) with fixed x, then S(f, g)"
        )
        raise fail(ArgumentTypeError, name, "coordinates that JAX traces, as inside jit, grad or vmap", remedy)


def flattened(name: str, x: object, dim: int) -> tuple[Any, tuple[int, ...]]:
    """Points of shape (…, d) in a row, (n, d), and the shape (…) of what belongs to them.

    One point is (d,). On a line also a number, or (n,). What does not fit is left to those who check it.
    """
    if isinstance(x, Points):
        return x, (len(x),)
    check_untraced(name, x)
    array = as_array(name, x, f"give points as an array of shape (…, {dim})")
    if dim == 1 and array.ndim < 2:
        return array.reshape(-1, 1), array.shape
    if array.ndim in (0, 2) or array.shape[-1] != dim:
        return array, array.shape[:1]
    return array.reshape(-1, dim), array.shape[:-1]


def reshaped(values: Any, shape: tuple[int, ...]) -> Any:
    """Values (n, …) at points that had another shape: (*shape, …); of a named tuple, of every entry."""
    if len(shape) == 1:
        return values
    if isinstance(values, tuple):
        return type(values)(*(reshaped(part, shape) for part in values))
    return values.reshape((*shape, *values.shape[1:]))[()]


def some_places(problem: Problem, x: object, outside: str | None, name: str = "x") -> Points:
    """Points of the space of a problem, checked: shape, finite; inside the domain or not."""
    if outside is not None:
        check_choice("outside", outside, ("raise", "nan", "extrapolate"))
    check_untraced(name, x)
    if not isinstance(x, Points):
        return points_at(check_coordinates(name, x, problem.dim), problem.timed)
    if x.dim != problem.dim:
        raise fail(ShapeError, name, f"points in {x.dim} dimensions", f"the problem has {problem.dim}")
    return x.placed(problem.timed)


def places(problem: Problem, x: object, outside: str | None, name: str = "x") -> Points:
    """Evaluation points, checked: as `some_places`, and inside the domain unless told otherwise (None: no choice)."""
    points = some_places(problem, x, outside, name)
    if outside in ("raise", None):
        beyond = ~problem.inside(points.x)
        if np.any(beyond):
            first = points.x[np.argmax(beyond)]
            got = f"{int(beyond.sum())} of {len(points)} points outside the domain, the first at {first}"
            remedy = "give points inside"
            if outside is not None:
                remedy += ", or outside='nan' to blank them, or outside='extrapolate'"
            if not all(condition.on.known for condition in problem.conditions):
                remedy += (
                    "; the file of the operator does not hold the function that tells where: load(path, problem=…)"
                )
            raise fail(OutsideDomainError, name, got, remedy)
    return points
