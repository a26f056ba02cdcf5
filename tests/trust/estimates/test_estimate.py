"""Error estimates against true errors; scaling, batches, arrays, zero data, and wrong arguments."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, InputNameError, ShapeError
from kernop.methods.weights import repeated
from kernop.trust.diagnosis import Diagnosis
from kernop.trust.estimates import learned, stability
from kernop.trust.metrics import relative_l2, relative_linf

LINE, SQUARE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1])
WAVES = np.random.default_rng(3).normal(size=(12, 2)) * np.linspace(1, 9, 12)[:, None]


@jax.jit
def exact(x):
    """Twelve solutions, the last of which are not resolved."""
    return jnp.sin(x @ WAVES.T + 1.0) + 0.3 * x[..., :1]


def dirichlet(domain, op):
    return ko.Problem(ko.Equation(op, on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g"))


def source(x):
    """−Δu + u_x of them, by NumPy: searches ask for it at very many points."""
    angle = x @ WAVES.T + 1.0
    return np.sum(WAVES**2, axis=1) * np.sin(angle) + WAVES[:, 0] * np.cos(angle) + 0.3


def boundary(x):
    return np.sin(x @ WAVES.T + 1.0) + 0.3 * x[..., :1]


DATA = {"f": source, "g": boundary}


def ordinary_data(frequencies, shift=1.0):
    """Of u = sin(frequency · x + shift) for −u″ + u."""
    wave = lambda x: np.sin(x[..., :1] * frequencies + shift)
    return {"f": lambda x: (np.square(frequencies) + 1.0) * wave(x), "g": wave}


PROBLEM = dirichlet(SQUARE, lambda u: -ko.laplacian(u) + ko.partial(u, 0))
ORDINARY = dirichlet(LINE, lambda u: -ko.partial(u, 0, 2) + u)
PLACES = SQUARE.sample(2000, "uniform", seed=77)
TRUTH = boundary(PLACES.x)


@pytest.fixture(scope="module")
def operator():
    return ko.learn(PROBLEM, points=240, method=ko.Subspace(centers=60))


@pytest.fixture(scope="module")
def batch(operator):
    return operator(**DATA)


@pytest.fixture(scope="module")
def ordinary():
    return ko.learn(ORDINARY, points=60, method=ko.Subspace(centers=12))


def check(estimate, u, low=1.0, high=6.0):
    """Errors in both norms; relative ones, which divide by a lower limit of ‖u‖, are as near where u is resolved."""
    error = np.abs(u(PLACES.x, outside="extrapolate") - TRUTH)
    for found, truth in ((estimate.l2, np.sqrt(np.mean(error**2, axis=0))), (estimate.linf, np.max(error, axis=0))):
        assert np.all(found >= low * truth)
        assert np.all(found <= high * truth)
    for found, truth in (
        (estimate.relative_l2, relative_l2(u(PLACES.x, outside="extrapolate"), TRUTH)),
        (estimate.relative_linf, relative_linf(u(PLACES.x, outside="extrapolate"), TRUTH)),
    ):
        assert np.all(found >= low * truth)
        assert np.all(found[truth < 0.1] <= high * truth[truth < 0.1])


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_estimates_are_above_the_truth_and_near_it(batch):
    estimate = batch.error_estimate(covering=None)
    check(estimate, batch)
    assert np.max(estimate.l2) > 1e3 * np.min(estimate.l2)  # from resolved to not resolved
    assert (estimate.source, estimate.centres) == ("fresh points", 120)


@pytest.mark.parametrize("method", [ko.Full(), ko.LowRank()], ids=["full", "low rank"])
def test_where_bias_rules_the_estimate_is_near_the_truth(method):
    frequencies = np.linspace(1, 12, 8)
    operator = ko.learn(ORDINARY, points=50, kernel=ko.Gaussian(0.3), regularization=1e-5, method=method)
    u = operator(**ordinary_data(frequencies))
    estimate, x = u.error_estimate(covering=None), np.linspace(0, 1, 2001)[:, None]
    truth = np.max(np.abs(u(x) - np.sin(x * frequencies + 1.0)), axis=0)
    assert np.min(truth) > 1e-5
    assert np.all(truth <= estimate.linf)
    assert np.all(estimate.linf <= 2.0 * truth)


def test_residuals_are_those_at_the_test_points(operator, batch):
    estimate = batch.error_estimate(covering=None)
    for name, data in DATA.items():
        points = operator.test_points[name]
        residual = batch.residual(name, points, data)
        np.testing.assert_allclose(estimate.residuals[name].max, np.max(np.abs(residual), axis=0), rtol=1e-6)
        np.testing.assert_allclose(estimate.residuals[name].rms, np.sqrt(np.mean(residual**2, axis=0)), rtol=1e-6)
    assert estimate.points == sum(map(len, operator.test_points.values()))


def test_test_points_are_not_points_of_the_operator(operator):
    for name, points in operator.test_points.items():
        apart = np.linalg.norm(points.x[:, None] - operator.points[name].x, axis=-1)
        assert np.min(apart) > 0.0


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_a_batch_is_its_columns_and_scaling_changes_nothing_relative(operator, batch):
    together = batch.error_estimate(covering=100)
    last = {name: lambda x, data=data: -1000.0 * data(x)[..., 10] for name, data in DATA.items()}
    one = operator(**last).error_estimate(covering=100)
    assert isinstance(one.relative_l2, float)
    assert one.relative_l2 == pytest.approx(together.relative_l2[10], rel=1e-6)
    assert one.relative_linf == pytest.approx(together.relative_linf[10], rel=1e-6)
    assert one.linf == pytest.approx(1000.0 * together.linf[10], rel=1e-6)
    assert one.bound.linf == pytest.approx(1000.0 * together.bound.linf[10], rel=1e-6)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_arrays_at_the_test_points_are_as_good_as_functions(operator, batch):
    known = PROBLEM.manufacture(exact, operator.points)
    fresh = PROBLEM.manufacture(exact, operator.test_points)
    u = operator(**known)
    wanted = batch.error_estimate(covering=None)
    for estimate in (u.error_estimate(**fresh), u.error_estimate(fresh["f"], g=boundary)):
        np.testing.assert_allclose(estimate.l2, wanted.l2, rtol=1e-5)
        assert estimate.bound is None
        assert "'f' was given as an array" in estimate.why_no_bound


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_arrays_alone_are_judged_by_leaving_one_out(operator):
    u = operator(**PROBLEM.manufacture(exact, operator.points))
    estimate = u.error_estimate()
    assert (estimate.source, estimate.centres, estimate.points) == ("leave-one-out", 0, operator.n_points)
    check(estimate, u, low=1.0, high=20.0)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("basis", ["translates", "augmented"])
@pytest.mark.parametrize("scheme", ["halton", "uniform"])
def test_a_cloud_is_judged_by_leaving_one_out(basis, scheme):
    """A random cloud has gaps, and errors are largest in them."""
    cloud = ko.PointCloud(SQUARE.sample(200, scheme, seed=4).x, SQUARE.boundary.sample(80).x)
    problem = dirichlet(cloud, PROBLEM["f"].op)
    operator = ko.learn(problem, points=280, method=ko.Subspace(60, basis))
    u = operator(**DATA)
    estimate = u.error_estimate()
    assert estimate.source == "leave-one-out"
    assert "no covering" in estimate.why_no_bound
    check(estimate, u, low=1.0, high=20.0)
    with pytest.raises(ArgumentError, match="known only by its points"):
        _ = operator.test_points
    with pytest.raises(ArgumentError, match="known only by its points"):
        u.error_estimate(f=0.0, g=0.0)


def test_a_cloud_that_is_learned_by_default_knows_its_errors():
    """There are fewer functions than points of the cloud, so that leaving one out says something."""
    cloud = ko.PointCloud(SQUARE.sample(300).x, SQUARE.boundary.sample(100).x)
    problem = dirichlet(cloud, PROBLEM["f"].op)
    operator = ko.learn(problem)
    assert len(operator.factorisation.expansion) <= 400 / 1.8
    u = operator(**DATA)
    check(u.error_estimate(), u, low=1.0, high=30.0)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_what_is_relative_does_not_divide_by_an_answer_that_is_wrong(ordinary):
    """32 periods and 12 functions: û is 130 times larger than u; relative to û + ê, the error seems half as large."""
    u = ordinary(**{name: lambda x, data=data: data(x)[:, 0] for name, data in ordinary_data(200.0, 0.0).items()})
    estimate, x = u.error_estimate(covering=None), np.linspace(0, 1, 2001)[:, None]
    found, truth = u(x), np.sin(200.0 * x[:, 0])
    true = np.linalg.norm(found - truth) / np.linalg.norm(truth)
    assert true > 100.0
    assert estimate.relative_l2 >= true
    assert np.isinf(estimate.relative_l2) == ("not resolved" in str(estimate))


def test_zero_data_has_no_error(ordinary):
    estimate = ordinary(0.0, 0.0).error_estimate()
    assert estimate.l2 == estimate.linf == estimate.relative_l2 == estimate.relative_linf == estimate.bound.linf == 0.0
    both = ordinary(np.zeros((len(ordinary.points["f"]), 2)), 0.0).error_estimate()
    np.testing.assert_array_equal(both.relative_l2, 0.0)


@pytest.mark.parametrize("size", [1e-170, 1e-250, 1e145])
def test_data_of_any_size_has_its_error(ordinary, size):
    """Squares of these leave the range of floats; errors are in proportion to the data all the same."""
    f = lambda x: np.sin(9.0 * x[..., 0])
    x, wanted = LINE.sample(3, "uniform").x, ordinary(f, 0.0).error_estimate(covering=200)
    found = ordinary(lambda x: size * f(x), 0.0).error_estimate(covering=200)
    for name in ("l2", "linf", "relative_l2", "relative_linf"):
        scale = 1.0 if name.startswith("relative") else size
        assert getattr(found, name) == pytest.approx(scale * getattr(wanted, name), rel=1e-3, abs=0.0)
    assert found.bound.linf == pytest.approx(size * wanted.bound.linf, rel=1e-3, abs=0.0)
    assert found.residuals["f"].rms == pytest.approx(size * wanted.residuals["f"].rms, rel=1e-3, abs=0.0)
    left, small = (ordinary(s * f(ordinary.points["f"].x), 0.0).error_estimate() for s in (1.0, size))
    assert small.l2 == pytest.approx(size * left.l2, rel=1e-3, abs=0.0)
    assert np.all(ordinary(lambda x: size * f(x), 0.0)(x) != 0.0)


def test_an_error_without_a_solution_is_infinite_relative_to_it(ordinary):
    """û = 0, and a source that no point sees."""
    narrow = lambda x: np.exp(-(((x[..., 0] - 0.35117) / 2e-5) ** 2))
    found = ordinary(narrow, 0.0).error_estimate()
    assert found.l2 > 0.0
    assert found.relative_l2 > 1e6
    assert not np.isnan(found.relative_linf)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_a_ball_in_many_dimensions_has_an_estimate_and_a_reason():
    ball = ko.Ball([0.0] * 9, 1.0)
    operator = ko.learn(dirichlet(ball, lambda u: -ko.laplacian(u)), points=120, method=ko.Subspace(centers=30))
    found = operator(lambda x: x[..., 0], 0.0).error_estimate()
    assert np.isfinite(found.l2)
    assert found.bound is None
    assert "in 9 dimensions" in found.why_no_bound


def test_what_was_learned_is_kept(ordinary, monkeypatch):
    first = ordinary(1.0, 0.0).error_estimate()
    monkeypatch.setattr(stability, "Fresh", None)  # learning again would fail
    assert ordinary(1.0, 0.0).error_estimate().l2 == first.l2


def test_a_bound_for_one_input(ordinary):
    estimate = ordinary(1.0, lambda x: x[..., 0]).error_estimate(covering=50)
    assert estimate.why_no_bound is None
    assert estimate.bound.points == 50 + 2
    assert estimate.linf <= estimate.bound.linf <= 1e3 * estimate.linf


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_fixed_data_and_an_envelope():
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"))
    envelope = lambda x: x[..., 0] * (1 - x[..., 0])
    operator = ko.learn(problem, points=60, method=ko.Subspace(centers=9, envelope=envelope))
    u = operator(lambda x: 49.0 * jnp.pi**2 * jnp.sin(7 * jnp.pi * x[..., 0]))
    x = LINE.sample(1000, "uniform").x
    truth = np.max(np.abs(u(x) - np.sin(7 * np.pi * x[:, 0])))
    estimate = u.error_estimate()
    assert 1e-6 < truth <= estimate.linf <= 6.0 * truth
    assert truth <= estimate.bound.linf
    fixed = ko.Problem(problem["f"], ko.Dirichlet(on=LINE.boundary, name="g", data=2.0))
    found = ko.learn(fixed, points=60, method=ko.Subspace(centers=20))(0.0).error_estimate()
    assert found.linf < 1e-8  # u = 2


def test_a_stream_knows_its_errors():
    operator = ko.learn(ORDINARY, points=200, method=ko.Subspace(centers=10, batch=64), inputs=[(1.0, 0.0)])
    u = operator(1.0, 0.0)
    estimate = u.error_estimate()
    assert operator.solutions[0].error_estimate().l2 == pytest.approx(estimate.l2, rel=0.5)
    x = LINE.sample(1000, "uniform").x
    truth = np.max(np.abs(u(x) - (1.0 - np.cosh(x[:, 0] - 0.5) / np.cosh(0.5))))
    assert truth <= estimate.linf <= 20.0 * truth
    arrays = operator(np.ones(len(operator.points["f"])), 0.0)
    with pytest.raises(ArgumentError, match=r"T\.test_points"):
        arrays.error_estimate()


def test_the_report_says_what_is_estimated_and_what_is_proved(ordinary, batch):
    text = ordinary(1.0, 0.0).report()
    for words in ("relative L2 error", "bound from samples", "residual of g", "fresh points", "Proved", "Sampled"):
        assert words in text
    assert "Relative to the norm of û + ê less its error, a lower limit of ‖u‖" in text
    assert "uarantee" not in text  # suprema are not enclosed
    left = ordinary(np.ones(len(ordinary.points["f"])), 0.0).error_estimate()
    assert left.relative_to == "û less its error"
    assert "Relative to the norm of û less its error" in str(left)
    many = str(batch.error_estimate(covering=None))
    assert "Errors of 12 solutions" in many
    assert "No bound: it was not asked for" in many


def test_wrong_arguments(operator, batch, ordinary):
    with pytest.raises(InputNameError, match="error_estimate"):
        batch.error_estimate(q=1.0)
    with pytest.raises(InputNameError, match="each once"):
        batch.error_estimate(1.0, f=1.0)
    with pytest.raises(InputNameError, match="3 values"):
        batch.error_estimate(1.0, 2.0, 3.0)
    with pytest.raises(ShapeError, match="batch of 12"):
        batch.error_estimate(f=np.zeros((len(operator.test_points["f"]), 5)))
    with pytest.raises(ShapeError, match="f: got"):
        batch.error_estimate(f=np.zeros(7))
    with pytest.raises(ArgumentTypeError, match="covering"):
        batch.error_estimate(covering=2.5)
    with pytest.raises(ArgumentError, match="covering"):
        batch.error_estimate(covering=3)
    u = ordinary(1.0, 0.0)
    with pytest.raises(ArgumentError, match="does not know its operator"):
        ko.Solution(problem=u.problem, function=u.function, single=True).error_estimate()


def test_an_ill_posed_problem_adds_what_its_conditions_hardly_see():
    """Pure Neumann: at least the stability number times the rounding errors of û, in both norms alike."""
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=LINE), ko.Neumann(on=LINE.boundary))
    with pytest.warns(ko.IllPosedWarning):
        operator = ko.learn(problem, points=100)
    data = lambda x: jnp.cos(jnp.pi * x[..., 0]), 0.0
    found = operator(*data).error_estimate(covering=None)
    plain = replace(operator, diagnosis=Diagnosis())(*data).error_estimate(covering=None)
    hidden = found.l2 - plain.l2
    assert hidden == pytest.approx(found.linf - plain.linf, rel=1e-6)
    size = found.l2 / found.relative_l2
    assert hidden >= operator.diagnosis.stability.number * np.finfo(float).eps * size


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_an_estimate_is_the_correction_with_a_margin_and_a_constant_times_what_it_leaves():
    """1.5 ‖ê‖ + C ‖r − P ê‖ for the residual r at the test points and the correction ê of the richer operator; ‖ê‖²
    with twice the standard error of this mean. The two other solutions with which û is compared say more here.

    On the boundary, where u is prescribed, the error is known: it is the residual. What ê is there counts up to three
    times what it is inside, because an error near a corner may lie between the places.
    """
    operator = ko.learn(PROBLEM, points=300, method=ko.Subspace(60))
    u = operator(lambda x: jnp.sin(9.0 * x[..., 0] * x[..., 1]), 1.0)
    found, known = u.error_estimate(covering=None, search=None), stability.from_fresh_points(operator)
    residuals = np.concatenate([-u.residual(name, operator.test_points[name]) for name in ("f", "g")])[:, None]
    correction = known.answers.answer(residuals).u
    roots = np.sqrt(repeated(known.answers.weights, known.functionals))[:, None]
    left = np.sqrt(np.mean((roots * (residuals - correction.apply(known.functionals))) ** 2))
    values = correction.apply(known.places.functionals)
    squares = values[: known.places.within] ** 2
    inside = np.sqrt(np.mean(squares) + 2.0 * np.std(squares) / np.sqrt(known.places.within))
    assert known.constants[0] * left > 1e-3 * found.l2
    assert found.l2 == pytest.approx(1.5 * inside + known.constants[0] * left, rel=1e-6)
    most = max(np.max(np.abs(values[: known.places.within])), np.max(np.abs(residuals[known.functionals.slices[1]])))
    assert most < 0.999 * np.max(np.abs(values))  # ê is too large at the corners
    most = min(3.0 * most, np.max(np.abs(values)))
    assert found.linf == pytest.approx(1.5 * most + known.constants[1, 0] * left, rel=1e-6)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_a_large_operator_is_measured_by_one_that_is_as_large(monkeypatch):
    """One with fewer functions does not resolve the error: with 100 for 300 the estimate is 15 times the truth."""
    monkeypatch.setattr(learned, "MOST_CENTRES", 100)
    truth = lambda x: np.exp(5.0 * x[..., 0]) * np.cos(5.0 * x[..., 1])  # harmonic, and u_x = 5 u
    u = ko.learn(PROBLEM, points=900, method=ko.Subspace(300))(lambda x: 5.0 * truth(x), truth)
    estimate, x = u.error_estimate(covering=None, search=None), SQUARE.sample(2000, "uniform", seed=3).x
    error = np.sqrt(np.mean((u(x) - truth(x)) ** 2))
    assert estimate.centres == 300
    assert error < estimate.l2 < 5.0 * error


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("penalty", [1e8, 1e16])
def test_a_solution_that_is_next_to_nothing_is_not_what_errors_are_relative_to(penalty):
    """û ≈ 0 for u ≈ 1: its error is all of u, and û is no measure of that."""
    u = ko.learn(PROBLEM, points=300, method=ko.Subspace(60), regularization=penalty)(0.0, 1.0)
    estimate, x = u.error_estimate(covering=None), PROBLEM["f"].on.sample(500, seed=3).x
    assert np.max(np.abs(u(x))) < 1e-2
    assert 1.0 <= estimate.relative_l2 < 10.0
    assert 1.0 <= estimate.relative_linf < 10.0
    assert "û + ê less its error" in str(estimate)


def test_complex_data_for_a_solution_of_real_data_are_refused():
    T = ko.learn(ORDINARY, points=40, method=ko.Subspace(20))
    with pytest.raises(ArgumentTypeError, match="complex data"):
        T(1.0, 0.0).error_estimate(1.0, 1.0j)
