"""Intervals and axis-parallel boxes in any dimension, and their faces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import (
    ArgumentError,
    FloatArray,
    ShapeError,
    check_array,
    check_choice,
    check_number,
    fail,
    naming,
)
from kernop.geometry.points import Points
from kernop.geometry.region import Patch, Patchwork, check_extent, slack

Face = tuple[int, int]  # axis, side (0: low, 1: high)

_NAMES: dict[int, tuple[tuple[str, str], ...]] = {
    1: (("left", "right"),),
    2: (("left", "right"), ("bottom", "top")),
    3: (("left", "right"), ("front", "back"), ("bottom", "top")),
}


class Box(Patchwork):
    """The box {x : lo ≤ x ≤ hi} in d = len(lo) dimensions.

    Its faces have names: ``x0-`` and ``x0+`` are low and high along axis 0, and so on; up to three dimensions also
    left/right (axis 0), bottom/top (last axis) and, in 3-D, front/back (axis 1).
    """

    def __init__(self, lo: Any, hi: Any) -> None:
        low = check_array("lo", lo, remedy="give d numbers")
        high = check_array("hi", hi, remedy="give d numbers")
        if low.ndim != 1 or low.shape != high.shape or low.size == 0:
            got = f"shapes {low.shape} and {high.shape}"
            raise fail(ShapeError, "lo, hi", got, "give two sequences of d numbers, as in Box([0, 0], [1, 1])")
        if np.any(low >= high):
            axis = int(np.argmax(low >= high))
            got = f"lo = {low[axis]:g} and hi = {high[axis]:g} on axis {axis}"
            raise fail(ArgumentError, "lo, hi", got, "give lo < hi on every axis")
        check_extent("lo, hi", low, high)
        self._lo, self._hi = low, high

    @property
    def dim(self) -> int:
        return len(self._lo)

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self._lo.copy(), self._hi.copy()

    @property
    def patches(self) -> tuple[Patch, ...]:
        sides = self._hi - self._lo
        return (Patch(float(np.prod(sides)), tuple(map(float, sides)), lambda t: Points(self._at(t))),)

    def _at(self, t: FloatArray) -> FloatArray:
        # lo + t (hi − lo) can round to just above hi.
        return np.clip(self._lo + t * (self._hi - self._lo), self._lo, self._hi)

    def _contains(self, x: FloatArray) -> NDArray[np.bool_]:
        room = slack(self._lo, self._hi)
        return np.all((x >= self._lo - room) & (x <= self._hi + room), axis=1)

    def normals(self, x: FloatArray) -> FloatArray | None:
        return None

    @property
    def boundary(self) -> Faces:
        """All 2d faces."""
        return Faces(self, tuple((axis, side) for axis in range(self.dim) for side in (0, 1)))

    def face(self, *names: str) -> Faces:
        """The union of named faces, as in ``box.face("left", "right")``."""
        known = self._face_names()
        chosen = [known[check_choice("face", name, tuple(known))] for name in names]
        if not chosen:
            raise fail(ArgumentError, "face", "no name", "name at least one of " + ", ".join(known))
        return Faces(self, tuple(dict.fromkeys(chosen)))

    def _face_names(self) -> dict[str, Face]:
        spoken = {
            name: (axis, side) for axis, pair in enumerate(_NAMES.get(self.dim, ())) for side, name in enumerate(pair)
        }
        plain = {f"x{axis}{sign}": (axis, side) for axis in range(self.dim) for side, sign in enumerate("-+")}
        return spoken | plain

    def __repr__(self) -> str:
        return f"Box({self._lo.tolist()}, {self._hi.tolist()})"


class Interval(Box):
    """The interval [a, b]."""

    def __init__(self, a: float, b: float) -> None:
        first, last = check_number("a", a), check_number("b", b)
        with naming("a, b"):
            super().__init__([first], [last])

    def __repr__(self) -> str:
        return f"Interval({self._lo[0]:g}, {self._hi[0]:g})"


class Faces(Patchwork):
    """Some faces of a box. A point on an edge or a corner belongs to one of them, and has that face's normal."""

    def __init__(self, box: Box, faces: tuple[Face, ...]) -> None:
        self._box = box
        self._faces = faces

    @property
    def box(self) -> Box:
        """The box."""
        return self._box

    @property
    def faces(self) -> tuple[Face, ...]:
        """Axis and side (0: low, 1: high) of each face."""
        return self._faces

    @property
    def dim(self) -> int:
        return self._box.dim

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        corners = [self._corners(face) for face in self._faces]
        return np.min([low for low, _ in corners], axis=0), np.max([high for _, high in corners], axis=0)

    def _corners(self, face: Face) -> tuple[FloatArray, FloatArray]:
        low, high = self._box.bounds
        axis, side = face
        low[axis] = high[axis] = (low, high)[side][axis]
        return low, high

    @property
    def patches(self) -> tuple[Patch, ...]:
        return tuple(self._patch(face) for face in self._faces)

    def _patch(self, face: Face) -> Patch:
        low, high = self._corners(face)
        free = [axis for axis in range(self.dim) if axis != face[0]]
        sides = (high - low)[free]

        def place(t: FloatArray) -> Points:
            x = np.tile(low, (len(t), 1))
            x[:, free] = np.clip(low[free] + t * sides, low[free], high[free])
            return Points(x, np.tile(self._normal(face), (len(t), 1)))

        return Patch(float(np.prod(sides)), tuple(map(float, sides)), place)

    def _normal(self, face: Face) -> FloatArray:
        normal = np.zeros(self.dim)
        normal[face[0]] = 1.0 if face[1] else -1.0
        return normal

    def _distances(self, x: FloatArray) -> FloatArray:
        """How far each point is from the plane of each face, in units of what still counts as on it."""
        bounds = self._box.bounds
        room = slack(*bounds)
        return np.stack([np.abs(x[:, axis] - bounds[side][axis]) / room[axis] for axis, side in self._faces], axis=1)

    def _contains(self, x: FloatArray) -> NDArray[np.bool_]:
        return (np.min(self._distances(x), axis=1) <= 1.0) & self._box.contains(x)

    def normals(self, x: FloatArray) -> FloatArray | None:
        nearest = np.argmin(self._distances(x), axis=1)
        return np.stack([self._normal(face) for face in self._faces])[nearest]

    def __repr__(self) -> str:
        if len(self._faces) == 2 * self.dim:
            return f"{self._box!r}.boundary"
        names = ", ".join(repr(f"x{axis}{'-+'[side]}") for axis, side in self._faces)
        return f"{self._box!r}.face({names})"
