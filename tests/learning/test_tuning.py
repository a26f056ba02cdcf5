"""Tuning: every criterion against its definition, its gradient against differences, and the result against truth."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

import kernop as ko
from kernop.basics.precision import float64
from kernop.collocation import assembly
from kernop.collocation.ansatz import collocate
from kernop.collocation.sampling import sample
from kernop.learning.tuning import CRITERIA, RELATIVE, Search, tune
from kernop.trust.criteria import contract, lengthscales, spectrum, with_lengthscales

SQUARE, LINE = ko.Box([0, 0], [1, 1]), ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u) + 3.0 * u, on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g")
)
COUNTS = {"f": 24, "g": 16}
KERNEL = ko.Gaussian(0.5)
WEIGHTS = {"unit": (1.0, 1.0), "dict": (0.01, 30.0)}
LAMS = (1e-4, 1e-1)


def solution(x):
    return jnp.sin(3.0 * x[..., 0] + 1.0) * jnp.exp(x[..., 1])


def source(x):
    return 11.0 * solution(x)


def functionals():
    return collocate(PROBLEM, sample(PROBLEM, COUNTS))


def rows(kind="dict"):
    return np.repeat(WEIGHTS[kind], list(COUNTS.values()))


def random_data(columns=3):
    return np.random.default_rng(0).normal(size=(sum(COUNTS.values()), columns))


def dense(kernel=KERNEL):
    """G, by a path that is not the one under test: all of it, not one triangle of a scaled one."""
    return assembly.cross(kernel, functionals(), functionals())


def factored(kind="dict", kernel=KERNEL, data=None):
    return spectrum(kernel, functionals(), rows(kind), random_data() if data is None else data)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("lam", LAMS)
class TestCriteria:
    def test_leave_one_out_residuals_are_those_of_refits(self, kind, lam):
        g, h, w, n = dense(), random_data(), rows(kind), len(rows(kind))
        expected = np.empty_like(h)
        for i in range(n):
            rest = np.delete(np.arange(n), i)
            ridge = lam * n * np.diag(1.0 / w[rest])  # N, not N − 1
            c = np.linalg.solve(g[np.ix_(rest, rest)] + ridge, h[rest])
            expected[i] = np.sqrt(w[i]) * (h[i] - g[i, rest] @ c)
        np.testing.assert_allclose(factored(kind).residuals(lam), expected, rtol=1e-6, atol=1e-7 * abs(expected).max())
        np.testing.assert_allclose(factored(kind).loo([lam]), [np.mean(expected**2)], rtol=1e-7)

    def test_gcv_is_that_of_the_hat_matrix(self, kind, lam):
        g, h, w, n = dense(), random_data(), rows(kind), len(rows(kind))
        # û at the points is H h, and the residual counts in the norm of the weights.
        hat = g @ np.linalg.inv(g + lam * n * np.diag(1.0 / w))
        rest = (np.eye(n) - hat) @ h
        expected = np.mean(np.sum(w[:, None] * rest**2, axis=0) / n) / (np.trace(np.eye(n) - hat) / n) ** 2
        np.testing.assert_allclose(factored(kind).gcv([lam]), [expected], rtol=1e-6)

    def test_likelihood_is_that_of_a_normal_distribution(self, kind, lam):
        h, w, n = random_data(1), rows(kind), len(rows(kind))
        c = dense() + lam * n * np.diag(1.0 / w)

        def logpdf(variance):
            return multivariate_normal.logpdf(h[:, 0], cov=variance * c)

        found = factored(kind, data=h)
        best = found.variance(lam).item()
        np.testing.assert_allclose(found.likelihood(lam), logpdf(best), rtol=1e-8)
        assert logpdf(best) > max(logpdf(0.9 * best), logpdf(1.1 * best))


def test_columns_share_one_variance_in_the_likelihood():
    h, n = random_data(), len(rows())
    found = factored()
    c = dense() + 1e-3 * n * np.diag(1.0 / rows())
    each = [multivariate_normal.logpdf(column, cov=found.variance(1e-3).item() * c) for column in h.T]
    np.testing.assert_allclose(found.likelihood(1e-3), np.mean(each), rtol=1e-8)


def test_all_lambdas_at_once_are_the_same_as_one_by_one():
    found = factored()
    for rule in (found.loo, found.gcv, found.likelihood):
        together = rule(np.array(LAMS))
        np.testing.assert_allclose(together, [rule(lam).item() for lam in LAMS], rtol=1e-12)
        assert together[0] != together[1]


KERNELS = {
    "one lengthscale": ko.Gaussian(0.5),
    "for each axis": ko.Gaussian([0.4, 0.7]),
    "Matérn for each axis": ko.Matern(5.5, [0.6, 0.9]),
    "sum": ko.Gaussian([0.4, 0.7]) + 0.3 * ko.InverseMultiquadric(0.8),
    "product": ko.Gaussian(0.9) * ko.Wendland(4, 2.0),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("relative", [True, False])
def test_gradient_of_the_likelihood_is_that_of_differences(kernel, relative):
    given = None if relative else np.array([1e-5, 1e-1])
    search = Search(
        kernel=kernel,
        functionals=functionals(),
        weights=rows(),
        data=random_data(),
        criterion="likelihood",
        regularizations=given,
    )
    theta = np.log(np.append(lengthscales(kernel), 1e-5 if relative else 1e-3))
    _, gradient = search.descent(theta)
    step = 1e-4
    differences = [
        (search.descent(theta + step * e)[0] - search.descent(theta - step * e)[0]) / (2.0 * step)
        for e in np.eye(len(theta))
    ]
    np.testing.assert_allclose(gradient, differences, rtol=1e-5, atol=1e-7)
    assert np.all(np.abs(gradient) > 1e-4)  # or the comparison would say nothing


def test_contraction_is_that_of_the_derivative_of_the_gram_matrix():
    kernel, w, step = ko.Gaussian([0.4, 0.7]), rows(), 1e-5
    m = np.random.default_rng(1).normal(size=(len(w), len(w)))
    m += m.T
    expected = []
    for e in np.eye(2):
        up, down = (dense(with_lengthscales(kernel, np.array([0.4, 0.7]) * np.exp(s * step * e))) for s in (1, -1))
        expected.append(np.sum(m * np.sqrt(np.outer(w, w)) * (up - down)) / (2.0 * step))
    np.testing.assert_allclose(contract(kernel, functionals(), w, m), expected, rtol=1e-6)


def test_lengthscales_of_combined_kernels():
    kernel = (2.0 * ko.Gaussian([0.4, 0.7])) + ko.Matern(4.5, 0.3) * ko.Gaussian(0.9)
    np.testing.assert_array_equal(lengthscales(kernel), [0.4, 0.7, 0.3, 0.9])
    other = with_lengthscales(kernel, np.array([1.0, 2.0, 3.0, 4.0]))
    assert repr(other) == repr((2.0 * ko.Gaussian([1.0, 2.0])) + ko.Matern(4.5, 3.0) * ko.Gaussian(4.0))
    with pytest.raises(ko.errors.ArgumentError, match="lengthscale"):
        with_lengthscales(kernel, np.array([1.0, 2.0, np.nan, 4.0]))


def error(operator):
    """The relative error for a solution that was not tuned for."""
    x = SQUARE.sample(300, "uniform", seed=9).x
    with float64():
        exact = np.asarray(solution(x))
    u = operator(**PROBLEM.manufacture(solution, operator.points))
    return np.linalg.norm(u(x) - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("criterion", CRITERIA)
class TestTune:
    @pytest.mark.parametrize("weights", ["unit", "balanced"])
    @pytest.mark.parametrize("start", [0.08, 6.0])
    def test_improves_a_bad_lengthscale_from_the_equation_alone(self, criterion, weights, start):
        found = tune(PROBLEM, ko.Gaussian(start), points=80, criterion=criterion, weights=weights)
        untuned = ko.learn(
            PROBLEM,
            kernel=ko.Gaussian(start),
            points=found.points,
            regularization=1e-8,
            weights=found.weights,
            method=ko.Full(),
        )
        assert error(found.learn()) < min(0.1 * error(untuned), 1e-2)

    def test_data_of_a_smooth_solution_asks_for_more_than_probes_do(self, criterion):
        data = {"f": source, "g": solution}
        found = tune(PROBLEM, ko.Gaussian([0.1, 0.1]), points=60, criterion=criterion, data=data)
        assert error(found.learn()) < 1e-3
        assert np.all(lengthscales(found.kernel) > 0.5)

    def test_noise_asks_for_more_regularisation(self, criterion):
        points = sample(PROBLEM, {"f": 45, "g": 15})
        clean = PROBLEM.manufacture(solution, points)
        rng = np.random.default_rng(0)
        noisy = {name: h + 0.1 * np.abs(h).max() * rng.normal(size=h.shape) for name, h in clean.items()}
        with_noise, without = (
            tune(PROBLEM, ko.Gaussian(1.0), points=points, criterion=criterion, data=h, lengthscales=False)
            for h in (noisy, clean)
        )
        assert with_noise.regularization > 1e3 * without.regularization

    def test_reports_the_best_of_the_path_and_learns_with_it(self, criterion):
        found = tune(PROBLEM, ko.Gaussian(0.3), points=30, criterion=criterion, weights={"g": 5.0})
        values = [trial.value for trial in found.path]
        assert found.value == (min(values) if CRITERIA[criterion] else max(values))
        best = next(trial for trial in found.path if trial.value == found.value)
        assert best.regularization == found.regularization
        np.testing.assert_allclose(best.lengthscales, found.kernel.lengthscale)
        np.testing.assert_allclose(best.factor, found.kernel.lengthscale / 0.3)
        assert len({trial.lengthscales for trial in found.path}) >= 6
        operator = found.learn()
        assert operator.kernel is found.kernel
        assert operator.regularization == found.regularization
        assert found.weights == {"f": 1.0, "g": 5.0}
        assert all(np.array_equal(operator.points[name].x, found.points[name].x) for name in "fg")

    def test_given_regularizations_are_kept_to(self, criterion):
        found = tune(PROBLEM, ko.Gaussian(0.3), points=30, criterion=criterion, regularizations=[1e-3, 1e-5])
        assert all(1e-5 * (1 - 1e-12) <= trial.regularization <= 1e-3 * (1 + 1e-12) for trial in found.path)

    def test_fixed_lengthscales_stay(self, criterion):
        kernel = ko.Gaussian([0.3, 0.5]) + ko.Matern(4.5, 0.4)
        found = tune(PROBLEM, kernel, points=30, criterion=criterion, lengthscales=False)
        np.testing.assert_allclose(lengthscales(found.kernel), [0.3, 0.5, 0.4], rtol=1e-12)
        assert len({trial.regularization for trial in found.path}) >= len(RELATIVE)

    def test_plot_writes_a_picture(self, criterion, tmp_path):
        target = tmp_path / "new" / "tuning.png"
        found = tune(PROBLEM, ko.Gaussian(0.3), points=30, criterion=criterion)
        assert found.plot(target) == target
        assert target.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert target.stat().st_size > 5000


def test_a_common_factor_moves_all_lengthscales_alike():
    found = tune(PROBLEM, ko.Gaussian([0.1, 0.2]) + ko.Matern(4.5, 0.05), points=40)
    ratios = lengthscales(found.kernel) / np.array([0.1, 0.2, 0.05])
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-12)
    assert ratios[0] > 1.2


def test_likelihood_finds_that_one_axis_is_longer():
    data = {"f": lambda x: 67.0 * jnp.sin(8.0 * x[..., 0]), "g": lambda x: jnp.sin(8.0 * x[..., 0])}
    found = tune(PROBLEM, ko.Gaussian([0.5, 0.5]), points=60, criterion="likelihood", data=data)
    across, along = found.kernel.lengthscale
    assert along > 2.0 * across


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
def test_waves_of_the_equation_are_among_the_probes(criterion):
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) - 1600.0 * u, on=LINE), ko.Dirichlet(on=LINE.boundary))
    operator = tune(problem, ko.Gaussian(1.0), points=70, criterion=criterion).learn()
    x = LINE.sample(200, "uniform", seed=3).x
    u = operator(0.0, lambda x: jnp.cos(40.0 * x[..., 0]))
    assert np.abs(u(x) - np.cos(40.0 * x[:, 0])).max() < 2e-2  # 1 if tuned for smooth fields only


def test_the_same_seed_gives_the_same_and_data_may_be_arrays_with_columns():
    points = sample(PROBLEM, 30)
    h = PROBLEM.manufacture(lambda x: jnp.stack([solution(x), x[..., 0] ** 2], axis=-1), points)
    first, again = (tune(PROBLEM, ko.Gaussian(0.3), points=points, data=h) for _ in range(2))
    assert (first.value, first.regularization) == (again.value, again.regularization)
    # Columns count alike whatever their size.
    scaled = tune(PROBLEM, ko.Gaussian(0.3), points=points, data={k: v * [1e3, 1e-3] for k, v in h.items()})
    np.testing.assert_allclose(scaled.value, first.value, rtol=1e-2)  # λ is next to nothing: rounding shows
    one = tune(PROBLEM, ko.Gaussian(0.3), points=points, data={k: v[:, 0] for k, v in h.items()})
    assert one.value != pytest.approx(first.value, rel=0.1)


def test_data_fixed_in_the_problem_is_used():
    def value(fixed, data):
        problem = ko.Problem(PROBLEM["f"], ko.Dirichlet(on=SQUARE.boundary, name="g", data=fixed))
        return tune(problem, ko.Gaussian(0.3), points=30, data=data).value

    given = value(None, {"f": source, "g": solution})
    assert value(solution, {"f": source}) == pytest.approx(given, rel=1e-6)
    assert value(0.0, {"f": source}) > 2.0 * given


def test_learns_with_the_weights_it_tuned_with():
    found = tune(PROBLEM, KERNEL, points=COUNTS, regularizations=[1.0], weights={"g": 5.0}, lengthscales=False)
    diagonal = found.learn().factorisation.scales ** -2.0
    np.testing.assert_allclose(diagonal[COUNTS["f"] :], 1.0 + 1.0 * sum(COUNTS.values()) / 5.0)


def test_balanced_weights_do_not_depend_on_the_start():
    found = [tune(PROBLEM, ko.Gaussian(start), points=30, weights="balanced").weights for start in (0.1, 1.0)]
    assert found[0] == found[1]
    assert found[0]["g"] > 10.0 * found[0]["f"]


def bad(**changes):
    arguments = {"problem": PROBLEM, "kernel": ko.Gaussian(0.3), "points": 30, **changes}
    return tune(arguments.pop("problem"), arguments.pop("kernel"), **arguments)


ERRORS = {
    "problem": ({"problem": None}, ko.errors.ArgumentTypeError, "problem: got None"),
    "criterion": ({"criterion": "aic"}, ko.errors.ArgumentError, "criterion: got 'aic'; choose one of 'loo', 'gcv'"),
    "no kernel": ({"kernel": None}, ko.errors.ArgumentTypeError, "kernel: got None; give a kernel"),
    "no lengthscale": (
        {"kernel": ko.CustomKernel(lambda x, y: jnp.exp(-jnp.sum((x - y) ** 2)))},
        ko.errors.ArgumentError,
        "has no lengthscale; .*lengthscales=False",
    ),
    "rough": ({"kernel": ko.Matern(1.5, 0.3)}, ko.errors.RoughKernelError, "condition 'f' needs 4"),
    "axes": ({"kernel": ko.Gaussian([1.0, 1.0, 1.0])}, ko.errors.ShapeError, "3 numbers .* 2 dimensions"),
    "λ = 0": ({"regularizations": [0.0, 1e-3]}, ko.errors.ArgumentError, "regularizations: got 0"),
    "no λ": ({"regularizations": []}, ko.errors.ArgumentError, "regularizations: got none"),
    "λ in the noise": ({"regularizations": [1e-30]}, ko.errors.SingularGramError, "regularizations: .*rounding"),
    "weights": ({"weights": {"q": 1.0}}, ko.errors.InputNameError, "unknown condition 'q'"),
    "data is a list": ({"data": [1.0, 2.0]}, ko.errors.ArgumentTypeError, "data: got .*dictionary"),
    "data missing": ({"data": {"f": 1.0}}, ko.errors.InputNameError, "data: got no 'g'"),
    "data unknown": ({"data": {"f": 1.0, "g": 1.0, "q": 1.0}}, ko.errors.InputNameError, "unknown input 'q'"),
    "data zero": ({"data": {"f": 0.0, "g": 0.0}}, ko.errors.ArgumentError, "data: got data that is zero"),
    "NaN": ({"data": {"f": np.nan, "g": 1.0}}, ko.errors.NonFiniteError, "f: got 1 of 1 values that are NaN"),
    "NaN function": (
        {"data": {"f": 1.0, "g": lambda x: jnp.nan * x[..., 0]}},
        ko.errors.NonFiniteError,
        "g: got .*NaN",
    ),
    "shape": ({"data": {"f": np.ones(7), "g": 1.0}}, ko.errors.ShapeError, r"f: got an array of shape \(7,\)"),
    "batches": (
        {"points": {"f": 5, "g": 4}, "data": {"f": np.ones((5, 2)), "g": np.ones((4, 3))}},
        ko.errors.ShapeError,
        r"batches that disagree \('f' with 2, 'g' with 3\)",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_say_what_to_do(case):
    changes, kind, message = ERRORS[case]
    with pytest.raises(kind, match=message):
        bad(**changes)


def test_lambda_alone_of_a_kernel_without_lengthscale():
    kernel = ko.CustomKernel(lambda x, y: jnp.exp(-4.0 * jnp.sum((x - y) ** 2)))
    found = bad(kernel=kernel, lengthscales=False, points=20)
    same = bad(kernel=ko.Gaussian(0.5), lengthscales=False, points=20)
    assert found.value == pytest.approx(same.value, rel=1e-4)


def test_too_many_points_are_refused_before_anything_is_allocated(monkeypatch):
    monkeypatch.setattr("kernop.basics.checks.SMALL", 0)
    monkeypatch.setattr("kernop.basics.checks.available_memory", lambda: 8 * 5 * 30 * 30 - 1)
    with pytest.raises(ko.errors.MemoryLimitError, match=r"points: got 30 points, .*; tune on fewer points"):
        bad()
    monkeypatch.setattr("kernop.basics.checks.available_memory", lambda: 8 * 5 * 30 * 30)
    bad()
    with pytest.raises(ko.errors.MemoryLimitError, match=r"for the gradient.*criterion='loo'"):
        bad(criterion="likelihood")
