"""Where residuals are concentrated, û is compared with solutions of the weak form, which corners do not spoil.

At a corner least squares bend û everywhere, and richer and coarser spaces in the same way, so that they may agree and
be wrong. Galerkin's solutions v and v″, of which the second has a quarter of the functions, are as good as their spaces
are: ‖u − û‖ ≤ ‖v − û‖ + ‖u − v‖, and ‖u − v‖ ≤ κ ‖v − v″‖ with κ = 1/(4^(2α/d) − 1), if u is as r^α at a place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kernop.basics.errors import FloatArray, KernopError
from kernop.basics.frozen import Kept
from kernop.collocation.probes import applied, probes_of, resolving
from kernop.collocation.subdomains import holes_of
from kernop.collocation.units import frame_of
from kernop.geometry import Points
from kernop.methods import Combination, Setting, Subspace
from kernop.methods.parts.space import PartsSpace
from kernop.trust.estimates.galerkin import Galerkin, galerkin
from kernop.trust.estimates.learned import SEED, Learned, rms
from kernop.trust.estimates.stability import COARSER, Errors, ErrorsFromResiduals, where
from kernop.trust.estimates.weakform import weak_form

#: v has a function for so many data, at most so many functions, and sums are over so many points for each of them.
DATA, MOST, POINTS = 5, 600, 8
#: What is singular is as r^½, or smoother.
EXPONENT = 0.5
#: v counts alone if what is wrong with it is at most this part of ‖v − û‖, beside others up to all of it …
KNOWN = 0.5
#: … and smooth fields are answered to this part of themselves: else the weak form is not that of the problem.
SMOOTH = 0.1


@dataclass(frozen=True, eq=False)
class Variational:
    """Galerkin's solutions for data at the points of an estimate, with more functions and with fewer.

    Arguments:
        floor: of the error of v, relative to v: what sums over points leave of smooth fields.
    """

    finer: Galerkin
    coarser: Galerkin
    floor: float


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
    operator: Learned, knowledge: ErrorsFromResiduals, u: Combination, errors: Errors, residuals: FloatArray, h: FloatArray
) -> Errors:
    """Errors of B solutions û, by Galerkin's solutions where these are known well enough and others are doubtful.

    Arguments:
        errors: by least squares.
        residuals, h: at the points of the estimate, (n, B).
    """
    doubtful = errors.doubtful
    if doubtful is None or not np.any(doubtful) or isinstance(u.expansion, PartsSpace):
        return errors
    found = variational(operator, knowledge)
    if found is None:
        return errors
    places = knowledge.places
    own, v, other = (w.apply(places.functionals) for w in (u, found.finer.answer(h), found.coarser.answer(h)))
    correction = knowledge.sized(v - own, residuals)
    guess = np.stack([places.at_most(v - own), correction[1]])
    slow = 1.0 / (COARSER ** (-2.0 * EXPONENT / operator.problem.dim) - 1.0)
    rest = slow * places.sizes(v - other) + found.floor * places.sizes(v)
    known, nearer = (doubtful & np.all((rest <= part * guess)[0], axis=0) for part in (KNOWN, 1.0))
    peaks = tuple(replace(one, rough=one.rough and not known[one.input]) for one in errors.peaks)
    raised = replace(errors, guess=np.maximum(errors.guess, guess), rest=np.maximum(errors.rest, rest))
    better = Errors(guess, rest, correction, knowledge.sized(v, h))
    return replace(where(known, better, where(nearer, raised, errors)), peaks=peaks)


def _made(operator: Learned, knowledge: ErrorsFromResiduals, points: Mapping[str, Points]) -> Variational | None:
    problem, ansatz, rows = operator.problem, operator.ansatz, knowledge.functionals
    number = max(1, min(len(rows) // DATA, MOST) // ansatz.width)
    frame = frame_of(problem)
    setting = Setting(
        rows=rows, frame=resolving(frame, rows.blocks), ansatz=ansatz, holes=holes_of(problem)
    )
    conditions = dict(zip(problem.names, rows.conditions, strict=True))
    extent, made = float(np.max(frame.high - frame.low)), list[Galerkin]()
    for centres in (number, max(1, round(COARSER * number))):
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
