"""Streamed operators from files. That their answers are the same is tested with all others in tests/files."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import FileError
from kernop.basics.storage import read, write

LINE = ko.Interval(0.0, 1.0)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary, name="g")
)


@pytest.fixture(scope="module")
def operator():
    method = ko.Subspace(8, batch=15, penalty="rkhs")
    return ko.learn(PROBLEM, points=40, method=method, kernel=ko.Matern(3.5, 0.5), inputs=[(1.0, 0.0)])


@pytest.fixture
def path(operator, tmp_path):
    path = tmp_path / "file"
    operator.save(path)
    return path


def test_it_goes_on(operator, path):
    S = ko.load(path)
    assert S.n_points == operator.n_points
    more = {"f": [[0.4], [0.7]]}
    np.testing.assert_array_equal(S.update(more)(1.0, 0.0).coefficients, operator.update(more)(1.0, 0.0).coefficients)
    held, again = operator.materialize(), S.materialize()
    np.testing.assert_array_equal(held.basis([[0.3]]), again.basis([[0.3]]))
    np.testing.assert_array_equal(S.solutions[0]([[0.3]]), operator.solutions[0]([[0.3]]))


@pytest.mark.parametrize(
    "change",
    [
        lambda h, a: h.update(solutions=2),
        lambda h, a: h.update(batches=1),
        lambda h, a: h["method"].update(batch=None),
        lambda h, a: h["factorisation"].update(noise="little"),
        lambda h, a: h["solution 0"].update(single=False) or a.update({"solution 0/coefficients": np.zeros((8, 0))}),
        lambda h, a: a.pop("starts"),
        lambda h, a: a.update({"factorisation/penalty.T": np.zeros((3, 3))}),
    ],
)
def test_what_does_not_fit_is_refused(path, change):
    header, arrays = read(path, "operator")
    change(header, arrays)
    write(path, "operator", header, arrays)
    with pytest.raises(FileError):
        ko.load(path)
