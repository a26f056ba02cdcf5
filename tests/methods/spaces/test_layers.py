"""Layers: where the functions are, what they are, and how much their points count."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.ansatz import PLAIN
from kernop.collocation.functionals import Functionals, evaluations
from kernop.collocation.units import Frame
from kernop.methods.spaces import Layers
from kernop.methods.spaces.layers import ALONG, FELT, MARGIN, layers_in, narrow

UNIT = Frame(np.zeros(2), np.ones(2), np.ones(2))
#: One cell of side 1/8 and two of side 1/16, beside each other.
CELLS = np.array([[3, 2, 5], [4, 4, 10], [4, 5, 10]])


@pytest.fixture
def layers() -> Layers:
    return layers_in(UNIT, 100).filled(CELLS)


def inside(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.all((x >= low) & (x <= high), axis=1)


def test_centres_are_a_grid_in_the_cells_and_a_margin(layers: Layers) -> None:
    h, a, m = 1 / 8 / ALONG[1], ALONG[1], MARGIN[1]
    along = [low + h * (np.arange(-m, a + m) + 0.5) for low in (2 / 8, 5 / 8)]
    truth = {(x, y) for x in along[0] for y in along[1]}
    assert {tuple(z) for z in layers.centres(3)} == truth
    assert len(layers.centres(4)) == (2 * a + 2 * m) * (a + 2 * m)  # those of two cells, each once
    assert layers.size == 100 + len(layers.centres(3)) + len(layers.centres(4))


def test_points_know_the_deepest_cell_and_the_deepest_functions(layers: Layers) -> None:
    x = np.random.default_rng(0).uniform(size=(4000, 2))
    filled, felt = np.full(len(x), -1), np.full(len(x), -1)
    for level, *k in CELLS.tolist():
        low = np.array(k) / 2**level
        beyond = (MARGIN[1] + FELT[1]) / (2**level * ALONG[1])
        filled[inside(x, low, low + 0.5**level)] = level
        felt[inside(x, low - beyond, low + 0.5**level + beyond)] = level
    np.testing.assert_array_equal(layers.filled_at(x), filled)
    np.testing.assert_array_equal(layers.felt_at(x), felt)


def test_rows_count_by_the_volume_for_which_they_stand(layers: Layers) -> None:
    x = np.array([[0.9, 0.1], [3.5 / 8, 5.1 / 8], [4.5 / 16, 10.5 / 16]])
    assert layers.felt_at(x).tolist() == [-1, 3, 4]
    share = layers.shares(Functionals((evaluations(x),)))
    assert share[0] == 1.0
    assert share[2] / share[1] == pytest.approx(1 / 4)
    assert share[1] == pytest.approx((1 / (8 * ALONG[1]) / layers.wide) ** 2)


def test_functions_are_gaussians_that_narrow_with_the_spacing(layers: Layers) -> None:
    x = np.random.default_rng(1).uniform(size=(50, 2))
    for level, part in zip(layers.levels, narrow(layers, PLAIN), strict=True):
        z = layers.centres(level)
        width = 3.0 / (2**level * ALONG[1])
        truth = np.exp(-np.sum((x[:, None] - z) ** 2, axis=2) / width**2)
        np.testing.assert_allclose(part.matrix(Functionals((evaluations(x),))), truth, atol=1e-14)


def test_wide_functions_take_over_from_layers_that_are_no_narrower(layers: Layers) -> None:
    many = layers.widened(2000)
    assert many.number == 2000
    assert 3 not in many.levels
    assert layers.widened(120).levels == layers.levels


def test_axes_that_are_resolved_more_finely_have_narrower_functions() -> None:
    frame = Frame(np.zeros(2), np.ones(2), np.ones(2), np.array([1.0, 4.0]))
    x, t = layers_in(frame, 100).spacing(2)
    assert x == pytest.approx(4 * t)


def test_cells_that_are_none_are_refused() -> None:
    with pytest.raises(ko.errors.ShapeError, match="a level and 2 numbers"):
        Layers(10, np.zeros(2), np.ones(2), np.ones(2), CELLS[:, :2])
    with pytest.raises(ko.errors.ArgumentError, match="levels from 0"):
        layers_in(UNIT, 100).filled(np.array([[-1, 0, 0]]))


def test_layers_are_no_polynomials(layers: Layers) -> None:
    with pytest.raises(ko.errors.ArgumentError, match="layers"):
        ko.Subspace(layers, basis="polynomials")
