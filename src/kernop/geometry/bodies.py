"""Quadrature on a body in space, also on one that set operations make or that others cut, along lines through it.

    ∫ f = ∫ dx ∫ dy Σ_k ∫_{a_k(x, y)}^{b_k(x, y)} f dz,

with Gauss's rule on each interval. The ends a, b and their number change with y, and with x, smoothly but where a line
touches the body, or passes from one of its surfaces to another: there the intervals of y, and of x, are cut. At their
ends what is integrated may be like a root, which y = y₀ + (y₁ − y₀) sin²(πs/2) makes smooth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray, IntArray
from kernop.geometry.ball import Ball
from kernop.geometry.box import Box
from kernop.geometry.domain import Domain
from kernop.geometry.points import Points
from kernop.geometry.sequences import gauss

#: Places on a line at which it is looked what is there, and how far outside of the bounds the first and the last are.
SEEN, OUTSIDE = 24, 1e-6
#: Halvings that find where something changes, and where about; the most changes between two places, and ends on a line.
HALVED, ABOUT, MOST, ENDS = 36, 24, 4, 24
#: What is hidden between places: where a height has a dip of less than so many steps it is sought, by so many cuts.
SHALLOW, CUTS = 1.5, 14
GOLD = 0.5 * (np.sqrt(5.0) - 1.0)
#: How far beside a change it is looked which surface makes it, as a part of the extent.
ASIDE = 1e-6
#: Surfaces that are equally far, but for this part of the extent, are equally near: the first of them counts.
SAME = 1e-7
#: At most so many balls and boxes.
SURFACES = 4
#: Nodes on each interval, if it is not shorter than this part of the extent.
NODES, SHORTEST = 12, 1e-7


@dataclass(frozen=True, eq=False)
class _Lines:
    """What m lines along z go through.

    Arguments:
        z: where it changes, (m, ENDS), in order.
        what: what is behind each end, a number, and by which surface it comes, (m, ENDS); −1 behind the last of them.
        within: is the region there? (m, ENDS).
    """

    z: FloatArray
    what: IntArray
    within: NDArray[np.bool_]


class _Body:
    """A region of space, and other domains between which functions are smooth in it."""

    def __init__(self, region: Domain, cuts: Sequence[Domain]) -> None:
        self._domains = (region, *cuts)
        self._surfaces = list(dict.fromkeys(leaf for own in self._domains for leaf in own.leaves))
        self._low, self._high = region.bounds

    def rule(self) -> Points:
        """Points with weights, (n,) in all, by which integrals over the region are sums of values."""
        x, wx = self._spread(*self._along_x())
        marks, inside, _ = self._slices(x)
        rows = [self._spread(own, part) for own, part in zip(marks, inside, strict=True)]
        xy = np.concatenate([np.column_stack([np.full(len(y), a), y]) for a, (y, _) in zip(x, rows, strict=True)])
        weight = np.concatenate([a * w for a, (_, w) in zip(wx, rows, strict=True)])
        lines = self._lines(xy)
        at, k = np.nonzero(lines.within)
        low, length = lines.z[at, k], lines.z[at, k + 1] - lines.z[at, k]
        t, w = gauss((1.0,), NODES)
        z = low[:, None] + length[:, None] * t[:, 0]
        places = np.column_stack([np.repeat(xy[at], len(t), axis=0), z.ravel()])
        return Points(places, None, False, ((weight[at] * length)[:, None] * w).ravel())

    def _spread(self, marks: FloatArray, inside: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
        """Nodes and weights on those intervals between marks that are inside, and longer than rounding makes them."""
        s, w = gauss((1.0,), NODES)
        turn, length = 0.5 * np.pi * s[:, 0], np.diff(marks)
        inside = inside & (length > SHORTEST * float(np.max(self._high - self._low)))
        low, length = marks[:-1][inside], length[inside]
        nodes = low[:, None] + length[:, None] * np.sin(turn) ** 2
        return nodes.ravel(), (length[:, None] * (np.pi * np.sin(turn) * np.cos(turn) * w)).ravel()

    def _looks(self, axis: int) -> FloatArray:
        """Places along an axis, the first and the last of which are outside."""
        low, high = self._low[axis], self._high[axis]
        t = np.concatenate([[-OUTSIDE], (np.arange(SEEN) + 0.5) / SEEN, [1.0 + OUTSIDE]])
        return low + (high - low) * t

    def _along_x(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Where what planes go through changes, and whether there is anything between."""
        x, y, z = (self._looks(axis) for axis in range(3))
        whole = np.stack(np.meshgrid(x, y, z, indexing="ij"), axis=-1)
        x = np.unique(np.concatenate([x, self._hidden(whole, (0, 1, 2))[1][:, 0]]))
        known: dict[tuple[bytes, ...], int] = {(): 0}

        def seen(_: IntArray, x: FloatArray) -> IntArray:
            return np.array([[known.setdefault(own, len(known))] for own in self._slices(x, ABOUT)[2]])

        _, marks, behind = _changes(np.zeros(len(x), dtype=np.intp), x, seen)
        return marks, behind[:-1, 0] > 0

    def _slices(
        self, x: FloatArray, halved: int = HALVED
    ) -> tuple[list[FloatArray], list[NDArray[np.bool_]], list[tuple[bytes, ...]]]:
        """For planes at x (q,): where what lines meet changes with y, whether anything is between, and what it is."""
        y, z = self._looks(1), self._looks(2)
        whole = np.stack(np.meshgrid(x, y, z, indexing="ij"), axis=-1)
        which, found = self._hidden(whole, (1, 2))
        plane, y = _in_order(np.repeat(np.arange(len(x)), len(y)), np.tile(y, len(x)), which, found[:, 1])

        def what(plane: IntArray, y: FloatArray) -> IntArray:
            return self._lines(np.column_stack([x[plane], y])).what

        own, places, behind = _changes(plane, y, what, halved)
        begins = behind[:, 0] >= 0
        through = begins & (np.roll(begins, 1) & (np.roll(own, 1) == own))  # where one surface follows another
        beside = self._beside(x[own], places, np.where(begins, 1.0, -1.0))
        kinds = np.column_stack([behind, np.where(through, -1, beside)])
        mine = [np.flatnonzero(own == number) for number in range(len(x))]
        return (
            [places[rows] for rows in mine],
            [behind[rows[:-1], 0] >= 0 for rows in mine],
            [tuple(row.tobytes() for row in kinds[rows]) for rows in mine],
        )

    def _beside(self, x: FloatArray, y: FloatArray, side: FloatArray) -> IntArray:
        """The surface next to places at which what lines go through changes, (n,), in the middle of what is beside."""
        lines = self._lines(np.column_stack([x, y + side * ASIDE * (self._high[1] - self._low[1])]))
        middle = 0.5 * (lines.z[:, 0] + np.where(np.isfinite(lines.z[:, 1]), lines.z[:, 1], lines.z[:, 0]))
        return self._nearest(np.column_stack([x, y, np.where(np.isfinite(middle), middle, 0.0)]))

    def _lines(self, xy: FloatArray) -> _Lines:
        """What lines along z at places (m, 2) go through."""
        z = self._looks(2)
        whole = np.concatenate([np.repeat(xy[:, None], len(z), axis=1), np.tile(z[:, None], (len(xy), 1, 1))], axis=2)
        which, found = self._hidden(whole, (2,))
        line, z = _in_order(np.repeat(np.arange(len(xy)), len(z)), np.tile(z, len(xy)), which, found[:, 2])

        def codes(line: IntArray, z: FloatArray) -> IntArray:
            x = np.column_stack([xy[line], z])
            code = np.sum([(own.height(x) < 0.0) << k for k, own in enumerate(self._domains)], axis=0)
            return np.where(code & 1 == 0, 0, code)[:, None]  # outside of the region nothing matters

        line, ends, behind = _changes(line, z, codes)
        place = np.arange(len(line)) - np.searchsorted(line, line)
        kept = place < ENDS
        line, place, after, ends = line[kept], place[kept], behind[kept, 0], ends[kept]
        where, what = np.full((len(xy), ENDS), np.inf), np.full((len(xy), ENDS), -1, dtype=np.int64)
        where[line, place] = ends
        numbers = self._nearest(np.column_stack([xy[line], ends]))
        what[line, place] = after * (1 + 6 * len(self._surfaces)) + numbers
        within = np.zeros(what.shape, dtype=bool)
        within[line, place] = after > 0
        within[:, -1] = False
        return _Lines(where, what, within)

    def _hidden(self, places: FloatArray, axes: tuple[int, ...]) -> tuple[IntArray, FloatArray]:
        """Points between places on grids that a surface goes around, or two of them, and around no place near.

        Arguments:
            places: n grids over some axes, (n, …, 3), or one over all.
            axes: those along which the grids are.

        Returns the number of the grid of each point, and the points, (k, 3).
        """
        grids = places if len(axes) < 3 else places[None]
        flat, step = grids.reshape(-1, 3), (self._high - self._low) / SEEN
        heights = [own.height(flat).reshape(grids.shape[:-1]) for own in self._surfaces]
        shallow = SHALLOW * float(np.max(step[list(axes)]))
        which, found = [np.empty(0, dtype=np.intp)], [np.empty((0, 3))]
        for sides in self._sides:
            at = np.nonzero(_dips(np.max([sign * heights[k] for k, sign in sides], axis=0), shallow))
            if len(at[0]):
                x = grids[at].copy()
                below = _lowest(self._height(sides), x, axes, step) < 0.0
                which.append(at[0][below])
                found.append(x[below])
        return np.concatenate(which), np.concatenate(found)

    @cached_property
    def _sides(self) -> list[tuple[tuple[int, float], ...]]:
        """What is on one side of a surface, and of two of them."""
        every = [(k, sign) for k in range(len(self._surfaces)) for sign in (1.0, -1.0)]
        return [*((own,) for own in every), *((a, b) for a, b in combinations(every, 2) if a[0] != b[0])]

    def _height(self, sides: tuple[tuple[int, float], ...]) -> Callable[[FloatArray], FloatArray]:
        return lambda x: np.max([sign * self._surfaces[k].height(x) for k, sign in sides], axis=0)

    def _nearest(self, x: FloatArray) -> IntArray:
        """The number of the surface next to each point, a side of a box being one of its own."""
        distances: list[FloatArray] = []
        for own in self._surfaces:
            if isinstance(own, Box):
                low, high = own.bounds
                distances += [*np.abs(x - low).T, *np.abs(x - high).T]
            else:
                distances.append(np.abs(own.height(x)))
        near = np.stack(distances)
        return np.argmax(near <= np.min(near, axis=0) + SAME * float(np.max(self._high - self._low)), axis=0)


