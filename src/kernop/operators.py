"""The normal form of a linear differential operator: P u = Σ_α φ_α(x) ∂^α u, as a table of values at points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from kernop.domains import Points
from kernop.errors import (
    ArgumentTypeError,
    FloatArray,
    NonFiniteError,
    NonlinearOperatorError,
    OperatorError,
    describe,
    fail,
)
from kernop.fields import AffineError, Coefficient, Field, Function, Known, MultiIndex, ProductError, Unknown, evaluate
from kernop.precision import float64

#: An operator as the user writes it: a function of a field that returns a field.
Operator = Callable[[Any], Any]


def identity(u: Field) -> Field:
    """The operator u ↦ u."""
    return u


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


def normal_form(op: Operator, points: Points, *, multiplier: Function | None = None, name: str = "op") -> NormalForm:
    """The table α ↦ φ_α(x) of ``op``, or of u ↦ op(multiplier · u), at points.

    The product rule is applied to the coefficient functions by automatic differentiation, so
    φ_α(x₀) = P[(· − x₀)^α / α!](x₀) holds to rounding. The order is found. Coefficients that vanish at all points
    are dropped. An operator that is not linear is refused with a counterexample.
    """
    with float64():
        terms = _linear_terms(op, points, multiplier, name)
        # One row more than coordinates: a function that mixes up x[0] and x[..., 0] then has the wrong shape.
        short = max(0, points.dim + 1 - len(points))
        rows = np.concatenate([np.arange(len(points)), np.zeros(short, dtype=int)])
        x = jnp.asarray(points.x[rows])
        normal = None if points.normal is None else jnp.asarray(points.normal[rows])
        values = {alpha: _values(c, x, normal, len(points), alpha, name) for alpha, c in terms.items()}
    kept = {alpha: v for alpha, v in sorted(values.items()) if np.any(v)}
    if not kept:
        raise fail(OperatorError, name, "an operator that is zero at all points", "state an equation that involves u")
    return NormalForm(points.x, tuple(kept), np.stack(list(kept.values()), axis=1))


def _linear_terms(
    op: Operator, points: Points, multiplier: Function | None, name: str
) -> dict[MultiIndex, Coefficient]:
    if not callable(op):
        raise fail(ArgumentTypeError, name, describe(op), "give a function of a field, such as lambda u: -laplacian(u)")
    unknown: Field = Unknown(points.dim)
    if multiplier is not None:
        unknown = unknown.times(Coefficient.of(multiplier))
    try:
        result = op(unknown)
    except (AffineError, ProductError):
        raise _superposition(op, points, name) from None
    except OperatorError as error:
        raise type(error)(f"{name}: {error}") from None
    except (TypeError, AttributeError, ValueError) as error:
        if isinstance(error, ArgumentTypeError):
            raise
        remedy = (
            "an operator is linear: build it from u with grad, div, laplacian, partial, normal_derivative, dot,"
            " + and -, and * and / by numbers and functions of x"
        )
        raise fail(NonlinearOperatorError, name, f"an operator that fails on a field ({error})", remedy) from error
    if not isinstance(result, Unknown):
        got = f"an operator that returns {describe(result)}"
        raise fail(OperatorError, name, got, "return a scalar field, such as -laplacian(u)")
    if not result.terms:
        raise fail(OperatorError, name, "an operator that is zero", "state an equation that involves u")
    return result.terms


def _values(c: Coefficient, x: Any, normal: Any, n: int, alpha: MultiIndex, name: str) -> FloatArray:
    if c.constant is not None:
        return np.full(n, c.constant)
    try:
        values = np.asarray(c.at(x, normal), dtype=np.float64)[:n]
    except OperatorError as error:
        raise type(error)(f"{name}: {error}") from error.__cause__
    bad = ~np.isfinite(values)
    if np.any(bad):
        got = f"a coefficient of ∂^{alpha} that is {values[bad][0]} at x = {np.asarray(x[:n][bad][0])}"
        remedy = f"make it finite at all points ({int(bad.sum())} of {n} are not)"
        raise fail(NonFiniteError, name, got, remedy)
    return values


def apply_operator(op: Operator, u: Function, points: Points, *, name: str = "op") -> FloatArray:
    """(P u)(x_i) for a known function u, by automatic differentiation; (n,), or (n, B) if u gives B functions.

    This is how data for a manufactured solution is made: f = P u to rounding.
    """
    with float64():
        known = Known(points.dim, lambda x, _: evaluate("u", u, x))
        result = op(known)
        if not isinstance(result, Known):
            raise fail(OperatorError, name, f"an operator that returns {describe(result)}", "return a scalar field")
        normal = None if points.normal is None else jnp.asarray(points.normal)
        return np.asarray(result.at(jnp.asarray(points.x), normal), dtype=np.float64)


def _superposition(op: Operator, points: Points, name: str) -> NonlinearOperatorError:
    """The violated superposition, shown by numbers at the first point."""
    here = points[:1]
    shown = f"at x = {np.array2string(here.x[0], precision=3)}"

    def value(function: Function) -> float:
        return float(apply_operator(op, function, here, name=name)[0])

    def u(x: Any) -> Any:
        return jnp.exp(jnp.sum(0.5 * x, axis=-1))

    def v(x: Any) -> Any:
        return 2.0 + jnp.sin(jnp.sum(x, axis=-1))

    at_zero = value(lambda x: jnp.zeros_like(u(x)))
    if np.isfinite(at_zero) and at_zero != 0.0:
        got = f"an operator that is affine: {shown} P(0) = {at_zero:.6g}, not 0"
        remedy = "move the term without u to the right-hand side, where it is data"
    else:
        both, apart = value(lambda x: u(x) + v(x)), value(u) + value(v)
        got = f"an operator that is not linear: {shown} P(u + v) = {both:.6g} but P(u) + P(v) = {apart:.6g}"
        remedy = "kernop learns linear equations; products, powers and quotients of u are not"
    return NonlinearOperatorError(str(fail(NonlinearOperatorError, name, got, remedy)))
