"""The flux of an equation through the seams between parts, as seen from either side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray, OperatorError
from kernop.basics.precision import eagerly
from kernop.collocation.functionals import Block, tabulated
from kernop.collocation.mosaic import Mosaic
from kernop.geometry import Points
from kernop.language.conditions import Condition
from kernop.language.fields import Term
from kernop.language.interface import flux_of
from kernop.language.ops import coefficient_values, linear_forms
from kernop.language.problem import Problem
from kernop.language.sides import LIMIT

#: Coefficients on a seam are limits from within a part: the first step away is this part of its size, at least …
STEP = 1e-4
#: … and so much in units of the coordinates, below which rounding rules.
LEAST = 1e-11
#: How often a step is made ten times shorter so that it stays in its piece.
SHORTER = 4

Table = dict[Term, NDArray[np.float64]]


def flux_rows(problem: Problem, found: Mosaic) -> tuple[Block, Block]:
    """The flux along the normal through all seams at their nodes, seam after seam, from below and from above."""
    x = np.concatenate([seam.x for seam in found.seams])
    normal = np.concatenate([seam.normal for seam in found.seams])
    (equation,) = [c for c in problem.conditions if c.on.intrinsic_dim == problem.dim and not c.integral]
    if found.pieces.parts is None:
        own = tabulated(x, _flux_table(equation, Points(x, normal, problem.timed)))
        return own, own
    counts = [len(seam.x) for seam in found.seams]
    below, above = (np.repeat(own, counts) for own in zip(*[(s.below, s.above) for s in found.seams], strict=True))
    aside = [_aside(found, x, sign * normal, own) for sign, own in ((-1.0, below), (1.0, above))]
    return _limit(equation, x, normal, aside[0]), _limit(equation, x, normal, aside[1])


def _aside(found: Mosaic, x: FloatArray, direction: FloatArray, parts: NDArray[np.intp]) -> FloatArray:
    """A step from each node that can be taken three times without leaving its piece, (n, d)."""
    size = np.max(found.boxes[1] - found.boxes[0], axis=1)[parts]
    least = LEAST * np.maximum(1.0, np.max(np.abs(x), axis=1))
    length, pieces = np.maximum(STEP * size, least), found.owners[parts, 1]
    for _ in range(SHORTER):
        step = length[:, None] * direction
        left = np.any([found.pieces.which(x + k * step) != pieces for k in (1, 2, 3)], axis=0)
        length = np.where(left, np.maximum(0.1 * length, least), length)
    return length[:, None] * direction


def _limit(equation: Condition, x: FloatArray, normal: FloatArray, step: FloatArray) -> Block:
    """The flux on seams as a limit from the side to which steps (n, d) lead."""
    total: Table = {}
    for k, weight in enumerate(LIMIT, start=1):
        for term, values in _flux_table(equation, Points(x + k * step, normal, False)).items():
            total[term] = total.get(term, np.zeros(len(x))) + weight * values
    return tabulated(x, total)


def _flux_table(condition: Condition, points: Points) -> Table:
    """The flux of an equation: what stands in its div, or, if that is not plain, that of its terms of second order."""
    with eagerly():
        try:
            forms, _ = linear_forms(flux_of(condition.op), points, name=condition.name)
            return coefficient_values(forms, points, condition.name)[0]
        except OperatorError:
            forms, _ = linear_forms(condition.op, points, name=condition.name)
            table = coefficient_values(forms, points, condition.name)[0]
    return _principal(table, points)


def _principal(table: Table, points: Points) -> Table:
    """n·A∇u for Σ A_ij ∂_i ∂_j."""
    found: Table = {}
    assert points.normal is not None
    d = points.dim
    for (k, alpha), values in table.items():
        if sum(alpha) != 2:
            continue
        axes = [j for j in range(d) for _ in range(alpha[j])]
        for i, j in ((axes[0], axes[1]), (axes[1], axes[0])):
            term = (k, tuple(int(a == j) for a in range(d)))
            found[term] = found.get(term, 0.0) + 0.5 * values * points.normal[:, i]
    return found
