"""With which power of the distance u begins at the tip of a wedge, for one real equation of second order.

With the coefficients that it has at the tip, −Σ A_jl ∂_j ∂_l u = 0 is Laplace's equation in coordinates y = C⁻¹ x with
A = C Cᵀ, in which a wedge is one again, 0 < θ < ω. There u = Re(e^(−iφ) z^α) solves it, and

    u = 0 on a ray:        cos(αθ − φ) = 0,
    b·∇u = 0 on a ray:     cos((α − 1)θ − φ + β) = 0,        β the direction of b,

which on both rays are two congruences modulo π for φ and αω.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray, KernopError, NumberArray
from kernop.collocation.cells.elliptic import Kind, Table, condition_tables, equations_of, kind_of, tables_of
from kernop.collocation.cells.lasting import lasting, lasting_points
from kernop.geometry import Points
from kernop.language.conditions import Condition
from kernop.language.problem import Problem

#: Angles that differ by less are the same.
SAME = 1e-7
#: Tensors on both sides of a tip that differ by more are not of one material.
ONE_MATERIAL = 1e-3


@dataclass(frozen=True, eq=False)
class Side:
    """A side of a wedge.

    Arguments:
        ray: its direction away from the tip, (2,).
        slope: b, if b·∇u is given there, (2,); None if values of u are.
    """

    ray: FloatArray
    slope: FloatArray | None


def power(tensor: FloatArray, first: Side, last: Side) -> float:
    """The least α > 0 for A (2, 2), positive definite, between the first side and the last, counterclockwise."""
    inverse = np.linalg.inv(np.linalg.cholesky(tensor))

    def direction(of: FloatArray) -> float:
        x, y = inverse @ of
        return float(np.arctan2(y, x))

    start = direction(first.ray)
    angle = float(np.mod(direction(last.ray) - start, 2.0 * np.pi))
    angle = angle if angle > SAME else 2.0 * np.pi  # a slit
    half = 0.5 * np.pi
    phase = half + (0.0 if first.slope is None else direction(first.slope) - start)
    turned = phase + half + (0.0 if last.slope is None else angle - (direction(last.slope) - start))
    left = float(np.mod(turned, np.pi))
    return (left if SAME < left < np.pi - SAME else np.pi) / angle


@dataclass(frozen=True, eq=False)
class Tip:
    """A place on the boundary of the plane at which u may be singular, and places next to it on both of its sides.

    Arguments:
        place: where, (2,).
        x, normal: places on the sides, and outward normals there, (n, 2) each; two, unless several wedges meet.
        conditions: what holds at them, (n,); None where nothing does.
        otherwise: the power that is taken where the equation, or a condition, is of another kind.
    """

    place: FloatArray
    x: FloatArray
    normal: FloatArray
    conditions: tuple[Condition | None, ...]
    otherwise: float

    def sides(self) -> tuple[int, int, FloatArray] | None:
        """The numbers of the first and of the last side, and the rays of all; None unless there are these two."""
        tangent = np.stack([-self.normal[:, 1], self.normal[:, 0]], axis=1)  # with the domain to its left
        left = np.sum(tangent * (self.x - self.place), axis=1) > 0.0
        if len(left) != 2 or left[0] == left[1]:
            return None
        return int(np.argmax(left)), int(np.argmin(left)), np.where(left[:, None], tangent, -tangent)


def powers(problem: Problem, tips: Sequence[Tip]) -> FloatArray:
    """The least power of r at each of some tips, (k,)."""
    found = np.array([tip.otherwise for tip in tips])
    x = np.concatenate([np.empty((0, 2)), *(tip.x for tip in tips)])
    known = tensors(problem, lasting(problem, x)) if len(x) else None
    if known is None:
        return found
    normal = np.concatenate([tip.normal for tip in tips])
    given = [condition for tip in tips for condition in tip.conditions]
    b = np.full((len(x), 2), np.nan)
    for condition in dict.fromkeys(own for own in given if own is not None):
        here = np.array([own is condition for own in given])
        told = slopes(problem, condition, lasting_points(problem, x[here], normal[here]))
        b[here] = np.nan if told is None else told
    ends = np.cumsum([0, *(len(tip.x) for tip in tips)])
    for k, (tip, start) in enumerate(zip(tips, ends.tolist(), strict=False)):
        sides = tip.sides()
        if sides is None or not np.all(np.isfinite(b[start : start + 2])):
            continue
        one, other, rays = sides
        if np.max(np.abs(known[start] - known[start + 1])) < ONE_MATERIAL * np.max(np.abs(known[start])):
            of = [Side(rays[j], b[start + j] if np.any(b[start + j]) else None) for j in (one, other)]
            found[k] = power(known[start], *of)
    return found


def tensors(problem: Problem, x: FloatArray) -> FloatArray | None:
    """A at places (n, 2): (n, 2, 2), positive definite; None for equations that are not one real one of this kind.

    Nor is it known where coefficients are not finite, as 1/r on an axis. That is no error: no point of T is there.
    """
    kind = kind_of(problem)
    if not isinstance(kind, Kind) or kind.order != 2 or problem.unknowns.total != 1 or len(equations_of(problem)) != 1:
        return None
    try:
        (table,) = tables_of(problem, Points(x, None, problem.timed))
    except KernopError:
        return None
    rest = (0,) * (problem.dim - 2)  # of time
    second, mixed, other = (_term(table, (*alpha, *rest), len(x)) for alpha in ((2, 0), (1, 1), (0, 2)))
    found = np.stack([np.stack([second, 0.5 * mixed], -1), np.stack([0.5 * mixed, other], -1)], -2)
    scale = np.where(second == 0.0, 1.0, second)[:, None, None]
    found = found / scale  # of one sign, and real up to a complex factor
    if np.any(np.abs(np.imag(found)) > SAME * np.abs(found).max(initial=0.0)):
        return None
    found = np.real(found)
    return found if np.all(np.isfinite(found)) and np.all(np.linalg.eigvalsh(found) > 0.0) else None


def slopes(problem: Problem, condition: Condition, points: Points) -> FloatArray | None:
    """b of conditions b·∇u + c u = g at points, (n, 2), 0 where u alone is given; None for any other condition, or one
    whose coefficients are not finite there.
    """
    try:
        tables = condition_tables(problem, condition, points)
    except KernopError:
        return None
    if len(tables) != 1 or any(sum(alpha) > 1 and np.any(values) for (_, alpha), values in tables[0].items()):
        return None
    rest = (0,) * (problem.dim - 2)
    found = np.stack([_term(tables[0], (*alpha, *rest), len(points)) for alpha in ((1, 0), (0, 1))], -1)
    size = np.max(np.abs(found), axis=1, keepdims=True)
    found = found / np.where(size > 0.0, found[np.arange(len(found)), np.argmax(np.abs(found), axis=1), None], 1.0)
    return None if np.any(np.abs(np.imag(found)) > SAME) else np.real(found)


def _term(table: Table, alpha: tuple[int, ...], count: int) -> NumberArray:
    return table.get((0, alpha), 0.0) * np.ones(count)
