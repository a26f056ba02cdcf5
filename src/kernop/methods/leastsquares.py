"""Least squares that is kept factored, by QR or by normal equations, and goes on when rows come."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.fitting import REMEDY, check_least, check_positive, check_shape
from kernop.basics.frozen import Kept, frozen
from kernop.basics.linalg import Cholesky, Orthogonal, left_over, norms, right_solve_upper
from kernop.basics.stored import stored
from kernop.collocation.functionals import Functionals
from kernop.methods.accumulators import Penalty
from kernop.methods.base import Answer, Factorisation, Method, RowNumbers, others, woven
from kernop.methods.chain import Chain, chained
from kernop.methods.contrast import inherited
from kernop.methods.expansion import Combination, Expansion
from kernop.methods.posterior import Posterior
from kernop.methods.weights import repeated

#: An explicit Q is kept if it has at most so many numbers, 32 MB: it fits in a cache, and takes 0.2 s to be made.
KEPT = 2**22
#: Residuals relative to the data for which |h|² − |y|² does not cancel.
RELIABLE = 1e-6


@dataclass(kw_only=True, frozen=True, eq=False)
class SubspaceFactorisation(Factorisation):
    """What all solvers share: the posterior in the subspace.

    ``noise`` is the variance of a row of weight 1 when the penalty is read as a prior on the coefficients; 0: no prior,
    all coefficients are as likely. The penalty λ‖c‖² is the prior c ~ N(0, I) with noise λ / w_k; the penalty λN‖u‖² is
    the prior of covariance K with noise λN / w_k, of which the data see the part that is in the subspace. ``method`` is
    how it was learned.
    """

    noise: float
    method: Method

    def check(self) -> None:
        super().check()
        check_least("noise", self.noise, 0.0)

    @property
    def proper(self) -> bool:
        return self.noise > 0.0

    @property
    def penalised(self) -> bool:
        return self.proper

    def posterior(self, left: Functionals) -> Posterior:
        """(K_ij − b_iᵀ M⁻¹ b_j) + σ² b_iᵀ (RᵀR)⁻¹ b_j, with the trial functions b and their Gram matrix M.

        The first term is there if the prior is that of the kernel: what the trial functions cannot express stays open.
        """
        b = self.expansion.matrix(left).T
        spread = np.sqrt(self.noise or 1.0) * self.half_solve(b)
        if not (self.proper and self.rkhs):
            return Posterior(None, left, np.empty((0, len(left))), spread)
        return Posterior(self.kernel, left, self.expansion.norm_factor().half_solve(b), spread)

    @property
    def rkhs(self) -> bool:
        """Is the penalty the norm of the kernel's space?"""
        return self.method.rkhs

    @abstractmethod
    def half_solve(self, b: FloatArray) -> FloatArray:
        """R⁻ᵀ b with RᵀR the regularised normal matrix."""


