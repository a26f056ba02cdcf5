"""Cells in space that are cut: nodes lie where they should, and are spread evenly."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.cells.mosaic import degree_for, scattered_nodes, trace_nodes
from kernop.collocation.cells.surfaces import PatchedSurface
from kernop.methods.parts.traces import scattered_trace

BALL = ko.Ball([0.0, 0.0, 0.0], 1.0)
CUBE = ko.Box([-1.0, -1.0, -1.0], [1.0, 1.0, 1.0])


def mosaic(domain, cells, op=lambda u: -ko.laplacian(u), degree=4):
    problem = ko.Problem(ko.Equation(op, on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g"))
    return ko.learn(problem, method=ko.Partition(cells=cells, degree=degree)).factorisation.expansion.mosaic


class TestSurface:
    @pytest.mark.parametrize("low", [0.0, 0.5, 0.9])
    def test_a_cap_has_as_many_points_as_asked_for_spread_by_area(self, low):
        surface = PatchedSurface(BALL.boundary.patches, 0)
        everywhere = lambda x, normal: x[:, 2] >= low
        x, normal = surface.within(np.array([-1.0, -1.0, low]), np.ones(3), 300, everywhere)
        assert len(x) == 300
        assert np.allclose(np.linalg.norm(x, axis=1), 1.0, atol=1e-14)
        assert np.allclose(normal, x, atol=1e-14)
        assert np.mean(x[:, 2]) == pytest.approx(0.5 * (1.0 + low), abs=0.02)  # Archimedes: heights are uniform

    def test_a_cell_without_surface_has_no_points(self):
        x, _ = PatchedSurface(BALL.boundary.patches, 0).within(
            np.full(3, 0.9), np.ones(3), 50, lambda x, n: x[:, 0] > 0.9
        )
        assert len(x) == 0


class TestNodes:
    def test_of_the_boundary_are_on_it_with_normals_out_of_the_domain(self):
        found = mosaic(CUBE - ko.Ball([0.1, 0.0, 0.0], 0.45), 3).points["g"]
        hollow = np.linalg.norm(found.x - [0.1, 0.0, 0.0], axis=1) < 0.5
        outward = np.where(hollow[:, None], [0.1, 0.0, 0.0] - found.x, found.x)
        assert np.allclose(np.abs(found.x[~hollow]).max(axis=1), 1.0, atol=1e-12)
        assert np.allclose(np.linalg.norm(found.x[hollow] - [0.1, 0.0, 0.0], axis=1), 0.45, atol=1e-12)
        assert np.all(np.sum(outward * found.normal, axis=1) > 0.0)
        assert np.sum(hollow) > 100
        assert np.sum(~hollow) > 500

    def test_of_faces_are_inside_the_domain_on_planes_between_cells(self):
        found = mosaic(BALL, 2)
        assert len(found.seams) == 12  # eight octants
        for seam in found.seams:
            axis = int(np.argmax(np.abs(seam.normal[0])))
            assert np.all(seam.x[:, axis] == 0.0)
            assert np.all(np.linalg.norm(seam.x, axis=1) <= 1.0)
            assert seam.scattered

    def test_of_jumps_have_normals_from_below_to_above(self):
        a = ko.Piecewise({ko.Ball([0.0, 0.0, 0.0], 0.6): 10.0}, otherwise=1.0)
        found = mosaic(CUBE, 2, lambda u: -ko.div(a * ko.grad(u)))
        curved = [seam for seam in found.seams if np.ptp(np.abs(seam.normal[:, 0])) > 0.0]
        assert len(curved) == 8
        for seam in curved:
            assert np.allclose(np.linalg.norm(seam.x, axis=1), 0.6, atol=1e-12)
            piece = found.owners[[seam.below, seam.above], 1]
            inner = found.pieces.which(np.zeros((1, 3)))[0]
            outward = np.sum(seam.normal * seam.x, axis=1)
            assert np.all(outward > 0.0) if piece[0] == inner else np.all(outward < 0.0)

    def test_planes_of_boxes_are_faces_of_cells(self):
        found = mosaic(CUBE - ko.Box([0.1, 0.2, 0.3], [2.0, 2.0, 2.0]), 2)
        assert not any(seam.scattered for seam in found.seams)
        a = ko.Piecewise({ko.Box([-1.0, -1.0, -1.0], [0.3, 1.0, 1.0]): 10.0}, otherwise=1.0)
        found = mosaic(CUBE, 2, lambda u: -ko.div(a * ko.grad(u)))
        assert not any(seam.scattered for seam in found.seams)

    def test_a_surface_that_turns_too_far_in_a_cell_is_refused_by_name(self):
        a = ko.Piecewise({ko.Ball([0.0, 0.0, 0.0], 0.3): 10.0}, otherwise=1.0)
        with pytest.raises(ko.errors.ArgumentError, match="use more cells"):
            mosaic(CUBE, 3, lambda u: -ko.div(a * ko.grad(u)))

    def test_a_hole_that_no_point_of_its_cell_sees_is_refused_by_name(self):
        with pytest.raises(ko.errors.ArgumentError, match="a hole that is far smaller"):
            mosaic(CUBE - ko.Ball([0.0, 0.0, 0.0], 0.003), 3)

    def test_a_surface_that_grazes_a_cell_has_nodes_there(self):
        """A ball that reaches into a cell by 0.002: next to no point of the cell is in it, but its surface is."""
        found = mosaic(CUBE - ko.Ball([0.0, 0.0, 0.0], 1.0 / 3.0 + 2e-3), 3)
        beyond = found.points["g"].x[np.max(np.abs(found.points["g"].x), axis=1) < 0.5]
        assert np.sum(np.max(np.abs(beyond), axis=1) > 1.0 / 3.0) >= 6  # by area, and at least one in each of six cells


class TestScatteredTraces:
    def test_the_number_of_nodes_tells_scattered_ones_from_those_of_gauss(self):
        for degree in range(1, 40):
            assert scattered_nodes(degree) != len(trace_nodes(2, degree)[0])
            assert degree_for(scattered_nodes(degree)) == degree
            assert degree_for(scattered_nodes(degree) - 1) == max(1, degree - 1)

    def test_polynomials_of_the_plane_come_back_from_their_values(self):
        rng = np.random.default_rng(0)
        t = rng.random((scattered_nodes(5), 2))
        frame, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        trace = scattered_trace(t @ frame[:, :2].T + [3.0, 1.0, 2.0], 5)
        values = 1.0 + t[:, 0] ** 3 * t[:, 1] - 2.0 * t[:, 1] ** 4
        assert len(trace) == 15
        assert np.allclose(trace.project @ trace.values, np.eye(15), atol=1e-12)
        assert np.allclose(trace.values @ (trace.project @ values), values, atol=1e-12)
