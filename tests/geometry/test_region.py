"""What a region refuses; parts of regions, the user's own points, rules. (What all promise: test_conformance.py.)"""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kernop import Ball, Box, Interval, PointCloud, Points, SpaceTime
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    KernopError,
    NonFiniteError,
    OutsideDomainError,
    ShapeError,
)

DOMAINS = {
    "interval": Interval(-1.0, 2.0),
    "rectangle": Box([0.0, -1.0], [3.0, 1.0]),
    "box3": Box([0.0, 1.0, -2.0], [1.0, 3.0, 4.0]),
    "box4": Box([0.0] * 4, [1.0, 2.0, 0.5, 1.0]),
    "ball1": Ball([3.0], 0.5),
    "disk": Ball([1.0, -2.0], 1.5),
    "ball3": Ball([0.0, 0.5, 1.0], 0.7),
    "ball5": Ball([0.0] * 5, 2.0),
    "interval x time": SpaceTime(Interval(0.0, 2.0), (-1.0, 1.5)),
    "rectangle x time": SpaceTime(Box([0.0, 0.0], [1.0, 3.0]), (0.0, 0.5)),
}
every_scheme = pytest.mark.parametrize("scheme", ["halton", "uniform", "grid"])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n": 0}, ArgumentError, r"n: got 0; give a whole number, at least 1"),
        ({"n": -3}, ArgumentError, r"n: got -3;"),
        ({"n": 10.0}, ArgumentTypeError, r"n: got 10\.0; give a whole number"),
        ({"n": "10"}, ArgumentTypeError, r"n: got '10';"),
        ({"n": True}, ArgumentTypeError, r"n: got True;"),
        ({"n": None}, ArgumentTypeError, r"n: got None;"),
        ({"n": 5, "scheme": "sobol"}, ArgumentError, r"scheme: got 'sobol'; choose one of 'halton', 'uniform', 'grid'"),
        ({"n": 5, "scheme": None}, ArgumentError, r"scheme: got None;"),
        ({"n": 5, "seed": -1}, ArgumentError, r"seed: got -1; give a whole number, at least 0"),
        ({"n": 5, "seed": 1.5}, ArgumentTypeError, r"seed: got 1\.5;"),
        ({"n": 5, "seed": None}, ArgumentTypeError, r"seed: got None;"),
    ],
)
@pytest.mark.parametrize("region", [Box([0, 0], [1, 1]), PointCloud(np.eye(9), np.eye(9))], ids=repr)
def test_bad_arguments_of_sample_are_refused(region, arguments, error, message):
    with pytest.raises(error, match=message):
        region.sample(**arguments)


def test_numpy_integers_are_numbers_of_points():
    assert len(Box([0, 0], [1, 1]).sample(np.int64(6), seed=np.int32(1))) == 6


# ---- the user's own points


def test_adopted_points_keep_the_normals_they_came_with():
    slanted = Points([[1.0, 0.5]], [[0.6, 0.8]])
    assert np.array_equal(Box([0, 0], [1, 1]).boundary.adopt(slanted).normal, slanted.normal)


@pytest.mark.parametrize("x", [[0.25, 0.5], [[0.25], [0.5]], jnp.asarray([0.25, 0.5])])
def test_points_on_the_line_may_be_flat(x):
    assert np.array_equal(Interval(0.0, 1.0).adopt(x).x, [[0.25], [0.5]])


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (
            [[0.5, 0.5], [0.5, 1.5], [2.0, 0.0]],
            OutsideDomainError,
            r"mine: got 2 of 3 points outside Box\(\[0\.0, 0\.0\], \[1\.0, 1\.0\]\), the first at \[0\.5 1\.5\]",
        ),
        ([[0.5, 0.5, 0.5]], ShapeError, r"mine: got an array of shape \(1, 3\); .*\(n, 2\)"),
        ([0.5, 0.5], ShapeError, r"mine: got an array of shape \(2,\); .*\(n, 2\)"),
        ([[np.nan, 0.5]], NonFiniteError, r"mine: got 1 of 2 values"),
        (np.zeros((0, 2)), ShapeError, r"mine: got an empty array"),
        (Points([[0.5]]), ShapeError, r"mine: got an array of shape \(1, 1\)"),
        (Points([[0.5, 7.0]]), OutsideDomainError, r"mine: got 1 of 1 points outside .*the first at \[0\.5 7\. ?\]"),
        ("points", KernopError, r"mine: got "),
    ],
)
def test_points_that_do_not_fit_are_not_adopted(x, error, message):
    with pytest.raises(error, match=message):
        Box([0, 0], [1, 1]).adopt(x, "mine")


