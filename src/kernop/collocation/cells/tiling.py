"""Cutting a domain into parts: points of every condition in each of them, and seams where two of them meet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from math import ceil

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import Kept, Recent, frozen
from kernop.basics.stored import storable
from kernop.collocation.cells.elliptic import Kind, kind_of
from kernop.collocation.cells.insides import Insides
from kernop.collocation.cells.lasting import times_of
from kernop.collocation.cells.mirror import Mirror
from kernop.collocation.cells.mosaic import (
    STAR,
    TIP,
    Counts,
    Mosaic,
    Seam,
    Seams,
    degree_for,
    scattered_nodes,
    trace_nodes,
)
from kernop.collocation.cells.partwise import PartwisePoints
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.seamlines import SeamLine, length_beside, placed_on, scattered_line, told_apart
from kernop.collocation.cells.singularities import stars_among
from kernop.collocation.cells.spatial import CutCells, along, nodes_between
from kernop.geometry.cells import SAME, Cells, Face
from kernop.geometry.clipping import Line, Outline, Span, intervals
from kernop.geometry.patch import Patch
from kernop.language.ops import itself
from kernop.language.problem import Problem

#: How far from a line, in units of a cell, it is looked what is on its sides; and the shortest seam.
ASIDE, SHORTEST = 1e-8, 1e-5
#: Within this part of a face, lines cross it.
CROSSING = 1e-6
#: Nearer to a corner, in units of the domain, conditions of the other side would be seen.
NEAR = 1e-6

#: Points at the first time on a part that does not fill its cell, for each of one that does.
INITIAL = 1.5

#: So many mosaics are remembered, if they have at most so many numbers.
RECENT, MUCH = 16, 2**18

_recent: Recent[Mosaic] = Recent(RECENT)


def tiled(
    problem: Problem,
    pieces: Pieces,
    cells: Cells,
    singular: NDArray[np.int64],
    counts: Sequence[Counts],
    seed: int,
) -> Mosaic:
    """A domain cut into parts, with points for every condition of a problem; for the same one, the same as before.

    Arguments:
        cells: of space; in space and time, of both: each part has all times.
        singular: where u is singular, see `touched`, (C,).
        counts: of points and traces of the parts in each cell, C of them.
    """

    def make() -> Mosaic:
        builder = _Builder(problem, pieces, cells, singular=singular, counts=counts, seed=seed)
        builder.bound()
        builder.sew()
        return builder.done()

    looked_at, where = _looked_at.of(problem, lambda: _stored_conditions(problem)), (pieces.domain, pieces.parts)
    # Regions that are told by functions may be others tomorrow.
    if looked_at is None or not storable(where):
        return make()
    arrays = cells.corners.tobytes(), cells.parents.tobytes(), singular.tobytes()
    stars = tuple((cell, own.key) for cell, own in stars_among(problem, pieces, cells).items())
    key = (looked_at, kind_of(problem), where, arrays, tuple(counts), seed, stars)
    return _recent.of(key, make, keep=lambda found: found.numbers <= MUCH)


#: What points of conditions depend on; None where a file could not hold it.
_looked_at: Kept[Problem, tuple[object, ...] | None] = Kept()


def _stored_conditions(problem: Problem) -> tuple[object, ...] | None:
    found = tuple((c.name, c.on, c.across, c.integral, c.op is itself) for c in problem.conditions)
    return found if storable(found) else None


def _by_values(problem: Problem) -> bool:
    """Is it an equation of second order for one unknown, of which values are given on all sides?"""
    kind, sides = kind_of(problem), [c for c in problem.conditions if c.on.intrinsic_dim < problem.dim]
    plain = isinstance(kind, Kind) and kind.order == 2 and len(kind.traced) == 1 and not kind.pressures
    return plain and all(c.op is itself for c in sides)


def touched(problem: Problem, pieces: Pieces, cells: Cells, places: FloatArray) -> NDArray[np.int64]:
    """`TIP` for cells that touch one of some places (k, d), `STAR` for those that are a star, else 0: (C,)."""
    found, slack = np.zeros(len(cells.low), dtype=np.int64), SAME * (cells.high - cells.low)
    for x in places:
        found[np.all((x >= cells.low - slack) & (x <= cells.high + slack), axis=1)] = TIP
    found[list(stars_among(problem, pieces, cells))] = STAR
    return found


class _Builder:
    """Gathers the points of a mosaic."""

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
        self._problem, self._pieces, self._cells = problem, pieces, cells
        self._singular, self._counts, self._seed = singular, counts, seed
        self._space, self._times = pieces.dim, times_of(problem)
        self._plane = self._space == 2
        self._low, self._high = cells.low[:, : self._space], cells.high[:, : self._space]
        self._size = np.max(self._high - self._low, axis=1)
        #: A domain in space that is no box, or of pieces, has parts that do not fill their cells.
        self._spatial = self._space == 3 and not pieces.boxed
        self._by_values = self._plane and self._times is None and not np.any(self._singular) and _by_values(problem)
        self._mirror = Mirror(cells.corners[0], self._space == 3 and not self._spatial)
        self._stars = stars_among(problem, pieces, cells)
        insides = Insides(
            problem,
            pieces,
            cells,
            singular=singular > 0,
            stars=self._stars,
            counts=counts,
            by_values=self._by_values,
            mirror=self._mirror,
            seed=seed,
        )
        self._owners, self._numbers = insides.owners, insides.numbers
        self._inner, self._whole = insides.x, insides.whole
        # Nodes, normals and places to look at.
        self._around: list[list[tuple[FloatArray, FloatArray, FloatArray]]] = [[] for _ in insides.owners]
        self._seams: list[SeamLine] = []

    def _nodes(self, cell: int) -> FloatArray:
        """Nodes on sides of parts of a cell, (n, d − 1) in the unit cube."""
        return trace_nodes(self._problem.dim - 1, self._counts[cell].traces)[0]

    def bound(self) -> None:
        """Nodes on the boundary of the domain."""
        for part in range(len(self._owners) if self._times else 0):
            self._begin(part)
        if self._spatial:
            for sheet in self._cut.boundary():
                self._around[sheet.below].append((sheet.x, sheet.normal, sheet.x))
            return
        if not self._plane:
            for face in self._cells.faces:
                if not face.inner and face.axis < self._space:
                    cell = max(face.below, face.above)
                    x = nodes_between(*self._mirror.corners(face.low, face.high), face.axis, self._nodes(cell))
                    normal = along(face.axis, x) * (1.0 if face.below >= 0 else -1.0)
                    self._around[self._numbers[cell, int(self._pieces.which(x[:1])[0])]].append((x, normal, x))
            return
        for line, cell, a, b in self._clipped(self._pieces.whole.boundary.patches):
            for part, *nodes in self._split(line, cell, a, b):
                self._around[part].append((nodes[0], nodes[1], nodes[2]))

    @cached_property
    def _cut(self) -> CutCells:
        """The parts of a domain in space that is no box."""
        return CutCells(
            pieces=self._pieces,
            cells=self._cells,
            numbers=self._numbers,
            whole=self._whole,
            degree=self._counts[0].traces,  # in space all parts have one degree
            seed=self._seed,
        )

    def _begin(self, part: int) -> None:
        """Nodes of a part at the first time."""
        number, _ = self._owners[part]
        cell = self._cells.leaves[number]
        x = nodes_between(cell.low, cell.high, self._space, self._nodes(number))
        if not self._whole[part]:
            x = self._inner[part][: ceil(INITIAL * len(x))].copy()
            x[:, -1] = cell.low[-1]
        self._around[part].append((x, -along(self._space, x), x))

    def _risen(self, x: FloatArray, normal: FloatArray, nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Places of space and normals, (n, d) each, at the times that are the last coordinate of nodes, if any."""
        if self._times is None:
            return x, normal
        t = self._times[0] + nodes[:, -1:] * (self._times[1] - self._times[0])
        return np.hstack([x, t]), np.hstack([normal, np.zeros_like(t)])

    def _clipped(self, patches: Sequence[Patch]) -> list[tuple[Line, int, float, float]]:
        """Lines cut to cells: which line, which cell, and from where to where."""
        found: list[tuple[Line, int, float, float]] = []
        low, high = self._low, self._high
        for line in map(Line.of, patches):
            x, _ = line.at(np.linspace(0.0, 1.0, 33))
            room = 0.1 * (np.max(x, axis=0) - np.min(x, axis=0)) + 1e-9 * (high - low)
            near = np.all((low - room <= np.max(x, axis=0)) & (high + room >= np.min(x, axis=0)), axis=1)
            for cell in np.flatnonzero(near).tolist():
                found += [(line, cell, a, b) for a, b in line.within(low[cell], high[cell])]
        return found

    def _split(self, line: Line, cell: int, a: float, b: float) -> list[tuple[int, FloatArray, FloatArray, FloatArray]]:
        """Nodes and normals on a line of the boundary in a cell, for each of the parts that it bounds.

        And for each node a place on the line that is not so near to its ends that another side is seen there.
        """
        aside = ASIDE * self._size[cell]

        def seen(t: FloatArray) -> NDArray[np.intp]:
            x, normal = line.at(a + (b - a) * t)
            return self._pieces.which(x - aside * normal)

        extent = float(np.max(np.max(self._high, axis=0) - np.min(self._low, axis=0)))
        room, unit = min(0.25, NEAR * extent / max(line.reach, 1e-300)), self._nodes(cell)
        found: list[tuple[int, FloatArray, FloatArray, FloatArray]] = []
        for piece in range(len(self._pieces)):
            if (cell, piece) not in self._numbers:
                continue
            for c, d in intervals(lambda t, piece=piece: seen(t) == piece) if len(self._pieces) > 1 else [(0.0, 1.0)]:
                first, last = a + (b - a) * c, a + (b - a) * d
                t = first + (last - first) * unit[:, 0]
                seen_at = line.at(t if line.closed else np.clip(t, room, 1.0 - room))
                nodes = self._risen(*line.at(t), unit)
                found.append((self._numbers[cell, piece], *nodes, self._risen(*seen_at, unit)[0]))
        return found

    def sew(self) -> None:
        """Seams on the faces between cells, and on lines within cells on which coefficients jump."""
        inner = self._mirror.ordered([face for face in self._cells.faces if face.inner])
        middles = np.array([0.5 * (face.low + face.high) for face in inner]).reshape(-1, self._problem.dim)
        deep = self._deep(inner, middles)
        for face, middle, far in zip(inner, middles, deep.tolist(), strict=True):
            self._seams += self._on_face(face, middle[None], far)
        for line, cell, a, b in self._clipped(self._pieces.jumps) if self._plane else ():
            self._seams += self._within(line, cell, a, b)
        self._seams += [scattered_line(sheet) for sheet in self._cut.jumps()] if self._spatial else []

    def _on_face(self, face: Face, middle: FloatArray, deep: bool) -> list[SeamLine]:
        if self._plane and self._pieces.parts is None and deep:
            below, above = self._numbers[face.below, 0], self._numbers[face.above, 0]
            return [SeamLine(below, above, placed_on(face, face.low, face.high))]
        whole = face.high - face.low
        aside = ASIDE * min(self._size[face.below], self._size[face.above])
        step = aside * np.eye(len(whole))[face.axis]
        if self._spatial:
            return [
                scattered_line(sheet)
                if cut
                else SeamLine(sheet.below, sheet.above, placed_on(face, face.low, face.high))
                for sheet, cut in self._cut.on_face(face)
            ]
        if not self._plane:
            return [self._in_space(face, middle[0], step)]
        if len(self._pieces) == 1 and deep:
            one, other = self._pieces.which(middle - step), self._pieces.which(middle + step)
            below, above = self._numbers[face.below, int(one[0])], self._numbers[face.above, int(other[0])]
            return [SeamLine(below, above, placed_on(face, face.low, face.high))]
        found, between = list[SeamLine](), self._between_crossings(face)
        for i in range(len(self._pieces)):
            for j in range(len(self._pieces)):
                if (face.below, i) not in self._numbers or (face.above, j) not in self._numbers:
                    continue

                def held(t: FloatArray, i: int = i, j: int = j) -> NDArray[np.bool_]:
                    x = face.low + t[:, None] * whole
                    return self._pieces.holds(x - step, i) & self._pieces.holds(x + step, j)

                for a, b in _long(intervals(held, also=between)):
                    owners = self._numbers[face.below, i], self._numbers[face.above, j]
                    ends = face.low + a * whole, face.low + b * whole
                    if self._times is not None:
                        ends[0][-1], ends[1][-1] = self._times
                    found.append(SeamLine(*owners, placed_on(face, *ends)))
        return found

    @cached_property
    def _outline(self) -> Outline:
        """The boundary of a domain in the plane."""
        return Outline.of(self._pieces.whole.boundary.patches)

    def _between_crossings(self, face: Face) -> list[float]:
        """Parameters on a face, 0 to 1, between those at which the boundary crosses it: what is thin is seen there."""
        low, high = face.low[: self._space], face.high[: self._space]
        room = CROSSING * float(np.max(high - low))
        ends = self._outline.within(low - room, high + room)
        axis = 1 - face.axis
        crossings = np.sort((np.mean(ends[:, :, axis], axis=1) - low[axis]) / (high - low)[axis])
        return (0.5 * (crossings[1:] + crossings[:-1])).tolist()

    def _in_space(self, face: Face, middle: FloatArray, step: FloatArray) -> SeamLine:
        """A seam on a face between two cells of a box: from the cell farther from the middle, if that is mirrored."""
        one, other = self._pieces.which(np.array([middle - step, middle + step])).tolist()
        below, above = self._numbers[face.below, one], self._numbers[face.above, other]
        a, b = self._mirror.corners(face.low, face.high)
        sign = self._mirror.signs(middle)[face.axis]

        def place(nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
            x = nodes_between(a, b, face.axis, nodes)
            return x, sign * along(face.axis, x)

        return SeamLine(below, above, place) if sign > 0.0 else SeamLine(above, below, place)

    def _deep(self, faces: Sequence[Face], middles: FloatArray) -> NDArray[np.bool_]:
        """Which faces are far from the boundary?"""
        if not faces:
            return np.empty(0, dtype=bool)
        sides = np.array([np.max((face.high - face.low)[: self._space]) for face in faces])
        return self._pieces.whole.height(middles[:, : self._space]) < -0.5 * sides * (1 + 1e-9)

    def _within(self, line: Line, cell: int, a: float, b: float) -> list[SeamLine]:
        """Seams on a line in a cell that has the cell on either side, and parts of the domain."""
        aside = ASIDE * self._size[cell]
        low, high = self._low[cell], self._high[cell]
        found: list[SeamLine] = []
        for i in range(len(self._pieces)):
            for j in range(len(self._pieces)):
                if i == j or cell in self._stars or (cell, i) not in self._numbers or (cell, j) not in self._numbers:
                    continue

                def held(t: FloatArray, i: int = i, j: int = j) -> NDArray[np.bool_]:
                    x, normal = line.at(a + (b - a) * t)
                    below, above = x - aside * normal, x + aside * normal
                    both = self._pieces.holds(below, i) & self._pieces.holds(above, j)
                    near = np.concatenate([below, above])
                    here = np.all((near >= low) & (near <= high), axis=1).reshape(2, -1)
                    return both & here[0] & here[1]

                for c, d in _long(intervals(held)):
                    ends = a + (b - a) * c, a + (b - a) * d
                    place = partial(self._on_line, line, *ends)
                    found.append(SeamLine(self._numbers[cell, i], self._numbers[cell, j], place))
        return found

    def _on_line(self, line: Line, a: float, b: float, nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Nodes on a line between two parameters."""
        return self._risen(*line.at(a + (b - a) * nodes[:, 0]), nodes)

    def done(self) -> Mosaic:
        """Parts with their boxes, seams with nodes, and points of every condition."""
        count, own = len(self._owners), [cell for cell, _ in self._owners]
        low, high = self._mirror.corners(self._cells.low[own], self._cells.high[own])
        if self._plane or self._spatial:
            cut = [k for k, whole in enumerate(self._whole) if not whole]
            seen = {k: [self._inner[k], *(own for own, _, _ in self._around[k])] for k in cut}
            for seam in self._seams:
                for part in {seam.below, seam.above} & seen.keys():
                    seen[part].append(seam.place(self._nodes(self._owners[part][0]))[0])
            for part, own in seen.items():
                x = np.concatenate(own)
                a, b = np.min(x, axis=0), np.max(x, axis=0)
                if self._times is not None:
                    a[-1], b[-1] = self._times
                # What nearly fills its cell has the cell itself as its box, as all parts of its kind.
                if np.any(b - a < 0.9 * (high - low)[part]):
                    low[part], high[part] = a, b
        rows = PartwisePoints(self._problem, self._cells, count)
        rows.add(list(enumerate(self._inner)), None, None, self._problem.dim)
        around = [(part, *own) for part, all_ in enumerate(self._around) for own in all_]
        none = np.empty((0, low.shape[1]))
        normals, places = (np.concatenate([none, *(own[k] for own in around)]) for k in (2, 3))
        rows.add([(part, x) for part, x, _, _ in around], normals, places, self._problem.dim - 1)
        owners = np.array(self._owners, dtype=np.intp)
        seams = Seams.of([self._sewn(seam, np.abs(high - low)) for seam in self._seams], low.shape[1])
        singular = self._singular[owners[:, 0]]
        points, starts = rows.done()
        return Mosaic(
            cells=self._cells,
            pieces=self._pieces,
            owners=frozen(owners),
            boxes=frozen((low, high)),
            sewn=frozen(seams),
            points=points,
            starts=frozen(starts),
            singular=frozen(singular),
            stars=frozen(tuple(self._stars[cell] for cell in owners[:, 0].tolist() if cell in self._stars)),
        )

    def _sewn(self, seam: SeamLine, sides: FloatArray) -> Seam:
        """With nodes, and with traces that both parts can have. On a line that is short for both parts, polynomials of
        a lower degree than elsewhere.
        """
        beside = seam.below, seam.above
        counts = [self._counts[self._owners[own][0]] for own in beside]
        degree = min(own.seams for own in counts)
        if seam.cut:
            return self._scattered_seam(seam, sides, degree)
        if self._plane and self._times is None:
            ends, _ = seam.place(np.array([[0.0], [1.0]]))
            span = np.abs(ends[1] - ends[0])  # beside the parts as they are along it: cells may be long and thin
            told = [told_apart(n.seams, length_beside(span, sides[own])) for own, n in zip(beside, counts, strict=True)]
            degree = min(degree, max(told))
            whole = min(float(np.max(span / sides[own])) for own in beside) > 1.0 - 1e-9
            if whole and self._by_values and all(self._whole[own] for own in beside):
                degree = min(own.whole for own in counts)
        x, normal = seam.place(trace_nodes(self._problem.dim - 1, degree)[0])
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
