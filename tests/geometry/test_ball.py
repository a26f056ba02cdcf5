"""Balls and spheres: closed-form measures and moments."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kernop import Ball
from kernop.basics.errors import ArgumentError, ArgumentTypeError, NonFiniteError, ShapeError
from kernop.geometry.ball import unit_sphere

DIMS = [1, 2, 3, 4, 5]
UNIT_VOLUME = {1: 2.0, 2: math.pi, 3: 4 / 3 * math.pi, 4: math.pi**2 / 2, 5: 8 / 15 * math.pi**2}
UNIT_AREA = {1: 2.0, 2: 2 * math.pi, 3: 4 * math.pi, 4: 2 * math.pi**2, 5: 8 / 3 * math.pi**2}
CENTER = np.array([3.0, -1.0, 0.5, 2.0, -4.0])
every_scheme = pytest.mark.parametrize("scheme", ["halton", "uniform", "grid"])
random_scheme = pytest.mark.parametrize("scheme", ["halton", "uniform"])
every_dim = pytest.mark.parametrize("d", DIMS)


@st.composite
def balls(draw, max_dim=5):
    d = draw(st.integers(1, max_dim))
    center = draw(st.lists(st.floats(-10.0, 10.0), min_size=d, max_size=d))
    return Ball(center, draw(st.floats(0.01, 20.0)))


@every_dim
@pytest.mark.parametrize("r", [0.5, 1.0, 3.0])
def test_volume_and_area_are_the_closed_forms(d, r):
    ball = Ball(CENTER[:d], r)
    assert ball.measure == pytest.approx(UNIT_VOLUME[d] * r**d, rel=1e-13)
    assert ball.boundary.measure == pytest.approx(UNIT_AREA[d] * r ** (d - 1), rel=1e-13)


@settings(max_examples=40, deadline=None)
@given(ball=balls(), n=st.integers(1, 60), scheme=st.sampled_from(["halton", "uniform", "grid"]))
def test_random_balls_hold_their_samples(ball, n, scheme):
    inside = ball.sample(n, scheme).x
    assert np.all(np.linalg.norm(inside - ball.center, axis=1) <= ball.radius * (1 + 1e-12))
    assert np.all(ball.contains(inside))
    points = ball.boundary.sample(n, scheme)
    assert np.allclose(points.x, ball.center + ball.radius * points.normal, rtol=1e-12, atol=1e-12)
    assert np.all(ball.boundary.contains(points.x))


@settings(max_examples=30, deadline=None)
@given(ball=balls(), seed=st.integers(0, 100))
def test_contains_agrees_with_the_distance(ball, seed):
    low, high = ball.bounds
    x = np.random.default_rng(seed).uniform(low, high, (40, ball.dim))
    assert ball.contains(x).tolist() == [math.dist(row, ball.center) <= ball.radius for row in x]


@random_scheme
@every_dim
def test_radii_inside_are_distributed_by_volume(scheme, d):
    r = 2.5
    x = Ball(CENTER[:d], r).sample(3000, scheme, seed=3).x - CENTER[:d]
    share = (np.linalg.norm(x, axis=1) / r) ** d
    assert stats.kstest(share, "uniform").pvalue > 1e-5


@random_scheme
@every_dim
def test_second_moments_inside(scheme, d):
    """E|x|² = d/(d+2) r², E x_k² = r²/(d+2), E x_j x_k = 0; to five standard errors of independent points."""
    r, n = 1.5, 8000
    x = Ball(CENTER[:d], r).sample(n, scheme, seed=8).x - CENTER[:d]
    square = np.sum(x**2, axis=1)
    assert abs(square.mean() - d / (d + 2) * r**2) < 5 * square.std() / math.sqrt(n)
    moments = x.T @ x / n
    assert np.allclose(moments, r**2 / (d + 2) * np.eye(d), atol=5 * r**2 / math.sqrt(n))


@random_scheme
@pytest.mark.parametrize("d", DIMS[1:])
def test_moments_on_the_sphere(scheme, d):
    """E x_k² = r²/d, E x_k⁴ = 3 r⁴/(d(d+2)), E x_j² x_k² = r⁴/(d(d+2))."""
    r, n = 2.0, 8000
    x = Ball(CENTER[:d], r).boundary.sample(n, scheme, seed=8).x - CENTER[:d]
    error = 5 * r**2 / math.sqrt(n)
    assert np.allclose(x.mean(axis=0), 0.0, atol=5 * r / math.sqrt(d * n))
    assert np.allclose(x.T @ x / n, r**2 / d * np.eye(d), atol=error)
    fourth = r**4 / (d * (d + 2)) * (np.ones((d, d)) + 2 * np.eye(d))
    assert np.allclose((x**2).T @ x**2 / n, fourth, atol=error * r**2)


@random_scheme
def test_heights_on_the_sphere_in_three_dimensions_are_uniform(scheme):
    """Archimedes: every coordinate of a uniform point of the sphere is uniform."""
    x = Ball([0, 0, 0], 1.0).boundary.sample(3000, scheme, seed=1).x
    for k in range(3):
        assert stats.kstest((x[:, k] + 1) / 2, "uniform").pvalue > 1e-5


@random_scheme
@pytest.mark.parametrize("d", [2, 4, 5])
def test_every_coordinate_on_the_sphere_has_the_beta_law(scheme, d):
    x = Ball(np.zeros(d), 1.0).boundary.sample(3000, scheme, seed=6).x
    law = stats.beta((d - 1) / 2, (d - 1) / 2)
    for k in range(d):
        assert stats.kstest((x[:, k] + 1) / 2, law.cdf).pvalue > 1e-5


@every_dim
def test_quasirandom_points_integrate_better_than_independent_ones(d):
    """The mean of |x|² over the ball: halton is far below the Monte Carlo error."""
    x = Ball(np.zeros(d), 1.0).sample(4096, "halton").x
    exact = d / (d + 2)
    spread = math.sqrt(d / (d + 4) - exact**2)
    assert abs(np.mean(np.sum(x**2, axis=1)) - exact) < 0.3 * spread / math.sqrt(4096)


@pytest.mark.parametrize("d", DIMS[1:])
def test_the_map_to_the_sphere_is_onto_unit_vectors(d):
    corners = np.array(np.meshgrid(*[[0.0, 0.5, 1.0]] * (d - 1))).reshape(d - 1, -1).T
    x = unit_sphere(corners, d)
    assert x.shape == (3 ** (d - 1), d)
    assert np.allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-14)


def test_a_sphere_in_one_dimension_is_two_points():
    points = Ball([1.0], 0.5).boundary.sample(20)
    assert points.x.tolist() == [[0.5], [1.5]]
    assert points.normal.tolist() == [[-1.0], [1.0]]


def test_a_grid_on_a_circle_is_equally_spaced():
    x = Ball([0, 0], 1.0).boundary.sample(8, "grid").x
    angles = np.sort(np.arctan2(x[:, 1], x[:, 0]))
    assert np.allclose(np.diff(angles), 2 * np.pi / 8)


@every_scheme
@every_dim
@pytest.mark.parametrize("n", [1, 3, 50])
def test_grids_are_no_larger_than_asked(d, n, scheme):
    assert 1 <= len(Ball(np.zeros(d), 1.0).sample(n, scheme)) <= n


def test_normals_are_radial():
    disk = Ball([1.0, 2.0], 2.0)
    x = np.array([[3.0, 2.0], [1.0, 0.0], [1.0 - math.sqrt(2), 2.0 + math.sqrt(2)]])
    expected = [[1.0, 0.0], [0.0, -1.0], [-math.sqrt(0.5), math.sqrt(0.5)]]
    assert np.allclose(disk.boundary.normals(x), expected)


def test_center_and_radius_can_be_read_and_not_changed():
    ball = Ball([1, 2], 3)
    with pytest.raises(ValueError, match="read-only"):
        ball.center[:] = 0.0
    with pytest.raises(AttributeError):
        ball.radius = 2.0
    assert ball.center.tolist() == [1.0, 2.0]
    assert ball.radius == 3.0
    assert [b.tolist() for b in ball.bounds] == [[-2.0, -1.0], [4.0, 5.0]]


@pytest.mark.parametrize(
    ("center", "radius", "error", "message"),
    [
        ([0, 0], 0, ArgumentError, r"radius: got 0; give a number that is greater than 0"),
        ([0, 0], -1.5, ArgumentError, r"radius: got -1\.5;"),
        ([0, 0], np.nan, NonFiniteError, r"radius: got nan"),
        ([0, 0], np.inf, NonFiniteError, r"radius: got inf"),
        ([0, 0], "1", ArgumentTypeError, r"radius: got '1';"),
        ([0, 0], [1, 1], ArgumentTypeError, r"radius: got \[1, 1\]; give one real number"),
        ([0, 0], None, ArgumentTypeError, r"radius: got None"),
        ([0, 0], 1j, ArgumentTypeError, r"radius: got 1j"),
        (0.0, 1, ShapeError, r"center: got shape \(\); give d numbers"),
        ([[0, 0]], 1, ShapeError, r"center: got shape \(1, 2\)"),
        ([], 1, ShapeError, r"center: got shape \(0,\)"),
        ([0, np.nan], 1, NonFiniteError, r"center: got 1 of 2 values"),
        (["a", "b"], 1, ArgumentTypeError, r"center: got an array of dtype <U1"),
    ],
)
def test_bad_balls_are_refused(center, radius, error, message):
    with pytest.raises(error, match=message):
        Ball(center, radius)


def test_a_ragged_radius_is_refused_by_name():
    with pytest.raises(ArgumentTypeError, match=r"radius: got"):
        Ball([0, 0], [[1], [1, 2]])


def test_repr():
    assert repr(Ball([0, 1], 2)) == "Ball([0.0, 1.0], 2)"
    assert repr(Ball([0], 2).boundary) == "Ball([0.0], 2).boundary"
