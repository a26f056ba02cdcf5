"""What points do not see: peaks of the data between the points of an operator and those of its estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray, MissingFunctionError
from kernop.basics.precision import float64
from kernop.collocation.ansatz import condition_functionals, normal_form
from kernop.collocation.probes import applied
from kernop.collocation.units import frame_of
from kernop.geometry import Points
from kernop.geometry.points import concatenate
from kernop.language.conditions import Condition
from kernop.language.functions import Function, padded, values_of_function
from kernop.language.problem import Problem
from kernop.methods import Combination
from kernop.trust.estimates.learned import Learned, probed, probing_fields, rms
from kernop.trust.estimates.peaks import STEPS, Scan, SpotNumbers, Spots, Values, climb, rises, scan, searchable, widths
from kernop.trust.estimates.stability import ErrorsFromResiduals

#: The values that are asked for are those of all functions of a batch together; but it has so many points at least.
FEWEST_POINTS = 2**12
#: Values of all functions that local searches may cost, if there are more than so many of them.
CLIMBING, FEWEST_SEARCHES = 2**17, 64
#: Places where residuals are computed: for one input, and in all.
DRAWN, MOST_DRAWN = 4096, 2**14
#: Local searches for each input, from each kind of surprise and from the largest residuals.
STARTS = 2
#: A root mean square of residuals by search that exceeds that at the points so many times is not by chance.
BY_CHANCE = 2.0
#: A peak of fewer cells than this is measured by its height and width, not by the points that hit it.
NARROW = 2.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Unseen:
    """A part of the data of a condition that neither the points of T nor those of the estimate see.

    Attributes:
        name: of the condition.
        input: which of the inputs of a batch; 0 for one.
        place: where the residual is largest, (d,).
        value: the data there.
        rms: the root mean square of the residual, by search …
        seen: … and at the points of the estimate.
    """

    name: str
    input: int
    place: FloatArray
    value: float
    rms: float
    seen: float

    def __str__(self) -> str:
        """What was not resolved, where, and by how much, in one sentence."""
        place = ", ".join(f"{x:.5g}" for x in self.place)
        return (
            f"{self.name} is not resolved: {self.value:.3g} at x = ({place}), between the points of T; its residual "
            f"has a root mean square of {self.rms:.1e}, of which the points show {self.seen:.1e}"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Looked:
    """The residuals h − P û of B inputs where a search of h led.

    Arguments:
        points: the places, (n, d).
        values, residuals: h and h − P û there, (n, B).
        weights: Σ weights · r² is the mean of r² over the region, (n,).
        spikes: the root mean square of peaks that are too narrow for these places, (B,).
        infinite: a place where h is not finite; None if it is finite everywhere.
    """

    points: Points
    values: FloatArray
    residuals: FloatArray
    weights: FloatArray
    spikes: FloatArray
    infinite: FloatArray | None

    @property
    def roots(self) -> FloatArray:
        """With them as factors, the root mean square at the places is that over the region, (n,)."""
        return np.sqrt(self.weights * len(self.weights))

    @property
    def rms(self) -> FloatArray:
        """Root mean squares of the residuals over the region, (B,)."""
        return np.maximum(rms(self.roots[:, None] * self.residuals), self.spikes)


def look(problem: Problem, u: Combination, functions: Mapping[str, Function], number: int) -> dict[str, Looked]:
    """Search the data that is given as functions, by name of the condition, for B functions û.

    Only those of one real scalar unknown are searched.
    """
    found: dict[str, Looked] = {}
    if u.expansion.ansatz.count > 1:
        return found
    for condition in problem.conditions:
        if condition.name in functions and condition.on.known and searchable(condition.on):
            values = _values(condition.name, functions[condition.name], u.width)
            try:
                found[condition.name] = _look(problem, condition, u, values, number)
            except MissingFunctionError:  # an operator from a file, whose P is known at its points alone
                continue
    return found


def answer(condition: Condition, points: Points, u: Combination) -> FloatArray:
    """P û at points, (n, B)."""
    return u.apply(condition_functionals(condition, points.placed(condition.on.timed), u.expansion.ansatz))


def _values(name: str, function: Function, width: int) -> Values:
    """A user's function as one that gives (n, B), with NaN where it is not finite."""

    def values(x: FloatArray) -> FloatArray:
        with float64():
            found = np.asarray(values_of_function(name, function, padded(x)))[: len(x)].reshape(len(x), -1)
        return np.where(np.isfinite(found), found, np.nan) * np.ones(width)

    return values


