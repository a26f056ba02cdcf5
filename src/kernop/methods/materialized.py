"""Least squares whose map from data is held as N × L numbers, in memory or in a mapped file."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from kernop.basics.checks import check_memory
from kernop.basics.errors import FloatArray, SingularGramError, fail
from kernop.basics.fitting import check_positive, check_shape
from kernop.basics.linalg import Cholesky, add_square, cholesky, left_over, norms, right_solve_upper
from kernop.basics.matrix_file import Put, in_file
from kernop.basics.stored import Upper, stored
from kernop.methods.accumulators import Penalty, penalty_rows
from kernop.methods.base import Answer
from kernop.methods.expansion import Combination
from kernop.methods.leastsquares import SubspaceFactorisation
from kernop.methods.regression import Regression


@stored("materialized", by_value=False)
@dataclass(frozen=True, eq=False, kw_only=True)
class MaterializedFactorisation(SubspaceFactorisation):
    """c = R⁻¹ S⁻¹ Qᵀ √W h with Q = √W A R⁻¹ and S = QᵀQ + (P R⁻¹)ᵀ(P R⁻¹), which is the identity but for rounding.

    S makes up for what rounding took from the orthogonality of Q, as in Cholesky QR done twice; so the accuracy is that
    of QR.

    Arguments:
        upper: R, (L, L).
        square: S, factorised.
        q: Q, (N, L), in the order of the conditions.
        roots: √w, (N,).
    """

    upper: Upper
    square: Cholesky
    q: FloatArray
    roots: FloatArray

    @property
    def size(self) -> int:
        return len(self.roots)

    def check(self) -> None:
        super().check()
        count = len(self.expansion)
        check_positive("roots", self.roots, None)
        check_shape("upper", self.upper, count, count)
        check_shape("square", self.square.lower, count, count)
        check_shape("q", self.q, self.size, count)

    def answer(self, h: FloatArray) -> Answer:
        data = self.roots[:, None] * h
        y, size = self.square.solve(self.q.T @ data), norms(data)
        return Answer(Combination(self.expansion, y, self.upper), left_over(size, y), size)

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        left = self.square.solve(right_solve_upper(self.upper, e).T).T
        return left, (self.roots[:, None] * self.q).T

    def half_solve(self, b: FloatArray) -> FloatArray:
        return right_solve_upper(self.upper, b.T).T


def orthonormal_rows(
    regression: Regression, upper: FloatArray, penalty: Penalty, path: str | os.PathLike[str] | None
) -> tuple[FloatArray, Cholesky]:
    """Q and S by one pass over the rows, which carry no data; Q in a file of NumPy's format if a path is given.

    Arguments:
        upper: R with RᵀR = AᵀWA + PᵀP.
        penalty: P.
    """
    regression.rows.stream.check_again()
    n, count = sum(regression.rows.sizes), len(upper)

    def fill(put: Put) -> Cholesky:
        square = np.zeros_like(upper, order="F")
        add_square(square, np.ascontiguousarray(right_solve_upper(upper, penalty_rows(penalty, count))))
        for k in range(regression.rows.stream.number or 0):
            rows = regression.rows[k]
            part = np.ascontiguousarray(right_solve_upper(upper, regression.design(rows)))
            add_square(square, part)
            for (own, _), place in zip(rows.functionals, regression.rows.places(k, rows), strict=True):
                put(place, part[own])
        factor, failed = cholesky(square)
        if failed or not np.all(factor.pivots > 0.0):
            got = "an operator whose triangle is singular to working precision"
            raise fail(SingularGramError, "T", got, "learn with a larger λ, or without regularization=")
        return factor

    if path is not None:
        return in_file(path, (n, count), fill)
    check_memory("T", n * count, f"{n} rows of {count}", "give materialize(path), for a file")
    q = np.empty((n, count))
    return q, fill(q.__setitem__)
