"""Limits on a surface from its two sides."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError
from kernop.language.sides import between_domains, sides

BALL = ko.Ball([1.0, 2.0], 0.5)


def test_limits_of_functions_that_jump():
    points = BALL.boundary.sample(50)
    plus, minus = sides(BALL.boundary, points, "rim")

    def values(own):
        radius = np.linalg.norm(own.x - BALL.center, axis=1)
        return np.where(radius < 0.5, np.exp(own.x[:, 0]), np.sin(own.x[:, 1]))

    np.testing.assert_allclose(minus.limit(values), np.exp(points.x[:, 0]), rtol=1e-12)
    np.testing.assert_allclose(plus.limit(values), np.sin(points.x[:, 1]), rtol=1e-12)


def test_in_space_time_the_surface_is_left_in_space():
    cylinder = ko.SpaceTime(ko.Interval(0, 1), (0, 1e-3))
    points = cylinder.walls.sample(10)
    plus, _ = sides(cylinder.walls, points, "walls")
    np.testing.assert_array_equal(plus.near[0].x[:, 1], points.x[:, 1])
    assert np.all(np.abs(plus.near[0].x[:, 0] - points.x[:, 0]) > 1e-6)


def test_what_lies_between():
    box = ko.Box([0, 0], [1, 1])
    inner = ko.Box([0, 0], [1, 0.5])
    points = inner.boundary.sample(200)
    found = between_domains(inner.boundary, points, [box])
    np.testing.assert_array_equal(found, np.abs(points.x[:, 1] - 0.5) < 1e-9)


def test_points_need_normals():
    with pytest.raises(ArgumentError, match="normals"):
        sides(BALL.boundary, ko.Points(BALL.boundary.sample(5).x), "rim")
