"""Least squares over batches, against the matrix of all rows, closed forms, and the problem that holds all rows."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, NonFiniteError
from kernop.collocation.batches import stream
from kernop.collocation.functionals import Functionals, evaluations
from kernop.collocation.rows import StreamedRows
from kernop.methods.accumulators import NormalSums, Triangle
from kernop.methods.regression import Regression, chosen_weights
from kernop.methods.spaces import KernelFunctions
from kernop.methods.weights import Balance

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"),
    ko.Dirichlet(on=LINE.boundary, name="g"),
    ko.Neumann(on=LINE.boundary, name="q", data=lambda x: 3.0 * x[..., 0]),
)
ETA, CENTRES = 0.3, np.linspace(-0.2, 1.2, 9)[:, None]
WEIGHTS = (0.25, 4.0, 9.0)
EXPANSION = KernelFunctions(ko.Gaussian([ETA]), Functionals((evaluations(CENTRES),)))
POINTS = {"f": LINE.sample(30), "g": LINE.boundary.sample(2), "q": LINE.boundary.sample(2)}
INPUTS = [{"f": lambda x: x[..., 0] ** 2, "g": 1.0}, {"f": 2.0, "g": lambda x: np.stack([x[..., 0]] * 2, axis=-1)}]


def regression(solver="qr", inputs=INPUTS, points=POINTS):
    rows = StreamedRows(stream(PROBLEM, points, "halton", 0, 7)).given(inputs)
    return Regression(rows, EXPANSION, WEIGHTS, solver == "qr")


def everything(r):
    """Rows and data of all batches, one below the other."""
    batches = [r.rows[k] for k in range(r.rows.stream.number)]
    return np.vstack([r.design(batch) for batch in batches]), np.vstack([r.data(batch) for batch in batches])


def closed(x, normal=None):
    """−K″ and K, or ∂K/∂n, of exp(−(x − z)²/η²)."""
    s = (x - CENTRES.T) / ETA
    k = np.exp(-(s**2))
    return ((2 - 4 * s**2) / ETA**2 * k, k) if normal is None else normal * (-2 * s / ETA * k)


class TestDesign:
    def test_against_closed_forms(self):
        r, (f, g, q) = regression(), POINTS.values()
        rows, room = r.rows.at(POINTS), np.zeros((36, 9), order="F")
        expected = np.vstack([0.5 * closed(f.x)[0], 2.0 * closed(g.x)[1], 3.0 * closed(q.x, q.normal)])
        np.testing.assert_allclose(r.design(rows), expected, rtol=1e-12, atol=1e-13)
        r.design(rows, out=room[1:35])
        np.testing.assert_array_equal(room[1:35], r.design(rows))
        assert not np.any(room[[0, 35]])

    def test_conditions_may_be_missing(self):
        r = regression()
        np.testing.assert_array_equal(r.design(r.rows.at({"q": POINTS["q"]})), r.design(r.rows.at(POINTS))[32:])

    def test_data_are_weighted_like_rows(self):
        r, x = regression(inputs=INPUTS[:1]), POINTS["f"].x[:, 0]
        expected = np.concatenate([0.5 * x**2, [2.0, 2.0], 9.0 * POINTS["q"].x[:, 0]])
        np.testing.assert_allclose(r.data(r.rows.at(POINTS))[:, 0], expected, rtol=1e-14)


@pytest.mark.parametrize(("solver", "kind"), [("qr", Triangle), ("normal", NormalSums)])
def test_all_rows_once(solver, kind):
    r = regression(solver)
    accumulator = r.accumulator()
    assert type(accumulator) is kind
    for k in range(r.rows.stream.number):
        r.add(accumulator, r.rows[k])
    rows, data = everything(r)
    assert accumulator.rows == len(rows) == 34
    solved = accumulator.solve(0.1)
    upper, c = solved.upper, np.linalg.solve(np.triu(solved.upper), solved.y)
    np.testing.assert_allclose(np.triu(upper).T @ np.triu(upper), rows.T @ rows + 0.01 * np.eye(9), rtol=1e-10)
    below = np.vstack([rows, 0.1 * np.eye(9)]), np.vstack([data, np.zeros((9, 3))])
    np.testing.assert_allclose(c, np.linalg.lstsq(*below, rcond=None)[0], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("c", [None, np.arange(27.0).reshape(9, 3)])
def test_moments_are_the_gradient(c):
    r = regression()
    rows, data = everything(r)
    left = data if c is None else data - rows @ c
    expected = np.vstack([rows.T @ left, np.sum(left**2, axis=0)])
    np.testing.assert_allclose(r.moments(c, range(5)), expected, rtol=1e-11)
    parts = r.moments(c, [0, 3]) + r.moments(c, [1, 2, 4])
    np.testing.assert_allclose(parts, expected, rtol=1e-11)


def balanced(rows, expansion, balance):
    """Weights of a domain that is not cut."""
    weights, parts = chosen_weights(rows, expansion, balance)
    assert parts is None
    return weights


class TestBalanced:
    def rows(self, *batches, points=None):
        """Rows in these batches; or of these points, in batches of 20."""
        source = ko.Batches(len(batches), lambda k: batches[k]) if batches else points
        return StreamedRows(stream(PROBLEM, source, "halton", 0, 20))

    def test_equal_sums_of_squares(self):
        rows = self.rows(POINTS)
        weights = balanced(rows, EXPANSION, None)
        squares = np.square(Regression(rows, EXPANSION, weights).design(rows[0])).sum(axis=1)
        sums = [squares[:30].sum(), squares[30:32].sum(), squares[32:].sum()]
        np.testing.assert_allclose(sums, sums[0], rtol=1e-12)
        assert np.prod(weights) == pytest.approx(1.0, rel=1e-12)

    def test_of_kinds_and_shares(self):
        """The first two conditions have one weight, and together as large a sum as they are parts of the domain."""
        rows = self.rows(POINTS)
        first, second, third = balanced(rows, EXPANSION, Balance((0, 0, 1), (0.5, 0.25, 1.0)))
        squares = np.square(Regression(rows, EXPANSION, (first, second, third)).design(rows[0])).sum(axis=1)
        assert first == second
        assert squares[:32].sum() == pytest.approx(0.75 * squares[32:].sum(), rel=1e-12)
        assert 0.75 * np.log(first) + np.log(third) == pytest.approx(0.0, abs=1e-12)

    def test_a_few_batches_stand_for_all(self):
        """They have a tenth of f: the number of points counts, not how many were looked at."""
        many = {
            **POINTS,
            "f": LINE.sample(600, "uniform"),
            "g": LINE.boundary.sample(40),
            "q": LINE.boundary.sample(40),
        }
        whole, parts = (balanced(rows, EXPANSION, None) for rows in (self.rows(many), self.rows(points=many)))
        np.testing.assert_allclose(parts, whole, rtol=0.1)

    def test_a_condition_without_points(self):
        with pytest.raises(ArgumentError, match=r"points: got no rows of condition 'q' .*weights='unit'"):
            balanced(self.rows({"f": POINTS["f"], "g": POINTS["g"]}), EXPANSION, None)

    def test_a_kernel_that_is_not_finite(self):
        broken = ko.CustomKernel(lambda x, y: ((x - y) @ (x - y)) ** 0.5)
        expansion = KernelFunctions(broken, Functionals((evaluations(POINTS["f"].x),)))
        with pytest.raises(NonFiniteError, match=r"kernel: got .*not finite; use another"):
            balanced(self.rows(POINTS), expansion, None)
