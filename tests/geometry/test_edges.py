"""Edges of bodies made of boxes, against what is seen by eye."""

import numpy as np
import pytest

import kernop as ko
from kernop.geometry.edges import EdgesOnGrid, crowded, made_of_boxes, reentrant

CUBE = ko.Box([-1.0, -1.0, -1.0], [1.0, 1.0, 1.0])
OCTANT = ko.Box([0.0, 0.0, 0.0], [2.0, 2.0, 2.0])
GRID = [np.array([-1.0, 0.0, 1.0])] * 3
FINE = [np.array([-1.0, -0.5, 0.5, 1.0])] * 3


def lengths(edges):
    """The number of edges of boxes of the grid on edges of the body."""
    return len(edges.middles())


@pytest.mark.parametrize(
    ("body", "inner"),
    [
        (CUBE, False),
        (CUBE - OCTANT, True),
        (ko.Box([-1, -1, 0], [0, 1, 1]) | ko.Box([-1, -1, 0], [1, 0, 1]), True),
        (ko.Box([-1, -1, -1], [0, 1, 1]) | ko.Box([0, -1, -1], [1, 1, 1]), False),  # two halves of a cube
        (CUBE & ko.Box([0, 0, 0], [2, 2, 2]), False),
        (CUBE - ko.Box([-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]), True),
        (ko.Box([-1, -1, -1], [0, 0, 1]) | ko.Box([0, 0, -1], [1, 1, 1]), True),  # which meet on a line alone
    ],
)
def test_which_bodies_have_re_entrant_edges(body, inner):
    assert made_of_boxes(body)
    assert reentrant(body) == inner


def test_a_ball_is_no_box():
    assert not made_of_boxes(CUBE - ko.Ball([0, 0, 0], 0.5))


def test_edges_of_a_cube_without_an_octant():
    edges = EdgesOnGrid.of(CUBE - OCTANT, GRID)
    assert all(own.tolist() == [False, True, False] for own in edges.planes(True))
    assert all(own.tolist() == [True, True, True] for own in edges.planes(False))
    assert lengths(edges) == 9 * 2 + 3 + 6 + 3  # whole edges, halves of three, six around the octant, and inner ones


def test_edges_around_a_hollow():
    body = CUBE - ko.Box([-0.5, -0.5, -0.5], [0.5, 0.5, 0.5])
    edges = EdgesOnGrid.of(body, FINE)
    assert all(own.tolist() == [False, True, True, False] for own in edges.planes(True))
    assert all(own.tolist() == [True, False, False, True] for own in edges.planes(False))
    assert lengths(edges) == 12 * 3 + 12
    assert np.allclose(np.sort(np.abs(edges.middles()), axis=1)[:, 1], np.sort(np.abs(edges.middles()), axis=1)[:, 2])


def test_lines_crowd_where_they_are_told_to():
    assert np.allclose(crowded(np.array([0.0, 1.0, 2.0]), [0, 2, 1]), [0.0, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0])
    assert np.allclose(crowded(np.array([0.0, 1.0]), [2, 2]), [0.0, 0.25, 0.5, 0.75, 1.0])
