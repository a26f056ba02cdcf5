"""Points: coordinates and, on boundaries, outward unit normals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.checks import as_array, check_array, check_coordinates, check_flag
from kernop.basics.errors import ArgumentError, FloatArray, ShapeError, describe, fail
from kernop.basics.stored import stored


@stored("points")
@dataclass(frozen=True, eq=False)
class Points:
    """An immutable set of n points in d dimensions.

    Arguments:
        x: coordinates, shape (n, d).
        normal: outward unit normals, shape (n, d); None away from boundaries.
        timed: is the last coordinate time? The points of a region know; of others it is not known (None), and an
            operator that must know refuses them. One coordinate alone is space.
        weight: the weights of a quadrature rule, (n,): ∫ f dx ≈ Σ w_i f(x_i). None for points that are no rule.
    """

    x: FloatArray
    normal: FloatArray | None = None
    timed: bool | None = None
    weight: FloatArray | None = None

    def __post_init__(self) -> None:
        x = check_coordinates("Points.x", self.x)
        x.setflags(write=False)
        object.__setattr__(self, "x", x)
        if self.normal is not None:
            object.__setattr__(self, "normal", _unit_normals(self.normal, x.shape))
        object.__setattr__(self, "timed", _timed(self.timed, self.dim))
        if self.weight is not None:
            remedy = f"give one number for each point, shape ({len(x)},)"
            weight = check_array("Points.weight", self.weight, remedy=remedy, shape=(len(x),))
            weight.setflags(write=False)
            object.__setattr__(self, "weight", weight)

    def __len__(self) -> int:
        return self.x.shape[0]

    @property
    def dim(self) -> int:
        """The number d of coordinates."""
        return self.x.shape[1]

    @property
    def outward(self) -> FloatArray:
        """The normals of points that are known to have them, (n, d)."""
        assert self.normal is not None
        return self.normal

    def __getitem__(self, rows: Any) -> Points:
        """The points of a slice, a mask or an array of indices."""
        n = len(self)
        remedy = f"give a slice, a mask of {n} truth values, or whole numbers below {n}, for at least one point"
        chosen = rows if isinstance(rows, slice) else as_array("rows", rows, remedy)
        try:
            x = self.x[chosen]
        except (IndexError, TypeError) as error:
            raise fail(ArgumentError, "rows", f"{describe(rows)} for {n} points", remedy) from error
        if x.ndim != 2 or x.shape[1] != self.dim or len(x) == 0:
            raise fail(ShapeError, "rows", f"{describe(rows)}, which gives an array of shape {x.shape}", remedy)
        normal, weight = (None if part is None else part[chosen] for part in (self.normal, self.weight))
        return Points(x, normal, self.timed, weight)

    def placed(self, timed: bool) -> Points:
        """The same points in a region, or a problem, with time or without: where they are used decides."""
        return points_at(self.x, timed, self.normal, self.weight)

    def __repr__(self) -> str:
        more = f"{'' if self.normal is None else ', with normals'}{', in space–time' if self.timed else ''}"
        return f"Points(n={len(self)}, d={self.dim}{more})"


def points_at(
    x: FloatArray, timed: bool | None, normal: FloatArray | None = None, weight: FloatArray | None = None
) -> Points:
    """Points whose arrays have been checked and are nobody else's: they become read-only."""
    points = object.__new__(Points)
    x.setflags(write=False)
    points.__dict__.update(x=x, normal=normal, timed=_timed(timed, x.shape[1]), weight=weight)
    return points


def subset(points: Points, n: int, scheme: str, rng: np.random.Generator) -> Points:
    """n of the points in their order, each at most once: evenly spread over the order for a grid, else at random."""
    if scheme == "grid":
        return points[np.linspace(0, len(points) - 1, n).round().astype(int)]
    return points[np.sort(rng.permutation(len(points))[:n])]


def _timed(value: object, dim: int) -> bool | None:
    if value is not None and check_flag("Points.timed", value) and dim == 1:
        raise fail(ArgumentError, "Points.timed", "True for one coordinate", "give coordinates (x_1, …, t), at least 2")
    return False if dim == 1 else None if value is None else bool(value)


def _unit_normals(value: object, shape: tuple[int, ...]) -> FloatArray:
    remedy = f"give unit vectors, one normal for each point, shape {shape}"
    normal = check_array("Points.normal", value, remedy=remedy, shape=shape)
    with np.errstate(over="ignore"):
        length = np.linalg.norm(normal, axis=1)
    error = np.abs(length - 1.0)
    if np.any(error > 1e-5):  # normals in single precision are welcome
        got = f"a vector of length {length[np.argmax(error)]:g}"
        raise fail(ArgumentError, "Points.normal", got, "give outward normals of length 1")
    normal /= np.where(error > 1e-14, length, 1.0)[:, None]  # what is exact to rounding stays as it is
    normal.setflags(write=False)
    return normal


def concatenate(parts: list[Points]) -> Points:
    """All points of ``parts`` in order; what not every part has (normals) or says (time) is left out."""
    normals = [part.normal for part in parts if part.normal is not None]
    together = np.concatenate(normals) if len(normals) == len(parts) else None
    timed = parts[0].timed if len({part.timed for part in parts}) == 1 else None
    return Points(np.concatenate([part.x for part in parts]), together, timed)
