"""Space–time cylinders: time is last; walls, slices and the whole boundary."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kernop import Ball, Box, Interval, PointCloud, SpaceTime
from kernop.basics.errors import ArgumentError, ArgumentTypeError, NonFiniteError, ShapeError

T0, T1 = 0.5, 2.5
SPACES = {
    "interval": Interval(-1.0, 2.0),
    "rectangle": Box([0.0, 0.0], [1.0, 3.0]),
    "box3": Box([0.0] * 3, [1.0, 2.0, 0.5]),
    "box4": Box([0.0] * 4, [1.0, 2.0, 0.5, 3.0]),
    "ball1": Ball([1.0], 0.5),
    "disk": Ball([1.0, -1.0], 0.5),
    "ball3": Ball([0.0] * 3, 2.0),
}
every_space = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
every_scheme = pytest.mark.parametrize("scheme", ["halton", "uniform", "grid"])


@every_space
def test_measures_are_products(space):
    cylinder = SpaceTime(space, (T0, T1))
    length = T1 - T0
    assert cylinder.measure == pytest.approx(space.measure * length, rel=1e-14)
    assert cylinder.initial.measure == pytest.approx(space.measure, rel=1e-14)
    assert cylinder.final.measure == pytest.approx(space.measure, rel=1e-14)
    assert cylinder.walls.measure == pytest.approx(space.boundary.measure * length, rel=1e-14)
    whole = space.boundary.measure * length + 2 * space.measure
    assert cylinder.boundary.measure == pytest.approx(whole, rel=1e-14)


@every_space
def test_dimensions_count_time(space):
    cylinder = SpaceTime(space, (T0, T1))
    assert cylinder.dim == space.dim + 1 == cylinder.intrinsic_dim
    for part in (cylinder.initial, cylinder.final, cylinder.walls, cylinder.boundary):
        assert part.dim == space.dim + 1
        assert part.intrinsic_dim == space.dim


@every_scheme
@every_space
def test_time_is_the_last_coordinate(space, scheme):
    x = SpaceTime(space, (T0, T1)).sample(60, scheme).x
    assert np.all(space.contains(x[:, :-1]))
    assert np.all((x[:, -1] >= T0) & (x[:, -1] <= T1))


@every_scheme
@every_space
@pytest.mark.parametrize(("part", "moment", "sign"), [("initial", T0, -1.0), ("final", T1, 1.0)])
def test_slices_lie_at_one_time_with_a_normal_in_time(space, scheme, part, moment, sign):
    points = getattr(SpaceTime(space, (T0, T1)), part).sample(30, scheme)
    assert np.all(points.x[:, -1] == moment)
    assert np.all(space.contains(points.x[:, :-1]))
    assert np.array_equal(points.normal, np.tile(sign * np.eye(space.dim + 1)[-1], (len(points), 1)))


@every_scheme
@every_space
def test_walls_stand_on_the_boundary_of_space_with_its_normals(space, scheme):
    points = SpaceTime(space, (T0, T1)).walls.sample(40, scheme)
    assert np.all(space.boundary.contains(points.x[:, :-1]))
    assert np.all((points.x[:, -1] >= T0) & (points.x[:, -1] <= T1))
    assert np.all(points.normal[:, -1] == 0.0)
    assert np.allclose(points.normal[:, :-1], space.boundary.normals(points.x[:, :-1]))


@pytest.mark.parametrize("space", [SPACES["interval"], SPACES["disk"], SPACES["box3"]], ids=repr)
def test_boundary_points_are_shared_by_area(space):
    cylinder, n = SpaceTime(space, (T0, T1)), 5000
    last = cylinder.boundary.sample(n, "uniform", seed=3).normal[:, -1]
    counts = [np.count_nonzero(last == value) for value in (-1.0, 0.0, 1.0)]
    areas = np.array([space.measure, space.boundary.measure * (T1 - T0), space.measure])
    assert stats.chisquare(counts, n * areas / areas.sum()).pvalue > 1e-5


@pytest.mark.parametrize("scheme", ["halton", "uniform"])
def test_time_on_the_walls_is_uniform_and_independent_of_place(scheme):
    x = SpaceTime(Interval(0, 1), (T0, T1)).walls.sample(3000, scheme, seed=2).x
    assert stats.kstest((x[:, -1] - T0) / (T1 - T0), "uniform").pvalue > 1e-5
    for end in (0.0, 1.0):
        moments = x[x[:, 0] == end, -1]
        assert stats.binomtest(len(moments), len(x), 0.5).pvalue > 1e-5
        assert stats.kstest((moments - T0) / (T1 - T0), "uniform").pvalue > 1e-5


def test_moments_of_a_disk_in_time():
    """E |x − c|² = r²/2 in the disk, r² on its wall."""
    cylinder = SpaceTime(Ball([1.0, -1.0], 0.5), (T0, T1))
    inside, wall = cylinder.sample(4000).x[:, :2], cylinder.walls.sample(100).x[:, :2]
    assert np.mean(np.sum((inside - [1.0, -1.0]) ** 2, axis=1)) == pytest.approx(0.125, rel=0.01)
    assert np.allclose(np.sum((wall - [1.0, -1.0]) ** 2, axis=1), 0.25)


def test_contains_tells_the_parts_apart():
    cylinder = SpaceTime(Interval(0, 1), (0, 2))
    x = np.array([[0.5, 1.0], [0.5, 0.0], [0.5, 2.0], [0.0, 1.0], [1.0, 0.3], [0.5, 2.1], [1.1, 1.0]])
    assert cylinder.contains(x).tolist() == [True, True, True, True, True, False, False]
    assert cylinder.initial.contains(x).tolist() == [False, True, False, False, False, False, False]
    assert cylinder.final.contains(x).tolist() == [False, False, True, False, False, False, False]
    assert cylinder.walls.contains(x).tolist() == [False, False, False, True, True, False, False]
    assert cylinder.boundary.contains(x).tolist() == [False, True, True, True, True, False, False]


@pytest.mark.parametrize("corner", [(0.0, 0.0), (1.0, 0.0), (0.0, 2.0), (1.0, 2.0)])
def test_a_corner_has_one_normal_of_each_part_it_is_asked_from(corner):
    cylinder, x = SpaceTime(Interval(0, 1), (0, 2)), np.array([corner])
    slice_ = cylinder.initial if corner[1] == 0.0 else cylinder.final
    assert slice_.adopt(x).normal.tolist() == [[0.0, -1.0 if corner[1] == 0.0 else 1.0]]
    assert cylinder.walls.adopt(x).normal.tolist() == [[-1.0 if corner[0] == 0.0 else 1.0, 0.0]]
    normal = cylinder.boundary.adopt(x).normal
    assert np.abs(normal).sum() == 1.0
    assert not cylinder.contains(x + 1e-6 * normal).any()


def test_bounds_of_slices_are_flat_in_time():
    cylinder = SpaceTime(Box([0, 0], [1, 3]), (T0, T1))
    assert [b.tolist() for b in cylinder.bounds] == [[0, 0, T0], [1, 3, T1]]
    assert [b.tolist() for b in cylinder.initial.bounds] == [[0, 0, T0], [1, 3, T0]]
    assert [b.tolist() for b in cylinder.final.bounds] == [[0, 0, T1], [1, 3, T1]]
    assert [b.tolist() for b in cylinder.walls.bounds] == [[0, 0, T0], [1, 3, T1]]


def test_a_nanosecond_has_a_beginning_and_an_end():
    """Units differ between space and time: one must not be the measure of nearness in the other."""
    cylinder = SpaceTime(Interval(0, 1), (0, 1e-9))
    x = np.array([[0.5, 0.0], [0.5, 5e-10], [0.5, 1e-9]])
    assert cylinder.initial.contains(x).tolist() == [True, False, False]
    assert cylinder.final.contains(x).tolist() == [False, False, True]


def test_parts_of_parts():
    early_left = SpaceTime(Interval(0, 1), (0, 2)).walls.where(lambda x: (x[..., 0] < 0.5) & (x[..., -1] < 1.0))
    points = early_left.sample(25)
    assert np.all(points.x[:, 0] == 0.0)
    assert np.all(points.x[:, 1] < 1.0)
    assert np.array_equal(points.normal, np.tile([-1.0, 0.0], (25, 1)))
    assert early_left.measure == pytest.approx(1.0, rel=0.01)


def test_space_and_times_can_be_read():
    space = Interval(0, 1)
    cylinder = SpaceTime(space, [1, 2])
    assert cylinder.space is space
    assert cylinder.times == (1.0, 2.0)


@settings(max_examples=30, deadline=None)
@given(
    t0=st.floats(-5, 5),
    length=st.floats(0.01, 100),
    r=st.floats(0.1, 10),
    d=st.integers(1, 3),
    n=st.integers(1, 50),
    scheme=st.sampled_from(["halton", "uniform", "grid"]),
)
def test_random_cylinders_hold_their_samples(t0, length, r, d, n, scheme):
    cylinder = SpaceTime(Ball(np.zeros(d), r), (t0, t0 + length))
    for region in (cylinder, cylinder.initial, cylinder.final, cylinder.walls, cylinder.boundary):
        points = region.sample(n, scheme)
        assert len(points) <= n
        assert np.all(region.contains(points.x))
        assert np.all((points.x[:, -1] >= t0) & (points.x[:, -1] <= t0 + length))


@pytest.mark.parametrize(
    ("space", "times", "error", "message"),
    [
        (Interval(0, 1), (1, 1), ArgumentError, r"times: got \(1, 1\); give t0 < t1"),
        (Interval(0, 1), (2, 1), ArgumentError, r"times: got \(2, 1\); give t0 < t1"),
        (Interval(0, 1), (0, 1, 2), ShapeError, r"times: got shape \(3,\); give \(t0, t1\)"),
        (Interval(0, 1), 1.0, ShapeError, r"times: got shape \(\)"),
        (Interval(0, 1), (0, math.inf), NonFiniteError, r"times: got 1 of 2 values"),
        (Interval(0, 1), (0, math.nan), NonFiniteError, r"times: got 1 of 2 values"),
        (Interval(0, 1), ("0", "1"), ArgumentTypeError, r"times: got an array of dtype <U1"),
        (Interval(0, 1), None, ArgumentTypeError, r"times: got an array of dtype object"),
        ((0, 1), (0, 1), ArgumentTypeError, r"space: got \(0, 1\); give an Interval, a Box, a Ball or another domain"),
        (Interval(0, 1).boundary, (0, 1), ArgumentTypeError, r"space: got Interval\(0, 1\)\.boundary"),
        (SpaceTime(Interval(0, 1), (0, 1)), (0, 1), ArgumentTypeError, r"space: got SpaceTime"),
        (PointCloud([[0.0]], [[1.0]]), (0, 1), ArgumentTypeError, r"space: got PointCloud"),
    ],
)
def test_bad_cylinders_are_refused(space, times, error, message):
    with pytest.raises(error, match=message):
        SpaceTime(space, times)


@pytest.mark.parametrize("part", ["initial", "final", "walls", "boundary"])
def test_reprs_name_the_part(part):
    assert repr(getattr(SpaceTime(Interval(0, 1), (0, 2)), part)) == f"SpaceTime(Interval(0, 1), (0.0, 2.0)).{part}"
