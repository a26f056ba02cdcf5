"""Subspace operators with more points, and with fewer: against learning again, NumPy, and the truth."""

import jax.numpy as jnp
import numpy as np
import pytest
from updating import apart, noise

import kernop as ko
from kernop.basics.errors import ArgumentError, SingularGramError
from kernop.basics.precision import float64
from kernop.collocation import assembly
from kernop.collocation.ansatz import collocate, normal_form
from kernop.collocation.functionals import Functionals

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u) + 3.0 * u, on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g")
)
ENVELOPED = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"))
# Blocks of 65 and more when learned and of up to 64 when new, and a lengthscale for each axis: few are compiled.
X = SQUARE.sample(70, "uniform", seed=3).x
L = 70
CENTRES = np.random.default_rng(7).uniform(-0.1, 1.1, size=(L, 2))
KERNEL = ko.Gaussian([0.3, 0.3])
POINTS = {"f": SQUARE.sample(140, "uniform", 1), "g": SQUARE.boundary.sample(80, "uniform", 2)}
OLD = {"f": 90, "g": 66}


def vanishing(x):
    return x[..., 0] * (1 - x[..., 0]) * x[..., 1] * (1 - x[..., 1])


#: Name: method, λ, and how far two computations of the same u may be apart when data is noise. Orthogonal steps err by
#: rounding times the condition number of A in this basis, 1e4, of which a hundredth is felt in u; normal equations by
#: its square, until λ rules.
CASES = {
    "qr": (ko.Subspace(CENTRES), None, 1e-10),
    "qr, λ": (ko.Subspace(CENTRES), 1e-4, 1e-11),
    "qr, rkhs": (ko.Subspace(CENTRES, penalty="rkhs"), None, 1e-10),
    "qr, rkhs, λ": (ko.Subspace(CENTRES, penalty="rkhs"), 1e-4, 1e-10),
    "normal": (ko.Subspace(CENTRES, solver="normal"), None, 1e-7),
    "normal, λ": (ko.Subspace(CENTRES, solver="normal"), 1e-4, 1e-8),
    "normal, rkhs, λ": (ko.Subspace(CENTRES, solver="normal", penalty="rkhs"), 1e-4, 1e-7),
    "envelope": (ko.Subspace(CENTRES, envelope=vanishing), None, 1e-10),
    "envelope, λ": (ko.Subspace(CENTRES, envelope=vanishing), 1e-4, 1e-11),
    "more centres than points": (ko.Subspace(SQUARE.sample(300, "uniform", 8).x), 1e-4, 1e-10),
}


def problem_of(name):
    return ENVELOPED if "envelope" in name else PROBLEM


def learn(name, points, **changes):
    method, ridge, _ = CASES[name]
    given = {"method": method, "kernel": KERNEL, "regularization": ridge, **changes}
    problem = problem_of(name)
    return ko.learn(problem, points={key: points[key] for key in problem.names}, **given)


def parts(name, of):
    return {key: of(POINTS[key], OLD[key]) for key in problem_of(name).names}


def again(name, operator):
    """Learned from scratch, with what an updated operator says of itself."""
    return learn(name, operator.points, regularization=operator.regularization, weights=operator.weights)


def smooth(x):
    return jnp.sin(x[..., 0] + 2 * x[..., 1]) + x[..., 0] ** 3


def by_numpy(operator, data):
    """u(X) with [√W A; P] c = [√W h; 0] in the sense of least squares, by the SVD."""
    t = operator.factorisation
    kernel, basis = t.kernel, t.expansion.functionals
    a = assembly.cross(kernel, collocate(operator.problem, operator.points, t.expansion.ansatz), basis)
    roots = np.sqrt(np.repeat(list(operator.weights.values()), [len(h) for h in data]))
    penalty = np.sqrt(operator.regularization) * np.eye(len(basis))
    if operator.method.penalty == "rkhs":
        values, vectors = np.linalg.eigh(assembly.cross(kernel, basis, basis))
        penalty = np.sqrt(operator.regularization * len(a) * np.maximum(values, 0.0))[:, None] * vectors.T
    right = np.concatenate([roots * np.concatenate(data), np.zeros(len(basis))])
    c = np.linalg.lstsq(np.vstack([roots[:, None] * a, penalty]), right, rcond=None)[0]
    left = Functionals((normal_form(lambda u: u, ko.Points(X), ansatz=t.expansion.ansatz),))
    return assembly.cross(kernel, left, basis) @ c


