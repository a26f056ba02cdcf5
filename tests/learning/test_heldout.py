"""Errors and residuals at held-out points, against the formulas written out."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, InputNameError
from kernop.basics.precision import float64
from kernop.collocation.ansatz import normal_form
from kernop.collocation.functionals import evaluations
from kernop.collocation.probes import Bumps, oscillations, random_probes
from kernop.collocation.sampling import between, interior
from kernop.collocation.units import frame_of as frame
from kernop.learning.heldout import HELD_OUT, OnInputs, OnProbes, plain_data

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g")
)


def f(x):
    return jnp.sin(3 * x[..., 0] + x[..., 1])


def g(x):
    return 0.1 * jnp.cos(x[..., 0])


def learn(problem=PROBLEM, centers=80, points=None):
    return ko.learn(problem, points=points or max(300, 3 * centers), method=ko.Subspace(centers))


def on_inputs(inputs, problem=PROBLEM):
    return OnInputs(problem, frame(problem), inputs)


def on_probes(problem=PROBLEM):
    return OnProbes(problem, frame(problem), 0)


@pytest.fixture(scope="module")
def operator():
    return learn()


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


class TestOnInputs:
    def by_hand(self, operator, source, value):
        """max over the conditions of rms(P û − h) / max(rms h, what P makes of û over the unit length 1)."""
        inside, edge = (between(region, HELD_OUT // 2, 1).x for region in (SQUARE, SQUARE.boundary))
        u = operator(source, value)
        size = rms(u(interior(PROBLEM, HELD_OUT // 2, 1).x))
        first = rms(u.residual("f", inside, source)) / max(rms(np.asarray(source(inside))), 2 * size)  # |−1| + |−1|
        return max(first, rms(u(edge) - np.asarray(value(edge))) / max(rms(np.asarray(value(edge))), size))

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_the_formula(self, operator):
        found = on_inputs([(f, g)])(operator).error
        assert found == pytest.approx(self.by_hand(operator, f, g), rel=1e-5)
        assert 1e-8 < found < 1.0

    def test_the_worst_input_counts(self, operator):
        apart = [on_inputs([pair])(operator).error for pair in ((f, g), (1.0, 0.0), {"g": g, "f": 0.0})]
        together = on_inputs([(f, g), [1.0, 0.0], {"f": 0.0, "g": g}])(operator).error
        assert together == pytest.approx(max(apart), rel=1e-9)
        assert len(set(apart)) == 3

    def test_fixed_data_is_used(self):
        problem = ko.Problem(PROBLEM["f"], ko.Dirichlet(on=SQUARE.boundary, name="g", data=g))
        found = on_inputs([f], problem)(learn(problem)).error
        assert found == pytest.approx(on_inputs([(f, g)])(learn()).error, rel=1e-6)

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_the_change_of_solutions(self):
        held = on_inputs([(f, g), (1.0, 0.0)])
        one, other = learn(centers=30), learn(centers=60)
        x = interior(PROBLEM, HELD_OUT // 2, 1).x
        pairs = [(other(*h)(x) - one(*h)(x), other(*h)(x)) for h in ((f, g), (1.0, 0.0))]
        by_hand = [max(rms(d) / rms(v), np.max(np.abs(d)) / np.max(np.abs(v))) for d, v in pairs]
        np.testing.assert_allclose(held(other).changes(held(one)), by_hand, rtol=1e-9)
        np.testing.assert_array_equal(held(one).changes(held(one)), 0.0)

    def test_zero_data_has_no_residual(self, operator):
        assert on_inputs([(0.0, 0.0)])(operator).error == 0.0

    @pytest.mark.parametrize(
        ("inputs", "error", "message"),
        [
            ([(f,)], InputNameError, r"inputs: got no 'g'; give \(f, g\)"),
            ([(f, g, g)], InputNameError, r"inputs: got 3 inputs; give \(f, g\)"),
            ([f], InputNameError, "inputs: got no 'g'"),
            ([(np.ones(10), 0.0)], ArgumentError, r"inputs\['f'\]: got an array of shape \(10,\); give a function"),
            ([{"f": 1.0, "g": [1.0, 2.0]}], ArgumentError, r"inputs\['g'\]: got .*; give a function or a number"),
            ([], ArgumentError, "inputs: got"),
        ],
    )
    def test_bad_inputs(self, inputs, error, message):
        with pytest.raises(error, match=message):
            on_inputs(inputs)


class TestOnProbes:
    def by_hand(self, operator):
        """Relative errors in L2 and L∞ of every probe, (2, B), inside and on the boundary."""
        unit = frame(PROBLEM)
        probes = [
            random_probes(unit, 1),
            oscillations(unit, 3.0, 1),
            Bumps(interior(PROBLEM, 3, 1).x, 0.1 * unit.shortest),
        ]
        x = np.concatenate([interior(PROBLEM, HELD_OUT // 2, 1).x, between(SQUARE.boundary, HELD_OUT // 8, 1).x])
        data = {
            name: np.hstack([fields.apply(normal_form(PROBLEM[name].op, operator.points[name])) for fields in probes])
            for name in PROBLEM.names
        }
        truth = np.hstack([fields.apply(evaluations(x)) for fields in probes])
        error = operator(**data)(x) - truth
        return np.array(
            [np.linalg.norm(error, axis=0, ord=p) / np.linalg.norm(truth, axis=0, ord=p) for p in (2, np.inf)]
        )

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    @pytest.mark.parametrize(("centers", "worst"), [(80, slice(9, 12)), (400, slice(12, 15))], ids=["waves", "bumps"])
    def test_the_error_is_that_of_the_worst_probe(self, centers, worst):
        operator = learn(centers=centers)
        errors = self.by_hand(operator)
        assert errors.shape == (2, 9 + 3 + 3)
        assert on_probes()(operator).error == pytest.approx(np.max(errors[:, worst]), rel=1e-6)

    def test_another_wave_as_short_is_about_as_wrong(self):
        operator = learn(centers=300)
        u = lambda x: jnp.cos(6 * jnp.pi * x[..., 0] + 1.0) * jnp.cos(6 * jnp.pi * x[..., 1])
        x = interior(PROBLEM, 600, 5).x
        with float64():
            exact = np.asarray(u(x))
        solved = operator(**PROBLEM.manufacture(u, operator.points))
        error = np.max(np.abs(solved(x) - exact)) / np.max(np.abs(exact))
        assert 0.1 < error / on_probes()(operator).error < 1.5

    def test_more_centres_are_better(self):
        errors = [on_probes()(learn(centers=n)).error for n in (100, 300, 700)]
        assert errors[0] > 0.1
        assert errors[1] < 0.1 * errors[0]
        assert errors[2] < 1e-3 * errors[1]

    @pytest.mark.parametrize("scale", [1e-3, 1e3])
    def test_units_do_not_matter(self, scale):
        box = ko.Box([0, 0], [scale, scale])
        problem = ko.Problem(
            ko.Equation(lambda u: -7.0 * ko.laplacian(u), on=box, name="f"), ko.Dirichlet(on=box.boundary, name="g")
        )
        found = on_probes(problem)(learn(problem, 200)).error
        assert found == pytest.approx(on_probes()(learn(centers=200)).error, rel=0.01)

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_constant_data_is_followed(self, operator):
        measure = on_probes()
        assert measure.unknown == ("f = 1", "g = 1")
        found = measure(operator).values
        x = interior(PROBLEM, HELD_OUT // 2, 1).x
        np.testing.assert_allclose(found[:, 0], operator(1.0, 0.0)(x), atol=1e-9)
        np.testing.assert_allclose(found[:, 1], operator(0.0, 1.0)(x), atol=1e-9)

    def test_values_that_are_not_finite_are_the_worst(self, operator):
        broken = replace(operator.factorisation, roots=np.full_like(operator.factorisation.roots, np.nan))
        for measure in (on_probes(), on_inputs([(f, g)])):
            assert measure(replace(operator, factorisation=broken)).error == np.inf

    def test_places_of_a_cloud_are_not_its_points(self):
        cloud = ko.PointCloud(SQUARE.sample(60).x, SQUARE.boundary.sample(40).x)
        problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=cloud), ko.Dirichlet(on=cloud.boundary))
        x = interior(problem, 50, 0).x
        gaps = np.linalg.norm(x[:, None, :] - cloud.points.x[None], axis=-1).min(axis=1)
        assert np.min(gaps) > 0.0
        assert problem.contains(x).all()

    def test_an_operator_that_fits_its_cloud_alone_is_not_good(self):
        """As many functions as points: no residual at the points, and anything between them."""
        rng = np.random.default_rng(0)
        cloud = ko.PointCloud(rng.uniform(size=(40, 2)), SQUARE.boundary.sample(24).x)
        problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=cloud), ko.Dirichlet(on=cloud.boundary))
        assert on_probes(problem)(ko.learn(problem, method=ko.Subspace(60))).error > 0.05


def test_plain_data():
    """1 for one condition and 0 for the others, and a wave likewise, which is not constant on the boundary."""
    square = ko.Box([0, 0], [2, 1])
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=square), ko.Dirichlet(on=square.boundary))
    found = plain_data(problem, frame(problem), jumps=True)
    assert list(found) == ["f = 1", "g = 1", "f = a wave", "g = a wave"]
    assert found["g = 1"] == {"f": 0.0, "g": 1.0}
    assert found["g = a wave"]["f"] == 0.0
    values = found["g = a wave"]["g"](square.boundary.sample(100).x)
    assert values.shape == (100,)
    assert np.ptp(values) > 1.5
    assert list(plain_data(problem, frame(problem), jumps=False)) == ["f = 1", "g = 1"]


def test_plain_data_of_equations_with_fixed_data():
    """u = 1 solves −Δu = 0, u = 1: only data that vary tell of corners. Vectors have a wave for each component."""
    square = ko.Box([0, 0], [2, 1])
    fixed = ko.Equation(lambda u: -ko.laplacian(u), on=square, name="f", data=0.0)
    problem = ko.Problem(fixed, ko.Dirichlet(on=square.boundary, name="g"))
    assert list(plain_data(problem, frame(problem), jumps=False)) == ["g = 1", "g = a wave"]
    elastic = ko.Problem(fixed, ko.Dirichlet(on=square.boundary, name="g"), unknowns={"u": 2})
    found = plain_data(elastic, frame(elastic), jumps=False)
    values = found["g = a wave"]["g"](square.boundary.sample(100).x)
    assert values.shape == (100, 2)
    assert np.linalg.matrix_rank(np.column_stack([values, np.ones(100)])) == 3
    for own in (problem, elastic):  # one space is measured by the same
        measure, T = on_probes(own), ko.learn(own, method=ko.Subspace(60))
        data = measure.data(T)
        count = len(measure.unknown)
        assert measure.unknown == ("g = 1", "g = a wave")
        assert count == 2
        of_wave = plain_data(own, frame(own), jumps=False)["g = a wave"]["g"](T.points["g"].x)
        rows = T.collocated.slices[1]
        np.testing.assert_allclose(data[rows, -1], np.asarray(of_wave).T.ravel())
        assert not np.any(data[T.collocated.slices[0], -2:])
