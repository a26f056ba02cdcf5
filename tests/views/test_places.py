"""Pictures of problems and operators, and what notebooks show of them."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError
from kernop.language.conditions import written
from kernop.views import html


@pytest.fixture(scope="module")
def mixed():
    disk = ko.Ball([0, 0], 1)
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=disk),
        ko.Dirichlet(on=disk.boundary.where(lambda x: x[..., 0] > 0)),
        ko.Neumann(on=disk.boundary.where(lambda x: x[..., 0] <= 0), data=0.0),
    )


def test_pieces_of_a_boundary_in_colours_with_their_conditions(mixed, axes):
    axis = mixed.plot()
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels == ["P u = f", "u = g", "∂u/∂n = 0"]
    pieces = {own.get_label(): own for own in axis.collections}
    right, left = (np.asarray(pieces[name].get_offsets()) for name in labels[1:])
    assert right[:, 0].min() > 0.0 >= left[:, 0].max()
    np.testing.assert_allclose(np.linalg.norm(right, axis=1), 1.0)
    assert pieces["u = g"].get_facecolor().tolist() != pieces["∂u/∂n = 0"].get_facecolor().tolist()


def test_lines_space_and_time(axes):
    box, time = ko.Box([0, 0, 0], [1, 2, 1]), ko.SpaceTime(ko.Interval(0, 1), (0, 2))
    for domain, names in ((ko.Interval(0, 1), ("x", "")), (box, ("x", "y")), (time, ("x", "t"))):
        problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=domain), ko.Dirichlet(on=domain.boundary))
        axis = problem.plot(points=20)
        assert (axis.get_xlabel(), axis.get_ylabel()) == names
        axis.figure.canvas.draw()
    with pytest.raises(ArgumentError, match="4 dimensions"):
        ko.Problem(ko.Equation(lambda u: u, on=ko.Box([0] * 4, [1] * 4))).plot()


def test_conditions_in_words():
    line = ko.Interval(0, 1)
    problem = ko.Problem(
        ko.Equation(lambda u, p: ko.laplacian(u) + p, on=line),
        ko.Robin(1.0, 2.0, on=line.face("left"), of="u"),
        ko.Mean(on=line, of="p", data=3.0),
        ko.Dirichlet(on=line.face("right"), name="end", of="p", data=lambda x: x[..., 0]),
        unknowns={"u": 1, "p": 1},
    )
    said = [written(condition, problem.unknowns) for condition in problem.conditions]
    assert said == ["P (u, p) = f", "α u + β ∂u/∂n = r", "∫ w p = 3", "p = a fixed function"]


def test_an_operator_shows_points_levels_and_an_answer(axes, heat):
    line = ko.Interval(0, 1)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=line), ko.Dirichlet(on=line.boundary))
    operator = ko.learn(problem, tol=1e-4)
    points, levels, green = operator.plot()
    assert points.get_title() == "points"
    errors = levels.lines[0].get_ydata()
    np.testing.assert_array_equal(errors, [level.error for level in operator.report.levels])
    for line, y in zip(green.lines, green.get_legend().get_texts(), strict=True):
        y, x = float(y.get_text().removeprefix("y = ")), line.get_xdata()
        np.testing.assert_allclose(line.get_ydata(), np.minimum(x * (1 - y), y * (1 - x)), atol=2e-3)
    assert "a bump" in heat[0].plot()[-1].get_title()


def test_notebooks_show_tables_and_pictures(mixed, dome, heat, monkeypatch):
    operator, u = heat
    line = ko.Interval(0, 1)
    learned = ko.learn(
        ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=line), ko.Dirichlet(on=line.boundary)), tol=1e-3
    )
    for value, word in ((mixed, "∂u/∂n = 0"), (operator, "u0"), (dome, "136 functions"), (learned.report, "tolerance")):
        text = value._repr_html_()
        assert word in text
        assert text.count("data:image/png;base64") == 1, word
    monkeypatch.setattr(html, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    assert "img" not in u._repr_html_()
    assert "<script" not in ko.Problem(ko.Equation(lambda u: u, on=line.where(lambda x: x[..., 0] > 0.5)))._repr_html_()


def test_only_public_names_are_shown():
    assert set(dir(ko)) == {*ko.__all__, "__version__"}
    assert all(hasattr(ko, name) for name in dir(ko))
