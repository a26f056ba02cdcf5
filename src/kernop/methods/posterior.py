"""The posterior of the Gaussian-process view: the covariance of functionals of u when the data are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernop.basics.checks import check_memory
from kernop.basics.errors import FloatArray
from kernop.basics.linalg import EPS, eigenpairs
from kernop.collocation import assembly
from kernop.collocation.functionals import Functionals
from kernop.kernels import Kernel


@dataclass(frozen=True, eq=False)
class Posterior:
    """cov(P_i u, P_j u | data) = (P_i P_j K − k_iᵀ k_j) + s_iᵀ s_j for M functionals P_i.

    The first term is what the trial functions cannot express of the prior. It is a difference, and known no better than
    to rounding errors of the prior, below which it counts as 0. The second is what the noise leaves open within them,
    and keeps its digits. Each is positive semidefinite.

    Arguments:
        kernel: K; None: the prior lives in the span of the trial functions, and there is no first term.
        functionals: the P_i.
        known: the k_i, (r, M).
        spread: the s_i, (q, M).
    """

    kernel: Kernel | None
    functionals: Functionals
    known: FloatArray
    spread: FloatArray

    def variance(self) -> FloatArray:
        """The diagonal, (M,); never negative."""
        return self._outside() + np.einsum("ij,ij->j", self.spread, self.spread)

    def covariance(self) -> FloatArray:
        """All of it, (M, M): symmetric, with `variance` on its diagonal."""
        found = self.across(self)
        found += found.T.copy()
        found *= 0.5
        np.fill_diagonal(found, self.variance())
        return found

    def across(self, other: Posterior) -> FloatArray:
        """The covariance of these functionals with others, given the same data: (M, M')."""
        m, n = len(self.functionals), len(other.functionals)
        check_memory("x", 4 * m * n, f"{m} points with covariances of {m} × {n}", "ask for fewer points at once")
        return self._outside_across(other) + self.spread.T @ other.spread

    def draws(self, number: int, seed: int) -> FloatArray:
        """So many independent draws of (P_i u − its mean), (M, number)."""
        m, q = self.known.shape[1], len(self.spread)
        check_memory("number", (2 * m + max(m, q)) * number, f"{number} draws at {m} points", "draw fewer at once")
        rng = np.random.default_rng(seed)
        found = self.spread.T @ rng.standard_normal((len(self.spread), number))
        if np.any(self._outside()):
            check_memory("x", 3 * m * m, f"{m} points with covariances of {m} × {m}", "draw at fewer points")
            values, vectors = eigenpairs(np.asfortranarray(self._outside_across(self)))
            root = vectors * np.sqrt(np.maximum(values, 0.0))  # of eigenvalues that rounding may have made negative
            found += root @ rng.standard_normal((m, number))
        return found

    def _outside(self) -> FloatArray:
        """The diagonal of the first term, (M,); 0 where it is no more than rounding error."""
        if self.kernel is None:
            return np.zeros(len(self.functionals))
        prior = assembly.squared_norms(self.kernel, self.functionals)
        left = prior - np.einsum("ij,ij->j", self.known, self.known)
        # Rounding errors relative to the prior: a sum of r squares errs like a random walk.
        rounding = max(10.0, np.sqrt(len(self.known))) * EPS
        return np.where(left > rounding * prior, left, 0.0)

    def _outside_across(self, other: Posterior) -> FloatArray:
        """The first term for two sets of functionals, (M, M'); 0 where the diagonal is."""
        if self.kernel is None:
            return np.zeros((len(self.functionals), len(other.functionals)))
        left = assembly.cross(self.kernel, self.functionals, other.functionals) - self.known.T @ other.known
        left[self._outside() == 0.0] = 0.0
        left[:, other._outside() == 0.0] = 0.0
        return left
