"""Wendland's kernels: polynomials inside, nothing outside."""

from __future__ import annotations

import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, RoughKernelError
from kernop.basics.precision import float64
from kernop.kernels.base import check_smoothness
from kernop.kernels.wendland import _cofactor


def along_the_line(kernel, r):
    with float64():
        return np.asarray(kernel(np.zeros(1), np.asarray(r)[:, None]))


@pytest.mark.parametrize(
    ("k", "formula"),
    [
        (0, lambda r: (1 - r) ** 2),
        (1, lambda r: (1 - r) ** 4 * (4 * r + 1)),
        (2, lambda r: (1 - r) ** 6 * (35 * r**2 + 18 * r + 3) / 3),
        (3, lambda r: (1 - r) ** 8 * (32 * r**3 + 25 * r**2 + 8 * r + 1)),
        (4, lambda r: (1 - r) ** 10 * (429 * r**4 + 450 * r**3 + 210 * r**2 + 50 * r + 5) / 5),
    ],
)
def test_polynomials(k, formula):
    r = np.array([0.0, 1e-3, 0.2, 0.5, 0.9, 0.99])
    np.testing.assert_allclose(along_the_line(ko.Wendland(k, 2.5), 2.5 * r), formula(r), rtol=1e-12)


@pytest.mark.parametrize("k", range(7))
def test_polynomial_is_the_one_with_2k_derivatives(k):
    """(1 − r)^(2k+2) q(r) with q of degree k, q(0) = 1 and no r, r³, …, r^(2k−1) in it: that is one polynomial."""
    q = _cofactor(k, 0)
    assert sorted(q) == list(range(k + 1))
    power = [Fraction((-1) ** n * math.comb(2 * k + 2, n)) for n in range(2 * k + 3)]
    coefficients = [sum(power[n - i] * q[i] for i in range(min(n, k) + 1)) for n in range(2 * k + 2)]
    assert coefficients[0] == 1
    assert all(coefficients[n] == 0 for n in range(1, 2 * k, 2))
    assert coefficients[2 * k + 1] != 0


@pytest.mark.parametrize("k", range(5))
def test_support_ends_at_the_lengthscale(k):
    kernel = ko.Wendland(k, 0.7)
    np.testing.assert_array_equal(along_the_line(kernel, [0.7, 0.7001, 2.0, 1e6]), np.zeros(4))
    assert np.all(along_the_line(kernel, [0.0, 0.3, 0.69]) > 0.0)


def test_support_is_an_ellipse_with_a_lengthscale_for_each_axis():
    kernel = ko.Wendland(2, [0.5, 2.0])
    with float64():
        values = np.asarray(kernel(np.zeros(2), np.array([[0.51, 0.0], [0.0, 0.51], [0.0, 1.99], [0.4, 1.9]])))
    np.testing.assert_array_equal(values > 0.0, [False, True, True, False])


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_derivatives_are_continuous_across_the_edge(k):
    """All derivatives up to the smoothness vanish at the edge of the support, and beyond."""
    gammas = [(n, 0) for n in range(2 * k + 1)] + [(k, k)]
    with float64():
        z = [jnp.asarray([1.0 - 1e-9, 1.0, 1.0 + 1e-9, 5.0]) * c for c in (0.6, 0.8)]
        table = {gamma: np.asarray(v) for gamma, v in ko.Wendland(k, 1.0).partials(z, gammas).items()}
    for values in table.values():
        assert 0.0 < abs(values[0]) < 1e-6
        np.testing.assert_allclose(values[1:], np.zeros(3), rtol=0, atol=1e-12)
        assert values[3] == 0.0


@pytest.mark.parametrize("k", [1, 2, 3])
def test_gradient_vanishes_where_points_coincide(k):
    x = np.array([0.3, 0.4])
    with float64():
        slope = jax.grad(lambda p: ko.Wendland(k, 0.7)(p, jnp.asarray(x)))(jnp.asarray(x))
    np.testing.assert_array_equal(slope, np.zeros(2))


@pytest.mark.parametrize("k", range(5))
def test_smoothness(k):
    assert ko.Wendland(k, 1.0).smoothness == 2 * k


@pytest.mark.parametrize("order", range(1, 9))
def test_error_names_the_least_k_that_suffices(order):
    with pytest.raises(RoughKernelError, match="condition 'g' needs") as caught:
        check_smoothness(ko.Wendland(0, 1.0), order, "g")
    named = int(str(caught.value).split("use k = ")[1].split()[0])
    assert ko.Wendland(named, 1.0).smoothness >= order
    assert ko.Wendland(named - 1, 1.0).smoothness < order


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_up_to_three_dimensions(dim):
    ko.Wendland(2, 1.0).check_dim(dim)


@pytest.mark.parametrize("dim", [4, 7])
def test_not_beyond_three_dimensions(dim):
    with pytest.raises(ArgumentError, match=f"in {dim} dimensions.*not positive definite.*use Gaussian or Matern"):
        ko.Wendland(2, 1.0).check_dim(dim)


def test_number_of_axes():
    with pytest.raises(ArgumentError, match="2 numbers for a problem in 3 dimensions"):
        ko.Wendland(2, [1.0, 2.0]).check_dim(3)


@pytest.mark.parametrize(
    ("k", "error"), [(-1, ArgumentError), (1.0, ArgumentTypeError), (True, ArgumentTypeError), ("1", ArgumentTypeError)]
)
def test_k_must_be_a_whole_number(k, error):
    with pytest.raises(error, match=r"^k: got .*whole number, at least 0"):
        ko.Wendland(k, 1.0)


def test_repr():
    assert repr(ko.Wendland(2, 0.3)) == "Wendland(k=2, lengthscale=0.3)"
