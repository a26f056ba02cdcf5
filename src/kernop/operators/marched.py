"""The solution over slabs of time one after the other: a function of space and of the time of all slabs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kernop.basics.checks import check_integer
from kernop.basics.errors import ArgumentError, FloatArray, IntArray, NumberArray, OutsideDomainError, ShapeError, fail
from kernop.basics.progress import Stages
from kernop.collocation.ansatz import Tabulated
from kernop.collocation.data import known_everywhere, some_places
from kernop.collocation.functionals import Functionals
from kernop.collocation.sampling import can_be_fresh
from kernop.collocation.slabs import Later, Slab, by_slab, data_of_slabs, slab_numbers
from kernop.geometry import Points, SpaceTime
from kernop.language.unknowns import Operator
from kernop.methods.repeated import Repetition
from kernop.methods.walking import Walk
from kernop.operators.combining import Picked, combined_slabs
from kernop.operators.evaluated import Evaluated, OneUnknown
from kernop.operators.shapes import by_unknown
from kernop.operators.solution import Solution
from kernop.trust.estimates import Learned
from kernop.trust.estimates.chain import ChainData, ChainEstimate, chain_estimate
from kernop.views.scene import Scene, scene


@dataclass(frozen=True, eq=False, kw_only=True)
class MarchedSolution(Evaluated[OneUnknown]):
    """A solution over slabs of time, one after the other: a function of x = (…, t) with its derivatives.

    The slabs are [t0 + kτ, t0 + (k + 1)τ], k < steps, where T was learned on [t0, t0 + τ]. Where two meet, the later
    one is evaluated.

    Attributes:
        problem: that of a slab.
        slabs: the solution of each, in the time of T: from t0 to t0 + τ.
        slab: the problem of one, and what is handed on.
        repetition: the map that is repeated.
        given: what `march` was given, by name.
        data: what T was given in all slabs at its points, (N, steps · B).
        function: u in all slabs; the columns are those of the first, then of the second, ….
        left: what least squares left of the data on the worst slab, relative to the largest data, (B,).
        sizes: the norm ‖√W h‖ of the largest data, (B,).
    """

    slabs: tuple[Solution, ...]
    slab: Slab
    repetition: Repetition | Walk
    given: Mapping[str, Any]
    learned: Learned
    data: FloatArray

    @property
    def steps(self) -> int:
        """The number of slabs of time."""
        return len(self.slabs)

    @property
    def times(self) -> tuple[float, float]:
        """The first and the last time."""
        return self.slab.times[0], self.slab.times[0] + self.steps * self.slab.duration

    @property
    def width(self) -> int:
        """The number B of inputs."""
        return self.slabs[0].width

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
        every = self.width * (2 if self.paired else 1)
        own = [number, number + self.width] if self.paired else [number]
        columns = [k * every + column for k in range(self.steps) for column in own]
        slabs, given = tuple(slab.pick(number) for slab in self.slabs), dict(self.given)
        for name, h in self.given.items():  # arrays have an axis for the slabs
            axes = self.learned.named_layouts[name].ndim + (0 if callable(h) else 1)
            given[name] = (
                Picked(h, number, axes) if callable(h) else np.asarray(h)[..., number] if np.ndim(h) > axes else h
            )
        return replace(
            self,
            slabs=slabs,
            given=given,
            single=True,
            data=self.data[:, columns],
            function=replace(self.function, y=self.function.y[:, columns]),
            left=None if self.left is None else self.left[[number]],
            sizes=None if self.sizes is None else self.sizes[[number]],
        )

    def combined(self, terms: Sequence[tuple[complex, Any]]) -> MarchedSolution:
        if any(isinstance(a, complex) for a, _ in terms) or len({(u.steps, u.paired, u.single) for _, u in terms}) > 1:
            got = "slabs that differ in number or kind, or a complex factor"
            raise fail(ArgumentError, "u + v", got, "march with the combined data: T.march(steps, …)")
        factors = [float(np.real(a)) for a, _ in terms]
        fixed = {condition.name: condition.data for condition in self.problem.conditions}
        return replace(
            self,
            slabs=tuple(
                own[0].combined(list(zip(factors, own, strict=True)))
                for own in zip(*(u.slabs for _, u in terms), strict=True)
            ),
            given=combined_slabs(self.learned, [(a, {**fixed, **u.given}) for a, u in terms]),
            data=sum(a * u.data for a, (_, u) in zip(factors, terms, strict=True)),
            function=replace(self.function, y=sum(a * u.function.y for a, (_, u) in zip(factors, terms, strict=True))),
            left=None,
            sizes=None,
        )

    def _unknown(self, name: str) -> OneUnknown:
        return OneUnknown(self, name)

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

    def _valued(self, x: object, outside: str) -> Any:
        _, own, numbers = self._places(x, outside)
        rows = self.ansatz.evaluations(own.x)

        def at(k: int, chosen: IntArray) -> Any:
            here = Functionals(tuple(block[chosen] for block in rows.blocks), rows.layouts)
            return self._evaluated(self.slabs[k].function, here)

        found = self._each(numbers, at)
        return self._blank(by_unknown(found, self.problem.unknowns), own, outside)

    def _derived(self, name: str, x: object, outside: str) -> FloatArray:
        _, own, numbers = self._places(x, outside)
        found = self._each(numbers, lambda k, rows: self.slabs[k].gradient(name, own[rows], "extrapolate"))
        return self._blank(found, own, outside)

    def _applied(self, op: Operator, x: object, outside: str, of: str | None) -> FloatArray:
        points, own, numbers = self._places(x, outside)
        found = self._each(numbers, lambda k, rows: self._applied_in(op, of, points[rows], own[rows], k))
        return self._blank(found, own, outside)

    def _applied_in(self, op: Operator, of: str | None, points: Points, own: Points, k: int) -> Any:
        """P u at points of one slab: coefficients there, u in the time of the slab."""
        if isinstance(op, Tabulated):
            return self.slabs[k].apply(op, own, outside="extrapolate", of=of)
        ansatz = self.ansatz
        if ansatz.envelope is not None:
            ansatz = replace(ansatz, envelope=Later(ansatz.envelope, -k * self.slab.duration))
        rows = ansatz.functionals(op, points, of=of)
        blocks = tuple(replace(block, x=own.x) for block in rows.blocks)
        return self._evaluated(self.slabs[k].function, Functionals(blocks, rows.layouts))

    def residual(self, name: str, points: Any, data: Any = None) -> FloatArray:
        """(P_k u − h_k) at points of condition ``name``, in the time of all slabs: (n,), or (n, B).

        As `Solution.residual`; points of a condition at the initial time are those of the first slab. The points of an
        integral lie in one slab.
        """
        condition = self.problem[name]
        if name in self.slab.initial:
            return self.slabs[0].residual(name, points, data)
        _, own, numbers = self._places(points, "raise")
        if condition.integral and len(set(numbers.tolist())) > 1:
            raise fail(ArgumentError, "points", "those of several slabs for an integral", "ask for one slab at a time")

        def at(k: int, rows: IntArray) -> Any:
            h = data
            if callable(data):
                h = Later(data, k * self.slab.duration)
            elif np.shape(data)[:1] == (len(own),) and not condition.integral:
                h = np.asarray(data)[rows]
            return self.slabs[k].residual(name, own[rows], h)

        return self._each(numbers, at)

    def error_estimate(self, *values: object, search: int | None = None, **named: object) -> ChainEstimate:
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
        known, kind = self._known(values, named), {"single": self.single, "paired": self.paired}
        parts = (self.learned, self.slab, self.repetition, self.function, known)
        with Stages(None) as stage, stage("estimate"):
            return chain_estimate(*parts, **kind, search=sought)

    def report(self) -> str:
        """What `error_estimate` says and how the map grows, for a person: ``print(u.report())``."""
        return f"{self.error_estimate()}\nThe map of one slab: {self._map()}."

    def _known(self, values: tuple[Any, ...], named: dict[str, Any]) -> ChainData:
        """Where the data of all conditions are known."""
        added = self._added(values, named)
        layouts = self.learned.named_layouts
        whole = {**self.given, **added}
        arrays = [
            name
            for name in self.problem.inputs
            if name not in added and not known_everywhere(self.problem[name], whole[name], layouts[name])
        ]
        tests = None
        functions: Sequence[Mapping[str, Any]] = [{}] * self.steps
        if not arrays and (added or can_be_fresh(self.problem)):
            points = self.learned.test_points
            inputs = by_slab(self.slab, whole, points, layouts, self.steps)
            functions = [{name: value for name, value in own.items() if callable(value)} for own in inputs]
            columns, single, paired = data_of_slabs(self.slab, inputs, points, self.learned.layouts)
            width = columns.shape[2]
            if (paired and not self.paired) or (width != self.data.shape[1] // self.steps and not single):
                raise fail(ShapeError, "error_estimate", f"data for {width} inputs", f"u is a batch of {self.width}")
            if self.paired and not paired:
                columns = np.concatenate([columns, np.zeros_like(columns)], axis=2)
            tests = np.broadcast_to(columns, (*columns.shape[:2], self.data.shape[1] // self.steps))
            tests = tests.reshape(len(columns), -1)
        return ChainData(self.data, tests, functions)

    def _places(self, x: Any, outside: str) -> tuple[Points, Points, IntArray]:
        """Points in the time of all slabs, in the time of their own, and the numbers of their slabs, (M,).

        Points outside the domain have the number of the nearest slab.
        """
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
        return points, own, numbers

    def _each(self, numbers: IntArray, at: Callable[[int, IntArray], Any]) -> Any:
        """Values at all points, from those of each slab: ``at`` takes its number, and those of its points."""
        found: NumberArray | None = None
        for k in np.unique(numbers).tolist():
            rows = np.flatnonzero(numbers == k)
            values = at(k, rows)
            if found is None:
                found = np.empty((len(numbers), *values.shape[1:]), dtype=values.dtype)
            if len(values) != len(rows):  # an integral, which is one value
                return values
            found[rows] = values
        return found
