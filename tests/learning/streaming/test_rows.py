"""Rows and data of a batch, against closed forms and against the problem that holds all rows."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, NonFiniteError, ShapeError
from kernop.collocation.functionals import Functionals, evaluations
from kernop.learning.streaming.rows import Rows, balanced
from kernop.methods import Expansion

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"),
    ko.Dirichlet(on=LINE.boundary, name="g"),
    ko.Neumann(on=LINE.boundary, name="q", data=lambda x: 3.0 * x[..., 0]),
)
ETA, CENTRES = 0.3, np.linspace(-0.2, 1.2, 9)[:, None]
WEIGHTS = (0.25, 4.0, 9.0)
ROWS = Rows(PROBLEM, Expansion(ko.Gaussian([ETA]), Functionals((evaluations(CENTRES),))), WEIGHTS)
BATCH = {"f": LINE.sample(6), "g": LINE.boundary.sample(2), "q": LINE.boundary.sample(2)}


def closed(x, normal=None):
    """−K″ and K, or ∂K/∂n, of exp(−(x − z)²/η²)."""
    s = (x - CENTRES.T) / ETA
    k = np.exp(-(s**2))
    return ((2 - 4 * s**2) / ETA**2 * k, k) if normal is None else normal * (-2 * s / ETA * k)


class TestDesign:
    def test_against_closed_forms(self):
        f, g, q = (BATCH[name] for name in "fgq")
        expected = np.vstack([0.5 * closed(f.x)[0], 2.0 * closed(g.x)[1], 3.0 * closed(q.x, q.normal)])
        np.testing.assert_allclose(ROWS.design(BATCH), expected, rtol=1e-12, atol=1e-13)
        room = np.zeros((12, 9), order="F")
        ROWS.design(BATCH, out=room[1:11])
        np.testing.assert_array_equal(room[1:11], ROWS.design(BATCH))
        assert not np.any(room[[0, 11]])

    def test_conditions_may_be_missing(self):
        np.testing.assert_array_equal(ROWS.design({"q": BATCH["q"]}), ROWS.design(BATCH)[8:])


class TestData:
    def test_functions_numbers_values_and_what_is_fixed(self):
        inputs = [{"f": lambda x: x[..., 0], "g": 5.0}, {"f": np.arange(20.0), "g": np.arange(14.0).reshape(7, 2)}]
        widths = ROWS.widths([BATCH], inputs)
        assert widths == (None, 2)
        start = {"f": 3, "g": 4, "q": 0}
        found = ROWS.data(BATCH, inputs, widths, start)
        fixed = 3.0 * 3.0 * BATCH["q"].x[:, 0]
        first = np.concatenate([0.5 * BATCH["f"].x[:, 0], [10.0, 10.0], fixed])
        second = [
            np.concatenate([0.5 * np.arange(3.0, 9.0), 2.0 * np.array([8.0 + k, 10.0 + k]), fixed]) for k in (0, 1)
        ]
        np.testing.assert_allclose(found, np.stack([first, *second], axis=1), rtol=1e-14)

    def test_widths_do_not_depend_on_which_conditions_a_batch_has(self):
        wide = {"f": 1.0, "g": lambda x: np.stack([x[..., 0]] * 3, axis=-1)}
        assert ROWS.widths([{"f": BATCH["f"]}], [wide]) == (3,)
        assert ROWS.widths([{"f": BATCH["f"]}, {"g": BATCH["g"]}], [wide]) == (3,)
        assert ROWS.data({"f": BATCH["f"]}, [wide], (3,)).shape == (6, 3)

    def test_values_without_a_place(self):
        with pytest.raises(ArgumentError, match=r"f: got values of shape \(20,\); give a function or a number"):
            ROWS.data(BATCH, [{"f": np.ones(20), "g": 0.0}], (None,))

    def test_columns_that_disagree(self):
        inputs = [{"f": np.ones((6, 2)), "g": np.ones((2, 3))}]
        with pytest.raises(ShapeError, match="T: got batches that disagree"):
            ROWS.data(BATCH, inputs, ROWS.widths([BATCH], inputs), dict.fromkeys("fgq", 0))


class TestBalanced:
    UNIT = Rows(PROBLEM, ROWS.expansion, (1.0, 1.0, 1.0))

    def test_equal_sums_of_squares(self):
        weights = balanced(self.UNIT, [BATCH], {name: len(points) for name, points in BATCH.items()})
        squares = np.square(Rows(PROBLEM, ROWS.expansion, weights).design(BATCH)).sum(axis=1)
        sums = [squares[:6].sum(), squares[6:8].sum(), squares[8:].sum()]
        np.testing.assert_allclose(sums, sums[0], rtol=1e-12)
        assert np.prod(weights) == pytest.approx(1.0, rel=1e-12)

    def test_a_few_batches_stand_for_all(self):
        """Of f they have a tenth, of the others all: the number of points counts, not how many were looked at."""
        f = LINE.sample(600)
        whole = balanced(self.UNIT, [{**BATCH, "f": f}], {"f": 600, "g": 2, "q": 2})
        parts = [{"f": f[:20]}, {"f": f[290:310], "g": BATCH["g"]}, {"f": f[580:], "q": BATCH["q"]}]
        np.testing.assert_allclose(balanced(self.UNIT, parts, {"f": 600, "g": 2, "q": 2}), whole, rtol=0.1)

    def test_a_condition_without_points(self):
        with pytest.raises(ArgumentError, match=r"points: got no rows of condition 'q' .*weights='unit'"):
            balanced(self.UNIT, [{"f": BATCH["f"], "g": BATCH["g"]}], {"f": 6, "g": 2, "q": 0})

    def test_a_kernel_that_is_not_finite(self):
        broken = ko.CustomKernel(lambda x, y: ((x - y) @ (x - y)) ** 0.5)
        rows = Rows(PROBLEM, Expansion(broken, Functionals((evaluations(BATCH["f"].x),))), (1.0, 1.0, 1.0))
        with pytest.raises(NonFiniteError, match=r"kernel: got .*not finite; use another"):
            balanced(rows, [BATCH], {"f": 6, "g": 2, "q": 2})
