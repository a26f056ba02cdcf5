"""Points that come and go: what is accepted, and what is refused."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    InputNameError,
    NonFiniteError,
    OutsideDomainError,
    ShapeError,
)
from kernop.collocation.changes import added, removed
from kernop.collocation.functionals import Layout

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"),
    ko.Dirichlet(on=SQUARE.face("left", "right"), name="g"),
    ko.Neumann(on=SQUARE.face("bottom", "top"), name="q"),
)
HELD = {"f": SQUARE.sample(6), "g": PROBLEM["g"].on.sample(4), "q": PROBLEM["q"].on.sample(5)}
LAYOUTS = (Layout(),) * 3
INSIDE = [[0.5, 0.5], [0.25, 0.75]]
BELOW = [[0.3, 0.0]]


@pytest.fixture(scope="module")
def operator():
    return ko.learn(PROBLEM, points=HELD, kernel=ko.Gaussian(0.5), regularization=1e-6, method=ko.Full())


class TestAdded:
    def test_old_then_new_and_which_rows_are_new(self):
        points, new = added(PROBLEM, HELD, LAYOUTS, {"q": BELOW, "f": INSIDE})
        np.testing.assert_array_equal(points["f"].x, [*HELD["f"].x, *INSIDE])
        np.testing.assert_array_equal(points["q"].normal, [*HELD["q"].normal, [0.0, -1.0]])
        assert points["g"] is HELD["g"]
        assert list(points) == ["f", "g", "q"]
        np.testing.assert_array_equal(new, [6, 7, 17])

    def test_points_with_normals_of_their_own(self):
        normal = np.array([[0.6, -0.8]])
        points, _ = added(PROBLEM, HELD, LAYOUTS, {"q": ko.Points(np.array(BELOW), normal)})
        np.testing.assert_array_equal(points["q"].normal[-1:], normal)

    @pytest.mark.parametrize(
        ("points", "error", "message"),
        [
            ({}, ArgumentError, "points: got an empty dictionary"),
            (None, ArgumentTypeError, "points: got None; give a dictionary"),
            (INSIDE, ArgumentTypeError, r"points: got \[\[0.5, 0.5\]"),
            (3, ArgumentTypeError, "points: got 3"),
            ({"h": INSIDE}, InputNameError, "points: got the unknown condition 'h'; the conditions are 'f', 'g', 'q'"),
            ({"f": [[0.5, 0.5, 0.5]]}, ShapeError, r"points\['f'\]: got an array of shape \(1, 3\)"),
            ({"f": [0.5, 0.5]}, ShapeError, r"points\['f'\]: got an array of shape \(2,\)"),
            ({"f": np.zeros((0, 2))}, ShapeError, r"points\['f'\]: got an empty array"),
            ({"f": [[0.5, np.nan]]}, NonFiniteError, r"points\['f'\]: got 1 of 2 values"),
            ({"f": [[0.5, 1.5]]}, OutsideDomainError, r"points\['f'\]: got 1 of 1 points outside"),
            ({"f": INSIDE, "q": [[0.5, 0.5]]}, OutsideDomainError, r"points\['q'\]: got 1 of 1 points outside"),
            ({"f": 7}, ShapeError, r"points\['f'\]: got"),
            ({"f": "many"}, ArgumentTypeError, r"points\['f'\]: got"),
            ({"f": None}, ArgumentTypeError, r"points\['f'\]: got"),
        ],
    )
    def test_refused(self, operator, points, error, message):
        with pytest.raises(error, match=message):
            operator.update(points)


class TestRemoved:
    @pytest.mark.parametrize(
        "gone",
        [
            [1, 4],
            (4, 1),
            [1, 4, 1, -2],
            np.array([1, -2]),
            np.array([1, 4], dtype=np.uint8),
            [False, True, False, False, True, False],
        ],
    )
    def test_numbers_and_masks(self, gone):
        points, rows = removed(PROBLEM, HELD, LAYOUTS, {"f": gone})
        np.testing.assert_array_equal(points["f"].x, HELD["f"].x[[0, 2, 3, 5]])
        assert points["g"] is HELD["g"]
        np.testing.assert_array_equal(rows, [1, 4])

    def test_rows_of_later_conditions(self):
        points, rows = removed(PROBLEM, HELD, LAYOUTS, {"q": 0, "f": [], "g": np.array([3])})
        np.testing.assert_array_equal(rows, [9, 10])
        np.testing.assert_array_equal(points["q"].normal, HELD["q"].normal[1:])
        assert points["f"] is HELD["f"]

    @pytest.mark.parametrize(
        ("points", "error", "message"),
        [
            ({}, ArgumentError, "points: got an empty dictionary"),
            ([0, 1], ArgumentTypeError, r"points: got \[0, 1\]; give a dictionary"),
            ({"h": [0]}, InputNameError, "points: got the unknown condition 'h'"),
            ({"f": range(6)}, ArgumentError, r"points\['f'\]: got all 6 points of it; keep at least one"),
            ({"f": [True] * 6}, ArgumentError, r"points\['f'\]: got all 6"),
            ({"f": [6]}, ArgumentError, r"points\['f'\]: got the number 6 of 6 points; give whole numbers below 6"),
            ({"f": [0, -7]}, ArgumentError, r"points\['f'\]: got the number -7 of 6"),
            ({"f": [1.0]}, ArgumentTypeError, r"points\['f'\]: got \[1.0\]"),
            ({"f": np.nan}, ArgumentTypeError, r"points\['f'\]: got nan"),
            ({"f": None}, ArgumentTypeError, r"points\['f'\]: got None"),
            ({"f": "first"}, ArgumentTypeError, r"points\['f'\]: got 'first'"),
            ({"f": [[0], [1, 2]]}, ArgumentTypeError, r"points\['f'\]: got \[\[0\], \[1, 2\]\]"),
            ({"f": [[0, 1]]}, ShapeError, r"points\['f'\]: got an array of shape \(1, 2\)"),
            ({"f": [True, False]}, ShapeError, r"points\['f'\]: got an array of shape \(2,\); .*a mask of 6"),
            ({"f": []}, ArgumentError, "points: got none that leave"),
            ({"f": [False] * 6}, ArgumentError, "points: got none that leave"),
        ],
    )
    def test_refused(self, operator, points, error, message):
        with pytest.raises(error, match=message):
            operator.remove(points)
