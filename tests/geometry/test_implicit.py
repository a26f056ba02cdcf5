"""Domains told by a function: circles, ellipses and tori in closed form; functions that tell no domain."""

import warnings

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ellipe

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, NonFiniteError, ShapeError
from kernop.geometry.loops import crossings
from kernop.geometry.tetrahedra import triangles

SQUARE, CUBE = ([-1.5, -1.5], [1.5, 1.5]), ([-1.5] * 3, [1.5] * 3)


def circle(x):
    return jnp.hypot(x[..., 0], x[..., 1]) - 1.0


def plain_circle(x):
    return np.hypot(np.asarray(x)[..., 0], np.asarray(x)[..., 1]) - 1.0


def squares(x):
    """No distance: its slope is 2 on the circle."""
    return x[..., 0] ** 2 + x[..., 1] ** 2 - 1.0


def cubes(x):
    """The slope varies along the circle by a factor of 20."""
    return squares(x) * (0.1 + (1.0 + x[..., 0]) ** 2)


def stepped(x):
    """Half of a disk, and half of a smaller one: the radial step between them is no zero."""
    return jnp.hypot(x[..., 0], x[..., 1]) - jnp.where(x[..., 0] > 0.0, 1.0, 0.7)


def stepped_too(x):
    return jnp.sqrt(jnp.sum(x**2, axis=-1)) - jnp.where(x[..., 0] > 0.0, 1.0, 0.6)


@pytest.mark.parametrize("function", [circle, plain_circle, squares, cubes])
def test_a_circle_is_a_circle(function):
    domain = ko.Implicit(function, SQUARE)
    assert domain.measure == pytest.approx(np.pi, rel=1e-9)
    assert domain.boundary.measure == pytest.approx(2 * np.pi, rel=1e-9)
    points = domain.boundary.sample(200)
    np.testing.assert_allclose(np.linalg.norm(points.x, axis=1), 1.0, rtol=1e-13)
    np.testing.assert_allclose(points.normal, points.x, atol=1e-9)
    x = np.random.default_rng(0).uniform(-1.4, 1.4, (500, 2))
    radius = np.linalg.norm(x, axis=1)
    np.testing.assert_array_equal(domain.contains(x), radius < 1.0)
    step = np.linspace(-1e-3, 1e-3, 200)
    np.testing.assert_allclose(domain.distance(points.x + step[:, None] * points.normal), step, atol=5e-6)


def test_lengths_along_a_line_are_even():
    """Angles of boundary points of the circle with an uneven slope are uniform, up to gaps of the sequence."""
    points = ko.Implicit(cubes, SQUARE).boundary.sample(400)
    angle = np.sort(np.arctan2(points.x[:, 1], points.x[:, 0]))
    assert np.max(np.diff(angle)) < 4.0 * 2.0 * np.pi / 400


def test_bounds_may_touch_the_domain():
    assert ko.Implicit(circle, ([-1, -1], [1, 1])).measure == pytest.approx(np.pi, rel=1e-9)


def test_an_ellipse():
    domain = ko.Implicit(lambda x: x[..., 0] ** 2 / 9 + x[..., 1] ** 2 - 1, ([-3.1, -1.1], [3.1, 1.1]))
    assert domain.measure == pytest.approx(3 * np.pi, rel=1e-8)
    assert domain.boundary.measure == pytest.approx(12 * ellipe(8 / 9), rel=1e-8)
    low, high = domain.bounds
    np.testing.assert_allclose([low, high], [[-3, -1], [3, 1]], atol=2e-3)


def test_several_pieces_and_holes():
    """Two rings: four circles, which are known apart by where they are."""

    def rings(x):
        one, other = (jnp.hypot(x[..., 0] - c, x[..., 1]) for c in (-2.0, 2.0))
        return jnp.minimum(jnp.abs(one - 1.0) - 0.3, jnp.abs(other - 1.0) - 0.3)

    domain = ko.Implicit(rings, ([-4, -2], [4, 2]))
    assert domain.measure == pytest.approx(2 * np.pi * (1.69 - 0.49), rel=1e-8)
    assert domain.boundary.measure == pytest.approx(8 * np.pi, rel=1e-8)
    left = domain.boundary.where(lambda x: x[..., 0] < 0.0)
    assert left.measure == pytest.approx(4 * np.pi, rel=1e-2)


def test_a_torus():
    def torus(x):
        return (jnp.hypot(x[..., 0], x[..., 1]) - 1.0) ** 2 + x[..., 2] ** 2 - 0.16

    domain = ko.Implicit(torus, ([-1.5, -1.5, -0.5], [1.5, 1.5, 0.5]))
    assert domain.measure == pytest.approx(2 * np.pi**2 * 0.16, rel=1e-5)
    assert domain.boundary.measure == pytest.approx(4 * np.pi**2 * 0.4, rel=1e-5)
    points = domain.boundary.sample(3000)
    ring = points.x * [1, 1, 0] / np.hypot(points.x[:, :1], points.x[:, 1:2])
    np.testing.assert_allclose(np.linalg.norm(points.x - ring, axis=1), 0.4, rtol=1e-12)
    np.testing.assert_allclose(points.normal, (points.x - ring) / 0.4, atol=1e-12)
    # The outer half has more area than the inner one: ½ + 2r/(2πR).
    assert np.mean(np.hypot(points.x[:, 0], points.x[:, 1]) > 1.0) == pytest.approx(0.5 + 0.4 / np.pi, abs=0.01)


