"""A QR factorisation to which rows were added, one block after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import check_permutation, check_shape
from kernop.basics.linalg import Orthogonal, Rotation, add_rows
from kernop.basics.stored import Upper, stored
from kernop.methods.base import Permutation, RowNumbers


@stored("chain", by_value=False)
@dataclass(frozen=True, eq=False)
class Chain:
    """[A; B₁; B₂; …] = Q R, with the interface of `Orthogonal`; Q is kept as that of A and a rotation for each B.

    Arguments:
        first: A = Q₁ R₁, perhaps with rows of a penalty below those of data.
        rotations: [R₁; B₁] = Q₂ [R₂; 0], and so on.
        upper: the last R, (L, L), with leftovers below its diagonal.
        order: row i of [A; B₁; …], those of the penalty left out, is row order[i] of the data, (N,).
    """

    first: Orthogonal
    rotations: tuple[Rotation, ...]
    upper: Upper
    order: Permutation

    def check(self) -> None:
        """Raise unless all parts have L columns, and there are rows of data before those that were added."""
        count = self.first.packed.shape[1]
        check_shape("upper", self.upper, count, count)
        for rotation in self.rotations:
            check_shape("reflectors", rotation.reflectors, None, count)
        check_permutation("order", self.order, len(self.order))
        if not self.rotations or self._cuts[0] < 1:
            raise fail(ArgumentError, "rotations", "none, or more rows than data", "write the file again")

    def rotated(self, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Qᵀ b for b of shape (N, B), with zeros for the penalty: its first L rows, and the others."""
        start, *parts = np.split(b[self.order], self._cuts)
        top, below = self.first.rotated(start)
        rest = [below]
        for rotation, part in zip(self.rotations, parts, strict=True):
            top, below = rotation.transpose_times(top, part)
            rest.append(below)
        return top, np.concatenate(rest)

    def columns(self, n: int) -> FloatArray:
        """The n = N rows of Q that belong to data, (N, L)."""
        q, cuts, top = np.empty((n, len(self.upper))), [*self._cuts, n], np.eye(len(self.upper))
        for k in reversed(range(len(self.rotations))):
            top, q[self.order[cuts[k] : cuts[k + 1]]] = self.rotations[k].times(top)
        q[self.order[: cuts[0]]] = self.first.times(top)[: cuts[0]]
        return q

    @property
    def _cuts(self) -> list[int]:
        """The first row of each set of rows that joined later."""
        sizes = [len(rotation.reflectors) for rotation in self.rotations]
        return (len(self.order) - np.cumsum(sizes[::-1])[::-1]).tolist()


def chained(factor: Orthogonal | Chain, rows: FloatArray, old: RowNumbers, new: RowNumbers) -> Chain:
    """The factorisation with rows B (n, L) below; O(n L²).

    ``old`` and ``new`` tell where the rows until now, and those of B, stand among the data from now on.
    """
    upper = np.array(factor.upper, order="F")
    rotation = add_rows(upper, np.array(rows, order="F"))
    if isinstance(factor, Orthogonal):
        return Chain(factor, (rotation,), upper, np.concatenate([old, new]))
    return Chain(factor.first, (*factor.rotations, rotation), upper, np.concatenate([old[factor.order], new]))
