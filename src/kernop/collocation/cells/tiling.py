"""Cutting a domain into parts: points of every condition in each of them, and seams where two of them meet."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import Kept, Recent, frozen
from kernop.basics.stored import storable
from kernop.collocation.cells.elliptic import kind_of
from kernop.collocation.cells.layout import Layout
from kernop.collocation.cells.mosaic import STAR, TIP, Counts, Mosaic, Seams
from kernop.collocation.cells.partwise import PartwisePoints
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.sewing import ASIDE, SeamLine, Sewing
from kernop.collocation.cells.singularities import stars_among
from kernop.collocation.cells.spatial import along, nodes_between
from kernop.geometry.cells import SAME, Cells
from kernop.geometry.clipping import Line, intervals
from kernop.language.ops import itself
from kernop.language.problem import Problem

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
        return _mosaic(Layout(problem, pieces, cells, singular=singular, counts=counts, seed=seed))

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


def touched(problem: Problem, pieces: Pieces, cells: Cells, places: FloatArray) -> NDArray[np.int64]:
    """`TIP` for cells that touch one of some places (k, d), `STAR` for those that are a star, else 0: (C,)."""
    found, slack = np.zeros(len(cells.low), dtype=np.int64), SAME * (cells.high - cells.low)
    for x in places:
        found[np.all((x >= cells.low - slack) & (x <= cells.high + slack), axis=1)] = TIP
    found[list(stars_among(problem, pieces, cells))] = STAR
    return found


#: Nodes on a side of a part, normals there, and places at which it is looked what holds there, (n, d) each.
Side = tuple[FloatArray, FloatArray, FloatArray]


def _mosaic(layout: Layout) -> Mosaic:
    """Parts with their boxes, seams with nodes, and points of every condition."""
    dim, sides, sewing = layout.problem.dim, _sides(layout), Sewing(layout)
    low, high = _boxes(layout, sides, sewing.lines)
    rows = PartwisePoints(layout.problem, layout.pieces, layout.cells, len(layout.owners))
    rows.add(list(enumerate(layout.inner)), None, None, dim)
    around = [(part, *own) for part, all_ in enumerate(sides) for own in all_]
    none = np.empty((0, low.shape[1]))
    normals, places = (np.concatenate([none, *(own[k] for own in around)]) for k in (2, 3))
    rows.add([(part, x) for part, x, _, _ in around], normals, places, dim - 1)
    owners = np.array(layout.owners, dtype=np.intp)
    points, starts = rows.done()
    return Mosaic(
        cells=layout.cells,
        pieces=layout.pieces,
        owners=frozen(owners),
        boxes=frozen((low, high)),
        sewn=frozen(Seams.of(sewing.seams(np.abs(high - low)), low.shape[1])),
        points=points,
        starts=frozen(starts),
        singular=frozen(layout.singular[owners[:, 0]]),
        stars=frozen(tuple(layout.stars[cell] for cell in owners[:, 0].tolist() if cell in layout.stars)),
    )


def _boxes(layout: Layout, sides: Sequence[Sequence[Side]], lines: Sequence[SeamLine]) -> tuple[FloatArray, FloatArray]:
    """Corners of the boxes of all parts, (P, d) each: their cells, unless they are less than nearly all of these."""
    own = [cell for cell, _ in layout.owners]
    low, high = layout.mirror.corners(layout.cells.low[own], layout.cells.high[own])
    if not (layout.plane or layout.spatial):
        return low, high
    seen = {k: [layout.inner[k], *(x for x, _, _ in sides[k])] for k, whole in enumerate(layout.whole) if not whole}
    for seam in lines:
        for part in {seam.below, seam.above} & seen.keys():
            seen[part].append(seam.place(layout.nodes(layout.owners[part][0]))[0])
    for part, found in seen.items():
        x = np.concatenate(found)
        a, b = np.min(x, axis=0), np.max(x, axis=0)
        if layout.times is not None:
            a[-1], b[-1] = layout.times
        # What nearly fills its cell has the cell itself as its box, as all parts of its kind.
        if np.any(b - a < 0.9 * (high - low)[part]):
            low[part], high[part] = a, b
    return low, high


def _sides(layout: Layout) -> list[list[Side]]:
    """What each part has of the boundary of the domain."""
    found: list[list[Side]] = [[] for _ in layout.owners]
    for part, own in enumerate(found if layout.times else ()):
        own.append(_first(layout, part))
    if layout.spatial:
        for sheet in layout.cut.boundary():
            found[sheet.below].append((sheet.x, sheet.normal, sheet.x))
    elif layout.plane:
        for line, cell, a, b in layout.clipped(layout.pieces.whole.boundary.patches):
            for part, side in _split(layout, line, cell, a, b):
                found[part].append(side)
    else:
        for face in layout.cells.faces:
            if not face.inner and face.axis < layout.space:
                cell = max(face.below, face.above)
                x = nodes_between(*layout.mirror.corners(face.low, face.high), face.axis, layout.nodes(cell))
                normal = along(face.axis, x) * (1.0 if face.below >= 0 else -1.0)
                found[layout.numbers[cell, int(layout.pieces.which(x[:1])[0])]].append((x, normal, x))
    return found


def _first(layout: Layout, part: int) -> Side:
    """A part at the first time."""
    number, _ = layout.owners[part]
    cell = layout.cells.leaves[number]
    x = nodes_between(cell.low, cell.high, layout.space, layout.nodes(number))
    if not layout.whole[part]:
        x = layout.inner[part][: ceil(INITIAL * len(x))].copy()
        x[:, -1] = cell.low[-1]
    return x, -along(layout.space, x), x


def _split(layout: Layout, line: Line, cell: int, a: float, b: float) -> list[tuple[int, Side]]:
    """A line of the boundary in a cell, for each of the parts that it bounds.

    The place of each node is one on the line that is not so near to its ends that another side is seen there.
    """
    aside = ASIDE * layout.size[cell]

    def seen(t: FloatArray) -> NDArray[np.intp]:
        x, normal = line.at(a + (b - a) * t)
        return layout.pieces.which(x - aside * normal)

    extent = float(np.max(np.max(layout.high, axis=0) - np.min(layout.low, axis=0)))
    room, unit = min(0.25, NEAR * extent / max(line.reach, 1e-300)), layout.nodes(cell)
    several, found = len(layout.pieces) > 1, list[tuple[int, Side]]()
    for piece in range(len(layout.pieces)):
        if (cell, piece) not in layout.numbers:
            continue
        for c, d in intervals(lambda t, piece=piece: seen(t) == piece) if several else [(0.0, 1.0)]:
            first, last = a + (b - a) * c, a + (b - a) * d
            t = first + (last - first) * unit[:, 0]
            place, _ = line.at(t if line.closed else np.clip(t, room, 1.0 - room))
            side = *layout.risen(*line.at(t), unit), layout.risen(place, place, unit)[0]
            found.append((layout.numbers[cell, piece], side))
    return found
