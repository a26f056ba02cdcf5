"""A bound where a maximum principle holds: sup|u − û| ≤ sup_∂D|g − û| + C sup_D|f − Lû|, with suprema from samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.ansatz import normal_form
from kernop.collocation.functionals import Block
from kernop.collocation.units import frame_of
from kernop.geometry import Ball, Box, Points, Region, SpaceTime
from kernop.language.conditions import Condition
from kernop.language.functions import Function, evaluate_at
from kernop.language.problem import Problem
from kernop.methods import Combination
from kernop.trust.estimates.barriers import Coefficients, best_barrier
from kernop.trust.estimates.coverings import Covering, NotApplicableError, inside, surface
from kernop.trust.estimates.unseen import Looked, answer

#: What counts as zero among coefficients, relative to the largest, in natural units.
NEGLIGIBLE = 1e-12

#: The barrier w = t − t₀.
TIME = "time"

#: The data of a condition at points, (n, B).
Data = Callable[[Condition, Points], FloatArray]


@dataclass(frozen=True, eq=False, kw_only=True)
class MaximumBound:
    """sup|u − û| ≤ boundary + constant · interior.

    Proved: if the suprema are right, and the coefficients at the covering stand for those in between, the inequality
    is a theorem (for u with continuous second derivatives inside, or at least in W^{2,d}). Sampled, so not
    proved: coefficients and residuals are computed at a covering; to the largest residual there the fill distance
    times the steepest slope between neighbouring points is added. Data that is a function is searched for peaks between
    these points too.

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

    linf: FloatArray | float
    boundary: FloatArray | float
    interior: FloatArray | float
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
    sign: float
    space: Coefficients
    time: FloatArray | None


def maximum_bound(
    problem: Problem,
    u: Combination,
    data: Data,
    number: int,
    looked: Mapping[str, Looked] | None = None,
) -> MaximumBound:
    """The bound for B functions û; NotApplicableError if there is no maximum principle.

    Arguments:
        data: of a condition at points of its region.
        number: of points that cover the domain.
        looked: residuals where a search of the data led, by name of the condition.
    """
    if u.expansion.ansatz.count > 1:
        raise NotApplicableError("a maximum principle is known for one real scalar unknown only")
    equation, domain, others = _sorted(problem)
    within, found = _inside(equation, domain, frame_of(problem).units, number), looked or {}
    for name, own in found.items():
        if own.infinite is not None:
            raise NotApplicableError(f"{name!r} is not finite at x = {own.infinite}")
    pieces = surface(domain, max(2, round(number ** (1.0 - 1.0 / domain.dim))))
    rim = [_rim(piece, others, u, data, within.covering.x) for piece in pieces]
    rim += [_looked_at(condition, found[condition.name]) for condition in others if condition.name in found]
    boundary = np.max(np.stack(rim), axis=0)
    points = Points(within.covering.x, timed=domain.timed)
    residual = data(equation, points) - answer(equation, points, u)
    candidates = _scalings(within, domain)
    suprema = [within.covering.supremum(residual / scale[:, None]) for scale, _, _ in candidates]
    if equation.name in found:
        suprema = [
            np.maximum(supremum, _looked_inside(equation, found[equation.name], within, barrier))
            for supremum, (_, _, barrier) in zip(suprema, candidates, strict=True)
        ]
    best = min(range(len(candidates)), key=lambda k: candidates[k][1] * float(np.max(suprema[k])))
    _, constant, barrier = candidates[best]
    return MaximumBound(
        linf=boundary + constant * suprema[best],
        boundary=boundary,
        interior=suprema[best],
        constant=constant,
        barrier=barrier,
        divisor="factor of ∂u/∂t" if barrier == TIME else "mean diffusion",
        kind="elliptic" if within.time is None else "parabolic",
        points=len(points) + sum(map(len, pieces)),
    )


def _looked_at(condition: Condition, found: Looked) -> FloatArray:
    """The largest |g − û| where a search of g led, (B,); for Dirichlet conditions."""
    form = normal_form(condition.op, found.points, name=condition.name)
    return np.max(np.abs(found.residuals / form.coefficients), axis=0)


def _looked_inside(equation: Condition, found: Looked, within: _Inside, barrier: str) -> FloatArray:
    """The largest |(f − Lû) / s| where a search of f led, (B,)."""
    form = normal_form(equation.op, found.points, name=equation.name)
    a, b, _ = _parts(form, within.sign)
    m = within.space.a.shape[1]
    scale = b[:, -1] if barrier == TIME else np.einsum("nii->n", a[:, :m, :m]) / m
    return np.max(np.abs(found.residuals) / scale[:, None], axis=0)


