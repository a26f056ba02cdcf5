"""Weights of the conditions: reading them, and balancing."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, InputNameError, NonFiniteError
from kernop.collocation.ansatz import collocate
from kernop.methods.weights import Balance, balance_of, condition_weights, read_weights, repeated, row_weights

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
    assert read_weights("balanced", PROBLEM) == balance_of(PROBLEM)


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


class TestBalance:
    def test_a_kind_has_one_weight_and_counts_by_its_shares(self):
        """w_k Σ squares over a kind is the sum of its shares: 0.75 and 0.5, up to a common factor."""
        sums = np.array([3.0, 500.0, 0.2])
        w = Balance((0, 1, 0), (0.5, 0.5, 0.25)).weights(sums)
        assert w[0] == w[2]
        assert w[0] * (3.0 + 0.2) / 0.75 == pytest.approx(w[1] * 500.0 / 0.5, rel=1e-12)
        assert np.prod(np.power(w, [0.5, 0.5, 0.25])) == pytest.approx(1.0, rel=1e-12)

    def test_a_condition_that_is_cut_counts_as_before(self):
        whole = Balance((0, 1), (1.0, 0.8)).weights(np.array([2.0, 90.0]))
        cut = Balance((0, 1, 1, 1), (1.0, 0.5, 0.2, 0.1)).weights(np.array([2.0, 20.0, 60.0, 10.0]))
        np.testing.assert_allclose(cut, [whole[0], *[whole[1]] * 3], rtol=1e-12)

    def test_even(self):
        assert Balance.even(2) == Balance((0, 1), (1.0, 1.0))
        np.testing.assert_allclose(np.multiply(Balance.even(2).weights(np.array([4.0, 9.0])), [4.0, 9.0]), 6.0)

    def test_given_to_the_rows(self):
        w = row_weights(Balance((0, 1, 1), (1.0, 0.5, 0.5)), ROWS, SQUARES)
        assert w[20] == w[26]
        assert w[0] * SQUARES[:20].sum() == pytest.approx(w[20] * SQUARES[20:].sum(), rel=1e-12)


class TestBalanceOf:
    """Kinds are told by the operator and the dimension of the region, shares by its measure."""

    def test_operators_on_faces(self):
        found = balance_of(PROBLEM)
        assert found.kinds == (0, 1, 2)
        assert found.shares == pytest.approx((1.0, 0.5, 0.5))

    def test_one_operator_on_several_faces_is_one_kind(self):
        faces = [SQUARE.face(name) for name in ("left", "right", "bottom", "top")]
        problem = ko.Problem(PROBLEM["f"], *(ko.Dirichlet(on=on, name=f"g{k}") for k, on in enumerate(faces)))
        assert balance_of(problem) == Balance((0, 1, 1, 1, 1), (1.0, 0.25, 0.25, 0.25, 0.25))

    def test_the_same_values_inside_and_on_the_boundary_are_two_kinds(self):
        problem = ko.Problem(ko.Equation(lambda u: u, on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g"))
        assert balance_of(problem).kinds == (0, 1)

    def test_values_of_another_unknown_are_another_kind(self):
        conditions = [ko.Dirichlet(on=SQUARE.boundary, name=name, of=name) for name in ("u", "p")]
        problem = ko.Problem(
            ko.Equation(lambda u, p: ko.laplacian(u) + p, on=SQUARE, name="f"), *conditions, unknowns={"u": 1, "p": 1}
        )
        assert balance_of(problem).kinds == (0, 1, 2)

    def test_a_disk_measures_less_than_its_box(self):
        disk = ko.Ball([0.0, 0.0], 2.0)
        problem = ko.Problem(ko.Equation(ko.laplacian, on=disk, name="f"), ko.Dirichlet(on=disk.boundary, name="g"))
        assert balance_of(problem).shares == pytest.approx((np.pi / 4.0, np.pi / 4.0))

    @pytest.mark.parametrize("scale", [1e-6, 1e6])
    def test_units_do_not_matter(self, scale):
        box = ko.Box([0, 0], [scale, 3 * scale])
        problem = ko.Problem(
            ko.Equation(ko.laplacian, on=box, name="f"),
            ko.Dirichlet(on=box.face("left"), name="g"),
            ko.Dirichlet(on=box.face("bottom"), name="h"),
        )
        assert balance_of(problem).shares == pytest.approx((1.0, 3.0 / 8.0, 1.0 / 8.0))

    def test_ends_of_a_line_and_points_of_a_cloud_count_by_their_number(self):
        line = ko.Interval(0.0, 1.0)
        first, last = line.face("left"), line.face("right")
        problem = ko.Problem(
            ko.Equation(ko.laplacian, on=line, name="f"),
            *(ko.Dirichlet(on=on, name=n) for on, n in ((first, "g"), (last, "h"))),
        )
        assert balance_of(problem) == Balance((0, 1, 1), (1.0, 0.5, 0.5))
        cloud = ko.PointCloud(SQUARE.sample(30).x, SQUARE.boundary.sample(10).x)
        problem = ko.Problem(ko.Equation(ko.laplacian, on=cloud, name="f"), ko.Dirichlet(on=cloud.boundary, name="g"))
        assert balance_of(problem).shares == (0.75, 0.25)

    def test_an_integral_counts_as_a_whole(self):
        mean = ko.Condition(lambda u: u, on=SQUARE, name="m", integral=True)
        found = balance_of(ko.Problem(PROBLEM["f"], ko.Neumann(on=SQUARE.boundary, name="q"), mean))
        assert found == Balance((0, 1, 2), (1.0, 1.0, 1.0))


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
