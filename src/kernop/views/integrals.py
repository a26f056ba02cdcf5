"""Integrals over domains, parts of them and boundaries: by quadrature, with more points until nothing changes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kernop.basics.checks import check_kind
from kernop.basics.errors import (
    AccuracyWarning,
    ArgumentError,
    FloatArray,
    NumberArray,
    OutsideDomainError,
    ShapeError,
    fail,
)
from kernop.geometry import Points, Region
from kernop.geometry.region import PointSet
from kernop.views.rules import rules
from kernop.views.scene import Scene

#: Changes from one rule to the next, as a part of ∫ |v|, that count as none; and that are worth a word.
SETTLED, DOUBTFUL = 1e-8, 1e-3
#: Points by which regions that overlap are found out.
PROBES = 256

#: Takes points to values (n, …).
Integrand = Callable[[Points], NumberArray]


def integral(integrand: Integrand, regions: Sequence[Region], what: str) -> NumberArray:
    """∫ v over regions that do not overlap: a number, or an array of the shape of a value."""
    return np.sum([_over(integrand, region, what) for region in regions], axis=0)


def _over(integrand: Integrand, region: Region, what: str) -> NumberArray:
    before, found, change, size, count = None, np.zeros(()), 0.0, 1.0, 0
    for points in rules(region):
        assert points.weight is not None
        values = integrand(points)
        found = np.tensordot(points.weight, values, axes=1)
        size = float(np.max(np.tensordot(points.weight, np.abs(values), axes=1)))
        change = 0.0 if before is None else float(np.max(np.abs(found - before)))
        if before is not None and change <= SETTLED * size:
            return found
        before, count = found, len(points)
    if change > DOUBTFUL * size:
        warnings.warn(
            f"{what}: the integral over {region!r} still changes by {change / size:.0e} of ∫ |v| with {count} points: "
            "the integrand, or the region, is too rough for the rule",
            AccuracyWarning,
            stacklevel=5,
        )
    return found


def read_region(scene: Scene, region: Any) -> list[Region]:
    """Where to integrate: the user's region, or the whole domain in parts that do not overlap."""
    if region is None:
        return _apart(scene.regions)
    check_kind("region", region, Region, "give a region, such as D, D.boundary or a part of it")
    if region.dim != scene.dim:
        got = f"{region!r} in {region.dim} dimensions"
        raise fail(ShapeError, "region", got, f"give one in {scene.dim} dimensions ({', '.join(scene.names)})")
    x = region.sample(PROBES).x if not isinstance(region, PointSet) else region.points.x
    outside = ~scene.contains(x)
    if outside.any():
        got = f"{region!r}, which reaches outside the domain, as at {x[np.argmax(outside)]}"
        raise fail(OutsideDomainError, "region", got, "give a part of the domain, or of its boundary")
    return [region]


def _apart(regions: Sequence[Region]) -> list[Region]:
    """The same union without regions that lie in others; an error if some overlap in part."""
    if not regions:
        raise fail(ArgumentError, "region", "none for a cut", "integrate over the domain, or say region=")
    kept: list[Region] = []
    for region in regions:
        if isinstance(region, PointSet):
            got = "a domain that is known by its points, which have no volume"
            raise fail(ArgumentError, "region", got, "use u.mean(), the average over them, or say region=")
        if any(_part(region, other) == 1.0 for other in kept):
            continue
        kept = [other for other in kept if _part(other, region) < 1.0]
        if any(_part(region, other) > 0.0 for other in kept):
            got = f"a domain of parts that overlap, such as {region!r}"
            raise fail(ArgumentError, "region", got, "say over which region to integrate")
        kept.append(region)
    return kept


def _part(one: Region, other: Region) -> float:
    """The part of a region that lies in another one."""
    return float(np.mean(other.contains(one.sample(PROBES).x)))


def squared_sizes(values: NumberArray, axes: int) -> FloatArray:
    """|v|² of values (n, …), summed over the parts of a vector or a gradient: so many axes after the first."""
    return np.sum(np.abs(values) ** 2, axis=tuple(range(1, 1 + axes)))
