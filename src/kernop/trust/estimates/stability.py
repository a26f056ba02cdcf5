"""How residuals become errors: learned once by each operator, from a richer one and from probing fields.

The error e = u − û solves the same problem with the residuals as data, P_k e = h_k − P_k û = r_k. A richer operator T'
(more centres, its own points) therefore answers ê = T' r, and what it leaves over, r − P ê, is turned into an
error by a constant C: ‖e‖ ≤ ‖ê‖ + ‖e − ê‖ and ‖e − ê‖ ≈ C ‖r − P ê‖, where C is a ratio that few of the fields
exceed whose error is known. The same holds for ê = T'h − û and for ê = T″h − û, with a coarser operator T″, and the
least is taken: where rounding rules, more functions have more of it. Where what is left over is concentrated in few
places, those fields are no guide: then ‖T'r − T″r‖ counts for ‖ê‖, as far as it is larger and not the error of T″
alone. Where u is prescribed, e is known: it is the residual.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray
from kernop.basics.frozen import Beside, Kept, frozen
from kernop.collocation.ansatz import collocate
from kernop.collocation.cells.kinks import kinks
from kernop.collocation.functionals import Block, Functionals
from kernop.collocation.probes import FIELDS, applied, resolving
from kernop.collocation.subdomains import holes_of
from kernop.collocation.units import frame_of
from kernop.methods import Combination, Factorisation, Setting, Subspace
from kernop.methods.parts.space import PartsSpace
from kernop.methods.weights import repeated
from kernop.trust.estimates.concentration import Concentrated, concentrated, tails, where_concentrated
from kernop.trust.estimates.finer import DEEPER, FinerParts, finer_parts
from kernop.trust.estimates.learned import (
    SCALES,
    SEED,
    Learned,
    comparison_places,
    probed,
    richer,
    rms,
)
from kernop.trust.estimates.partwise import (
    SHARE,
    errors_of_unknowns,
    jumps_of_unknowns,
    mean_and_most,
    polluting,
)
from kernop.trust.estimates.residuals import leave_one_out

#: Where the residuals were computed.
ResidualKind = Literal["fresh points", "leave-one-out", "its own points"]

#: The coarser operator has this part of its centres, at the same points.
COARSER = 0.25
#: From the coarser to the richer one errors fall by as much as what they leave, to within this factor.
FALLS = 5.0
#: T' resolves u, however slowly residuals of û fall, if the error of T'h is at most this part of ‖T'h − û‖.
RESOLVED = 1e-3
#: What is at most this part of a solution is next to rounding.
NEGLIGIBLE = 1e-8
#: Near corners an error may be so many times the largest at places inside: ê on the boundary tells how many.
NEAR_CORNERS = 3.0
#: Cells at a singularity r^α are halved twice more, which leaves 2^(−4α) of its error: so much for α = ½. Of several
#: components it leaves 2^(−2α): stresses at a corner that is free do not balance, and a force is felt everywhere.
SINGULAR, FORCES = 0.25, 0.5
#: Where coefficients are not smooth in cells, these are halved, and errors fall like their size, or slower.
BENT = 0.6
#: The part of the probes whose ratio of error and residual is at most the constant.
QUANTILE = 0.9
#: Without a richer operator: the part of the probes, those with the most similar residuals, that rules.
SIMILAR = 0.5
#: Fields whose residuals are alike have errors that differ by more than those of so few probes: this is for others.
UNLIKE = 1.5


@dataclass(frozen=True)
class Errors:
    """What is known of the errors of B solutions; all are sizes (2, U, B), see `Places.sizes`.

    Arguments:
        guess: ‖ê‖, or more if residuals are concentrated; without ê, what a stability constant says of ‖e‖. Where
            u is prescribed, ê is not asked: e is the residual there.
        rest: what a stability constant says of ‖e − ê‖, and jumps of û that no residual shows.
        correction: ‖ê‖; 0 without it.
        solution: ‖û + ê‖, which is as near to ‖u‖ as we can tell; ‖û‖ without ê.
        peaks: residuals that are concentrated.
        doubtful: do smooth fields say little of this error, because residuals are concentrated or converge slowly?
            (B,), or None for none.
    """

    guess: FloatArray
    rest: FloatArray
    correction: FloatArray
    _: KW_ONLY
    solution: FloatArray
    peaks: tuple[Concentrated, ...] = ()
    doubtful: BoolArray | None = None

    def at_least(self, most: FloatArray) -> Errors:
        """The same, where largest errors are known to be at least so much, (B,)."""
        return replace(self, guess=np.stack([self.guess[0], np.maximum(self.guess[1], most)]))


def least(every: Sequence[Errors]) -> Errors:
    """Of several estimates of the same errors, that which says least in L2, for each unknown and input.

    After the first only those count whose v is nearer to u than to û: two that are both wrong may agree. Where v is
    resolved to nearly rounding they count, too: û may be nearer to u than v is.
    """
    found = every[0]
    for other in every[1:]:
        less = (other.guess + other.rest)[0] < (found.guess + found.rest)[0]
        nearer = other.rest <= np.maximum(other.guess, NEGLIGIBLE * other.solution)
        found = where(less & nearer[0], other, found)
    return found


def where(first: BoolArray, one: Errors, other: Errors) -> Errors:
    """The one where ``first`` holds, (U, B) or (B,), and the other elsewhere; without peaks."""
    names = ("guess", "rest", "correction", "solution")
    return Errors(**{name: np.where(first, getattr(one, name), getattr(other, name)) for name in names})


class ErrorsFromResiduals(ABC):
    """How the errors of solutions of an operator follow from residuals at some points; learned from probing fields.

    Attributes:
        kind: which residuals.
        functionals: the conditions at the points.
        answers: what answers data at the points.
        roots: √w of all rows, in the weights of ``answers``, (n, 1).
        prescribed: the numbers of the conditions that prescribe the one real unknown.
        places: where errors are compared.
        centres: of the richer operator, if there is one.
        constants: C for the residuals that are left over, in the weights of ``answers``, in both norms, (2, U).
    """

    kind: ResidualKind
    centres: int = 0
    constants: FloatArray

    def __init__(self, operator: Learned, functionals: Functionals, answers: Factorisation) -> None:
        self.functionals, self.answers = functionals, answers
        self.prescribed = _prescribing(operator, functionals)
        self.places = comparison_places(operator, [operator.problem.conditions[k].on for k in self.prescribed])
        self.roots = np.sqrt(repeated(answers.weights, functionals))[:, None]

    def residuals(self, u: Combination, h: FloatArray) -> FloatArray:
        """The residuals of solutions u for data with values h at the points, (n, B)."""
        return h - u.apply(self.functionals)

    @abstractmethod
    def errors(self, u: Combination, residuals: FloatArray, h: FloatArray, wrong: FloatArray | None) -> Errors:
        """The errors of solutions û with these residuals, for data h at the points, (n, B).

        Arguments:
            wrong: of an operator made of parts, see `errors_of_unknowns`, (U, P, B); else None.
        """

    def sized(self, values: FloatArray, prescribed: FloatArray) -> FloatArray:
        """The sizes (2, U, B) of functions with these values at the places, (m, B), of which conditions that prescribe
        u tell the values there: those of the conditions at the points are ``prescribed``, (n, B). Inside near a corner,
        between the places, functions may be larger, which the values on boundaries tell; but at corners ê overshoots.
        """
        found = self.places.sizes(values, free=True)
        for k in self.prescribed:
            rows, (block,) = self.functionals.slices[k], self.functionals.conditions[k].blocks
            found[1] = np.maximum(found[1], np.max(np.abs(prescribed[rows] / block.coefficients), axis=0))
        found[1] = np.maximum(found[1], np.minimum(self.places.sizes(values)[1], NEAR_CORNERS * found[1]))
        return found


@dataclass(frozen=True, eq=False)
class Other:
    """Another solution v for data h, with which û is compared.

    Arguments:
        apart: v − û at the places, (m, B).
        left: h − P v, (n, B).
        roots: √w of its operator, (n, 1).
    """

    apart: FloatArray
    left: FloatArray
    roots: FloatArray

    @property
    def size(self) -> FloatArray:
        """Of what it leaves, in the weights of its operator, (B,)."""
        return rms(self.roots * self.left)


class Fresh(ErrorsFromResiduals):
    """Errors from residuals at fresh points, by a richer operator T' and a coarser one T″.

    û is compared with three other solutions v: û + T'r, T'h and T″h. For each ‖u − û‖ ≤ ‖v − û‖ + ‖u − v‖, and the
    least of them is taken; of the last two only if they are nearer to u than to û. The first is as good as T' resolves
    the error, the second as it resolves u, though û be nonsense; and where both are resolved to rounding, the third has
    less of it, because it has fewer functions.

    The constants say nothing of residuals that are concentrated: then û + T'r alone is compared, and T″r is asked.
    """

    kind = "fresh points"

    def __init__(self, operator: Learned) -> None:
        problem, ansatz = operator.problem, operator.ansatz
        functionals = collocate(problem, operator.test_points, ansatz)
        self.centres = richer(operator.factorisation)
        frame, holes = resolving(frame_of(problem), functionals.blocks), holes_of(problem)
        setting = Setting(rows=functionals, frame=frame, ansatz=ansatz, holes=holes)
        super().__init__(operator, functionals, Subspace(self.centres).factorise(setting))
        self._coarser = Subspace(max(1, round(COARSER * self.centres))).factorise(setting)
        starts = [rows.start for rows in functionals.slices]
        self._names = dict(zip(starts, problem.names, strict=True))
        probes, u = probed(operator, functionals)
        h, found = applied(probes, functionals), u.apply(self.places.functionals)
        truth, others = applied(probes, self.places.functionals) - found, self._others(self.residuals(u, h), h, found)
        self._constants = [_upper(self.places.sizes(truth - v.apart, free=True), v.size) for v in others]
        self.constants = self._constants[0]
        self._usual = np.max(tails(functionals, others[0].left), axis=1)
        frozen(vars(self))

    def errors(self, u: Combination, residuals: FloatArray, h: FloatArray, wrong: FloatArray | None) -> Errors:
        found = u.apply(self.places.functionals)
        others, every = self._others(residuals, h, found), list[Errors]()
        for v, constants in zip(others, self._constants, strict=True):
            correction, solution = self.sized(v.apart, residuals), self.sized(found + v.apart, h)
            guess = np.stack([self.places.at_most(v.apart), correction[1]])
            rest = constants[..., None] * v.size + u.gaps()[:, None]
            every.append(Errors(guess, rest, correction, solution=solution))
        flags = concentrated(self.functionals, others[0].left, self._usual)
        kept, chosen = self._kept(others[0], others[2]), least(every)
        resolved = np.all(every[1].rest <= RESOLVED * every[1].guess, axis=(0, 1))
        slow = (kept >= 1.0) & np.any(every[0].guess > 0.0, axis=(0, 1)) & ~resolved
        if not flags.any() and not slow.any():
            return chosen
        apart = kept * self._from_coarser(residuals, others[0])
        doubted = replace(every[0], guess=np.maximum(every[0].guess, apart))
        chosen = where(slow, replace(chosen, guess=np.maximum(chosen.guess, apart)), chosen)
        peaks = where_concentrated(self.functionals, others[0].left, flags, self._names)
        sharp = np.logical_or.reduce(flags)
        return replace(where(sharp, doubted, chosen), peaks=peaks, doubtful=sharp | slow)

    def _from_coarser(self, residuals: FloatArray, richer: Other) -> FloatArray:
        """‖ê − T″r‖, (2, U, B)."""
        other = self._coarser.answer(residuals).u.apply(self.places.functionals)
        return self.sized(richer.apart - other, residuals)

    def _kept(self, richer: Other, coarser: Other) -> FloatArray:
        """Of the distance between ê and T″r, so much is error of T', (B,).

        T″ may be far from u because it is coarse. If T' leaves a part q of what T″ leaves of the data, then of the
        distance between them about q is error of T': all of it where both leave about as much, and converge slowly.
        """
        lost = rms(richer.roots * coarser.left)
        return np.minimum(1.0, np.divide(FALLS * richer.size, lost, out=np.ones_like(lost), where=lost > 0.0))

    def _others(self, residuals: FloatArray, h: FloatArray, found: FloatArray) -> tuple[Other, Other, Other]:
        """û + T'r, T'h and T″h for data h and its residuals (n, B), of solutions û with these values at the places."""
        values, left = self._answered(self.answers, np.hstack([residuals, h]))
        (correction, richer), (left, missed) = np.hsplit(values, 2), np.hsplit(left, 2)
        coarser, lost = self._answered(self._coarser, h)
        roots = np.sqrt(repeated(self._coarser.weights, self.functionals))[:, None]
        own = Other(correction, left, self.roots), Other(richer - found, missed, self.roots)
        return *own, Other(coarser - found, lost, roots)

    def _answered(self, by: Factorisation, data: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What T' or T″ answers to data (n, B) at the places, (m, B), and what it leaves of the data, (n, B)."""
        answer = by.answer(data).u
        return answer.apply(self.places.functionals), data - answer.apply(self.functionals)


