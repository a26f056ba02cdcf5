"""The subdomains into which interfaces cut a domain, each with functions of its own, and their holes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, IntArray, fail
from kernop.basics.fitting import REMEDY, check_shape
from kernop.basics.frozen import Kept
from kernop.basics.stored import stored
from kernop.geometry import Points, Region
from kernop.geometry.domain import Domain
from kernop.geometry.holes import Hole, holes_in
from kernop.geometry.region import PointSet
from kernop.geometry.several import Several
from kernop.language.problem import Problem
from kernop.language.sides import sides

#: Holes of a cloud have a radius of so many usual distances between its points: narrower ones are gaps.
WIDER = 3.0
#: Points of a region by which it is seen which subdomains there are; and of the whole, and of all domains together, by
#: which small ones are found too.
LOOK, SEARCHED = 1024, 4096


@stored("parts")
@dataclass(frozen=True, eq=False)
class Subdomains:
    """P subdomains of a domain, each of which is distinguished by which of some domains its points lie in.

    Arguments:
        domains: what the interfaces enclose.
        inside: whether subdomain p lies in domain j, (P, domains) numbers 0 and 1; no two rows are equal.
    """

    domains: tuple[Region, ...]
    inside: NDArray[np.int64]

    def check(self) -> None:
        """Raise unless no two subdomains lie in the same domains."""
        check_shape("inside", self.inside, None, len(self.domains))
        if not self.domains or len(np.unique(self.inside, axis=0)) < len(self.inside):
            raise fail(ArgumentError, "inside", "no domains, or the same subdomain twice", REMEDY)

    def __len__(self) -> int:
        return len(self.inside)

    def which(self, x: FloatArray) -> IntArray:
        """The subdomain of each point, (n,); of a point in none, the one with most domains in common.

        A point that two domains share with their boundaries is in the first of them, as it is for ko.Piecewise.
        """
        return self._several.once(self._which, x)

    def _which(self, x: FloatArray) -> IntArray:
        first, mine = self._ordered
        held = _memberships(self._several, x).astype(np.float64)
        # Σ |a − b| of zeros and ones is Σ a + Σ b − 2 Σ a b, of which the first is the same for all subdomains.
        return first[np.argmin(np.sum(mine, axis=1) - 2.0 * (held @ mine.T), axis=1)]

    @cached_property
    def _several(self) -> Several:
        return Several(self.domains)

    @cached_property
    def _ordered(self) -> tuple[IntArray, FloatArray]:
        """Subdomains of the first domains before the others, and which domains each of them lies in."""
        first = np.lexsort(self.inside.T[::-1])[::-1]
        return first, self.inside[first].astype(np.float64)


def subdomains_of(problem: Problem) -> Subdomains | None:
    """The subdomains that occur in the domain of a problem; None if nothing cuts it."""
    domains = problem.cuts
    if not domains:
        return None
    inner = [_some(c.on, LOOK) for c in problem.conditions if c.on.intrinsic_dim == problem.dim]
    near = [side.near[0].x for c in problem.conditions if c.across for side in sides(c.on, _some(c.on, LOOK), c.name)]
    x = np.concatenate([*(points.x for points in inner), *near])
    return Subdomains(domains, _distinct(_memberships(Several(domains), x)))


def occurring(problem: Problem, domains: tuple[Region, ...]) -> Subdomains:
    """The subdomains into which domains cut that of a problem, however small they are.

    A small subdomain is seldom found by points of the whole: points of the domains themselves, and of
    either side of their boundaries, find it.
    """
    inner = [c.on for c in problem.conditions if c.on.intrinsic_dim == problem.dim]
    surfaces = [c.on for c in problem.conditions if c.across]
    surfaces += [own.boundary for own in domains if isinstance(own, Domain)]
    each = -(-SEARCHED // len(domains))
    small = [_some(own, each).x for own in domains]
    small += [side.near[0].x for own in surfaces for side in sides(own, _some(own, each), "on")]
    x = np.concatenate(small)
    x = np.concatenate(
        [*(_some(own, SEARCHED).x for own in inner), x[np.any([own.contains(x) for own in inner], axis=0)]]
    )
    return Subdomains(domains, _distinct(_memberships(Several(domains), x)))


def _some(region: Region, number: int) -> Points:
    """So many points of a region, or as many as it has."""
    return region.sample(min(number, round(region.measure)) if isinstance(region, PointSet) else number)


def by_subdomains(problem: Problem, region: Region) -> list[tuple[Region, float]]:
    """The subdomains of a region of the full dimension that interfaces cut, and their measures, by estimation."""
    subdomains = subdomains_of(problem)
    if subdomains is None:
        return [(region, region.measure)]
    found: list[tuple[Region, float]] = []
    for p, inside in enumerate(subdomains.inside):
        # A subdomain of a small domain is found there, and seldom in the whole.
        around = [region, *(domain for domain, within in zip(subdomains.domains, inside, strict=True) if within)]
        base = min(around, key=lambda own: own.measure)

        def here(x: FloatArray, p: int = p) -> BoolArray:
            return (subdomains.which(x) == p) & region.contains(x)

        if np.any(here(_some(base, LOOK).x)):
            own = base.where(here)
            found.append((own, own.measure))
    return found


def _memberships(domains: Several, x: FloatArray) -> NDArray[np.int64]:
    """Which of the points x (n, d) lie in which domains, (n, domains) numbers 0 and 1."""
    return domains.containing(x, exactly=True).T.astype(np.int64)


def _distinct(inside: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct rows of zeros and ones, sorted; as bits, since NumPy is slow to sort long rows."""
    bits = sorted({row.tobytes() for row in np.packbits(inside.astype(bool), axis=1)})
    rows = np.frombuffer(b"".join(bits), dtype=np.uint8).reshape(len(bits), -1)
    return np.unpackbits(rows, axis=1, count=inside.shape[1]).astype(np.int64)


_kept: Kept[Problem, tuple[tuple[Hole, ...], ...]] = Kept()


def holes_of(problem: Problem) -> tuple[tuple[Hole, ...], ...]:
    """For each subdomain its holes, in the order of `subdomains_of`; found once.

    There are none on a line, in space and time, beyond three dimensions, and where a region is known by points alone.
    """
    return _kept.of(problem, lambda: _found(problem))


def _found(problem: Problem) -> tuple[tuple[Hole, ...], ...]:
    subdomains = subdomains_of(problem)
    regions = [c.on for c in problem.conditions if c.on.intrinsic_dim == problem.dim]
    count = 1 if subdomains is None else len(subdomains)
    if problem.timed or problem.dim not in (2, 3) or not all(region.known for region in regions):
        return ((),) * count

    def which(x: FloatArray) -> NDArray[np.integer]:
        inside = np.any([region.inside(x) for region in regions], axis=0)
        return np.where(inside, 0 if subdomains is None else subdomains.which(x), -1)

    low = np.min([region.bounds[0] for region in regions], axis=0)
    high = np.max([region.bounds[1] for region in regions], axis=0)
    # What counts as a gap of a cloud, by the distances between its points; 0 for what is known everywhere.
    clouds = [region.points.x for region in regions if isinstance(region, PointSet)]
    gaps = [float(np.median(np.asarray(KDTree(x).query(x, k=2)[0])[:, -1])) for x in clouds]
    narrowest = WIDER * max(gaps, default=0.0)
    every = holes_in(which, count, low, high)
    return tuple(tuple(hole for hole in own if hole.radius >= narrowest) for own in every)
