"""Problems on a slab of time that is repeated: what is handed on from one slab to the next, and whether it can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernop.basics.checks import as_array, check_array
from kernop.basics.errors import (
    ArgumentError,
    BoolArray,
    FloatArray,
    IntArray,
    KernopError,
    MissingFunctionError,
    NumberArray,
    ShapeError,
    describe,
    fail,
    naming,
)
from kernop.collocation.ansatz import Ansatz, condition_functionals
from kernop.collocation.data import Input, InputValue, all_values, concrete, number_of_values
from kernop.collocation.functionals import Functionals, Layout, evenly, together
from kernop.geometry import Points, Region, SpaceTime
from kernop.geometry.region import Subregion
from kernop.geometry.spacetime import Cylinder
from kernop.language.conditions import Condition
from kernop.language.functions import Function
from kernop.language.problem import Problem

#: Coefficients are compared at so many points of a condition, in so many later slabs, and may differ by so much.
LOOKED, LATER, EQUAL = 32, 16, 1e-9
NAME = "T.march"


@dataclass(frozen=True)
class Later:
    """The function x ↦ f(x, t + shift), t the last coordinate: what f of all times is in the time of a slab."""

    function: Function
    shift: float

    def __call__(self, x: FloatArray) -> Any:
        """The values of the function, shifted in time, at x (n, d)."""
        return self.function(x + self.shift * np.eye(x.shape[-1])[-1])


@dataclass(frozen=True, eq=False)
class Slab:
    """A problem on space × [t0, t1], whose conditions at t0 get their data from the slab before.

    Arguments:
        problem: the conditions.
        times: t0 and t1.
        initial: names of the conditions at t0.
    """

    problem: Problem
    times: tuple[float, float]
    initial: tuple[str, ...]

    @property
    def duration(self) -> float:
        """τ = t1 − t0."""
        return self.times[1] - self.times[0]

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The initial conditions of the slab, at t = t0."""
        return tuple(self.problem[name] for name in self.initial)

    def at_end(self, condition: Condition, points: Points, ansatz: Ansatz) -> Functionals:
        """A condition at t0 as functionals at the same places at t1, where the next slab begins."""
        x = np.array(points.x)
        x[:, -1] = self.times[1]
        return condition_functionals(condition, replace(points, x=x), ansatz)

    def handed(self, points: Mapping[str, Points], ansatz: Ansatz) -> Functionals:
        """All conditions at t0, at t1: what a solution hands on to the points of the next slab, (n₀ rows)."""
        return together([self.at_end(c, points[c.name], ansatz) for c in self.conditions])

    def rows(self, functionals: Functionals) -> IntArray:
        """The numbers of the rows of the conditions at t0 among those of all conditions, (n₀,)."""
        own = zip(self.problem.names, functionals.slices, strict=True)
        return np.concatenate([np.arange(r.start, r.stop) for name, r in own if name in self.initial])


def slab_of(problem: Problem) -> Slab:
    """The slab that a problem lives on; an error if it cannot be followed by another one."""
    found: dict[str, set[str]] = {}
    times: set[tuple[float, float]] = set()
    for condition in problem.conditions:
        if condition.across:  # with sides between which it lies, at times that need not be those of the slab
            _check_lasting(condition)
            found[condition.name] = {"walls"}
            continue
        base = _base(condition.on)
        if not isinstance(base, SpaceTime | Cylinder):
            got = f"condition {condition.name!r} on {condition.on!r}"
            raise fail(ArgumentError, NAME, got, "learn T on a SpaceTime(space, (t0, t1)): time is what is marched in")
        times.add((base if isinstance(base, SpaceTime) else base.spacetime).times)
        found[condition.name] = {"inside"} if isinstance(base, SpaceTime) else set(base.parts)
    if len(times) > 1:
        got = f"conditions on slabs of different times {sorted(times)}"
        raise fail(ArgumentError, NAME, got, "state all on one SpaceTime")
    for name, parts in found.items():
        if "final" in parts:
            got = f"condition {name!r} at the final time, which is not known when the next slab begins"
            raise fail(ArgumentError, NAME, got, "state conditions on .initial, .walls and the SpaceTime itself")
        if "initial" in parts and len(parts) > 1:
            got = f"condition {name!r} on the initial slice and on others"
            raise fail(ArgumentError, NAME, got, "state one on .initial and another one on .walls")
    initial = tuple(name for name, parts in found.items() if parts == {"initial"})
    for name in initial:
        if problem[name].paired:
            got = f"condition {name!r}, by which the solution repeats itself in time"
            raise fail(ArgumentError, NAME, got, "one slab is all of it: state what it begins with, ko.Initial")
    if not initial:
        remedy = "state what a slab takes over from the one before, such as ko.Initial(on=slab.initial)"
        raise fail(ArgumentError, NAME, "a problem without a condition on .initial", remedy)
    return Slab(problem, times.pop(), initial)