class FreshParts(ErrorsFromResiduals):
    """Errors of an operator made of parts, by a finer one: ê = T' h − û.

    At a corner, or where coefficients jump, no smooth space answers residuals, and û itself jumps a little from part to
    part, which residuals do not tell. What T' leaves over is an error part by part, in the worst case; how far these
    parts are from the worst case is measured by ê. Jumps at a corner are too narrow for the places, and parts may be
    smaller than what is between these: ê in the middle of each counts in L∞, if that lies in the domain.
    """

    kind = "fresh points"

    def __init__(self, operator: Learned, finer: FinerParts) -> None:
        super().__init__(operator, finer.rows, finer.factorisation)
        self.centres = len(finer.factorisation.expansion)
        self.constants = np.full((2, len(operator.problem.unknowns.names)), SHARE)
        self._before = operator.factorisation
        slowest = SINGULAR if operator.problem.unknowns.total == 1 else FORCES
        roughest = float(np.min(kinks(operator.problem).powers, initial=np.inf))
        slowest = max(slowest, 2.0 ** (-DEEPER * roughest))
        self._slowest = max(slowest if np.any(finer.mosaic.singular) else 0.0, BENT if finer.bent else 0.0)
        middles = 0.5 * (finer.mosaic.boxes[0] + finer.mosaic.boxes[1])
        own = (finer.mosaic.locate(middles) == np.arange(len(middles))) & operator.problem.contains(middles)
        self._middles = replace(self.places, functionals=operator.ansatz.evaluations(middles[own]))
        frozen(vars(self))

    def errors(self, u: Combination, residuals: FloatArray, h: FloatArray, wrong: FloatArray | None) -> Errors:
        better = self.answers.answer(h).u
        values = better.apply(self.places.functionals)
        correction = self.sized(values - u.apply(self.places.functionals), residuals)
        left = errors_of_unknowns(self.answers, self.functionals, better, h)
        assert left is not None
        after = mean_and_most(self.answers, left)
        before = np.zeros_like(after) if wrong is None else mean_and_most(self._before, wrong)
        rest = saturated(correction, before, after, self._slowest)
        within = self._middles.largest(better.apply(self._middles.functionals) - u.apply(self._middles.functionals))
        correction[1] = np.maximum(correction[1], np.maximum(jumps_of_unknowns(u), within))
        return Errors(correction, rest, correction, solution=self.sized(values, h))


