"""The posterior against the naive formulas of Gaussian processes, in NumPy and in sixty digits, and by its coverage."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import hermite

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, MemoryLimitError, OutsideDomainError, ShapeError
from kernop.collocation.functionals import Functionals, evaluations

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u) + 3.0 * u, on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary, name="g")
)
ETA, N_F, N = 0.3, 24, 26
KERNEL = ko.Gaussian(ETA)
POINTS = {"f": N_F, "g": 2}
NOISE = {"f": 0.5, "g": 0.02}
CENTRES = np.linspace(-0.2, 1.2, 12)[:, None]
X = np.linspace(0, 1, 9)[:, None]
Y = np.linspace(0.03, 0.9, 6)[:, None]

#: An operator in one dimension: order of the derivative ↦ coefficient.
EQUATION, VALUE, SLOPE = {2: -1.0, 0: 3.0}, {0: 1.0}, {1: 1.0}
OPS = {"value": (VALUE, lambda u: u), "slope": (SLOPE, lambda u: ko.partial(u, 0))}


def prior(p, x, q, y):
    """cov(P u(x_i), Q u(y_j)) for K = exp(−z²/η²), whose derivatives are Hermite polynomials."""
    z = (x[:, 0, None] - y[None, :, 0]) / ETA

    def derivative(m):
        return (-1 / ETA) ** m * hermite.hermval(z, [0] * m + [1]) * np.exp(-(z**2))

    return sum(a * b * (-1) ** j * derivative(i + j) for i, a in p.items() for j, b in q.items())


def rows(operator):
    return [(EQUATION, operator.points["f"].x), (VALUE, operator.points["g"].x)]


def with_rows(operator, p, x):
    return np.hstack([prior(p, x, q, y) for q, y in rows(operator)])


def ridge(operator, levels=NOISE):
    return np.repeat([levels["f"] ** 2, levels["g"] ** 2], [len(operator.points["f"]), len(operator.points["g"])])


def process(operator, p, x, y, levels=NOISE):
    """The textbook: K − k (G + R)⁻¹ kᵀ."""
    g = np.vstack([with_rows(operator, *row) for row in rows(operator)]) + np.diag(ridge(operator, levels))
    return prior(p, x, p, y) - with_rows(operator, p, x) @ np.linalg.solve(g, with_rows(operator, p, y).T)


def in_the_span(operator, p, x, y):
    """The prior of the kernel, of which the data see the projection onto the translates; Q = b M⁻¹ bᵀ."""
    a = np.vstack([prior(q, z, VALUE, CENTRES) for q, z in rows(operator)])
    m = prior(VALUE, CENTRES, VALUE, CENTRES)
    left, right = prior(p, x, VALUE, CENTRES), prior(p, y, VALUE, CENTRES)
    inverse = np.linalg.inv(m + a.T @ (a / ridge(operator)[:, None]))
    return prior(p, x, p, y) - left @ np.linalg.solve(m, right.T) + left @ inverse @ right.T


def of_coefficients(operator, p, x, y):
    """c ~ N(0, I)."""
    a = np.vstack([prior(q, z, VALUE, CENTRES) for q, z in rows(operator)])
    inverse = np.linalg.inv(np.eye(len(CENTRES)) + a.T @ (a / ridge(operator)[:, None]))
    return prior(p, x, VALUE, CENTRES) @ inverse @ prior(p, y, VALUE, CENTRES).T


METHODS = {
    "full": (ko.Full(), process),
    "low rank": (ko.LowRank(tol=1e-12), process),
    "all representers": (ko.Subspace(N, basis="representers", penalty="rkhs"), process),
    "rkhs": (ko.Subspace(CENTRES, penalty="rkhs"), in_the_span),
    "rkhs normal": (ko.Subspace(CENTRES, penalty="rkhs", solver="normal"), in_the_span),
    "coefficients": (ko.Subspace(CENTRES), of_coefficients),
    "normal": (ko.Subspace(CENTRES, solver="normal"), of_coefficients),
    "streamed": (ko.Subspace(CENTRES, batch=7), of_coefficients),
    "streamed rkhs": (ko.Subspace(CENTRES, penalty="rkhs", batch=7), in_the_span),
}


def learn(method, **more):
    return ko.learn(PROBLEM, kernel=KERNEL, points=POINTS, method=method, **{"noise": NOISE, **more})


@pytest.fixture(scope="module", params=METHODS)
def case(request):
    method, naive = METHODS[request.param]
    return learn(method), naive


@pytest.mark.parametrize("op", OPS)
def test_covariance_is_the_naive_formula(case, op):
    operator, naive = case
    p, written = OPS[op]
    scale = prior(p, X, p, X).max()
    np.testing.assert_allclose(operator.covariance(X, op=written), naive(operator, p, X, X), atol=2e-8 * scale)
    np.testing.assert_allclose(operator.covariance(X, Y, op=written), naive(operator, p, X, Y), atol=2e-8 * scale)
    np.testing.assert_allclose(
        operator.std(X, op=written) ** 2, np.diag(naive(operator, p, X, X)), rtol=1e-4, atol=2e-8 * scale
    )


def test_covariance_is_symmetric_positive_and_has_the_squares_of_std(case):
    operator, _ = case
    found = operator.covariance(X)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.sqrt(np.diag(found)), operator.std(X))
    values = np.linalg.eigvalsh(found)
    assert values.min() > -1e-14 * values.max()
    np.testing.assert_allclose(operator.covariance(X, X), found, atol=1e-14 * values.max())
    np.testing.assert_allclose(operator.covariance(Y, X), operator.covariance(X, Y).T, atol=1e-14 * values.max())


def test_samples_have_the_mean_and_the_covariance(case):
    operator, _ = case
    number, data = 20000, (np.sin(5 * operator.points["f"].x[:, 0]), [0.3, -0.2])
    found = operator.samples(Y, number, *data)
    assert found.shape == (len(Y), number)
    cov = operator.covariance(Y)
    each = np.diag(cov)
    mean = np.abs(found.mean(axis=1) - operator(*data)(Y))
    assert np.all(mean < 4.5 * np.sqrt(each / number))
    # The variance of an entry of the empirical covariance is (C_ii C_jj + C_ij²) / number.
    assert np.all(np.abs(np.cov(found) - cov) < 4.5 * np.sqrt((np.outer(each, each) + cov**2) / number))


def test_samples_follow_their_seed_and_their_inputs(case):
    operator, _ = case
    one = operator.samples(Y, 3, 1.0, 0.0, seed=5)
    np.testing.assert_array_equal(one, operator.samples(Y, 3, f=1.0, g=0.0, seed=5))
    assert np.all(one != operator.samples(Y, 3, 1.0, 0.0, seed=6))
    both = operator.samples(Y, 4, np.ones((N_F, 2)) * [1.0, 0.0], 0.0)
    assert both.shape == (len(Y), 2, 4)
    away = both - operator(np.ones((N_F, 2)) * [1.0, 0.0], 0.0)(Y)[:, :, None]
    assert np.all(np.abs(away) < 6 * operator.std(Y)[:, None, None])
    assert np.all(away[:, 0] != away[:, 1])


def test_deviations_piece_by_piece(case, monkeypatch):
    operator, _ = case
    whole = operator.std(X)
    monkeypatch.setattr("kernop.methods.base.PIECE", 4)
    np.testing.assert_allclose(operator.std(X), whole, rtol=1e-7)


def test_samples_of_a_derivative():
    operator = learn(ko.Full())
    slope = lambda u: ko.partial(u, 0)
    found = operator.samples(Y, 4000, 1.0, 0.0, op=slope)
    np.testing.assert_allclose(found.std(axis=1), operator.std(Y, slope), rtol=0.06)
    expected = operator(1.0, 0.0).grad(Y)[:, 0]
    assert np.all(np.abs(found.mean(axis=1) - expected) < 5 * operator.std(Y, slope) / np.sqrt(4000))


@settings(max_examples=15, deadline=None)
@given(
    name=st.sampled_from(["full", "low rank", "rkhs", "coefficients", "normal"]),
    new=st.lists(st.floats(0.01, 0.99), min_size=1, max_size=5),
)
def test_more_points_never_make_it_less_certain(name, new):
    before = learn(METHODS[name][0])
    after = before.update({"f": np.array(new)[:, None]})
    assert np.all(after.std(X) <= before.std(X) * (1 + 1e-9))
    less = before.covariance(X) - after.covariance(X)
    assert np.linalg.eigvalsh(less).min() > -1e-10


def in_sixty_digits(operator, x, eta, levels):
    """The variance of the full estimator by elimination, with decimals."""
    with localcontext() as context:
        context.prec = 60
        exact = np.vectorize(lambda value: Decimal(float(value)), otypes=[object])
        exp = np.vectorize(lambda value: value.exp(), otypes=[object])
        square = Decimal(eta) ** 2

        def k(a, b, order):
            t = np.subtract.outer(a, b) ** 2 / square
            return exp(-t) * {0: 1, 2: (4 * t - 2) / square, 4: (16 * t * t - 48 * t + 12) / square**2}[order]

        f, g, x = (exact(v[:, 0]) for v in (operator.points["f"].x, operator.points["g"].x, x))
        a = np.block([[k(f, f, 4), -k(f, g, 2)], [-k(g, f, 2), k(g, g, 0)]])
        a[np.diag_indices(len(a))] += exact(ridge(operator, levels))
        both = np.hstack([a, np.hstack([-k(x, f, 2), k(x, g, 0)]).T])
        variance = exact(np.ones(len(x)))
        for i in range(len(a)):
            variance = variance - both[i, len(a) :] ** 2 / both[i, i]
            both[i + 1 :] = both[i + 1 :] - np.outer(both[i + 1 :, i] / both[i, i], both[i])
        return variance.astype(float)


@pytest.mark.parametrize(
    ("eta", "levels", "rtol"),
    [(0.5, {"f": 1e-3, "g": 1e-3}, 1e-8), (0.5, {"f": 1e-6, "g": 1e-6}, 1e-4), (0.5, {"f": 1e-3, "g": 1e-10}, 1e-2)],
)
def test_variance_of_full_keeps_its_digits_near_zero(eta, levels, rtol):
    """At the ends it is 10⁻²⁰ of the prior: the difference K − k A⁻¹ k itself would be wrong by a factor 10⁴."""
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary, name="g")
    )
    operator = ko.learn(problem, kernel=ko.Gaussian(eta), points=POINTS, noise=levels, method=ko.Full())
    x = np.array([0.0, 1e-6, 0.003, 0.1, 0.37, 1.0])[:, None]
    np.testing.assert_allclose(operator.std(x) ** 2, in_sixty_digits(operator, x, eta, levels), rtol=rtol)


def test_where_the_variance_is_below_rounding_covariances_are_those_of_the_noise():
    """Between points so close that what they do not know of the prior is below its rounding errors."""
    operator = ko.learn(PROBLEM, kernel=ko.Gaussian(4.0), points=POINTS, noise=1e-6, method=ko.Full())
    x, y = np.linspace(0.1, 0.9, 30)[:, None], np.array([[0.5], [9.0]])
    near, far = (operator.factorisation.posterior(Functionals((evaluations(at),))) for at in (x, y))
    np.testing.assert_allclose(near.variance(), np.sum(near.spread**2, axis=0), rtol=1e-9)
    assert far.variance()[1] > 0.5
    np.testing.assert_allclose(near.across(far), near.spread.T @ far.spread, rtol=1e-9)
    np.testing.assert_allclose(far.across(near), far.spread.T @ near.spread, rtol=1e-9)
    assert np.all(np.abs(near.across(near)) <= np.sqrt(np.outer(near.variance(), near.variance())) * (1.0 + 1e-9))


@pytest.mark.parametrize("method", [ko.Full(), ko.LowRank(tol=1e-8)], ids=repr)
def test_draws_where_the_prior_rules_have_its_covariance(method):
    operator = ko.learn(PROBLEM, kernel=9.0 * ko.Gaussian(1.0), points=POINTS, noise=0.1, method=method)
    found = operator.factorisation.posterior(Functionals((evaluations(np.array([[0.5], [2.0], [2.5], [3.5]])),)))
    covariance = found.covariance()
    np.testing.assert_allclose(covariance[3, 3], 9.0, rtol=0.01)
    np.testing.assert_allclose(np.cov(found.draws(40_000, seed=1)), covariance, atol=0.03 * 9.0)


def test_far_from_all_data_it_is_the_prior():
    problem = ko.Problem(ko.Equation(lambda u: u, on=LINE, name="f"))
    points = {"f": ko.Points(np.array([[0.0]]))}
    operator = ko.learn(problem, kernel=ko.Gaussian(0.05), noise=1e-3, points=points, method=ko.Full())
    np.testing.assert_allclose(operator.std([[0.5]]), 1.0, rtol=1e-12)
    np.testing.assert_allclose(operator.std([[0.0]]), 1e-3, rtol=1e-5)


def drawn(operator, levels, number, seed):
    """u at X (M, number) and noisy data (N, number) of functions from the prior of the kernel."""
    rng = np.random.default_rng(seed)
    parts = [(VALUE, X), *rows(operator)]
    joint = np.block([[prior(p, x, q, y) for q, y in parts] for p, x in parts])
    scales = 1 / np.sqrt(np.diag(joint))
    values, vectors = np.linalg.eigh(joint * np.outer(scales, scales))
    root = vectors * np.sqrt(np.maximum(values, 0)) / scales[:, None]
    found = root @ rng.normal(size=(len(joint), number))
    return found[: len(X)], found[len(X) :] + np.sqrt(ridge(operator, levels))[:, None] * rng.normal(size=(N, number))


@pytest.mark.parametrize("name", ["full", "low rank", "rkhs"])
def test_the_band_of_95_percent_covers_95_percent(name):
    operator = learn(METHODS[name][0])
    truth, data = drawn(operator, NOISE, 1500, seed=3)
    away = np.abs(operator(data[:N_F], data[N_F:])(X) - truth) / operator.std(X)[:, None]
    assert 0.93 < np.mean(away < 1.96) < 0.97
    assert 0.64 < np.mean(away < 1.0) < 0.73


def test_the_band_of_a_solution_covers_when_the_scale_of_the_prior_is_unknown():
    variance = NOISE["f"] * NOISE["g"]
    weights = {name: variance / level**2 for name, level in NOISE.items()}
    operator = learn(ko.Full(), noise=None, regularization=variance / N, weights=weights)
    truth, data = drawn(operator, NOISE, 1500, seed=4)
    u = operator(70.0 * data[:N_F], 70.0 * data[N_F:])
    # The scale is estimated from 26 numbers: a t-distribution, whose 95 % are at 2.06 instead of 1.96.
    assert 0.93 < np.mean(np.abs(u(X) - 70.0 * truth) < 2.06 * u.std(X)) < 0.97


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_least_squares_without_a_prior_has_the_standard_error_of_regression():
    operator = ko.learn(PROBLEM, kernel=KERNEL, points={"f": 60, "g": 2}, method=ko.Subspace(CENTRES), weights="unit")
    rng = np.random.default_rng(0)
    c = rng.normal(size=(len(CENTRES), 1))
    a = np.vstack([prior(q, z, VALUE, CENTRES) for q, z in rows(operator)])
    data = a @ c + 0.1 * rng.normal(size=(62, 1500))
    u = operator(data[:60], data[60:])
    left = data[:, 0] - a @ np.linalg.lstsq(a, data[:, 0], rcond=None)[0]
    b = prior(VALUE, X, VALUE, CENTRES)
    expected = left @ left / (62 - 12) * np.einsum("ij,jk,ik->i", b, np.linalg.pinv(a.T @ a, rcond=1e-14), b)
    np.testing.assert_allclose(u.std(X)[:, 0] ** 2, expected, rtol=1e-4)
    truth = b @ c
    assert 0.93 < np.mean(np.abs(u(X) - truth) < 2.01 * u.std(X)) < 0.97  # 50 degrees of freedom


def test_solutions_of_a_stream_know_a_stated_noise():
    streamed, held = learn(ko.Subspace(CENTRES, batch=7))(1.0, 0.0), learn(ko.Subspace(CENTRES))
    for u in (streamed, held(1.0, 0.0)):
        np.testing.assert_allclose(u.std(X), held.std(X), rtol=1e-6)
    np.testing.assert_allclose(streamed.samples(X, 4000).std(axis=1), held.std(X), rtol=0.06)


class TestRefusals:
    @pytest.mark.parametrize("ask", ["std", "covariance", "samples"])
    def test_no_prior(self, ask):
        operator = ko.learn(PROBLEM, points=POINTS, method=ko.Subspace(10))
        arguments = (X, 3, 0.0, 0.0) if ask == "samples" else (X,)
        with pytest.raises(ArgumentError, match=rf"{ask}: got .*no prior; state the noise.*u\.std"):
            getattr(operator, ask)(*arguments)

    def test_nothing_left_to_tell_the_noise(self):
        operator = ko.learn(PROBLEM, points={"f": 5, "g": 2}, method=ko.Subspace(10))
        with pytest.raises(ArgumentError, match=r"std: got 7 points for 10 trial functions.*more points"):
            operator(1.0, 0.0).std(X)

    def test_solutions_of_a_stream(self):
        operator = learn(ko.Subspace(CENTRES, batch=7), noise=None, regularization=1e-3)
        with pytest.raises(ArgumentError, match=r"u\.std: got .*stream, without a level of noise; state it in learn"):
            operator(1.0, 0.0).std(X)

    def test_bad_arguments(self):
        operator = learn(ko.Full())
        with pytest.raises(ArgumentError, match="number: got 0"):
            operator.samples(X, 0, 1.0, 0.0)
        with pytest.raises(MemoryLimitError, match="number: got 1000000000000 draws at 9 points"):
            operator.samples(X, 10**12, 1.0, 0.0)
        with pytest.raises(ArgumentTypeError, match=r"number: got 1\.5"):
            operator(1.0, 0.0).samples(X, 1.5)
        with pytest.raises(ArgumentError, match="seed: got -1"):
            operator.samples(X, 2, 1.0, 0.0, seed=-1)
        with pytest.raises(ShapeError, match="y: got an array of shape"):
            operator.covariance(X, np.zeros((3, 2)))
        with pytest.raises(OutsideDomainError, match="y: got 1 of 1 points outside"):
            operator.covariance(X, [[1.5]])
        with pytest.raises(ArgumentTypeError, match="op: got 3"):
            operator.std(X, op=3)
