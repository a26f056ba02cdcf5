"""The pieces of a domain between which coefficients jump."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray, IntArray
from kernop.basics.stored import stored
from kernop.collocation.subdomains import Subdomains
from kernop.geometry import Box
from kernop.geometry.domain import Domain
from kernop.geometry.edges import made_of_boxes
from kernop.geometry.patch import Patch

#: Bounds that are smaller than this part of a box are looked at alone.
SMALL = 1.0 / 16.0


@stored("pieces of a domain", by_value=False)
@dataclass(frozen=True, eq=False)
class Pieces:
    """A domain, and the pieces into which jumps of coefficients cut it.

    In space and time they are pieces of space, the same at all times: a last coordinate of points does not count.

    Arguments:
        domain: the whole; None in a file, which has it in its problem, and where that does not know it.
        parts: the pieces; None if there are no jumps.
    """

    domain: Domain | None
    parts: Subdomains | None = None

    @property
    def whole(self) -> Domain:
        """The domain, where it is known."""
        assert self.domain is not None
        return self.domain

    @property
    def dim(self) -> int:
        """The number of coordinates of space."""
        return self.whole.dim if self.parts is None else self.parts.domains[0].dim

    @property
    def boxed(self) -> bool:
        """Is it a box, or in space a body made of boxes, without jumps, so that every part fills its cell?"""
        boxes = made_of_boxes(self.domain) if self.parts is None and self.dim == 3 else isinstance(self.domain, Box)
        return boxes and self.parts is None

    def __len__(self) -> int:
        return 1 if self.parts is None else len(self.parts)

    def which(self, x: FloatArray) -> IntArray:
        """The piece of each point, (n,)."""
        return np.zeros(len(x), dtype=np.intp) if self.parts is None else self.parts.which(x[:, : self.dim])

    def height(self, x: FloatArray, piece: int) -> FloatArray:
        """A function that is negative inside a piece of the domain, and elsewhere not: (n,).

        Regions far from all points, of which the piece is no part, are not asked.
        """
        x = x[:, : self.dim]
        found = self.whole.height(x)
        if self.parts is None:
            return found
        least, most = np.min(x, axis=0), np.max(x, axis=0)
        room = most - least
        for region, inside in zip(self.parts.domains, self.parts.inside[piece], strict=True):
            assert isinstance(region, Domain)
            low, high = region.bounds
            if not inside and (np.any(most + room < low) or np.any(least - room > high)):
                continue
            found = np.maximum(found, region.height(x) if inside else -region.height(x))
        return found

    def room(self, piece: int, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where in a box a piece is looked for: in the bounds of the domains that hold it, if these are far smaller."""
        if self.parts is None:
            return low, high
        around = [
            own.bounds for own, inside in zip(self.parts.domains, self.parts.inside[piece], strict=True) if inside
        ]
        (a, b), space = (low.copy(), high.copy()), slice(self.dim)
        a[space] = np.max([low[space], *(own for own, _ in around)], axis=0)
        b[space] = np.min([high[space], *(own for _, own in around)], axis=0)
        small = 0.0 < np.prod(np.maximum(b - a, 0.0)) < SMALL * np.prod(high - low)
        return (a, b) if small else (low, high)

    def holds(self, x: FloatArray, piece: int) -> BoolArray:
        """Is each point of a small place in a piece, or on its boundary, (n,)? Regions far away are not asked."""
        x = x[:, : self.dim]
        found = self.whole.height(x) <= 0.0
        if self.parts is None:
            return found
        least, most = np.min(x, axis=0), np.max(x, axis=0)
        for region, inside in zip(self.parts.domains, self.parts.inside[piece], strict=True):
            assert isinstance(region, Domain)
            low, high = region.bounds
            if np.any(most < low) or np.any(least > high):
                found &= not inside
            else:
                height = region.height(x)
                found &= (height <= 0.0) if inside else (height >= 0.0)
        return found

    @property
    def jumps(self) -> tuple[Patch, ...]:
        """The lines on which coefficients jump."""
        if self.parts is None:
            return ()
        domains = [region for region in self.parts.domains if isinstance(region, Domain)]
        return tuple(patch for region in domains for patch in region.boundary.patches)
