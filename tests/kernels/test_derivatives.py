"""P^(1) Q^(2) K with variable coefficients, against automatic differentiation of a kernel written here.

Q acts on y by nested `jax.jvp`, written by hand; P acts on x by `apply_operator`, which differentiates x ↦ (Q K)(x, y)
automatically. Neither knows a normal form or a kernel of kernop.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.precision import float64
from kernop.collocation.ansatz import normal_form
from kernop.kernels.derivatives import diagonal, pairwise
from kernop.language.functions import padded
from kernop.language.ops import apply_operator


def a(x):
    return 1.0 + 0.5 * jnp.sin(x[..., 0]) + jnp.sum(x, axis=-1) ** 2


def b(x):
    return jnp.exp(-x[..., 0]) - 0.3


# --- Kernels of rows of points, naively -------------------------------------------------------------------------------


def square(x, y):
    return jnp.sum((x - y) ** 2, axis=-1)


def gaussian(x, y):
    return jnp.exp(-square(x, y) / 0.9**2)


def multiquadric(x, y):
    return (1.0 + square(x, y) / 0.7**2) ** -0.5


def matern(x, y):
    s = 3.0 * jnp.sqrt(square(x, y)) / 1.2
    return jnp.exp(-s) * (1.0 + s + 3.0 * s**2 / 7.0 + 2.0 * s**3 / 21.0 + s**4 / 105.0)


def nonstationary(x, y):
    return jnp.exp(0.4 * jnp.sum(x * y, axis=-1)) + jnp.sum(x, axis=-1) * jnp.sum(y, axis=-1)


KERNELS = {
    "gaussian": (ko.Gaussian(0.9), gaussian),
    "matern": (ko.Matern(4.5, 1.2), matern),
    "product": (
        2.0 * ko.Gaussian(0.9) * ko.InverseMultiquadric(0.7),
        lambda x, y: 2.0 * gaussian(x, y) * multiquadric(x, y),
    ),
    "custom": (ko.CustomKernel(nonstationary), nonstationary),
}
every_kernel = pytest.mark.parametrize(("kernel", "naive"), KERNELS.values(), ids=KERNELS.keys())


# --- Operators, in kernop's words and by hand on a function of rows of points -----------------------------------------


def along(u, axis):
    return lambda y: jax.jvp(u, (y,), (jnp.zeros_like(y).at[:, axis].set(1.0),))[1]


def flow(u):
    return -ko.div(a * ko.grad(u)) + b * u


def flow_by_hand(u):
    flux = lambda axis: lambda y: a(y) * along(u, axis)(y)
    return lambda y: -sum(along(flux(axis), axis)(y) for axis in range(y.shape[1])) + b(y) * u(y)


def drift(u):
    return b * ko.partial(u, 0) + 2.0 * u


def drift_by_hand(u):
    return lambda y: b(y) * along(u, 0)(y) + 2.0 * u(y)


def third(u):
    return a * ko.partial(u, 0, 3)


def third_by_hand(u):
    return lambda y: a(y) * along(along(along(u, 0), 0), 0)(y)


PAIRS = {
    "flow-drift": (flow, drift, drift_by_hand),
    "drift-flow": (drift, flow, flow_by_hand),
    "drift-third": (drift, third, third_by_hand),
}


def points(count, dim):
    return ko.Points(np.random.default_rng(count).uniform(-0.5, 1.5, (count, dim)), timed=False)


def by_autodiff(p, q_by_hand, naive, left, right):
    """(P Q K)(x_i, y_j) for all pairs, which are the rows of what is differentiated."""
    i, j = (index.ravel() for index in np.indices((len(left), len(right))))
    with float64(), jax.disable_jit():  # to compile takes longer than to compute
        y = jnp.asarray(padded(right.x[j]))  # functions are called with padded rows
        values = apply_operator(p, lambda x: q_by_hand(lambda q: naive(x, q))(y), left[i])
    return values.reshape(len(left), len(right))


def by_kernop(kernel, p, q, left, right):
    """The same from normal forms."""
    with float64():
        arguments = [
            argument
            for form in (normal_form(p, left), normal_form(q, right))
            for argument in (jnp.asarray(form.x.T), jnp.asarray(form.coefficients.T), form.alphas)
        ]
        return np.asarray(pairwise(kernel, *arguments))


def assert_close(found, wanted):
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11 * np.max(np.abs(wanted)))


@every_kernel
def test_second_order_operators_with_variable_coefficients(kernel, naive):
    left, right = points(4, 2), points(3, 2)
    wanted = by_autodiff(flow, flow_by_hand, naive, left, right)
    assert wanted.shape == (4, 3)
    assert_close(by_kernop(kernel, flow, flow, left, right), wanted)


@pytest.mark.parametrize(("p", "q", "q_by_hand"), PAIRS.values(), ids=PAIRS.keys())
def test_different_operators_on_each_argument(p, q, q_by_hand):
    """For a kernel that is not stationary, where nothing cancels."""
    left, right = points(4, 2), points(3, 2)
    wanted = by_autodiff(p, q_by_hand, nonstationary, left, right)
    assert_close(by_kernop(ko.CustomKernel(nonstationary), p, q, left, right), wanted)


@pytest.mark.parametrize("dim", [1, 3])
def test_other_dimensions(dim):
    left, right = points(4, dim), points(3, dim)
    wanted = by_autodiff(flow, drift_by_hand, gaussian, left, right)
    assert_close(by_kernop(ko.Gaussian(0.9), flow, drift, left, right), wanted)


def test_normal_derivatives():
    """∂K/∂n = n·(y − x) 2K/η²."""
    angle = np.array([0.3, 2.0, 4.4])
    normal = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    left, right = ko.Points(normal, normal, timed=False), points(4, 2)
    z = right.x[None] - left.x[:, None]
    wanted = 2.0 / 0.9**2 * np.einsum("ijk,ik->ij", z, normal) * np.exp(-np.sum(z**2, axis=-1) / 0.9**2)
    assert_close(by_kernop(ko.Gaussian(0.9), ko.normal_derivative, lambda u: u, left, right), wanted)


# --- Arguments as tables ----------------------------------------------------------------------------------------------

ALPHAS, BETAS = ((0, 0), (2, 0), (1, 1)), ((0, 1), (0, 0))


def tables(count=5, indices=ALPHAS):
    rng = np.random.default_rng(count)
    return jnp.asarray(rng.random((2, count))), jnp.asarray(rng.standard_normal((len(indices), count))), indices


@every_kernel
def test_diagonal_is_the_diagonal_of_pairwise(kernel, naive):
    with float64():
        functionals = tables()
        matrix, found = (
            np.asarray(pairwise(kernel, *functionals, *functionals)),
            np.asarray(diagonal(kernel, *functionals)),
        )
    assert found.shape == (5,)
    np.testing.assert_allclose(found, np.diagonal(matrix), rtol=1e-12)


@every_kernel
def test_exchanging_the_arguments_transposes(kernel, naive):
    with float64():
        left, right = tables(4, ALPHAS), tables(3, BETAS)
        there, back = np.asarray(pairwise(kernel, *left, *right)), np.asarray(pairwise(kernel, *right, *left))
    assert there.shape == (4, 3)
    np.testing.assert_allclose(there, back.T, rtol=0, atol=1e-13 * np.max(np.abs(there)))


def test_bilinear_in_the_coefficients():
    with float64():
        (x, phi, alphas), (y, psi, betas) = tables(4, ALPHAS), tables(3, BETAS)
        parts = sum(
            np.asarray(pairwise(ko.Gaussian(0.9), x, phi[i][None], (alphas[i],), y, psi[j][None], (betas[j],)))
            for i in range(len(alphas))
            for j in range(len(betas))
        )
        whole = np.asarray(pairwise(ko.Gaussian(0.9), x, phi, alphas, y, psi, betas))
    np.testing.assert_allclose(whole, parts, rtol=0, atol=1e-13 * np.max(np.abs(parts)))


def test_compilation_changes_nothing_but_rounding():
    """Derivatives of order eight, which the conformance suite checks without compilation."""
    kernel = ko.Matern(4.5, 1.2)
    with float64():
        functionals = tables(5, ((0, 0), (1, 3)))
        compiled = np.asarray(pairwise(kernel, *functionals, *functionals))
        plain = np.asarray(pairwise.__wrapped__(kernel, *functionals, *functionals))
    np.testing.assert_allclose(compiled, plain, rtol=0, atol=1e-13 * np.max(np.abs(plain)))


@pytest.mark.parametrize("gap", [0.0, 1e-8, 1e-10, 1e-12, 4e-14, 2e-14, 1e-60, 1e-150, 1e-160])
def test_compiled_derivatives_where_points_nearly_coincide(gap):
    """Matérn's kernel with ν = 9/2 has s⁸/8! − s⁹/99225 in its series, s = 3r: ∂⁸ gives 3⁸ (1 − 128/35 s)."""
    index = ((4,),)
    with float64():
        x, y, phi = jnp.zeros((1, 1)), jnp.full((1, 1), gap), jnp.ones((1, 1))
        found = float(pairwise(ko.Matern(4.5, 1.0), x, phi, index, y, phi, index)[0, 0])
    assert found == pytest.approx(3.0**8 * (1.0 - 128.0 / 35.0 * 3.0 * gap), rel=1e-12)


def test_other_coefficients_do_not_compile_again():
    with float64():
        (x, phi, alphas), (y, psi, betas) = tables(4, ALPHAS), tables(3, BETAS)
        first = np.asarray(pairwise(ko.Gaussian(0.9), x, phi, alphas, y, psi, betas))
        before = pairwise._cache_size()
        second = np.asarray(pairwise(ko.Gaussian(0.9), x, 2.0 * phi, alphas, y, -psi, betas))
    assert pairwise._cache_size() == before
    np.testing.assert_allclose(second, -2.0 * first, rtol=1e-14)
