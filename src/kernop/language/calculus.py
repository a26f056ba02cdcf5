"""The words of operators: partial, dt, grad, div, laplacian, normal_derivative, dot, matvec, and those of matrices.

Of a vector field u with parts u_i, grad(u) is the matrix field ∂u_i/∂x_j, row by row, and div of a matrix field M the
vector Σ_j ∂M_ij/∂x_j, so that div(grad(u)) = laplacian(u). Derivatives of a vector are those of its parts.

The words take their field by position only: ``u`` in their signatures is not the name of an unknown.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from typing import Any

import numpy as np

from kernop.basics.checks import check_array, check_integer
from kernop.basics.errors import FloatArray, OperatorError, ShapeError, describe, fail, naming
from kernop.basics.stored import stored
from kernop.language.coefficients import Coefficient, PlaceFunction
from kernop.language.fields import Field, VectorField, check_axis, described, scalar, scalars_of, vector
from kernop.language.functions import values_of_function

#: Where fluxes are collected, by the numbers of their divergences, if they are.
_fluxes: ContextVar[dict[int, Field | VectorField] | None] = ContextVar("fluxes", default=None)
#: Derivatives along one axis at a time: the work for a known function doubles with each.
HIGHEST_ORDER = 16


@contextmanager
def collecting_fluxes() -> Generator[dict[int, Field | VectorField]]:
    """Collect v·n for every ``div(v)``, and ∂u/∂n for every ``laplacian(u)``, that is written meanwhile.

    Divergences of which the argument of another one is made are left out: of div(λ div(u) I + μ grad(u)) it is the
    outer one whose flux is continuous.
    """
    found = dict[int, Field | VectorField]()
    token = _fluxes.set(found)
    try:
        yield found
    finally:
        _fluxes.reset(token)


def partial(u: object, /, axis: int, order: int = 1) -> Field | VectorField:
    """∂^order u / ∂x_axis^order along any coordinate; in space–time the last axis is time, see `dt`."""
    return _each("partial(u)", u, lambda field: _partial(field, axis, order))


def _partial(field: Field, axis: int, order: int) -> Field:
    index = check_axis(axis, field.dim)
    for _ in range(check_order(order)):
        field = field.partial(index)
    return field


def dt(u: object, /, order: int = 1) -> Field | VectorField:
    """∂^order u / ∂t^order, on a SpaceTime."""

    def derivative(field: Field) -> Field:
        with naming("dt(u)"):
            timed = field.has_time
        if not timed:
            remedy = "state the problem on a SpaceTime; along a coordinate of your choice, use partial(u, axis)"
            raise fail(OperatorError, "dt(u)", "a problem that has no time", remedy)
        return _partial(field, -1, order)

    return _each("dt(u)", u, derivative)


def check_order(order: object) -> int:
    """How often to differentiate along an axis."""
    number = check_integer("order", order, least=0)
    if number > HIGHEST_ORDER:
        raise fail(OperatorError, "order", describe(number), f"differentiate at most {HIGHEST_ORDER} times")
    return number


def grad(u: Any, /, axes: Sequence[int] | None = None) -> VectorField:
    """∇u along the spatial coordinates, or along ``axes``: d parts, in space–time d − 1. Of a vector, a matrix."""
    if isinstance(u, VectorField) and not u.is_matrix:
        return VectorField(tuple(grad(part, axes) for part in u.parts))
    field = scalar("grad(u)", u)
    return VectorField(tuple(field.partial(axis) for axis in _axes("grad(u)", axes, field)))


def div(v: VectorField, /, axes: Sequence[int] | None = None) -> Field | VectorField:
    """∇·v; part k of v is differentiated along spatial coordinate k, or along ``axes[k]``. Of a matrix, row by row."""
    found = _rows("div(v)", v, axes, lambda part, axis: part.partial(axis))
    if _fluxes.get() is None:
        return found
    return _collected(found, _rows("div(v)", v, axes, lambda part, axis: part.times(_normal_part(axis, False, "flux"))))


def _collected(divergence: Field | VectorField, flux: Field | VectorField) -> Field | VectorField:
    """The divergence of a flux, which is collected in the place of those that it contains."""
    fluxes = _fluxes.get()
    assert fluxes is not None
    inner = frozenset[int]().union(*(part.divergences for part in scalars_of(flux)))
    number = max((*fluxes, *inner), default=-1) + 1
    for own in inner & fluxes.keys():
        del fluxes[own]
    fluxes[number] = flux
    return _each("div(v)", divergence, lambda part: part.made_of(frozenset({number})))


def _rows(name: str, v: Any, axes: Sequence[int] | None, rule: Callable[[Field, int], Field]) -> Field | VectorField:
    """The sum over the parts of a vector, each with its axis; of a matrix, row by row."""
    parts = vector(name, v).parts
    if v.is_matrix:
        return VectorField(tuple(_rows(name, row, axes, rule) for row in parts))
    along = _axes(name, axes, parts[0])
    if len(along) != len(parts):
        got = f"a vector of {len(parts)} parts for {len(along)} axes"
        raise fail(OperatorError, name, got, "give one part for each axis; name the axes, as in div(v, axes=(0,))")
    return _sum([rule(part, axis) for part, axis in zip(parts, along, strict=True)])


def laplacian(u: object, /, axes: Sequence[int] | None = None) -> Field | VectorField:
    """Δu over the spatial coordinates, or over ``axes``."""
    found = _each("laplacian(u)", u, lambda f: _sum([_partial(f, axis, 2) for axis in _axes("laplacian(u)", axes, f)]))
    return found if _fluxes.get() is None else _collected(found, normal_derivative(u, axes))


@stored("normal derivative")
def normal_derivative(u: object, /, axes: Sequence[int] | None = None) -> Field | VectorField:
    """∂u/∂n = n·∇u with the outward unit normal n; only on boundaries.

    In space–time it is spatial, and belongs on walls: the normal of an initial or final slice is along time, which
    ``dt(u)`` differentiates by. ``axes`` names the coordinates to be used instead, all of them or some.
    """

    def derivative(field: Field) -> Field:
        chosen = _axes("normal_derivative(u)", axes, field)
        walls = axes is None and field.has_time
        return _sum([field.partial(axis).times(_normal_part(axis, walls, "normal_derivative")) for axis in chosen])

    return _each("normal_derivative(u)", u, derivative)


def tangential_derivative(u: object, /) -> Field | VectorField:
    """∂u/∂t = t·∇u along the boundary of a domain in the plane; t is the outward normal turned left, (−n_y, n_x).

    So t runs counter-clockwise around the domain, and clockwise around a hole. In space–time the plane is space.
    """

    def derivative(field: Field) -> Field:
        with naming("tangential_derivative(u)"):
            axes, walls = field.space, field.has_time
        if len(axes) != 2:
            remedy = "use it in the plane; elsewhere take grad(u) and directions of your own, dot(b, grad(u))"
            raise fail(OperatorError, "tangential_derivative(u)", f"a field in {len(axes)} dimensions", remedy)
        across, along = (_normal_part(axis, walls, "tangential_derivative") for axis in axes)
        return field.partial(1).times(across) - field.partial(0).times(along)

    return _each("tangential_derivative(u)", u, derivative)


def normal_component(v: VectorField, /) -> Field | VectorField:
    """v·n for a vector field, and M n for a matrix field, such as a stress; only on boundaries.

    In space–time n is spatial, as for `normal_derivative`.
    """
    parts = vector("normal_component(v)", v).parts
    if v.is_matrix:
        return VectorField(tuple(normal_component(row) for row in parts))
    field = scalar("normal_component(v)", parts[0])
    if len(parts) != len(field.space):
        got = f"a vector of {len(parts)} parts in {len(field.space)} dimensions"
        raise fail(OperatorError, "normal_component(v)", got, "give one part for each spatial coordinate")
    walls = field.has_time
    return _sum([part.times(_normal_part(axis, walls, "normal_component")) for axis, part in enumerate(parts)])


def dot(b: object, v: VectorField) -> Field | VectorField:
    """b·v for a vector b with as many parts as v: numbers, functions, or one function from (n, d) to (n, parts).

    For a matrix field M it is M b: dot(b, grad(u)) = (b·∇) u.
    """
    parts = vector("dot(b, v)", v).parts
    if v.is_matrix:
        return VectorField(tuple(dot(b, row) for row in parts))
    return _sum([part * c for part, c in zip(parts, _entries("b", b, (len(parts),)), strict=True)])


def matvec(a: object, v: VectorField) -> VectorField:
    """A v for a matrix A, for anisotropic diffusion: m × m numbers for the m parts of v, or a function of x.

    A function maps (n, d) to (n, m, m); for v = grad(u), m is the number of spatial coordinates. Rows of numbers and
    functions do as well, [[a, 0], [0, b]]: so jumps of a `Piecewise` a are known.
    """
    parts = vector("matvec(a, v)", v).parts
    m = len(parts)
    entries = _entries("a", a, (m, m))
    rows = [entries[i * m : (i + 1) * m] for i in range(m)]
    return VectorField(tuple(_sum([p * c for p, c in zip(parts, row, strict=True)]) for row in rows))


def transpose(m: VectorField) -> VectorField:
    """The transpose Mᵀ of a matrix field M."""
    rows = _matrix("transpose(m)", m).parts
    return VectorField(tuple(VectorField(column) for column in zip(*(row.parts for row in rows), strict=True)))


def trace(m: VectorField) -> Field:
    """Σ_i M_ii of a square matrix field; trace(grad(u)) = div(u)."""
    return _sum([row.parts[i] for i, row in enumerate(_square("trace(m)", m).parts)])


def sym(m: VectorField) -> VectorField:
    """(M + Mᵀ) / 2 of a square matrix field; sym(grad(u)) is the strain of a displacement u."""
    return 0.5 * (_square("sym(m)", m) + transpose(m))


def identity(m: object) -> FloatArray:
    """The identity matrix with as many rows as a matrix or vector field has, or as a number says.

    A scalar field times it is a matrix field: ``trace(e) * identity(e)``.
    """
    return np.eye(len(m) if isinstance(m, VectorField) else check_integer("identity(m)", m, least=1))


def _matrix(name: str, value: object) -> VectorField:
    if not isinstance(value, VectorField) or not value.is_matrix:
        raise fail(OperatorError, name, described(value), "give a matrix field, such as grad(u) of a vector u")
    return value


def _square(name: str, value: object) -> VectorField:
    m = _matrix(name, value)
    if m.shape[0] != m.shape[1]:
        raise fail(OperatorError, name, described(m), "give a square one")
    return m


def _each(name: str, u: object, rule: Callable[[Field], Field]) -> Field | VectorField:
    """A rule for scalar fields applied to a field, or to every part of a vector or matrix field."""
    if isinstance(u, VectorField):
        return VectorField(tuple(_each(name, part, rule) for part in u.parts))
    return rule(scalar(name, u))


def _axes(name: str, axes: object, field: Field) -> tuple[int, ...]:
    """The axes that a user named, or those of space."""
    if axes is None:
        with naming(name):
            return field.space
    if not isinstance(axes, Sequence | np.ndarray) or getattr(axes, "ndim", 1) == 0:
        raise fail(OperatorError, name, f"axes = {describe(axes)}", "give axes as a tuple, such as axes=(0,)")
    with naming(f"{name}, axes"):
        chosen = tuple(check_axis(axis, field.dim) for axis in axes)
    if not chosen:
        raise fail(OperatorError, name, "no axes", "name at least one, as in axes=(0,)")
    return chosen


def _entries(name: str, value: object, shape: tuple[int, ...]) -> list[Coefficient | Field]:
    """What multiplies the parts of a vector: coefficients or, where u multiplies u, fields."""
    indices = list(np.ndindex(*shape))
    if callable(value):

        def entry(index: tuple[int, ...]) -> PlaceFunction:
            return lambda x, _: values_of_function(name, value, x, shape)[(slice(None), *index)]

        return [Coefficient(None, entry(index), functions=(value,)) for index in indices]
    if isinstance(value, Sequence | VectorField) and len(value) == shape[0]:
        if len(shape) == 1:
            return [part if isinstance(part, Field) else Coefficient.of(part) for part in value]
        rows = [row for row in value if isinstance(row, Sequence) and len(row) == shape[1]]
        if len(rows) == shape[0] and any(callable(part) for row in rows for part in row):
            return [Coefficient.of(part) for row in rows for part in row]
    remedy = f"give numbers of shape {shape} or a function of x"
    array = check_array(name, value, remedy=remedy, complex_too=True)
    if array.shape != shape:
        raise fail(ShapeError, name, f"shape {array.shape}", f"give shape {shape}, or a function of x")
    return [Coefficient.of(array[index]) for index in indices]


def _normal_part(axis: int, walls: bool, name: str) -> Coefficient:
    """n_axis, for the word of this name; with ``walls``, only where the normal is not along time."""

    def at(_: FloatArray, n: FloatArray | None) -> FloatArray:
        if n is None:
            remedy = "use it on a boundary; a PointCloud needs normals=, and Points need normal="
            raise fail(OperatorError, name, "points without normals", remedy)
        if walls and not np.all(np.any(np.asarray(n)[:, :-1], axis=1)):
            remedy = "use it on the walls; on an initial or final slice give Initial(…, order=1), or dt(u)"
            raise fail(OperatorError, name, "points whose normal is along time", remedy)
        return n[:, axis]

    return Coefficient(None, at)


def _sum(fields: Sequence[Field]) -> Field:
    return reduce(operator.add, fields)
