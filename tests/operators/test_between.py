"""Data that are met at the points of T and not between them."""

import warnings

import numpy as np
import pytest

import kernop as ko
from kernop.operators.between import NUMBER, SEED, left_between, left_of_terms

STRIP = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
PROBLEM = ko.Problem(
    ko.Equation(lambda u: ko.dt(u) - 1e-3 * ko.laplacian(u), on=STRIP, name="f"),
    ko.Dirichlet(on=STRIP.boundary, name="g"),
    ko.Initial(on=STRIP.initial, name="u0"),
)


@pytest.fixture(scope="module")
def operator():
    """With points on the initial line where a fast wave is 1, as nothing but a constant is between them."""
    x = np.stack([np.linspace(0, 1, 21), np.zeros(21)], axis=1)
    points = {"f": 600, "g": 120, "u0": ko.Points(x)}
    return ko.learn(PROBLEM, points=points, method=ko.Subspace(300))


def fast(x):
    return 1 + np.sin(40 * np.pi * x[..., 0])


def weights(operator):
    return {name: weight * operator.counts[name] for name, weight in operator.weights.items()}


def test_data_that_were_not_seen_are_told(operator):
    with pytest.warns(ko.errors.AccuracyWarning, match="between the points"):
        u = operator(f=0.0, g=1.0, u0=fast)
    assert u.misfit < 1e-6
    x = STRIP.initial.sample(500, "uniform", 1).x
    assert np.linalg.norm(u(x) - fast(x)) > 0.5 * np.linalg.norm(fast(x))


def test_it_is_the_misfit_at_other_points(operator):
    data = {"f": lambda x: np.cos(3 * x[..., 1]), "g": 0.5, "u0": lambda x: 1 + x[..., 0] ** 2}
    u = operator.answer(data)
    left, size = 0.0, 0.0
    for condition in PROBLEM.conditions:
        name, points = condition.name, condition.on.sample(NUMBER, "halton", SEED)
        h = data[name](points.x) if callable(data[name]) else np.full(NUMBER, data[name])
        weight = weights(operator)[name]
        left += weight * np.mean((u.apply(condition.op, points.x) - h) ** 2)
        size += weight * np.mean(h**2)
    assert left_between(operator, u, weights(operator)) == pytest.approx(np.sqrt(left / size), rel=1e-6)


def test_smooth_functions_numbers_and_arrays_are_not_told(operator):
    known = {name: np.ones(len(points)) for name, points in operator.points.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        operator(f=0.0, g=1.0, u0=lambda x: 1 + 0 * x[..., 0])
        u = operator(f=0.0, g=1.0, u0=known["u0"])
    assert left_between(operator, u, weights(operator)) == 0.0


def test_of_several_inputs_the_worst(operator):
    both = {"f": 0.0, "g": 1.0, "u0": lambda x: np.stack([1 + 0 * x[..., 0], fast(x)], axis=-1)}
    assert left_between(operator, operator.answer(both), weights(operator)) > 0.2


def test_an_operator_from_a_file_looks_where_it_can(operator, tmp_path):
    """The equation, a function of the user, is left at its points alone; values are values anywhere."""
    operator.save(tmp_path / "T.kernop")
    loaded = ko.load(tmp_path / "T.kernop")
    with pytest.warns(ko.errors.AccuracyWarning, match="between the points"):
        loaded(f=0.0, g=1.0, u0=fast)


def test_a_function_that_is_not_finite_between_the_points_is_answered(operator):
    on_grid = lambda x: np.where(np.abs(np.sin(20 * np.pi * x[..., 0])) < 1e-9, 1.0, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        u = operator(f=0.0, g=1.0, u0=on_grid)
    assert u.misfit < 1e-6


def cooled(duration):
    """Heat in a rod, from the beginning on: modes of e^(−π² k² t)."""
    slab = ko.SpaceTime(ko.Interval(0, 1), (0, duration))
    equation = ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=slab, name="f")
    return slab, ko.learn(ko.Problem(equation, ko.Dirichlet(on=slab.walls), ko.Initial(on=slab.initial)))


def modes(x, odd):
    return sum(4 / (k * np.pi) * np.sin(k * np.pi * x[:, 0]) * np.exp(-((k * np.pi) ** 2) * x[:, 1]) for k in odd)


@pytest.mark.parametrize("start", ["sine", "quenched"])
def test_a_beginning_that_is_forgotten_at_once_is_told(start):
    """Few points see it, so that little of the data is left; u is wrong by tens of per cents."""
    slab, T = cooled(50.0)
    with pytest.warns(ko.errors.AccuracyWarning, match="of the terms of its equations"):
        u = T(0.0, 0.0, (lambda x: 4 / np.pi * np.sin(np.pi * x[..., 0])) if start == "sine" else 1.0)
    assert u.misfit < 1e-3
    x = slab.sample(2000, "uniform", seed=3).x
    exact = modes(x, [1] if start == "sine" else range(1, 400, 2))
    assert np.linalg.norm(u(x) - exact) > 0.1 * np.linalg.norm(exact)


def test_what_is_resolved_and_what_is_constant_is_not_told():
    _, T = cooled(5.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        u = T(0.0, 0.0, lambda x: x[..., 0] * (1 - x[..., 0]))
        T(0.0, 1.0, 1.0)
    assert left_of_terms(T, u, weights(T), 0.0) < 0.3
