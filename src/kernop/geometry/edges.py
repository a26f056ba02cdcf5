"""Edges of bodies that are made of boxes with parallel sides, on a grid whose lines go through all these sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import BoolArray, FloatArray
from kernop.geometry.box import Box
from kernop.geometry.domain import Domain


def made_of_boxes(domain: Domain | None) -> bool:
    """Is a domain a box, or made of boxes by set operations?"""
    return domain is not None and all(isinstance(leaf, Box) for leaf in domain.leaves)


def reentrant(domain: Domain) -> bool:
    """Has a body in space that is made of boxes a re-entrant edge?"""
    low, high = domain.bounds
    sides = np.array([side for leaf in domain.leaves for side in leaf.bounds])
    lines = [np.unique(np.clip(own, a, b)) for own, a, b in zip(sides.T, low, high, strict=True)]
    return any(map(np.any, EdgesOnGrid.of(domain, lines).planes(True)))


@dataclass(frozen=True, eq=False)
class EdgesOnGrid:
    """Edges of a body in space, of whose surface all is in planes of a grid.

    Around a line of the grid there are four boxes: if one of them is in the body, the line is a convex edge of it, and
    a re-entrant one if three are, or two that meet nowhere else.

    Arguments:
        lines: the coordinates of the planes across each axis.
        filled: which boxes of the grid are in the body, (n₀, n₁, n₂).
    """

    lines: Sequence[FloatArray]
    filled: BoolArray

    @classmethod
    def of(cls, domain: Domain, lines: Sequence[FloatArray]) -> EdgesOnGrid:
        """The edges of a domain."""
        middles = np.stack(np.meshgrid(*(0.5 * (own[1:] + own[:-1]) for own in lines), indexing="ij"), axis=-1)
        return cls(lines, domain.height(middles.reshape(-1, domain.dim)).reshape(middles.shape[:-1]) < 0.0)

    def _around(self) -> Iterator[tuple[int, int, BoolArray, BoolArray]]:
        """Two axes, and which lines along the third, in each layer of boxes, are convex and re-entrant edges."""
        for i, j in combinations(range(3), 2):
            wide = np.pad(np.moveaxis(self.filled, (i, j), (0, 1)), [(1, 1), (1, 1), (0, 0)]).astype(np.int64)
            a, b, c, d = wide[:-1, :-1], wide[1:, :-1], wide[:-1, 1:], wide[1:, 1:]
            number = a + b + c + d
            yield i, j, number == 1, (number == 3) | ((number == 2) & (a == d))

    def planes(self, reentrant: bool) -> list[BoolArray]:
        """In which planes across each axis there is a convex, or a re-entrant, edge."""
        found = [np.zeros(len(own), dtype=bool) for own in self.lines]
        for i, j, *kinds in self._around():
            found[i] |= np.any(kinds[reentrant], axis=(1, 2))
            found[j] |= np.any(kinds[reentrant], axis=(0, 2))
        return found

    def middles(self) -> FloatArray:
        """The middle of every edge of a box of the grid that is on an edge of the body, (k, 3)."""
        found = [np.empty((0, 3))]
        for i, j, convex, reentrant in self._around():
            (k,) = {0, 1, 2} - {i, j}
            own = self.lines[k]
            at_i, at_j, at_k = np.nonzero(convex | reentrant)
            x = np.empty((len(at_i), 3))
            x[:, i], x[:, j], x[:, k] = self.lines[i][at_i], self.lines[j][at_j], 0.5 * (own[1:] + own[:-1])[at_k]
            found.append(x)
        return np.concatenate(found)


def crowded(lines: FloatArray, levels: Sequence[int] | NDArray[np.int64]) -> FloatArray:
    """Grid lines with so many others beside each of them: half as far away as the next one, and so on."""
    found = [lines]
    for (k, a), side in product(enumerate(lines), (-1, 1)):
        if 0 <= k + side < len(lines):
            found.append(a + 0.5 ** np.arange(1, levels[k] + 1) * (lines[k + side] - a))
    ordered = np.sort(np.concatenate(found))
    return ordered[np.diff(ordered, prepend=-np.inf) > 1e-12 * (lines[-1] - lines[0])]
