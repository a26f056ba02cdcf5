"""Lines cut to boxes."""

import numpy as np
import pytest

import kernop as ko
from kernop.geometry.clipping import Line, intervals

BOX = np.array([0.0, 0.0]), np.array([1.0, 1.0])


def test_a_segment_to_rounding():
    triangle = ko.Polygon([[-1, 0.25], [3, 0.25], [0, 5]])
    line = Line.of(triangle.boundary.patches[0])
    assert line.straight
    ((a, b),) = line.within(*BOX)
    x, normal = line.at(np.array([a, b]))
    assert sorted(x[:, 0].tolist()) == pytest.approx([0.0, 1.0], abs=1e-8)
    np.testing.assert_allclose(normal, [[0, -1], [0, -1]])


def test_a_circle_is_cut_where_it_leaves_the_box():
    (patch,) = ko.Ball([0, 0], 0.5).boundary.patches
    line = Line.of(patch)
    assert line.closed
    ((a, b),) = line.within(*BOX)
    x, _ = line.at(np.array([a, b]))
    np.testing.assert_allclose(x, [[0.5, 0], [0, 0.5]], atol=1e-7)


def test_a_closed_line_goes_on_beyond_its_end():
    (patch,) = ko.Ball([0, 0], 0.5).boundary.patches
    found = Line.of(patch).within(np.array([0.0, -1.0]), np.array([1.0, 1.0]))
    assert len(found) == 1
    assert found[0][1] - found[0][0] == pytest.approx(0.5, abs=1e-6)
    assert found[0][1] > 1.0


def test_what_is_outside_is_nothing():
    (patch,) = ko.Ball([5, 5], 0.5).boundary.patches
    assert Line.of(patch).within(*BOX) == []


def test_intervals_of_a_predicate():
    found = intervals(lambda t: (t < 0.2) | ((t > 1 / 3) & (t < 0.7)))
    np.testing.assert_allclose(np.array(found), [[0.0, 0.2], [1 / 3, 0.7]], atol=1e-12)
    assert intervals(lambda t: t > 2) == []
    assert intervals(lambda t: t > -1) == [(0.0, 1.0)]


@pytest.mark.parametrize("y", [-0.07, -0.3, -0.011])
def test_a_short_arc_in_a_large_box_is_seen(y):
    """It goes from the side of the box to its top, near their corner and far from the middle of the box."""
    (patch,) = ko.Ball([0, 0], 1).boundary.patches
    line, top = Line.of(patch), y + 0.006
    ((first, last),) = line.within(np.array([np.sqrt(1.0 - y**2), y - 0.06]), np.array([1.5, top]))
    found = np.sort(line.at(np.array([first, last]))[0][:, 1])
    np.testing.assert_allclose(found, [y, top], atol=1e-6)  # boxes have room for rounding
