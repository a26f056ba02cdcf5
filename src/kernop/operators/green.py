"""Green's functions: G(·, y) is the answer to a unit point source at y, L G(·, y) = δ_y, with all other data 0.

A source at a point is no function, so T cannot be asked for it. Two ways go round it:

* **a singular part**: G = Φ + w, where Φ is the fundamental solution of L with its coefficients frozen at y and the
  correction w = T(−(L Φ − δ_y), −B Φ) is smooth: perfectly so if L has constant coefficients, where L Φ = δ_y. With
  others, the data of w jump at y, or have a pole there if the second derivatives have a matrix that is not a(x) I.
* **on a line, pieces**: with s conditions B_j u = 0 at points p_j, s the order of L, let u_j = T(0, e_j) solve
  L u_j = 0, B_i u_j = δ_ij. Then G = Σ_j c_j(y) (H(x − y) − H(p_j − y)) u_j(x) with the step H and
  Σ_j c_j ∂^i u_j(y) = 0 for i < s − 1, and 1 / φ_s(y) for i = s − 1: all that is asked of G, to the accuracy of T,
  whatever the coefficients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, IntArray, NumberArray, OutsideDomainError, fail
from kernop.basics.linalg import norms
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.cells.jumps import jumps
from kernop.collocation.data import places
from kernop.collocation.sampling import can_be_fresh
from kernop.collocation.units import frame_of
from kernop.geometry import Points
from kernop.geometry.cloud import CloudRegion
from kernop.language.calculus import partial
from kernop.language.conditions import Condition
from kernop.language.fields import MultiIndex
from kernop.language.problem import Problem
from kernop.methods.weights import repeated
from kernop.operators.fundamental import COVERED, Fundamental, fundamental, operator_on, remainder
from kernop.operators.shapes import PointsLike, blanked
from kernop.operators.solution import Solution
from kernop.trust.estimates import Learned

#: Boundaries are searched for places near y at so many points, and the residual is looked at in the nearest.
NEARBY, NEAREST = 20_000, 64

#: Inputs by name ↦ the solution.
Solve = Callable[[Mapping[str, Any]], Solution]


@dataclass(frozen=True, eq=False)
class PointSources:
    """What is asked: the operator, how it answers, and the places y of the sources, (K, d)."""

    learned: Learned
    answer: Solve
    y: FloatArray

    @cached_property
    def equation(self) -> Condition:
        """The one condition inside the domain."""
        return equation_of(self.learned.problem)

    @property
    def others(self) -> list[Condition]:
        """All conditions but that of the source."""
        return [c for c in self.learned.problem.conditions if c is not self.equation]

    @cached_property
    def at_y(self) -> list[dict[MultiIndex, Any]]:
        """The coefficients of the equation at each y, without those that are 0."""
        found = self.coefficients(self.equation, Points(self.y).placed(False))
        return [{alpha: values[k] for alpha, values in found.items() if values[k]} for k in range(len(self.y))]

    @property
    def order(self) -> int:
        """The order of the equation at the sources."""
        return max(sum(alpha) for own in self.at_y for alpha in own)

    def coefficients(self, condition: Condition, points: Points) -> dict[MultiIndex, NumberArray]:
        """φ_α of the operator of a condition at points, (n,), by multi-index."""
        bare = Ansatz(self.learned.problem.unknowns)
        found: dict[MultiIndex, NumberArray] = {}
        rows = bare.functionals(condition.op, points, of=condition.of, name=condition.name)
        for part, block in zip((1.0, 1.0j), rows.blocks, strict=False):
            for (_, alpha), values in zip(block.terms, block.coefficients.T, strict=True):
                found[alpha] = found.get(alpha, 0.0) + (values if part == 1.0 else part * values)
        return found

    def data(self, values: Callable[[Condition, Points], NumberArray], points: Mapping[str, Points]) -> dict[str, Any]:
        """Values (n, K) of every condition at its points, by name."""
        return {c.name: values(c, points[c.name]) for c in self.learned.problem.conditions}


class Way(ABC):
    """One way to G(·, y) for all y."""

    source: PointSources

    @abstractmethod
    def __call__(self, x: FloatArray) -> NumberArray:
        """G(x, y_k) at x (M, d) for all K sources: (M, K)."""

    @property
    @abstractmethod
    def misfits(self) -> FloatArray:
        """The part of its data that what T was asked for leaves, for each y: (K,)."""

    @abstractmethod
    def _residual(self, condition: Condition, points: Points) -> NumberArray:
        """What is left of the data of a condition at points, (n, K)."""

    def left(self) -> FloatArray:
        """‖√W (P Ĝ − P G)‖ over the points of T away from y, for each y: (K,)."""
        data, learned = self.source.data(self._residual, self.source.learned.points), self.source.learned
        rows = [layout.rows(data[c]) for c, layout in learned.named_layouts.items()]
        roots = np.sqrt(repeated(learned.factorisation.weights, learned.collocated))
        return norms(np.abs(roots[:, None] * np.concatenate(rows)))

    @abstractmethod
    def errors(self) -> FloatArray:
        """The largest |Ĝ − G| over x, estimated, for each y: (K,)."""


@dataclass(frozen=True, eq=False)
class BySides(Way):
    """Solutions u_j of L u = 0 on both sides of y.

    Attributes:
        u: the s solutions, as a batch.
        c: their factors, (s, K).
        before: H(p_j − y), (s, K).
    """

    source: PointSources
    u: Solution
    c: NumberArray
    before: FloatArray

    @staticmethod
    def of(source: PointSources) -> BySides | None:
        """G in pieces; None where conditions and order do not fit together."""
        problem, points, order = source.learned.problem, source.learned.points, source.order
        if problem.dim > 1 or any(c.on.intrinsic_dim > 0 for c in source.others):
            return None
        ends = np.concatenate([points[c.name].x[:, 0] for c in source.others])
        if len(ends) != order:
            return None
        unit, first, data = np.eye(order), 0, dict[str, Any]()
        for condition in source.others:
            count = len(points[condition.name])
            data[condition.name], first = unit[first : first + count], first + count
        u = source.answer({source.equation.name: np.zeros((len(points[source.equation.name]), order)), **data})
        at_y = Points(source.y).placed(False)
        wronskian = np.stack(
            [u.apply(lambda v, i=i: partial(v, 0, i), at_y) for i in range(order)], axis=1
        )  # (K, s, s)
        jump = np.zeros((len(source.y), order, 1), dtype=wronskian.dtype)
        leading = [own.get((order,), 0.0) for own in source.at_y]
        if not all(leading):
            raise fail(ArgumentError, "green", f"an equation whose order drops at {source.y.ravel()}", COVERED)
        jump[:, -1, 0] = 1.0 / np.asarray(leading)
        try:
            c = np.linalg.solve(wronskian, jump)[..., 0].T
        except np.linalg.LinAlgError:
            return None
        return BySides(source, u, c, np.heaviside(ends[:, None] - source.y[:, 0], 0.5))

    @property
    def misfits(self) -> FloatArray:
        left = self.u.misfits
        return np.full(len(self.source.y), 0.0 if left is None else np.max(np.nan_to_num(left), initial=0.0))

    def __call__(self, x: FloatArray) -> NumberArray:
        return self._pieced(self.u(x, outside="extrapolate"), x)

    def _pieced(self, values: NumberArray, x: FloatArray) -> NumberArray:
        """Σ_j c_j (H(x − y) − H(p_j − y)) v_j for values v (M, s) at x (M, 1): (M, K)."""
        after = np.heaviside(x - self.source.y[:, 0], 0.5)
        return (values @ self.c) * after - values @ (self.c * self.before)

    def _residual(self, condition: Condition, points: Points) -> NumberArray:
        """−P Ĝ at points, (n, K): the data of G − Ĝ."""
        return -self._pieced(self.u.apply(condition.op, points, of=condition.of), points.x)

    def errors(self) -> FloatArray:
        # G − Ĝ solves the problem with the residuals as data: it is what is wrong with the solution 0 of these data.
        nothing = self.source.answer(self.source.data(lambda _, p: np.zeros((len(p), 1)), self.source.learned.points))
        tests = self.source.learned.test_points
        data = self.source.data(self._residual, tests)
        found = [
            nothing.error_estimate(**{name: values[:, [k]] for name, values in data.items()}, **_PLAIN)
            for k in range(len(self.source.y))
        ]
        return np.concatenate([np.atleast_1d(own.linf) for own in found])


#: Neither a bound nor a search for peaks: data are arrays.
_PLAIN: dict[str, Any] = {"covering": None, "search": None}


@dataclass(frozen=True, eq=False)
class Singular(Way):
    """G = Φ + w: a fundamental solution Φ, which has the singularity, and a smooth correction w.

    Attributes:
        phi: Φ for each y.
        w: the smooth rest for all y, as a batch.
    """

    source: PointSources
    phi: tuple[Fundamental, ...]
    w: Solution

    @staticmethod
    def of(source: PointSources) -> Singular:
        """G by fundamental solutions, or an error where they are not known."""
        frame = frame_of(source.learned.problem)
        size, name = float(np.linalg.norm(frame.high - frame.low)), source.equation.name
        phi = tuple(fundamental(y, own, size, name) for y, own in zip(source.y, source.at_y, strict=True))
        w = source.answer(source.data(lambda c, p: _correction(source, phi, c, p), source.learned.points))
        return Singular(source, phi, w)

    @property
    def misfits(self) -> FloatArray:
        return np.zeros(len(self.phi)) if self.w.misfits is None else self.w.misfits

    def __call__(self, x: FloatArray) -> NumberArray:
        return np.stack([phi(x) for phi in self.phi], axis=1) + self.w(x, outside="extrapolate")

    def _residual(self, condition: Condition, points: Points) -> NumberArray:
        """The data of w less what it makes of them, at points, (n, K)."""
        wanted = _correction(self.source, self.phi, condition, points)
        return wanted - self.w.apply(condition.op, points, outside="extrapolate", of=condition.of)

    def errors(self) -> FloatArray:
        fresh: dict[str, Any] = {}
        if can_be_fresh(self.source.learned.problem):
            tests = self.source.learned.test_points
            fresh = self.source.data(lambda c, p: _correction(self.source, self.phi, c, p), tests)
        estimate = self.w.error_estimate(**fresh, **_PLAIN)
        return np.atleast_1d(estimate.linf) + self._beside()

    def _beside(self) -> FloatArray:
        """What is missed on boundaries near y, where data have a peak that the points may not see: (K,).

        A residual of order m that is as wide as y is near, δ, makes an error of about δ^m times it.
        """
        found = np.zeros(len(self.source.y))
        for condition in self.source.others:
            if isinstance(condition.on, CloudRegion) or not condition.on.known:
                continue
            many = condition.on.sample(NEARBY)
            for k, y in enumerate(self.source.y):
                distance = np.linalg.norm(many.x - y, axis=1)
                near = many[np.argsort(distance)[:NEAREST]]
                order = max(map(sum, self.source.coefficients(condition, near)))
                missed = np.max(np.abs(self._residual(condition, near)[:, k]))
                found[k] = max(found[k], missed * np.min(distance) ** order)
        return found


def _correction(
    source: PointSources, phi: tuple[Fundamental, ...], condition: Condition, points: Points
) -> NumberArray:
    """The data of w: −(L Φ − δ) or −B Φ at points of a condition, (n, K)."""
    rule = remainder if condition is source.equation else operator_on
    table = source.coefficients(condition, points)
    return -np.stack([rule(own, table, points.x) for own in phi], axis=1)


@dataclass(frozen=True, eq=False)
class GreenFunction:
    """G(·, y_k), the answers to unit point sources at K places: L G = δ, all other data 0.

    Made by ``T.point_source(y)``. ``G(x)`` is (M, K) for x (M, d), infinite where x = y_k in two dimensions and more.
    Then u(x) = ∫ G(x, y) f(y) dy solves the equation with the source f and all other data 0.

    Attributes:
        problem: the conditions.
        y: the places of the sources, (K, d).
        ways: how G is made …
        chosen: … and which of them is taken for each y, (K,).
    """

    problem: Problem
    y: FloatArray
    ways: tuple[Way, ...]
    chosen: IntArray

    @property
    def misfits(self) -> FloatArray:
        """The part of its data that the smooth part of G leaves at the points of T, for each source: (K,)."""
        return self._picked([way.misfits[None] for way in self.ways])[0]

    def __call__(self, x: PointsLike, *, outside: str = "raise") -> NumberArray:
        """G(x, y) for x of shape (M, d): (M, K). ``outside`` is as for solutions."""
        points = places(self.problem, x, outside)
        values = self._picked([way(points.x) for way in self.ways])
        return blanked(values, self.problem.contains(points.x)) if outside == "nan" else values

    def error_estimate(self) -> FloatArray:
        """The largest |Ĝ(x, y_k) − G(x, y_k)| over x in the domain, estimated, for each source: (K,).

        It is that of the part for which T is asked; see ``u.error_estimate()``. Φ, the part that is infinite at x = y,
        is exact. Where coefficients vary the other part is least smooth at y, and so most of the error is there.
        """
        return self._picked([way.errors()[None] for way in self.ways])[0]

    def _picked(self, found: list[NumberArray]) -> NumberArray:
        return np.take_along_axis(np.stack(found), self.chosen[None, None, :], axis=0)[0]

    def __repr__(self) -> str:
        return f"GreenFunction(x ↦ G(x, y) in {self.problem.dim}-D; {len(self.y)} sources)"


def green_function(learned: Learned, answer: Solve, y: PointsLike) -> GreenFunction:
    """G(·, y) of an operator for sources y (K, d); refused by name where there is no way to it.

    Arguments:
        learned: an operator all of whose data are arguments.
        answer: its answers to inputs by name.
    """
    problem = learned.problem
    _check_kind(learned)
    source = PointSources(learned, answer, _sources(problem, y))
    pieces = BySides.of(source)
    # Where u or its flux jumps inside the domain, Φ is not continued as G is, which no point would tell.
    broken = any(c.across for c in source.others) or bool(jumps(source.equation, problem.unknowns))
    if pieces is None:
        if broken:
            got, remedy = "a problem with interfaces, or coefficients that jump", "ask T for a narrow bump, T(f)"
            raise fail(ArgumentError, "green", got, remedy)
        ways: tuple[Way, ...] = (Singular.of(source),)
    elif source.order == 2 and not learned.ansatz.complex and all((2,) in own for own in source.at_y) and not broken:
        ways = (pieces, Singular.of(source))
    else:
        ways = (pieces,)
    left = np.stack([np.nan_to_num(way.left(), nan=np.inf) for way in ways])
    return GreenFunction(problem, source.y, ways, np.argmin(left, axis=0))


def opened(problem: Problem) -> Problem:
    """The same problem with all data as arguments of T."""
    return Problem(*(replace(c, data=None) for c in problem.conditions), unknowns=problem.unknowns)


def equation_of(problem: Problem) -> Condition:
    """The one condition that holds inside the domain."""
    inside = [c for c in problem.conditions if c.on.intrinsic_dim == problem.dim and not c.integral]
    if len(inside) != 1:
        got = "no equation inside the domain" if not inside else f"{len(inside)} equations inside the domain"
        raise fail(ArgumentError, "green", got, "state one, on the whole domain")
    return inside[0]


def _check_kind(learned: Learned) -> None:
    """Refuse, by name, problems that have no Green's function here."""
    problem = learned.problem
    if problem.unknowns.components is not None:
        got = f"a system with the unknowns {', '.join(problem.unknowns.names)}"
        raise fail(ArgumentError, "green", got, "the Green's function of one scalar unknown is known")
    if problem.timed:
        remedy = "a source at a point of space and time is not covered; ask T for a narrow bump, T(f)"
        raise fail(ArgumentError, "green", "a problem in space and time", remedy)
    if any(c.integral for c in problem.conditions):
        remedy = "a point source contradicts pure Neumann conditions with a mean; state conditions that fix u"
        raise fail(ArgumentError, "green", "a problem with an integral among its conditions", remedy)
    if any(c.paired for c in problem.conditions):
        remedy = "ask T for a narrow bump, T(f)"
        raise fail(ArgumentError, "green", "a problem with periodic conditions, which is not covered", remedy)
    if learned.ansatz.envelope is not None:
        remedy = "learn without it, with the boundary condition in the problem: the smooth part of G is not 0 there"
        raise fail(ArgumentError, "green", "an operator with an envelope", remedy)
    if learned.factorisation.rows is not None:
        raise fail(ArgumentError, "green", "an operator of a stream", "ask T.materialize().green(x, y)")


def _sources(problem: Problem, y: PointsLike) -> FloatArray:
    """The places of the sources, (K, d), checked to lie inside the domain and on no other condition."""
    found = places(problem, y, None, "y").x
    for condition in problem.conditions:
        if condition is equation_of(problem):
            continue
        on = condition.on.contains(found)
        if np.any(on):
            got = (
                f"the source y = {found[np.argmax(on)]}, which lies on {condition.on!r}, where {condition.name!r} holds"
            )
            raise fail(OutsideDomainError, "y", got, "give places inside the domain: G has its limit there, ask nearer")
    return found
