"""Stored values to JSON and arrays, and back; what comes back is checked, and the part that is wrong is named.

    {"class": "ball", "center": [0.0, 0.0], "radius": 1.0}     an object: the name of its class, and its arguments
    {"array at": "points/f/x"}                                 an array, which is kept beside the JSON, each once
    {"lower at": …}, {"upper at": …}                           a triangle, of which nothing else is kept
    {"complex at": …}                                          an array of complex numbers: pairs of numbers
    {"number": "inf"}, {"complex number": [0.0, 1.0]}          numbers that JSON does not have
    3, "word", true, null, […], {…}                            numbers, words, flags, None, tuples, mappings

An array by columns (Fortran's order) is kept transposed under a name that ends in ``.T``, so that BLAS and LAPACK later
see what they saw before, and round in the same way. No code is stored, and nothing that is stored is run.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

from kernop.basics.checks import check_memory, finite_squares
from kernop.basics.errors import ArgumentTypeError, FileError, FloatArray, KernopError, NonFiniteError, describe, fail
from kernop.basics.linalg import packed, unpack
from kernop.basics.storage import Array, JsonObject
from kernop.basics.stored import EXTENDED, KINDS, LOWER, NUMBERS, UPPER, arguments, build, name_of, stored_arguments

#: The keys of objects and arrays: no condition has such a name, because a blank or a keyword of Python is none.
CLASS, ARRAY, COMPLEX, COMPLEX_NUMBER = "class", "array at", "complex at", "complex number"
#: Objects within objects; kernels that are sums of sums go deepest.
DEEPEST = 100
#: The characters of a text, and the size of a whole number, that nobody exceeds.
LONGEST, LARGEST = 1000, 10**40
#: What constructors raise when their arguments are wrong or do not fit each other.
MISFITS = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, np.linalg.LinAlgError)
#: What simple values are called.
WORDS = {float: "number", int: "whole number", bool: "truth value", str: "text"}


class Encoder:
    """Collects the arrays of the values that it encodes."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._known: dict[tuple[int, str], tuple[Array, str]] = {}

    def encode(self, value: object, place: str = "", hint: object = Any) -> Any:
        """A value as JSON; arrays get names that begin with their place."""
        if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
            value = value.item()
        if isinstance(value, float):
            return value if math.isfinite(value) else {"number": str(value)}
        if isinstance(value, complex):
            return {COMPLEX_NUMBER: [value.real, value.imag]}
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, np.ndarray):
            if _form(hint) is NUMBERS:
                return self.encode(value.tolist(), place)
            form = _form(hint) or (COMPLEX if value.dtype.kind == "c" else ARRAY)
            return {form: self._array(value, place, form)}
        if isinstance(value, tuple | list):
            return [self.encode(part, _below(place, k)) for k, part in enumerate(value)]
        if isinstance(value, Mapping):
            return {name: self.encode(part, _below(place, name)) for name, part in value.items()}
        return self._object(value, place, hint)

    def _object(self, value: object, place: str, hint: object) -> JsonObject:
        kind = name_of(value)
        if kind is None:
            what = place.rpartition("/")[2] if hint is Any or not isinstance(hint, type) else hint.__name__.lower()
            got = f"{describe(value)}, which cannot be stored: a file holds numbers and words, and no code"
            raise fail(ArgumentTypeError, what, got, "use one of kernop's own")
        if value is KINDS[kind]:
            return {CLASS: kind}
        parts, hints = stored_arguments(value), arguments(type(value))
        return {CLASS: kind} | {key: self.encode(part, _below(place, key), hints[key]) for key, part in parts.items()}

    def _array(self, value: Array, place: str, form: str) -> str:
        key = id(value), form
        if key in self._known:
            return self._known[key][1]
        whole = form in (ARRAY, COMPLEX)
        by_columns = value.ndim > 1 and value.flags.f_contiguous and not (value.flags.c_contiguous and whole)
        plain, name = value.T if by_columns else value, place + (".T" if by_columns else "")
        if form == COMPLEX:
            plain = np.stack([np.real(plain), np.imag(plain)], axis=-1)
        elif form != ARRAY:
            plain = packed(value if by_columns else value.T, lower=(form == LOWER) == by_columns)
        if not finite_squares(plain):
            got = f"an operator whose {place} has numbers that are not finite, or whose squares are not"
            raise fail(NonFiniteError, "T", got, "choose units in which coordinates, coefficients and data are near 1")
        self.arrays[name] = plain
        self._known[key] = value, name  # the array too: while it lives, nothing else has its id
        return name


