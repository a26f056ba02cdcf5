"""Pictures of parts."""

import matplotlib as mpl
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ShapeError
from kernop.methods.parts.drawing import draw_parts, halvings
from kernop.plotting import pyplot

SQUARE = ko.Box([0, 0], [1, 1])


def test_boxes_and_levels():
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary))
    space = ko.learn(problem, method=ko.Partition(cells=2, degree=8, levels=2)).factorisation.expansion
    found = halvings(space)
    assert sorted(set(found)) == [0.0, 1.0]  # all four cells are halved, and those at the corners again
    assert len(found) == 4 * (3 + 4)
    figure, axes = pyplot().subplots()
    boxes = draw_parts(space, axes)
    np.testing.assert_array_equal(boxes.get_array(), found)
    areas = [abs(np.prod(path.vertices[2] - path.vertices[0])) for path in boxes.get_paths()]
    assert sum(areas) == pytest.approx(1.0)
    with pytest.raises(ShapeError, match="number for each"):
        draw_parts(space, axes, [1.0])
    pyplot().close(figure)


def test_an_operator_draws_its_parts_and_a_source_inside():
    ell = ko.Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=ell), ko.Dirichlet(on=ell.boundary))
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=7, levels=1))
    with mpl.rc_context({"font.size": 7.5}):
        axes = T.plot()
        assert mpl.rcParams["font.size"] == 7.5  # settings are the user's
    found = halvings(T.factorisation.expansion)
    assert axes[0].get_title() == f"{len(found)} parts of degree 7"
    shown = {np.array_equal(own.get_array(), found): own for own in axes[0].collections if own.get_array() is not None}
    assert shown[True].get_zorder() > shown[False].get_zorder()  # the domain does not hide them
    y = np.array([float(own) for own in axes[-1].get_title().partition("(")[2].rstrip(")").split(",")])
    assert np.hypot(*y) > 0.2  # not at the re-entrant corner, the middle of the box
    pyplot().close(axes[0].figure)


def test_degrees_that_differ_are_written_into_parts_large_enough():
    disk = ko.Ball([0, 0], 1.0)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=disk), ko.Dirichlet(on=disk.boundary))
    T = ko.learn(problem, method=ko.Partition(), tol=1e-6)
    space = T.factorisation.expansion
    axes = T.plot()
    assert axes[0].get_title() == f"{len(space.uppers)} parts of {space.told_degrees}"
    written = sorted(int(own.get_text()) for own in axes[0].texts)
    assert written == sorted(space.of_parts.tolist())
    pyplot().close(axes[0].figure)
