"""Operators with more points, and with fewer: against learning again, against Full, and against the truth."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from updating import apart, noise

import kernop as ko
from kernop.basics.errors import ArgumentError, RoughKernelError, SingularGramError
from kernop.basics.precision import float64
from kernop.methods.base import Factorisation, others, woven

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.div((lambda x: jnp.exp(x[..., 0] * x[..., 1])) * ko.grad(u)), on=SQUARE, name="f"),
    ko.Dirichlet(on=SQUARE.face("left", "right"), name="g"),
    ko.Neumann(on=SQUARE.face("bottom", "top"), name="q"),
)
# Blocks of 65 and more when learned and of up to 64 when new, and a lengthscale for each axis: few are compiled.
X = SQUARE.sample(70, "uniform", seed=3).x
OLD = {"f": 90, "g": 66, "q": 70}
MORE = {"f": 40, "g": 0, "q": 25}
POINTS = {name: PROBLEM[name].on.sample(OLD[name] + MORE[name], "uniform", seed) for seed, name in enumerate(OLD)}
FIRST = {name: points[: OLD[name]] for name, points in POINTS.items()}
FRESH = {name: points[OLD[name] :] for name, points in POINTS.items() if MORE[name]}
WEIGHTS = {"f": 0.01, "g": 5.0, "q": 0.5}
N, ALL = sum(OLD.values()), sum(OLD.values()) + sum(MORE.values())

#: Name: method, lengthscale, λ, weights, and how far two computations of the same u may be apart when data is noise.
#: For Full, rounding (1e-16) times the condition number, at most N max G_ii / λN: 1e9, and 1e6 for the short kernel, of
#: which about a tenth is felt. For LowRank, what it leaves out.
CASES = {
    "full": (ko.Full(), 0.3, 1e-5, None, 1e-8),
    "full, weighted": (ko.Full(), 0.3, 1e-5, WEIGHTS, 1e-8),
    "full, balanced": (ko.Full(), 0.3, 1e-5, "balanced", 1e-8),
    "full, rough": (ko.Full(), 0.1, 1e-3, None, 1e-11),
    "low rank": (ko.LowRank(tol=1e-8), 1.0, 1e-3, None, 1e-7),
    "low rank, weighted": (ko.LowRank(tol=1e-8), 1.0, 1e-3, WEIGHTS, 1e-7),
}


def learn(name, points, **changes):
    method, length, ridge, weights, _ = CASES[name]
    given = {"method": method, "kernel": ko.Gaussian([length] * 2), "regularization": ridge, "weights": weights}
    return ko.learn(PROBLEM, points=points, **{**given, **changes})


def again(name, operator):
    """Learned from scratch, with what an updated operator says of itself."""
    return learn(name, operator.points, regularization=operator.regularization, weights=operator.weights)


def smooth(x):
    k = jnp.arange(1, x.shape[-1] + 1)
    return jnp.sin(jnp.sum(k * x, axis=-1)) + x[..., 0] ** 3


def error(operator):
    u = operator(**operator.problem.manufacture(smooth, operator.points))
    x = operator.problem.conditions[0].on.sample(70, "uniform", seed=9).x
    with float64():
        return apart(u(x), np.asarray(smooth(x)))


@pytest.fixture(scope="module", params=list(CASES))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def start(name):
    return learn(name, FIRST)


@pytest.fixture(scope="module")
def updated(start):
    return start.update(FRESH)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
class TestUpdate:
    def test_points_are_the_old_ones_then_the_new(self, start, updated):
        for key, points in POINTS.items():
            np.testing.assert_array_equal(updated.points[key].x, points.x)
        np.testing.assert_array_equal(updated.points["q"].normal, POINTS["q"].normal)
        assert start.n_points == N
        assert updated.n_points == ALL

    def test_what_was_chosen_stays_and_the_noise_too(self, start, updated):
        assert updated.kernel is start.kernel
        assert updated.weights == start.weights
        assert updated.regularization * ALL == pytest.approx(start.regularization * N, rel=1e-14)

    def test_equals_learning_again(self, name, updated):
        scratch, data = again(name, updated), noise(updated)
        assert apart(updated(*data)(X), scratch(*data)(X)) < CASES[name][-1]
        assert apart(updated(*data).grad(X), scratch(*data).grad(X)) < 10 * CASES[name][-1]

    def test_fixed_points_basis_and_batches(self, name, updated):
        scratch, data = again(name, updated), noise(updated, (3,))
        expected, bound = scratch(*data)(X), CASES[name][-1]
        assert apart(updated(*data)(X), expected) < bound
        assert apart(updated.on(X)(*data), expected) < bound
        assert apart(updated.basis(X) @ np.concatenate(data), expected) < bound
        with jax.enable_x64(True):
            mapped = jax.jit(updated.on(X))(*map(jnp.asarray, data))
        assert apart(np.asarray(mapped), expected) < bound

    def test_std(self, name, start, updated):
        np.testing.assert_allclose(updated.std(X), again(name, updated).std(X), rtol=1e-5)
        assert np.all(updated.std(X) <= start.std(X) * (1 + 1e-9))  # more is known

    def test_several_steps_are_one(self, name, start, updated):
        steps = start.update({"q": FRESH["q"][:7]}).update({"f": FRESH["f"][:1]})
        steps = steps.update({"f": FRESH["f"][1:].x, "q": FRESH["q"][7:]})
        data = noise(updated)
        assert apart(steps(*data)(X), updated(*data)(X)) < CASES[name][-1]
        assert apart(steps.on(X)(*data), updated(*data)(X)) < CASES[name][-1]
        np.testing.assert_allclose(steps.std(X), updated.std(X), rtol=1e-5)

    def test_the_operator_before_is_as_it_was(self, name, start):
        before = start.basis(X)
        start.update(FRESH)
        start.remove({"f": [0, 5]})
        np.testing.assert_array_equal(start.basis(X), before)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
class TestRemove:
    def test_equals_learning_again(self, name, updated):
        fewer = updated.remove({"f": [0, 3, 100, -1], "q": np.arange(95) % 8 == 0})
        assert [len(points) for points in fewer.points.values()] == [126, 66, 83]
        np.testing.assert_array_equal(fewer.points["f"].x, np.delete(POINTS["f"].x, [0, 3, 100, 129], axis=0))
        scratch, data = again(name, fewer), noise(fewer)
        assert apart(fewer(*data)(X), scratch(*data)(X)) < CASES[name][-1]
        assert apart(fewer.on(X)(*data), scratch(*data)(X)) < CASES[name][-1]
        np.testing.assert_allclose(fewer.std(X), scratch.std(X), rtol=1e-5)
        assert fewer.regularization * 275 == pytest.approx(updated.regularization * ALL, rel=1e-14)
        assert fewer.weights == updated.weights

    def test_what_came_can_go(self, name, start, updated):
        back = updated.remove({"f": np.arange(90, 130), "q": np.arange(70, 95)})
        data = noise(start)
        assert apart(back(*data)(X), start(*data)(X)) < CASES[name][-1]
        assert back.regularization == pytest.approx(start.regularization, rel=1e-14)

    def test_what_went_can_come_back(self, name, start):
        back = start.remove({"f": np.arange(60, 90), "g": [65]}).update({"f": FIRST["f"][60:], "g": FIRST["g"][65:]})
        data = noise(start)
        assert apart(back(*data)(X), start(*data)(X)) < CASES[name][-1]
        assert apart(back.on(X)(*data), start(*data)(X)) < CASES[name][-1]

    def test_in_any_order(self, name, updated):
        one = updated.remove({"f": [7]}).remove({"f": [7, 100]}).remove({"q": [0]})
        both = updated.remove({"f": [7, 8, 101], "q": [0]})
        data = noise(both)
        assert apart(one(*data)(X), both(*data)(X)) < CASES[name][-1]


class TestWeights:
    @pytest.mark.parametrize("weights", ["unit", "balanced", {"f": 3.0}])
    @pytest.mark.parametrize("method", [ko.Full(), ko.LowRank(), ko.Subspace(70), ko.Subspace(70, solver="normal")])
    def test_the_same_weights_give_the_same_operator(self, method, weights):
        given = {"method": method, "kernel": ko.Gaussian([0.4, 0.4]), "regularization": 1e-4, "points": FIRST}
        t = ko.learn(PROBLEM, weights=weights, **given)
        assert list(t.weights) == ["f", "g", "q"]
        assert weights != "unit" or set(t.weights.values()) == {1.0}
        assert weights != {"f": 3.0} or t.weights == {"f": 3.0, "g": 1.0, "q": 1.0}
        np.testing.assert_array_equal(ko.learn(PROBLEM, weights=t.weights, **given).basis(X), t.basis(X))

    def test_new_points_do_not_balance_again(self):
        t = learn("full, balanced", FIRST)
        u = t.update({"f": POINTS["f"][:64]})
        assert u.weights == t.weights != learn("full, balanced", u.points).weights


def halves():
    """The points below the diagonal x + y = 1, and those above."""
    below = {name: points.x.sum(axis=1) < 1.0 for name, points in POINTS.items()}
    return tuple({name: points[below[name] == side] for name, points in POINTS.items()} for side in (True, False))


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
class TestLowRank:
    def test_places_that_are_new_need_more_pivots(self):
        near, far = halves()
        n = sum(map(len, near.values()))
        small = learn("low rank", near, regularization=1e-3 * ALL / n)
        large, everywhere = small.update(far), learn("low rank", POINTS)
        assert small.factorisation.rank < large.factorisation.rank
        assert abs(large.factorisation.rank - everywhere.factorisation.rank) <= 5
        data, full = noise(large), learn("low rank", large.points, method=ko.Full())
        assert apart(large(*data)(X), full(*data)(X)) < 1e-7

    def test_the_rank_stays_within_its_limit(self):
        t = learn("low rank", FIRST, method=ko.LowRank(rank=40, tol=1e-9))
        assert t.factorisation.rank == t.update(FRESH).factorisation.rank == 40

    def test_pivots_whose_points_are_gone_do_not_stand_in_the_way_of_others(self):
        near, far = halves()
        t = learn("full", near, method=ko.LowRank(tol=1e-8), regularization=1e-3)
        few = t.remove({key: np.arange(3, len(points)) for key, points in near.items()})
        back = few.update({key: points[:20] for key, points in far.items()})
        assert t.factorisation.rank > back.n_points
        data, full = noise(back), learn("full", back.points, regularization=back.regularization)
        assert apart(back(*data)(X), full(*data)(X)) < 1e-6

    def test_many_small_steps_leave_one_block(self):
        t = learn("low rank", {key: points[:66] for key, points in POINTS.items()})
        for k in range(66, 80):
            t = t.update({"f": POINTS["f"][k : k + 1], "q": POINTS["q"][k : k + 1]})
        assert len(t.factorisation.expansion.functionals.blocks) == 1
        data = noise(t)
        assert apart(t(*data)(X), again("low rank", t)(*data)(X)) < 1e-6


class TestTruth:
    def test_more_points_are_better(self):
        given = {"kernel": ko.Gaussian([0.4, 0.4]), "regularization": 1e-12, "method": ko.Full()}
        t = ko.learn(PROBLEM, points={"f": 30, "g": 10, "q": 10}, **given)
        errors = [error(t)]
        for seed in (1, 2):
            t = t.update({name: PROBLEM[name].on.sample(60, "halton", seed) for name in PROBLEM.names})
            errors.append(error(t))
        assert errors[0] > 10 * errors[1] > 100 * errors[2]

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_a_dead_sensor_is_forgotten(self):
        t = learn("full", POINTS)
        data = PROBLEM.manufacture(smooth, t.points)
        broken = {**data, "f": np.where(np.arange(130) == 17, 1e3, data["f"])}
        alive = t.remove({"f": 17})
        found = alive(**{**broken, "f": np.delete(broken["f"], 17)})(X)
        exact = np.asarray(smooth(X))
        assert apart(found, exact) < 1e-2 * apart(t(**broken)(X), exact)


LINE = ko.Interval(0, 1)
ODE = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) + 2.0 * u, on=LINE), ko.Dirichlet(on=LINE.boundary))
PLACES = {"f": np.linspace(0.02, 0.98, 24)[:, None], "g": np.array([[0.0], [1.0], [0.0], [1.0]])}
ON_A_LINE = {
    "full": (ko.Full(), 1e-10),
    "low rank": (ko.LowRank(tol=1e-9, block=5), 1e-8),
    "subspace": (ko.Subspace(np.linspace(-0.2, 1.2, 12)[:, None]), 1e-11),
}


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("kind", list(ON_A_LINE))
@settings(max_examples=25, deadline=None)
@given(
    f=st.lists(st.integers(0, 3), min_size=24, max_size=24),
    g=st.lists(st.integers(0, 3), min_size=4, max_size=4),
    seed=st.integers(0, 2**32 - 1),
)
@example(f=[0] * 24, g=[0, 0, 0, 1], seed=0)
@example(f=[1] * 24, g=[0, 3, 3, 3], seed=0)
@example(f=[3, 2, 1] * 8, g=[2, 1, 0, 3], seed=1)
def test_any_points_come_and_go_in_any_order(kind, f, g, seed):
    """Point i is learned from at once (0), comes in one of two updates (1, 2), or comes and goes again (3)."""
    method, bound = ON_A_LINE[kind]
    turn = {"f": np.array(f), "g": np.array(g)}
    for turns in turn.values():
        turns[0] = 0
    given = {"method": method, "kernel": ko.Gaussian([0.2]), "regularization": 1e-2}
    t = ko.learn(ODE, points={name: PLACES[name][turns == 0] for name, turns in turn.items()}, **given)
    total = t.regularization * t.n_points
    for k in (3, 1, 2):
        fresh = {name: PLACES[name][turns == k] for name, turns in turn.items() if np.any(turns == k)}
        t = t.update(fresh) if fresh else t
    gone = {
        name: np.sum(turns == 0) + np.arange(count) for name, turns in turn.items() if (count := np.sum(turns == 3))
    }
    t = t.remove(gone) if gone else t
    for name, turns in turn.items():
        stays = np.concatenate([PLACES[name][turns == k] for k in (0, 1, 2)])
        np.testing.assert_array_equal(t.points[name].x, stays)
    if kind != "subspace":
        assert t.regularization * t.n_points == pytest.approx(total, rel=1e-12)
    scratch = ko.learn(ODE, points=t.points, weights=t.weights, **{**given, "regularization": t.regularization})
    rng = np.random.default_rng(seed)
    data = [rng.normal(size=len(points)) for points in t.points.values()]
    x = np.linspace(0, 1, 50)[:, None]
    expected = scratch(*data)(x)
    assert apart(t(*data)(x), expected) < bound
    assert apart(t.on(x)(*data), expected) < bound


class TestErrors:
    def test_a_point_twice_without_regularisation(self):
        t = learn("full, rough", {key: points[:30] for key, points in FIRST.items()}, regularization=0.0)
        with pytest.raises(SingularGramError, match=r"pivot 91 of 91|smallest pivot is .* of 1"):
            t.update({"f": POINTS["f"][:1]})

    def test_a_condition_that_vanishes_at_a_new_point(self):
        problem = ko.Problem(ko.Equation(lambda u: (lambda x: x[..., 0]) * u, on=LINE))
        t = ko.learn(
            problem, points={"f": [[0.5], [1.0]]}, kernel=ko.Gaussian(0.5), regularization=0.0, method=ko.Full()
        )
        with pytest.raises(ArgumentError, match="points: got a condition that vanishes at a point"):
            t.update({"f": [[0.0]]})

    def test_a_kernel_too_rough_for_what_only_new_points_see(self):
        def op(u):
            return u - (lambda x: jnp.maximum(x[..., 0] - 0.5, 0.0)) * ko.laplacian(u)

        t = ko.learn(
            ko.Problem(ko.Equation(op, on=LINE)), points={"f": [[0.2]]}, kernel=ko.Matern(1.5, 1.0), method=ko.Full()
        )
        with pytest.raises(RoughKernelError, match="condition 'f' needs 4"):
            t.update({"f": [[0.9]]})

    def test_a_factorisation_that_cannot(self, monkeypatch):
        t = learn("full", FIRST)
        monkeypatch.setattr(type(t.factorisation), "extended", Factorisation.extended)
        monkeypatch.setattr(type(t.factorisation), "without", Factorisation.without)
        with pytest.raises(ArgumentError, match=r"T: got an operator that cannot be updated \(Full.*learn again"):
            t.update(FRESH)
        with pytest.raises(ArgumentError, match="T: got an operator that cannot be shortened"):
            t.remove({"f": [0]})


class TestRows:
    @pytest.mark.parametrize("new", [[0], [5], [2], [0, 1, 5], [1, 3, 4], [0, 1, 2, 3, 4, 5]])
    @pytest.mark.parametrize("shape", [(), (3,)])
    def test_woven(self, new, shape):
        whole = np.random.default_rng(0).normal(size=(6, *shape))
        new = np.array(new)
        old = others(new, 6)
        assert sorted([*old, *new]) == list(range(6))
        found = woven(whole[old], whole[new], new)
        np.testing.assert_array_equal(found, whole)
        assert found.flags.f_contiguous


def test_report_and_stats_are_those_of_the_update():
    t = ko.learn(ODE, tol=1e-3)
    assert t.report.met
    u = t.update({"f": [[0.123]]})
    assert u.report is None
    assert set(u.stats) == {"collocate", "factorise"}
    assert u.remove({"f": [0]}).report is None
