"""Tensor splines against SciPy's, and their derivatives against those of SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import RectBivariateSpline, make_interp_spline

from kernop.basics.precision import float64
from kernop.language.splines import interpolant

RNG = np.random.default_rng(0)
UNEVEN = np.sort(RNG.uniform(0.0, 3.0, 14))


@pytest.mark.parametrize("degree", [3, 7])
def test_on_a_line_it_is_the_spline_of_scipy_with_its_derivatives(degree):
    values = RNG.normal(size=14)
    own, theirs = interpolant((UNEVEN,), values, degree), make_interp_spline(UNEVEN, values, k=degree)
    x = RNG.uniform(UNEVEN[0], UNEVEN[-1], 50)
    along = lambda function: lambda t: jax.jvp(function, (t,), (jnp.ones_like(t),))  # as kernop differentiates
    with float64():
        (value, slope), (_, second) = jax.jit(along(along(lambda t: own(t[:, None]))))(jnp.asarray(x))
    # Polynomials between knots that agree in all places agree in all derivatives.
    for order, found in enumerate((value, slope, second)):
        assert np.allclose(found, theirs(x, nu=order), rtol=1e-8, atol=1e-8 * np.abs(theirs(x, nu=order)).max())


def test_in_the_plane_it_is_the_interpolating_spline_of_fitpack():
    x, y, values = UNEVEN, np.linspace(-1, 1, 9), RNG.normal(size=(14, 9))
    theirs = RectBivariateSpline(x, y, values, kx=3, ky=3, s=0)
    places = np.column_stack([RNG.uniform(x[0], x[-1], 80), RNG.uniform(-1, 1, 80)])
    with float64():
        own = interpolant((x, y), values, 3)
        first = lambda p: jax.jvp(own, (p,), (jnp.zeros_like(p).at[:, 0].set(1.0),))[1]
        second = lambda p: jax.jvp(first, (p,), (jnp.zeros_like(p).at[:, 1].set(1.0),))[1]
        mixed = jax.jit(second)(places)
        assert np.allclose(own(jnp.asarray(places)), theirs(*places.T, grid=False), atol=1e-10)
    assert np.allclose(mixed, theirs(*places.T, dx=1, dy=1, grid=False), atol=1e-9)


def test_few_nodes_make_the_polynomial_through_them():
    with float64():
        for n in (2, 3, 4):
            x = np.linspace(0.0, 2.0, n)
            own = interpolant((x,), x ** (n - 1), 5)
            t = np.linspace(-0.5, 2.5, 11)  # beyond the knots too
            assert np.allclose(own(jnp.asarray(t)[:, None]), t ** (n - 1), atol=1e-12)