class Decoder:
    """Values from JSON and arrays.

    Arguments:
        arrays: by name.
        refuse: makes the error for what is found wrong.
        defaults: may arguments be missing that have defaults? In older files they may.
    """

    def __init__(
        self, arrays: Mapping[str, Array], refuse: Callable[[str], KernopError], *, defaults: bool = False
    ) -> None:
        self._arrays, self._refuse, self._defaults = arrays, refuse, defaults
        self._found: dict[tuple[str, str], Array] = {}

    def decode(self, hint: Any, value: object, place: str = "") -> Any:
        """The value that JSON stands for, if it is what an annotation asks for."""
        found = self._value(value, place)
        if not fits(hint, found):
            word = f" and no {WORDS[hint]}" if hint in WORDS else ", which it cannot be"
            shown = f"{describe(found)} of {found.dtype}" if isinstance(found, np.ndarray) else describe(found)
            raise self._wrong(place, "missing" if found is None else f"{shown}{word}")
        return float(found) if hint is float else found

    def part(self, hint: object, whole: Mapping[str, object], name: str, place: str = "") -> Any:
        """The value of this name in an object; what may be None must still be there."""
        if name not in whole:
            raise self._wrong(_below(place, name), "missing")
        return self.decode(hint, whole[name], _below(place, name))

    def finish(self) -> None:
        """Refuse arrays that nobody asked for: something else is missing."""
        left = self._arrays.keys() - {name for name, _ in self._found}
        if left:
            raise self._refuse(f"which has an array {describe(min(left))} that does not belong to it")

    def _wrong(self, place: str, found: str) -> KernopError:
        return self._refuse(f"whose {place} is {found}")

    def _value(self, value: object, place: str) -> Any:
        if place.count("/") > DEEPEST:
            raise self._wrong(place[:LONGEST], "nested too deeply")
        if isinstance(value, list):
            return tuple(self._value(part, _below(place, k)) for k, part in enumerate(value))
        if isinstance(value, dict) and CLASS in value:
            return self._object(value, place)
        if isinstance(value, dict) and len(value) == 1:
            ((form, name),) = value.items()
            if form in (ARRAY, COMPLEX, LOWER, UPPER):
                return self._array(name, form, place)
            if form == "number" and name in ("inf", "-inf", "nan"):
                return float(name)
            if form == COMPLEX_NUMBER:
                return complex(*self.decode(tuple[float, float], name, place))
        if isinstance(value, dict):
            return {name: self._value(part, _below(place, name)) for name, part in value.items()}
        if isinstance(value, str) and (len(value) > LONGEST or not value.isprintable()):
            raise self._wrong(place, "no text")
        if isinstance(value, int | float) and not abs(value) <= (LARGEST if isinstance(value, int) else math.inf):
            raise self._wrong(place, f"{describe(value)} and no number")
        return value

    def _object(self, parts: JsonObject, place: str) -> object:
        name = parts[CLASS]
        kind = KINDS.get(name) if isinstance(name, str) else None
        if kind is None:
            raise self._wrong(_below(place, CLASS), f"{describe(name)}, which this kernop does not know")
        if not isinstance(kind, type):
            return kind
        wanted = {key: hint for key, hint in arguments(kind).items() if key in parts or not self._defaults}
        found = {key: self.part(hint, parts, key, place) for key, hint in wanted.items()}
        try:
            made = build(kind, found)
            if hasattr(made, "check"):  # what its class leaves to those who read files
                made.check()
        except MISFITS as error:
            if isinstance(error, FileError):
                raise
            why = str(error).partition("\n")[0].rstrip(".")
            what = f"whose {place} has parts that" if place else "whose parts"
            raise self._refuse(f"{what} do not fit each other ({why})") from error
        return made

    def _array(self, name: object, form: str, place: str) -> Array:
        if not isinstance(name, str) or name not in self._arrays:
            raise self._wrong(place, "missing")
        if (name, form) not in self._found:
            by_columns = name.endswith(".T")
            array: Array = self._arrays[name]
            if form == COMPLEX:
                if array.dtype != np.float64 or array.ndim < 2 or array.shape[-1] != 2:
                    raise self._wrong(place, "no array of complex numbers")
                array = array.view(np.complex128)[..., 0]
            if not finite_squares(array):
                finite = bool(np.all(np.isfinite(array)))
                raise self._wrong(place, f"an array with {'squares' if finite else 'numbers'} that are not finite")
            if form in (ARRAY, COMPLEX):
                self._found[name, form] = array.T if by_columns else array
            else:
                self._found[name, form] = self._triangle(array, by_columns, place, lower=form == LOWER)
        return self._found[name, form]

    def _triangle(self, values: FloatArray, by_columns: bool, place: str, *, lower: bool) -> FloatArray:
        """A triangle (n, n), with zeros on the other side of its diagonal."""
        n = (math.isqrt(8 * values.size + 1) - 1) // 2
        if values.ndim != 1 or n == 0 or n * (n + 1) // 2 != values.size:
            raise self._wrong(place, "no triangle")
        check_memory("path", n * n, f"a matrix of {n} × {n}", "use a machine with more memory")
        matrix = np.zeros((n, n), order="F")
        unpack(values, matrix, lower=lower == by_columns)
        if not np.all(np.diagonal(matrix)):
            raise self._wrong(place, "a triangle with a zero on its diagonal")
        return matrix if by_columns else matrix.T


