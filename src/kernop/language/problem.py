"""Problems as pure data: conditions P_k u = h_k, each on its own region."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from kernop.basics.checks import check_coordinates, check_kind
from kernop.basics.errors import (
    ArgumentError,
    BoolArray,
    FloatArray,
    InputNameError,
    NumberArray,
    OutsideDomainError,
    ShapeError,
    describe,
    fail,
)
from kernop.basics.extras import Axes
from kernop.basics.stored import stored
from kernop.geometry import Points, Region
from kernop.geometry.region import PointSet
from kernop.language.conditions import Compound, Condition, written
from kernop.language.ops import apply_operator
from kernop.language.sides import check_closed, sides
from kernop.language.unknowns import Unknowns, read_unknowns
from kernop.views.html import html_table
from kernop.views.places import Piece, plot_places

#: Points by which the region of an integral is seen where it lies.
FEW = 64


@stored("problem")
class Problem:
    """A linear PDE, or a system of them: a list of conditions. Pure data; nothing is sampled or computed here.

    Arguments:
        conditions: in the order of the arguments of T. Those with fixed data need no names of their own: two that are
            called "periodic" become "periodic" and "periodic2".
        unknowns: names and numbers of components, such as {"u": 2, "p": 1}; None for one scalar unknown, u.
    """

    def __init__(self, *conditions: Condition | Compound, unknowns: Unknowns | Mapping[str, int] | None = None) -> None:
        if not conditions:
            raise fail(ArgumentError, "conditions", "none", "give at least one, such as Equation(op, on=D)")
        for condition in conditions:
            check_kind("conditions", condition, Condition | Compound, "give Equation, Dirichlet, Neumann, …")
        self._unknowns = read_unknowns(unknowns)
        conditions = _numbered(_expanded(conditions, self._unknowns))
        names = [condition.name for condition in conditions]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            remedy = "give every condition its own name="
            raise fail(InputNameError, "conditions", f"the name {twice[0]!r} more than once", remedy)
        dims = {condition.on.dim for condition in conditions}
        if len(dims) > 1:
            got = ", ".join(f"{c.name!r} in {c.on.dim} dimensions" for c in conditions)
            raise fail(ShapeError, "conditions", got, "put all conditions in the same space")
        conditions = tuple(condition.completed(conditions, self._unknowns) for condition in conditions)
        if len({condition.on.timed for condition in conditions}) > 1:
            got = ", ".join(f"{c.name!r} on {c.on!r}, with{'' if c.on.timed else 'out'} time" for c in conditions)
            remedy = "state all on parts of one SpaceTime; points of it are PointCloud(…, timed=True)"
            raise fail(ArgumentError, "conditions", got, remedy)
        if all(condition.integral for condition in conditions):
            remedy = "state an equation, which has a value at every point, beside them"
            raise fail(ArgumentError, "conditions", "integrals alone", remedy)
        for condition in (c for c in conditions if c.integral):
            _check_held(condition, conditions)
        self._conditions = conditions
        surfaces = [c.on for c in conditions if c.across and c.on.known]
        if surfaces:
            check_closed(surfaces, [c.on for c in conditions if c.on.intrinsic_dim == self.dim], "conditions")
        for condition in conditions:
            self._unknowns.arguments(condition.op, condition.of, condition.name)

    @property
    def unknowns(self) -> Unknowns:
        """Names and numbers of components of the unknowns."""
        return self._unknowns

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions, in the order of the data of T."""
        return self._conditions

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all conditions, in order."""
        return tuple(condition.name for condition in self._conditions)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the conditions whose data is an argument of T, in order."""
        return tuple(condition.name for condition in self._conditions if condition.data is None)

    @property
    def dim(self) -> int:
        """The number d of coordinates, with time if there is one."""
        return self._conditions[0].on.dim

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """The corners of the box around the regions of all conditions, (d,) each."""
        low, high = zip(*(condition.on.bounds for condition in self._conditions), strict=True)
        return np.min(low, axis=0), np.max(high, axis=0)

    @property
    def cuts(self) -> tuple[Region, ...]:
        """The domains whose boundaries are interfaces, on the sides of which u has functions of its own."""
        found = [c.on.enclosed for c in self._conditions if c.across]
        return tuple({id(region): region for region in found if region is not None}.values())

    @property
    def timed(self) -> bool:
        """Is the last coordinate time, as on a SpaceTime?"""
        return self._conditions[0].on.timed

    def __getitem__(self, name: str) -> Condition:
        for condition in self._conditions:
            if isinstance(name, str) and condition.name == name:
                return condition
        raise fail(InputNameError, "name", describe(name), "the conditions are " + ", ".join(map(repr, self.names)))

    def contains(self, x: object) -> BoolArray:
        """For each row of x (n, d): does it lie in the region of any condition?"""
        return self.inside(check_coordinates("x", x, self.dim))

    def inside(self, x: FloatArray) -> BoolArray:
        """The same as `contains`, for coordinates that have been checked."""
        found = self._conditions[0].on.inside(x)
        for condition in self._conditions[1:]:
            if found.all():
                break
            found = found | condition.on.inside(x)
        return found

    def manufacture(self, u: object, points: Mapping[str, Any]) -> dict[str, NumberArray]:
        """Data that makes ``u`` the exact solution: {name: (P_k u)(points[name])} for every input of T.

        ``u`` maps x (n, d) to (n,), or to (n, B) for B solutions at once; with several unknowns it is a dictionary of
        functions by name, and that of an unknown with k components gives (n, k), or (n, k, B). Derivatives are exact
        (automatic). ``points[name]`` are `Points`, or an array (n, d), of the region of the condition; the data of an
        integral is one value, the integral by the rule that these points are.
        """
        remedy = "give a dictionary from the names of conditions to points"
        check_kind("points", points, Mapping, remedy)
        for name in points:
            if name not in self.names:
                raise fail(InputNameError, "points", f"the unknown condition {describe(name)}", remedy)
        for name in self.inputs:
            if name not in points:
                remedy = "give points for each of " + ", ".join(map(repr, self.inputs))
                raise fail(InputNameError, "points", f"none for condition {name!r}", remedy)
        return {name: self._manufactured(self[name], u, points[name]) for name in self.inputs}

    def _manufactured(self, condition: Condition, u: Any, points: Any) -> NumberArray:
        name = condition.name
        places = condition.on.adopt(points, f"points[{name!r}]")

        def values(own: Points) -> NumberArray:
            return apply_operator(condition.op, u, own, name=name, unknowns=self._unknowns, of=condition.of)

        if condition.across:
            plus, minus = (side.limit(values) for side in sides(condition.on, places, name))
            return plus - minus
        found = values(places)
        if not condition.integral:
            return found
        if places.weight is None:
            remedy = "give the points of T, T.points, which are a quadrature rule"
            raise fail(ArgumentError, f"points[{name!r}]", "points without weights for an integral", remedy)
        return np.tensordot(places.weight, found, axes=1)[None]

    def plot(self, *, points: object = None, ax: object = None) -> Axes:
        """Draw the domain, the pieces where conditions hold in colours with what they say, points, and normals.

        Returns the axes of matplotlib. Needs ``kernop[plot]``.

        Arguments:
            points: how many points are shown inside; or points by the names of conditions, such as ``T.points``.
            ax: axes to draw on, in space such with ``projection="3d"``; None makes a figure.
        """
        return plot_places(self._pieces(), points, ax)

    def _pieces(self) -> list[Piece]:
        return [Piece(c.name, written(c, self._unknowns), c.on) for c in self._conditions]

    def _repr_html_(self) -> str:
        rows = [(c.name, written(c, self._unknowns), f"on {c.on!r}") for c in self._conditions]
        draw = (lambda ax: plot_places(self._pieces(), 0, ax, legend=False)) if self.dim < 3 else None
        return html_table("Problem", rows, draw)

    def __repr__(self) -> str:
        return "Problem(" + ", ".join(map(repr, self._conditions)) + ")"


