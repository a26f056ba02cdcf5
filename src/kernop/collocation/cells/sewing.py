"""Seams on the faces between cells, and on lines within cells on which coefficients jump."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.collocation.cells.layout import Layout
from kernop.collocation.cells.mosaic import Seam, degree_for, scattered_nodes, trace_nodes
from kernop.collocation.cells.seamlines import SeamLine, length_beside, placed_on, scattered_line, told_apart
from kernop.collocation.cells.spatial import along, nodes_between
from kernop.geometry.cells import Face
from kernop.geometry.clipping import Line, Outline, Span, intervals

#: How far from a line, in units of a cell, it is looked what is on its sides; and the shortest seam.
ASIDE, SHORTEST = 1e-8, 1e-5
#: Within this part of a face, lines cross it.
CROSSING = 1e-6


class Sewing:
    """Finds where the parts of a layout meet."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def seams(self, sides: FloatArray) -> list[Seam]:
        """All seams, for parts with boxes of these sides, (P, d)."""
        return [self._sewn(seam, sides) for seam in self.lines]

    @cached_property
    def lines(self) -> list[SeamLine]:
        """Seams whose nodes are not chosen yet."""
        found = list[SeamLine]()
        inner = self._layout.mirror.ordered([face for face in self._layout.cells.faces if face.inner])
        middles = np.array([0.5 * (face.low + face.high) for face in inner]).reshape(-1, self._layout.problem.dim)
        deep = self._deep(inner, middles)
        for face, middle, far in zip(inner, middles, deep.tolist(), strict=True):
            found += self._on_face(face, middle[None], far)
        for line, cell, a, b in self._layout.clipped(self._layout.pieces.jumps) if self._layout.plane else ():
            found += self._within(line, cell, a, b)
        found += [scattered_line(sheet) for sheet in self._layout.cut.jumps()] if self._layout.spatial else []
        return found

    def _on_face(self, face: Face, middle: FloatArray, deep: bool) -> list[SeamLine]:
        """Seams on a face between two cells.

        Arguments:
            middle: of the face, (1, d).
            deep: is it far from the boundary of the domain?
        """
        layout, pieces, numbers = self._layout, self._layout.pieces, self._layout.numbers
        if layout.spatial:
            return [
                scattered_line(sheet)
                if cut
                else SeamLine(sheet.below, sheet.above, placed_on(face, face.low, face.high))
                for sheet, cut in layout.cut.on_face(face)
            ]
        step = min(layout.size[face.below], layout.size[face.above]) * np.eye(layout.problem.dim)[face.axis]
        if not layout.plane:
            return [self._in_space(face, middle[0], 0.5 * step)]
        step = ASIDE * step
        if len(pieces) > 1 or not deep:
            return self._between_pieces(face, step)
        one, other = pieces.which(middle - step), pieces.which(middle + step)
        below, above = numbers[face.below, int(one[0])], numbers[face.above, int(other[0])]
        return [SeamLine(below, above, placed_on(face, face.low, face.high))]

    def _between_pieces(self, face: Face, step: FloatArray) -> list[SeamLine]:
        """Seams on a face in the plane, from which a step leads to either side: where one piece is below it, and the
        same or another above.
        """
        layout, pieces, numbers = self._layout, self._layout.pieces, self._layout.numbers
        whole, between, found = face.high - face.low, self._between_crossings(face), list[SeamLine]()
        for i, j in product(range(len(pieces)), repeat=2):
            if (face.below, i) not in numbers or (face.above, j) not in numbers:
                continue

            def held(t: FloatArray, i: int = i, j: int = j) -> NDArray[np.bool_]:
                x = face.low + t[:, None] * whole
                return pieces.holds(x - step, i) & pieces.holds(x + step, j)

            for a, b in _long(intervals(held, also=between)):
                ends = face.low + a * whole, face.low + b * whole
                if layout.times is not None:
                    ends[0][-1], ends[1][-1] = layout.times
                found.append(SeamLine(numbers[face.below, i], numbers[face.above, j], placed_on(face, *ends)))
        return found

    @cached_property
    def _outline(self) -> Outline:
        """The boundary of a domain in the plane."""
        return Outline.of(self._layout.pieces.whole.boundary.patches)

    def _between_crossings(self, face: Face) -> list[float]:
        """Parameters on a face, 0 to 1, between those at which the boundary crosses it: what is thin is seen there."""
        low, high = face.low[: self._layout.space], face.high[: self._layout.space]
        room = CROSSING * float(np.max(high - low))
        ends = self._outline.within(low - room, high + room)
        axis = 1 - face.axis
        crossings = np.sort((np.mean(ends[:, :, axis], axis=1) - low[axis]) / (high - low)[axis])
        return (0.5 * (crossings[1:] + crossings[:-1])).tolist()

    def _in_space(self, face: Face, middle: FloatArray, step: FloatArray) -> SeamLine:
        """A seam on a face between two cells of a box: from the cell farther from the middle, if that is mirrored."""
        one, other = self._layout.pieces.which(np.array([middle - step, middle + step])).tolist()
        below, above = self._layout.numbers[face.below, one], self._layout.numbers[face.above, other]
        a, b = self._layout.mirror.corners(face.low, face.high)
        sign = self._layout.mirror.signs(middle)[face.axis]

        def place(nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
            x = nodes_between(a, b, face.axis, nodes)
            return x, sign * along(face.axis, x)

        return SeamLine(below, above, place) if sign > 0.0 else SeamLine(above, below, place)

    def _deep(self, faces: Sequence[Face], middles: FloatArray) -> NDArray[np.bool_]:
        """Which faces are far from the boundary?"""
        if not faces:
            return np.empty(0, dtype=bool)
        sides = np.array([np.max((face.high - face.low)[: self._layout.space]) for face in faces])
        return self._layout.pieces.whole.height(middles[:, : self._layout.space]) < -0.5 * sides * (1 + 1e-9)

    def _within(self, line: Line, cell: int, a: float, b: float) -> list[SeamLine]:
        """Seams on a line in a cell that has the cell on either side, and parts of the domain."""
        layout, pieces, numbers = self._layout, self._layout.pieces, self._layout.numbers
        aside = ASIDE * layout.size[cell]
        low, high = layout.low[cell], layout.high[cell]
        found: list[SeamLine] = []
        for i, j in permutations(range(len(pieces)), 2):
            if cell in layout.stars or (cell, i) not in numbers or (cell, j) not in numbers:
                continue

            def held(t: FloatArray, i: int = i, j: int = j) -> NDArray[np.bool_]:
                x, normal = line.at(a + (b - a) * t)
                below, above = x - aside * normal, x + aside * normal
                both = pieces.holds(below, i) & pieces.holds(above, j)
                near = np.concatenate([below, above])
                here = np.all((near >= low) & (near <= high), axis=1).reshape(2, -1)
                return both & here[0] & here[1]

            for c, d in _long(intervals(held)):
                place = partial(self._on_line, line, a + (b - a) * c, a + (b - a) * d)
                found.append(SeamLine(numbers[cell, i], numbers[cell, j], place))
        return found

    def _on_line(self, line: Line, a: float, b: float, nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Nodes on a line between two parameters."""
        return self._layout.risen(*line.at(a + (b - a) * nodes[:, 0]), nodes)

    def _sewn(self, seam: SeamLine, sides: FloatArray) -> Seam:
        """With nodes, and with traces that both parts can have. On a line that is short for both parts, polynomials of
        a lower degree than elsewhere.
        """
        beside = seam.below, seam.above
        counts = [self._layout.counts[self._layout.owners[own][0]] for own in beside]
        degree = min(own.seams for own in counts)
        if seam.cut:
            return self._scattered_seam(seam, sides, degree)
        if self._layout.plane and self._layout.times is None:
            ends, _ = seam.place(np.array([[0.0], [1.0]]))
            span = np.abs(ends[1] - ends[0])  # beside the parts as they are along it: cells may be long and thin
            told = [told_apart(n.seams, length_beside(span, sides[own])) for own, n in zip(beside, counts, strict=True)]
            degree = min(degree, max(told))
            whole = min(float(np.max(span / sides[own])) for own in beside) > 1.0 - 1e-9
            if whole and self._layout.by_values and all(self._layout.whole[own] for own in beside):
                degree = min(own.whole for own in counts)
        x, normal = seam.place(trace_nodes(self._layout.problem.dim - 1, degree)[0])
        return Seam(x, normal, seam.below, seam.above, degree)

    def _scattered_seam(self, seam: SeamLine, sides: FloatArray, most: int) -> Seam:
        """With scattered nodes, for polynomials of a lower degree where it is small for both parts."""
        x, normal = seam.place(np.empty((scattered_nodes(most), 2)))
        span = np.ptp(x, axis=0)
        part = max(float(np.sqrt(np.prod(np.sort(span / sides[own])[1:]))) for own in (seam.below, seam.above))
        degree = min(told_apart(most, part), degree_for(len(x)))
        count = scattered_nodes(degree)
        return Seam(x[:count], normal[:count], seam.below, seam.above, degree)


def _long(found: list[Span]) -> list[Span]:
    """Without the shortest ones: where lines cross, what is on their sides is seen wrongly."""
    return [(a, b) for a, b in found if b - a > SHORTEST]
