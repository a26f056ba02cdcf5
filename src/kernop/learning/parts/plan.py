"""Which cells a domain is cut into, and which degrees their polynomials have: from one operator to a finer one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from kernop.basics.errors import FloatArray
from kernop.collocation.cells.grading import Corners, cells_of, corners_of
from kernop.collocation.cells.mosaic import TIP, Mosaic
from kernop.collocation.cells.pieces import Pieces
from kernop.geometry.cells import Cells
from kernop.geometry.edges import reentrant
from kernop.language.problem import Problem
from kernop.learning.parts.degrees import HIGHEST, Chosen, DegreeRule, wanted
from kernop.methods.parts.space import PartsSpace

#: The first operator has polynomials of a degree lower by this, and corners graded for an error larger by this factor.
LOWER, SHALLOW = 2, 16.0
#: The same factor from level to level where a body in space has re-entrant edges: one or two halvings more.
REENTRANT_SHALLOW = 4.0
#: The factor by which that error grows until there are not too many cells.
SHALLOWER = 4.0
#: What is below this part of the worst error of a part may come from there: cells are not halved for it.
CARRIED = 1e-2
#: The least error at which grading aims.
LEAST = 1e-14
#: Cells below this part of the extent, nearer to a singularity than this many of their sizes, belong to its grading.
SMALL, NEAR = 2.0**-5, 2.5


@dataclass(kw_only=True, frozen=True)
class Plan:
    """Which cells a domain is cut into.

    Arguments:
        cells: about so many along the longest side.
        target: the error at which grading aims.
        degrees: of the polynomials in cells.
        varied: do degrees differ from cell to cell? Otherwise all have one, and where it is not enough cells are
            halved.
        halved: cells that are halved because they were wrong.
        fewest: if there are too many cells, so many along the longest side are enough.
    """

    cells: int
    target: float
    degrees: DegreeRule = field(compare=False)
    varied: bool = False
    halved: frozenset[Corners] = frozenset()
    fewest: int | None = None

    def laid(self, problem: Problem, pieces: Pieces, depth: int | None) -> tuple[Cells, FloatArray]:
        """The cells, graded so deeply, and the places to which they are graded."""
        return cells_of(problem, pieces, self.cells, self.target, depth, self.halved)

    def number(self, problem: Problem, pieces: Pieces, depth: int | None) -> int:
        """How many cells there are, graded so deeply."""
        return len(self.laid(problem, pieces, depth)[0].low)

    def within(self, most: int, problem: Problem, pieces: Pieces, depth: int | None) -> Plan:
        """Larger, graded less deeply, or not halved, until there are at most so many cells, if that helps."""
        bare = replace(self, halved=frozenset[Corners]())
        if self.number(problem, pieces, depth) <= most or self == replace(bare, target=1.0):
            return self
        if self.fewest is not None and self.cells > self.fewest:
            return replace(bare, cells=self.cells // 2).within(most, problem, pieces, depth)
        return replace(bare, target=min(1.0, SHALLOWER * self.target)).within(most, problem, pieces, depth)

    def refined(self, mosaic: Mosaic, wrong: NDArray[np.bool_], step: int) -> Plan:
        """With cells halved whose parts are wrong, (P,); if none is, with deeper grading, and, without it, all.

        In space cells of different sizes beside each other are no gain: a body made of boxes is graded to its edges,
        and any other domain cut into more cells.
        """
        if mosaic.pieces.dim == 3 and not mosaic.pieces.boxed:
            return replace(self, cells=self.cells + ceil(self.cells / 2)) if step or np.any(wrong) else self
        if mosaic.boxes[0].shape[1] == 3 and np.any(mosaic.singular):  # a body in space that is graded to its edges
            deeper = REENTRANT_SHALLOW if reentrant(mosaic.pieces.whole) else SHALLOW
            return replace(self, target=max(LEAST, self.target / deeper)) if step else self
        if step == 0:
            return self if not np.any(wrong) else self.halving(mosaic, wrong)
        if np.any(wrong):
            return self.halving(mosaic, wrong)
        if np.any(mosaic.singular):
            return replace(self, target=max(LEAST, self.target / SHALLOW**2))
        return self.halving(mosaic, np.ones(len(mosaic.owners), dtype=bool))

    def resolved(self, space: PartsSpace, wrong: FloatArray, slope: FloatArray, allowed: float, step: int) -> Plan:
        """With higher degrees on parts that are more wrong than allowed, or with their cells halved, which costs less.

        After the first operator, which is coarser than it would have to be, degrees are higher everywhere. Later, if no
        part is wrong, they are on the worst ones, and on those that are not judged, and grading is deeper.

        Arguments:
            wrong: how wrong the parts are, (P,), 0 for those that are not judged, and …
            slope: … how fast solutions decay there with the degree, (P,).
        """
        need, halve, finer = wanted(space.of_parts, wrong, slope, allowed)
        good, worst = not np.any(wrong > allowed), wrong > CARRIED * np.max(wrong)
        halve &= worst
        if step == 0 or good:
            some = (step == 0) | (wrong == 0.0) | worst
            need = np.where(some, np.maximum(need, np.minimum(space.of_parts + LOWER, HIGHEST)), need)
        mosaic = space.mosaic
        same, smaller, tips = map(mosaic.in_cells, (need, finer, mosaic.singular))
        plan = replace(
            self, degrees=Chosen(cells=mosaic.cells, same=same, finer=smaller, tips=tips > 0, otherwise=self.degrees)
        )
        if np.any(halve):
            return plan.halving(mosaic, halve)
        if step == 0 or not good:
            return plan
        if np.any(tips):
            return replace(plan, target=max(LEAST, self.target / SHALLOW))
        full = np.all(space.of_parts == HIGHEST)
        return plan.halving(mosaic, np.ones(len(mosaic.owners), dtype=bool)) if full else plan

    def richer(self, space: PartsSpace) -> bool:
        """Is a degree higher, in cells that stay, than in a space?"""
        mosaic = space.mosaic
        singular = mosaic.in_cells(mosaic.singular)
        higher = self.degrees(mosaic.cells, singular) > mosaic.in_cells(space.of_parts)
        return bool(np.any(higher & (singular == 0)))

    def halving(self, mosaic: Mosaic, wrong: NDArray[np.bool_]) -> Plan:
        """With cells halved whose parts are wrong, (P,)."""
        low, high = mosaic.cells.low, mosaic.cells.high
        cells = np.unique(mosaic.owners[wrong, 0])
        return replace(self, halved=self.halved | {corners_of(low[cell], high[cell]) for cell in cells.tolist()})


def rings(mosaic: Mosaic) -> NDArray[np.intp]:
    """Small cells around singularities: what is wrong there comes from within, and deeper grading mends it."""
    d = mosaic.pieces.dim
    low, high = mosaic.cells.low[:, :d], mosaic.cells.high[:, :d]
    size, middle = np.max(high - low, axis=1), 0.5 * (low + high)
    tips = middle[np.unique(mosaic.owners[mosaic.singular == TIP, 0])]
    small = np.flatnonzero(
        size < SMALL * float(np.max(mosaic.cells.corners[0, 1, :d] - mosaic.cells.corners[0, 0, :d]))
    )
    if len(tips) == 0 or len(small) == 0:
        return np.empty(0, dtype=np.intp)
    far, _ = KDTree(tips).query(middle[small], p=np.inf)
    return small[far < NEAR * size[small]]
