"""Cells and the curves between them."""

import numpy as np
import pytest
import shapely

import kernop as ko
from kernop.collocation.cells.divisible import pieces_of
from kernop.collocation.cells.grading import cells_of, off_tangents

PLATE = ko.Box([-1, -1], [1, 1])


def test_lines_do_not_touch_curves():
    """A circle of radius ½ in a square of side 2: neither lines nor those that halve cells come near ±½."""
    lines = off_tangents(np.linspace(-1, 1, 5), np.array([-0.5, 0.5]), np.array([-1.0, 1.0]))
    assert lines[0] == -1.0
    assert lines[-1] == 1.0
    for _ in range(4):
        size = np.min(np.diff(lines))
        assert np.min(np.abs(lines[:, None] - [-0.5, 0.5])) > 0.04 * size
        lines = np.sort(np.concatenate([lines, 0.5 * (lines[1:] + lines[:-1])]))


def test_lines_that_touch_nothing_stay():
    lines = np.linspace(-1, 1, 5)
    np.testing.assert_array_equal(off_tangents(lines, np.array([0.21]), lines), lines)
    np.testing.assert_array_equal(off_tangents(lines, np.empty(0), lines[[0, -1]]), lines)


@pytest.mark.parametrize("radius", [0.5, 0.72])
def test_a_fibre(radius):
    """Re z disturbed by a disk of conductivity 10. Lines would touch the first; of the second, next to nothing (7e-4)
    is in some cells."""
    a = ko.Piecewise({ko.Ball([0, 0], radius): 10.0}, otherwise=1.0)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=PLATE, name="f"), ko.Dirichlet(on=PLATE.boundary, name="g")
    )

    def truth(x):
        r = np.hypot(x[..., 0], x[..., 1])
        return x[..., 0] * np.where(r < radius, 2 / 11, 1 - 9 / 11 * (radius / np.maximum(r, radius)) ** 2)

    x = PLATE.sample(500, "uniform", seed=3).x
    u = ko.learn(problem, method=ko.Partition(cells=4))(0.0, truth)
    assert np.max(np.abs(u(x) - truth(x))) < 1e-6


def test_no_cut_runs_through_a_crossing_but_in_its_own_group():
    """A 4 × 2 checkerboard: each of three crossings is inside a cell that holds no other one."""
    plate = ko.Box([0, 0], [2, 1])
    tiles = {
        ko.Box([i / 2, j / 2], [(i + 1) / 2, (j + 1) / 2]): 1.0 + 9.0 * ((i + j) % 2) for i in range(4) for j in (0, 1)
    }
    a = ko.Piecewise(tiles)
    problem = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=plate), ko.Dirichlet(on=plate.boundary))
    cells, places = cells_of(problem, pieces_of(problem), 2, 1e-4)
    inner = places[np.all((places > 0.1) & (places < [1.9, 0.9]), axis=1)]
    assert len(inner) == 3
    low, high = cells.corners[:, 0], cells.corners[:, 1]
    for place in inner:
        around = np.all((low < place - 1e-9) & (high > place + 1e-9), axis=1)
        sizes = (high - low)[around]
        assert np.any(np.all(np.isclose(sizes, 0.5), axis=1))
        assert np.isclose(np.min(sizes), 2.0**-5)  # a star: 2^(−3 · 5) is below 1e-4, and 2^(−3 · 4) is not
    assert np.isclose(np.sum(np.prod(cells.high - cells.low, axis=1)), 2.0)


@pytest.mark.parametrize(("target", "along"), [(1.0, 2), (1 / 16, 4), (1 / 17, 6), (1 / 256, 6)])
def test_a_box_in_space_is_graded_for_an_error(target, along):
    """u is like r² log r at edges: an error sixteen times smaller asks for one level more; none leaves 2⁻⁸."""
    cube = ko.Box([0, 0, 0], [1, 1, 1])
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=cube), ko.Dirichlet(on=cube.boundary))
    cells, edges = cells_of(problem, pieces_of(problem), 2, 2.0**-8 * target)
    assert len(cells.low) == along**3
    assert (len(edges) > 0) == (target < 1.0)


