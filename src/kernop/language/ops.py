"""The normal form of a linear differential operator: P u = Σ_α φ_α(x) ∂^α u, as a table of values at points."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FloatArray,
    KernopError,
    NonFiniteError,
    NonlinearOperatorError,
    OperatorError,
    describe,
    fail,
    naming,
)
from kernop.basics.fitting import check_shape
from kernop.basics.precision import eagerly
from kernop.basics.stored import stored
from kernop.geometry import Points
from kernop.language.coefficients import Coefficient
from kernop.language.fields import (
    AffineError,
    Field,
    Known,
    MultiIndex,
    ProductError,
    Unknown,
)
from kernop.language.functions import Function, evaluate, padded

#: An operator as the user writes it: a function of a field that returns a field.
Operator = Callable[[Any], Any]
FieldT = TypeVar("FieldT", Unknown, Known)

#: The highest derivative of an operator in a file.
HIGHEST = 32
#: Coefficients from here on count as infinite: their squares are.
LARGEST = 1e150


@stored("identity")
def identity(u: Field) -> Field:
    """The operator u ↦ u."""
    return u


@stored("normal form")
@dataclass(frozen=True, eq=False)
class NormalForm:
    """n functionals u ↦ Σ_α φ_α(x_i) (∂^α u)(x_i).

    Arguments:
        x: points, shape (n, d).
        alphas: the A multi-indices that occur.
        coefficients: φ_α(x_i), shape (n, A).
    """

    x: FloatArray
    alphas: tuple[MultiIndex, ...]
    coefficients: FloatArray

    def check(self) -> None:
        """Raise unless there is a coefficient for each point and each of sorted multi-indices."""
        check_shape("x", self.x, None, None)
        check_shape("coefficients", self.coefficients, len(self.x), len(self.alphas))
        whole = all(len(alpha) == self.x.shape[1] and min(alpha) >= 0 for alpha in self.alphas)
        if not self.alphas or not whole or list(self.alphas) != sorted(set(self.alphas)) or self.order > HIGHEST:
            raise fail(ArgumentError, "alphas", "no list of multi-indices", "write the file again")

    def __len__(self) -> int:
        return self.x.shape[0]

    @property
    def order(self) -> int:
        """The order s = max |α|."""
        return max(map(sum, self.alphas))

    def scaled(self, factors: FloatArray) -> NormalForm:
        """Functional i multiplied by factors[i]."""
        return NormalForm(self.x, self.alphas, self.coefficients * factors[:, None])

    def __getitem__(self, rows: Any) -> NormalForm:
        return NormalForm(self.x[rows], self.alphas, self.coefficients[rows])


def evaluations(x: FloatArray) -> NormalForm:
    """The functionals u ↦ u(x_i)."""
    return NormalForm(x, ((0,) * x.shape[1],), np.ones((len(x), 1)))


class Tabulated(ABC):
    """An operator that is known by its normal form at some points, and perhaps not as a function."""

    @abstractmethod
    def __call__(self, u: Any) -> Any:
        """op(u), or an error if the operator is not known as a function."""

    @abstractmethod
    def form(self, points: Points, multiplier: Function | None, name: str) -> NormalForm:
        """See `normal_form`; an error if the points are not among those that are known."""


def constant_coefficients(op: Operator, points: Points, name: str = "op") -> dict[MultiIndex, float] | None:
    """α ↦ φ_α of an operator whose coefficients are numbers by construction; None if one is a function of x or n."""
    found: dict[MultiIndex, float] = {}
    for alpha, c in sorted(_linear_terms(op, points, None, name).items()):
        if c.constant is None:
            return None
        found[alpha] = c.constant
    return found


def differentiated(op: Operator, points: Points, name: str = "op") -> list[Coefficient]:
    """The coefficients of an operator that it takes derivatives of, each once; none of one that comes from a file."""
    if isinstance(op, Tabulated):
        return []
    terms = _linear_terms(op, points, None, name).values()
    return list({id(source): source for c in terms for source in c.sources}.values())


def normal_form(op: Operator, points: Points, *, multiplier: Function | None = None, name: str = "op") -> NormalForm:
    """The table α ↦ φ_α(x) of ``op``, or of u ↦ op(multiplier · u), at points.

    The product rule is applied to the coefficient functions by automatic differentiation, so
    φ_α(x₀) = P[(· − x₀)^α / α!](x₀) holds to rounding. The order is found. Coefficients that vanish at all points
    are dropped (but one). An operator that is not linear is refused with a counterexample.
    """
    if isinstance(op, Tabulated):
        return op.form(points, multiplier, name)
    with eagerly():
        terms = _linear_terms(op, points, multiplier, name)
        x, normal = _places(points)
        values = {alpha: _values(c, x, normal, points, alpha, name) for alpha, c in terms.items()}
    return tabulate(points.x, values)


def tabulate(x: FloatArray, values: Mapping[MultiIndex, FloatArray]) -> NormalForm:
    """The normal form of coefficients α ↦ φ_α(x), without those that vanish at all points (but one)."""
    kept = {alpha: v for alpha, v in sorted(values.items()) if np.any(v)}
    if not kept:
        kept = {(0,) * x.shape[1]: np.zeros(len(x))}
    return NormalForm(x, tuple(kept), np.stack(list(kept.values()), axis=1))


def apply_operator(op: Operator, u: Function, points: Points, *, name: str = "op") -> FloatArray:
    """(P u)(x_i) for a known function u, by automatic differentiation; (n,), or (n, B) if u gives B functions.

    This is how data for a manufactured solution is made: f = P u to rounding. Points of a region (``region.sample(n)``,
    ``region.adopt(x)``) know whether the last coordinate is time; others say it, ``Points(x, timed=False)``.
    """
    if not isinstance(points, Points):
        raise fail(ArgumentTypeError, "points", describe(points), "give Points, such as region.sample(100)")
    return _finite(_applied(op, u, points, name), "a result", points, name)


def _places(points: Points) -> tuple[Any, Any]:
    return jnp.asarray(padded(points.x)), None if points.normal is None else jnp.asarray(padded(points.normal))


def _linear_terms(
    op: Operator, points: Points, multiplier: Function | None, name: str
) -> dict[MultiIndex, Coefficient]:
    unknown = Unknown(points.dim, points.timed)
    if multiplier is not None:
        with naming(name):
            unknown = unknown.times(Coefficient.of(multiplier))
    try:
        terms = _result(op, unknown, name).terms
    except (AffineError, ProductError):
        raise _superposition(op, points, name) from None
    if not terms:
        raise fail(OperatorError, name, "an operator that is zero", "state an equation that involves u")
    return terms


def _result(op: Operator, field: FieldT, name: str) -> FieldT:
    """op(field), a scalar field again."""
    if not callable(op):
        raise fail(ArgumentTypeError, name, describe(op), "give a function of a field, such as lambda u: -laplacian(u)")
    try:
        with naming(name):
            result = op(field)
    except KernopError:
        raise
    except (TypeError, AttributeError, ValueError) as error:
        raise _failed(name, str(error).partition("\n")[0]) from error  # JAX goes on about what does not apply here
    if not isinstance(result, type(field)):
        got = f"an operator that returns {describe(result)}"
        raise fail(OperatorError, name, got, "return a scalar field, such as -laplacian(u)")
    return result


#: What Python calls functions, in messages about operators that it has not for them.
_FUNCTIONS = r"'(?:function|method|builtin_function_or_method|functools\.partial|[\w.]*PjitFunction|numpy\.ufunc)'"
_PLAIN = r"'(?:str|bytes|list|tuple|dict|set|NoneType)'"


def _failed(name: str, why: str) -> KernopError:
    """For an operator that raised on a field, and why."""
    got = f"an operator that fails on a field ({why})"
    if re.search(rf"unary -: (?!{_PLAIN})", why):
        got = f"-a for a function a, and Python cannot negate a function ({why})"
        return fail(OperatorError, name, got, "put the sign before the term, as in -(a * laplacian(u))")
    number = r"'(?:int|float|numpy\.\w+)'"
    if re.search(rf"{_FUNCTIONS} and (?:{_FUNCTIONS}|{number})|{number} and {_FUNCTIONS}", why):
        got = f"arithmetic with functions alone, and Python cannot compute with functions ({why})"
        remedy = "multiply the field, as in 2 * (a * laplacian(u)), or write one function, lambda x: 2 * a(x)"
        return fail(OperatorError, name, got, remedy)
    remedy = (
        "an operator is linear: build it from u with grad, div, laplacian, partial, dt, normal_derivative, dot,"
        " + and -, and * and / by numbers and functions of x"
    )
    return fail(NonlinearOperatorError, name, got, remedy)


def _values(c: Coefficient, x: Any, normal: Any, points: Points, alpha: MultiIndex, name: str) -> FloatArray:
    with naming(name):
        values = np.full(len(points), c.constant) if c.constant is not None else _known(c.at(x, normal))
    values = values[: len(points)]
    return _finite(np.where(np.abs(values) >= LARGEST, np.inf, values), f"a coefficient of ∂^{alpha}", points, name)


def _applied(op: Operator, u: Function, points: Points, name: str) -> FloatArray:
    if not callable(u):
        raise fail(ArgumentTypeError, "u", describe(u), "give a function of x, such as lambda x: jnp.sin(x[..., 0])")
    with eagerly():
        result = _result(op, Known(points.dim, points.timed, lambda x, _: evaluate("u", u, x)), name)
        with naming(name):
            return _known(result.at(*_places(points)))[: len(points)]


def _known(values: Any) -> FloatArray:
    if isinstance(values, Tracer):
        remedy = "learn outside of jit, grad and vmap, where all coefficients are known"
        raise fail(OperatorError, "coefficient", "values that JAX traces", remedy)
    return np.asarray(values)


def _finite(values: FloatArray, what: str, points: Points, name: str) -> FloatArray:
    bad = ~np.isfinite(values)
    if np.any(bad):
        rows = np.flatnonzero(bad.reshape(len(points), -1).any(axis=1))
        got = f"{what} that is {values[bad][0]} at x = {points.x[rows[0]]}"
        remedy = f"make it finite at all points ({len(rows)} of {len(points)} are not)"
        raise fail(NonFiniteError, name, got, remedy)
    return values


@np.errstate(invalid="ignore")
def _superposition(op: Operator, points: Points, name: str) -> NonlinearOperatorError:
    """The violated superposition, shown by numbers at the point where it is violated most."""

    def u(x: Any) -> Any:
        return jnp.exp(jnp.sum(0.5 * x, axis=-1))

    def v(x: Any) -> Any:
        return 2.0 + jnp.sin(jnp.sum(x, axis=-1))

    def value(function: Function) -> FloatArray:
        return _applied(op, function, points, name)

    zero, both, apart = value(lambda x: 0.0), value(lambda x: u(x) + v(x)), value(u) + value(v)
    if np.any(zero) and _agree(both + zero, apart):
        i, where = _largest(zero, points)
        got = f"an operator that is affine: {where} P(0) = {zero[i]:.6g}, not 0"
        remedy = "move the term without u to the right-hand side, where it is data"
    elif _agree(both, apart):
        got = "an operator that multiplies or divides u by u"
        remedy = "write it without products, powers and quotients of u, even those that cancel"
    else:
        i, where = _largest(both - apart, points)
        got = f"an operator that is not linear: {where} P(u + v) = {both[i]:.6g} but P(u) + P(v) = {apart[i]:.6g}"
        remedy = "kernop learns linear equations; products, powers and quotients of u are not"
    return NonlinearOperatorError(str(fail(NonlinearOperatorError, name, got, remedy)))


def _agree(one: FloatArray, other: FloatArray) -> bool:
    scale = np.max(np.abs(other))
    return bool(np.isfinite(scale) and np.all(np.abs(one - other) <= 1e-9 * scale))


def _largest(values: FloatArray, points: Points) -> tuple[int, str]:
    i = int(np.argmax(np.where(np.isfinite(values), np.abs(values), -1.0)))
    return i, f"at x = {np.array2string(points.x[i], precision=3)}"
