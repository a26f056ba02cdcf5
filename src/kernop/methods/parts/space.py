"""The space of an operator made of parts: on each part polynomials of its own, orthonormal in the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.linalg import right_solve_upper
from kernop.collocation.ansatz import PLAIN, Ansatz
from kernop.collocation.functionals import Block, Functionals, evaluations
from kernop.collocation.mosaic import Mosaic
from kernop.methods.expansion import Expansion, Order
from kernop.methods.spaces.polynomials import Polynomials


@dataclass(frozen=True, eq=False)
class PartsSpace(Expansion):
    """Functions that live on one part each: Φ R⁻¹ with the polynomials Φ of the part.

    Arguments:
        mosaic: where the parts are.
        degrees: multi-indices of the polynomials, (m, d), the same for all parts.
        uppers: R of each part, (m, m).
        ansatz: how the unknowns are made of the functions.
    """

    mosaic: Mosaic
    degrees: NDArray[np.int64]
    uppers: tuple[FloatArray, ...]
    ansatz: Ansatz = field(default=PLAIN)

    def __len__(self) -> int:
        return len(self.uppers) * len(self.degrees)

    @property
    def dim(self) -> int:
        return self.degrees.shape[1]

    @property
    def boxes(self) -> tuple[FloatArray, FloatArray]:
        return self.mosaic.boxes

    def __repr__(self) -> str:
        return f"Polynomials(degree {int(np.max(self.degrees.sum(axis=1)))}) on {len(self.uppers)} parts"

    def with_ansatz(self, ansatz: Ansatz) -> PartsSpace:
        return PartsSpace(self.mosaic, self.degrees, self.uppers, ansatz)

    def polynomials(self, part: int) -> Polynomials:
        """Φ of a part."""
        low, high = self.mosaic.boxes[0][part], self.mosaic.boxes[1][part]
        return Polynomials(0.5 * (low + high), 0.5 * (high - low), self.degrees, 0, self.ansatz)

    def _by_parts(self, block: Block) -> Iterator[tuple[NDArray[np.intp], int, FloatArray]]:
        """Points of a block, the part in which they lie, and what is made there of its functions, (points, m)."""
        where = self.mosaic.locate(block.x)
        order = np.argsort(where, kind="stable")
        parts, first = np.unique(where[order], return_index=True)
        for part, own in zip(parts.tolist(), np.split(order, first[1:]), strict=True):
            polynomials = self.polynomials(part).matrix(Functionals((block.pointwise[own],)))
            yield own, part, right_solve_upper(self.uppers[part], polynomials)

    def matrix(self, left: Functionals, *, order: Order = "C", out: FloatArray | None = None) -> FloatArray:
        found = np.empty((len(left), len(self)), order=order) if out is None else out
        m = len(self.degrees)
        for rows, block in left:
            values = np.zeros((len(block.x), len(self)))
            for own, part, there in self._by_parts(block):
                values[own, part * m : (part + 1) * m] = there
            found[rows] = block.collected(values)
        return found

    def apply(self, left: Functionals, c: FloatArray) -> FloatArray:
        m, found = len(self.degrees), np.empty((len(left), c.shape[1]))
        for rows, block in left:
            values = np.empty((len(block.x), c.shape[1]))
            for own, part, there in self._by_parts(block):
                values[own] = there @ c[part * m : (part + 1) * m]
            found[rows] = block.collected(values)
        return found

    def gaps(self, c: FloatArray) -> FloatArray:
        m, seams = len(self.degrees), self.mosaic.seams
        starts = np.cumsum([0, *(len(seam.x) for seam in seams)])
        jump = np.zeros((int(starts[-1]), c.shape[1]))
        owned: dict[int, list[tuple[int, float]]] = {}
        for number, seam in enumerate(seams):
            owned.setdefault(seam.below, []).append((number, -1.0))
            owned.setdefault(seam.above, []).append((number, 1.0))
        for part, own in owned.items():
            x = np.concatenate([seams[number].x for number, _ in own])
            rows = np.concatenate([np.arange(starts[number], starts[number + 1]) for number, _ in own])
            signs = np.concatenate([np.full(len(seams[number].x), sign) for number, sign in own])
            values = self.polynomials(part).matrix(Functionals((evaluations(x),)))
            found = right_solve_upper(self.uppers[part], values) @ c[part * m : (part + 1) * m]
            jump[rows] += signs[:, None] * found
        return np.max(np.abs(jump), axis=0, initial=0.0)

    @property
    def signature(self) -> tuple[str, tuple[FloatArray, ...]]:
        return repr(self), self.mosaic.boxes
