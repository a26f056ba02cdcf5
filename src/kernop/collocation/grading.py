"""The cells of a domain: through corners, graded where u is singular, and which problems can be solved on cells."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.frozen import Kept, frozen
from kernop.collocation.ansatz import Tabulated
from kernop.collocation.crossings import exponent_at
from kernop.collocation.elliptic import Kind, equations_of, kind_of
from kernop.collocation.jumps import jumps
from kernop.collocation.lasting import lasting, lasting_region, space_of, times_of, without_parts
from kernop.collocation.layers import with_layers
from kernop.collocation.parts import Parts, occurring
from kernop.collocation.pieces import Pieces
from kernop.geometry import Box
from kernop.geometry.cells import Cell, Cells, Inside, filled, grid_lines, regrown, tree
from kernop.geometry.clipping import Line, intervals
from kernop.geometry.domain import Domain
from kernop.language.ops import itself
from kernop.language.problem import Problem

#: Nearer to the end of a line, conditions of its neighbour are seen.
END = 1e-7
#: So near to 1 the power of r with which u begins at a corner of lines of jumps is 1.
EVEN = 1e-2
#: Grid lines go through corners if they have at most so many different coordinates along an axis.
LINES = 9
#: Lines nearer to each other than this part of the extent leave thin cells between them.
ASIDE = 2.0**-5
#: In the plane and time cells are halved only where u is like r to a power below this, and, by themselves, for an error
#: of 2 to minus this: polynomials of the degrees that such parts have reach no less.
ROUGH, FINEST = 1.0 - 1e-6, 24.0
#: Cells that are halved so often at a singularity are too small to matter.
DEEP = 5
#: Cells are not halved more often than this: deeper, rounding of coordinates is seen.
DEEPEST = 44
#: Coordinates that differ by less than this part of the extent are the same.
SAME = 1e-12
#: Where else cells are cut if a line, also after so many halvings, would be nearer to a curve than this part.
CUTS, HALVINGS, CLEAR = (0.38, 0.62, 0.45, 0.55, 0.3, 0.7), 4, 0.05
#: A place touches at most so many boxes of a grid; others may be outside of the domain.
MOST_TOUCHED = 8
#: Points of a cell, along each axis, by which it is seen whether something of the domain is in it.
LOOKS = 17


def unsupported(problem: Problem) -> str | None:
    """Why a problem cannot be solved on cells, in words; None if it can."""
    equations = equations_of(problem)
    if not equations or space_of(equations[0].on) is None or problem.dim > 3:
        return "an equation without a domain of at most three dimensions with a known boundary"
    if any(c.on is not equations[0].on for c in equations):
        return "equations that are stated on different domains"
    if problem.timed:
        return without_parts(problem) or _reason(problem)
    if problem.dim == 3 and not isinstance(equations[0].on, Box):
        return "a domain in three dimensions that is not a box"
    if any(isinstance(c.op, Tabulated) for c in problem.conditions):
        return "an operator that is known at some points only"
    if problem.dim == 3 and (problem.cuts or any(jumps(c, problem.unknowns) for c in problem.conditions)):
        return "coefficients that jump in space: cells are cut in the plane only"
    if any(c.noise is not None or c.paired for c in problem.conditions):
        return "sensors, or periodic sides"
    if any(c.on.intrinsic_dim < problem.dim - 1 and not c.integral for c in problem.conditions):
        return "conditions at single points, or on lines in space"
    if any(c.across for c in problem.conditions):
        return "an Interface; where a Piecewise coefficient jumps, parts keep u and its flux continuous without one"
    return _reason(problem)


def _reason(problem: Problem) -> str | None:
    found = kind_of(problem)
    return found if isinstance(found, str) else None


def pieces_of(problem: Problem) -> Pieces:
    """The domain of a problem, and the pieces between which its coefficients jump; an error if it has no cells."""
    pieces = supported_pieces(problem)
    if isinstance(pieces, str):
        raise fail(ArgumentError, "method", f"a Partition for {pieces}", "use method=ko.Subspace()")
    return pieces


def supported_pieces(problem: Problem) -> Pieces | str:
    """The same, or why a problem cannot be solved on cells, in words."""
    reason = unsupported(problem)
    if reason is not None:
        return reason
    domain = space_of(equations_of(problem)[0].on)
    assert domain is not None
    return Pieces(domain, jump_parts(problem))


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
            alike; None chooses. In a box in space, how often the outermost layers of cells are: grid lines crowd at its
            sides, so that cells at its edges are small across them.
        halved: other cells that are halved, by their corners.
    """
    domain, times = pieces.whole, times_of(problem)
    low, high = domain.bounds
    places, exponents, rates = _singularities(problem, pieces)
    levels = np.log2(1.0 / target) / rates if depth is None else depth * (min(rates, default=1.0) / rates)
    if times is not None:
        levels = np.where(exponents < ROUGH, levels if depth is not None else np.minimum(levels, FINEST / rates), 0.0)
    levels = np.minimum(np.ceil(levels), DEEPEST)
    marks = [np.array([a, b]) for a, b in zip(low, high, strict=True)]
    if domain.dim == 1:
        marks[0] = np.concatenate([marks[0], _within(_ends(pieces), low, high)])
    for j in range(domain.dim if len(places) else 0):
        through = places[_telling(places[:, j], exponents, ASIDE * float(high[j] - low[j])), j]
        if len(np.unique(np.round(through, 12))) <= LINES:
            marks[j] = np.concatenate([marks[j], through])
    kept = lines = grid_lines(marks)
    longest = max(float(own[-1] - own[0]) for own in lines) / number
    lines = [filled(own, longest) for own in lines]
    lines = with_layers(lines, problem, domain) if times is None else lines
    if domain.dim == 3:
        # u is like r² log r at edges: cells of size r there leave an error of r⁴.
        depth = int(np.ceil(0.25 * np.log2(1.0 / target))) if depth is None else depth
        lines = [_crowded(own, depth) for own in lines]
    lines = [off_tangents(*own) for own in zip(lines, _tangents(pieces), kept, strict=True)]
    places, inside = _snapped(places, lines), _inside_of(domain)
    deep = places[levels >= DEEP]
    halves = domain.dim == 2 and all_touched(lines, deep, inside)  # so lines can be drawn between deep places
    if halves:
        lines = [np.sort(np.concatenate([own, 0.5 * (own[:-1] + own[1:])])) for own in lines]

    def rule(a: FloatArray, b: FloatArray, depth: int) -> bool:
        slack = 1e-9 * (b - a)
        here = np.all((places >= a - slack) & (places <= b + slack), axis=1)
        return bool(np.any(levels[here] > depth + halves)) or corners_of(a, b, times) in halved

    kind = kind_of(problem)
    rough = isinstance(kind, Kind) and kind.order == 2  # plates are smooth enough at corners
    crowded = [np.isin(own, deep[:, j]) for j, own in enumerate(lines)]
    cells = Cells.of(tree(lines, inside, rule, crowded))
    if domain.dim == 3:
        return cells, _on_edges(cells) if depth and rough else places
    return _at_all_times(cells, places[(levels >= DEEP) & rough], times)


