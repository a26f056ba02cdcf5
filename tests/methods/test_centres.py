"""Where centres lie and how wide their functions are."""

import numpy as np
import pytest

from kernop.collocation.units import Frame
from kernop.methods.centres import default_number, fill


def frame(low, high, units=None):
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    return Frame(low, high, np.full(len(low), np.max(high - low)) if units is None else np.asarray(units, dtype=float))


LINE, SQUARE, CUBE = frame([0], [1]), frame([0, 0], [1, 1]), frame([0, 0, 0], [1, 1, 1])
SLAB = frame([-5, 2], [5, 3])
CYLINDER = frame([0, 0], [1, 50], units=[1, 50])
FRAMES = [LINE, SQUARE, CUBE, SLAB, CYLINDER]


@pytest.mark.parametrize("box", FRAMES)
@pytest.mark.parametrize("number", [1, 2, 17, 400])
def test_keeps_the_number(box, number):
    centres = fill(box, number)
    assert centres.z.shape == (number, len(box.low))
    assert centres.lengthscale.shape == box.low.shape
    assert np.all(np.isfinite(centres.z))
    assert len(np.unique(centres.z, axis=0)) == number


@pytest.mark.parametrize("box", FRAMES)
@pytest.mark.parametrize("number", [8, 100, 1000, 20_000])
def test_lengthscale_spacing_and_margin_fit_together(box, number):
    """The spacing is that of L centres in the padded box; the margin is 2.2 lengthscales, or a quarter of them."""
    centres = fill(box, number)
    d = len(box.low)
    width = 4.0 if d == 1 else 3.0
    h = centres.lengthscale / box.units / width
    assert np.ptp(h) <= 1e-12 * h[0]  # one spacing in natural units
    margin = min(2.2 * width, 0.25 * number ** (1 / d)) * h[0]
    padded = (box.high - box.low) / box.units + 2 * margin
    assert np.prod(padded) == pytest.approx(number * h[0] ** d, rel=1e-9)
    reach = margin * box.units
    assert np.all(centres.z >= box.low - reach)
    assert np.all(centres.z <= box.high + reach)


@pytest.mark.parametrize("box", FRAMES)
def test_contain_the_box_and_fill_the_margin(box):
    centres = fill(box, 500)
    low, high = centres.z.min(axis=0), centres.z.max(axis=0)
    assert np.all(low < box.low)
    assert np.all(high > box.high)
    middle = 0.5 * (box.low + box.high)
    np.testing.assert_allclose(0.5 * (low + high), middle, atol=0.1 * np.max(box.high - box.low))
    for axis in range(len(middle)):
        assert 200 < np.sum(centres.z[:, axis] < middle[axis]) < 300


def test_nearest_neighbours_are_about_a_spacing_apart():
    centres = fill(SQUARE, 400)
    gaps = np.linalg.norm(centres.z[:, None] - centres.z, axis=-1) + 10 * np.eye(400)
    assert 0.3 < np.median(gaps.min(axis=1)) / (centres.lengthscale[0] / 3.0) < 1.2


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 7.0, 1e6])
@pytest.mark.parametrize("box", FRAMES)
def test_scaling_the_frame_scales_everything(box, scale):
    one, other = fill(box, 60), fill(Frame(scale * box.low, scale * box.high, scale * box.units), 60)
    np.testing.assert_allclose(other.z, scale * one.z, rtol=1e-9, atol=1e-9 * scale)
    np.testing.assert_allclose(other.lengthscale, scale * one.lengthscale, rtol=1e-9)


def test_time_has_its_own_unit():
    square, cylinder = fill(SQUARE, 60), fill(CYLINDER, 60)
    np.testing.assert_allclose(cylinder.z, square.z * [1, 50], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(cylinder.lengthscale, square.lengthscale * [1, 50], rtol=1e-9)


def test_moving_the_frame_moves_the_centres():
    moved = fill(frame([3, -8], [4, -7]), 60)
    np.testing.assert_allclose(moved.z, fill(SQUARE, 60).z + np.array([3, -8]), atol=1e-12)


def test_space_keeps_its_proportions():
    scales = fill(SLAB, 300).lengthscale
    assert scales[0] == pytest.approx(scales[1])


def test_more_centres_are_narrower():
    widths = [fill(SQUARE, n).lengthscale[0] for n in (10, 40, 160, 640, 2560)]
    assert np.all(np.diff(widths) < 0)
    assert fill(LINE, 10_000).lengthscale[0] == pytest.approx(4 / 10_000, rel=0.01)


def test_same_centres_every_time():
    np.testing.assert_array_equal(fill(CUBE, 50).z, fill(CUBE, 50).z)


def test_default_number_grows_with_the_points_and_stays_below_them():
    numbers = [default_number(n) for n in range(1, 6000)]
    assert min(numbers) == 1
    assert np.all(np.diff(numbers) >= 0)
    assert all(number <= max(1, n / 2) for n, number in enumerate(numbers, start=1))
    assert default_number(1000) == 500
    assert default_number(16_000) == 2000
