"""Coverings against brute force: every point of the set has one near by, and suprema are not below the truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import KDTree

import kernop as ko
from kernop.trust.estimates.coverings import NotApplicableError, inside, surface

DOMAINS = {
    "interval": ko.Interval(-1, 2),
    "box": ko.Box([0, 1], [2, 1.5]),
    "cube": ko.Box([0, 0, 0], [1, 1, 1]),
    "disk": ko.Ball([1, -1], 0.5),
    "ball": ko.Ball([0, 0, 0], 2.0),
    "cylinder": ko.SpaceTime(ko.Interval(0, 1), (0, 50)),
    "drum": ko.SpaceTime(ko.Ball([0, 0], 1), (1, 2)),
}


def straightened(domain, x):
    """Coordinates in which a covering is even: angles along the sides of a box and in time, x itself in a ball."""
    low, high = domain.bounds
    found = np.arccos(1.0 - 2.0 * (x - low) / (high - low))
    space = domain.space if isinstance(domain, ko.SpaceTime) else domain
    if isinstance(space, ko.Ball):
        found[:, : space.dim] = x[:, : space.dim]
    return found


def distance(domain, covering, x):
    """From x to the nearest point, in cells; infinite for points that are not on the same face."""
    known, asked = straightened(domain, covering.x), straightened(domain, x)
    free = np.flatnonzero(np.ptp(known, axis=0) > 0.0)
    places = np.zeros((len(x), len(free)))
    for k, axis in enumerate(free):
        line = np.polynomial.Polynomial.fit(known[:, axis], covering.places[:, k], 1)
        np.testing.assert_allclose(line(known[:, axis]), covering.places[:, k], atol=1e-9)
        places[:, k] = line(asked[:, axis])
    far = KDTree(covering.places).query(places)[0] if len(free) else np.zeros(len(x))
    here = np.all(np.delete(asked - known[0], free, axis=1) == 0.0, axis=1)
    return np.where(here, far, np.inf)


@pytest.mark.parametrize("name", DOMAINS)
def test_no_point_inside_is_further_than_the_fill_distance(name):
    domain = DOMAINS[name]
    covering = inside(domain, 400)
    assert np.all(domain.contains(covering.x))
    assert 100 <= len(covering) <= 1000
    assert np.max(distance(domain, covering, domain.sample(3000, "uniform").x)) <= covering.fill


@pytest.mark.parametrize("name", DOMAINS)
def test_no_point_of_the_boundary_is_further_than_the_fill_distance(name):
    domain = DOMAINS[name]
    pieces = surface(domain, 200)
    boundary = [domain.walls, domain.initial] if isinstance(domain, ko.SpaceTime) else [domain.boundary]
    for region in boundary:
        x = region.sample(2000, "uniform").x
        assert np.all(np.min([distance(domain, piece, x) / max(piece.fill, 1e-9) for piece in pieces], axis=0) <= 1.0)
    for piece in pieces:
        assert np.all(np.any([region.contains(piece.x) for region in boundary], axis=0))


@settings(max_examples=20, deadline=None)
@given(st.floats(-6, 6), st.floats(-6, 6), st.floats(0, 6))
def test_suprema_are_not_below_the_truth_and_not_far_above(p, q, phase):
    def r(x):
        return np.sin(p * x[:, 0] + q * x[:, 1] + phase)[:, None]

    domain = DOMAINS["disk"]
    covering = inside(domain, 900)
    truth = np.max(np.abs(r(domain.sample(20_000, "uniform").x)))
    found = covering.supremum(r(covering.x))[0]
    slack = 3.0 * covering.fill * (1.0 / 30) * np.hypot(p, q)  # 30 × 30 cells for a diameter of 1
    assert truth - 1e-14 <= found <= truth + slack + 1e-14


@pytest.mark.parametrize("thin", [1e-3, 1e-6])
def test_a_thin_box_has_points_across(thin):
    """Across it a residual may swing as well as along it."""
    box = ko.Box([0, 0, 0], [1, thin, 1])
    covering = inside(box, 2000)
    assert len(covering) <= 2000
    assert all(len(np.unique(covering.x[:, axis])) >= 8 for axis in range(3))
    swing = np.sin(np.pi * covering.x[:, 1] / thin)[:, None]
    assert covering.supremum(swing)[0] >= 1.0
    assert covering.supremum(np.cos(np.pi * covering.x[:, 1] / thin)[:, None])[0] >= 1.0
    for piece in surface(box, 400):
        free = np.ptp(piece.x, axis=0) > 0.0
        assert free.sum() == 2
        assert all(len(np.unique(piece.x[:, axis])) >= 8 for axis in np.flatnonzero(free))


def test_in_six_dimensions_a_ball_is_covered_with_few_cells():
    for piece in (inside(ko.Ball([0.0] * 6, 1.0), 10_000), *surface(ko.Ball([0.0] * 6, 1.0), 10_000)):
        assert 100 < len(piece) <= 100_000


@pytest.mark.parametrize("cover", [inside, surface])
@pytest.mark.parametrize("dim", [20, 40])
def test_in_many_dimensions_a_ball_is_refused_before_anything_is_allocated(dim, cover):
    with pytest.raises(NotApplicableError, match=f"do not cover a ball in {dim} dimensions"):
        cover(ko.Ball([0.0] * dim, 1.0), 10_000)


def test_a_box_in_many_dimensions_is_refused():
    with pytest.raises(NotApplicableError, match="do not cover a box in 20 dimensions"):
        inside(ko.Box([0.0] * 20, [1.0] * 20), 10_000)


def test_a_spike_between_neighbours_is_felt():
    covering = inside(ko.Interval(0, 1), 50)
    values = np.zeros((len(covering), 1))
    values[20] = 1.0
    assert covering.supremum(values)[0] == pytest.approx(1.5)  # half a cell further, at slope 1 for each cell


def test_a_peak_at_a_corner_is_not_missed():
    """|log r|, as of the second derivatives of u at an incompatible corner, seen down to r = 1e-4."""

    def peak(x):
        return -np.log(np.maximum(np.linalg.norm(x, axis=1), 1e-4))[:, None]

    covering = inside(ko.Box([0, 0], [1, 1]), 10_000)
    assert covering.supremum(peak(covering.x))[0] >= peak(np.zeros((1, 2))).item()


def test_walls_of_a_line_in_time_are_covered_in_time():
    """They are lines: all of their points are for time."""
    left, right, start = surface(ko.SpaceTime(ko.Interval(0, 2), (0, 3)), 100)
    for wall, x in ((left, 0.0), (right, 2.0)):
        np.testing.assert_array_equal(wall.x[:, 0], x)
        assert len(np.unique(wall.x[:, 1])) == len(wall) == 100
    assert len(start) == 100
