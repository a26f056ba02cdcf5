"""What every kernel must pass, in 1, 2 and 3 dimensions; the kernels and the oracle are in conftest.py.

Derivatives are compared for all |α|, |β| ≤ 4 with |α| + |β| within the smoothness; up to 3 for kernels whose profile is
compared up to 4 under another name, and for products; for a custom kernel, which is differentiated automatically in
kernop too, up to 2, 2 and 1 in each argument for d = 1, 2 and 3,
and up to 2, 1 and 1 where it is a part of a sum or of a product.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.precision import float64
from kernop.kernels.derivatives import plain_pairwise

#: Relative to the value itself, at each pair of points: none of the generic places is near a zero of a derivative.
RELATIVE = 1e-10
#: Relative to the natural scale at coinciding points, the largest derivative of that order or the next.
ROUNDING = 1e-13

POINTS = 20
GAPS = (1e-8, 5e-14, 1e-150, 1e-160)


def failures(found, wanted, allowed):
    """The first few (α, β) whose error exceeds what is allowed, with values; NaN does."""
    assert found.keys() == wanted.keys()
    keys = list(wanted)
    error = np.abs(np.array([found[key] - wanted[key] for key in keys]))
    wrong = ~(error <= np.array([np.broadcast_to(allowed(key), error.shape[1:]) for key in keys]))
    return [(key, found[key][bad], wanted[key][bad]) for key, bad in zip(keys, wrong, strict=True) if np.any(bad)][:3]


def random_functionals(comparison):
    """Points, coefficients and multi-indices: two of half the smoothness (four at most), and some below."""
    rng = np.random.default_rng(7)
    highest = min(a for a, b in comparison.case.orders(comparison.dim) if a >= b)
    orders = [highest, highest, *rng.integers(highest + 1, size=2 if comparison.case.stationary else 1)]
    equally = np.full(comparison.dim, 1.0 / comparison.dim)
    alphas = tuple(dict.fromkeys(tuple(rng.multinomial(order, equally).tolist()) for order in orders))
    return rng.uniform(-1.0, 1.0, (POINTS, comparison.dim)), rng.standard_normal((POINTS, len(alphas))), alphas


@pytest.fixture(scope="module")
def gram(comparison):
    """A generalised Gram matrix of random operators at random points, scaled to a unit diagonal."""
    matrix = comparison.gram(*random_functionals(comparison))
    diagonal = np.diagonal(matrix)
    assert np.all(diagonal > 0.0)
    return matrix / np.sqrt(np.outer(diagonal, diagonal))


def test_kernel_is_symmetric(comparison):
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-1.0, 1.0, (2, POINTS, comparison.dim))
    with float64(), jax.disable_jit():
        there = np.asarray(comparison.kernel(x[:, None], y[None]))
        back = np.asarray(comparison.kernel(y[:, None], x[None]))
    assert there.shape == (POINTS, POINTS)
    assert not np.allclose(there, there.T)  # else symmetry would be no news
    np.testing.assert_allclose(there, back.T, rtol=1e-14)


def test_call_is_the_derivative_of_order_zero(comparison):
    zero = (0,) * comparison.dim
    place = np.array([[0.31, 0.85, 0.17], [0.58, 0.36, 0.77]])[:, : comparison.dim]
    with float64(), jax.disable_jit():
        value = float(comparison.kernel(*place))
    np.testing.assert_allclose(value, comparison.generic()[1][zero, zero][0], rtol=1e-13)


def test_gram_is_symmetric(gram):
    np.testing.assert_allclose(gram, gram.T, rtol=0, atol=1e-14)


def test_numpy_and_jax_agree(comparison):
    """A few entries are computed in NumPy, with the derivatives that are compared below, and many by JAX."""
    if not comparison.kernel.in_numpy:
        pytest.skip("JAX differentiates it")
    x, phi, alphas = random_functionals(comparison)
    few = plain_pairwise(comparison.kernel, x.T, phi.T, alphas, x.T, phi.T, alphas)
    assert isinstance(few, np.ndarray)
    with float64():
        y, psi = jnp.asarray(x.T), jnp.asarray(phi.T)
        many = plain_pairwise(comparison.kernel, y, psi, alphas, y, psi, alphas)
    assert isinstance(many, jax.Array)
    size = np.sqrt(np.outer(np.diagonal(few), np.diagonal(few)))
    np.testing.assert_allclose(np.asarray(many) / size, few / size, rtol=0, atol=1e-13)


def test_kernels_of_kernop_are_computed_in_numpy_too():
    mine = ko.kernels.CustomKernel(lambda x, y: jnp.exp(-jnp.sum((x - y) ** 2)))
    own = [ko.Gaussian(0.5), ko.Matern(2.5, 0.5), ko.InverseMultiquadric(0.5), ko.Wendland(2, 0.5)]
    assert all(kernel.in_numpy for kernel in [*own, own[0] + own[1], 2.0 * own[2] * own[3]])
    assert not any(kernel.in_numpy for kernel in (mine, mine + own[0], own[0] * mine))


def test_gram_is_positive_definite(gram):
    eigenvalues = np.linalg.eigvalsh(gram)
    assert eigenvalues[0] >= -1e-10 * eigenvalues[-1]


def test_derivatives_are_those_of_the_naive_kernel(comparison):
    found, wanted = comparison.generic()
    assert not failures(found, wanted, lambda key: RELATIVE * np.abs(wanted[key]))


def test_derivatives_at_coinciding_points(comparison):
    found, wanted = comparison.coinciding()
    assert not failures(found, wanted, lambda key: ROUNDING * comparison.scale(key))


def test_derivatives_are_continuous_where_points_coincide(comparison):
    """A derivative moves by its slope times the gap; the slope is at most a hundred scales here."""
    limit = {key: values[1:] for key, values in comparison.coinciding()[1].items()}
    for gap in GAPS:
        found = comparison.near(gap)
        assert not failures(found, limit, lambda key, gap=gap: (100.0 * gap + ROUNDING) * comparison.scale(key)), gap


def test_derivatives_far_apart_are_finite_and_small(comparison):
    if not comparison.case.stationary:
        pytest.skip("only stationary kernels decay")
    found = comparison.far()
    nothing = {key: np.zeros_like(values) for key, values in found.items()}
    assert not failures(found, nothing, lambda key: 5e-3 * comparison.scale(key))


def test_all_derivatives_are_compared(comparison):
    """Every (α, β) within order and smoothness, and nothing twice: the comparisons above are not empty."""
    most = max(a for a, _ in comparison.case.orders(comparison.dim))
    total = min(comparison.case.smoothness, 2 * most)
    indices = [a for a in np.ndindex(*(most + 1,) * comparison.dim) if sum(a) <= most]
    wanted = {(a, b) for a in indices for b in indices if sum(a) + sum(b) <= total}
    assert set(comparison.generic()[0]) == set(comparison.generic()[1]) == wanted


def test_series_of_the_oracle_are_even_up_to_the_smoothness(series_and_smoothness):
    """Exactly: the first odd power of r is the one that ends the smoothness."""
    series, smoothness = series_and_smoothness
    assert series[0] == 1
    assert next(n for n in range(1, len(series), 2) if series[n] != 0) == smoothness + 1
