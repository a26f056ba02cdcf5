"""Do measured values fit what is said of their noise?"""

from __future__ import annotations

import numpy as np

from kernop.operators.solution import Solution
from kernop.trust.estimates import Learned

#: Readings that are missed by so many times their noise in the mean are not missed by chance; of so many at least.
MISSED, FEWEST = 3.0, 4


def doubts(learned: Learned, u: Solution) -> list[str]:
    """What is doubtful about values that were measured, in words, for each condition that states its noise."""
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
