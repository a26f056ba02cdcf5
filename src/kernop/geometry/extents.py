"""How far shapes reach: the box around them, how near to it counts as in it, and whether there is room for points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize_scalar

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.geometry.patch import Patch

#: How far outside a region a point may lie, as a fraction of the region's extent, before it counts as outside.
TOLERANCE = 1e-9
#: The same as a multiple of the rounding of coordinates: it rules far from the origin.
ROUNDINGS = 8
#: The sides of a domain, in any unit: beyond these, powers of them leave the range of floats.
SHORTEST, LONGEST = 1e-50, 1e50
#: A side in units of the coordinates: below this, few digits are left to tell points apart.
NARROWEST = 1e-11
#: A domain that is thinner than this part of its extent, 2 |D| / |∂D|, or that fills less of its box, is a sliver.
THINNEST, EMPTIEST = 1e-6, 1e-5


def slack(low: FloatArray, high: FloatArray) -> FloatArray:
    """How far outside the bounds a point may lie along each axis; axes may have different units."""
    rounding = np.finfo(np.float64).eps * np.maximum(np.abs(low), np.abs(high))
    return np.maximum(TOLERANCE * (high - low), ROUNDINGS * rounding)


def meet(one: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray]) -> bool:
    """Have two boxes (low, high) a point in common, to rounding?"""
    room = np.maximum(slack(*one), slack(*other))
    return bool(np.all((one[0] <= other[1] + room) & (other[0] <= one[1] + room)))


def check_extent(name: str, low: FloatArray, high: FloatArray) -> None:
    """Raise unless a box has room for points, in float64: neither too large nor too small nor too far away."""
    with np.errstate(over="ignore"):
        sides, far = high - low, np.maximum(np.abs(low), np.abs(high))
        measure = np.prod(sides)
    wrong = (sides < SHORTEST) | (sides > LONGEST) | (sides < NARROWEST * far)
    if np.any(wrong):
        axis = int(np.argmax(wrong))
        got = f"a side of {sides[axis]:g} at {low[axis]:g} (axis {axis})"
        raise fail(ArgumentError, name, got, "choose units in which sides are near 1, and an origin that is near")
    if not 1e-200 < measure < 1e200:
        got = f"a measure of {measure:g} in {len(sides)} dimensions"
        raise fail(ArgumentError, name, got, "choose units in which sides are near 1")


def check_thickness(name: str, low: FloatArray, high: FloatArray, size: float, rim: float) -> None:
    """Raise unless a domain within a box, of a size (area, say) and a rim (length, say), has room for points."""
    check_extent(name, low, high)
    extent = float(np.max(high - low))
    remedy = f"give {name} that overlap, or meet, by more than that" if name == "domains" else "give a thicker one"
    if len(low) > 1 and 2.0 * size < THINNEST * extent * rim:
        got = f"a sliver near {short(low)}, {2.0 * size / rim:.1e} thick where it is {extent:.3g} long"
        raise fail(ArgumentError, name, got, remedy)
    if size < EMPTIEST * float(np.prod(high - low)):
        part = size / float(np.prod(high - low))
        got = f"a sliver from {short(low)} to {short(high)} that fills {part:.1e} of this box"
        raise fail(ArgumentError, name, got, remedy)


def around(patches: Sequence[Patch]) -> tuple[FloatArray, FloatArray]:
    """The corners of the box around points and lines, (d,) each."""
    tight = [_extremes(patch) for patch in patches]
    return np.min([own[0] for own in tight], axis=0), np.max([own[1] for own in tight], axis=0)


def _extremes(patch: Patch) -> tuple[FloatArray, FloatArray]:
    """The corners of the bounding box of a point or a line, (d,) each."""
    if not patch.sides:
        x = patch.place(np.zeros((1, 0))).x[0]
        return x, x
    t = np.linspace(0.0, 1.0, 65)
    x = patch.place(t[:, None]).x
    low, high = (np.array([s * _least(patch, t, s * x[:, k], k, s) for k in range(x.shape[1])]) for s in (1.0, -1.0))
    return low, high


def _least(patch: Patch, t: FloatArray, values: FloatArray, axis: int, sign: float) -> float:
    """The least of a coordinate along a line, times a sign: at an end, or near the least of some values."""
    best = int(np.argmin(values))
    if best in (0, len(t) - 1):
        return float(values[best])
    found = minimize_scalar(
        lambda s: sign * patch.place(np.array([[s]])).x[0, axis],
        bounds=(t[best - 1], t[best + 1]),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return min(float(found.fun), float(values[best]))


def short(x: FloatArray) -> str:
    """A point as text for a message, with few digits."""
    return "(" + ", ".join(f"{value:.3g}" for value in x) + ")"
