"""A finer operator made of parts, by which the errors of one are estimated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import ArgumentError, SingularGramError
from kernop.basics.frozen import Kept
from kernop.collocation.ansatz import Ansatz, collocate
from kernop.collocation.functionals import Functionals
from kernop.collocation.grading import deepened
from kernop.collocation.mosaic import Mosaic
from kernop.collocation.tiling import tiled
from kernop.language.problem import Problem
from kernop.methods import Factorisation
from kernop.methods.joining import glued_operator
from kernop.methods.partition import Partition, PartsFactorisation
from kernop.methods.parts.space import PartsSpace

#: Cells at singularities are halved so often more; if there are none, polynomials have a degree higher by so much, for
#: d = 1, 2, 3 (degrees above 20 are unstable in cells that are graded to a corner).
HIGHER, DEEPER = (2, 2, 1), 2


@dataclass(frozen=True, eq=False)
class FinerParts:
    """Cells, the conditions at their points, and the map from data to u."""

    mosaic: Mosaic
    rows: Functionals
    factorisation: PartsFactorisation


_kept: Kept[Factorisation, FinerParts | None] = Kept()


def finer_parts(problem: Problem, factorisation: Factorisation, ansatz: Ansatz, seed: int) -> FinerParts | None:
    """The same cells with other points, and smaller ones at singularities or polynomials of a higher degree; made once.

    None if the operator is not made of parts, is one for several unknowns, or cannot be made finer.
    """
    space = factorisation.expansion
    if not isinstance(space, PartsSpace) or problem.unknowns.total > 1:
        return None
    return _kept.of(factorisation, lambda: _made(problem, space, ansatz, seed))


def _made(problem: Problem, space: PartsSpace, ansatz: Ansatz, seed: int) -> FinerParts | None:
    mosaic, degree = space.mosaic, int(np.max(np.sum(space.degrees, axis=1)))
    singular = np.unique(mosaic.owners[mosaic.singular == 1, 0])
    method = Partition(degree=degree if len(singular) else degree + HIGHER[problem.dim - 1])
    try:
        cells, places = deepened(problem, mosaic.pieces, mosaic.cells, singular, DEEPER)
        placed = tiled(problem, mosaic.pieces, cells, places, method.counts_for(problem.dim), seed)
        rows = collocate(problem, placed.points, ansatz)
        return FinerParts(placed, rows, glued_operator(problem, placed, method, rows, ansatz))
    except (ArgumentError, SingularGramError):
        return None
