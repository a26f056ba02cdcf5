"""Which equations can be glued: their orders, which unknowns have traces, and whether they are elliptic.

In space and time it is the derivatives in space that count: those of u_t − div(a ∇u) and of u_tt − div(c² ∇u) are
elliptic, and values of u on the faces of parts, at all times, with those at the first one, determine u in each part.

A system is read in the sense of Douglis and Nirenberg. In equations of the highest order, 2 or 4, as many unknowns have
derivatives of that order: these are *traced*, their values are known on faces. Unknowns of which only first derivatives
occur are *pressures*, multipliers of equations of first order between the traced ones, as in Stokes flow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import NumberArray, OperatorError
from kernop.basics.frozen import Kept
from kernop.basics.precision import eagerly
from kernop.geometry import Points
from kernop.language.conditions import Condition
from kernop.language.fields import Term
from kernop.language.interface import flux_of
from kernop.language.ops import coefficient_values, linear_forms
from kernop.language.problem import Problem

#: Places, and directions, at which it is looked whether a principal part vanishes; and what counts as vanishing.
PLACES, DIRECTIONS, VANISHES = 16, 96, 1e-12

#: (k, α) ↦ φ_{k,α}(x_i), (n,), real or complex.
Table = dict[Term, NumberArray]


@dataclass(frozen=True)
class Kind:
    """What is traced, and which equations have fluxes.

    Arguments:
        order: of the equations that have fluxes, 2 or 4.
        traced: the components of the unknowns whose traces are unknowns on faces.
        balanced: the numbers of the equations that have fluxes, among all scalar ones, as many.
        pressures: the other components.
    """

    order: int
    traced: tuple[int, ...]
    balanced: tuple[int, ...]
    pressures: tuple[int, ...]


def equations_of(problem: Problem) -> list[Condition]:
    """The equations: conditions on regions of full dimension that are no integrals."""
    return [c for c in problem.conditions if c.on.intrinsic_dim == problem.dim and not c.integral]


def tables_of(problem: Problem, points: Points) -> list[Table]:
    """The coefficients of all scalar equations at points, equation after equation."""
    return [table for c in equations_of(problem) for table in condition_tables(problem, c, points)]


def condition_tables(problem: Problem, condition: Condition, points: Points) -> list[Table]:
    """The coefficients of the components of one condition at points."""
    with eagerly():
        forms, _ = linear_forms(condition.op, points, problem.unknowns, of=condition.of, name=condition.name)
        return coefficient_values(forms, points, condition.name)


def flux_tables(problem: Problem, condition: Condition, points: Points) -> list[Table] | None:
    """What stands in the div of an equation, along the normal; None if there is not one of it."""
    try:
        with eagerly():
            op = flux_of(condition.op)
            forms, _ = linear_forms(op, points, problem.unknowns, of=condition.of, name=condition.name)
            return coefficient_values(forms, points, condition.name)
    except OperatorError:
        return None


_kinds: Kept[Problem, Kind | str] = Kept()


def kind_of(problem: Problem) -> Kind | str:
    """What is traced; or, in words, why the equations cannot be glued."""
    return _kinds.of(problem, lambda: _kind(problem))


def _kind(problem: Problem) -> Kind | str:
    tables = tables_of(problem, equations_of(problem)[0].on.sample(PLACES))
    if problem.timed:
        reason = _unevolving(tables)
        if reason is not None:
            return reason
        tables = [{(k, alpha[:-1]): v for (k, alpha), v in own.items() if alpha[-1] == 0} for own in tables]
    rows = [max((sum(alpha) for (_, alpha), v in table.items() if np.any(v)), default=0) for table in tables]
    count, order = problem.unknowns.total, max(rows)
    orders = [
        max((sum(a) for table in tables for (k, a), v in table.items() if k == own and np.any(v)), default=0)
        for own in range(count)
    ]
    if order not in (2, 4):
        which = "first order, as Maxwell's" if order == 1 else f"order {order}"
        return f"equations of {which}, which parts are not glued for"
    traced = tuple(k for k in range(count) if orders[k] == order)
    balanced = tuple(i for i in range(len(rows)) if rows[i] == order)
    pressures = tuple(k for k in range(count) if orders[k] < order)
    square = len(tables) == count and len(traced) == len(balanced)
    if not square or any(orders[k] > 1 for k in pressures) or any(0 < r < order and r > 1 for r in rows):
        return f"equations of orders {sorted(set(rows))} for {count} unknowns, whose fluxes are not plain"
    if problem.timed and (order == 4 or pressures):
        return "plates, and flows with a pressure, in space and time"
    if order == 4 and (count > 1 or problem.dim > 2):
        return "equations of fourth order in three dimensions, or several of them"
    found = Kind(order, traced, balanced, pressures)
    if not _elliptic(tables, found, problem.dim - problem.timed):
        where = " in space" if problem.timed else ", as those of heat and waves without a SpaceTime"
        return f"equations that are not elliptic{where}"
    return found


def _unevolving(tables: Sequence[Table]) -> str | None:
    """Why u at a time does not follow from u before, in words; None if it does, as far as the highest terms tell.

    Modes exp(λt + iξx) of φ u_t − Σ a_jl ∂_j ∂_l u = 0 have λ = −Σ a_jl ξ_j ξ_l / φ, whose real part must not be
    positive for large ξ; those of φ u_tt − … have ±√ of it, which must be imaginary.
    """
    for table in tables:
        moving = {term: v for term, v in table.items() if term[1][-1] and np.any(v)}
        if any(sum(alpha[:-1]) for _, alpha in moving):
            return "derivatives in space and time of the same term, as ∂²u/∂x∂t"
        order = max((alpha[-1] for _, alpha in moving), default=0)
        if order not in (1, 2):
            return f"an equation of order {order} in time"
        if any(not np.all(v) for (_, alpha), v in moving.items() if alpha[-1] == order):
            return "an equation whose highest derivative in time vanishes somewhere"
        for k, factor in ((own, v) for (own, alpha), v in moving.items() if alpha[-1] == order):
            rates = [v / factor for (own, a), v in table.items() if own == k and 2 in a[:-1]]
            grows = any(np.any(np.real(rate) > VANISHES * np.abs(rate)) for rate in rates)
            if grows or (order == 2 and any(np.any(np.abs(np.imag(r)) > VANISHES * np.abs(r)) for r in rates)):
                return "an equation that does not evolve forward in time: fine waves grow faster and faster"
    return None


def _elliptic(tables: Sequence[Table], kind: Kind, dim: int) -> bool:
    """Is the determinant of the principal part nowhere zero, in all directions?"""
    if dim == 1:
        return True
    angles = np.random.default_rng(0).normal(size=(DIRECTIONS, dim))
    xi = angles / np.linalg.norm(angles, axis=1, keepdims=True)
    xi = np.concatenate([np.eye(dim), xi])
    count = len(tables)
    symbol = np.zeros((len(next(iter(tables[0].values()))), len(xi), count, count), dtype=complex)
    for i, table in enumerate(tables):
        for (k, alpha), values in table.items():
            wanted = (0 if i in kind.balanced else 1 - kind.order) + (kind.order if k in kind.traced else 1)
            if sum(alpha) == wanted:
                symbol[:, :, i, k] += values[:, None] * 1j ** sum(alpha) * np.prod(xi ** np.array(alpha), axis=1)
    size = np.max(np.abs(symbol), axis=(1, 3), keepdims=True)
    found = np.linalg.det(symbol / np.where(size > 0.0, size, 1.0))
    least, most = np.min(np.abs(found), axis=1), np.max(np.abs(found), axis=1)
    if not np.all(least > VANISHES * most):
        return False
    turned = found / found[:, :1]
    real = np.all(np.abs(np.imag(turned)) < VANISHES * np.abs(turned), axis=1)
    return not np.any(real & np.any(np.real(turned) < 0.0, axis=1))
