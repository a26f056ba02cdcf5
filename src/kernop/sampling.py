"""Points for every condition of a problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernop.domains import Points
from kernop.domains.cloud import CloudRegion
from kernop.domains.sequences import SCHEMES
from kernop.errors import (
    ArgumentError,
    ArgumentTypeError,
    InputNameError,
    check_choice,
    check_integer,
    describe,
    fail,
)
from kernop.problem import Condition, Problem

#: Points of all conditions together when the user gives no number.
DEFAULT_POINTS = 2000
#: How much denser than the interior a boundary is sampled, per direction.
BOUNDARY_DENSITY = 2.0


def sample(
    problem: Problem, points: int | Mapping[str, Any] | None, scheme: str = "halton", seed: int = 0
) -> dict[str, Points]:
    """The points of each condition, by name, in the order of the problem.

    Arguments:
        points: a total that is shared out (see `share_out`), or by name: a number, `Points`, or an array (n, d).
    """
    check_choice("sampling", scheme, SCHEMES)
    check_integer("seed", seed, least=0)
    if points is None or not isinstance(points, Mapping):
        total = DEFAULT_POINTS if points is None else check_integer("points", points, least=len(problem.conditions))
        wanted: Mapping[str, Any] = share_out(problem, total)
    else:
        wanted = points
        _check_names(problem, wanted)
    seeds = np.random.SeedSequence(seed).generate_state(len(problem.conditions))
    return {
        condition.name: _points_of(condition, wanted[condition.name], scheme, int(own))
        for condition, own in zip(problem.conditions, seeds, strict=True)
    }


def _check_names(problem: Problem, points: Mapping[str, Any]) -> None:
    known = ", ".join(map(repr, problem.names))
    for name in points:
        if name not in problem.names:
            raise fail(InputNameError, "points", f"the unknown condition {name!r}", f"the conditions are {known}")
    for name in problem.names:
        if name not in points:
            raise fail(InputNameError, "points", f"none for condition {name!r}", f"give points for each of {known}")


def _points_of(condition: Condition, wanted: Any, scheme: str, seed: int) -> Points:
    name = f"points[{condition.name!r}]"
    if isinstance(wanted, Points) or np.ndim(wanted) > 0:
        return condition.on.adopt(wanted, name)
    if isinstance(wanted, bool | str) or wanted is None:
        raise fail(ArgumentTypeError, name, describe(wanted), "give a number, Points, or an array (n, d)")
    count = check_integer(name, wanted, least=0)
    if count == 0:
        raise fail(ArgumentError, name, "0", "every condition needs at least one point")
    return condition.on.sample(count, scheme, seed)


def share_out(problem: Problem, total: int) -> dict[str, int]:
    """Divide a total number of points among the conditions by one common spacing h.

    A region of dimension m and measure |Γ| gets |Γ| / h^m points, boundaries at half the spacing; h is found by
    bisection. A cloud gives at most what it has.
    """
    regions = {condition.name: condition.on for condition in problem.conditions}
    top = max(region.intrinsic_dim for region in regions.values())

    def counts(h: float) -> dict[str, int]:
        found: dict[str, int] = {}
        for name, region in regions.items():
            if isinstance(region, CloudRegion):
                found[name] = int(region.measure)
                continue
            spacing = h if region.intrinsic_dim == top else h / BOUNDARY_DENSITY
            found[name] = max(1, round(region.measure / spacing**region.intrinsic_dim))
        return found

    if any(isinstance(region, CloudRegion) for region in regions.values()):
        return counts(1.0)
    low, high = 1e-12, max(region.extent for region in regions.values())
    for _ in range(200):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if sum(counts(middle).values()) > total else (low, middle)
    return counts(high)
