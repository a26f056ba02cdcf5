"""Cells, their faces, and where points lie."""

import numpy as np
import pytest

from kernop.geometry.cells import Cells, grid_lines, tree


def ell(depth):
    """[−1, 1]² without its upper right quarter, graded at the origin."""
    lines = [np.array([-1.0, 0.0, 1.0])] * 2
    inside = lambda low, high: not np.all(low >= 0.0)
    rule = lambda low, high, level: level < depth and bool(np.all((low <= 1e-12) & (high >= -1e-12)))
    return Cells.of(tree(lines, inside, rule))


def test_cells_fill_the_domain():
    cells = ell(5)
    assert len(cells.leaves) == 3 + 5 * 9
    assert np.sum(np.prod(cells.high - cells.low, axis=1)) == pytest.approx(3.0)
    assert [leaf.number for leaf in cells.leaves] == list(range(len(cells.leaves)))


def test_faces_cover_every_side_once():
    cells = ell(4)
    for axis in (0, 1):
        other = 1 - axis
        length = np.zeros((len(cells.leaves), 2))
        for face in cells.faces:
            if face.axis == axis:
                for side, leaf in ((1, face.below), (0, face.above)):
                    if leaf >= 0:
                        length[leaf, side] += (face.high - face.low)[other]
        np.testing.assert_allclose(length, np.tile((cells.high - cells.low)[:, [other]], (1, 2)), rtol=1e-12)
    outer = [face for face in cells.faces if not face.inner]
    assert sum(float(np.sum(face.high - face.low)) for face in outer) == pytest.approx(8.0)


def test_points_lie_where_they_are_found():
    cells = ell(6)
    x = np.random.default_rng(0).uniform(-1, 1, size=(500, 2)) * np.random.default_rng(1).uniform(size=(500, 1)) ** 4
    x = x[~np.all(x > 0, axis=1)]
    own = cells.locate(x)
    assert np.all((x >= cells.low[own] - 1e-12) & (x <= cells.high[own] + 1e-12))


@pytest.mark.parametrize("depth", [0, 3])
def test_points_beside_a_hole_lie_in_leaves_that_touch_them(depth):
    """The larger cells that hold points of the rim of a hole have no leaves in it, and those that they have are far."""
    lines = [np.arange(6.0)] * 2
    inside = lambda low, high: not (np.all(low >= 1.0) and np.all(high <= 3.0))
    cells = Cells.of(tree(lines, inside, lambda low, high, level: level < depth and bool(np.all(low >= 3.0))))
    along = np.linspace(1.0, 3.0, 41)
    x = np.concatenate(
        [np.stack(pair, 1) for end in (1.0, 3.0) for pair in ((along, 0 * along + end), (0 * along + end, along))]
    )
    own = cells.locate(x)
    assert np.all((x >= cells.low[own]) & (x <= cells.high[own]))


def test_in_three_dimensions():
    lines = [np.array([0.0, 0.5, 1.0])] * 3
    cells = Cells.of(tree(lines, lambda low, high: True, lambda low, high, level: level < 1 and bool(np.all(low == 0))))
    assert len(cells.leaves) == 7 + 8
    inner = [face for face in cells.faces if face.inner]
    areas = [np.prod((face.high - face.low)[np.arange(3) != face.axis]) for face in inner]
    assert sum(areas) == pytest.approx(3.0 + 3 * 0.25)


def test_lines_go_through_marks_and_are_not_far_apart():
    first, second = grid_lines([np.array([0.0, 4.0, 1.0]), np.array([0.0, 1.0])])
    assert {0.0, 1.0, 4.0} <= set(first.tolist())
    assert np.max(np.diff(first)) <= 2.0 + 1e-12
    assert second.tolist() == [0.0, 1.0]


def test_cells_over_an_interval_of_time():
    cells = Cells.of(tree([np.array([0.0, 1.0, 2.0])], lambda a, b: True, lambda a, b, depth: False))
    found = cells.over((3.0, 5.0))
    assert np.array_equal(found.low, [[0.0, 3.0], [1.0, 3.0]])
    assert np.array_equal(found.high, [[1.0, 5.0], [2.0, 5.0]])
    (face,) = [own for own in found.faces if own.inner]
    assert (face.axis, face.low.tolist(), face.high.tolist()) == (0, [1.0, 3.0], [1.0, 5.0])
    assert np.array_equal(found.without_time().corners, cells.corners)


def test_a_grid_is_divided_along_crowded_lines_last():
    """Lines 1 and 3 of 4 are crowded: boxes on both sides of each are in one group, which no other line divides."""
    lines, crowded = [np.arange(5.0)] * 2, [np.array([False, True, False, True, False])] * 2
    root = tree(lines, lambda low, high: True, lambda low, high, level: False, crowded)
    groups, waiting = set(), [root]
    while waiting:
        cell = waiting.pop()
        groups.add((*cell.low, *cell.high))
        waiting += cell.children
    assert {(0, 0, 2, 2), (2, 0, 4, 2), (0, 2, 2, 4), (2, 2, 4, 4)} <= groups
    assert len(list(root.leaves())) == 16
    plain = tree([np.arange(4.0)] * 2, lambda low, high: True, lambda low, high, level: False)
    crossed = tree(
        [np.arange(4.0)] * 2, lambda low, high: True, lambda low, high, level: False, [np.arange(4) == 1] * 2
    )
    assert [child.high[0] for child in plain.children] == [1.0, 3.0]
    assert [child.high[0] for child in crossed.children] == [2.0, 3.0]
