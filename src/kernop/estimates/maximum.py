"""A guaranteed bound where a maximum principle holds: sup|u − û| ≤ sup_∂D|g − û| + C sup_D|f − Lû|."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.collocation import Functionals
from kernop.domains import Ball, Box, Points, SpaceTime
from kernop.errors import ArgumentError, FloatArray
from kernop.estimates.barriers import Coefficients, best_barrier
from kernop.estimates.coverings import Covering, inside, surface
from kernop.fields import MultiIndex
from kernop.functions import Function, evaluate_at
from kernop.methods import Expansion
from kernop.operators import NormalForm, normal_form
from kernop.problem import Condition, Problem

#: What counts as zero among coefficients, relative to the largest.
NEGLIGIBLE = 1e-12

#: A Dirichlet condition, its normal form, and which points of a covering it has, (n,).
Owner = tuple[Condition, NormalForm, NDArray[np.bool_]]
#: The data of a condition at points, (n, B).
Data = Callable[[Condition, Points], FloatArray]


class NotApplicableError(ArgumentError):
    """Why the maximum principle says nothing about a problem."""


@dataclass(frozen=True, eq=False)
class MaximumBound:
    """sup|u − û| ≤ boundary + constant · interior.

    Proved: if the suprema are right, and the coefficients at the covering stand for those in between, the inequality
    is a theorem (for u with continuous second derivatives inside, or at least in W^{2,d}). Sampled: coefficients and
    residuals are computed at a covering; to the largest residual there the fill distance times the steepest slope
    between neighbouring points is added.

    Attributes:
        linf: the bound of sup|u − û|; a float, or (B,).
        boundary: sup|g − û| on the boundary (walls and initial slice); a float, or (B,).
        interior: sup|(f − Lû) / s| inside, where s > 0 is what the equation was divided by; a float, or (B,).
        constant: C = sup w for a barrier w ≥ 0 with L w ≥ s.
        barrier: which barrier was best.
        divisor: what s is: "mean diffusion", tr a / d; or "factor of ∂u/∂t".
        kind: "elliptic" or "parabolic".
        points: how many points cover the domain and its boundary.
    """

    linf: Any
    boundary: Any
    interior: Any
    constant: float
    barrier: str
    divisor: str
    kind: str
    points: int


@dataclass(frozen=True, eq=False)
class _Inside:
    """The equation at a covering of the domain, in the form L = −a:∇² + m ∂_t + b·∇ + c, with a ≥ 0.

    Arguments:
        sign: ±1, by which the user's equation was multiplied to get it.
        time: m, (n,), for the parabolic case; None for the elliptic one.
    """

    covering: Covering
    form: NormalForm
    sign: float
    space: Coefficients
    time: FloatArray | None


def maximum_bound(problem: Problem, expansion: Expansion, c: FloatArray, data: Data, number: int) -> MaximumBound:
    """The bound for û with coefficients c (L, B); NotApplicableError if there is no maximum principle.

    Arguments:
        data: of a condition at points of its region.
        number: of points that cover the domain.
    """
    equation, others = _sorted(problem)
    domain = _domain(equation)
    within = _inside(equation, domain, number)
    pieces = surface(domain, max(2, round(number ** (1.0 - 1.0 / domain.dim))))
    owners = [_owners(piece, others, expansion.envelope) for piece in pieces]
    rim = [_rim(piece, own, expansion, c, data) for piece, own in zip(pieces, owners, strict=True)]
    boundary = np.max(np.stack(rim), axis=0)
    points = Points(within.covering.x, timed=domain.timed)
    residual = data(equation, points) - _applied(equation, points, expansion, c)
    candidates = _scalings(within, domain)
    suprema = [within.covering.supremum(residual / scale[:, None]) for scale, _, _ in candidates]
    best = min(range(len(candidates)), key=lambda k: candidates[k][1] * float(np.max(suprema[k])))
    _, constant, barrier = candidates[best]
    return MaximumBound(
        linf=boundary + constant * suprema[best],
        boundary=boundary,
        interior=suprema[best],
        constant=constant,
        barrier=barrier,
        divisor="factor of ∂u/∂t" if barrier == "time" else "mean diffusion",
        kind="elliptic" if within.time is None else "parabolic",
        points=len(points) + sum(map(len, pieces)),
    )


def _sorted(problem: Problem) -> tuple[Condition, list[Condition]]:
    """The equation, and the other conditions."""
    top = [condition for condition in problem.conditions if condition.on.intrinsic_dim == problem.dim]
    if len(top) != 1:
        raise NotApplicableError(f"{len(top)} equations hold inside a domain, not one")
    return top[0], [condition for condition in problem.conditions if condition is not top[0]]


def _domain(equation: Condition) -> Box | Ball | SpaceTime:
    if not isinstance(equation.on, Box | Ball | SpaceTime):
        raise NotApplicableError(f"{equation.on!r} has no covering with a known fill distance")
    return equation.on


def _inside(equation: Condition, domain: Box | Ball | SpaceTime, number: int) -> _Inside:
    covering = inside(domain, number)
    form = normal_form(equation.op, Points(covering.x, timed=domain.timed), name=equation.name)
    if form.order != 2:
        raise NotApplicableError(f"{equation.name!r} is of order {form.order}, not 2")
    second = -_hessian(form)
    sign = 1.0 if np.sum(np.einsum("nii->n", second)) >= 0.0 else -1.0
    a, size = sign * second, float(np.max(np.abs(second)))
    b = sign * np.stack([_coefficient(form, index) for index in np.eye(form.x.shape[1], dtype=int)], axis=1)
    if np.min(np.linalg.eigvalsh(a)) < -NEGLIGIBLE * size:
        raise NotApplicableError(f"{equation.name!r} is neither elliptic nor parabolic")
    if np.min(sign * _coefficient(form, np.zeros(form.x.shape[1], dtype=int))) < -NEGLIGIBLE * size:
        raise NotApplicableError(f"in {equation.name!r} the factor of u is negative somewhere, as for waves")
    if not isinstance(domain, SpaceTime):
        return _Inside(covering, form, sign, Coefficients(covering.x, a, b), None)
    if np.any(a[:, -1, -1]):  # u would have to be prescribed on the final slice too
        raise NotApplicableError(
            f"{equation.name!r} has second derivatives in time; if it is elliptic, state it on a Box"
        )
    if np.min(b[:, -1]) <= 0.0:
        raise NotApplicableError(f"in {equation.name!r} time does not run forward: the factor of ∂u/∂t is not positive")
    space = Coefficients(covering.x[:, :-1], a[:, :-1, :-1], b[:, :-1])
    return _Inside(covering, form, sign, space, b[:, -1])


def _coefficient(form: NormalForm, alpha: Any) -> FloatArray:
    """φ_α at all points, (n,); 0 if α does not occur."""
    index: MultiIndex = tuple(map(int, alpha))
    if index not in form.alphas:
        return np.zeros(len(form))
    return form.coefficients[:, form.alphas.index(index)]


def _hessian(form: NormalForm) -> FloatArray:
    """The symmetric matrices A with A:∇²u the second-order part, (n, d, d)."""
    unit = np.eye(form.x.shape[1], dtype=int)
    rows = [[_coefficient(form, p + q) * (1.0 if p is q else 0.5) for q in unit] for p in unit]
    for i in range(len(unit)):
        rows[i][i] = _coefficient(form, 2 * unit[i])
    return np.moveaxis(np.asarray(rows), -1, 0)


def _scalings(within: _Inside, domain: Box | Ball | SpaceTime) -> list[tuple[FloatArray, float, str]]:
    """Ways to bound: s (n,) by which the equation is divided, sup w for L w ≥ s, and what w is."""
    found: list[tuple[FloatArray, float, str]] = []
    if within.time is not None and isinstance(domain, SpaceTime):
        found.append((within.time, domain.times[1] - domain.times[0], "time"))
        domain = domain.space
    trace = np.einsum("nii->n", within.space.a) / within.space.a.shape[1]
    if np.min(trace) > 0.0:
        low, high = domain.bounds
        radius = domain.radius if isinstance(domain, Ball) else 0.5 * float(np.linalg.norm(high - low))
        barrier = best_barrier(within.space.divided(trace), low, high, radius)
        if barrier is not None:
            found.append((trace, barrier.supremum, barrier.name))
    if not found:
        raise NotApplicableError("no barrier was found: the first derivatives are too large for those that are tried")
    return found


def _owners(piece: Covering, conditions: list[Condition], envelope: Function | None) -> list[Owner]:
    """The Dirichlet conditions on a piece of the boundary, and which points each has, (n,); together all of them."""
    free = np.ones(len(piece), dtype=bool)
    found: list[Owner] = []
    for condition in conditions:
        own = free & condition.on.contains(piece.x)
        if not own.any():
            continue
        form = normal_form(condition.op, condition.on.adopt(piece.x[own]), name=condition.name)
        if form.order > 0 or np.min(np.abs(form.coefficients)) == 0.0:
            raise NotApplicableError(f"{condition.name!r} is not a Dirichlet condition")
        found.append((condition, form, own))
        free &= ~own
    if free.any() and not _vanishes(envelope, piece.x[free]):
        raise NotApplicableError(f"u is not prescribed on a part of the boundary, as at x = {piece.x[free][0]}")
    return found


def _vanishes(envelope: Function | None, x: FloatArray) -> bool:
    """Does an envelope see to u = 0 at x (n, d)?"""
    return envelope is not None and not np.any(np.abs(evaluate_at("envelope", envelope, x)) > NEGLIGIBLE)


def _rim(
    piece: Covering,
    owners: list[Owner],
    expansion: Expansion,
    c: FloatArray,
    data: Data,
) -> FloatArray:
    """sup|g − û| over a piece of the boundary, (B,)."""
    error = np.zeros((len(piece), c.shape[1]))
    for condition, form, own in owners:
        points = condition.on.adopt(piece.x[own])
        residual = data(condition, points) - _applied(condition, points, expansion, c)
        error[own] = residual / form.coefficients
    return piece.supremum(error)


def _applied(condition: Condition, points: Points, expansion: Expansion, c: FloatArray) -> FloatArray:
    """P û at points, (n, B)."""
    form = normal_form(condition.op, points, multiplier=expansion.envelope, name=condition.name)
    return expansion.apply(Functionals((form,)), c)
