"""Points of parts: which condition holds next to a corner; and traces on their seams."""

import numpy as np
import pytest
import shapely

import kernop as ko
from kernop.collocation.cells.divisible import jump_parts, pieces_of
from kernop.collocation.cells.grading import cells_of
from kernop.collocation.cells.tiling import tiled
from kernop.errors import ArgumentError
from kernop.geometry.cells import Cells, tree
from kernop.methods.parts.partition import counts_for


def test_points_next_to_a_corner_stay_on_their_side():
    """A dart with a condition on each of its sides, and cells down to 2⁻³⁰ of it at its re-entrant corner."""
    corners = np.array([[0.0, 0.0], [1.0, 0.37], [0.3, 0.4], [0.21, 1.0]])
    dart = ko.Polygon(corners)
    sides = [ko.Dirichlet(on=dart.edge(k), name=f"g{k}") for k in range(4)]
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=dart, name="f"), *sides)
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=4, levels=30))
    for k, (here, there) in enumerate(zip(corners, np.roll(corners, -1, axis=0), strict=True)):
        x = T.points[f"g{k}"].x
        along = (there - here) / np.linalg.norm(there - here)
        assert np.min(np.linalg.norm(x - here, axis=1)) < (1e-8 if k == 2 else 1e-2)
        assert np.min(np.linalg.norm(x - there, axis=1)) < (1e-8 if k == 1 else 1e-2)
        assert np.max(np.abs((x - here) @ [along[1], -along[0]])) < 1e-14


def test_a_small_inclusion_is_a_part():
    """Of 4096 points of the square none is in a disk of radius 0.003: its material was passed over without a word."""
    square, disk = ko.Box([0, 0], [1, 1]), ko.Ball([0.31, 0.47], 0.003)
    a = ko.Piecewise({disk: 1e6}, otherwise=1.0)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=square, name="f"), ko.Dirichlet(on=square.boundary, name="g")
    )
    T = ko.learn(problem, method=ko.Partition(cells=1, degree=3))
    assert np.sum(disk.contains(T.points["f"].x)) > 10


def test_a_thin_gap_is_a_part():
    """What is left between two regions, 1e-4 wide."""
    square = ko.Box([-1, -1], [1, 1])
    a = ko.Piecewise({ko.Ball([0, 0], 0.5): 2.0, square - ko.Ball([0, 0], 0.5001): 3.0}, otherwise=1e-3)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=square, name="f"), ko.Dirichlet(on=square.boundary, name="g")
    )
    assert jump_parts(problem).inside.tolist() == [[0, 0], [0, 1], [1, 0]]


def poisson(domain, where=None):
    side = domain.boundary if where is None else domain.boundary.where(where)
    rest = () if where is None else (ko.Dirichlet(on=domain.boundary.where(lambda x: ~where(x)), name="rest"),)
    return ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=domain, name="f"), ko.Dirichlet(on=side, name="g"), *rest
    )


def mosaic_of(problem, **options):
    return ko.learn(problem, method=ko.Partition(**{"cells": 2, "degree": 5, **options})).factorisation.expansion.mosaic


def test_a_domain_that_was_cut_before_is_not_cut_again():
    """By another problem too: what is the same is seen by value. Cells, degrees and regions tell others apart."""
    first = mosaic_of(poisson(ko.Box([0, 0], [1, 1])))
    assert mosaic_of(poisson(ko.Box([0, 0], [1, 1]))) is first
    others = [
        mosaic_of(poisson(ko.Box([0, 0], [1, 1.1]))),
        mosaic_of(poisson(ko.Box([0, 0], [1, 1])), cells=3),
        mosaic_of(poisson(ko.Box([0, 0], [1, 1])), degree=6),
        mosaic_of(poisson(ko.Box([0, 0], [1, 1])), levels=8),
    ]
    assert all(other is not first for other in others)
    assert not first.owners.flags.writeable
    assert not first.sewn.x.flags.writeable


