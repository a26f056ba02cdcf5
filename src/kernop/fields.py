"""The language of operators: u, grad, div, laplacian, partial, normal_derivative, and arithmetic.

An operator is written as a function of a field, ``lambda u: -div(a * grad(u)) + V * u``. It is read in two ways, with
the same words:

* on the **unknown** (`Unknown`), where a field is a linear form Σ_α φ_α ∂^α u kept as a table α ↦ φ_α: that is the
  normal form, and the product rule builds it, so linearity is a fact of its construction and not a guess;
* on a **known function** (`Known`), where derivatives are taken by automatic differentiation: that gives data for
  manufactured solutions, and the counterexample that an error message shows for a nonlinear operator.

Coefficients are numbers or functions of x; x has shape (n, d) and the result (n,).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from kernop.errors import (
    ArgumentError,
    ArgumentTypeError,
    NonlinearOperatorError,
    OperatorError,
    ShapeError,
    check_array,
    check_integer,
    check_number,
    describe,
    fail,
)

MultiIndex = tuple[int, ...]
Function = Callable[[Any], Any]
#: A function of coordinates (n, d) and normals (n, d) or None.
PlaceFunction = Callable[[Any, Any], Any]


class AffineError(OperatorError):
    """A field was added to something that is not a multiple of u; `operators` turns this into a full message."""


class ProductError(NonlinearOperatorError):
    """Two fields were multiplied or divided; `operators` turns this into a full message."""


@dataclass(frozen=True)
class Coefficient:
    """A number, or a function of place, that multiplies a derivative of u. Constants are folded."""

    constant: float | None
    at: PlaceFunction

    @staticmethod
    def of(value: Any) -> Coefficient:
        """Read a user's coefficient: a number or a function of x."""
        if isinstance(value, Coefficient):
            return value
        if callable(value):
            return Coefficient(None, lambda x, _: evaluate("coefficient", value, x))
        if np.ndim(value) != 0:
            remedy = "a coefficient is a number or a function of x, such as lambda x: jnp.exp(x[..., 0])"
            raise fail(ArgumentTypeError, "coefficient", describe(value), remedy)
        number = check_number("coefficient", value)
        return Coefficient(number, lambda x, _: jnp.full(x.shape[0], number))

    def __add__(self, other: Coefficient) -> Coefficient:
        if self.constant is not None and other.constant is not None:
            return Coefficient.of(self.constant + other.constant)
        if self.constant == 0.0 or other.constant == 0.0:
            return other if self.constant == 0.0 else self
        return Coefficient(None, lambda x, n: self.at(x, n) + other.at(x, n))

    def __mul__(self, other: Coefficient) -> Coefficient:
        if self.constant is not None and other.constant is not None:
            return Coefficient.of(self.constant * other.constant)
        if self.constant == 1.0 or other.constant == 1.0:
            return other if self.constant == 1.0 else self
        if self.constant == 0.0 or other.constant == 0.0:
            return Coefficient.of(0.0)
        return Coefficient(None, lambda x, n: self.at(x, n) * other.at(x, n))

    def inverse(self) -> Coefficient:
        """1 / coefficient."""
        if self.constant is not None:
            if self.constant == 0.0:
                raise fail(ArgumentError, "coefficient", "a division by 0", "divide by a number that is not 0")
            return Coefficient.of(1.0 / self.constant)
        return Coefficient(None, lambda x, n: 1.0 / self.at(x, n))

    def partial(self, axis: int) -> Coefficient:
        """∂/∂x_axis, by forward-mode differentiation of the whole cloud at once; normals are held fixed."""
        if self.constant is not None:
            return Coefficient.of(0.0)
        return Coefficient(None, _directional(self.at, axis))


def _directional(function: PlaceFunction, axis: int) -> PlaceFunction:
    def derivative(x: Any, n: Any) -> Any:
        tangent = jnp.zeros_like(x).at[:, axis].set(1.0)
        return jax.jvp(lambda y: function(y, n), (x,), (tangent,))[1]

    return derivative


def evaluate(name: str, function: Function, x: Any) -> Any:
    """Values of a user's function at x (n, d): shape (n,), or (n, B) for B functions at once.

    A function that forgets ``...`` (``x[0]``) or an axis (``jnp.sum(x**2)``) mixes up the points; its shape gives it
    away, and the message says how to write it.
    """
    remedy = "write it with the coordinate on the last axis, as in x[..., 0], so that (n, d) gives (n,)"
    try:
        values = function(x)
    except jax.errors.JAXTypeError as error:
        raise fail(
            OperatorError, name, "a function that JAX cannot differentiate", "write it with jax.numpy instead of numpy"
        ) from error
    except IndexError as error:
        raise fail(ShapeError, name, f"a function that fails on x of shape {x.shape}: {error}", remedy) from error
    values = jnp.asarray(values) if isinstance(values, jax.Array) else np.asarray(values)
    n = x.shape[0]
    if values.shape == ():
        if not isinstance(values, Tracer) and not np.array_equal(values, function(x[:1]), equal_nan=True):
            raise fail(ShapeError, name, f"one number for all {n} points together", remedy)
        return jnp.broadcast_to(values, (n,))
    if values.ndim > 2 or values.shape[0] != n:
        raise fail(ShapeError, name, f"a function that maps x of shape {x.shape} to shape {values.shape}", remedy)
    return values


