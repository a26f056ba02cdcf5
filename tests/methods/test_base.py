"""Residuals of solutions at their data, and rows inserted between others, against the formulas written out."""

import numpy as np
import pytest

import kernop as ko
from kernop.methods.base import Answer, others, woven
from kernop.methods.weights import repeated

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u) + 3.0 * u, on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary, name="g")
)
SMOOTH = {"kernel": ko.Gaussian(0.3), "regularization": 1e-4, "weights": {"f": 0.1, "g": 5.0}}
NARROW = {"kernel": ko.Gaussian(0.15)}  # far from singular, so that rough data have solutions to many digits
#: The method, and what it is given beside 40 points: least squares with 12 functions, or a penalty.
LEARNED = {
    "full": (ko.Full(), SMOOTH),
    "low rank": (ko.LowRank(tol=1e-10), SMOOTH),
    "qr": (ko.Subspace(12), NARROW),
    "normal": (ko.Subspace(12, solver="normal"), NARROW),
    "representers": (ko.Subspace(12, basis="representers"), NARROW),
}


@pytest.mark.parametrize("name", LEARNED)
def test_the_residual_is_that_of_the_weighted_rows(name):
    method, given = LEARNED[name]
    operator = ko.learn(PROBLEM, points={"f": 38, "g": 2}, method=method, **given)
    h = np.random.default_rng(0).normal(size=(40, 3))
    answer = operator.factorisation.answer(h)
    rows = operator.collocated
    roots = np.sqrt(repeated(operator.factorisation.weights, rows))[:, None]
    left = roots * (answer.u.apply(rows) - h)
    np.testing.assert_allclose(answer.residual, np.linalg.norm(left, axis=0), rtol=1e-6)
    np.testing.assert_allclose(answer.size, np.linalg.norm(roots * h, axis=0), rtol=1e-12)
    np.testing.assert_allclose(answer.misfit, answer.residual / answer.size, rtol=1e-12)
    assert np.all((answer.misfit > 1e-3) & (answer.misfit < 1.0))


def test_nothing_is_left_of_data_that_are_zero():
    operator = ko.learn(PROBLEM, points=40, method=ko.Subspace(12))
    answer = operator.factorisation.answer(np.zeros((operator.n_points, 1)))
    assert answer.misfit.tolist() == [0.0]


def test_columns():
    operator = ko.learn(PROBLEM, points=40, method=ko.Subspace(12))
    h = np.random.default_rng(1).normal(size=(operator.n_points, 4))
    answer = operator.factorisation.answer(h)
    some = answer.column(slice(1, 3))
    assert isinstance(some, Answer)
    np.testing.assert_array_equal(some.u.coefficients, answer.u.coefficients[:, 1:3])
    np.testing.assert_array_equal(some.residual, answer.residual[1:3])
    np.testing.assert_array_equal(some.size, answer.size[1:3])


@pytest.mark.parametrize("new", [[0], [5], [2, 3], [0, 2, 5], [0, 1, 2], [3, 4, 6, 7]])
def test_rows_are_woven_in_where_they_are_told(new):
    new = np.array(new)
    whole = np.arange(3.0 * (5 + len(new))).reshape(-1, 3)
    kept = others(new, len(whole))
    assert sorted([*kept, *new]) == list(range(len(whole)))
    np.testing.assert_array_equal(woven(whole[kept], whole[new], new), whole)
    np.testing.assert_array_equal(woven(whole[kept, 0], whole[new, 0], new), whole[:, 0])
