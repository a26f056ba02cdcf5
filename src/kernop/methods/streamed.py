"""Least squares over rows in batches: of which L × L numbers are kept, however many rows have passed, or N × L."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import numpy as np

from kernop.basics.checks import check_memory
from kernop.basics.errors import ArgumentError, FloatArray, SingularGramError, fail
from kernop.basics.fitting import check_positive, check_shape
from kernop.basics.linalg import (
    EPS,
    Cholesky,
    add_rows,
    add_square,
    add_triangle,
    cholesky,
    left_over,
    norms,
    right_solve_upper,
    solve_upper,
    transpose_solve_upper,
)
from kernop.basics.matrix_file import Put, in_file
from kernop.basics.stored import Upper, stored
from kernop.collocation.rows import StreamedRows
from kernop.methods.accumulators import Accumulator, Penalty, penalty_rows
from kernop.methods.base import Answer, Method
from kernop.methods.expansion import Combination
from kernop.methods.leastsquares import SubspaceFactorisation, penalty_root
from kernop.methods.regression import Regression, Runner

#: Corrections of later inputs end when they change the fit by less than this part, grow, or after so many passes.
SMALL_CORRECTION, MOST_CORRECTIONS = 1e-13, 8
#: What is refused to an operator of a stream.
FROM_STREAM = "an operator that was learned from a stream"
#: So that data of zeros is not divided by zero.
TINIEST = float(np.finfo(np.float64).tiny)
#: λ when the user gives none: for QR relative to L‖A_j‖² for the coefficient of function j, as small as the corrections
#: of later inputs allow; for normal equations relative to ‖A‖², at their rounding error.
TINY_QR, TINY_NORMAL = 3e-15**2, EPS


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


@dataclass(frozen=True, eq=False, kw_only=True)
class KeptOfRows(SubspaceFactorisation):
    """RᵀR = AᵀWA + PᵀP of N rows that have passed.

    Arguments:
        upper: R, (L, L).
        penalty: P.
        n: N.
        runner: who passes over the rows.
    """

    upper: Upper
    penalty: Penalty
    n: int
    runner: Runner

    @property
    def size(self) -> int:
        return self.n

    def half_solve(self, b: FloatArray) -> FloatArray:
        return transpose_solve_upper(self.upper, b)

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        remedy = "use T(…)(x), or T.materialize() first, which holds an N × L matrix in memory or on disk"
        raise fail(ArgumentError, "T.on", FROM_STREAM, remedy)


@dataclass(frozen=True, eq=False, kw_only=True)
class StreamedFactorisation(KeptOfRows):
    """c = R⁻¹ R⁻ᵀ AᵀW h by a pass over the rows, corrected by more passes if R is from QR.

    The corrections c += R⁻¹ R⁻ᵀ (AᵀW (h − A c) − PᵀP c), with the residual h − A c at every point, give the accuracy
    of QR although Q is not kept: each shrinks the error by about ε · cond(R), and P keeps that below 1.

    Arguments:
        regression: the rows, to be passed over again.
        in_advance: the answer to the inputs that were known in advance; None if there were none.
    """

    regression: Regression
    in_advance: Answer | None = None

    @property
    def rows(self) -> StreamedRows:
        return self.regression.rows

    def answer(self, h: FloatArray) -> Answer:
        return self.passed(self.rows.holding(h))

    def passed(self, rows: StreamedRows) -> Answer:
        if rows is self.rows and self.in_advance is not None:
            return self.in_advance
        rows.stream.check_again()
        regression = replace(self.regression, rows=rows)
        moments, (squares,) = np.split(self.runner.moments(regression, None), [-1])
        y, size = transpose_solve_upper(self.upper, moments), np.sqrt(squares)
        residual, last = left_over(size, y), np.inf
        for _ in range(MOST_CORRECTIONS if regression.orthogonal else 0):
            c = solve_upper(self.upper, y)
            gradient, (squares,) = np.split(self.runner.moments(regression, c), [-1])
            residual = np.sqrt(squares)
            pull = np.dot(np.transpose(self.penalty), np.dot(self.penalty, c))
            step = transpose_solve_upper(self.upper, gradient - pull)
            worst = np.max(norms(step) / np.maximum(norms(y), TINIEST))
            if not worst < last:
                break
            y, last = y + step, worst
            if worst <= SMALL_CORRECTION:
                break
        return Answer(Combination(self.expansion, y, self.upper), residual, size)

    def longer(self, rows: StreamedRows) -> StreamedFactorisation:
        """New rows are rotated into R; the old ones are not looked at. The penalty stays; that of the RKHS is λN."""
        regression, upper, n = replace(self.regression, rows=rows), np.array(self.upper, order="F"), self.n
        for k in range(self.rows.stream.number or 0, rows.stream.number or 0):
            batch = rows[k]
            add_rows(upper, np.asfortranarray(regression.design(batch)))
            n += len(batch)
        ridge = self.regularization * (self.n / n if self.rkhs else 1.0)
        return replace(self, regularization=ridge, regression=regression, upper=upper, n=n, in_advance=None)

    def materialized(self, path: str | os.PathLike[str] | None) -> MaterializedFactorisation:
        regression = replace(self.regression, rows=self.rows.given(()))
        q, square = orthonormal_rows(regression, self.upper, self.penalty, path)
        return MaterializedFactorisation(
            expansion=self.expansion,
            regularization=self.regularization,
            weights=self.weights,
            noise=self.noise,
            upper=self.upper,
            square=square,
            q=q,
            roots=regression.all_roots(),
            method=self.method,
        )

    def with_client(self, client: object) -> StreamedFactorisation:
        return replace(self, runner=self.runner.with_client(client))


def factorised_rows(
    method: Method, regression: Regression, accumulator: Accumulator, regularization: float | None, runner: Runner
) -> StreamedFactorisation:
    """The factorisation, from what was kept of all rows."""
    squares = accumulator.squares
    if not np.all(np.isfinite(squares)):
        raise regression.expansion.not_finite()
    tiny = (TINY_QR if regression.orthogonal else TINY_NORMAL) * float(np.sum(squares))
    ridge = tiny if regularization is None else regularization
    penalty = penalty_root(regression.expansion, method.rkhs, ridge, accumulator.rows)
    if regression.orthogonal:
        least = np.sqrt(TINY_QR * len(squares) * np.maximum(squares, EPS**2 * np.max(squares)))
        penalty = _at_least(least, penalty if regularization is not None or method.rkhs else 0.0)
    found = accumulator.solve(penalty)
    if found.failed:
        got = f"{ridge:g}, with which the least-squares problem has no unique solution (row {found.failed})"
        raise fail(SingularGramError, "regularization", got, "give a larger λ, more points, or solver='qr'")
    answer = Answer(Combination(regression.expansion, found.y, found.upper), found.residual, found.size)
    return StreamedFactorisation(
        expansion=regression.expansion,
        regularization=ridge,
        weights=regression.weights,
        noise=(accumulator.rows if method.rkhs else 1) * (regularization or 0.0),
        method=method,
        upper=found.upper,
        penalty=penalty,
        n=accumulator.rows,
        runner=runner,
        regression=regression,
        in_advance=answer if regression.rows.inputs else None,
    )


def _at_least(least: FloatArray, penalty: Penalty) -> Penalty:
    """P, raised to p_j (L,) for each coefficient: below that the corrections of later inputs would diverge.

    Functions of different parts of a domain differ in size by the contrast of the coefficients, and one number for all
    would be felt by the smallest. The norm of a kernel may leave some coefficients free, all but for rounding.
    """
    if not isinstance(penalty, np.ndarray):
        return penalty if np.all(least <= penalty) else np.diag(np.maximum(least, penalty))
    raised = np.asfortranarray(penalty)
    add_triangle(raised, np.asfortranarray(np.diag(least)))
    return raised
