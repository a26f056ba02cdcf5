"""The error of a solution, estimated from its residuals; and what a person wants to read about it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from kernop.basics.errors import ArgumentError, FloatArray, NonFiniteError, fail
from kernop.basics.linalg import EPS, norms
from kernop.basics.progress import Tick
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.units import frame_of
from kernop.language.functions import Function
from kernop.methods import Combination
from kernop.methods.weights import repeated
from kernop.trust.diagnosis import Diagnosis
from kernop.trust.estimates.concentration import Concentrated
from kernop.trust.estimates.coverings import NotApplicableError
from kernop.trust.estimates.graded import compared
from kernop.trust.estimates.learned import Learned, rms
from kernop.trust.estimates.maximum import Data, MaximumBound, maximum_bound
from kernop.trust.estimates.partwise import errors_by_leaks, errors_of_unknowns
from kernop.trust.estimates.prescribed import where_prescribed
from kernop.trust.estimates.stability import (
    ErrorsFromResiduals,
    ResidualKind,
    from_fresh_points,
    from_own_points,
)
from kernop.trust.estimates.unseen import Looked, Unseen, look, unseen
from kernop.trust.estimates.variational import by_weak_form
from kernop.trust.wellposed import natural_weights

#: The correction ê is itself an approximation, and compared at a finite number of points.
SAFETY = 1.5
#: û itself is rounded, by so many units of the last place of its size.
ROUNDED = 8.0
NO_COMPLEX_BOUND = "a maximum principle is known for real solutions only"
#: Warnings that a report shows.
MOST_WARNINGS = 3


#: A number, or an array (B,) of B inputs.
Figure = FloatArray | float


@dataclass(frozen=True)
class Residual:
    """h_k − P_k û of one condition at the points used: root mean square and largest modulus; floats, or (B,)."""

    rms: Figure
    max: Figure


@dataclass(frozen=True)
class UnknownError:
    """How wrong one of the unknowns is: floats, or (B,) for B inputs; see `ErrorEstimate`."""

    relative_l2: Figure
    relative_linf: Figure
    l2: Figure
    linf: Figure


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorEstimate:
    """How wrong û is, for this input. Every figure is a float, or (B,) for B inputs.

    With several unknowns ``of`` has the figures of each by name. The relative errors are then the largest of them, and
    the absolute ones those of the unknown whose relative error is largest.

    Attributes:
        relative_l2, relative_linf: l2 and linf, relative to a lower limit of ‖u‖ in the same norm over the domain: the
            size of what is known of u less its estimated error, ‖û + ê‖ − ‖u − û − ê‖ (leave-one-out: ‖û‖ − ‖u − û‖).
            Where u is not resolved that is next to nothing, and the size of û is not that of u: then they are large, or
            infinite. 0 if the error is 0.
        l2: the root mean square of u − û over the domain, estimated.
        linf: the largest |u − û|, estimated.
        residuals: of every condition, by name.
        source: "fresh points", where T did not learn; "leave-one-out" residuals at the points of T; or, part by part,
            "its own points".
        points: how many.
        stability: C in ‖e‖ ≤ ‖ê‖ + C ‖what ê leaves of the residuals‖ for ê = T'r, by norm; few probes exceed it.
        centres: of the richer operator T' by which u − û is estimated, as ê; 0 for the points of T, where ê = 0.
        bound: the bound of sup|u − û| by a maximum principle, with suprema from samples, or None …
        why_no_bound: … and why.
        relative_to: what relative figures divide by, in words; of û + ê, or of û for the points of T, where ê = 0.
        concentrated: residuals that are large at few points alone, as at corners; there smooth fields say little of the
            error. It is in l2 and linf, by what a coarser operator would answer.
        unseen: parts of inputs that are functions, which the points do not see and a search of them found; they are
            in l2 and linf. Arrays cannot be searched, and numbers need not be.
        parts: for an operator made of parts, about how wrong û is on each of them, (P,) or (P, B): where to look.
        diagnosis: what is doubtful whatever the input: a problem that is ill-posed, where data that are only nearly
            satisfied leave an error of ``T.stability`` times the rest; a coefficient that is not resolved. It is in l2
            and linf.
    """

    relative_l2: Figure
    relative_linf: Figure
    l2: Figure
    linf: Figure
    residuals: Mapping[str, Residual]
    source: ResidualKind
    points: int
    stability: Mapping[str, float]
    centres: int
    bound: MaximumBound | None
    why_no_bound: str | None
    relative_to: str
    unseen: tuple[Unseen, ...]
    concentrated: tuple[Concentrated, ...] = ()
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    of: Mapping[str, UnknownError] = field(default_factory=dict[str, UnknownError])
    parts: FloatArray | None = None

    def __str__(self) -> str:
        """A table for a person, and below it what was not resolved, what is estimated and what is proved."""
        count = np.size(self.l2)
        table = Table(title="Error of û" if count == 1 else f"Errors of {count} solutions û")
        for heading in ("", "estimate") if count == 1 else ("", "largest", "median"):
            table.add_column(heading, justify="right" if heading else "left")
        for name, value in self._rows():
            figures = [np.max(value)] if count == 1 else [np.max(value), np.median(value)]
            table.add_row(name, *(f"{figure:.1e}" for figure in figures))
        console = Console(file=io.StringIO(), width=100, force_terminal=False)
        console.print(table)
        console.print(self._words(), soft_wrap=True, highlight=False, markup=False)
        assert isinstance(console.file, io.StringIO)
        return console.file.getvalue().rstrip()

    def _rows(self) -> list[tuple[str, Figure]]:
        rows: list[tuple[str, Figure]] = []
        for name, own in self.of.items():
            end = "" if len(self.of) == 1 else f", of {name}"
            rows += [(f"relative L2 error{end}", own.relative_l2), (f"relative L∞ error{end}", own.relative_linf)]
            rows += [(f"L2 error (root mean square){end}", own.l2), (f"L∞ error{end}", own.linf)]
        if self.bound is not None:
            rows.append(("L∞ error, bound from samples", self.bound.linf))
        for name, residual in self.residuals.items():
            rows += [(f"residual of {name}, rms", residual.rms), (f"residual of {name}, max", residual.max)]
        return rows

    def _words(self) -> str:
        used = f"Estimated from {self.source} ({self.points}), stability constant {self.stability['l2']:.1e} in L2"
        used += f", with a richer operator of {self.centres} centres." if self.centres else "."
        relative = f"Relative to the norm of {self.relative_to}, a lower limit of ‖u‖."
        words = [*self._doubts(), *self._warnings(), *self._words_of_size()]
        return "\n".join([*words, used, relative, self._words_of_bound()])

    def _words_of_size(self) -> list[str]:
        if np.all(np.isfinite(self.relative_l2)):
            return []
        which = "u is" if np.size(self.l2) == 1 else f"{np.sum(np.isinf(self.relative_l2))} of the solutions are"
        return [f"Warning: {which} not resolved: the error is as large as {self.relative_to}, so ‖u‖ is not known."]

    def _doubts(self) -> list[str]:
        of, found = self.diagnosis, [self.diagnosis.stability, self.diagnosis.roughness]
        told = [f"Warning: {part}." for part, wrong in zip(found, (of.ill_posed, of.unresolved), strict=True) if wrong]
        return told if of.stability is None or of.ill_posed else [*told, f"The problem: {of.stability}."]

    def _warnings(self) -> list[str]:
        several = np.size(self.l2) > 1
        found: list[str] = []
        for name, ones in (("unseen", self.unseen), ("concentrated", self.concentrated)):
            shown = ones[:MOST_WARNINGS]
            found += [f"Warning{f', input {one.input}' if several else ''}: {one}." for one in shown]
            more = len(ones) - len(shown)
            found += [f"Warning: and {more} more, in estimate.{name}."] if more else []
        return found

    def _words_of_bound(self) -> str:
        bound = self.bound
        if bound is None:
            return f"No bound: {self.why_no_bound}."
        return (
            f"Bound by the maximum principle ({bound.kind}): sup|u − û| ≤ sup|boundary residual| + "
            f"{bound.constant:.3g} sup|residual of the equation / {bound.divisor}|, barrier: {bound.barrier}.\n"
            f"Proved: the inequality. Sampled: coefficients and suprema, at {bound.points} points that cover the "
            "domain, plus fill distance × steepest slope between neighbours, and at peaks of functions that were found."
        )


@dataclass(frozen=True, eq=False)
class KnownData:
    """What is known of the data of B inputs.

    Arguments:
        at_points: at the points of the operator, (N, B); None if it is not held.
        at_tests: at its test points, (n, B); None if it is not known there.
        anywhere: at any points, condition by condition; None if it is not known elsewhere …
        why_not: … and why.
        functions: the data of conditions that is a function, by name, not checked.
    """

    at_points: FloatArray | None
    at_tests: FloatArray | None
    anywhere: Data | None
    why_not: str = ""
    functions: Mapping[str, Function] = field(default_factory=dict)


def error_estimate(
    operator: Learned,
    u: Combination,
    known: KnownData,
    *,
    single: bool,
    paired: bool,
    covering: int | None,
    search: int | None,
    tick: Tick | None = None,
) -> ErrorEstimate:
    """How wrong B solutions û are.

    Arguments:
        single: is there one solution, whose figures are numbers?
        paired: are the functions real parts of solutions, followed by imaginary parts?
        covering: points for the bound, None for no bound.
        search: points at which functions are searched, None for no search.
        tick: is told the part that is done.
    """
    told: Tick = tick or (lambda done, note="": None)
    told(0.05, "a richer operator")
    knowledge, residuals, h = _residuals(operator, u, known)
    told(0.6, "what the points do not see")
    own, at = operator.factorisation, known.at_points
    wrong = None if at is None else errors_of_unknowns(own, operator.collocated, u, at)
    errors, most = knowledge.errors(u, residuals, h, wrong), np.zeros(u.width)
    if known.anywhere is not None and known.at_tests is not None:
        most = where_prescribed(operator, knowledge, u, known.anywhere)
        errors = compared(operator, knowledge, u, errors.at_least(most), residuals, h, known.anywhere)
    errors = by_weak_form(operator, knowledge, u, errors, residuals, h).at_least(most)
    looked = {} if search is None or paired else look(operator.problem, u, known.functions, search)
    missed, more = unseen(operator, knowledge, residuals, looked)
    total, size, correction = SAFETY * (errors.guess + more) + errors.rest, errors.solution, errors.correction
    total = with_doubts(total, size, operator, knowledge, residuals)
    total = total if at is None else total + errors_by_leaks(own, at)
    if paired:
        total, size, correction = (np.hypot(*np.split(values, 2, axis=-1)) for values in (total, size, correction))
    blocks = zip(operator.problem.names, knowledge.functionals.slices, strict=True)
    told(0.8, "a covering of the domain")
    bound, why = _bound(operator, u, known, covering, looked) if not paired else (None, NO_COMPLEX_BOUND)
    return ErrorEstimate(
        **figures_of(operator, knowledge, [*relative(total, size, correction), *total], single),
        residuals={name: _residual(residuals[rows], single, paired) for name, rows in blocks},
        points=len(residuals),
        bound=None if bound is None else _single_bound(bound) if single else bound,
        why_no_bound=why,
        unseen=missed,
        concentrated=_of_pairs(errors.peaks, u.width // 2) if paired else errors.peaks,
        parts=None if wrong is None else _of_parts(wrong, operator.ansatz, single, paired),
    )


def figures_of(
    operator: Learned, knowledge: ErrorsFromResiduals, figures: Sequence[FloatArray], single: bool
) -> dict[str, Any]:
    """What every estimate tells of errors: relative in L2 and in L∞, L2 and L∞ of each unknown, (U, B) each."""
    names = operator.problem.unknowns.names
    of = {name: UnknownError(*(one_figure(own[k], single) for own in figures)) for k, name in enumerate(names)}
    worst = max(of.values(), key=lambda own: np.max(own.relative_l2))
    return {
        "relative_l2": one_figure(np.max(figures[0], axis=0), single),
        "relative_linf": one_figure(np.max(figures[1], axis=0), single),
        "l2": worst.l2,
        "linf": worst.linf,
        "of": of,
        "source": knowledge.kind,
        "stability": dict(zip(("l2", "linf"), np.max(knowledge.constants, axis=1).tolist(), strict=True)),
        "centres": knowledge.centres,
        "relative_to": f"{'û + ê' if knowledge.centres else 'û'} less its error",
        "diagnosis": operator.diagnosis,
    }


def _of_parts(wrong: FloatArray, ansatz: Ansatz, single: bool, paired: bool) -> FloatArray:
    """Of several unknowns the largest, each in the unit of its functions."""
    scales = [max(ansatz.scales[own]) if ansatz.scales else 1.0 for own in ansatz.unknowns.slices.values()]
    most = np.max(wrong / np.reshape(scales, (-1, 1, 1)), axis=0)
    found = np.hypot(*np.split(most, 2, axis=1)) if paired else most
    return found[:, 0] if single else found


def _of_pairs(peaks: Sequence[Concentrated], width: int) -> tuple[Concentrated, ...]:
    """Those of so many complex inputs, each once, for those of their real parts and then of their imaginary parts."""
    found: dict[tuple[str, int], Concentrated] = {}
    for one in peaks:
        own = replace(one, input=one.input % width)
        other = found.get((own.name, own.input), own)
        found[own.name, own.input] = replace(other, rough=own.rough or other.rough)
    return tuple(found.values())


def _residual(rows: FloatArray, single: bool, paired: bool) -> Residual:
    modulus = np.abs(rows)
    if paired:
        modulus = np.hypot(*np.split(modulus, 2, axis=1))
    return Residual(one_figure(rms(modulus), single), one_figure(np.max(modulus, axis=0), single))


def with_doubts(
    total: FloatArray, size: FloatArray, operator: Learned, knowledge: ErrorsFromResiduals, residuals: FloatArray
) -> FloatArray:
    """What no residual shows, added to an estimate (2, U, B): rounding, and what is doubtful whatever the input.

    Where the conditions leave u open, at any size, every error is infinite.
    """
    if not np.all(np.isfinite(total)):
        raise fail(NonFiniteError, "u", "a solution whose residuals overflow", "choose units in which data is near 1")
    diagnosis = operator.diagnosis
    total = total + ROUNDED * EPS * size
    if diagnosis.roughness is not None and diagnosis.roughness.unresolved:
        total = np.maximum(total, min(1.0, diagnosis.roughness.part) * size)
    if diagnosis.stability is not None and diagnosis.stability.ill_posed:
        if not np.isfinite(diagnosis.stability.number):
            return np.full_like(total, np.inf)
        rows, frame = knowledge.functionals, frame_of(operator.problem)
        roots = np.sqrt(repeated(natural_weights(rows, knowledge.places.functionals, frame), rows))
        total = total + diagnosis.stability.number * (norms(roots[:, None] * residuals) + EPS * size[0])
    return total


def _residuals(
    operator: Learned, u: Combination, known: KnownData
) -> tuple[ErrorsFromResiduals, FloatArray, FloatArray]:
    """What turns residuals into errors, the residuals and the data where they are, (n, B)."""
    if known.at_tests is not None:
        knowledge = from_fresh_points(operator)
        return knowledge, knowledge.residuals(u, known.at_tests), known.at_tests
    if known.at_points is None:
        remedy = "give the inputs as functions or numbers, or u.error_estimate(…) their values at T.test_points"
        raise fail(ArgumentError, "u", f"a solution whose data is not known at other points ({known.why_not})", remedy)
    knowledge = from_own_points(operator)
    return knowledge, knowledge.residuals(u, known.at_points), known.at_points


def _bound(
    operator: Learned, u: Combination, known: KnownData, covering: int | None, looked: Mapping[str, Looked]
) -> tuple[MaximumBound | None, str | None]:
    if covering is None:
        return None, "it was not asked for (covering=None)"
    if known.anywhere is None:
        return None, f"data is not known on a covering ({known.why_not})"
    try:
        return maximum_bound(operator.problem, u, known.anywhere, covering, looked), None
    except NotApplicableError as reason:
        return None, str(reason)


def _single_bound(bound: MaximumBound) -> MaximumBound:
    return replace(bound, **{name: float(getattr(bound, name)[0]) for name in ("linf", "boundary", "interior")})


def relative(error: FloatArray, size: FloatArray, correction: FloatArray) -> FloatArray:
    """Errors ‖e‖ ÷ a lower limit of ‖u‖, (2, U, B): ‖û + ê‖ − ‖e − ê‖, where ‖e − ê‖ is what ‖e‖ has beyond ‖ê‖.

    Infinite where that is not positive; 0 where there is no error.
    """
    least = np.maximum(size - np.maximum(error - correction, 0.0), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error == 0.0, 0.0, error / least)


def one_figure(values: FloatArray, single: bool) -> Figure:
    """A number for one input, (B,) for a batch."""
    return float(values[0]) if single else values