def test_it_is_combined_with_others():
    domain = ko.Implicit(circle, SQUARE) & ko.Box([0.0, -2.0], [2.0, 2.0])
    assert domain.measure == pytest.approx(np.pi / 2, rel=1e-9)
    np.testing.assert_allclose(np.degrees(domain.corners.angle), 90.0, atol=1e-4)


@pytest.mark.parametrize(
    ("function", "bounds", "error", "message"),
    [
        (3, SQUARE, ArgumentTypeError, r"distance: got 3"),
        (circle, ([0, 0], [1]), ArgumentTypeError, r"bounds: got"),
        (circle, ([0], [1]), ShapeError, r"bounds: got an array of shape \(2, 1\)"),
        (circle, ([1, 1], [0, 2]), ArgumentError, r"bounds: got .*lo < hi"),
        (lambda x: x, SQUARE, ShapeError, r"distance: got a function that returns an array of shape \(\d+, 2\)"),
        (lambda x: x[..., 0] + jnp.inf, SQUARE, NonFiniteError, r"distance: got a function that is not finite at"),
        (lambda x: circle(x) + 5, SQUARE, ArgumentError, r"distance: got a function that is negative nowhere"),
        (circle, ([-0.5, -1.5], [1.5, 1.5]), ArgumentError, r"bounds: got a function that is negative beyond .* at \["),
        (lambda x: jnp.abs(circle(x)) - 1e-7, SQUARE, ArgumentError, r"distance: got"),
        (lambda x: x[..., 2], SQUARE, ShapeError, r"distance: got a function that fails on x of shape \(n, 2\)"),
        (lambda x: -circle(x), SQUARE, ArgumentError, r"distance: got .* negative all around .*; turn its sign"),
        (stepped, SQUARE, ArgumentError, r"distance: got a function that changes its sign at \[.* without being 0"),
        (stepped_too, (CUBE[0], CUBE[1]), ArgumentError, r"distance: got a function that changes its sign at \["),
    ],
)
def test_functions_that_tell_no_domain_are_refused(function, bounds, error, message):
    with pytest.raises(error, match=message):
        ko.Implicit(function, bounds)


def test_a_corner_is_told_and_tight_bends_are_not():
    with pytest.warns(ko.errors.AccuracyWarning, match=r"a corner near .* combine functions"):
        ko.Implicit(lambda x: jnp.max(jnp.abs(x), axis=-1) - 0.7, SQUARE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ko.Implicit(
            lambda x: jnp.hypot(x[..., 0] / 10.0, x[..., 1]) - 0.1, SQUARE
        )  # radii of curvature from 0.01 to 10


def test_chains_of_crossings_are_closed_and_use_each_edge_once():
    inside = np.zeros((9, 9), dtype=bool)
    inside[2:5, 2:5] = inside[5:7, 5:7] = True  # two blocks that touch at a corner
    inside[3, 3] = False
    chains = crossings(inside)
    assert sorted(map(len, chains)) == [4, 8, 12]
    used = [edge for chain in chains for edge in chain]
    across = np.count_nonzero(inside[1:] != inside[:-1]) + np.count_nonzero(inside[:, 1:] != inside[:, :-1])
    assert len(set(used)) == len(used) == across


def test_triangles_of_a_linear_function_lie_on_its_plane():
    axis = np.linspace(-1.0, 1.0, 6)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    normal = np.array([0.48, 0.6, 0.64])
    found = triangles(x @ normal - 0.123, np.full(3, -1.0), np.full(3, 0.4))
    np.testing.assert_allclose(found @ normal, 0.123, atol=1e-14)
    a, b, c = np.moveaxis(found, 1, 0)
    area = 0.5 * np.sum(np.linalg.norm(np.cross(b - a, c - a), axis=1))
    # The plane in the cube, by many points of it.
    rng = np.random.default_rng(0)
    u, v = np.linalg.svd(normal[None])[2][1:]
    p = 0.123 * normal + rng.uniform(-2, 2, (400_000, 1)) * u + rng.uniform(-2, 2, (400_000, 1)) * v
    assert area == pytest.approx(16.0 * np.mean(np.all(np.abs(p) <= 1.0, axis=1)), rel=1e-2)


def test_no_points_are_asked_for():
    """As where none of the points of a `Piecewise` lies near this piece: it was a ValueError."""
    disk = ko.Implicit(lambda x: np.hypot(x[..., 0], x[..., 1]) - 0.3, ([-0.5, -0.5], [0.5, 0.5]))
    assert disk.holds(np.empty((0, 2))).shape == (0,)
    assert disk.level.gradient(np.empty((0, 2))).shape == (0, 2)
    assert np.array_equal(ko.Piecewise({disk: 2.0}, otherwise=1.0)(np.array([[2.0, 0.0], [0.0, 3.0]])), [1.0, 1.0])
