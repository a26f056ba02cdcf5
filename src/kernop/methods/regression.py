"""Weighted least squares over rows that come in batches: what is computed from a batch, and who passes over all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, KernopError, fail
from kernop.basics.progress import Tick
from kernop.collocation.functionals import Functionals
from kernop.collocation.rows import Rows, StreamedRows
from kernop.methods.accumulators import Accumulator, NormalSums, Triangle
from kernop.methods.contrast import contrast, entries
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
        contrast: by how much rows of a block count more in a part of the domain, (blocks, P + 1), the last column for
            rows that are in no single one; None if the domain is not cut.
    """

    rows: StreamedRows
    expansion: Expansion
    weights: tuple[float, ...]
    orthogonal: bool = True
    contrast: FloatArray | None = None

    @property
    def count(self) -> int:
        """The number L of functions."""
        return len(self.expansion)

    def accumulator(self) -> Accumulator:
        """An empty accumulator for these functions and inputs."""
        return (Triangle if self.orthogonal else NormalSums)(self.count, self.rows.width)

    def add(self, accumulator: Accumulator, rows: Rows, digest: int = 0) -> None:
        """Take in one batch, by whose digest its points can be recognised."""
        design, data = accumulator.room(len(rows))
        self.design(rows, out=design)
        data[:] = self.data(rows)
        accumulator.add(digest)

    def design(self, rows: Rows, out: FloatArray | None = None) -> FloatArray:
        """√W A of a batch, (n, L)."""
        left = self.weighted(rows)
        for k, own in zip(rows.conditions, left.conditions, strict=True):  # the order may depend on where points are
            self.expansion.check_order(own.order, self.rows.names[k])
        return self.expansion.matrix(left, out=out)

    def data(self, rows: Rows) -> FloatArray:
        """√W h of a batch, (n, B)."""
        return self.roots(rows)[:, None] * rows.data

    def weighted(self, rows: Rows) -> Functionals:
        """The weighted functionals √w_i P_i of a batch."""
        return rows.functionals.scaled(self.roots(rows))

    def roots(self, rows: Rows) -> FloatArray:
        """√w_i of each row of a batch, (n,)."""
        roots = rows.roots(self.weights)
        if self.contrast is None:
            return roots
        first = np.cumsum([0, *(layout.parts for layout in self.rows.layouts)]).tolist()
        numbers = [number for k in rows.conditions for number in range(first[k], first[k + 1])]
        return roots * np.sqrt(entries(self.expansion.ansatz, rows.functionals, self.contrast, numbers))

    def all_roots(self) -> FloatArray:
        """√w_i of all N rows, in the order of the conditions."""
        if self.contrast is None:
            return np.repeat(np.sqrt(self.weights), self.rows.sizes)
        found = np.empty(sum(self.rows.sizes))
        for k in range(self.rows.stream.number or 0):
            rows = self.rows[k]
            roots = self.roots(rows)
            for (own, _), place in zip(rows.functionals, self.rows.places(k, rows), strict=True):
                found[place] = roots[own]
        return found

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

    def with_client(self, client: object) -> Runner:
        """One that passes on the workers of a Dask client, or in this process if it is None."""
        ...


def chosen_weights(
    rows: StreamedRows, expansion: Expansion, given: tuple[float, ...] | Balance | None
) -> tuple[tuple[float, ...], FloatArray | None]:
    """One weight for each condition, given or balanced, and the contrast of the parts, from a look at the stream."""
    names, whole = rows.names, expansion.ansatz.parts is None
    if whole and (isinstance(given, tuple) or len(names) == 1):
        return given if isinstance(given, tuple) else (1.0,), None
    look, unit = rows.look(), Regression(rows, expansion, (1.0,) * len(names))
    squares = np.square(unit.design(look)).sum(axis=1)
    if not np.all(np.isfinite(squares)):
        raise expansion.not_finite()
    if missing := [name for k, name in enumerate(names) if k not in look.conditions]:
        raise _nothing_of(missing[0])
    parts, table = contrast(expansion.ansatz, look.functionals, squares), None
    if parts is not None:
        numbers = range(len(look.functionals.blocks))
        squares = squares * entries(expansion.ansatz, look.functionals, parts.shares, numbers)
        table = parts.shares * parts.factors
    if isinstance(given, tuple):
        return given, table
    # Sums of squared rows of each condition, as estimated from those of the look.
    points = rows.stream.sizes()
    counts = [1 if c.integral else points[c.name] for c in rows.stream.problem.conditions]
    sizes = np.array([count * layout.parts for count, layout in zip(counts, rows.layouts, strict=True)])
    values = sizes * np.array([float(np.mean(squares[own])) for own in look.functionals.slices])
    if not np.all(values > 0.0):
        raise _nothing_of(names[int(np.argmin(values))])
    return (given or Balance.even(len(names))).weights(values), table


def _nothing_of(name: str) -> KernopError:
    remedy = "let the first batch have points of every condition, or give weights='unit' or numbers"
    return fail(ArgumentError, "points", f"no rows of condition {name!r} to balance by", remedy)
