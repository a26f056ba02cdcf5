"""Fields: what operators are written with; scalar, vector and matrix expressions in the unknowns.

An operator is written as a function of fields, ``lambda u: -div(a * grad(u)) + V * u``. It is read in two ways, with
the same words:

* on **unknowns** (`Unknown`), where a field is a linear form Σ_{k,α} φ_{k,α} ∂^α u_k in the components u_k of all
  unknowns, kept as a table (k, α) ↦ φ_{k,α}: that is the normal form, and the product rule builds it, so linearity is a
  fact of its construction and not a guess;
* on **known functions** (`KnownField`), where derivatives are taken by automatic differentiation: that gives data for
  manufactured solutions, and the counterexample that an error message shows for a nonlinear operator.

Coefficients are numbers, real or complex, or functions of x; x has shape (n, d) and the result (n,).

In space–time the last coordinate is time: grad, div, laplacian and normal_derivative are spatial, and dt is ∂/∂t. A
field knows from its points whether there is a time; where they do not say, these words are refused.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import jax
import numpy as np
from jax import Array

from kernop.basics.checks import check_number
from kernop.basics.errors import KernopError, NonlinearOperatorError, OperatorError, describe, fail
from kernop.language.coefficients import Coefficient, PlaceFunction, directional

MultiIndex = tuple[int, ...]
#: The most entries along an axis of an array that is a vector or a matrix of coefficients.
WIDEST = 16
#: ∂^α of component k of the unknowns: (k, α).
Term = tuple[int, MultiIndex]

MINUS = Coefficient.of(-1.0)


class AffineError(OperatorError):
    """A field was added to something that is not a multiple of u; `operators` turns this into a full message."""


class ProductError(NonlinearOperatorError):
    """Two fields were multiplied or divided; `operators` turns this into a full message."""


class Field(ABC):
    """A scalar expression in the unknowns. Fields add; they multiply and divide by numbers and functions of x.

    A field times an array of numbers (m,) or (m, m) is a vector or a matrix field.

    Arguments:
        dim: the number of coordinates.
        timed: is the last coordinate time? None if that is not known.
    """

    __array_ufunc__ = None  # so that NumPy numbers and arrays leave the arithmetic to us
    #: The numbers of the divergences of which it is made, where fluxes are collected.
    divergences: frozenset[int] = frozenset()

    def __init__(self, dim: int, timed: bool | None) -> None:
        self.dim, self.timed = dim, timed

    def made_of(self, divergences: frozenset[int]) -> Self:
        """The same, and it is known to be made of these divergences."""
        found = copy(self)
        found.divergences = self.divergences | divergences
        return found

    @property
    def space(self) -> tuple[int, ...]:
        """The numbers of the spatial coordinates; on a `SpaceTime` all but the last."""
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
    def _plus(self, other: Field | Coefficient) -> Field: ...

    @abstractmethod
    def _times_field(self, other: Field) -> Field: ...

    @abstractmethod
    def _power(self, exponent: Field | float) -> Field: ...

    def __add__(self, other: object) -> Field:
        if isinstance(other, Field):
            return self._plus(other)
        if isinstance(other, VectorField):
            raise fail(OperatorError, "operator", "the sum of a scalar and a vector field", "add fields of one kind")
        added = Coefficient.of(other)
        return self if added.constant == 0.0 else self._plus(added)  # sum() starts from 0

    def __mul__(self, other: object) -> Field | VectorField:
        if isinstance(other, Field):
            return self._times_field(other)
        if isinstance(other, VectorField):
            return VectorField(tuple(self * part for part in other.parts))
        if isinstance(other, np.ndarray | jax.Array) and other.ndim in (1, 2):
            if not 0 < max(other.shape) <= WIDEST or min(other.shape) == 0:
                remedy = "values on a grid are ko.GridFunction(values, box); a vector has an entry for each coordinate"
                raise fail(OperatorError, "coefficient", describe(other), remedy)
            return VectorField(tuple(self * part for part in np.asarray(other)))
        return self.times(Coefficient.of(other))

    def __truediv__(self, other: object) -> Field:
        if isinstance(other, Field):
            return self._times_field(other._power(-1.0))
        return self.times(Coefficient.of(other).inverse())

    def __rtruediv__(self, other: object) -> Field | VectorField:
        return self._power(-1.0) * other

    def __pow__(self, exponent: Any) -> Field:
        if not isinstance(exponent, Field):
            check_number("exponent", exponent)
        return self if exponent == 1 else self._power(exponent)

    def __neg__(self) -> Field:
        return self.times(MINUS)

    def __pos__(self) -> Field:
        return self

    def __sub__(self, other: object) -> Field:
        return self + (-other if isinstance(other, Field | VectorField) else Coefficient.of(other) * MINUS)

    def __rsub__(self, other: object) -> Field:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__


class Unknown(Field):
    """A linear form Σ φ_{k,α}(x) ∂^α u_k in the components of the unknowns, as the table (k, α) ↦ φ_{k,α}.

    Arguments:
        terms: the table; all others as for `Field`.
    """

    def __init__(self, dim: int, timed: bool | None, terms: dict[Term, Coefficient]) -> None:
        super().__init__(dim, timed)
        self._terms = terms

    @staticmethod
    def component(k: int, dim: int, timed: bool | None) -> Unknown:
        """The scalar field u_k, component k of the unknown."""
        return Unknown(dim, timed, {(k, (0,) * dim): Coefficient.of(1.0)})

    @property
    def terms(self) -> dict[Term, Coefficient]:
        """(k, α) ↦ φ_{k,α}, without the coefficients that are 0 by construction."""
        return {term: c for term, c in self._terms.items() if c.constant != 0.0}

    @property
    def order(self) -> int:
        """The highest order of its derivatives."""
        return max((sum(alpha) for _, alpha in self.terms), default=0)

    def partial(self, axis: int) -> Field:
        raised = {(k, tuple(a + (j == axis) for j, a in enumerate(alpha))): c for (k, alpha), c in self._terms.items()}
        product_rule = {term: c.partial(axis) for term, c in self._terms.items() if c.constant is None}
        return self._with(raised)._plus(self._with(product_rule))

    def times(self, coefficient: Coefficient) -> Unknown:
        return self._with({term: c * coefficient for term, c in self._terms.items()})

    def _with(self, terms: dict[Term, Coefficient]) -> Unknown:
        found = Unknown(self.dim, self.timed, terms)
        found.divergences = self.divergences
        return found

    def _plus(self, other: Field | Coefficient) -> Field:
        if isinstance(other, Coefficient):
            raise AffineError
        if not isinstance(other, Unknown):
            raise _foreign()
        terms = dict(self._terms)
        for term, c in other._terms.items():
            terms[term] = terms[term] + c if term in terms else c
        found = self._with(terms)
        return found.made_of(other.divergences) if other.divergences else found

    def _times_field(self, other: Field) -> Field:
        raise ProductError

    def _power(self, exponent: Field | float) -> Field:
        raise ProductError


class KnownField(Field):
    """A known function, x ↦ values of shape (n,) or (n, B), and what operators make of it."""

    def __init__(self, dim: int, timed: bool | None, at: PlaceFunction) -> None:
        super().__init__(dim, timed)
        self.at = at

    def partial(self, axis: int) -> Field:
        return self._with(directional(self.at, axis))

    def times(self, coefficient: Coefficient) -> Field:
        return self._pointwise(coefficient, operator.mul)

    def _plus(self, other: Field | Coefficient) -> Field:
        return self._pointwise(other, operator.add)

    def _times_field(self, other: Field) -> Field:
        return self._pointwise(other, operator.mul)

    def _power(self, exponent: Field | float) -> Field:
        if isinstance(exponent, Field):
            return self._pointwise(exponent, operator.pow)
        return self._with(lambda x, n: self.at(x, n) ** exponent)

    def _with(self, at: PlaceFunction) -> KnownField:
        found = KnownField(self.dim, self.timed, at)
        found.divergences = self.divergences
        return found

    def _pointwise(self, other: Field | Coefficient, rule: Callable[[Array, Array], Array]) -> Field:
        if not isinstance(other, KnownField | Coefficient):
            raise _foreign()

        def at(x: Array, n: Array | None) -> Array:
            mine, theirs = self.at(x, n), other.at(x, n)
            # Values (n,) of a coefficient, or of another function, go with each column of values (n, B).
            axes = max(mine.ndim, theirs.ndim)
            return rule(*(values.reshape(values.shape + (1,) * (axes - values.ndim)) for values in (mine, theirs)))

        found = self._with(at)
        return found.made_of(other.divergences) if isinstance(other, KnownField) else found


def _foreign() -> KernopError:
    return fail(OperatorError, "operator", "a field of another operator", "use only the fields that are passed in")


@dataclass(frozen=True)
class VectorField:
    """A tuple of fields, such as grad(u); of vector fields it is a matrix field, row by row."""

    parts: tuple[Any, ...]

    __array_ufunc__ = None

    @property
    def is_matrix(self) -> bool:
        """Are the parts vector fields?"""
        return isinstance(self.parts[0], VectorField)

    @property
    def scalars(self) -> tuple[Field, ...]:
        """All scalar fields in it, row by row."""
        return tuple(f for part in self.parts for f in (part.parts if isinstance(part, VectorField) else (part,)))

    @property
    def shape(self) -> tuple[int, ...]:
        """(m,), or (m, n) for a matrix."""
        return (len(self.parts), len(self.parts[0])) if self.is_matrix else (len(self.parts),)

    def __getitem__(self, axis: int) -> Any:
        return self.parts[check_axis(axis, len(self.parts))]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __add__(self, other: object) -> VectorField:
        if isinstance(other, int | float) and other == 0:  # sum() starts from 0
            return self
        added = vector("operator", other)
        if added.shape != self.shape:
            got = f"the sum of fields of shapes {self.shape} and {added.shape}"
            raise fail(OperatorError, "operator", got, "add vectors, or matrices, of one shape")
        return VectorField(tuple(a + b for a, b in zip(self.parts, added.parts, strict=True)))

    def __sub__(self, other: object) -> VectorField:
        return self + -vector("operator", other)

    def __rsub__(self, other: object) -> VectorField:
        return -self + other

    def __neg__(self) -> VectorField:
        return VectorField(tuple(-part for part in self.parts))

    def __mul__(self, other: object) -> VectorField:
        if isinstance(other, VectorField):
            raise fail(OperatorError, "operator", "the product of two vector fields", "use dot(b, v)")
        return VectorField(tuple(part * other for part in self.parts))

    def __truediv__(self, other: object) -> VectorField:
        return VectorField(tuple(part / other for part in self.parts))

    __radd__ = __add__
    __rmul__ = __mul__


def scalars_of(field: Field | VectorField) -> tuple[Field, ...]:
    """All scalar fields in a field of any kind, row by row."""
    return field.scalars if isinstance(field, VectorField) else (field,)


def scalar(name: str, value: object) -> Field:
    """A scalar field, checked."""
    if not isinstance(value, Field):
        raise fail(OperatorError, name, described(value), "give a scalar field, such as u")
    return value


def vector(name: str, value: object) -> VectorField:
    """A vector or matrix field, checked."""
    if not isinstance(value, VectorField):
        raise fail(OperatorError, name, described(value), "give a vector field, such as grad(u)")
    return value


def described(value: object) -> str:
    """What came where a field was wanted, for a message."""
    if isinstance(value, VectorField):
        kind = "matrix" if value.is_matrix else "vector"
        return f"a {kind} field of shape {value.shape}"
    return "a scalar field" if isinstance(value, Field) else describe(value)


def check_axis(axis: object, dim: int) -> int:
    """The number of a coordinate, or of a part; negative ones count from the end."""
    if not isinstance(axis, int | np.integer) or isinstance(axis, bool) or not -dim <= axis < dim:
        raise fail(OperatorError, "axis", describe(axis), f"give a whole number from {-dim} to {dim - 1}")
    return int(axis) % dim
