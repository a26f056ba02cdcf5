"""Lines in the plane cut to boxes: intervals of their parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray
from kernop.basics.frozen import frozen
from kernop.geometry.patch import Patch

#: Parameters at which it is looked whether a line is inside, even ones and others that crowd at the ends.
LOOKS: FloatArray = np.unique([*np.linspace(0.0, 1.0, 129), *0.5 ** np.arange(8, 20), *1.0 - 0.5 ** np.arange(8, 20)])
#: How often it is looked more finely for the nearest point of a line, and steps around that.
ZOOMS, CLOSER = 12, 0.5 ** np.arange(4, 50)
#: Of places in a box those near to its middle count more, by so little beside what is outside of it.
WITHIN = 1e-9
#: Halvings that find where it leaves.
HALVINGS = 60
#: Places by which an interval is cut into sixteen.
STEPS = np.linspace(0.0, 1.0, 17)
#: How far outside of a box, in units of its sides, a point counts as inside; shorter intervals are none.
SLACK, SHORTEST = 1e-9, 1e-9
#: How far a curved line may be outside of the box around some of its points, in units of the box.
BULGE = 0.1
#: Ends of a line that are nearer than this part of its size, with normals that differ by less, are one.
MEETING, SMOOTH = 1e-9, 1e-6

Span = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Line:
    """A line with normals; a closed one goes on beyond its end, and then its parameter t may be above 1.

    Arguments:
        patch: the line.
        closed: does it end where it begins, without a corner?
        straight: is it a segment?
    """

    patch: Patch
    closed: bool
    straight: bool

    @classmethod
    def of(cls, patch: Patch) -> Line:
        """What kind of line a patch is."""
        seen = patch.place(np.array([[0.0], [0.25], [0.5], [1.0]]))
        (first, quarter, middle, last), size = seen.x, float(np.max(np.ptp(seen.x, axis=0)))
        meets = np.max(np.abs(last - first)) < MEETING * size
        smooth = seen.normal is not None and np.max(np.abs(seen.normal[-1] - seen.normal[0])) < SMOOTH
        off = max(np.max(np.abs(middle - 0.5 * (first + last))), np.max(np.abs(quarter - 0.75 * first - 0.25 * last)))
        return cls(patch, bool(meets and smooth and patch.keeps is None), bool(off < 1e-13 * size))

    def at(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Places and normals for parameters (n,), (n, 2) each."""
        found = self.patch.place((np.mod(t, 1.0) if self.closed else t)[:, None])
        return found.x, found.outward

    @cached_property
    def ends(self) -> FloatArray:
        """Where it begins and ends, (2, 2)."""
        return frozen(self.at(np.array([0.0, 1.0]))[0])

    @cached_property
    def reach(self) -> float:
        """Twice the way from its beginning to its middle, as the crow flies."""
        first, middle = self.at(np.array([0.0, 0.5]))[0]
        return 2.0 * float(np.linalg.norm(middle - first))

    def within(self, low: FloatArray, high: FloatArray) -> list[Span]:
        """The intervals of t on which the line lies in a box; those of a segment to rounding."""
        room = SLACK * (high - low)
        if not self.straight:
            near = self._nearest(low, high)
            found = intervals(lambda t: self._in_box(t, low - room, high + room), near)
            return _joined(found) if self.closed else found
        found = _straight(self.ends[0], self.ends[1], low - room, high + room)
        if self.patch.keeps is None:
            return found
        inner = [(a, b, intervals(lambda t, a=a, b=b: self.patch.kept((a + (b - a) * t)[:, None]))) for a, b in found]
        return [(a + (b - a) * c, a + (b - a) * d) for a, b, own in inner for c, d in own]

    def _in_box(self, t: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
        x = self.at(t)[0]
        return np.all((x >= low) & (x <= high), axis=1) & self.patch.kept(t[:, None])

    def _nearest(self, low: FloatArray, high: FloatArray) -> float:
        """The parameter of the point of the line that is nearest to a box, and then to its middle, by ever finer looks.

        A line that enters a large box at a corner is nearer to the middle before and after that.
        """
        t, middle = LOOKS, 0.5 * (low + high)
        for _ in range(ZOOMS):
            x = self.at(t)[0]
            outside = np.sum(np.square(x - np.clip(x, low, high)), axis=1)
            best = int(np.argmin(outside + WITHIN * np.sum(np.square(x - middle), axis=1)))
            t = np.linspace(t[max(best - 1, 0)], t[min(best + 1, len(t) - 1)], 33)
        return float(t[16])


def _joined(found: list[Span]) -> list[Span]:
    """Intervals of a closed line: one up to 1 and one from 0 are one."""
    first = [own for own in found if own[0] == 0.0 and own[1] < 1.0]
    last = [own for own in found if own[1] == 1.0 and own[0] > 0.0]
    if not first or not last:
        return found
    return [*(own for own in found if own not in (*first, *last)), (last[0][0], 1.0 + first[0][1])]


def _straight(first: FloatArray, last: FloatArray, low: FloatArray, high: FloatArray) -> list[Span]:
    start, stop = 0.0, 1.0
    for a, b, c, d in zip(first.tolist(), last.tolist(), low.tolist(), high.tolist(), strict=True):
        step = b - a
        if abs(step) <= 1e-15 * max(abs(a), abs(b), d - c):
            if not c <= a <= d:
                return []
            continue
        one, other = sorted(((c - a) / step, (d - a) / step))
        start, stop = max(start, one), min(stop, other)
    length = float(np.linalg.norm(last - first))
    return [(start, stop)] if (stop - start) * length > 10.0 * SHORTEST * float(np.max(high - low)) else []


@dataclass(frozen=True, eq=False)
class Outline:
    """Lines in the plane, of which those near to a box are found quickly.

    Arguments:
        lines: L of them.
        low, high: the corners of boxes around them, (L, 2) each.
    """

    lines: tuple[Line, ...]
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, patches: Sequence[Patch]) -> Outline:
        """The lines that some patches are."""
        lines = tuple(map(Line.of, patches))
        seen = np.array([line.at(np.linspace(0.0, 1.0, 33))[0] for line in lines]).reshape(-1, 33, 2)
        room = BULGE * np.ptp(seen, axis=1)
        return cls(lines, np.min(seen, axis=1) - room, np.max(seen, axis=1) + room)

    def within(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Where the lines begin and end in a box, (n, 2, 2), for each of n times that one runs through it."""
        near = np.flatnonzero(np.all((self.low <= high) & (self.high >= low), axis=1))
        found = [
            line.at(np.array(span))[0] for line in (self.lines[k] for k in near) for span in line.within(low, high)
        ]
        return np.array(found).reshape(-1, 2, 2)


def intervals(
    inside: Callable[[FloatArray], BoolArray], near: float | None = None, also: Sequence[float] = ()
) -> list[Span]:
    """The intervals of [0, 1] on which a predicate holds, as far as it is seen at some parameters.

    Arguments:
        near: a parameter around which it is looked more closely.
        also: other parameters at which it is looked.
    """
    closer = [] if near is None else [near, *(near + CLOSER), *(near - CLOSER)]
    t = np.unique(np.clip([*LOOKS, *closer, *also], 0.0, 1.0)) if closer or also else LOOKS
    held = inside(t)
    if np.all(held):
        return [(0.0, 1.0)]
    changes = np.flatnonzero(held[1:] != held[:-1])
    low, high, upper = t[changes], t[changes + 1], held[changes + 1]
    for _ in range(0, HALVINGS if len(changes) else 0, 4):  # four at a time: what costs is to ask
        between = low + STEPS[:, None] * (high - low)
        same = inside(between[1:-1].ravel()).reshape(len(STEPS) - 2, -1) == upper
        first = 1 + np.argmax(np.concatenate([same, np.ones((1, len(low)), dtype=bool)]), axis=0)
        number = np.arange(len(low))
        low, high = between[first - 1, number], between[first, number]
    edges = np.where(upper, high, low)
    marks = [*([0.0] if held[0] else []), *edges.tolist(), *([1.0] if held[-1] else [])]
    pairs = zip(marks[::2], marks[1::2], strict=True)
    return [(a, b) for a, b in pairs if b - a > (SHORTEST if near is None else 0.0)]
