"""A domain that is cut into parts, and the points inside them: all that nodes on their sides depend on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.collocation.cells.elliptic import Kind, kind_of
from kernop.collocation.cells.insides import Insides
from kernop.collocation.cells.lasting import times_of
from kernop.collocation.cells.mirror import Mirror
from kernop.collocation.cells.mosaic import Counts, trace_nodes
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.singularities import stars_among
from kernop.collocation.cells.spatial import CutCells
from kernop.geometry.cells import Cells
from kernop.geometry.clipping import Line
from kernop.geometry.patch import Patch
from kernop.language.ops import itself
from kernop.language.problem import Problem


class Layout:
    """The parts of a domain by the cells in which they are, with points inside each.

    Attributes:
        space, times: the dimension of space, and the first and the last time, if there are any.
        plane, spatial: is it in the plane? Or in space with parts that do not fill their cells?
        low, high, size: the corners in space of all cells, and their largest sides.
        by_values: is it an equation of second order for one unknown, of which values are given on all sides?
        mirror, stars: how cells of space are mirrored; the cells that are stars.
        owners, numbers: the cell and the piece of each part, and the number of each such pair.
        inner, whole: the points inside each part; does it fill its cell?
    """

    def __init__(
        self,
        problem: Problem,
        pieces: Pieces,
        cells: Cells,
        *,
        singular: NDArray[np.int64],
        counts: Sequence[Counts],
        seed: int,
    ) -> None:
        self.problem, self.pieces, self.cells = problem, pieces, cells
        self.singular, self.counts, self.seed = singular, counts, seed
        self.space, self.times = pieces.dim, times_of(problem)
        self.plane = self.space == 2
        self.low, self.high = cells.low[:, : self.space], cells.high[:, : self.space]
        self.size = np.max(self.high - self.low, axis=1)
        #: A domain in space that is no box, or of pieces, has parts that do not fill their cells.
        self.spatial = self.space == 3 and not pieces.boxed
        self.by_values = self.plane and self.times is None and not np.any(self.singular) and _by_values(problem)
        self.mirror = Mirror(cells.corners[0], self.space == 3 and not self.spatial)
        self.stars = stars_among(problem, pieces, cells)
        insides = Insides(
            problem,
            pieces,
            cells,
            singular=singular > 0,
            stars=self.stars,
            counts=counts,
            by_values=self.by_values,
            mirror=self.mirror,
            seed=seed,
        )
        self.owners, self.numbers = insides.owners, insides.numbers
        self.inner, self.whole = insides.x, insides.whole

    def nodes(self, cell: int) -> FloatArray:
        """Nodes on sides of parts of a cell, (n, d − 1) in the unit cube."""
        return trace_nodes(self.problem.dim - 1, self.counts[cell].traces)[0]

    @cached_property
    def cut(self) -> CutCells:
        """The parts of a domain in space that is no box."""
        return CutCells(
            pieces=self.pieces,
            cells=self.cells,
            numbers=self.numbers,
            whole=self.whole,
            degree=self.counts[0].traces,  # in space all parts have one degree
            seed=self.seed,
        )

    def risen(self, x: FloatArray, normal: FloatArray, nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Places of space and normals, (n, d) each, at the times that are the last coordinate of nodes, if any."""
        if self.times is None:
            return x, normal
        t = self.times[0] + nodes[:, -1:] * (self.times[1] - self.times[0])
        return np.hstack([x, t]), np.hstack([normal, np.zeros_like(t)])

    def clipped(self, patches: Sequence[Patch]) -> list[tuple[Line, int, float, float]]:
        """Lines cut to cells: which line, which cell, and from where to where."""
        found: list[tuple[Line, int, float, float]] = []
        low, high = self.low, self.high
        for line in map(Line.of, patches):
            x, _ = line.at(np.linspace(0.0, 1.0, 33))
            room = 0.1 * (np.max(x, axis=0) - np.min(x, axis=0)) + 1e-9 * (high - low)
            near = np.all((low - room <= np.max(x, axis=0)) & (high + room >= np.min(x, axis=0)), axis=1)
            for cell in np.flatnonzero(near).tolist():
                found += [(line, cell, a, b) for a, b in line.within(low[cell], high[cell])]
        return found


def _by_values(problem: Problem) -> bool:
    """Is it an equation of second order for one unknown, of which values are given on all sides?"""
    kind, sides = kind_of(problem), [c for c in problem.conditions if c.on.intrinsic_dim < problem.dim]
    plain = isinstance(kind, Kind) and kind.order == 2 and len(kind.traced) == 1 and not kind.pressures
    return plain and all(c.op is itself for c in sides)
