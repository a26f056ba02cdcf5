"""What parts miss of data between their points: functions that jump, or are narrow, beside what polynomials follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray, IntArray, KernopError
from kernop.collocation.ansatz import condition_functionals
from kernop.collocation.data import concrete, real_columns, values_at
from kernop.collocation.functionals import Functionals
from kernop.geometry import Points
from kernop.geometry.sequences import halton
from kernop.language.conditions import Condition
from kernop.methods.parts.space import PartsSpace
from kernop.operators.operator import SolutionOperator
from kernop.operators.solution import Solution
from kernop.trust.estimates.partwise import SHARE

#: Fresh points in each part, and on each region of the boundary for each part, and their seed.
FRESH, AROUND, SEED = 64, 16, 7919
#: Data are rough in a part if more than this part of the largest is left there.
ROUGH = 0.05


@dataclass(frozen=True, eq=False)
class Missed:
    """What is left of data at points that no part has.

    Arguments:
        wrong: how wrong solutions are on each part by that, about, (P, B): as in `errors_by_parts` the largest residual
            of a condition, in units of the part.
        rough: parts in which data are not like polynomials at all, (P,): where they jump errors fall no faster than the
            size of parts, and add up along the jump.
    """

    wrong: FloatArray
    rough: BoolArray


def missed_between(operator: SolutionOperator, answers: Sequence[Solution]) -> Missed:
    """What is left of conditions whose data are functions, which may be anything between the points."""
    space = operator.factorisation.expansion
    assert isinstance(space, PartsSpace)
    columns = np.cumsum([0, *(u.function.width for u in answers)])
    worst = np.zeros((len(space.uppers), columns[-1]))
    rough = np.zeros(worst.shape, dtype=bool)
    for condition in operator.problem.conditions:
        values = [(u.inputs or {}).get(condition.name, condition.data) for u in answers]
        if condition.integral or not any(map(callable, values)):
            continue
        points = _fresh(condition, space, operator.problem.timed)
        try:
            rows = condition_functionals(condition, points, operator.ansatz)
        except KernopError:  # a coefficient that is not finite there
            continue
        part = space.mosaic.locate(points.x)
        units = _units(rows, part, space)
        for u, value, first, last in zip(answers, values, columns[:-1], columns[1:], strict=True):
            try:
                h = values_at(condition, value, points, rows.layouts[0]) if callable(value) else None
            except KernopError:  # a function that is not finite there
                continue
            if h is not None:
                known = real_columns(rows.layouts[0].rows(concrete(condition.name, h)))
                residual = np.abs(u.function.apply(rows) - known)
                large = residual > ROUGH * np.max(np.abs(known), axis=0)
                for place, own in rows:
                    share = SHARE if own.order else 1.0
                    np.maximum.at(worst[:, first:last], part, share * residual[place] / units[place, None])
                    np.logical_or.at(rough[:, first:last], part, large[place])
    return Missed(worst, np.any(rough, axis=1) & (space.mosaic.singular == 0))


def _fresh(condition: Condition, space: PartsSpace, timed: bool) -> Points:
    """Points of a condition: inside the domain so many in the box of each part, as far as they are in the part."""
    low, high = space.boxes
    if condition.on.intrinsic_dim < space.dim:
        return condition.on.sample(AROUND * len(low), "halton", SEED)
    unit = halton(FRESH, space.dim, np.random.default_rng(SEED))
    x = (low[:, None] + unit * (high - low)[:, None]).reshape(-1, space.dim)
    x = x[condition.on.contains(x)]
    return Points(x, None, timed)


def _units(rows: Functionals, part: IntArray, space: PartsSpace) -> FloatArray:
    """The size of the coefficients of each row in its part, in units of this, (N,); infinite where all are 0."""
    half = 0.5 * space.mosaic.sides
    found = np.empty(len(rows))
    for place, block in rows:
        powers = np.prod(half[part][:, None, :] ** np.array(block.alphas), axis=2)
        size = np.zeros(len(half))
        np.maximum.at(size, part, np.max(np.abs(block.coefficients) / powers, axis=1))
        found[place] = np.where(size > 0.0, size, np.inf)[part]
    return found
