"""Pieces that are thin, with one and the same smooth function on either side of them.

Where coefficients jump, each subdomain has smooth functions of its own. A layer that cuts a subdomain in two, or a
plate in it, leaves these functions on both of its sides: across it u may change by any amount, and they cannot, unless
it is as thick as they are wide. Round inclusions have poles, see `holes_of`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray, IntArray
from kernop.collocation.subdomains import subdomains_of
from kernop.geometry import Region
from kernop.language.conditions import Condition
from kernop.language.problem import Problem
from kernop.language.sides import sides

#: Points of an interface at which thicknesses are measured; those of all interfaces together, and the fewest of one.
LOOK, IN_ALL, FEWEST = 256, 1024, 16
#: Distances from an interface at which it is looked which piece is there, as parts of the extent of the domain.
DISTANCES = np.geomspace(1e-5, 1.0, 80)
#: Pieces that are thicker than this part of the extent leave room for functions to change.
WIDE = 0.5
#: Pieces of at most so many times their thickness, to the power d, are round.
ROUND = 3.0


#: The subdomain of each point, (n, d) ↦ (n,); −1 outside of the domain.
Label = Callable[[FloatArray], IntArray]


@dataclass(frozen=True, eq=False)
class Squeezed:
    """A thin piece, with the same subdomain on either side.

    Arguments:
        thickness: how thin it is, …
        x: … and where, (d,).
    """

    thickness: float
    x: FloatArray

    def __str__(self) -> str:
        place = np.array2string(self.x, precision=3, suppress_small=True)
        return f"a piece is {self.thickness:.2g} thick at x = {place}, with the same piece on either side"


def squeezed(problem: Problem) -> Squeezed | None:
    """The thinnest of the pieces between interfaces that one smooth function has on either side; None without any."""
    subdomains = subdomains_of(problem)
    if subdomains is None or problem.timed:
        return None
    inner = [c.on for c in problem.conditions if c.on.intrinsic_dim == problem.dim]

    def label(x: FloatArray) -> IntArray:
        return np.where(np.any([own.contains(x) for own in inner], axis=0), subdomains.which(x), -1)

    low, high = np.min([own.bounds[0] for own in inner], axis=0), np.max([own.bounds[1] for own in inner], axis=0)
    surfaces = {id(c.on): c for c in problem.conditions if c.across and c.on.known}.values()
    number = min(LOOK, max(FEWEST, IN_ALL // max(len(surfaces), 1)))
    found = [own for c in surfaces for own in _beside(c, number, float(np.max(high - low)), label)]
    return min(found, key=lambda own: own.thickness, default=None)


def _beside(condition: Condition, number: int, extent: float, label: Label) -> list[Squeezed]:
    """The thinnest piece on each side of an interface, if the subdomain behind it is the one before it."""
    surface = condition.on
    points = surface.sample(number if surface.intrinsic_dim else round(surface.measure))
    both, found = sides(surface, points, condition.name), list[Squeezed]()
    one, other = (label(side.near[0].x) for side in both)
    for side, here, before in zip(both, (one, other), (other, one), strict=True):
        away = side.near[0].x - points.x
        away /= np.linalg.norm(away, axis=1, keepdims=True)
        thickness, behind = _through(points.x, away, here, extent, label)
        thin = (behind == before) & (behind >= 0) & (thickness < WIDE * extent)
        if np.any(thin) and not _round(surface.enclosed, points.x[thin], away[thin], thickness[thin]):
            worst = np.argmin(np.where(thin, thickness, np.inf))
            found.append(Squeezed(float(thickness[worst]), points.x[worst]))
    return found


def _through(
    x: FloatArray, away: FloatArray, here: IntArray, extent: float, label: Label
) -> tuple[FloatArray, IntArray]:
    """How far rays from x (n, d) run in the subdomain ``here``, and which one is behind it, (n,) each.

    Of a ray that does not leave it, −1 is behind.
    """
    along = x + extent * DISTANCES[:, None, None] * away
    there = label(along.reshape(-1, x.shape[1])).reshape(len(DISTANCES), len(x))
    left = there != here
    first = np.argmax(left, axis=0)
    behind = np.where(np.any(left, axis=0), np.take_along_axis(there, first[None], axis=0)[0], -1)
    return extent * DISTANCES[first], behind


def _round(enclosed: Region | None, x: FloatArray, away: FloatArray, thickness: FloatArray) -> bool:
    """Is a piece that an interface encloses about as thick along all directions, so that one gets around it?"""
    if enclosed is None or enclosed.dim == 1 or not np.all(enclosed.contains(x + 0.5 * thickness[:, None] * away)):
        return False
    return enclosed.measure <= ROUND * float(np.median(thickness)) ** enclosed.dim
