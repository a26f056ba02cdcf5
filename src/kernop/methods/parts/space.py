"""The space of an operator made of parts: on each part polynomials of its own, orthonormal in the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray

from kernop.basics.checks import check_memory
from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import REMEDY, check_shape
from kernop.basics.frozen import frozen
from kernop.basics.linalg import EPS, right_solve_upper, solve_upper
from kernop.basics.stored import stored
from kernop.collocation.ansatz import PLAIN, Ansatz
from kernop.collocation.cells.mosaic import Mosaic
from kernop.collocation.functionals import Block, Functionals, evaluations
from kernop.language.fields import MultiIndex
from kernop.methods.expansion import Expansion, Order
from kernop.methods.parts.patterns import BASES, Family, LocalRows, Pattern, star_pattern
from kernop.methods.parts.skeleton import ordered_for
from kernop.methods.spaces.polynomials import total_degree

#: Points whose functions are held at a time.
STRIP = 2048
#: Rounding errors up to this part of u on a part count as none.
HARMLESS = 2e-13


@cache
def by_degree(dim: int, degree: int) -> NDArray[np.int64]:
    """Multi-indices of polynomials up to a total degree, (m, d): those of a lower one come first."""
    found = total_degree(dim, comb(degree + dim, dim))
    return frozen(found[np.argsort(np.sum(found, axis=1), kind="stable")])


@stored("polynomials on parts", by_value=False)
@dataclass(kw_only=True, frozen=True, eq=False)
class PartsSpace(Expansion):
    """Functions that live on one part each: Φ R⁻¹ with the polynomials Φ of the part.

    Arguments:
        mosaic: where the parts are.
        degrees: multi-indices of polynomials, (m, d); a part has the first m_p of them.
        uppers: R of each part, (m_p c, m_p c).
        ansatz: how the unknowns are made of the functions.
        components: the number c of components, each of which has the polynomials.
        bubbly: 1 for parts whose polynomials are products of Lobatto's functions, bubbles first, (P,), else 0; None for
            none of them.
    """

    mosaic: Mosaic
    degrees: NDArray[np.int64]
    uppers: tuple[FloatArray, ...]
    ansatz: Ansatz = field(default=PLAIN)
    components: int = 1
    bubbly: NDArray[np.int64] | None = None

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where the functions of each part begin among all, and the last ones end, (P + 1,)."""
        return np.cumsum([0, *map(len, self.uppers)])

    @cached_property
    def of_parts(self) -> NDArray[np.int64]:
        """The degree of the polynomials of each part, (P,); of a star, which has none, the highest one."""
        highest = np.maximum.accumulate(np.sum(self.degrees, axis=1))
        found = highest[np.minimum(np.diff(self.starts) // self.components, len(highest)) - 1]
        found[list(self.mosaic.star_of)] = highest[-1]
        return found

    def span(self, part: int) -> slice:
        """The functions of a part among all."""
        return slice(int(self.starts[part]), int(self.starts[part + 1]))

    def polynomials(self, part: int) -> tuple[NDArray[np.int64], Family]:
        """Multi-indices of the polynomials of a part, (m_p, d), in its order, and of which functions they are products.

        Among bubbles, which come first where there are any, those of a lower degree do, as among all elsewhere.
        """
        basis = BASES[0 if self.bubbly is None else int(self.bubbly[part])]
        return ordered_for(self.degrees[: len(self.uppers[part]) // self.components], basis), basis

    def check(self) -> None:
        check_shape("degrees", self.degrees, None, self.mosaic.cells.corners.shape[2])
        if np.min(self.degrees) < 0 or np.max(self.degrees) >= len(self.degrees):  # with a degree come all lower ones
            raise fail(ArgumentError, "degrees", "negative ones, or too large ones", REMEDY)
        check_shape("uppers", np.empty(len(self.uppers)), len(self.mosaic.owners))
        if self.bubbly is not None:
            check_shape("bubbly", self.bubbly, len(self.uppers))
        totals = np.sum(self.degrees, axis=1)
        for part, upper in enumerate(self.uppers):
            own, rest = divmod(len(upper), self.components)
            check_shape("uppers", upper, len(upper), len(upper))
            star = self.mosaic.star_of.get(part)
            # All polynomials, in any order, or those up to a degree, which come first.
            whole = own == len(totals) or (0 < own < len(totals) and np.max(totals[:own]) < np.min(totals[own:]))
            whole = whole if star is None else own == len(star)
            if rest or not whole:
                raise fail(ArgumentError, "uppers", f"a triangle of {len(upper)} rows", REMEDY)
            if not np.all(np.diagonal(upper)):
                raise fail(ArgumentError, "uppers", "a triangle with a zero on its diagonal", REMEDY)

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def dim(self) -> int:
        return self.degrees.shape[1]

    @property
    def boxes(self) -> tuple[FloatArray, FloatArray]:
        return np.minimum(*self.mosaic.boxes), np.maximum(*self.mosaic.boxes)

    def __repr__(self) -> str:
        return f"Polynomials({self.told_degrees}) on {len(self.uppers)} parts"

    @property
    def told_degrees(self) -> str:
        """The degrees in words."""
        least, most = int(np.min(self.of_parts)), int(np.max(self.of_parts))
        return f"degree {most}" if least == most else f"degrees {least} to {most}"

    def with_ansatz(self, ansatz: Ansatz) -> PartsSpace:
        return replace(self, ansatz=ansatz)

    def _by_parts(self, block: Block, where: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], int, FloatArray]]:
        """Points of a block, the part in which they lie, and what is made there of its Φ, (points, m)."""
        sizes = np.diff(self.starts) // self.components
        kinds = 2 * sizes if self.bubbly is None else 2 * sizes + self.bubbly
        stars = self.mosaic.star_of
        kinds[list(stars)] = -1 - np.arange(len(stars))
        order = np.lexsort((where, kinds[where]))
        one, other = self.mosaic.boxes
        alphas = tuple(sorted(set(block.alphas)))
        for rows in _strips(order, kinds[where]):
            place = where[rows]
            half = 0.5 * (other - one)[place]
            powers = np.stack([np.prod(half ** np.array(alpha), axis=1) for alpha in block.alphas], axis=1)
            pattern = self._pattern((block.x[rows] - 0.5 * (other + one)[place]) / half, int(place[0]), alphas)
            whole = np.empty((len(pattern.degrees) * self.components, len(rows)))
            LocalRows(block.terms, block.coefficients[rows] / powers, pattern).fill(whole)
            first = np.flatnonzero(np.diff(place, prepend=-1)).tolist()
            for a, b in pairwise([*first, len(rows)]):
                yield rows[a:b], int(place[a]), whole[:, a:b].T

    def _pattern(self, z: FloatArray, part: int, alphas: tuple[MultiIndex, ...]) -> Pattern:
        """Places in the unit cell of a part, or of others that have the same functions."""
        star = self.mosaic.star_of.get(part)
        if star is not None:
            return star_pattern(z, alphas, star)
        degrees, basis = self.polynomials(part)
        return Pattern(z, degrees, alphas, basis)

    def matrix(self, left: Functionals, *, order: Order = "C", out: FloatArray | None = None) -> FloatArray:
        if out is None:
            what = f"{len(left)} points against the {len(self)} functions of all parts"
            check_memory("x", len(left) * len(self), what, "evaluate fewer points at once")
        found = np.empty((len(left), len(self)), order=order) if out is None else out
        found[...] = 0.0
        for rows, block in left:
            target = found[rows]
            row_of = block.repeated(np.arange(len(block), dtype=np.float64)).astype(np.intp)
            for own, part, there in self._by_parts(block.pointwise, self.mosaic.locate(block.x)):
                functions = right_solve_upper(self.uppers[part], there)
                np.add.at(target[:, self.span(part)], row_of[own], functions)
        return found

    def apply(self, left: Functionals, c: FloatArray) -> FloatArray:
        found = np.empty((len(left), c.shape[1]))
        for rows, block in left:
            found[rows] = block.collected(self._applied(block.pointwise, self.mosaic.locate(block.x), c))
        return found

    def _applied(self, block: Block, where: NDArray[np.intp], y: FloatArray) -> FloatArray:
        """Functionals of Φ R⁻¹ y at points of which the parts are known, (n, B).

        Φ (R⁻¹ y) is cheap, and exact to rounding where the coefficients R⁻¹ y are moderate, as on all parts that fill
        their boxes; where they are not, (Φ R⁻¹) y.
        """
        found = np.empty((len(block.x), y.shape[1]))
        for own, part, there in self._by_parts(block, where):
            mine, upper = y[self.span(part)], self.uppers[part]
            coefficients = solve_upper(upper, mine)
            values = there @ coefficients
            rounding = EPS * np.max(np.abs(there) @ np.max(np.abs(coefficients), axis=1))
            if rounding > HARMLESS * np.max(np.abs(values)):
                values = right_solve_upper(upper, there) @ mine
            found[own] = values
        return found

    def gaps(self, c: FloatArray) -> FloatArray:
        jumps = self.jumps(c)
        measure = np.prod(self.mosaic.sides, axis=1)
        beside = np.sum(measure[self.mosaic.sewn.sides], axis=1) / np.sum(measure)
        return np.stack([np.sqrt(beside @ np.square(jumps)), np.max(jumps, axis=0, initial=0.0)])

    def jumps(self, c: FloatArray, components: Sequence[int] | None = None) -> FloatArray:
        """The largest jump on each seam, (S, B), of all components, or of these."""
        sewn = self.mosaic.sewn
        if len(sewn.counts) == 0:
            return np.zeros((0, c.shape[1]))
        below, above = np.repeat(sewn.sides, sewn.counts, axis=0).T
        worst = np.zeros((len(sewn.x), c.shape[1]))
        for k in range(self.ansatz.width) if components is None else components:
            block = evaluations(sewn.x, k)
            np.maximum(worst, np.abs(self._applied(block, above, c) - self._applied(block, below, c)), out=worst)
        return np.maximum.reduceat(worst, np.cumsum([0, *sewn.counts[:-1]]), axis=0)

    @property
    def signature(self) -> tuple[str, tuple[FloatArray, ...]]:
        return repr(self), self.boxes


def _strips(order: NDArray[np.intp], kinds: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Points in an order in which those whose parts have the same polynomials follow each other, a few at a time.

    Arguments:
        kinds: of the polynomials at each point, (n,).
    """
    ends = np.flatnonzero(np.diff(kinds[order])) + 1
    for same in np.split(order, ends):
        yield from (same[start : start + STRIP] for start in range(0, len(same), STRIP))
