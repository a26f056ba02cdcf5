"""Set operations know both sides of a surface: where the boundary of a combination is on those of its leaves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray
from kernop.geometry.cutting import Signs
from kernop.geometry.points import Points
from kernop.geometry.region import Patchwork

#: Surfaces that are nearer than this part of a domain's extent coincide, if the cosine of their normals differs from 1
#: by less than this.
COINCIDENT, ALIGNED = 1e-12, 1e-6


class Body(Patchwork):
    """A region of full dimension with a signed distance and a boundary."""

    @abstractmethod
    def height(self, x: FloatArray) -> FloatArray:
        """The signed distance of each row of x (n, d), which needs no check: negative inside, (n,)."""

    @property
    @abstractmethod
    def boundary(self) -> Patchwork:
        """The boundary, with normals that point outward."""


@dataclass(frozen=True, eq=False)
class Sides:
    """The two sides of the boundaries of leaves, seen from a combination of them.

    Arguments:
        leaves: the domains.
        holds: whether points are in the combination, (n,), from whether they are in each leaf.
    """

    leaves: Sequence[Body]
    holds: Callable[[Sequence[BoolArray]], BoolArray]

    @cached_property
    def room(self) -> float:
        """What is nearer than this to a surface lies on it."""
        low, high = (np.array([leaf.bounds[k] for leaf in self.leaves]) for k in (0, 1))
        return max(COINCIDENT * float(np.max(high - low)), 4e-15 * float(np.max(np.abs([low, high]))))

    def signs(self, points: Points, leaf: int) -> Signs:
        """For points of the boundary of a leaf, with its normals: 0 where the boundary of the combination is not, or is
        that of another leaf; +1 where it has the same normal, −1 where it has the opposite one."""
        here = np.ones(len(points), dtype=bool)
        within, beyond, mine = list[BoolArray](), list[BoolArray](), here.copy()
        for number, other in enumerate(self.leaves):
            if number == leaf:
                within.append(here)
                beyond.append(~here)
                continue
            distance = other.height(points.x)
            inner = distance < 0.0
            aligned = self._aligned(other, points, np.abs(distance) <= self.room)
            within.append(np.where(aligned == 0, inner, aligned > 0))
            beyond.append(np.where(aligned == 0, inner, aligned < 0))
            if number < leaf:
                mine &= aligned == 0
        back, front = self.holds(within), self.holds(beyond)
        return np.where(mine & (back != front), np.where(back, 1, -1), 0).astype(np.int8)

    def _aligned(self, other: Body, points: Points, near: BoolArray) -> Signs:
        """Where points lie on the boundary of another leaf: +1 if it has the same normal there, −1 if the opposite."""
        found = np.zeros(len(points), dtype=np.int8)
        if near.any():
            normal = other.boundary.normals(points.x[near])
            assert normal is not None
            cosine = np.sum(normal * points.outward[near], axis=1)
            found[near] = np.where(np.abs(cosine) > 1.0 - ALIGNED, np.sign(cosine), 0)
        return found

    def nearness(self, x: FloatArray, leaf: int) -> FloatArray:
        """How far each point is from the boundaries of all other leaves, (n,)."""
        others = (other for number, other in enumerate(self.leaves) if number != leaf)
        return reduce(np.minimum, (np.abs(other.height(x)) for other in others))
