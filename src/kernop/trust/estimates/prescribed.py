"""Where u is prescribed, the error of a solution is known at any point: it is the residual."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernop.collocation.ansatz import condition_functionals
from kernop.methods import Combination
from kernop.methods.parts.space import PartsSpace
from kernop.trust.estimates.learned import SEED, Learned
from kernop.trust.estimates.maximum import Data
from kernop.trust.estimates.stability import Errors, ErrorsFromResiduals

#: Points of each region at which it is looked; the few of an estimate miss what is wrong at corners alone.
LOOKED_AT = 4000


def where_prescribed(
    operator: Learned, knowledge: ErrorsFromResiduals, u: Combination, errors: Errors, data: Data
) -> Errors:
    """Errors of B solutions û in one space, with what they are where u is prescribed, for data that are known there.

    In space and time they stay as they are: slabs that are marched have no data anywhere else.
    """
    if isinstance(u.expansion, PartsSpace) or operator.problem.timed:
        return errors
    most = np.zeros(u.width)
    for k in knowledge.prescribed:
        condition = operator.problem.conditions[k]
        if condition.on.intrinsic_dim and condition.on.known:
            points = condition.on.sample(LOOKED_AT, seed=SEED)
            rows = condition_functionals(condition, points, operator.ansatz)
            (block,) = rows.blocks
            found = (data(condition, points) - u.apply(rows)) / block.coefficients
            most = np.maximum(most, np.max(np.abs(found), axis=0))
    return replace(errors, guess=np.stack([errors.guess[0], np.maximum(errors.guess[1], most)]))
