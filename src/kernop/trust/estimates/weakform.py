"""The weak form of an equation of second order, at points: what a solution by Galerkin's method needs of a problem.

For L u = −div F(u) + c(u) the solution has, for all smooth v,

    ∫ F(u) : ∇v + c(u) v dx = ∫ f v dx + ∫ F(u)·n v ds,

and where a condition tells the flux, as P u = σ F(u)·n + β u = q does, F(u)·n = (q − β u) / σ. Second derivatives of u,
which at a corner are not square integrable, do not occur.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray, NumberArray
from kernop.collocation.cells.elliptic import Kind, Table, condition_tables, equations_of, flux_tables, kind_of
from kernop.geometry import Points, Region
from kernop.geometry.cloud import CloudRegion
from kernop.geometry.points import points_at
from kernop.language.conditions import Condition
from kernop.language.fields import Term
from kernop.language.problem import Problem
from kernop.trust.estimates.learned import SEED, Learned

#: Coefficients are differentiated by differences over this part of the domain, and equal another to this part.
STEP, EQUAL = 1e-4, 1e-5
#: A step of this part of the domain tells which side of a boundary is outside; of this part of the points it need not,
#: as at ends of sides.
ASIDE, DOUBTFUL = 1e-6, 0.02


@dataclass(frozen=True, eq=False)
class FluxSide:
    """A condition that tells fluxes, (q_i − Σ_k β_ik u_k) / σ_i for component i.

    Arguments:
        name: of the condition.
        x: where it is known, (n, d).
        shares: 1 / σ_i times the measure of each point, (m, n).
        values: β_ik by (i, k), (n,).
    """

    name: str
    x: FloatArray
    shares: FloatArray
    values: Mapping[tuple[int, int], FloatArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class WeakForm:
    """A weak form with m equations for m components.

    Arguments:
        x: points of the domain, (n, d), each of the same measure …
        measure: … that is this.
        fluxes: component j of the flux of equation i, by (i, j): its coefficients.
        rest: c of each equation.
        unit: of the fluxes: the root mean square of their coefficients.
        equations: for each condition that is an equation the numbers of its components, where its data are known,
            (n, d), and the measure of each of these points.
        told: conditions that tell fluxes.
        prescribed: the names of conditions that prescribe values, and the measure of each of their points.
    """

    x: FloatArray
    measure: float
    fluxes: Mapping[tuple[int, int], Table]
    rest: Sequence[Table]
    unit: float
    equations: Mapping[str, tuple[tuple[int, ...], FloatArray, float]]
    told: Sequence[FluxSide]
    prescribed: Mapping[str, float]


def weak_form(operator: Learned, points: Mapping[str, Points], number: int) -> WeakForm | None:
    """The weak form of a problem, with so many points inside; None if it has none, or not one of the kind above.

    Arguments:
        points: those of all conditions at which data are known.
    """
    problem, ansatz = operator.problem, operator.ansatz
    plain = ansatz.envelope is None and ansatz.parts is None and not ansatz.complex
    if not plain or problem.timed or problem.dim < 2 or not all(_plain(c) for c in problem.conditions):
        return None
    kind, equations = kind_of(problem), equations_of(problem)
    if not isinstance(kind, Kind) or kind.order != 2 or kind.pressures or len({id(c.on) for c in equations}) != 1:
        return None
    sampled = equations[0].on.sample(number, seed=SEED)
    found = _inside(problem, equations, sampled)
    if found is None:
        return None
    fluxes, rest, numbers, sign = found
    told, prescribed = list[FluxSide](), dict[str, float]()
    for c in (c for c in problem.conditions if c.name not in numbers):
        own, tables = points[c.name], condition_tables(problem, c, points[c.name])
        if all(sum(alpha) == 0 for table in tables for _, alpha in table):
            prescribed[c.name] = c.on.measure / len(own)
        elif (side := _side(problem, c, own, tables, equations, sign)) is not None:
            told.append(side)
        else:
            return None
    known = {c.name: (numbers[c.name], points[c.name].x, c.on.measure / len(points[c.name])) for c in equations}
    size = [np.mean(np.square(v)) for table in fluxes.values() for (_, alpha), v in table.items() if sum(alpha) == 1]
    unit = float(np.sqrt(np.sum(size) / len(fluxes)))
    return WeakForm(
        x=sampled.x, measure=equations[0].on.measure / number, fluxes=fluxes, rest=rest, unit=unit, equations=known,
        told=told, prescribed=prescribed,
    )  # fmt: skip


def _plain(c: Condition) -> bool:
    """Does it hold at single points of a region that is known, the domain or a piece of its boundary?"""
    pointwise = not (c.integral or c.paired or c.across or isinstance(c.on, CloudRegion))
    return pointwise and c.on.known and c.on.intrinsic_dim >= c.on.dim - 1


def _inside(
    problem: Problem, equations: Sequence[Condition], sampled: Points
) -> tuple[dict[tuple[int, int], Table], list[Table], dict[str, tuple[int, ...]], float] | None:
    """Fluxes, what equations have beside their divergence, their components, and s, for L u = −s div F(u) + c(u)."""
    rest, divergence, numbers = list[Table](), list[Table](), dict[str, tuple[int, ...]]()
    fluxes: dict[tuple[int, int], Table] = {}
    for c in equations:
        own = condition_tables(problem, c, sampled)
        numbers[c.name] = tuple(range(len(rest), len(rest) + len(own)))
        rest += [dict(table) for table in own]
        divergence += [{} for _ in own]
        for j in range(problem.dim):
            found = _flux(problem, c, sampled.x, j)
            if found is None or len(found[0]) != len(own):
                return None
            for i, here, slopes in zip(numbers[c.name], *found, strict=True):
                fluxes[i, j] = here
                for (k, alpha), values in here.items():
                    _add(divergence[i], (k, _raised(alpha, j)), values)
                    _add(divergence[i], (k, alpha), slopes[k, alpha])
    sign = _sign(rest, divergence)
    if sign == 0.0 or len(rest) != problem.unknowns.total:
        return None
    for own, table in zip(rest, divergence, strict=True):
        for term, values in table.items():
            _add(own, term, sign * values)
    lower = [{term: values for term, values in own.items() if sum(term[1]) < 2} for own in rest]
    scaled = {at: {term: sign * values for term, values in table.items()} for at, table in fluxes.items()}
    return scaled, lower, numbers, sign


def _flux(problem: Problem, c: Condition, x: FloatArray, j: int) -> tuple[list[Table], list[Table]] | None:
    """Component j of what stands in the div of an equation at points (n, d), and ∂_j of its coefficients.

    These are not asked outside of the bounds of the domain, where arrays on grids are not known.
    """
    axis = np.eye(x.shape[1])[j]
    step = STEP * float(np.max(np.ptp(x, axis=0)))
    normal, (after, before) = np.tile(axis, (len(x), 1)), (np.clip(x + s * step * axis, *c.on.bounds) for s in (1, -1))
    found = [flux_tables(problem, c, points_at(own, False, normal)) for own in (x, after, before)]
    tables = [own for own in found if own is not None]
    if len(tables) < len(found):
        return None
    apart = (after - before)[:, j]
    slopes = [
        {term: (np.asarray(one[term]) - other[term]) / apart for term in own}
        for own, one, other in zip(*tables, strict=True)
    ]
    return tables[0], slopes


def _sign(own: Sequence[Table], divergence: Sequence[Table]) -> float:
    """s with L = −s div F in the highest terms; 0 if there is none."""
    for sign in (1.0, -1.0):
        pairs = [
            (np.asarray(one.get(term, 0.0)), np.asarray(other.get(term, 0.0)))
            for one, other in zip(own, divergence, strict=True)
            for term in (*one, *other)
            if sum(term[1]) == 2
        ]
        size = max(float(np.max(np.abs(one))) for one, _ in pairs)
        if all(np.max(np.abs(one + sign * other)) <= EQUAL * size for one, other in pairs):
            return sign
    return 0.0


def _side(
    problem: Problem, c: Condition, own: Points, tables: Sequence[Table], equations: Sequence[Condition], sign: float
) -> FluxSide | None:
    """What a condition of first order tells of the fluxes; None if it is not one of them."""
    along = [table for e in equations for table in flux_tables(problem, e, own) or []]
    outward = _outward(equations[0].on, own)
    if len(along) != len(tables) or np.mean(outward == 0.0) > DOUBTFUL:
        return None
    shares, values = np.empty((len(tables), len(own))), dict[tuple[int, int], FloatArray]()
    for i, (table, flux) in enumerate(zip(tables, along, strict=True)):
        found = _multiple(table, {term: sign * v for term, v in flux.items()}, len(own))
        if found is None:
            return None
        sigma, beta = found
        shares[i] = outward * c.on.measure / len(own) / sigma
        values |= {(i, k): own for k, own in beta.items()}
    return FluxSide(c.name, own.x, shares, values)


def _multiple(condition: Table, flux: Table, number: int) -> tuple[FloatArray, dict[int, FloatArray]] | None:
    """σ and β_k by k, at so many points, if a condition is σ F·n + Σ β_k u_k for the flux F·n; else None."""
    terms = sorted({*condition, *flux})
    one, other = ({term: np.zeros(number) + np.real(t.get(term, 0.0)) for term in terms} for t in (condition, flux))
    first = [term for term in terms if sum(term[1]) == 1]
    below = np.sum([other[term] ** 2 for term in first], axis=0)
    if not first or np.min(below) <= 0.0 or any(sum(alpha) > 1 and np.any(one[k, alpha]) for k, alpha in terms):
        return None
    sigma = np.sum([one[term] * other[term] for term in first], axis=0) / below
    size = max(float(np.max(np.abs(one[term]))) for term in first)
    if any(np.max(np.abs(one[t] - sigma * other[t])) > EQUAL * size for t in first) or np.min(np.abs(sigma)) == 0.0:
        return None
    return sigma, {k: one[k, alpha] - sigma * other[k, alpha] for k, alpha in terms if sum(alpha) == 0}


def _outward(domain: Region, own: Points) -> FloatArray:
    """1 where the normal of a side points out of the domain, −1 where it points into it, 0 where neither is so.

    Sides of a domain that is stated by a predicate are those of another shape, whose normals may be the other way.
    """
    assert own.normal is not None
    step = ASIDE * float(np.max(np.subtract(*domain.bounds[::-1]))) * own.normal
    return 1.0 * domain.contains(own.x - step) - 1.0 * domain.contains(own.x + step)


def _raised(alpha: tuple[int, ...], j: int) -> tuple[int, ...]:
    return tuple(a + (i == j) for i, a in enumerate(alpha))


def _add(table: Table, term: Term, values: NumberArray) -> None:
    table[term] = table.get(term, 0.0) + values
