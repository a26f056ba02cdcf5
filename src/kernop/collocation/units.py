"""The box around a problem, and its natural units of length and time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.collocation.functionals import Block
from kernop.geometry import Region
from kernop.language.problem import Problem

#: How much finer one axis may be resolved than another.
FINEST = 64.0
#: The same for space beside time where u evolves slowly: beyond, a thousand functions miss what changes in time.
SLOW = 2.0
#: Waves that functions resolve, counted as one for each of them.
RESOLVED_WAVES = 1100.0


@dataclass(frozen=True, eq=False)
class Frame:
    """The box that holds the problem, and its natural units.

    Arguments:
        low, high: the corners, (d,).
        units: the length along each axis that counts as one, (d,): the same for all spatial axes, and the duration
            for time.
        fineness: how many times finer than in these units a space resolves each axis, (d,); None for 1.
    """

    low: FloatArray
    high: FloatArray
    units: FloatArray
    fineness: FloatArray | None = None

    @property
    def resolved(self) -> FloatArray:
        """The lengths along each axis that a space resolves alike, (d,)."""
        return self.units if self.fineness is None else self.units / self.fineness

    @property
    def shortest(self) -> FloatArray:
        """For each axis the shortest side among those with the same unit, (d,): time does not compare with space."""
        sides = self.high - self.low
        return np.array([np.min(sides[self.units == unit]) for unit in self.units])

    def measure(self, region: Region) -> float:
        """The measure of a region in natural units: time and space do not compare otherwise."""
        low, high = region.bounds
        lasting = high[-1] > low[-1] and self.units[-1] != self.units[0]
        space = region.intrinsic_dim - 1 if lasting else region.intrinsic_dim
        return float(region.measure / (self.units[0] ** space * (self.units[-1] if lasting else 1.0)))

    def part(self, region: Region) -> float:
        """What a region measures as a part of the box, or, for boundaries, of its faces; 1 for edges and the like."""
        sides = (self.high - self.low) / self.units
        if region.intrinsic_dim == len(sides):
            return self.measure(region) / float(np.prod(sides))
        if region.intrinsic_dim == len(sides) - 1:
            return self.measure(region) / float(2.0 * sum(np.prod(np.delete(sides, j)) for j in range(len(sides))))
        return 1.0


def waves_fineness(frame: Frame, block: Block) -> FloatArray:
    """How much finer the waves of an equation are along each axis than along the coarsest, (d,); at most 64 times.

    The terms φ_j ∂_j^m of the highest order m balance for wave numbers k_j ∝ |φ_j|^(−1/m): waves of speed c have c
    periods in a unit of time for each one in a unit of length. Axes without such a term have 1.
    """
    top, d = block.order, len(frame.units)
    lengths = np.full(d, np.nan)
    for column, alpha in enumerate(block.alphas):
        if top > 0 and max(alpha) == top:
            size = float(np.sqrt(np.mean(np.square(block.coefficients[:, column]))))
            lengths[int(np.argmax(alpha))] = size ** (1.0 / top)
    relative = lengths / frame.units
    if not np.any(relative > 0.0):
        return np.ones(d)
    finer = np.nanmax(relative) / np.where(relative > 0.0, relative, np.nanmax(relative))
    return np.clip(finer, 1.0, FINEST)


def evolving_fineness(frame: Frame, block: Block) -> FloatArray:
    """How much finer u is in space than in time where it evolves slowly, (d,); at most twice.

    An equation of first order along one axis, t, and of higher order along others, as u_t = κ u_xx, changes waves of
    wave number k at the rate max_m |φ_m| k^m. Wave numbers are sought at which all axes have the rate k_t, and whose
    product is the number of waves that some thousand functions resolve: where k_j > k_t, short waves last, and time
    needs fewer functions than space. Equations that do not evolve, and those that change fast, have 1.
    """
    rates, finer = _rates(frame, block), np.ones(len(frame.units))
    first = [j for j, own in enumerate(rates) if max(own, default=0) == 1]
    if len(first) != 1 or block.order < 2:
        return finer
    (time,) = first
    low, high = 1e-3, 1e6
    for _ in range(60):
        fast = float(np.sqrt(low * high))
        rate = rates[time][1] * fast
        waves = [min(((rate / a) ** (1.0 / m) for m, a in own.items()), default=fast) for own in rates]
        low, high = (fast, high) if np.prod(waves) < RESOLVED_WAVES else (low, fast)
        finer = np.clip(np.divide(waves, fast), 1.0, SLOW)
    return finer


def _rates(frame: Frame, block: Block) -> list[dict[int, float]]:
    """The size of the coefficient of each pure derivative, by its order, along each axis, in units of the frame."""
    found: list[dict[int, float]] = [{} for _ in frame.units]
    for column, alpha in enumerate(block.alphas):
        axis, order = int(np.argmax(alpha)), max(alpha)
        size = float(np.sqrt(np.mean(np.square(block.coefficients[:, column]))))
        if 0 < order == sum(alpha) and size > 0.0:
            found[axis][order] = size / float(frame.units[axis]) ** order
    return found


def frame_of(problem: Problem) -> Frame:
    """The box around all regions; space has one unit, time its own."""
    low, high = problem.bounds
    sides = high - low
    if not np.max(sides) > 0.0:
        remedy = "add the equation, on a domain"
        raise fail(ArgumentError, "problem", f"conditions at one point only, {low}", remedy)
    units = np.full(problem.dim, float(np.max(sides)))
    if problem.timed and min(np.max(sides[:-1]), sides[-1]) > 0.0:
        units[:-1], units[-1] = float(np.max(sides[:-1])), float(sides[-1])
    return Frame(low, high, units)
