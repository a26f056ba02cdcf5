"""Weighted least squares over rows that come in batches: what is computed from a batch, and who passes over all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.progress import Tick
from kernop.collocation.rows import Rows, StreamedRows
from kernop.methods.accumulators import Accumulator, NormalSums, Triangle
from kernop.methods.expansion import Expansion
from kernop.methods.weights import Balance


@dataclass(frozen=True, eq=False)
class Regression:
    """The least of Σ_k |√W (A_k c − h_k)|² over batches k of rows A_k = P_i b_j with data h_k.

    Arguments:
        rows: P_i and h_i, in batches.
        expansion: the functions b_j, L of them.
        weights: one for each condition.
        orthogonal: is a triangle kept of the rows (QR), or sums (normal equations)?
    """

    rows: StreamedRows
    expansion: Expansion
    weights: tuple[float, ...]
    orthogonal: bool = True

    @property
    def count(self) -> int:
        """The number L of functions."""
        return len(self.expansion)

    def accumulator(self) -> Accumulator:
        """An empty one."""
        return (Triangle if self.orthogonal else NormalSums)(self.count, self.rows.width)

    def add(self, accumulator: Accumulator, rows: Rows, digest: int = 0) -> None:
        """Take in one batch, by whose digest its points can be recognised."""
        design, data = accumulator.room(len(rows))
        self.design(rows, out=design)
        data[:] = self.data(rows)
        accumulator.add(digest)

    def design(self, rows: Rows, out: FloatArray | None = None) -> FloatArray:
        """√W A of a batch, (n, L)."""
        left = rows.weighted(self.weights)
        for k, own in zip(rows.conditions, left.conditions, strict=True):  # the order may depend on where points are
            self.expansion.check_order(own.order, self.rows.names[k])
        return self.expansion.matrix(left, out=out)

    def data(self, rows: Rows) -> FloatArray:
        """√W h of a batch, (n, B)."""
        return rows.roots(self.weights)[:, None] * rows.data

    def moments(self, c: FloatArray | None, batches: Iterable[int]) -> FloatArray:
        """Σ A_kᵀ r_k with r_k = h_k − A_k c (without c: h_k) over some batches, and below it Σ |r_k|²: (L + 1, B)."""
        total = np.zeros((self.count + 1, self.rows.width))
        for k in batches:
            rows = self.rows[k]
            design, left = self.design(rows), self.data(rows)
            if c is not None:
                left = left - design @ c
            total += np.vstack([design.T @ left, np.sum(np.square(left), axis=0)])
        return total


@runtime_checkable
class Runner(Protocol):
    """Passes over all batches of a regression: in this process, or on workers."""

    def accumulate(self, regression: Regression, tick: Tick | None = None) -> Accumulator:
        """What is kept of all rows."""
        ...

    def moments(self, regression: Regression, c: FloatArray | None) -> FloatArray:
        """`Regression.moments` over all batches."""
        ...

    def with_client(self, client: Any) -> Runner:
        """One that passes on the workers of a Dask client, or in this process if it is None."""
        ...


def balanced(rows: StreamedRows, expansion: Expansion, balance: Balance | None) -> tuple[float, ...]:
    """Balanced weights from the sums of squared rows, as estimated from a few batches."""
    names = rows.names
    if len(names) == 1:
        return (1.0,)
    points, unit = rows.stream.sizes(), Regression(rows, expansion, (1.0,) * len(names))
    counts = [1 if c.integral else points[c.name] for c in rows.stream.problem.conditions]
    sizes = {n: count * layout.parts for n, count, layout in zip(names, counts, rows.layouts, strict=True)}
    squares: dict[str, list[FloatArray]] = {name: [] for name in names}
    for part in rows.sampled():
        sums = np.square(unit.design(part)).sum(axis=1)
        for k, own in zip(part.conditions, part.functionals.slices, strict=True):
            squares[names[k]].append(sums[own])
    values = np.array([sizes[n] * np.mean(np.concatenate(squares[n])) if squares[n] else 0.0 for n in names])
    if not np.all(np.isfinite(values)):
        raise expansion.not_finite()
    if not np.all(values > 0.0):
        missing = names[int(np.argmin(values))]
        remedy = "let the first batch have points of every condition, or give weights='unit' or numbers"
        raise fail(ArgumentError, "points", f"no rows of condition {missing!r} to balance by", remedy)
    return (balance or Balance.even(len(names))).weights(values)
