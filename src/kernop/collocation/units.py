"""The box around a problem, and its natural units of length and time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.geometry import Region
from kernop.language.problem import Problem


@dataclass(frozen=True, eq=False)
class Frame:
    """The box that holds the problem, and its natural units.

    Arguments:
        low, high: the corners, (d,).
        units: the length along each axis that counts as one, (d,): the same for all spatial axes, and the duration
            for time.
    """

    low: FloatArray
    high: FloatArray
    units: FloatArray

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


def frame_of(problem: Problem) -> Frame:
    """The box around all regions; space has one unit, time its own."""
    low = np.min([condition.on.bounds[0] for condition in problem.conditions], axis=0)
    high = np.max([condition.on.bounds[1] for condition in problem.conditions], axis=0)
    sides = high - low
    if not np.max(sides) > 0.0:
        remedy = "add the equation, on a domain"
        raise fail(ArgumentError, "problem", f"conditions at one point only, {low}", remedy)
    units = np.full(problem.dim, float(np.max(sides)))
    if problem.timed and min(np.max(sides[:-1]), sides[-1]) > 0.0:
        units[:-1], units[-1] = float(np.max(sides[:-1])), float(sides[-1])
    return Frame(low, high, units)
