"""A user's own kernel, against closed forms."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, NonFiniteError, RoughKernelError
from kernop.basics.precision import float64
from kernop.kernels.base import check_smoothness
from kernop.kernels.derivatives import pairwise

RATE = 0.7


def exponential(x, y):
    return jnp.exp(RATE * jnp.dot(x, y))


def derivative_of_exponential(a, b, x, y):
    """∂_x^a ∂_y^b e^(c x y) on the line, by Leibniz: ∂_y^b gives (c x)^b, and then ∂_x^a of the product."""
    terms = [math.comb(a, j) * math.perm(b, j) * x ** (b - j) * (RATE * y) ** (a - j) for j in range(min(a, b) + 1)]
    return RATE**b * sum(terms) * np.exp(RATE * x * y)


def test_value():
    x, y = np.array([0.3, -0.2]), np.array([0.5, 1.5])
    with float64():
        assert float(ko.CustomKernel(exponential)(x, y)) == pytest.approx(math.exp(RATE * (0.15 - 0.3)), rel=1e-15)


def test_derivatives_on_the_line():
    """All ∂_x^a ∂_y^b with a, b ≤ 4, by one call."""
    x, y = np.array([[0.3], [-1.2]]), np.array([[0.5], [0.8], [2.0]])
    gammas = [(a, b) for a in range(5) for b in range(5)]
    with float64(), jax.disable_jit():
        table = ko.CustomKernel(exponential).partials([jnp.asarray(x), jnp.asarray(y.T)], gammas)
    for a, b in gammas:
        np.testing.assert_allclose(table[a, b], derivative_of_exponential(a, b, x, y.T), rtol=1e-13)


def test_derivatives_in_the_plane_are_products():
    x, y = np.array([0.3, -1.2]), np.array([0.5, 0.8])
    gamma = (2, 1, 1, 2)  # ∂_x^(2, 1) ∂_y^(1, 2)
    with float64():
        place = [jnp.asarray(c) for c in (*x, *y)]
        found = float(ko.CustomKernel(exponential).partials(place, [gamma])[gamma])
    wanted = derivative_of_exponential(2, 1, x[0], y[0]) * derivative_of_exponential(1, 2, x[1], y[1])
    assert found == pytest.approx(wanted, rel=1e-13)


def test_agrees_with_the_closed_form_of_the_same_kernel():
    def gaussian(x, y):
        return jnp.exp(-jnp.sum((x - y) ** 2) / 0.8**2)

    rng = np.random.default_rng(0)
    alphas = ((0, 0), (1, 0), (0, 2))
    with float64():
        x, y = jnp.asarray(rng.random((2, 6))), jnp.asarray(rng.random((2, 4)))
        phi, psi = jnp.asarray(rng.random((3, 6))), jnp.asarray(rng.random((3, 4)))
        custom, closed = (
            np.asarray(pairwise(kernel, x, phi, alphas, y, psi, alphas))
            for kernel in (ko.CustomKernel(gaussian), ko.Gaussian(0.8))
        )
    assert custom.shape == (6, 4)
    np.testing.assert_allclose(custom, closed, rtol=1e-12)


def test_is_not_stationary():
    assert ko.CustomKernel(exponential).stationary is False


def test_any_dimension():
    for dim in (1, 3, 12):
        ko.CustomKernel(exponential).check_dim(dim)


def test_smoothness_is_what_the_user_says():
    assert ko.CustomKernel(exponential).smoothness == math.inf
    assert ko.CustomKernel(exponential, smoothness=4).smoothness == 4


def test_error_asks_for_more_derivatives():
    kernel = ko.CustomKernel(exponential, smoothness=2)
    check_smoothness(kernel, 2, "f")
    with pytest.raises(RoughKernelError, match=r"has 2 derivatives, where condition 'f' needs 4.*smoothness=4 or more"):
        check_smoothness(kernel, 4, "f")


@pytest.mark.parametrize("function", [None, 3.0, "exp(-r)"])
def test_function_must_be_callable(function):
    with pytest.raises(ArgumentTypeError, match=r"^function: got .*K\(x, y\)"):
        ko.CustomKernel(function)


@pytest.mark.parametrize(
    ("smoothness", "error"),
    [(-1, ArgumentError), (math.nan, NonFiniteError), (-math.inf, NonFiniteError), ("many", ArgumentTypeError)],
)
def test_smoothness_must_be_a_number(smoothness, error):
    with pytest.raises(error, match=r"^smoothness: got "):
        ko.CustomKernel(exponential, smoothness)


def test_repr_names_the_function():
    assert repr(ko.CustomKernel(exponential)) == "CustomKernel(exponential)"
