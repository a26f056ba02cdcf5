"""The error of a solution that was marched, slab by slab: what each slab adds, and what the following ones make of it.

On slab k the error e_k solves the same problem with the residuals as data; at its beginning it is what e_{k−1} hands
on, and what û_k leaves of what û_{k−1} handed on. So the richer operator is marched too, on the residuals: ê_k. What ê
leaves over is turned into an error by the constants of one slab, and for later ones by those of errors that probing
fields hand on, followed through the repeated map. One slab alone is a solution like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import Beside, Kept
from kernop.collocation.probes import applied
from kernop.collocation.slabs import Slab
from kernop.collocation.units import frame_of
from kernop.language.functions import Function
from kernop.methods import Combination, Factorisation
from kernop.methods.repeated import Repetition, StepMap, step_map
from kernop.trust.estimates.estimate import (
    SAFETY,
    ErrorEstimate,
    Residual,
    figures_of,
    one_figure,
    relative,
    with_doubts,
)
from kernop.trust.estimates.learned import Learned, probed, rms
from kernop.trust.estimates.maximum import Data
from kernop.trust.estimates.partwise import errors_of_unknowns
from kernop.trust.estimates.prescribed import where_prescribed
from kernop.trust.estimates.stability import QUANTILE, ErrorsFromResiduals, from_fresh_points, from_own_points
from kernop.trust.estimates.unseen import Unseen, look, unseen

NO_BOUND = "a maximum principle is used for one slab alone: ask u.slabs[k].error_estimate()"


@dataclass(frozen=True, eq=False, kw_only=True)
class ChainEstimate(ErrorEstimate):
    """How wrong û is on all slabs together; see `ErrorEstimate`.

    Long chains of waves whose errors are near rounding are overestimated, by 1e2 to 1e5 after 60 slabs: what ê leaves
    over in each slab, and the modes that are taken out of its states, are added up with the gain of the roughest
    fields, as if they all had one sign. Of an error of 7e-10, with five points for each function, it was 3.5 times.

    Attributes:
        slabs_l2, slabs_linf: the same on each slab, (steps,) or (steps, B); of the unknown that l2 and linf are of.
        growth: ‖(Π M)^k‖, k = 0 … steps: what k steps make of an error at the beginning of a slab, at most.
    """

    slabs_l2: FloatArray
    slabs_linf: FloatArray
    growth: FloatArray

    def _words(self) -> str:
        by = [float(np.max(self.slabs_l2[k])) for k in (0, len(self.slabs_l2) // 2, -1)]
        places = f"{by[0]:.1e} on the first, {by[1]:.1e} half-way, {by[2]:.1e} on the last"
        chain = f"{len(self.slabs_l2)} slabs: L2 error {places}"
        return f"{chain}; an error grows at most {np.max(self.growth):.2g} times.\n{super()._words()}"


@dataclass(frozen=True, eq=False)
class ChainData:
    """What is known of the data of all slabs; columns are those of the first slab, then of the second, ….

    Arguments:
        at_points: at the points of the operator, with what was handed on, (N, steps · B).
        at_tests: at its test points, 0 where data were handed on, (n, steps · B); None if it is not known there.
        anywhere: at any points, condition by condition, NaN where data were handed on; None if it is not known there.
        functions: the data that are functions, by name, for each slab.
    """

    at_points: FloatArray
    at_tests: FloatArray | None
    anywhere: Data | None
    functions: Sequence[Mapping[str, Function]]


_richer: Kept[Factorisation, StepMap] = Beside()
_own: Kept[Factorisation, StepMap] = Beside()


def own_step(operator: Learned, slab: Slab) -> StepMap:
    """One step of an operator, made once."""

    def make() -> StepMap:
        rows = operator.collocated
        final = slab.handed(operator.points, operator.ansatz)
        return step_map(operator.factorisation, rows, slab.rows(rows), final, frame_of(operator.problem))

    return _own.of(operator.factorisation, make)


def chain_estimate(
    operator: Learned,
    slab: Slab,
    repetition: Repetition,
    u: Combination,
    known: ChainData,
    *,
    single: bool,
    paired: bool,
    search: int | None,
) -> ChainEstimate:
    """How wrong B marched solutions û are; the columns of u are those of the first slab, then of the second, …."""
    steps, make = repetition.steps, from_own_points if known.at_tests is None else from_fresh_points
    knowledge: ErrorsFromResiduals = make(operator)
    most = np.zeros(u.width) if known.anywhere is None else where_prescribed(operator, knowledge, u, known.anywhere)
    if known.at_tests is not None and steps > 1:
        residuals, whole, correction, left = _marched_errors(operator, slab, knowledge, steps, u, known.at_tests)
        found = correction.apply(knowledge.places.functionals)
        values = u.apply(knowledge.places.functionals) + found
        size = knowledge.sized(values, u.apply(knowledge.functionals) + whole)
        guess, rest = knowledge.sized(found, whole), knowledge.constants[..., None] * left
        rest[1] += SAFETY * np.maximum(most - guess[1], 0.0)
    else:
        data = known.at_points if known.at_tests is None else known.at_tests
        residuals = knowledge.residuals(u, data)
        left = rms(knowledge.roots * residuals)
        wrong = errors_of_unknowns(operator.factorisation, operator.collocated, u, known.at_points)
        errors = knowledge.errors(u, residuals, data, wrong).at_least(most)
        size, guess = errors.solution, errors.correction
        rest = SAFETY * (errors.guess - guess) + errors.rest
    rest = rest + _handed_on(left, _gains(operator, slab, knowledge, repetition), steps)
    missed, more = _unseen(operator, knowledge, residuals, u, known, steps, None if paired else search)
    total = with_doubts(SAFETY * (guess + more) + rest, size, operator, knowledge, residuals)
    return _told(operator, knowledge, residuals, (total, size, guess), repetition, single, paired, missed)


def _marched_errors(
    operator: Learned, slab: Slab, knowledge: ErrorsFromResiduals, steps: int, u: Combination, data: FloatArray
) -> tuple[FloatArray, FloatArray, Combination, FloatArray]:
    """Residuals, and the same with what ê hands on, (n, columns); ê in all slabs, and what it leaves, (columns,)."""
    rows, frame = slab.rows(knowledge.functionals), frame_of(operator.problem)
    final = slab.handed(operator.test_points, operator.ansatz)
    step = _richer.of(knowledge.answers, lambda: step_map(knowledge.answers, knowledge.functionals, rows, final, frame))
    residuals = (data - u.apply(knowledge.functionals)).reshape(len(data), steps, -1)
    residuals[rows, 1:] += u.apply(final).reshape(len(rows), steps, -1)[:, :-1]
    whole, states = step.over(steps).march(residuals)
    correction = knowledge.answers.answer(whole.reshape(len(data), -1)).u
    whole = np.array(residuals)
    whole[rows] += states  # what was taken out of the states between slabs counts as left over
    whole = whole.reshape(len(data), -1)
    left = whole - correction.apply(knowledge.functionals)
    return residuals.reshape(len(data), -1), whole, correction, rms(knowledge.roots * left)


def _open_states(operator: Learned, slab: Slab, knowledge: ErrorsFromResiduals) -> tuple[FloatArray, FloatArray]:
    """States that the probes hand on wrongly, (n₀, probes), and what was left of the residuals of each, (probes,)."""
    probes, u = probed(operator, knowledge.functionals)
    own = slab.handed(operator.points, operator.ansatz)
    states = applied(probes, own) - u.apply(own)
    residuals = knowledge.residuals(u, applied(probes, knowledge.functionals))
    if knowledge.centres:
        guess = knowledge.answers.answer(residuals).u
        states, residuals = states - guess.apply(own), residuals - guess.apply(knowledge.functionals)
    return states, rms(knowledge.roots * residuals)


def _gains(operator: Learned, slab: Slab, knowledge: ErrorsFromResiduals, repetition: Repetition) -> FloatArray:
    """The error on a slab for each unit left over k slabs before, k = 1 … steps, in both norms: (steps, 2, U).

    By the errors that the probes hand on, followed through the map that is repeated; few of them are larger.
    """
    states, left = _open_states(operator, slab, knowledge)
    step, places = repetition.step, knowledge.places
    first, *others = step.factorisation.factors(step.factorisation.expansion.matrix(places.functionals))
    values = (first[:, step.rows] if not others else first @ others[0][:, step.rows]) / step.roots
    states = step.roots[:, None] * repetition.filtered(states[:, left > 0.0] / left[left > 0.0])
    found: list[FloatArray] = []
    for _ in range(repetition.steps):
        found.append(np.quantile(places.sizes(values @ states), QUANTILE, axis=-1))
        states = repetition.map @ states
    return np.array(found)


def _handed_on(left: FloatArray, gains: FloatArray, steps: int) -> FloatArray:
    """The errors on each slab for what was left over on those before, (columns,): (2, U, columns)."""
    apart = np.arange(steps)[:, None] - np.arange(steps)
    weights = np.where(apart[:, :, None, None] > 0, gains[np.maximum(apart - 1, 0)], 0.0)  # (steps, steps, 2, U)
    found = np.einsum("kjnu,jb->nukb", weights, left.reshape(steps, -1))
    return found.reshape(*found.shape[:2], -1)


def _unseen(
    operator: Learned,
    knowledge: ErrorsFromResiduals,
    residuals: FloatArray,
    u: Combination,
    known: ChainData,
    steps: int,
    search: int | None,
) -> tuple[tuple[Unseen, ...], FloatArray]:
    """What a search of the functions finds on each slab, and how much of an error it can be there and on later ones."""
    found, parts, width = list[Unseen](), list[FloatArray](), residuals.shape[1] // steps
    if search is None:
        return (), np.zeros((*knowledge.constants.shape, residuals.shape[1]))
    for k in range(steps):
        columns = slice(k * width, (k + 1) * width)
        own = replace(u, y=u.y[:, columns])
        looked = look(operator.problem, own, known.functions[k], max(1, search // steps))
        missed, more = unseen(operator, knowledge, residuals[:, columns], looked)
        found += missed
        parts.append(more if not parts else more + parts[-1])
    return tuple(found), np.concatenate(parts, axis=-1)


def _told(
    operator: Learned,
    knowledge: ErrorsFromResiduals,
    residuals: FloatArray,
    sizes: tuple[FloatArray, FloatArray, FloatArray],
    repetition: Repetition,
    single: bool,
    paired: bool,
    missed: tuple[Unseen, ...],
) -> ChainEstimate:
    steps = repetition.steps

    def by_slab(values: FloatArray) -> FloatArray:
        """(…, steps · B) as (…, steps, B); the moduli if real and imaginary parts are columns of their own."""
        found = values.reshape(*values.shape[:-1], steps, -1)
        return np.hypot(*np.split(found, 2, axis=-1)) if paired else found

    both = [by_slab(part) for part in sizes]  # errors, ‖û + ê‖ and ‖ê‖, each (2, U, steps, B)
    l2, linf = both[0]
    whole = [np.sqrt(np.mean(np.square(part[0]), axis=1)) for part in both]
    most = [np.max(part[1], axis=1) for part in both]
    ratios = [relative(*whole), relative(*most)]
    worst = int(np.argmax(np.max(ratios[0], axis=1)))
    moduli = by_slab(np.abs(residuals))  # (n, steps, B)
    blocks = zip(operator.problem.names, knowledge.functionals.slices, strict=True)
    sizes_of = {
        name: (np.sqrt(np.mean(np.square(moduli[rows]), axis=(0, 1))), np.max(moduli[rows], axis=(0, 1)))
        for name, rows in blocks
    }
    return ChainEstimate(
        **figures_of(operator, knowledge, [*ratios, whole[0], most[0]], single),
        residuals={name: Residual(*(one_figure(v, single) for v in both)) for name, both in sizes_of.items()},
        points=len(residuals),
        bound=None,
        why_no_bound=NO_BOUND,
        unseen=missed,
        slabs_l2=l2[worst][:, 0] if single else l2[worst],
        slabs_linf=linf[worst][:, 0] if single else linf[worst],
        growth=repetition.powers,
    )