@pytest.fixture(scope="module", params=list(CASES))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def start(name):
    return learn(name, parts(name, lambda points, n: points[:n]))


@pytest.fixture(scope="module")
def fresh(name):
    return parts(name, lambda points, n: points[n:])


@pytest.fixture(scope="module")
def updated(start, fresh):
    return start.update(fresh)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
class TestUpdate:
    def test_what_was_chosen_stays_and_the_penalty_too(self, start, updated):
        assert updated.kernel is start.kernel
        assert updated.weights == start.weights
        assert updated.factorisation.expansion is start.factorisation.expansion
        scale = start.n_points / updated.n_points if start.method.penalty == "rkhs" else 1.0
        assert updated.regularization == pytest.approx(start.regularization * scale, rel=1e-14)

    def test_equals_learning_again(self, name, updated):
        scratch, bound, data = again(name, updated), CASES[name][-1], noise(updated, (3,))
        expected = scratch(*data)(X)
        assert apart(updated(*data)(X), expected) < bound
        assert apart(updated(*data).grad(X), scratch(*data).grad(X)) < 10 * bound
        assert apart(updated.on(X)(*data), expected) < bound
        assert apart(updated.basis(X) @ np.concatenate(data), expected) < bound
        single = [column[:, 1] for column in data]
        assert apart(updated(*single)(X), expected[:, 1]) < bound

    def test_equals_least_squares_by_numpy(self, name, updated):
        data = noise(updated)
        # What rounding takes from c by way of the SVD, u hardly feels.
        assert apart(updated(*data)(X), by_numpy(updated, data)) < 10 * CASES[name][-1]

    def test_std_where_there_is_a_prior(self, name, start, updated):
        if "λ" not in name and "more" not in name:
            with pytest.raises(ArgumentError, match="std: got"):
                updated.std(X)
        else:
            np.testing.assert_allclose(updated.std(X), again(name, updated).std(X), rtol=1e-5)
            assert np.all(updated.std(X) <= start.std(X) * (1 + 1e-9))  # more is known

    def test_several_steps_are_one(self, name, start, fresh, updated):
        steps = start.update({"f": fresh["f"][:1]}).update({"f": fresh["f"][1:20].x})
        steps = steps.update({**fresh, "f": fresh["f"][20:]})
        data = noise(updated)
        expected = updated(*data)(X)
        assert apart(steps(*data)(X), expected) < CASES[name][-1]
        assert apart(steps.on(X)(*data), expected) < CASES[name][-1]
        if "λ" in name:
            np.testing.assert_allclose(steps.std(X), updated.std(X), rtol=1e-6)

    def test_two_thin_matrices_for_many_points(self, name, updated):
        x = SQUARE.sample(600, "uniform", seed=4).x
        data = noise(updated)
        fixed = updated.on(x)
        assert len(fixed.matrices) == (1 if "more" in name else 2)
        assert apart(fixed(*data), updated(*data)(x)) < CASES[name][-1]

    def test_the_operator_before_is_as_it_was(self, start, fresh):
        before = start.basis(X)
        start.update(fresh).update({"f": POINTS["f"][:3]})
        start.remove({"f": [0, 5]})
        np.testing.assert_array_equal(start.basis(X), before)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