def _changes(
    line: IntArray, t: FloatArray, what: Callable[[IntArray, FloatArray], IntArray], halved: int = HALVED
) -> tuple[IntArray, FloatArray, IntArray]:
    """Where what is on lines changes: the line, the place, and what is behind it, (n, s), in order.

    Arguments:
        line, t: places in order, (n,), between which it is looked.
        what: is there, as numbers (n, s), for lines and places.
    """
    seen = what(line, t)
    k = np.flatnonzero(np.any(seen[1:] != seen[:-1], axis=1) & (line[1:] == line[:-1]))
    own, low, high, before, after = line[k], t[k], t[k + 1], seen[k], seen[k + 1]
    lines, places, behind = [own[:0]], [low[:0]], [before[:0]]
    for _ in range(MOST):  # several changes may follow each other between two places
        first, last, there = low, high, after
        for _ in range(halved if len(own) else 0):
            middle = 0.5 * (first + last)
            found = what(own, middle)
            same = np.all(found == before, axis=1)
            first, last = np.where(same, middle, first), np.where(same, last, middle)
            there = np.where(same[:, None], there, found)
        lines.append(own)
        places.append(0.5 * (first + last))
        behind.append(there)
        more = np.any(there != after, axis=1)
        own, low, high, before, after = own[more], last[more], high[more], there[more], after[more]
    number, place = np.concatenate(lines), np.concatenate(places)
    order = np.lexsort((place, number))
    return number[order], place[order], np.concatenate(behind)[order]


