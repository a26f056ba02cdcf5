"""Least squares whose map from data is held as N × L numbers, in memory or in a mapped file."""

from __future__ import annotations

from dataclasses import dataclass

from kernop.basics.errors import FloatArray
from kernop.basics.fitting import check_positive, check_shape
from kernop.basics.linalg import Cholesky, left_over, norms, right_solve_upper
from kernop.basics.stored import Upper, stored
from kernop.methods.base import Answer
from kernop.methods.expansion import Combination
from kernop.methods.leastsquares import SubspaceFactorisation
from kernop.methods.subspace import Subspace


@stored("materialized", by_value=False)
@dataclass(frozen=True, eq=False)
class MaterializedFactorisation(SubspaceFactorisation):
    """c = R⁻¹ S⁻¹ Qᵀ √W h with Q = √W A R⁻¹ and S = QᵀQ + (P R⁻¹)ᵀ(P R⁻¹), which is the identity but for rounding.

    S makes up for what rounding took from the orthogonality of Q, as in Cholesky QR done twice; so the accuracy is that
    of QR.

    Arguments:
        upper: R, (L, L).
        square: S, factorised.
        q: Q, (N, L), in the order of the conditions.
        roots: √w, (N,).
        method: how it was learned.
    """

    upper: Upper
    square: Cholesky
    q: FloatArray
    roots: FloatArray
    method: Subspace

    @property
    def size(self) -> int:
        return len(self.roots)

    def check(self) -> None:
        super().check()
        count = len(self.expansion.functionals)
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

    @property
    def rkhs(self) -> bool:
        return self.method.penalty == "rkhs"

    def half_solve(self, b: FloatArray) -> FloatArray:
        return right_solve_upper(self.upper, b.T).T
