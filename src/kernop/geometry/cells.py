"""Cells: a box cut by a grid and by a 2^d-tree, and the faces between cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count, pairwise, product

import numpy as np

from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, IntArray, fail
from kernop.basics.fitting import REMEDY, check_shape
from kernop.basics.frozen import frozen
from kernop.basics.stored import stored

#: Cells are not longer than so many times their width, where that can be avoided.
LONGEST = 2.0
#: How far coordinates may be apart, as a part of a side, and count as the same.
SAME = 1e-9
#: Sides of a box around a place are at most so many times as far from it as others.
UNEVEN = 2.0 + 1e-6
#: Points of a cell, along each axis, by which it is seen whether something of a domain is in it.
LOOKS = 17
#: Pairs of cells that are looked at together.
PAIRS = 2**20


@dataclass(frozen=True, eq=False)
class Cell:
    """A box that is a leaf, with a number, or is cut into smaller ones.

    Arguments:
        low, high: its corners, (d,).
        children: the boxes into which it is cut; empty for a leaf.
        number: of a leaf, counted through; −1 for others.
    """

    low: FloatArray
    high: FloatArray
    children: tuple[Cell, ...] = ()
    number: int = -1

    def leaves(self) -> Iterator[Cell]:
        """All leaves in it, in the order of their numbers."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def touches(self, x: FloatArray) -> bool:
        """Does a point (d,) lie in it or on its boundary?"""
        slack = SAME * (self.high - self.low)
        return bool(np.all((x >= self.low - slack) & (x <= self.high + slack)))


#: Is a box inside the domain, as far as it matters? Is it to be cut into 2^d boxes?
Inside = Callable[[FloatArray, FloatArray], bool]
Rule = Callable[[FloatArray, FloatArray, int], bool]


@dataclass(frozen=True, eq=False)
class Centre:
    """A place around which cells are laid in rings, with one cell in the middle.

    Arguments:
        place: (d,).
        rings: so many of them, at least.
        room: the corners of the cell in the middle are nearer to the place than this.
    """

    place: FloatArray
    rings: int
    room: float


def tree(
    lines: Sequence[FloatArray],
    inside: Inside,
    rule: Rule,
    crowded: Sequence[BoolArray] | None = None,
    centres: Sequence[Centre] = (),
) -> Cell:
    """The boxes between grid lines that are inside, each cut again and again into 2^d boxes while a rule says so.

    Arguments:
        lines: the coordinates of the lines along each axis, from the lower to the upper side of the whole.
        inside: is asked of boxes of the grid and of all that come of them; others are left out.
        rule: is asked of a box and how often it was cut.
        crowded: along which lines there will be many small boxes. The grid is divided along others first: small boxes
            on both sides of a line are then together in a small group, and not in the two halves of the whole.
        centres: around which cells are laid in rings, where two crowded lines meet.
    """
    ends = [(0, len(own) - 1) for own in lines]
    crowded = crowded or [np.zeros(len(own), dtype=bool) for own in lines]
    found = _between(lines, crowded, ends, inside, rule, centres)
    if found is None:
        raise fail(ArgumentError, "method", "a domain of which next to nothing is in any cell", "use more cells")
    return numbered(found)


def regrown(root: Cell, inside: Inside, rule: Rule, centres: Sequence[Centre] = ()) -> Cell:
    """A tree whose leaves are cut again while a rule says so, which is asked how often they were; or in rings."""
    inner = [own for own in centres if np.all((own.place > root.low) & (own.place < root.high))]
    if root.children:
        found = _cell(root.low, root.high, [regrown(child, inside, rule, inner) for child in root.children])
    elif inner:
        found = _ringed(root.low, root.high, inner[0], inside, rule, 0)
    else:
        found = _cut(root.low, root.high, inside, rule, 0)
    return numbered(found or Cell(root.low, root.high))