def _numbered(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions; those with fixed data that share a name, which is no argument of T, become g, g2, g3, …"""
    used = {condition.name for condition in conditions if condition.data is None}
    taken = {condition.name for condition in conditions}
    found: list[Condition] = []
    for condition in conditions:
        if condition.data is not None:
            if condition.name in used:
                name = next(name for k in count(2) if (name := f"{condition.name}{k}") not in taken)
                condition = replace(condition, name=name)
            used.add(condition.name)
            taken.add(condition.name)
        found.append(condition)
    return tuple(found)


def _expanded(conditions: Sequence[Condition | Compound], unknowns: Unknowns) -> tuple[Condition, ...]:
    """The conditions, and those that others stand for, in order."""
    known = [c for c in conditions if isinstance(c, Condition)]
    meant: list[Condition] = []
    for own in conditions:
        found = (own,) if isinstance(own, Condition) else own.conditions(known, unknowns)
        known += found if isinstance(own, Compound) else ()
        meant += found
    return tuple(meant)


def _check_held(integral: Condition, others: Sequence[Condition]) -> None:
    """Raise if an integral reaches beyond the regions of all other conditions, one of which fills space."""
    regions = [c.on for c in others if not c.integral]
    if not integral.on.known or not all(region.known for region in regions):
        return
    if not any(region.intrinsic_dim == region.dim for region in regions):
        return
    points = integral.on.points if isinstance(integral.on, PointSet) else integral.on.sample(FEW)
    x = points.x
    outside = ~np.any([region.contains(x) for region in regions], axis=0)
    if np.any(outside):
        got = f"{integral.on!r}, of which {x[np.argmax(outside)]} lies outside the domain"
        raise fail(OutsideDomainError, integral.name, got, "integrate over a part of the domain of the equation")
