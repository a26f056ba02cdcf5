"""A pass, batch after batch, against the matrix of all rows."""

from functools import partial

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.batches import stream
from kernop.collocation.units import frame_of
from kernop.learning.streaming import make_plan
from kernop.methods.accumulators import NormalSums, Triangle

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=LINE), ko.Dirichlet(on=LINE.boundary))
CENTRES = np.linspace(-0.2, 1.2, 9)[:, None]
INPUTS = [{"f": lambda x: x[..., 0] ** 2, "g": 1.0}, {"f": 2.0, "g": lambda x: np.stack([x[..., 0]] * 2, axis=-1)}]


def plan(solver="qr", inputs=(), points=None):
    source = stream(PROBLEM, points or {"f": 30, "g": 2}, "halton", 0, 7)
    method = ko.Subspace(CENTRES, solver=solver, batch=7)
    return make_plan(PROBLEM, source, method, frame_of(PROBLEM), ko.Gaussian([0.3]), (0.5, 2.0), inputs)


def everything(p, inputs):
    """Rows and data of all batches, one below the other."""
    batches = list(p.stream)
    data = [p.rows.data(batch, inputs, p.rows.widths(batches, inputs)) for batch in batches]
    return np.vstack([p.rows.design(batch) for batch in batches]), np.vstack(data)


@pytest.mark.parametrize(("solver", "kind"), [("qr", Triangle), ("normal", NormalSums)])
class TestPass:
    def test_all_rows_once(self, solver, kind):
        p = plan(solver, INPUTS)
        accumulator = p.accumulator()
        assert type(accumulator) is kind
        assert list(p.run(accumulator)) == [1, 2, 3, 4, 5]
        rows, data = everything(p, INPUTS)
        solved = accumulator.solve(0.1)
        upper, c = solved.upper, np.linalg.solve(np.triu(solved.upper), solved.y)
        np.testing.assert_allclose(np.triu(upper).T @ np.triu(upper), rows.T @ rows + 0.01 * np.eye(9), rtol=1e-10)
        below = np.vstack([rows, 0.1 * np.eye(9)]), np.vstack([data, np.zeros((9, 3))])
        np.testing.assert_allclose(c, np.linalg.lstsq(*below, rcond=None)[0], rtol=1e-8, atol=1e-10)

    def test_an_iterator(self, solver, kind):
        batches = list(plan(solver).stream)
        p = plan(solver, points=iter(batches))
        accumulator = p.accumulator()
        assert list(p.run(accumulator)) == [1, 2, 3, 4, 5]
        assert accumulator.rows == sum(len(points) for batch in batches for points in batch.values())


@pytest.mark.parametrize("c", [None, np.arange(27.0).reshape(9, 3)])
def test_moments_are_the_gradient(c):
    p = plan()
    rows, data = everything(p, INPUTS)
    given = partial(lambda k, batch: p.rows.data(batch, INPUTS, (None, 2)))
    left = data if c is None else data - rows @ c
    expected = np.vstack([rows.T @ left, np.sum(left**2, axis=0)])
    np.testing.assert_allclose(p.moments(given, c, range(5)), expected, rtol=1e-11)
    parts = p.moments(given, c, [0, 3]) + p.moments(given, c, [1, 2, 4])
    np.testing.assert_allclose(parts, expected, rtol=1e-11)
