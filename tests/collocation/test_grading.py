"""Cells and the curves between them."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.grading import off_tangents

PLATE = ko.Box([-1, -1], [1, 1])


def test_lines_do_not_touch_curves():
    """A circle of radius ½ in a square of side 2: neither lines nor those that halve cells come near ±½."""
    lines = off_tangents(np.linspace(-1, 1, 5), np.array([-0.5, 0.5]), np.array([-1.0, 1.0]))
    assert lines[0] == -1.0
    assert lines[-1] == 1.0
    for _ in range(4):
        size = np.min(np.diff(lines))
        assert np.min(np.abs(lines[:, None] - [-0.5, 0.5])) > 0.04 * size
        lines = np.sort(np.concatenate([lines, 0.5 * (lines[1:] + lines[:-1])]))


def test_lines_that_touch_nothing_stay():
    lines = np.linspace(-1, 1, 5)
    np.testing.assert_array_equal(off_tangents(lines, np.array([0.21]), lines), lines)
    np.testing.assert_array_equal(off_tangents(lines, np.empty(0), lines[[0, -1]]), lines)


@pytest.mark.parametrize("radius", [0.5, 0.72])
def test_a_fibre(radius):
    """Re z disturbed by a disk of conductivity 10. Lines would touch the first; of the second, next to nothing (7e-4)
    is in some cells."""
    a = ko.Piecewise({ko.Ball([0, 0], radius): 10.0}, otherwise=1.0)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=PLATE, name="f"), ko.Dirichlet(on=PLATE.boundary, name="g")
    )

    def truth(x):
        r = np.hypot(x[..., 0], x[..., 1])
        return x[..., 0] * np.where(r < radius, 2 / 11, 1 - 9 / 11 * (radius / np.maximum(r, radius)) ** 2)

    x = PLATE.sample(500, "uniform", seed=3).x
    u = ko.learn(problem, method=ko.Partition(cells=4))(0.0, truth)
    assert np.max(np.abs(u(x) - truth(x))) < 1e-6
