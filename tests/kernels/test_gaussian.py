"""The Gaussian kernel: the paper's convention, and Hermite polynomials."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial.hermite import hermval

import kernop as ko
from kernop.basics.precision import float64
from kernop.kernels.gaussian import hermite_polynomials
from kernop.kernels.radial import Radial


def test_value_has_no_factor_two():
    with float64():
        value = float(ko.Gaussian(0.5)(np.array([0.1, 0.2]), np.array([0.4, -0.2])))
    assert value == pytest.approx(math.exp(-(0.3**2 + 0.4**2) / 0.5**2), rel=1e-15)


def test_value_with_a_lengthscale_for_each_axis():
    with float64():
        value = float(ko.Gaussian([0.5, 2.0])(np.array([0.1, 0.2]), np.array([0.4, -0.2])))
    assert value == pytest.approx(math.exp(-((0.3 / 0.5) ** 2) - (0.4 / 2.0) ** 2), rel=1e-15)


def test_smoothness_has_no_limit():
    assert ko.Gaussian(1.0).smoothness == math.inf


@pytest.mark.parametrize("highest", [0, 1, 2, 8, 12])
def test_hermite_polynomials(highest):
    s = np.linspace(-2.0, 2.0, 7)
    found = hermite_polynomials(s, highest)
    assert len(found) == highest + 1
    for n, values in enumerate(found):
        np.testing.assert_allclose(values * np.ones(7), (-1) ** n * hermval(s, np.eye(highest + 1)[n]), rtol=1e-12)


def test_profile():
    t = np.array([0.0, 0.3, 2.0])
    with float64():
        found = ko.Gaussian(1.0).profile(jnp.asarray(t), [0, 1, 4])
    assert set(found) == {0, 1, 4}
    for m, values in found.items():
        np.testing.assert_allclose(values, (-1) ** m * np.exp(-t), rtol=1e-15)


def test_hermite_form_is_the_chain_rule_of_a_radial_kernel():
    """Two ways to the same derivatives: by axis, and from the profile."""
    gammas = [(0, 0), (1, 0), (0, 3), (2, 2), (4, 4), (8, 0)]
    kernel = ko.Gaussian([0.7, 1.2])
    with float64():
        z = [jnp.asarray([0.2, -0.9, 0.0]), jnp.asarray([0.5, 0.1, 0.0])]
        by_axis, by_profile = kernel.partials(z, gammas), Radial.partials(kernel, z, gammas)
    for gamma in gammas:
        scale = np.max(np.abs(by_profile[gamma]))
        np.testing.assert_allclose(by_axis[gamma], by_profile[gamma], rtol=0, atol=1e-13 * scale)
