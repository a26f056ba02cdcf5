"""Problems as pure data: conditions P_k u = h_k, each on its own region."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FloatArray,
    InputNameError,
    ShapeError,
    check_number,
    describe,
    fail,
    naming,
)
from kernop.basics.stored import stored
from kernop.geometry import Region, SpaceTime
from kernop.language.coefficients import Coefficient
from kernop.language.fields import check_order, normal_derivative, partial
from kernop.language.functions import Function
from kernop.language.ops import Operator, apply_operator, identity


@stored("condition")
@dataclass(frozen=True, eq=False)
class Condition:
    """P u = h on a region.

    Arguments:
        op: the operator P, a function of a field.
        on: the region.
        name: the keyword of the input h in T(…).
        data: h fixed in the problem (a number or a function of x); None leaves it as an argument of T.
    """

    op: Operator
    on: Region
    name: str
    data: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.on, Region):
            raise fail(ArgumentTypeError, "on", describe(self.on), "give a region, such as a Box or its .boundary")
        if not callable(self.op):
            raise fail(ArgumentTypeError, "op", describe(self.op), "give a function, such as lambda u: -laplacian(u)")
        name: object = self.name
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name == "self":
            raise fail(
                InputNameError, "name", describe(name), "give a name that can be a keyword argument, such as 'f'"
            )
        if self.data is not None and not callable(self.data):
            check_number("data", self.data, remedy="give a number or a function of x", what="data")

    def __repr__(self) -> str:
        fixed = "" if self.data is None else ", data fixed"
        return f"Condition({self.name!r} on {self.on!r}{fixed})"


def Equation(op: Operator, on: Region, name: str = "f", data: Any = None) -> Condition:
    """The differential equation P u = f inside a domain."""
    return Condition(op, on, name, data)


def Dirichlet(on: Region, name: str = "g", data: Any = None) -> Condition:
    """u = g on a boundary."""
    return Condition(identity, on, name, data)


def Neumann(on: Region, name: str = "q", data: Any = None) -> Condition:
    """∂u/∂n = q on a boundary; n is the outward unit normal."""
    return Condition(normal_derivative, on, name, data)


@stored("mixed")
@dataclass(frozen=True)
class Mixed:
    """The operator α u + β ∂u/∂n; α and β are numbers or functions of x."""

    alpha: Any
    beta: Any

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            with naming(name):
                number = Coefficient.of(getattr(self, name)).constant
            if number is not None:
                object.__setattr__(self, name, number)

    def __call__(self, u: Any) -> Any:
        """α u + β ∂u/∂n of a field u."""
        return u.times(Coefficient.of(self.alpha)) + normal_derivative(u).times(Coefficient.of(self.beta))


def Robin(alpha: Any, beta: Any, on: Region, name: str = "r", data: Any = None) -> Condition:
    """α u + β ∂u/∂n = r on a boundary; α and β are numbers or functions of x."""
    return Condition(Mixed(alpha, beta), on, name, data)


def Initial(on: Region, name: str = "u0", order: int = 0, data: Any = None) -> Condition:
    """∂^order u / ∂t^order = u0 on the initial slice of a space–time domain; time is the last coordinate."""
    order = check_order(order)
    if isinstance(on, SpaceTime):
        raise fail(ArgumentTypeError, "on", describe(on), "give its initial slice, spacetime.initial")
    if not isinstance(on, Region):
        raise fail(ArgumentTypeError, "on", describe(on), "give the initial slice of a SpaceTime")
    return Condition(lambda u: partial(u, -1, order), on, name, data)


@stored("problem")
class Problem:
    """A linear PDE: a list of conditions. Pure data; nothing is sampled or computed here."""

    def __init__(self, *conditions: Condition) -> None:
        if not conditions:
            raise fail(ArgumentError, "conditions", "none", "give at least one, such as Equation(op, on=D)")
        for condition in conditions:
            if not isinstance(condition, Condition):
                raise fail(ArgumentTypeError, "conditions", describe(condition), "give Equation, Dirichlet, Neumann, …")
        names = [condition.name for condition in conditions]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            remedy = "give every condition its own name="
            raise fail(InputNameError, "conditions", f"the name {twice[0]!r} more than once", remedy)
        dims = {condition.on.dim for condition in conditions}
        if len(dims) > 1:
            got = ", ".join(f"{c.name!r} in {c.on.dim} dimensions" for c in conditions)
            raise fail(ShapeError, "conditions", got, "put all conditions in the same space")
        if len({condition.on.timed for condition in conditions}) > 1:
            got = ", ".join(f"{c.name!r} on {c.on!r}, with{'' if c.on.timed else 'out'} time" for c in conditions)
            remedy = "state all on parts of one SpaceTime; points of it are PointCloud(…, timed=True)"
            raise fail(ArgumentError, "conditions", got, remedy)
        self._conditions = conditions

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions, in order."""
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
        """The number of coordinates."""
        return self._conditions[0].on.dim

    @property
    def timed(self) -> bool:
        """Is the last coordinate time, as on a SpaceTime?"""
        return self._conditions[0].on.timed

    def __getitem__(self, name: str) -> Condition:
        for condition in self._conditions:
            if isinstance(name, str) and condition.name == name:
                return condition
        raise fail(InputNameError, "name", describe(name), "the conditions are " + ", ".join(map(repr, self.names)))

    def contains(self, x: FloatArray) -> NDArray[np.bool_]:
        """For each row of x (n, d): does it lie in the region of any condition?"""
        return np.any([condition.on.contains(x) for condition in self._conditions], axis=0)

    def manufacture(self, u: Function, points: Mapping[str, Any]) -> dict[str, FloatArray]:
        """Data that makes ``u`` the exact solution: {name: (P_k u)(points[name])} for every input of T.

        ``u`` maps x (n, d) to (n,), or to (n, B) for B solutions at once. Derivatives are exact (automatic).
        ``points[name]`` are `Points`, or an array (n, d), of the region of the condition.
        """
        remedy = "give a dictionary from the names of conditions to points"
        if not isinstance(points, Mapping):
            raise fail(ArgumentTypeError, "points", describe(points), remedy)
        for name in points:
            if name not in self.names:
                raise fail(InputNameError, "points", f"the unknown condition {describe(name)}", remedy)
        for name in self.inputs:
            if name not in points:
                remedy = "give points for each of " + ", ".join(map(repr, self.inputs))
                raise fail(InputNameError, "points", f"none for condition {name!r}", remedy)
        places = {name: self[name].on.adopt(points[name], f"points[{name!r}]") for name in self.inputs}
        return {name: apply_operator(self[name].op, u, places[name], name=name) for name in self.inputs}

    def __repr__(self) -> str:
        return "Problem(" + ", ".join(map(repr, self._conditions)) + ")"
