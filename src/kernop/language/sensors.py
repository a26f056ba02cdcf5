"""Sensors: values of u, or of any operator of u, that were measured at scattered points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from kernop.basics.checks import check_coordinates, check_number
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FloatArray,
    OutsideDomainError,
    ShapeError,
    describe,
    fail,
)
from kernop.basics.stored import stored
from kernop.geometry import Points
from kernop.geometry.region import At, PointSet
from kernop.language.conditions import Condition
from kernop.language.ops import itself
from kernop.language.unknowns import Operator, Unknowns

#: Sensors that are nearer to each other than this part of their extent are at the same place.
SAME = 1e-12


@stored("measured")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Measured(Condition):
    """(P u)(x_i) = h_i + ε_i at points x_i, with independent errors ε_i ~ N(0, σ²).

    Arguments:
        level: σ; None for data without errors.
    """

    level: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = "give the standard deviation of the errors in the units of the data, or no noise if there are none"
        if self.level is not None:
            level = check_number("noise", self.level, above=0.0, remedy=remedy)
            object.__setattr__(self, "level", level)

    @property
    def noise(self) -> float | None:
        return self.level

    def completed(self, others: Sequence[Condition], unknowns: Unknowns) -> Condition:
        """With the time of the problem; all sensors must lie where other conditions hold."""
        assert isinstance(self.on, PointSet)
        regions = [other.on for other in others if not isinstance(other, Measured)]
        if not regions or regions[0].dim != self.on.dim:  # which the problem refuses
            return self
        placed = replace(self, on=At(self.on.points.placed(regions[0].timed)))
        x = self.on.points.x
        outside = ~np.any([region.contains(x) for region in regions if region.known], axis=0)
        if np.any(outside) and all(region.known for region in regions):
            first = int(np.argmax(outside))
            got = f"{int(outside.sum())} of {len(x)} sensors outside the domain, the first is {first}, at {x[first]}"
            raise fail(OutsideDomainError, self.name, got, "give places where a condition of the problem holds")
        return placed


def Sensors(
    at: object,
    name: str = "sensors",
    noise: float | None = None,
    *,
    op: Operator = itself,
    of: str | None = None,
    data: object = None,
) -> Condition:
    """(P u)(x_i) = h_i, measured at scattered points: T(…, sensors=h), h of shape (n,).

    With ``noise`` the readings need not be met: row i of condition k has the weight 1 / σ_k² beside the prior. Other
    conditions, of which nothing is stated, count as exact; ``learn(noise={name: σ})`` states it for those too. `T.std`
    is then the band of the posterior in the units of u, and `T.evidence` compares kernels. The prior is that of the
    kernel, with its scale: ``100.0 * ko.Gaussian(0.5)`` for u of size 10.

    Arguments:
        at: the places, (n, d) with time last on a SpaceTime; or `Points` or ``D.boundary.at(x)``, which have normals
            for an operator that needs them.
        noise: σ, the standard deviation of the errors in the readings, in their units; None: they are exact.
        op: P, a function of a field; u itself if it is left out.
    """
    points = _points(at)
    _check_apart(points.x, name)
    return Measured(op, At(points), name, data=data, of=of, level=noise)


def _points(at: Any) -> Points:
    if isinstance(at, PointSet):
        return at.points
    if isinstance(at, Points):
        return at
    if callable(at) or hasattr(at, "sample"):
        remedy = "give the places of the sensors, (n, d); a condition on a whole region is Condition(op, on, name)"
        raise fail(ArgumentTypeError, "at", describe(at), remedy)
    if np.ndim(at) == 1:
        remedy = "give one row for each sensor, (n, d); on a line (n, 1)"
        raise fail(ShapeError, "at", f"an array of shape {np.shape(at)}", remedy)
    return Points(check_coordinates("at", at))


def _check_apart(x: FloatArray, name: str) -> None:
    """Raise if two sensors are at the same place, and at the same time."""
    extent = np.ptp(x, axis=0)
    units = np.where(extent > 0.0, extent, np.maximum(np.abs(x).max(axis=0), 1.0))
    twice = KDTree(x / units).query_pairs(SAME)
    if twice:
        i, j = min(twice)
        remedy = "give one of them, with the mean of the readings and the noise divided by √2"
        raise fail(ArgumentError, name, f"sensors {i} and {j} at the same place, {x[i]}", remedy)
