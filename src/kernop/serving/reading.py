"""Requests: bytes to a checked value. JSON, or safetensors with the JSON in its metadata and arrays beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as read_tensors

from kernop.basics.checks import check_array
from kernop.basics.errors import FloatArray, NumberArray
from kernop.basics.storage import JsonObject
from kernop.geometry.sequences import tensor_grid
from kernop.operators.operator import SolutionOperator
from kernop.serving.named import function_of
from kernop.serving.refusal import Limits, RefusalError, too_much, unprocessable

#: What a request may ask for.
WANTED = ("u", "gradient", "error")
JSON, BINARY = "application/json", "application/octet-stream"
#: Where a body holds arrays, and the JSON beside them.
METADATA, REQUEST = "__metadata__", "request"
Tensors = Mapping[str, NumberArray]
#: Data of one condition: a number, an array, or a function of x (n, d).
RequestValue = complex | NumberArray | Callable[[FloatArray], NumberArray]


@dataclass(kw_only=True, frozen=True, eq=False)
class Question:
    """What a request asks of an operator.

    Arguments:
        inputs: data by name: functions, numbers, or arrays; of B inputs with a last axis B.
        count: the number B of inputs; None for a single one.
        x: where u is evaluated, (M, d); None if only an error is asked for.
        shape: of the grid that x is; (M,) if it is none.
        want: what is asked for, of `WANTED`.
        outside: what to do with points outside: "raise", or "nan".
    """

    inputs: Mapping[str, RequestValue]
    count: int | None
    x: FloatArray | None
    shape: tuple[int, ...]
    want: frozenset[str]
    outside: str


def parsed(body: bytes, kind: str) -> tuple[JsonObject, Tensors]:
    """The JSON of a body, and the arrays that come with it."""
    if kind == BINARY:
        return _tensors(body)
    return _json(body), {}


def _json(body: bytes) -> JsonObject:
    def constant(text: str) -> NoReturn:
        raise unprocessable("body", text, "JSON has no such number: give finite ones")

    def members(pairs: list[tuple[str, object]]) -> JsonObject:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise RefusalError(400, "body", "an object with a key twice", "give each key once")
        return found

    try:
        found = json.loads(body, parse_constant=constant, object_pairs_hook=members)
    except (ValueError, RecursionError) as error:
        got = f"{type(error).__name__}: {error}"[:200]
        raise RefusalError(400, "body", f"bytes that are no JSON ({got})", "see /openapi.json") from error
    if not isinstance(found, dict):
        raise unprocessable("body", f"a JSON {type(found).__name__}", 'give an object with "inputs" and "at"')
    return found


def _tensors(body: bytes) -> tuple[JsonObject, Tensors]:
    remedy = 'send safetensors: arrays by name, and metadata {"request": JSON}'
    try:
        header = _json(body[8 : 8 + int.from_bytes(body[:8], "little")])
        arrays = read_tensors(body)
    except (SafetensorError, KeyError, ValueError, AttributeError, TypeError) as error:
        raise RefusalError(400, "body", f"bytes that are no safetensors ({error})"[:200], remedy) from error
    given = header.get(METADATA)
    if not isinstance(given, dict) or not isinstance(given.get(REQUEST), str):
        raise unprocessable("body", "safetensors without the request in their metadata", remedy)
    for name, array in arrays.items():
        if array.dtype.str[1:] not in ("f8", "f4"):
            raise unprocessable(name, f"an array of {array.dtype}", "send float64 or float32")
    return _json(given[REQUEST].encode()), arrays


def question(given: JsonObject, tensors: Tensors, operator: SolutionOperator, limits: Limits) -> Question:
    """A checked request to one operator."""
    unknown = set(given) - {"inputs", "at", "want", "outside"}
    if unknown:
        remedy = "give inputs, at, and perhaps want and outside"
        raise unprocessable("body", f"the key {min(unknown)!r}", remedy)
    want = given.get("want", ["u"])
    if not isinstance(want, list) or not want or not all(isinstance(w, str) and w in WANTED for w in want):
        raise unprocessable("want", repr(want)[:80], f"give a list of some of {', '.join(WANTED)}")
    outside = given.get("outside", "nan" if isinstance(given.get("at"), dict) and "grid" in given["at"] else "raise")
    if outside not in ("raise", "nan"):
        raise unprocessable("outside", repr(outside)[:60], "choose raise or nan")
    x, shape = _places(given.get("at"), tensors, operator, limits, needed=bool({"u", "gradient"} & set(want)))
    inputs, count = _inputs(given.get("inputs"), tensors, operator, limits)
    parts = operator.problem.unknowns.total * (1 + (operator.problem.dim if "gradient" in want else 0))
    values = (0 if x is None else len(x)) * (count or 1) * parts
    if values > limits.values:
        raise too_much("at", values, limits.values, "values in the answer (points × inputs × components)")
    return Question(inputs=inputs, count=count, x=x, shape=shape, want=frozenset(want), outside=outside)


def _places(
    at: Any, tensors: Tensors, operator: SolutionOperator, limits: Limits, *, needed: bool
) -> tuple[FloatArray | None, tuple[int, ...]]:
    dim = operator.problem.dim
    remedy = f'give {{"points": [[{dim} numbers], …]}} or {{"grid": {{"shape": [{dim} numbers]}}}}'
    if at is None and not needed:
        return None, ()
    if not isinstance(at, dict) or len(at) != 1 or next(iter(at)) not in ("points", "grid"):
        raise unprocessable("at", repr(at)[:80], remedy)
    if "grid" in at:
        return _grid(at["grid"], operator, limits)
    points = _array("at.points", at["points"], tensors, remedy)
    if points.ndim == 2 and len(points) > limits.points:
        raise too_much("at.points", len(points), limits.points, "points")
    x = points[:, None] if points.ndim == 1 and dim == 1 else points
    if x.ndim != 2 or x.shape[1] != dim or len(x) == 0:
        raise unprocessable("at.points", f"an array of shape {points.shape}", remedy)
    return x, (len(x),)


def _grid(given: object, operator: SolutionOperator, limits: Limits) -> tuple[FloatArray, tuple[int, ...]]:
    """The nodes of a grid, (n₁ ⋯ n_d, d), the last coordinate fastest; over the box around the domain by default."""
    dim = operator.problem.dim
    remedy = f'give {{"shape": [{dim} whole numbers from 1]}}, and perhaps "lower" and "upper", {dim} numbers each'
    if not isinstance(given, dict) or not {"shape"} <= set(given) <= {"shape", "lower", "upper"}:
        raise unprocessable("at.grid", repr(given)[:80], remedy)
    shape = given["shape"]
    whole = isinstance(shape, list) and len(shape) == dim and all(type(n) is int and n >= 1 for n in shape)
    if not whole:
        raise unprocessable("at.grid.shape", repr(shape)[:80], remedy)
    count = math.prod(shape)
    if count > limits.points:
        raise too_much("at.grid.shape", count, limits.points, "points")
    corners = zip(("lower", "upper"), operator.problem.bounds, strict=True)
    ends = [check_array(f"at.grid.{key}", given.get(key, corner), remedy=remedy) for key, corner in corners]
    if any(end.shape != (dim,) for end in ends):
        raise unprocessable("at.grid", "corners of another number of coordinates", remedy)
    axes = [np.linspace(a, b, n) if n > 1 else np.array([0.5 * (a + b)]) for a, b, n in zip(*ends, shape, strict=True)]
    return tensor_grid(axes), tuple(shape)


def _inputs(
    given: object, tensors: Tensors, operator: SolutionOperator, limits: Limits
) -> tuple[dict[str, RequestValue], int | None]:
    """Data by name, and the number of inputs: from one object, whose arrays may be a batch, or from a list of them."""
    names = operator.problem.inputs
    remedy = f"give an object with {', '.join(names)}, or a list of such objects"
    one = isinstance(given, dict)
    if not one and (not isinstance(given, list) or not given or not all(isinstance(own, dict) for own in given)):
        raise unprocessable("inputs", repr(given)[:80], remedy)
    listed: list[JsonObject] = [given] if one else given
    if len(listed) > limits.inputs:
        raise too_much("inputs", len(listed), limits.inputs, "inputs")
    for own in listed:
        wrong = sorted(set(own) ^ set(names))
        if wrong:
            got = f"the unknown input {wrong[0]!r}" if wrong[0] in own else f"no {wrong[0]!r}"
            raise unprocessable("inputs", got, remedy)
    read = [{name: _value(f"inputs.{name}", own[name], tensors, operator) for name in names} for own in listed]
    if not one:
        return {name: _stacked(name, [own[name] for own in read], operator) for name in names}, len(read)
    widths = [_width(name, value, operator) for name, value in read[0].items()]
    most = max((width for width in widths if width is not None), default=None)
    if most is not None and most > limits.inputs:
        raise too_much("inputs", most, limits.inputs, "inputs")
    return read[0], most


def _value(name: str, given: object, tensors: Tensors, operator: SolutionOperator) -> RequestValue:
    """A number, an array, or a function by its name; of a complex value {"real": …, "imag": …}."""
    if isinstance(given, dict) and set(given) == {"real", "imag"}:
        real, imag = (_value(f"{name}.{part}", given[part], tensors, operator) for part in ("real", "imag"))
        if callable(real) and callable(imag):
            return lambda x: np.asarray(real(x)) + 1j * np.asarray(imag(x))
        if callable(real) or callable(imag):
            raise unprocessable(name, "a function and numbers", "give both parts as functions, or both as numbers")
        return np.asarray(real) + 1j * np.asarray(imag)
    if isinstance(given, dict) and "kind" in given:
        return function_of(name, given, operator.problem.dim)
    kinds = 'give a number, a list of numbers, {"array": name}, or a function such as {"kind": "gaussian", …}'
    if type(given) in (int, float):
        return check_array(name, given, remedy=kinds).item()
    return _array(name, given, tensors, kinds)


def _array(name: str, given: object, tensors: Tensors, remedy: str) -> FloatArray:
    """Numbers in nested lists, or one of the arrays that came with the request."""
    if isinstance(given, dict) and set(given) == {"array"}:
        found = tensors.get(given["array"]) if isinstance(given["array"], str) else None
        if found is None:
            raise unprocessable(name, f"the array {given['array']!r}"[:80], f"send one of that name as {BINARY}")
        return check_array(name, found, remedy=remedy)
    if not isinstance(given, list):
        raise unprocessable(name, repr(given)[:80], remedy)
    return check_array(name, given, remedy=remedy)


def _width(name: str, value: RequestValue, operator: SolutionOperator) -> int | None:
    """The number of inputs in an array; None if it is one, or no array."""
    if callable(value):
        return None
    return np.shape(value)[-1] if np.ndim(value) > operator.named_layouts[name].ndim else None


def _stacked(name: str, values: list[RequestValue], operator: SolutionOperator) -> RequestValue:
    """B values of one condition as columns: a function if all are functions or numbers, else an array."""
    k = operator.named_layouts[name].components
    points = operator.points[name].x[:1] if operator.problem[name].integral else operator.points[name].x

    def columns(x: FloatArray) -> FloatArray:
        return np.stack([_spread(name, value, x, k) for value in values], axis=-1)

    if all(callable(value) or np.ndim(value) == 0 for value in values) and k is None:
        return columns if any(map(callable, values)) else columns(points)
    return columns(points)


def _spread(name: str, value: RequestValue, x: FloatArray, k: int | None) -> NumberArray:
    """One value at points x: (n,), or (n, k) of vectors."""
    if callable(value):
        value = value(x)
    wanted = (len(x),) if k is None else (len(x), k)
    if np.ndim(value) and np.shape(value) not in (wanted, wanted[1:]):
        remedy = f"in a list of inputs each is of shape {wanted}, or a number"
        raise unprocessable(f"inputs.{name}", f"an array of shape {np.shape(value)}", remedy)
    return np.broadcast_to(value, wanted)