@pytest.mark.parametrize(("target", "half"), [(2.0**-5, 1), (2.0**-9, 4), (2.0**-13, 8)])
def test_re_entrant_edges_are_graded_more_deeply_than_convex_ones(target, half):
    """r^(2/3) leaves an error like r^(4/3): three levels for a factor of 16, where convex edges have one."""
    body = ko.Box([-1, -1, 0], [1, 1, 1]) - ko.Box([0, 0, -1], [2, 2, 2])
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=body), ko.Dirichlet(on=body.boundary))
    cells, _ = cells_of(problem, pieces_of(problem), 2, target)
    low = np.unique(cells.low[:, 0])
    assert len(low) == 2 * half
    assert np.isclose(np.min(cells.high[:, 0] - cells.low[:, 0]), {1: 1.0, 4: 0.125, 8: 2.0**-6}[half])
    assert np.isclose(np.sum(np.prod(cells.high - cells.low, axis=1)), 3.0)


@pytest.fixture(scope="module")
def cells():
    problem = TestManyCorners.PROBLEM
    return cells_of(problem, pieces_of(problem), 16, 1e-6)[0]


class TestManyCorners:
    """A star of nine points, turned: its corners have too many coordinates for grid lines through all of them."""

    ANGLES = 0.1 + np.arange(18) * np.pi / 9
    VERTICES = np.where(np.arange(18) % 2, 0.6, 1.0)[:, None] * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
    STAR = ko.Polygon(VERTICES)
    PROBLEM = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=STAR, name="f"), ko.Dirichlet(on=STAR.boundary, name="g")
    )

    def test_cells_beside_a_corner_are_no_larger_than_twice_their_distance_from_it(self, cells):
        for corner in self.VERTICES[1::2]:
            sides = cells.high - cells.low
            gap = np.max(np.maximum(np.maximum(cells.low - corner, corner - cells.high), 0.0) / sides, axis=1)
            assert np.sum(gap == 0.0) > 0
            deepest = np.max(sides[gap == 0.0])
            assert not np.any((gap > 0.0) & (gap < 0.499) & (sides[:, 0] > 1.01 * deepest))

    def test_they_cover_the_domain(self, cells):
        """Also what lies along a face, and is thinner than between the points at which it is looked into a cell."""
        star = shapely.Polygon(self.VERTICES)
        area = sum(star.intersection(shapely.box(*a, *b)).area for a, b in zip(cells.low, cells.high, strict=True))
        assert area == pytest.approx(star.area, rel=1e-6)

    def test_u_is_as_symmetric_as_the_star(self):
        T = ko.learn(self.PROBLEM, tol=1e-2)
        turn = 2 * np.pi / 9
        x = self.STAR.sample(1000, "uniform", seed=1).x
        turned = x @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        x, turned = (own[self.STAR.contains(turned)] for own in (x, turned))
        u = T(1.0, 0.0)
        assert T.report.met
        assert np.max(np.abs(u(x) - u(turned))) < 1e-3 * np.max(u(x))


def test_rows_between_the_end_of_a_curve_and_a_line_have_room():
    """A line of jumps leaves a disk at y = 0.9915, and no cell is as thin as what is above. A box ends at its sides."""

    def cells_around(domain, region):
        a = ko.Piecewise({region: 10.0}, otherwise=1.0)
        equation = ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=domain)
        problem = ko.Problem(equation, ko.Dirichlet(on=domain.boundary))
        return cells_of(problem, pieces_of(problem), 2, 1e-4)[0]

    cells = cells_around(ko.Ball([0, 0], 1), ko.Box([0.13, -5], [5, 5]))
    sides = cells.high - cells.low
    assert np.max(np.max(sides, axis=1) / np.min(sides, axis=1)) < 8.0
    cells = cells_around(ko.Box([0, 0], [1, 1]), ko.Box([0.03, 0.03], [0.97, 0.5]))
    np.testing.assert_array_equal([np.min(cells.low, axis=0), np.max(cells.high, axis=0)], [[0, 0], [1, 1]])
