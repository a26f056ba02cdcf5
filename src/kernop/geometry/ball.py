"""Balls in any dimension, and their spheres."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from kernop.basics.checks import check_array, check_number
from kernop.basics.errors import FloatArray, ShapeError, fail
from kernop.basics.frozen import frozen
from kernop.basics.stored import Numbers, stored
from kernop.geometry.domain import Domain, WholeBoundary
from kernop.geometry.extents import check_extent
from kernop.geometry.patch import Patch
from kernop.geometry.points import Points

#: A ball of radius 1 in more dimensions has a volume that is lost beside that of its cube, and Γ no float.
HIGHEST = 100


@stored("ball")
@dataclass(frozen=True, eq=False, repr=False)
class Ball(Domain):
    """The ball {x : |x − center| ≤ radius}: a disk for d = 2.

    Arguments:
        center: the centre, (d,).
        radius: the radius.
    """

    center: Numbers
    radius: float

    def __post_init__(self) -> None:
        middle = check_array("center", self.center, remedy="give d numbers")
        if middle.ndim != 1 or middle.size == 0:
            raise fail(ShapeError, "center", f"shape {middle.shape}", "give d numbers, as in Ball([0, 0], 1)")
        if len(middle) > HIGHEST:
            raise fail(ShapeError, "center", f"{len(middle)} dimensions", f"give at most {HIGHEST}")
        object.__setattr__(self, "center", frozen(middle))
        object.__setattr__(self, "radius", check_number("radius", self.radius, above=0.0))
        check_extent("center, radius", *self.bounds)

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.center - self.radius, self.center + self.radius

    @property
    def patches(self) -> tuple[Patch, ...]:
        d, r = self.dim, self.radius
        volume = math.pi ** (d / 2) / math.gamma(d / 2 + 1) * r**d
        return (Patch(volume, (2 * r,) if d == 1 else (r, *_sphere_sides(d, r / 2)), self._inside),)

    def _inside(self, t: FloatArray) -> Points:
        # A hair below the radius, so that rounding never puts a point outside.
        r = self.radius * (1.0 - 4.0 * np.finfo(np.float64).eps)
        if self.dim == 1:
            return Points(self.center + r * (2.0 * t - 1.0))
        return Points(self.center + r * t[:, :1] ** (1.0 / self.dim) * unit_sphere(t[:, 1:], self.dim))

    def height(self, x: FloatArray) -> FloatArray:
        return np.linalg.norm(x - self.center, axis=1) - self.radius

    @property
    def boundary(self) -> Sphere:
        """The sphere |x − center| = radius."""
        return Sphere(self)

    def __repr__(self) -> str:
        return f"Ball({self.center.tolist()}, {self.radius:g})"


@stored("sphere")
@dataclass(frozen=True, eq=False, repr=False)
class Sphere(WholeBoundary):
    """The surface of a ball."""

    ball: Ball

    @property
    def patches(self) -> tuple[Patch, ...]:
        d, r = self.dim, self.ball.radius
        if d == 1:
            return tuple(Patch(1.0, (), lambda t, s=side: self._at(np.full((len(t), 1), s))) for side in (-1.0, 1.0))
        area = 2.0 * math.pi ** (d / 2) / math.gamma(d / 2) * r ** (d - 1)
        return (Patch(area, _sphere_sides(d, r), lambda t: self._at(unit_sphere(t, d))),)

    @property
    def enclosed(self) -> Ball:
        return self.ball

    def _at(self, direction: FloatArray) -> Points:
        return Points(self.ball.center + self.ball.radius * direction, direction)

    def normals(self, x: FloatArray) -> FloatArray | None:
        outward = x - self.ball.center
        return outward / np.linalg.norm(outward, axis=1, keepdims=True)


def _sphere_sides(d: int, r: float) -> tuple[float, ...]:
    return (math.pi * r,) * (d - 2) + (2.0 * math.pi * r,)


def unit_sphere(t: FloatArray, d: int) -> FloatArray:
    """Map [0, 1]^(d−1) to the unit sphere of R^d so that area is preserved; (n, d − 1) ↦ (n, d), d ≥ 2.

    The first coordinate c of a uniform point has density ∝ (1 − c²)^((d−3)/2), so (1 + c)/2 is Beta((d−1)/2, (d−1)/2);
    the rest is √(1 − c²) times a uniform point of the sphere one dimension lower.
    """
    if d == 2:
        angle = 2.0 * np.pi * t[:, 0]
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    half = (d - 1) / 2.0
    distinct, which = np.unique(t[:, 0], return_inverse=True)  # on grids they are few, and each takes a microsecond
    c = (2.0 * np.asarray(betaincinv(half, half, distinct), dtype=np.float64) - 1.0)[which, None]
    x = np.concatenate([c, np.sqrt(np.maximum(0.0, 1.0 - c * c)) * unit_sphere(t[:, 1:], d - 1)], axis=1)
    return x / np.linalg.norm(x, axis=1, keepdims=True)