class OwnParts(ErrorsFromResiduals):
    """Errors of an operator made of parts by what it leaves of data that are known at its own points alone.

    They are errors part by part, in the worst case. To leave out one row after the other would tell nothing: near
    singularities residuals are large, whatever the error.
    """

    kind = "its own points"

    def __init__(self, operator: Learned) -> None:
        super().__init__(operator, operator.collocated, operator.factorisation)
        self.constants = np.full((2, len(operator.problem.unknowns.names)), SHARE)
        frozen(vars(self))

    def errors(self, u: Combination, residuals: FloatArray, h: FloatArray, wrong: FloatArray | None) -> Errors:
        assert wrong is not None
        solution = self.places.sizes(u.apply(self.places.functionals))
        worst = mean_and_most(self.answers, wrong) + polluting(self.answers, wrong)
        none = np.zeros_like(solution)
        return Errors(none, none + worst, none, solution=solution)


class LeftOut(ErrorsFromResiduals):
    """Errors from leave-one-out residuals at the points of the operator, by a constant alone.

    The ratio of error and residual is taken from the probes whose residuals, relative to û, are most similar: what is
    resolved and what is not have different ones.
    """

    kind = "leave-one-out"

    def __init__(self, operator: Learned) -> None:
        super().__init__(operator, operator.collocated, operator.factorisation)
        self._leave_one_out = leave_one_out(self.answers, self.functionals)
        probes, u = probed(operator, self.functionals)
        found = u.apply(self.places.functionals)
        truth = self.places.sizes(applied(probes, self.places.functionals) - found)
        size = rms(self.roots * self.residuals(u, applied(probes, self.functionals)))
        self._relative = size / self.places.sizes(found)[0]  # (U, probes)
        self._ratios = truth / size
        self.constants = _upper(truth, size)
        frozen(vars(self))

    def residuals(self, u: Combination, h: FloatArray) -> FloatArray:
        return self._leave_one_out(u, h)

    def errors(self, u: Combination, residuals: FloatArray, h: FloatArray, wrong: FloatArray | None) -> Errors:
        size, solution = rms(self.roots * residuals), self.places.sizes(u.apply(self.places.functionals))
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = np.log(self._relative[:, :, None]) - np.nan_to_num(np.log(size / solution[0]))[:, None, :]
        nearest = np.argsort(np.abs(apart), axis=1)[None, :, : max(1, round(SIMILAR * apart.shape[1]))]
        constant = np.max(np.take_along_axis(self._ratios[..., None], nearest, axis=2), axis=2)  # (2, U, B)
        rest = np.zeros_like(solution) + u.gaps()[:, None]
        return Errors(UNLIKE * constant * size, rest, np.zeros_like(solution), solution=solution)