@dataclass(kw_only=True, frozen=True, eq=False)
class HeldFactorisation(SubspaceFactorisation):
    """One whose rows are held in memory, in some form, so that others can join or leave them.

    Arguments:
        roots: √w_i, (N,).
    """

    #: The solver of the method.
    solver: ClassVar[str]

    roots: FloatArray

    @property
    def size(self) -> int:
        return len(self.roots)

    def check(self) -> None:
        super().check()
        check_positive("roots", self.roots, None)
        if (solver := getattr(self.method, "solver", None)) != self.solver:
            raise fail(ArgumentError, "method", f"one with solver={solver!r}", REMEDY)

    @property
    def freedom(self) -> int:
        return len(self.roots) - (0 if self.proper else len(self.expansion))

    def misfit(self, h: FloatArray) -> FloatArray:
        """The least of (|√W (A c − h)|² + penalty) / σ², because Σ = A (PᵀP / σ²)⁻¹ Aᵀ + σ² W⁻¹."""
        return self.remainder(self.roots[:, None] * h) / (self.noise or 1.0)

    def log_determinant(self) -> float:
        """log det Σ = (N − L) log σ² − Σ log w_i + log det RᵀR − log det M, with M = I for the penalty λ‖c‖²."""
        free = len(self.roots) - len(self.expansion)
        prior = self.expansion.norm_factor().log_determinant if self.rkhs else 0.0
        weights = 2.0 * float(np.sum(np.log(self.roots)))
        return free * float(np.log(self.noise)) - weights + self.normal_log_determinant() - prior

    @abstractmethod
    def remainder(self, y: FloatArray) -> FloatArray:
        """The least of |√W A c − y|² + penalty, for each column of y (N, B): (B,)."""

    @abstractmethod
    def normal_log_determinant(self) -> float:
        """log det RᵀR of the regularised normal matrix."""

    def without(self, functionals: Functionals, gone: RowNumbers) -> Factorisation:
        """Learned again from the rows that are left, with the same functions, weights and penalty.

        A triangle R cannot be relieved of rows at its condition number, which is 1/ε by design.
        """
        # A λ of 0 may have been enough only for all rows: None lets the solver see to it.
        regularization = self._regularization(len(functionals)) or None
        return self.method.fit(self.expansion, functionals, self.weights, regularization, self.noise)

    def _regularization(self, total: int) -> float:
        """λ for another number of rows, such that the penalty itself stays."""
        return self.regularization * (len(self.roots) / total if self.rkhs else 1.0)

    def _rows(self, functionals: Functionals, new: RowNumbers) -> tuple[FloatArray, FloatArray]:
        """√W A of the new rows, (n, L), and √w of all, (N + n,)."""
        weights = self.method.shares(functionals) * repeated(self.weights, functionals)
        if (ansatz := self.expansion.ansatz).parts is not None:
            old = others(new, len(functionals))
            weights *= inherited(ansatz, functionals, old, np.square(self.roots) / weights[old])
        roots = np.sqrt(weights)
        return design_matrix(self.expansion, functionals.take(new)) * roots[new, None], roots


@stored("qr", by_value=False)
@dataclass(kw_only=True, frozen=True, eq=False)
class QRFactorisation(HeldFactorisation):
    """[√W A; penalty] = Q R; c = R⁻¹ Q₁ᵀ √W h, where Q₁ are the first N rows of Q. Without penalty: √W A = Q R."""

    solver: ClassVar[str] = "qr"

    factor: Orthogonal | Chain

    def check(self) -> None:
        """The rows of Q are those of data, and perhaps those of a penalty below the first of them."""
        super().check()
        count, first, rows = len(self.expansion), self.factor, self.size
        if isinstance(first, Chain):
            check_shape("order", first.order, rows)
            first, rows = first.first, rows - sum(len(rotation.reflectors) for rotation in first.rotations)
        check_shape("packed", first.packed, None, count)
        if len(first.packed) not in (rows, rows + count):
            raise fail(ArgumentError, "packed", f"an array of {len(first.packed)} rows", REMEDY)

    def answer(self, h: FloatArray) -> Answer:
        """û = Φ R⁻¹ y with y = Q₁ᵀ √W h; what Qᵀ has below y is what û leaves of the data."""
        data = self.roots[:, None] * h
        y, below = self.factor.rotated(data)
        return Answer(Combination(self.expansion, y, self.upper), norms(below), norms(data))

    def answer_again(self, h: FloatArray, enough: float) -> Answer:
        """One column of data by an explicit Q, which is read once where reflectors are read twice, in many steps."""
        if h.shape[1] > 1 or self.size * len(self.expansion) > KEPT:
            return self.answer(h)
        q = _thin.of(self, lambda: frozen(np.asfortranarray(self.factor.columns(self.size))))
        data = self.roots[:, None] * h
        y, size = q.T @ data, norms(data)
        u, left = Combination(self.expansion, y, self.upper), left_over(size, y)
        if enough >= RELIABLE and left[0] <= 0.5 * enough * size[0]:
            return Answer(u, left, size, exact=False)
        # Where there is a penalty, Q has rows of it too, and they are not kept.
        below = data - q @ y if self.regularization == 0.0 else self.factor.rotated(data)[1]
        return Answer(u, norms(below), size)

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        q = self.factor.columns(len(self.roots))
        q *= self.roots[:, None]
        return right_solve_upper(self.upper, e), q.T

    def half_solve(self, b: FloatArray) -> FloatArray:
        return right_solve_upper(self.upper, b.T).T

    @cached_property
    def upper(self) -> FloatArray:
        """R, (L, L), in one piece."""
        return frozen(np.asfortranarray(self.factor.upper))

    def remainder(self, y: FloatArray) -> FloatArray:
        return np.sum(np.square(self.factor.rotated(y)[1]), axis=0)

    def normal_log_determinant(self) -> float:
        return 2.0 * float(np.sum(np.log(np.abs(np.diagonal(self.factor.upper)))))

    def extended(self, functionals: Functionals, new: RowNumbers) -> QRFactorisation:
        """Rows below the triangle are rotated into it, R' = Q₂ᵀ [R; √W A_new]; O(n L²). The penalty stays."""
        rows, roots = self._rows(functionals, new)
        factor = chained(self.factor, rows, others(new, len(roots)), new)
        return replace(self, regularization=self._regularization(len(roots)), roots=roots, factor=factor)


