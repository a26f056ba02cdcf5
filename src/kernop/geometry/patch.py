"""Patches: pieces of regions that are images of unit cubes, by which points are drawn and rules are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np

from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, fail
from kernop.geometry.points import Points
from kernop.geometry.sequences import unit_cube

#: Rejection gives up when so many times more points were drawn than its predicate had promised.
PATIENCE = 64


@dataclass(frozen=True)
class Patch:
    """A piece of a region that is the image of a unit cube under a measure-preserving map (up to its constant).

    Arguments:
        measure: length, area or volume.
        sides: rough extents along the parameters; they shape grids. Empty for a single point.
        place: maps parameters (n, m) in [0, 1]^m to points (n, d), with normals on boundaries.
        keeps: which parameters (n, m) belong to the piece, (n,), where it is only a part of the image; None for all.
        part: the part of the cube that is kept; ``measure`` is that of the piece.
        smooth: is ``place`` smooth, so that Gauss's rule serves? It is not where triangles follow each other.
    """

    measure: float
    sides: tuple[float, ...]
    place: Callable[[FloatArray], Points]
    _: KW_ONLY
    keeps: Callable[[FloatArray], BoolArray] | None = None
    part: float = 1.0
    smooth: bool = True

    def draw(self, n: int, scheme: str, rng: np.random.Generator) -> Points | None:
        """n points, uniform by measure; of a grid at most n, and None if none of its cells is kept."""
        if self.keeps is None:
            return self.place(unit_cube(n, self.sides, scheme, rng))
        if scheme == "grid":
            return self._grid(n)
        state, asked = rng.bit_generator.state, max(8, int(np.ceil(1.02 * n / self.part)) + 4)
        while True:
            rng.bit_generator.state = state  # the same stream at every length: the result depends on the seed alone
            t = unit_cube(asked, self.sides, scheme, rng)
            kept = np.flatnonzero(self.keeps(t))
            if len(kept) >= n:
                return self.place(t[kept[:n]])
            if asked * self.part > PATIENCE * n + 8:
                got = f"a piece of which {len(kept)} of {asked} points are kept, where {self.part:.1e} was expected"
                raise fail(ArgumentError, "region", got, "give one that is not as thin")
            asked = int(np.ceil(asked * (max(1.05, min(4.0, n / len(kept))) if len(kept) else 4.0)))

    def _grid(self, n: int) -> Points | None:
        """The finest of some grids of which at most n cells are kept."""
        assert self.keeps is not None
        for share in np.linspace(1.2, 0.4, 17):
            t = unit_cube(max(1, int(share * n / self.part)), self.sides, "grid", np.random.default_rng(0))
            t = t[self.keeps(t)]
            if 1 <= len(t) <= n:
                return self.place(t)
        return None


def box_patch(low: FloatArray, high: FloatArray, normal: FloatArray | None = None) -> Patch:
    """The box from low to high, (d,) each, as a patch; it has a parameter for each side that is longer than 0."""
    free = high > low
    sides = (high - low)[free]

    def place(t: FloatArray) -> Points:
        x = np.tile(low, (len(t), 1))
        x[:, free] = np.clip(low[free] + t * sides, low[free], high[free])  # the sum can round to just above high
        return Points(x, None if normal is None else np.tile(normal, (len(t), 1)))

    return Patch(float(np.prod(sides)), tuple(map(float, sides)), place)
