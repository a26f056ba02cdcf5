"""Degrees of polynomials on parts: which to begin with, and which are chosen by how fast solutions decay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from kernop.basics.errors import FloatArray
from kernop.basics.linalg import solve_upper
from kernop.collocation.cells.mosaic import TIP
from kernop.geometry.cells import Cells
from kernop.methods.parts.patterns import bubbles
from kernop.methods.parts.space import PartsSpace

#: The lowest degree of polynomials on a part, and the highest: cells are halved where more would be asked for.
LOWEST, HIGHEST = 5, 19
#: By so much a degree may seem too high, and the highest one is tried: solutions decay faster and faster.
NEARLY = 2
#: The first degrees. Bumps of a tenth of the shortest side need about a + b D of them for D digits, where cells are a
#: quarter as long as that side; fewer in smaller cells and more in larger ones, by these powers of their size; …
BUMPS, QUARTER, POWERS = (8.8, 1.15), 0.25, (0.3, 0.6)
#: … r^α, in a cell as far from 0 as it is long, b D for D digits, and half of that in the smallest cells, where r^α is.
#: What satisfies an equation and meets its neighbours needs a few more than what only follows u.
TIPS = (3.0, 1.6)
#: The cost of a part in units of what one of few functions costs: 1 + (m / this)³ for m functions.
DENSE = 130.0
#: The degree that is needed in cells of half the size, as a part of what is needed in whole ones, at least.
HALVED = 0.75
#: The least decay, from one degree to the next, that is believed: a factor of e to this.
SLOWEST = 0.15

#: The degrees in cells, (C,), some of which are at places where u is singular: `TIP` or `STAR`, else 0, (C,).
DegreeRule = Callable[[Cells, NDArray[np.int64]], NDArray[np.int64]]


def same_degree(degree: int) -> DegreeRule:
    """The same degree in all cells."""
    return lambda cells, singular: np.full(len(singular), degree)


def expected(tol: float, shortest: float, lower: int = 0) -> DegreeRule:
    """The degrees that bumps, and powers of the distance from singularities, need for a tolerance, less a number."""
    digits = max(1.0, float(np.log10(1.0 / tol)))

    def rule(cells: Cells, singular: NDArray[np.int64]) -> NDArray[np.int64]:
        size = np.max(cells.high - cells.low, axis=1)
        part = size / (QUARTER * shortest)
        found = (BUMPS[0] + BUMPS[1] * digits) * part ** np.where(part < 1.0, *POWERS)
        if np.any(singular):
            middle, depth = 0.5 * (cells.low + cells.high), np.log2(np.max(size) / size)
            _, nearest = KDTree(middle[singular > 0]).query(middle)
            part = depth / np.maximum(depth[singular > 0][nearest], 1.0)
            part = np.where(singular[singular > 0][nearest] == TIP, part, 0.0)  # around stars r^α is nowhere small
            found = np.maximum(found, TIPS[0] + TIPS[1] * digits * (1.0 - 0.5 * np.minimum(1.0, part)))
        return np.clip(np.ceil(found) - lower, LOWEST, HIGHEST).astype(np.int64)

    return rule


def largest_cell(tol: float) -> float:
    """The size of cells, as a part of the shortest side, in which bumps do not need too high a degree."""
    digits = max(1.0, float(np.log10(1.0 / tol)))
    return QUARTER * max(1.0, HIGHEST / (BUMPS[0] + BUMPS[1] * digits)) ** (1.0 / POWERS[1])


@dataclass(kw_only=True, frozen=True, eq=False)
class Chosen:
    """Degrees in cells that were there before, and in those that are made of them.

    Arguments:
        cells: those before.
        same: in each of them, (C,).
        finer: in cells that one of them is cut into, (C,).
        otherwise: in what was one at a singularity.
        tips: was u singular there? (C,).
    """

    cells: Cells
    same: NDArray[np.int64]
    finer: NDArray[np.int64]
    tips: NDArray[np.bool_]
    otherwise: DegreeRule

    def __call__(self, cells: Cells, singular: NDArray[np.int64]) -> NDArray[np.int64]:
        where = self.cells.locate(0.5 * (cells.low + cells.high))
        whole = np.all(cells.high - cells.low > 0.75 * (self.cells.high - self.cells.low)[where], axis=1)
        found = np.where(whole, self.same[where], self.finer[where])
        return np.where(self.tips[where] & ~whole, self.otherwise(cells, singular), found)


def slopes(space: PartsSpace, y: FloatArray) -> FloatArray:
    """How fast solutions with coordinates y (L, B) decay on each part: e^(−b) from one degree to the next, (P, B).

    Functions of a lower degree come first, and Φ R⁻¹ are orthonormal in the data: so the coordinates of a degree are
    what its polynomials take off the residual that those of lower degrees leave. Where there are bubbles, which come
    before all others, that is so among bubbles, and among others.
    """
    found = np.zeros((len(space.uppers), y.shape[1]))  # stars have no degree
    for part, degree in enumerate(space.of_parts.tolist()):
        if part in space.mosaic.star_of:
            continue
        polynomials, basis = space.polynomials(part)
        mine, totals = y[space.span(part)], np.sum(polynomials, axis=1)
        if basis == "lobatto":
            mine = _beside_others(space.uppers[part], mine, int(np.sum(bubbles(polynomials))))
        squares = np.square(mine).reshape(space.components, len(totals), -1).sum(axis=0)
        width = max(2, (degree + 1) // 5)
        band = (degree - totals) // width  # 0 for the highest degrees, 1 for those below, …
        high, next_, low = (np.sum(squares[band == k], axis=0) + 1e-300 for k in range(3))
        # Where coefficients are not smooth, solutions decay ever more slowly: the highest degrees tell it.
        found[part] = 0.5 / width * np.minimum(0.5 * np.log(low / high), np.log(next_ / high))
    return np.maximum(found, SLOWEST)


def _beside_others(upper: FloatArray, y: FloatArray, count: int) -> FloatArray:
    """Coordinates (m, B) with those of the first functions, which are bubbles, as R_A c_β, with c = R⁻¹ y, see `Local`.

    y_β = Q_Aᵀ f tells of the source alone; R_A c_β is what bubbles take off the residual that all others leave of it.
    """
    bubbling = upper[:count, :count] @ solve_upper(upper, y)[:count]
    return np.concatenate([bubbling, y[count:]])


@cache
def cost(degree: int) -> float:
    """What a part costs, about."""
    return 1.0 + (comb(degree + 2, 2) / DENSE) ** 3


def wanted(
    degrees: NDArray[np.int64], wrong: FloatArray, slope: FloatArray, allowed: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    """The degrees that parts need so that they are no more wrong than allowed; which are halved instead; and degrees
    in their halves, (P,) each.

    Errors fall like e^(−b p) with the degree p, and like 2^(−p) e^(−b p) in cells of half the size. Four parts of the
    lower degree are taken where they cost less than one of the higher one, or that is far too high, or where the
    highest one was not enough.

    Arguments:
        degrees: p, (P,).
        wrong: how wrong the parts are, (P,).
        slope: b, (P,).
    """
    excess = np.log(np.maximum(wrong / allowed, 1.0))
    need = degrees + np.ceil(excess / slope).astype(np.int64)
    finer = np.maximum((excess + slope * degrees) / (slope + np.log(2.0)), HALVED * np.minimum(need, HIGHEST))
    finer = np.clip(np.ceil(finer).astype(np.int64), LOWEST, HIGHEST)
    many = np.array([4.0 * cost(own) for own in finer.tolist()])
    one = np.array([cost(own) for own in np.minimum(need, HIGHEST).tolist()])
    hopeless = (need > HIGHEST + NEARLY) | (degrees == HIGHEST)
    return np.minimum(need, HIGHEST), (excess > 0.0) & (hopeless | (many < one)), finer
