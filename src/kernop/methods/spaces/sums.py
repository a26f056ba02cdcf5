"""Direct sums of spaces: the functions of several, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import REMEDY
from kernop.basics.stored import stored
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.functionals import Functionals
from kernop.kernels import Kernel
from kernop.methods.expansion import Expansion, Order


@stored("direct sum", by_value=False)
@dataclass(frozen=True, eq=False)
class DirectSum(Expansion):
    """All functions of several spaces: one for each component of the unknowns, or of wide and narrow functions.

    Arguments:
        summands: the spaces, all with the same ansatz.
    """

    summands: tuple[Expansion, ...]
    ansatz: Ansatz = field(init=False)

    def __post_init__(self) -> None:
        if not self.summands or any(part.ansatz != self.summands[0].ansatz for part in self.summands):
            raise fail(ArgumentError, "summands", "none, or some with another ansatz", REMEDY)
        object.__setattr__(self, "ansatz", self.summands[0].ansatz)

    @classmethod
    def of(cls, summands: Sequence[Expansion]) -> Expansion:
        """The sum of some spaces; of one, that space itself."""
        return summands[0] if len(summands) == 1 else cls(tuple(summands))

    @property
    def prior(self) -> Kernel | None:
        """The kernel of the first summand, as far as it has one: the other functions are beside it."""
        return self.summands[0].prior

    def __len__(self) -> int:
        return sum(map(len, self.summands))

    @property
    def dim(self) -> int:
        return self.summands[0].dim

    def check(self) -> None:
        if any(part.dim != self.dim for part in self.summands):
            raise fail(ArgumentError, "summands", "some in other dimensions", REMEDY)

    def __repr__(self) -> str:
        return " ⊕ ".join(map(repr, self.summands))

    def with_ansatz(self, ansatz: Ansatz) -> DirectSum:
        return DirectSum(tuple(part.with_ansatz(ansatz) for part in self.summands))

    def matrix(self, left: Functionals, *, order: Order = "C", out: FloatArray | None = None) -> FloatArray:
        found = np.empty((len(left), len(self)), order=order) if out is None else out
        for part, columns in zip(self.summands, self._columns, strict=True):
            part.matrix(left, out=found[:, columns])
        return found

    def quickly(self, left: Functionals, out: FloatArray) -> None:
        for part, columns in zip(self.summands, self._columns, strict=True):
            part.quickly(left, out[:, columns])

    def apply(self, left: Functionals, c: FloatArray) -> FloatArray:
        parts = zip(self.summands, self._columns, strict=True)
        return np.sum([part.apply(left, c[own]) for part, own in parts], axis=0)

    def check_order(self, order: int, name: str) -> None:
        for part in self.summands:
            part.check_order(order, name)

    @property
    def signature(self) -> tuple[str, tuple[FloatArray, ...]]:
        found = [part.signature for part in self.summands]
        return "; ".join(words for words, _ in found), tuple(array for _, arrays in found for array in arrays)

    @cached_property
    def _columns(self) -> list[slice]:
        ends = np.cumsum([len(part) for part in self.summands]).tolist()
        return [slice(end - len(part), end) for part, end in zip(self.summands, ends, strict=True)]
