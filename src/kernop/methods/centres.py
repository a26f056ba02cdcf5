"""Where the functions of a subspace are centred, and how wide they are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from kernop.basics.checks import check_memory
from kernop.basics.errors import FloatArray, describe
from kernop.collocation.units import Frame
from kernop.geometry.sequences import halton

#: Lengthscale in units of the spacing of centres, for d = 1 and beyond. Wider functions approximate better until they
#: are dependent to working precision; these are where the two meet (measured: docs/decisions.md).
WIDTH_ON_A_LINE, WIDTH = 4.0, 3.0
#: How far centres reach beyond the domain, in lengthscales: further out a function is too small inside to matter …
REACH = 2.2
#: … and at most this part of the number of centres along an axis, on either side.
LARGEST_PART = 0.25
#: A domain that holds this part of the centres of its box is treated as the box; fewer points do not show a domain.
WHOLE, FEW = 0.9, 100


@dataclass(frozen=True)
class Centres:
    """L centres z (L, d) and a lengthscale for each axis (d,)."""

    z: FloatArray
    lengthscale: FloatArray


def default_number(n: int) -> int:
    """How many centres for n points: half of them while that is cheap, 1000 for a while, then an eighth."""
    return max(1, min(n // 2, max(1000, n // 8)))


def fill(frame: Frame, number: int, inside: FloatArray | None = None) -> Centres:
    """Quasi-random centres that fill the domain and a margin around it.

    In natural units, with spacing h = (volume / L)^(1/d), the lengthscale is 3h (4h on a line) and the margin min(2.2
    lengthscales, a quarter of the centres along an axis). The margin is what makes the error near the boundary as
    small as inside.

    Arguments:
        frame: the box of the problem.
        number: L.
        inside: points that fill the domain, (n, d): what is farther from all of them than the margin is left out. None
            fills the box.
    """
    units = frame.resolved
    sides = (frame.high - frame.low) / units
    d = len(sides)
    check_memory("centers", 3 * number * d, f"{describe(number)} of them", "give fewer")
    width, margin = width_of(d), _margin(d, number)
    h, z = _drawn(sides, number, margin)
    if inside is not None and d > 1 and len(inside) >= FEW:
        h, z = _near(sides, number, margin, (inside - frame.low) / units)
    return Centres(frame.low + units * z, width * h * units)


def _drawn(sides: FloatArray, number: int, margin: float) -> tuple[float, FloatArray]:
    """A spacing, and so many points with it in a box and its margin, (L, d)."""
    h = _spacing(sides, number, margin)
    unit = halton(number, len(sides), np.random.default_rng(0))
    return h, unit * (sides + 2.0 * margin * h) - margin * h


def _near(sides: FloatArray, number: int, margin: float, inside: FloatArray) -> tuple[float, FloatArray]:
    """The same in a domain that is known by points, and its margin; in the box if the domain nearly fills it."""
    tree = KDTree(inside)
    gap = 2.0 * float(np.median(np.asarray(tree.query(inside, k=2)[0])[:, 1]))
    drawn = number
    while True:
        h, z = _drawn(sides, drawn, margin)
        near = np.asarray(tree.query(z, distance_upper_bound=margin * h + gap)[0]) < np.inf
        if drawn == number and np.mean(near) > WHOLE:
            return h, z
        if np.count_nonzero(near) >= number:
            return h, z[near][:number]
        drawn = int(np.ceil(drawn * min(4.0, 1.02 * number / max(1, np.count_nonzero(near)))))


def width_of(dim: int) -> float:
    """The lengthscale of translates in units of the spacing of their centres."""
    return WIDTH_ON_A_LINE if dim == 1 else WIDTH


def spacing(frame: Frame, number: int) -> float:
    """The spacing h of so many centres that fill the box of the problem and a margin, in units that are resolved."""
    sides = (frame.high - frame.low) / frame.resolved
    return _spacing(sides, number, _margin(len(sides), number))


def _margin(dim: int, number: int) -> float:
    """How far centres reach beyond the domain, in spacings."""
    return min(REACH * width_of(dim), LARGEST_PART * number ** (1.0 / dim))


def _spacing(sides: FloatArray, number: int, margin: float) -> float:
    """h with h^d L = Π (side + 2 margin h), by bisection; the margin is at most a quarter of L^(1/d)."""
    lengths = [float(side) for side in sides]  # math on numbers is ten times faster here than on arrays
    low, high = 0.0, 4.0 * max(lengths) / number ** (1.0 / len(lengths))
    for _ in range(100):
        middle = 0.5 * (low + high)
        volume = math.prod(side + 2.0 * margin * middle for side in lengths)
        low, high = (middle, high) if middle ** len(lengths) * number < volume else (low, middle)
    return high
