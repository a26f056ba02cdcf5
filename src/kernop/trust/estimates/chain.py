"""The error of a solution that was marched, slab by slab: what each slab adds, and what the following ones make of it.

On slab k the error e_k solves the same problem with the residuals as data; at its beginning it is what e_{k−1} hands
on, and what û_k leaves of what û_{k−1} handed on. So the richer operator is marched too, on the residuals: ê_k. What ê
leaves over is turned into an error by the constants of one slab, and for later ones by those of errors that probing
fields hand on, followed through the repeated map.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray, NonFiniteError, fail
from kernop.basics.frozen import Kept
from kernop.collocation.slabs import Slab
from kernop.collocation.units import frame_of
from kernop.language.functions import Function
from kernop.methods import Combination, Factorisation
from kernop.methods.repeated import Repetition, StepMap, step_map
from kernop.methods.weights import repeated
from kernop.trust.estimates.estimate import SAFETY, ErrorEstimate, Residual, UnknownError, with_doubts
from kernop.trust.estimates.stability import (
    QUANTILE,
    Fresh,
    Learned,
    LeftOut,
    Sizes,
    applied,
    calibration,
    fresh,
    left_out,
    rms,
    solved,
)
from kernop.trust.estimates.unseen import Unseen, look, unseen

NO_BOUND = "a maximum principle is used for one slab alone: ask u.slabs[k].error_estimate()"


@dataclass(frozen=True, eq=False, kw_only=True)
class ChainEstimate(ErrorEstimate):
    """How wrong û is on all slabs together; see `ErrorEstimate`.

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
        functions: the data that are functions, by name, for each slab.
    """

    at_points: FloatArray
    at_tests: FloatArray | None
    functions: Sequence[Mapping[str, Function]]


_richer: Kept[Factorisation, StepMap] = Kept()
_own: Kept[Factorisation, StepMap] = Kept()


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
    steps = repetition.steps
    if known.at_tests is not None:
        knowledge: Fresh | LeftOut = fresh(operator)
        residuals, errors, rest, left = _fresh_errors(operator, slab, knowledge, steps, u, known.at_tests)
    else:
        knowledge = left_out(operator)
        residuals, errors, rest, left = _left_out_errors(operator, knowledge, u, known.at_points)
    found = u.apply(knowledge.places.functionals)
    size = knowledge.places.sizes(found if errors is None else found + errors)
    guess = Sizes(*(0.0 * rest.l2, 0.0 * rest.linf)) if errors is None else knowledge.places.sizes(errors)
    rest = _carried(rest, left, _gains(operator, slab, knowledge, repetition), steps)
    missed, more = _unseen(operator, knowledge, residuals, u, known, steps, None if paired else search)
    more = _summed(more, steps)
    safe = SAFETY if errors is None else 1.0
    total = Sizes(
        SAFETY * (guess.l2 + more.l2) + safe * rest.l2,
        SAFETY * (guess.linf + more.linf) + safe * rest.linf,
    )
    total = with_doubts(total, size, operator, knowledge, residuals)
    if not np.all(np.isfinite(total.linf)):
        raise fail(NonFiniteError, "u", "a solution whose residuals overflow", "choose units in which data is near 1")
    return _told(operator, knowledge, residuals, total, size, repetition, single, paired, missed)


def _fresh_errors(
    operator: Learned, slab: Slab, knowledge: Fresh, steps: int, u: Combination, data: FloatArray
) -> tuple[FloatArray, FloatArray, Sizes, FloatArray]:
    """Residuals, ê at the places, what a constant says of e − ê, and what ê leaves of the residuals, (columns,)."""
    points, rows = knowledge.points, slab.rows(knowledge.functionals)
    final = slab.handed(points, operator.ansatz)
    frame = frame_of(operator.problem)
    step = _richer.of(knowledge.answers, lambda: step_map(knowledge.answers, knowledge.functionals, rows, final, frame))
    residuals = (data - u.apply(knowledge.functionals)).reshape(len(data), steps, -1)
    residuals[rows, 1:] += u.apply(final).reshape(len(rows), steps, -1)[:, :-1]
    whole, states = step.over(steps).march(residuals)
    correction = knowledge.answers.answer(whole.reshape(len(data), -1)).u
    whole = np.array(residuals)
    whole[rows] += states  # what was taken out of the states between slabs counts as left over
    roots = np.sqrt(repeated(knowledge.answers.weights, knowledge.functionals))[:, None]
    left = rms(roots * (whole.reshape(len(data), -1) - correction.apply(knowledge.functionals)))
    rest = Sizes(np.outer(knowledge.constants[0], left), np.outer(knowledge.constants[1], left))
    return residuals.reshape(len(data), -1), correction.apply(knowledge.places.functionals), rest, left


def _left_out_errors(
    operator: Learned, knowledge: LeftOut, u: Combination, data: FloatArray
) -> tuple[FloatArray, None, Sizes, FloatArray]:
    """The same from leave-one-out residuals, without ê."""
    residuals = knowledge.residuals(u, data)
    rest = knowledge.errors(residuals, u.apply(knowledge.places.functionals)).guess
    roots = np.sqrt(repeated(operator.factorisation.weights, knowledge.functionals))[:, None]
    return residuals, None, rest, rms(roots * residuals)


def _open_states(operator: Learned, slab: Slab, knowledge: Fresh | LeftOut) -> tuple[FloatArray, FloatArray]:
    """States that the probes hand on wrongly, (n₀, probes), for what is left of each: one, (probes,)."""
    probes, rows = calibration(operator, knowledge.functionals), knowledge.functionals
    own, h = slab.handed(operator.points, operator.ansatz), applied(probes, rows)
    roots = np.sqrt(repeated(knowledge.answers.weights, rows))[:, None]
    if isinstance(knowledge, LeftOut):
        u = operator.factorisation.answer(h).u
        states, left = applied(probes, own) - u.apply(own), rms(roots * knowledge.residuals(u, h))
    else:
        u = solved(probes, operator)
        missed = h - u.apply(rows)
        guess = knowledge.answers.answer(missed).u
        states = applied(probes, own) - u.apply(own) - guess.apply(own)
        left = rms(roots * (missed - guess.apply(rows)))
    return states, left


def _gains(
    operator: Learned, slab: Slab, knowledge: Fresh | LeftOut, repetition: Repetition
) -> tuple[FloatArray, FloatArray]:
    """The error on a slab for each unit that was left over k slabs before, k = 1 … steps, in both norms: (steps, U).

    By the errors that the probes hand on, followed through the map that is repeated; few of them are larger.
    """
    states, left = _open_states(operator, slab, knowledge)
    step, places = repetition.step, knowledge.places
    first, *others = step.factorisation.factors(step.factorisation.expansion.matrix(places.functionals))
    values = first[:, step.rows] if not others else first @ others[0][:, step.rows]
    states = step.roots[:, None] * repetition.filtered(states[:, left > 0.0] / left[left > 0.0])
    values = values / step.roots
    found: list[tuple[FloatArray, FloatArray]] = []
    for _ in range(repetition.steps):
        sizes = places.sizes(values @ states)
        found.append((np.quantile(sizes.l2, QUANTILE, axis=1), np.quantile(sizes.linf, QUANTILE, axis=1)))
        states = repetition.map @ states
    return np.array([l2 for l2, _ in found]), np.array([linf for _, linf in found])


def _carried(own: Sizes, left: FloatArray, gains: tuple[FloatArray, FloatArray], steps: int) -> Sizes:
    """Errors of each slab, (U, steps · B), and what is handed on from those before, of which so much was left over."""
    apart = np.arange(steps)[:, None] - np.arange(steps)
    total: list[FloatArray] = []
    for errors, gain in zip((own.l2, own.linf), gains, strict=True):
        weights = np.where(apart[:, :, None] > 0, gain[np.maximum(apart - 1, 0)], 0.0)  # (steps, steps, U)
        handed = np.einsum("kju,jb->ukb", weights, left.reshape(steps, -1))
        total.append(errors + handed.reshape(errors.shape))
    return Sizes(*total)


def _summed(sizes: Sizes, steps: int) -> Sizes:
    """What slabs have, and those before them."""
    return Sizes(
        *(np.cumsum(part.reshape(len(part), steps, -1), axis=1).reshape(part.shape) for part in (sizes.l2, sizes.linf))
    )


def _unseen(
    operator: Learned,
    knowledge: Fresh | LeftOut,
    residuals: FloatArray,
    u: Combination,
    known: ChainData,
    steps: int,
    search: int | None,
) -> tuple[tuple[Unseen, ...], Sizes]:
    """What a search of the functions finds on each slab, and how much of an error it can be, (U, steps · B)."""
    unknowns, width = len(knowledge.constants[0]), residuals.shape[1] // steps
    found: list[Unseen] = []
    l2, linf = np.zeros((2, unknowns, residuals.shape[1]))
    for k in range(steps) if search is not None else ():
        columns = slice(k * width, (k + 1) * width)
        own = Combination(u.expansion, u.y[:, columns], u.upper, u.order)
        looked = look(operator.problem, own, known.functions[k], max(1, (search or 0) // steps))
        missed, more = unseen(operator, knowledge, residuals[:, columns], looked)
        found += missed
        l2[:, columns], linf[:, columns] = more.l2, more.linf
    return tuple(found), Sizes(l2, linf)


def _told(
    operator: Learned,
    knowledge: Fresh | LeftOut,
    residuals: FloatArray,
    total: Sizes,
    size: Sizes,
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

    def one(values: FloatArray) -> FloatArray:
        return values[..., 0] if single else values

    l2, linf = by_slab(total.l2), by_slab(total.linf)  # (U, steps, B)
    whole = [np.sqrt(np.mean(np.square(part), axis=1)) for part in (l2, by_slab(size.l2))]
    most = [np.max(part, axis=1) for part in (linf, by_slab(size.linf))]
    relative = [_relative(*whole), _relative(*most)]
    names = operator.problem.unknowns.names
    of = {
        name: UnknownError(*(_figure(one(v[k])) for v in (*relative, whole[0], most[0])))
        for k, name in enumerate(names)
    }
    worst = int(np.argmax(np.max(relative[0], axis=1)))
    moduli = by_slab(np.abs(residuals))  # (n, steps, B)
    blocks = zip(operator.problem.names, knowledge.functionals.slices, strict=True)
    return ChainEstimate(
        relative_l2=_figure(one(np.max(relative[0], axis=0))),
        relative_linf=_figure(one(np.max(relative[1], axis=0))),
        l2=of[names[worst]].l2,
        linf=of[names[worst]].linf,
        residuals={
            name: Residual(
                _figure(one(np.sqrt(np.mean(np.square(moduli[rows]), axis=(0, 1))))),
                _figure(one(np.max(moduli[rows], axis=(0, 1)))),
            )
            for name, rows in blocks
        },
        source=knowledge.kind,
        points=len(residuals),
        stability={norm: float(np.max(c)) for norm, c in zip(("l2", "linf"), knowledge.constants, strict=True)},
        centres=knowledge.centres,
        bound=None,
        why_no_bound=NO_BOUND,
        relative_to="û + ê" if knowledge.centres else "û",
        unseen=missed,
        diagnosis=operator.diagnosis,
        of=of,
        slabs_l2=one(l2[worst]),
        slabs_linf=one(linf[worst]),
        growth=repetition.powers,
    )


def _relative(error: FloatArray, size: FloatArray) -> FloatArray:
    """error / size; 0 / 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error == 0.0, 0.0, error / size)


def _figure(values: FloatArray) -> float | FloatArray:
    return float(values) if values.ndim == 0 else values
