"""Stored values to JSON and arrays, and back; what comes back is checked, and the part that is wrong is named.

    {"kind": "ball", "center": [0.0, 0.0], "radius": 1.0}      an object: the name of its class, and its arguments
    {"array at": "points/f/x"}                                 an array, which is kept beside the JSON, each once
    3, "word", true, null, […], {…}                            numbers, words, flags, None, tuples, mappings
    "inf", "-inf", "nan"                                       numbers that JSON does not have, where they are allowed

An array by columns (Fortran's order) is kept transposed under a name that ends in ``.T``, so that BLAS and LAPACK later
see what they saw before, and round in the same way. No code is stored, and nothing that is stored is run.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import numpy as np

from kernop.basics.errors import (
    ArgumentTypeError,
    FileError,
    FloatArray,
    KernopError,
    NonFiniteError,
    check_memory,
    describe,
    fail,
)
from kernop.basics.linalg import packed, unpack
from kernop.basics.storage import Array
from kernop.basics.stored import (
    EXTENDED,
    KINDS,
    LOWER,
    NUMBERS,
    UPPER,
    Form,
    arguments,
    build,
    name_of,
    stored_arguments,
)

#: The key of a reference to an array; no condition has a name with a blank.
AT = "array at"
#: Objects within objects; kernels that are sums of sums go deepest.
DEEPEST = 100
#: The characters of a text, and the digits of a whole number, that nobody exceeds.
LONGEST, LARGEST = 1000, 10**40
#: What constructors raise when their arguments are wrong or do not fit each other.
MISFITS = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, np.linalg.LinAlgError)


class Encoder:
    """Collects the arrays of the values that it encodes."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._known: dict[tuple[int, Form | None], tuple[Array, str]] = {}

    def encode(self, value: Any, place: str = "", hint: Any = Any) -> Any:
        """A value as JSON; arrays get names that begin with their place."""
        form = _form(hint)
        if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
            value = value.item()
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, np.ndarray):
            return value.tolist() if form is NUMBERS else {AT: self._array(value, place, form)}
        if isinstance(value, tuple | list):
            return [self.encode(part, _below(place, k)) for k, part in enumerate(value)]
        if isinstance(value, Mapping):
            return {name: self.encode(part, _below(place, name)) for name, part in value.items()}
        return self._object(value, place, hint)

    def _object(self, value: Any, place: str, hint: Any) -> dict[str, Any]:
        kind = name_of(value)
        if kind is None:
            what = hint.__name__.lower() if isinstance(hint, type) and hint is not Any else place.rpartition("/")[2]
            got = f"{describe(value)}, which cannot be stored: a file holds numbers and words, and no code"
            raise fail(ArgumentTypeError, what, got, "use one of kernop's own")
        if value is KINDS[kind]:
            return {"kind": kind}
        hints, parts = arguments(type(value)), stored_arguments(value)
        return {"kind": kind} | {
            name: self.encode(part, _below(place, name), hints[name]) for name, part in parts.items()
        }

    def _array(self, value: Array, place: str, form: Form | None) -> str:
        key = id(value), form
        if key in self._known:
            return self._known[key][1]
        by_columns = value.ndim > 1 and value.flags.f_contiguous and not (value.flags.c_contiguous and form is None)
        plain, name = value.T if by_columns else value, place + (".T" if by_columns else "")
        if form is not None:
            plain = packed(value if by_columns else value.T, lower=(form is LOWER) == by_columns)
        if not squares_are_finite(plain):
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
    """

    def __init__(self, arrays: Mapping[str, Array], refuse: Callable[[str], KernopError]) -> None:
        self._arrays, self._refuse = arrays, refuse
        self._found: dict[tuple[str, Form | None], Array] = {}

    def wrong(self, place: str, found: str) -> KernopError:
        """The error for a part that is not as it should be."""
        return self._refuse(f"whose {place} is {found}")

    def finish(self) -> None:
        """Refuse arrays that nobody asked for: something else is missing."""
        left = self._arrays.keys() - {name for name, _ in self._found}
        if left:
            raise self._refuse(f"which has an array {describe(min(left))} that does not belong to it")

    def part(self, hint: Any, whole: Mapping[str, Any], name: str, place: str = "") -> Any:
        """The value of this name in an object; what may be None must still be there."""
        if name not in whole:
            raise self.wrong(_below(place, name), "missing")
        return self.decode(hint, whole[name], _below(place, name))

    def decode(self, hint: Any, value: Any, place: str = "") -> Any:
        """The value that JSON stands for, of the type that an annotation asks for."""
        if place.count("/") > DEEPEST:
            raise self.wrong(place[:LONGEST], "nested too deeply")
        origin, form = get_origin(hint), _form(hint)
        if form is NUMBERS:
            return self._numbers(value, place)
        if origin is Annotated and form is EXTENDED and value in ("inf", "-inf", "nan"):
            return float(value)
        if origin is Annotated and form is not EXTENDED:
            return self._array(value, place, np.dtype(np.float64), form)
        if origin is Annotated:
            return self._number(value, place)
        if origin in (Union, UnionType):
            return self.decode(self._choice(get_args(hint), value, place), value, place)
        if origin is np.ndarray:
            return self._array(value, place, np.dtype(get_args(get_args(hint)[1])[0]), None)
        if origin is Literal:
            return self._word(get_args(hint), value, place)
        if origin is tuple:
            return self._tuple(get_args(hint), value, place)
        if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
            parts = self._mapping(value, place)
            return {name: self.decode(get_args(hint)[1], part, _below(place, name)) for name, part in parts.items()}
        if hint is Any:
            return self._anything(value, place)
        return self._plain(hint, value, place)

    def _plain(self, hint: Any, value: Any, place: str) -> Any:
        if hint is NoneType and value is None:
            return None
        if value is None:
            raise self.wrong(place, "missing")
        if hint is float:
            return self._number(value, place)
        if hint is bool and not isinstance(value, bool):
            raise self.wrong(place, f"{describe(value)} and not true or false")
        if hint is int and (isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST):
            raise self.wrong(place, f"{describe(value)} and no whole number")
        if hint is str and (not isinstance(value, str) or len(value) > LONGEST or not value.isprintable()):
            raise self.wrong(place, "no text")
        return value if hint in (bool, int, str) else self._object(hint, value, place)

    def _choice(self, hints: tuple[Any, ...], value: Any, place: str) -> Any:
        """Which of several types a value is meant to be; of objects all, because their kind decides."""

        def meant(hint: Any) -> bool:
            origin, form = get_origin(hint), _form(hint)
            if isinstance(value, dict):
                array = origin is np.ndarray or form in (LOWER, UPPER)
                return array == (value.keys() == {AT}) and hint not in (NoneType, float, int, str, bool)
            if isinstance(value, list):
                return origin is tuple or form is NUMBERS
            if isinstance(value, str):
                return hint is str or origin is Literal or form is EXTENDED
            if isinstance(value, bool | NoneType):
                return hint is type(value)
            return hint is type(value) or hint is float or form in (NUMBERS, EXTENDED)

        fitting = [hint for hint in hints if meant(hint)]
        if not fitting:
            raise self.wrong(place, f"{describe(value)}, which it cannot be")
        return fitting[0] if len(fitting) == 1 else tuple(map(_class, fitting))

    def _object(self, hint: Any, value: Any, place: str) -> Any:
        parts = self._mapping(value, place)
        if "kind" not in parts:
            raise self.wrong(_below(place, "kind"), "missing")
        name = parts["kind"]
        made = KINDS.get(name) if isinstance(name, str) else None
        if made is None:
            raise self.wrong(_below(place, "kind"), f"{describe(name)}, which this kernop does not know")
        if isinstance(made, type):
            found = {key: self.part(own, parts, key, place) for key, own in arguments(made).items()}
            made = self._made(made, found, place)
        if not isinstance(made, hint if isinstance(hint, tuple) else _class(hint)):
            raise self.wrong(_below(place, "kind"), f"{describe(name)}, which it cannot be")
        return made

    def _made(self, kind: type, found: dict[str, Any], place: str) -> Any:
        """An object, checked at birth; and by ``check`` if its class leaves some of that to those who read files."""
        try:
            made = build(kind, found)
            if hasattr(made, "check"):
                made.check()
        except FileError:
            raise
        except MISFITS as error:
            why = str(error).partition("\n")[0].rstrip(".")
            what = f"whose {place} has parts that" if place else "whose parts"
            raise self._refuse(f"{what} do not fit each other ({why})") from error
        return made

    def _anything(self, value: Any, place: str) -> Any:
        if isinstance(value, dict):
            if value.keys() == {AT}:
                return self._array(value, place, None, None)
            if "kind" in value:
                return self._object(object, value, place)
            return {name: self.decode(Any, part, _below(place, name)) for name, part in value.items()}
        if isinstance(value, list):
            return self._tuple((Any, ...), value, place)
        return value if value is None else self._plain(type(value), value, place)

    def _mapping(self, value: Any, place: str) -> dict[str, Any]:
        if value is None:
            raise self.wrong(place, "missing")
        if not isinstance(value, dict):
            raise self.wrong(place, "no object")
        return value

    def _tuple(self, hints: tuple[Any, ...], value: Any, place: str) -> tuple[Any, ...]:
        several = len(hints) == 2 and hints[1] is Ellipsis
        if not isinstance(value, list) or not (several or len(value) == len(hints)):
            raise self.wrong(place, "no list" + ("" if several else f" of {len(hints)}"))
        each = [hints[0]] * len(value) if several else hints
        return tuple(
            self.decode(hint, part, _below(place, k)) for k, (hint, part) in enumerate(zip(each, value, strict=True))
        )

    def _word(self, choices: tuple[Any, ...], value: Any, place: str) -> str:
        if not isinstance(value, str) or value not in choices:
            raise self.wrong(place, f"{describe(value)}, which this kernop does not know")
        return value

    def _number(self, value: Any, place: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
            raise self.wrong(place, f"{describe(value)} and no number")
        return float(value)

    def _numbers(self, value: Any, place: str) -> Any:
        if not isinstance(value, list):
            return self._number(value, place)
        return [self._number(part, place) for part in value]

    def _array(self, value: Any, place: str, dtype: np.dtype[Any] | None, form: Form | None) -> Array:
        name = value[AT] if isinstance(value, dict) and value.keys() == {AT} else None
        if not isinstance(name, str):
            raise self.wrong(place, "no array")
        if name not in self._arrays:
            raise self.wrong(place, "missing")
        array = self._arrays[name]
        if dtype is not None and array.dtype != (np.int64 if dtype.kind == "i" else dtype):
            raise self.wrong(place, f"an array of {array.dtype} and not of {dtype}")
        if (name, form) not in self._found:
            self._found[name, form] = self._read(array, name.endswith(".T"), place, form)
        return self._found[name, form]

    def _read(self, array: Array, by_columns: bool, place: str, form: Form | None) -> Array:
        if not squares_are_finite(array):
            finite = bool(np.all(np.isfinite(array)))
            raise self.wrong(place, f"an array with {'squares' if finite else 'numbers'} that are not finite")
        if form is None:
            return array.T if by_columns else array
        return self._triangle(array, by_columns, place, lower=form is LOWER)

    def _triangle(self, values: FloatArray, by_columns: bool, place: str, *, lower: bool) -> FloatArray:
        """A triangle (n, n), with zeros on the other side of its diagonal."""
        n = (math.isqrt(8 * values.size + 1) - 1) // 2
        if values.ndim != 1 or n == 0 or n * (n + 1) // 2 != values.size:
            raise self.wrong(place, "no triangle")
        check_memory("path", n * n, f"a matrix of {n} × {n}", "use a machine with more memory")
        matrix = np.zeros((n, n), order="F")
        unpack(values, matrix, lower=lower == by_columns)
        if not np.all(np.diagonal(matrix)):
            raise self.wrong(place, "a triangle with a zero on its diagonal")
        return matrix if by_columns else matrix.T


def _form(hint: Any) -> Form | None:
    """How a value of this annotation is written, if that is said; of a union the first that says it."""
    if get_origin(hint) is Annotated:
        return next((part for part in hint.__metadata__ if isinstance(part, Form)), None)
    if get_origin(hint) in (Union, UnionType):
        return next((form for part in get_args(hint) if (form := _form(part)) in (LOWER, UPPER)), None)
    return None


def _class(hint: Any) -> type:
    """The class of an annotation that is one, or that of all functions."""
    return hint if isinstance(hint, type) else cast("type", Callable)


def _below(place: str, name: Any) -> str:
    return f"{place}/{name}" if place else str(name)


def squares_are_finite(array: Array) -> bool:
    """Is the sum of squares finite? All that is done with numbers needs that much room."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.linalg.norm(array)))
