"""What of surfaces in space lies in a cell: points of the boundary of a domain, and of surfaces where it jumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.geometry.patch import Patch
from kernop.geometry.seeking import sought
from kernop.geometry.sequences import halton

#: Points of a surface by which it is seen what of it lies in a cell; of each of its patches at least.
LOOKS, LEAST = 2**15, 2**8

#: Which of points with normals, (n, 3) each, count? (n,).
Relevant = Callable[[FloatArray, FloatArray], NDArray[np.bool_]]


class PatchedSurface:
    """A surface in space, of patches; a patch that is not kept whole has the points that are kept."""

    def __init__(self, patches: Sequence[Patch], seed: int) -> None:
        whole = sum(patch.measure for patch in patches)
        self._sequence = sequence_of(2, seed)
        self._patches = [(patch, max(LEAST, int(LOOKS * patch.measure / whole))) for patch in patches]
        self._seen = [(patch, self._looked(patch, number)) for patch, number in self._patches]

    def _looked(self, patch: Patch, number: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Parameters, points and normals of a patch."""
        t = self._sequence(0, number)
        t = t if patch.keeps is None else t[patch.keeps(t)]
        return (t, *_placed(patch, t))

    def within(
        self, low: FloatArray, high: FloatArray, number: int, relevant: Relevant
    ) -> tuple[FloatArray, FloatArray]:
        """About so many points in a box that count, and normals, (n, 3) each: as many by area on each patch."""
        room = 1e-6 * (high - low)
        hits: list[tuple[Patch, FloatArray, float]] = []
        for patch, (t, x, normal) in self._seen:
            near = np.all((x >= low - room) & (x <= high + room), axis=1)
            if np.any(near):
                near[near] = relevant(x[near], normal[near])
            if np.any(near):
                hits.append((patch, t[near], patch.measure * float(np.mean(near))))
        found = [(np.empty((0, 3)), np.empty((0, 3)))]
        for patch, t, area in hits:
            share = int(np.ceil(number * area / sum(own for _, _, own in hits)))
            found.append(self._filled(patch, t, share, relevant))
        x, normal = zip(*found, strict=True)
        return np.concatenate(x), np.concatenate(normal)

    def _filled(self, patch: Patch, seen: FloatArray, number: int, relevant: Relevant) -> tuple[FloatArray, FloatArray]:
        """So many points of a patch that count, found around parameters (n, 2) at which they do."""
        if len(seen) >= number:
            return _placed(patch, seen[:number])
        room = 0.5 * np.ptp(seen, axis=0) + len(self._seen[0][1][0]) ** -0.5
        box = np.maximum(0.0, np.min(seen, axis=0) - room), np.minimum(1.0, np.max(seen, axis=0) + room)

        def holds(t: FloatArray) -> NDArray[np.bool_]:
            kept = np.ones(len(t), dtype=bool) if patch.keeps is None else patch.keeps(t)
            if np.any(kept):
                kept[kept] = relevant(*_placed(patch, t[kept]))
            return kept

        return _placed(patch, sought(holds, box, (np.zeros(2), np.ones(2)), number, self._sequence))


def _placed(patch: Patch, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    found = patch.place(t)
    assert found.normal is not None
    return found.x, found.normal


def sequence_of(dim: int, seed: int) -> Callable[[int, int], FloatArray]:
    """Points of Halton's sequence in the unit cube from one on; the same ones are made once."""

    @cache
    def points(start: int, number: int) -> FloatArray:
        return halton(number, dim, np.random.default_rng(seed), start)

    return points
