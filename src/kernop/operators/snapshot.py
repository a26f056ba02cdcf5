"""Functions of x with derivatives, and those of space and time at one moment, which are functions of space."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from kernop.basics.checks import check_number
from kernop.basics.errors import ArgumentError, FloatArray, OutsideDomainError, fail
from kernop.collocation.data import flattened, reshaped
from kernop.geometry import Points
from kernop.language.unknowns import Operator
from kernop.operators.shapes import PointsLike, UserValues
from kernop.views.sight import Sight
from kernop.views.viewed import Viewed


class Differentiable(Viewed):
    """A function of x whose values and derivatives can be asked for."""

    @abstractmethod
    def __call__(self, x: PointsLike, *, outside: str = "raise") -> UserValues:
        """u(x)."""

    @abstractmethod
    def apply(self, op: Operator, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """(P u)(x) for any linear operator P."""

    def at(self, t: float) -> Snapshot:
        """u(·, t) on a SpaceTime: a function of x (…, d − 1), which can be drawn, integrated and handed on."""
        return Snapshot(self, t)


class Snapshot(Viewed):
    """u(·, t) at one time t: a function of x (…, d − 1), with all that a solution has to be looked at.

    Arguments:
        whole: the function of (x, t).
        t: the time.
    """

    def __init__(self, whole: Differentiable, t: float) -> None:
        sights = whole._sights()
        if not sights[0].scene.timed:
            remedy = "use u itself, or u.plot(axis=…, at=…) for a cut"
            raise fail(ArgumentError, "t", "a time for a function without time", remedy)
        self.t, (first, last) = check_number("t", t), sights[0].moments
        if not first <= self.t <= last:
            raise fail(OutsideDomainError, "t", f"{self.t:g}", f"give a time from {first:g} to {last:g}")
        self._lasting, self._dim = whole, sights[0].scene.dim - 1
        self._fixed = tuple(own.fixed({self._dim: self.t}) for own in sights)

    def _sights(self) -> tuple[Sight, ...]:
        return self._fixed

    def _whole(self) -> Sight:
        return self._lasting._whole().fixed({self._dim: self.t})

    def _points(self, x: PointsLike) -> tuple[Points, tuple[int, ...]]:
        """Points of space–time at this moment."""
        flat, shape = flattened("x", x, self._dim)
        own = flat if isinstance(flat, Points) else Points(flat)
        normal = None if own.normal is None else np.insert(own.normal, self._dim, 0.0, axis=1)
        return Points(np.insert(own.x, self._dim, self.t, axis=1), normal, True), shape

    def __call__(self, x: PointsLike, *, outside: str = "raise") -> UserValues:
        """u(x, t) for x of shape (…, d − 1), as `Solution.__call__` gives it."""
        points, shape = self._points(x)
        return reshaped(self._lasting(points, outside=outside), shape)

    def grad(self, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """The derivatives along the coordinates of space."""
        points, shape = self._points(x)
        found = self._lasting.grad(points, outside=outside)
        axis = -1 if self._fixed[0].single else -2
        return reshaped(np.take(found, np.arange(self._dim), axis=axis), shape)

    def apply(self, op: Operator, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """(P u)(x, t) for any linear operator P of space and time, such as ``ko.dt``."""
        points, shape = self._points(x)
        return reshaped(self._lasting.apply(op, points, outside=outside), shape)

    def __repr__(self) -> str:
        return f"{', '.join(own.name for own in self._fixed)} at t = {self.t:g} of {self._lasting!r}"
