"""Space–time cylinders: a spatial domain times a time interval. Time is the last coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, ArgumentTypeError, FloatArray, ShapeError, check_array, describe, fail
from kernop.basics.stored import stored
from kernop.geometry.ball import Ball
from kernop.geometry.box import Box, Interval
from kernop.geometry.points import Points
from kernop.geometry.region import Patch, Patchwork, check_extent


@stored("space-time")
@dataclass(frozen=True, eq=False, repr=False)
class SpaceTime(Patchwork):
    """The cylinder space × [t0, t1]; a point is (x_1, …, x_{d−1}, t).

    Arguments:
        space: the spatial domain.
        times: first and last time.
    """

    space: Box | Ball
    times: tuple[float, float]

    def __post_init__(self) -> None:
        if not isinstance(self.space, Box | Ball):
            raise fail(ArgumentTypeError, "space", describe(self.space), "give an Interval, a Box or a Ball")
        ends = check_array("times", self.times, remedy="give (t0, t1)")
        if ends.shape != (2,):
            raise fail(ShapeError, "times", f"shape {ends.shape}", "give (t0, t1)")
        if ends[0] >= ends[1]:
            raise fail(ArgumentError, "times", f"({ends[0]:g}, {ends[1]:g})", "give t0 < t1")
        check_extent("times", ends[:1], ends[1:])
        object.__setattr__(self, "times", (float(ends[0]), float(ends[1])))
        check_extent("space, times", *self.bounds)

    @property
    def dim(self) -> int:
        return self.space.dim + 1

    @property
    def timed(self) -> bool:
        return True

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        low, high = self.space.bounds
        return np.append(low, self.times[0]), np.append(high, self.times[1])

    @property
    def patches(self) -> tuple[Patch, ...]:
        return extruded(self.space, self.times)

    def _contains(self, x: FloatArray) -> NDArray[np.bool_]:
        return self.space.contains(x[:, :-1]) & Interval(*self.times).contains(x[:, -1:])

    def normals(self, x: FloatArray) -> FloatArray | None:
        return None

    @property
    def initial(self) -> Cylinder:
        """The slice t = t0; its normal points to the past."""
        return Cylinder(self, ("initial",))

    @property
    def final(self) -> Cylinder:
        """The slice t = t1."""
        return Cylinder(self, ("final",))

    @property
    def walls(self) -> Cylinder:
        """The boundary of space at all times; the normal is spatial."""
        return Cylinder(self, ("walls",))

    @property
    def boundary(self) -> Cylinder:
        """The whole boundary of the cylinder: walls, initial and final slice."""
        return Cylinder(self, ("walls", "initial", "final"))

    def __repr__(self) -> str:
        return f"SpaceTime({self.space!r}, {self.times})"


@stored("cylinder")
@dataclass(frozen=True, eq=False, repr=False)
class Cylinder(Patchwork):
    """Parts of the boundary of a space–time cylinder: walls, initial slice, final slice.

    Arguments:
        spacetime: what is inside.
        parts: which of them, each once.
    """

    spacetime: SpaceTime
    parts: tuple[Literal["walls", "initial", "final"], ...]

    def __post_init__(self) -> None:
        if not self.parts or len(set(self.parts)) < len(self.parts):
            raise fail(ArgumentError, "parts", describe(self.parts), "give walls, initial or final, each once")

    @property
    def dim(self) -> int:
        return self.spacetime.dim

    @property
    def timed(self) -> bool:
        return True

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        low, high = self.spacetime.bounds
        if self.parts == ("initial",):
            high[-1] = low[-1]
        if self.parts == ("final",):
            low[-1] = high[-1]
        return low, high

    @property
    def patches(self) -> tuple[Patch, ...]:
        space, (first, last) = self.spacetime.space, self.spacetime.times
        pieces: list[Patch] = []
        for part in self.parts:
            if part == "walls":
                pieces += extruded(space.boundary, self.spacetime.times)
            else:
                pieces += [
                    _slice(patch, *((first, -1.0) if part == "initial" else (last, 1.0))) for patch in space.patches
                ]
        return tuple(pieces)

    def _belongs(self, x: FloatArray) -> dict[str, NDArray[np.bool_]]:
        """Which points lie on which part; the first part that fits owns the point."""
        space, clock = self.spacetime.space, Interval(*self.spacetime.times)
        tests = {
            "walls": space.boundary.contains(x[:, :-1]),
            "initial": clock.face("left").contains(x[:, -1:]),
            "final": clock.face("right").contains(x[:, -1:]),
        }
        free = self.spacetime.contains(x)
        owned: dict[str, NDArray[np.bool_]] = {}
        for part in self.parts:
            owned[part] = free & tests[part]
            free = free & ~tests[part]
        return owned

    def _contains(self, x: FloatArray) -> NDArray[np.bool_]:
        return np.any(list(self._belongs(x).values()), axis=0)

    def normals(self, x: FloatArray) -> FloatArray | None:
        normal = np.zeros_like(x)
        for part, mine in self._belongs(x).items():
            if part == "walls":
                normal[mine, :-1] = self.spacetime.space.boundary.normals(x[mine, :-1])
            else:
                normal[mine, -1] = -1.0 if part == "initial" else 1.0
        return normal

    def __repr__(self) -> str:
        name = "boundary" if len(self.parts) == 3 else self.parts[0]
        return f"{self.spacetime!r}.{name}"


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
