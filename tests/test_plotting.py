"""Figures: written, and refused when the values do not fit."""

import builtins

import numpy as np
import pytest

from kernop.basics.errors import ArgumentError, MissingExtraError, ShapeError
from kernop.paper.experiment import square_grid
from kernop.plotting import calibration, convergence, curves, field, pyplot, true_predicted_error


def test_writes_a_figure_with_a_row_for_each_estimator(tmp_path):
    x = square_grid(5)
    exact = x[:, 0] * x[:, 1]
    one = true_predicted_error(x, exact, exact + 1e-3, tmp_path / "new" / "one.png", title="one")
    two = true_predicted_error(x, exact, {"a": exact, "b": exact + 1.0}, tmp_path / "two.png")
    image = pyplot().imread
    assert image(one).shape[1] == image(two).shape[1]
    assert image(two).shape[0] > 1.5 * image(one).shape[0]


@pytest.mark.parametrize(("n", "values"), [(24, 24), (25, 24)])
def test_needs_a_full_square_grid(tmp_path, n, values):
    with pytest.raises(ShapeError, match=f"x: got {n} points" if n != 25 else r"exact: got an array of shape \(24,\)"):
        true_predicted_error(square_grid(5)[:n], np.zeros(values), np.zeros(values), tmp_path / "x.png")


def test_convergence_shows_every_line_and_the_slopes(tmp_path, monkeypatch):
    sizes = [100, 1000]
    lines = {
        name: {"mean": [c, c / 10], "standard error": [0.1 * c, 0.01 * c], "slope": 1.0}
        for name, c in (("a", 1.0), ("b", 2.0))
    }
    drawn = []
    monkeypatch.setattr("kernop.plotting.save", lambda figure, path: drawn.append(figure) or path)
    convergence(sizes, lines, tmp_path / "c.png", title="t", slopes={"a": 0.5})
    plain, logarithmic = drawn[0].axes
    assert [text.get_text() for text in plain.get_legend().get_texts()] == ["a", "b"]
    assert [text.get_text() for text in logarithmic.get_legend().get_texts()] == [
        "a, β = 1.00 (paper: 0.50)",
        "b, β = 1.00",
    ]
    fitted = [line.get_ydata() for line in logarithmic.get_lines() if line.get_linestyle() == "--"]
    np.testing.assert_allclose(fitted, [[1.0, 0.1], [2.0, 0.2]])


def test_curves_show_solutions_and_errors(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("kernop.plotting.save", lambda figure, path: drawn.append(figure) or path)
    x = np.linspace(0.0, 1.0, 5)
    rows = {"one": (x, x, {"a": x + 0.1, "b": x}), "two": (x, -x, {"a": 0.0 * x})}
    curves(rows, tmp_path / "c.png", title="t")
    axes = drawn[0].axes
    assert [axis.get_title() for axis in axes[::2]] == ["one: solution", "two: solution"]
    np.testing.assert_allclose(axes[1].get_lines()[0].get_ydata(), 0.1)
    np.testing.assert_allclose(axes[3].get_lines()[0].get_ydata(), np.maximum(x, 1e-17))
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == ["exact", "a", "b"]


def test_a_field_is_drawn_with_x_to_the_right(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("kernop.plotting.save", lambda figure, path: drawn.append(figure) or path)
    x = square_grid(4)
    field(x, x[:, 0], tmp_path / "f.png", title="V")
    image = np.asarray(drawn[0].axes[0].get_images()[0].get_array())
    np.testing.assert_allclose(image, np.tile(np.linspace(0.0, 1.0, 4), (4, 1)))


def test_says_how_to_install_matplotlib(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"matplotlib: .*pip install 'kernop\[plot\]'"):
        pyplot()


def test_calibration_shows_the_band_and_every_line(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("kernop.plotting.save", lambda figure, path: drawn.append(figure) or path)
    x = np.linspace(0.0, 1.0, 5)
    levels = (0.5, 0.95)
    calibration(x, x, x, 0.1 + 0 * x, np.zeros((5, 3)), levels, {"a": levels, "b": (0.4, 0.9)}, tmp_path / "c.png")
    left, right = drawn[0].axes
    band = left.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(1.196)
    assert len(left.get_lines()) == 3 + 2
    assert [text.get_text() for text in right.get_legend().get_texts()] == ["a", "b"]
    np.testing.assert_allclose(right.get_lines()[2].get_ydata(), (-10.0, -5.0))


@pytest.mark.parametrize(
    ("changed", "value"),
    [("mean", np.zeros(4)), ("draws", np.zeros((4, 2))), ("coverage", {"a": (0.5,)}), ("x", np.zeros((5, 2)))],
)
def test_calibration_refuses_what_does_not_fit(tmp_path, changed, value):
    x = np.linspace(0.0, 1.0, 5)
    given = {"x": x, "exact": x, "mean": x, "std": x, "draws": np.zeros((5, 3)), "nominal": (0.5, 0.95)}
    given = {**given, "coverage": {"a": (0.5, 0.9)}, "path": tmp_path / "c.png", changed: value}
    with pytest.raises(ShapeError, match=f"{changed}: got"):
        calibration(**given)


def test_the_truth_has_a_name(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("kernop.plotting.save", lambda figure, path: drawn.append(figure) or path)
    x = square_grid(4)
    true_predicted_error(x, x[:, 0], x[:, 1], tmp_path / "f.png", truth="finite differences")
    assert drawn[0].axes[0].get_title() == "finite differences"


def test_what_cannot_be_drawn(tmp_path):
    line = {"mean": [0.5, 0.25], "standard error": [0.1, 0.1], "slope": 1.0}
    with pytest.raises(ShapeError, match=r"sizes: got .*; give numbers of points, from 1 to 1e\+15"):
        convergence([10, 1e300], {"a": line}, tmp_path / "c.png")
    with pytest.raises(ArgumentError, match=r"slope: got 1e\+06; give the exponent"):
        convergence([10, 20], {"a": {**line, "slope": 1e6}}, tmp_path / "c.png")
    with pytest.raises(ShapeError, match="x: got points on one line"):
        field(np.zeros((16, 2)), np.zeros(16), tmp_path / "f.png")