class Field(ABC):
    """A scalar expression in u. Fields add; they multiply and divide by numbers and functions of x."""

    __array_ufunc__ = None  # so that NumPy numbers and arrays leave the arithmetic to us

    @property
    @abstractmethod
    def dim(self) -> int:
        """The number of coordinates."""

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
    def _power(self, exponent: float) -> Field: ...

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

    def __pow__(self, exponent: float) -> Field:
        return self if exponent == 1 else self._power(exponent)

    def __neg__(self) -> Field:
        return self.times(Coefficient.of(-1.0))

    def __pos__(self) -> Field:
        return self

    def __sub__(self, other: Any) -> Field:
        return self + (-other if isinstance(other, Field) else _negative(other))

    def __rsub__(self, other: Any) -> Field:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__


def _negative(value: Any) -> Coefficient:
    return Coefficient.of(value) * Coefficient.of(-1.0)


class Unknown(Field):
    """The unknown u and what linear operators make of it: Σ_α φ_α(x) ∂^α u, as the table α ↦ φ_α."""

    def __init__(self, dim: int, terms: dict[MultiIndex, Coefficient] | None = None) -> None:
        self._dim = dim
        self._terms = {(0,) * dim: Coefficient.of(1.0)} if terms is None else terms

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def terms(self) -> dict[MultiIndex, Coefficient]:
        """α ↦ φ_α, without the coefficients that are 0 by construction."""
        return {alpha: c for alpha, c in self._terms.items() if c.constant != 0.0}

    def partial(self, axis: int) -> Field:
        raised = {tuple(a + (k == axis) for k, a in enumerate(alpha)): c for alpha, c in self._terms.items()}
        product_rule = {alpha: c.partial(axis) for alpha, c in self._terms.items() if c.constant is None}
        return Unknown(self._dim, raised)._plus(Unknown(self._dim, product_rule))

    def times(self, coefficient: Coefficient) -> Field:
        return Unknown(self._dim, {alpha: c * coefficient for alpha, c in self._terms.items()})

    def _plus(self, other: Field) -> Field:
        if not isinstance(other, Unknown):
            raise fail(OperatorError, "operator", "a field of another operator", "use only the field that is passed in")
        terms = dict(self._terms)
        for alpha, c in other._terms.items():
            terms[alpha] = terms[alpha] + c if alpha in terms else c
        return Unknown(self._dim, terms)

    def _plus_function(self, other: Coefficient) -> Field:
        raise AffineError

    def _times_field(self, other: Field) -> Field:
        raise ProductError

    def _power(self, exponent: float) -> Field:
        raise ProductError


class Known(Field):
    """A known function, x ↦ values of shape (n,) or (n, B), and what operators make of it."""

    def __init__(self, dim: int, at: PlaceFunction) -> None:
        self._dim = dim
        self.at = at

    @property
    def dim(self) -> int:
        return self._dim

    def partial(self, axis: int) -> Field:
        return Known(self._dim, _directional(self.at, axis))

    def times(self, coefficient: Coefficient) -> Field:
        return Known(self._dim, lambda x, n: _rows(coefficient.at(x, n), self.at(x, n)) * self.at(x, n))

    def _plus(self, other: Field) -> Field:
        return self._pointwise(other, lambda a, b: a + b)

    def _plus_function(self, other: Coefficient) -> Field:
        return Known(self._dim, lambda x, n: self.at(x, n) + _rows(other.at(x, n), self.at(x, n)))

    def _times_field(self, other: Field) -> Field:
        return self._pointwise(other, lambda a, b: a * b)

    def _power(self, exponent: float) -> Field:
        return Known(self._dim, lambda x, n: self.at(x, n) ** exponent)

    def _pointwise(self, other: Field, rule: Callable[[Any, Any], Any]) -> Field:
        if not isinstance(other, Known):
            raise fail(OperatorError, "operator", "a field of another operator", "use only the field that is passed in")
        return Known(self._dim, lambda x, n: rule(self.at(x, n), other.at(x, n)))


def _rows(coefficient: Any, values: Any) -> Any:
    """A coefficient (n,) shaped to multiply values (n,) or (n, B)."""
    return coefficient.reshape(coefficient.shape + (1,) * (values.ndim - coefficient.ndim))


@dataclass(frozen=True)
class VectorField:
    """A tuple of fields, such as grad(u)."""

    parts: tuple[Field, ...]

    __array_ufunc__ = None

    def __getitem__(self, axis: int) -> Field:
        return self.parts[axis]

    def __len__(self) -> int:
        return len(self.parts)

    def __add__(self, other: Any) -> VectorField:
        mine = _vector("operator", other)
        return VectorField(tuple(a + b for a, b in zip(self.parts, mine.parts, strict=True)))

    def __sub__(self, other: Any) -> VectorField:
        return self + -_vector("operator", other)

    def __neg__(self) -> VectorField:
        return VectorField(tuple(-part for part in self.parts))

    def __mul__(self, other: Any) -> VectorField:
        if isinstance(other, VectorField):
            raise fail(OperatorError, "operator", "the product of two vector fields", "use dot(b, v)")
        return VectorField(tuple(part * other for part in self.parts))

    def __truediv__(self, other: Any) -> VectorField:
        return VectorField(tuple(part / other for part in self.parts))

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
    if not isinstance(axis, int | np.integer) or not -dim <= axis < dim:
        raise fail(OperatorError, "axis", describe(axis), f"give a whole number from {-dim} to {dim - 1}")
    return int(axis) % dim


