"""The subspace estimator: least squares over a few kernel functions. The default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

import numpy as np

from kernop.basics.checks import as_array, check_choice, check_coordinates, check_integer, check_kind, check_memory
from kernop.basics.errors import ArgumentError, FloatArray, ShapeError, SingularGramError, describe, fail
from kernop.basics.linalg import EPS, Cholesky, Orthogonal, cholesky, orthogonal, qr_seconds, syrk
from kernop.basics.progress import PATIENCE
from kernop.basics.stored import stored
from kernop.collocation import assembly
from kernop.collocation.functionals import Functionals
from kernop.collocation.rows import StreamedRows
from kernop.kernels.base import check_smoothness
from kernop.language.functions import Function
from kernop.methods.accumulators import penalty_rows
from kernop.methods.base import Method, Setting
from kernop.methods.centres import default_number
from kernop.methods.contrast import contrast, entries
from kernop.methods.expansion import Expansion
from kernop.methods.filling import Subdomain, multipoles, polynomials, subdomains, translates
from kernop.methods.full import wide_gaussian
from kernop.methods.leastsquares import (
    HeldFactorisation,
    NormalFactorisation,
    QRFactorisation,
    SubspaceFactorisation,
    design_matrix,
    penalty_root,
)
from kernop.methods.regression import Regression, chosen_weights
from kernop.methods.spaces import DirectSum, KernelFunctions, Layers
from kernop.methods.spaces.layers import narrow
from kernop.methods.streamed import factorised_rows
from kernop.methods.weights import Weights, condition_weights, repeated

#: Which functions.
Basis = Literal["translates", "augmented", "polynomials", "representers"]
#: The part of polynomials among augmented translates, for d = 1, 2 and more (measured: docs/decisions.md).
AUGMENTED = (0.1, 0.05, 0.375)
#: The rows tiny · I below A, relative to the Frobenius norm of A.
TINY = 1e-16


@stored("Subspace")
@dataclass(frozen=True, eq=False)
class Subspace(Method):
    """u = ρ Σ_j c_j b_j with L ≪ N functions b_j; c minimises Σ w_i |P_i u − h_i|² + a small penalty.

    Arguments:
        centers: how many functions for each component of the unknowns, or their centres (L, d), of which those that
            coincide count once, or `Layers`; None chooses from the number of points.
        basis: "translates", b_j = K(z_j, ·) at quasi-random centres in and around the domain; "polynomials" of the
            largest total degree that has at most L of them, in the box around the domain: the limit of wide Gaussians,
            without a kernel; "augmented", translates and polynomials of low degree, L together, and, where the domain
            has holes, up to a third as many functions with a pole in each of them; or "representers",
            b_j = P_j^(1)K(x_j, ·) at L of the points, spread evenly. None takes "augmented", or "translates" if a
            kernel, centres, λ or noise are given: then the functions are those of a prior.
        envelope: ρ, a function of x that vanishes where u must; then leave that condition out of the problem.
        solver: "qr" of the design matrix, or "normal" equations (the paper's; squares the condition number).
        penalty: "coefficients", λ‖c‖² (the paper's), or "rkhs", λN‖u‖² in the space of the kernel.
        batch: learn from a stream of points, so many rows at a time, in memory for a few L × L matrices; None holds
            the whole N × L design matrix.

    The kernel may be left out: a Gaussian whose lengthscale is tied to the spacing of the centres.
    """

    centers: Any = None
    basis: Basis | None = None
    _: KW_ONLY
    envelope: Function | None = None
    solver: Literal["qr", "normal"] = "qr"
    penalty: Literal["coefficients", "rkhs"] = "coefficients"
    batch: int | None = None

    def __post_init__(self) -> None:
        if self.basis is not None:
            check_choice("basis", self.basis, get_args(Basis))
        check_choice("solver", self.solver, ("qr", "normal"))
        check_choice("penalty", self.penalty, ("coefficients", "rkhs"))
        if self.batch is not None:
            object.__setattr__(self, "batch", check_integer("batch", self.batch, least=1))
        check_kind("envelope", self.envelope, Callable | None, "give a function of x that vanishes on it")
        if self.envelope is not None and self.basis == "representers":
            raise fail(ArgumentError, "envelope", "one with representers", "use basis='translates' with an envelope")
        if isinstance(self.centers, Layers):
            if self.basis not in (None, "augmented") or self.rkhs or self.batch is not None:
                remedy = "use basis='augmented', penalty='coefficients' and no batch with layers"
                raise fail(ArgumentError, "centers", f"{self.centers!r} with {self.basis!r}, {self.penalty!r}", remedy)
        elif (
            self.centers is not None
            and as_array("centers", self.centers, "give a number, or an array (L, d)").ndim == 0
        ):
            object.__setattr__(self, "centers", check_integer("centers", self.centers, least=1))
        elif self.centers is not None:
            object.__setattr__(self, "centers", _distinct(check_coordinates("centers", self.centers)))
            if self.basis not in (None, "translates"):
                raise fail(ArgumentError, "centers", describe(self.centers), f"give a number of {self.basis}")
        if self.basis in ("polynomials", "augmented") and self.rkhs:
            remedy = "use penalty='coefficients', or basis='translates'"
            raise fail(ArgumentError, "penalty", "'rkhs' with polynomials, which are not of a kernel", remedy)

    @property
    def default_weights(self) -> str:
        return "balanced"

    def derivatives_needed(self, order: int) -> int:
        both = self.basis == "representers" or self.rkhs
        return 2 * order if both else order

    def regularization_for(self, variance: float, n: int) -> float:
        return variance / n if self.rkhs else variance

    @property
    def rkhs(self) -> bool:
        return self.penalty == "rkhs"

    def factorise(self, setting: Setting) -> SubspaceFactorisation:
        if isinstance(setting.rows, StreamedRows) and self.batch is not None:
            regression, runner = self.regression(setting, setting.rows), setting.runner
            assert runner is not None
            kept = runner.accumulate(regression, setting.tick)
            return factorised_rows(self, regression, kept, setting.regularization, runner)
        functionals, regularization = setting.functionals, setting.regularization
        expansion = self.expansion(setting, functionals, len(functionals))
        if setting.tick is not None and self.solver == "qr":
            size, seconds = f"{len(functionals)} × {len(expansion)}", qr_seconds(len(functionals), len(expansion))
            if seconds > PATIENCE:
                setting.tick(0.0, f"least squares, {size}: about {seconds:.0f} s")
        # The user's λ as a variance; a λ that is chosen for the sake of rounding is no prior.
        noise = (len(functionals) if self.rkhs else 1) * (regularization or 0.0)
        return self.fit(expansion, functionals, setting.weights, regularization, noise)

    def regression(self, setting: Setting, rows: StreamedRows) -> Regression:
        """The functions, and weights from a few batches, for rows that come in batches."""
        if setting.kernel is not None:
            for part in rows.sampled():
                for k, own in zip(part.conditions, part.functionals.conditions, strict=True):
                    check_smoothness(setting.kernel, self.derivatives_needed(own.order), rows.names[k])
        n = rows.stream.total() if self.centers is None else 0
        first = (
            rows.spread(self.centers or default_number(n)) if self.basis == "representers" else rows.look().functionals
        )
        expansion = self.expansion(setting, first, n)
        count = len(expansion)
        check_memory("centers", 4 * count**2, f"matrices of {count} × {count}", "use fewer centres")
        weights, parts = chosen_weights(rows, expansion, setting.weights)
        return Regression(rows, expansion, weights, self.solver == "qr", parts)

    def fit(
        self,
        expansion: Expansion,
        functionals: Functionals,
        weights: Weights,
        regularization: float | None,
        noise: float,
    ) -> HeldFactorisation:
        n, count = len(functionals), len(expansion)
        size = 2 * (n + count) * count
        check_memory("points", size, f"a design matrix of {n} × {count}", "use fewer centres or points")
        design = design_matrix(expansion, functionals)
        squares = np.einsum("ij,ij->i", design, design)
        share, factors = self.shares(functionals), np.ones(n)
        if (parts := contrast(expansion.ansatz, functionals, squares)) is not None:
            tables, numbers = (parts.shares, parts.factors), range(len(functionals.blocks))
            alike, factors = (entries(expansion.ansatz, functionals, table, numbers) for table in tables)
            share = share * alike
        chosen = condition_weights(weights, functionals, share * squares)
        roots = np.sqrt(share * factors * repeated(chosen, functionals))
        design *= roots[:, None]
        known: dict[str, Any] = {"expansion": expansion, "weights": chosen, "noise": noise}
        known |= {"method": self, "roots": roots}
        if self.solver == "normal":
            # Squaring A leaves half of the digits: the default λ is at the rounding error of AᵀA.
            ridge = EPS * float(np.linalg.norm(design)) ** 2 if regularization is None else regularization
            normal = self._normal(expansion, design, ridge)
            return NormalFactorisation(**known, regularization=ridge, factor=normal, design=design)
        ridge, factor = self._qr(expansion, design, regularization)
        return QRFactorisation(**known, regularization=ridge, factor=factor)

    def shares(self, functionals: Functionals) -> FloatArray:
        return self.centers.shares(functionals) if isinstance(self.centers, Layers) else super().shares(functionals)

    def expansion(self, setting: Setting, functionals: Functionals, n: int) -> Expansion:
        """The functions b_j for n rows; representers are some of these functionals.

        Every component of the unknowns has the same translates. The default counts complex rows and coefficients as
        one number, not two: a complex problem is resolved as well as a real one.
        """
        each, components = setting.ansatz.width, setting.ansatz.unknowns.total
        default = max(1, default_number(n * components // each) // components)
        layers = self.centers if isinstance(self.centers, Layers) else None
        number = layers.number if layers else self.centers if isinstance(self.centers, int | np.integer) else default
        if self.basis == "representers":
            kernel = setting.kernel or wide_gaussian(setting.frame)
            chosen = functionals.spread(int(number) * each)
            scaled = chosen.scaled(1.0 / np.sqrt(assembly.squared_norms(kernel, chosen)))
            return KernelFunctions(kernel, scaled, setting.ansatz)
        if self.basis == "polynomials" and setting.kernel is not None:
            remedy = "leave it out, or use basis='translates'"
            raise fail(ArgumentError, "kernel", f"{setting.kernel!r} with polynomials, which have none", remedy)
        if isinstance(self.centers, np.ndarray) and self.centers.shape[1] != functionals.dim:
            remedy = f"give centres in {functionals.dim} dimensions"
            raise fail(ShapeError, "centers", describe(self.centers), remedy)
        above = narrow(layers, setting.ansatz) if layers else ()
        wide = (self._wide(setting, place, int(number * place.share)) for place in subdomains(setting, functionals))
        return DirectSum.of((*(space for own in wide for space in own), *above))

    def _wide(self, setting: Setting, place: Subdomain, number: int) -> tuple[Expansion, ...]:
        """So many functions that fill a place, for each of its components."""
        if self.basis == "polynomials":
            return polynomials(setting, place, number)
        if self._augmented(setting):
            low = polynomials(setting, place, int(AUGMENTED[min(place.x.shape[1], 3) - 1] * number))
            poles = multipoles(setting, place, number)
            return translates(setting, place, number - len(low[0])), *low, *poles
        return (translates(setting, place, number, self.centers if isinstance(self.centers, np.ndarray) else None),)

    def _augmented(self, setting: Setting) -> bool:
        """Are polynomials added to translates?"""
        if self.basis is not None or isinstance(self.centers, Layers):
            return self.basis in (None, "augmented")
        given = setting.kernel is not None or setting.regularization is not None or self.rkhs
        return not given and not isinstance(self.centers, np.ndarray)

    def _qr(self, expansion: Expansion, design: FloatArray, regularization: float | None) -> tuple[float, Orthogonal]:
        """λ, given or chosen, and the factorisation."""
        if regularization is None:
            # Rows tiny · I settle what A cannot see; a third of the work, so only if there is such a thing.
            if design.shape[0] >= design.shape[1] and not self.rkhs:
                factor = orthogonal(design)  # of a copy: to make A again from Q and R would take twice as long as this
                if factor.regular:
                    return 0.0, factor
            regularization = float(TINY * np.linalg.norm(design)) ** 2
        below = penalty_rows(penalty_root(expansion, self.rkhs, regularization, len(design)), len(expansion))
        factor = orthogonal(np.hstack([design.T, below.T]).T, overwrite=True)
        if not factor.regular:
            got = f"{regularization:g}, with which the least-squares problem has no unique solution"
            raise fail(SingularGramError, "regularization", got, "give more points, fewer centres, or a larger λ")
        return regularization, factor

    def _normal(self, expansion: Expansion, design: FloatArray, regularization: float) -> Cholesky:
        below = penalty_rows(penalty_root(expansion, self.rkhs, regularization, len(design)), len(expansion))
        matrix = syrk(design)
        matrix += below.T @ below
        factor, failed = cholesky(matrix)
        if failed or not np.all(factor.pivots > 0.0):
            got = f"{regularization:g}, with which the normal equations are singular"
            raise fail(SingularGramError, "regularization", got, "use solver='qr', or a larger λ")
        return factor


def _distinct(centers: FloatArray) -> FloatArray:
    """Without repetitions, in their order: two equal columns of A would share a coefficient in any proportion."""
    _, first = np.unique(centers, axis=0, return_index=True)
    return centers[np.sort(first)]
