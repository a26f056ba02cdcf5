"""The full estimator at low rank against the full estimator itself."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError
from kernop.collocation import assembly

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.div((lambda x: jnp.exp(x[..., 0] + x[..., 1])) * ko.grad(u)), on=SQUARE, name="f"),
    ko.Dirichlet(on=SQUARE.boundary, name="g"),
)
# More than 64 points everywhere, and a lengthscale for each axis: few functions are compiled.
X = SQUARE.sample(70, "uniform", seed=3).x
PAPER = {
    "kernel": ko.Gaussian([1.0, 1.0]),
    "points": {"f": 250, "g": 150},
    "regularization": 5e-5,
    "sampling": "uniform",
}
SMALL = {"kernel": ko.Gaussian([0.1, 0.1]), "points": {"f": 80, "g": 70}, "regularization": 1e-6}


def smooth(x):
    return jnp.sin(x[..., 0] + 2 * x[..., 1]) + x[..., 0] ** 3


def some_data(operator, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=len(points)) for points in operator.points.values()]


def difference(one, other, seed=None):
    """How far two operators are apart, for a manufactured solution or for noise."""
    data = list(PROBLEM.manufacture(smooth, one.points).values()) if seed is None else some_data(one, seed)
    a, b = one(*data)(X), other(*data)(X)
    return np.linalg.norm(a - b) / np.linalg.norm(b)


@pytest.fixture(scope="module")
def full():
    return ko.learn(PROBLEM, method=ko.Full(), **PAPER)


@pytest.fixture(scope="module")
def lowrank():
    return ko.learn(PROBLEM, method=ko.LowRank(), **PAPER)


def test_at_full_rank_it_is_the_full_estimator():
    full = ko.learn(PROBLEM, method=ko.Full(), **SMALL)
    lowrank = ko.learn(PROBLEM, method=ko.LowRank(rank=150, tol=1e-13), **SMALL)
    assert lowrank.factorisation.rank == 150
    assert difference(lowrank, full) < 1e-13
    assert difference(lowrank, full, seed=0) < 2e-12
    np.testing.assert_allclose(lowrank.std(X), full.std(X), rtol=1e-5, atol=1e-8)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_agrees_in_the_setting_of_the_paper_at_a_fraction_of_the_rank(full, lowrank):
    assert lowrank.factorisation.rank < 120
    assert difference(lowrank, full) < 1e-8
    assert difference(lowrank, full, seed=0) < 1e-5


def test_std_agrees(full, lowrank):
    np.testing.assert_allclose(lowrank.std(X), full.std(X), rtol=1e-4)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_basis_and_fixed_points_agree(full, lowrank):
    np.testing.assert_allclose(lowrank.basis(X), full.basis(X), atol=1e-5 * np.abs(full.basis(X)).max())
    f, g = some_data(lowrank)
    np.testing.assert_allclose(lowrank.on(X)(f, g), lowrank(f, g)(X), rtol=1e-6, atol=1e-9)
    many = SQUARE.sample(300, "uniform", seed=4).x
    assert len(lowrank.on(many).matrices) == 2
    np.testing.assert_allclose(lowrank.on(many)(f, g), lowrank(f, g)(many), rtol=1e-6, atol=1e-9)


def test_derivatives_agree(full, lowrank):
    data = PROBLEM.manufacture(smooth, full.points)
    np.testing.assert_allclose(lowrank(**data).grad(X), full(**data).grad(X), atol=1e-5)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_pivots_may_be_others(lowrank, seed):
    other = ko.learn(PROBLEM, method=ko.LowRank(seed=seed), **PAPER)
    assert difference(other, lowrank) < 1e-8
    again = ko.learn(PROBLEM, method=ko.LowRank(seed=seed), **PAPER)
    np.testing.assert_array_equal(again.basis(X), other.basis(X))


@pytest.mark.parametrize("block", [1, 7, 500])
def test_the_block_may_be_another(full, block):
    other = ko.learn(PROBLEM, method=ko.LowRank(block=block), **PAPER)
    assert difference(other, full) < 3e-8


@pytest.mark.parametrize("rank", [1, 20, 64, 65])
def test_the_rank_is_at_most_what_is_asked_for(rank):
    assert ko.learn(PROBLEM, method=ko.LowRank(rank=rank), **PAPER).factorisation.rank <= rank


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_more_rank_is_closer(full):
    errors = [difference(ko.learn(PROBLEM, method=ko.LowRank(rank=r), **PAPER), full) for r in (10, 30, 60)]
    assert errors[0] > errors[1] > errors[2]


def test_a_smaller_tolerance_is_closer(full):
    operators = [ko.learn(PROBLEM, method=ko.LowRank(tol=tol), **PAPER) for tol in (1e2, 1.0, 1e-2)]
    errors = [difference(operator, full) for operator in operators]
    assert errors[0] > errors[1] > errors[2]
    assert np.all(np.diff([operator.factorisation.rank for operator in operators]) > 0)


@pytest.mark.parametrize("tol", [10.0, 0.1])
def test_what_is_left_of_the_trace_is_below_the_tolerance(tol):
    """In units of the ridge, G_ii / λN − |F_i|²; a block less would leave more."""
    found = ko.learn(PROBLEM, method=ko.LowRank(tol=tol, block=1), **PAPER).factorisation
    ridge = PAPER["regularization"] * 400
    whole = ko.learn(PROBLEM, method=ko.Full(), **PAPER).collocated
    left = assembly.squared_norms(found.kernel, whole) / ridge - np.sum(found.columns**2, axis=1)
    np.testing.assert_allclose(found.left, left, atol=1e-6)
    assert np.sum(left) <= tol < np.sum(left) + np.sum(found.columns[:, -1] ** 2)


def test_a_tolerance_below_rounding_does_no_harm(full):
    assert difference(ko.learn(PROBLEM, method=ko.LowRank(tol=1e-12), **PAPER), full) < 1e-10


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_a_small_tolerance_is_met_in_the_solution():
    """Pivots down to rounding: T in û = Σ (T⁻ᵀ …)_j P_j K must be the triangle with which the columns were made."""
    settings = {**PAPER, "regularization": 1e-6}
    full = ko.learn(PROBLEM, method=ko.Full(), **settings)
    lowrank = ko.learn(PROBLEM, method=ko.LowRank(tol=1e-8), **settings)
    assert difference(lowrank, full) < 1e-9
    assert difference(lowrank, full, seed=0) < 1e-6


def test_weights_agree():
    weights = {"f": 0.01, "g": 10.0}
    full = ko.learn(PROBLEM, method=ko.Full(), weights=weights, **PAPER)
    lowrank = ko.learn(PROBLEM, method=ko.LowRank(), weights=weights, **PAPER)
    assert difference(lowrank, full) < 1e-6
    unit = ko.learn(PROBLEM, method=ko.LowRank(), **PAPER)
    assert difference(unit, full) > 1e-4


def test_balanced_weights_agree():
    full = ko.learn(PROBLEM, method=ko.Full(), weights="balanced", **PAPER)
    assert difference(ko.learn(PROBLEM, method=ko.LowRank(), weights="balanced", **PAPER), full) < 2e-8


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_coinciding_points():
    x = SQUARE.sample(60, "uniform", seed=8).x
    settings = {**PAPER, "points": {"f": np.concatenate([x, x, x[:5]]), "g": 70}}
    full = ko.learn(PROBLEM, method=ko.Full(), **settings)
    lowrank = ko.learn(PROBLEM, method=ko.LowRank(), **settings)
    assert lowrank.factorisation.rank <= 130
    assert difference(lowrank, full) < 1e-6
    assert difference(lowrank, full, seed=0) < 1e-5


def test_chooses_kernel_and_regularization():
    t = ko.learn(PROBLEM, points=300, method=ko.LowRank())
    u = t(**PROBLEM.manufacture(smooth, t.points))
    assert np.abs(u(X) - np.asarray(smooth(X))).max() < 1e-5


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"rank": 0}, ArgumentError, "rank: got 0"),
        ({"rank": 1.5}, ArgumentTypeError, "rank: got 1.5"),
        ({"tol": 0.0}, ArgumentError, "tol: got 0"),
        ({"tol": np.nan}, ArgumentError, "tol: got nan"),
        ({"block": 0}, ArgumentError, "block: got 0"),
        ({"seed": -1}, ArgumentError, "seed: got -1"),
    ],
)
def test_bad_arguments(changes, error, message):
    with pytest.raises(error, match=message):
        ko.LowRank(**changes)


def test_needs_regularisation():
    with pytest.raises(ArgumentError, match="regularization: got 0; LowRank needs λ > 0"):
        ko.learn(PROBLEM, method=ko.LowRank(), **{**SMALL, "regularization": 0.0})