_fresh: Kept[Factorisation, ErrorsFromResiduals] = Beside()
_own: Kept[Factorisation, ErrorsFromResiduals] = Beside()


def from_fresh_points(operator: Learned) -> ErrorsFromResiduals:
    """What an operator knows about errors from fresh residuals; learned when it is first asked for."""

    def make() -> ErrorsFromResiduals:
        finer = finer_parts(
            operator.problem, operator.factorisation, lambda: operator.collocated, operator.ansatz, SEED
        )
        return Fresh(operator) if finer is None else FreshParts(operator, finer)

    return _fresh.of(operator.factorisation, make)


def from_own_points(operator: Learned) -> ErrorsFromResiduals:
    """What an operator knows about errors from residuals at its own points; learned when it is first asked for."""
    parts = isinstance(operator.factorisation.expansion, PartsSpace) and operator.problem.unknowns.total == 1
    return _own.of(operator.factorisation, lambda: OwnParts(operator) if parts else LeftOut(operator))


def _prescribing(operator: Learned, functionals: Functionals) -> list[int]:
    """The numbers of the conditions φ u = h that prescribe the one real unknown: there e is the residual over φ."""
    ansatz = operator.ansatz
    if ansatz.count > 1 or ansatz.envelope is not None or ansatz.scales:
        return []
    found = enumerate(own.blocks for own in functionals.conditions)
    return [k for k, blocks in found if len(blocks) == 1 and blocks[0].order == 0 and _pointwise(blocks[0])]


