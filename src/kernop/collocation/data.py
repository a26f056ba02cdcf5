"""What a user gives to an operator or a solution: inputs by name, their values at points, places to evaluate at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from kernop.basics.errors import (
    ArgumentTypeError,
    FloatArray,
    InputNameError,
    OutsideDomainError,
    ShapeError,
    check_array,
    check_choice,
    check_coordinates,
    check_squares,
    describe,
    fail,
    no_complex,
)
from kernop.basics.precision import float64
from kernop.geometry import Points
from kernop.language.functions import evaluate_at
from kernop.language.problem import Condition, Problem


def named_inputs(problem: Problem, values: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a call T(…) by name: all of them, each once."""
    names = problem.inputs
    wanted = f"this operator takes ({', '.join(names)})"
    if len(values) > len(names):
        raise fail(InputNameError, "T", f"{len(values)} inputs", wanted)
    given = dict(zip(names, values, strict=False))
    for name, value in named.items():
        if name in given:
            raise fail(InputNameError, "T", f"{name!r} twice", wanted)
        if name not in names:
            fixed = " (its data is fixed in the problem)" if name in problem.names else ""
            raise fail(InputNameError, "T", f"the unknown input {name!r}{fixed}", wanted)
        given[name] = value
    missing = [name for name in names if name not in given]
    if missing:
        raise fail(InputNameError, "T", "no " + " and no ".join(map(repr, missing)), wanted)
    return given


def all_values(problem: Problem, given: Mapping[str, Any], points: Mapping[str, Points]) -> Any:
    """All data in one column (N,), or (N, B); a JAX array if any input is one."""
    columns = {
        condition.name: values_at(condition, given.get(condition.name, condition.data), points[condition.name])
        for condition in problem.conditions
    }
    batches = {name: column.shape[1] for name, column in columns.items() if column.ndim == 2}
    if len(set(batches.values())) > 1:
        got = ", ".join(f"{name!r} with {b}" for name, b in batches.items())
        raise fail(ShapeError, "T", f"batches that disagree ({got})", "give the same number of columns to each input")
    if not any(isinstance(column, jax.Array) for column in columns.values()):
        return _stacked(columns, np)
    with float64():
        return _stacked(columns, jnp)


def values_at(condition: Condition, value: Any, points: Points) -> Any:
    """Data of one condition at its points, (N_k,) or (N_k, B)."""
    name, n = condition.name, len(points)
    remedy = f"give a function of x, a number, or values at T.points[{name!r}].x of shape ({n},) or ({n}, B)"
    if isinstance(value, str | bytes) or value is None:
        raise fail(ArgumentTypeError, name, describe(value), remedy)
    if callable(value):
        value = evaluate_at(name, value, points.x)
    if isinstance(value, Tracer):
        if jnp.iscomplexobj(value):  # the conversion would drop the imaginary part
            raise fail(ArgumentTypeError, name, f"values of dtype {value.dtype} that JAX traces", no_complex("data"))
        with float64():
            column = jnp.asarray(value, dtype=np.float64)
            column = jnp.broadcast_to(column, (n,)) if column.ndim == 0 else column
    else:
        column = check_array(name, value, remedy=remedy, copy=False, what="data")
        column = check_squares(name, column, "choose units in which data is near 1")
        column = np.full(n, column) if column.ndim == 0 else column
        if isinstance(value, jax.Array):
            with float64():
                column = jnp.asarray(column)
    if column.ndim > 2 or column.shape[0] != n or column.size == 0:
        raise fail(ShapeError, name, f"an array of shape {column.shape}", remedy)
    return column


def concrete(name: str, values: Any, remedy: str = "call it outside jit, grad and vmap") -> FloatArray:
    """Data as numbers; values that JAX traces are refused."""
    if isinstance(values, Tracer):
        raise fail(ArgumentTypeError, name, "traced JAX values, as data inside jit, grad or vmap", remedy)
    return np.asarray(values)


def _stacked(columns: Mapping[str, Any], library: Any) -> Any:
    """One column below the other; those of one input are repeated if others are of several."""
    width = max((column.shape[1] for column in columns.values() if column.ndim == 2), default=0)
    return library.concatenate(
        [
            library.broadcast_to(column[:, None], (len(column), width)) if width and column.ndim == 1 else column
            for column in columns.values()
        ]
    )


def check_untraced(name: str, x: Any) -> None:
    """Raise if JAX traces the places at which u is asked for: u is computed in NumPy."""
    if isinstance(x, Tracer):
        remedy = (
            "for derivatives by x use u.grad(x) or u.apply(op, x), outside of them; for derivatives by the data use"
            " S = T.on(x) with fixed x, then S(f, g)"
        )
        raise fail(ArgumentTypeError, name, "coordinates that JAX traces, as inside jit, grad or vmap", remedy)


def places(problem: Problem, x: Any, outside: str | None, name: str = "x") -> Points:
    """Evaluation points, checked: shape, finite, and inside the domain unless told otherwise (None: no choice)."""
    if outside is not None:
        check_choice("outside", outside, ("raise", "nan", "extrapolate"))
    check_untraced(name, x)
    points = x if isinstance(x, Points) else Points(check_coordinates(name, x, problem.dim))
    if points.dim != problem.dim:
        raise fail(ShapeError, name, f"points in {points.dim} dimensions", f"the problem has {problem.dim}")
    points = points.placed(problem.timed)
    if outside in ("raise", None):
        beyond = ~problem.contains(points.x)
        if np.any(beyond):
            first = points.x[np.argmax(beyond)]
            got = f"{int(beyond.sum())} of {len(points)} points outside the domain, the first at {first}"
            remedy = "give points inside"
            if outside is not None:
                remedy += ", or outside='nan' to blank them, or outside='extrapolate'"
            if not all(condition.on.known for condition in problem.conditions):
                remedy += "; the file of the operator does not hold the predicate of where(…): load(path, problem=…)"
            raise fail(OutsideDomainError, name, got, remedy)
    return points
