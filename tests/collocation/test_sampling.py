"""Points for every condition: shared out from a total, by number, or the user's own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernop as ko
from kernop import (
    Ball,
    Box,
    Condition,
    Dirichlet,
    Equation,
    Initial,
    Interval,
    Neumann,
    PointCloud,
    Points,
    Problem,
    SpaceTime,
    dt,
    laplacian,
)
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    InputNameError,
    NonFiniteError,
    OutsideDomainError,
    ShapeError,
)
from kernop.collocation.sampling import BOUNDARY_DENSITY, DEFAULT_POINTS, between, interior, sample, share_out
from kernop.collocation.units import frame_of
from kernop.trust.resolution import with_interfaces

SQUARE = Box([0, 0], [1, 1])


def poisson(domain):
    return Problem(Equation(laplacian, domain, "f"), Dirichlet(domain.boundary, "g"))


def heat(space, times=(0.0, 1.0)):
    cylinder = SpaceTime(space, times)
    heat_operator = lambda u: dt(u) - laplacian(u)
    return Problem(Equation(heat_operator, cylinder), Initial(cylinder.initial), Dirichlet(cylinder.walls))


PROBLEMS = {
    "square": poisson(SQUARE),
    "rectangle": poisson(Box([0, 0], [10, 0.5])),
    "interval": poisson(Interval(0, 3)),
    "cube": poisson(Box([0, 0, 0], [1, 1, 1])),
    "disk": poisson(Ball([0, 0], 2.0)),
    "ball5": poisson(Ball([0] * 5, 1.0)),
    "mixed": Problem(
        Equation(laplacian, SQUARE), Dirichlet(SQUARE.face("left", "right")), Neumann(SQUARE.face("top", "bottom"))
    ),
    "heat": heat(Interval(0, 1)),
    "heat on a disk": heat(Ball([0, 0], 1.0), (0.0, 5.0)),
    "boundary only": Problem(Dirichlet(SQUARE.boundary)),
    "part": Problem(Equation(laplacian, SQUARE), Dirichlet(SQUARE.boundary.where(lambda x: x[..., 1] > 0.5))),
}
every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)


def cloud_problem(interior=200, boundary=40):
    cloud = PointCloud(SQUARE.sample(interior).x, SQUARE.boundary.sample(boundary).x)
    return poisson(cloud)


# ---- sharing out


@every_problem
@pytest.mark.parametrize("total", [30, 100, 999, 2000, 20000])
def test_a_total_is_shared_out_almost_entirely(problem, total):
    counts = share_out(problem, total)
    assert tuple(counts) == problem.names
    assert min(counts.values()) >= 1
    assert total - 2 * len(counts) <= sum(counts.values()) <= total


@every_problem
@pytest.mark.parametrize("extra", [0, 3])
def test_a_small_total_is_not_exceeded(problem, extra):
    """Every condition gets a point, and the ends of an interval come in pairs."""
    least = sum(2 if c.on.intrinsic_dim == 0 else 1 for c in problem.conditions)
    assert sum(share_out(problem, least + extra).values()) <= least + extra


@every_problem
@pytest.mark.parametrize("total", [500, 5000])
def test_points_have_one_spacing_and_boundaries_two_thirds_of_it(problem, total):
    """Unless boundaries would get more than half of them: then there is one spacing inside, and one around."""
    counts = share_out(problem, total)
    top = max(c.on.intrinsic_dim for c in problem.conditions)
    found = {True: [0.0, np.inf], False: [0.0, np.inf]}  # all spacings h that explain the counts to rounding
    for condition in problem.conditions:
        m, n = condition.on.intrinsic_dim, counts[condition.name]
        if m > 0:
            factor, bounds = 1.0 if m == top else BOUNDARY_DENSITY, found[m == top]
            bounds[0] = max(bounds[0], factor * (frame_of(problem).measure(condition.on) / (n + 0.5)) ** (1 / m))
            bounds[1] = min(bounds[1], factor * (frame_of(problem).measure(condition.on) / (n - 0.5)) ** (1 / m))
    (inside, most_inside), (around, most_around) = found[True], found[False]
    assert inside <= most_inside * (1 + 1e-9)
    assert around <= most_around * (1 + 1e-9)
    part = sum(counts[c.name] for c in problem.conditions if 0 < c.on.intrinsic_dim < top) / total
    assert part <= 0.5
    if part < 0.49:
        assert max(inside, around) <= min(most_inside, most_around) * (1 + 1e-9)
    else:  # coarser than they would be, never finer
        assert most_around >= inside


@pytest.mark.parametrize("dim", [3, 5, 8])
def test_boundaries_get_at_most_half_of_the_points(dim):
    """On [0, 1]^8 the faces measure 16 times as much as the inside: 1 point of 2000 was left to it."""
    assert share_out(poisson(Box([0] * dim, [1] * dim)), 2000)["f"] >= 1000
    assert share_out(heat(Ball([0] * dim, 1.0)), 2000)["f"] >= 1000


def test_a_square_of_known_spacing():
    """h = 1/40: 1600 points inside, 4 · 60 on the boundary."""
    assert share_out(PROBLEMS["square"], 1840) == {"f": 1600, "g": 240}


def test_end_points_count_two_whatever_the_total():
    assert share_out(PROBLEMS["interval"], 50) == {"f": 48, "g": 2}
    assert share_out(PROBLEMS["interval"], 1000) == {"f": 998, "g": 2}


@settings(max_examples=15, deadline=None)
@given(
    sides=st.lists(st.floats(0.01, 100.0), min_size=1, max_size=4),
    total=st.integers(100, 5000),
    scale=st.floats(1e-6, 1e6),
)
def test_sharing_out_does_not_depend_on_units(sides, total, scale):
    one = share_out(poisson(Box(np.zeros(len(sides)), sides)), total)
    other = share_out(poisson(Box(np.zeros(len(sides)), np.multiply(sides, scale))), total)
    assert abs(one["f"] - other["f"]) <= 2
    assert sum(one.values()) <= total


def test_a_domain_of_atomic_size_gets_as_many_points_as_any():
    assert share_out(poisson(Box([0, 0], [1e-11, 1e-11])), 1840) == {"f": 1600, "g": 240}


@pytest.mark.parametrize("total", [10, 50, 239])
def test_a_total_below_the_size_of_a_cloud_is_respected(total):
    counts = share_out(cloud_problem(), total)
    assert sum(counts.values()) <= total
    assert min(counts.values()) >= 1


@pytest.mark.parametrize("total", [240, 1000])
def test_a_cloud_gives_at_most_what_it_has(total):
    assert share_out(cloud_problem(), total) == {"f": 200, "g": 40}


def test_a_cloud_of_measurements_leaves_points_for_the_equation():
    sensors = PointCloud(SQUARE.sample(500).x, SQUARE.boundary.sample(4).x)
    problem = Problem(Equation(laplacian, SQUARE), Dirichlet(SQUARE.boundary), Condition(lambda u: u, sensors, "m"))
    few, many = share_out(problem, 300), share_out(problem, 3000)
    assert few["m"] == 100
    assert many["m"] == 500
    assert 296 <= sum(few.values()) <= 300
    assert 2996 <= sum(many.values()) <= 3000


# ---- sampling


@every_problem
@pytest.mark.parametrize("scheme", ["halton", "uniform", "grid"])
def test_every_condition_gets_points_of_its_region(problem, scheme):
    points = sample(problem, 120, scheme, seed=1)
    wanted = share_out(problem, 120)
    assert tuple(points) == problem.names
    for name, own in points.items():
        region = problem[name].on
        assert isinstance(own, Points)
        assert np.all(region.contains(own.x))
        assert len(own) <= wanted[name] if scheme == "grid" else len(own) == wanted[name]
        assert (own.normal is None) == (region.intrinsic_dim == region.dim)


def test_no_number_means_the_default():
    points = sample(PROBLEMS["square"], None)
    assert DEFAULT_POINTS - 4 <= sum(map(len, points.values())) <= DEFAULT_POINTS


def test_numbers_by_name_in_any_order():
    points = sample(PROBLEMS["heat"], {"g": 11, "f": np.int64(40), "u0": 7})
    assert {name: len(own) for name, own in points.items()} == {"f": 40, "u0": 7, "g": 11}
    assert tuple(points) == ("f", "u0", "g")


def test_a_grid_is_made_of_cell_centres():
    points = sample(PROBLEMS["square"], {"f": 4, "g": 4}, "grid")
    assert sorted(map(tuple, points["f"].x)) == [(0.25, 0.25), (0.25, 0.75), (0.75, 0.25), (0.75, 0.75)]
    assert sorted(map(tuple, points["g"].x)) == [(0.0, 0.5), (0.5, 0.0), (0.5, 1.0), (1.0, 0.5)]


def test_own_arrays_get_normals_and_are_kept_in_order():
    x = [[0.0, 0.3], [0.7, 1.0]]
    points = sample(PROBLEMS["square"], {"f": np.full((3, 2), 0.5), "g": x})
    assert np.array_equal(points["f"].x, np.full((3, 2), 0.5))
    assert np.array_equal(points["g"].x, x)
    assert points["g"].normal.tolist() == [[-1.0, 0.0], [0.0, 1.0]]


def test_own_points_numbers_and_arrays_may_be_mixed():
    own = SQUARE.sample(9, "uniform", seed=8)
    points = sample(PROBLEMS["mixed"], {"f": own, "g": 6, "q": [[0.5, 0.0]]})
    assert np.array_equal(points["f"].x, own.x)
    assert (len(points["g"]), len(points["q"])) == (6, 1)
    assert points["q"].normal.tolist() == [[0.0, -1.0]]


def test_own_points_on_the_line_may_be_flat():
    points = sample(PROBLEMS["interval"], {"f": [0.5, 1.0, 2.5], "g": [0.0, 3.0]})
    assert points["f"].x.tolist() == [[0.5], [1.0], [2.5]]
    assert points["g"].normal.tolist() == [[-1.0], [1.0]]


@pytest.mark.parametrize("scheme", ["halton", "uniform"])
def test_seeds_decide_all_points(scheme):
    first, again, other = (sample(PROBLEMS["square"], 60, scheme, seed) for seed in (3, 3, 4))
    for name in ("f", "g"):
        assert np.array_equal(first[name].x, again[name].x)
        assert not np.allclose(first[name].x, other[name].x)


@pytest.mark.parametrize("scheme", ["halton", "uniform"])
def test_two_conditions_on_one_region_get_different_points(scheme):
    problem = Problem(Equation(laplacian, SQUARE, "f"), Equation(lambda u: u, SQUARE, "g"))
    points = sample(problem, {"f": 20, "g": 20}, scheme)
    assert not np.allclose(points["f"].x, points["g"].x)


def test_all_points_of_a_cloud_are_used_by_default():
    points = sample(cloud_problem(), None)
    assert {name: len(own) for name, own in points.items()} == {"f": 200, "g": 40}


def test_numbers_of_a_cloud_by_name():
    points = sample(cloud_problem(), {"f": 20, "g": 40})
    assert {name: len(own) for name, own in points.items()} == {"f": 20, "g": 40}


# ---- points that no operator learns from


def test_points_inside_follow_the_measures_and_leave_boundaries_out():
    left, right = Box([0, 0], [1, 1]), Box([1, 0], [4, 1])
    problem = Problem(Equation(laplacian, left, "f"), Equation(laplacian, right, "h"), Dirichlet(on=left.boundary))
    x = interior(problem, 200, seed=3).x
    assert np.sum(x[:, 0] < 1.0) == 50
    assert np.sum(x[:, 0] > 1.0) == 150
    assert np.array_equal(x[:50], left.sample(50, "uniform", 3).x)


def test_between_the_points_of_a_cloud_is_halfway_to_the_nearest():
    cloud = PointCloud([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0], [5.0, 2.0]], [[0.0, 0.0]])
    x = between(cloud, 10, seed=0).x
    assert sorted(x.tolist()) == [[0.5, 0.0], [0.5, 0.0], [5.0, 1.0], [5.0, 1.0]]


# ---- refusals


@pytest.mark.parametrize(
    ("points", "error", "message"),
    [
        (1, ArgumentError, r"points: got 1; give a whole number, at least 2"),
        (0, ArgumentError, r"points: got 0;"),
        (-5, ArgumentError, r"points: got -5;"),
        (100.0, ArgumentTypeError, r"points: got 100\.0; give a whole number"),
        ("100", ArgumentTypeError, r"points: got '100';"),
        (True, ArgumentTypeError, r"points: got True;"),
        ([50, 50], ArgumentTypeError, r"points: got \[50, 50\];"),
        (SQUARE.sample(3), ArgumentTypeError, r"points: got Points\(n=3, d=2\)"),
        ({"f": 10}, InputNameError, r"points: got none for condition 'g'; give points for each of 'f', 'g'"),
        ({}, InputNameError, r"points: got none for condition 'f'"),
        (
            {"f": 10, "g": 10, "h": 3},
            InputNameError,
            r"points: got the unknown condition 'h'; the conditions are 'f', 'g'",
        ),
        ({"f": 0, "g": 10}, ArgumentError, r"points\['f'\]: got 0; every condition needs at least one point"),
        ({"f": 10, "g": -1}, ArgumentError, r"points\['g'\]: got -1;"),
        ({"f": 10.5, "g": 1}, ArgumentTypeError, r"points\['f'\]: got 10\.5;"),
        ({"f": None, "g": 1}, ArgumentTypeError, r"points\['f'\]: got None; give a number, Points, or an array"),
        ({"f": True, "g": 1}, ArgumentTypeError, r"points\['f'\]: got True;"),
        ({"f": "10", "g": 1}, ArgumentTypeError, r"points\['f'\]: got '10';"),
        ({"f": [0.5, 0.5], "g": 1}, ShapeError, r"points\['f'\]: got an array of shape \(2,\)"),
        ({"f": [[0.5, np.nan]], "g": 1}, NonFiniteError, r"points\['f'\]: got 1 of 2 values"),
        ({"f": np.zeros((0, 2)), "g": 1}, ShapeError, r"points\['f'\]: got an empty array"),
        ({"f": [[0.5, 1.5]], "g": 1}, OutsideDomainError, r"points\['f'\]: got 1 of 1 points outside Box"),
        ({"f": 5, "g": [[0.5, 0.5]]}, OutsideDomainError, r"points\['g'\]: got 1 of 1 points outside Box.*boundary"),
        ({"f": Points([[0.5]]), "g": 1}, ShapeError, r"points\['f'\]: got an array of shape \(1, 1\)"),
        ({"f": [[0.5, 0.5], [0.5]], "g": 1}, ArgumentTypeError, r"points\['f'\]: got"),
    ],
)
def test_bad_points_are_refused(points, error, message):
    with pytest.raises(error, match=message):
        sample(PROBLEMS["square"], points)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"scheme": "sobol"}, ArgumentError, r"sampling: got 'sobol'; choose one of 'halton', 'uniform', 'grid'"),
        ({"scheme": 3}, ArgumentError, r"sampling: got 3;"),
        ({"seed": -1}, ArgumentError, r"seed: got -1;"),
        ({"seed": "0"}, ArgumentTypeError, r"seed: got '0';"),
    ],
)
@pytest.mark.parametrize("points", [10, {"f": [[0.5, 0.5]], "g": [[0.0, 0.5]]}], ids=["total", "own"])
def test_bad_schemes_and_seeds_are_refused(points, arguments, error, message):
    with pytest.raises(error, match=message):
        sample(PROBLEMS["square"], points, **arguments)


def test_more_points_than_a_cloud_has_are_refused_by_condition():
    with pytest.raises(ArgumentError, match=r"points\['g'\]: n: got 41 points of a cloud that has 40"):
        sample(cloud_problem(), {"f": 10, "g": 41})


class TestRules:
    """Points of an integral that a user gives."""

    PROBLEM = ko.Problem(ko.Equation(lambda u: u, on=ko.Box([0, 0], [2, 1])), ko.Mean(ko.Box([0, 0], [2, 1]), name="m"))

    def taken(self, points):
        return sample(self.PROBLEM, {"f": 5, "m": points})["m"]

    def test_a_rule_is_taken_as_it_is(self):
        rule = self.PROBLEM["m"].on.quadrature(25)
        np.testing.assert_array_equal(self.taken(rule).weight, rule.weight)

    @pytest.mark.parametrize("factor", [None, 0.5, 1.1, -1.0])
    def test_other_weights_are_refused(self, factor):
        rule = self.PROBLEM["m"].on.quadrature(25)
        wrong = ko.Points(rule.x, weight=None if factor is None else factor * rule.weight)
        with pytest.raises(ArgumentError, match=r"points\['m'\]: got (points without weights|weights that add up to)"):
            self.taken(wrong)


@pytest.mark.parametrize(("total", "least"), [(2000, 48), (400, 20)])
def test_interfaces_have_points_however_small_they_are(total, least):
    """At least 48 on a curve, if that is at most a twentieth of all; by measure it would be 1."""
    a, disk = ko.Piecewise({ko.Ball([0, 0], 1e-3): 10.0}, otherwise=1.0), ko.Ball([0, 0], 1)
    equation = ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=disk, name="f")
    found = with_interfaces(ko.Problem(equation, ko.Dirichlet(on=disk.boundary, name="g")))
    counts = share_out(found, total)
    assert counts["piece0_jump"] == counts["piece0_flux"]
    assert abs(counts["piece0_jump"] - least) <= 1
    assert sum(counts.values()) <= total


@pytest.mark.parametrize(("dim", "count"), [(2, 25), (3, 8)])
def test_many_interfaces_leave_points_for_the_boundary(dim, count):
    """The edge of a box keeps its points: with 25 disks in a square it had one of 3401, where 2000 were asked for."""
    each, whole = round(count ** (1.0 / dim)), Box([0] * dim, [1] * dim)
    middles = (np.indices((each,) * dim).reshape(dim, -1).T + 0.5) / each
    a = ko.Piecewise({ko.Ball(x.tolist(), 0.03): 10.0 for x in middles}, otherwise=1.0)
    equation = ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=whole, name="f")
    plain = ko.Problem(equation, ko.Dirichlet(on=whole.boundary, name="g"))
    counts, before = share_out(with_interfaces(plain), 2000), share_out(plain, 2000)
    assert len(counts) == 2 + 2 * count
    assert sum(counts.values()) <= 2000
    assert counts["g"] > 0.4 * before["g"]
    assert min(counts.values()) >= 8