def _pointwise(block: Block) -> bool:
    """Has every row one point, and a coefficient that is not 0?"""
    return block.starts is None and block.coefficients.shape[1] == 1 and bool(np.all(block.coefficients))


def saturated(correction: FloatArray, before: FloatArray, after: FloatArray, slowest: float) -> FloatArray:
    """‖e − ê‖ for ‖ê‖ = ``correction``, where e and e − ê would be ``before`` and ``after`` in the worst case.

    If both are as far from it, ‖e − ê‖ = q ‖e‖ with q = after / before, so that ‖e‖ ≤ ‖ê‖ / (1 − q). It is not less
    than for q = ``slowest``, and otherwise not more than ``after``.
    """
    fell = np.maximum(before - after, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(correction < fell, correction / fell, 1.0) * after
    return np.maximum(found, slowest / (1.0 - slowest) * correction)


def _upper(missed: FloatArray, left: FloatArray) -> FloatArray:
    """The ratio of the errors (2, U, probes) and the residuals (probes,) that few random fields, and no free waves,
    exceed: (2, U). Residuals see free waves least, and solutions that are not resolved consist of them.
    """
    ratios = np.divide(missed, left, out=np.zeros_like(missed), where=left > 0.0)
    free = ratios[..., SCALES * FIELDS :]
    return np.maximum(np.quantile(ratios, QUANTILE, axis=-1), np.max(free, axis=-1, initial=0.0))
