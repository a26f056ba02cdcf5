"""Quadrature on bodies in space against closed forms of volumes and moments."""

import numpy as np
import pytest

import kernop as ko
from kernop.geometry.bodies import body_rule, made_of_balls_and_boxes
from kernop.geometry.composite import composite, grid, measured

CUBE = ko.Box([-1, -1, -1], [1, 1, 1])
CENTRE = np.array([0.3, 0.2, 0.1])


def moments(rule, x):
    """∫ 1 and ∫ x_j²."""
    return rule @ np.column_stack([np.ones(len(x)), x**2])


def of_ball(centre, radius):
    volume = 4.0 / 3.0 * np.pi * radius**3
    return volume * np.concatenate([[1.0], np.square(centre) + radius**2 / 5.0])


def of_box(low, high):
    low, high = np.array(low, float), np.array(high, float)
    return np.prod(high - low) * np.concatenate([[1.0], (high**3 - low**3) / (3.0 * (high - low))])


def lens(radius, distance):
    return np.pi * (4.0 * radius + distance) * (2.0 * radius - distance) ** 2 / 12.0


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (ko.Ball([0, 0, 0], 1.0), of_ball([0, 0, 0], 1.0)),
        (CUBE - ko.Ball(CENTRE, 0.5), of_box([-1] * 3, [1] * 3) - of_ball(CENTRE, 0.5)),
        (ko.Ball([0, 0, 0], 1.0) - ko.Ball(CENTRE, 0.5), of_ball([0] * 3, 1.0) - of_ball(CENTRE, 0.5)),
    ],
    ids=["ball", "cube with a hollow", "shell"],
)
def test_volumes_and_second_moments(body, expected):
    found = body_rule(body)
    assert np.all(body.contains(found.x))
    assert np.all(found.weight > 0.0)
    np.testing.assert_allclose(moments(found.weight, found.x), expected, rtol=1e-8)


@pytest.mark.parametrize("shift", [[0.0, 0.3, 0.0], [0.3, 0.0, 0.0]])
def test_edges_on_which_surfaces_meet(shift):
    body = ko.Ball(CENTRE, 0.5) & ko.Ball(CENTRE + shift, 0.5)
    assert measured(body) == pytest.approx(lens(0.5, float(np.linalg.norm(shift))), rel=1e-6)


def test_functions_that_are_smooth_on_each_side_of_a_ball():
    ball = ko.Ball(CENTRE, 0.5)
    found = body_rule(CUBE, [ball])
    inside = ball.contains(found.x)
    np.testing.assert_allclose(moments(found.weight[inside], found.x[inside]), of_ball(CENTRE, 0.5), rtol=1e-8)
    np.testing.assert_allclose(moments(found.weight, found.x), of_box([-1] * 3, [1] * 3), rtol=1e-8)


def test_which_bodies():
    assert made_of_balls_and_boxes(CUBE - ko.Ball([0, 0, 0], 0.5))
    assert not made_of_balls_and_boxes(ko.Box([0, 0], [1, 1]))
    assert not made_of_balls_and_boxes(
        CUBE, ko.Implicit(lambda x: np.sum(x**2, axis=-1) - 0.5, bounds=([-1] * 3, [1] * 3))
    )


def test_a_rule_that_missed_a_piece_is_not_taken(monkeypatch):
    """Its sum is compared with the measure, which is an estimate, and the rule on cells is taken instead."""
    body = CUBE - ko.Ball(CENTRE, 0.5)
    monkeypatch.setattr("kernop.geometry.composite.body_rule", lambda *_: ko.Ball(CENTRE, 0.2).quadrature(1000))
    found = composite(body, (), *grid(body, ()), 1000)
    assert np.sum(found.weight) == pytest.approx(body.measure, rel=0.02)


@pytest.mark.parametrize("method", [ko.Subspace(400), ko.Partition(cells=2, degree=8)], ids=["one space", "parts"])
def test_the_mean_of_a_solution_on_a_shell(method):
    """With slopes alone given, u is as wrong as the rule of its mean: 4e-4, and in 18 s, before."""
    shell = ko.Ball([0, 0, 0], 1.0) - ko.Ball([0, 0, 0], 0.5)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=shell, name="f", data=0.0),
        ko.Neumann(on=shell.boundary, name="g"),
        ko.Mean(on=shell, name="m"),
    )

    def exact(x):
        return x[..., 0] ** 2 - x[..., 1] ** 2 + x[..., 0] * x[..., 2] + x[..., 2] ** 2 - x[..., 0] ** 2

    def slope(x):
        gradient = np.stack([x[..., 2], -2.0 * x[..., 1], x[..., 0] + 2.0 * x[..., 2]], axis=-1)
        return np.sum(gradient * shell.boundary.normals(x), axis=-1)

    x = shell.sample(400).x
    error = ko.learn(problem, method=method)(slope, 0.0)(x) - exact(x)
    assert abs(np.mean(error)) < 1e-7
