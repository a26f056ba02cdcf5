"""Figures of the paper show what they are given."""

import numpy as np

from kernop.paper.figures import convergence, error_curves


def test_convergence_shows_every_line_and_the_slopes(tmp_path, monkeypatch):
    sizes = [100, 1000]
    lines = {
        name: {"mean": [c, c / 10], "standard error": [0.1 * c, 0.01 * c], "slope": 1.0}
        for name, c in (("a", 1.0), ("b", 2.0))
    }
    drawn = []
    monkeypatch.setattr("kernop.paper.figures.save", lambda figure, path: drawn.append(figure) or path)
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
    monkeypatch.setattr("kernop.paper.figures.save", lambda figure, path: drawn.append(figure) or path)
    x = np.linspace(0.0, 1.0, 5)
    rows = {"one": (x, x, {"a": x + 0.1, "b": x}), "two": (x, -x, {"a": 0.0 * x})}
    error_curves(rows, tmp_path / "c.png", title="t")
    axes = drawn[0].axes
    assert [axis.get_title() for axis in axes[::2]] == ["one: solution", "two: solution"]
    np.testing.assert_allclose(axes[1].get_lines()[0].get_ydata(), 0.1)
    np.testing.assert_allclose(axes[3].get_lines()[0].get_ydata(), np.maximum(x, 1e-17))
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == ["exact", "a", "b"]
