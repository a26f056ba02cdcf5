"""What every region promises: inside and outside, distances, normals, measures, evenness, rules; one suite for all."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.spatial import KDTree

import kernop as ko

SCHEMES = ["halton", "uniform", "grid"]
#: A step that is far above rounding and far below every feature of the regions.
STEP = 1e-6


def box_around(domain, part=0.1):
    """A box a little larger than the domain: its lower corner, and its sides."""
    low, high = domain.bounds
    return low - part * (high - low), (1.0 + 2.0 * part) * (high - low)


def grid_in(domain, number):
    """Cell centres of a tensor grid around a domain with about so many cells, and the volume of a cell."""
    low, sides = box_around(domain)
    count = max(4, round(number ** (1.0 / domain.dim)))
    axes = [(np.arange(count) + 0.5) / count] * domain.dim
    t = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, domain.dim)
    return low + sides * t, float(np.prod(sides / count))


def test_samples_lie_in_the_region_and_its_bounds(any_region):
    low, high = any_region.bounds
    for scheme in SCHEMES:
        x = any_region.sample(137, scheme, seed=3).x
        assert x.shape[1] == any_region.dim == len(low) == len(high)
        assert np.all(any_region.contains(x))
        assert np.all((x >= low - 1e-12) & (x <= high + 1e-12))


def test_as_many_points_come_as_were_asked_for(any_region):
    for scheme, n in itertools.product(SCHEMES, (1, 7, 64)):
        points = any_region.sample(n, scheme, seed=5)
        if any_region.intrinsic_dim == 0:
            assert len(points) == any_region.measure
        elif scheme == "grid":
            assert 1 <= len(points) <= n
        else:
            assert len(points) == n
        assert len(np.unique(points.x, axis=0)) == len(points)


def test_seeds_decide_the_points(any_region):
    for scheme in SCHEMES:
        first, again, other = (any_region.sample(40, scheme, seed) for seed in (11, 11, 12))
        assert np.array_equal(first.x, again.x)
        assert (first.normal is None) == (again.normal is None)
        assert first.normal is None or np.array_equal(first.normal, again.normal)
        assert scheme == "grid" or any_region.intrinsic_dim == 0 or not np.allclose(first.x, other.x)


def test_domains_have_no_normals(any_domain):
    points = any_domain.sample(5)
    assert points.normal is None
    assert any_domain.normals(points.x) is None


def test_normals_have_unit_length_and_point_out_of_the_domain(any_boundary):
    domain, boundary = any_boundary
    for scheme in SCHEMES:
        points = boundary.sample(101, scheme, seed=2)
        assert np.allclose(np.linalg.norm(points.normal, axis=1), 1.0, rtol=1e-14)
        assert not np.any(domain.contains(points.x + STEP * points.normal))
        assert np.all(domain.contains(points.x - STEP * points.normal))
        assert np.allclose(boundary.normals(points.x), points.normal, atol=1e-7)


def test_a_boundary_holds_neither_the_inside_nor_the_outside(any_boundary):
    domain, boundary = any_boundary
    points = boundary.sample(30, "uniform")
    assert domain.intrinsic_dim == domain.dim == boundary.intrinsic_dim + 1 == boundary.dim
    assert not np.any(boundary.contains(points.x - STEP * points.normal))
    assert not np.any(boundary.contains(points.x + STEP * points.normal))


def test_the_distance_is_zero_on_the_boundary_and_its_slope_is_the_normal(any_space):
    points = any_space.boundary.sample(60, "uniform", seed=4)
    extent = np.max(np.subtract(*any_space.bounds[::-1]))
    assert np.allclose(any_space.distance(points.x), 0.0, atol=1e-9 * extent)
    slope = np.stack(
        [
            any_space.distance(points.x + STEP * e) - any_space.distance(points.x - STEP * e)
            for e in np.eye(any_space.dim)
        ],
        axis=1,
    ) / (2.0 * STEP)
    # Within a step of a corner, or of a second surface, differences mix the sides.
    smooth = np.linalg.norm(slope - points.normal, axis=1) < 1e-4
    assert np.mean(smooth) > 0.95


def test_the_distance_tells_the_inside_from_the_outside(any_space):
    x, _ = grid_in(any_space, 2000)
    distance = any_space.distance(x)
    clear = np.abs(distance) > 1e-6
    assert np.array_equal(any_space.contains(x)[clear], distance[clear] < 0.0)
    near = any_space.boundary.sample(2000).x
    nearest = np.min(np.linalg.norm(x[::7, None, :] - near[None], axis=2), axis=1)
    # Combinations may underestimate the distance; functions are distances to first order. None overestimates it.
    assert np.all(np.abs(distance[::7]) <= 1.02 * nearest + 1e-9)


def test_the_measure_is_that_of_independent_points(any_domain):
    """Random points in a larger box, to five standard deviations; volumes themselves are right to 1e-4."""
    low, sides = box_around(any_domain)
    number, box = 30_000, float(np.prod(sides))
    inside = np.mean(any_domain.contains(low + sides * np.random.default_rng(6).random((number, any_domain.dim))))
    error = 5.0 * np.sqrt(inside * (1.0 - inside) / number)
    assert any_domain.measure / box == pytest.approx(inside, abs=error)


def test_the_divergence_theorem_holds_on_samples(any_domain):
    """∮ (x − c)·n = d |D|: normals, areas and volumes fit together in samples that are uniform by area."""
    points = any_domain.boundary.sample(4000, "halton")
    middle = 0.5 * np.add(*any_domain.bounds)
    flux = any_domain.boundary.measure * np.mean(np.sum((points.x - middle) * points.normal, axis=1))
    assert flux == pytest.approx(any_domain.dim * any_domain.measure, rel=0.01)


def test_samples_are_even_by_measure(any_region):
    """Independent points of another seed, in the cells of the median along each axis: χ² for uniform points, and
    quasi-random ones differ from many independent ones by less than these among themselves."""
    if any_region.intrinsic_dim == 0:
        return
    many = any_region.sample(10_000, "uniform", seed=9).x
    middle = np.median(many, axis=0) + 1e-7 * np.subtract(*any_region.bounds[::-1])
    cells = (many > middle) @ (2 ** np.arange(any_region.dim))
    expected = np.bincount(cells, minlength=2**any_region.dim) / len(many)
    for scheme, least in (("uniform", 1e-6), ("halton", 0.05)):
        x = any_region.sample(1000, scheme, seed=1).x
        found = np.bincount((x > middle) @ (2 ** np.arange(any_region.dim)), minlength=2**any_region.dim)
        used = expected * len(x) >= 5.0
        if np.count_nonzero(used) > 1:
            wanted = expected[used] / expected[used].sum() * found[used].sum()
            assert stats.chisquare(found[used], wanted).pvalue > least


def test_uniform_samples_fill_symmetric_regions_evenly(any_plain):
    """The mean is the centre of the bounds of boxes and balls, and of their boundaries, to five standard errors."""
    n = 5000
    for region in (any_plain, any_plain.boundary):
        x = region.sample(n, "uniform", seed=1).x
        low, high = region.bounds
        assert np.all(np.abs(x.mean(axis=0) - (low + high) / 2) < 5 * x.std(axis=0) / np.sqrt(n))


def test_quasi_random_samples_leave_no_gaps(any_space):
    """The largest hole among 500 points is little larger than a cell of that many: boxes have 1.7 at most."""
    if any_space.dim > 3:
        return
    x = any_space.sample(500).x
    probe = any_space.sample(5000, "uniform", seed=8).x
    spacing = (any_space.measure / 500) ** (1.0 / any_space.dim)
    assert np.max(KDTree(x).query(probe)[0]) < 2.2 * spacing


def test_rules_are_points_of_the_region_with_its_measure(any_region):
    rule = any_region.quadrature(600)
    assert rule.weight.shape == (len(rule),)
    assert np.all(rule.weight > 0.0)
    exactness = 1e-11 if isinstance(any_region, ko.Implicit) else 1e-12
    assert np.sum(rule.weight) == pytest.approx(any_region.measure, rel=exactness)
    assert np.all(any_region.contains(rule.x))
    assert rule.timed == any_region.timed
    normals = any_region.normals(rule.x)
    assert (rule.normal is None) == (normals is None)
    if normals is not None:
        np.testing.assert_allclose(rule.normal, normals, atol=1e-12)


def test_a_region_adopts_its_own_samples(any_region):
    points = any_region.sample(25, "uniform")
    adopted, again = any_region.adopt(points.x), any_region.adopt(points)
    assert points.normal is None or np.allclose(adopted.normal, points.normal, atol=1e-7)
    assert adopted.timed == any_region.timed
    assert np.array_equal(again.x, points.x)
    assert points.normal is None or np.array_equal(again.normal, points.normal)


def test_a_region_says_what_it_is(any_region):
    assert repr(any_region)
    part = any_region.where(lambda x: x[..., 0] > np.median(any_region.sample(99).x[:, 0]) - 1e-9)
    assert np.all(part.contains(part.sample(10).x))


def test_slices_and_walls_are_products(any_cylinder):
    space = any_cylinder.space
    assert any_cylinder.measure == pytest.approx(2.5 * space.measure, rel=1e-13)
    assert any_cylinder.initial.measure == pytest.approx(space.measure, rel=1e-13)
    assert any_cylinder.walls.measure == pytest.approx(2.5 * space.boundary.measure, rel=1e-13)
    walls = any_cylinder.walls.sample(50)
    assert np.all(space.boundary.contains(walls.x[:, :-1]))
    assert np.all(walls.normal[:, -1] == 0.0)
