"""Space–time cylinders: a spatial domain times a time interval. Time is the last coordinate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, ArgumentTypeError, FloatArray, ShapeError, check_array, describe, fail
from kernop.geometry.ball import Ball
from kernop.geometry.box import Box, Interval
from kernop.geometry.points import Points
from kernop.geometry.region import Patch, Patchwork, check_extent


class SpaceTime(Patchwork):
    """The cylinder space × [t0, t1]; a point is (x_1, …, x_{d−1}, t)."""

    def __init__(self, space: Any, times: tuple[float, float]) -> None:
        if not isinstance(space, Box | Ball):
            raise fail(ArgumentTypeError, "space", describe(space), "give an Interval, a Box or a Ball")
        ends = check_array("times", times, remedy="give (t0, t1)")
        if ends.shape != (2,):
            raise fail(ShapeError, "times", f"shape {ends.shape}", "give (t0, t1)")
        if ends[0] >= ends[1]:
            raise fail(ArgumentError, "times", f"({ends[0]:g}, {ends[1]:g})", "give t0 < t1")
        check_extent("times", ends[:1], ends[1:])
        self._space: Box | Ball = space
        self._times = (float(ends[0]), float(ends[1]))
        check_extent("space, times", *self.bounds)

    @property
    def dim(self) -> int:
        return self._space.dim + 1

    @property
    def timed(self) -> bool:
        return True

    @property
    def space(self) -> Box | Ball:
        """The spatial domain."""
        return self._space

    @property
    def times(self) -> tuple[float, float]:
        """First and last time."""
        return self._times

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        low, high = self._space.bounds
        return np.append(low, self._times[0]), np.append(high, self._times[1])

    @property
    def patches(self) -> tuple[Patch, ...]:
        return extruded(self._space, self._times)

    def _contains(self, x: FloatArray) -> NDArray[np.bool_]:
        return self._space.contains(x[:, :-1]) & Interval(*self._times).contains(x[:, -1:])

    def normals(self, x: FloatArray) -> FloatArray | None:
        return None

    @property
    def initial(self) -> Cylinder:
        """The slice t = t0; its normal points to the past."""
        return Cylinder(self, "initial")

    @property
    def final(self) -> Cylinder:
        """The slice t = t1."""
        return Cylinder(self, "final")

    @property
    def walls(self) -> Cylinder:
        """The boundary of space at all times; the normal is spatial."""
        return Cylinder(self, "walls")

    @property
    def boundary(self) -> Cylinder:
        """The whole boundary of the cylinder: walls, initial and final slice."""
        return Cylinder(self, "walls", "initial", "final")

    def __repr__(self) -> str:
        return f"SpaceTime({self._space!r}, {self._times})"


class Cylinder(Patchwork):
    """Parts of the boundary of a space–time cylinder: walls, initial slice, final slice."""

    def __init__(self, spacetime: SpaceTime, *parts: str) -> None:
        self._spacetime = spacetime
        self._parts = parts

    @property
    def spacetime(self) -> SpaceTime:
        """What is inside."""
        return self._spacetime

    @property
    def parts(self) -> tuple[str, ...]:
        """Some of "walls", "initial" and "final"."""
        return self._parts

    @property
    def dim(self) -> int:
        return self._spacetime.dim

    @property
    def timed(self) -> bool:
        return True

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        low, high = self._spacetime.bounds
        if self._parts == ("initial",):
            high[-1] = low[-1]
        if self._parts == ("final",):
            low[-1] = high[-1]
        return low, high

    @property
    def patches(self) -> tuple[Patch, ...]:
        space, (first, last) = self._spacetime.space, self._spacetime.times
        pieces: list[Patch] = []
        for part in self._parts:
            if part == "walls":
                pieces += extruded(space.boundary, self._spacetime.times)
            else:
                pieces += [
                    _slice(patch, *((first, -1.0) if part == "initial" else (last, 1.0))) for patch in space.patches
                ]
        return tuple(pieces)

    def _belongs(self, x: FloatArray) -> dict[str, NDArray[np.bool_]]:
        """Which points lie on which part; the first part that fits owns the point."""
        space, clock = self._spacetime.space, Interval(*self._spacetime.times)
        tests = {
            "walls": space.boundary.contains(x[:, :-1]),
            "initial": clock.face("left").contains(x[:, -1:]),
            "final": clock.face("right").contains(x[:, -1:]),
        }
        free = self._spacetime.contains(x)
        owned: dict[str, NDArray[np.bool_]] = {}
        for part in self._parts:
            owned[part] = free & tests[part]
            free = free & ~tests[part]
        return owned

    def _contains(self, x: FloatArray) -> NDArray[np.bool_]:
        return np.any(list(self._belongs(x).values()), axis=0)

    def normals(self, x: FloatArray) -> FloatArray | None:
        normal = np.zeros_like(x)
        for part, mine in self._belongs(x).items():
            if part == "walls":
                normal[mine, :-1] = self._spacetime.space.boundary.normals(x[mine, :-1])
            else:
                normal[mine, -1] = -1.0 if part == "initial" else 1.0
        return normal

    def __repr__(self) -> str:
        name = "boundary" if len(self._parts) == 3 else self._parts[0]
        return f"{self._spacetime!r}.{name}"


def extruded(region: Patchwork, times: tuple[float, float]) -> tuple[Patch, ...]:
    """The patches of region × [t0, t1]."""
    first, last = times

    def extrude(patch: Patch) -> Patch:
        def place(t: FloatArray) -> Points:
            base = patch.place(t[:, :-1]) if patch.sides else _repeat(patch, len(t))
            moments = np.clip(first + t[:, -1:] * (last - first), first, last)
            normal = None if base.normal is None else np.hstack([base.normal, np.zeros_like(moments)])
            return Points(np.hstack([base.x, moments]), normal)

        return Patch(patch.measure * (last - first), (*patch.sides, last - first), place)

    return tuple(extrude(patch) for patch in region.patches)


def _repeat(patch: Patch, n: int) -> Points:
    return patch.place(np.zeros((1, 0)))[np.zeros(n, dtype=int)]


def _slice(patch: Patch, moment: float, sign: float) -> Patch:
    def place(t: FloatArray) -> Points:
        x = patch.place(t).x
        normal = np.zeros((len(x), x.shape[1] + 1))
        normal[:, -1] = sign
        return Points(np.hstack([x, np.full((len(x), 1), moment)]), normal)

    return Patch(patch.measure, patch.sides, place)
