"""The space of an operator made of parts: on each part polynomials of its own, orthonormal in the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import REMEDY, check_shape
from kernop.basics.linalg import right_solve_upper
from kernop.basics.stored import stored
from kernop.collocation.ansatz import PLAIN, Ansatz
from kernop.collocation.functionals import Block, Functionals, evaluations
from kernop.collocation.mosaic import Mosaic
from kernop.methods.expansion import Expansion, Order
from kernop.methods.spaces.polynomials import Polynomials
from kernop.methods.spaces.sums import DirectSum


@stored("polynomials on parts", by_value=False)
@dataclass(frozen=True, eq=False)
class PartsSpace(Expansion):
    """Functions that live on one part each: Φ R⁻¹ with the polynomials Φ of the part.

    Arguments:
        mosaic: where the parts are.
        degrees: multi-indices of the polynomials, (m, d), the same for all parts.
        uppers: R of each part, (m c, m c).
        ansatz: how the unknowns are made of the functions.
        components: the number c of components, each of which has the polynomials.
    """

    mosaic: Mosaic
    degrees: NDArray[np.int64]
    uppers: tuple[FloatArray, ...]
    ansatz: Ansatz = field(default=PLAIN)
    components: int = 1

    @property
    def each(self) -> int:
        """The number of functions of a part."""
        return len(self.degrees) * self.components

    def check(self) -> None:
        check_shape("degrees", self.degrees, None, self.mosaic.cells.corners.shape[2])
        if np.min(self.degrees) < 0 or np.max(self.degrees) >= len(self.degrees):  # with a degree come all lower ones
            raise fail(ArgumentError, "degrees", "negative ones, or too large ones", REMEDY)
        check_shape("uppers", np.empty(len(self.uppers)), len(self.mosaic.owners))
        for upper in self.uppers:
            check_shape("uppers", upper, self.each, self.each)
            if not np.all(np.diagonal(upper)):
                raise fail(ArgumentError, "uppers", "a triangle with a zero on its diagonal", REMEDY)

    def __len__(self) -> int:
        return len(self.uppers) * self.each

    @property
    def dim(self) -> int:
        return self.degrees.shape[1]

    @property
    def boxes(self) -> tuple[FloatArray, FloatArray]:
        return self.mosaic.boxes

    def __repr__(self) -> str:
        return f"Polynomials(degree {int(np.max(self.degrees.sum(axis=1)))}) on {len(self.uppers)} parts"

    def with_ansatz(self, ansatz: Ansatz) -> PartsSpace:
        return replace(self, ansatz=ansatz)

    def polynomials(self, part: int) -> Expansion:
        """Φ of a part, component after component."""
        low, high = self.mosaic.boxes[0][part], self.mosaic.boxes[1][part]
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        return DirectSum.of([Polynomials(middle, half, self.degrees, k, self.ansatz) for k in range(self.components)])

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
        m = self.each
        for rows, block in left:
            target = np.zeros((len(block), len(self)))
            row_of = block.repeated(np.arange(len(block)))
            for own, part, there in self._by_parts(block):
                np.add.at(target[:, part * m : (part + 1) * m], row_of[own], there)
            found[rows] = target
        return found

    def apply(self, left: Functionals, c: FloatArray) -> FloatArray:
        m, found = self.each, np.empty((len(left), c.shape[1]))
        for rows, block in left:
            values = np.empty((len(block.x), c.shape[1]))
            for own, part, there in self._by_parts(block):
                values[own] = there @ c[part * m : (part + 1) * m]
            found[rows] = block.collected(values)
        return found

    def gaps(self, c: FloatArray) -> FloatArray:
        return np.max(self.jumps(c), axis=0, initial=0.0)

    def jumps(self, c: FloatArray) -> FloatArray:
        """The largest jump on each seam, (S, B)."""
        seams, m = self.mosaic.seams, self.each
        starts = np.cumsum([0, *(len(seam.x) for seam in seams)])
        jump = np.zeros((self.ansatz.width, int(starts[-1]), c.shape[1]))
        owned: dict[int, list[tuple[int, float]]] = {}
        for number, seam in enumerate(seams):
            owned.setdefault(seam.below, []).append((number, -1.0))
            owned.setdefault(seam.above, []).append((number, 1.0))
        for part, own in owned.items():
            x = np.concatenate([seams[number].x for number, _ in own])
            rows = np.concatenate([np.arange(starts[number], starts[number + 1]) for number, _ in own])
            signs = np.concatenate([np.full(len(seams[number].x), sign) for number, sign in own])
            wanted = Functionals(tuple(evaluations(x, k) for k in range(self.ansatz.width)))
            found = right_solve_upper(self.uppers[part], self.polynomials(part).matrix(wanted))
            values = (found @ c[part * m : (part + 1) * m]).reshape(self.ansatz.width, len(x), -1)
            jump[:, rows] += signs[:, None] * values
        found = np.max(np.abs(jump), axis=0)
        return np.maximum.reduceat(found, starts[:-1], axis=0) if len(seams) else np.zeros((0, c.shape[1]))

    @property
    def signature(self) -> tuple[str, tuple[FloatArray, ...]]:
        return repr(self), self.mosaic.boxes
