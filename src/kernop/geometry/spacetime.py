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
    def timed(self) -> bool:
        return True

    @property
    def clock(self) -> Interval:
        """The interval of time."""
        return Interval(*self.times)

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return _corners(self.space, self.clock)

    @property
    def patches(self) -> tuple[Patch, ...]:
        return _product(self.space, self.clock)

    def _contains(self, x: FloatArray) -> NDArray[np.bool_]:
        return self.space.contains(x[:, :-1]) & self.clock.contains(x[:, -1:])

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
    def timed(self) -> bool:
        return True

    @property
    def _factors(self) -> dict[str, tuple[Patchwork, Patchwork]]:
        """Each part as a product of a region of space and one of time."""
        space, clock = self.spacetime.space, self.spacetime.clock
        every: dict[str, tuple[Patchwork, Patchwork]] = {
            "walls": (space.boundary, clock),
            "initial": (space, clock.face("left")),
            "final": (space, clock.face("right")),
        }
        return {part: every[part] for part in self.parts}

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        low, high = zip(*(_corners(*pair) for pair in self._factors.values()), strict=True)
        return np.min(low, axis=0), np.max(high, axis=0)

    @property
    def patches(self) -> tuple[Patch, ...]:
        return tuple(patch for pair in self._factors.values() for patch in _product(*pair))

    def _belongs(self, x: FloatArray) -> dict[str, NDArray[np.bool_]]:
        """Which points lie on which part; the first part that fits owns the point."""
        free, owned = np.ones(len(x), dtype=bool), dict[str, NDArray[np.bool_]]()
        for part, (space, time) in self._factors.items():
            owned[part] = free & space.contains(x[:, :-1]) & time.contains(x[:, -1:])
            free = free & ~owned[part]
        return owned

    def _contains(self, x: FloatArray) -> NDArray[np.bool_]:
        return np.any(list(self._belongs(x).values()), axis=0)

    def normals(self, x: FloatArray) -> FloatArray | None:
        normal = np.zeros_like(x)
        for part, mine in self._belongs(x).items():
            for region, axes in zip(self._factors[part], (slice(None, -1), slice(-1, None)), strict=True):
                own = region.normals(x[mine, axes])
                normal[mine, axes] = 0.0 if own is None else own
        return normal

    def __repr__(self) -> str:
        name = "boundary" if len(self.parts) == 3 else self.parts[0]
        return f"{self.spacetime!r}.{name}"


def _corners(space: Patchwork, time: Patchwork) -> tuple[FloatArray, FloatArray]:
    """The corners of the bounding box of a region of space times one of time."""
    (low, high), (first, last) = space.bounds, time.bounds
    return np.append(low, first), np.append(high, last)


def _product(space: Patchwork, time: Patchwork) -> tuple[Patch, ...]:
    """The patches of a product of a region of space and one of time."""
    return tuple(_times(one, other) for one in space.patches for other in time.patches)


def _times(space: Patch, time: Patch) -> Patch:
    """The product of two patches; where one has normals, these are normals of the product."""
    split = len(space.sides)

    def place(t: FloatArray) -> Points:
        factors = space.place(t[:, :split]), time.place(t[:, split:])
        normals = [np.zeros_like(p.x) if p.normal is None else p.normal for p in factors]
        plain = all(p.normal is None for p in factors)
        return Points(np.hstack([p.x for p in factors]), None if plain else np.hstack(normals))

    return Patch(space.measure * time.measure, space.sides + time.sides, place)
