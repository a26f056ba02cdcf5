"""Functionals on a part in its own units, at places that many parts share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import Recent
from kernop.basics.linalg import orthonormal, transpose_solve_upper
from kernop.collocation.cells.stars import Star
from kernop.language.fields import MultiIndex, Term
from kernop.methods.spaces.polynomials import legendre, lobatto

#: Products of which functions the polynomials of a part are. In "laplace" they are Lobatto's, with bubbles of which the
#: Laplacians are orthonormal at the places where they are asked for.
Family = Literal["legendre", "lobatto", "laplace"]
BASES: tuple[Family, Family] = ("legendre", "lobatto")
#: Places in the unit cell that differ by less are on one line of a grid.
SAME = 1e-9
#: So many patterns are remembered, with at most so many numbers in all.
RECENT, ROOM = 48, 2**23


def bubbles(degrees: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which products of Lobatto's functions vanish on all faces of a cell? (m,)."""
    return np.all(degrees >= 2, axis=1)


@dataclass(frozen=True, eq=False)
class Pattern:
    """Places in the cell [−1, 1]^d, at which the polynomials of many parts are the same.

    Arguments:
        z: the places, (n, d).
        degrees: multi-indices of the polynomials, (m, d).
        alphas: the derivatives that are asked for.
        basis: of which functions they are products.
        star: whose functions are taken instead of polynomials; ``degrees`` has a row for each of them then.
    """

    z: FloatArray
    degrees: NDArray[np.int64]
    alphas: tuple[MultiIndex, ...]
    basis: Family
    star: Star | None = None

    def __reduce__(self) -> tuple[type[Pattern], tuple[object, ...]]:
        """Without what is computed from it: that is much larger."""
        return Pattern, (self.z, self.degrees, self.alphas, self.basis, self.star)

    @cached_property
    def derivatives(self) -> dict[MultiIndex, FloatArray]:
        """∂^α of all polynomials at all places, (m, n) each."""
        if self.star is not None:
            return self.star.derivatives(self.z, self.alphas)
        found = self._products(self.alphas, self.degrees)
        if self.basis == "laplace":
            for own in found.values():
                bubbling = own[: len(self.combination)]
                bubbling[:] = transpose_solve_upper(self.combination, bubbling)
        return found

    @cached_property
    def combination(self) -> FloatArray:
        """R₀ (μ, μ), with which Δβ = Q₀ R₀ at all places: the bubbles β R₀⁻¹ take the place of β in "laplace".

        In these the rows of any equation of second order that does not prefer a direction are nearly orthogonal.
        """
        twice = 2 * np.eye(self.z.shape[1], dtype=np.int64)
        tables = self._products([tuple(own) for own in twice.tolist()], self.degrees[bubbles(self.degrees)])
        return orthonormal(np.sum(list(tables.values()), axis=0).T)[1]

    def _products(self, alphas: Sequence[MultiIndex], degrees: NDArray[np.int64]) -> dict[MultiIndex, FloatArray]:
        """∂^α of products of functions of these degrees (m, d) at all places, (m, n) each."""
        table_of = legendre if self.basis == "legendre" else lobatto
        tables = [table_of(np.ascontiguousarray(own), int(np.max(degrees)), max(map(max, alphas))) for own in self.z.T]
        found: dict[MultiIndex, FloatArray] = {}
        for alpha in alphas:
            first, *others = (table[k][nu] for table, k, nu in zip(tables, alpha, degrees.T, strict=True))
            for other in others:
                first *= other
            found[alpha] = first
        return found

    @cached_property
    def grid(self) -> bool:
        """Are the places nodes of a grid, as in parts that fill their cells and many of which have the same ones?"""
        n, d = self.z.shape
        lines = (len(np.unique(np.round(own / SAME))) for own in self.z.T)
        return all(count <= 2.0 * n ** (1.0 / d) for count in lines)


#: By their places, degrees and derivatives.
_recent: Recent[Pattern] = Recent(RECENT, ROOM, lambda own: len(own.z) * len(own.degrees) * len(own.alphas))


def star_pattern(z: FloatArray, alphas: tuple[MultiIndex, ...], star: Star) -> Pattern:
    """Places in the cell of a star."""
    return Pattern(z, np.zeros((len(star), z.shape[1]), dtype=np.int64), alphas, "legendre", star)


def pattern_of(z: FloatArray, degrees: NDArray[np.int64], alphas: tuple[MultiIndex, ...], basis: Family) -> Pattern:
    """A pattern, the same as before for the same places: problems on the same cells, learned one after another, share
    what is computed from it."""
    key = z.tobytes(), degrees.tobytes(), z.shape[1], alphas, basis
    return _recent.of(key, lambda: Pattern(np.ascontiguousarray(z), degrees, alphas, basis))


@dataclass(frozen=True, eq=False)
class LocalRows:
    """Functionals of one part in its own units: Σ φ_{k,α} ∂^α v_k at places of a pattern.

    Arguments:
        terms: the A pairs (k, α).
        coefficients: φ, (n, A).
        pattern: the places.
        starts: where the sums begin that the functionals are; None if they are none.
    """

    terms: tuple[Term, ...]
    coefficients: FloatArray
    pattern: Pattern
    starts: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.coefficients) if self.starts is None else len(self.starts) - 1

    @property
    def values_alone(self) -> bool:
        """Are they values of the first component?"""
        plain = self.starts is None and len(self.terms) == 1 and self.terms[0][0] == 0 and not any(self.terms[0][1])
        return plain and bool((self.coefficients == 1.0).all())

    def fill(self, found: FloatArray, shift: int = 0) -> None:
        """What they make of the functions of all components, each k counted on by a shift: into found, (m c, n)."""
        if self.starts is not None:
            whole = np.empty((len(found), len(self.coefficients)))
            LocalRows(self.terms, self.coefficients, self.pattern).fill(whole, shift)
            found[:] = np.add.reduceat(whole, self.starts[:-1], axis=1)
            return
        m, seen = len(self.pattern.degrees), set[int]()
        for (k, alpha), factor in zip(self.terms, np.ascontiguousarray(self.coefficients.T), strict=True):
            own = found[(k + shift) * m : (k + shift + 1) * m]
            if k in seen:
                own += self.pattern.derivatives[alpha] * factor
            else:
                np.multiply(self.pattern.derivatives[alpha], factor, out=own)
            seen.add(k)
        for k in set(range(len(found) // m)) - {k + shift for k in seen}:
            found[k * m : (k + 1) * m] = 0.0
