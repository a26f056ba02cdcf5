"""Points of a problem: how many for each condition, where, and those from which nothing is learned."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from kernop.basics.checks import check_choice, check_integer, check_memory
from kernop.basics.errors import ArgumentError, ArgumentTypeError, InputNameError, describe, fail, naming
from kernop.basics.frozen import Kept
from kernop.collocation.subdomains import by_subdomains
from kernop.collocation.units import Frame, frame_of
from kernop.geometry import Box, Points, Region
from kernop.geometry.bodies import made_of_balls_and_boxes
from kernop.geometry.cloud import CloudRegion
from kernop.geometry.composite import composite, grid
from kernop.geometry.domain import Domain
from kernop.geometry.points import concatenate
from kernop.geometry.sequences import SCHEMES, shares
from kernop.language.conditions import Condition
from kernop.language.problem import Problem

#: Points of all conditions together when the user gives no number.
DEFAULT_POINTS = 2000
#: How much denser than the interior a boundary is sampled, per direction.
BOUNDARY_DENSITY = 1.5
#: The largest part of the points that boundaries get: in many dimensions they measure more than the inside.
MOST_AROUND = 0.5
#: Interfaces on curves and on surfaces get at least so many points each, however small they are: fewer do not tie what
#: lies within to what lies around. But these are at most this part of all points for each, and this part for all
#: interfaces together, lest they leave no points for the boundary of the domain.
LEAST_ACROSS, PART_ACROSS, MOST_ACROSS = {1: 48, 2: 200}, 0.05, 0.5 * MOST_AROUND
#: Points of the quadrature rule of an integral, on a line, on a surface, and beyond.
QUADRATURE = (64, 1024, 8000)
#: How far the weights of a user's rule may add up to something else than the measure, which may be an estimate.
RULE = 0.05
#: Points that clouds give by themselves.
MOST_OF_CLOUDS = 20_000


def sample(
    problem: Problem, points: int | Mapping[str, Any] | None, scheme: str = "halton", seed: int = 0
) -> dict[str, Points]:
    """The points of each condition, by name, in the order of the problem.

    Arguments:
        points: a total that is shared out (see `share_out`), or by name: a number, `Points`, or an array (n, d).
    """
    check_choice("sampling", scheme, SCHEMES)
    seed = check_integer("seed", seed, least=0)
    if points is None or not isinstance(points, Mapping):
        total = DEFAULT_POINTS if points is None else check_integer("points", points, least=len(problem.conditions))
        check_memory("points", 3 * total * problem.dim, f"{describe(total)} of them", "ask for fewer")
        wanted: Mapping[str, Any] = share_out(problem, total, whole_clouds=points is None)
    else:
        wanted = _with_those_of_interfaces(problem, points)
        check_conditions("points", wanted, problem, each="points")
    seeds = np.random.SeedSequence(seed).generate_state(len(problem.conditions))
    return {
        condition.name: _points_of(condition, wanted[condition.name], scheme, int(own), problem)
        for condition, own in zip(problem.conditions, seeds, strict=True)
    }


def _with_those_of_interfaces(problem: Problem, points: Mapping[str, Any]) -> Mapping[str, Any]:
    """Numbers for interfaces that got none: as many as they would have of all points."""
    missing = [c.name for c in problem.conditions if c.across and c.name not in points]
    if not missing:
        return points
    total = sum(len(own) if hasattr(own, "__len__") else int(own) for own in points.values())
    shared = share_out(problem, max(total, len(problem.conditions)))
    return {**points, **{name: shared[name] for name in missing}}


def interior(problem: Problem, number: int, seed: int) -> Points:
    """About so many points where u lives: in the regions of the highest dimension, by their measures."""
    top = top_dimension(problem)
    regions = list({id(c.on): c.on for c in problem.conditions if c.on.intrinsic_dim == top}.values())
    counts = shares(number, [region.measure for region in regions])
    parts = [between(region, n, seed) for region, n in zip(regions, counts, strict=True) if n > 0]
    return concatenate([Points(part.x) for part in parts])


def top_dimension(problem: Problem) -> int:
    """The highest dimension of a region of the problem: that of the domain."""
    return max(condition.on.intrinsic_dim for condition in problem.conditions)


def held_out(problem: Problem, condition: Condition, number: int, seed: int) -> Points:
    """Points of a condition that no operator learns from; the quadrature rule itself for an integral."""
    if condition.integral:
        return rule(problem, condition)
    return between(condition.on, number, seed)


def between(region: Region, number: int, seed: int) -> Points:
    """Points of a region that no operator learns from: independent ones, or those halfway between points of a cloud.

    Where only some points of a region are known (`Region.known`), it is these.
    """
    if isinstance(region, CloudRegion):
        return _halfway(region, number, seed)
    if not region.known:
        return region.sample(min(number, 16), "uniform", seed)
    return region.sample(number, "uniform", seed)


def _halfway(cloud: CloudRegion, number: int, seed: int) -> Points:
    x = cloud.points.x
    if len(x) < 2:
        return cloud.points
    rows = np.random.default_rng(seed).permutation(len(x))[:number]
    near = np.asarray(KDTree(x).query(x[rows], k=2)[1])[:, 1]
    middle = 0.5 * (x[rows] + x[near])
    return Points(middle, cloud.normals(middle), cloud.timed)


def can_be_fresh(problem: Problem) -> bool:
    """Has every condition points beyond those of a cloud?"""
    return not any(isinstance(condition.on, CloudRegion) for condition in problem.conditions)


def check_conditions(argument: str, named: Iterable[object], problem: Problem, *, each: str | None = None) -> None:
    """Refuse names that are not those of conditions; and if some are missing, where ``each`` must have what it says."""
    known, given = ", ".join(map(repr, problem.names)), list(named)
    for name in given:
        if name not in problem.names:
            raise fail(InputNameError, argument, f"the unknown condition {name!r}", f"the conditions are {known}")
    missing = [name for name in problem.names if name not in given]
    if missing and each is not None:
        got = "none for condition " + " and ".join(map(repr, missing))
        raise fail(InputNameError, argument, got, f"give {each} for each of {known}")


def _points_of(condition: Condition, wanted: object, scheme: str, seed: int, problem: Problem) -> Points:
    name = f"points[{condition.name!r}]"
    if isinstance(wanted, bool | str) or wanted is None:
        raise fail(ArgumentTypeError, name, describe(wanted), "give a number, Points, or an array (n, d)")
    if isinstance(wanted, Points) or np.iterable(wanted):
        adopted = condition.on.adopt(wanted, name)
        if condition.integral:
            _check_rule(adopted, condition.on, name)
        return adopted
    count = check_integer(name, wanted, least=0)
    if count == 0:
        raise fail(ArgumentError, name, "0", "every condition needs at least one point")
    with naming(name):
        if condition.integral:
            return _counted_rule(problem, condition, count)
        if problem.cuts and condition.on.intrinsic_dim == problem.dim and condition.on.known:
            return _in_parts(problem, condition.on, count, scheme, seed)
        return condition.on.sample(count, scheme, seed)


def _in_parts(problem: Problem, region: Region, count: int, scheme: str, seed: int) -> Points:
    """Points of a domain that interfaces cut: half of them by measure, half of them alike for all parts.

    Points of all parts take turns, so that any slice of them, such as a batch, has its share of each.
    """
    regions, measures = zip(*by_subdomains(problem, region), strict=True)
    counts = shares(count, (1.0 / len(regions) + np.asarray(measures) / sum(measures)).tolist())
    drawn = [own.sample(n, scheme, seed) for own, n in zip(regions, counts, strict=True) if n > 0]
    turns = np.argsort(np.concatenate([(np.arange(len(own)) + 0.5) / len(own) for own in drawn]), kind="stable")
    return concatenate([Points(own.x) for own in drawn])[turns].placed(region.timed)


def _check_rule(points: Points, region: Region, name: str) -> None:
    """Raise unless points have weights that integrate 1 to the measure of their region, to a few per cent."""
    remedy = "give a number of them, or Points with weights, such as region.quadrature(1000)"
    if points.weight is None:
        raise fail(ArgumentError, name, "points without weights for an integral", remedy)
    total = float(np.sum(points.weight))
    if not abs(total - region.measure) <= RULE * region.measure:
        got = f"weights that add up to {total:g} on a region of measure {region.measure:g}"
        raise fail(ArgumentError, name, got, remedy)


def share_out(problem: Problem, total: int, *, whole_clouds: bool = False) -> dict[str, int]:
    """Divide a total number of points among the conditions; each gets at least one.

    A region of dimension m and measure |Γ| gets |Γ| / h^m points, with one spacing h for all regions and two thirds of
    it for boundaries, which together get at most half of the points (measured: docs/decisions.md). The ends of an
    interval are both taken. Clouds give all they have if it fits into their part of the total, which is equal for all
    conditions, and otherwise that part, in proportion to their sizes. With ``whole_clouds`` they give all they have
    whatever the total, up to 20 000 points together: there are no others. Of larger clouds a warning says how many are
    used. An integral is one condition whatever its rule: its points do not count.
    """
    regions = {condition.name: condition.on for condition in problem.conditions if not condition.integral}
    rules = {c.name: QUADRATURE[min(c.on.intrinsic_dim, 3) - 1] for c in problem.conditions if c.integral}
    clouds = {name: round(region.measure) for name, region in regions.items() if isinstance(region, CloudRegion)}
    others = {name: region for name, region in regions.items() if name not in clouds}
    counts = {name: round(region.measure) for name, region in others.items() if region.intrinsic_dim == 0}
    part = (total - sum(counts.values())) * len(clouds) // len(regions)
    counts |= _of_clouds(clouds, MOST_OF_CLOUDS if whole_clouds else max(part, len(clouds)), warned=whole_clouds)
    spread = {name: region for name, region in others.items() if region.intrinsic_dim > 0}
    left = total - min(part, sum(clouds.values())) - sum(counts[name] for name in others if name in counts)
    few = {c.name: LEAST_ACROSS.get(c.on.intrinsic_dim, 1) for c in problem.conditions if c.across}
    most = int(min(PART_ACROSS, MOST_ACROSS / max(len(few), 1)) * left)
    least = {name: max(1, min(number, most)) for name, number in few.items()}
    counts |= _inside_and_around(spread, frame_of(problem), left, least)
    return {name: (counts | rules)[name] for name in problem.names}


def _of_clouds(sizes: dict[str, int], most: int, warned: bool) -> dict[str, int]:
    """All points of clouds, or at most so many, in proportion."""
    if sum(sizes.values()) <= most:
        return sizes
    used = dict(zip(sizes, shares(most, list(sizes.values())), strict=True))
    if warned:
        some = ", ".join(f"{used[name]} of the {n} points of {name!r}" for name, n in sizes.items())
        remedy = "give points={name: number, …}, or stream them with Subspace(batch=…)"
        text = f"points: only {some} are used, spread at random; to use more, {remedy}."
        warnings.warn(text, UserWarning, stacklevel=5)
    return used


def _inside_and_around(
    regions: dict[str, Region], frame: Frame, total: int, least: Mapping[str, int]
) -> dict[str, int]:
    """By a common spacing, unless boundaries would get more than their part of the points; some have a least number."""
    counts, top = _by_spacing(regions, frame, total, least), max((r.intrinsic_dim for r in regions.values()), default=0)
    around = {name: region for name, region in regions.items() if region.intrinsic_dim < top}
    most = max(int(MOST_AROUND * total), len(around))
    if not around or sum(counts[name] for name in around) <= most:
        return counts
    inside = {name: region for name, region in regions.items() if name not in around}
    return _by_spacing(inside, frame, total - most, least) | _by_spacing(around, frame, most, least)


def _by_spacing(regions: dict[str, Region], frame: Frame, total: int, least: Mapping[str, int]) -> dict[str, int]:
    """The common spacing h is found by bisection."""
    if not regions:
        return {}
    top = max(region.intrinsic_dim for region in regions.values())
    # For each region its dimension, and the h for which it has one point.
    scales: dict[str, tuple[int, float]] = {}
    for name, region in regions.items():
        m = region.intrinsic_dim
        scales[name] = m, frame.measure(region) ** (1.0 / m) * (1.0 if m == top else BOUNDARY_DENSITY)

    def counts(h: float) -> dict[str, int]:
        return {name: max(least.get(name, 1), round((scale / h) ** m)) for name, (m, scale) in scales.items()}

    longest = max(scale for _, scale in scales.values())
    low, high = longest / (max(total, 1) + 1), 2.0 * longest
    for _ in range(100):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if sum(counts(middle).values()) > total else (low, middle)
    return counts(high)


def rule(problem: Problem, condition: Condition) -> Points:
    """Points with weights for the integral of a condition, on both sides of interfaces."""
    known = _rules.of(problem, Kept[Condition, Points])
    return known.of(condition, lambda: _rule(problem, condition))


_rules: Kept[Problem, Kept[Condition, Points]] = Kept()


def _counted_rule(problem: Problem, condition: Condition, count: int) -> Points:
    """The rule of so many points, if the user asks for another number than is usual and nothing cuts the region."""
    usual = count == QUADRATURE[min(condition.on.intrinsic_dim, 3) - 1]
    return rule(problem, condition) if problem.cuts or usual else condition.on.quadrature(count)


def _rule(problem: Problem, condition: Condition) -> Points:
    region, cuts = condition.on, [own for own in problem.cuts if isinstance(own, Domain)]
    n = QUADRATURE[min(region.intrinsic_dim, 3) - 1]
    body = isinstance(region, Domain) and not isinstance(region, Box) and made_of_balls_and_boxes(region)
    return composite(region, cuts, *grid(region, cuts), n) if cuts or body else region.quadrature(n)
