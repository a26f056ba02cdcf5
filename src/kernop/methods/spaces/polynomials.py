"""Spaces of polynomials, the flat limit of the Gaussian: products of Legendre polynomials in a box."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import REMEDY, check_positive, check_shape
from kernop.basics.frozen import frozen
from kernop.basics.stored import stored
from kernop.collocation.ansatz import PLAIN, Ansatz
from kernop.collocation.functionals import Block
from kernop.methods.expansion import OneComponent

#: Values that are computed at a time, at whole points, so that they stay in the processor's cache.
AT_ONCE = 50_000


@stored("polynomials", by_value=False)
@dataclass(frozen=True, eq=False)
class Polynomials(OneComponent):
    """Component k as v_k = Σ_ν c_ν Π_j √(2ν_j + 1) P_{ν_j}((x_j − m_j) / s_j), with Legendre's P; others are 0.

    The functions are orthonormal in the mean over the box of centre m and half sides s. Wide Gaussians span the same
    space in the limit, with a condition number that grows beyond all bounds; these have a moderate one.

    Arguments:
        centre: m, (d,).
        half: s, (d,).
        degrees: the multi-indices ν, (L, d).
        component: k.
        ansatz: how the unknowns are made of v.
    """

    centre: FloatArray
    half: FloatArray
    degrees: NDArray[np.int64]
    component: int = 0
    ansatz: Ansatz = PLAIN

    def __len__(self) -> int:
        return len(self.degrees)

    def __repr__(self) -> str:
        return f"Polynomials(degree {int(np.max(np.sum(self.degrees, axis=1)))})"

    def check(self) -> None:
        check_shape("centre", self.centre, None)
        check_positive("half", self.half, len(self.centre))
        check_shape("degrees", self.degrees, None, len(self.centre))
        if len(self.degrees) == 0 or np.min(self.degrees) < 0 or len(np.unique(self.degrees, axis=0)) < len(self):
            raise fail(ArgumentError, "degrees", "none, negative ones, or some that occur twice", REMEDY)
        if np.max(self.degrees) >= len(self):  # with a degree come all lower ones
            raise fail(ArgumentError, "degrees", f"{np.max(self.degrees)} among {len(self)} functions", REMEDY)
        self.check_component()

    def with_ansatz(self, ansatz: Ansatz) -> Polynomials:
        return replace(self, ansatz=ansatz)

    def values(self, block: Block, out: FloatArray) -> FloatArray:
        """Σ_α φ_α(x_i) (∂^α p_j)(x_i) of the terms of our component, one strip of points after the other."""
        columns = block.components[self.component]
        alphas = [block.terms[k][1] for k in columns]
        step = max(1, AT_ONCE // len(self))
        for start in range(0, len(block.x), step):
            strip = slice(start, start + step)
            tables = self._tables(block.x[strip], max(map(max, alphas)))
            out[strip] = sum(
                self._product(tables, alpha) * block.coefficients[strip, k]
                for k, alpha in zip(columns, alphas, strict=True)
            ).T  # pyright: ignore[reportAttributeAccessIssue]
        return out

    def _tables(self, x: FloatArray, m: int) -> list[FloatArray]:
        """For each axis the derivatives of all polynomials up to an order m: (m + 1, p + 1, n)."""
        z, n = (x - self.centre) / self.half, len(x)
        # All axes in one go: for a few points it is the number of operations that counts.
        found = legendre(z.T.reshape(-1), self._highest, m).reshape(m + 1, -1, self.dim, n)
        if m:
            found /= self.half[:, None] ** np.arange(m + 1)[:, None, None, None]
        return [found[:, :, k] for k in range(self.dim)]

    def _product(self, tables: list[FloatArray], alpha: tuple[int, ...]) -> FloatArray:
        """∂^α of every function at the points of the tables, (L, n)."""
        first, *others = (table[k][nu] for table, k, nu in zip(tables, alpha, self._columns, strict=True))
        for other in others:
            first *= other
        return first

    @cached_property
    def _highest(self) -> int:
        return int(np.max(self.degrees))

    @cached_property
    def _columns(self) -> list[NDArray[np.int64]]:
        return frozen([np.ascontiguousarray(column) for column in self.degrees.T])

    @property
    def signature(self) -> tuple[str, tuple[FloatArray, ...]]:
        return f"polynomials of component {self.component}", (self.centre, self.half, self.degrees.astype(np.float64))


def legendre(z: FloatArray, degree: int, order: int) -> FloatArray:
    """√(2n + 1) P_n^(m)(z_i) for n ≤ degree and m ≤ order: (order + 1, degree + 1, points).

    Three-term recurrence for the values, and P_n^(m) = P_{n−2}^(m) + (2n − 1) P_{n−1}^(m−1) for derivatives.
    """
    found = np.zeros((order + 1, degree + 1, len(z)))
    values = [*found[0]]
    values[0][:] = 1.0
    for n in range(1, degree + 1):
        np.multiply(z, values[n - 1], out=values[n])
        values[n] *= (2 * n - 1) / n
        if n > 1:
            values[n] -= (n - 1) / n * values[n - 2]
        if order:
            found[1:, n] = (2 * n - 1) * found[:-1, n - 1]
        if order and n > 1:
            found[1:, n] += found[1:, n - 2]
    return found * np.sqrt(2.0 * np.arange(degree + 1) + 1.0)[:, None]


def lobatto(z: FloatArray, degree: int, order: int) -> FloatArray:
    """The same shape for 1, √3 z, and functions s_n (P_n − P_{n−2}) for n ≥ 2, which vanish at ±1; mean squares are 1.

    They are multiples of the integrals of P_{n−1}: products of them are *bubbles*, which no value on the boundary of a
    cell tells of.
    """
    found = legendre(z, degree, order)
    n = np.arange(2, degree + 1)
    here, below = 1.0 / (2.0 * n + 1.0), 1.0 / (2.0 * n - 3.0)
    one, other = np.sqrt(here / (here + below)), np.sqrt(below / (here + below))
    inside = one[:, None] * found[:, 2:] - other[:, None] * found[:, :-2]
    found[:, 2:] = inside
    return found


def total_degree(dim: int, number: int, fineness: FloatArray | None = None) -> NDArray[np.int64]:
    """The multi-indices ν of the largest total degree that has at most so many, and at least the constant: (L, d).

    With a fineness r (d,) it is the degree Σ_j ν_j / r_j, so that an axis has r_j times the degree of others.
    """
    if fineness is None or np.all(fineness == fineness[0]):
        degree = 0
        while comb(degree + 1 + dim, dim) <= number:
            degree += 1
        return _up_to(np.full(dim, float(degree)))
    low, high = 0.0, float(number)
    for _ in range(40):
        middle = 0.5 * (low + high)
        volume = np.prod(middle * fineness) / factorial(dim)  # fewer than there are: large ones need not be counted
        low, high = (low, middle) if volume > number or len(_up_to(middle * fineness)) > number else (middle, high)
    return _up_to(low * fineness)


def _up_to(highest: FloatArray) -> NDArray[np.int64]:
    """All ν with Σ_j ν_j / highest_j ≤ 1, to rounding; ν_j = 0 where the highest degree is below 1."""
    found, used = np.zeros((1, 0), dtype=np.int64), np.zeros(1)
    for degree in highest:
        left = np.floor(np.maximum(0.0, 1.0 - used) * degree + 1e-9).astype(np.int64)
        last = np.concatenate([np.arange(k + 1) for k in left.tolist()])
        found = np.column_stack([np.repeat(found, left + 1, axis=0), last])
        used = np.repeat(used, left + 1) + last / max(degree, 1.0)
    return found
