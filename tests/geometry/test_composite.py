"""Rules on cells integrate functions that are smooth between lines only."""

import numpy as np
import pytest

import kernop as ko
from kernop.geometry.composite import composite, grid

SQUARE = ko.Box([0, 0], [1, 1])


def integral(region, cuts, function, cells=None):
    rule = composite(region, cuts, *(grid(region, cuts) if cells is None else cells), 1000)
    assert np.all(region.contains(rule.x))
    return float(rule.weight @ function(rule.x))


def test_a_kink_on_a_circle():
    """∫ (r² − R²)₊ over the square is ∫ (r² − R²) there less that over the disk, −π R⁴ / 2."""
    disk = ko.Ball([0.45, 0.5], 0.3)
    outside = lambda x: np.maximum((x[:, 0] - 0.45) ** 2 + (x[:, 1] - 0.5) ** 2 - 0.09, 0.0)
    exact = (0.55**3 + 0.45**3 + 0.5**3 + 0.5**3) / 3 - 0.09 + np.pi * 0.3**4 / 2
    assert integral(SQUARE, [disk], outside) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_kink_between_boxes(dim):
    part = ko.Box([0.0] * dim, [0.37] + [1.0] * (dim - 1))
    found = integral(ko.Box([0.0] * dim, [1.0] * dim), [part], lambda x: np.abs(x[:, 0] - 0.37))
    assert found == pytest.approx((0.37**2 + 0.63**2) / 2, abs=1e-14)


def test_a_box_that_is_not_made_of_cells():
    low, high = np.array([[0.0, 0.0], [0.5, 0.0]]), np.array([[0.5, 1.0], [1.0, 1.0]])
    found = integral(ko.Box([0.3, 0.2], [0.7, 0.9]), [], lambda x: x[:, 0] ** 2, (low, high))
    assert found == pytest.approx(0.7 * (0.7**3 - 0.3**3) / 3, abs=1e-14)


def test_cells_that_are_graded_to_a_corner():
    """∫ r^(2/3) over the quarter of a disk, in cells that are halved towards its corner."""
    x = np.append(0.0, 0.5 ** np.arange(12)[::-1])
    rings = [(low, np.add(low, side)) for side in x[1:-1] for low in ([side, 0.0], [0.0, side], [side, side])]
    low, high = map(np.array, zip(([0.0, 0.0], [x[1], x[1]]), *rings, strict=True))
    quarter = ko.Ball([0, 0], 1.0) & SQUARE
    found = integral(quarter, [], lambda x: np.hypot(*x.T) ** (2 / 3), (low, high))
    assert found == pytest.approx(np.pi / 2 * 3 / 8, abs=1e-6)


def test_a_kink_on_a_side():
    found = integral(SQUARE.face("bottom"), [ko.Ball([0.0, 0.0], 0.37)], lambda x: np.abs(x[:, 0] - 0.37))
    assert found == pytest.approx((0.37**2 + 0.63**2) / 2, abs=1e-12)
