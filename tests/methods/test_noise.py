"""Levels of noise, and the weights and λ that they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, InputNameError, NonFiniteError, SingularGramError
from kernop.methods.weights import Noise

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary, name="g")
)
POINTS = {"f": 20, "g": 2}
X = np.linspace(0, 1, 7)[:, None]
LEVELS = {"f": 0.3, "g": 0.02}
METHODS = [
    ko.Full(),
    ko.LowRank(),
    ko.Subspace(14, penalty="rkhs"),
    ko.Subspace(9),
    ko.Subspace(9, solver="normal"),
    ko.Subspace(9, batch=5),
    ko.Subspace(14, penalty="rkhs", batch=5),
]


def learn(method, **settings):
    return ko.learn(PROBLEM, kernel=ko.Gaussian(0.4), points=POINTS, method=method, **settings)


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=4))
def test_weights_are_one_in_the_geometric_mean_and_keep_every_level(levels):
    noise = Noise(tuple(levels))
    np.testing.assert_allclose(np.prod(noise.weights), 1.0, rtol=1e-9)
    np.testing.assert_allclose(np.sqrt(noise.variance / np.array(noise.weights)), levels, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_noise_is_lambda_and_weights(method):
    operator = learn(method, noise=LEVELS)
    rows = 1 if isinstance(method, ko.Subspace) and method.penalty == "coefficients" else 22
    found = {name: np.sqrt(operator.regularization * rows / weight) for name, weight in operator.weights.items()}
    assert found == pytest.approx(LEVELS, rel=1e-12)
    assert operator.noise == LEVELS
    same = learn(method, regularization=operator.regularization, weights=operator.weights)
    assert same.noise is None
    data = np.random.default_rng(0).normal(size=20), [1.0, -1.0]
    np.testing.assert_array_equal(operator(*data)(X), same(*data)(X))
    np.testing.assert_allclose(operator.std(X), same.std(X), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS[:4], ids=repr)
def test_only_quotients_count(method):
    """Other weights with the same λ / w_k give the same operator."""
    operator = learn(method, noise=LEVELS)
    weights = {name: 50.0 * weight for name, weight in operator.weights.items()}
    same = learn(method, regularization=50.0 * operator.regularization, weights=weights)
    np.testing.assert_allclose(operator.std(X), same.std(X), rtol=1e-6)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_more_noise_makes_a_wider_band(method):
    quiet, loud = learn(method, noise=LEVELS), learn(method, noise={"f": 0.3, "g": 0.2})
    assert np.all(loud.std(X) > quiet.std(X))
    # At the ends u itself is measured; the equation adds little to that.
    assert loud.std(X)[0] == pytest.approx(0.2, rel=0.35)
    assert quiet.std(X)[0] == pytest.approx(0.02, rel=0.1)


def test_one_number_is_for_all():
    one, each = learn(ko.Full(), noise=0.1), learn(ko.Full(), noise={"f": 0.1, "g": 0.1})
    np.testing.assert_array_equal(one.std(X), each.std(X))
    assert one.noise == each.noise == {"f": 0.1, "g": 0.1}


def test_noise_stays_when_points_come_and_go():
    operator = learn(ko.Full(), noise=LEVELS)
    more = operator.update({"f": [[0.123], [0.456]]})
    assert more.noise == LEVELS
    found = np.sqrt(more.regularization * more.n_points / np.array(list(more.weights.values())))
    np.testing.assert_allclose(found, [0.3, 0.02], rtol=1e-12)


def test_the_number_of_rows_of_an_iterator():
    def batches():
        points = learn(ko.Full(), noise=LEVELS).points
        yield {"f": points["f"], "g": points["g"]}

    held = learn(ko.Subspace(9), noise=LEVELS)
    method = ko.Subspace(9, batch=5)
    passed = ko.learn(PROBLEM, kernel=ko.Gaussian(0.4), points=batches(), method=method, noise=LEVELS)
    np.testing.assert_allclose(passed.std(X), held.std(X), rtol=1e-6)
    method = ko.Subspace(9, batch=5, penalty="rkhs")
    with pytest.raises(ArgumentError, match=r"T: got .*they came from an iterator.*; give arrays or"):
        ko.learn(PROBLEM, kernel=ko.Gaussian(0.4), points=batches(), method=method, noise=LEVELS)


def test_too_little_for_cholesky():
    with pytest.raises(SingularGramError, match=r"noise: got \{'f': 1e-12, 'g': 1e-12\}.*singular.*; state more noise"):
        learn(ko.Full(), noise=1e-12)


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"noise": {"f": 0.1}}, InputNameError, r"noise: got none for condition 'g'; give a level, small where"),
        ({"noise": {"f": 0.1, "g": 0.1, "k": 1}}, InputNameError, r"noise: got the unknown condition 'k'"),
        ({"noise": {"f": 0.1, 3: 0.1}}, InputNameError, r"noise: got the unknown condition 3"),
        ({"noise": {"f": 0.1, "g": 0.0}}, ArgumentError, r"noise\['g'\]: got 0"),
        ({"noise": {"f": 0.1, "g": np.nan}}, NonFiniteError, r"noise\['g'\]: got nan"),
        ({"noise": 1e-200}, ArgumentError, r"noise: got levels from 1e-200 to 1e-200; choose units"),
        ({"noise": {"f": 1.0, "g": 1e90}}, ArgumentError, r"noise: got levels from 1 to 1e\+90; choose units"),
        ({"noise": -1.0}, ArgumentError, r"noise: got -1"),
        ({"noise": "small"}, ArgumentTypeError, r"noise: got 'small'; give a positive number, or one for each"),
        ({"noise": 0.1, "regularization": 1e-3}, ArgumentError, r"noise: got one together with regularization"),
        ({"noise": 0.1, "weights": "unit"}, ArgumentError, r"noise: got one together with weights"),
    ],
)
def test_what_is_no_noise(settings, kind, message):
    with pytest.raises(kind, match=message):
        learn(ko.Full(), **settings)
