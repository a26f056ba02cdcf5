"""Where residuals are concentrated, û is compared with solutions of the weak form, which corners do not spoil.

At a corner least squares bend û everywhere, and richer and coarser spaces in the same way, so that they may agree and
be wrong. Galerkin's solutions v and v″, of which the second has a quarter of the functions, are as good as their spaces
are: ‖u − û‖ ≤ ‖v − û‖ + ‖u − v‖, and where u is as r^α, ‖u − v‖ ≈ κ ‖v − v″‖ with κ = 1 / (4^(2α/d) − 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray, KernopError
from kernop.basics.frozen import Kept
from kernop.collocation.probes import applied, probes_of, resolving
from kernop.collocation.subdomains import holes_of
from kernop.collocation.units import frame_of
from kernop.geometry import Points
from kernop.methods import Combination, Setting, Subspace
from kernop.methods.parts.space import PartsSpace
from kernop.trust.estimates.galerkin import Galerkin, galerkin
from kernop.trust.estimates.learned import SEED, Learned, Places, rms
from kernop.trust.estimates.stability import COARSER, Errors, ErrorsFromResiduals, where
from kernop.trust.estimates.weakform import weak_form

#: v has one function for so many data, at most so many for each component in 2 and 3 dimensions, and so many in all;
#: integrals are sums over so many points for each function.
DATA, MOST, IN_ALL, POINTS = 6, {2: 400, 3: 1000}, 1000, 8
#: u is as r^α with this α, or smoother.
EXPONENT = 0.5
#: v alone is trusted if its error, η, is at most this part of ‖v − û‖. Else it may be no better than û, and only raises
#: what others say, by this factor at most; what leave-one-out residuals say, which may be a fifth of the error, by
#: twice as much …
KNOWN, RAISED = 0.5, 4.0
#: … and only if η is at most so many times ‖v − û‖: where residuals are concentrated, and for leave-one-out residuals,
#: which do not tell whether u is singular. Of a smooth u η is larger, since coarser spaces are much worse there.
SINGULAR, UNTOLD = 4.5, 2.5
#: If v is wrong by more than this part of smooth fields, the weak form is not that of the problem, and v is not used.
SMOOTH = 0.1
#: Estimates of less than this part of u are left alone, those by leave-one-out residuals and all others. Sums over
#: points tell nothing of smaller errors. What smooth spaces underestimate are per cents; leave-one-out residuals
#: underestimate smaller errors, too.
LEAST, PER_CENT = 1e-3, 1e-2


@dataclass(frozen=True, eq=False)
class Variational:
    """Galerkin's solutions for data at the points of an estimate, with more functions and with fewer.

    Arguments:
        finer, coarser: for v and v″.
        floor: of the error of v, relative to v: what sums over points leave of smooth fields.
    """

    finer: Galerkin
    coarser: Galerkin
    floor: float

    def answers(self, h: FloatArray, places: Places) -> tuple[FloatArray, FloatArray]:
        """v at the places, (m, B), for data h (n, B), and what is wrong with it, (2, U, B)."""
        v, coarser = (own.answer(h).apply(places.functionals) for own in (self.finer, self.coarser))
        slow = 1.0 / (COARSER ** (-2.0 * EXPONENT / self.finer.expansion.dim) - 1.0)
        return v, slow * places.sizes(v - coarser) + self.floor * places.sizes(v)


_kept: Kept[ErrorsFromResiduals, Variational | None] = Kept()


def variational(operator: Learned, knowledge: ErrorsFromResiduals) -> Variational | None:
    """Solutions of the weak form for data at the points of ``knowledge``, made once; None if there is no weak form."""

    def make() -> Variational | None:
        try:
            return _made(operator, knowledge, operator.test_points if knowledge.centres else operator.points)
        except (KernopError, np.linalg.LinAlgError):
            return None

    return _kept.of(knowledge, make)


def by_weak_form(
    operator: Learned,
    knowledge: ErrorsFromResiduals,
    u: Combination,
    errors: Errors,
    residuals: FloatArray,
    h: FloatArray,
) -> Errors:
    """Errors of B solutions û, by Galerkin's solutions where these are known well enough and others are doubtful.

    Arguments:
        errors: by least squares.
        residuals, h: at the points of the estimate, (n, B).
    """
    flagged = np.zeros(u.width, dtype=bool) if errors.doubtful is None else errors.doubtful
    asked = _large(errors, knowledge) & (flagged | (knowledge.kind == "leave-one-out"))
    found = variational(operator, knowledge) if np.any(asked) and not isinstance(u.expansion, PartsSpace) else None
    if found is None:
        return errors
    v, rest = found.answers(h, knowledge.places)
    apart = v - u.apply(knowledge.places.functionals)
    correction = knowledge.sized(apart, residuals)
    guess = np.stack([knowledge.places.at_most(apart), correction[1]])
    part = np.where(flagged, SINGULAR, UNTOLD)
    known, singular = (asked & np.all((rest <= own * guess)[0], axis=0) for own in (KNOWN, part))
    better = Errors(guess, rest, correction, solution=knowledge.sized(v, h))
    raised = _raised(errors, guess + rest, np.where(flagged, RAISED, 2.0 * RAISED))
    peaks = tuple(replace(one, rough=one.rough and not known[one.input]) for one in errors.peaks)
    return replace(where(known, better, where(singular, raised, errors)), peaks=peaks)


def _large(errors: Errors, knowledge: ErrorsFromResiduals) -> BoolArray:
    """Are errors of any unknown so large that sums over points tell of them? (B,)."""
    least = LEAST if knowledge.kind == "leave-one-out" else PER_CENT
    return np.any((errors.guess + errors.rest)[0] > least * errors.solution[0], axis=0)


def _raised(errors: Errors, least: FloatArray, most: FloatArray) -> Errors:
    """Errors that are raised to sizes (2, U, B), but by a factor of at most ``most``, (B,)."""
    said = errors.guess + errors.rest
    factor = np.clip(least / np.where(said > 0.0, said, 1.0), 1.0, most)
    return replace(errors, guess=factor * errors.guess, rest=factor * errors.rest)


def _made(operator: Learned, knowledge: ErrorsFromResiduals, points: Mapping[str, Points]) -> Variational | None:
    problem, ansatz, rows = operator.problem, operator.ansatz, knowledge.functionals
    most = min(MOST.get(problem.dim, IN_ALL), min(len(rows) // DATA, IN_ALL) // ansatz.width)
    frame = frame_of(problem)
    setting = Setting(rows=rows, frame=resolving(frame, rows.blocks), ansatz=ansatz, holes=holes_of(problem))
    conditions = dict(zip(problem.names, rows.conditions, strict=True))
    extent, made = float(np.max(frame.high - frame.low)), list[Galerkin]()
    for centres in (max(1, round(COARSER**k * most)) for k in (0, 1)):
        form = weak_form(operator, points, POINTS * centres)
        if form is None:
            return None
        expansion = Subspace(centres).expansion(setting, rows, len(rows))
        made.append(galerkin(form, expansion, conditions, extent))
    probes = probes_of(rows.blocks, frame, SEED)
    truth = applied(probes, knowledge.places.functionals)
    apart = made[0].answer(applied(probes, rows)).apply(knowledge.places.functionals) - truth
    floor = float(np.median(rms(apart) / rms(truth)))
    return Variational(made[0], made[1], floor) if floor <= SMOOTH else None
