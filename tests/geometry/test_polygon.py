"""Polygons: shapely is the independent truth; errors say where a polygon is wrong."""

import builtins
import sys

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from kernop import Box, Polygon
from kernop.basics.errors import ArgumentError, KernopError, MissingExtraError, ShapeError

OUTLINE = [[0, 0], [4, 0.5], [3, 2], [4.5, 4], [1, 3]]
HOLES = ([[1, 1], [2, 1], [1.5, 2]], [[2.5, 1], [2.9, 1.2], [2.6, 1.8], [2.3, 1.5]])
PLATE, TRUE = Polygon(OUTLINE, HOLES), shapely.Polygon(OUTLINE, HOLES)


def test_area_and_length_are_those_of_shapely():
    assert PLATE.measure == pytest.approx(TRUE.area, rel=1e-13)
    assert PLATE.boundary.measure == pytest.approx(TRUE.length, rel=1e-13)


def test_distances_are_those_of_shapely():
    x = np.random.default_rng(0).uniform(-1.0, 5.5, (3000, 2))
    inside, distance = shapely.contains_xy(TRUE, x), shapely.distance(TRUE.boundary, shapely.points(x))
    np.testing.assert_allclose(PLATE.distance(x), np.where(inside, -distance, distance), atol=1e-14)
    np.testing.assert_array_equal(PLATE.contains(x), inside)


def test_directions_of_the_vertices_do_not_matter():
    other = Polygon(OUTLINE[::-1], [HOLES[0][::-1], HOLES[1]])
    x = np.random.default_rng(1).uniform(-1.0, 5.5, (200, 2))
    np.testing.assert_allclose(PLATE.distance(x), other.distance(x), atol=1e-14)
    for domain in (PLATE, other):
        points = domain.boundary.sample(200)
        assert not domain.contains(points.x + 1e-6 * points.normal).any()
        assert domain.contains(points.x - 1e-6 * points.normal).all()


def test_a_last_vertex_may_repeat_the_first():
    assert Polygon([*OUTLINE, OUTLINE[0]]) == Polygon(OUTLINE)


def test_edges_have_the_numbers_of_their_first_vertices():
    rings = [OUTLINE, *HOLES]
    ends = [(ring[k], ring[(k + 1) % len(ring)]) for ring in rings for k in range(len(ring))]
    for number, (first, last) in enumerate(ends):
        edge = PLATE.edge(number)
        line = shapely.LineString([first, last])
        assert edge.measure == pytest.approx(line.length, rel=1e-14)
        assert np.max(shapely.distance(line, shapely.points(edge.sample(9).x))) < 1e-14
    both = PLATE.edge(1, 6)
    assert both.measure == pytest.approx(PLATE.edge(1).measure + PLATE.edge(6).measure)
    assert repr(both) == "Polygon(<5 vertices>, 2 holes).edge(1, 6)"
    clockwise = Polygon(OUTLINE[::-1]).edge(0)
    assert clockwise.contains(np.array([OUTLINE[-1], OUTLINE[-2]])).all()


@pytest.mark.parametrize("number", [-1, 12, 1.0, "left"])
def test_edges_that_are_not_there_are_refused(number):
    with pytest.raises(KernopError, match=r"edge: got .*at most 11"):
        PLATE.edge(number)
    with pytest.raises(ArgumentError, match=r"edge: got no number; give some of 0 to 11"):
        PLATE.edge()


def test_corners_have_the_angles_of_the_domain():
    """Angles between edges by the law of cosines, and 2π minus those of holes and of the re-entrant vertex."""
    corners = PLATE.corners
    assert len(corners) == 12
    for ring, sign in ((OUTLINE, 1), (HOLES[0], -1), (HOLES[1], -1)):
        ring = np.array(ring, dtype=float)
        for k, vertex in enumerate(ring):
            u, v = ring[k - 1] - vertex, ring[(k + 1) % len(ring)] - vertex
            angle = np.arccos(u @ v / np.linalg.norm(u) / np.linalg.norm(v))
            wanted = 2 * np.pi - angle if (sign < 0) != (vertex.tolist() == [3, 2]) else angle
            found = corners.angle[np.argmin(np.linalg.norm(corners.x - vertex, axis=1))]
            assert found == pytest.approx(wanted, abs=1e-12)


def test_a_vertex_on_a_straight_line_is_no_corner():
    assert len(Polygon([[0, 0], [1, 0], [2, 0], [2, 2], [0, 2]]).corners) == 4


def test_a_polygon_is_like_a_box():
    box, polygon = Box([0.0, 0.0], [2.0, 1.0]), Polygon([[0, 0], [2, 0], [2, 1], [0, 1]])
    x = np.random.default_rng(2).uniform(-1.0, 3.0, (500, 2))
    np.testing.assert_allclose(box.distance(x), polygon.distance(x), atol=1e-14)
    np.testing.assert_allclose(np.sort(box.corners.angle), np.sort(polygon.corners.angle))


