"""Do solutions satisfy their data: measured values to their noise, and functions between the points too?

Data that vary faster than the points are dense can be met at all of them by a function that is far off between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray, KernopError
from kernop.basics.frozen import Kept
from kernop.basics.linalg import norms
from kernop.collocation.ansatz import condition_functionals
from kernop.collocation.data import concrete, real_columns, values_at
from kernop.collocation.functionals import Block, Functionals
from kernop.geometry.points import Points
from kernop.language.conditions import Condition
from kernop.methods import Factorisation
from kernop.operators.solution import Solution
from kernop.trust.estimates import Learned

#: Readings that are missed by so many times their noise in the mean are not missed by chance; of so many at least.
MISSED, FEWEST = 3.0, 4
#: Points of each condition, and the seed of those that no operator has.
NUMBER, SEED = 120, 7919
#: Points of an equation at which parts are asked: they have few functions each, and meet data at their own points.
IN_PARTS = 3000


@dataclass(frozen=True, eq=False)
class _Fresh:
    """A condition at points of its own."""

    condition: Condition
    points: Points
    rows: Functionals


_kept: Kept[Factorisation, tuple[_Fresh, ...]] = Kept()
_kept_in_parts: Kept[Factorisation, list[tuple[_Fresh, Functionals]]] = Kept()
_kept_terms: Kept[Factorisation, Functionals] = Kept()


def left_between(learned: Learned, u: Solution, weights: Mapping[str, float]) -> float:
    """‖√W (P u − h)‖ / ‖√W h‖ at points that the operator does not have; of several inputs the worst.

    Inputs count that are functions or numbers, of conditions that are known between the points; 0 if there is none.

    Arguments:
        weights: of the conditions, each for all of its points together.
    """
    if u.paired or not any(callable(value) for value in _given(learned, u).values()):
        return 0.0
    return float(np.max(_part(_apart(learned, u), weights)))


def left_of_terms(learned: Learned, u: Solution, weights: Mapping[str, float], little: float) -> float:
    """‖P u − h‖ / ‖φ_α ∂^α u‖ of the equations in space and time, over all their terms, at fresh points; the worst.

    Where u is forgotten soon after the first time, the points see few moments of that, and little of the data is left.
    What is left of the equations is then as large as their terms.

    Arguments:
        weights: of the conditions, each for all of its points together.
        little: the part of the data that may be left whatever the terms are, as where u is constant: then 0.
    """
    if u.paired or not learned.problem.timed:
        return 0.0
    found, equations = _apart(learned, u), _equations(learned)
    missed = [np.sum(np.square(apart), axis=0) for own, _, apart in found if own in equations]
    if not equations or len(missed) < len(equations):
        return 0.0
    told = _part(found, weights) > little
    if not np.any(told):
        return 0.0
    terms = u.function.apply(_kept_terms.of(learned.factorisation, lambda: _terms(equations)))
    size = np.sum(np.square(terms), axis=0)
    return float(np.max(np.where(told, np.sqrt(sum(missed) / np.where(size > 0.0, size, np.inf)), 0.0)))


def left_in_parts(learned: Learned, u: Solution, enough: float) -> float:
    """‖P u − h‖ of an equation, as a part of ‖h‖ and of ‖φ_α ∂^α u‖ over all its terms, at points that no part has.

    The worst of several inputs, and of those equations whose data are functions; parts at singularities tell nothing.

    Arguments:
        enough: 0 stands for less than this.
    """
    given, worst = _given(learned, u), 0.0
    if u.paired or learned.problem.timed or not any(callable(value) for value in given.values()):
        return 0.0
    for own, terms in _kept_in_parts.of(learned.factorisation, lambda: _fresh_in_parts(learned)):
        value, (layout,) = given[own.condition.name], own.rows.layouts
        try:
            values = values_at(own.condition, value, own.points, layout) if callable(value) else None
        except KernopError:  # a function that is not finite there
            continue
        if values is None:
            continue
        h = real_columns(layout.rows(concrete(own.condition.name, values)))
        left, sizes = norms(u.function.apply(own.rows) - h), norms(h)
        if np.any(left > enough * sizes):
            sizes = np.maximum(sizes, norms(u.function.apply(terms)))
            found = float(np.max(left / np.where(sizes > 0.0, sizes, np.inf)))
            worst = max(worst, found if found > enough else 0.0)
    return worst


def _fresh_in_parts(learned: Learned) -> list[tuple[_Fresh, Functionals]]:
    """The equations at fresh points, and their terms alone."""
    found: list[tuple[_Fresh, Functionals]] = []
    for condition in learned.problem.conditions:
        if condition.on.intrinsic_dim < learned.problem.dim or condition.integral or not condition.on.known:
            continue
        try:
            points = condition.on.sample(IN_PARTS, "halton", SEED)
            points = points[learned.factorisation.told_at(points.x)]
            own = _Fresh(condition, points, condition_functionals(condition, points, learned.ansatz))
            found.append((own, _terms([own])))
        except KernopError:
            continue
    return found


def _given(learned: Learned, u: Solution) -> dict[str, object]:
    return {c.name: (u.inputs or {}).get(c.name, c.data) for c in learned.problem.conditions}


def _apart(learned: Learned, u: Solution) -> list[tuple[_Fresh, FloatArray, FloatArray]]:
    """The conditions whose data are known between the points, with h and P u − h there."""
    given, found = _given(learned, u), list[tuple[_Fresh, FloatArray, FloatArray]]()
    for own in _kept.of(learned.factorisation, lambda: _fresh(learned)):
        name, (layout,) = own.condition.name, own.rows.layouts
        if not (callable(given[name]) or np.isscalar(given[name])):
            continue
        try:
            values = values_at(own.condition, given[name], own.points, layout)
        except KernopError:  # a function that is not finite there
            continue
        h = real_columns(layout.rows(concrete(name, values)))
        found.append((own, h, u.function.apply(own.rows) - h))
    return found


def _part(found: Sequence[tuple[_Fresh, FloatArray, FloatArray]], weights: Mapping[str, float]) -> FloatArray:
    """‖√W (P u − h)‖ / ‖√W h‖ of some conditions, (B,)."""
    left, size = np.zeros(1), np.zeros(1)
    for own, h, apart in found:
        left = left + weights[own.condition.name] * np.mean(np.square(apart), axis=0)
        size = size + weights[own.condition.name] * np.mean(np.square(h), axis=0)
    return np.sqrt(left / np.where(size > 0.0, size, np.inf))


def _equations(learned: Learned) -> list[_Fresh]:
    fresh = _kept.of(learned.factorisation, lambda: _fresh(learned))
    return [own for own in fresh if own.condition.on.intrinsic_dim == learned.problem.dim]


def _terms(equations: Sequence[_Fresh]) -> Functionals:
    """Each term of each equation alone, at the fresh points."""
    blocks = [(block, j) for own in equations for block in own.rows.blocks for j in range(len(block.terms))]
    return Functionals(tuple(Block(b.x, (b.terms[j],), b.coefficients[:, [j]]) for b, j in blocks))


def _fresh(learned: Learned) -> tuple[_Fresh, ...]:
    """The conditions at fresh points; none of those of which only values at old points are left, as from a file."""
    found: list[_Fresh] = []
    for condition in learned.problem.conditions:
        if condition.integral or condition.paired or condition.across or not condition.on.known:
            continue
        try:
            points = condition.on.sample(NUMBER, "halton", SEED)
            found.append(_Fresh(condition, points, condition_functionals(condition, points, learned.ansatz)))
        except KernopError:
            continue
    return tuple(found)


def beyond_noise(learned: Learned, u: Solution) -> list[str]:
    """Which measured values contradict the noise that their condition states, in words."""
    found: list[str] = []
    for condition, rows, own in zip(
        learned.problem.conditions, learned.collocated.slices, learned.collocated.conditions, strict=True
    ):
        if condition.noise is None or u.data is None or len(own) < FEWEST:
            continue
        h = u.data[rows]
        missed = np.sqrt(np.mean(np.square(u.function.apply(own) - h), axis=0)) / condition.noise
        worst, size = float(np.max(missed)), float(np.max(np.abs(h)))
        if worst > MISSED:
            found.append(
                f"the values of {condition.name!r} are missed by {worst:.2g} times noise {condition.noise:.2g} in the "
                "mean: the noise is stated too small or in other units, the equation does not hold, or the prior "
                f"expects u to be smaller than these values, which go up to {size:.2g}: learn with "
                f"kernel={size**2:.1g} * ko.Gaussian(…), or subtract what is known of u, such as its mean"
            )
        elif 0.0 < size < condition.noise:
            found.append(
                f"the values of {condition.name!r} are at most {size:.2g}, below their noise of {condition.noise:.2g}, "
                "and tell nothing: is the noise stated in the units of the data?"
            )
    return found
