"""Functionals at points, the central value: N rows u ↦ Σ φ_{k,α}(x_i) (∂^α u_k)(x_i), keyed by component and α.

Whoever has them needs no domain, no language and no function of the user. They are kept in blocks whose rows have the
same terms; a row may also be the sum of such functionals over several points, as an integral is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, IntArray, fail
from kernop.basics.fitting import REMEDY, check_shape
from kernop.basics.stored import stored
from kernop.language.fields import MultiIndex, Term

#: Blocks of so many rows are not thinned.
FEW = 32
#: The highest derivative, and the most components, of functionals in a file.
HIGHEST, MOST = 32, 1000


@stored("block")
@dataclass(frozen=True, eq=False)
class Block:
    """Functionals with the same terms: Σ_{k,α} φ_{k,α}(x_i) (∂^α u_k)(x_i) at n points.

    Arguments:
        x: the points, (n, d).
        terms: the A pairs (k, α) that occur.
        coefficients: φ_{k,α}(x_i), (n, A).
        starts: row r is the sum over the points from starts[r] to starts[r + 1], (R + 1,); None: every point is a row.
    """

    x: FloatArray
    terms: tuple[Term, ...]
    coefficients: FloatArray
    starts: IntArray | None = None

    def check(self) -> None:
        """Raise unless there is a coefficient for each point and each of sorted terms, and no sum is empty."""
        check_shape("x", self.x, None, None)
        check_shape("coefficients", self.coefficients, len(self.x), len(self.terms))
        whole = all(0 <= k < MOST and len(alpha) == self.x.shape[1] and min(alpha) >= 0 for k, alpha in self.terms)
        if not self.terms or not whole or list(self.terms) != sorted(set(self.terms)) or self.order > HIGHEST:
            raise fail(ArgumentError, "terms", "no list of components and multi-indices", REMEDY)
        if self.starts is not None:
            check_shape("starts", self.starts, None)
            if self.starts[0] != 0 or self.starts[-1] != len(self.x) or not np.all(np.diff(self.starts) > 0):
                raise fail(ArgumentError, "starts", "numbers that are not where sums begin", REMEDY)

    def __len__(self) -> int:
        return len(self.x) if self.starts is None else len(self.starts) - 1

    @property
    def alphas(self) -> tuple[MultiIndex, ...]:
        """The multi-indices of the terms, in their order."""
        return tuple(alpha for _, alpha in self.terms)

    @property
    def order(self) -> int:
        """The order max |α| of the functionals."""
        return max(map(sum, self.alphas))

    @cached_property
    def components(self) -> dict[int, list[int]]:
        """The components k that occur, and the columns of their coefficients."""
        found: dict[int, list[int]] = {}
        for column, (k, _) in enumerate(self.terms):
            found.setdefault(k, []).append(column)
        return found

    def involves(self, components: Iterable[int]) -> BoolArray:
        """For each point: has one of these components a coefficient there that is not 0?"""
        columns = [column for k in components for column in self.components.get(k, ())]
        return np.any(self.coefficients[:, columns], axis=1)

    def scaled(self, factors: FloatArray) -> Block:
        """Row i multiplied by factors[i]."""
        return replace(self, coefficients=self.coefficients * self.repeated(factors)[:, None])

    def __getitem__(self, rows: Any) -> Block:
        """The functionals of some of the rows."""
        if self.starts is None:
            return Block(self.x[rows], self.terms, self.coefficients[rows])
        chosen = np.arange(len(self))[rows]
        sizes = np.diff(self.starts)[chosen]
        points = np.concatenate([np.arange(*self.starts[r : r + 2].tolist()) for r in chosen.tolist()])
        return Block(self.x[points], self.terms, self.coefficients[points], np.concatenate([[0], np.cumsum(sizes)]))

    @property
    def pointwise(self) -> Block:
        """The functionals at single points, whose sums the rows are."""
        return Block(self.x, self.terms, self.coefficients)

    def collected(self, values: FloatArray, axis: int = 0) -> FloatArray:
        """The values of the rows (R, …) from those of the functionals at single points (n, …); along another axis."""
        return values if self.starts is None else np.add.reduceat(values, self.starts[:-1], axis=axis)

    def repeated(self, values: FloatArray) -> FloatArray:
        """Values of the rows (R, …), each given to all of its points: (n, …)."""
        return values if self.starts is None else np.repeat(values, np.diff(self.starts), axis=0)

    def minus(self, other: Block) -> Block:
        """Row i of this block minus row i of another one, both of single points: sums over two points."""
        terms = tuple(sorted({*self.terms, *other.terms}))
        x, coefficients = np.empty((2 * len(self), self.x.shape[1])), np.zeros((2 * len(self), len(terms)))
        for first, sign, block in ((0, 1.0, self), (1, -1.0, other)):
            x[first::2] = block.x
            coefficients[first::2, [terms.index(term) for term in block.terms]] = sign * block.coefficients
        return Block(x, terms, coefficients, 2 * np.arange(len(self) + 1))

    def integrated(self, weights: FloatArray) -> Block:
        """One row, the sum over all points with quadrature weights (n,)."""
        starts = np.array([0, len(self.x)])
        return Block(self.x, self.terms, self.coefficients * weights[:, None], starts)


def tabulated(x: FloatArray, table: Mapping[Term, FloatArray]) -> Block:
    """The block of coefficients (k, α) ↦ φ_{k,α}(x_i), without those that vanish at all points (but one)."""
    kept = {term: values for term, values in sorted(table.items()) if np.any(values)}
    if not kept:
        kept = {(0, (0,) * x.shape[1]): np.zeros(len(x))}
    return Block(x, tuple(kept), np.stack(list(kept.values()), axis=1))


def evaluations(x: FloatArray, k: int = 0) -> Block:
    """The functionals u ↦ u_k(x_i)."""
    return Block(x, ((k, (0,) * x.shape[1]),), np.ones((len(x), 1)))


@stored("layout")
@dataclass(frozen=True)
class Layout:
    """How the values of one operator at n points stand in rows: part by part, each at all points.

    The parts of a complex operator are the real parts of all its components, then the imaginary ones.

    Arguments:
        components: the number of components of a vector; None for a scalar.
        complex: are the values complex?
    """

    components: int | None = None
    complex: bool = False

    def check(self) -> None:
        """Raise unless there are components."""
        if self.components is not None and not 1 <= self.components <= MOST:
            raise fail(ArgumentError, "components", f"{self.components} of them", REMEDY)

    @property
    def parts(self) -> int:
        """How many rows there are for each point."""
        return (self.components or 1) * (2 if self.complex else 1)

    @property
    def ndim(self) -> int:
        """The number of axes of the values of one input."""
        return 1 if self.components is None else 2

    def rows(self, values: Any, library: Any = np) -> Any:
        """Values (n,), or (n, k) of vectors, and (…, B) for B of them, as rows: (parts · n,) or (parts · n, B)."""
        if self.components is not None:
            values = library.swapaxes(values, 0, 1).reshape(-1, *values.shape[2:])
        if not self.complex:
            return values
        return library.concatenate([library.real(values), library.imag(values)])

    def values(self, rows: Any) -> Any:
        """What `rows` turned into rows (parts · n, B): (n, B), or (n, k, B)."""
        if self.complex:
            half = len(rows) // 2
            rows = rows[:half] + 1j * rows[half:]
        if self.components is None:
            return rows
        return rows.reshape(self.components, -1, rows.shape[1]).swapaxes(0, 1)


@stored("functionals", by_value=False)
@dataclass(frozen=True, eq=False)
class Functionals:
    """N functionals, in ordered blocks, and how the blocks belong together.

    Arguments:
        blocks: the rows.
        layouts: one for each operator (each condition of a problem), whose parts are blocks that follow each other; by
            default every block is a scalar operator of its own.
    """

    blocks: tuple[Block, ...]
    layouts: tuple[Layout, ...] = ()

    def __post_init__(self) -> None:
        if not self.layouts:
            object.__setattr__(self, "layouts", (Layout(),) * len(self.blocks))
        if sum(layout.parts for layout in self.layouts) != len(self.blocks):
            raise fail(ArgumentError, "layouts", "some of other blocks", "give one for each operator")

    def check(self) -> None:
        """Raise unless there are blocks, all in the same dimension, and parts of one operator have as many rows."""
        if len({block.x.shape[1] for block in self.blocks}) != 1:
            raise fail(ArgumentError, "blocks", "none, or some in other dimensions", REMEDY)
        if any(len({len(block) for block in own.blocks}) > 1 for own in self.conditions):
            raise fail(ArgumentError, "blocks", "parts of one operator with other numbers of rows", REMEDY)

    def __len__(self) -> int:
        return self._rows[-1].stop if self._rows else 0

    @cached_property
    def _rows(self) -> tuple[slice, ...]:
        """Where each block stands among the N rows."""
        return _slices([len(block) for block in self.blocks])

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.blocks[0].x.shape[1]

    @property
    def order(self) -> int:
        """The highest derivative in any block."""
        return max(block.order for block in self.blocks)

    @property
    def count(self) -> int:
        """The number of components of the unknowns, as far as they occur."""
        return 1 + max(k for block in self.blocks for k in block.components)

    @cached_property
    def conditions(self) -> tuple[Functionals, ...]:
        """The functionals of each operator, apart."""
        ends = np.cumsum([layout.parts for layout in self.layouts]).tolist()
        own = zip(self.layouts, ends, strict=True)
        return tuple(Functionals(self.blocks[end - layout.parts : end], (layout,)) for layout, end in own)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Where the rows of each operator stand among all N."""
        return _slices([len(own) for own in self.conditions])

    def __iter__(self) -> Iterator[tuple[slice, Block]]:
        """The blocks, and where each stands among the N rows."""
        return iter(zip(self._rows, self.blocks, strict=True))

    def scaled(self, factors: FloatArray) -> Functionals:
        """Functional i multiplied by factors[i]."""
        return replace(self, blocks=tuple(block.scaled(factors[rows]) for rows, block in self))

    def take(self, rows: IntArray) -> Functionals:
        """The functionals of sorted ``rows``, each block for itself; blocks that lose all of theirs are left out."""
        kept = [(block, rows[(rows >= part.start) & (rows < part.stop)] - part.start) for part, block in self]
        return Functionals(tuple(block[own] for block, own in kept if len(own)))

    def spread(self, number: int) -> Functionals:
        """``number`` of the functionals, evenly spread over the rows; all of them if there are no more."""
        return self.take(evenly(len(self), number))

    def thinned(self, number: int) -> Functionals:
        """About ``number`` of the rows, in proportion for each operator, with all parts of the values that stay.

        Blocks of few rows stay as they are: the ends of an interval are two.
        """
        part = min(1.0, number / len(self))
        return replace(self, blocks=tuple(b if len(b) <= FEW else b[some(len(b), part)] for b in self.blocks))

    def merged(self) -> Functionals:
        """The same rows in one block, with all terms that occur in any."""
        terms = tuple(sorted({term for block in self.blocks for term in block.terms}))
        coefficients = np.zeros((sum(len(block.x) for block in self.blocks), len(terms)))
        starts, first = [np.array([0])], 0
        for block in self.blocks:
            rows = slice(first, first + len(block.x))
            coefficients[rows, [terms.index(term) for term in block.terms]] = block.coefficients
            starts.append(first + (np.arange(1, len(block.x) + 1) if block.starts is None else block.starts[1:]))
            first = rows.stop
        x = np.concatenate([block.x for block in self.blocks])
        return Functionals((Block(x, terms, coefficients, np.concatenate(starts) if self.summed else None),))

    @property
    def summed(self) -> bool:
        """Are some rows sums over several points?"""
        return any(block.starts is not None for block in self.blocks)

    @property
    def pointwise(self) -> Functionals:
        """The functionals at single points, whose sums the rows are."""
        return Functionals(tuple(block.pointwise for block in self.blocks))

    def divided(self, values: FloatArray, axis: int = 0) -> list[FloatArray]:
        """Values at the single points, along an axis, block by block."""
        return np.split(values, np.cumsum([len(block.x) for block in self.blocks])[:-1], axis=axis)


def together(parts: list[Functionals]) -> Functionals:
    """All functionals of several sets, in order."""
    blocks = tuple(block for part in parts for block in part.blocks)
    return Functionals(blocks, tuple(layout for part in parts for layout in part.layouts))


def evenly(n: int, number: int) -> IntArray:
    """``number`` of the numbers below n, evenly spread; all of them if there are no more."""
    return np.unique(np.linspace(0, n - 1, min(number, n)).round().astype(np.intp))


def some(n: int, part: float) -> IntArray:
    """A part of the numbers below n, at least one: one from each of equal intervals, drawn at random.

    Every second point of a quasi-random sequence lies in one half of the domain, so even steps will not do.
    """
    count = max(1, round(part * n))
    steps = np.arange(count) + np.random.default_rng(0).uniform(size=count)
    return np.arange(n) if count == n else (steps * n / count).astype(np.intp)


def _slices(sizes: list[int]) -> tuple[slice, ...]:
    return tuple(slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True))
