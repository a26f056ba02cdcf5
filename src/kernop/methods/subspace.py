"""The subspace estimator: least squares over a few kernel functions. The default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kernop import gram
from kernop.collocation import Functionals
from kernop.errors import (
    ArgumentError,
    ArgumentTypeError,
    FloatArray,
    NonFiniteError,
    ShapeError,
    SingularGramError,
    check_choice,
    check_coordinates,
    check_integer,
    describe,
    fail,
)
from kernop.functions import Function
from kernop.kernels import Gaussian, Kernel
from kernop.linalg import EPS, Cholesky, Orthogonal, check_memory, cholesky, orthogonal, syrk
from kernop.methods.base import Expansion, Factorisation, Method, Setting
from kernop.methods.centres import default_number, fill
from kernop.methods.full import wide_gaussian
from kernop.methods.weights import row_weights
from kernop.operators import evaluations

#: The rows tiny · I below A, relative to the Frobenius norm of A.
TINY = 1e-16


@dataclass(frozen=True, eq=False)
class Subspace(Method):
    """u = ρ Σ_j c_j b_j with L ≪ N functions b_j; c minimises Σ w_i |P_i u − h_i|² + a small penalty.

    Arguments:
        centers: how many functions, or their centres (L, d); None chooses from the number of points.
        basis: "translates", b_j = K(z_j, ·) at quasi-random centres in and around the domain; or "representers",
            b_j = P_j^(1)K(x_j, ·) at L of the points, spread evenly.
        envelope: ρ, a function of x that vanishes where u must; then leave that condition out of the problem.
        solver: "qr" of the design matrix, or "normal" equations (the paper's; squares the condition number).
        penalty: "coefficients", λ‖c‖² (the paper's), or "rkhs", λN‖u‖² in the space of the kernel.
        batch: learn from a stream of points, so many rows at a time, in memory for a few L × L matrices; None holds
            the whole N × L design matrix.

    The kernel may be left out: a Gaussian whose lengthscale is tied to the spacing of the centres.
    """

    centers: Any = None
    basis: Literal["translates", "representers"] = "translates"
    envelope: Function | None = None
    solver: Literal["qr", "normal"] = "qr"
    penalty: Literal["coefficients", "rkhs"] = "coefficients"
    batch: int | None = None

    def __post_init__(self) -> None:
        check_choice("basis", self.basis, ("translates", "representers"))
        check_choice("solver", self.solver, ("qr", "normal"))
        check_choice("penalty", self.penalty, ("coefficients", "rkhs"))
        if self.batch is not None:
            check_integer("batch", self.batch, least=1)
        if self.envelope is not None and not callable(self.envelope):
            raise fail(
                ArgumentTypeError, "envelope", describe(self.envelope), "give a function of x that vanishes on it"
            )
        if self.envelope is not None and self.basis == "representers":
            raise fail(ArgumentError, "envelope", "one with representers", "use basis='translates' with an envelope")
        if np.ndim(self.centers) == 0 and self.centers is not None:
            object.__setattr__(self, "centers", check_integer("centers", self.centers, least=1))
        elif self.centers is not None:
            object.__setattr__(self, "centers", check_coordinates("centers", self.centers))
            if self.basis == "representers":
                raise fail(ArgumentError, "centers", describe(self.centers), "give a number of representers")

    @property
    def default_weights(self) -> str:
        return "balanced"

    def derivatives_needed(self, order: int) -> int:
        both = self.basis == "representers" or self.penalty == "rkhs"
        return 2 * order if both else order

    def factorise(self, setting: Setting) -> SubspaceFactorisation:
        expansion = self._expansion(setting)
        n, count = len(setting.functionals), len(expansion.functionals)
        size = 2 * (n + count) * count
        check_memory("points", size, f"a design matrix of {n} × {count}", "use fewer centres or points")
        design = gram.cross(expansion.kernel, setting.functionals, expansion.functionals, order="F")
        squares = np.einsum("ij,ij->i", design, design)
        if not np.all(np.isfinite(squares)):
            got = f"{expansion.kernel!r} with derivatives that are not finite"
            raise fail(NonFiniteError, "kernel", got, "use another, such as ko.Gaussian")
        roots = np.sqrt(row_weights(setting.weights, setting.functionals, squares))
        design *= roots[:, None]
        if self.solver == "normal":
            return self._normal(expansion, design, roots, setting)
        return self._qr(expansion, design, roots, setting)

    def _expansion(self, setting: Setting) -> Expansion:
        number = (
            self.centers if isinstance(self.centers, int | np.integer) else default_number(len(setting.functionals))
        )
        if self.basis == "representers":
            kernel = setting.kernel or wide_gaussian(setting.frame)
            chosen = setting.functionals.spread(int(number))
            return Expansion(kernel, chosen.scaled(1.0 / np.sqrt(gram.squared_norms(kernel, chosen))))
        if isinstance(self.centers, np.ndarray):
            if self.centers.shape[1] != setting.functionals.dim:
                remedy = f"give centres in {setting.functionals.dim} dimensions"
                raise fail(ShapeError, "centers", describe(self.centers), remedy)
            chosen = fill(setting.frame, len(self.centers))
            return self._translates(setting.kernel or Gaussian(chosen.lengthscale), self.centers)
        chosen = fill(setting.frame, int(number))
        return self._translates(setting.kernel or Gaussian(chosen.lengthscale), chosen.z)

    def _translates(self, kernel: Kernel, z: FloatArray) -> Expansion:
        return Expansion(kernel, Functionals((evaluations(z),)), self.envelope)

    def _penalty_rows(self, expansion: Expansion, design: FloatArray, regularization: float) -> FloatArray:
        """R with ‖R c‖² the penalty, (L, L)."""
        count = design.shape[1]
        if self.penalty == "coefficients":
            return np.sqrt(regularization) * np.eye(count)
        kernel, functionals = expansion.kernel, expansion.functionals
        matrix = gram.gram(kernel, functionals, remedy="use fewer centres")
        matrix[np.diag_indices(count)] *= 1.0 + 4.0 * count * EPS
        factor, failed = cholesky(matrix)
        if failed:
            got = f"penalty='rkhs' with a Gram matrix of the centres that is singular (pivot {failed})"
            raise fail(
                SingularGramError, "penalty", got, "use penalty='coefficients', fewer centres, or a rougher kernel"
            )
        return np.sqrt(regularization * len(design)) * np.tril(factor.lower).T

    def _noise(self, setting: Setting) -> float:
        """The user's λ as a variance; a λ that was chosen for the sake of rounding is no prior, and gives 0."""
        n = len(setting.functionals) if self.penalty == "rkhs" else 1
        return n * (setting.regularization or 0.0)

    def _qr(
        self, expansion: Expansion, design: FloatArray, roots: FloatArray, setting: Setting
    ) -> SubspaceFactorisation:
        regularization = setting.regularization
        if regularization is None:
            # Rows tiny · I settle what A cannot see; a third of the work, so only if there is such a thing.
            free = design.shape[0] < design.shape[1] or self.penalty == "rkhs"
            factor = None if free else orthogonal(design)
            if factor is not None and factor.regular:
                return QRFactorisation(expansion, 0.0, 0.0, factor, roots)
            regularization = float(TINY * np.linalg.norm(design)) ** 2
        factor = orthogonal(np.vstack([design, self._penalty_rows(expansion, design, regularization)]))
        if not factor.regular:
            got = f"{regularization:g}, with which the least-squares problem has no unique solution"
            raise fail(SingularGramError, "regularization", got, "give more points, fewer centres, or a larger λ")
        return QRFactorisation(expansion, regularization, self._noise(setting), factor, roots)

    def _normal(
        self, expansion: Expansion, design: FloatArray, roots: FloatArray, setting: Setting
    ) -> SubspaceFactorisation:
        # Squaring A leaves half of the digits: the default λ is at the rounding error of AᵀA.
        chosen = setting.regularization
        regularization = EPS * float(np.linalg.norm(design)) ** 2 if chosen is None else chosen
        below = self._penalty_rows(expansion, design, regularization)
        matrix = syrk(design)
        matrix += below.T @ below
        factor, failed = cholesky(matrix)
        if failed or not np.all(factor.pivots > 0.0):
            got = f"{regularization:g}, with which the normal equations are singular"
            raise fail(SingularGramError, "regularization", got, "use solver='qr', or a larger λ")
        noise = self._noise(setting)
        return NormalFactorisation(expansion, regularization, noise, factor, design, roots)


@dataclass(frozen=True, eq=False)
class SubspaceFactorisation(Factorisation):
    """What the two solvers share: the posterior variance in the subspace.

    ``noise`` is the variance of a row of weight 1 when the penalty is read as a prior on the coefficients.
    """

    noise: float

    def variance(self, left: Functionals) -> FloatArray:
        if self.noise == 0.0:
            remedy = "give regularization= (λ > 0, the variance of noise), or use ko.Full() or ko.LowRank()"
            raise fail(ArgumentError, "std", "a Subspace operator without regularisation, which has no prior", remedy)
        # The covariance of the coefficients is the noise times the inverse of the regularised normal matrix.
        half = self.half_solve(self.expansion.matrix(left).T)
        return self.noise * np.einsum("ij,ij->j", half, half)

    def half_solve(self, b: FloatArray) -> FloatArray:
        """R⁻ᵀ b with RᵀR the regularised normal matrix."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class QRFactorisation(SubspaceFactorisation):
    """[√W A; penalty] = Q R; c = R⁻¹ Q₁ᵀ √W h, where Q₁ are the first N rows of Q. Without penalty: √W A = Q R."""

    factor: Orthogonal
    roots: FloatArray

    def coefficients(self, h: FloatArray) -> FloatArray:
        return self.factor.least_squares(self.roots[:, None] * h)

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        q = self.factor.columns(len(self.roots))
        q *= self.roots[:, None]
        return self.factor.right_solve(e), q.T

    def half_solve(self, b: FloatArray) -> FloatArray:
        return self.factor.right_solve(b.T).T


@dataclass(frozen=True, eq=False)
class NormalFactorisation(SubspaceFactorisation):
    """AᵀWA + penalty = L Lᵀ; c = (L Lᵀ)⁻¹ Aᵀ W h."""

    factor: Cholesky
    design: FloatArray  # √W A
    roots: FloatArray

    def coefficients(self, h: FloatArray) -> FloatArray:
        return self.factor.solve(self.design.T @ (self.roots[:, None] * h))

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        return self.factor.solve(e.T).T, (self.roots[:, None] * self.design).T

    def half_solve(self, b: FloatArray) -> FloatArray:
        return self.factor.half_solve(b)
