"""Slabs of time one after the other: an operator that was learned on one of them, applied again and again."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kernop.basics.checks import check_integer, check_memory
from kernop.basics.errors import (
    AccuracyWarning,
    ArgumentError,
    FloatArray,
    NumberArray,
    OutsideDomainError,
    ShapeError,
    fail,
)
from kernop.basics.frozen import frozen
from kernop.basics.linalg import one_thread
from kernop.basics.progress import Stages
from kernop.collocation.data import Input, InputValue, known_everywhere, some_places
from kernop.collocation.rows import Columns
from kernop.collocation.sampling import can_be_fresh
from kernop.collocation.slabs import (
    NAME,
    Later,
    Slab,
    by_slab,
    check_determined,
    check_repeatable,
    data_of_slabs,
    slab_numbers,
    slab_of,
)
from kernop.geometry import Points, SpaceTime
from kernop.language.conditions import Condition
from kernop.methods import Answer
from kernop.methods.parts.glued import PartsFactorisation
from kernop.methods.repeated import Repetition, Walk
from kernop.operators.combining import combined_slabs, picked
from kernop.operators.evaluated import Evaluated, Segment, joined
from kernop.operators.shapes import PointsLike, values_of
from kernop.operators.solution import Solution, solution_of
from kernop.trust.estimates import Learned
from kernop.trust.estimates.chain import ChainData, ChainEstimate, chain_estimate, own_step
from kernop.views.scene import Scene, scene

#: A map whose spectral radius makes this of an error in all steps together is said to grow.
GROWTH = 10.0
#: A map of more numbers than these from slab to slab is not written down as a matrix, if it is made of parts.
LARGE = 1000


@dataclass(frozen=True, eq=False)
class Handed:
    """What a solution hands on: P u(x, t1) for x at the beginning of the next slab, P the operator of a condition."""

    slab: Slab
    condition: Condition
    before: Solution

    def __call__(self, x: FloatArray) -> NumberArray:
        """Its values at x (n, d), whatever their time: (n,), or as the data of the condition are."""
        places = np.asarray(x, dtype=np.float64)
        return self.at(Points(places, self.condition.on.normals(places), True))

    def at(self, points: Points) -> NumberArray:
        """Its values at points; of an integral, the one value."""
        u, rows = self.before, self.slab.at_end(self.condition, points, self.before.ansatz)
        return values_of(u.function.apply(rows), rows.layouts[0], single=u.single, paired=u.paired)


@dataclass(frozen=True, eq=False, kw_only=True)
class MarchedSolution(Evaluated):
    """A solution over slabs of time, one after the other: a function of x = (…, t) with its derivatives.

    The slabs are [t0 + kτ, t0 + (k + 1)τ], k < steps, where T was learned on [t0, t0 + τ]. Where two meet, the later
    one is evaluated.

    Attributes:
        problem: that of a slab.
        slab: the problem of one, and what is handed on.
        repetition: the map that is repeated.
        given: what `march` was given, by name.
        data: what T was given in all slabs at its points, (N, steps · B).
        answer: what T made of them; the columns are those of the first slab, then of the second, ….
        function: u in all slabs, with these columns.
        left: the residual of the data on the worst slab, relative to the largest data, (B,).
        sizes: the norm ‖√W h‖ of the largest data, (B,).
    """

    slab: Slab
    repetition: Repetition | Walk
    given: Input
    learned: Learned
    data: FloatArray
    answer: Answer

    @staticmethod
    def of(
        learned: Learned, slab: Slab, repetition: Repetition | Walk, given: Input, data: FloatArray, *, columns: Columns
    ) -> MarchedSolution:
        """The solution for data of all slabs at the points of T, with what is handed on."""
        answer = learned.factorisation.answer_again(data, 0.0)  # as T has it, where there is one slab
        parts = [values.reshape(repetition.steps, -1) for values in (answer.residual, answer.size)]
        moduli = [np.hypot(*np.split(own, 2, axis=1)) if columns.paired else own for own in parts]
        residual, sizes = (own.max(axis=0) for own in moduli)
        return MarchedSolution(
            problem=learned.problem,
            slab=slab,
            repetition=repetition,
            given=given,
            learned=learned,
            data=data,
            answer=answer,
            function=answer.u,
            left=np.divide(residual, sizes, out=np.zeros_like(sizes), where=sizes > 0.0),
            sizes=sizes,
            single=columns.width is None,
            paired=columns.paired,
        )

    @cached_property
    def slabs(self) -> tuple[Solution, ...]:
        """The solution of each slab, in the time of T, from t0 to t0 + τ; later ones know what is handed on to them."""
        learned, found = self.learned, list[Solution]()
        columns = Columns(None if self.single else self.width, self.paired)
        inputs = by_slab(self.slab, self.given, learned.points, learned.named_layouts, self.steps)
        for k, own in enumerate(inputs):
            part, given = slice(k * columns.count, (k + 1) * columns.count), dict(own)
            for condition in self.slab.conditions if found else ():
                handed = Handed(self.slab, condition, found[-1])
                given[condition.name] = handed.at(learned.points[condition.name]) if condition.integral else handed
            found.append(solution_of(learned, self.answer.column(part), columns, given, self.data[:, part]))
        return tuple(found)

    @property
    def steps(self) -> int:
        """The number of slabs of time."""
        return self.repetition.steps

    @property
    def times(self) -> tuple[float, float]:
        """The first and the last time."""
        return self.slab.times[0], self.slab.times[0] + self.steps * self.slab.duration

    @property
    def width(self) -> int:
        """The number B of inputs."""
        return self.data.shape[1] // (self.steps * (2 if self.paired else 1))

    @property
    def spectral_radius(self) -> float:
        """ρ of the map from what a slab begins with to what it ends with, all other data being 0.

        Above 1, errors grow in every slab. Modes that grow but are no solutions, which the space does not resolve, are
        taken out of what is handed on: `removed` tells how many.
        """
        return self.repetition.radius

    @property
    def removed(self) -> int:
        """The number of modes that are taken out between slabs."""
        return self.repetition.removed

    @cached_property
    def growth(self) -> float:
        """The largest ‖M^k‖, k ≤ steps, of that map: how often an error may be multiplied on the way.

        In the norm of balanced data, in which a few tens are common: data that no solution has are among them.
        """
        return float(np.max(self.repetition.powers))

    def pick(self, number: int) -> MarchedSolution:
        own = number + self.width * np.arange(self.steps * (2 if self.paired else 1))
        answer = self.answer.column(own)
        sliced = [name for name in self.problem.names if name not in self.slab.initial]
        return replace(
            self,
            given=picked(self.learned, self.given, number, sliced),
            single=True,
            data=self.data[:, own],
            answer=answer,
            function=answer.u,
            left=None if self.left is None else self.left[[number]],
            sizes=None if self.sizes is None else self.sizes[[number]],
        )

    def combined(self, terms: Sequence[tuple[complex, Evaluated]]) -> MarchedSolution:
        own = [(a, u) for a, u in terms if isinstance(u, MarchedSolution)]
        if any(isinstance(a, complex) for a, _ in own) or len({(u.steps, u.paired, u.single) for _, u in own}) > 1:
            got = "slabs that differ in number or kind, or a complex factor"
            raise fail(ArgumentError, "u + v", got, "march with the combined data: T.march(steps, …)")
        fixed = {condition.name: condition.data for condition in self.problem.conditions}
        given = combined_slabs(self.learned, [(a, {**fixed, **u.given}) for a, u in own])
        data = np.sum([float(np.real(a)) * u.data for a, u in own], axis=0)
        columns = Columns(None if self.single else self.width, self.paired)
        return MarchedSolution.of(self.learned, self.slab, self.repetition, given, data, columns=columns)

    def __repr__(self) -> str:
        first, last = self.times
        return self._described(f"{self.steps} slabs from t = {first:g} to {last:g}", self._map())

    def _map(self) -> str:
        removed = f" without {self.removed} unresolved modes" if self.removed else ""
        return f"spectral radius {self.spectral_radius:.6g}{removed}, growth at most {self.growth:.2g}"

    def scene(self) -> Scene:
        regions = [
            condition.on for condition in self.problem.conditions if condition.on.intrinsic_dim == self.problem.dim
        ]
        wholes = [SpaceTime(region.space, self.times) for region in regions if isinstance(region, SpaceTime)]
        if len(wholes) < len(regions):
            got = "slabs of a part of space–time, or of a cloud"
            raise fail(ArgumentError, "u", got, "look at u.slabs[k], each in the time of T")
        return scene(wholes)

    def _segments(self, x: PointsLike, outside: str) -> list[Segment]:
        """Points outside the domain are in the nearest slab."""
        points = some_places(self.problem, x, outside)
        numbers, times, inside = slab_numbers(points.x[:, -1], self.slab, self.steps)
        own = replace(points, x=np.column_stack([points.x[:, :-1], times]))
        if outside == "raise":
            beyond = ~(inside & self.problem.contains(own.x))
            if np.any(beyond):
                first, last = self.times
                got = f"{int(beyond.sum())} of {len(points)} points outside, the first at {points.x[np.argmax(beyond)]}"
                remedy = f"give points of the domain, with times from {first:g} to {last:g}, or outside='nan'"
                raise fail(OutsideDomainError, "x", got, remedy)
        each = {k: np.flatnonzero(numbers == k) for k in np.unique(numbers).tolist()}
        return [
            Segment(self.slabs[k].function, points[rows], own[rows], k * self.slab.duration, rows)
            for k, rows in each.items()
        ]

    def residual(self, name: str, points: PointsLike, data: InputValue | None = None) -> NumberArray:
        """(P_k u − h_k) at points of condition ``name``, in the time of all slabs: (n,), or (n, B).

        As `Solution.residual`; points of a condition at the initial time are those of the first slab. The points of an
        integral lie in one slab.
        """
        condition = self.problem[name]
        if name in self.slab.initial:
            return self.slabs[0].residual(name, points, data)
        segments = self._segments(points, "raise")
        if condition.integral and len(segments) > 1:
            raise fail(ArgumentError, "points", "those of several slabs for an integral", "ask for one slab at a time")

        count = sum(len(segment.own) for segment in segments)
        each = not callable(data) and data is not None and np.shape(data)[:1] == (count,)

        def left(segment: Segment) -> NumberArray:
            h = Later(data, segment.shift) if callable(data) else np.asarray(data)[segment.rows] if each else data
            return self.slabs[round(segment.shift / self.slab.duration)].residual(name, segment.own, h)

        return joined(segments, list(map(left, segments)))

    def error_estimate(self, *values: InputValue, search: int | None = None, **named: InputValue) -> ChainEstimate:
        """How wrong u is on all slabs together, and on each: what each adds, and what the following make of it.

        Arguments:
            values, named: inputs that `march` was given as arrays, as functions or numbers; or as values at
                ``T.test_points[name].x`` for each slab, (steps, n) or (steps, n, B).
            search: the number of values in all slabs together of an input that is a function, which is searched for
                what the points do not see; None for no search, which takes about a second for each slab.
        """
        sought = None if search is None else check_integer("search", search, least=16)
        if isinstance(self.repetition, Walk):
            got = "slabs of so many parts that the map from one to the next was not written down as a matrix"
            remedy = "ask each, u.slabs[k].error_estimate(), or compare with T of a higher degree"
            raise fail(ArgumentError, "error_estimate", got, remedy)
        kind = {"single": self.single, "paired": self.paired}
        with one_thread, Stages(None) as stage, stage("estimate"):
            parts = (self.learned, self.slab, self.repetition, self.function, self._known(values, named))
            return chain_estimate(*parts, **kind, search=sought)

    def report(self) -> str:
        """What `error_estimate` says and how the map grows, for a person: ``print(u.report())``."""
        return f"{self.error_estimate()}\nThe map of one slab: {self._map()}."

    def _known(self, values: tuple[InputValue, ...], named: Input) -> ChainData:
        """Where the data of all conditions are known."""
        added = self._added(values, named)
        layouts = self.learned.named_layouts
        whole = {**self.given, **added}
        arrays = [
            name
            for name in self.problem.inputs
            if name not in added and not known_everywhere(self.problem[name], whole[name], layouts[name])
        ]
        if arrays or not (added or can_be_fresh(self.problem)):
            return ChainData(self.data, None, None, [{}] * self.steps)
        inputs = by_slab(self.slab, whole, self.learned.test_points, layouts, self.steps)
        functions = [{name: value for name, value in own.items() if callable(value)} for own in inputs]

        def anywhere(condition: Condition, points: Points) -> FloatArray:
            found = self._columns(inputs, {condition.name: points})
            handed = condition.name in self.slab.initial and np.arange(found.shape[1]) >= found.shape[1] // self.steps
            return np.where(handed, np.nan, found)

        everywhere = all(known_everywhere(self.problem[name], value, layouts[name]) for name, value in whole.items())
        tests = self._columns(inputs, self.learned.test_points)
        return ChainData(self.data, tests, anywhere if everywhere else None, functions)

    def _columns(self, inputs: Sequence[Input], points: Mapping[str, Points]) -> FloatArray:
        """Data of conditions at points, for all slabs, 0 where they are handed on: (n, steps · B)."""
        columns, single, paired = data_of_slabs(self.slab, inputs, points, self.learned.layouts)
        width = columns.shape[2]
        if (paired and not self.paired) or (width != self.data.shape[1] // self.steps and not single):
            raise fail(ShapeError, "error_estimate", f"data for {width} inputs", f"u is a batch of {self.width}")
        if self.paired and not paired:
            columns = np.concatenate([columns, np.zeros_like(columns)], axis=2)
        found = np.broadcast_to(columns, (*columns.shape[:2], self.data.shape[1] // self.steps))
        return found.reshape(len(columns), -1)


def march(learned: Learned, steps: object, given: Input) -> MarchedSolution:
    """The solution over ``steps`` slabs for inputs by name; see ``SolutionOperator.march``."""
    number = check_integer("steps", steps, least=1)
    if learned.factorisation.rows is not None:
        got = "an operator that was learned from a stream, which passes over its points for every slab"
        raise fail(ArgumentError, NAME, got, "use T.materialize().march(…), which holds them")
    slab = slab_of(learned.problem)
    check_determined(slab, learned.collocated)
    if number > 1:
        check_repeatable(slab, learned.points, learned.ansatz, number)
    inputs = by_slab(slab, given, learned.points, learned.named_layouts, number)
    size = 3 * number * len(learned.collocated)
    check_memory("steps", size, f"data of {number} slabs", "march fewer, and begin again from where they end")
    with Stages(None) as stage, stage("march") as tick:
        tick(0.05, "data of all slabs")
        known, single, paired = data_of_slabs(slab, inputs, learned.points, learned.layouts)
        tick(0.3, "the map of one slab")
        rows, parted = slab.rows(learned.collocated), isinstance(learned.factorisation, PartsFactorisation)
        if parted and len(rows) > LARGE:
            final = slab.handed(learned.points, learned.ansatz)
            repetition = Walk(learned.factorisation, rows, final, number)
        else:
            repetition = own_step(learned, slab).over(number)
        tick(0.6, f"{number} slabs")
        data = frozen(repetition.march(known)[0].reshape(len(known), -1))
        tick(0.9, "solutions")
        columns = Columns(None if single else known.shape[2] // (2 if paired else 1), paired)
        found = MarchedSolution.of(learned, slab, repetition, given, data, columns=columns)
    _warn_of_growth(repetition)
    return found


def _warn_of_growth(repetition: Repetition | Walk) -> None:
    """Say so if the repeated map lets errors grow."""
    if repetition.steps > 1 and repetition.radius**repetition.steps > GROWTH:
        total = repetition.radius**repetition.steps
        warnings.warn(
            f"T.march: what a slab hands on grows {repetition.radius:.4g} times in each (the spectral radius of its "
            f"map), {total:.1e} times in {repetition.steps} slabs, and so do errors: of the equation, if its "
            "solutions grow; else of a space that does not resolve it. Ask u.error_estimate()",
            AccuracyWarning,
            stacklevel=4,
        )
