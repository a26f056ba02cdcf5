"""Rows in batches: the conditions of a problem at points that come in batches, and the data of inputs there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kernop.basics.checks import check_array
from kernop.basics.errors import ArgumentError, FloatArray, NumberArray, ShapeError, fail
from kernop.collocation.ansatz import PLAIN, Ansatz, condition_functionals, condition_layouts
from kernop.collocation.batches import chain
from kernop.collocation.data import Input, checked_values, concrete, known_everywhere, split_pairs, values_at
from kernop.collocation.functionals import Functionals, Layout, together
from kernop.collocation.stream import Batch, Stream
from kernop.geometry import Points


@dataclass(frozen=True, eq=False)
class Rows:
    """Some of the N rows of a problem: functionals P_i and, for B inputs that are given, their data h_i.

    Arguments:
        functionals: n of them, for each condition that has points here.
        conditions: the numbers of these conditions.
        data: h, (n, B).
    """

    functionals: Functionals
    conditions: tuple[int, ...]
    data: FloatArray

    def __len__(self) -> int:
        return len(self.functionals)

    def roots(self, weights: Sequence[float]) -> FloatArray:
        """√w_i of each row, (n,), from one weight for each condition of the problem."""
        own = [weights[k] for k in self.conditions]
        return np.repeat(np.sqrt(own), [rows.stop - rows.start for rows in self.functionals.slices])


@dataclass(frozen=True)
class Columns:
    """How the data of one input stand in columns.

    Arguments:
        width: the number of inputs that are given at once; None for a single one.
        paired: are the data complex, and the operator real? Then imaginary parts follow the real parts.
    """

    width: int | None = None
    paired: bool = False

    @property
    def count(self) -> int:
        """The number of columns of the design matrix."""
        return (self.width or 1) * (2 if self.paired else 1)


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """The conditions of a problem at a stream of points: K batches of rows, made when they are asked for.

    Arguments:
        stream: the points.
        ansatz: how the unknowns are written; the functionals are those of its functions.
        inputs: whose data the rows carry.
        columns: how the data of each input stand in columns.
    """

    stream: Stream
    ansatz: Ansatz = PLAIN
    inputs: tuple[Input, ...] = ()
    columns: tuple[Columns, ...] = ()

    def __getitem__(self, k: int) -> Rows:
        return self.at(self.stream[k], k)

    def sampled(self) -> list[Rows]:
        """A few batches, spread over the stream, as a sample of all."""
        return [self.at(batch) for batch in self.stream.sampled()]

    def look(self) -> Rows:
        """Some rows of all conditions, which stand for all whatever the order of the points is; without data."""
        return replace(self, inputs=(), columns=()).at(self.stream.look())

    def at(self, batch: Batch, k: int | None = None) -> Rows:
        """The rows of batch k, whose points are given."""
        found = [(i, c) for i, c in enumerate(self.stream.problem.conditions) if c.name in batch]
        functionals = together([condition_functionals(c, batch[c.name], self.ansatz) for _, c in found])
        own = zip(self.inputs, self.columns, strict=True)
        data = [self._columns(batch, given, columns, k) for given, columns in own]
        empty = np.empty((len(functionals), 0))
        return Rows(functionals, tuple(i for i, _ in found), np.hstack(data) if data else empty)

    def __len__(self) -> int:
        return sum(self.sizes)

    def length(self, batch: Batch) -> int:
        """The number of rows that a batch of points gives."""
        own = zip(self.stream.problem.conditions, self.layouts, strict=True)
        return sum(layout.parts * (1 if c.integral else len(batch[c.name])) for c, layout in own if c.name in batch)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the conditions."""
        return self.stream.problem.names

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """How the values of each condition stand in rows."""
        return condition_layouts(self.stream.problem, self.ansatz)

    @property
    def width(self) -> int:
        """The number of columns of data."""
        return sum(columns.count for columns in self.columns)

    @property
    def counts(self) -> list[int] | None:
        """How many values the data of each condition has, in order; None if that cannot be known."""
        known, conditions = self.stream.counts, self.stream.problem.conditions
        return None if known is None else [1 if c.integral else known[c.name] for c in conditions]

    @property
    def sizes(self) -> list[int]:
        """How many rows each condition has, in order, where that can be known."""
        self.stream.check_again("give arrays or ko.Batches to learn")
        return [layout.parts * count for layout, count in zip(self.layouts, self.counts or (), strict=True)]

    def places(self, k: int, rows: Rows) -> list[slice]:
        """Where the blocks of batch k stand among all N rows, which are in the order of the conditions."""
        sizes, counts, before = self.sizes, self.counts or [], self.stream.start(k) or {}
        found: list[slice] = []
        for i, own in zip(rows.conditions, rows.functionals.conditions, strict=True):
            condition = self.stream.problem.conditions[i]
            first = sum(sizes[:i]) + (0 if condition.integral else before[condition.name])
            found += [
                slice(first + part * counts[i], first + part * counts[i] + len(block))
                for part, block in enumerate(own.blocks)
            ]
        return found

    def spread(self, number: int) -> Functionals:
        """``number`` of the functionals, evenly spread over all rows; of an iterator, its first batch."""
        return replace(self, inputs=(), columns=()).at(self.stream.spread(number)).functionals

    def given(self, inputs: Sequence[Input]) -> StreamedRows:
        """The same rows with the data of other inputs."""
        known = tuple({name: self._checked(name, value) for name, value in given.items()} for given in inputs)
        return replace(self, inputs=known, columns=tuple(map(self._shape, known)))

    def holding(self, h: FloatArray) -> StreamedRows:
        """The same rows with data h (N, B), in the order of the conditions."""
        parts = np.split(h, np.cumsum(self.sizes)[:-1])
        values = [layout.values(part) for layout, part in zip(self.layouts, parts, strict=True)]
        return replace(self, inputs=(dict(zip(self.names, values, strict=True)),), columns=(Columns(h.shape[1]),))

    def extended(self, points: Mapping[str, Points], size: int) -> StreamedRows:
        """With more points after these, in batches of ``size``; without inputs."""
        return StreamedRows(chain(self.stream, points, size), self.ansatz)

    def _checked(self, name: str, value: object) -> Any:
        """A function, a number or those of a vector, or values at all points, (N_k, …)."""
        k = self.names.index(name)
        condition, layout = self.stream.problem.conditions[k], self.layouts[k]
        if callable(value):
            return value
        remedy = f"give a function, a number, or values at T.points[{name!r}]"
        array = check_array(name, value, remedy=remedy, copy=False, complex_too=True)
        if known_everywhere(condition, array, layout):
            return array
        return checked_values(condition, array, None if self.counts is None else self.counts[k], layout)

    def _shape(self, given: Input) -> Columns:
        """Functions are looked at where a few batches have points; where they have none, at a point of the region."""
        width, paired = None, False
        for condition, layout in zip(self.stream.problem.conditions, self.layouts, strict=True):
            value: Any = given.get(condition.name, condition.data)
            if known_everywhere(condition, value, layout):
                found = (batch[condition.name] for batch in self.stream.sampled() if condition.name in batch)
                value = values_at(condition, value, next(found, None) or condition.on.sample(1), layout)
            paired = paired or (np.iscomplexobj(value) and not self.ansatz.complex)
            if np.ndim(value) > layout.ndim:
                width = max(width or 0, np.shape(value)[-1])
        return Columns(width, paired)

    def _columns(self, batch: Batch, given: Input, columns: Columns, k: int | None) -> FloatArray:
        """The data of one input in batch k, (n, B). Values at all points are cut where the batch starts."""
        parts: list[NumberArray] = []
        width = columns.width or 1
        for condition, layout in zip(self.stream.problem.conditions, self.layouts, strict=True):
            if condition.name in batch:
                points: Points = batch[condition.name]
                value: Any = given.get(condition.name, condition.data)
                if not known_everywhere(condition, value, layout):
                    value = self._cut(condition.name, value, len(points), k)
                values = layout.rows(concrete(condition.name, values_at(condition, value, points, layout)))
                rows = values.reshape(len(values), -1)
                if rows.shape[1] not in (1, width):
                    got = f"batches that disagree ({condition.name!r} with {rows.shape[1]} where others have {width})"
                    raise fail(ShapeError, "T", got, "give the same number of columns to each input")
                parts.append(np.broadcast_to(rows, (len(rows), width)))
        together = np.concatenate(parts)
        return split_pairs(together) if columns.paired else np.real(together)

    def _cut(self, name: str, values: NumberArray, n: int, k: int | None) -> NumberArray:
        start = None if k is None else self.stream.start(k)
        if start is None:
            remedy = "give a function or a number: how many points came before in the stream is not known"
            raise fail(ArgumentError, name, f"values of shape {np.shape(values)}", remedy)
        return values[start[name] : start[name] + n]
