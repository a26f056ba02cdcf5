"""Values that can be stored: a class says beside itself under which name, and is made of its constructor's arguments.

    @stored("ball")
    @dataclass(frozen=True, eq=False)
    class Ball: …

An object is stored by the arguments of its constructor, which are its attributes of the same names, and comes back
through its constructor: nothing comes to life unchecked. Annotations of the arguments say what they are. Two stored
values are equal if they are of the same class and their arguments are equal, arrays by value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Annotated, Any, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray

#: An array of complex numbers.
ComplexArray = NDArray[np.complex128]
Stored = TypeVar("Stored", bound=Callable[..., Any])


#: How values are written where that is not the usual way for their type: the keys of triangles in a file, and others.
LOWER, UPPER, NUMBERS, EXTENDED = "lower at", "upper at", "numbers", "extended"
#: A number, or a short list or matrix of numbers, real or complex, which stands in the header for a person to read.
Numbers = Annotated[Any, NUMBERS]
#: A number that may be infinite or NaN.
Extended = Annotated[float, EXTENDED]
#: A square matrix of which one triangle is stored, (n, n); no number on its diagonal is 0.
Lower = Annotated[FloatArray, LOWER]
Upper = Annotated[FloatArray, UPPER]

#: Every stored class, and every function that is stored by its name alone.
KINDS: dict[str, Callable[..., Any]] = {}
_names: dict[object, str] = {}


def stored(name: str, *, by_value: bool = True) -> Callable[[Stored], Stored]:
    """Make a class, or a function of kernop, known to files.

    Arguments:
        name: in files; of no other class.
        by_value: compare objects by value; False for those that are keys of caches and are compared by identity.
    """

    def register(kind: Stored) -> Stored:
        assert name not in KINDS, name
        KINDS[name], _names[kind] = kind, name
        known: Any = kind
        if by_value and isinstance(known, type) and known.__eq__ is object.__eq__:
            setattr(known, "__eq__", _equal)  # noqa: B010
            setattr(known, "__hash__", _hash)  # noqa: B010
        return kind

    return register


def name_of(value: object) -> str | None:
    """The name under which an object is stored, or a function; None if it cannot be stored.

    Objects of a subclass that is not stored itself are not either: it may do anything.
    """
    return _names.get(value) if inspect.isfunction(value) else _names.get(type(value))


def storable(value: object) -> bool:
    """Can a file hold a value, with all that it is made of?"""
    if isinstance(value, tuple | list):
        return all(map(storable, value))
    if isinstance(value, Mapping):
        return all(map(storable, value.values()))
    kind = name_of(value)
    if kind is None:
        return value is None or isinstance(value, bool | int | float | complex | str | np.ndarray | np.generic)
    return value is KINDS[kind] or storable(stored_arguments(value))


@cache
def arguments(kind: type) -> Mapping[str, Any]:
    """The arguments of the constructor by name, with their annotations."""
    if "__dataclass_fields__" in vars(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {field.name: hints[field.name] for field in fields(kind) if field.init}
    hints, found = get_type_hints(kind.__init__, include_extras=True), inspect.signature(kind).parameters
    return {
        name: tuple[hints[name], ...] if part.kind is part.VAR_POSITIONAL else hints[name]
        for name, part in found.items()
    }


def stored_arguments(value: Any) -> Mapping[str, Any]:
    """The arguments of the constructor that make an object again: its attributes, or its own `stored_arguments`."""
    if hasattr(value, "stored_arguments"):
        return value.stored_arguments()
    return {name: getattr(value, name) for name in arguments(type(value))}


def build(kind: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """The object that a constructor makes of these arguments."""
    several = _several(kind)
    named = {name: value for name, value in given.items() if name not in several}
    return kind(*(value for name in several for value in given[name]), **named)


@cache
def _several(kind: Callable[..., Any]) -> tuple[str, ...]:
    """The name of the arguments that a constructor takes as many of as there are; signatures are slow to find."""
    found = inspect.signature(kind).parameters.items()
    return tuple(name for name, part in found if part.kind is part.VAR_POSITIONAL)


def same(one: Any, other: Any) -> bool:
    """Are two values equal? Arrays by value, stored objects by their arguments."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(one, other))
    if isinstance(one, tuple | list) and isinstance(other, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


def _equal(self: object, other: object) -> bool:
    if type(self) is not type(other):
        return NotImplemented
    return self is other or all(map(same, stored_arguments(self).values(), stored_arguments(other).values()))


def _hash(self: object) -> int:
    """Arrays have no hash; so objects of one class share theirs."""
    return hash(type(self))