def _between(
    lines: Sequence[FloatArray],
    crowded: Sequence[BoolArray],
    ends: list[tuple[int, int]],
    inside: Inside,
    rule: Rule,
    centres: Sequence[Centre],
) -> Cell | None:
    """The cell between some lines of the grid: one box, or two halves of the grid, or rings."""
    low = np.array([own[first] for own, (first, _) in zip(lines, ends, strict=True)])
    high = np.array([own[last] for own, (_, last) in zip(lines, ends, strict=True)])
    if all(last - first == 1 for first, last in ends):
        return _cut(low, high, inside, rule, 0)
    if all(last - first == 2 for first, last in ends):
        middle = np.array([own[first + 1] for own, (first, _) in zip(lines, ends, strict=True)])
        for centre in centres:
            if np.all(np.abs(centre.place - middle) < SAME * (high - low)):
                return _ringed(low, high, centre, inside, rule, 0)
    axis, middle = _division(crowded, ends)
    first, last = ends[axis]
    halves = [[*ends[:axis], own, *ends[axis + 1 :]] for own in ((first, middle), (middle, last))]
    return _cell(low, high, [_between(lines, crowded, half, inside, rule, centres) for half in halves])


def _ringed(low: FloatArray, high: FloatArray, centre: Centre, inside: Inside, rule: Rule, depth: int) -> Cell | None:
    """A box in rings around a place inside of it: its sides come halfway nearer to the place, ring after ring.

    Only the longer ones do while some are more than twice as far from it as others.
    """
    below, above = centre.place - low, high - centre.place
    longest = max(float(np.max(below)), float(np.max(above)))
    near = longest > UNEVEN * min(float(np.min(below)), float(np.min(above)))
    reach = float(np.linalg.norm(np.maximum(below, above)))
    if not near and depth >= centre.rings and reach < centre.room and not rule(low, high, depth):
        return Cell(low, high)
    moved = [side > (longest / UNEVEN if near else 0.0) for side in (below, above)]
    first = np.where(moved[0], centre.place - 0.5 * below, low)
    last = np.where(moved[1], centre.place + 0.5 * above, high)
    marks = [np.unique([low[j], first[j], centre.place[j], last[j], high[j]]) for j in range(len(low))]
    boxes = [np.array(box).T for box in product(*(list(pairwise(own.tolist())) for own in marks))]
    outer = [own for own in boxes if not np.all((own[0] >= first) & (own[1] <= last))]
    found = [_cut(own[0], own[1], inside, rule, depth + 1) for own in outer]
    return _cell(low, high, [*found, _ringed(first, last, centre, inside, rule, depth + (not near))])


def _division(crowded: Sequence[BoolArray], ends: list[tuple[int, int]]) -> tuple[int, int]:
    """The axis, and the line, along which a part of a grid is divided: across the axis with most boxes, in the middle,
    but not along a crowded line if there is another. What is beyond the middle of the whole is mirrored.
    """
    ways: list[tuple[bool, int, float, int, int]] = []
    for axis, (first, last) in enumerate(ends):
        middle = first + last + (0.5 if first + last >= len(crowded[axis]) else -0.5)
        ways += [(bool(crowded[axis][k]), first - last, abs(2 * k - middle), axis, k) for k in range(first + 1, last)]
    *_, axis, k = min(ways)
    return axis, k


def _cut(low: FloatArray, high: FloatArray, inside: Inside, rule: Rule, depth: int) -> Cell | None:
    if not inside(low, high):
        return None
    if not rule(low, high, depth):
        return Cell(low, high)
    middle = 0.5 * (low + high)
    corners = [np.array(bits) for bits in product((0, 1), repeat=len(low))]
    boxes = [(np.where(bits, middle, low), np.where(bits, high, middle)) for bits in corners]
    return _cell(low, high, [_cut(*box, inside, rule, depth + 1) for box in boxes])


def _cell(low: FloatArray, high: FloatArray, children: Sequence[Cell | None]) -> Cell | None:
    present = tuple(child for child in children if child is not None)
    return Cell(low, high, present) if present else None


def numbered(cell: Cell, numbers: Iterator[int] | None = None) -> Cell:
    """The same cells, with leaves that are counted from 0, or that take the next of some numbers."""
    numbers = count() if numbers is None else numbers
    if not cell.children:
        return Cell(cell.low, cell.high, (), next(numbers))
    return Cell(cell.low, cell.high, tuple(numbered(child, numbers) for child in cell.children))


@cache
def looks(dim: int) -> tuple[FloatArray, FloatArray]:
    """Points of the unit box, evenly, and of its faces, (n, d) each, by which it is seen what is in a cell."""
    along, ends = (np.arange(LOOKS) + 0.5) / LOOKS, np.array([0.0, 1.0])
    axes = [[along] * dim, *([ends if k == j else along for k in range(dim)] for j in range(dim))]
    inner, *faces = (np.stack(np.meshgrid(*own, indexing="ij"), axis=-1).reshape(-1, dim) for own in axes)
    return frozen((inner, np.concatenate(faces)))


