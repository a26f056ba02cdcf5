"""Operators read on unknowns and on known functions: their linear forms, and their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.core import Tracer

from kernop.basics.checks import check_kind
from kernop.basics.errors import (
    ArgumentTypeError,
    FloatArray,
    KernopError,
    NonFiniteError,
    NonlinearOperatorError,
    NumberArray,
    OperatorError,
    ShapeError,
    describe,
    fail,
    naming,
)
from kernop.basics.precision import eagerly
from kernop.basics.stored import stored
from kernop.geometry import Points
from kernop.language.coefficients import Coefficient
from kernop.language.fields import (
    AffineError,
    Field,
    KnownField,
    MultiIndex,
    ProductError,
    Term,
    Unknown,
    VectorField,
    described,
)
from kernop.language.functions import Function, padded, remembering, values_of_function
from kernop.language.unknowns import Operator, Unknowns, read_unknowns

FieldT = TypeVar("FieldT", Unknown, KnownField)

#: Coefficients from here on count as infinite: their squares are.
LARGEST = 1e150
#: One scalar unknown.
SCALAR = Unknowns()
#: Of what an operator returns: () for a scalar field, (k,) for a vector, (k, l) for a matrix.
Shape = tuple[int, ...]

_RETURN = "return a scalar field, such as -laplacian(u), or a vector of them"


@stored("identity")
def itself(u: object, /) -> Any:
    """The operator u ↦ u."""
    return u


#: The linear forms of operators, and whether these returned a vector.
Forms = tuple[tuple[Unknown, ...], bool]

#: What operators were read as, with what tells them apart, which must live on.
_read: ContextVar[dict[tuple[object, ...], tuple[object, Forms]] | None] = ContextVar("read", default=None)


@contextmanager
def reading_once() -> Generator[None]:
    """A context in which the linear forms of an operator are made once, however often they are asked for.

    Numbers and functions that an operator finds around it may be others tomorrow, so the forms are not kept longer.
    """
    token = _read.set({})
    try:
        yield
    finally:
        _read.reset(token)


def linear_forms(
    op: Operator,
    points: Points,
    unknowns: Unknowns = SCALAR,
    *,
    of: str | None = None,
    envelope: Function | None = None,
    name: str = "op",
) -> Forms:
    """The linear forms Σ φ_{k,α} ∂^α u_k that an operator makes of the unknowns, and whether it returned a vector.

    With an envelope ρ they are those of u ↦ op(ρ u). An operator that is not linear is refused with a counterexample.
    """
    known = _read.get()
    if known is None:
        return _linear_forms(op, points, unknowns, of, envelope, name)
    key = id(op), unknowns, of, id(envelope), points.dim, points.timed
    if key not in known:
        known[key] = (op, envelope), _linear_forms(op, points, unknowns, of, envelope, name)
    return known[key][1]


def _linear_forms(
    op: Operator, points: Points, unknowns: Unknowns, of: str | None, envelope: Function | None, name: str
) -> Forms:
    multiplier = None
    if envelope is not None:
        with naming(name):
            multiplier = Coefficient.of(envelope)

    def component(k: int) -> Unknown:
        own = Unknown.component(k, points.dim, points.timed)
        return own if multiplier is None else own.times(multiplier)

    try:
        parts, shape = _result(op, unknowns, of, unknowns.fields(component), Unknown, name)
    except (AffineError, ProductError):
        raise _superposition(op, unknowns, of, points, name) from None
    if not all(part.terms for part in parts):
        where = "" if len(parts) == 1 else " in one of its parts"
        raise fail(OperatorError, name, f"an operator that is zero{where}", "state an equation that involves u")
    return parts, shape != ()


def coefficient_values(forms: tuple[Unknown, ...], points: Points, name: str) -> list[dict[Term, NumberArray]]:
    """The tables (k, α) ↦ φ_{k,α}(x_i) of linear forms at points: arrays (n,) of finite numbers, real or complex."""
    x, normal = _places(points)
    with remembering():
        return [{t: _values(c, x, normal, points, t[1], name) for t, c in form.terms.items()} for form in forms]


def matrix_shape(op: Operator, points: Points, unknowns: Unknowns = SCALAR, *, of: str | None = None) -> Shape | None:
    """The shape (k, l) of the matrix field that an operator makes of the unknowns; None if it makes no matrix."""
    fields = unknowns.fields(lambda k: Unknown.component(k, points.dim, points.timed))
    try:
        shape = _result(op, unknowns, of, fields, Unknown, "op", matrices=True)[1]
    except (AffineError, ProductError):  # which `linear_forms` explains
        return None
    return shape if len(shape) == 2 else None


def flattened_rows(op: Operator) -> Operator:
    """The operator that makes a vector field of the entries of the matrix field that ``op`` makes, row by row."""

    @wraps(op)  # its parameters name the unknowns
    def flat(*fields: object, **named: object) -> VectorField:
        return VectorField(op(*fields, **named).scalars)

    return flat


def differentiated(
    op: Operator, points: Points, unknowns: Unknowns = SCALAR, *, of: str | None = None, name: str = "op"
) -> list[Coefficient]:
    """The coefficients of an operator that it takes derivatives of, each once, and a function that is one once, too."""
    forms, _ = linear_forms(op, points, unknowns, of=of, name=name)
    sources = (source for form in forms for c in form.terms.values() for source in c.sources)
    return list({id(source.itself or source): source for source in sources}.values())


def plain_values(
    op: Operator, points: Points, unknowns: Unknowns = SCALAR, *, of: str | None = None, name: str = "op"
) -> list[tuple[Term, NumberArray]]:
    """The values, (n,) each, of the coefficients of an operator, and of those that it takes derivatives of.

    None is differentiated here: whoever wants to know whether an operator is the one of before need not.
    """
    forms, _ = linear_forms(op, points, unknowns, of=of, name=name)
    terms = [(t, own) for form in forms for t, c in form.terms.items() for own in (c, *c.sources) if not own.sources]
    x, normal = _places(points)
    with remembering():
        return [(t, _values(c, x, normal, points, t[1], name)) for t, c in terms]


def apply_operator(
    op: Operator,
    u: Function | Mapping[str, Function],
    points: Points,
    *,
    name: str = "op",
    unknowns: Mapping[str, int] | Unknowns = SCALAR,
    of: str | None = None,
) -> NumberArray:
    """(P u)(x_i) for a known function u, by automatic differentiation; (n,), or (n, B) if u gives B functions.

    This is how data for a manufactured solution is made: f = P u to rounding. Points of a region (``region.sample(n)``,
    ``region.adopt(x)``) know whether the last coordinate is time; others say it, ``Points(x, timed=False)``.

    With several ``unknowns``, as for `Problem`, u is a dictionary of functions by name; that of an unknown with k
    components gives (n, k), or (n, k, B), and so does an operator that returns a vector.
    """
    check_kind("points", points, Points, "give Points, such as region.sample(100)")
    own = read_unknowns(unknowns)
    return _finite(_applied(op, own, of, _functions(u, own), points, name), "a result", points, name)


def _functions(u: Any, unknowns: Unknowns) -> dict[str, Function]:
    """A function for each unknown by name."""
    if isinstance(u, Mapping):
        if set(u) != set(unknowns.names):
            remedy = f"give a function for each of the unknowns: {', '.join(unknowns.names)}"
            raise fail(ArgumentTypeError, "u", f"functions of {', '.join(map(str, u)) or 'nothing'}", remedy)
        return {str(name): function for name, function in u.items()}
    if unknowns.single is None:
        remedy = "give a dictionary with a function for each of the unknowns: " + ", ".join(unknowns.names)
        raise fail(ArgumentTypeError, "u", describe(u), remedy)
    return {unknowns.single: u}


def _places(points: Points) -> tuple[FloatArray, FloatArray | None]:
    return padded(points.x), None if points.normal is None else padded(points.normal)


def _result(
    op: Operator,
    unknowns: Unknowns,
    of: str | None,
    fields: Mapping[str, Field | VectorField],
    kind: type[FieldT],
    name: str,
    *,
    matrices: bool = False,
) -> tuple[tuple[FieldT, ...], Shape]:
    """The scalar fields in op(fields), of one kind again, and its shape: (), (k,) of a vector, (k, l) of a matrix.

    Matrix fields are refused where they are not asked for.
    """
    unknowns.arguments(op, of, name)
    try:
        with naming(name):
            result = unknowns.apply(op, of, fields, name)
    except KernopError:
        raise
    except (TypeError, AttributeError, ValueError) as error:
        raise _failed(name, str(error).partition("\n")[0]) from error  # JAX goes on about what does not apply here
    if isinstance(result, kind):
        return (result,), ()
    if isinstance(result, VectorField) and (matrices or not result.is_matrix):
        parts = tuple(part for part in result.scalars if isinstance(part, kind))
        if len(parts) == len(result.scalars):
            return parts, result.shape
    raise fail(OperatorError, name, f"an operator that returns {described(result)}", _RETURN)


_FIELD = r"'(?:Unknown|KnownField|VectorField)'"
_PLAIN = r"'(?:str|bytes|list|tuple|dict|set|NoneType)'"
_OTHER = rf"(?!{_FIELD}|{_PLAIN})'[^']+'"
#: What Python, NumPy and JAX say of arithmetic in which no field takes part, and some function does.
_OF_FUNCTIONS = "|".join(
    (
        rf": {_OTHER} and {_OTHER}",
        rf"between instances of {_OTHER} and {_OTHER}",
        rf"bad operand type for [^:]*: {_OTHER}",
        r"'\w*(?:function|method|partial|PjitFunction|ufunc)' object is not subscriptable",
        r"type (?:<class ')?(?:function|method|functools\.partial)\b",
    )
)


def _failed(name: str, why: str) -> KernopError:
    """For an operator that raised on a field, and why."""
    if re.search(rf"unary -: {_OTHER}", why):
        got = f"-a for a function a, and Python cannot negate a function ({why})"
        remedy = "put the sign before the term, as in -(a * laplacian(u)), or write lambda x: -a(x)"
        return fail(OperatorError, name, got, remedy)
    if re.search(_OF_FUNCTIONS, why):
        got = f"arithmetic with functions alone, and Python cannot compute with functions ({why})"
        remedy = "multiply the field, as in 2 * (a * laplacian(u)), or write one function, lambda x: 2 * a(x)"
        return fail(OperatorError, name, got, remedy)
    got = f"an operator that fails on a field ({why})"
    if re.search(r"'(?:Unknown|KnownField)' object is not subscriptable", why):
        remedy = "a scalar field has no parts, and functions of x are not called with u: write a * u for a(x) u(x)"
        return fail(OperatorError, name, got, remedy)
    remedy = (
        "an operator is linear: build it from u with grad, div, laplacian, partial, dt, normal_derivative, dot,"
        " + and -, and * and / by numbers and functions of x; values on a grid are ko.GridFunction(values, box)"
    )
    return fail(NonlinearOperatorError, name, got, remedy)


def _values(
    c: Coefficient, x: FloatArray, normal: FloatArray | None, points: Points, alpha: MultiIndex, name: str
) -> NumberArray:
    with naming(name), np.errstate(all="ignore"):  # what is not finite is reported below
        values = np.full(len(points), c.constant) if c.constant is not None else _known(c.at(x, normal))
    values = values[: len(points)]
    if np.all(np.abs(values) < LARGEST):
        return values.copy()
    return _finite(np.where(np.abs(values) >= LARGEST, np.inf, values), f"a coefficient of ∂^{alpha}", points, name)


def _applied(
    op: Operator, unknowns: Unknowns, of: str | None, u: Mapping[str, Function], points: Points, name: str
) -> NumberArray:
    for function in u.values():
        check_kind("u", function, Callable, "give a function of x, such as lambda x: jnp.sin(x[..., 0])")
    with eagerly():
        places = _places(points)
        parts, shape = _result(op, unknowns, of, unknowns.fields(_components(u, unknowns, points)), KnownField, name)
        with naming(name), np.errstate(all="ignore"):
            found = [_known(part.at(*places))[: len(points)] for part in parts]
    return np.stack(found, axis=1) if shape else found[0]


def _components(u: Mapping[str, Function], unknowns: Unknowns, points: Points) -> Callable[[int], KnownField]:
    """The known field of component k."""
    owners = [(name, part, size) for name, size in unknowns.sizes for part in range(size)]

    def component(k: int) -> KnownField:
        name, part, size = owners[k]
        what = name if len(unknowns.sizes) > 1 else "u"

        def at(x: Any, _: Any) -> Any:
            values = values_of_function(what, u[name], x)
            fits = values.ndim <= 2 if size == 1 else values.ndim > 1 and values.shape[1] == size
            if not fits:
                shapes = "(n,) or (n, B)" if size == 1 else f"(n, {size}) or (n, {size}, B)"
                got = f"a function that maps x of shape {x.shape} to shape {values.shape}"
                raise fail(ShapeError, what, got, f"return {shapes} for an unknown with {size} components")
            return values if size == 1 else values[:, part]

        return KnownField(points.dim, points.timed, at)

    return component


def _known(values: object) -> NumberArray:
    if isinstance(values, Tracer):
        remedy = "learn outside of jit, grad and vmap, where all coefficients are known"
        raise fail(OperatorError, "coefficient", "values that JAX traces", remedy)
    return np.asarray(values)


def _finite(values: NumberArray, what: str, points: Points, name: str) -> NumberArray:
    bad = ~np.isfinite(values)
    if np.any(bad):
        rows = np.flatnonzero(bad.reshape(len(points), -1).any(axis=1))
        got = f"{what} that is {values[bad][0]} at x = {points.x[rows[0]]}"
        remedy = f"make it finite at all points ({len(rows)} of {len(points)} are not)"
        raise fail(NonFiniteError, name, got, remedy)
    return values


@np.errstate(invalid="ignore")
def _superposition(
    op: Operator, unknowns: Unknowns, of: str | None, points: Points, name: str
) -> NonlinearOperatorError:
    """The violated superposition, shown by numbers at the point where it is violated most."""

    def u(x: Array) -> Array:
        return jnp.exp(jnp.sum(0.5 * x, axis=-1))

    def v(x: Array) -> Array:
        return 2.0 + jnp.sin(jnp.sum(x, axis=-1))

    def value(function: Function) -> FloatArray:
        functions = {own: _repeated(function, size) for own, size in unknowns.sizes}
        found = _applied(op, unknowns, of, functions, points, name)
        return found if found.ndim == 1 else np.sum(found, axis=1)

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
    return fail(NonlinearOperatorError, name, got, remedy)


def _repeated(function: Function, size: int) -> Function:
    """The same function for every component of an unknown."""
    if size == 1:
        return function
    return lambda x: jnp.broadcast_to(jnp.asarray(function(x))[..., None], (*x.shape[:-1], size))


def _agree(one: FloatArray, other: FloatArray) -> bool:
    scale = np.max(np.abs(other))
    return bool(np.isfinite(scale) and np.all(np.abs(one - other) <= 1e-9 * scale))


def _largest(values: FloatArray, points: Points) -> tuple[int, str]:
    i = int(np.argmax(np.where(np.isfinite(values), np.abs(values), -1.0)))
    return i, f"at x = {np.array2string(points.x[i], precision=3)}"
