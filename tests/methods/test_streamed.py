"""Operators learned from a stream, against `Subspace` that holds all rows, and against exact solutions."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    InputNameError,
    NonFiniteError,
    RoughKernelError,
    ShapeError,
)
from kernop.trust.metrics import relative_l2

# Blocks of at most 64 points and functions, and a lengthscale for each axis: few functions are compiled.
LINE, SQUARE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1])
ODE = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) + 2.0 * u, on=LINE), ko.Dirichlet(on=LINE.boundary))


def darcy(u):
    return -ko.div((lambda x: jnp.exp(x[..., 0] * x[..., 1])) * ko.grad(u))


def three(fixed=None):
    """An equation, and conditions of two kinds; of one the data can be fixed."""
    return ko.Problem(
        ko.Equation(darcy, on=SQUARE),
        ko.Dirichlet(on=SQUARE.face("left", "right")),
        ko.Neumann(on=SQUARE.face("bottom", "top"), data=fixed),
    )


def hump(x):
    return x[..., 0] * (1 - x[..., 0])


def wave(x):
    return jnp.sin(3 * x[..., 0] + x[..., -1])


def ramp(x):
    return 1.0 + x[..., 0] - 0.5 * x[..., -1]


def waves(x):
    return jnp.stack([wave(x), ramp(x) * wave(x)], axis=-1)


INNER = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u) + 2.0 * u, on=LINE))
CENTRES = {1: np.linspace(-0.2, 1.2, 12)[:, None], 2: np.random.default_rng(7).uniform(-0.1, 1.1, size=(40, 2))}
POINTS = {"f": 60, "g": 30, "q": 25}

#: Name: problem, options of Subspace, λ, and how far two computations of the same u may be apart.
CASES = {
    "line, qr": (ODE, {}, 1e-4, 1e-11),
    "line, no λ": (ODE, {}, None, 1e-10),
    "line, normal": (ODE, {"solver": "normal"}, 1e-4, 1e-10),
    "line, normal, no λ": (ODE, {"solver": "normal"}, None, 1e-9),
    "line, rkhs": (ODE, {"penalty": "rkhs"}, 1e-5, 1e-10),
    "line, rkhs, normal": (ODE, {"penalty": "rkhs", "solver": "normal"}, 1e-5, 1e-9),
    "line, representers": (ODE, {"basis": "representers", "centers": 15}, 1e-6, 1e-9),
    "line, envelope": (INNER, {"envelope": hump}, 1e-6, 1e-10),
    "three conditions": (three(), {}, 1e-5, 1e-9),
    "three conditions, normal": (three(), {"solver": "normal"}, 1e-4, 1e-8),
    "fixed data": (three(wave), {}, 1e-5, 1e-9),
    "fixed number": (three(0.5), {}, 1e-5, 1e-9),
}


def points_of(problem):
    seeds = enumerate(problem.names)
    return {n: problem[n].on.sample(POINTS[n], "uniform", seed) for seed, n in seeds}


def learn(name, batch=None, points=None, **more):
    problem, options, ridge, _ = CASES[name]
    method = ko.Subspace(**{"centers": CENTRES[problem.dim], "batch": batch, **options})
    settings = {"kernel": ko.Gaussian([0.3] * problem.dim), "regularization": ridge, "method": method}
    return ko.learn(problem, points=points or points_of(problem), **{**settings, **more})


def evaluated(u):
    x = u.problem.conditions[0].on.sample(50, "uniform", seed=3).x
    return u(x)


def apart(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


def functions(problem):
    return (wave, ramp, 0.7)[: len(problem.inputs)]


def noise(operator, columns=(), seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(len(operator.points[name]), *columns)) for name in operator.problem.inputs]


@pytest.fixture(scope="module", params=list(CASES))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def streamed(name):
    given = functions(CASES[name][0])
    return learn(name, batch=17, inputs=[given, tuple(2.0 * np.ones(len(given)))])


@pytest.fixture(scope="module")
def held(name, streamed):
    return learn(name, weights=streamed.weights)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
class TestAgainstHeldRows:
    def test_inputs_in_advance(self, name, streamed, held):
        bound, given = CASES[name][-1], functions(held.problem)
        first, second = streamed.solutions
        assert apart(evaluated(first), evaluated(held(*given))) < bound
        assert apart(evaluated(second), evaluated(held(*[2.0] * len(given)))) < bound

    def test_later_inputs(self, name, streamed, held):
        bound, given = CASES[name][-1], functions(held.problem)
        assert apart(evaluated(streamed(*given)), evaluated(held(*given))) < bound
        named = dict(zip(held.problem.inputs, given, strict=True))
        np.testing.assert_array_equal(evaluated(streamed(**named)), evaluated(streamed(*given)))

    def test_values_at_the_points(self, name, streamed, held):
        data = noise(held)
        assert apart(evaluated(streamed(*data)), evaluated(held(*data))) < CASES[name][-1]
        several = noise(held, (3,))
        found = evaluated(streamed(*several))
        assert found.shape == (50, 3)
        assert apart(found, evaluated(held(*several))) < CASES[name][-1]

    def test_several_inputs_in_one_go(self, name, streamed, held):
        given, data, several = functions(held.problem), noise(held), noise(held, (2,), 1)
        inputs = [given, dict(zip(held.problem.inputs, several, strict=True)), tuple(data)]
        found = streamed.solve(inputs)
        for u, values in zip(found, (given, several, data), strict=True):
            expected = evaluated(held(*values))
            assert evaluated(u).shape == expected.shape
            assert apart(evaluated(u), expected) < CASES[name][-1]

    def test_gradients(self, name, streamed, held):
        given = functions(held.problem)
        x = held.problem.conditions[0].on.sample(20, "uniform", seed=5).x
        assert apart(streamed(*given).grad(x), held(*given).grad(x)) < 10 * CASES[name][-1]

    def test_points(self, streamed, held):
        assert set(streamed.points) == set(held.points)
        for key, points in held.points.items():
            np.testing.assert_array_equal(streamed.points[key].x, points.x)
        assert streamed.n_points == held.n_points
        with pytest.raises(KeyError):
            streamed.points["nothing"]

    @pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[2] is not None], indirect=True)
    def test_std(self, streamed, held):
        x = held.problem.conditions[0].on.sample(20, "uniform", seed=5).x
        np.testing.assert_allclose(streamed.std(x), held.std(x), rtol=1e-6)

    @pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[2] is None], indirect=True)
    def test_no_std_without_a_prior(self, streamed):
        with pytest.raises(ArgumentError, match=r"std: got .*without regularisation"):
            streamed.std([[0.5]])

    def test_update_is_streaming_all_points(self, name, streamed):
        problem = CASES[name][0]
        more = {key: problem[key].on.sample(9, "uniform", seed=20) for key in ("f", "q") if key in problem.names}
        updated = streamed.update(more)
        assert updated.n_points == streamed.n_points + sum(map(len, more.values()))
        assert updated.solutions == ()
        assert updated.weights == streamed.weights
        expansion = streamed.factorisation.expansion.functionals.blocks
        if len(expansion) == 1:  # the representers of more points are others
            again = learn(name, points=updated.points, weights=updated.weights, regularization=updated.regularization)
            data = noise(updated)
            assert apart(evaluated(updated(*data)), evaluated(again(*data))) < 10 * CASES[name][-1]
            given = functions(problem)
            assert apart(evaluated(updated(*given)), evaluated(again(*given))) < 10 * CASES[name][-1]
        for key, points in updated.points.items():
            old = streamed.points[key].x
            np.testing.assert_array_equal(points.x, np.vstack([old, more[key].x]) if key in more else old)


@pytest.fixture(scope="module")
def line():
    return learn("line, qr", batch=7)


class TestColumns:
    """Two points of the boundary among sixty of the line: the first batch has none of them."""

    def test_the_first_batch_has_no_boundary(self, line):
        assert "g" not in line.factorisation.rows.stream[0]

    @pytest.mark.parametrize(
        ("given", "columns"),
        [
            ((1.0, np.array([[1.0, 2.0], [3.0, 4.0]])), [(1.0, [1.0, 3.0]), (1.0, [2.0, 4.0])]),
            ((1.0, waves), [(1.0, wave), (1.0, lambda x: ramp(x) * wave(x))]),
            ((waves, 2.0), [(wave, 2.0), (lambda x: ramp(x) * wave(x), 2.0)]),
        ],
    )
    @pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
    def test_columns_of_one_input_meet_one_column_of_another(self, line, given, columns):
        expected = np.stack([evaluated(line(*values)) for values in columns], axis=1)
        np.testing.assert_allclose(evaluated(line(*given)), expected, rtol=1e-10)
        both = line.solve([(1.0, 0.0), given, (wave, ramp)])
        np.testing.assert_allclose(evaluated(both[1]), expected, rtol=1e-10)
        np.testing.assert_allclose(evaluated(both[2]), evaluated(line(wave, ramp)), rtol=1e-10)

    def test_in_advance(self, line):
        t = learn("line, qr", batch=7, inputs=[(1.0, waves), (wave, ramp), (waves, waves)], weights=line.weights)
        for u, given in zip(t.solutions, [(1.0, waves), (wave, ramp), (waves, waves)], strict=True):
            expected = evaluated(line(*given))
            assert evaluated(u).shape == expected.shape
            np.testing.assert_allclose(evaluated(u), expected, rtol=1e-9)

    def test_columns_that_disagree(self, line):
        with pytest.raises(ShapeError, match=r"T: got batches that disagree \('f' with 2 where others have 3\)"):
            line(waves, np.ones((2, 3)))

    def test_zero_data(self, line):
        assert not np.any(evaluated(line(0.0, 0.0)))


@pytest.fixture(scope="module")
def errors():
    """Of the default, for each solver and way to solve, against u = sin(x + 2y) + exp(−x − y) / 2."""
    exact = lambda x: np.sin(x[..., 0] + 2 * x[..., 1]) + 0.5 * np.exp(-x[..., 0] - x[..., 1])
    source = lambda x: 5.0 * np.sin(x[..., 0] + 2 * x[..., 1]) - np.exp(-x[..., 0] - x[..., 1])
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary))
    x = SQUARE.sample(300, "uniform", seed=9).x
    truth, found = exact(x), {}
    for solver in ("qr", "normal"):
        method = ko.Subspace(350, basis="translates", solver=solver)
        held = ko.learn(problem, points=1500, method=method)
        t = ko.learn(problem, points=1500, method=replace(method, batch=400), inputs=[(source, exact)])
        again = t.materialize()
        many = {"held": held(source, exact), "in advance": t.solutions[0], "later": t(source, exact)}
        many["materialized"] = again(source, exact)
        for kind, u in many.items():
            found[solver, kind] = relative_l2(u(x), truth)
        found[solver, "fixed points"] = relative_l2(again.on(x)(source, exact), truth)
    return found


class TestAccuracy:
    """The default, at the edge of what float64 can hold: normal equations lose half of the digits, QR must not."""

    def test_qr_loses_digits_neither_in_advance_nor_later(self, errors):
        best = errors["qr", "held"]
        assert best < 1e-9
        for kind in ("in advance", "later", "materialized", "fixed points"):
            assert errors["qr", kind] < 3 * best

    def test_normal_equations_are_as_good_as_ever(self, errors):
        assert errors["normal", "held"] > 100 * errors["qr", "held"]
        for kind in ("in advance", "later"):
            assert errors["normal", kind] < 3 * errors["normal", "held"]

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    @pytest.mark.parametrize("ridge", [None, 0.0, 1e-40])
    def test_functions_that_depend_on_each_other(self, ridge):
        """Every function twice: R is singular, and corrections by it would explode."""
        twice = np.concatenate([CENTRES[1], CENTRES[1]])
        method = ko.Subspace(twice, batch=17)
        t = learn("line, qr", regularization=ridge, method=method, inputs=[(wave, ramp)])
        expected = evaluated(learn("line, no λ", weights=t.weights)(wave, ramp))
        assert apart(evaluated(t.solutions[0]), expected) < 1e-6
        assert apart(evaluated(t(wave, ramp)), expected) < 1e-6
        assert apart(evaluated(t.materialize()(wave, ramp)), expected) < 1e-6

    @pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
    def test_fewer_points_than_functions(self):
        t = learn("line, no λ", points={"f": 5, "g": 2}, batch=3)
        u = t(wave, ramp)
        np.testing.assert_allclose(u(t.points["g"].x), np.asarray(ramp(t.points["g"].x)), atol=1e-8)
        x = t.points["f"].x
        np.testing.assert_allclose(u.residual("f", x, wave), 0.0, atol=1e-6)


@pytest.fixture(scope="module")
def passed():
    p = points_of(ODE)
    batches = ({"f": p["f"][k : k + 12], "g": p["g"]} for k in range(0, 60, 12))
    return learn("line, qr", batch=10, points=batches, inputs=[(wave, ramp)])


class TestIterators:
    def test_one_pass_is_enough_for_inputs_in_advance(self, passed):
        p = points_of(ODE)
        points = {"f": p["f"], "g": np.tile(p["g"].x, (5, 1))}
        held = learn("line, qr", points=points, weights=passed.weights)
        assert apart(evaluated(passed.solutions[0]), evaluated(held(wave, ramp))) < 1e-11
        assert passed.n_points == held.n_points == 70
        x = LINE.sample(10).x
        np.testing.assert_allclose(passed.std(x), held.std(x), rtol=1e-8)
        assert "70 points" in repr(passed)

    @pytest.mark.parametrize(
        "act",
        [
            lambda t: t(1.0, 0.0),
            lambda t: t.solve([(1.0, 0.0)]),
            lambda t: t.update({"f": [[0.5]]}),
            lambda t: t.materialize(),
        ],
        ids=["call", "solve", "update", "materialize"],
    )
    def test_what_needs_the_points_again_says_what_to_do(self, passed, act):
        with pytest.raises(
            ArgumentError, match=r"T: got .*iterator\); give arrays or ko\.Batches to learn, or .*inputs=\["
        ):
            act(passed)
        with pytest.raises(ArgumentError, match="points: got an iterator that has been used up"):
            passed.points["f"]


class TestRepr:
    def test_is_short_and_reads_no_points(self):
        t = learn("line, qr", batch=7, points=ko.Batches(2, lambda k: points_of(ODE)))
        t.factorisation.rows.stream._take = None
        assert repr(t).startswith("SolutionOperator((f, g) ↦ u; 124 points, Gaussian(")
        assert len(repr(t)) < 800


class TestErrors:
    @pytest.mark.parametrize(
        ("values", "error", "message"),
        [
            ((1.0,), InputNameError, "T: got no 'g'"),
            ((1.0, 2.0, 3.0), InputNameError, "T: got 3 inputs"),
            ((np.ones(59), 0.0), ShapeError, r"f: got an array of shape \(59,\); .*values at .* of shape .60,"),
            ((np.ones((60, 2, 2)), 0.0), ShapeError, r"f: got an array of shape \(60, 2, 2\)"),
            ((np.ones((60, 0)), 0.0), ShapeError, r"f: got an array of shape \(60, 0\)"),
            (([[1.0], [1.0, 2.0]], 0.0), ArgumentTypeError, r"f: got \[\[1\.0\], \[1\.0, 2\.0\]\]; give a function"),
            (("sin", 0.0), ArgumentTypeError, "f: got .*; numbers are needed; give a function"),
            ((None, 0.0), ArgumentTypeError, "f: got"),
            ((np.nan, 0.0), NonFiniteError, "f: got 1 of 1 values"),
            ((np.where(np.arange(60) == 55, np.nan, 1.0), 0.0), NonFiniteError, "f: got 1 of 60 values"),
            ((lambda x: jnp.log(x[..., 0] - 0.5), 0.0), NonFiniteError, "f: got .*make it finite at all points"),
            ((lambda x: x[0], 0.0), ShapeError, "f: got"),
        ],
    )
    def test_inputs(self, line, values, error, message):
        with pytest.raises(error, match=message):
            line(*values)

    @pytest.mark.parametrize("inputs", ["fg", {"f": 1.0, "g": 0.0}, [], 3.0, wave])
    def test_lists_of_inputs(self, line, inputs):
        with pytest.raises(
            (ArgumentTypeError, ArgumentError), match=r"inputs: got .*; give a list of inputs, each a tuple \(f, g\)"
        ):
            line.solve(inputs)

    def test_fixed_points_need_the_rows(self, line):
        with pytest.raises(ArgumentError, match=r"T\.on: got an operator .*; use T\(…\)\(x\), or T\.materialize\(\)"):
            line.on([[0.5]])

    def test_points_cannot_leave(self, line):
        with pytest.raises(ArgumentError, match="T: got an operator that was learned from a stream; learn again"):
            line.remove({"f": [0]})

    @pytest.mark.parametrize(
        ("points", "error", "message"),
        [
            ({"h": [[0.5]]}, InputNameError, "points: got the unknown condition 'h'"),
            ({"f": [[2.0]]}, ArgumentError, r"points\['f'\]: got 1 of 1 points outside"),
            (5, ArgumentTypeError, "points: got 5"),
            ({}, ArgumentError, "points: got an empty dictionary"),
        ],
    )
    def test_updates(self, line, points, error, message):
        with pytest.raises(error, match=message):
            line.update(points)

    def test_a_kernel_too_rough_for_what_only_some_points_see(self):
        def op(u):
            return u - (lambda x: jnp.maximum(x[..., 0] - 0.5, 0.0)) * ko.laplacian(u)

        problem, method = ko.Problem(ko.Equation(op, on=LINE)), ko.Subspace(CENTRES[1], batch=4)
        x = np.linspace(0.0, 0.4, 40)[:, None]
        given = {"kernel": ko.Matern(0.5, 1.0), "method": method, "regularization": 1e-6}
        t = ko.learn(problem, points={"f": x}, **given)
        with pytest.raises(RoughKernelError, match="condition 'f' needs 2"):
            t.update({"f": [[0.9]]})
        x[7] = 0.9  # not in a batch that is looked at before
        with pytest.raises(RoughKernelError, match="condition 'f' needs 2"):
            ko.learn(problem, points={"f": x}, **given)
