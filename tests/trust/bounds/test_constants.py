"""κ against the largest derivative found by automatic differentiation, and C and the norms against closed forms."""

import math
from functools import reduce
from itertools import combinations_with_replacement, product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop import bounds
from kernop.basics.errors import ArgumentError, ArgumentTypeError, InputNameError, OutsideDomainError, RoughKernelError
from kernop.basics.precision import float64
from kernop.trust.bounds.constants import multi_indices

LINE, SQUARE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1])
LENGTHS = np.array([0.6, 1.7])


def matern(nu, s):
    """ν = 3/2, 5/2, 7/2 for s = √(2ν) r/ℓ > 0."""
    poly = {1.5: 1 + s, 2.5: 1 + s + s**2 / 3, 3.5: 1 + s + 2 * s**2 / 5 + s**3 / 15}
    return poly[nu] * jnp.exp(-s)


def gauss(z):
    return jnp.exp(-(z**2))


def imq(z):
    return (1.0 + z**2) ** -0.5


#: Kernels on the line with K = F(x − y) for x − y > 0, written naively, and the highest order s.
ON_THE_LINE = {
    "gaussian": (ko.Gaussian(0.7), lambda z: gauss(z / 0.7), 3),
    "wide gaussian": (ko.Gaussian(3.0), lambda z: gauss(z / 3.0), 2),
    "matern 3/2": (ko.Matern(1.5, 0.8), lambda z: matern(1.5, math.sqrt(3.0) * z / 0.8), 1),
    "matern 5/2": (ko.Matern(2.5, 0.8), lambda z: matern(2.5, math.sqrt(5.0) * z / 0.8), 2),
    "matern 7/2": (ko.Matern(3.5, 1.4), lambda z: matern(3.5, math.sqrt(7.0) * z / 1.4), 3),
    "multiquadric": (ko.InverseMultiquadric(0.9), lambda z: imq(z / 0.9), 2),
    "wendland 1": (ko.Wendland(1, 1.2), lambda z: jnp.maximum(0.0, 1 - z / 1.2) ** 4 * (4 * z / 1.2 + 1), 1),
    "wendland 2": (
        ko.Wendland(2, 1.2),
        lambda z: jnp.maximum(0.0, 1 - z / 1.2) ** 6 * (35 * (z / 1.2) ** 2 + 18 * z / 1.2 + 3) / 3,
        2,
    ),
    "sum": (ko.Gaussian(0.7) + 2.0 * ko.InverseMultiquadric(0.9), lambda z: gauss(z / 0.7) + 2 * imq(z / 0.9), 2),
    "product": (ko.Gaussian(0.7) * ko.InverseMultiquadric(0.9), lambda z: gauss(z / 0.7) * imq(z / 0.9), 2),
}


def derivatives(function, highest, z):
    """[f, f′, …] at all z, by one nested derivative."""
    if highest == 0:
        return [function(z)]
    values, slopes = jax.jvp(lambda p: derivatives(function, highest - 1, p), (z,), (jnp.ones_like(z),))
    return [*values, slopes[-1]]


@pytest.mark.parametrize("name", ON_THE_LINE)
def test_kappa_is_the_largest_derivative_on_the_line(name):
    kernel, naive, highest = ON_THE_LINE[name]
    z = np.concatenate([np.geomspace(1e-9, 1e-2, 8), np.linspace(1e-2, 5.0, 500)])
    with float64(), jax.disable_jit():
        largest = [float(np.max(np.abs(values))) for values in derivatives(naive, 2 * highest, jnp.asarray(z))]
    for order in range(highest + 1):
        wanted = max(largest[: 2 * order + 1])
        assert bounds.kappa(kernel, order, 1) ** 2 == pytest.approx(wanted, rel=1e-7)


def plane_gauss(z):
    return jnp.exp(-jnp.sum((z / LENGTHS) ** 2))


def plane_imq(z):
    return (1.0 + jnp.sum((z / LENGTHS[::-1]) ** 2)) ** -0.5


IN_THE_PLANE = {
    "gaussian": (ko.Gaussian(LENGTHS), plane_gauss),
    "multiquadric": (ko.InverseMultiquadric(LENGTHS[::-1]), plane_imq),
    "sum and product": (
        ko.Gaussian(LENGTHS) * ko.InverseMultiquadric(LENGTHS[::-1]) + 0.5 * ko.Gaussian(LENGTHS),
        lambda z: plane_gauss(z) * (plane_imq(z) + 0.5),
    ),
}


def along(function, axis):
    return lambda z: jax.jvp(function, (z,), (jnp.eye(2)[axis],))[1]


@pytest.mark.parametrize("name", IN_THE_PLANE)
def test_kappa_is_the_largest_derivative_in_the_plane(name):
    kernel, naive = IN_THE_PLANE[name]
    side = np.linspace(-3.0, 3.0, 31)  # with 0
    place = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    largest = 0.0
    with float64(), jax.disable_jit():
        for axes in (path for size in range(5) for path in combinations_with_replacement(range(2), size)):
            derivative = reduce(along, axes, naive)
            largest = max(largest, float(np.max(np.abs(jax.vmap(derivative)(jnp.asarray(place))))))
    assert bounds.kappa(kernel, 2, 2) ** 2 == pytest.approx(largest, rel=1e-10)


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("order", [0, 1, 2, 4])
def test_kappa_of_a_gaussian_in_closed_form(dim, order):
    # (2n)!/n! grows faster than any product of smaller ones
    wanted = max(math.factorial(2 * n) / math.factorial(n) / 0.7 ** (2 * n) for n in range(order + 1))
    assert bounds.kappa(ko.Gaussian(0.7), order, dim) ** 2 == pytest.approx(wanted, rel=1e-12)