def test_regions_that_are_told_by_functions_are_looked_at_again():
    limit = [0.5]
    problem = poisson(ko.Box([0, 0], [1, 1]), where=lambda x: x[..., 1] < limit[0])
    first = mosaic_of(problem, levels=0)
    limit[0] = 0.25
    second = mosaic_of(problem, levels=0)
    assert np.max(first.points["g"].x[:, 1]) > 0.4
    assert np.max(second.points["g"].x[:, 1]) < 0.25


class TestCellsWithManySeams:
    """Each seam has the traces of any other: shared by their number, two were left on each of sixteen."""

    def test_a_large_cell_beside_small_ones(self):
        """3 × 3 cells, of which all but the one in the middle are halved twice."""
        lines = [np.linspace(0.0, 3.0, 4)] * 2
        root = tree(lines, lambda a, b: True, lambda a, b, depth: depth < 2 and not np.array_equal(np.floor(a), [1, 1]))
        problem, cells, counts = poisson(ko.Box([0, 0], [3, 3])), Cells.of(root), counts_for(2, 9)
        singular = np.zeros(len(cells.low), dtype=np.int64)
        found = tiled(problem, pieces_of(problem), cells, singular, [counts] * len(cells.low), 0)
        middle = int(found.locate(np.array([[1.5, 1.5]]))[0])
        degrees = [found.seams[seam].degree for seam, _ in found.seams_of_parts[middle]]
        assert degrees == [counts.seams] * 16

    def test_faces_that_a_domain_cuts(self):
        """Between the twenty points of a star of 3 × 3 cells: sixteen seams around the one in the middle."""
        angles = 0.1 + np.arange(40) * np.pi / 20
        radii = np.where(np.arange(40) % 2, 0.35, 1.0)[:, None]
        star = ko.Polygon(radii * np.stack([np.cos(angles), np.sin(angles)], axis=1))

        def truth(x):
            return np.exp(x[..., 0]) * np.sin(x[..., 1] + 0.3)

        T = ko.learn(poisson(star), method=ko.Partition(cells=3, degree=9, levels=0))
        x = star.sample(500, "uniform", seed=5).x
        assert np.max(np.abs(T(0.0, truth)(x) - truth(x))) < 1e-8


class TestThinDomains:
    """What is thinner than between points that look into a cell is seen by its boundary, or refused by name."""

    SLIVER = ko.Polygon([[-0.44, -0.89], [0.45, 0.9], [-0.117, -0.216]])  # 0.01 thin

    def test_cells_cover_a_sliver(self):
        cells, _ = cells_of(poisson(self.SLIVER), pieces_of(poisson(self.SLIVER)), 3, 1e-4, 2)
        sliver = shapely.Polygon(self.SLIVER.vertices)
        area = sum(sliver.intersection(shapely.box(*a, *b)).area for a, b in zip(cells.low, cells.high, strict=True))
        assert area == pytest.approx(sliver.area, rel=1e-2)

    def test_a_spike(self):
        """0.004 wide where it begins: it crosses cells and their faces between points that are looked at."""
        turn = np.array([[np.cos(0.7), np.sin(0.7)], [-np.sin(0.7), np.cos(0.7)]])
        thin = shapely.Polygon(np.array([[0.0, -0.002], [1.3, 0.0], [0.0, 0.002]]) @ turn)
        spike = ko.Polygon(np.array(shapely.box(-0.5, -0.5, 0.5, 0.5).union(thin).exterior.coords)[:-1])

        def truth(x):
            return np.exp(x[..., 0]) * np.sin(x[..., 1] + 0.3)

        x = spike.sample(500, "uniform", seed=5).x
        u = ko.learn(poisson(spike), method=ko.Partition(cells=3, degree=9, levels=1))(0.0, truth)
        assert np.max(np.abs(u(x) - truth(x))) < 1e-8

    def test_two_pieces(self):
        with pytest.raises(ArgumentError, match="do not touch"):
            mosaic_of(poisson(ko.Box([0, 0], [1, 1]) | ko.Box([2, 0], [3, 1])), cells=3)
