"""Many regions, as the layers of a material, of which points are in a few."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray, IntArray
from kernop.geometry.domain import Domain
from kernop.geometry.extents import slack
from kernop.geometry.region import Region


class Several:
    """Regions that are asked together which of them contain a point.

    A domain is asked for the points in the box around it alone: of hundreds of layers a point is in one or two.
    """

    def __init__(self, regions: Sequence[Region]) -> None:
        self._regions = tuple(regions)
        low, high = (np.stack(own)[:, None] for own in zip(*(region.bounds for region in regions), strict=True))
        room = 2.0 * np.max(slack(low, high), axis=2, keepdims=True)
        self._low, self._high = low - room, high + room

    def containing(self, x: FloatArray, *, exactly: bool = False) -> BoolArray:
        """Which regions contain which of the points x (n, d), (R, n); domains perhaps to rounding alone."""
        found = np.all((self._low <= x) & (x <= self._high), axis=2)
        for k in np.flatnonzero(np.any(found, axis=1)).tolist():
            near, region = found[k], self._regions[k]
            if not isinstance(region, Domain):
                found[k] = region.contains(x)  # a function of the user wants all points
            elif exactly:
                near[near] = region.holds(x[near])
            else:
                near[near] = region.contains(x[near])
        return found

    def once(self, function: Callable[[FloatArray], IntArray], x: FloatArray) -> IntArray:
        """What a function says of all rows of x (n, d), (n,); a row that is repeated at the end, as in padded ones, is
        asked for once, unless a function of the user is among the regions: it may be compiled for each number of rows.
        """
        other = np.flatnonzero(np.any(x != x[-1:], axis=1))
        count = min(len(x), 2 if len(other) == 0 else int(other[-1]) + 2)
        if count == len(x) or not all(isinstance(region, Domain) for region in self._regions):
            return function(x)
        return function(x[:count])[np.minimum(np.arange(len(x)), count - 1)]
