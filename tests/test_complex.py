"""Complex coefficients, data and solutions, from the problem to the answer: plane waves with an impedance boundary."""

from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop import laplacian
from kernop.basics.errors import ArgumentTypeError, KernopError
from kernop.basics.precision import float64

D = ko.Box([0.0, 0.0], [1.0, 1.0])
X = D.sample(20, seed=9).x
K = 5.0
IMPEDANCE = ko.Problem(ko.Equation(lambda u: -laplacian(u) - K * K * u, on=D), ko.Robin(-1j * K, 1.0, on=D.boundary))
PLAIN = ko.Problem(ko.Equation(lambda u: -laplacian(u) + u, on=D), ko.Dirichlet(D.boundary))


def wave(x):
    return jnp.exp(1j * K * (0.6 * x[..., 0] + 0.8 * x[..., 1]))


def exact(x):
    return np.exp(1j * K * (x @ [0.6, 0.8]))


@pytest.fixture(scope="module")
def sound():
    """The default operator, and the data of the plane wave."""
    T = ko.learn(IMPEDANCE, points=300)
    return T, IMPEDANCE.manufacture(wave, T.points)


METHODS = {
    "default": (None, 1e-4),
    "full": (ko.Full(), 1e-4),
    "lowrank": (ko.LowRank(), 1e-4),
    "normal": (ko.Subspace(solver="normal"), 1e-3),
    "representers": (ko.Subspace(basis="representers"), 1e-3),
}


@pytest.mark.parametrize(("method", "bound"), METHODS.values(), ids=METHODS)
def test_a_plane_wave_by_every_method(method, bound):
    T = ko.learn(IMPEDANCE, points=250, method=method)
    data = IMPEDANCE.manufacture(wave, T.points)
    u = T(**data)
    assert u(X).dtype == np.complex128
    np.testing.assert_allclose(u(X), exact(X), rtol=0, atol=bound)
    np.testing.assert_allclose(T.on(X)(**data), u(X), rtol=0, atol=1e-8)
    np.testing.assert_allclose(u.grad(X), 1j * K * np.outer(exact(X), [0.6, 0.8]), rtol=0, atol=1e2 * bound)


def test_estimates_bands_and_draws(sound):
    T, data = sound
    u = T(**data)
    truth = np.sqrt(np.mean(np.abs(u(X) - exact(X)) ** 2))
    assert truth / 3.0 < u.error_estimate().relative_l2 < 1e3 * truth
    assert T.stability < 100.0
    assert u.std(X).shape == (20,)
    assert u.std(X).dtype == np.float64
    draws = u.samples(X, 400)
    spread = np.sqrt(np.mean(np.abs(draws - u(X)[:, None]) ** 2, axis=1))
    np.testing.assert_allclose(spread, u.std(X), rtol=0.25)


def test_covariance_of_real_and_imaginary_parts():
    T = ko.learn(IMPEDANCE, points=150, method=ko.Full(), noise=1e-2)
    covariance = T.covariance(X)
    assert covariance.shape == (40, 40)
    variance = np.diagonal(covariance)
    np.testing.assert_allclose(T.std(X), np.sqrt(variance[:20] + variance[20:]), rtol=1e-6)


