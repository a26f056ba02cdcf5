"""What a method is: it turns functionals into a linear map from data to coefficients of an expansion."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, IntArray, KernopError, fail
from kernop.basics.fitting import check_least, check_positive
from kernop.basics.progress import Tick
from kernop.collocation.ansatz import PLAIN, Ansatz
from kernop.collocation.changes import RowNumbers
from kernop.collocation.functionals import Functionals
from kernop.collocation.rows import StreamedRows
from kernop.collocation.units import Frame
from kernop.geometry.holes import Hole
from kernop.kernels import Kernel
from kernop.language.functions import Function
from kernop.methods.expansion import Combination, Expansion
from kernop.methods.posterior import Posterior
from kernop.methods.regression import Runner
from kernop.methods.weights import Weights

#: A permutation of all rows.
Permutation = IntArray

#: Functionals whose variances are computed at a time.
PIECE = 4096


@dataclass(frozen=True, eq=False, kw_only=True)
class Setting:
    """All that a method needs to learn.

    Arguments:
        rows: N functionals, or batches of them.
        frame: where they live.
        kernel: the user's, or None: the method chooses.
        regularization: the user's λ, or None: the method chooses.
        weights: one for each condition, or balanced ones.
        tick: is called with the part that is done.
        runner: passes over rows that come in batches.
        ansatz: how the unknowns are made of the functions of a space; the functionals were collocated with it.
        holes: those of the domain, or of each of its parts; empty if they are not to be known.
    """

    rows: Functionals | StreamedRows
    frame: Frame
    kernel: Kernel | None = None
    regularization: float | None = None
    weights: Weights = None
    tick: Tick | None = None
    runner: Runner | None = None
    ansatz: Ansatz = PLAIN
    holes: tuple[tuple[Hole, ...], ...] = ()

    @property
    def functionals(self) -> Functionals:
        """All N rows at once, which most methods need."""
        if isinstance(self.rows, StreamedRows):
            remedy = "use method=ko.Subspace(batch=2000), or give numbers or arrays"
            raise fail(ArgumentError, "points", "batches for a method that needs all rows at once", remedy)
        return self.rows


@dataclass(frozen=True, eq=False)
class Answer:
    """The functions û that were found for B columns of data, and what they leave of the data.

    Arguments:
        u: the functions.
        residual: ‖√W (P û − h)‖₂ over the points, (B,); NaN where it is not known.
        size: ‖√W h‖₂, (B,).
        exact: is the residual known to all digits, or only its order of magnitude?
    """

    u: Combination
    residual: FloatArray
    size: FloatArray
    exact: bool = True

    @property
    def misfit(self) -> FloatArray:
        """residual / size, (B,); 0 for data that are 0."""
        return np.divide(self.residual, self.size, out=np.zeros_like(self.size), where=self.size > 0.0)

    def paired(self) -> Answer:
        """The same for complex data whose real and imaginary parts are the halves of the columns."""
        residual, size = (np.hypot(*np.split(values, 2)) for values in (self.residual, self.size))
        return Answer(self.u, residual, size)

    def column(self, columns: slice | IntArray) -> Answer:
        """The answer for some of the B columns of data."""
        u = replace(self.u, y=self.u.y[:, columns])
        return Answer(u, self.residual[columns], self.size[columns])


@dataclass(kw_only=True, frozen=True, eq=False)
class Factorisation(ABC):
    """The learned map C from data h (N,) to coefficients c (L,) of an expansion; a matrix that is kept factored.

    Arguments:
        expansion: in which u is written.
        regularization: λ, given or chosen.
        weights: one for each condition, given or chosen.
    """

    expansion: Expansion
    regularization: float
    weights: tuple[float, ...]

    def check(self) -> None:
        """Raise unless the parts of a factorisation that comes from a file fit each other."""
        check_least("regularization", self.regularization, 0.0)
        check_positive("weights", self.weights, None)

    @property
    def size(self) -> int:
        """The number N of rows."""
        raise NotImplementedError

    @property
    def kernel(self) -> Kernel | None:
        """The kernel that was given or chosen; None if the functions are of no kernel."""
        return self.expansion.prior

    @abstractmethod
    def answer(self, h: FloatArray) -> Answer:
        """What least squares makes of data h of shape (N, B)."""

    def answer_again(self, h: FloatArray, enough: float) -> Answer:
        """The same, for a map that is applied many times: what makes that faster is prepared once, and kept.

        Where residual / size is below ``enough``, that is all that must be known of it.
        """
        return self.answer(h)

    def coefficients(self, h: FloatArray) -> FloatArray:
        """c = C h for h of shape (N, B): (L, B)."""
        return self.answer(h).u.coefficients

    @abstractmethod
    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        """e C for e of shape (M, L), as matrices whose product it is: (M, N), or (M, r) and (r, N)."""

    def told_at(self, x: FloatArray) -> BoolArray:
        """Places (n, d) at which what is left of equations tells of the solution: all, (n,)."""
        return np.ones(len(x), dtype=bool)

    def leverages(self, rows: Functionals) -> FloatArray:
        """How much the solution at each point follows the datum there: the diagonal of S in P û = S h, (N,).

        Arguments:
            rows: the N functionals from which it was learned.
        """
        factors = self.factors(self.expansion.matrix(rows))
        return np.diagonal(factors[0]) if len(factors) == 1 else np.einsum("ij,ji->i", factors[0], factors[1])

    @property
    def proper(self) -> bool:
        """Is there a prior? Without one the unit of `posterior` is the noise of a row of weight 1."""
        return True

    @property
    def penalised(self) -> bool:
        """Is the solution kept from satisfying the data, by a λ that is more than a safeguard against rounding?"""
        return True

    @property
    def freedom(self) -> int:
        """How many numbers of the data tell of the scale of the prior; without a prior, of that of the noise."""
        raise self._unknown()

    @abstractmethod
    def posterior(self, left: Functionals) -> Posterior:
        """What is open of P_i u when the data are known; prior covariance K, variance of noise λN / w_k."""

    def variance(self, left: Functionals) -> FloatArray:
        """The diagonal of `posterior`, (M,), in memory for some of the functionals at a time."""
        pieces = (np.arange(start, min(start + PIECE, len(left))) for start in range(0, len(left), PIECE))
        return np.concatenate([self.posterior(left.take(rows)).variance() for rows in pieces])

    def misfit(self, h: FloatArray) -> FloatArray:
        """hᵀ Σ⁻¹ h for h of shape (N, B): (B,), where Σ is the covariance of the data."""
        raise self._unknown()

    def log_determinant(self) -> float:
        """log det Σ of the covariance Σ of the data."""
        raise self._unknown()

    @property
    def rows(self) -> StreamedRows | None:
        """Rows in batches, to be passed over again for each input; None if what is kept of the rows is enough."""
        return None

    def passed(self, rows: StreamedRows) -> Answer:
        """What least squares makes of the data that rows in batches carry."""
        raise self._refusal("applied to batches")

    def materialized(self, path: str | os.PathLike[str] | None) -> Factorisation:
        """The same map, which needs no more passes: itself if it needs none."""
        return self

    def with_client(self, client: object) -> Factorisation:
        """The same map, whose passes run on the workers of a Dask client, or in this process if it is None."""
        if client is not None:
            remedy = "leave it out, or learn with method=ko.Subspace(batch=…)"
            raise fail(ArgumentError, "client", "one for an operator that passes over no points", remedy)
        return self

    def longer(self, rows: StreamedRows) -> Factorisation:
        """What would have been learned from rows in batches of which only the first ones are known until now."""
        raise self._refusal("updated")

    def extended(self, functionals: Functionals, new: RowNumbers) -> Factorisation:
        """What would have been learned from more rows, with the same kernel, trial space, weights and noise.

        Arguments:
            functionals: all of them in the order of the data, the old ones in their old order, N + n.
            new: which of them were not there before, (n,).
        """
        raise self._refusal("updated")

    def without(self, functionals: Functionals, gone: RowNumbers) -> Factorisation:
        """What would have been learned from fewer rows, with the same kernel, trial space, weights and noise.

        Arguments:
            functionals: those that are kept, in the order of the data, N − n.
            gone: which of the N rows until now are not among them, (n,).
        """
        raise self._refusal("shortened")

    def _unknown(self) -> KernopError:
        got = "an operator that was learned from a stream, which does not keep what the likelihood needs"
        return fail(ArgumentError, "T", got, "use T.std(x), whose prior has scale 1, or learn without batch=")

    def _refusal(self, done: str) -> KernopError:
        got = f"an operator that cannot be {done} ({type(self).__name__})"
        return fail(ArgumentError, "T", got, "learn again from all points")


class Method(ABC):
    """How the estimator is computed.

    Attributes:
        batch: how many rows it takes in at a time; None for all at once.
    """

    batch: int | None = None

    @property
    def rkhs(self) -> bool:
        """Is the penalty the norm of the kernel's space?"""
        return True

    @property
    def default_weights(self) -> str:
        """The value of ``weights`` when the user gives none."""
        return "unit"

    def derivatives_needed(self, order: int) -> int:
        """How many derivatives the kernel must have for an operator of this order: on both of its arguments."""
        return 2 * order

    def regularization_for(self, variance: float, n: int) -> float:
        """The λ with which n rows of weight 1 have noise of this variance, for a prior of covariance K."""
        return variance / n

    @abstractmethod
    def factorise(self, setting: Setting) -> Factorisation:
        """Solve the equations of this method for a problem at points: the map from data to coefficients."""

    def shares(self, functionals: Functionals) -> FloatArray:
        """How much each row counts beside others of its condition, (N,): less where points are denser."""
        return np.ones(len(functionals))

    def fit(
        self,
        expansion: Expansion,
        functionals: Functionals,
        weights: Weights,
        regularization: float | None,
        noise: float,
    ) -> Factorisation:
        """Least squares in a given expansion, with the choices that were made before."""
        raise NotImplementedError


def woven(old: FloatArray, fresh: FloatArray, new: RowNumbers) -> FloatArray:
    """The rows (or entries) of two arrays in one, in Fortran order; those of the second become rows ``new``."""
    # By runs of rows, of which there are few: ten times faster than one by one.
    cuts, starts = np.unique(new - np.arange(len(new)), return_index=True)
    runs = zip_longest(np.split(old, cuts), np.split(fresh, starts[1:]))
    whole = np.empty((len(old) + len(fresh), *old.shape[1:]), order="F")
    return np.concatenate([part for pair in runs for part in pair if part is not None], out=whole)


def others(rows: RowNumbers, number: int) -> RowNumbers:
    """The numbers below ``number`` that are not among ``rows``."""
    return np.delete(np.arange(number), rows)


def envelope_of(method: Method) -> Function | None:
    """The function ρ that multiplies all trial functions of a method; None for 1."""
    return getattr(method, "envelope", None)