def test_inner_points_are_not_adopted_by_a_boundary():
    with pytest.raises(OutsideDomainError, match=r"points: got 1 of 2 points outside .*boundary"):
        Ball([0, 0], 1.0).boundary.adopt([[1.0, 0.0], [0.5, 0.0]])


def test_points_outside_are_a_value_error():
    with pytest.raises(ValueError, match="outside"):
        Interval(0, 1).adopt([2.0])


def test_a_small_ball_far_from_the_origin_contains_its_own_sphere():
    """Map coordinates in metres: rounding of x alone is larger than 1e-9 of the radius."""
    sphere = Ball([1e6, 1e6], 0.01).boundary
    assert np.all(sphere.contains(sphere.sample(50).x))


@pytest.mark.parametrize("domain", [Box([0, 0], [1, 1]), Ball([0, 0], 1.0)], ids=repr)
@pytest.mark.parametrize("x", [np.array([[0.5]]), np.array([0.5, 0.5])], ids=["one column", "flat"])
def test_contains_refuses_points_of_another_dimension(domain, x):
    with pytest.raises(ShapeError):
        domain.contains(x)


# ---- parts of regions


@pytest.mark.parametrize(
    ("base", "predicate", "measure"),
    [
        (Box([-1, -1], [1, 1]), lambda x: np.sum(x**2, axis=-1) <= 1.0, math.pi),
        (Box([0, 0, 0], [1, 1, 1]), lambda x: np.sum(x, axis=-1) < 1.0, 1 / 6),
        (Ball([0, 0], 1.0), lambda x: x[..., 0] > 0.0, math.pi / 2),
        (Ball([0, 0, 0], 1.0).boundary, lambda x: x[..., 2] > 0.5, math.pi),
        (Box([0, 0], [1, 3]).boundary, lambda x: x[..., 1] > 2.0, 3.0),
        (Interval(0, 1).boundary, lambda x: x[..., 0] > 0.5, 1.0),
        (SpaceTime(Interval(0, 1), (0, 2)).walls, lambda x: x[..., -1] < 0.5, 1.0),
    ],
)
def test_measure_of_a_part_is_estimated(base, predicate, measure):
    """4096 quasi-random points: a few times 1e-2 in three dimensions."""
    assert base.where(predicate).measure == pytest.approx(measure, rel=0.04)


@every_scheme
@pytest.mark.parametrize("n", [1, 10, 333])
def test_points_of_a_part_satisfy_the_predicate(scheme, n):
    part = Box([0, 0], [2, 1]).where(lambda x: x[..., 0] * x[..., 1] > 0.7)
    points = part.sample(n, scheme)
    assert len(points) == n
    assert np.all(points.x[:, 0] * points.x[:, 1] > 0.7)
    assert part.dim == part.intrinsic_dim == 2


@pytest.mark.parametrize("scheme", ["halton", "uniform"])
def test_points_of_a_part_are_uniform(scheme):
    """In the disk cut from a square, |x|² is uniform on [0, 1]."""
    disk = Box([-1, -1], [1, 1]).where(lambda x: np.sum(x**2, axis=-1) <= 1.0)
    x = disk.sample(3000, scheme, seed=5).x
    assert stats.kstest(np.sum(x**2, axis=1), "uniform").pvalue > 1e-5
    assert stats.kstest(np.arctan2(x[:, 1], x[:, 0]) / (2 * np.pi) + 0.5, "uniform").pvalue > 1e-5


@pytest.mark.parametrize("scheme", ["halton", "uniform"])
def test_a_single_point_of_a_part_may_lie_on_any_face(scheme):
    part = Box([0, 0], [1, 1]).boundary.where(lambda x: x[..., 0] < 2.0)
    normals = [tuple(part.sample(1, scheme, seed).normal[0]) for seed in range(200)]
    counts = [normals.count(face) for face in [(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0)]]
    assert stats.chisquare(counts).pvalue > 1e-5


def test_a_rare_part_is_found():
    part = Box([0, 0], [1, 1]).where(lambda x: x[..., 0] < 2e-3)
    assert len(part.sample(40, "uniform")) == 40


