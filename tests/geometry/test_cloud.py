"""Clouds: subsets without repetition of points that are known, and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernop import Ball, Box, Interval, PointCloud, Points, Polygon, SpaceTime
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    NonFiniteError,
    OutsideDomainError,
    ShapeError,
)

DISK = Ball([0, 0], 1.0)
INNER = DISK.sample(200, "halton", seed=1).x
RIM = DISK.boundary.sample(60, "halton", seed=2)
every_scheme = pytest.mark.parametrize("scheme", ["halton", "uniform", "grid"])


@pytest.fixture
def cloud():
    return PointCloud(INNER, RIM.x, RIM.normal)


def rows(x):
    return set(map(tuple, x))


@every_scheme
@pytest.mark.parametrize("n", [1, 2, 37, 199, 200])
def test_samples_are_points_of_the_cloud_without_repetition(cloud, scheme, n):
    x = cloud.sample(n, scheme, seed=4).x
    assert len(x) == len(rows(x)) == n
    assert rows(x) <= rows(INNER)


@settings(max_examples=60, deadline=None)
@given(size=st.integers(1, 300), share=st.floats(0, 1), scheme=st.sampled_from(["halton", "uniform", "grid"]))
def test_no_size_of_sample_repeats_a_point(size, share, scheme):
    n = max(1, round(share * size))
    cloud = PointCloud(np.arange(size, dtype=float)[:, None], [[-1.0]])
    assert len(np.unique(cloud.sample(n, scheme).x)) == n


@every_scheme
def test_boundary_samples_carry_their_own_normals(cloud, scheme):
    points = cloud.boundary.sample(20, scheme)
    known = {tuple(x): tuple(n) for x, n in zip(RIM.x, RIM.normal, strict=True)}
    assert all(known[tuple(x)] == tuple(n) for x, n in zip(points.x, points.normal, strict=True))


def test_a_cloud_without_normals_has_none():
    boundary = PointCloud(INNER, RIM.x).boundary
    assert boundary.sample(5).normal is None
    assert boundary.normals(RIM.x[:3]) is None


def test_the_inside_has_no_normals(cloud):
    assert cloud.sample(5).normal is None


@pytest.mark.parametrize("scheme", ["halton", "uniform"])
def test_seeds_decide_the_subset(cloud, scheme):
    assert np.array_equal(cloud.sample(30, scheme, seed=5).x, cloud.sample(30, scheme, seed=5).x)
    assert rows(cloud.sample(30, scheme, seed=5).x) != rows(cloud.sample(30, scheme, seed=6).x)


def test_every_point_has_the_same_chance():
    cloud = PointCloud(np.arange(10.0)[:, None], [[-1.0]])
    drawn = np.concatenate([cloud.sample(3, "uniform", seed).x[:, 0] for seed in range(400)])
    counts = np.bincount(drawn.astype(int), minlength=10)
    assert np.all(np.abs(counts - 120) < 5 * np.sqrt(400 * 0.3 * 0.7))


def test_a_grid_is_spread_over_the_order_of_the_cloud():
    cloud = PointCloud(np.arange(101.0)[:, None], [[-1.0]])
    assert cloud.sample(5, "grid").x[:, 0].tolist() == [0.0, 25.0, 50.0, 75.0, 100.0]


def test_dimensions_and_measures_count_points(cloud):
    assert (cloud.dim, cloud.intrinsic_dim, cloud.boundary.intrinsic_dim) == (2, 2, 1)
    assert (cloud.measure, cloud.boundary.measure) == (200.0, 60.0)
    assert np.array_equal(cloud.points.x, INNER)
    assert np.array_equal(cloud.boundary.points.x, RIM.x)


def test_a_cloud_cannot_make_new_points(cloud):
    with pytest.raises(ArgumentError, match=r"n: got 201 points of a cloud that has 200; ask for at most"):
        cloud.sample(201)
    with pytest.raises(ArgumentError, match=r"n: got 61 points of a cloud that has 60"):
        cloud.boundary.sample(61)


def test_points_between_the_points_are_inside_and_far_ones_are_not(cloud):
    assert np.all(cloud.contains(0.5 * DISK.sample(50, "uniform").x))
    assert np.all(cloud.contains(RIM.x))
    assert not cloud.contains(np.array([[3.0, 0.0], [0.0, -2.0]])).any()


def test_the_boundary_contains_its_points_only(cloud):
    assert cloud.boundary.contains(RIM.x).all()
    assert not cloud.boundary.contains(RIM.x + 1e-6).any()
    assert not cloud.boundary.contains(INNER).any()


def test_adoption_finds_the_normals(cloud):
    adopted = cloud.boundary.adopt(RIM.x[[7, 3]])
    assert np.array_equal(adopted.normal, RIM.normal[[7, 3]])


def test_points_off_the_boundary_are_not_adopted(cloud):
    with pytest.raises(OutsideDomainError, match=r"points: got 1 of 1 points outside PointCloud\.boundary"):
        cloud.boundary.adopt([[0.0, 0.0]])


def test_parts_are_the_points_where_the_predicate_holds(cloud):
    upper = cloud.boundary.where(lambda x: x[..., 1] > 0.0)
    kept = RIM.x[:, 1] > 0.0
    assert np.array_equal(upper.points.x, RIM.x[kept])
    assert np.array_equal(upper.points.normal, RIM.normal[kept])
    assert upper.measure == np.count_nonzero(kept)
    assert upper.where(lambda x: x[..., 0] > 0.0).measure < upper.measure


def test_bounds_of_a_cloud_hold_the_whole_domain(cloud):
    """Boundary points belong to the closed domain, as for every other one."""
    low, high = cloud.bounds
    for x in (INNER, RIM.x):
        assert np.all((x >= low) & (x <= high))


def test_changing_the_given_arrays_does_not_change_the_cloud():
    inner = INNER.copy()
    cloud = PointCloud(inner, RIM.x)
    inner[:] = 0.0
    assert np.array_equal(cloud.points.x, INNER)


def test_one_point_each_is_a_cloud():
    cloud = PointCloud([[0.0, 0.0]], [[1.0, 0.0]])
    assert isinstance(cloud.sample(1), Points)
    assert cloud.boundary.contains(np.array([[1.0, 0.0], [0.0, 0.0]])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("interior", "boundary", "normals", "error", "message"),
    [
        ([0.0, 1.0], [[0.0]], None, ShapeError, r"interior: got an array of shape \(2,\)"),
        (np.zeros((0, 2)), [[0.0, 0.0]], None, ShapeError, r"interior: got an empty array of shape \(0, 2\)"),
        ([[0.0, 0.0]], np.zeros((0, 2)), None, ShapeError, r"boundary: got an empty array of shape \(0, 2\)"),
        ([[0.0, 0.0]], [[0.0, 0.0, 0.0]], None, ShapeError, r"boundary: got an array of shape \(1, 3\); .*\(n, 2\)"),
        ([[0.0, np.nan]], [[0.0, 0.0]], None, NonFiniteError, r"interior: got 1 of 2 values"),
        ([[0.0, 0.0]], [[np.inf, 0.0]], None, NonFiniteError, r"boundary: got 1 of 2 values"),
        ([["a"]], [[0.0]], None, ArgumentTypeError, r"interior: got an array of dtype <U1"),
        ([[0.0, 0.0]], [[1.0, 0.0]], [[2.0, 0.0]], ArgumentError, r"normal.*: got a vector of length 2"),
        ([[0.0, 0.0]], [[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], ShapeError, r"normal.*: got an array of shape \(2, 2\)"),
    ],
)
def test_bad_clouds_are_refused(interior, boundary, normals, error, message):
    with pytest.raises(error, match=message):
        PointCloud(interior, boundary, normals)


def test_repr_counts_the_points(cloud):
    assert repr(cloud) == "PointCloud(n=200, d=2)"
    assert repr(cloud.boundary) == "PointCloud.boundary(n=60, d=2)"


def test_the_rule_of_a_cloud_is_all_of_its_points():
    """A cloud has no volume: its measure is the number of its points, and its mean their average."""
    rng = np.random.default_rng(0)
    cloud = PointCloud(rng.random((30, 2)), rng.random((9, 2)))
    for region, count in ((cloud, 30), (cloud.boundary, 9), (cloud.where(lambda x: x[..., 0] < 0.5), None)):
        rule = region.quadrature(7)
        assert len(rule) == round(region.measure) == (count or len(rule))
        np.testing.assert_array_equal(rule.weight, 1.0)
        np.testing.assert_array_equal(rule.x, region.points.x)


# ---- the inside

SHAPES = {
    "disk": DISK,
    "L": Polygon([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]),
    "annulus": DISK - Ball([0.1, 0.0], 0.4),
    "cube with a hole": Box([0, 0, 0], [1, 1, 1]) - Ball([0.5, 0.5, 0.5], 0.35),
    "two intervals": Interval(0, 1) | Interval(2, 3),
    "a line in a long time": SpaceTime(Interval(0, 1), (0.0, 1000.0)),
}


@pytest.mark.parametrize("normals", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_the_inside_is_that_of_the_shape_and_does_not_reach_beyond_it(name, normals):
    """Of random points of the shape nearly all are inside; of those outside, hardly any, and none beyond the hull."""
    shape = SHAPES[name]
    inner, rim = shape.sample(1500), shape.boundary.sample(500)
    cloud = PointCloud(inner.x, rim.x, rim.normal if normals else None, timed=shape.timed)
    assert np.mean(cloud.contains(shape.sample(2000, "uniform", seed=5).x)) > 0.95
    low, high = shape.bounds
    x = np.random.default_rng(0).uniform(low - 0.3 * (high - low), high + 0.3 * (high - low), (20_000, shape.dim))
    outside = x[~shape.contains(x)]
    assert np.mean(cloud.contains(outside)) < 0.01
    beyond = np.any((outside < low) | (outside > high), axis=1)
    assert not cloud.contains(outside[beyond]).any()


def test_the_middle_of_a_hole_and_of_a_notch_are_outside():
    for name, place in (("annulus", [0.1, 0.0]), ("L", [1.3, 1.3]), ("cube with a hole", [0.5, 0.5, 0.5])):
        shape = SHAPES[name]
        cloud = PointCloud(shape.sample(1500).x, shape.boundary.sample(500).x)
        assert not cloud.contains(np.array([place])).any()
    line = PointCloud(SHAPES["two intervals"].sample(50).x, [[0.0], [1.0], [2.0], [3.0]])
    assert line.contains(np.array([[0.5], [1.5], [2.5], [3.01]])).tolist() == [True, False, True, False]


def test_points_on_one_line_of_the_plane_enclose_nothing():
    cloud = PointCloud([[0.1, 0.0], [0.5, 0.0], [0.9, 0.0]], [[0.0, 0.0], [1.0, 0.0]])
    assert cloud.contains(np.array([[0.5, 0.0], [0.5, 0.1], [1.1, 0.0]])).tolist() == [True, False, False]


def test_many_dimensions_have_an_inside_too():
    box = Box([0.0] * 5, [1.0] * 5)
    cloud = PointCloud(box.sample(500).x, box.boundary.sample(300).x)
    assert cloud.contains(0.25 + 0.5 * box.sample(100, "uniform", seed=3).x).mean() > 0.5
    assert not cloud.contains(box.sample(50).x + 1.0).any()


# ---- from files


def test_a_cloud_from_files_is_that_from_arrays(tmp_path, cloud):
    inner, rim = tmp_path / "inner.csv", tmp_path / "rim.csv"
    inner.write_text("# from a program\nx,y\n" + "\n".join(f"{float(a)!r}, {float(b)!r}" for a, b in INNER) + "\n\n")
    np.savetxt(rim, np.hstack([RIM.x, RIM.normal]), delimiter=",", fmt="%.17g")
    found = PointCloud(str(inner), rim)
    np.testing.assert_array_equal(found.points.x, INNER)
    np.testing.assert_array_equal(found.boundary.points.x, RIM.x)
    np.testing.assert_allclose(found.boundary.points.normal, RIM.normal, atol=1e-15)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n3,4,5\n", r"whose row 2 of numbers is '3,4,5'; give 2 numbers in each row"),
        ("x,y\n1,2\n3,four\n", r"whose row 2 of numbers is '3,four'"),
        ("1,2\n3,nan\n", r"whose row 2 of numbers is '3,nan'"),
        ("1,\n3,4\n", r"whose row 1 of numbers is '1,'"),
        ("nan,2\n3,4\n", r"whose row 1 of numbers is 'nan,2'"),
        ("1;2\n3;4\n", r"whose row 1 of numbers is '3;4'; put commas between the numbers"),
        (",x,y\n0,1,2\n1,3,4\n2,5,7\n", r"whose first column only counts the rows; leave it out"),
        ("y,x\n1,2\n3,4\n", r"whose columns are y, x; give them in the order x, y"),
        ("x,y\n", r"which has no numbers"),
        ("", r"which has no numbers"),
        (None, r"which cannot be read"),
    ],
)
def test_files_that_are_no_tables_are_refused(tmp_path, text, message):
    path = tmp_path / "points.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(FileError, match=r"interior: got .*points\.csv', " + message):
        PointCloud(path, RIM.x)


def test_normals_that_point_inward_are_refused():
    """All of them, and half of them, as a program makes them that does not know what is inside."""
    disk = Ball([0, 0], 1.0) - Ball([0.3, 0], 0.4)
    inner, rim = disk.sample(300).x, disk.boundary.sample(100)
    PointCloud(inner, rim.x, rim.normal)
    with pytest.raises(ArgumentError, match=r"normals: got \d+ of 100 that point inward, the first at"):
        PointCloud(inner, rim.x, -rim.normal)
    turned = np.where(np.random.default_rng(0).random((100, 1)) < 0.5, -1.0, 1.0)
    with pytest.raises(ArgumentError, match=r"normals: got [45]\d of 100 that point inward"):
        PointCloud(inner, rim.x, turned * rim.normal)
