"""The box around a problem and its natural units, against hand-computed values."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.units import frame_of


def identity(u):
    return u


def test_space_has_one_unit():
    box = ko.Box([0, -1], [10, 1])
    frame = frame_of(ko.Problem(ko.Equation(identity, on=box), ko.Dirichlet(on=box.boundary)))
    np.testing.assert_array_equal([frame.low, frame.high, frame.units], [[0, -1], [10, 1], [10, 10]])
    np.testing.assert_array_equal(frame.shortest, [2, 2])
    assert frame.measure(box) == pytest.approx(20 / 100)
    assert frame.measure(box.boundary) == pytest.approx(24 / 10)


def test_time_has_its_own():
    cylinder = ko.SpaceTime(ko.Ball([0, 0], 3), (2, 52))
    frame = frame_of(ko.Problem(ko.Equation(identity, on=cylinder), ko.Initial(on=cylinder.initial)))
    np.testing.assert_array_equal(frame.units, [6, 6, 50])
    np.testing.assert_array_equal(frame.shortest, [6, 6, 50])
    assert frame.measure(cylinder) == pytest.approx(np.pi * 9 / 36)
    assert frame.measure(cylinder.walls) == pytest.approx(6 * np.pi / 6)
    assert frame.measure(cylinder.initial) == pytest.approx(np.pi * 9 / 36)


def test_an_instant_has_the_unit_of_space():
    cylinder = ko.SpaceTime(ko.Interval(0, 3), (2, 52))
    frame = frame_of(ko.Problem(ko.Initial(on=cylinder.initial)))
    np.testing.assert_array_equal([frame.low, frame.high, frame.units], [[0, 2], [3, 2], [3, 3]])
