"""Problems in space and time seen from space, whose cells, walls and jumps last: they are the same at all times."""

from __future__ import annotations

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, describe, fail
from kernop.collocation.ansatz import Tabulated
from kernop.collocation.cells.elliptic import equations_of
from kernop.geometry import Points, Region, SpaceTime
from kernop.geometry.domain import Domain
from kernop.language.problem import Problem

#: Points of a part of the boundary by which it is seen whether it is a slice of time.
LOOKED_AT = 64


def space_of(region: Region) -> Domain | None:
    """The domain of an equation, or of its space, if its boundary is known."""
    space = region.space if isinstance(region, SpaceTime) else region
    return space if isinstance(space, Domain) else None


def times_of(problem: Problem) -> tuple[float, float] | None:
    """The first and the last time of a problem in space and time; None for others."""
    on = equations_of(problem)[0].on
    return on.times if isinstance(on, SpaceTime) else None


def lasting(problem: Problem, x: FloatArray) -> FloatArray:
    """Places (n, d) of space as places of a problem: at a middle time, if it is one in space and time."""
    times = times_of(problem)
    return x if times is None else np.hstack([x, np.full((len(x), 1), 0.5 * sum(times))])


def lasting_points(problem: Problem, x: FloatArray, normal: FloatArray) -> Points:
    """The same with normals (n, d) of space."""
    places = lasting(problem, x)
    return Points(places, np.hstack([normal, np.zeros((len(x), places.shape[1] - x.shape[1]))]), problem.timed)


def too_brief(region: Region, times: tuple[float, float]) -> str | None:
    """Why a coefficient that jumps at the boundary of a region has no cells, in words; None if the region lasts."""
    first, last = region.times if isinstance(region, SpaceTime) else (np.inf, -np.inf)
    if first <= times[0] and last >= times[1]:
        return None
    return f"a coefficient that jumps at the boundary of {region!r}, not at all times from {times[0]:g} to {times[1]:g}"


def lasting_region(region: Region, times: tuple[float, float]) -> Region:
    """The region of space of one that lasts from the first to the last time; an error if it does not."""
    brief = too_brief(region, times)
    if brief is not None or not isinstance(region, SpaceTime):
        remedy = "give regions SpaceTime(domain, times) that last as long, or longer"
        raise fail(ArgumentError, "method", brief or describe(region), remedy)
    return region.space


def without_parts(problem: Problem) -> str | None:
    """Why parts in space and time cannot be made for conditions, in words; None if they can."""
    for c in problem.conditions:
        if isinstance(c.op, Tabulated):
            return "an operator that is known at some points only"
        if c.noise is not None or c.paired or c.integral or c.across:
            return f"sensors, periodic sides, integrals or interfaces in space and time, as {c.name!r}"
        if c.on.intrinsic_dim < problem.dim - 1:
            return f"a condition at single places or times, {c.name!r}"
    late = at_time(problem, 1)
    return f"a condition at the final time, {late[0]!r}" if late else None


def at_time(problem: Problem, end: int) -> list[str]:
    """The names of the conditions that are stated, also, at the first time, 0, or the last, 1."""
    times = times_of(problem)
    around = [c for c in problem.conditions if c.on.intrinsic_dim == problem.dim - 1]
    found = [] if times is None else [(c.name, c.on.sample(LOOKED_AT), times[end]) for c in around]
    return [
        name
        for name, some, t in found
        if some.normal is not None and np.any((np.abs(some.normal[:, -1]) > 0.5) & (some.x[:, -1] == t))
    ]
