"""Boxes, intervals and faces: closed-form measures, areas, corners, names."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kernop import Box, Interval
from kernop.basics.errors import ArgumentError, ArgumentTypeError, NonFiniteError, ShapeError

SIDES = [2.0, 0.5, 3.0, 1.5, 0.25]


@st.composite
def boxes(draw, max_dim=4):
    d = draw(st.integers(1, max_dim))
    lo = draw(st.lists(st.floats(-100.0, 100.0), min_size=d, max_size=d))
    sides = draw(st.lists(st.floats(0.01, 50.0), min_size=d, max_size=d))
    return Box(lo, np.add(lo, sides))


@pytest.mark.parametrize("d", range(1, 6))
def test_volume_and_surface_are_the_closed_forms(d):
    sides = SIDES[:d]
    box = Box(np.full(d, -1.0), np.add(-1.0, sides))
    assert box.measure == pytest.approx(math.prod(sides), rel=1e-14)
    surface = 2.0 * sum(math.prod(sides) / side for side in sides)
    assert box.boundary.measure == pytest.approx(surface, rel=1e-14)


@pytest.mark.parametrize("d", range(1, 6))
def test_each_face_has_the_product_of_the_other_sides(d):
    box = Box(np.zeros(d), SIDES[:d])
    for axis, sign in itertools.product(range(d), "-+"):
        others = math.prod(SIDES[:axis] + SIDES[axis + 1 : d])
        assert box.face(f"x{axis}{sign}").measure == pytest.approx(others, rel=1e-14)


@settings(max_examples=40, deadline=None)
@given(box=boxes(), n=st.integers(1, 60), scheme=st.sampled_from(["halton", "uniform", "grid"]))
def test_random_boxes_hold_their_samples_exactly(box, n, scheme):
    low, high = box.bounds
    for region in (box, box.boundary):
        x = region.sample(n, scheme).x
        assert np.all((x >= low) & (x <= high))
        assert np.all(region.contains(x))


@settings(max_examples=40, deadline=None)
@given(box=boxes(), n=st.integers(1, 60))
def test_random_boxes_have_one_coordinate_on_the_boundary_along_the_normal(box, n):
    low, high = box.bounds
    points = box.boundary.sample(n, "uniform")
    axis = np.argmax(np.abs(points.normal), axis=1)
    sign = points.normal[np.arange(len(points)), axis]
    assert np.array_equal(np.abs(points.normal).sum(axis=1), np.ones(len(points)))
    assert np.array_equal(points.x[np.arange(len(points)), axis], np.where(sign > 0, high[axis], low[axis]))


@settings(max_examples=40, deadline=None)
@given(box=boxes(), seed=st.integers(0, 100))
def test_contains_agrees_with_comparing_coordinates(box, seed):
    low, high = box.bounds
    x = low + (high - low) * np.random.default_rng(seed).uniform(-0.5, 1.5, (50, box.dim))
    naive = [all(lo <= c <= hi for lo, c, hi in zip(low, row, high, strict=True)) for row in x]
    assert box.contains(x).tolist() == naive


@pytest.mark.parametrize("scheme", ["halton", "uniform"])
def test_coordinates_inside_are_uniform(scheme):
    x = Box([1.0, -2.0], [4.0, 5.0]).sample(3000, scheme, seed=2).x
    assert stats.kstest((x[:, 0] - 1.0) / 3.0, "uniform").pvalue > 1e-5
    assert stats.kstest((x[:, 1] + 2.0) / 7.0, "uniform").pvalue > 1e-5
    assert abs(np.corrcoef(x.T)[0, 1]) < 5 / math.sqrt(3000)


def face_counts(points, d):
    faces = [(axis, sign) for axis in range(d) for sign in (-1.0, 1.0)]
    return np.array([np.count_nonzero(points.normal[:, axis] == sign) for axis, sign in faces])


@pytest.mark.parametrize("sides", [(4.0, 1.0), (1.0, 2.0, 3.0), (0.1, 1.0, 1.0, 2.0)])
def test_independent_boundary_points_fall_on_faces_by_area(sides):
    n, d = 6000, len(sides)
    counts = face_counts(Box(np.zeros(d), sides).boundary.sample(n, "uniform", seed=4), d)
    areas = np.repeat([math.prod(sides) / side for side in sides], 2)
    assert stats.chisquare(counts, n * areas / areas.sum()).pvalue > 1e-5


@pytest.mark.parametrize("sides", [(4.0, 1.0), (1.0, 2.0, 3.0)])
def test_quasirandom_boundary_points_fall_on_faces_by_area_exactly(sides):
    n, d = 1100, len(sides)
    counts = face_counts(Box(np.zeros(d), sides).boundary.sample(n, "halton"), d)
    areas = np.repeat([math.prod(sides) / side for side in sides], 2)
    assert np.all(np.abs(counts - n * areas / areas.sum()) < 1.0)


@pytest.mark.parametrize("scheme", ["halton", "uniform"])
def test_points_are_uniform_along_a_face(scheme):
    x = Box([0, 0, 0], [1, 2, 3]).face("back").sample(2000, scheme, seed=1).x
    assert np.all(x[:, 1] == 2.0)
    assert stats.kstest(x[:, 0], "uniform").pvalue > 1e-5
    assert stats.kstest(x[:, 2] / 3.0, "uniform").pvalue > 1e-5


def test_grid_of_a_box_is_the_tensor_product_of_midpoints():
    x = Box([0.0, 10.0], [2.0, 13.0]).sample(6, "grid").x
    assert sorted(map(tuple, x)) == [(a, b) for a in (0.5, 1.5) for b in (10.5, 11.5, 12.5)]


@pytest.mark.parametrize("n", [1, 5, 17, 100, 999])
def test_grids_have_equal_spacing_and_at_most_n_points(n):
    x = Box([0, 0, 0], [1, 2, 4]).sample(n, "grid").x
    assert len(x) <= n
    axes = [np.unique(x[:, k]) for k in range(3)]
    assert math.prod(map(len, axes)) == len(x)
    for axis, side in zip(axes, (1, 2, 4), strict=True):
        assert np.allclose(axis, side * (np.arange(len(axis)) + 0.5) / len(axis))


def test_interval_samples_its_ends_once_each():
    for n, scheme in itertools.product((2, 5, 100), ("halton", "uniform", "grid")):
        points = Interval(-1.0, 3.0).boundary.sample(n, scheme)
        assert points.x.tolist() == [[-1.0], [3.0]]
        assert points.normal.tolist() == [[-1.0], [1.0]]
    assert Interval(-1.0, 3.0).boundary.measure == 2.0


def test_interval_is_the_box_in_one_dimension():
    interval, box = Interval(0.5, 2.0), Box([0.5], [2.0])
    assert isinstance(interval, Box)
    assert interval.measure == box.measure == 1.5
    assert np.array_equal(interval.sample(9).x, box.sample(9).x)


# ---- corners and edges


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_every_corner_has_exactly_one_face_normal(d):
    box = Box(np.zeros(d), SIDES[:d])
    corners = np.array(list(itertools.product(*[(0.0, side) for side in SIDES[:d]])))
    normals = box.boundary.normals(corners)
    assert np.all(box.boundary.contains(corners))
    assert np.array_equal(np.abs(normals).sum(axis=1), np.ones(len(corners)))
    assert np.array_equal(np.count_nonzero(normals, axis=1), np.ones(len(corners)))
    assert not np.any(box.contains(corners + 1e-6 * normals))


def test_an_edge_of_a_cube_has_one_of_its_two_normals():
    normal = Box([0, 0, 0], [1, 1, 1]).boundary.normals(np.array([[1.0, 1.0, 0.3]]))[0].tolist()
    assert normal in ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])


@pytest.mark.parametrize(("name", "normal"), [("right", [1.0, 0.0]), ("top", [0.0, 1.0])])
def test_a_corner_of_a_named_face_has_the_normal_of_that_face(name, normal):
    face = Box([0, 0], [1, 1]).face(name)
    corner = np.array([[1.0, 1.0]])
    assert face.contains(corner).all()
    assert face.adopt(corner).normal.tolist() == [normal]


# ---- names

NAMED = [
    (1, "left", 0, -1),
    (1, "right", 0, 1),
    (2, "left", 0, -1),
    (2, "right", 0, 1),
    (2, "bottom", 1, -1),
    (2, "top", 1, 1),
    (3, "left", 0, -1),
    (3, "right", 0, 1),
    (3, "front", 1, -1),
    (3, "back", 1, 1),
    (3, "bottom", 2, -1),
    (3, "top", 2, 1),
    (5, "x0-", 0, -1),
    (5, "x4+", 4, 1),
]


@pytest.mark.parametrize(("d", "name", "axis", "sign"), NAMED)
def test_named_faces_are_where_their_names_say(d, name, axis, sign):
    face = Box(np.zeros(d), SIDES[:d]).face(name)
    points = face.sample(12)
    assert np.all(points.x[:, axis] == (SIDES[axis] if sign > 0 else 0.0))
    assert np.array_equal(points.normal, np.tile(sign * np.eye(d)[axis], (len(points), 1)))


def test_a_union_of_faces_holds_points_of_each_and_no_others():
    box = Box([0, 0], [1, 1])
    union = box.face("left", "right")
    assert union.measure == pytest.approx(2.0)
    assert set(union.sample(30, "uniform").x[:, 0]) == {0.0, 1.0}
    assert union.contains(np.array([[0.0, 0.5], [1.0, 0.2], [0.5, 0.0]])).tolist() == [True, True, False]


def test_a_face_named_twice_counts_once():
    box = Box([0, 0], [1, 3])
    assert box.face("left", "x0-", "left").measure == pytest.approx(3.0)


def test_faces_have_flat_bounds():
    low, high = Box([0, 0, 0], [1, 2, 3]).face("top").bounds
    assert (low.tolist(), high.tolist()) == ([0.0, 0.0, 3.0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("d", "name", "message"),
    [
        (
            2,
            "front",
            r"face: got 'front'; choose one of 'left', 'right', 'bottom', 'top', 'x0-', 'x0\+', 'x1-', 'x1\+'",
        ),
        (1, "top", r"face: got 'top'; choose one of 'left', 'right', 'x0-', 'x0\+'"),
        (4, "left", r"face: got 'left'; choose one of 'x0-'"),
        (3, "x3+", r"face: got 'x3\+'"),
        (2, 0, r"face: got 0;"),
        (2, ["left"], r"face: got \['left'\];"),
    ],
)
def test_unknown_faces_are_refused(d, name, message):
    with pytest.raises(ArgumentError, match=message):
        Box(np.zeros(d), np.ones(d)).face(name)


def test_no_face_is_refused():
    with pytest.raises(ArgumentError, match=r"face: got no name; name at least one of left, right"):
        Box([0, 0], [1, 1]).face()


# ---- construction


@pytest.mark.parametrize(
    ("lo", "hi", "error", "message"),
    [
        ([0, 0], [1, 0], ArgumentError, r"lo, hi: got lo = 0 and hi = 0 on axis 1; give lo < hi"),
        ([0, 3], [1, 2], ArgumentError, r"lo, hi: got lo = 3 and hi = 2 on axis 1"),
        ([0, 0], [1, 1, 1], ShapeError, r"lo, hi: got shapes \(2,\) and \(3,\)"),
        (0, 1, ShapeError, r"lo, hi: got shapes \(\) and \(\)"),
        ([[0, 0]], [[1, 1]], ShapeError, r"lo, hi: got shapes \(1, 2\) and \(1, 2\)"),
        ([], [], ShapeError, r"lo, hi: got shapes \(0,\) and \(0,\)"),
        ([0, np.nan], [1, 1], NonFiniteError, r"lo: got 1 of 2 values that are NaN or infinite"),
        ([0, 0], [1, np.inf], NonFiniteError, r"hi: got 1 of 2 values that are NaN or infinite"),
        (["a"], [1], ArgumentTypeError, r"lo: got an array of dtype <U1"),
        ([0], [1j], ArgumentTypeError, r"hi: got an array of dtype complex128"),
        ([0, [1]], [1, 1], ArgumentTypeError, r"lo: got \[0, \[1\]\]"),
        (None, [1], ArgumentTypeError, r"lo: got an array of dtype object"),
    ],
)
def test_bad_boxes_are_refused(lo, hi, error, message):
    with pytest.raises(error, match=message):
        Box(lo, hi)


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        (1, 1, ArgumentError, r"got lo = 1 and hi = 1"),
        (2, 1, ArgumentError, r"got lo = 2 and hi = 1"),
        (np.nan, 1, NonFiniteError, r"a: got nan"),
        (0, np.inf, NonFiniteError, r"b: got inf"),
        ([0], 1, ArgumentTypeError, r"a: got \[0\]; give one real number"),
        (0, "1", ArgumentTypeError, r"b: got '1'; give one real number"),
        (0, True, ArgumentTypeError, r"b: got True; give one real number"),
    ],
)
def test_bad_intervals_are_refused(a, b, error, message):
    with pytest.raises(error, match=message):
        Interval(a, b)


def test_changing_bounds_or_arguments_does_not_change_the_box():
    lo = np.zeros(2)
    box = Box(lo, [1, 1])
    lo[:] = -9.0
    box.bounds[0][:] = -9.0
    assert box.bounds[0].tolist() == [0.0, 0.0]


def test_a_thin_film_tells_its_inside_from_its_boundary():
    """A nanometre on a metre: what is near is measured along each axis, not along the diagonal."""
    film = Box([0, 0], [1, 1e-9])
    assert not film.boundary.contains(np.array([[0.5, 5e-10]])).any()
    assert not film.contains(np.array([[0.5, 1.5e-9]])).any()


@pytest.mark.parametrize(
    ("region", "text"),
    [
        (Box([0, 0], [1, 2]), "Box([0.0, 0.0], [1.0, 2.0])"),
        (Interval(0, 0.5), "Interval(0, 0.5)"),
        (Box([0], [1]).boundary, "Box([0.0], [1.0]).boundary"),
        (Box([0, 0], [1, 1]).face("top"), "Box([0.0, 0.0], [1.0, 1.0]).face('x1+')"),
    ],
)
def test_repr(region, text):
    assert repr(region) == text
