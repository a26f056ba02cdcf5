"""Holes of domains against those that were cut out."""

import numpy as np
import pytest

import kernop as ko
from kernop.geometry.holes import holes_in

SQUARE = [[0, 0], [3, 0], [3, 3], [0, 3]]


def found(domain):
    (holes,) = holes_in(lambda x: np.where(domain.contains(x), 0, -1), 1, *domain.bounds)
    return holes


class TestHoles:
    def test_of_balls_are_their_balls(self):
        box = ko.Box([0, 0], [3, 2])
        cut = [ko.Ball([0.7, 0.6], 0.4), ko.Ball([2.2, 1.2], 0.1)]
        holes = sorted(found(box - cut[0] - cut[1]), key=lambda hole: hole.centre[0])
        for hole, ball in zip(holes, cut, strict=True):
            np.testing.assert_allclose(hole.centre, ball.center, atol=0.05 * ball.radius)
            assert 0.75 * ball.radius < hole.radius <= ball.radius

    def test_in_space(self):
        (hole,) = found(ko.Ball([0, 0, 0], 1) - ko.Ball([0.2, 0, 0.1], 0.4))
        np.testing.assert_allclose(hole.centre, [0.2, 0, 0.1], atol=0.04)
        assert 0.25 < hole.radius <= 0.4

    def test_of_a_polygon_hold_a_ball(self):
        triangle = np.array([[1, 1], [2, 1], [1, 2]])
        (hole,) = found(ko.Polygon(SQUARE, holes=[triangle]))
        inscribed = 1.0 - np.sqrt(0.5)
        np.testing.assert_allclose(hole.centre, 1.0 + inscribed, atol=0.05)
        assert 0.7 * inscribed < hole.radius <= inscribed

    @pytest.mark.parametrize(
        "domain",
        [
            ko.Box([0, 0], [1, 3]),
            ko.Ball([0, 0, 0], 1),
            ko.Polygon(SQUARE) - ko.Box([1, 1], [2, 4]),
            ko.Polygon(SQUARE) - ko.Ball([1, 1], 0.6) - ko.Box([1, 0.8], [4, 1.2]),
            ko.Box([-1, -1, -1], [1, 1, 1]) - ko.Box([-0.5, -0.5, -2], [0.5, 0.5, 2]),
        ],
        ids=["box", "ball", "bay", "keyhole", "tunnel"],
    )
    def test_of_what_surrounds_nothing_are_none(self, domain):
        assert found(domain) == ()

    def test_a_part_is_a_hole_of_another(self):
        box, inner = ko.Box([0, 0], [2, 1]), ko.Ball([1.3, 0.5], 0.3)
        inside, outside = holes_in(lambda x: np.where(inner.contains(x), 0, 1), 2, *box.bounds)
        assert inside == ()
        np.testing.assert_allclose(outside[0].centre, [1.3, 0.5], atol=0.02)
