"""What is kept of a stream of rows: sums or a triangle, L × L, however many rows have passed.

For weighted rows √w_i P_i b_j (a batch is n × L) and weighted data √w_i h_i (n × B, for inputs that are known in
advance) an accumulator holds what least squares needs of them. Two that passed over different rows can be merged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.basics.linalg import (
    Cholesky,
    add_rows,
    add_square,
    add_triangle,
    cholesky,
    left_over,
    norms,
    packed,
    unpack,
)

#: P of a penalty ‖P c‖²: upper triangular (L, L), or p for p · I.
Penalty = float | FloatArray


@dataclass(frozen=True, eq=False)
class Solved:
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

    def merged(self, other: Accumulator) -> Self:
        """What is kept of the rows of both, which stay as they are."""
        both = type(self)(self.count, self.width)
        both._merge(self, other)
        both.rows = self.rows + other.rows
        return both

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
    def _merge(self, one: Accumulator, other: Accumulator) -> None: ...

    @property
    @abstractmethod
    def square(self) -> float:
        """‖A‖², the sum of the squares of all rows."""

    @abstractmethod
    def solve(self, penalty: Penalty) -> Solved:
        """Least squares from what was kept; the accumulator can go on.

        ``penalty`` is P (L, L), upper triangular, or a number times the identity.
        """

    @abstractmethod
    def arrays(self) -> dict[str, FloatArray]:
        """The state, without what follows from symmetry: to be written to a file or sent."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, FloatArray]) -> None:
        """Go back to a state; ``rows`` is the caller's."""


class NormalSums(Accumulator):
    """AᵀA, Aᵀh and |h|²: half of the work of a triangle, and half of its digits. The paper's Algorithm 1."""

    def __init__(self, count: int, width: int = 0) -> None:
        super().__init__(count, width)
        self._design = np.empty((0, count))
        self._data = np.empty((0, width))
        self.matrix = np.zeros((count, count), order="F")  # lower triangle
        self.moments = np.zeros((count, width))
        self.squares = np.zeros(width)

    def room(self, n: int) -> tuple[FloatArray, FloatArray]:
        if n != len(self._design):
            self._design, self._data = np.empty((n, self.count)), np.empty((n, self.width))
        return self._design, self._data

    def _add(self) -> int:
        add_square(self.matrix, self._design)
        if self.width:
            self.moments += self._design.T @ self._data
            self.squares += np.sum(np.square(self._data), axis=0)
        return len(self._design)

    def _merge(self, one: Accumulator, other: Accumulator) -> None:
        for part in (one, other):
            assert isinstance(part, NormalSums)
            self.matrix += part.matrix
            self.moments += part.moments
            self.squares += part.squares

    @property
    def square(self) -> float:
        return float(np.trace(self.matrix))

    def solve(self, penalty: Penalty) -> Solved:
        matrix = self.matrix.copy(order="F")
        if not isinstance(penalty, np.ndarray):
            matrix[np.diag_indices(self.count)] += penalty**2
        else:
            add_square(matrix, np.ascontiguousarray(penalty))
        factor, failed = cholesky(matrix)
        y, size = factor.half_solve(self.moments), np.sqrt(self.squares)
        return Solved(factor.lower.T, y, left_over(size, y), size, failed or _first_bad(factor))

    def arrays(self) -> dict[str, FloatArray]:
        return {
            "packed": packed(self.matrix, lower=True),
            "moments": self.moments.copy(),
            "squares": self.squares.copy(),
        }

    def restore(self, arrays: Mapping[str, FloatArray]) -> None:
        unpack(arrays["packed"], self.matrix, lower=True)
        # The first checkpoints did not have the squares: the misfit is then not known.
        self.moments[:], self.squares[:] = arrays["moments"], arrays.get("squares", np.nan)


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

    def _merge(self, one: Accumulator, other: Accumulator) -> None:
        assert isinstance(one, Triangle)
        assert isinstance(other, Triangle)
        self.upper[:] = one.upper
        add_triangle(self.upper, other.upper.copy(order="F"))

    @property
    def square(self) -> float:
        return float(np.sum(np.square(np.triu(self.upper[: self.count, : self.count]))))

    def solve(self, penalty: Penalty) -> Solved:
        upper = self.upper.copy(order="F")
        if isinstance(penalty, np.ndarray) or penalty > 0.0:
            add_triangle(upper, self._rows_of(penalty))
        r = np.asfortranarray(upper[: self.count, : self.count])
        columns = np.triu(upper)[:, self.count :]
        diagonal = np.abs(np.diagonal(r))
        failed = int(np.argmin(diagonal)) + 1 if np.min(diagonal) == 0.0 else 0
        return Solved(r, columns[: self.count], norms(columns[self.count :]), norms(columns), failed)

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