def _at_all_times(cells: Cells, places: FloatArray, times: tuple[float, float] | None) -> tuple[Cells, FloatArray]:
    """Cells and places of space, in space and time if there are times."""
    if times is None:
        return cells, places
    return cells.over(times), np.hstack([places, np.full((len(places), 1), times[0])])


def _ends(pieces: Pieces) -> FloatArray:
    """Where coefficients jump on a line."""
    return np.array([side for region in _jumping(pieces) for side in region.bounds]).reshape(-1)


def _within(marks: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    return marks[(marks > low[0]) & (marks < high[0])]


def all_touched(lines: Sequence[FloatArray], places: FloatArray, inside: Inside) -> bool:
    """Does every box of a grid in the plane, if it is inside the domain, touch one of some places (k, 2)?"""
    if np.prod([len(own) - 1 for own in lines]) > MOST_TOUCHED * len(places):
        return False
    boxes = itertools.product(*(itertools.pairwise(own.tolist()) for own in lines))
    cells = [Cell(np.array([own[0] for own in box]), np.array([own[1] for own in box])) for box in boxes]
    return all(any(map(cell.touches, places)) or not inside(cell.low, cell.high) for cell in cells)


def _crowded(lines: FloatArray, levels: int) -> FloatArray:
    """Grid lines with others beside the first and the last one: half as far away as the next, and so on."""
    shares = 0.5 ** np.arange(1, levels + 1)
    first, last = lines[0] + shares * (lines[1] - lines[0]), lines[-1] - shares * (lines[-1] - lines[-2])
    return np.unique(np.concatenate([lines, first, last]))


def _on_edges(cells: Cells) -> FloatArray:
    """The middles of those edges of cells that lie on edges of the whole, a box in space: (k, 3).

    Where u = 0 on two sides that meet there, −Δu = 1 has solutions like r² log r at an edge.
    """
    whole = cells.corners[0]
    room, middle = SAME * (whole[1] - whole[0]), 0.5 * (cells.low + cells.high)
    beside = [np.abs(own - side) < room for own, side in zip((cells.low, cells.high), whole, strict=True)]
    found = [np.empty((0, 3))]
    for i, j in itertools.combinations(range(3), 2):
        for one, other in itertools.product((0, 1), repeat=2):
            here = middle[beside[one][:, i] & beside[other][:, j]]
            here[:, i], here[:, j] = whole[one, i], whole[other, j]
            found.append(here)
    return np.concatenate(found)


def deepened(
    problem: Problem, pieces: Pieces, cells: Cells, singular: NDArray[np.intp], more: int
) -> tuple[Cells, FloatArray]:
    """Cells that are halved so often more where u is singular; and these places.

    Arguments:
        singular: the numbers of the cells that touch such places.
    """
    times, dim = times_of(problem), pieces.whole.dim
    cells = cells if times is None else cells.without_time()
    places = _snapped(_singularities(problem, pieces)[0], [np.unique(own) for own in cells.corners.T.reshape(dim, -1)])
    places = np.array([x for x in places if any(cells.leaves[k].touches(x) for k in singular)]).reshape(-1, dim)

    def rule(a: FloatArray, b: FloatArray, depth: int) -> bool:
        return depth < more and any(map(Cell(a, b).touches, places))

    return _at_all_times(Cells.of(regrown(cells.root, _inside_of(pieces.whole), rule)), places, times)


def _inside_of(domain: Domain) -> Inside:
    """Is something of a domain in a box?"""
    looks = np.stack(np.meshgrid(*[(np.arange(LOOKS) + 0.5) / LOOKS] * domain.dim, indexing="ij"), axis=-1)
    looks = looks.reshape(-1, domain.dim)

    def inside(a: FloatArray, b: FloatArray) -> bool:
        middle = float(domain.height(0.5 * (a + b)[None])[0])
        reach = 0.5 * float(np.linalg.norm(b - a))
        if abs(middle) > reach:
            return middle < 0.0
        return bool(np.any(domain.height(a + looks * (b - a)) < -1e-9 * reach))

    return inside


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


#: Places at which u is singular, by the pieces of a domain, with their problem.
_FOUND: WeakKeyDictionary[Pieces, tuple[Problem, tuple[FloatArray, FloatArray, FloatArray]]] = WeakKeyDictionary()
#: The same by the problem, if nothing jumps in it.
_AROUND: Kept[Problem, tuple[FloatArray, FloatArray, FloatArray]] = Kept()


def _singularities(problem: Problem, pieces: Pieces) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Places and powers, see `singular_places`; grading to cells of size r leaves an error of r to other powers, (k,).

    They are found once: where many lines of jumps cross, that takes a second.
    """
    if pieces.parts is None:  # the boundary alone tells it, whatever the coefficients
        return _AROUND.of(problem, lambda: _with_rates(problem, pieces))
    known = _FOUND.get(pieces)
    if known is not None and known[0] is problem:
        return known[1]
    found = _with_rates(problem, pieces)
    _FOUND[pieces] = problem, found
    return found


def _with_rates(problem: Problem, pieces: Pieces) -> tuple[FloatArray, FloatArray, FloatArray]:
    places, exponents = singular_places(problem, pieces)
    rates = np.where(_data_meet(problem, pieces, places), 1.0, 2.0) * exponents
    return frozen((places, exponents, rates))


def least_error(problem: Problem, pieces: Pieces) -> float:
    """What the deepest grading leaves of the error, about; relative, where u is as rough as it may be."""
    _, _, rates = _singularities(problem, pieces)
    return float(2.0 ** (-DEEPEST * np.min(rates, initial=np.inf)))


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


def singular_places(problem: Problem, pieces: Pieces) -> tuple[FloatArray, FloatArray]:
    """Places at which u is singular in the plane, (k, 2), where it is like r to some power, (k,).

    At a corner of angle ω that is π/ω, or π/(2ω) where values of u are given on one side and something else on the
    other: Δu = 0 has solutions r^(π/ω) sin(π θ/ω).
    """
    domain = pieces.whole
    if domain.dim != 2:
        return np.empty((0, domain.dim)), np.empty(0)
    kinds = _Kinds(problem, domain)
    mixed = np.array([kinds.mixed_at(x) for x in domain.corners.x], dtype=bool)
    changes = kinds.changes()
    places = [domain.corners.x, changes]
    exponents = [np.where(mixed, 0.5, 1.0) * np.pi / domain.corners.angle, np.full(len(changes), 0.5)]
    corners = [region.corners.x for region in _jumping(pieces)]
    x = np.unique(np.round(np.concatenate([np.empty((0, 2)), *corners]), 12), axis=0)
    x = x[domain.contains(x)] if len(x) else x
    others = np.concatenate([*places, x])
    found = np.array([exponent_at(problem, pieces, place, others) for place in x])
    # Where a line of jumps meets a straight side at a right angle u is r near it on either side, and then r² log r.
    return np.concatenate([*places, x]), np.concatenate([*exponents, np.where(np.abs(found - 1.0) < EVEN, 2.0, found)])


def _jumping(pieces: Pieces) -> list[Domain]:
    """The regions between which coefficients jump."""
    return [] if pieces.parts is None else [own for own in pieces.parts.domains if isinstance(own, Domain)]


def _data_meet(problem: Problem, pieces: Pieces, places: FloatArray) -> NDArray[np.bool_]:
    """Do data of two conditions of the same kind meet at a place, (k,)? Where they do not fit, u itself jumps there.

    The error of grading to a size r is then r^α, and not r^(2α).
    """
    if pieces.whole.dim != 2:
        return np.zeros(len(places), dtype=bool)
    kinds = _Kinds(problem, pieces.whole)
    return np.array([kinds.several_at(x) for x in places], dtype=bool)


class _Kinds:
    """Where on the boundary values of u are given, and where something else."""

    def __init__(self, problem: Problem, domain: Domain) -> None:
        self._problem = problem
        self._around = [c for c in problem.conditions if c.on.intrinsic_dim == problem.dim - 1 and not c.across]
        self._lines = [Line.of(patch) for patch in domain.boundary.patches]
        self._extent = float(np.max(np.subtract(*domain.bounds[::-1])))

    def _values_given(self, line: Line, t: FloatArray) -> NDArray[np.bool_]:
        x, found = lasting(self._problem, line.at(t)[0]), np.zeros(len(t), dtype=bool)
        free = np.ones(len(t), dtype=bool)
        for condition in self._around:
            here = free & condition.on.contains(x)
            found |= here & (condition.op is itself)
            free &= ~here
        return found

    def mixed_at(self, x: FloatArray) -> bool:
        """Do conditions of two kinds meet at a corner?"""
        kinds: set[bool] = set()
        for line in self._lines:
            for end, t in zip(line.ends, (1e-6, 1.0 - 1e-6), strict=True):
                if np.linalg.norm(end - x) < 1e-9 * self._extent:
                    kinds.add(bool(self._values_given(line, np.array([t]))[0]))
        return len(kinds) > 1

    def several_at(self, x: FloatArray) -> bool:
        """Do two conditions that give values of u meet at a corner?"""
        found: set[int] = set()
        for line in self._lines:
            for end, t in zip(line.ends, (1e-6, 1.0 - 1e-6), strict=True):
                if np.linalg.norm(end - x) < 1e-9 * self._extent:
                    near = lasting(self._problem, line.at(np.array([t]))[0])
                    here = [k for k, c in enumerate(self._around) if c.op is itself and c.on.contains(near)[0]]
                    found |= set(here[:1])
        return len(found) > 1

    def changes(self) -> FloatArray:
        """Places within smooth lines at which the kind of condition changes, (k, 2)."""
        found: list[FloatArray] = []
        for line in self._lines:
            for a, b in intervals(lambda t, line=line: self._values_given(line, t)):
                found += [line.at(np.array([t]))[0][0] for t in (a, b) if END < t < 1.0 - END]
        return np.array(found).reshape(-1, 2)


def jump_parts(problem: Problem) -> Parts | None:
    """The pieces between which coefficients jump, as far as the problem tells."""
    functions = [own for c in problem.conditions for own in jumps(c, problem.unknowns)]
    regions = [*problem.cuts, *(region for function in functions for region in function.regions)]
    regions = list({id(region): region for region in regions}.values())
    if not regions:
        return None
    times = times_of(problem)
    domains = tuple(regions if times is None else [lasting_region(own, times) for own in regions])
    if not all(isinstance(region, Domain) for region in domains):
        got = "a coefficient that jumps between regions whose boundaries are not known"
        raise fail(ArgumentError, "method", got, "give boxes, balls, polygons, or combinations of them")
    if times is None:
        return occurring(problem, domains)
    x = equations_of(problem)[0].on.sample(4096).x[:, : domains[0].dim]
    inside = np.stack([own.contains(x) for own in domains], axis=1)
    return Parts(domains, np.unique(inside, axis=0).astype(np.int64))
