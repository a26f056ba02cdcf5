"""Do solutions satisfy their data: measured values to their noise, and functions between the points too?

Data that vary faster than the points are dense can be met at all of them by a function that is far off between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import KernopError
from kernop.basics.frozen import Kept
from kernop.collocation.ansatz import condition_functionals
from kernop.collocation.data import concrete, real_columns, values_at
from kernop.collocation.functionals import Functionals
from kernop.geometry.points import Points
from kernop.language.conditions import Condition
from kernop.methods import Factorisation
from kernop.operators.solution import Solution
from kernop.trust.estimates import Learned

#: Readings that are missed by so many times their noise in the mean are not missed by chance; of so many at least.
MISSED, FEWEST = 3.0, 4
#: Points of each condition, and the seed of those that no operator has.
NUMBER, SEED = 120, 7919


@dataclass(frozen=True, eq=False)
class _Fresh:
    """A condition at points of its own."""

    condition: Condition
    points: Points
    rows: Functionals


_kept: Kept[Factorisation, tuple[_Fresh, ...]] = Kept()


def left_between(learned: Learned, u: Solution, weights: Mapping[str, float]) -> float:
    """‖√W (P u − h)‖ / ‖√W h‖ at points that the operator does not have; of several inputs the worst.

    Inputs count that are functions or numbers, of conditions that are known between the points; 0 if there is none.

    Arguments:
        weights: of the conditions, each for all of its points together.
    """
    given = {c.name: (u.inputs or {}).get(c.name, c.data) for c in learned.problem.conditions}
    known = {name for name, value in given.items() if callable(value) or np.isscalar(value)}
    if u.paired or not any(callable(value) for value in given.values()):
        return 0.0
    left, size = np.zeros(1), np.zeros(1)
    for own in _kept.of(learned.factorisation, lambda: _fresh(learned)):
        name, (layout,) = own.condition.name, own.rows.layouts
        if name not in known:
            continue
        try:
            values = values_at(own.condition, given[name], own.points, layout)
        except KernopError:  # a function that is not finite there
            continue
        h = real_columns(layout.rows(concrete(name, values)))
        left = left + weights[name] * np.mean(np.square(u.function.apply(own.rows) - h), axis=0)
        size = size + weights[name] * np.mean(np.square(h), axis=0)
    return float(np.max(np.sqrt(left / np.where(size > 0.0, size, np.inf))))


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