def _check_lasting(condition: Condition) -> None:
    """Raise if a surface inside a slab begins or ends in it, or moves."""
    normal = condition.on.sample(LOOKED).normal
    if normal is None or np.any(np.abs(normal[:, -1]) > EQUAL):
        got = f"condition {condition.name!r} on a surface that does not stand still while time goes by"
        remedy = "give coefficients whose pieces last, SpaceTime(region, (before t0, after the last slab))"
        raise fail(ArgumentError, NAME, got, remedy)


def _base(region: Region) -> Region:
    """The region of which it is a part, or a part of a part."""
    while isinstance(region, Subregion):
        region = region.base
    return region


def check_determined(slab: Slab, functionals: Functionals) -> None:
    """Raise if the equations have more derivatives in time than there are conditions at t0, for any component of u."""
    orders: dict[int, int] = {}
    known: dict[int, int] = {}
    for condition, own in zip(slab.problem.conditions, functionals.conditions, strict=True):
        for block in own.blocks:
            for k in block.components:
                if condition.name in slab.initial:
                    known[k] = known.get(k, 0) + 1
            if isinstance(_base(condition.on), SpaceTime) and not condition.integral:
                for k, alpha in block.terms:
                    orders[k] = max(orders.get(k, 0), alpha[-1])
    for k, order in orders.items():
        if known.get(k, 0) < order:
            got = f"an equation of order {order} in time with {known.get(k, 0)} of the conditions at the initial time"
            remedy = "the slabs do not determine each other: state the others too, such as ko.Initial(…, order=1)"
            raise fail(ArgumentError, NAME, got, remedy)


def check_repeatable(slab: Slab, points: Mapping[str, Points], ansatz: Ansatz, steps: int) -> None:
    """Raise if a coefficient, or a region, is another one in later slabs: the operator of one is then not theirs."""
    bare = replace(ansatz, envelope=None, parts=None)  # parts of a slab end with it
    for condition in slab.problem.conditions:
        own = points[condition.name]
        some = own[evenly(len(own), LOOKED)]
        _check_region(slab, condition, some)
        with naming(NAME):
            now = bare.functionals(condition.op, some, of=condition.of, name=condition.name)
            shifts = 1 + evenly(steps - 1, LATER)
            then = _functionals_at(slab, condition, some, bare, shifts)
        for one, other in zip(now.blocks, then.blocks, strict=True):
            size = float(np.max(np.abs(one.coefficients)))
            for term in {*one.terms, *other.terms}:
                a, b = (
                    block.coefficients[:, block.terms.index(term)] if term in block.terms else np.zeros(len(block))
                    for block in (one, other)
                )
                if np.any(np.abs(np.tile(a, len(shifts)) - b) > EQUAL * size):
                    raise _refusal(condition.name, "are not the same in later slabs")


def _functionals_at(slab: Slab, condition: Condition, some: Points, ansatz: Ansatz, shifts: IntArray) -> Functionals:
    """A condition at points in later slabs, slab by slab."""
    x = np.concatenate([some.x + k * slab.duration * np.eye(some.dim)[-1] for k in shifts.tolist()])
    normal = None if some.normal is None else np.tile(some.normal, (len(shifts), 1))
    try:
        return ansatz.functionals(condition.op, Points(x, normal, some.timed), of=condition.of, name=condition.name)
    except MissingFunctionError:
        raise
    except KernopError as error:
        raise _refusal(condition.name, f"have no values there ({error})") from error


