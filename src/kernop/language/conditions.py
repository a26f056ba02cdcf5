"""Conditions P u = h, each on its own region: what a problem is a list of."""

from __future__ import annotations

import keyword
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from kernop.basics.checks import check_array, check_kind
from kernop.basics.errors import ArgumentTypeError, InputNameError, describe, fail, naming
from kernop.basics.stored import stored
from kernop.geometry import Points, Region, SpaceTime
from kernop.geometry.cloud import CloudRegion
from kernop.geometry.composite import measured
from kernop.language.calculus import check_order, normal_derivative, partial
from kernop.language.coefficients import Coefficient
from kernop.language.fields import Field, VectorField
from kernop.language.ops import itself
from kernop.language.unknowns import Operator, Unknowns


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
        across: is it the jump of P u across a surface, from the side that its normals point away from to the other?
    """

    op: Operator
    on: Region
    name: str
    _: KW_ONLY
    data: Any = None
    of: str | None = None
    integral: bool = False
    across: bool = False

    def __post_init__(self) -> None:
        check_kind("on", self.on, Region, "give a region, such as a Box or its .boundary")
        check_kind("op", self.op, Callable, "give a function, such as lambda u: -laplacian(u)")
        name: object = self.name
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name == "self":
            remedy = "give a name that can be a keyword argument, such as 'f'"
            raise fail(InputNameError, "name", describe(name), remedy)
        check_kind("of", self.of, str | None, "give the name of an unknown, such as 'u'")
        if self.data is not None and not callable(self.data):
            remedy = "give a number or a function of x"
            if check_array("data", self.data, remedy=remedy, complex_too=True).ndim > 1:
                raise fail(ArgumentTypeError, "data", describe(self.data), remedy)

    @property
    def noise(self) -> float | None:
        """The standard deviation of errors in the data, if the condition itself states it."""
        return None

    @property
    def paired(self) -> bool:
        """Is it a difference of P u at two places?"""
        return False

    def partners(self, points: Points) -> Points:
        """Of a paired condition: the places x′ with P u(x) − P u(x′) = h, one for each of its points x."""
        raise NotImplementedError

    def completed(self, others: Sequence[Condition], unknowns: Unknowns) -> Condition:
        """The condition in a problem: what only the others can tell is put in, and checked."""
        return self

    def __repr__(self) -> str:
        fixed = "" if self.data is None else ", data fixed"
        return f"Condition({self.name!r} on {self.on!r}{fixed})"


class Compound(ABC):
    """What stands for several conditions, which may depend on the other conditions of a problem."""

    @abstractmethod
    def conditions(self, others: Sequence[Condition], unknowns: Unknowns) -> tuple[Condition, ...]:
        """The conditions that it stands for, beside the others of a problem, and those that came before it."""


def Equation(op: Operator, on: Region, name: str = "f", data: object = None) -> Condition:
    """The differential equation P u = f inside a domain."""
    return Condition(op, on, name, data=data)


def Dirichlet(on: Region, name: str = "g", data: object = None, of: str | None = None) -> Condition:
    """u = g on a boundary; ``of`` names the unknown if there are several."""
    return Condition(itself, on, name, data=data, of=of)


def Neumann(on: Region, name: str = "q", data: object = None, of: str | None = None) -> Condition:
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

    def __call__(self, u: Field | VectorField, /) -> Field | VectorField:
        """α u + β ∂u/∂n of a field u."""
        return u * self.alpha + normal_derivative(u) * self.beta


def _read_coefficients(op: object, *names: str) -> None:
    """Turn attributes of an operator into numbers, or into coefficients where they are functions."""
    for name in names:
        with naming(name):
            found = Coefficient.of(getattr(op, name))
        object.__setattr__(op, name, found if found.constant is None else found.constant)


def Robin(
    alpha: object, beta: object, on: Region, name: str = "r", data: object = None, of: str | None = None
) -> Condition:
    """α u + β ∂u/∂n = r on a boundary; α and β are numbers, real or complex, or functions of x."""
    return Condition(Mixed(alpha, beta), on, name, data=data, of=of)


def Initial(on: Region, name: str = "u0", order: int = 0, data: object = None, of: str | None = None) -> Condition:
    """∂^order u / ∂t^order = u0 on the initial slice of a space–time domain; time is the last coordinate."""
    order = check_order(order)
    if isinstance(on, SpaceTime):
        raise fail(ArgumentTypeError, "on", describe(on), "give its initial slice, spacetime.initial")
    check_kind("on", on, Region, "give the initial slice of a SpaceTime")
    return Condition(lambda u, /: partial(u, -1, order), on, name, data=data, of=of)


@stored("weighted")
@dataclass(frozen=True)
class Weighted:
    """The operator w u; the weight w is a number or a function of x."""

    weight: Any

    def __post_init__(self) -> None:
        _read_coefficients(self, "weight")

    def __call__(self, u: Field | VectorField, /) -> Field | VectorField:
        """The weight times a field u."""
        return u * self.weight


def Mean(on: Region, name: str = "mean", of: str | None = None, data: object = None) -> Condition:
    """The mean of u over a region, ∫ u dx / |D|: one number, which pure Neumann data, or a pressure, leave open.

    On a `PointCloud` it is the average over its points.
    """
    check_kind("on", on, Region, "give a region, such as a Box or its .boundary")
    return Condition(Weighted(1.0 / measured(on)), on, name, data=data, of=of, integral=True)


def Integral(
    weight: object, on: Region, name: str = "integral", of: str | None = None, data: object = None
) -> Condition:
    """∫ w u dx over a region: one number; the weight w is a number or a function of x."""
    if isinstance(on, CloudRegion):
        raise fail(ArgumentTypeError, "on", describe(on), "points have no volume: state ko.Mean, the average over them")
    return Condition(Weighted(weight), on, name, data=data, of=of, integral=True)


def written(condition: Condition, unknowns: Unknowns) -> str:
    """What a condition says, such as "u = g", "∂u/∂n = 0" or "P u = f"."""
    u = condition.of or unknowns.single or f"({', '.join(unknowns.names)})"
    op = condition.op
    left = f"{u}" if op is itself else f"∂{u}/∂n" if op is normal_derivative else f"P {u}"
    if isinstance(op, Mixed):
        left = f"α {u} + β ∂{u}/∂n"
    if isinstance(op, Weighted):
        left = f"w {u}"
    if condition.paired:
        left = f"{left} at x − {left} at x′"
    if condition.across:
        left = f"[{left}]"
    if condition.integral:
        left = f"∫ {left}"
    data = condition.data
    if data is None:
        return f"{left} = {condition.name}"
    right = f"{np.asarray(data).item():.4g}" if not callable(data) and np.size(data) == 1 else "a fixed function"
    return f"{left} = {right}"
