"""Unions, intersections and differences: closed forms, shapely, and what their boundaries are made of."""

import numpy as np
import pytest
import shapely
from scipy.special import iv

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError

SQUARE, HOLE = ko.Box([0.0, 0.0], [1.0, 1.0]), ko.Ball([0.5, 0.5], 0.3)
PLATE = SQUARE - HOLE
CUBE = ko.Box([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
LENS = 2.0 * np.pi / 3.0 - np.sqrt(3.0) / 2.0

#: A domain, its measure, the measure of its boundary, and its corners by angle in degrees.
KNOWN = {
    "hole": (PLATE, 1 - 0.09 * np.pi, 4 + 0.6 * np.pi, [90] * 4),
    "touching": (SQUARE | ko.Box([1.0, 0.0], [2.0, 1.0]), 2, 6, [90] * 4),
    "touching in part": (SQUARE | ko.Box([1.0, 0.25], [2.0, 0.75]), 1.5, 6, [90] * 6 + [270] * 2),
    "half outside": (SQUARE | ko.Ball([1.0, 0.5], 0.2), 1 + 0.02 * np.pi, 3.6 + 0.2 * np.pi, [90] * 4 + [270] * 2),
    "annulus": (ko.Ball([0, 0], 1.0) - ko.Ball([0, 0], 0.5), 0.75 * np.pi, 3 * np.pi, []),
    "notch": (SQUARE - ko.Box([0.5, 0.5], [1.0, 1.0]), 0.75, 4, [90] * 5 + [270]),
    "lens": (ko.Ball([0, 0], 1.0) & ko.Ball([1, 0], 1.0), LENS, 4 * np.pi / 3, [120] * 2),
    "strip": (SQUARE & ko.Box([0.25, 0.0], [0.75, 1.0]), 0.5, 3, [90] * 4),
    "swallowed": (SQUARE | ko.Box([0.25, 0.0], [0.75, 1.0]), 1, 4, [90] * 4),
    "itself": (SQUARE | SQUARE, 1, 4, [90] * 4),
    "corner to corner": (SQUARE | ko.Box([1.0, 1.0], [2.0, 2.0]), 2, 8, [90] * 8),
    "far away": (PLATE | ko.Ball([5.0, 5.0], 1.0), 1 + 0.91 * np.pi, 4 + 2.6 * np.pi, [90] * 4),
    "intervals": (ko.Interval(0, 1) | ko.Interval(2, 5), 4, 4, None),
    "touching intervals": (ko.Interval(0, 1) | ko.Interval(1, 5), 5, 2, None),
    "interval less one": (ko.Interval(0, 3) - ko.Interval(1, 2), 2, 4, None),
}


@pytest.mark.parametrize("name", KNOWN)
def test_measures_and_corners_are_exact(name):
    domain, measure, rim, angles = KNOWN[name]
    assert domain.measure == pytest.approx(measure, rel=1e-11)
    assert domain.boundary.measure == pytest.approx(rim, rel=1e-11)
    if angles is not None:
        np.testing.assert_allclose(np.sort(np.degrees(domain.corners.angle)), angles, atol=1e-4)


@pytest.mark.parametrize(
    ("domain", "measure", "rim"),
    [
        (CUBE - ko.Ball([0.5] * 3, 0.3), 1 - 4 / 3 * np.pi * 0.027, 6 + 0.36 * np.pi),
        (CUBE | ko.Ball([1.0, 0.5, 0.5], 0.3), 1 + 2 / 3 * np.pi * 0.027, 6 + 0.09 * np.pi),
        (CUBE | ko.Box([1.0, 0.0, 0.0], [2.0, 1.0, 1.0]), 2, 10),
        (CUBE - ko.Box([0.5, 0.5, 0.0], [1.0, 1.0, 1.0]), 0.75, 5.5),
        (ko.Ball([0] * 3, 1.0) & ko.Ball([1, 0, 0], 1.0), 5 / 12 * np.pi, 2 * np.pi),
    ],
)
def test_volumes_and_areas_in_space_are_right_to_3e_4(domain, measure, rim):
    assert domain.measure == pytest.approx(measure, rel=3e-4)
    assert domain.boundary.measure == pytest.approx(rim, rel=3e-4)


def test_touching_boxes_have_no_wall_between_them():
    domain = KNOWN["touching"][0]
    wall = np.column_stack([np.ones(9), np.linspace(0.1, 0.9, 9)])
    assert not domain.boundary.contains(wall).any()
    assert domain.contains(wall).all()
    assert np.all(np.abs(domain.boundary.sample(500).x[:, 0] - 1.0) > 1e-9)


def test_normals_of_a_hole_point_into_it():
    points = PLATE.boundary.of(HOLE).sample(50)
    np.testing.assert_allclose(points.normal, (0.5 - points.x) / 0.3, atol=1e-12)


def test_pieces_by_their_source_make_up_the_boundary():
    for domain, sources in (
        (PLATE, (SQUARE, HOLE)),
        (PLATE | ko.Ball([1.0, 0.5], 0.1), (PLATE, ko.Ball([1.0, 0.5], 0.1))),
    ):
        pieces = [domain.boundary.of(source) for source in sources]
        assert sum(piece.measure for piece in pieces) == pytest.approx(domain.boundary.measure)
        x = domain.boundary.sample(200).x
        np.testing.assert_array_equal(np.sum([piece.contains(x) for piece in pieces], axis=0), 1)


def test_pieces_by_faces_and_edges():
    cut = ko.Ball([0.0, 0.5], 0.2)
    domain = PLATE - cut
    left = domain.boundary.of(SQUARE.face("left"))
    assert left.measure == pytest.approx(0.6, rel=1e-12)
    assert np.all(left.sample(20).normal == [-1.0, 0.0])
    triangle = ko.Polygon([[0, 0], [2, 0], [0, 2]])
    edge = (triangle - ko.Ball([1.0, 1.0], 0.5)).boundary.of(triangle.edge(1))
    assert edge.measure == pytest.approx(np.sqrt(8.0) - 1.0, rel=1e-12)
    upper = domain.boundary.of(HOLE).where(lambda x: x[..., 1] > 0.5)
    assert upper.measure == pytest.approx(0.3 * np.pi, rel=1e-3)


def test_sources_that_have_no_part_are_refused():
    inside = ko.Box([0.4, 0.4], [0.6, 0.6])
    with pytest.raises(ArgumentError, match=r"source: got Box\(\[2\.0, 2\.0\], .*, of which no part is a boundary"):
        PLATE.boundary.of(ko.Box([2.0, 2.0], [3.0, 3.0]))
    with pytest.raises(ArgumentError, match=r"source: got Box.*; give one of Box.*, Box"):
        (SQUARE | inside).boundary.of(inside)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SQUARE & ko.Box([2, 2], [3, 3]), r"empty intersection: .*from \(0, 0\) to \(1, 1\) and from \(2, 2\)"),
        (lambda: SQUARE & ko.Box([1, 0], [2, 1]), r"empty intersection"),
        (lambda: SQUARE - ko.Ball([0.5, 0.5], 2.0), r"empty difference"),
        (lambda: SQUARE - SQUARE, r"empty difference"),
        (lambda: ko.Interval(0, 1) & ko.Interval(2, 3), r"empty intersection"),
        (lambda: CUBE - ko.Ball([0.5] * 3, 2.0), r"empty difference"),
        (lambda: SQUARE - ko.Box([0, 0], [1, 1 - 1e-8]), r"a sliver near \(0, 1\), 5\.0e-09 thick|a side of 1e-08"),
        (lambda: SQUARE | ko.Interval(0, 1), r"in 2 and Interval\(0, 1\) in 1 dimensions"),
    ],
)
def test_what_is_empty_or_does_not_fit_is_refused(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


@pytest.mark.parametrize(
    "other",
    [1, None, SQUARE.boundary, SQUARE.where(lambda x: x[..., 0] < 0.5), ko.SpaceTime(ko.Interval(0, 1), (0, 1))],
)
def test_only_domains_are_combined(other):
    with pytest.raises(ArgumentTypeError, match=r"domains: got .*combine domains such as Box.*D & Implicit"):
        SQUARE | other


def test_trees_of_polygons_are_those_of_shapely():
    """Random rectangles and triangles on a coarse grid, so that edges often coincide; three operations each."""
    rng, seen = np.random.default_rng(3), 0
    for _ in range(16):
        shapes, true = [], []
        for _ in range(4):
            if rng.random() < 0.5:
                low = rng.integers(0, 4, 2)
                high = low + rng.integers(1, 4, 2)
                shapes.append(ko.Box(low, high))
                true.append(shapely.box(*low, *high))
            else:
                corners = rng.integers(0, 6, (3, 2))
                if abs(np.linalg.det(np.diff(corners, axis=0))) < 0.5:
                    corners = np.array([[0, 0], [3, 1], [1, 4]])
                shapes.append(ko.Polygon(corners))
                true.append(shapely.Polygon(corners))
        try:
            domain, wanted = shapes[0], true[0]
            for shape, same, op in zip(shapes[1:], true[1:], rng.choice(["|", "&", "-"], 3), strict=True):
                wanted = {"|": wanted.union, "&": wanted.intersection, "-": wanted.difference}[op](same)
                domain = {"|": domain.__or__, "&": domain.__and__, "-": domain.__sub__}[op](shape)
        except ArgumentError:
            assert wanted.area < 1e-9
            continue
        seen += 1
        assert domain.measure == pytest.approx(wanted.area, rel=1e-9)
        rim = wanted.length if wanted.geom_type != "GeometryCollection" else None
        assert rim is None or domain.boundary.measure == pytest.approx(rim, rel=1e-9)
        points = domain.boundary.sample(40, "uniform")
        assert not domain.contains(points.x + 1e-7 * points.normal).any()
        assert domain.contains(points.x - 1e-7 * points.normal).all()
    assert seen > 8


def test_quasi_random_points_of_a_part_are_as_even_as_those_of_a_box():
    """|error of the mean of x² y| over 1000 points: that of independent points would be 1e-2."""
    rule = PLATE.quadrature(200)
    exact = rule.weight @ (rule.x[:, 0] ** 2 * rule.x[:, 1]) / PLATE.measure
    x = PLATE.sample(1000).x
    assert np.mean(x[:, 0] ** 2 * x[:, 1]) == pytest.approx(exact, abs=2e-3)


def test_rules_converge_to_integrals_in_closed_form():
    """∫ exp(x) over the unit disk less one of radius ½: 2π I₁(r) r."""
    ring = ko.Ball([0, 0], 1.0) - ko.Ball([0, 0], 0.5)
    rule = ring.quadrature(300)
    exact = 2 * np.pi * (iv(1, 1.0) - 0.5 * iv(1, 0.5))
    assert rule.weight @ np.exp(rule.x[:, 0]) == pytest.approx(exact, rel=1e-13)


def test_corners_are_those_of_the_plane():
    with pytest.raises(ArgumentError, match=r"corners: got a domain in 3 dimensions"):
        _ = CUBE.corners