def partial(u: Field, axis: int, order: int = 1) -> Field:
    """∂^order u / ∂x_axis^order. In space–time the last axis is time: ``partial(u, -1)`` is u_t."""
    field = _scalar("partial(u)", u)
    index = _axis(axis, field.dim)
    for _ in range(check_integer("order", order, least=0)):
        field = field.partial(index)
    return field


def grad(u: Field, axes: Iterable[int] | None = None) -> VectorField:
    """∇u along all coordinates, or along ``axes`` (in space–time: the spatial ones)."""
    field = _scalar("grad(u)", u)
    chosen = range(field.dim) if axes is None else axes
    return VectorField(tuple(field.partial(_axis(axis, field.dim)) for axis in chosen))


def div(v: VectorField, axes: Iterable[int] | None = None) -> Field:
    """∇·v; part k of v is differentiated along coordinate k, or along ``axes[k]``."""
    parts = _vector("div(v)", v).parts
    dim = parts[0].dim
    chosen = tuple(range(dim)) if axes is None else tuple(axes)
    if len(chosen) != len(parts):
        got = f"a vector of {len(parts)} parts for {len(chosen)} axes"
        raise fail(OperatorError, "div(v)", got, "give one part for each axis; name the axes, as in div(v, axes=(0,))")
    return _sum([part.partial(_axis(axis, dim)) for part, axis in zip(parts, chosen, strict=True)])


def laplacian(u: Field, axes: Iterable[int] | None = None) -> Field:
    """Δu over all coordinates, or over ``axes`` (in space–time: the spatial ones)."""
    field = _scalar("laplacian(u)", u)
    chosen = tuple(range(field.dim) if axes is None else axes)
    return _sum([partial(field, axis, 2) for axis in chosen])


def normal_derivative(u: Field) -> Field:
    """∂u/∂n = n·∇u with the outward unit normal n; only on boundaries."""
    field = _scalar("normal_derivative(u)", u)
    return _sum([field.partial(axis).times(_normal_part(axis)) for axis in range(field.dim)])


def dot(b: Any, v: VectorField) -> Field:
    """b·v for a vector b: d numbers, d functions, or one function that maps (n, d) to (n, d)."""
    parts = _vector("dot(b, v)", v).parts
    return _sum([part.times(c) for part, c in zip(parts, _entries("b", b, (len(parts),)), strict=True)])


def matvec(a: Any, v: VectorField) -> VectorField:
    """A v for a matrix A: d × d numbers, or a function that maps (n, d) to (n, d, d). For anisotropic diffusion."""
    parts = _vector("matvec(a, v)", v).parts
    m = len(parts)
    entries = _entries("a", a, (m, m))
    rows = [entries[i * m : (i + 1) * m] for i in range(m)]
    return VectorField(tuple(_sum([p.times(c) for p, c in zip(parts, row, strict=True)]) for row in rows))


def _entries(name: str, value: Any, shape: tuple[int, ...]) -> list[Coefficient]:
    indices = list(np.ndindex(*shape))
    if callable(value):
        return [Coefficient(None, _entry(name, value, shape, index)) for index in indices]
    if isinstance(value, Sequence) and len(shape) == 1 and len(value) == shape[0]:
        return [Coefficient.of(part) for part in value]
    array = check_array(name, value, remedy=f"give numbers of shape {shape} or a function of x")
    if array.shape != shape:
        raise fail(ShapeError, name, f"shape {array.shape}", f"give shape {shape}, or a function of x")
    return [Coefficient.of(array[index]) for index in indices]


def _entry(name: str, function: Function, shape: tuple[int, ...], index: tuple[int, ...]) -> PlaceFunction:
    def at(x: Any, _: Any) -> Any:
        values = jnp.asarray(function(x))
        if values.shape != (x.shape[0], *shape):
            remedy = f"map x of shape (n, d) to shape (n, {', '.join(map(str, shape))})"
            raise fail(ShapeError, name, f"a function that maps x of shape {x.shape} to shape {values.shape}", remedy)
        return values[(slice(None), *index)]

    return at


def _normal_part(axis: int) -> Coefficient:
    def at(_: Any, n: Any) -> Any:
        if n is None:
            remedy = "use it on a boundary; a PointCloud needs normals=, and Points need normal="
            raise fail(OperatorError, "normal_derivative", "points without normals", remedy)
        return n[:, axis]

    return Coefficient(None, at)


def _sum(fields: Sequence[Field]) -> Field:
    total = fields[0]
    for field in fields[1:]:
        total = total + field
    return total
