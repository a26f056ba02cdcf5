"""The cells of a domain: through corners, and graded where u is singular."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import Recent, frozen
from kernop.basics.stored import storable
from kernop.collocation.cells.elliptic import Kind, kind_of
from kernop.collocation.cells.lasting import times_of
from kernop.collocation.cells.layers import layer_widths, with_layers
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.singularities import LINES, Singularities, jumping, singularities
from kernop.geometry import Box
from kernop.geometry.cells import LOOKS, Cell, Cells, Centre, Inside, filled, grid_lines, looks, regrown, tree
from kernop.geometry.clipping import Outline
from kernop.geometry.domain import Domain
from kernop.geometry.edges import EdgesOnGrid, crowded
from kernop.language.problem import Problem

#: Lines nearer to each other than this part of the extent leave thin cells between them.
ASIDE = 2.0**-5
#: In the plane and time cells are halved only where u is like r to a power below this, and, by themselves, for an error
#: of 2 to minus this: polynomials of the degrees that such parts have reach no less.
ROUGH, FINEST = 1.0 - 1e-6, 24.0
#: The corners of a star are nearer to its place than this part of the distance to what else is there.
CLEAR_OF = 0.75
#: Cells nearer to a singularity than this part of their sides are halved, too: what is like r^α beside 0 is not like a
#: polynomial. On the grid, through which most singularities are, others are further away.
BESIDE = 0.5
#: Cells that are halved so often at a singularity are too small to matter.
DEEP = 5
#: Cells are not halved more often than this: deeper, rounding of coordinates is seen.
DEEPEST = 44
#: On a line u over their size, as a flux, is felt everywhere, and with it rounding: so often where u is like r.
DEEPEST_ON_A_LINE = 40
#: What is then left of the error, as a part of this power of the size: measured for √|x − c| + 0.1, with some room.
LEFT_ON_A_LINE = 0.1
#: What cells of size 1 leave of errors at convex edges of a body in space, where u is like r² log r, and at re-entrant
#: ones, where it is like r^(2/3); and the powers of the size of cells there with which these fall.
UNGRADED, RATES = (2.0**-8, 2.0**-5), (4.0, 4.0 / 3.0)
#: Coordinates that differ by less than this part of the extent are the same.
SAME = 1e-12
#: Rows of cells between a curve's end and a line through a place that are narrower than this part of the extent are as
#: wide as that one; places that are nearer to the end than the last of these are on it.
NARROW, ROOM, NEXT = 2.0**-4, 0.25, 1e-9
#: Where else cells are cut if a line, also after so many halvings, would be nearer to a curve than this part.
CUTS, HALVINGS, CLEAR = (0.38, 0.62, 0.45, 0.55, 0.3, 0.7), 4, 0.05
#: A place touches at most so many boxes of a grid; others may be outside of the domain.
MOST_TOUCHED = 8
#: What is thinner than this part of a cell is not seen.
THIN = 1e-3

#: The cells of domains that are known without functions of the user, and the places to which they are graded; so many
#: are remembered.
_recent: Recent[tuple[Cells, FloatArray]] = Recent(16)


def cells_of(
    problem: Problem,
    pieces: Pieces,
    number: int,
    target: float,
    depth: int | None = None,
    halved: Collection[Corners] = (),
) -> tuple[Cells, FloatArray]:
    """The cells of a domain, graded where u is singular; and the places to which it is graded deeply.

    In space and time they are cells of space, each at all times, and the places are given at the first one.

    Arguments:
        number: about so many along the longest side.
        target: the error at which the grading aims.
        depth: how often cells are halved at the most singular place, and at others less often, so that errors are
            alike; None chooses. In space, on bodies that are made of boxes, how often layers of cells are: grid lines
            crowd at planes in which there are edges, so that cells at edges are small across them.
        halved: other cells that are halved, by their corners.
    """
    kind, around = kind_of(problem), singularities(problem, pieces)
    asked = number, target, depth, frozenset(halved), times_of(problem), layer_widths(problem, pieces.whole)
    where = pieces.domain, pieces.parts
    if storable(where):  # a user's function may say something else tomorrow
        cells, places = _recent.of((where, around.key, asked), lambda: _graded(pieces, around, *asked))
    else:
        cells, places = _graded(pieces, around, *asked)
    rough = isinstance(kind, Kind) and kind.order == 2  # plates are smooth enough at corners
    return cells, places if rough else places[:0]


def _graded(
    pieces: Pieces,
    around: Singularities,
    number: int,
    target: float,
    depth: int | None,
    halved: frozenset[Corners],
    times: tuple[float, float] | None,
    layers: tuple[float, ...],
) -> tuple[Cells, FloatArray]:
    """The cells of a domain, and the places to which they are graded deeply; layers have widths beside its sides."""
    domain = pieces.whole
    low, high = domain.bounds
    places, exponents, rates = around.places, around.exponents, around.rates
    # Grading begins from cells of half of the longest side: where they are smaller, less of it is left to do.
    begun = np.log2(max(2.0, number) / 2.0)
    levels = np.log2(1.0 / target) / rates - begun if depth is None else depth * (min(rates, default=1.0) / rates)
    if times is not None:
        levels = np.where(exponents < ROUGH, levels if depth is not None else np.minimum(levels, FINEST / rates), 0.0)
    deepest = _deepest(around, domain.dim)
    levels = np.minimum(np.ceil(levels), deepest if depth is not None else np.floor(deepest - begun))
    stars = np.array([own is not None for own in around.sectors], dtype=bool) & (levels > 0.0)
    exponents = np.where(stars, 0.0, exponents)
    marks = [np.array([a, b]) for a, b in zip(low, high, strict=True)]
    if domain.dim != 2:
        marks = [np.append(own, inner) for own, inner in zip(marks, _inner_sides(pieces), strict=True)]
    for j in range(domain.dim if len(places) else 0):
        through = places[_telling(places[:, j], exponents, ASIDE * float(high[j] - low[j])), j]
        if len(np.unique(np.round(through, 12))) <= LINES:
            marks[j] = np.concatenate([_with_room(domain, marks[j], through, j), through])
    kept = lines = grid_lines(marks)
    longest = max(float(own[-1] - own[0]) for own in lines) / number
    lines = [filled(own, longest) for own in lines]
    lines = with_layers(lines, layers)
    edged = domain.dim == 3 and pieces.boxed
    if edged:
        levels_of = _levels_at(EdgesOnGrid.of(domain, lines), target, depth)
        edged = any(np.any(own) for own in levels_of)
        lines = [crowded(*own) for own in zip(lines, levels_of, strict=True)]
    lines = [off_tangents(*own) for own in zip(lines, _tangents(pieces), kept, strict=True)]
    places, inside = _snapped(places, lines), _inside_of(domain)
    deep = places[(levels >= DEEP) | stars]
    halves = domain.dim == 2 and all_touched(lines, deep, inside)  # so lines can be drawn between deep places
    if domain.dim == 2 and not halves:
        lines = [_parted(own, places[stars, j], deep[:, j]) for j, own in enumerate(lines)]
    if halves:
        lines = [np.sort(np.concatenate([own, 0.5 * (own[:-1] + own[1:])])) for own in lines]

    rings = np.maximum(levels - halves, 0.0).astype(int)
    centres = [
        Centre(place, count, CLEAR_OF * own.room)
        for place, count, own, star in zip(places, rings.tolist(), around.sectors, stars.tolist(), strict=True)
        if star and own is not None
    ]
    levels = np.where(stars, 0.0, levels)

    def rule(a: FloatArray, b: FloatArray, depth: int) -> bool:
        slack = BESIDE * (b - a)
        here = np.all((places > a - slack) & (places < b + slack), axis=1)
        return bool(np.any(levels[here] > depth + halves)) or corners_of(a, b, times) in halved

    dense = [np.isin(own, deep[:, j]) for j, own in enumerate(lines)]
    cells = Cells.of(tree(lines, inside, rule, dense, centres))
    if domain.dim == 3:
        return cells, frozen(EdgesOnGrid.of(domain, lines).middles() if edged else places)
    return _at_all_times(cells, places[(levels >= DEEP) | stars], times)


def _with_room(domain: Domain, ends: FloatArray, through: FloatArray, axis: int) -> FloatArray:
    """The first and the last grid line along an axis, further out where a curve ends there and a line is near them.

    Between the end of a curve and a place beside it, as where a line of jumps meets a circle, cells would be thin. A
    domain that has a corner there, as a box has, ends at this line.
    """
    extent = float(ends[1] - ends[0])
    if domain.dim != 2 or len(through) == 0:
        return ends
    found = ends.copy()
    for k, outward in ((0, -1.0), (1, 1.0)):
        curved = np.all(np.abs(domain.corners.x[:, axis] - ends[k]) > NEXT * extent)
        gap = float(np.min(np.abs(through - ends[k])))
        if curved and NEXT * extent < gap < NARROW * extent:
            found[k] += outward * (ROOM * extent - gap)
    return found


def _parted(lines: FloatArray, stars: FloatArray, deep: FloatArray) -> FloatArray:
    """Grid lines with others between those through stars and through other places to which cells are graded."""
    through, rough = np.isin(lines, stars), np.isin(lines, deep)
    between = (through[1:] & rough[:-1]) | (through[:-1] & rough[1:])
    return np.sort(np.append(lines, 0.5 * (lines[1:] + lines[:-1])[between]))


def _at_all_times(cells: Cells, places: FloatArray, times: tuple[float, float] | None) -> tuple[Cells, FloatArray]:
    """Cells and places of space, in space and time if there are times."""
    if times is None:
        return cells, frozen(places)
    return cells.over(times), frozen(np.hstack([places, np.full((len(places), 1), times[0])]))


def _inner_sides(pieces: Pieces) -> list[FloatArray]:
    """Coordinates along each axis of the sides of boxes of which a domain is made, or at which coefficients jump.

    In the plane corners tell of them; on a line all domains are intervals.
    """
    domains = [leaf for own in (pieces.whole, *jumping(pieces)) for leaf in own.leaves]
    domains = [leaf for leaf in domains if isinstance(leaf, Box) or leaf.dim == 1]
    sides = np.array([side for own in domains for side in own.bounds]).reshape(-1, pieces.dim)
    found = zip(sides.T, *pieces.whole.bounds, strict=True)
    return [own[(own > low) & (own < high)] for own, low, high in found]


def all_touched(lines: Sequence[FloatArray], places: FloatArray, inside: Inside) -> bool:
    """Does every box of a grid in the plane, if it is inside the domain, touch one of some places (k, 2)?"""
    if np.prod([len(own) - 1 for own in lines]) > MOST_TOUCHED * len(places):
        return False
    boxes = itertools.product(*(itertools.pairwise(own.tolist()) for own in lines))
    cells = [Cell(np.array([own[0] for own in box]), np.array([own[1] for own in box])) for box in boxes]
    return all(any(map(cell.touches, places)) or not inside(cell.low, cell.high) for cell in cells)


def _levels_at(edges: EdgesOnGrid, target: float, depth: int | None) -> list[NDArray[np.int64]]:
    """How often cells are halved beside each plane of a grid, for an error; or so often at the roughest edges."""
    kinds = [edges.planes(False), edges.planes(True)]
    if depth is None:
        needed = [np.ceil(np.log2(left / target) / rate) for left, rate in zip(UNGRADED, RATES, strict=True)]
    else:
        needed = [np.ceil(depth * RATES[1] / RATES[0]) if any(map(np.any, kinds[1])) else depth, depth]
    first, second = (max(0, int(own)) for own in needed)
    return [np.where(inner, second, np.where(outer, first, 0)) for outer, inner in zip(*kinds, strict=True)]


def deepened(
    problem: Problem,
    pieces: Pieces,
    cells: Cells,
    singular: NDArray[np.intp],
    more: int,
    halved: Sequence[int] = (),
) -> tuple[Cells, FloatArray]:
    """Cells that are halved so often more where u is singular; and these places.

    Arguments:
        singular: the numbers of the cells that touch such places.
        halved: the numbers of others that are halved as often.
    """
    whole = [Cell(cells.low[k], cells.high[k]) for k in halved]
    times, dim = times_of(problem), pieces.whole.dim
    cells = cells if times is None else cells.without_time()
    around = singularities(problem, pieces)
    places = _snapped(around.places, [np.unique(own) for own in cells.corners.T.reshape(dim, -1)])
    near = [any(cells.leaves[k].touches(x) for k in singular) for x in places]
    centres = [
        Centre(place, more, CLEAR_OF * own.room)
        for place, own, here in zip(places, around.sectors, near, strict=True)
        if here and own is not None and not np.any(np.all(cells.corners.reshape(-1, dim) == place, axis=1))
    ]
    places = places[np.array(near, dtype=bool)]

    def rule(a: FloatArray, b: FloatArray, depth: int) -> bool:
        within = any(np.all(own.low <= a) and np.all(b <= own.high) for own in whole)
        return depth < more and (within or any(map(Cell(a, b).touches, places)))

    root = regrown(cells.root, _inside_of(pieces.whole), rule, centres)
    return _at_all_times(Cells.of(root), places, times)


def _inside_of(domain: Domain) -> Inside:
    """Is something of a domain in a box?

    What lies along a face may be thinner than between points inside; the cell beyond would have nothing to meet there.
    In the plane what is thin elsewhere is seen by the boundary around it.
    """
    outline = Outline.of(domain.boundary.patches) if domain.dim == 2 else None

    def inside(a: FloatArray, b: FloatArray) -> bool:
        middle = float(domain.height(0.5 * (a + b)[None])[0])
        reach = 0.5 * float(np.linalg.norm(b - a))
        if abs(middle) > reach:
            return middle < 0.0
        inner, faces = (domain.height(a + own * (b - a)) for own in looks(domain.dim))
        seen = bool(np.any(inner < -1e-9 * reach) or np.any(faces < -THIN * reach))
        return seen or (outline is not None and _runs_through(outline, a, b))

    return inside


def _runs_through(outline: Outline, a: FloatArray, b: FloatArray) -> bool:
    """Does a line run through a box, not along its faces, and farther than from one point that is looked at to another?

    Corners of a domain that reach less far into a box are left out.
    """
    room = THIN * (b - a)
    ends = outline.within(a + room, b - room)
    return bool(np.any(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) > np.max(b - a) / LOOKS))


def _tangents(pieces: Pieces) -> list[FloatArray]:
    """Coordinates along each axis at which a curve on which coefficients jump turns back: lines there touch it."""
    regions = () if pieces.parts is None else pieces.parts.domains
    curved = [own.bounds for own in regions if isinstance(own, Domain) and own.dim == 2 and not len(own.corners.x)]
    return [np.array([side[j] for bounds in curved for side in bounds]) for j in range(pieces.whole.dim)]


def off_tangents(lines: FloatArray, tangents: FloatArray, kept: FloatArray) -> FloatArray:
    """Grid lines, none of which, nor one that halves cells, touches a curve or nearly does so, where it can be helped.

    Between a curve and a line that touches it a part would end in a cusp, or be a sliver.

    Arguments:
        tangents: where they would touch a curve.
        kept: lines that stay, whatever they touch.
    """
    if len(tangents) == 0:
        return lines
    room = CLEAR * float(np.max(np.diff(lines)))
    clear = np.min(np.abs(lines[:, None] - tangents), axis=1) > room
    lines = lines[clear | (np.min(np.abs(lines[:, None] - kept), axis=1) == 0.0)]
    found = [lines[:1]]
    for a, b in itertools.pairwise(lines.tolist()):
        own = tangents[(tangents > a) & (tangents < b)]
        ways = [np.array([b]), *(np.array([a + part * (b - a), b]) for part in CUTS)]
        room_of = [_clearance(np.array([a, *way]), own) for way in ways]
        found.append(ways[0] if room_of[0] >= CLEAR else ways[int(np.argmax(room_of))])
    return np.concatenate(found)


def _clearance(lines: FloatArray, tangents: FloatArray) -> float:
    """The least distance of coordinates from lines, and from those that halve cells, in units of these cells."""
    if not len(tangents):
        return 1.0
    k = np.searchsorted(lines, tangents) - 1
    part = (tangents - lines[k]) / (lines[k + 1] - lines[k])
    finer = part * 2.0 ** np.arange(HALVINGS)[:, None]
    return float(np.min(np.abs(finer - np.round(finer))))


def _telling(marks: FloatArray, exponents: FloatArray, close: float) -> NDArray[np.bool_]:
    """Through which places grid lines go, (k,): not beside rougher ones, as at the mouth of a crack."""
    gap = np.abs(marks[:, None] - marks[None, :])
    beside = (gap < close) & (gap > SAME * close) & (exponents[None, :] < 1.0) & (exponents[:, None] >= 1.0)
    return ~np.any(beside, axis=1)


def least_error(problem: Problem, pieces: Pieces) -> float:
    """What the deepest grading leaves of the error, about; relative, where u is as rough as it may be."""
    around = singularities(problem, pieces)
    left = 2.0 ** (-_deepest(around, pieces.dim) * around.rates)
    return float(np.max((LEFT_ON_A_LINE if pieces.dim == 1 else 1.0) * left, initial=0.0))


def _deepest(around: Singularities, dim: int) -> FloatArray:
    """How often cells may be halved at each place, (k,)."""
    return np.where(dim == 1, np.floor(DEEPEST_ON_A_LINE / around.exponents), DEEPEST)


#: The coordinates of the corners of a cell, lower before upper.
Corners = tuple[float, ...]


def corners_of(low: FloatArray, high: FloatArray, times: tuple[float, float] | None = None) -> Corners:
    """The corners of a cell, by which it is known again; of one of space at all times, if there are times."""
    first, last = ((), ()) if times is None else ((times[0],), (times[1],))
    return (*low.tolist(), *first, *high.tolist(), *last)


def _snapped(places: FloatArray, lines: list[FloatArray]) -> FloatArray:
    """Places, on the grid lines where they are on them to rounding: deep in a tree, rounding is more than a cell."""
    found = places.copy()
    for j, own in enumerate(lines if len(places) else ()):
        nearest = own[np.argmin(np.abs(places[:, j, None] - own), axis=1)]
        close = np.abs(places[:, j] - nearest) < SAME * (own[-1] - own[0])
        found[close, j] = nearest[close]
    return found
