"""Rows in batches: the conditions of a problem at points that come in batches, and the data of inputs there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, ShapeError, check_array, describe, fail
from kernop.collocation.batches import Batch, Stream, chain
from kernop.collocation.data import concrete, values_at
from kernop.collocation.functionals import Functionals
from kernop.geometry import Points
from kernop.language.functions import Function
from kernop.language.ops import normal_form

#: One input: for each name a function, a number, or values at all points.
Input = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Rows:
    """Some of the N rows of a problem: functionals P_i and, for B inputs that are given, their data h_i.

    Arguments:
        functionals: n of them, one block for each condition that has points here.
        conditions: the number of the condition of each block.
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
        return np.repeat(np.sqrt(own), [len(block) for block in self.functionals.blocks])

    def weighted(self, weights: Sequence[float]) -> Functionals:
        """√w_i P_i."""
        return self.functionals.scaled(self.roots(weights))


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """The conditions of a problem at a stream of points: K batches of rows, made when they are asked for.

    Arguments:
        stream: the points.
        envelope: ρ; the functionals are those of u / ρ. None for 1.
        inputs: whose data the rows carry.
        widths: the number of columns of each input; None for a single one, whose values are not (n, B) but (n,).
    """

    stream: Stream
    envelope: Function | None = None
    inputs: tuple[Input, ...] = ()
    widths: tuple[int | None, ...] = ()

    def __getitem__(self, k: int) -> Rows:
        return self.at(self.stream[k], k)

    def sampled(self) -> list[Rows]:
        """A few batches that stand for all."""
        return [self.at(batch) for batch in self.stream.sampled()]

    def at(self, batch: Batch, k: int | None = None) -> Rows:
        """The rows of batch k, whose points are given."""
        found = [
            (i, condition) for i, condition in enumerate(self.stream.problem.conditions) if condition.name in batch
        ]
        blocks = [normal_form(c.op, batch[c.name], multiplier=self.envelope, name=c.name) for _, c in found]
        data = [
            self._columns(batch, given, width or 1, k) for given, width in zip(self.inputs, self.widths, strict=True)
        ]
        empty = np.empty((sum(map(len, batch.values())), 0))
        return Rows(Functionals(tuple(blocks)), tuple(i for i, _ in found), np.hstack(data) if data else empty)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the conditions."""
        return self.stream.problem.names

    @property
    def width(self) -> int:
        """The number B of columns of data."""
        return sum(width or 1 for width in self.widths)

    def places(self, k: int, rows: Rows) -> list[slice]:
        """Where the blocks of batch k stand among all N rows, which are in the order of the conditions."""
        lengths = {self.names[i]: len(block) for i, block in zip(rows.conditions, rows.functionals.blocks, strict=True)}
        return list(self.stream.places(k, lengths).values())

    def spread(self, number: int) -> Functionals:
        """``number`` of the functionals, evenly spread over all rows; of an iterator, its first batch."""
        return replace(self, inputs=(), widths=()).at(self.stream.spread(number)).functionals

    def given(self, inputs: Sequence[Input]) -> StreamedRows:
        """The same rows with the data of other inputs."""
        known = tuple({name: self._checked(name, value) for name, value in given.items()} for given in inputs)
        return replace(self, inputs=known, widths=tuple(map(self._width, known)))

    def holding(self, h: FloatArray) -> StreamedRows:
        """The same rows with data h (N, B), in the order of the conditions."""
        counts = self.stream.counts or {}
        parts = np.split(h, np.cumsum(list(counts.values()))[:-1])
        return replace(self, inputs=(dict(zip(counts, parts, strict=True)),), widths=(h.shape[1],))

    def extended(self, points: Mapping[str, Points], size: int) -> StreamedRows:
        """With more points after these, in batches of ``size``; without inputs."""
        return StreamedRows(chain(self.stream, points, size), self.envelope)

    def _checked(self, name: str, value: Any) -> Any:
        """A function, or an array: a number (), or values at all points, (N_k,) or (N_k, B)."""
        if callable(value):
            return value
        remedy = f"give a function, a number, or values at T.points[{name!r}]"
        array = check_array(name, value, remedy=remedy, copy=False, what="data")
        if array.ndim > 0:
            count = (self.stream.counts or {}).get(name)
            if array.ndim > 2 or array.shape[0] != count or array.size == 0:
                remedy = f"give a function, a number, or values at the {count} points of T.points[{name!r}]"
                raise fail(ShapeError, name, describe(array), remedy)
        return array

    def _width(self, given: Input) -> int | None:
        """Functions are looked at where a few batches have points; where they have none, at a point of the region."""
        shapes: list[tuple[int, ...]] = []
        for condition in self.stream.problem.conditions:
            value, name = given.get(condition.name, condition.data), condition.name
            if callable(value) or np.ndim(value) == 0:
                found = next((batch[name] for batch in self.stream.sampled() if name in batch), None)
                value = values_at(condition, value, found or condition.on.sample(1))
            shapes.append(np.shape(value))
        return max((shape[1] for shape in shapes if len(shape) == 2), default=None)

    def _columns(self, batch: Batch, given: Input, width: int, k: int | None) -> FloatArray:
        """The data of one input in batch k, (n, B). Values at all points are cut where the batch starts."""
        parts: list[FloatArray] = []
        for condition in self.stream.problem.conditions:
            if condition.name in batch:
                points = batch[condition.name]
                value = self._cut(given.get(condition.name, condition.data), condition.name, len(points), k)
                values = concrete(condition.name, values_at(condition, value, points)).reshape(len(points), -1)
                if values.shape[1] not in (1, width):
                    got = f"batches that disagree ({condition.name!r} with {values.shape[1]} where others have {width})"
                    raise fail(ShapeError, "T", got, "give the same number of columns to each input")
                parts.append(np.broadcast_to(values, (len(points), width)))
        return np.concatenate(parts)

    def _cut(self, value: Any, name: str, n: int, k: int | None) -> Any:
        if callable(value) or np.ndim(value) == 0:
            return value
        start = None if k is None else self.stream.start(k)
        if start is None:
            remedy = "give a function or a number: how many points came before in the stream is not known"
            raise fail(ArgumentError, name, f"values of shape {np.shape(value)}", remedy)
        return np.asarray(value)[start[name] : start[name] + n]
