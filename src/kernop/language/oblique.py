"""Oblique derivatives on a boundary: b·∇u with a direction b that is not the normal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.checks import check_array, check_kind
from kernop.basics.errors import ArgumentError, fail, naming
from kernop.basics.precision import float64
from kernop.basics.stored import stored
from kernop.geometry import Points, Region
from kernop.language.calculus import dot, grad
from kernop.language.conditions import Condition
from kernop.language.fields import Field, VectorField
from kernop.language.functions import Function, padded, values_of_function

#: Points at which a direction is looked at.
LOOKED_AT = 256
#: A direction is along the boundary if its part along the normal is below this part of its length.
ALONG = 1e-9


@stored("directional")
@dataclass(frozen=True, eq=False)
class Directional:
    """The operator b·∇u along the spatial coordinates; b is a tuple of numbers or a function of x (n, d) ↦ (n, m)."""

    direction: tuple[float, ...] | Function

    def __call__(self, u: Field | VectorField, /) -> Field | VectorField:
        """b·∇u of a field u; (b·∇)u of a vector."""
        return dot(self.direction, grad(u))


def Oblique(direction: object, on: Region, name: str = "o", data: object = None, of: str | None = None) -> Condition:
    """b·∇u = o on a boundary, for a direction b that is nowhere along it.

    One relative to the normal is ``Condition(lambda u: normal_derivative(u) + tangential_derivative(u), on, name)``.

    Arguments:
        direction: b, a number for each spatial coordinate, or a function of x (n, d) that gives (n, m).
    """
    check_kind("on", on, Region, "give a boundary, such as D.boundary")
    m = on.dim - on.timed
    if not callable(direction):
        remedy = f"give {m} numbers, one for each spatial coordinate, or a function of x"
        numbers = check_array("direction", direction, remedy=remedy, shape=(m,))
        direction = tuple(map(float, numbers))
    _check(direction, on.sample(LOOKED_AT), m)
    return Condition(Directional(direction), on, name, data=data, of=of)


def _check(direction: Any, points: Points, m: int) -> None:
    """Raise if the direction is 0 somewhere, or along the boundary everywhere."""
    if callable(direction):
        with float64(), naming("direction"):
            b = np.asarray(values_of_function("direction", direction, padded(points.x), (m,)))[: len(points)]
    else:
        b = np.tile(direction, (len(points), 1))
    with np.errstate(over="ignore"):
        length = np.linalg.norm(b, axis=1)
    if not np.all(length > 0.0):
        got = f"a direction that is 0 at x = {points.x[np.argmin(length)]}"
        raise fail(ArgumentError, "direction", got, "give one that points somewhere")
    if points.normal is None:
        raise fail(ArgumentError, "on", "a region without normals", "give a boundary, such as D.boundary")
    across = np.abs(np.einsum("ij,ij->i", b, points.normal[:, :m]))
    if np.all(across <= ALONG * length):
        remedy = "this says nothing across it; if it is meant, use Condition(tangential_derivative, on, name)"
        raise fail(ArgumentError, "direction", "one that is along the boundary everywhere", remedy)
