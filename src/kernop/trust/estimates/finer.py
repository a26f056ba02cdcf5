"""A finer operator made of parts, by which the errors of one are estimated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, SingularGramError
from kernop.basics.frozen import Kept
from kernop.collocation.ansatz import Ansatz, collocate
from kernop.collocation.cells.grading import deepened
from kernop.collocation.cells.mosaic import TIP, Mosaic
from kernop.collocation.cells.tiling import tiled, touched
from kernop.collocation.functionals import Functionals
from kernop.geometry.cells import Cells
from kernop.language.problem import Problem
from kernop.methods import Factorisation
from kernop.methods.parts.glued import PartsFactorisation
from kernop.methods.parts.joining import glued_operator
from kernop.methods.parts.partition import Partition, counts_for, held_low
from kernop.methods.parts.space import PartsSpace
from kernop.trust.estimates.partwise import bending

#: Polynomials have a degree higher by so much, for d = 1, 2, 3; cells at singularities are halved so often more.
HIGHER, DEEPER = (2, 2, 1), 2
#: Polynomials of higher degrees are unstable in cells that are graded to a corner.
STABLE = 20


@dataclass(kw_only=True, frozen=True, eq=False)
class FinerParts:
    """Cells, the conditions at their points, and the map from data to u; and are there cells in which coefficients are
    not smooth?
    """

    mosaic: Mosaic
    rows: Functionals
    factorisation: PartsFactorisation
    bent: bool = False


_kept: Kept[Factorisation, FinerParts | None] = Kept()


def finer_parts(
    problem: Problem, factorisation: Factorisation, rows: Callable[[], Functionals], ansatz: Ansatz, seed: int
) -> FinerParts | None:
    """The same cells with other points, and polynomials of a higher degree; smaller ones at singularities and, in the
    plane, where coefficients are not smooth; made once.

    None if the operator is not made of parts, or cannot be made finer.
    """
    space = factorisation.expansion
    if not isinstance(space, PartsSpace) or space.mosaic.pieces.domain is None:
        return None
    assert isinstance(factorisation, PartsFactorisation)
    return _kept.of(factorisation, lambda: _made(problem, space, _bent(problem, factorisation, rows), ansatz, seed))


def _bent(problem: Problem, found: PartsFactorisation, rows: Callable[[], Functionals]) -> list[int]:
    """The cells in which coefficients are not smooth: there a higher degree resolves them hardly better."""
    space = found.expansion
    assert isinstance(space, PartsSpace)
    if problem.dim != 2 or problem.timed:
        return []
    return np.unique(space.mosaic.owners[bending(found, rows()), 0]).tolist()


def _made(problem: Problem, space: PartsSpace, bent: Sequence[int], ansatz: Ansatz, seed: int) -> FinerParts | None:
    mosaic = space.mosaic
    singular = np.unique(mosaic.owners[mosaic.singular > 0, 0])
    try:
        cells, places = deepened(problem, mosaic.pieces, mosaic.cells, singular, DEEPER, bent)
        touching = touched(problem, mosaic.pieces, cells, places)
        degrees = held_low(_higher(space, cells, HIGHER[problem.dim - 1]), touching, problem.dim)
        counts = [counts_for(problem.dim, own) for own in degrees.tolist()]
        placed = tiled(problem, mosaic.pieces, cells, touching, counts, seed)
        rows = collocate(problem, placed.points, ansatz)
        own = degrees[placed.owners[:, 0]]
        better = glued_operator(problem, placed, own, Partition(), rows, ansatz)
        return FinerParts(mosaic=placed, rows=rows, factorisation=better, bent=len(bent) > 0)
    except (ArgumentError, SingularGramError):
        return None


def _higher(space: PartsSpace, cells: Cells, more: int) -> NDArray[np.int64]:
    """The degrees in finer cells: those of the cells that hold them, and more; at singularities those of the parts
    beside.
    """
    mosaic, found = space.mosaic, space.of_parts.copy()
    below, above = mosaic.sewn.sides.T
    for one, other in ((below, above), (above, below)):
        at_tip = mosaic.singular[one] == TIP
        np.maximum.at(found, one[at_tip], space.of_parts[other[at_tip]])
    where = mosaic.cells.locate(0.5 * (cells.low + cells.high))
    top = int(np.max(space.of_parts))
    most = max(top, min(top + more, STABLE)) if np.any(mosaic.singular) else top + more
    return np.minimum(mosaic.in_cells(found)[where] + more, most)
