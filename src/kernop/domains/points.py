"""Points: coordinates and, on boundaries, outward unit normals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.errors import (
    ArgumentError,
    FloatArray,
    ShapeError,
    as_array,
    check_array,
    check_coordinates,
    describe,
    fail,
)


@dataclass(frozen=True, eq=False)
class Points:
    """An immutable set of n points in d dimensions.

    Arguments:
        x: coordinates, shape (n, d).
        normal: outward unit normals, shape (n, d); None away from boundaries.
    """

    x: FloatArray
    normal: FloatArray | None = None

    def __post_init__(self) -> None:
        x = check_coordinates("Points.x", self.x)
        x.setflags(write=False)
        object.__setattr__(self, "x", x)
        if self.normal is not None:
            object.__setattr__(self, "normal", _unit_normals(self.normal, x.shape))

    def __len__(self) -> int:
        return self.x.shape[0]

    @property
    def dim(self) -> int:
        """The number d of coordinates."""
        return self.x.shape[1]

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
        return Points(x, None if self.normal is None else self.normal[chosen])

    def __repr__(self) -> str:
        return f"Points(n={len(self)}, d={self.dim}{'' if self.normal is None else ', with normals'})"


def _unit_normals(value: Any, shape: tuple[int, ...]) -> FloatArray:
    normal = check_array("Points.normal", value, remedy="give unit vectors")
    if normal.shape != shape:
        got = f"an array of shape {normal.shape}"
        raise fail(ShapeError, "Points.normal", got, f"give one normal for each point, shape {shape}")
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
    """All points of ``parts`` in order; normals are kept when every part has them."""
    normals = [part.normal for part in parts if part.normal is not None]
    together = np.concatenate(normals) if len(normals) == len(parts) else None
    return Points(np.concatenate([part.x for part in parts]), together)
