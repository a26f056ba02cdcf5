"""Places at which functions of the user are asked for again and again: they are called once for all of them.

Most of what a function takes at a few hundred points is the call. Learns of one problem on the same parts ask at the
same arrays: on the sides of the domain, at the points of equations, at the nodes of seams. What was asked for in two
learns, one after the other, is expected in the third, and evaluated as soon as any of it is asked for.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import Kept
from kernop.geometry import Points
from kernop.language.functions import ROWS, Said, padded

#: At most so many rows are remembered of what was asked for: where there are more, the call is a small part.
MOST = ROWS[-1]


@dataclass(frozen=True, eq=False)
class Place:
    """Where points stand among the rows at which functions are evaluated.

    Arguments:
        x: all rows, (n', d), see `padded`.
        normal: normals there, (n', d), if the points have some.
        rows: which of them are the points.
        known: what functions say there, see `remembering`; it lasts as long as x.
    """

    x: FloatArray
    normal: FloatArray | None
    rows: slice
    known: Said = field(default_factory=Said)


@dataclass(eq=False)
class _Past:
    """What was asked for the last time, and those of it that were asked for before, too."""

    asked: tuple[FloatArray, ...] = ()
    again: tuple[FloatArray, ...] = ()


_pasts: Kept[object, _Past] = Kept()


class _Foreseen:
    """The places of one context."""

    def __init__(self, again: tuple[FloatArray, ...]) -> None:
        self._again = again
        self._unions: dict[int, Place] = {}
        self.asked: list[FloatArray] = []
        self._left = MOST

    def at(self, x: FloatArray) -> tuple[Place, int] | None:
        """The rows among which an array of places stands, and the first of its own; None if it was not expected."""
        if len(x) <= self._left and not any(own is x for own in self.asked):
            self.asked.append(x)
            self._left -= len(x)
        start, dim = 0, x.shape[1]
        for own in self._again:
            if own is x:
                return self._union(dim), start
            start += len(own) if own.shape[1] == dim else 0
        return None

    def _union(self, dim: int) -> Place:
        if dim not in self._unions:
            x = np.concatenate([own for own in self._again if own.shape[1] == dim])
            self._unions[dim] = Place(padded(x), None, slice(0, len(x)))
        return self._unions[dim]


_foreseen: ContextVar[_Foreseen | None] = ContextVar("foreseen", default=None)


@contextmanager
def foreseeing(owner: object) -> Generator[None]:
    """A context in which places that were asked for in the last two contexts of an owner are evaluated together."""
    past = _pasts.of(owner, _Past)
    found = _Foreseen(past.again)
    token = _foreseen.set(found)
    try:
        yield
    finally:
        _foreseen.reset(token)
        before = {id(own) for own in past.asked}
        past.asked, past.again = tuple(found.asked), tuple(own for own in found.asked if id(own) in before)


def placed(points: Points) -> Place:
    """Where functions are evaluated for their values at points."""
    foreseen, n = _foreseen.get(), len(points)
    seen = None if foreseen is None else foreseen.at(points.x)
    if seen is None:
        return Place(padded(points.x), None if points.normal is None else padded(points.normal), slice(0, n))
    union, start = seen
    rows, normal = slice(start, start + n), None
    if points.normal is not None:
        normal = np.empty(union.x.shape)
        normal[:] = points.normal[-1]
        normal[rows] = points.normal
    return Place(union.x, normal, rows, union.known)
