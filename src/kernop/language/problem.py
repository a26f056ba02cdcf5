"""Problems as pure data: conditions P_k u = h_k, each on its own region."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FloatArray,
    InputNameError,
    ShapeError,
    check_array,
    describe,
    fail,
    naming,
)
from kernop.basics.stored import stored
from kernop.geometry import Region, SpaceTime
from kernop.geometry.cloud import CloudRegion
from kernop.language.calculus import check_order, normal_derivative, partial
from kernop.language.coefficients import Coefficient
from kernop.language.ops import apply_operator, itself
from kernop.language.unknowns import Operator, Unknowns, read_unknowns


@stored("condition")
@dataclass(frozen=True, eq=False)
class Condition:
    """P u = h on a region; or, if it is an integral, ∫ P u dx = h, one value for the whole region.

    Arguments:
        op: the operator P, a function of a field; or of several unknowns, by the names of its parameters.
        on: the region.
        name: the keyword of the input h in T(…).
        data: h fixed in the problem: a number, numbers for the parts of a vector, or a function of x; None leaves it
            as an argument of T.
        of: the unknown that ``op`` takes; None takes those that its parameters name, or the only one.
        integral: is P u integrated over the region?
    """

    op: Operator
    on: Region
    name: str
    _: KW_ONLY
    data: Any = None
    of: str | None = None
    integral: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.on, Region):
            raise fail(ArgumentTypeError, "on", describe(self.on), "give a region, such as a Box or its .boundary")
        if not callable(self.op):
            raise fail(ArgumentTypeError, "op", describe(self.op), "give a function, such as lambda u: -laplacian(u)")
        name: object = self.name
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name == "self":
            remedy = "give a name that can be a keyword argument, such as 'f'"
            raise fail(InputNameError, "name", describe(name), remedy)
        if self.of is not None and not isinstance(self.of, str):
            raise fail(ArgumentTypeError, "of", describe(self.of), "give the name of an unknown, such as 'u'")
        if self.data is not None and not callable(self.data):
            remedy = "give a number or a function of x"
            if check_array("data", self.data, remedy=remedy, complex_too=True).ndim > 1:
                raise fail(ArgumentTypeError, "data", describe(self.data), remedy)

    def __repr__(self) -> str:
        fixed = "" if self.data is None else ", data fixed"
        return f"Condition({self.name!r} on {self.on!r}{fixed})"


def Equation(op: Operator, on: Region, name: str = "f", data: Any = None) -> Condition:
    """The differential equation P u = f inside a domain."""
    return Condition(op, on, name, data=data)


def Dirichlet(on: Region, name: str = "g", data: Any = None, of: str | None = None) -> Condition:
    """u = g on a boundary; ``of`` names the unknown if there are several."""
    return Condition(itself, on, name, data=data, of=of)


def Neumann(on: Region, name: str = "q", data: Any = None, of: str | None = None) -> Condition:
    """∂u/∂n = q on a boundary; n is the outward unit normal. ``of`` names the unknown if there are several."""
    return Condition(normal_derivative, on, name, data=data, of=of)


@stored("mixed")
@dataclass(frozen=True)
class Mixed:
    """The operator α u + β ∂u/∂n; α and β are numbers, real or complex, or functions of x."""

    alpha: Any
    beta: Any

    def __post_init__(self) -> None:
        _read_coefficients(self, "alpha", "beta")

    def __call__(self, u: Any, /) -> Any:
        """α u + β ∂u/∂n of a field u."""
        return u * self.alpha + normal_derivative(u) * self.beta


def _read_coefficients(op: Any, *names: str) -> None:
    """Turn attributes of an operator into numbers, or into coefficients where they are functions."""
    for name in names:
        with naming(name):
            found = Coefficient.of(getattr(op, name))
        object.__setattr__(op, name, found if found.constant is None else found.constant)


def Robin(alpha: Any, beta: Any, on: Region, name: str = "r", data: Any = None, of: str | None = None) -> Condition:
    """α u + β ∂u/∂n = r on a boundary; α and β are numbers, real or complex, or functions of x."""
    return Condition(Mixed(alpha, beta), on, name, data=data, of=of)


def Initial(on: Region, name: str = "u0", order: int = 0, data: Any = None, of: str | None = None) -> Condition:
    """∂^order u / ∂t^order = u0 on the initial slice of a space–time domain; time is the last coordinate."""
    order = check_order(order)
    if isinstance(on, SpaceTime):
        raise fail(ArgumentTypeError, "on", describe(on), "give its initial slice, spacetime.initial")
    if not isinstance(on, Region):
        raise fail(ArgumentTypeError, "on", describe(on), "give the initial slice of a SpaceTime")
    return Condition(lambda u, /: partial(u, -1, order), on, name, data=data, of=of)


@stored("weighted")
@dataclass(frozen=True)
class Weighted:
    """The operator w u; the weight w is a number or a function of x."""

    weight: Any

    def __post_init__(self) -> None:
        _read_coefficients(self, "weight")

    def __call__(self, u: Any, /) -> Any:
        """The weight times a field u."""
        return u * self.weight


def Mean(on: Region, name: str = "mean", of: str | None = None, data: Any = None) -> Condition:
    """The mean of u over a region, ∫ u dx / |D|: one number, which pure Neumann data, or a pressure, leave open.

    On a `PointCloud` it is the average over its points.
    """
    if not isinstance(on, Region):
        raise fail(ArgumentTypeError, "on", describe(on), "give a region, such as a Box or its .boundary")
    return Condition(Weighted(1.0 / on.measure), on, name, data=data, of=of, integral=True)


def Integral(weight: Any, on: Region, name: str = "integral", of: str | None = None, data: Any = None) -> Condition:
    """∫ w u dx over a region: one number; the weight w is a number or a function of x."""
    if isinstance(on, CloudRegion):
        raise fail(ArgumentTypeError, "on", describe(on), "points have no volume: state ko.Mean, the average over them")
    return Condition(Weighted(weight), on, name, data=data, of=of, integral=True)


@stored("problem")
class Problem:
    """A linear PDE, or a system of them: a list of conditions. Pure data; nothing is sampled or computed here.

    Arguments:
        conditions: in the order of the arguments of T.
        unknowns: names and numbers of components, such as {"u": 2, "p": 1}; None for one scalar unknown, u.
    """

    def __init__(self, *conditions: Condition, unknowns: Unknowns | Mapping[str, int] | None = None) -> None:
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
        if all(condition.integral for condition in conditions):
            remedy = "state an equation, which has a value at every point, beside them"
            raise fail(ArgumentError, "conditions", "integrals alone", remedy)
        self._conditions, self._unknowns = conditions, read_unknowns(unknowns)
        for condition in conditions:
            self._unknowns.arguments(condition.op, condition.of, condition.name)

    @property
    def unknowns(self) -> Unknowns:
        """Names and numbers of components of the unknowns."""
        return self._unknowns

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
        found = self._conditions[0].on.contains(x)
        for condition in self._conditions[1:]:
            if found.all():
                break
            found = found | condition.on.contains(x)
        return found

    def manufacture(self, u: Any, points: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Data that makes ``u`` the exact solution: {name: (P_k u)(points[name])} for every input of T.

        ``u`` maps x (n, d) to (n,), or to (n, B) for B solutions at once; with several unknowns it is a dictionary of
        functions by name, and that of an unknown with k components gives (n, k), or (n, k, B). Derivatives are exact
        (automatic). ``points[name]`` are `Points`, or an array (n, d), of the region of the condition; the data of an
        integral is one value, the integral by the rule that these points are.
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
        return {name: self._manufactured(self[name], u, points[name]) for name in self.inputs}

    def _manufactured(self, condition: Condition, u: Any, points: Any) -> NDArray[Any]:
        name = condition.name
        places = condition.on.adopt(points, f"points[{name!r}]")
        found = apply_operator(condition.op, u, places, name=name, unknowns=self._unknowns, of=condition.of)
        if not condition.integral:
            return found
        if places.weight is None:
            remedy = "give the points of T, T.points, which are a quadrature rule"
            raise fail(ArgumentError, f"points[{name!r}]", "points without weights for an integral", remedy)
        return np.tensordot(places.weight, found, axes=1)[None]

    def __repr__(self) -> str:
        return "Problem(" + ", ".join(map(repr, self._conditions)) + ")"