def _sorted(problem: Problem) -> tuple[Condition, Box | Ball | SpaceTime, list[Condition]]:
    """The equation, its domain, and the other conditions."""
    top = [condition for condition in problem.conditions if condition.on.intrinsic_dim == problem.dim]
    if len(top) != 1:
        raise NotApplicableError(f"{len(top)} equations hold inside a domain, not one")
    domain = top[0].on
    if not isinstance(domain, Box | Ball | SpaceTime):
        raise NotApplicableError(f"{domain!r} has no covering with a known fill distance")
    for condition in problem.conditions:
        if condition.paired:
            raise NotApplicableError(f"{condition.name!r} couples u at two places")
    return top[0], domain, [condition for condition in problem.conditions if condition is not top[0]]


def _inside(equation: Condition, domain: Box | Ball | SpaceTime, units: FloatArray, number: int) -> _Inside:
    """The equation at a covering; what is negligible in it is told in natural units (d,), where all terms compare."""
    covering = inside(domain, number)
    form = normal_form(equation.op, Points(covering.x, timed=domain.timed), name=equation.name)
    if form.order != 2:
        raise NotApplicableError(f"{equation.name!r} is of order {form.order}, not 2")
    natural = _parts(form, 1.0)[0] / np.outer(units, units)
    sign = 1.0 if np.sum(np.einsum("nii->n", natural)) >= 0.0 else -1.0
    (a, b, c), size = _parts(form, sign), float(np.max(np.abs(natural)))
    if np.min(np.linalg.eigvalsh(sign * natural)) < -NEGLIGIBLE * size:
        raise NotApplicableError(f"{equation.name!r} is neither elliptic nor parabolic")
    if np.min(c) < -NEGLIGIBLE * size:
        raise NotApplicableError(f"in {equation.name!r} the factor of u is negative somewhere, as for waves")
    if not isinstance(domain, SpaceTime):
        return _Inside(covering, sign, Coefficients(covering.x, a, b), None)
    if np.any(a[:, -1, -1]):  # u would have to be prescribed on the final slice too
        raise NotApplicableError(
            f"{equation.name!r} has second derivatives in time; if it is elliptic, state it on a Box"
        )
    if np.min(b[:, -1]) <= 0.0:
        raise NotApplicableError(f"in {equation.name!r} time does not run forward: the factor of ∂u/∂t is not positive")
    space = Coefficients(covering.x[:, :-1], a[:, :-1, :-1], b[:, :-1])
    return _Inside(covering, sign, space, b[:, -1])


def _parts(form: Block, sign: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """a (n, d, d), symmetric, b (n, d) and c (n,) of sign · L = −a:∇² + b·∇ + c."""
    n, d = form.x.shape
    a, b, c = np.zeros((n, d, d)), np.zeros((n, d)), np.zeros(n)
    for alpha, phi in zip(form.alphas, sign * form.coefficients.T, strict=True):
        axes = [axis for axis, times in enumerate(alpha) for _ in range(times)]
        if len(axes) == 2:
            for i, j in (axes, axes[::-1]):
                a[:, i, j] -= 0.5 * phi
        elif axes:
            b[:, axes[0]] = phi
        else:
            c = phi
    return a, b, c


def _scalings(within: _Inside, domain: Region) -> list[tuple[FloatArray, float, str]]:
    """Ways to bound: s (n,) by which the equation is divided, sup w for L w ≥ s, and what w is."""
    found: list[tuple[FloatArray, float, str]] = []
    if within.time is not None and isinstance(domain, SpaceTime):
        found.append((within.time, domain.times[1] - domain.times[0], TIME))
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


def _rim(piece: Covering, conditions: list[Condition], u: Combination, data: Data, within: FloatArray) -> FloatArray:
    """sup|g − û| over a piece of the boundary, (B,), where Dirichlet conditions, or an envelope, prescribe u.

    Arguments:
        within: points inside, (m, d), for the size of the envelope.
    """
    free, error = np.ones(len(piece), dtype=bool), np.zeros((len(piece), u.width))
    for condition in conditions:
        own = free & condition.on.contains(piece.x)
        if not own.any():
            continue
        points = condition.on.adopt(piece.x[own])
        form = normal_form(condition.op, points, name=condition.name)
        if form.order > 0 or np.min(np.abs(form.coefficients)) == 0.0:
            raise NotApplicableError(f"{condition.name!r} is not a Dirichlet condition")
        error[own] = (data(condition, points) - answer(condition, points, u)) / form.coefficients
        free &= ~own
    if free.any() and not _vanishes(u.expansion.ansatz.envelope, piece.x[free], within):
        raise NotApplicableError(f"u is not prescribed on a part of the boundary, as at x = {piece.x[free][0]}")
    return piece.supremum(error)


def _vanishes(envelope: Function | None, x: FloatArray, within: FloatArray) -> bool:
    """Does an envelope see to u = 0 at x (n, d)? It may have any size, so it is compared with points within, (m, d)."""
    if envelope is None:
        return False
    rim, inner = (np.max(np.abs(evaluate_at("envelope", envelope, at))) for at in (x, within))
    return bool(rim <= NEGLIGIBLE * inner)