def test_contains_of_a_part_asks_region_and_predicate():
    part = Box([0, 0], [1, 1]).where(lambda x: x[..., 0] < 0.5)
    assert part.contains(np.array([[0.2, 0.5], [0.7, 0.5], [-0.2, 0.5]])).tolist() == [True, False, False]


def test_parts_of_boundaries_keep_their_normals():
    points = Box([0, 0], [1, 1]).boundary.where(lambda x: x[..., 1] >= 1.0).sample(20)
    assert np.array_equal(points.normal, np.tile([0.0, 1.0], (20, 1)))


def test_a_part_of_a_part_satisfies_both():
    part = Ball([0, 0], 1.0).where(lambda x: x[..., 0] > 0.0).where(lambda x: x[..., 1] > 0.0)
    assert np.all(part.sample(100).x > 0.0)
    assert part.measure == pytest.approx(math.pi / 4, rel=0.02)


def test_a_part_of_two_end_points_is_one_end_point():
    part = Interval(0.0, 1.0).boundary.where(lambda x: x[..., 0] > 0.5)
    points = part.sample(10)
    assert points.x.tolist() == [[1.0]]
    assert points.normal.tolist() == [[1.0]]


def test_predicates_may_be_written_with_jax_numpy():
    part = Box([0, 0], [1, 1]).where(lambda x: jnp.sin(x[..., 0]) > 0.5)
    assert np.all(np.sin(part.sample(30).x[:, 0]) > 0.5)


@settings(max_examples=20, deadline=None)
@given(cut=st.floats(0.05, 0.95), n=st.integers(1, 100), seed=st.integers(0, 1000))
def test_a_part_gives_exactly_n_points(cut, n, seed):
    part = Box([0, 0], [1, 1]).where(lambda x: x[..., 1] < cut)
    x = part.sample(n, "halton", seed).x
    assert x.shape == (n, 2)
    assert np.all(x[:, 1] < cut)


REGION_OR_CLOUD = [Box([0, 0], [1, 1]), Box([0, 0], [1, 1]).boundary, PointCloud(np.eye(2), np.eye(2))]


@pytest.mark.parametrize("region", REGION_OR_CLOUD, ids=repr)
@pytest.mark.parametrize(
    ("predicate", "error", "message"),
    [
        (lambda x: x[..., 0] > 5.0, ArgumentError, r"predicate: got .*false at all"),
        (lambda x: x > 0.5, ShapeError, r"predicate: got a result of shape \(\d+, 2\); return one truth value"),
        (lambda x: True, ShapeError, r"predicate: got a result of shape \(\)"),
        (lambda x: x[0] > 0.5, ShapeError, r"predicate: got a result of shape \(2,\)"),
        (0.5, ArgumentTypeError, r"predicate: got 0\.5; give"),
        (None, ArgumentTypeError, r"predicate: got None; give"),
    ],
    ids=["never true", "wrong shape", "one answer", "one row", "a number", "None"],
)
def test_bad_predicates_are_refused(region, predicate, error, message):
    if isinstance(region, PointCloud) and message.endswith(r"shape \(2,\)"):
        region = PointCloud(np.eye(3)[:, :2], np.eye(2))  # as many points as coordinates cannot be told apart
    with pytest.raises(error, match=message):
        region.where(predicate)


def test_reprs_name_the_region():
    assert repr(Box([0, 0], [1, 1]).boundary.where(lambda x: x[..., 0] > 0.5)).startswith("Box(")
    assert "where" in repr(Ball([0], 1).where(lambda x: x[..., 0] > 0.5))


# ---- quadrature


def box_integrals(low, high):
    """∫ 1 + Σ (k + 2) (x_k − m_k)² over a box and over its boundary, in closed form; m is its middle."""
    sides, c = np.subtract(high, low), np.arange(len(low)) + 2.0
    volume, inside = np.prod(sides), 1.0 + np.sum(c * sides**2) / 12.0
    faces = [2.0 * volume / s * (inside + own * s**2 / 6.0) for s, own in zip(sides, c, strict=True)]
    return volume * inside, sum(faces)


