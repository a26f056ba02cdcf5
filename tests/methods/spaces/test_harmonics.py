"""Solid harmonics against SymPy-free truths: known formulas, Laplace's equation, differences and integrals."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from kernop.methods.spaces.harmonics import degrees_of, derivatives, harmonics

RNG = np.random.default_rng(0)


def sphere(dim, n=40):
    """A rule on the unit sphere that integrates polynomials of degree 20 exactly: points, and weights of sum 1."""
    angle = 2.0 * np.pi * np.arange(n) / n
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    if dim == 2:
        return circle, np.full(n, 1.0 / n)
    z, w = leggauss(n // 2)
    x = np.concatenate([np.column_stack([np.sqrt(1.0 - own**2) * circle, np.full(n, own)]) for own in z])
    return x, np.repeat(w, n) / (2.0 * n)


@pytest.mark.parametrize("dim", [2, 3])
class TestHarmonics:
    def test_are_orthonormal_on_the_sphere(self, dim):
        x, w = sphere(dim)
        values = harmonics(x, 7)
        np.testing.assert_allclose(values.T @ (w[:, None] * values), np.eye(values.shape[1]), atol=1e-12)

    def test_are_homogeneous_of_their_degree(self, dim):
        x = RNG.normal(size=(20, dim))
        np.testing.assert_allclose(harmonics(3.0 * x, 9), harmonics(x, 9) * 3.0 ** degrees_of(dim, 9), rtol=1e-10)

    def test_derivatives_are_those_of_differences(self, dim):
        x, step = RNG.normal(size=(20, dim)), 1e-5
        values = harmonics(x, 6)
        for axis, matrix in enumerate(derivatives(dim, 6)):
            shift = step * np.eye(dim)[axis]
            slope = (harmonics(x + shift, 6) - harmonics(x - shift, 6)) / (2.0 * step)
            np.testing.assert_allclose(values @ matrix, slope, atol=1e-6 * np.max(np.abs(slope)))

    def test_laplacian_is_zero(self, dim):
        total = sum(matrix @ matrix for matrix in derivatives(dim, 12))
        assert np.max(np.abs(total)) < 1e-11
