"""What people pass by mistake: values of every wrong kind, and good values spoilt, or dressed up, in every way."""

from __future__ import annotations

import datetime
import decimal
import fractions
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse

import kernop as ko


class TheirError(Exception):
    """What a user's own function raises."""


@dataclass(frozen=True)
class Mutation:
    """One way to replace a good value.

    Attributes:
        kind: the row of the table.
        label: what it is.
        make: the value, from the good one.
        same: it means the same as the good one, to this relative accuracy; None if it means something else.
        traced: the value is traced by JAX.
        inner: the name of the part that is replaced, in a dictionary.
    """

    kind: str
    label: str
    make: Callable[[Any], Any]
    same: float | None = None
    traced: bool = False
    inner: str = ""


class Frame:
    """As a data frame has it: columns, values, and a way to become an array."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)
        self.shape, self.columns = self.values.shape, ["x", "y"]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype)

    def __len__(self) -> int:
        return self.values.size


class Silent:
    """An object that cannot even be printed."""

    def __repr__(self) -> str:
        raise TheirError("no repr")


class Own(np.ndarray):
    """A subclass of ndarray."""


def recursive() -> list[Any]:
    found: list[Any] = [1.0]
    found.append(found)
    return found


def raises(*_: Any) -> Any:
    raise TheirError("from a function of the user")


#: Values of a wrong kind, whatever was wanted.
WRONG: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "a string": lambda: "abc",
    "an empty string": lambda: "",
    "a number in a string": lambda: "0.5",
    "bytes": lambda: b"abc",
    "an object": object,
    "an object without a repr": Silent,
    "a dictionary": lambda: {"a": 1.0},
    "an empty dictionary": dict,
    "a dictionary with odd keys": lambda: {1: 2.0, None: 3.0},
    "an empty list": list,
    "a ragged list": lambda: [[1.0], [1.0, 2.0]],
    "a list of None": lambda: [None, None],
    "a list of strings": lambda: ["a", "b"],
    "a list that holds itself": recursive,
    "a set": lambda: {1.0, 2.0},
    "a complex number": lambda: 1.0 + 2.0j,
    "a complex array": lambda: np.ones(3, dtype=complex),
    "a bool": lambda: True,
    "a date": lambda: datetime.datetime(2020, 1, 1),
    "a NumPy date": lambda: np.datetime64("2020-01-01"),
    "a class": lambda: int,
    "a class of kernop": lambda: ko.Box,
    "a module": lambda: np,
    "a generator": lambda: (k for k in (0.25, 0.5)),
    "a range": lambda: range(3),
    "a slice": lambda: slice(3),
    "an ellipsis": lambda: ...,
    "an exception": lambda: ValueError("x"),
    "a decimal": lambda: decimal.Decimal("0.5"),
    "a fraction": lambda: fractions.Fraction(1, 2),
    "a structured array": lambda: np.zeros(3, dtype=[("x", float), ("y", float)]),
    "an array of strings": lambda: np.array(["a", "b"]),
    "an array of objects": lambda: np.array([object(), None]),
    "an empty array of strings": lambda: np.array([], dtype=str),
    "a sparse matrix": lambda: scipy.sparse.eye_array(3, format="csr"),
    "a box": lambda: ko.Box([0, 0], [1, 1]),
    "points": lambda: ko.Points([[0.25, 0.5]]),
    "a kernel": lambda: ko.Gaussian(0.5),
    "a method": ko.Full,
    "a condition": lambda: ko.Dirichlet(on=ko.Interval(0, 1).boundary),
}

#: Arrays of a wrong shape.
SHAPES: dict[str, Callable[[], Any]] = {
    f"shape {shape}": (lambda shape=shape: np.full(shape, 0.5))
    for shape in ((), (1,), (3,), (0,), (0, 2), (2, 0), (5, 1), (5, 3), (2, 3, 4), (1, 1, 1, 1))
}

#: Numbers that are no good, or too much.
NUMBERS: dict[str, Callable[[], Any]] = {
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "minus infinity": lambda: float("-inf"),
    "minus one": lambda: -1,
    "minus a half": lambda: -0.5,
    "zero": lambda: 0,
    "minus zero": lambda: -0.0,
    "a third": lambda: 1.0 / 3.0,
    "1e300": lambda: 1e300,
    "-1e300": lambda: -1e300,
    "1e-300": lambda: 1e-300,
    "5e-324": lambda: 5e-324,
    "10**12": lambda: 10**12,
    "10**30": lambda: 10**30,
    "10**400": lambda: 10**400,
    "-10**5000": lambda: -(10**5000),
    "a long double": lambda: np.longdouble("1e4000"),
    "NaN in single precision": lambda: np.float32("nan"),
    "an array of NaN": lambda: np.full((5, 2), np.nan),
    "an array of 1e300": lambda: np.full((5, 2), 1e300),
    "a list with infinity": lambda: [0.5, float("inf")],
}

#: Values that look small and are not: a copy of them must be refused, not tried.
HUGE: dict[str, Callable[[], Any]] = {
    "a broadcast number (10**12, 2)": lambda: np.broadcast_to(0.5, (10**12, 2)),
    "a broadcast number (10**12,)": lambda: np.broadcast_to(np.float32(0.5), (10**12,)),
    "a range of 10**13": lambda: range(10**13),
}

#: Functions of x that are no good; they stand for coefficients, data, predicates, kernels, operators, batches.
FUNCTIONS: dict[str, Callable[[], Any]] = {
    "a function that raises": lambda: raises,
    "a function that returns None": lambda: lambda *_: None,
    "a function that returns a string": lambda: lambda *_: "abc",
    "a function that returns a number": lambda: lambda *_: 0.5,
    "a function that returns NaN": lambda: lambda *_: float("nan"),
    "a function that returns 1e300": lambda: lambda *_: 1e300,
    "a function that returns complex values": lambda: lambda *_: 1.0j,
    "a function that returns a dictionary": lambda: lambda *_: {"f": 1.0},
    "a function that returns a ragged list": lambda: lambda *_: [[1.0], [1.0, 2.0]],
    "a function that returns objects": lambda: lambda *_: np.array([object(), None]),
    "a function that returns its argument": lambda: lambda x, *_: x,
    "a function that returns three numbers": lambda: lambda *_: np.ones(3),
    "a function that returns nothing of a masked array": lambda: lambda *_: np.ma.masked_all(3),
    "a function that returns (n, 1, 1)": lambda: lambda x, *_: np.ones((len(x), 1, 1)),
    "a function that returns (n, 10**9)": lambda: lambda x, *_: np.broadcast_to(0.5, (len(x), 10**9)),
    "a function that forgets the dots": lambda: lambda x, *_: x[0],
    "a function that sums over all": lambda: lambda x, *_: jnp.sum(x),
    "a function that indexes too far": lambda: lambda x, *_: x[..., 7],
    "a function that divides by zero": lambda: lambda x, *_: 1.0 / (x[..., 0] - x[..., 0]),
    "a function without arguments": lambda: lambda: 1.0,
    "a function of four arguments": lambda: lambda a, b, c, d: 1.0,
    "a function of NumPy": lambda: np.sin,
    "an operator that is not linear": lambda: lambda u: u * u,
    "an operator that is affine": lambda: lambda u: u + 1.0,
    "an operator that is zero": lambda: lambda u: 0.0 * u,
    "an operator that is a vector": lambda: lambda u: ko.grad(u),
    "an operator that misuses NumPy": lambda: lambda u: np.exp(u),
    "an operator with a wrong axis": lambda: lambda u: ko.partial(u, 5),
    "an operator of high order": lambda: lambda u: ko.partial(u, 0, 10**9),
    "an operator with NaN": lambda: lambda u: float("nan") * u,
    "an operator with a coefficient of 1e300": lambda: lambda u: 1e300 * ko.laplacian(u),
    "an operator with a coefficient that raises": lambda: lambda u: raises * u,
    "an operator that asks for normals": lambda: ko.normal_derivative,
}

GENERAL = tuple(
    Mutation(kind, label, lambda _, make=make: make())
    for kind, values in (
        ("wrong type", WRONG),
        ("wrong shape", SHAPES),
        ("bad number", NUMBERS),
        ("huge", HUGE),
        ("bad function", FUNCTIONS),
    )
    for label, make in values.items()
)


def _spoilt(good: Any, value: float) -> Any:
    array = np.array(good, dtype=float)
    array.flat[array.size // 2] = value
    return array


def _strided(good: Any) -> Any:
    array = np.asarray(good)
    return np.repeat(array, 2, axis=0)[::2]


def _frozen(good: Any) -> Any:
    array = np.array(good)
    array.setflags(write=False)
    return array


def _matrix(good: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asmatrix(good) if np.ndim(good) == 2 else good


def _masked(good: Any, how_many: int) -> Any:
    array = np.ma.array(good, mask=False)
    array.mask.flat[:how_many] = True
    return array


#: The same numbers in other clothes; a right answer or a refusal.
CLOTHES = (
    Mutation("other clothes", "a list", lambda good: np.asarray(good).tolist(), 1e-9),
    Mutation(
        "other clothes", "a tuple", lambda good: tuple(np.atleast_1d(good).tolist()) if np.ndim(good) else good, 1e-9
    ),
    Mutation("other clothes", "Fortran order", lambda good: np.asfortranarray(good), 1e-9),
    Mutation("other clothes", "a strided view", _strided, 1e-9),
    Mutation("other clothes", "read-only", _frozen, 1e-9),
    Mutation("other clothes", "big-endian", lambda good: np.asarray(good, dtype=">f8"), 1e-9),
    Mutation("other clothes", "long double", lambda good: np.asarray(good, dtype=np.longdouble), 1e-9),
    Mutation("other clothes", "single precision", lambda good: np.asarray(good, dtype=np.float32)),
    Mutation("other clothes", "half precision", lambda good: np.asarray(good, dtype=np.float16)),
    Mutation("other clothes", "whole numbers", lambda good: np.asarray(good).astype(np.int8)),
    Mutation("other clothes", "objects", lambda good: np.asarray(good, dtype=object), 1e-9),
    Mutation("other clothes", "a subclass of ndarray", lambda good: np.asarray(good).view(Own), 1e-9),
    Mutation("other clothes", "a matrix", _matrix, 1e-9),
    Mutation("other clothes", "a masked array without masked values", lambda good: _masked(good, 0), 1e-9),
    Mutation("other clothes", "a masked array", lambda good: _masked(good, 1)),
    Mutation("other clothes", "a data frame", lambda good: Frame(good), 1e-9),
    Mutation("other clothes", "a JAX array", lambda good: jnp.asarray(np.asarray(good))),
    Mutation("other clothes", "a tracer", lambda good: jnp.asarray(np.asarray(good)), traced=True),
    Mutation("other clothes", "complex", lambda good: np.asarray(good, dtype=complex)),
    Mutation("other clothes", "truth values", lambda good: np.asarray(good) > 0.3),
    Mutation("bad number", "with a NaN", lambda good: _spoilt(good, np.nan)),
    Mutation("bad number", "with infinity", lambda good: _spoilt(good, np.inf)),
    Mutation("bad number", "with 1e300", lambda good: _spoilt(good, 1e300)),
    Mutation("outside", "moved by a million", lambda good: np.asarray(good) + 1e6),
    Mutation("outside", "a million times larger", lambda good: np.asarray(good) * 1e6),
    Mutation("duplicates", "all the same", lambda good: np.broadcast_to(np.asarray(good).flat[0], np.shape(good))),
    Mutation(
        "duplicates", "the first again", lambda good: np.concatenate([np.atleast_1d(good)[:1], np.atleast_1d(good)])
    ),
    Mutation("wrong shape", "one axis more", lambda good: np.asarray(good)[..., None]),
    Mutation("wrong shape", "one axis less", lambda good: np.asarray(good).ravel()),
    Mutation("wrong shape", "transposed", lambda good: np.asarray(good).T),
    Mutation("wrong shape", "one value less", lambda good: np.atleast_1d(good)[:-1]),
    Mutation("wrong shape", "nothing of it", lambda good: np.atleast_1d(good)[:0]),
)

#: Dictionaries by name that are not quite right.
NAMES = (
    Mutation("wrong name", "one name more", lambda good: {**good, "nobody": next(iter(good.values()))}),
    Mutation("wrong name", "one name less", lambda good: dict(list(good.items())[1:])),
    Mutation("wrong name", "another name", lambda good: {f"{name}_": value for name, value in good.items()}),
    Mutation("wrong name", "bytes for names", lambda good: {name.encode(): value for name, value in good.items()}),
    Mutation("wrong name", "numbers for names", lambda good: dict(enumerate(good.values()))),
    Mutation("wrong name", "a list of pairs", lambda good: list(good.items())),
)


def mutations_of(good: Any) -> tuple[Mutation, ...]:
    """All that can be done to a good value."""
    found = list(GENERAL)
    if isinstance(good, Mapping):
        found += NAMES
        for name, value in good.items():
            found += [_inside(name, mutation) for mutation in mutations_of(value)]
    elif (isinstance(good, int | float | np.ndarray | jax.Array) and not isinstance(good, bool)) or (
        isinstance(good, list | tuple) and good and all(isinstance(part, int | float) for part in good)
    ):
        found += CLOTHES
    elif isinstance(good, str):
        found += [
            Mutation("wrong name", "in capitals", lambda good: good.upper()),
            Mutation("wrong name", "in bytes", lambda good: good.encode()),
            Mutation("wrong name", "with a blank", lambda good: f"{good} "),
        ]
    return tuple(found)


def _inside(name: str, mutation: Mutation) -> Mutation:
    def make(good: Any) -> Any:
        return {**good, name: mutation.make(good[name])}

    return Mutation(mutation.kind, f"{mutation.label} for {name!r}", make, mutation.same, inner=name)