def _dips(value: FloatArray, shallow: float) -> NDArray[np.bool_]:
    """Where on grids (n, …) positive values are no larger than their neighbours', and not large."""
    found = (value > 0.0) & (value < shallow)
    for k in range(1, value.ndim):
        after = tuple(slice(1, None) if j == k else slice(None) for j in range(value.ndim))
        before = tuple(slice(None, -1) if j == k else slice(None) for j in range(value.ndim))
        found[after] &= value[after] <= value[before]
        found[before] &= value[before] < value[after]
    return found


def _lowest(
    value: Callable[[FloatArray], FloatArray], x: FloatArray, axes: tuple[int, ...], step: FloatArray
) -> FloatArray:
    """The least values of a function near places x (n, 3), (n,), which are moved there, by a step along each axis.

    Golden sections, of what is least along the other axes: where surfaces meet, steps along one axis after the other
    would end on the edge.
    """
    axis, *others = axes

    def least(t: FloatArray) -> FloatArray:
        x[:, axis] = t
        return _lowest(value, x, tuple(others), step) if others else value(x)

    low, high = x[:, axis] - step[axis], x[:, axis] + step[axis]
    a, b = high - GOLD * (high - low), low + GOLD * (high - low)
    one, other = least(a), least(b)
    for _ in range(CUTS):
        first = one < other
        low, high = np.where(first, low, a), np.where(first, b, high)
        t = np.where(first, high - GOLD * (high - low), low + GOLD * (high - low))
        new = least(t)
        a, b = np.where(first, t, b), np.where(first, a, t)
        one, other = np.where(first, new, other), np.where(first, one, new)
    return least(np.where(one < other, a, b))


def _in_order(number: IntArray, t: FloatArray, others: IntArray, at: FloatArray) -> tuple[IntArray, FloatArray]:
    """Coordinates on numbered lines, and others, in order."""
    number, t = np.concatenate([number, others]), np.concatenate([t, at])
    order = np.lexsort((t, number))
    return number[order], t[order]


def made_of_balls_and_boxes(*domains: Domain) -> bool:
    """Are these bodies in space, made of a few balls and boxes, whose heights cost little and have no wiggles?

    Pairs of surfaces are looked at: the time grows like the square of their number.
    """
    leaves = [leaf for own in domains for leaf in own.leaves]
    plain = all(own.dim == 3 and not own.timed and isinstance(own, Ball | Box) for own in leaves)
    return plain and len(leaves) <= SURFACES


def body_rule(region: Domain, cuts: Sequence[Domain] = ()) -> Points:
    """Points with weights for functions that are smooth in a body of space on each side of the boundaries of others."""
    return _Body(region, cuts).rule()
