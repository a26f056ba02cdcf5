"""Slabs of time one after the other: an operator that was learned on one of them, applied again and again."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import (
    AccuracyWarning,
    ArgumentError,
    FloatArray,
    InputNameError,
    OutsideDomainError,
    ShapeError,
    check_choice,
    check_coordinates,
    check_integer,
    check_memory,
    describe,
    fail,
)
from kernop.basics.frozen import frozen
from kernop.collocation.ansatz import Ansatz, Tabulated
from kernop.collocation.data import all_values, check_untraced, concrete, known_everywhere, split_pairs
from kernop.collocation.functionals import Functionals, Indices, Layout
from kernop.collocation.sampling import can_be_fresh
from kernop.collocation.slabs import (
    NAME,
    Later,
    Slab,
    by_slab,
    check_determined,
    check_repeatable,
    slab_numbers,
    slab_of,
)
from kernop.geometry import Points
from kernop.language.ops import itself
from kernop.language.problem import Condition, Problem
from kernop.language.unknowns import Operator
from kernop.methods import Answer, Combination
from kernop.methods.repeated import Repetition
from kernop.operators.shapes import blanked, by_unknown, values_of
from kernop.operators.solution import Solution
from kernop.trust.estimates import Learned
from kernop.trust.estimates.chain import ChainData, ChainEstimate, chain_estimate, own_step

#: A map whose spectral radius makes this of an error in all steps together is said to grow.
GROWTH = 10.0


@dataclass(frozen=True, eq=False)
class Handed:
    """What a solution hands on: P u(x, t1) for x at the beginning of the next slab, P the operator of a condition."""

    slab: Slab
    condition: Condition
    before: Solution

    def __call__(self, x: Any) -> Any:
        """Its values at x (n, d), whatever their time: (n,), or as the data of the condition are."""
        places = np.asarray(x, dtype=np.float64)
        points = Points(places, self.condition.on.normals(places), True)
        rows = self.slab.at_end(self.condition, points, self.before.ansatz)
        return values_of(
            self.before.function.apply(rows), rows.layouts[0], single=self.before.single, paired=self.before.paired
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class MarchedSolution:
    """A solution over slabs of time, one after the other: a function of x = (…, t) with its derivatives.

    The slabs are [t0 + kτ, t0 + (k + 1)τ], k < steps, where T was learned on [t0, t0 + τ]. Where two meet, the later
    one is evaluated.

    Attributes:
        slabs: the solution of each, in the time of T: from t0 to t0 + τ.
        slab: the problem of one.
        repetition: the map that is repeated.
        given: what `march` was given, by name.
        data: what T was given in all slabs at its points, (N, steps · B).
        function: u in all slabs; the columns are those of the first, then of the second, ….
        misfits: what least squares left of the data on the worst slab, relative to the largest data, (B,).
        sizes: the norm ‖√W h‖ of the largest data, (B,).
    """

    slabs: tuple[Solution, ...]
    slab: Slab
    repetition: Repetition
    given: Mapping[str, Any]
    learned: Learned
    data: FloatArray
    function: Combination
    misfits: FloatArray
    sizes: FloatArray
    single: bool
    paired: bool = field(default=False)

    @property
    def problem(self) -> Problem:
        """The problem of a slab."""
        return self.slab.problem

    @property
    def ansatz(self) -> Ansatz:
        """How the unknowns are written."""
        return self.function.expansion.ansatz

    @property
    def steps(self) -> int:
        """The number of slabs."""
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
    def misfit(self) -> Any:
        """What is left of the data at the points of T, on the worst slab: a float, or (B,); see `Solution.misfit`."""
        return float(self.misfits[0]) if self.single else self.misfits

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

    def __getitem__(self, name: str) -> MarchedUnknown:
        """The solution of one unknown, by name."""
        if name not in self.problem.unknowns.slices:
            known = ", ".join(self.problem.unknowns.names)
            raise fail(InputNameError, "u", f"the unknown {describe(name)}", f"the unknowns are {known}")
        return MarchedUnknown(self, name)

    def __getattr__(self, name: str) -> MarchedUnknown:
        if not name.startswith("_") and name in self.problem.unknowns.slices:
            return MarchedUnknown(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        number = "" if self.single else f"{self.width} of them, "
        first, last = self.times
        unknowns = ", ".join(self.problem.unknowns.names)
        left = f"leaves {np.max(self.misfits):.1e} of the data"
        return (
            f"MarchedSolution(x ↦ {unknowns if ',' in unknowns else 'u(x)'} in {self.problem.dim}-D; {number}"
            f"{self.steps} slabs from t = {first:g} to {last:g}, {self._map()}, {left})"
        )

    def _map(self) -> str:
        removed = f" without {self.removed} unresolved modes" if self.removed else ""
        return f"spectral radius {self.spectral_radius:.6g}{removed}, growth at most {self.growth:.2g}"

    def __call__(self, x: Any, *, outside: str = "raise") -> Any:
        """u(x) for x of shape (M, d), whose last coordinate is the time of all slabs: as `Solution.__call__`."""
        _, own, numbers = self._places(x, outside)
        found = self._values(self.ansatz.evaluations(own.x), numbers)
        return self._blank(by_unknown(found, self.problem.unknowns), own, outside)

    def grad(self, x: Any, *, outside: str = "raise") -> FloatArray:
        """The derivatives of u along all coordinates, the last of them ∂u/∂t: (M, d), or (M, d, B)."""
        if self.problem.unknowns.single is None:
            names = " and ".join(f"s.{name}.grad(x)" for name in self.problem.unknowns.names)
            raise fail(ArgumentError, "u.grad", "a solution with several unknowns", f"ask each of them: {names}")
        return self.gradient(self.problem.unknowns.single, x, outside)

    def gradient(self, name: str, x: Any, outside: str) -> FloatArray:
        """The derivatives of one unknown along all coordinates, as `grad` gives them."""
        _, own, numbers = self._places(x, outside)
        found = self._each(numbers, lambda k, rows: self.slabs[k].gradient(name, own[rows], "extrapolate"))
        return self._blank(found, own, outside)

    def apply(self, op: Operator, x: Any, *, outside: str = "raise", of: str | None = None) -> FloatArray:
        """(P u)(x) for any linear operator P, whose coefficients are functions of the time of all slabs."""
        points, own, numbers = self._places(x, outside)
        found = self._each(numbers, lambda k, rows: self._applied(op, of, points[rows], own[rows], k))
        return self._blank(found, own, outside)

    def _applied(self, op: Operator, of: str | None, points: Points, own: Points, k: int) -> Any:
        """P u at points of one slab: coefficients there, u in the time of the slab."""
        if isinstance(op, Tabulated):
            return self.slabs[k].apply(op, own, outside="extrapolate", of=of)
        ansatz = self.ansatz
        if ansatz.envelope is not None:
            ansatz = replace(ansatz, envelope=Later(ansatz.envelope, -k * self.slab.duration))
        rows = ansatz.functionals(op, points, of=of)
        blocks = tuple(replace(block, x=own.x) for block in rows.blocks)
        found = self.slabs[k].function.apply(Functionals(blocks, rows.layouts))
        return values_of(found, rows.layouts[0], single=self.single, paired=self.paired)

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

        def at(k: int, rows: Indices) -> Any:
            h = data
            if callable(data):
                h = Later(data, k * self.slab.duration)
            elif np.shape(data)[:1] == (len(own),) and not condition.integral:
                h = np.asarray(data)[rows]
            return self.slabs[k].residual(name, own[rows], h)

        return self._each(numbers, at)

    def error_estimate(self, *values: Any, search: int | None = None, **named: Any) -> ChainEstimate:
        """How wrong u is on all slabs together, and on each: what each adds, and what the following make of it.

        Arguments:
            values, named: inputs that `march` was given as arrays, as functions or numbers; or as values at
                ``T.test_points[name].x`` for each slab, (steps, n) or (steps, n, B).
            search: the number of values in all slabs together of an input that is a function, which is searched for
                what the points do not see; None for no search, which takes about a second for each slab.
        """
        sought = None if search is None else check_integer("search", search, least=16)
        known = self._known(values, named)
        return chain_estimate(
            self.learned,
            self.slab,
            self.repetition,
            self.function,
            known,
            single=self.single,
            paired=self.paired,
            search=sought,
        )

    def report(self) -> str:
        """What `error_estimate` says and how the map grows, for a person: ``print(u.report())``."""
        return f"{self.error_estimate()}\nThe map of one slab: {self._map()}."

    def _known(self, values: tuple[Any, ...], named: dict[str, Any]) -> ChainData:
        """Where the data of all conditions are known."""
        names = self.problem.inputs
        added = dict(zip(names, values, strict=False)) | named
        if len(values) > len(names) or any(n not in names for n in added) or len(added) < len(values) + len(named):
            got = f"{len(values)} values and the names {list(named)}"
            raise fail(InputNameError, "error_estimate", got, f"give some of ({', '.join(names)}), each once")
        layouts = dict(zip(self.problem.names, self.learned.layouts, strict=True))
        whole = {**self.given, **added}
        arrays = [
            name
            for name in names
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

    def _places(self, x: Any, outside: str) -> tuple[Points, Points, Indices]:
        """Points in the time of all slabs, in the time of their own, and the numbers of their slabs, (M,).

        Points outside the domain have the number of the nearest slab.
        """
        check_choice("outside", outside, ("raise", "nan", "extrapolate"))
        check_untraced("x", x)
        points = x if isinstance(x, Points) else Points(check_coordinates("x", x, self.problem.dim))
        if points.dim != self.problem.dim:
            raise fail(ShapeError, "x", f"points in {points.dim} dimensions", f"the problem has {self.problem.dim}")
        points = points.placed(True)
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

    def _blank(self, values: Any, own: Points, outside: str) -> Any:
        """NaN where points are not inside; outside of all slabs, a time in the nearest is not inside it."""
        return blanked(values, self.problem.contains(own.x)) if outside == "nan" else values

    def _values(self, rows: Functionals, numbers: Indices) -> Any:
        """What the functionals of one operator, in the time of slabs, say of u."""
        layout = rows.layouts[0]

        def at(k: int, chosen: Indices) -> Any:
            own = Functionals(tuple(block[chosen] for block in rows.blocks), rows.layouts)
            return values_of(self.slabs[k].function.apply(own), layout, single=self.single, paired=self.paired)

        return self._each(numbers, at)

    def _each(self, numbers: Indices, at: Callable[[int, Indices], Any]) -> Any:
        """Values at all points, from those of each slab: ``at`` takes its number, and those of its points."""
        found: NDArray[Any] | None = None
        for k in np.unique(numbers).tolist():
            rows = np.flatnonzero(numbers == k)
            values = at(k, rows)
            if found is None:
                found = np.empty((len(numbers), *values.shape[1:]), dtype=values.dtype)
            if len(values) != len(rows):  # an integral, which is one value
                return values
            found[rows] = values
        return found


@dataclass(frozen=True, eq=False)
class MarchedUnknown:
    """One unknown of a marched solution with several: a function of x with its derivatives."""

    solution: MarchedSolution
    name: str

    def __call__(self, x: Any, *, outside: str = "raise") -> FloatArray:
        """u(x) for x of shape (M, d): (M,) or (M, k), and with a last axis B for B inputs."""
        return self.apply(itself, x, outside=outside)

    def grad(self, x: Any, *, outside: str = "raise") -> FloatArray:
        """The derivatives along all coordinates: (M, d), or (M, k, d); with a last axis B for B inputs."""
        return self.solution.gradient(self.name, x, outside)

    def apply(self, op: Operator, x: Any, *, outside: str = "raise") -> FloatArray:
        """(P u)(x) for any linear operator P of this unknown."""
        return self.solution.apply(op, x, outside=outside, of=self.name)

    def __repr__(self) -> str:
        return f"{self.name!r} of {self.solution!r}"


def march(learned: Learned, steps: Any, given: Mapping[str, Any]) -> MarchedSolution:
    """The solution over ``steps`` slabs for inputs by name; see ``SolutionOperator.march``."""
    number = check_integer("steps", steps, least=1)
    if learned.factorisation.rows is not None:
        got = "an operator that was learned from a stream, which passes over its points for every slab"
        raise fail(ArgumentError, NAME, got, "use T.materialize().march(…), which holds them")
    slab = slab_of(learned.problem)
    check_determined(slab, learned.collocated)
    if number > 1:
        check_repeatable(slab, learned.points, learned.ansatz, number)
    layouts = dict(zip(learned.problem.names, learned.layouts, strict=True))
    inputs = by_slab(slab, given, learned.points, layouts, number)
    size = 3 * number * len(learned.collocated)
    check_memory("steps", size, f"data of {number} slabs", "march fewer, and begin again from where they end")
    known, single, paired = data_of_slabs(slab, inputs, learned.points, learned.layouts)
    repetition = own_step(learned, slab).over(number)
    data = frozen(repetition.march(known)[0].reshape(len(known), -1))
    answer = learned.factorisation.answer(data)
    _warn_of_growth(repetition)
    slabs = _slabs(learned, slab, inputs, data, answer, single, paired)
    residual, sizes = (
        _moduli(values.reshape(number, -1), paired).max(axis=0) for values in (answer.residual, answer.size)
    )
    return MarchedSolution(
        slabs=slabs,
        slab=slab,
        repetition=repetition,
        given=given,
        learned=learned,
        data=data,
        function=answer.u,
        misfits=np.divide(residual, sizes, out=np.zeros_like(sizes), where=sizes > 0.0),
        sizes=sizes,
        single=single,
        paired=paired,
    )


def _moduli(values: FloatArray, paired: bool) -> FloatArray:
    return np.hypot(*np.split(values, 2, axis=1)) if paired else values


def data_of_slabs(
    slab: Slab, inputs: Sequence[Mapping[str, Any]], points: Mapping[str, Points], layouts: Sequence[Layout]
) -> tuple[FloatArray, bool, bool]:
    """Data of all slabs as rows, (N, steps, B), 0 where they are handed on; are they single, are they pairs?"""
    found = []
    for k, own in enumerate(inputs):
        later = dict.fromkeys(slab.initial, 0.0) if k else {}
        rows = all_values(slab.problem, {**own, **later}, points, layouts)
        found.append(concrete(NAME, rows, "call it outside of jit, grad and vmap"))
    single = all(rows.ndim == 1 for rows in found)
    columns = [rows.reshape(len(rows), -1) for rows in found]
    widths = {rows.shape[1] for rows in columns if rows.shape[1] > 1} or {1}
    if len(widths) > 1:
        got = f"batches of {' and '.join(map(str, sorted(widths)))} in different slabs"
        raise fail(ShapeError, NAME, got, "give the same number of columns in each")
    width = widths.pop()
    stacked = np.stack([np.broadcast_to(rows, (len(rows), width)) for rows in columns], axis=1)
    paired = bool(np.iscomplexobj(stacked))
    if not paired:
        return stacked, single, False
    return np.stack([split_pairs(stacked[:, k]) for k in range(stacked.shape[1])], axis=1), single, True


def _slabs(
    learned: Learned,
    slab: Slab,
    inputs: Sequence[Mapping[str, Any]],
    data: FloatArray,
    answer: Answer,
    single: bool,
    paired: bool,
) -> tuple[Solution, ...]:
    """The solution of each slab; those after the first know what the one before handed on."""
    width = data.shape[1] // len(inputs)
    found: list[Solution] = []
    for k, own in enumerate(inputs):
        columns = slice(k * width, (k + 1) * width)
        part = answer.column(columns)
        known = part.paired() if paired else part
        handed = {} if k == 0 else {c.name: _handed(slab, c, learned, found[-1]) for c in slab.conditions}
        found.append(
            Solution(
                problem=learned.problem,
                function=part.u,
                single=single,
                learned=learned,
                data=data[:, columns],
                inputs={**own, **handed},
                misfits=known.misfit,
                sizes=known.size,
                paired=paired,
            )
        )
    return tuple(found)


def _handed(slab: Slab, condition: Condition, learned: Learned, before: Solution) -> Any:
    """What a condition at the beginning of a slab gets from the solution before: a function, or one value."""
    if not condition.integral:
        return Handed(slab, condition, before)
    rows = slab.at_end(condition, learned.points[condition.name], learned.ansatz)
    return values_of(before.function.apply(rows), rows.layouts[0], single=before.single, paired=before.paired)


def _warn_of_growth(repetition: Repetition) -> None:
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
