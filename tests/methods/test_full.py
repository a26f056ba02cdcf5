"""The full estimator against the formula of the theorem, written out by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.collocation import assembly
from kernop.collocation.ansatz import collocate

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u) + 3.0 * u, on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g")
)
POINTS = {"f": 60, "g": 30}
ETA, LAM = 0.7, 1e-6


@pytest.fixture(scope="module")
def operator():
    return ko.learn(PROBLEM, kernel=ko.Gaussian(ETA), points=POINTS, regularization=LAM, method=ko.Full())


def gaussian_derivatives(x, y):
    """K, ΔK and ΔΔK of exp(−r²/η²) in two dimensions, from the radial formulas."""
    r2 = ((x[:, None] - y[None]) ** 2).sum(-1) / ETA**2
    k = np.exp(-r2)
    return k, (4 * r2 - 4) / ETA**2 * k, (16 * r2**2 - 64 * r2 + 32) / ETA**4 * k


def naive(operator, weights=(1.0, 1.0)):
    """G, the regularised matrix and the representers at x: the theorem in a few lines of NumPy."""
    xf, xg = operator.points["f"].x, operator.points["g"].x
    k_ff, l_ff, b_ff = gaussian_derivatives(xf, xf)
    k_fg, l_fg, _ = gaussian_derivatives(xf, xg)
    k_gg, _, _ = gaussian_derivatives(xg, xg)
    g = np.block([[b_ff - 6 * l_ff + 9 * k_ff, -l_fg + 3 * k_fg], [(-l_fg + 3 * k_fg).T, k_gg]])
    w = np.repeat(weights, [len(xf), len(xg)])
    return g, g + LAM * len(g) * np.diag(1 / w)


def representers(operator, x):
    k_f, l_f, _ = gaussian_derivatives(x, operator.points["f"].x)
    k_g, _, _ = gaussian_derivatives(x, operator.points["g"].x)
    return np.hstack([-l_f + 3 * k_f, k_g])


def some_data(n, seed=0):
    return np.random.default_rng(seed).normal(size=n)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_equals_the_naive_formula(operator):
    f, g = some_data(60), some_data(30, 1)
    x = SQUARE.sample(50, "uniform", seed=5).x
    _, regularised = naive(operator)
    expected = representers(operator, x) @ np.linalg.solve(regularised, np.concatenate([f, g]))
    np.testing.assert_allclose(operator(f, g)(x), expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_weights_enter_as_in_the_risk():
    weights = {"f": 0.01, "g": 100.0}
    t = ko.learn(PROBLEM, kernel=ko.Gaussian(ETA), points=POINTS, regularization=LAM, method=ko.Full(), weights=weights)
    h = some_data(90)
    x = SQUARE.sample(50, "uniform", seed=5).x
    _, regularised = naive(t, (0.01, 100.0))
    expected = representers(t, x) @ np.linalg.solve(regularised, h)
    np.testing.assert_allclose(t(h[:60], h[60:])(x), expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())


def test_by_default_the_kernel_is_as_wide_as_the_problem_and_the_ridge_tiny():
    """η_k is the side along axis k, and λN = 1e-12 of the mean of G_ii, which is 32/η⁴ for −Δ and 1 for values."""
    box = ko.Box([0, 0], [2, 2])
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=box), ko.Dirichlet(on=box.boundary))
    operator = ko.learn(problem, points=POINTS, method=ko.Full())
    assert np.asarray(operator.kernel.lengthscale).tolist() == [2.0, 2.0]
    mean = (60 * 32 / 2.0**4 + 30 * 1.0) / 90
    assert operator.regularization * 90 == pytest.approx(1e-12 * mean, rel=1e-12)
    assert operator.weights == {"f": 1.0, "g": 1.0}


def test_basis_is_the_kernel_basis(operator):
    x = SQUARE.sample(20, "uniform", seed=5).x
    _, regularised = naive(operator)
    psi = np.linalg.solve(regularised, representers(operator, x).T).T
    np.testing.assert_allclose(operator.basis(x), psi, rtol=1e-7, atol=1e-8 * np.abs(psi).max())


def test_std_is_the_posterior_standard_deviation(operator):
    x = SQUARE.sample(20, "uniform", seed=5).x
    _, regularised = naive(operator)
    k = representers(operator, x)
    variance = 1.0 - np.einsum("ij,ji->i", k, np.linalg.solve(regularised, k.T))
    np.testing.assert_allclose(operator.std(x) ** 2, variance, atol=1e-10)


def risk(operator, c, h):
    """The regularised empirical risk of u = Σ c_i P_i K, with ‖u‖² = cᵀGc and P_i u = (Gc)_i."""
    g, _ = naive(operator)
    return np.mean((g @ c - h) ** 2) + LAM * c @ g @ c


def test_minimises_the_risk(operator):
    h = some_data(90)
    g, _ = naive(operator)
    scales = operator.factorisation.scales
    c = scales * operator.factorisation.coefficients(h[:, None])[:, 0]
    gradient = 2 * g @ (g @ c - h) / len(h) + 2 * LAM * g @ c
    assert np.linalg.norm(gradient) < 1e-8 * np.linalg.norm(2 * g @ h / len(h))
    least = risk(operator, c, h)
    for seed in range(20):
        nudge = some_data(90, seed) * np.linalg.norm(c) / 90
        assert all(risk(operator, c + size * nudge, h) > least for size in (1e-1, 1e-2, 1e-3))


def test_gram_is_symmetric_positive_semidefinite(operator):
    functionals = collocate(PROBLEM, operator.points)
    lower = np.tril(assembly.gram(operator.kernel, functionals, remedy=""))
    g = lower + np.tril(lower, -1).T
    np.testing.assert_allclose(g, naive(operator)[0], rtol=1e-10, atol=1e-10 * np.abs(g).max())
    np.testing.assert_allclose(
        assembly.cross(operator.kernel, functionals, functionals), g, atol=1e-12 * np.abs(g).max()
    )
    assert np.linalg.eigvalsh(g).min() > -1e-12 * np.linalg.eigvalsh(g).max()


def test_kernel_basis_is_the_greens_function_of_the_second_derivative():
    line = ko.Interval(0, 1)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=line), ko.Dirichlet(on=line.boundary))
    n = 400
    t = ko.learn(
        problem,
        kernel=ko.Matern(4.5, 0.3),
        points={"f": n, "g": 2},
        sampling="grid",
        regularization=0.0,
        method=ko.Full(),
    )
    y = t.points["f"].x[:, 0]
    x = np.linspace(0.05, 0.95, 41)
    green = np.minimum(x[:, None], y) * (1 - np.maximum(x[:, None], y))
    psi = t.basis(x[:, None])
    inner = (y > 0.05) & (y < 0.95)  # at the ends the quadrature weight is not 1/n
    assert np.abs(n * psi[:, :n] - green)[:, inner].max() < 1e-2 * green.max()
    poisson_kernels = np.stack([1 - x, x], axis=1)
    np.testing.assert_allclose(psi[:, n:], poisson_kernels, atol=1e-6)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_learning_takes_no_data_and_the_operator_is_linear(operator):
    f1, f2, g1, g2 = some_data(60), some_data(60, 1), some_data(30, 2), some_data(30, 3)
    x = SQUARE.sample(20, "uniform", seed=5).x
    both = operator(2 * f1 - 3 * f2, 2 * g1 - 3 * g2)(x)
    apart = 2 * operator(f1, g1)(x) - 3 * operator(f2, g2)(x)
    np.testing.assert_allclose(both, apart, rtol=1e-9, atol=1e-9 * np.abs(both).max())


def test_balanced_weights_do_not_see_the_scale_of_an_equation():
    def solve(factor):
        problem = ko.Problem(
            ko.Equation(lambda u: factor * ko.laplacian(u), on=SQUARE, name="f"),
            ko.Dirichlet(on=SQUARE.boundary, name="g"),
        )
        t = ko.learn(
            problem, kernel=ko.Gaussian(ETA), points=POINTS, regularization=1e-8, weights="balanced", method=ko.Full()
        )
        return t(lambda x: factor * jnp.sin(3 * x[..., 0]), 1.0)(x)

    x = SQUARE.sample(20, "uniform", seed=5).x
    # λ is measured against the geometric mean of the scales of the two conditions.
    np.testing.assert_allclose(solve(1000.0), solve(1.0), rtol=1e-3)


class TestSingular:
    def test_coinciding_points_without_regularisation(self):
        x = SQUARE.sample(20).x
        points = {"f": np.concatenate([x, x[:1]]), "g": 10}
        with pytest.raises(ko.errors.SingularGramError, match=r"regularization: got 0.*duplicate"):
            ko.learn(PROBLEM, kernel=ko.Gaussian(0.5), points=points, regularization=0.0, method=ko.Full())

    def test_too_many_points_for_a_wide_gaussian(self):
        with pytest.raises(ko.errors.SingularGramError, match="singular to working precision"):
            ko.learn(PROBLEM, kernel=ko.Gaussian(5.0), points=300, regularization=0.0, method=ko.Full())

    def test_the_regularization_it_suggests_works(self):
        with pytest.raises(ko.errors.SingularGramError) as caught:
            ko.learn(PROBLEM, kernel=ko.Gaussian(2.0), points=300, regularization=0.0, method=ko.Full())
        suggested = float(str(caught.value).split("regularization=")[1].split(" ")[0])
        t = ko.learn(PROBLEM, kernel=ko.Gaussian(2.0), points=300, regularization=suggested, method=ko.Full())
        u = t(**PROBLEM.manufacture(lambda x: jnp.sin(x[..., 0]), t.points))
        x = SQUARE.sample(50).x
        assert np.abs(u(x) - np.sin(x[:, 0])).max() < 1e-6

    def test_well_separated_points_need_no_regularisation(self):
        t = ko.learn(PROBLEM, kernel=ko.Gaussian(0.4), points=40, regularization=0.0, method=ko.Full())
        f = some_data(len(t.points["f"]))
        u = t(f, 0.0)
        np.testing.assert_allclose(u.residual("f", t.points["f"], f), 0, atol=1e-7)
