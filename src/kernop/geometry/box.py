"""Intervals and axis-parallel boxes in any dimension, and their faces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from kernop.basics.checks import check_array, check_choice, check_number
from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, ShapeError, describe, fail, naming
from kernop.basics.frozen import frozen
from kernop.basics.stored import Numbers, stored
from kernop.geometry.domain import Domain
from kernop.geometry.extents import check_extent, slack
from kernop.geometry.patch import Patch, box_patch
from kernop.geometry.region import Patchwork

BoxFace = tuple[int, int]  # axis, side (0: low, 1: high)

_NAMES: dict[int, tuple[tuple[str, str], ...]] = {
    1: (("left", "right"),),
    2: (("left", "right"), ("bottom", "top")),
    3: (("left", "right"), ("front", "back"), ("bottom", "top")),
}


@stored("box")
@dataclass(frozen=True, eq=False, repr=False)
class Box(Domain):
    """The box {x : lo ≤ x ≤ hi} in d = len(lo) dimensions.

    Its faces have names: ``x0-`` and ``x0+`` are low and high along axis 0, and so on; up to three dimensions also
    left/right (axis 0), bottom/top (last axis) and, in 3-D, front/back (axis 1).
    """

    lo: Numbers
    hi: Numbers

    def __post_init__(self) -> None:
        low = check_array("lo", self.lo, remedy="give d numbers")
        high = check_array("hi", self.hi, remedy="give d numbers")
        if low.ndim != 1 or low.shape != high.shape or low.size == 0:
            got = f"shapes {low.shape} and {high.shape}"
            raise fail(ShapeError, "lo, hi", got, "give two sequences of d numbers, as in Box([0, 0], [1, 1])")
        if np.any(low >= high):
            axis = int(np.argmax(low >= high))
            got = f"lo = {low[axis]:g} and hi = {high[axis]:g} on axis {axis}"
            raise fail(ArgumentError, "lo, hi", got, "give lo < hi on every axis")
        check_extent("lo, hi", low, high)
        object.__setattr__(self, "lo", frozen(low))
        object.__setattr__(self, "hi", frozen(high))

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.lo.copy(), self.hi.copy()

    @property
    def patches(self) -> tuple[Patch, ...]:
        return (box_patch(self.lo, self.hi),)

    @property
    def intrinsic_dim(self) -> int:
        return len(self.lo)

    @property
    def measure(self) -> float:
        return float(np.prod(self.hi - self.lo))

    def height(self, x: FloatArray) -> FloatArray:
        # Axis by axis: a sum over the few coordinates of each point takes many times as long.
        middle, half = 0.5 * (self.lo + self.hi), 0.5 * (self.hi - self.lo)
        beyond = [np.abs(own - m) - h for own, m, h in zip(x.T, middle, half, strict=True)]
        outside = np.sqrt(reduce(np.add, [np.square(np.maximum(own, 0.0)) for own in beyond]))
        return outside + np.minimum(reduce(np.maximum, beyond), 0.0)

    def _contains(self, x: FloatArray) -> BoolArray:
        sides = zip(x.T, *self._reach, strict=True)
        return reduce(np.logical_and, [(own >= low) & (own <= high) for own, low, high in sides])

    @cached_property
    def _reach(self) -> tuple[FloatArray, FloatArray]:
        """The corners, moved outwards by what rounding may do to points."""
        room = slack(self.lo, self.hi)
        return self.lo - room, self.hi + room

    @property
    def boundary(self) -> Faces:
        """All 2d faces, with outward normals."""
        return Faces(self, tuple((axis, side) for axis in range(self.dim) for side in (0, 1)))

    def face(self, *names: str) -> Faces:
        """The union of named faces, as in ``box.face("left", "right")``."""
        known = self._face_names()
        chosen = [known[check_choice("face", name, tuple(known))] for name in names]
        if not chosen:
            raise fail(ArgumentError, "face", "no name", "name at least one of " + ", ".join(known))
        return Faces(self, tuple(dict.fromkeys(chosen)))

    def _face_names(self) -> dict[str, BoxFace]:
        plain = [(f"x{axis}-", f"x{axis}+") for axis in range(self.dim)]
        pairs = [*enumerate(_NAMES.get(self.dim, ())), *enumerate(plain)]
        return {name: (axis, side) for axis, pair in pairs for side, name in enumerate(pair)}

    def __repr__(self) -> str:
        return f"Box({self.lo.tolist()}, {self.hi.tolist()})"


@stored("interval")
class Interval(Box):
    """The interval [a, b]: a domain of one dimension, whose boundary is its two ends.

    Arguments:
        a, b: the ends, a < b.
    """

    def __init__(self, a: float, b: float) -> None:
        first, last = check_number("a", a), check_number("b", b)
        with naming("a, b"):
            super().__init__([first], [last])

    @property
    def a(self) -> float:
        """The lower end a of the interval."""
        return float(self.lo[0])

    @property
    def b(self) -> float:
        """The upper end b of the interval."""
        return float(self.hi[0])

    def __repr__(self) -> str:
        return f"Interval({self.lo[0]:g}, {self.hi[0]:g})"


@stored("faces")
@dataclass(frozen=True, eq=False, repr=False)
class Faces(Patchwork):
    """Some faces of a box. A point on an edge or a corner belongs to one of them, and has that face's normal.

    Arguments:
        box: the box.
        faces: axis and side (0: low, 1: high) of each face.
    """

    box: Box
    faces: tuple[BoxFace, ...]

    def __post_init__(self) -> None:
        known = all(0 <= axis < self.box.dim and side in (0, 1) for axis, side in self.faces)
        if not self.faces or not known or len(set(self.faces)) < len(self.faces):
            raise fail(ArgumentError, "faces", describe(self.faces), "give axis and side of some faces, each once")

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        low, high, _ = zip(*self._sheets, strict=True)
        return np.min(low, axis=0), np.max(high, axis=0)

    @property
    def enclosed(self) -> Box:
        return self.box

    @cached_property
    def _sheets(self) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """The lower and upper corner and the outward normal of each face, (d,) each."""
        found: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        for axis, side in self.faces:
            (low, high), normal = self.box.bounds, np.zeros(self.box.dim)
            low[axis] = high[axis] = (low, high)[side][axis]
            normal[axis] = 1.0 if side else -1.0
            found.append((low, high, normal))
        return frozen(found)

    @property
    def patches(self) -> tuple[Patch, ...]:
        return tuple(box_patch(*sheet) for sheet in self._sheets)

    @property
    def intrinsic_dim(self) -> int:
        return self.box.intrinsic_dim - 1

    def _distances(self, x: FloatArray) -> FloatArray:
        """How far each point is from the plane of each face, in units of what still counts as on it."""
        bounds = self.box.bounds
        room = slack(*bounds)
        return np.stack([np.abs(x[:, axis] - bounds[side][axis]) / room[axis] for axis, side in self.faces], axis=1)

    def _contains(self, x: FloatArray) -> BoolArray:
        return (np.min(self._distances(x), axis=1) <= 1.0) & self.box.contains(x)

    def normals(self, x: FloatArray) -> FloatArray | None:
        nearest = np.argmin(self._distances(x), axis=1)
        return np.stack([normal for _, _, normal in self._sheets])[nearest]

    def __repr__(self) -> str:
        if len(self.faces) == 2 * self.dim:
            return f"{self.box!r}.boundary"
        names = ", ".join(repr(f"x{axis}{'-+'[side]}") for axis, side in self.faces)
        return f"{self.box!r}.face({names})"
