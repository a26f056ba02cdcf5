"""Cells in space that a domain does not fill: nodes on its boundary, on faces that are cut, and where it jumps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.collocation.cells.mosaic import scattered_nodes, trace_nodes
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.surfaces import PatchedSurface, sequence_of
from kernop.geometry.cells import Cells, Face
from kernop.geometry.seeking import sought

#: How far from a surface, in units of a cell, it is looked what is on its sides; how near a face is on the boundary.
ASIDE, ON = 1e-8, 1e-9
#: Nodes on the boundary of a part, for each of those of a trace.
BOUNDARY = 2.0
#: The least cosine of the angle between normals of a surface in a cell and their mean.
TURNED = 0.25
#: The smallest seam, as a part of its face.
SMALLEST = 1e-5


@dataclass(frozen=True, eq=False)
class SeamNodes:
    """Nodes between two parts, or on the boundary of one.

    Arguments:
        x, normal: the nodes, and normals from part ``below`` to part ``above``, (n, 3).
        below, above: the numbers of the parts; −1 for none.
    """

    x: FloatArray
    normal: FloatArray
    below: int
    above: int = -1


@dataclass(kw_only=True, frozen=True, eq=False)
class CutCells:
    """The parts of a domain in space, and what lies between them.

    Arguments:
        pieces: the domain, and the pieces between which coefficients jump.
        cells: the cells.
        numbers: of the part of each cell and piece.
        whole: does each part fill its cell?
        degree: traces are polynomials of a lower degree than this.
        seed: of points that are drawn.
    """

    pieces: Pieces
    cells: Cells
    numbers: Mapping[tuple[int, int], int]
    whole: Sequence[bool]
    degree: int
    seed: int

    def boundary(self) -> Iterator[SeamNodes]:
        """Nodes on the boundary of the domain: of Gauss on sides of cells that are filled, scattered in others."""
        nodes, _ = trace_nodes(2, self.degree)
        sides: dict[int, list[Face]] = {}
        for face in self.cells.faces:
            cell = max(face.below, face.above)
            if face.inner or not self._filled(cell):
                continue
            x = nodes_between(face.low, face.high, face.axis, nodes)
            if np.all(np.abs(self.pieces.whole.height(x)) < ON * self._size(cell)):
                sides.setdefault(cell, []).append(face)
                yield SeamNodes(x, along(face.axis, x) * (1.0 if face.below >= 0 else -1.0), self._parts(cell)[0][1])
        surface = PatchedSurface(self.pieces.whole.boundary.patches, self.seed)
        number = int(BOUNDARY * scattered_nodes(self.degree))
        for (cell, piece), part in self.numbers.items():
            x, normal = self._on(surface, cell, number, piece)
            known = np.zeros(len(x), dtype=bool)
            for face in sides.get(cell, ()):
                known |= np.abs(x[:, face.axis] - face.low[face.axis]) < ON * self._size(cell)
            if not np.all(known):
                if self.whole[part]:
                    _check_holes(normal[~known])
                yield SeamNodes(x[~known], normal[~known], part)

    def on_face(self, face: Face) -> Iterator[tuple[SeamNodes, bool]]:
        """Nodes on a face, for any two parts that share a part of it; and is it cut?"""
        step = ASIDE * min(self._size(face.below), self._size(face.above)) * np.eye(3)[face.axis]
        gauss, _ = trace_nodes(2, self.degree)
        number = scattered_nodes(self.degree)
        for i, below in self._parts(face.below):
            for j, above in self._parts(face.above):

                def holds(t: FloatArray, i: int = i, j: int = j) -> NDArray[np.bool_]:
                    x = nodes_between(face.low, face.high, face.axis, t)
                    return self.pieces.holds(x - step, i) & self.pieces.holds(x + step, j)

                if (self.whole[below] and self.whole[above]) or np.all(holds(gauss)):
                    x = nodes_between(face.low, face.high, face.axis, gauss)
                    yield SeamNodes(x, along(face.axis, x), below, above), False
                    continue
                unit = np.zeros(2), np.ones(2)
                t = sought(holds, unit, unit, number, sequence_of(2, self.seed))
                if len(t) == number and np.prod(np.ptp(t, axis=0)) > SMALLEST:
                    x = nodes_between(face.low, face.high, face.axis, t)
                    yield SeamNodes(x, along(face.axis, x), below, above), True

    def jumps(self) -> Iterator[SeamNodes]:
        """Nodes within cells on surfaces on which coefficients jump."""
        patches = self.pieces.jumps
        surface = PatchedSurface(patches, self.seed) if patches else None
        for cell in range(len(self.cells.leaves) if surface else 0):
            for (i, below), (j, above) in permutations(self._parts(cell), 2):
                assert surface is not None
                x, normal = self._on(surface, cell, scattered_nodes(self.degree), i, j)
                if len(x) >= scattered_nodes(2):
                    _check_turned(normal)
                    yield SeamNodes(x, normal, below, above)

    def _on(
        self, surface: PatchedSurface, cell: int, number: int, below: int, above: int | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """About so many points of a surface in a cell, with these pieces on its sides; None is outside."""
        low, high, aside = self.cells.low[cell], self.cells.high[cell], ASIDE * self._size(cell)

        def counts(x: FloatArray, normal: FloatArray) -> NDArray[np.bool_]:
            one, other = x - aside * normal, x + aside * normal
            held = _in_box(one, low, high) & self.pieces.holds(one, below)
            return held if above is None else held & _in_box(other, low, high) & self.pieces.holds(other, above)

        return surface.within(low, high, number, counts)

    def _parts(self, cell: int) -> list[tuple[int, int]]:
        """The pieces in a cell, and the parts that they are there."""
        found = [(piece, self.numbers.get((cell, piece), -1)) for piece in range(len(self.pieces))]
        return [(piece, part) for piece, part in found if part >= 0]

    def _filled(self, cell: int) -> bool:
        """Is there one part in a cell, which fills it?"""
        parts = self._parts(cell)
        return len(parts) == 1 and self.whole[parts[0][1]]

    def _size(self, cell: int) -> float:
        return float(np.max(self.cells.high[cell] - self.cells.low[cell]))


def _in_box(x: FloatArray, low: FloatArray, high: FloatArray) -> NDArray[np.bool_]:
    return np.all((x >= low) & (x <= high), axis=1)


def _check_turned(normal: FloatArray) -> None:
    """Raise if a surface in a cell turns so far that traces on it, which are functions on a plane, do not tell it."""
    mean = np.mean(normal, axis=0)
    if np.min(normal @ mean) < TURNED * np.linalg.norm(mean):
        got = "a coefficient that jumps on a surface that turns by more than a quarter in a cell"
        raise fail(ArgumentError, "cells", got, "use more cells")


def _check_holes(normal: FloatArray) -> None:
    """Raise if a surface goes all around in a cell of which no point was outside of the domain."""
    if np.linalg.norm(np.mean(normal, axis=0)) < TURNED:
        got = "a hole that is far smaller than the cell in which it is"
        raise fail(ArgumentError, "cells", got, "use more cells; or ko.Subspace, whose functions have poles in holes")


def along(axis: int, x: FloatArray) -> FloatArray:
    """The unit vector along an axis, for each of the points."""
    found = np.zeros(x.shape)
    found[:, axis] = 1.0
    return found


def nodes_between(low: FloatArray, high: FloatArray, axis: int, nodes: FloatArray) -> FloatArray:
    """Nodes in [0, 1]^(d−1) on the face between two corners that are equal along an axis, (n, d)."""
    x = np.empty((len(nodes), len(low)))
    x[:, axis] = low[axis]
    for own, k in enumerate(k for k in range(len(low)) if k != axis):
        x[:, k] = low[k] + nodes[:, own] * (high[k] - low[k])
    return x
