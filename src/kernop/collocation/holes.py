"""The holes of the domain of a problem, or of each of the parts into which interfaces cut it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import Kept
from kernop.collocation.parts import parts_of
from kernop.geometry import Region
from kernop.geometry.holes import Hole, holes_in
from kernop.geometry.region import PointSet
from kernop.language.problem import Problem

#: Holes of a cloud have a radius of so many usual distances between its points: narrower ones are gaps.
WIDER = 3.0

_kept: Kept[Problem, tuple[tuple[Hole, ...], ...]] = Kept()


def holes_of(problem: Problem) -> tuple[tuple[Hole, ...], ...]:
    """For each part of the domain its holes, in the order of `parts_of`; found once.

    There are none on a line, in space and time, beyond three dimensions, and where a region is known by points alone.
    """
    return _kept.of(problem, lambda: _found(problem))


def _found(problem: Problem) -> tuple[tuple[Hole, ...], ...]:
    parts = parts_of(problem)
    regions = [c.on for c in problem.conditions if c.on.intrinsic_dim == problem.dim]
    count = 1 if parts is None else len(parts)
    if problem.timed or problem.dim not in (2, 3) or not all(region.known for region in regions):
        return ((),) * count

    def which(x: FloatArray) -> NDArray[np.integer]:
        inside = np.any([region.inside(x) for region in regions], axis=0)
        return np.where(inside, 0 if parts is None else parts.which(x), -1)

    low = np.min([region.bounds[0] for region in regions], axis=0)
    high = np.max([region.bounds[1] for region in regions], axis=0)
    narrowest = max(_gap(region) for region in regions)
    every = holes_in(which, count, low, high)
    return tuple(tuple(hole for hole in own if hole.radius >= narrowest) for own in every)


def _gap(region: Region) -> float:
    """What counts as a gap of a cloud; 0 for what is known everywhere."""
    if not isinstance(region, PointSet):
        return 0.0
    distance = np.asarray(KDTree(region.points.x).query(region.points.x, k=2)[0])
    return WIDER * float(np.median(distance[:, -1]))
