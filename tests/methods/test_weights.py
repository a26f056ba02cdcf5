"""Weights of the conditions: reading them, and balancing."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, InputNameError, NonFiniteError
from kernop.collocation.ansatz import collocate
from kernop.methods.weights import condition_weights, read_weights, repeated, row_weights

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"),
    ko.Dirichlet(on=SQUARE.face("left", "right"), name="g"),
    ko.Neumann(on=SQUARE.face("bottom", "top"), name="q"),
)
COUNTS = {"f": 20, "g": 6, "q": 9}
ROWS = collocate(PROBLEM, {name: PROBLEM[name].on.sample(n) for name, n in COUNTS.items()})
SQUARES = np.random.default_rng(0).lognormal(sigma=3.0, size=35)


def test_words():
    assert read_weights("unit", PROBLEM) == (1.0, 1.0, 1.0)
    assert read_weights("balanced", PROBLEM) is None


def test_numbers_by_name_and_one_for_the_rest():
    assert read_weights({"q": 5, "f": 0.1}, PROBLEM) == (0.1, 1.0, 5.0)
    assert read_weights({}, PROBLEM) == (1.0, 1.0, 1.0)


def test_given_weights_are_those_of_the_rows():
    np.testing.assert_array_equal(row_weights((0.1, 2.0, 5.0), ROWS, SQUARES), [0.1] * 20 + [2.0] * 6 + [5.0] * 9)


def test_balanced_blocks_weigh_the_same():
    w = row_weights(None, ROWS, SQUARES)
    sums = [np.sum((w * SQUARES)[part]) for part in (slice(0, 20), slice(20, 26), slice(26, 35))]
    np.testing.assert_allclose(sums, sums[0], rtol=1e-12)
    assert w.shape == (35,)
    assert len(np.unique(w)) == 3  # one weight for each condition


def test_balanced_weights_have_geometric_mean_one():
    w = row_weights(None, ROWS, SQUARES)
    assert w[0] * w[20] * w[26] == pytest.approx(1.0)
    np.testing.assert_allclose(row_weights(None, ROWS, 1e8 * SQUARES), w, rtol=1e-12)


def test_balanced_weights_undo_the_scale_of_a_condition():
    scaled = SQUARES * np.repeat([1e6, 1.0, 1.0], [20, 6, 9])
    w, v = row_weights(None, ROWS, SQUARES), row_weights(None, ROWS, scaled)
    assert v[0] / v[20] == pytest.approx(w[0] / w[20] / 1e6)
    assert v[26] / v[20] == pytest.approx(w[26] / w[20])


def test_one_condition_needs_no_balance():
    alone = ko.Problem(PROBLEM["f"])
    rows = collocate(alone, {"f": SQUARE.sample(20)})
    np.testing.assert_allclose(row_weights(None, rows, SQUARES[:20]), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ("equal", ArgumentError, "weights: got 'equal'; choose one of 'unit', 'balanced'"),
        ({"h": 1.0}, InputNameError, "weights: got the unknown condition 'h'; the conditions are 'f', 'g', 'q'"),
        ({"f": 0.0}, ArgumentError, r"weights\['f'\]: got 0"),
        ({"f": np.inf}, NonFiniteError, r"weights\['f'\]: got inf"),
        ({"f": "much"}, ArgumentTypeError, r"weights\['f'\]: got 'much'"),
        ({"f": [1.0, 2.0]}, ArgumentTypeError, r"weights\['f'\]"),
        ([1.0, 1.0, 1.0], ArgumentTypeError, "weights: got .*'unit', 'balanced' or a dict"),
        (2.0, ArgumentTypeError, "weights: got 2.0"),
    ],
)
def test_errors(weights, error, message):
    with pytest.raises(error, match=message):
        read_weights(weights, PROBLEM)


@pytest.mark.parametrize("weights", [None, (0.1, 2.0, 5.0)])
def test_rows_repeat_the_weights_of_their_conditions(weights):
    found = condition_weights(weights, ROWS, SQUARES)
    assert all(type(weight) is float for weight in found)
    np.testing.assert_array_equal(repeated(found, ROWS), row_weights(weights, ROWS, SQUARES))
    assert condition_weights(found, ROWS, 3.0 * SQUARES) == found
