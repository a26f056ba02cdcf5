"""How well pieces conduct to others that they touch at a point: where lines of jumps cross."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.singularities import singularities
from kernop.collocation.cells.stars import Sectors
from kernop.language.problem import Problem

#: Pieces are looked for around a place at this part of the distance to what is next.
BESIDE = 0.1


def held_by(problem: Problem, pieces: Pieces, grounded: BoolArray, least: float) -> FloatArray:
    """How well each piece conducts to one of which values are given, (p,), as far as crossings of jumps tell.

    Potentials V_k on sectors around a crossing lose at least α Σ a_k (V_k − V)², with the least power α > 0 of r there:
    two of them conduct α min(a_i, a_j), and neighbours min(a_i, a_j). Along a way from piece to piece the worst counts,
    and of all ways the best.

    Arguments:
        grounded: are values of u given on the boundary of a piece? (p,).
        least: what every piece conducts to its surroundings.
    """
    around = singularities(problem, pieces)
    edges = [
        edge
        for place, sectors in zip(around.places, around.sectors, strict=True)
        if sectors is not None
        for edge in _edges(pieces, place, sectors)
    ]
    found = np.where(grounded, np.inf, least)
    for _ in grounded:
        for i, j, conducted in edges:
            found[i] = max(found[i], min(conducted, found[j]))
            found[j] = max(found[j], min(conducted, found[i]))
    return found


def _edges(pieces: Pieces, place: FloatArray, sectors: Sectors) -> list[tuple[int, int, float]]:
    """Two pieces, and how well one conducts to the other, for all pairs around a place."""
    ends = np.append(sectors.angles, sectors.angles[0] + 2.0 * np.pi)
    middles = np.array([0.5 * (one + other) for one, other in pairwise(ends.tolist())])
    way = np.stack([np.cos(middles), np.sin(middles)], axis=1)
    which, a = pieces.which(place + BESIDE * sectors.room * way).tolist(), sectors.coefficients.tolist()
    power, n = float(sectors.modes.powers[1]), len(which)
    beside = {(k, (k + 1) % n) for k in range(n)}
    return [
        (which[i], which[j], (1.0 if {(i, j), (j, i)} & beside else min(1.0, power)) * min(a[i], a[j]))
        for i in range(n)
        for j in range(i)
    ]