def test_kappa_of_a_kernel_of_ones_own_is_sampled():
    kernel = ko.CustomKernel(lambda x, y: jnp.exp(jnp.dot(x, y)))  # ∂_x ∂_y K(x, x) = (1 + x²) e^(x²)
    x = np.linspace(0.0, 1.0, 11)[:, None]
    assert bounds.kappa(kernel, 0, 1, x) ** 2 == pytest.approx(math.e, rel=1e-12)
    assert bounds.kappa(kernel, 1, 1, x) ** 2 == pytest.approx(2.0 * math.e, rel=1e-12)
    assert bounds.kappa(kernel, 1, 1, x[:6]) ** 2 == pytest.approx(1.25 * math.exp(0.25), rel=1e-12)


def test_there_are_binomially_many_multi_indices():
    for dim, order in product(range(1, 5), range(5)):
        found = multi_indices(dim, order)
        assert len(set(found)) == len(found) == math.comb(dim + order, dim)
        assert all(len(alpha) == dim and sum(alpha) <= order for alpha in found)


def test_constants_on_the_line_are_known():
    a = lambda x: 1.0 + x[..., 0] ** 2  # −(a u′)′ = −(1 + x²) u″ − 2x u′
    problem = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=LINE), ko.Dirichlet(on=LINE.boundary))
    found = bounds.constants(problem, ko.Gaussian(0.5), {"f": [[0.0], [1.0]]})
    assert (found.dim, found.order, found.exact) == (1, 2, True)
    assert found.coefficient == 2.0
    assert found.kappa**2 == pytest.approx(12.0 / 0.5**4)
    assert found.norm == pytest.approx(3.0 * 2.0 * found.kappa)
    # ‖P_x‖² = φ₂² F⁗(0) + φ₁² |F″(0)| at x = 1; the mixed term has an odd derivative, which is 0
    assert found.functional**2 == pytest.approx(4.0 * 12.0 / 0.5**4 + 4.0 * 2.0 / 0.5**2)
    assert found.functional <= found.norm


def test_weights_are_part_of_the_operator():
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary))
    kernel = ko.Gaussian(1.0)
    plain, weighted = (bounds.constants(problem, kernel, weights=w) for w in ("unit", {"f": 9.0, "g": 400.0}))
    assert plain.coefficient == 1.0
    assert weighted.coefficient == pytest.approx(20.0)
    assert plain.functional**2 == pytest.approx(12.0 + 12.0 + 2 * 4.0)  # ∂_xxxx + ∂_yyyy + 2 ∂_xxyy
    assert weighted.functional**2 == pytest.approx(max(9.0 * 32.0, 400.0))


@pytest.mark.parametrize("seed", range(5))
def test_kappa_and_the_norms_bound_functions_of_the_space(seed):
    rng = np.random.default_rng(seed)
    kernel, centres, c = ko.Gaussian(0.4), rng.random(7), rng.normal(size=7)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) + 3.0 * u, on=LINE), ko.Dirichlet(on=LINE.boundary))
    found = bounds.constants(problem, kernel)
    size = math.sqrt(c @ np.exp(-np.square(np.subtract.outer(centres, centres) / 0.4)) @ c)
    z = np.subtract.outer(np.linspace(0.0, 1.0, 301), centres) / 0.4
    values, slopes, curvatures = (
        factor * np.exp(-(z**2)) @ c for factor in (1.0, -2.0 * z / 0.4, (4.0 * z**2 - 2.0) / 0.4**2)
    )
    assert all(np.max(np.abs(d)) <= found.kappa * size for d in (values, slopes, curvatures))
    assert np.max(np.abs(3.0 * values - curvatures)) <= found.functional * size
    assert found.functional <= found.norm


def test_bad_arguments_are_refused():
    problem = ko.Problem(ko.Dirichlet(on=LINE))
    with pytest.raises(ArgumentTypeError, match="kernel: got"):
        bounds.kappa("gaussian", 1, 1)
    with pytest.raises(ArgumentTypeError, match="kernel: got"):
        bounds.constants(problem, None)
    with pytest.raises(RoughKernelError, match=r"order 2 needs 4.*nu = 2.5"):
        bounds.kappa(ko.Matern(1.5, 1.0), 2, 1)
    with pytest.raises(ArgumentError, match="order: got"):
        bounds.kappa(ko.Gaussian(1.0), -1, 1)
    with pytest.raises(ArgumentError, match="lengthscale: got"):
        bounds.kappa(ko.Gaussian([1.0, 2.0]), 1, 3)
    with pytest.raises(ArgumentError, match="x: got none"):
        bounds.kappa(ko.CustomKernel(lambda x, y: jnp.dot(x, y)), 1, 1)
    with pytest.raises(ArgumentTypeError, match="problem: got"):
        bounds.constants("problem", ko.Gaussian(1.0))
    with pytest.raises(InputNameError, match="points: got the unknown condition 'h'"):
        bounds.constants(problem, ko.Gaussian(1.0), {"h": [[0.5]]})
    with pytest.raises(OutsideDomainError, match="points"):
        bounds.constants(problem, ko.Gaussian(1.0), {"g": [[1.5]]})
    with pytest.raises(ArgumentError, match="whose derivatives at x = y are not finite"):
        bounds.kappa(ko.CustomKernel(lambda x, y: jnp.exp(-jnp.sqrt(jnp.sum((x - y) ** 2)))), 1, 1, [[0.5]])


@pytest.mark.parametrize(("order", "dim"), [(10**9, 1), (2, 10**9), (0, 10**9), (12, 12), (10**40, 10**40)])
def test_more_derivatives_than_there_is_time_for(order, dim):
    with pytest.raises(ArgumentError, match=r"dim, order: got .*too many derivatives"):
        ko.bounds.kappa(ko.Gaussian(1.0), order, dim)
