"""What is kept of a stream of rows: sums or a triangle, L × L, however many rows have passed.

For weighted rows √w_i P_i b_j (a batch is n × L) and weighted data √w_i h_i (n × B, for inputs that are known in
advance) an accumulator holds what least squares needs of them. Two that passed over different rows can be merged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from kernop.errors import FloatArray
from kernop.linalg import Cholesky, add_rows, add_square, add_triangle, cholesky, packed, solve_upper, unpack

#: P of a penalty ‖P c‖²: upper triangular (L, L), or p for p · I.
Penalty = float | FloatArray


class Accumulator(ABC):
    """The state of a pass: mutable, and never shared.

    Arguments:
        count: the number L of functions.
        width: the number B of inputs that are known in advance.
    """

    def __init__(self, count: int, width: int = 0) -> None:
        self.count, self.width = count, width
        self.rows = 0

    @abstractmethod
    def room(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Where the next n rows go: the rows (n, L) and their data (n, B), to be filled before `add`."""

    def add(self) -> None:
        """Take in what was filled into the room; its contents are lost."""
        self.rows += self._add()

    def merge(self, other: Accumulator) -> None:
        """Take in what another has seen; the other stays as it is."""
        self._merge(other)
        self.rows += other.rows

    def copy(self) -> Self:
        """The same state, without the room for rows."""
        other = type(self)(self.count, self.width)
        other.rows = self.rows
        other._take(self)
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Without the room for rows, and one triangle only."""
        return {"count": self.count, "width": self.width, "rows": self.rows, "arrays": self.arrays()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["count"], state["width"])
        self.rows = state["rows"]
        self.restore(state["arrays"])

    @abstractmethod
    def _add(self) -> int: ...

    @abstractmethod
    def _merge(self, other: Accumulator) -> None: ...

    @abstractmethod
    def _take(self, other: Accumulator) -> None: ...

    @property
    @abstractmethod
    def square(self) -> float:
        """‖A‖², the sum of the squares of all rows."""

    @abstractmethod
    def solve(self, penalty: Penalty) -> tuple[FloatArray, FloatArray, int]:
        """R upper triangular (L, L) with RᵀR = AᵀA + PᵀP, the coefficients (L, B), and 0, or the row that failed + 1.

        ``penalty`` is P (L, L), upper triangular, or a number times the identity. The accumulator can go on.
        """

    @abstractmethod
    def arrays(self) -> dict[str, FloatArray]:
        """The state, without what follows from symmetry: to be written to a file or sent."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, FloatArray]) -> None:
        """Go back to a state; ``rows`` is the caller's."""


class NormalSums(Accumulator):
    """AᵀA and Aᵀh: half of the work of a triangle, and half of its digits. The paper's Algorithm 1."""

    def __init__(self, count: int, width: int = 0) -> None:
        super().__init__(count, width)
        self._design = np.empty((0, count))
        self._data = np.empty((0, width))
        self.matrix = np.zeros((count, count), order="F")  # lower triangle
        self.moments = np.zeros((count, width))

    def room(self, n: int) -> tuple[FloatArray, FloatArray]:
        if n != len(self._design):
            self._design, self._data = np.empty((n, self.count)), np.empty((n, self.width))
        return self._design, self._data

    def _add(self) -> int:
        add_square(self.matrix, self._design)
        if self.width:
            self.moments += self._design.T @ self._data
        return len(self._design)

    def _merge(self, other: Accumulator) -> None:
        assert isinstance(other, NormalSums)
        self.matrix += other.matrix
        self.moments += other.moments

    def _take(self, other: Accumulator) -> None:
        assert isinstance(other, NormalSums)
        self.matrix[:], self.moments[:] = other.matrix, other.moments

    @property
    def square(self) -> float:
        return float(np.trace(self.matrix))

    def solve(self, penalty: Penalty) -> tuple[FloatArray, FloatArray, int]:
        matrix = self.matrix.copy(order="F")
        if not isinstance(penalty, np.ndarray):
            matrix[np.diag_indices(self.count)] += penalty**2
        else:
            add_square(matrix, np.ascontiguousarray(penalty))
        factor, failed = cholesky(matrix)
        return factor.lower.T, factor.solve(self.moments), failed or _first_bad(factor)

    def arrays(self) -> dict[str, FloatArray]:
        return {"packed": packed(self.matrix, lower=True), "moments": self.moments.copy()}

    def restore(self, arrays: Mapping[str, FloatArray]) -> None:
        unpack(arrays["packed"], self.matrix, lower=True)
        self.moments[:] = arrays["moments"]


class Triangle(Accumulator):
    """R with RᵀR = [A h]ᵀ[A h], by orthogonal updates: the condition number is never squared."""

    def __init__(self, count: int, width: int = 0) -> None:
        super().__init__(count, width)
        self._both = np.empty((0, count + width), order="F")
        self.upper = np.zeros((count + width, count + width), order="F")

    def room(self, n: int) -> tuple[FloatArray, FloatArray]:
        if n != len(self._both):
            self._both = np.empty((n, self.count + self.width), order="F")
        return self._both[:, : self.count], self._both[:, self.count :]

    def _add(self) -> int:
        add_rows(self.upper, self._both)
        return len(self._both)

    def _merge(self, other: Accumulator) -> None:
        assert isinstance(other, Triangle)
        add_triangle(self.upper, other.upper.copy(order="F"))

    def _take(self, other: Accumulator) -> None:
        assert isinstance(other, Triangle)
        self.upper[:] = other.upper

    @property
    def square(self) -> float:
        return float(np.sum(np.square(np.triu(self.upper[: self.count, : self.count]))))

    def solve(self, penalty: Penalty) -> tuple[FloatArray, FloatArray, int]:
        upper = self.upper.copy(order="F")
        if isinstance(penalty, np.ndarray) or penalty > 0.0:
            add_triangle(upper, self._rows_of(penalty))
        r, rotated = np.asfortranarray(upper[: self.count, : self.count]), upper[: self.count, self.count :]
        diagonal = np.abs(np.diagonal(r))
        failed = int(np.argmin(diagonal)) + 1 if np.min(diagonal) == 0.0 else 0
        return r, solve_upper(r, rotated) if not failed else rotated, failed

    def _rows_of(self, penalty: Penalty) -> FloatArray:
        rows = np.zeros_like(self.upper)
        if isinstance(penalty, np.ndarray):
            rows[: self.count, : self.count] = penalty
        else:
            rows[np.arange(self.count), np.arange(self.count)] = penalty
        return rows

    def arrays(self) -> dict[str, FloatArray]:
        return {"packed": packed(self.upper, lower=False)}

    def restore(self, arrays: Mapping[str, FloatArray]) -> None:
        unpack(arrays["packed"], self.upper, lower=False)


def _first_bad(factor: Cholesky) -> int:
    bad = ~(factor.pivots > 0.0)
    return int(np.argmax(bad)) + 1 if np.any(bad) else 0