def test_rules_integrate_polynomials_exactly():
    """∫ of some x^i y^j: the sum over triangles from the origin to each edge, with the sign of their direction."""
    rule = PLATE.quadrature(400)
    assert len(rule) <= 400
    for i, j in ((0, 0), (3, 0), (1, 2), (5, 5), (0, 10)):
        exact = 0.0
        for ring, sign in ((OUTLINE, 1.0), (HOLES[0], -1.0), (HOLES[1], -1.0)):
            ring = np.array(ring, dtype=float)
            own = sum(_over_triangle(a, b, i, j) for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True))
            exact += sign * own
        assert rule.weight @ (rule.x[:, 0] ** i * rule.x[:, 1] ** j) == pytest.approx(exact, rel=1e-11)


def _over_triangle(a, b, i, j):
    """∫ x^i y^j over the triangle 0, a, b, negative if clockwise: Gauss's product rule on the square, collapsed."""
    node, weight = np.polynomial.legendre.leggauss(12)
    node, weight = 0.5 * (node + 1.0), 0.5 * weight
    s, t = np.meshgrid(node, node, indexing="ij")
    x = s[..., None] * a + (s * t)[..., None] * (b - a)
    return float(
        np.sum(np.outer(weight * node, weight) * (a[0] * b[1] - a[1] * b[0]) * x[..., 0] ** i * x[..., 1] ** j)
    )


@pytest.mark.parametrize(
    ("vertices", "holes", "message"),
    [
        ([[0, 0], [1, 1], [1, 0], [0, 1]], (), r"vertices: got .*self-intersection at \(0\.5, 0\.5\)"),
        ([[0, 0], [2, 0], [1, 0], [1, 1]], (), r"vertices: got .*self-intersection at \(2, 0\)"),
        ([[0, 0], [1, 1], [2, 2]], (), r"vertices: got vertices that enclose no area, from \(0, 0\) to \(2, 2\)"),
        ([[0, 0], [0, 0], [1, 0], [1, 1]], (), r"vertices: got vertices 0 and 1 that are the same, \(0, 0\)"),
        ([[0, 0], [1, 0], [1, 1e-7], [0, 1e-7]], (), r"vertices: got a sliver near \(0, 0\), 1\.0e-07 thick"),
        (OUTLINE, [[[7, 7], [8, 7], [8, 8]]], r"vertices, holes: got .*hole lies outside shell at \(7, 7\)"),
        (OUTLINE, [HOLES[0], HOLES[0]], r"vertices, holes: got .* at \("),
        (OUTLINE, [[[0.5, 0.5], [3.5, 1], [2, -0.3]]], r"vertices, holes: got .*self-intersection at \("),
        (OUTLINE, [[[1, 1], [2, 2]]], r"holes\[0\]: got 2 vertices"),
        (OUTLINE, 5, r"holes: got 5"),
    ],
)
def test_polygons_that_are_none_are_refused_with_the_place(vertices, holes, message):
    with pytest.raises(ArgumentError, match=message):
        Polygon(vertices, holes)


@pytest.mark.parametrize("vertices", [[[0, 0], [1, 0]], [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [0, 1, 2]])
def test_vertices_are_pairs_of_numbers(vertices):
    with pytest.raises(ShapeError, match=r"vertices: got"):
        Polygon(vertices)


def test_without_shapely_the_error_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "shapely")
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("shapely"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setitem(sys.modules, "shapely", None)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"Polygon: got .*kernop\[geometry\]"):
        Polygon(OUTLINE)


@settings(max_examples=40, deadline=None)
@given(radii=st.lists(st.floats(0.2, 1.0), min_size=3, max_size=12), turn=st.floats(0.0, 6.0), far=st.floats(-1e4, 1e4))
def test_random_stars(radii, turn, far):
    """Stars around a point are polygons if no angle between neighbours exceeds π."""
    angle = turn + 2 * np.pi * np.arange(len(radii)) / len(radii)
    vertices = far + np.array(radii)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    polygon, true = Polygon(vertices), shapely.Polygon(vertices)
    assert polygon.measure == pytest.approx(true.area, rel=1e-9)
    points = polygon.boundary.sample(30)
    assert not polygon.contains(points.x + 1e-6 * points.normal).any()
    assert polygon.contains(points.x - 1e-6 * points.normal).all()
    assert shapely.contains_xy(true.buffer(1e-9), polygon.sample(30).x).all()
    assert np.sum(np.pi - polygon.corners.angle) == pytest.approx(2 * np.pi, abs=1e-6 * len(radii))
