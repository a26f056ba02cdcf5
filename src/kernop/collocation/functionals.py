"""From a problem and points to functionals: the rows of everything that follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, OperatorError, fail
from kernop.basics.stored import stored
from kernop.geometry import Points
from kernop.language.functions import Function
from kernop.language.ops import NormalForm, normal_form
from kernop.language.problem import Problem


@stored("functionals", by_value=False)
@dataclass(frozen=True, eq=False)
class Functionals:
    """N functionals P_i: u ↦ (P_k(i) u)(x_i), in ordered blocks, one for each condition."""

    blocks: tuple[NormalForm, ...]

    def check(self) -> None:
        """Raise unless there are blocks, all in the same dimension."""
        if len({block.x.shape[1] for block in self.blocks}) != 1:
            raise fail(ArgumentError, "blocks", "none, or some in other dimensions", "write the file again")

    def __len__(self) -> int:
        return sum(map(len, self.blocks))

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.blocks[0].x.shape[1]

    @property
    def order(self) -> int:
        """The highest derivative in any block."""
        return max(block.order for block in self.blocks)

    @property
    def slices(self) -> tuple[slice, ...]:
        """Where each block stands among the N rows."""
        ends = np.cumsum([len(block) for block in self.blocks])
        return tuple(slice(int(end) - len(block), int(end)) for block, end in zip(self.blocks, ends, strict=True))

    def scaled(self, factors: FloatArray) -> Functionals:
        """Functional i multiplied by factors[i]."""
        return Functionals(tuple(b.scaled(factors[rows]) for b, rows in zip(self.blocks, self.slices, strict=True)))

    def take(self, rows: NDArray[np.intp]) -> Functionals:
        """The functionals of sorted ``rows``; blocks that lose all of theirs are left out."""
        kept = [(block, rows[(rows >= part.start) & (rows < part.stop)] - part.start) for part, block in self]
        return Functionals(tuple(block[own] for block, own in kept if len(own)))

    def spread(self, number: int) -> Functionals:
        """``number`` of the functionals, evenly spread over the rows; all of them if there are no more."""
        return self.take(np.unique(np.linspace(0, len(self) - 1, min(number, len(self))).round().astype(np.intp)))

    def merged(self) -> Functionals:
        """The same rows in one block, with all multi-indices that occur in any."""
        alphas = tuple(sorted({alpha for block in self.blocks for alpha in block.alphas}))
        coefficients = np.zeros((len(self), len(alphas)))
        for rows, block in self:
            coefficients[rows, [alphas.index(alpha) for alpha in block.alphas]] = block.coefficients
        return Functionals((NormalForm(np.concatenate([block.x for block in self.blocks]), alphas, coefficients),))

    def __iter__(self) -> Iterator[tuple[slice, NormalForm]]:
        return iter(zip(self.slices, self.blocks, strict=True))


def collocate(problem: Problem, points: Mapping[str, Points], multiplier: Function | None = None) -> Functionals:
    """The functionals of every condition at its points; of u ↦ P(multiplier · u) if a multiplier is given."""
    blocks = [
        normal_form(condition.op, points[condition.name], multiplier=multiplier, name=condition.name)
        for condition in problem.conditions
    ]
    for condition, block in zip(problem.conditions, blocks, strict=True):
        if not np.any(block.coefficients):
            remedy = (
                "state a condition that involves u" if multiplier is None else "leave out what the envelope ensures"
            )
            raise fail(OperatorError, condition.name, "an operator that is zero at all points", remedy)
    return Functionals(tuple(blocks))
