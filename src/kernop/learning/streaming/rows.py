"""How a batch of points becomes weighted rows of the design matrix, and weighted data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, NonFiniteError, ShapeError, fail
from kernop.collocation import assembly
from kernop.collocation.ansatz import normal_form
from kernop.collocation.batches import Batch
from kernop.collocation.data import concrete, values_at
from kernop.collocation.functionals import Block as NormalForm
from kernop.collocation.functionals import Functionals
from kernop.geometry import Points
from kernop.kernels.base import check_smoothness
from kernop.language.functions import Function
from kernop.language.problem import Problem
from kernop.methods import Expansion
from kernop.methods.weights import equalising

#: One input: for each name a function, a number, or values at all points.
Input = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows √w_i P_i b_j and data √w_i h_i.

    Arguments:
        problem: the conditions.
        expansion: the functions b_j.
        weights: one for each condition.
    """

    problem: Problem
    expansion: Expansion
    weights: tuple[float, ...]

    def functionals(self, batch: Batch) -> Functionals:
        """√w_i P_i of a batch, in the order of the conditions."""
        return functionals_of(self.problem, batch, self.expansion.envelope, self.weights)

    def design(self, batch: Batch, out: FloatArray | None = None) -> FloatArray:
        """√W A of a batch, (n, L)."""
        kernel, left, right = self.expansion.kernel, self.functionals(batch), self.expansion.functionals
        for name, block in zip(batch, left.blocks, strict=True):  # the order may depend on where the points are
            check_smoothness(kernel, block.order + right.order, name)
        return assembly.cross(kernel, left, right, out=out)

    def data(
        self,
        batch: Batch,
        inputs: Sequence[Input],
        widths: Sequence[int | None],
        start: Mapping[str, int] | None = None,
    ) -> FloatArray:
        """√W h of a batch for several inputs, (n, B). Values at all points are cut where the batch starts."""
        return np.hstack(
            [self._columns(batch, given, width or 1, start) for given, width in zip(inputs, widths, strict=True)]
        )

    def widths(self, batches: Sequence[Batch], inputs: Sequence[Input]) -> tuple[int | None, ...]:
        """The number of columns of each input; None for a single one, whose values are not (n, B) but (n,).

        Functions are looked at where a few batches have points; where they have none, at a point of the region.
        """
        places = {
            condition.name: next((batch[condition.name] for batch in batches if condition.name in batch), None)
            or condition.on.sample(1)
            for condition in self.problem.conditions
        }
        return tuple(self._width(places, given) for given in inputs)

    def _width(self, places: Mapping[str, Points], given: Input) -> int | None:
        shapes: list[tuple[int, ...]] = []
        for condition in self.problem.conditions:
            value = given.get(condition.name, condition.data)
            if callable(value) or np.ndim(value) == 0:
                value = values_at(condition, value, places[condition.name])
            shapes.append(np.shape(value))
        return max((shape[1] for shape in shapes if len(shape) == 2), default=None)

    def _columns(self, batch: Batch, given: Input, width: int, start: Mapping[str, int] | None) -> FloatArray:
        parts: list[FloatArray] = []
        for condition, weight in zip(self.problem.conditions, self.weights, strict=True):
            if condition.name in batch:
                points = batch[condition.name]
                value = _cut(given.get(condition.name, condition.data), condition.name, len(points), start)
                values = concrete(condition.name, values_at(condition, value, points)).reshape(len(points), -1)
                if values.shape[1] not in (1, width):
                    got = f"batches that disagree ({condition.name!r} with {values.shape[1]} where others have {width})"
                    raise fail(ShapeError, "T", got, "give the same number of columns to each input")
                parts.append(np.broadcast_to(np.sqrt(weight) * values, (len(points), width)))
        return np.concatenate(parts)


def functionals_of(
    problem: Problem, batch: Batch, envelope: Function | None, weights: tuple[float, ...] | None = None
) -> Functionals:
    """√w_i P_i of a batch, in the order of the conditions; weights are 1 if they are not given."""
    blocks: list[NormalForm] = []
    for condition, weight in zip(problem.conditions, weights or (1.0,) * len(problem.conditions), strict=True):
        if condition.name in batch:
            points = batch[condition.name]
            form = normal_form(condition.op, points, multiplier=envelope, name=condition.name)
            blocks.append(form.scaled(np.full(len(points), np.sqrt(weight))))
    return Functionals(tuple(blocks))


def _cut(value: Any, name: str, n: int, start: Mapping[str, int] | None) -> Any:
    if callable(value) or np.ndim(value) == 0:
        return value
    if start is None:
        remedy = "give a function or a number: how many points came before in the stream is not known"
        raise fail(ArgumentError, name, f"values of shape {np.shape(value)}", remedy)
    return np.asarray(value)[start[name] : start[name] + n]


def balanced(rows: Rows, batches: Iterable[Batch], sizes: Mapping[str, int]) -> tuple[float, ...]:
    """Weights that give every condition the same sum of squared rows, as estimated from a few batches.

    ``rows`` have unit weights; ``sizes`` tell how many there are of each condition, up to a factor. The geometric mean
    of the weights is 1, so that λ keeps its meaning.
    """
    names = rows.problem.names
    if len(names) == 1:
        return (1.0,)
    squares: dict[str, list[FloatArray]] = {name: [] for name in names}
    for batch in batches:
        ends = np.cumsum([len(points) for points in batch.values()])
        parts = np.split(np.square(rows.design(batch)).sum(axis=1), ends[:-1])
        for name, part in zip(batch, parts, strict=True):
            squares[name].append(part)
    values = np.array([sizes[n] * np.mean(np.concatenate(squares[n])) if squares[n] else 0.0 for n in names])
    if not np.all(np.isfinite(values)):
        got = f"{rows.expansion.kernel!r} with derivatives that are not finite"
        raise fail(NonFiniteError, "kernel", got, "use another, such as ko.Gaussian")
    if not np.all(values > 0.0):
        missing = names[int(np.argmin(values))]
        remedy = "let the first batch have points of every condition, or give weights='unit' or numbers"
        raise fail(ArgumentError, "points", f"no rows of condition {missing!r} to balance by", remedy)
    return equalising(values)
