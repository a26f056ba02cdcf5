"""Which parts there are in the cells of a domain, and points inside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.frozen import frozen
from kernop.collocation.cells.elliptic import Kind, kind_of
from kernop.collocation.cells.mirror import Mirror
from kernop.collocation.cells.mosaic import Counts
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.stars import Star
from kernop.collocation.cells.surfaces import sequence_of
from kernop.geometry.cells import Cells, looks
from kernop.geometry.clipping import Outline
from kernop.geometry.seeking import sought
from kernop.geometry.sequences import every_other, gauss
from kernop.language.problem import Problem

#: A part that is not found inside a cell is sought within this part of it from its faces.
BESIDE_FACES = 0.02
#: How often as many points as are sought are drawn where the boundary says that something is there.
LONG_PATIENCE = 1024
#: Cells with a longest side of more than so many shortest ones have scattered points.
LONG = 3.0


class Insides:
    """The parts of a domain in cells, with points inside them.

    Arguments:
        singular: is u singular in a cell? (C,).
        stars: of the cells around crossings of jumps, by their numbers; each is one part.
        counts: of points of the parts in each cell, C of them.
        by_values: are values of one unknown given on all sides, so that few points are enough?
        mirror: in which cells are placed.

    Attributes:
        owners: the cell and the piece of each part.
        numbers: of the parts, by cell and piece.
        x: points inside each part, (n, d).
        whole: does a part fill its cell?
    """

    def __init__(
        self,
        problem: Problem,
        pieces: Pieces,
        cells: Cells,
        *,
        singular: NDArray[np.bool_],
        stars: Mapping[int, Star],
        counts: Sequence[Counts],
        by_values: bool,
        mirror: Mirror,
        seed: int,
    ) -> None:
        self._problem, self._pieces, self._cells, self._mirror = problem, pieces, cells, mirror
        self._singular, self._counts, self._by_values = singular, counts, by_values
        self._stars = stars
        self._sides = (cells.high - cells.low)[:, : pieces.dim]
        self._size = np.max(self._sides, axis=1)
        alone = pieces.dim == 2 and pieces.parts is None and not problem.timed
        self._outline = Outline.of(pieces.whole.boundary.patches) if alone else None
        self._filled_always = pieces.dim == 3 and pieces.boxed
        self._sequence = sequence_of(problem.dim, seed)
        self.owners: list[tuple[int, int]] = []
        self.numbers: dict[tuple[int, int], int] = {}
        self.x: list[FloatArray] = []
        self.whole: list[bool] = []
        self._fill()

    def _fill(self) -> None:
        """Find the parts that the pieces of the domain have in each cell, and place points inside them."""
        low, high = self._cells.low, self._cells.high
        reach = 0.5 * np.linalg.norm(self._sides, axis=1)
        heights = [self._pieces.height(0.5 * (low + high), piece).tolist() for piece in range(len(self._pieces))]
        # Gauss points crowd at corners, where no polynomial of a part at a singularity satisfies an equation; and in a
        # long cell the derivatives along it count for little, so that a grid does not determine polynomials along it.
        # So few are enough for equations of second order; those of fourth order need more of either.
        kind = kind_of(self._problem)
        scattered = self._singular | (self._size > LONG * np.min(self._sides, axis=1))
        scattered |= not (isinstance(kind, Kind) and kind.order == 2)
        places = {n: (self._sequence(0, 4 * n.scattered)[: n.scattered], self._unit(n)) for n in set(self._counts)}
        for cell, counts in enumerate(self._counts):
            if cell in self._stars:
                self._star(cell)
                continue
            a, b = self._mirror.corners(low[cell], high[cell])
            drawn, unit = places[counts]
            x = a + (drawn if scattered[cell] else unit) * (b - a)
            for piece in range(len(self._pieces)):
                height = heights[piece][cell]
                if height < -reach[cell] * (1.0 - 1e-9) or self._filled_always:
                    self._part(cell, piece, x, True)
                    break
                if height < reach[cell]:
                    found = self._filled(cell, piece, counts.scattered)
                    if found is not None:
                        whole = self._fills(cell, piece, found, drawn, x)
                        self._part(cell, piece, x if whole else found, whole)
        empty = sorted(set(range(len(self._counts))) - {cell for cell, _ in self.owners})
        if empty and self._pieces.dim > 1:
            got = f"a cell from {low[empty[0]]} to {high[empty[0]]} of which next to nothing is inside"
            raise fail(ArgumentError, "method", got, "use another number of cells")
        lost = set(range(len(self._pieces))) - {piece for _, piece in self.owners}
        if lost and self._pieces.dim > 1:
            got = f"a coefficient that jumps, of whose {len(self._pieces)} pieces {len(lost)} are not found in any cell"
            raise fail(
                ArgumentError, "method", got, "make the cells smaller; or state a ko.Interface, and use ko.Subspace"
            )

    def _star(self, cell: int) -> None:
        """One part for all pieces that meet in a cell."""
        low, high = self._cells.low[cell], self._cells.high[cell]
        x = 0.5 * (low + high) + 0.5 * (high - low) * self._stars[cell].points()
        first, *others = np.unique(self._pieces.which(x)).tolist()
        self._part(cell, first, x, True)
        for piece in others:
            self.numbers[cell, piece] = self.numbers[cell, first]

    def _unit(self, counts: Counts) -> FloatArray:
        """Points in the unit cell of a part that fills its cell."""
        return every_other(counts.told) if self._by_values else _grid(self._problem.dim, counts.along)

    def _fills(self, cell: int, piece: int, found: FloatArray, unit: FloatArray, x: FloatArray) -> bool:
        """Does a piece fill a cell, as far as points that were drawn, and those of a cell that is filled, tell?"""
        low, high = self._cells.low[cell], self._cells.high[cell]
        drawn = low + unit * (high - low)
        margin = 1e-9 * self._size[cell]
        return np.array_equal(found, drawn) and bool(np.all(self._pieces.height(x, piece) < -margin))

    def _part(self, cell: int, piece: int, x: FloatArray, whole: bool) -> None:
        self.numbers[cell, piece] = len(self.owners)
        self.owners.append((cell, piece))
        self.x.append(x)
        self.whole.append(whole)

    def _filled(self, cell: int, piece: int, number: int) -> FloatArray | None:
        """So many points of a piece in a cell; None if nothing of it is there.

        What is a small part of its cell is filled from the box of its domains, and of the points that were found first.
        """
        low, high = self._cells.low[cell], self._cells.high[cell]
        margin = 1e-9 * self._size[cell]

        def holds(x: FloatArray) -> NDArray[np.bool_]:
            return self._pieces.height(x, piece) < -margin

        found = sought(holds, self._pieces.room(piece, low, high), (low, high), number, self._sequence)
        beside = None if len(found) or self._problem.timed else self._beside_faces(holds, low, high)
        if beside is not None:
            found = sought(holds, beside, (low, high), number, self._sequence)
        if not len(found) and self._outline is not None:
            found = self._beside_lines(holds, low, high, number)
        if 0 < len(found) < number:
            got = f"a cell from {low} to {high} of which next to nothing is inside"
            raise fail(ArgumentError, "method", got, "use another number of cells")
        return found if len(found) else None

    def _beside_faces(
        self, holds: Callable[[FloatArray], NDArray[np.bool_]], low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """A thin box around the points on the faces of a cell at which a predicate holds; None if there are none."""
        faces = low + looks(self._pieces.dim)[1] * (high - low)
        own = faces[holds(faces)]
        if not len(own):
            return None
        room = BESIDE_FACES * (high - low)
        return np.maximum(low, np.min(own, axis=0) - room), np.minimum(high, np.max(own, axis=0) + room)

    def _beside_lines(
        self, holds: Callable[[FloatArray], NDArray[np.bool_]], low: FloatArray, high: FloatArray, number: int
    ) -> FloatArray:
        """So many points of what is thin in a cell, in the box around the boundary that runs through it."""
        assert self._outline is not None
        ends = self._outline.within(low, high).reshape(-1, 2)
        if not len(ends):
            return ends
        box = np.min(ends, axis=0), np.max(ends, axis=0)
        return sought(holds, box, box, number, self._sequence, patience=LONG_PATIENCE)


@cache
def _grid(dim: int, along: int) -> FloatArray:
    """So many points of Gauss along each axis of the unit cube."""
    return frozen(gauss((1.0,) * dim, along**dim)[0])
