"""Where the problem itself makes u singular, a solution in one smooth space is compared with one made of parts.

At re-entrant corners, and where the kind of condition changes, richer and coarser smooth spaces are wrong in the same
way, and what they say of each other says nothing of the error. Parts that are graded to such places resolve u at a
fraction of the cost: for their solution v, ‖u − û‖ ≤ ‖v − û‖ + ‖u − v‖, where the last is small, and known part by part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, comb

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, MemoryLimitError, SingularGramError
from kernop.basics.frozen import Kept
from kernop.collocation.ansatz import collocate
from kernop.collocation.cells.divisible import supported_pieces
from kernop.collocation.cells.grading import ROUGH, cells_of
from kernop.collocation.cells.mosaic import Mosaic
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.singularities import singularities
from kernop.collocation.cells.tiling import tiled, touched
from kernop.collocation.functionals import Functionals
from kernop.methods import Combination, Factorisation
from kernop.methods.parts.glued import PartsFactorisation
from kernop.methods.parts.joining import glued_operator
from kernop.methods.parts.partition import Partition, counts_for, held_low
from kernop.methods.parts.space import PartsSpace
from kernop.trust.estimates.finer import FinerParts
from kernop.trust.estimates.learned import SEED, Learned
from kernop.trust.estimates.maximum import Data
from kernop.trust.estimates.partwise import errors_by_leaks, errors_by_parts
from kernop.trust.estimates.stability import Errors, ErrorsFromResiduals, where

#: Polynomials of this degree, on cells with so many functions for each of one space, but at least so many cells along
#: the longest side.
DEGREE, FUNCTIONS, FEWEST = 9, 2.0, 4
#: The errors at which grading aims: the first with at most so many cells.
TARGETS, MOST = (1e-6, 1e-4, 1e-2), 1200
#: v counts if what is wrong with it on any part is at most this part of ‖v − û‖.
KNOWN = 0.5


@dataclass(frozen=True, eq=False)
class GradedParts(FinerParts):
    """An operator made of parts, and where functions are largest at singularities: in the middle of its parts."""

    middles: Functionals


_kept: Kept[Factorisation, GradedParts | None] = Kept()


def graded_parts(operator: Learned) -> GradedParts | None:
    """An operator made of parts that are graded to where the problem makes u singular; made once.

    None if u is not singular by itself, is itself in parts, has several components, or the problem has no cells.
    """
    found = operator.factorisation
    plain = operator.problem.unknowns.total == 1 and operator.ansatz.envelope is None
    if not plain or operator.problem.dim != 2 or operator.problem.timed or isinstance(found.expansion, PartsSpace):
        return None

    def make() -> GradedParts | None:
        try:
            pieces = supported_pieces(operator.problem)
            return None if isinstance(pieces, str) else _made(operator, pieces)
        except (ArgumentError, SingularGramError, MemoryLimitError):
            return None

    return _kept.of(found, make)


def compared(
    operator: Learned,
    knowledge: ErrorsFromResiduals,
    u: Combination,
    errors: Errors,
    residuals: FloatArray,
    h: FloatArray,
    data: Data,
) -> Errors:
    """Errors of B solutions û, by solutions made of parts as far as these are known well enough.

    Arguments:
        errors: by smooth spaces.
        residuals, h: at the points of the estimate, (n, B).
        data: anywhere.
    """
    graded = graded_parts(operator)
    if graded is None:
        return errors
    points, places = graded.mosaic.points, knowledge.places
    given = np.concatenate([data(c, points[c.name]) for c in operator.problem.conditions])
    v = graded.factorisation.answer(given).u
    values = v.apply(places.functionals)
    apart = values - u.apply(places.functionals)
    correction = knowledge.sized(apart, residuals)
    middles = np.linalg.norm(_by_component(v, u, graded.middles), axis=0)
    correction[1] = np.maximum(correction[1], np.max(middles, axis=0, initial=0.0))
    wrong = errors_by_parts(graded.factorisation, graded.rows, v, given)
    assert wrong is not None
    rest = np.max(wrong, axis=0) + errors_by_leaks(graded.factorisation, given) + np.zeros_like(correction)
    guess = np.stack([places.at_most(apart), correction[1]])
    known = (rest <= KNOWN * guess)[0, 0]
    peaks = tuple(replace(one, rough=one.rough and not known[one.input]) for one in errors.peaks)
    better = where(known, Errors(guess, rest, correction, knowledge.sized(values, h)), errors)
    return replace(better, peaks=peaks)


def _by_component(v: Combination, u: Combination, at: Functionals) -> FloatArray:
    """The components of v − û at places, (c, n, B)."""
    return (v.apply(at) - u.apply(at)).reshape(len(at.blocks), -1, u.width)


def _made(operator: Learned, pieces: Pieces) -> GradedParts | None:
    problem, ansatz = operator.problem, operator.ansatz
    if not np.any(singularities(problem, pieces).exponents < ROUGH):
        return None
    functions = FUNCTIONS * len(operator.factorisation.expansion) / ansatz.width
    number = max(FEWEST, ceil(np.sqrt(functions / comb(DEGREE + problem.dim, problem.dim))))
    laid = (cells_of(problem, pieces, number, target) for target in TARGETS)
    cells, places = next((own for own in laid if len(own[0].low) <= MOST), (None, None))
    if cells is None or places is None or len(places) == 0:
        return None
    singular = touched(problem, pieces, cells, places)
    degrees = held_low(np.full(len(singular), DEGREE), singular, problem.dim)
    counts = [counts_for(problem.dim, degree) for degree in degrees.tolist()]
    mosaic = tiled(problem, pieces, cells, singular, counts, SEED)
    rows = collocate(problem, mosaic.points, ansatz)
    found = glued_operator(problem, mosaic, degrees[mosaic.owners[:, 0]], Partition(), rows, ansatz)
    return GradedParts(mosaic, rows, found, _middles(operator, pieces, mosaic, found))


def _middles(operator: Learned, pieces: Pieces, mosaic: Mosaic, found: PartsFactorisation) -> Functionals:
    """All components in the middle of the parts, as far as that is in the domain."""
    assert isinstance(found.expansion, PartsSpace)
    x = np.mean(found.expansion.boxes, axis=0)
    return operator.ansatz.evaluations(x[pieces.whole.contains(x)])
