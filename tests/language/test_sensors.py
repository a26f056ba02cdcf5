"""Sensors: the posterior against the naive formula of Gaussian processes, coverage of its band, and bad sensors."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.methods.weights import EXACT

SQUARE, LINE = ko.Box([0, 0], [1, 1]), ko.Interval(0, 1)
AT = SQUARE.sample(30, "uniform", seed=4).x
PLACES = SQUARE.sample(150, "uniform", seed=9).x
KERNEL = 4.0 * ko.Gaussian(0.8)


def harmonic(x):
    return np.exp(x[..., 0]) * np.cos(x[..., 1]) - x[..., 0] * x[..., 1]


def problem(noise=0.05, **more):
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f", data=0.0), ko.Sensors(AT, "s", noise, **more)
    )


def readings(number, level=0.05, seed=0):
    return harmonic(AT)[:, None] + level * np.random.default_rng(seed).normal(size=(len(AT), number))


@pytest.fixture(scope="module")
def formula():
    """Points of f = −Δu, readings h, and the mean and deviation of u ~ GP(0, K) given both, by a dense solve."""
    x, h = SQUARE.sample(40).x, readings(1)[:, 0]
    k = lambda p, q: jnp.exp(-jnp.sum((p - q) ** 2) / 0.25)
    lap = lambda g, i: lambda p, q: -jnp.trace(jax.hessian(g, argnums=i)(p, q))

    def table(g, a, b):
        return np.asarray(jax.jit(jax.vmap(jax.vmap(g, (None, 0)), (0, None)))(a, b))

    with jax.enable_x64(True):
        inner, mixed = table(lap(lap(k, 0), 1), x, x), table(lap(k, 0), x, AT)
        gram = np.block([[inner, mixed], [mixed.T, table(k, AT, AT)]])
        beside = np.hstack([table(lap(k, 1), PLACES, x), table(k, PLACES, AT)])
    gram += np.diag(np.r_[np.full(40, 0.1**2), np.full(30, 0.05**2)])
    mean = beside @ np.linalg.solve(gram, np.r_[np.zeros(40), h])
    variance = 1.0 - np.einsum("ij,ji->i", beside, np.linalg.solve(gram, beside.T))
    return x, h, mean, np.sqrt(variance)


@pytest.mark.parametrize("method", [ko.Full(), ko.LowRank(), ko.Subspace(330, penalty="rkhs")], ids=repr)
def test_the_posterior_is_that_of_the_formula(method, formula):
    x, h, mean, deviation = formula
    T = ko.learn(problem(), kernel=ko.Gaussian(0.5), points={"f": x, "s": 30}, noise={"f": 0.1}, method=method)
    tight = 1e-6 if isinstance(method, ko.Full) else 2e-2
    assert np.allclose(T(h)(PLACES), mean, atol=tight)
    assert np.allclose(T.std(PLACES), deviation, atol=tight)


@pytest.mark.filterwarnings("ignore::kernop.errors.IllPosedWarning")
def test_the_noise_is_a_weight_of_one_over_its_square():
    T = ko.learn(problem(0.05), noise={"f": 2.0}, method=ko.Full(), points={"f": 50, "s": 30})
    assert T.noise == {"f": 2.0, "s": 0.05}
    assert T.weights["s"] / T.weights["f"] == pytest.approx((2.0 / 0.05) ** 2)
    same = ko.learn(problem(None), noise={"f": 2.0, "s": 0.05}, method=ko.Full(), points={"f": 50, "s": 30})
    h = readings(1)[:, 0]
    assert np.array_equal(same(h)(PLACES), T(h)(PLACES))
    both = ko.learn(problem(0.05), noise=2.0, method=ko.Full(), points={"f": 50, "s": 30})
    assert both.noise == T.noise


def test_what_states_no_noise_counts_as_exact_in_the_units_of_its_own():
    small, large = (ko.learn(problem(level), kernel=KERNEL, points={"f": 50, "s": 30}).noise for level in (0.05, 50.0))
    assert large["f"] == pytest.approx(1000 * small["f"])
    smooth = (2 * np.pi) ** 2 * np.sqrt(2)  # of −Δ, for a field that turns once over the square
    assert small["f"] == pytest.approx(EXACT * 0.05 * smooth, rel=1e-6)


def test_the_band_covers_the_truth_as_often_as_it_says():
    T = ko.learn(problem(), kernel=KERNEL, points={"f": 300, "s": 30})
    u = T(readings(40))
    away = np.abs(u(PLACES) - harmonic(PLACES)[:, None])
    covered = np.mean(away < 1.96 * u.std(PLACES))
    assert 0.9 < covered < 0.995
    assert np.mean(u.std(PLACES)) < 0.03  # better than one sensor


def test_by_default_the_band_is_wide_enough():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ko.IllPosedWarning)  # sensors alone are no boundary condition
        T = ko.learn(problem())
    assert T.method.penalty == "rkhs"
    u = T(readings(20))
    assert np.mean(np.abs(u(PLACES) - harmonic(PLACES)[:, None]) < 1.96 * u.std(PLACES)) > 0.9


def test_evidence_prefers_the_kernel_that_fits():
    """The Laplacian of u is known to be 0, which wiggles would not be by chance."""
    h = readings(1)[:, 0]
    likely = {
        eta: ko.learn(problem(), kernel=4.0 * ko.Gaussian(eta), points={"f": 100, "s": 30}, method=ko.Full())
        .evidence(h)
        .log_likelihood
        for eta in (0.1, 0.8)
    }
    assert likely[0.8] > likely[0.1]


def test_exact_sensors_are_met_and_need_no_prior():
    """With all of the boundary known they tell nothing new, and harm nothing."""
    stated = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f", data=0.0),
        ko.Dirichlet(SQUARE.boundary, "g"),
        ko.Sensors(AT, "s"),
    )
    u = ko.learn(stated)(harmonic, harmonic)
    assert np.abs(u(PLACES) - harmonic(PLACES)).max() < 1e-8
    assert np.abs(u(AT) - harmonic(AT)).max() < 1e-8


def test_any_operator_of_u_can_be_measured():
    """A flux across the boundary at single places, and a slope along a direction inside."""
    rim = SQUARE.boundary.at(SQUARE.boundary.sample(12, "uniform").x)
    stated = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f", data=0.0),
        ko.Dirichlet(SQUARE.boundary, "g"),
        ko.Sensors(rim, "q", op=ko.normal_derivative),
        ko.Sensors(AT[:5], "v", op=lambda u: ko.partial(u, 1)),
    )
    T = ko.learn(stated)
    truth = lambda x: jnp.exp(x[..., 0]) * jnp.cos(x[..., 1]) - x[..., 0] * x[..., 1]
    data = stated.manufacture(truth, T.points)
    n = rim.points.normal
    x, y = rim.points.x.T
    slopes = np.stack([np.exp(x) * np.cos(y) - y, -np.exp(x) * np.sin(y) - x], axis=1)
    assert np.allclose(data["q"], np.sum(n * slopes, axis=1))
    assert np.abs(T(**data)(PLACES) - harmonic(PLACES)).max() < 1e-8


def test_in_space_and_time_time_comes_last():
    cylinder = ko.SpaceTime(LINE, (0, 1))
    at = np.array([[0.3, 0.2], [0.3, 0.4], [0.7, 0.9]])
    stated = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=cylinder, data=0.0),
        ko.Dirichlet(cylinder.walls, data=0.0),
        ko.Initial(cylinder.initial),
        ko.Sensors(at),
    )
    assert stated["sensors"].on.timed
    decay = lambda x: np.exp(-(np.pi**2) * x[..., 1]) * np.sin(np.pi * x[..., 0])
    u = ko.learn(stated)(decay, decay(at))
    x = cylinder.sample(50, "uniform").x
    assert np.abs(u(x) - decay(x)).max() < 1e-7


def test_complex_values_and_systems():
    stated = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) - 9.0 * u + 1j * u, on=LINE, data=0.0),
        ko.Dirichlet(LINE.boundary, "g"),
        ko.Sensors([[0.5]], "s"),
    )
    k = np.sqrt(9.0 - 1j)
    wave = lambda x: np.exp(1j * k * np.asarray(x)[..., 0])
    u, x = ko.learn(stated)(wave, wave(np.array([[0.5]]))), LINE.sample(20).x
    assert np.abs(u(x) - wave(x)).max() < 1e-8
    pair = ko.Problem(
        ko.Equation(lambda u, v: -ko.laplacian(u) + v, on=LINE, name="f", data=0.0),
        ko.Equation(lambda u, v: -ko.laplacian(v), on=LINE, name="h", data=0.0),
        ko.Dirichlet(LINE.boundary, "g", of="u", data=0.0),
        ko.Sensors([[0.25], [0.75]], "s", of="v"),
        unknowns={"u": 1, "v": 1},
    )
    s = ko.learn(pair)([1.0, 2.0])
    line = lambda t: 0.5 + 2 * t
    assert np.abs(s.v(x) - line(x[:, 0])).max() < 1e-8
    assert np.abs(s.u.apply(lambda u: ko.laplacian(u), x) - line(x[:, 0])).max() < 1e-6


def test_files_streams_and_sensors_that_die(tmp_path):
    stated = problem()
    T = ko.learn(stated, kernel=KERNEL, points={"f": 100, "s": 30}, method=ko.Full())
    h = readings(1)[:, 0]
    T.save(tmp_path / "T.kernop")
    back = ko.load(tmp_path / "T.kernop")
    assert back.problem["s"].noise == 0.05
    assert np.array_equal(back(h)(PLACES), T(h)(PLACES))
    assert np.array_equal(ko.load(tmp_path / "T.kernop", problem=stated)(h)(PLACES), T(h)(PLACES))
    with pytest.raises(ko.errors.ArgumentError, match=r"noise 0\.06, not 0\.05"):
        ko.load(tmp_path / "T.kernop", problem=problem(0.06))
    fewer = T.remove({"s": [3]})
    again = ko.Problem(stated["f"], ko.Sensors(np.delete(AT, 3, axis=0), "s", 0.05))
    anew = ko.learn(
        again, kernel=KERNEL, points={"f": T.points["f"], "s": 29}, method=ko.Full(), noise={"f": T.noise["f"]}
    )
    assert np.allclose(fewer(np.delete(h, 3))(PLACES), anew(np.delete(h, 3))(PLACES), atol=1e-5)
    streamed = ko.learn(
        stated, kernel=KERNEL, points={"f": T.points["f"], "s": 30}, method=ko.Subspace(150, penalty="rkhs", batch=50)
    )
    assert np.abs(streamed(h)(PLACES) - T(h)(PLACES)).max() < 1e-3
    assert np.allclose(streamed.std(PLACES), T.std(PLACES), rtol=0.05)


@pytest.mark.parametrize(
    ("at", "more", "said"),
    [
        ([[0.5, 0.5], [1.5, 0.5]], {}, r"s: got 1 of 2 sensors outside the domain, the first is 1, at \[1\.5 0\.5\]"),
        ([[0.5, 0.5], [0.2, 0.5], [0.5, 0.5]], {}, "sensors 0 and 2 at the same place"),
        ([[0.5, 0.5]], {"noise": 0.0}, "noise: got 0; .* greater than 0"),
        ([[0.5, 0.5]], {"noise": -1.0}, "noise: got -1"),
        ([[0.5, 0.5]], {"noise": "5 %"}, "the standard deviation of the errors in the units of the data"),
        ([0.5, 0.5], {}, "one row for each sensor"),
        ([[np.nan, 0.5]], {}, "NaN"),
        (SQUARE, {}, "give the places of the sensors"),
    ],
)
def test_bad_sensors_are_told(at, more, said):
    with pytest.raises(ko.errors.KernopError, match=said):
        ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE), ko.Sensors(at, "s", **more))


def test_noise_is_stated_in_one_place():
    with pytest.raises(ko.errors.ArgumentError, match=r"noise\['s'\]: got 0\.1 for 's', which states 0\.05 itself"):
        ko.learn(problem(), noise={"f": 1.0, "s": 0.1})
    with pytest.raises(ko.errors.ArgumentError, match="leave weights out"):
        ko.learn(problem(), weights="unit")
    with pytest.raises(ko.errors.InputNameError, match="none for condition 'f'"):
        ko.learn(problem(), noise={})


def test_units_that_do_not_fit_are_told():
    T = ko.learn(problem(1e-4), kernel=KERNEL, points={"f": 200, "s": 30})
    with pytest.warns(ko.AccuracyWarning, match=r"the values of 's' are missed by .* times noise 0\.0001 in the mean"):
        T(readings(1, level=0.2)[:, 0])
    T = ko.learn(problem(100.0), kernel=KERNEL, points={"f": 200, "s": 30})
    with pytest.warns(ko.AccuracyWarning, match="tell nothing: is the noise stated in the units of the data"):
        T(harmonic(AT))
