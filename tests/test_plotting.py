"""Figures: written, and refused when the values do not fit."""

import numpy as np
import pytest

from kernop.basics import extras
from kernop.basics.errors import ArgumentTypeError, MissingExtraError, ShapeError
from kernop.paper.experiment import square_grid
from kernop.plotting import field, pyplot, save, true_predicted_error


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


def test_a_field_is_drawn_with_x_to_the_right(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("kernop.plotting.save", lambda figure, path: drawn.append(figure) or path)
    x = square_grid(4)
    field(x, x[:, 0], tmp_path / "f.png", title="V")
    image = np.asarray(drawn[0].axes[0].get_images()[0].get_array())
    np.testing.assert_allclose(image, np.tile(np.linspace(0.0, 1.0, 4), (4, 1)))


def test_says_how_to_install_matplotlib(monkeypatch):
    def without(name):
        raise ImportError(name)

    monkeypatch.setattr(extras, "import_module", without)
    with pytest.raises(MissingExtraError, match=r"matplotlib: .*pip install 'kernop\[plot\]'"):
        pyplot()


def test_the_truth_has_a_name(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("kernop.plotting.save", lambda figure, path: drawn.append(figure) or path)
    x = square_grid(4)
    true_predicted_error(x, x[:, 0], x[:, 1], tmp_path / "f.png", truth="finite differences")
    assert drawn[0].axes[0].get_title() == "finite differences"


def test_errors_of_all_estimators_have_the_same_logarithmic_colours(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("kernop.plotting.save", lambda figure, path: drawn.append(figure) or path)
    x = square_grid(4)
    true_predicted_error(x, x[:, 0], {"a": x[:, 0] + 1e-2, "b": x[:, 0] * (1 + 1e-9)}, tmp_path / "f.png")
    coarse, fine = (image for axis in drawn[0].axes for image in axis.get_images() if image.get_cmap().name == "magma")
    assert coarse.norm is fine.norm
    assert fine.norm.vmin < 1e-9 < 1e-2 == pytest.approx(coarse.norm.vmax)
    assert np.ptp(fine.norm(np.asarray(fine.get_array()))) < 0.1 < np.ptp(coarse.norm([1e-9, 1e-2]))
    true_predicted_error(x, x[:, 0], x[:, 0], tmp_path / "exact.png")  # errors of zero


def test_what_cannot_be_drawn(tmp_path):
    with pytest.raises(ShapeError, match="x: got points on one line"):
        field(np.zeros((16, 2)), np.zeros(16), tmp_path / "f.png")
    with pytest.raises(ArgumentTypeError, match=r"found: got \{\}; give values, or a dictionary"):
        true_predicted_error(square_grid(4), np.zeros(16), {}, tmp_path / "f.png")


def test_saving_changes_no_setting_and_cuts_nothing_off(tmp_path):
    """Labels are made when a figure is drawn: with other sizes than those it was laid out with, they were cut off."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.rcdefaults()
    before = dict(plt.rcParams)
    figure, axis = plt.subplots(figsize=(3.0, 2.0), layout="constrained")
    axis.plot([0, 1], [-1e-3, 1e3])
    path = save(figure, tmp_path / "f.png")
    assert dict(plt.rcParams) == before
    drawn = plt.imread(path)
    assert drawn.shape[:2] == (300, 450)
    assert min(drawn[:, 0].min(), drawn[:, -1].min(), drawn[0].min(), drawn[-1].min()) == 1.0
