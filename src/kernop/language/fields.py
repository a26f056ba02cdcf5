"""The language of operators: u, grad, div, laplacian, partial, dt, normal_derivative, and arithmetic.

An operator is written as a function of a field, ``lambda u: -div(a * grad(u)) + V * u``. It is read in two ways, with
the same words:

* on the **unknown** (`Unknown`), where a field is a linear form Σ_α φ_α ∂^α u kept as a table α ↦ φ_α: that is the
  normal form, and the product rule builds it, so linearity is a fact of its construction and not a guess;
* on a **known function** (`Known`), where derivatives are taken by automatic differentiation: that gives data for
  manufactured solutions, and the counterexample that an error message shows for a nonlinear operator.

Coefficients are numbers or functions of x; x has shape (n, d) and the result (n,).

In space–time the last coordinate is time: grad, div, laplacian and normal_derivative are spatial, and dt is ∂/∂t. A
field knows from its points whether there is a time; where they do not say, these words are refused.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from kernop.basics.errors import (
    NonlinearOperatorError,
    OperatorError,
    ShapeError,
    check_array,
    check_integer,
    check_number,
    describe,
    fail,
    naming,
)
from kernop.basics.stored import stored
from kernop.language.coefficients import Coefficient, PlaceFunction, directional
from kernop.language.functions import Function, evaluate

MultiIndex = tuple[int, ...]

#: Derivatives along one axis at a time: the work for a known function doubles with each.
HIGHEST_ORDER = 16


class AffineError(OperatorError):
    """A field was added to something that is not a multiple of u; `operators` turns this into a full message."""


class ProductError(NonlinearOperatorError):
    """Two fields were multiplied or divided; `operators` turns this into a full message."""


class Field(ABC):
    """A scalar expression in u. Fields add; they multiply and divide by numbers and functions of x."""

    __array_ufunc__ = None  # so that NumPy numbers and arrays leave the arithmetic to us

    @property
    @abstractmethod
    def dim(self) -> int:
        """The number of coordinates."""

    @property
    @abstractmethod
    def timed(self) -> bool | None:
        """Is the last coordinate time? None if that is not known."""

    @property
    def space(self) -> tuple[int, ...]:
        """The spatial coordinates."""
        return tuple(range(self.dim - self.has_time))

    @property
    def has_time(self) -> bool:
        """Is the last coordinate time? An error if that is not known."""
        if self.timed is None:
            got = f"points with {self.dim} coordinates that do not say whether the last one is time"
            remedy = "take points of a region, region.sample(n) or region.adopt(x), or say it: Points(x, timed=False)"
            raise fail(OperatorError, "points", got, remedy)
        return self.timed

    @abstractmethod
    def partial(self, axis: int) -> Field:
        """∂/∂x_axis of the field."""

    @abstractmethod
    def times(self, coefficient: Coefficient) -> Field:
        """The field multiplied by a number or a function of x."""

    @abstractmethod
    def _plus(self, other: Field) -> Field: ...

    @abstractmethod
    def _plus_function(self, other: Coefficient) -> Field: ...

    @abstractmethod
    def _times_field(self, other: Field) -> Field: ...

    @abstractmethod
    def _power(self, exponent: Field | float) -> Field: ...

    def __add__(self, other: Any) -> Field:
        if isinstance(other, Field):
            return self._plus(other)
        if isinstance(other, VectorField):
            raise fail(OperatorError, "operator", "the sum of a scalar and a vector field", "add fields of one kind")
        added = Coefficient.of(other)
        return self if added.constant == 0.0 else self._plus_function(added)  # sum() starts from 0

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Field):
            return self._times_field(other)
        if isinstance(other, VectorField):
            return VectorField(tuple(self * part for part in other.parts))
        return self.times(Coefficient.of(other))

    def __truediv__(self, other: Any) -> Field:
        if isinstance(other, Field):
            return self._times_field(other._power(-1.0))
        return self.times(Coefficient.of(other).inverse())

    def __rtruediv__(self, other: Any) -> Field:
        return self._power(-1.0) * other

    def __pow__(self, exponent: Any) -> Field:
        if not isinstance(exponent, Field):
            check_number("exponent", exponent)
        return self if exponent == 1 else self._power(exponent)

    def __neg__(self) -> Field:
        return self.times(Coefficient.of(-1.0))

    def __pos__(self) -> Field:
        return self

    def __sub__(self, other: Any) -> Field:
        return self + (-other if isinstance(other, Field | VectorField) else _negative(other))

    def __rsub__(self, other: Any) -> Field:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__


def _negative(value: Any) -> Coefficient:
    return Coefficient.of(value) * Coefficient.of(-1.0)


class Unknown(Field):
    """The unknown u and what linear operators make of it: Σ_α φ_α(x) ∂^α u, as the table α ↦ φ_α."""

    def __init__(self, dim: int, timed: bool | None, terms: dict[MultiIndex, Coefficient] | None = None) -> None:
        self._dim, self._timed = dim, timed
        self._terms = {(0,) * dim: Coefficient.of(1.0)} if terms is None else terms

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def timed(self) -> bool | None:
        return self._timed

    @property
    def terms(self) -> dict[MultiIndex, Coefficient]:
        """α ↦ φ_α, without the coefficients that are 0 by construction."""
        return {alpha: c for alpha, c in self._terms.items() if c.constant != 0.0}

    def partial(self, axis: int) -> Field:
        raised = {tuple(a + (k == axis) for k, a in enumerate(alpha)): c for alpha, c in self._terms.items()}
        product_rule = {alpha: c.partial(axis) for alpha, c in self._terms.items() if c.constant is None}
        return self._with(raised)._plus(self._with(product_rule))

    def times(self, coefficient: Coefficient) -> Unknown:
        return self._with({alpha: c * coefficient for alpha, c in self._terms.items()})

    def _with(self, terms: dict[MultiIndex, Coefficient]) -> Unknown:
        return Unknown(self._dim, self._timed, terms)

    def _plus(self, other: Field) -> Field:
        if not isinstance(other, Unknown):
            raise fail(OperatorError, "operator", "a field of another operator", "use only the field that is passed in")
        terms = dict(self._terms)
        for alpha, c in other._terms.items():
            terms[alpha] = terms[alpha] + c if alpha in terms else c
        return self._with(terms)

    def _plus_function(self, other: Coefficient) -> Field:
        raise AffineError

    def _times_field(self, other: Field) -> Field:
        raise ProductError

    def _power(self, exponent: Field | float) -> Field:
        raise ProductError


class Known(Field):
    """A known function, x ↦ values of shape (n,) or (n, B), and what operators make of it."""

    def __init__(self, dim: int, timed: bool | None, at: PlaceFunction) -> None:
        self._dim, self._timed = dim, timed
        self.at = at

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def timed(self) -> bool | None:
        return self._timed

    def partial(self, axis: int) -> Field:
        return self._with(directional(self.at, axis))

    def times(self, coefficient: Coefficient) -> Field:
        return self._pointwise(coefficient, operator.mul)

    def _plus(self, other: Field) -> Field:
        return self._pointwise(other, operator.add)

    def _plus_function(self, other: Coefficient) -> Field:
        return self._pointwise(other, operator.add)

    def _times_field(self, other: Field) -> Field:
        return self._pointwise(other, operator.mul)

    def _power(self, exponent: Field | float) -> Field:
        if isinstance(exponent, Field):
            return self._pointwise(exponent, operator.pow)
        return self._with(lambda x, n: self.at(x, n) ** exponent)

    def _with(self, at: PlaceFunction) -> Known:
        return Known(self._dim, self._timed, at)

    def _pointwise(self, other: Field | Coefficient, rule: Callable[[Any, Any], Any]) -> Field:
        if not isinstance(other, Known | Coefficient):
            raise fail(OperatorError, "operator", "a field of another operator", "use only the field that is passed in")

        def at(x: Any, n: Any) -> Any:
            mine, theirs = self.at(x, n), other.at(x, n)
            # A coefficient (n,) goes with each column of values (n, B).
            return rule(mine, theirs.reshape(theirs.shape + (1,) * (mine.ndim - theirs.ndim)))

        return self._with(at)


@dataclass(frozen=True)
class VectorField:
    """A tuple of fields, such as grad(u)."""

    parts: tuple[Field, ...]

    __array_ufunc__ = None

    def __getitem__(self, axis: int) -> Field:
        return self.parts[_axis(axis, len(self.parts))]

    def __iter__(self) -> Iterator[Field]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __add__(self, other: Any) -> VectorField:
        if isinstance(other, int | float) and other == 0:  # sum() starts from 0
            return self
        parts = _vector("operator", other).parts
        if len(parts) != len(self.parts):
            got = f"the sum of vector fields of {len(self.parts)} and {len(parts)} parts"
            raise fail(OperatorError, "operator", got, "add vectors of one length")
        return VectorField(tuple(a + b for a, b in zip(self.parts, parts, strict=True)))

    def __sub__(self, other: Any) -> VectorField:
        return self + -_vector("operator", other)

    def __rsub__(self, other: Any) -> VectorField:
        return -self + other

    def __neg__(self) -> VectorField:
        return VectorField(tuple(-part for part in self.parts))

    def __mul__(self, other: Any) -> VectorField:
        if isinstance(other, VectorField):
            raise fail(OperatorError, "operator", "the product of two vector fields", "use dot(b, v)")
        return VectorField(tuple(part * other for part in self.parts))

    def __truediv__(self, other: Any) -> VectorField:
        return VectorField(tuple(part / other for part in self.parts))

    __radd__ = __add__
    __rmul__ = __mul__


FieldT = TypeVar("FieldT", Field, VectorField)


def _scalar(name: str, value: Any) -> Field:
    if not isinstance(value, Field):
        raise fail(OperatorError, name, describe(value), "give a scalar field, such as u")
    return value


def _vector(name: str, value: Any) -> VectorField:
    if not isinstance(value, VectorField):
        raise fail(OperatorError, name, describe(value), "give a vector field, such as grad(u)")
    return value


def _axis(axis: Any, dim: int) -> int:
    if not isinstance(axis, int | np.integer) or isinstance(axis, bool) or not -dim <= axis < dim:
        raise fail(OperatorError, "axis", describe(axis), f"give a whole number from {-dim} to {dim - 1}")
    return int(axis) % dim


def _axes(name: str, axes: Iterable[int] | None, field: Field) -> tuple[int, ...]:
    """The axes that were named, or those of space."""
    if axes is None:
        with naming(name):
            return field.space
    if not isinstance(axes, Iterable) or getattr(axes, "ndim", 1) == 0:
        raise fail(OperatorError, name, f"axes = {describe(axes)}", "give axes as a tuple, such as axes=(0,)")
    with naming(f"{name}, axes"):
        chosen = tuple(_axis(axis, field.dim) for axis in axes)
    if not chosen:
        raise fail(OperatorError, name, "no axes", "name at least one, as in axes=(0,)")
    return chosen


def partial(u: Field, axis: int, order: int = 1) -> Field:
    """∂^order u / ∂x_axis^order along any coordinate; in space–time the last axis is time, see `dt`."""
    field = _scalar("partial(u)", u)
    index = _axis(axis, field.dim)
    for _ in range(check_order(order)):
        field = field.partial(index)
    return field


def dt(u: Field, order: int = 1) -> Field:
    """∂^order u / ∂t^order, on a SpaceTime."""
    field = _scalar("dt(u)", u)
    with naming("dt(u)"):
        timed = field.has_time
    if not timed:
        remedy = "state the problem on a SpaceTime; along a coordinate of your choice, use partial(u, axis)"
        raise fail(OperatorError, "dt(u)", "a problem that has no time", remedy)
    return partial(field, -1, order)


def check_order(order: Any) -> int:
    """How often to differentiate along an axis."""
    number = check_integer("order", order, least=0)
    if number > HIGHEST_ORDER:
        raise fail(OperatorError, "order", describe(number), f"differentiate at most {HIGHEST_ORDER} times")
    return number


def grad(u: Field, axes: Iterable[int] | None = None) -> VectorField:
    """∇u along the spatial coordinates, or along ``axes``: d parts, in space–time d − 1."""
    field = _scalar("grad(u)", u)
    return VectorField(tuple(field.partial(axis) for axis in _axes("grad(u)", axes, field)))


def div(v: VectorField, axes: Iterable[int] | None = None) -> Field:
    """∇·v; part k of v is differentiated along spatial coordinate k, or along ``axes[k]``."""
    parts = _vector("div(v)", v).parts
    chosen = _axes("div(v)", axes, parts[0])
    if len(chosen) != len(parts):
        got = f"a vector of {len(parts)} parts for {len(chosen)} axes"
        raise fail(OperatorError, "div(v)", got, "give one part for each axis; name the axes, as in div(v, axes=(0,))")
    return _sum([part.partial(axis) for part, axis in zip(parts, chosen, strict=True)])


def laplacian(u: Field, axes: Iterable[int] | None = None) -> Field:
    """Δu over the spatial coordinates, or over ``axes``."""
    field = _scalar("laplacian(u)", u)
    return _sum([partial(field, axis, 2) for axis in _axes("laplacian(u)", axes, field)])


@stored("normal derivative")
def normal_derivative(u: Field, axes: Iterable[int] | None = None) -> Field:
    """∂u/∂n = n·∇u with the outward unit normal n; only on boundaries.

    In space–time it is spatial, and belongs on walls: the normal of an initial or final slice is along time, which
    ``dt(u)`` differentiates by. ``axes`` names the coordinates to be used instead, all of them or some.
    """
    field = _scalar("normal_derivative(u)", u)
    chosen = _axes("normal_derivative(u)", axes, field)
    walls = axes is None and field.has_time
    return _sum([field.partial(axis).times(_normal_part(axis, walls)) for axis in chosen])


def dot(b: Any, v: VectorField) -> Field:
    """b·v for a vector b with as many parts as v: numbers, functions, or one function from (n, d) to (n, parts)."""
    parts = _vector("dot(b, v)", v).parts
    return _sum([part * c for part, c in zip(parts, _entries("b", b, (len(parts),)), strict=True)])


def matvec(a: Any, v: VectorField) -> VectorField:
    """A v for a matrix A, for anisotropic diffusion: m × m numbers for the m parts of v, or a function of x.

    A function maps (n, d) to (n, m, m); for v = grad(u), m is the number of spatial coordinates.
    """
    parts = _vector("matvec(a, v)", v).parts
    m = len(parts)
    entries = _entries("a", a, (m, m))
    rows = [entries[i * m : (i + 1) * m] for i in range(m)]
    return VectorField(tuple(_sum([p * c for p, c in zip(parts, row, strict=True)]) for row in rows))


def _entries(name: str, value: Any, shape: tuple[int, ...]) -> list[Any]:
    """What multiplies the parts of a vector: coefficients or, where u multiplies u, fields."""
    indices = list(np.ndindex(*shape))
    if callable(value):
        return [Coefficient(None, _entry(name, value, shape, index)) for index in indices]
    if isinstance(value, Sequence | VectorField) and len(shape) == 1 and len(value) == shape[0]:
        return [part if isinstance(part, Field) else Coefficient.of(part) for part in value]
    remedy = f"give numbers of shape {shape} or a function of x"
    array = check_array(name, value, remedy=remedy, what="coefficients")
    if array.shape != shape:
        raise fail(ShapeError, name, f"shape {array.shape}", f"give shape {shape}, or a function of x")
    return [Coefficient.of(array[index]) for index in indices]


def _entry(name: str, function: Function, shape: tuple[int, ...], index: tuple[int, ...]) -> PlaceFunction:
    return lambda x, _: evaluate(name, function, x, shape)[(slice(None), *index)]


def _normal_part(axis: int, walls: bool) -> Coefficient:
    """n_axis; with ``walls``, only where the normal is not along time."""

    def at(_: Any, n: Any) -> Any:
        if n is None:
            remedy = "use it on a boundary; a PointCloud needs normals=, and Points need normal="
            raise fail(OperatorError, "normal_derivative", "points without normals", remedy)
        if walls and not np.all(np.any(np.asarray(n)[:, :-1], axis=1)):
            remedy = "use it on the walls; on an initial or final slice give Initial(…, order=1), or dt(u)"
            raise fail(OperatorError, "normal_derivative", "points whose normal is along time", remedy)
        return n[:, axis]

    return Coefficient(None, at)


def _sum(fields: Sequence[Field]) -> Field:
    total = fields[0]
    for field in fields[1:]:
        total = total + field
    return total
