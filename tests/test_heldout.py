"""The residual where nothing was learned, against the formula written out."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.errors import ArgumentError, InputNameError
from kernop.frame import frame_of as frame
from kernop.heldout import HeldOut
from kernop.sampling import sample

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g")
)


def f(x):
    return jnp.sin(3 * x[..., 0] + x[..., 1])


def g(x):
    return 0.1 * jnp.cos(x[..., 0])


def learn(problem=PROBLEM, centers=80):
    return ko.learn(problem, points=300, method=ko.Subspace(centers))


@pytest.fixture(scope="module")
def operator():
    return learn()


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def by_hand(operator, source, value):
    """max over the conditions of rms(P û − h) / max(rms h, what P makes of û over the unit length 1)."""
    points = sample(operator.problem, 1200, "uniform", 1)
    u = operator(source, value)
    size = rms(u(points["f"].x))
    inside, edge = points["f"].x, points["g"].x
    first = rms(u.residual("f", inside, source)) / max(rms(np.asarray(source(inside))), 2 * size)  # |−1| + |−1|
    return max(first, rms(u(edge) - np.asarray(value(edge))) / max(rms(np.asarray(value(edge))), size))


def test_the_formula_for_given_inputs(operator):
    found = HeldOut(PROBLEM, frame(PROBLEM), [(f, g)], 0)(operator).residual
    assert found == pytest.approx(by_hand(operator, f, g), rel=1e-5)
    assert 1e-8 < found < 1.0


def test_the_worst_input_counts(operator):
    box = frame(PROBLEM)
    apart = [HeldOut(PROBLEM, box, [pair], 0)(operator).residual for pair in ((f, g), (1.0, 0.0), {"g": g, "f": 0.0})]
    together = HeldOut(PROBLEM, box, [(f, g), [1.0, 0.0], {"f": 0.0, "g": g}], 0)(operator).residual
    assert together == pytest.approx(max(apart), rel=1e-9)
    assert len(set(apart)) == 3


def test_an_operator_that_cannot_know_is_told_so():
    few, many = learn(centers=5), learn(centers=150)
    probes = HeldOut(PROBLEM, frame(PROBLEM), None, 0)
    assert probes(few).residual > 0.1
    assert probes(many).residual < 1e-4


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_units_do_not_matter(operator, scale):
    box = ko.Box([0, 0], [scale, scale])
    problem = ko.Problem(
        ko.Equation(lambda u: -7.0 * ko.laplacian(u), on=box, name="f"), ko.Dirichlet(on=box.boundary, name="g")
    )
    found = HeldOut(problem, frame(problem), None, 0)(learn(problem)).residual
    assert found == pytest.approx(HeldOut(PROBLEM, frame(PROBLEM), None, 0)(operator).residual, rel=0.01)


def test_the_probes_are_exact_solutions(operator):
    """What remains is the operator's own error: the residual at points that it did see is no larger."""
    seen = HeldOut(PROBLEM, frame(PROBLEM), None, 0)
    assert seen(operator).residual < 0.1
    assert seen(learn(centers=140)).residual < 0.1 * seen(operator).residual


def test_fixed_data_is_used():
    problem = ko.Problem(PROBLEM["f"], ko.Dirichlet(on=SQUARE.boundary, name="g", data=g))
    found = HeldOut(problem, frame(problem), [f], 0)(learn(problem)).residual
    assert found == pytest.approx(HeldOut(PROBLEM, frame(PROBLEM), [(f, g)], 0)(learn()).residual, rel=1e-6)


def test_values_that_are_not_finite_are_the_worst(operator):
    broken = replace(operator.factorisation, roots=np.full_like(operator.factorisation.roots, np.nan))
    for inputs in (None, [(f, g)]):
        assert HeldOut(PROBLEM, frame(PROBLEM), inputs, 0)(replace(operator, factorisation=broken)).residual == np.inf


def test_the_change_of_solutions():
    held = HeldOut(PROBLEM, frame(PROBLEM), [(f, g), (1.0, 0.0)], 0)
    one, other = learn(centers=30), learn(centers=60)
    x = sample(PROBLEM, 1200, "uniform", 1)["f"].x
    by_hand = [rms(other(*h)(x) - one(*h)(x)) / rms(other(*h)(x)) for h in ((f, g), (1.0, 0.0))]
    assert held(other).change(held(one)) == pytest.approx(max(by_hand), rel=1e-9)
    assert held(one).change(held(one)) == 0.0
    probes = HeldOut(PROBLEM, frame(PROBLEM), None, 0)
    assert probes(other).change(probes(one)) is None


def test_zero_data_has_no_residual(operator):
    assert HeldOut(PROBLEM, frame(PROBLEM), [(0.0, 0.0)], 0)(operator).residual == 0.0


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ([(f,)], InputNameError, r"inputs: got 1 values; give \(f, g\)"),
        ([(f, g, g)], InputNameError, r"inputs: got 3 values; give \(f, g\)"),
        ([f], InputNameError, "inputs: got 1 values"),
        ([(np.ones(10), 0.0)], ArgumentError, r"inputs\['f'\]: got an array of shape \(10,\); give a function"),
        ([{"f": 1.0, "g": [1.0, 2.0]}], ArgumentError, r"inputs\['g'\]: got .*; give a function or a number"),
        ([], ArgumentError, "inputs: got"),
    ],
)
def test_bad_inputs(inputs, error, message):
    with pytest.raises(error, match=message):
        HeldOut(PROBLEM, frame(PROBLEM), inputs, 0)
