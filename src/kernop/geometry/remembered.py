"""A part of a region whose predicate is not known any more: a file holds its points, and no function."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, check_number, fail
from kernop.basics.stored import stored
from kernop.geometry.lookup import Lookup
from kernop.geometry.points import Points, subset
from kernop.geometry.region import Region, Subregion


@stored("part")
class Remembered(Subregion):
    """Those points of ``base.where(predicate)`` that were used, where the predicate itself is lost.

    Arguments:
        base: the region of which it is a part.
        points: what is known of it; no other point counts as inside.
        measure: that of the part, as it was estimated when the predicate was there.
    """

    known = False

    def __init__(self, base: Region, points: Points, measure: float) -> None:
        super().__init__(base, check_number("measure", measure, above=0.0))
        self.points, self._lookup = points, Lookup(points.x)

    def _contains(self, x: FloatArray) -> NDArray[np.bool_]:
        return self._lookup.rows(x) >= 0

    def _draw(self, n: int, scheme: str, rng: np.random.Generator) -> Points:
        if n > len(self.points):
            remedy = "ask for at most that many, or load the operator with load(path, problem=…)"
            got = f"{n} points of {self!r}, of which {len(self.points)} were stored"
            raise fail(ArgumentError, "n", got, remedy)
        return subset(self.points, n, scheme, rng)
