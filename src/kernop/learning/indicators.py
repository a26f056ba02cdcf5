"""Where an operator made of parts is wrong: by what its solutions leave of the data, and by how far they jump."""

from __future__ import annotations

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.methods.base import Answer
from kernop.methods.partition import PartsFactorisation, unit_of
from kernop.methods.parts.space import PartsSpace
from kernop.operators.operator import SolutionOperator

#: −Δe = 1 on [−1, 1]² with e = 0 on the boundary is 0.29 at its largest: so much of a residual, in units of a part, is
#: error.
SHARE = 0.3


def errors_by_parts(operator: SolutionOperator, h: FloatArray, answer: Answer) -> FloatArray:
    """How wrong solutions are on each part, about: (P, B). Parts at singularities have 0: they are small enough.

    That is the largest residual of a condition at the points of the part, in units in which its largest coefficient is
    1 and the part has half sides of 1; or the largest jump on a seam, if that is more.

    Arguments:
        h: the data, (N, B).
        answer: what the operator makes of them.
    """
    found, space = operator.factorisation, answer.u.expansion
    assert isinstance(found, PartsFactorisation)
    assert isinstance(space, PartsSpace)
    mosaic, rows = space.mosaic, operator.collocated
    half = 0.5 * (mosaic.boxes[1] - mosaic.boxes[0])
    worst = np.zeros((len(mosaic.owners), h.shape[1]))
    parts = zip(found.locals, found.part_rows, found.roots, half, strict=True)
    for k, (own, places, roots, sides) in enumerate(parts):
        y = answer.u.y[k * space.each : (k + 1) * space.each]
        residual, start = np.abs(h[places.numbers] - (own.q @ y) / roots[:, None]), 0
        for number, part in places.slices:
            block, stop = rows.blocks[number][part], start + part.stop - part.start
            share = (SHARE if block.order else 1.0) / unit_of(block, sides)
            worst[k] = np.maximum(worst[k], share * np.max(residual[start:stop], axis=0))
            start = stop
    jumps = space.jumps(answer.u.y)
    resolved = np.all(mosaic.singular[mosaic.sewn.sides] == 0, axis=1)
    for side in (0, 1):
        np.maximum.at(worst, mosaic.sewn.sides[resolved, side], jumps[resolved])
    worst[mosaic.singular == 1] = 0.0
    return worst
