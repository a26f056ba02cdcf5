"""Where u is prescribed, the error of a solution is known at any point: it is the residual."""

from __future__ import annotations

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.ansatz import condition_functionals
from kernop.methods import Combination
from kernop.methods.parts.space import PartsSpace
from kernop.trust.estimates.learned import SEED, Learned
from kernop.trust.estimates.maximum import Data
from kernop.trust.estimates.stability import ErrorsFromResiduals

#: Points of each region at which it is looked; the few of an estimate miss what is wrong at corners alone.
LOOKED_AT = 4000


def where_prescribed(operator: Learned, knowledge: ErrorsFromResiduals, u: Combination, data: Data) -> FloatArray:
    """The largest errors of B solutions û in one space where u is prescribed, (B,); of parts 0: they have estimates
    of their own.

    Arguments:
        data: of a condition at points, (n, B); NaN where it is not known.
    """
    most = np.zeros(u.width)
    if isinstance(u.expansion, PartsSpace):
        return most
    for k in knowledge.prescribed:
        condition = operator.problem.conditions[k]
        if condition.on.intrinsic_dim and condition.on.known:
            points = condition.on.sample(LOOKED_AT, seed=SEED)
            rows = condition_functionals(condition, points, operator.ansatz)
            (block,) = rows.blocks
            found = np.abs((data(condition, points) - u.apply(rows)) / block.coefficients)
            most = np.fmax(most, np.max(found, axis=0))
    return most
