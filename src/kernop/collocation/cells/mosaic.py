"""A domain in cells: its parts, the seams between them, and where the points of a problem stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import REMEDY, check_shape
from kernop.basics.frozen import frozen
from kernop.basics.stored import stored
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.stars import Star
from kernop.geometry import Points
from kernop.geometry.cells import Cells
from kernop.geometry.sequences import gauss

#: What a cell, or a part, is at a place where u is singular: one that touches it, or a star around it.
TIP, STAR = 1, 2
#: A cell is looked at so far beyond its faces, as a part of its sides.
BESIDE = 1e-9


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

    @property
    def scattered(self) -> bool:
        """Are its nodes not those of Gauss, because the face that it is on is cut?"""
        return len(self.x) != len(trace_nodes(self.x.shape[1] - 1, self.degree)[0])


@stored("seams", by_value=False)
@dataclass(frozen=True, eq=False)
class Seams:
    """All seams of a mosaic in a few arrays, the nodes of one seam after those of another.

    Arguments:
        x, normal: of all nodes, (n, d).
        counts: nodes of each seam, (S,).
        sides: the parts below and above, (S, 2).
        degrees: of their traces, (S,).
    """

    x: FloatArray
    normal: FloatArray
    counts: NDArray[np.intp]
    sides: NDArray[np.intp]
    degrees: NDArray[np.intp]

    @classmethod
    def of(cls, seams: Sequence[Seam], dim: int) -> Seams:
        """The stored form of seams in d dimensions."""
        none = np.empty((0, dim))
        return cls(
            np.concatenate([none, *(seam.x for seam in seams)]),
            np.concatenate([none, *(seam.normal for seam in seams)]),
            np.array([len(seam.x) for seam in seams], dtype=np.intp),
            np.array([(seam.below, seam.above) for seam in seams], dtype=np.intp).reshape(-1, 2),
            np.array([seam.degree for seam in seams], dtype=np.intp),
        )

    def check(self) -> None:
        """Raise unless the arrays, which come from a file, fit each other."""
        count = len(self.counts)
        fits = self.x.ndim == 2 and self.x.shape == self.normal.shape and self.counts.shape == self.degrees.shape
        if not fits or self.sides.shape != (count, 2) or self.counts.shape != (count,):
            raise fail(ArgumentError, "seams", "arrays that do not fit each other", REMEDY)
        if np.any(self.counts < 1) or np.any(self.degrees < 1) or np.sum(self.counts) != len(self.x):
            raise fail(ArgumentError, "counts", "numbers that are not those of nodes", REMEDY)

    @cached_property
    def split(self) -> tuple[Seam, ...]:
        """The seams one by one."""
        ends = np.cumsum(self.counts)[:-1]
        nodes = zip(np.split(self.x, ends), np.split(self.normal, ends), strict=True) if len(self.counts) else ()
        about = zip(*self.sides.T.tolist(), self.degrees.tolist(), strict=True)
        return tuple(Seam(x, n, *own) for (x, n), own in zip(nodes, about, strict=True))


@dataclass(kw_only=True, frozen=True)
class Counts:
    """How many points and traces a part has, by the degree of its polynomials.

    Arguments:
        scattered: points of an equation, if it does not fill its cell.
        along: those of Gauss along each axis, if it does: they tell polynomials apart far better than others.
        told: points that tell all polynomials of a lower degree than this apart are enough, fewer than those of Gauss,
            in the plane, if values of one smooth unknown are given on all sides.
        traces: on its sides nodes are those of polynomials of a lower degree than this; and traces are on its seams, …
        seams: … but of a lower degree than this in the plane, so that four sides have fewer than it has functions …
        whole: … or this, in that case, on seams that are sides of two cells that are filled.
    """

    scattered: int
    along: int
    told: int
    traces: int
    seams: int
    whole: int


@cache
def trace_nodes(axes: int, degree: int) -> tuple[FloatArray, FloatArray]:
    """Nodes on a face with so many axes, (n, axes), and weights with sum 1, for polynomials below a degree.

    On a line they are twice as many as the polynomials.
    """
    return frozen(gauss((1.0,) * axes, (2 * degree if axes == 1 else degree + 2) ** axes))


def scattered_nodes(degree: int) -> int:
    """The number of nodes on a face that is cut, for polynomials below a degree: three for each, never as Gauss has."""
    return 3 * degree * (degree + 1) // 2


def degree_for(nodes: int) -> int:
    """The largest degree of which there are so many scattered nodes."""
    return max(1, int(np.sqrt(2.0 * nodes / 3.0 + 0.25) - 0.5 + 1e-9))


@stored("mosaic", by_value=False)
@dataclass(kw_only=True, frozen=True, eq=False)
class Mosaic:
    """Where the rows of a problem on cells stand. A part is what of a piece of the domain lies in a cell.

    Arguments:
        cells: the cells.
        pieces: the pieces.
        owners: the cell and the piece of each part, (P, 2).
        boxes: around each part, the corners at −1 and at 1 of its own coordinates, (P, d) each; along axes along
            which a part is mirrored, so that it equals others, the first is above the second.
        sewn: the seams between two parts.
        points: of each condition, by name, part after part; none in a file, which has them elsewhere.
        starts: of each condition, where the points of each part begin, (P + 1,).
        singular: `TIP` or `STAR` for parts at places where u is singular, else 0, (P,).
        stars: the functions of parts that are stars, in their order.
    """

    cells: Cells
    pieces: Pieces
    owners: NDArray[np.intp]
    boxes: tuple[FloatArray, FloatArray]
    sewn: Seams
    points: Mapping[str, Points]
    starts: Mapping[str, NDArray[np.intp]]
    singular: NDArray[np.int64]
    stars: tuple[Star, ...] = ()

    def check(self) -> None:
        """Raise unless the parts of a mosaic that comes from a file fit each other."""
        parts, dim = len(self.owners), self.cells.corners.shape[2]
        check_shape("owners", self.owners, None, 2)
        check_shape("singular", self.singular, parts)
        for corners in self.boxes:
            check_shape("boxes", corners, parts, dim)
        if not np.all(self.boxes[0] != self.boxes[1]) or self.sewn.x.shape[1] != dim:
            raise fail(ArgumentError, "boxes", "boxes without inside, or seams in other dimensions", REMEDY)
        most = (len(self.cells.leaves), len(self.pieces))
        if np.any(self.owners < 0) or np.any(self.owners >= most) or len(np.unique(self.owners[:, 0])) < most[0]:
            raise fail(ArgumentError, "owners", "numbers that are not those of all cells, and of pieces", REMEDY)
        if np.sum(self.singular == STAR) != len(self.stars):
            raise fail(ArgumentError, "stars", f"{len(self.stars)} of them, for other parts", REMEDY)
        if np.any(self.sewn.sides < 0) or np.any(self.sewn.sides >= parts):
            raise fail(ArgumentError, "seams", "some of other parts", REMEDY)

    @property
    def numbers(self) -> int:
        """How many numbers its places have."""
        return 2 * self.sewn.x.size + sum(own.x.size for own in self.points.values())

    @cached_property
    def sides(self) -> FloatArray:
        """The sides of the boxes, (P, d)."""
        return np.abs(self.boxes[1] - self.boxes[0])

    @property
    def seams(self) -> tuple[Seam, ...]:
        """The seams, each between two parts."""
        return self.sewn.split

    @cached_property
    def star_of(self) -> dict[int, Star]:
        """The functions of a part that is a star, by its number."""
        return dict(zip(np.flatnonzero(self.singular == STAR).tolist(), self.stars, strict=True))

    @cached_property
    def of_cells(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the parts in each cell."""
        found: list[list[int]] = [[] for _ in self.cells.leaves]
        for part, (cell, _) in enumerate(self.owners.tolist()):
            found[cell].append(part)
        return tuple(map(tuple, found))

    @cached_property
    def seams_of_parts(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """The seams of each part: their numbers, and on which side it is, 0 below or 1 above."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.owners]
        for number, (below, above) in enumerate(self.sewn.sides.tolist()):
            found[below].append((number, 0))
            found[above].append((number, 1))
        return tuple(map(tuple, found))

    def in_cells(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The largest of the numbers ≥ 0 that the parts of each cell have, (C,)."""
        found = np.zeros(len(self.cells.leaves), dtype=np.int64)
        np.maximum.at(found, self.owners[:, 0], values)
        return found

    def locate(self, x: FloatArray) -> NDArray[np.intp]:
        """The part that holds each point x (n, d), or one of its cell: (n,).

        On a face where coefficients jump it is the part of the piece to which they say that the point belongs.
        """
        cells, pieces = self.cells.locate(x), self.pieces.which(x)
        table = np.full((len(self.cells.leaves), len(self.pieces)), -1, dtype=np.intp)
        table[self.owners[:, 0], self.owners[:, 1]] = np.arange(len(self.owners))
        first = np.array([own[0] for own in self.of_cells])
        found = table[cells, pieces]
        lost = np.flatnonzero(found < 0)
        for step in (*np.eye(x.shape[1]), *-np.eye(x.shape[1])) if len(lost) and len(self.pieces) > 1 else ():
            sides = self.cells.high[cells[lost]] - self.cells.low[cells[lost]]
            beside = table[self.cells.locate(x[lost] + BESIDE * step * sides), pieces[lost]]
            found[lost] = np.where(found[lost] >= 0, found[lost], beside)
        return np.where(found >= 0, found, first[cells])
