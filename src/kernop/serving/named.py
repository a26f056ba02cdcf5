"""Functions of x that a request may name: numbers and words in, a function out; no code comes from outside."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernop.basics.checks import check_array, check_number
from kernop.basics.errors import FloatArray
from kernop.basics.storage import JsonObject
from kernop.serving.refusal import unprocessable

#: A function of x (n, d) with values (n,).
ScalarFunction = Callable[[FloatArray], FloatArray]
#: The most functions in a sum, and the highest power in a polynomial.
MOST_TERMS, HIGHEST = 64, 12


def function_of(name: str, given: JsonObject, dim: int) -> ScalarFunction:
    """The function that an object such as {"kind": "gaussian", "center": [0.5, 0.5], "width": 0.1} names."""
    kind = given.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise unprocessable(name, f"the kind {kind!r}", f"choose one of {', '.join(KINDS)}")
    build, wanted, optional = KINDS[kind]
    keys = set(given) - {"kind"}
    if not (wanted <= keys <= wanted | optional):
        more = f" and perhaps {', '.join(sorted(optional))}" if optional else ""
        remedy = f"a {kind} takes {', '.join(sorted(wanted))}{more}"
        raise unprocessable(name, f"a {kind} with {', '.join(map(repr, sorted(keys))) or 'nothing'}", remedy)
    return build(name, given, dim)


def _numbers(name: str, given: JsonObject, key: str, dim: int) -> FloatArray:
    """As many numbers as there are coordinates; fewer are those of the first coordinates."""
    remedy = f"give a list of 1 to {dim} numbers, one for each coordinate"
    value = given[key]
    if not isinstance(value, list) or not 1 <= len(value) <= dim:
        raise unprocessable(f"{name}.{key}", repr(value)[:60], remedy)
    return check_array(f"{name}.{key}", value, remedy=remedy)


def _number(name: str, given: JsonObject, key: str, default: float | None = None, above: float = -np.inf) -> float:
    return check_number(f"{name}.{key}", given.get(key, default), above=above)


def _constant(name: str, given: JsonObject, dim: int) -> ScalarFunction:
    value = _number(name, given, "value")
    return lambda x: np.full(len(x), value)


def _gaussian(name: str, given: JsonObject, dim: int) -> ScalarFunction:
    centre, width = _numbers(name, given, "center", dim), _number(name, given, "width", above=0.0)
    strength = _number(name, given, "strength", 1.0)

    def values(x: FloatArray) -> FloatArray:
        away = (np.asarray(x)[..., : len(centre)] - centre) / width
        return strength * np.exp(-0.5 * np.sum(np.minimum(np.abs(away), 1e3) ** 2, axis=-1))

    return values


def _plane(name: str, given: JsonObject, dim: int) -> ScalarFunction:
    slope, constant = _numbers(name, given, "slope", dim), _number(name, given, "constant", 0.0)
    return lambda x: constant + np.asarray(x)[..., : len(slope)] @ slope


def _sine(name: str, given: JsonObject, dim: int) -> ScalarFunction:
    frequency, phase = _numbers(name, given, "frequency", dim), _number(name, given, "phase", 0.0)
    strength = _number(name, given, "strength", 1.0)
    return lambda x: strength * np.sin(np.asarray(x)[..., : len(frequency)] @ frequency + phase)


def _polynomial(name: str, given: JsonObject, dim: int) -> ScalarFunction:
    terms = given["terms"]
    if not isinstance(terms, list) or not 1 <= len(terms) <= MOST_TERMS:
        raise unprocessable(f"{name}.terms", f"{type(terms).__name__}", f"give a list of 1 to {MOST_TERMS} terms")
    read: list[tuple[float, FloatArray]] = []
    for k, term in enumerate(terms):
        own = f"{name}.terms[{k}]"
        if not isinstance(term, dict) or set(term) != {"coefficient", "powers"}:
            raise unprocessable(own, repr(term)[:60], 'give {"coefficient": number, "powers": [whole numbers]}')
        powers = _numbers(own, term, "powers", dim)
        if np.any(powers % 1.0 != 0.0) or np.any(powers < 0.0) or np.any(powers > HIGHEST):
            raise unprocessable(f"{own}.powers", repr(term["powers"])[:60], f"give whole numbers from 0 to {HIGHEST}")
        read.append((_number(own, term, "coefficient"), powers))

    def values(x: FloatArray) -> FloatArray:
        return np.sum([c * np.prod(np.asarray(x)[..., : len(p)] ** p, axis=-1) for c, p in read], axis=0)

    return values


def _sum(name: str, given: JsonObject, dim: int) -> ScalarFunction:
    parts = given["of"]
    if not isinstance(parts, list) or not 1 <= len(parts) <= MOST_TERMS:
        raise unprocessable(f"{name}.of", f"{type(parts).__name__}", f"give a list of 1 to {MOST_TERMS} functions")
    for k, part in enumerate(parts):
        if not isinstance(part, dict) or part.get("kind") == "sum":
            raise unprocessable(f"{name}.of[{k}]", repr(part)[:60], "give a function that is not a sum itself")
    functions = [function_of(f"{name}.of[{k}]", part, dim) for k, part in enumerate(parts)]
    return lambda x: np.sum([function(x) for function in functions], axis=0)


#: How each kind is read, what it needs, and what it may have.
KINDS: dict[str, tuple[Callable[[str, JsonObject, int], ScalarFunction], set[str], set[str]]] = {
    "constant": (_constant, {"value"}, set()),
    "gaussian": (_gaussian, {"center", "width"}, {"strength"}),
    "plane": (_plane, {"slope"}, {"constant"}),
    "sine": (_sine, {"frequency"}, {"phase", "strength"}),
    "polynomial": (_polynomial, {"terms"}, set()),
    "sum": (_sum, {"of"}, set()),
}
