"""Nearness to a resonance, seen by an operator that was learned already.

With data 0 but for the source the operator is the inverse of the equation, so its powers tend to the solution that is
nearest to one without data: ‖T v‖ / ‖v‖ tends to 1 / |λ|, with λ the eigenvalue that is nearest to 0. Unlike the spaces
of `wellposed` an operator that is graded to a corner holds eigenfunctions that are singular there.
"""

from __future__ import annotations

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.functionals import Functionals
from kernop.collocation.units import Frame
from kernop.methods import Factorisation
from kernop.trust.wellposed import STEADY_LIMIT, Stability, natural_weights

#: Steps of the iteration; a number that spans decades need not be known better.
STEPS = 4


def by_powers(
    factorisation: Factorisation, rows: Functionals, equation: int, inside: FloatArray, frame: Frame, ansatz: Ansatz
) -> Stability:
    """The largest ‖u‖ per unit of source, in natural units, about.

    Arguments:
        factorisation: of the one equation for one real unknown.
        rows: the functionals from which it was learned.
        equation: the number of its condition.
        inside: points of the domain, (M, d).
    """
    own, places = rows.slices[equation], ansatz.evaluations(inside)
    there = ansatz.evaluations(rows.conditions[equation].blocks[0].x)
    weight = natural_weights(rows, places, frame)[equation]
    v, number = np.random.default_rng(0).standard_normal((own.stop - own.start, 1)), 0.0
    for step in range(STEPS):
        h = np.zeros((len(rows), 1))
        h[own] = v
        u = factorisation.answer(h).u
        v, size = u.apply(there), float(np.sqrt(np.mean(np.square(u.apply(places)))))
        if step:  # the first source is noise at points, of which nothing is known between them
            number = size / np.sqrt(weight * (own.stop - own.start))
        v = v / size if size > 0.0 else v
    resonant = number > STEADY_LIMIT
    unseen = "a resonance, a solution of the equation without data: change the frequency" if resonant else "nothing"
    return Stability(number, unseen, STEADY_LIMIT)
