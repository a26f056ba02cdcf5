"""Patches: pieces of regions that are images of unit cubes, by which points are drawn and rules are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import TypeVar

import numpy as np

from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, IntArray, fail
from kernop.geometry.points import Points
from kernop.geometry.sequences import unit_cube

#: Rejection gives up when so many times more points were drawn than its predicate had promised.
PATIENCE = 64
#: Points by which a part of a region is measured.
PROBES = 4096

Drawn = TypeVar("Drawn")


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

    def kept(self, t: FloatArray) -> BoolArray:
        """Which parameters (n, m) belong to the piece, (n,)."""
        return np.ones(len(t), dtype=bool) if self.keeps is None else self.keeps(t)

    def restricted(self, holds: Callable[[Points], BoolArray], part: float | None = None) -> Patch:
        """The piece where a predicate holds; ``part`` of the cube, which is measured by 4096 points if it is None."""

        def keeps(t: FloatArray) -> BoolArray:
            kept = self.kept(t)
            if kept.any():
                kept[kept] = holds(self.place(t[kept]))
            return kept

        if part is None:
            t = unit_cube(PROBES if self.sides else 1, self.sides, "halton", np.random.default_rng(0))
            part = float(np.mean(keeps(t)))
        share = part / self.part
        return replace(self, measure=share * self.measure, keeps=keeps, part=share * self.part)

    def draw(self, n: int, scheme: str, rng: np.random.Generator) -> Points | None:
        """n points, uniform by measure; of a grid at most n, and None if none of its cells is kept."""
        if self.keeps is None:
            return self.place(unit_cube(n, self.sides, scheme, rng))
        if scheme == "grid":
            return self._grid(n)

        def attempt(asked: int) -> tuple[FloatArray, IntArray]:
            t = unit_cube(asked, self.sides, scheme, rng)
            return t, np.flatnonzero(self.kept(t))

        t, kept = by_rejection(attempt, n, max(8, int(np.ceil(1.02 * n / self.part)) + 4), self.part, rng)
        if len(kept) < n:
            got = f"a piece of which {len(kept)} of {len(t)} points are kept, where {self.part:.1e} was expected"
            raise fail(ArgumentError, "region", got, "give one that is not as thin")
        return self.place(t[kept[:n]])

    def _grid(self, n: int) -> Points | None:
        """The finest of some grids of which at most n cells are kept."""
        for share in np.linspace(1.2, 0.4, 17):
            t = unit_cube(max(1, int(share * n / self.part)), self.sides, "grid", np.random.default_rng(0))
            t = t[self.kept(t)]
            if 1 <= len(t) <= n:
                return self.place(t)
        return None


def by_rejection(
    attempt: Callable[[int], tuple[Drawn, IntArray]], n: int, asked: int, part: float, rng: np.random.Generator
) -> tuple[Drawn, IntArray]:
    """What an attempt of so many points draws, and the numbers of those it keeps: more points until n of them are kept.

    It gives up with fewer where far more were drawn than the ``part`` that was expected to be kept would need.
    """
    state = rng.bit_generator.state
    while True:
        rng.bit_generator.state = state  # the same stream at every length: the result depends on the seed alone
        drawn, kept = attempt(asked)
        if len(kept) >= n or asked * part > PATIENCE * n + 8:
            return drawn, kept
        asked = int(np.ceil(asked * (max(1.05, min(4.0, n / len(kept))) if len(kept) else 4.0)))


def box_patch(low: FloatArray, high: FloatArray, normal: FloatArray | None = None) -> Patch:
    """The box from low to high, (d,) each, as a patch; it has a parameter for each side that is longer than 0."""
    free = high > low
    sides = (high - low)[free]

    def place(t: FloatArray) -> Points:
        x = np.tile(low, (len(t), 1))
        x[:, free] = np.clip(low[free] + t * sides, low[free], high[free])  # the sum can round to just above high
        return Points(x, None if normal is None else np.tile(normal, (len(t), 1)))

    return Patch(float(np.prod(sides)), tuple(map(float, sides)), place)