def grid_lines(marks: Sequence[FloatArray]) -> list[FloatArray]:
    """Grid lines through all marks of each axis, with others between them so that boxes are not too long."""
    axes = [distinct(own) for own in marks]
    width = min(float(np.min(np.diff(own))) for own in axes)
    width = max(width, min(float(own[-1] - own[0]) for own in axes) / 8.0)
    return [filled(own, LONGEST * width) for own in axes]


def distinct(marks: FloatArray) -> FloatArray:
    """Marks in order, each once."""
    ordered = np.sort(marks)
    kept = np.diff(ordered, prepend=-np.inf) > SAME * (ordered[-1] - ordered[0])
    return ordered[kept]


def filled(marks: FloatArray, longest: float) -> FloatArray:
    """Marks with others between them, evenly, so that none are farther apart than the longest distance."""
    steps = [max(1, int(np.ceil(side / longest - SAME))) for side in np.diff(marks)]
    pieces = [np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(marks[:-1], marks[1:], steps, strict=True)]
    return np.append(np.concatenate(pieces), marks[-1])


@dataclass(frozen=True, eq=False)
class Face:
    """A piece of the plane x_axis = c: a box in the other coordinates, with a leaf on either side, or on one (−1).

    Arguments:
        axis: along which its normal points.
        low, high: its corners, (d,), equal along the axis.
        below, above: the numbers of the leaves with smaller and with larger x_axis.
    """

    axis: int
    low: FloatArray
    high: FloatArray
    below: int
    above: int

    @property
    def inner(self) -> bool:
        """Has it a leaf on either side?"""
        return self.below >= 0 and self.above >= 0


