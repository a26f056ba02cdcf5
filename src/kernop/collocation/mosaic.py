"""A domain in cells: its parts, the seams between them, and where the points of a problem stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.collocation.pieces import Pieces
from kernop.geometry import Points
from kernop.geometry.cells import Cells
from kernop.geometry.sequences import gauss


@dataclass(frozen=True, eq=False)
class Seam:
    """Nodes on a line, or a face, between two parts.

    Arguments:
        x: the nodes, (n, d).
        normal: from part ``below`` to part ``above``, (n, d).
        below, above: the numbers of the parts.
        degree: traces on it are polynomials of a lower degree than this.
    """

    x: FloatArray
    normal: FloatArray
    below: int
    above: int
    degree: int


def trace_nodes(axes: int, degree: int) -> tuple[FloatArray, FloatArray]:
    """Nodes on a face with so many axes, (n, axes), and weights with sum 1, for polynomials below a degree.

    On a line they are twice as many as the polynomials.
    """
    return gauss((1.0,) * axes, (2 * degree if axes == 1 else degree + 2) ** axes)


@dataclass(frozen=True, eq=False)
class Mosaic:
    """Where the rows of a problem on cells stand. A part is what of a piece of the domain lies in a cell.

    Arguments:
        cells: the cells.
        pieces: the pieces.
        owners: the cell and the piece of each part, (P, 2).
        boxes: around each part, lower and upper corners (P, d).
        seams: between two parts.
        points: of each condition, by name, part after part.
        starts: of each condition, where the points of each part begin, (P + 1,).
    """

    cells: Cells
    pieces: Pieces
    owners: NDArray[np.intp]
    boxes: tuple[FloatArray, FloatArray]
    seams: tuple[Seam, ...]
    points: Mapping[str, Points]
    starts: Mapping[str, NDArray[np.intp]]

    @cached_property
    def of_cells(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the parts in each cell."""
        found: list[list[int]] = [[] for _ in self.cells.leaves]
        for part, (cell, _) in enumerate(self.owners.tolist()):
            found[cell].append(part)
        return tuple(map(tuple, found))

    def locate(self, x: FloatArray) -> NDArray[np.intp]:
        """The part that holds each point x (n, d), or one of its cell: (n,)."""
        cells, pieces = self.cells.locate(x), self.pieces.which(x)
        table = np.full((len(self.cells.leaves), len(self.pieces)), -1, dtype=np.intp)
        table[self.owners[:, 0], self.owners[:, 1]] = np.arange(len(self.owners))
        first = np.array([own[0] for own in self.of_cells])
        found = table[cells, pieces]
        return np.where(found >= 0, found, first[cells])