def fits(hint: Any, value: Any) -> bool:
    """Is a value of the type that an annotation asks for? Numbers are finite, where nothing else is said."""
    origin, parts, form = _taken_apart(hint)
    if hint is Any or hint is None:
        return hint is Any or value is None
    if origin in (Union, UnionType):
        return any(fits(part, value) for part in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if form in (LOWER, UPPER):
        return fits(FloatArray, value) and value.ndim == 2 and bool(np.all(np.diagonal(value)))
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == get_args(parts[1])[0]
    if form is NUMBERS:
        return all(fits(hint, part) for part in value) if isinstance(value, tuple) else _number(value)
    if hint in (float, int) or form is not None:
        number = isinstance(value, int if hint is int else int | float) and not isinstance(value, bool)
        return number and (form == EXTENDED or hint is int or math.isfinite(value))
    if origin is tuple:
        each = parts[:1] * len(value) if parts[-1] is Ellipsis and isinstance(value, tuple) else parts
        return isinstance(value, tuple) and len(value) == len(each) and all(map(fits, each, value))
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(fits(parts[1], part) for part in value.values())
    return callable(value) if origin is not None else isinstance(value, hint)


def _number(value: object) -> bool:
    """Is it a finite number, real or complex?"""
    return (isinstance(value, complex) and cmath.isfinite(value)) or fits(float, value)


@cache
def _taken_apart(hint: object) -> tuple[Any, tuple[Any, ...], str | None]:
    """The origin and the arguments of an annotation, and how its values are written."""
    return get_origin(hint), get_args(hint), _form(hint)


def _form(hint: Any) -> str | None:
    """How a value of this annotation is written, if that is said."""
    return hint.__metadata__[0] if get_origin(hint) is Annotated else None


def _below(place: str, name: object) -> str:
    return f"{place}/{name}" if place else str(name)