class TestRemove:
    def test_equals_learning_again(self, name, updated):
        fewer = updated.remove({"f": [0, 3, 100, -1]})
        np.testing.assert_array_equal(fewer.points["f"].x, np.delete(POINTS["f"].x, [0, 3, 100, 139], axis=0))
        scratch, data = again(name, fewer), noise(fewer)
        assert apart(fewer(*data)(X), scratch(*data)(X)) < CASES[name][-1]
        assert apart(fewer.on(X)(*data), scratch(*data)(X)) < CASES[name][-1]
        assert fewer.weights == updated.weights
        if "λ" in name:
            np.testing.assert_allclose(fewer.std(X), scratch.std(X), rtol=1e-6)

    def test_what_came_can_go(self, name, start, updated):
        back = updated.remove(parts(name, lambda points, n: np.arange(len(points)) >= n))
        data = noise(start)
        assert apart(back(*data)(X), start(*data)(X)) < CASES[name][-1]
        assert back.regularization == pytest.approx(start.regularization, rel=1e-14)

    def test_what_is_left_can_be_updated(self, name, updated):
        back = updated.remove({"f": np.arange(100, 140)}).update({"f": POINTS["f"][100:]})
        data = noise(updated)
        assert apart(back(*data)(X), updated(*data)(X)) < CASES[name][-1]

    def test_fewer_points_than_centres_without_regularisation(self):
        t = learn("qr", POINTS)
        assert t.regularization == 0.0
        few = t.remove({"f": np.arange(20, 140), "g": np.arange(30, 80)})
        assert few.regularization > 0.0  # what A cannot see is settled as in learning
        u = few(**PROBLEM.manufacture(smooth, few.points))
        np.testing.assert_allclose(u(few.points["g"].x), np.asarray(smooth(few.points["g"].x)), atol=1e-6)


class TestBases:
    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_representers_stay_those_of_the_first_points(self):
        method = ko.Subspace(L, basis="representers", penalty="rkhs")
        given = {"kernel": KERNEL, "regularization": 1e-6, "method": method, "weights": {"f": 0.01, "g": 2.0}}
        t = ko.learn(PROBLEM, points={key: POINTS[key][: OLD[key]] for key in OLD}, **given)
        u = t.update({key: POINTS[key][OLD[key] :] for key in OLD})
        assert u.factorisation.expansion is t.factorisation.expansion
        data = noise(u)
        assert apart(u(*data)(X), by_numpy(u, data)) < 1e-8
        back = u.remove({"f": np.arange(90, 140), "g": np.arange(66, 80)})
        assert apart(back(*noise(t))(X), t(*noise(t))(X)) < 1e-9

    def test_chosen_centres_stay_however_many_points_come(self):
        t = ko.learn(PROBLEM, points=150)
        u = t.update({"f": SQUARE.sample(64, seed=5)})
        assert u.factorisation.expansion is t.factorisation.expansion
        assert u.remove({"f": [0]}).factorisation.expansion is t.factorisation.expansion


class TestTruth:
    def error(self, operator):
        u = operator(**PROBLEM.manufacture(smooth, operator.points))
        with float64():
            return apart(u(X), np.asarray(smooth(X)))

    @pytest.mark.parametrize("solver", ["qr", "normal"])
    def test_more_points_are_better(self, solver):
        t = ko.learn(PROBLEM, points={"f": 70, "g": 66}, method=ko.Subspace(200, "translates", solver=solver))
        errors = [self.error(t)]
        for seed in (1, 2, 3):
            t = t.update({"f": SQUARE.sample(64, "halton", seed), "g": SQUARE.boundary.sample(64, "halton", seed)})
            errors.append(self.error(t))
        assert errors[-1] < 1e-1 * errors[0]
        assert errors[-1] < {"qr": 1e-6, "normal": 1e-4}[solver]

    def test_as_accurate_as_learning_at_once(self):
        points = {"f": SQUARE.sample(1000), "g": SQUARE.boundary.sample(500)}
        once = ko.learn(PROBLEM, points=points, method=ko.Subspace(500))
        t = ko.learn(PROBLEM, points={key: some[::2] for key, some in points.items()}, method=ko.Subspace(500))
        t = t.update({key: some[1::2] for key, some in points.items()})
        assert self.error(once) < 1e-12
        assert self.error(t) < 1e-12


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_centres_that_coincide():
    centres = np.concatenate([CENTRES[:40], CENTRES[:40]])
    t = ko.learn(PROBLEM, points=200, kernel=KERNEL, regularization=1e-4, method=ko.Subspace(centres, solver="normal"))
    data = noise(u := t.update({"f": POINTS["f"][:9]}))
    scratch = ko.learn(
        PROBLEM, points=u.points, kernel=KERNEL, regularization=1e-4, weights=t.weights, method=ko.Subspace(centres)
    )
    assert apart(u(*data)(X), scratch(*data)(X)) < 1e-11
    with pytest.raises(SingularGramError):
        ko.learn(PROBLEM, points=u.points, regularization=0.0, method=ko.Subspace(centres, solver="normal"))
