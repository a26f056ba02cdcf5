"""Oblique and tangential derivatives against closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko

SQUARE, DISK = ko.Box([0, 0], [1, 1]), ko.Ball([0, 0], 1)
PLACES = DISK.sample(100, "uniform").x


def truth(x):
    return jnp.exp(x[..., 0]) * jnp.sin(x[..., 1]) + x[..., 0]


EXACT = np.exp(PLACES[:, 0]) * np.sin(PLACES[:, 1]) + PLACES[:, 0]


def stated(condition, *more):
    return ko.Problem(ko.Equation(lambda u: u - ko.laplacian(u), on=condition.on.ball, name="f"), condition, *more)


@pytest.mark.parametrize(
    "direction",
    [lambda x: x + 0.3 * jnp.stack([-x[..., 1], x[..., 0]], axis=-1), lambda x: 2 * x],
    ids=["turned", "normal"],
)
def test_an_oblique_derivative_determines_u(direction, tmp_path):
    problem = stated(ko.Oblique(direction, DISK.boundary, "o"))
    T = ko.learn(problem, method=ko.Subspace(200))
    data = problem.manufacture(truth, T.points)
    x, y = T.points["o"].x.T
    slopes = np.stack([np.exp(x) * np.sin(y) + 1, np.exp(x) * np.cos(y)], axis=1)
    assert np.allclose(data["o"], np.sum(np.asarray(direction(T.points["o"].x)) * slopes, axis=1), rtol=1e-5)
    u = T(**data)
    assert np.abs(u(PLACES) - EXACT).max() < 1e-7
    T.save(tmp_path / "T.kernop")
    assert np.array_equal(ko.load(tmp_path / "T.kernop")(**data)(PLACES), u(PLACES))


def test_a_constant_direction_is_kept_in_files(tmp_path):
    side = SQUARE.face("left")
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE),
        ko.Oblique([1.0, 2.0], side),
        ko.Dirichlet(SQUARE.face("right", "top", "bottom")),
    )
    T = ko.learn(problem, method=ko.Subspace(150))
    T.save(tmp_path / "T.kernop")
    op = ko.load(tmp_path / "T.kernop").problem["o"].op
    assert op.direction == (1.0, 2.0)
    slope = ko.apply_operator(op, lambda x: x[..., 0] ** 2 + 3 * x[..., 1], side.sample(9))
    assert np.allclose(slope, 6.0)


def test_the_tangent_runs_counter_clockwise():
    angle = lambda x: jnp.arctan2(x[..., 1], x[..., 0])
    points = DISK.boundary.sample(50)
    assert np.allclose(ko.apply_operator(ko.tangential_derivative, angle, points), 1.0)
    assert np.allclose(ko.apply_operator(ko.tangential_derivative, lambda x: jnp.sum(x**2, axis=-1), points), 0.0)
    walls = ko.SpaceTime(DISK, (0, 1)).walls.sample(20)
    assert np.allclose(
        ko.apply_operator(ko.tangential_derivative, lambda x: angle(x) * x[..., 2], walls), walls.x[:, 2]
    )


def test_normal_and_tangential_together():
    op = lambda u: ko.normal_derivative(u) + 0.5 * ko.tangential_derivative(u)
    problem = stated(ko.Condition(op, DISK.boundary, "o"))
    T = ko.learn(problem)
    assert np.abs(T(**problem.manufacture(truth, T.points))(PLACES) - EXACT).max() < 1e-7


def test_where_there_is_no_tangent():
    with pytest.raises(ko.errors.OperatorError, match="in the plane"):
        ko.apply_operator(ko.tangential_derivative, lambda x: x[..., 0], ko.Box([0] * 3, [1] * 3).boundary.sample(5))
    with pytest.raises(ko.errors.OperatorError, match="points without normals"):
        ko.apply_operator(ko.tangential_derivative, lambda x: x[..., 0], SQUARE.sample(5))


@pytest.mark.parametrize(
    ("direction", "on", "said"),
    [
        ([1.0], SQUARE.boundary, "give 2 numbers"),
        ([0.0, 0.0], SQUARE.boundary, "a direction that is 0"),
        ([0.0, 1.0], SQUARE.face("left", "right"), "along the boundary everywhere"),
        ([1.0, 0.0], SQUARE, "a region without normals"),
        (lambda x: x[..., 0], SQUARE.boundary, r"to shape \(n, 2\)"),
        ([1.0, 0.0], "left", "give a boundary"),
    ],
)
def test_bad_directions_are_told(direction, on, said):
    with pytest.raises(ko.errors.KernopError, match=said):
        ko.Oblique(direction, on)