def test_complex_batches_and_the_basis(sound):
    T, data = sound
    factors = np.array([1.0, 2j, 1.0 - 1j])
    one = T(**data)(X)
    found = T(**{name: values[:, None] * factors for name, values in data.items()})
    np.testing.assert_allclose(found(X), one[:, None] * factors, rtol=0, atol=1e-9)
    assert found.grad(X).shape == (20, 2, 3)
    assert found.error_estimate().relative_l2.shape == (3,)
    rows = np.concatenate([part(data[name]) for name in ("f", "r") for part in (np.real, np.imag)])
    np.testing.assert_allclose(T.basis(X) @ rows, one, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", [None, ko.Full()], ids=["subspace", "full"])
def test_a_real_operator_takes_real_and_imaginary_parts_apart(method):
    T = ko.learn(PLAIN, points=200, method=method)
    data = PLAIN.manufacture(wave, T.points)
    both = T(**data)
    real, imaginary = (T(**{name: part(values) for name, values in data.items()}) for part in (np.real, np.imag))
    assert not T.ansatz.complex
    np.testing.assert_allclose(both(X), real(X) + 1j * imaginary(X), rtol=0, atol=1e-10)
    np.testing.assert_allclose(T.on(X)(**data), both(X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(both.std(X), np.hypot(real.std(X), imaginary.std(X)), rtol=1e-6)
    with pytest.raises(ArgumentTypeError, match="complex data for a real operator; ask for the real and the imaginary"):
        T.evidence(**data)


@pytest.mark.parametrize(
    "one", [1.0 + 0.0j, lambda x: jnp.ones(x.shape[:-1], dtype=complex)], ids=["number", "function"]
)
def test_coefficients_without_imaginary_part_change_nothing(one):
    problem = ko.Problem(ko.Equation(lambda u: -laplacian(u) + one * u, on=D), ko.Dirichlet(D.boundary))
    T, plain = ko.learn(problem, points=200), ko.learn(PLAIN, points=200)
    data = PLAIN.manufacture(lambda x: jnp.exp(x[..., 0]), plain.points)
    np.testing.assert_allclose(T(**data)(X), plain(**data)(X), rtol=0, atol=1e-9)


def test_fixed_complex_data():
    for data in (1.0 + 2.0j, lambda x: jnp.full(x.shape[:-1], 1.0 + 2.0j)):
        problem = ko.Problem(ko.Equation(lambda u: -laplacian(u), on=D), ko.Dirichlet(D.boundary, data=data))
        np.testing.assert_allclose(ko.learn(problem, points=200)(0.0)(X), 1.0 + 2.0j, rtol=0, atol=1e-4)


def test_an_integral_with_a_complex_weight():
    """∫ (1 + i x) u = 1 for a constant u is u = 1 / (1 + i / 2)."""
    weight = lambda x: 1.0 + 1j * x[..., 0]
    problem = ko.Problem(ko.Equation(lambda u: -laplacian(u), on=D), ko.Neumann(D.boundary), ko.Integral(weight, D))
    u = ko.learn(problem, points={"f": 120, "q": 80, "integral": 64})(0.0, 0.0, 1.0)
    np.testing.assert_allclose(u(X), 1.0 / (1.0 + 0.5j), rtol=0, atol=1e-4)


def test_updates_and_removals():
    T = ko.learn(IMPEDANCE, points=300, method=ko.Subspace(basis="translates"), regularization=0.0)
    data = IMPEDANCE.manufacture(wave, T.points)
    new = {"f": D.sample(20, seed=5), "r": D.boundary.sample(9, seed=5)}
    more = T.update(new)
    both = IMPEDANCE.manufacture(wave, more.points)
    centres = ko.Subspace(T.factorisation.expansion.functionals.blocks[0].x)
    again = ko.learn(IMPEDANCE, points=more.points, method=centres, kernel=T.kernel, weights=T.weights)
    np.testing.assert_allclose(more(**both)(X), again(**both)(X), rtol=0, atol=1e-8)
    gone = {name: np.arange(len(T.points[name]), len(more.points[name])) for name in new}
    np.testing.assert_allclose(more.remove(gone)(**data)(X), T(**data)(X), rtol=0, atol=1e-8)


def test_jax_goes_through_a_fixed_operator(sound):
    T, data = sound
    S = T.on(X)
    with float64():
        g = jnp.asarray(data["r"])
        np.testing.assert_allclose(jax.jit(lambda g: S(data["f"], g))(g), S(**data), rtol=0, atol=1e-10)
        np.testing.assert_allclose(
            jax.jit(jax.vmap(lambda g: S(data["f"], g)))(jnp.stack([g, 1j * g]))[0], S(**data), atol=1e-10
        )
        size = jax.jit(lambda g: jnp.sum(jnp.abs(S(data["f"], g)) ** 2))
        slope = np.asarray(jax.grad(size)(g))
        step = np.exp(1j * np.arange(len(g)))
        change = float(size(g + 1e-4 * step) - size(g - 1e-4 * step)) / 2e-4
    assert np.real(np.sum(slope * step)) == pytest.approx(change, rel=1e-6)


def test_a_tolerance_is_met_and_reported():
    report = ko.learn(IMPEDANCE, tol=1e-3).report
    assert report.met
    assert report.error <= 1e-3


def test_tuning():
    tuned = ko.tune(IMPEDANCE, ko.Gaussian(0.7), points=80, lengthscales=False, regularizations=[1e-10, 1e-6])
    T = tuned.learn()
    np.testing.assert_allclose(T(**IMPEDANCE.manufacture(wave, T.points))(X), exact(X), rtol=0, atol=0.05)


REFUSED = {
    "points": lambda: ko.learn(PLAIN, points={"f": X + 0j, "g": 20}),
    "places": lambda: ko.learn(PLAIN, points=60)(0.0, 0.0)(X + 0j),
    "noise": lambda: ko.learn(PLAIN, points=60, noise=1e-3 + 1j),
    "weights": lambda: ko.learn(PLAIN, points=60, weights={"f": 1j, "g": 1.0}),
    "λ": lambda: ko.learn(PLAIN, points=60, regularization=1j),
    "lengthscale": lambda: ko.Gaussian(1j),
    "envelope": lambda: ko.learn(PLAIN, points=60, method=ko.Subspace(envelope=lambda x: 1j * x[..., 0])),
    "NaN": lambda: ko.Robin(complex(0.0, np.nan), 1.0, D.boundary),
}


@pytest.mark.parametrize("attempt", REFUSED.values(), ids=REFUSED)
def test_what_must_be_real_or_finite(attempt):
    with pytest.raises(KernopError, match=r"real number|positive number|complex values|finite"):
        attempt()


def test_threads_give_the_same_bits(sound):
    T, data = sound
    expected = T(**data)(X).tobytes()
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: T(**data)(X).tobytes(), range(32))) == {expected}
