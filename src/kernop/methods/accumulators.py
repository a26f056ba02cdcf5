"""What is kept of a stream of rows: sums or a triangle, L × L, however many rows have passed.

For weighted rows √w_i P_i b_j (a batch is n × L) and weighted data √w_i h_i (n × B, for inputs that are known in
advance) an accumulator holds what least squares needs of [A h]. Two that passed over different rows can be merged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.basics.linalg import add_rows, add_square, add_triangle, cholesky, left_over, norms, packed, unpack
from kernop.basics.stored import stored

#: P of a penalty ‖P c‖²: upper triangular (L, L), or p for p · I.
Penalty = float | FloatArray
#: Digests of batches are added modulo this.
DIGESTS = 1 << 128


@dataclass(frozen=True, eq=False, kw_only=True)
class LeastSquares:
    """Least squares from what was kept of a stream.

    Attributes:
        upper: R upper triangular (L, L) with RᵀR = AᵀA + PᵀP.
        y: R times the coefficients, (L, B).
        residual: what is left of the data and the penalty, in norm, (B,).
        size: the norm of the data, (B,).
        failed: 0, or the row that failed + 1.
    """

    upper: FloatArray
    y: FloatArray
    residual: FloatArray
    size: FloatArray
    failed: int


@stored("kept rows", by_value=False)
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class KeptRows:
    """What is kept of some batches, to be sent or written.

    Attributes:
        first: the number of their first one.
        batches, rows: how many.
        digest: the sum of the digests of their points.
        packed: one triangle of what is kept of [A h].
    """

    first: int
    batches: int
    rows: int
    digest: int
    packed: FloatArray


class Accumulator(ABC):
    """The state of a pass: mutable, and never shared.

    Arguments:
        count: the number L of functions.
        width: the number B of inputs that are known in advance.

    Attributes:
        matrix: what is kept of [A h]: a triangle of (L + B, L + B), in Fortran order.
        rows, batches: how many have passed.
        digest: the sum of the digests of their batches, by which their points can be recognised.
    """

    #: Which triangle of the matrix is kept, and in which order of memory it takes in rows.
    lower: ClassVar[bool]
    order: ClassVar[Literal["C", "F"]]

    def __init__(self, count: int, width: int = 0) -> None:
        self.count, self.width = count, width
        self.matrix = np.zeros((count + width, count + width), order="F")
        self.rows = self.batches = self.digest = 0
        self._both = np.empty((0, count + width))

    def room(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Where the next n rows go: the rows (n, L) and their data (n, B), to be filled before `add`."""
        if n != len(self._both):
            self._both = np.empty((n, self.count + self.width), order=self.order)
        return self._both[:, : self.count], self._both[:, self.count :]

    def add(self, digest: int = 0) -> None:
        """Take in what was filled into the room, whose contents are lost; it is one batch."""
        self._add(self._both)
        self._count(len(self._both), 1, digest)

    def merged(self, other: Accumulator) -> Self:
        """What is kept of the rows of both, which stay as they are: Dask may need them again if it loses the result."""
        both = type(self)(self.count, self.width)
        both.matrix[:] = self.matrix
        both._merge(other.matrix)
        for part in (self, other):
            both._count(part.rows, part.batches, part.digest)
        return both

    def _count(self, rows: int, batches: int, digest: int) -> None:
        self.rows, self.batches = self.rows + rows, self.batches + batches
        self.digest = (self.digest + digest) % DIGESTS

    def kept(self, first: int = 0) -> KeptRows:
        """What another one goes on from: one triangle, and no room for rows. ``first`` is the number of its batch."""
        numbers = {"first": first, "batches": self.batches, "rows": self.rows, "digest": self.digest}
        return KeptRows(**numbers, packed=packed(self.matrix, lower=self.lower))

    def restore(self, kept: KeptRows) -> None:
        """Take over rows that were kept elsewhere, as `kept` gives them."""
        self.rows, self.batches, self.digest = kept.rows, kept.batches, kept.digest
        unpack(kept.packed, self.matrix, lower=self.lower)

    def __getstate__(self) -> tuple[int, int, KeptRows]:
        return self.count, self.width, self.kept()

    def __setstate__(self, state: tuple[int, int, KeptRows]) -> None:
        self.__init__(*state[:2])
        self.restore(state[2])

    @abstractmethod
    def _add(self, rows: FloatArray) -> None: ...

    @abstractmethod
    def _merge(self, matrix: FloatArray) -> None: ...

    @property
    @abstractmethod
    def squares(self) -> FloatArray:
        """‖A_j‖², the sum of the squares of each column of all rows, (L,)."""

    @abstractmethod
    def solve(self, penalty: Penalty) -> LeastSquares:
        """Least squares from what was kept, with the penalty ‖P c‖²; the accumulator can go on."""


class NormalSums(Accumulator):
    """[A h]ᵀ[A h]: half of the work of a triangle, and half of its digits. The paper's Algorithm 1."""

    lower, order = True, "C"

    def _add(self, rows: FloatArray) -> None:
        add_square(self.matrix, rows)

    def _merge(self, matrix: FloatArray) -> None:
        self.matrix += matrix

    @property
    def squares(self) -> FloatArray:
        return np.diagonal(self.matrix)[: self.count]

    def solve(self, penalty: Penalty) -> LeastSquares:
        matrix = self.matrix[: self.count, : self.count].copy(order="F")
        if isinstance(penalty, np.ndarray):
            add_square(matrix, np.ascontiguousarray(penalty))
        else:
            matrix[np.diag_indices(self.count)] += penalty**2
        factor, failed = cholesky(matrix)
        bad = ~(factor.pivots > 0.0)
        y = factor.half_solve(self.matrix[self.count :, : self.count].T)
        size = np.sqrt(np.diagonal(self.matrix)[self.count :])
        return LeastSquares(
            upper=factor.lower.T,
            y=y,
            residual=left_over(size, y),
            size=size,
            failed=failed or (int(np.argmax(bad)) + 1 if np.any(bad) else 0),
        )


class Triangle(Accumulator):
    """R with RᵀR = [A h]ᵀ[A h], by orthogonal updates: the condition number is never squared."""

    lower, order = False, "F"

    def _add(self, rows: FloatArray) -> None:
        add_rows(self.matrix, rows)

    def _merge(self, matrix: FloatArray) -> None:
        add_triangle(self.matrix, matrix.copy(order="F"))

    @property
    def squares(self) -> FloatArray:
        return np.sum(np.square(np.triu(self.matrix[: self.count, : self.count])), axis=0)

    def solve(self, penalty: Penalty) -> LeastSquares:
        upper, below = self.matrix.copy(order="F"), np.zeros_like(self.matrix)
        below[: self.count, : self.count] = penalty_rows(penalty, self.count)
        if np.any(below):
            add_triangle(upper, below)
        r = np.asfortranarray(upper[: self.count, : self.count])
        columns = np.triu(upper)[:, self.count :]
        diagonal = np.abs(np.diagonal(r))
        return LeastSquares(
            upper=r,
            y=columns[: self.count],
            residual=norms(columns[self.count :]),
            size=norms(columns),
            failed=int(np.argmin(diagonal)) + 1 if np.min(diagonal) == 0.0 else 0,
        )


def penalty_rows(penalty: Penalty, count: int) -> FloatArray:
    """P as a matrix, (L, L)."""
    return penalty if isinstance(penalty, np.ndarray) else penalty * np.eye(count)
