"""Point sets in the unit cube, and sharing out: against brute force and naive formulas."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import qmc

from kernop.geometry.sequences import SCHEMES, cell_centres, every_other, grid_counts, halton, shares, unit_cube

sides_strategy = st.lists(st.floats(1e-2, 1e2), min_size=1, max_size=5)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 200), sides=sides_strategy, seed=st.integers(0, 2**32))
def test_points_lie_in_the_unit_cube(scheme, n, sides, seed):
    t = unit_cube(n, sides, scheme, rng(seed))
    assert t.shape[1] == len(sides)
    assert t.dtype == np.float64
    assert 1 <= len(t) <= n
    assert np.all((t >= 0.0) & (t <= 1.0))
    assert scheme == "grid" or len(t) == n


@pytest.mark.parametrize("scheme", ["halton", "uniform"])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_coordinates_are_uniform(scheme, m):
    t = unit_cube(4096, [1.0] * m, scheme, rng(1))
    for k in range(m):
        assert stats.kstest(t[:, k], "uniform").pvalue > 1e-5
    assert np.allclose(t.mean(axis=0), 0.5, atol=5.0 / np.sqrt(12 * 4096))


def test_halton_fills_the_square_more_evenly_than_independent_points():
    spread = {scheme: qmc.discrepancy(unit_cube(512, [1, 1], scheme, rng(3))) for scheme in ("halton", "uniform")}
    assert spread["halton"] < 0.1 * spread["uniform"]


@pytest.mark.parametrize(
    ("n", "dim", "start"), [(1, 1, 0), (1000, 3, 0), (300, 12, 0), (257, 2, 31), (5, 2, 10**6), (4, 0, 0)]
)
def test_halton_is_that_of_scipy_to_the_bit(n, dim, start):
    wanted = qmc.Halton(dim, rng=rng(7))
    if start:
        wanted.fast_forward(start)
    assert np.array_equal(halton(n, dim, rng(7), start), wanted.random(n))


@pytest.mark.parametrize("scheme", ["halton", "uniform"])
def test_the_generator_decides_the_points(scheme):
    assert np.array_equal(unit_cube(9, [1, 2], scheme, rng(5)), unit_cube(9, [1, 2], scheme, rng(5)))
    assert not np.allclose(unit_cube(9, [1, 2], scheme, rng(5)), unit_cube(9, [1, 2], scheme, rng(6)))


@settings(max_examples=100, deadline=None)
@given(n=st.integers(1, 5000), sides=sides_strategy)
def test_grid_has_at_most_n_cells_and_no_axis_can_be_refined(n, sides):
    counts = np.array(grid_counts(n, sides))
    assert len(counts) == len(sides)
    assert np.all(counts >= 1)
    assert np.prod(counts) <= n
    for k in range(len(sides)):
        assert np.prod(counts + (np.arange(len(sides)) == k)) > n


@pytest.mark.parametrize(("k", "d"), [(1, 1), (7, 1), (5, 2), (10, 3), (3, 4), (4, 5), (50, 2)])
def test_grid_of_a_cube_with_a_perfect_power_is_cubic(k, d):
    assert grid_counts(k**d, [0.3] * d) == (k,) * d


@pytest.mark.parametrize(
    ("n", "sides", "counts"),
    [(200, (2.0, 1.0), (20, 10)), (6, (3.0, 2.0), (3, 2)), (48, (4.0, 2.0, 6.0), (4, 2, 6)), (1, (9.0, 1.0), (1, 1))],
)
def test_grid_follows_the_sides(n, sides, counts):
    assert grid_counts(n, sides) == counts


def test_grid_of_a_sliver_is_one_cell_thick():
    assert grid_counts(10, (100.0, 0.01)) == (10, 1)


def test_grid_of_a_thin_plate_keeps_square_cells_in_the_plate():
    """Across a plate of 1 by 10 and no thickness, 1000 cells are 10 by 100, as for the rectangle."""
    assert grid_counts(1000, (1.0, 10.0)) == (10, 100)
    assert grid_counts(1000, (1.0, 10.0, 1e-3)) == (10, 100, 1)


def test_grid_of_scales_far_apart_is_found_at_once():
    """A metre in space against ten nanoseconds in time is a usual space-time box."""
    start = time.process_time()
    assert grid_counts(1000, (1.0, 1e-8)) == (1000, 1)
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize("counts", [(1,), (4,), (2, 3), (3, 1, 2)])
def test_cell_centres_are_all_the_centres(counts):
    naive = itertools.product(*[[(i + 0.5) / c for i in range(c)] for c in counts])
    assert np.allclose(cell_centres(counts), list(naive), rtol=1e-15)


@settings(max_examples=200, deadline=None)
@given(n=st.integers(1, 3000), measures=st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=8))
def test_shares_add_up_and_follow_the_measures(n, measures):
    counts = np.array(shares(n, measures))
    exact = n * np.array(measures) / sum(measures)
    assert counts.sum() == n
    assert np.all(counts >= 0)
    if n >= len(measures):
        assert counts.min() >= 1
    if exact.min() >= 1.0:
        assert np.all(np.abs(counts - exact) < 1.0 + 1e-9)


@pytest.mark.parametrize(
    ("n", "measures", "counts"),
    [
        (10, [1, 1], [5, 5]),
        (10, [3, 2], [6, 4]),
        (10, [2, 1], [7, 3]),
        (3, [1000, 1, 1], [1, 1, 1]),
        (2, [1000, 1, 1], [2, 0, 0]),
        (5, [1, 1, 1], [2, 2, 1]),
        (1, [1, 2], [0, 1]),
    ],
)
def test_shares_of_small_cases(n, measures, counts):
    assert shares(n, measures) == counts


@pytest.mark.parametrize("count", [1, 2, 7, 18])
def test_every_other_node_tells_as_many_polynomials_apart(count):
    """Products of Legendre polynomials of total degree < n at n (n + 1) / 2 nodes: a regular matrix."""
    x = 2.0 * every_other(count) - 1.0
    assert np.all(np.abs(x) < 1.0)
    tables = [np.polynomial.legendre.legvander(own, count - 1) * np.sqrt(2 * np.arange(count) + 1) for own in x.T]
    found = np.stack([tables[0][:, i] * tables[1][:, j] for i in range(count) for j in range(count - i)], axis=1)
    assert found.shape == (count * (count + 1) // 2,) * 2
    assert np.linalg.cond(found) < 10 * count
