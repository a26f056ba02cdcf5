"""Least squares that is kept factored, by QR or by normal equations, and goes on when rows come."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kernop import gram
from kernop.collocation import Functionals
from kernop.errors import ArgumentError, FloatArray, NonFiniteError, fail
from kernop.linalg import Cholesky, Orthogonal
from kernop.methods.base import Expansion, Factorisation, Rows, others, woven
from kernop.methods.chain import Chain, chained
from kernop.methods.weights import repeated

if TYPE_CHECKING:
    from kernop.methods.subspace import Subspace


@dataclass(frozen=True, eq=False)
class SubspaceFactorisation(Factorisation):
    """What all solvers share: the posterior variance in the subspace.

    ``noise`` is the variance of a row of weight 1 when the penalty is read as a prior on the coefficients; 0: no prior.
    """

    noise: float

    def variance(self, left: Functionals) -> FloatArray:
        if self.noise == 0.0:
            remedy = "give regularization= (λ > 0, the variance of noise), or use ko.Full() or ko.LowRank()"
            raise fail(ArgumentError, "std", "a Subspace operator without regularisation, which has no prior", remedy)
        # The covariance of the coefficients is the noise times the inverse of the regularised normal matrix.
        half = self.half_solve(self.expansion.matrix(left).T)
        return self.noise * np.einsum("ij,ij->j", half, half)

    @abstractmethod
    def half_solve(self, b: FloatArray) -> FloatArray:
        """R⁻ᵀ b with RᵀR the regularised normal matrix."""


@dataclass(frozen=True, eq=False)
class HeldFactorisation(SubspaceFactorisation):
    """One whose rows are held in memory, in some form, so that others can join or leave them.

    Arguments:
        method: how it was learned.
        roots: √w_i, (N,).
    """

    method: Subspace
    roots: FloatArray

    def without(self, functionals: Functionals, gone: Rows) -> HeldFactorisation:
        """Learned again from the rows that are left, with the same functions, weights and penalty.

        A triangle R cannot be relieved of rows at its condition number, which is 1/ε by design.
        """
        # A λ of 0 may have been enough only for all rows: None lets the solver see to it.
        regularization = self._regularization(len(functionals)) or None
        return self.method.fit(self.expansion, functionals, self.weights, regularization, self.noise)

    def _regularization(self, total: int) -> float:
        """λ for another number of rows, such that the penalty itself stays."""
        return self.regularization * (len(self.roots) / total if self.method.penalty == "rkhs" else 1.0)

    def _rows(self, functionals: Functionals, new: Rows) -> tuple[FloatArray, FloatArray]:
        """√W A of the new rows, (n, L), and √w of all, (N + n,)."""
        roots = np.sqrt(repeated(self.weights, functionals))
        return design_matrix(self.expansion, functionals.take(new)) * roots[new, None], roots


@dataclass(frozen=True, eq=False)
class QRFactorisation(HeldFactorisation):
    """[√W A; penalty] = Q R; c = R⁻¹ Q₁ᵀ √W h, where Q₁ are the first N rows of Q. Without penalty: √W A = Q R."""

    factor: Orthogonal | Chain

    def coefficients(self, h: FloatArray) -> FloatArray:
        return self.factor.least_squares(self.roots[:, None] * h)

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        q = self.factor.columns(len(self.roots))
        q *= self.roots[:, None]
        return self.factor.right_solve(e), q.T

    def half_solve(self, b: FloatArray) -> FloatArray:
        return self.factor.right_solve(b.T).T

    def extended(self, functionals: Functionals, new: Rows) -> QRFactorisation:
        """Rows below the triangle are rotated into it, R' = Q₂ᵀ [R; √W A_new]; O(n L²). The penalty stays."""
        rows, roots = self._rows(functionals, new)
        factor = chained(self.factor, rows, others(new, len(roots)), new)
        return replace(self, regularization=self._regularization(len(roots)), roots=roots, factor=factor)


@dataclass(frozen=True, eq=False)
class NormalFactorisation(HeldFactorisation):
    """AᵀWA + penalty = L Lᵀ; c = (L Lᵀ)⁻¹ Aᵀ W h."""

    factor: Cholesky
    design: FloatArray  # √W A

    def coefficients(self, h: FloatArray) -> FloatArray:
        return self.factor.solve(self.design.T @ (self.roots[:, None] * h))

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        return self.factor.solve(e.T).T, (self.roots[:, None] * self.design).T

    def half_solve(self, b: FloatArray) -> FloatArray:
        return self.factor.half_solve(b)

    def extended(self, functionals: Functionals, new: Rows) -> NormalFactorisation:
        """L'L'ᵀ = L Lᵀ + A_newᵀ W A_new; O(n L²), and a copy of A. The penalty stays."""
        rows, roots = self._rows(functionals, new)
        return replace(
            self,
            regularization=self._regularization(len(roots)),
            roots=roots,
            factor=self.factor.plus(rows),
            design=woven(self.design, rows, new),
        )


def design_matrix(expansion: Expansion, functionals: Functionals) -> FloatArray:
    """A_ij = P_i b_j, (n, L), finite; in Fortran order."""
    design = gram.cross(expansion.kernel, functionals, expansion.functionals, order="F")
    if not np.isfinite(np.linalg.norm(design)):
        got = f"{expansion.kernel!r} with derivatives that are not finite"
        raise fail(NonFiniteError, "kernel", got, "use another, such as ko.Gaussian")
    return design
