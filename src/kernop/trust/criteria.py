"""How good is a kernel with a λ for the full estimator? Three criteria, for all λ from one factorisation.

With weights W, B = W^½ G W^½ = U S Uᵀ, ĥ = W^½ h, A = B + λN I and a = A⁻¹ ĥ (so that c = W^½ a are the coefficients
of `Full`), all of them are sums over the eigenvalues:

    leave-one-out   (1/N) Σ_i r_i²,   r_i = a_i / (A⁻¹)_ii = √w_i (h_i − P_i û₋ᵢ)
    GCV             N ‖a‖² / (tr A⁻¹)²                       (leave-one-out, with (A⁻¹)_ii replaced by their mean)
    log likelihood  −(N/2) log σ² − ½ log det A + ½ log det W − (N/2)(1 + log 2π),   σ² = ĥᵀ a / N

The estimate û₋ᵢ is the refit to the other N − 1 rows with the ridge λN *unchanged*: N is not replaced by N − 1. The
likelihood is that of h under the Gaussian process with covariance σ²K and noise of variance σ² λN / w_i, at its
maximum over σ². Several columns of data are averaged: squares in the first two, ĥᵀa in the third.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from kernop.basics.checks import check_memory
from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.linalg import eigenpairs
from kernop.basics.precision import float64
from kernop.collocation import assembly
from kernop.collocation.functionals import Block, Functionals
from kernop.kernels import Kernel
from kernop.kernels.base import check_finite
from kernop.kernels.derivatives import Alphas, pairwise

#: The working memory in matrices of N × N: B, U and the workspace of dsyevd, and what the gradient adds.
MATRICES, GRADIENT_MATRICES = 5, 12


@dataclass(frozen=True, eq=False)
class Spectrum:
    """B = U S Uᵀ, and the data in these coordinates.

    Arguments:
        values: S, (N,), not negative.
        vectors: U, (N, N).
        rotated: Uᵀ ĥ, (N, B).
        weights: w, (N,).
    """

    values: FloatArray
    vectors: FloatArray
    rotated: FloatArray
    weights: FloatArray

    @property
    def scale(self) -> float:
        """The mean of w_i G_ii; λ / scale = λN / tr B is what the estimator feels of λ, whatever the units."""
        return float(np.mean(self.values))

    def inverse(self, regularizations: FloatArray | float) -> FloatArray:
        """The eigenvalues of A⁻¹ for each λ > 0: (N, Λ)."""
        return 1.0 / (self.values[:, None] + len(self.values) * np.atleast_1d(regularizations))

    def residuals(self, regularization: float) -> FloatArray:
        """Leave-one-out residuals r_i in weighted units, √w_i times those of h: (N, B)."""
        inverse = self.inverse(regularization)
        return (self.vectors @ (inverse * self.rotated)) / (np.square(self.vectors) @ inverse)

    def loo(self, regularizations: FloatArray | float) -> FloatArray:
        """The mean square of the leave-one-out residuals, for each λ: (Λ,)."""
        return np.array([float(np.mean(np.square(self.residuals(one)))) for one in np.atleast_1d(regularizations)])

    def gcv(self, regularizations: FloatArray | float) -> FloatArray:
        """Generalised cross-validation, for each λ: (Λ,)."""
        inverse = self.inverse(regularizations)
        energy = np.mean(np.square(self.rotated), axis=1)
        return len(inverse) * (energy @ np.square(inverse)) / np.sum(inverse, axis=0) ** 2

    def variance(self, regularizations: FloatArray | float) -> FloatArray:
        """σ² = ĥᵀ a / N, the most likely scale of the prior covariance σ²K, for each λ: (Λ,)."""
        return np.mean(np.square(self.rotated), axis=1) @ self.inverse(regularizations) / len(self.values)

    def likelihood(self, regularizations: FloatArray | float) -> FloatArray:
        """The log likelihood of the data at the best σ², for each λ: (Λ,)."""
        n, determinant = len(self.values), -np.sum(np.log(self.inverse(regularizations)), axis=0)
        constant = 0.5 * np.sum(np.log(self.weights)) - 0.5 * n * (1.0 + np.log(2.0 * np.pi))
        return constant - 0.5 * n * np.log(self.variance(regularizations)) - 0.5 * determinant

    def sensitivity(self, regularization: float) -> FloatArray:
        """M with d(log likelihood) = Σ_ij M_ij dA_ij, (N, N): M = ½ (a aᵀ / σ² − A⁻¹).

        Since dA = λN I d(log λ), the slope in log λ is λN tr M.
        """
        inverse = self.inverse(regularization)
        a = self.vectors @ (inverse * self.rotated)
        variance = self.variance(regularization).item()
        return 0.5 * (a @ a.T / (a.shape[1] * variance) - (self.vectors * inverse[:, 0]) @ self.vectors.T)


def spectrum(kernel: Kernel, functionals: Functionals, weights: FloatArray, data: FloatArray) -> Spectrum:
    """Assemble and factorise: O(N³), once for all λ.

    Arguments:
        kernel: K.
        functionals: the P_i, N of them.
        weights: w_i > 0, (N,).
        data: h, (N, B).
    """
    n, roots = len(functionals), np.sqrt(weights)
    remedy = "tune on fewer points"
    check_memory("points", MATRICES * n * n, f"{n} points, with {MATRICES} matrices of {n} × {n}", remedy)
    matrix = assembly.gram(kernel, functionals.scaled(roots), remedy=remedy)
    check_finite(kernel, np.diagonal(matrix))
    values, vectors = eigenpairs(matrix)
    return Spectrum(np.maximum(values, 0.0), vectors, vectors.T @ (roots[:, None] * data), weights)


def contract(kernel: Kernel, functionals: Functionals, weights: FloatArray, m: FloatArray) -> FloatArray:
    """Σ_ij M_ij ∂B_ij / ∂(log ℓ) for each lengthscale ℓ of the kernel, (P,); M is (N, N) and symmetric.

    Exact: B is differentiated through the kernel, block by block, in one forward pass for each lengthscale.
    """
    n = len(functionals)
    what = f"{n} points, with {GRADIENT_MATRICES} matrices of {n} × {n} for the gradient"
    check_memory("points", GRADIENT_MATRICES * n * n, what, "tune on fewer points, or with criterion='loo'")
    scaled, lengths = list(functionals.scaled(np.sqrt(weights))), lengthscales(kernel)
    with float64():
        tangents = [_replaced(kernel, direction, 0.0) for direction in np.diag(lengths)]
        slopes = np.zeros(len(lengths))
        for i, (rows, p) in enumerate(scaled):
            for cols, q in scaled[i:]:
                twice = 1.0 if cols == rows else 2.0  # the block below the diagonal is the same
                part = q.repeated(p.repeated(m[rows, cols]).T).T
                for component in p.components.keys() & q.components.keys():
                    left, right = _component(p, component), _component(q, component)
                    for k, tangent in enumerate(tangents):
                        slopes[k] += twice * float(_slope(kernel, tangent, *left, *right, part))
    return slopes


def _component(block: Block, k: int) -> tuple[FloatArray, FloatArray, Alphas]:
    """Points (d, n), coefficients (A, n) and multi-indices of one component."""
    columns = block.components[k]
    return block.x.T, block.coefficients[:, columns].T, tuple(block.terms[column][1] for column in columns)


@partial(jax.jit, static_argnames=("alphas", "betas"))
def _slope(
    kernel: Kernel, tangent: Kernel, x: Array, phi: Array, alphas: Alphas, y: Array, psi: Array, betas: Alphas, m: Array
) -> Array:
    """Σ_ij M_ij dG_ij when the numbers in the kernel change by those in ``tangent``."""
    _, change = jax.jvp(lambda k: pairwise(k, x, phi, alphas, y, psi, betas), (kernel,), (tangent,))
    return jnp.sum(m * change)


def lengthscales(kernel: Kernel) -> FloatArray:
    """All lengthscales in a kernel, and in the kernels it is made of, one after the other: (P,)."""
    parts = [np.ravel(leaf) for leaf, chosen in zip(jax.tree.leaves(kernel), _chosen(kernel), strict=True) if chosen]
    return np.concatenate([np.zeros(0), *parts])


def with_lengthscales(kernel: Kernel, lengths: FloatArray) -> Kernel:
    """The same kernel with other lengthscales, (P,)."""
    if not np.all(np.isfinite(lengths) & (lengths > 0.0)):
        raise fail(ArgumentError, "lengthscale", f"{lengths}", "give positive numbers")
    return _replaced(kernel, lengths, 1.0)


def _replaced(kernel: Kernel, lengths: FloatArray, factor: float) -> Kernel:
    """The kernel with other lengthscales, (P,), and all other numbers times a factor; 0 makes it a direction."""
    leaves, structure = jax.tree.flatten(kernel)
    start, found = 0, list[FloatArray]()
    for leaf, chosen in zip(leaves, _chosen(kernel), strict=True):
        stop = start + (np.size(leaf) if chosen else 0)
        found.append(np.reshape(lengths[start:stop], np.shape(leaf)) if chosen else factor * leaf)
        start = stop
    return jax.tree.unflatten(structure, found)


def _chosen(kernel: Kernel) -> list[bool]:
    """For each number or array in a kernel, in the order of JAX: is it a lengthscale?"""
    found: list[bool] = []
    for name in kernel.leaves:
        value = getattr(kernel, name)
        found += _chosen(value) if isinstance(value, Kernel) else [name == "lengthscale"]
    return found