def ball_integrals(center, radius):
    """The same over a ball around m and over its sphere."""
    d, c = len(center), np.arange(len(center)) + 2.0
    volume = math.pi ** (d / 2) / math.gamma(d / 2 + 1) * radius**d
    inside, on = (1.0 + radius**2 / n * np.sum(c) for n in (d + 2, d))
    return volume * inside, volume * d / radius * on


def quadratic(x, middle):
    return 1.0 + np.square(x - middle) @ (np.arange(x.shape[1]) + 2.0)


#: A domain, ∫ over it and over its boundary, and how exact rules of 1000 points are: in a ball the radius is a root
#: of a parameter, and the rule is not exact for odd powers of it.
RULES = {
    "interval": (DOMAINS["interval"], box_integrals([-1.0], [2.0]), 1e-12),
    "rectangle": (DOMAINS["rectangle"], box_integrals([0.0, -1.0], [3.0, 1.0]), 1e-12),
    "box3": (DOMAINS["box3"], box_integrals([0.0, 1.0, -2.0], [1.0, 3.0, 4.0]), 1e-12),
    "box4": (DOMAINS["box4"], box_integrals([0.0] * 4, [1.0, 2.0, 0.5, 1.0]), 1e-12),
    "ball1": (DOMAINS["ball1"], ball_integrals([3.0], 0.5), 1e-12),
    "disk": (DOMAINS["disk"], ball_integrals([1.0, -2.0], 1.5), 1e-12),
    "ball3": (DOMAINS["ball3"], ball_integrals([0.0, 0.5, 1.0], 0.7), 1e-4),
    "ball5": (DOMAINS["ball5"], ball_integrals([0.0] * 5, 2.0), 5e-2),
    "interval x time": (DOMAINS["interval x time"], box_integrals([0.0, -1.0], [2.0, 1.5]), 1e-12),
    "rectangle x time": (DOMAINS["rectangle x time"], box_integrals([0.0, 0.0, 0.0], [1.0, 3.0, 0.5]), 1e-12),
}


@pytest.mark.parametrize(("domain", "wanted", "accuracy"), RULES.values(), ids=RULES)
def test_rules_integrate_a_quadratic_over_domain_and_boundary(domain, wanted, accuracy):
    low, high = domain.bounds
    for region, exact in zip((domain, domain.boundary), wanted, strict=True):
        rule = region.quadrature(1000)
        assert len(rule) <= 1000
        assert rule.weight @ quadratic(rule.x, 0.5 * (low + high)) == pytest.approx(exact, rel=accuracy)


def test_rules_converge_spectrally_on_boxes():
    """∫ exp(x + 2 y) over [0, 3] × [−1, 1]."""
    exact = (math.exp(3.0) - 1.0) * math.sinh(2.0)
    errors = []
    for n in (16, 36, 100):
        rule = DOMAINS["rectangle"].quadrature(n)
        errors.append(abs(rule.weight @ np.exp(rule.x[:, 0] + 2.0 * rule.x[:, 1]) / exact - 1.0))
    assert errors[0] < 1e-3
    assert errors[1] < 1e-7
    assert errors[2] < 1e-13


def test_a_part_of_a_region_has_a_quasi_random_rule():
    """∫ x over the upper half of the boundary of [0, 3] × [−1, 1]: 0 on the left side, 3 on the right, 4.5 above."""
    rule = DOMAINS["rectangle"].boundary.where(lambda x: x[..., 1] > 0.0).quadrature(4000)
    assert rule.weight @ rule.x[:, 0] == pytest.approx(7.5, rel=1e-2)


@pytest.mark.parametrize(
    "region",
    [Box([0, 0], [1, 1]), DOMAINS["disk"].boundary, DOMAINS["box3"].where(lambda x: x[..., 2] < 1.0)],
    ids=["box", "circle", "half a box"],
)
@pytest.mark.parametrize(
    ("n", "kind"), [(0, ArgumentError), (-3, ArgumentError), (2.5, ArgumentTypeError), ("a", None)]
)
def test_numbers_of_nodes_are_whole_and_positive(region, n, kind):
    with pytest.raises(kind or ArgumentTypeError, match=r"n: got .*whole number, at least 1"):
        region.quadrature(n)


def test_adopted_points_keep_their_weights():
    box = Box([0, 0], [1, 1])
    rule = box.quadrature(16)
    np.testing.assert_array_equal(box.adopt(rule).weight, rule.weight)
    assert box.adopt(rule.x).weight is None
