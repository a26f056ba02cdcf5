"""The marginal likelihood against SciPy's density of a normal vector with the covariance written out."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

import kernop as ko
from kernop.basics.errors import ArgumentError
from kernop.collocation.ansatz import collocate
from kernop.collocation.assembly import cross

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary, name="g")
)
KERNEL, LEVELS = ko.Gaussian(0.3), {"f": 0.5, "g": 0.05}
X = np.linspace(0, 1, 7)[:, None]


def of_the_kernel(operator):
    rows = collocate(PROBLEM, operator.points)
    return cross(KERNEL, rows, rows)


def of_the_span(operator):
    rows, trial = collocate(PROBLEM, operator.points), operator.factorisation.expansion.functionals
    a = cross(KERNEL, rows, trial)
    return a @ np.linalg.solve(cross(KERNEL, trial, trial), a.T)


def of_coefficients(operator):
    a = cross(KERNEL, collocate(PROBLEM, operator.points), operator.factorisation.expansion.functionals)
    return a @ a.T


METHODS = {
    "full": (ko.Full(), of_the_kernel),
    "low rank": (ko.LowRank(tol=1e-12), of_the_kernel),
    "rkhs": (ko.Subspace(8, penalty="rkhs"), of_the_span),
    "rkhs normal": (ko.Subspace(8, penalty="rkhs", solver="normal"), of_the_span),
    "coefficients": (ko.Subspace(8), of_coefficients),
    "normal": (ko.Subspace(8, solver="normal"), of_coefficients),
}


def stated(method):
    return ko.learn(PROBLEM, kernel=KERNEL, points={"f": 20, "g": 2}, noise=LEVELS, method=method)


def open_scale(method):
    known = stated(method)
    settings = {"regularization": known.regularization, "weights": known.weights}
    return ko.learn(PROBLEM, kernel=KERNEL, points={"f": 20, "g": 2}, method=method, **settings)


def covariance(operator, naive):
    """Σ, with the noise of the levels, in the order of the data."""
    counts = [len(points) for points in operator.points.values()]
    return naive(operator) + np.diag(np.repeat([LEVELS["f"] ** 2, LEVELS["g"] ** 2], counts))


def some_data(operator, seed=0):
    rng = np.random.default_rng(seed)
    return [7.0 * rng.normal(size=len(points)) for points in operator.points.values()]


@pytest.fixture(scope="module", params=METHODS)
def case(request):
    return METHODS[request.param]


def test_likelihood_with_the_noise_that_was_stated(case):
    method, naive = case
    operator = stated(method)
    data = some_data(operator)
    found = operator.evidence(*data)
    expected = multivariate_normal.logpdf(np.concatenate(data), cov=covariance(operator, naive))
    assert found.scale == 1.0
    assert found.log_likelihood == pytest.approx(expected, rel=1e-8)


def test_scale_is_where_the_likelihood_is_largest(case):
    method, naive = case
    operator = open_scale(method)
    data, sigma = some_data(operator), covariance(operator, naive)
    found = operator.evidence(*data)
    best = minimize_scalar(
        lambda log: -multivariate_normal.logpdf(np.concatenate(data), cov=np.exp(2 * log) * sigma), bounds=(-5, 12)
    )
    assert found.scale == pytest.approx(np.exp(best.x), rel=1e-4)
    assert found.log_likelihood == pytest.approx(-best.fun, rel=1e-8)


def test_after_an_update_too(case):
    method, naive = case
    operator = stated(method).update({"f": [[0.111], [0.222], [0.333]]})
    data = some_data(operator)
    expected = multivariate_normal.logpdf(np.concatenate(data), cov=covariance(operator, naive))
    assert operator.evidence(*data).log_likelihood == pytest.approx(expected, rel=1e-8)


def test_several_inputs_one_by_one(case):
    operator = open_scale(case[0])
    one, other = some_data(operator), some_data(operator, 1)
    both = operator.evidence(*(np.stack(pair, axis=1) for pair in zip(one, other, strict=True)))
    each = [operator.evidence(*one), operator.evidence(*other)]
    np.testing.assert_allclose(both.scale, [e.scale for e in each], rtol=1e-10)
    np.testing.assert_allclose(both.log_likelihood, [e.log_likelihood for e in each], rtol=1e-10)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_band_of_a_solution_is_that_of_the_operator_times_the_scale(case):
    operator = open_scale(case[0])
    data = some_data(operator)
    u = operator(*data)
    np.testing.assert_allclose(u.std(X), operator.evidence(*data).scale * operator.std(X), rtol=1e-10)
    np.testing.assert_allclose(operator(*(5.0 * h for h in data)).std(X), 5.0 * u.std(X), rtol=1e-8)
    found = u.samples(X, 4000, seed=1)
    np.testing.assert_allclose(found.std(axis=1), u.std(X), rtol=0.06)
    np.testing.assert_array_less(np.abs(found.mean(axis=1) - u(X)), 5 * u.std(X) / np.sqrt(4000))


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_band_of_a_solution_whose_noise_was_stated_is_that_of_the_operator(case):
    operator = stated(case[0])
    u = operator(*(3.0 * h for h in some_data(operator)))
    np.testing.assert_array_equal(u.std(X), operator.std(X))
    slope = lambda u: ko.partial(u, 0)
    np.testing.assert_array_equal(u.std(X, slope), operator.std(X, slope))


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_bands_of_several_solutions(case):
    operator = open_scale(case[0])
    data = [np.stack([h, 10.0 * h], axis=1) for h in some_data(operator)]
    u = operator(*data)
    assert u.std(X).shape == (7, 2)
    np.testing.assert_allclose(u.std(X)[:, 1], 10.0 * u.std(X)[:, 0], rtol=1e-8)
    assert u.samples(X, 5).shape == (7, 2, 5)


def test_likelihood_prefers_the_kernel_that_the_data_came_from():
    operator = stated(ko.Full())
    sigma = covariance(operator, of_the_kernel)
    h = np.linalg.cholesky(sigma) @ np.random.default_rng(5).normal(size=(22, 40))

    def total(kernel):
        learned = ko.learn(PROBLEM, kernel=kernel, points=operator.points, noise=LEVELS, method=ko.Full())
        return np.sum(learned.evidence(h[:20], h[20:]).log_likelihood)

    assert total(KERNEL) > max(total(ko.Gaussian(0.2)), total(ko.Gaussian(0.45)), total(9.0 * KERNEL))


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("factor", [1e-200, 1e140])
def test_the_scale_follows_data_of_any_size(case, factor):
    operator = open_scale(case[0])
    data = some_data(operator)
    scaled = [factor * h for h in data]
    assert operator.evidence(*scaled).scale == pytest.approx(factor * operator.evidence(*data).scale, rel=1e-8)
    np.testing.assert_allclose(operator(*scaled).std(X), factor * operator(*data).std(X), rtol=1e-8)


class TestRefusals:
    def test_no_prior(self):
        operator = ko.learn(PROBLEM, points={"f": 20, "g": 2}, method=ko.Subspace(8))
        with pytest.raises(ArgumentError, match=r"evidence: got .*no prior; give regularization= or noise="):
            operator.evidence(1.0, 0.0)

    def test_all_zero(self):
        with pytest.raises(ArgumentError, match=r"evidence: got data that are all zero"):
            open_scale(ko.Full()).evidence(0.0, 0.0)
        assert np.isfinite(stated(ko.Full()).evidence(0.0, 0.0).log_likelihood)
        np.testing.assert_array_equal(open_scale(ko.Full())(0.0, 0.0).std(X), 0.0)

    def test_streams(self):
        operator = stated(ko.Subspace(8, batch=6))
        for one in (operator, operator.materialize()):
            with pytest.raises(ArgumentError, match=r"T: got .*stream.*use T\.std"):
                one.evidence(1.0, 0.0)
