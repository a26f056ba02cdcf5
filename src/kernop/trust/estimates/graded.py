"""Where the problem itself makes u singular, a solution in one smooth space is compared with one made of parts.

At re-entrant corners, and where the kind of condition changes, richer and coarser smooth spaces are wrong in the same
way, and what they say of each other says nothing of the error. Parts that are graded to such places resolve u at a
fraction of the cost: for their solution v, ‖u − û‖ ≤ ‖v − û‖ + ‖u − v‖, and the last is small, and known part by part.
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
from kernop.collocation.probes import applied, probes_of
from kernop.collocation.units import frame_of
from kernop.geometry.domain import Domain
from kernop.methods import Combination, Factorisation
from kernop.methods.parts.joining import glued_operator
from kernop.methods.parts.partition import Partition, counts_for, held_low
from kernop.methods.parts.space import PartsSpace
from kernop.trust.estimates.finer import FinerParts
from kernop.trust.estimates.learned import SEED, Learned, rms, rms_at_most
from kernop.trust.estimates.maximum import Data
from kernop.trust.estimates.partwise import errors_by_leaks, errors_by_parts
from kernop.trust.estimates.stability import Errors, ErrorsFromResiduals, where

#: Polynomials of this degree, on cells with so many functions for each of one space, but at least so many cells along
#: the longest side.
DEGREE, FUNCTIONS, FEWEST = 12, 4.0, 4
#: The errors at which grading aims: the first with at most so many cells.
TARGETS, MOST = (1e-6, 1e-4, 1e-2), 1200
#: v counts if what is wrong with it, at most, is at most this part of ‖v − û‖.
KNOWN = 0.5
#: û is compared at so many points inside, and at so many in copies of the domain that shrink to each corner, by halves.
WITHIN, NEAR, HALVINGS = 4000, 200, 8


@dataclass(kw_only=True, frozen=True, eq=False)
class GradedParts(FinerParts):
    """An operator made of parts, and what it takes to compare solutions with its own.

    Attributes:
        places: all components at points inside, dense at corners, …
        roots: … with which as factors root mean squares there are those over the domain, (n, 1); they are 0 in the
            middle of parts, which are small at singularities.
        constant: how many times errors of probing fields may exceed what `wrong` tells, and at least 1.
    """

    places: Functionals
    roots: FloatArray
    constant: float

    def wrong(self, v: Combination, h: FloatArray) -> FloatArray:
        """How wrong solutions v are for data h (N, B), at most: as in the worst case of one part, (B,)."""
        return self.constant * _wrong(self, v, h)

    def moduli(self, v: Combination, u: Combination) -> FloatArray:
        """|v − û| at the places, (n, B)."""
        apart = v.apply(self.places) - u.apply(self.places)
        return np.linalg.norm(apart.reshape(len(self.places.blocks), -1, u.width), axis=0)


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
    """Errors of B solutions û, by solutions v made of parts as far as these are known well enough.

    Arguments:
        errors: by smooth spaces.
        residuals, h: at the points of the estimate, (n, B).
        data: anywhere.
    """
    graded = graded_parts(operator)
    if graded is None:
        return errors
    given = np.concatenate([data(c, graded.mosaic.points[c.name]) for c in operator.problem.conditions])
    v = graded.factorisation.answer(given).u
    values = v.apply(knowledge.places.functionals)
    correction = knowledge.sized(values - u.apply(knowledge.places.functionals), residuals)
    apart = graded.moduli(v, u)
    correction[0] = rms(graded.roots * apart)
    correction[1] = np.maximum(correction[1], np.max(apart, axis=0))
    guess = np.stack([rms_at_most(graded.roots * apart)[None], correction[1]])
    rest = np.zeros_like(guess) + graded.wrong(v, given)
    known = (rest <= KNOWN * guess)[0, 0]
    peaks = tuple(replace(one, rough=one.rough and not known[one.input]) for one in errors.peaks)
    own = Errors(guess, rest, correction, solution=knowledge.sized(values, h))
    return replace(where(known, own, errors), peaks=peaks)


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
    x, roots = _places(pieces.whole, mosaic)
    seen = ansatz.evaluations(x)
    made = GradedParts(mosaic=mosaic, rows=rows, factorisation=found, places=seen, roots=roots, constant=1.0)
    return replace(made, constant=_constant(operator, made))


def _wrong(graded: GradedParts, v: Combination, h: FloatArray) -> FloatArray:
    parts = errors_by_parts(graded.factorisation, graded.rows, v, h)
    assert parts is not None
    return np.max(parts, axis=0) + errors_by_leaks(graded.factorisation, h)


def _constant(operator: Learned, graded: GradedParts) -> float:
    """Waves that travel, and domains that resonate, make more of what is wrong in a part than the part itself does."""
    probes = probes_of(graded.rows.blocks, frame_of(operator.problem), SEED)
    h = applied(probes, graded.rows)
    v = graded.factorisation.answer(h).u
    error = rms(graded.roots * (applied(probes, graded.places) - v.apply(graded.places))[: len(graded.roots)])
    return max(1.0, float(np.max(error / _wrong(graded, v, h))))


def _places(domain: Domain, mosaic: Mosaic) -> tuple[FloatArray, FloatArray]:
    """Points of a domain, dense at corners, where least squares err most, and in the middle of parts, (n, 2); and
    roots of n times their shares of the mean over the domain, (n, 1).

    They are drawn from a mixture of the domain and of copies that shrink to its corners, so that each stands for 1
    over the density of the mixture.
    """
    drawn = domain.sample(WITHIN, seed=SEED).x
    copies = [(c, 2.0**-k) for c in domain.corners.x for k in range(1, HALVINGS + 1)]
    x = np.concatenate([drawn, *(c + s * (drawn[:NEAR] - c) for c, s in copies)])
    x = x[domain.contains(x)]
    density = np.full(len(x), float(WITHIN))
    for c, s in copies:
        density += NEAR / s**2 * domain.contains(c + (x - c) / s)
    middles = 0.5 * (mosaic.boxes[0] + mosaic.boxes[1])
    middles = middles[domain.contains(middles)]
    roots = np.concatenate([np.sqrt(len(x) / density / np.sum(1.0 / density)), np.zeros(len(middles))])
    return np.concatenate([x, middles]), np.sqrt(len(roots) / len(x)) * roots[:, None]
