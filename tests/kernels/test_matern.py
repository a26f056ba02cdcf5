"""Matérn kernels, against Bessel functions."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import gamma, kv

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, NonFiniteError, RoughKernelError
from kernop.basics.precision import float64
from kernop.kernels.base import check_smoothness

R = np.array([0.0, 1e-3, 0.1, 0.7, 1.0, 3.0, 10.0])


def along_the_line(kernel, r):
    with float64():
        return np.asarray(kernel(np.zeros(1), np.asarray(r)[:, None]))


@pytest.mark.parametrize(
    ("nu", "formula"),
    [
        (0.5, lambda r: np.exp(-r)),
        (1.5, lambda r: (1.0 + math.sqrt(3.0) * r) * np.exp(-math.sqrt(3.0) * r)),
        (2.5, lambda r: (1.0 + math.sqrt(5.0) * r + 5.0 * r**2 / 3.0) * np.exp(-math.sqrt(5.0) * r)),
    ],
)
def test_formulas_of_the_textbook(nu, formula):
    np.testing.assert_allclose(along_the_line(ko.Matern(nu, 0.4), R), formula(R / 0.4), rtol=1e-14)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 3.5, 4.5, 8.5, 20.5])
def test_value_is_a_bessel_function(nu):
    s = math.sqrt(2.0 * nu) * R[1:] / 0.6
    wanted = 2.0 ** (1.0 - nu) / gamma(nu) * s**nu * kv(nu, s)
    np.testing.assert_allclose(along_the_line(ko.Matern(nu, 0.6), R[1:]), wanted, rtol=1e-12)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 4.5])
def test_profile_is_a_bessel_function(nu):
    """F^(m)(t) = (−ν)^m 2^(1−ν)/Γ(ν) s^(ν−m) K_(ν−m)(s), also where it has a pole at 0."""
    s = np.array([0.05, 0.4, 2.0, 9.0])
    with float64():
        found = ko.Matern(nu, 1.0).profile(jnp.asarray(s**2 / (2.0 * nu)), range(9))
    for m in range(9):
        wanted = (-nu) ** m * 2.0 ** (1.0 - nu) / gamma(nu) * s ** (nu - m) * kv(nu - m, s)
        np.testing.assert_allclose(found[m], wanted, rtol=1e-12)


@pytest.mark.parametrize("nu", [0.5, 2.5, 4.5])
def test_profile_is_finite_at_zero(nu):
    with float64():
        found = ko.Matern(nu, 1.0).profile(jnp.asarray([0.0]), range(9))
    assert all(np.isfinite(values).all() for values in found.values())
    assert float(found[0][0]) == 1.0


def test_large_nu_approaches_a_gaussian():
    r = np.linspace(0.0, 2.0, 5)
    distance = [np.max(np.abs(along_the_line(ko.Matern(nu, 1.0), r) - np.exp(-0.5 * r**2))) for nu in (10.5, 100.5)]
    assert distance[0] < 0.03
    assert distance[1] < 0.12 * distance[0]


def test_value_underflows_to_zero():
    assert along_the_line(ko.Matern(4.5, 1.0), [1e4]) == 0.0


@pytest.mark.parametrize("nu", [1.5, 2.5, 8.5])
def test_gradient_vanishes_where_points_coincide(nu):
    """Automatic differentiation does not meet the square root."""
    x = np.array([0.3, 0.4])
    with float64():
        slope = jax.grad(lambda p: ko.Matern(nu, 0.7)(p, jnp.asarray(x)))(jnp.asarray(x))
    np.testing.assert_array_equal(slope, np.zeros(2))


@pytest.mark.parametrize(("nu", "smoothness"), [(0.5, 0), (1.5, 2), (2.5, 4), (8.5, 16)])
def test_smoothness(nu, smoothness):
    assert ko.Matern(nu, 1.0).smoothness == smoothness


@pytest.mark.parametrize("order", range(1, 9))
def test_error_names_the_least_nu_that_suffices(order):
    with pytest.raises(RoughKernelError, match="condition 'f' needs") as caught:
        check_smoothness(ko.Matern(0.5, 1.0), order, "f")
    named = float(str(caught.value).split("use nu = ")[1].split()[0])
    assert ko.Matern(named, 1.0).smoothness >= order
    assert named == 0.5 or ko.Matern(named - 1.0, 1.0).smoothness < order


@pytest.mark.parametrize(
    ("nu", "error"),
    [
        (1.0, ArgumentError),
        (2, ArgumentError),
        (0.5000001, ArgumentError),
        (0.0, ArgumentError),
        (-0.5, ArgumentError),
        (math.nan, NonFiniteError),
        (math.inf, NonFiniteError),
        ("1.5", ArgumentTypeError),
        ([1.5, 2.5], ArgumentTypeError),
        (None, ArgumentTypeError),
    ],
)
def test_nu_must_be_a_half_integer(nu, error):
    with pytest.raises(error, match=r"^nu: got "):
        ko.Matern(nu, 1.0)


def test_error_lists_half_integers():
    with pytest.raises(ArgumentError, match=r"got 2; give a half-integer: 0\.5, 1\.5, 2\.5"):
        ko.Matern(2, 1.0)


def test_repr():
    assert repr(ko.Matern(2.5, 0.3)) == "Matern(nu=2.5, lengthscale=0.3)"
