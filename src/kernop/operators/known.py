"""What is left of a user's functions and operators when they come back from a file: their values at the points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jax.core import Tracer

from kernop.basics.errors import ArgumentError, FloatArray, KernopError, MissingFunctionError, fail
from kernop.basics.fitting import check_shape
from kernop.basics.stored import Numbers, stored
from kernop.geometry import Points
from kernop.geometry.lookup import Lookup
from kernop.language.fields import MultiIndex, normal_derivative, partial
from kernop.language.functions import Function
from kernop.language.ops import NormalForm, Operator, Tabulated, identity, normal_form, tabulate
from kernop.language.problem import Mixed


@stored("values")
@dataclass(frozen=True, eq=False, repr=False)
class KnownFunction:
    """A function of x whose values at some points are known, and no others.

    Arguments:
        what: what it is, for messages.
        argument: the argument of `load` that brings it back.
        x: the points, (n, d).
        values: (n,), or (n, B).
    """

    what: str
    argument: str
    x: FloatArray
    values: FloatArray

    def check(self) -> None:
        """Raise unless there is a value for each point."""
        check_shape("x", self.x, None, None)
        check_shape("values", self.values, len(self.x), *[None] * (self.values.ndim == 2))

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.x)

    def __call__(self, x: Any) -> Any:
        """The values at points that are known."""
        if isinstance(x, Tracer):
            raise missing(self.what, "its derivatives", self.argument)
        rows = self._lookup.rows(np.asarray(x))
        if np.any(rows < 0):
            raise missing(self.what, f"its value at x = {np.asarray(x)[np.argmax(rows < 0)]}", self.argument)
        return self.values[rows]

    def __repr__(self) -> str:
        return f"({self.what}, known at the stored points)"


@stored("constant")
@dataclass(frozen=True, eq=False, repr=False)
class ConstantOperator:
    """P = Σ_α c_α ∂^α with numbers c_α.

    Arguments:
        alphas: the multi-indices α.
        coefficients: the numbers c_α, none of them 0.
    """

    alphas: tuple[MultiIndex, ...]
    coefficients: Numbers

    def __post_init__(self) -> None:
        coefficients = np.asarray(self.coefficients, dtype=np.float64)
        NormalForm(np.zeros((1, len(self.alphas[0]))), self.alphas, coefficients[None]).check()
        if not np.all(coefficients):
            raise fail(ArgumentError, "coefficients", "0 in part", "leave out what is 0")
        object.__setattr__(self, "coefficients", coefficients)

    def __call__(self, u: Any) -> Any:
        """The operator applied to a field u: Σ c_α ∂^α u."""
        total: Any = 0.0
        for alpha, c in zip(self.alphas, self.coefficients.tolist(), strict=True):
            derivative = u
            for axis, times in enumerate(alpha):
                derivative = partial(derivative, axis, times)
            total = c * derivative + total
        return total

    def __repr__(self) -> str:
        return " + ".join(f"{c:g} ∂^{alpha} u" for alpha, c in zip(self.alphas, self.coefficients, strict=True))


@stored("table")
@dataclass(frozen=True, eq=False, repr=False)
class KnownOperator(Tabulated):
    """An operator P by its functionals at the points of its condition.

    Arguments:
        condition: its name, for messages.
        points: where it is known.
        plain: P at the points, or P itself where it needs no function of the user.
        product: u ↦ P(ρ u) at the points, if there is an envelope ρ.
    """

    condition: str
    points: Points
    plain: NormalForm | Operator
    product: NormalForm | None = None

    def check(self) -> None:
        """Raise unless the functionals are at the points."""
        for form in (self.plain, self.product):
            if isinstance(form, NormalForm) and not np.array_equal(form.x, self.points.x):
                raise fail(ArgumentError, "points", "others than those of the functionals", "write the file again")

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(_joined(self.points, self._normals))

    @property
    def _normals(self) -> bool:
        return self.points.normal is not None

    def __call__(self, u: Any) -> Any:
        if isinstance(self.plain, NormalForm):
            raise self._missing("as a function")
        return self.plain(u)

    def form(self, points: Points, multiplier: Function | None, name: str) -> NormalForm:
        plain = self.plain
        if not isinstance(plain, NormalForm) and not isinstance(multiplier, KnownFunction):
            return normal_form(plain, points, multiplier=multiplier, name=name)
        table = self.product if multiplier is not None else plain
        if not isinstance(table, NormalForm):
            raise self._missing("with an envelope")
        rows = np.full(len(points), -1)
        if not self._normals or points.normal is not None:
            rows = self._lookup.rows(_joined(points, self._normals))
        if np.any(rows < 0):
            raise self._missing(f"at x = {points.x[np.argmax(rows < 0)]}")
        return tabulate(points.x, dict(zip(table.alphas, table.coefficients[rows].T, strict=True)))

    def _missing(self, where: str) -> KernopError:
        what = [f"operator of condition {self.condition!r}"] if isinstance(self.plain, NormalForm) else []
        names = ["problem"] if what else []
        if self.product is not None:
            what, names = [*what, "envelope"], [*names, "envelope"]
        return missing(" and the ".join(what), where, "=…, ".join(names))

    def __repr__(self) -> str:
        return f"({shown(self)})"


def shown(op: Operator) -> str:
    """The operator of a condition from a file, for a person."""
    plain = op.plain if isinstance(op, KnownOperator) else op
    if isinstance(plain, Mixed):
        return f"{plain.alpha:g} u + {plain.beta:g} ∂u/∂n"
    if isinstance(plain, NormalForm):
        return f"order {plain.order}, coefficients at the stored points"
    return "u" if plain is identity else "∂u/∂n" if plain is normal_derivative else repr(plain)


def _joined(points: Points, normals: bool) -> FloatArray:
    """What the coefficients of an operator depend on, (n, d) or (n, 2d)."""
    return np.hstack([points.x, points.normal]) if normals and points.normal is not None else points.x


def missing(what: str, where: str, argument: str) -> KernopError:
    """The error for a function that is needed and not there."""
    got = f"an operator from a file, which does not hold the {what} ({where})"
    return fail(MissingFunctionError, "T", got, f"load it with load(path, {argument}=…), or stay at T.points")