@stored("cells")
@dataclass(frozen=True, eq=False)
class Cells:
    """The leaves of a tree of cells, and the faces between them.

    Arguments:
        corners: lower and upper ones of all cells of the tree, (C, 2, d), each before those into which it is cut.
        parents: the cell of which each is a part, (C,); −1 for the first, the root.
    """

    corners: FloatArray
    parents: IntArray

    @classmethod
    def of(cls, root: Cell) -> Cells:
        """The leaves of a tree of cells."""
        corners, parents = list[FloatArray](), list[int]()
        waiting = [(root, -1)]
        while waiting:
            cell, parent = waiting.pop()
            waiting += [(child, len(parents)) for child in reversed(cell.children)]
            corners.append(np.array([cell.low, cell.high]))
            parents.append(parent)
        return cls(np.array(corners), np.array(parents, dtype=np.intp))

    def over(self, times: tuple[float, float]) -> Cells:
        """These cells of space, each of them for all of an interval of time, which is a further, last, coordinate."""
        ends = np.broadcast_to(np.array(times)[None, :, None], (*self.corners.shape[:2], 1))
        return Cells(np.concatenate([self.corners, ends], axis=2), self.parents)

    def without_time(self) -> Cells:
        """Cells of space and time, as `over` makes them, without the last coordinate."""
        return Cells(self.corners[:, :, :-1], self.parents)

    def check(self) -> None:
        """Raise unless the cells are a tree of boxes, which comes from a file."""
        check_shape("corners", self.corners, None, 2, None)
        check_shape("parents", self.parents, len(self.corners))
        numbers = np.arange(len(self.parents))
        if self.parents[0] != -1 or np.any(self.parents[1:] < 0) or np.any(self.parents[1:] >= numbers[1:]):
            raise fail(ArgumentError, "parents", "numbers that are no tree", REMEDY)
        if not np.all(self.corners[:, 0] < self.corners[:, 1]):
            raise fail(ArgumentError, "corners", "boxes without inside", REMEDY)

    @cached_property
    def root(self) -> Cell:
        """The root of the tree of cells."""
        children: list[list[Cell]] = [[] for _ in self.parents]
        leaf = np.ones(len(self.parents), dtype=bool)
        leaf[self.parents[1:]] = False
        numbers = np.where(leaf, np.cumsum(leaf) - 1, -1)
        for k in range(len(self.parents) - 1, -1, -1):
            low, high = self.corners[k]
            cell = Cell(low, high, tuple(reversed(children[k])), int(numbers[k]))
            if k == 0:
                return cell
            children[self.parents[k]].append(cell)
        raise AssertionError("a tree has a root")

    @cached_property
    def leaves(self) -> tuple[Cell, ...]:
        """The P leaves, by number."""
        return tuple(self.root.leaves())

    @cached_property
    def low(self) -> FloatArray:
        """Lower corners, (P, d)."""
        return np.array([leaf.low for leaf in self.leaves])

    @cached_property
    def high(self) -> FloatArray:
        """Upper corners, (P, d)."""
        return np.array([leaf.high for leaf in self.leaves])

    def locate(self, x: FloatArray) -> IntArray:
        """The leaf that holds each point x (n, d), or is nearest to it: (n,)."""
        found = np.full(len(x), -1, dtype=np.intp)
        _descend(self.root, x, np.arange(len(x)), found)
        # A cell that was cut may hold a point of which none of its leaves is near: those in holes of a domain are left
        # out, and beside them the nearest leaf may be one of another cell.
        lost = np.flatnonzero(_beyond(self.low[found], self.high[found], x) > 0.0)
        for rows in np.array_split(lost, len(lost) * len(self.low) // PAIRS + 1):
            found[rows] = np.argmin(_beyond(self.low, self.high, x[rows, None]), axis=1)
        return found

    @cached_property
    def faces(self) -> tuple[Face, ...]:
        """Inner faces, each between two leaves, and then sides of leaves that no other leaf touches."""
        inner: list[Face] = []
        for axis in range(self.low.shape[1]):
            inner += self._inner(axis)
        covered = {(f.below, f.axis, 1) for f in inner} | {(f.above, f.axis, 0) for f in inner}
        sides = product(range(len(self.leaves)), range(self.low.shape[1]), (0, 1))
        return (*inner, *(self._side(*side) for side in sides if side not in covered))

    def _inner(self, axis: int) -> list[Face]:
        """Faces where the upper side of one leaf meets the lower side of another."""
        size = np.max(self.high - self.low, axis=1)
        order = np.argsort(self.low[:, axis], kind="stable")
        starts, ends, slack = self.low[order, axis], self.high[:, axis], SAME * size
        begin, end = np.searchsorted(starts, ends - slack), np.searchsorted(starts, ends + slack, side="right")
        found: list[Face] = []
        for some in np.array_split(np.arange(len(size)), np.cumsum(end - begin)[-1] // PAIRS + 1):
            counts = (end - begin)[some]
            below = np.repeat(some, counts)
            above = order[np.repeat(end[some] - np.cumsum(counts), counts) + np.arange(len(below))]
            first, last = np.maximum(self.low[above], self.low[below]), np.minimum(self.high[above], self.high[below])
            room = SAME * np.minimum(size[above], size[below])[:, None]
            beside = np.all(np.delete(last - first > room, axis, axis=1), axis=1)
            first, last, below, above = first[beside], last[beside], below[beside], above[beside]
            first[:, axis] = last[:, axis] = ends[below]
            faces = zip(first, last, below.tolist(), above.tolist(), strict=True)
            found += [Face(axis, *own) for own in faces]
        return found

    def _side(self, leaf: int, axis: int, upper: int) -> Face:
        low, high = self.low[leaf].copy(), self.high[leaf].copy()
        low[axis] = high[axis] = (high if upper else low)[axis]
        return Face(axis, low, high, leaf if upper else -1, -1 if upper else leaf)


def _descend(cell: Cell, x: FloatArray, rows: IntArray, found: IntArray) -> None:
    """Give each of the rows to the child that is nearest, and go on there."""
    if not cell.children:
        found[rows] = cell.number
        return
    nearest = np.argmin([_beyond(c.low, c.high, x[rows]) for c in cell.children], axis=0)
    for k, child in enumerate(cell.children):
        own = rows[nearest == k]
        if len(own):
            _descend(child, x, own, found)


def _beyond(low: FloatArray, high: FloatArray, x: FloatArray) -> FloatArray:
    """How far points x (…, d) are outside of boxes, along the axis where that is most: (…,); 0 inside."""
    return np.max(np.maximum(low - x, x - high), axis=-1, initial=0.0)