def _look(problem: Problem, condition: Condition, u: Combination, values: Values, number: int) -> Looked:
    count = u.width
    many = max(min(number, FEWEST_POINTS), number // count)
    scanned = scan(condition.on, frame_of(problem).units, values, many)
    rows, weights = scanned.draw(min(MOST_DRAWN, DRAWN * count))
    drawn = scanned.spots[rows].points()
    residuals = _differences(scanned.values[rows], answer(condition, drawn, u))
    starts, columns = _starts(scanned, rows, residuals)
    at_starts = answer(condition, scanned.spots[starts].points(), u)[np.arange(len(starts)), columns]
    kept = _worthwhile(np.abs(_differences(scanned.values[starts, columns], at_starts)), columns, count, drawn.dim)
    columns = columns[kept]
    ends = climb(scanned.spots[starts[kept]], columns, values)
    peaks = ends.points()
    at_peaks, answered = values(peaks.x), answer(condition, peaks, u)
    spikes = _spikes(ends, columns, answered[np.arange(len(ends)), columns], values, count)
    infinite = np.flatnonzero(~np.all(np.isfinite(scanned.values), axis=1))
    return Looked(
        points=concatenate([drawn, peaks]).placed(condition.on.timed),
        values=np.concatenate([scanned.values[rows], at_peaks]),
        residuals=np.concatenate([residuals, _differences(at_peaks, answered)]),
        weights=np.concatenate([weights, np.zeros(len(peaks))]),
        spikes=spikes,
        infinite=scanned.spots[infinite[:1]].points().x[0] if len(infinite) else None,
    )


def _differences(values: FloatArray, answered: FloatArray) -> FloatArray:
    """h − P û, and 0 where h is not finite."""
    return np.where(np.isfinite(values), values - answered, 0.0)


def _starts(scanned: Scan, rows: SpotNumbers, residuals: FloatArray) -> tuple[SpotNumbers, SpotNumbers]:
    """Where local searches start: rows of the scan, and the input that each is for."""
    surprising, columns = scanned.most_surprising(STARTS)
    largest = np.argsort(np.abs(residuals), axis=0)[-STARTS:]
    own = np.repeat(np.arange(residuals.shape[1]), len(largest))
    return np.concatenate([surprising, rows[largest.T.ravel()]]), np.concatenate([columns, own])


def _worthwhile(sizes: FloatArray, columns: SpotNumbers, count: int, dim: int) -> SpotNumbers:
    """Which starts to search from, with residuals of these sizes (n,): the largest for each input, as cost allows."""
    most = max(FEWEST_SEARCHES, CLIMBING // (2 * dim * STEPS * count))
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(order), dtype=int)
    for b in range(count):  # the best of each input, then the second of each, …
        own = order[columns[order] == b]
        rank[own] = np.arange(len(own))
    return np.lexsort((-sizes, rank))[:most]


def _spikes(ends: Spots, columns: SpotNumbers, answers: FloatArray, values: Values, count: int) -> FloatArray:
    """Roots of the mean squares of the highest peak of each input, (B,); 0 for those of many cells.

    ``answers`` is P û at the ends, (n,). For a Gaussian that falls to half at distance ω the integral of its square is
    height² · (1.51 ω)^m.
    """
    heights = rises(ends, columns, answers, values)
    order = np.argsort(heights, kind="stable")
    highest = np.array([order[columns[order] == b][-1] for b in range(count) if np.any(columns == b)])
    top = ends[highest]
    far = widths(top, columns[highest], answers[highest], heights[highest], values)
    shares = np.array([sheet.share for sheet in ends.sheets])[top.sheet]
    volume = shares * np.prod(np.minimum(1.0, 1.51 * far * top.cells()), axis=1)
    found = np.zeros(count)
    found[columns[highest]] = np.where(np.min(far, axis=1) < NARROW, heights[highest] * np.sqrt(volume), 0.0)
    return found


def unseen(
    operator: Learned, knowledge: ErrorsFromResiduals, residuals: FloatArray, looked: Mapping[str, Looked]
) -> tuple[tuple[Unseen, ...], FloatArray]:
    """What the points did not see, and how much of an error it can be in both norms, (2, U, B).

    Arguments:
        residuals: at the points of the estimate, (n, B).
        looked: those where a search led, by name of the condition.
    """
    found, sizes = list[Unseen](), np.zeros((*knowledge.constants.shape, residuals.shape[1]))
    for condition, rows in zip(operator.problem.conditions, knowledge.functionals.slices, strict=True):
        if condition.name not in looked:
            continue
        there, seen = looked[condition.name], rms(residuals[rows])
        missed = there.rms > BY_CHANCE * seen
        if missed.any():  # residuals may peak where û does, as at corners: so do those of inputs that are seen
            missed = there.rms > BY_CHANCE * max(1.0, _usual(operator, knowledge, condition, rows, there)) * seen
        if not missed.any():
            continue
        largest = _gains(operator, knowledge, rows)[:, None] * there.rms + [[0.0], [1.0]] * _direct(condition, there)
        sizes += np.where(missed, largest, 0.0)[:, None, :]
        found += [_unseen(condition.name, int(b), there, float(seen[b])) for b in np.flatnonzero(missed)]
    return tuple(found), sizes


def _usual(
    operator: Learned, knowledge: ErrorsFromResiduals, condition: Condition, rows: slice, there: Looked
) -> float:
    """How many times the residuals of the probing fields, which have no peaks, exceed those at the points."""
    probes, u = probed(operator, knowledge.functionals)
    seen = rms(knowledge.residuals(u, applied(probes, knowledge.functionals))[rows])
    own = condition_functionals(condition, there.points, u.expansion.ansatz)
    residuals = applied(probes, own) - u.apply(own)
    found = rms(there.roots[:, None] * residuals)
    return float(np.max(found[seen > 0.0] / seen[seen > 0.0], initial=0.0))


def _unseen(name: str, b: int, there: Looked, seen: float) -> Unseen:
    top = int(np.argmax(np.abs(there.residuals[:, b])))
    place, value = there.points.x[top].copy(), float(there.values[top, b])
    return Unseen(name=name, input=b, place=place, value=value, rms=float(there.rms[b]), seen=seen)


def _direct(condition: Condition, there: Looked) -> FloatArray:
    """The largest error where u itself is prescribed: it is the residual there, (B,)."""
    form = normal_form(condition.op, there.points, name=condition.name)
    if form.order > 0:
        return np.zeros(there.residuals.shape[1])
    factor = np.abs(form.coefficients)
    return np.max(np.abs(there.residuals) / np.where(factor > 0.0, factor, np.inf), axis=0)


def _gains(operator: Learned, knowledge: ErrorsFromResiduals, rows: slice) -> FloatArray:
    """How much a solution can be, in both norms, for data of one condition of root mean square 1, others 0: (2,).

    The largest answer to the probing fields, as data of this condition alone: long waves move a solution most.
    """
    h = applied(probing_fields(operator, knowledge.functionals), knowledge.functionals)
    alone, size = np.zeros_like(h), rms(h[rows])
    alone[rows] = h[rows]
    sizes = knowledge.places.sizes(knowledge.answers.answer(alone).u.apply(knowledge.places.functionals))
    return np.max(sizes[..., size > 0.0] / size[size > 0.0], axis=(1, 2))