def _refusal(name: str, why: str) -> KernopError:
    got = f"coefficients of condition {name!r} that depend on time: they {why}"
    remedy = "the operator of one slab is not that of others: learn on all of the time, SpaceTime(space, (t0, t_end))"
    return fail(ArgumentError, NAME, got, remedy)


def _check_region(slab: Slab, condition: Condition, some: Points) -> None:
    """Raise if a region changes while time goes by."""
    if condition.name in slab.initial or not condition.on.known or not isinstance(condition.on, Subregion):
        return
    for part in (0.0, 0.3, 0.6, 1.0):
        x = np.array(some.x)
        x[:, -1] = slab.times[0] + part * slab.duration
        if not np.all(condition.on.contains(x)):
            got = f"a region of condition {condition.name!r} that depends on time"
            raise fail(ArgumentError, NAME, got, "let the predicate of where(…) depend on space alone")


def by_slab(
    slab: Slab,
    given: Input,
    points: Mapping[str, Points],
    layouts: Mapping[str, Layout],
    steps: int,
) -> list[dict[str, InputValue]]:
    """The data of all conditions in each slab, in its own time; those at t0 only in the first.

    Functions are of the time of all slabs. An array has values for each slab, (steps, n) or (steps, n, B); one for a
    condition at t0 those for the first, (n,) or (n, B), as T itself takes them.
    """
    found: list[dict[str, InputValue]] = [{} for _ in range(steps)]
    for condition in slab.problem.conditions:
        name = condition.name
        value = given.get(name, condition.data)
        if name in slab.initial:
            found[0][name] = value
            continue
        parts = _parts(condition, value, points[name], layouts[name], steps, slab.duration)
        for own, part in zip(found, parts, strict=True):
            own[name] = part
    return found


def _parts(
    condition: Condition, value: InputValue, points: Points, layout: Layout, steps: int, duration: float
) -> list[InputValue]:
    """The data of one condition in each slab."""
    if callable(value):
        return [Later(value, k * duration) for k in range(steps)]
    n, k = number_of_values(condition, points), layout.components
    one = f"{n}" if k is None else f"{n}, {k}"
    remedy = (
        f"give a function of x, whose last coordinate is the time of all slabs, a number{'' if k is None else 's'}, or "
        f"values for each slab at T.points[{condition.name!r}].x, of shape ({steps}, {one}) or ({steps}, {one}, B)"
    )
    if isinstance(value, str | bytes) or value is None:
        raise fail(ArgumentError, condition.name, describe(value), remedy)
    if as_array(condition.name, value, remedy).shape in ((), () if k is None else (k,)):
        return [value] * steps
    array: NumberArray = check_array(condition.name, value, remedy=remedy, copy=False, complex_too=True)
    wanted = (steps, n) if k is None else (steps, n, k)
    if array.shape[: len(wanted)] != wanted or array.ndim > len(wanted) + 1 or array.size == 0:
        raise fail(ShapeError, condition.name, f"an array of shape {array.shape}", remedy)
    return list(array)


def data_of_slabs(
    slab: Slab, inputs: Sequence[Input], points: Mapping[str, Points], layouts: Sequence[Layout]
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
    return np.concatenate([np.real(stacked), np.imag(stacked)], axis=2) if paired else stacked, single, paired


def slab_numbers(times: FloatArray, slab: Slab, steps: int) -> tuple[IntArray, FloatArray, BoolArray]:
    """For times of the chain: the number of the slab, the time in it, and whether it is one of the chain, to rounding.

    Where two slabs meet, the later one.
    """
    first, duration = slab.times[0], slab.duration
    room = 1e-9 * duration + 8.0 * np.finfo(np.float64).eps * np.abs(times)
    inside = (times >= first - room) & (times <= first + steps * duration + room)
    number = np.clip(np.floor((times + room - first) / duration), 0, steps - 1).astype(np.intp)
    own = times - number * duration
    return number, np.where(inside, np.clip(own, *slab.times), own), inside