#: The explicit Q of factorisations that are applied again and again to single columns.
_thin: Kept[QRFactorisation, FloatArray] = Kept()


@stored("normal", by_value=False)
@dataclass(kw_only=True, frozen=True, eq=False)
class NormalFactorisation(HeldFactorisation):
    """AᵀWA + penalty = L Lᵀ; c = (L Lᵀ)⁻¹ Aᵀ W h."""

    solver: ClassVar[str] = "normal"

    factor: Cholesky
    design: FloatArray  # √W A

    def check(self) -> None:
        super().check()
        count = len(self.expansion)
        check_shape("factor", self.factor.lower, count, count)
        check_shape("design", self.design, self.size, count)

    def answer(self, h: FloatArray) -> Answer:
        """û = Φ L⁻ᵀ y with y = L⁻¹ Aᵀ √W h. The residual |√W h|² − |y|² cancels: it is known to half of the digits."""
        data = self.roots[:, None] * h
        y = self.factor.half_solve(self.design.T @ data)
        size = norms(data)
        return Answer(Combination(self.expansion, y, self.factor.lower.T), left_over(size, y), size)

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        return right_solve_upper(self.factor.lower.T, e), self.factor.half_solve(self.design.T) * self.roots

    def half_solve(self, b: FloatArray) -> FloatArray:
        return self.factor.half_solve(b)

    def remainder(self, y: FloatArray) -> FloatArray:
        c = self.factor.solve(self.design.T @ y)
        below = penalty_root(self.expansion, self.rkhs, self.regularization, len(y))
        return np.sum(np.square(self.design @ c - y), axis=0) + np.sum(np.square(np.dot(below, c)), axis=0)

    def normal_log_determinant(self) -> float:
        return self.factor.log_determinant

    def extended(self, functionals: Functionals, new: RowNumbers) -> NormalFactorisation:
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
    design = expansion.matrix(functionals, order="F")
    with np.errstate(over="ignore"):
        size = np.linalg.norm(design)
    if not np.isfinite(size):
        raise expansion.not_finite()
    return design


def penalty_root(expansion: Expansion, rkhs: bool, regularization: float, n: int) -> Penalty:
    """P with ‖P c‖² the penalty for n rows: λN‖u‖² in the space of the kernel, or λ‖c‖²."""
    if not rkhs:
        return float(np.sqrt(regularization))
    return np.sqrt(regularization * n) * np.tril(expansion.norm_factor().lower).T
