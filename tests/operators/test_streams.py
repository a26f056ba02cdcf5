"""Streams in files: the same points in the same batches."""

from dataclasses import replace

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, FileError
from kernop.basics.storage import read, write
from kernop.collocation.batches import chain, recorded, stream
from kernop.operators.operator import without_functions
from kernop.operators.records import StreamRecord

LINE = ko.Interval(0.0, 1.0)
PROBLEM = ko.Problem(ko.Equation(lambda u: u, on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary, name="g"))


def take(k):
    return {"f": LINE.sample(3 + k, seed=k)} | ({"g": [[0.0]]} if k else {})


SOURCES = {
    "arrays": lambda: stream(PROBLEM, {"f": LINE.sample(20), "g": LINE.boundary.sample(2)}, "halton", 0, 6),
    "made": lambda: stream(PROBLEM, ko.Batches(3, take), "halton", 0, 6),
    "longer": lambda: chain(SOURCES["made"](), {"f": LINE.sample(5, seed=9)}, 4),
}


@pytest.mark.parametrize("name", SOURCES)
def test_batches_are_the_same(name):
    source = SOURCES[name]()
    points = {name: source.points(name) for name in PROBLEM.names}
    starts = np.array([list(source.start(k).values()) for k in range(source.number + 1)])
    again = recorded(PROBLEM, points, starts)
    assert again.counts == source.counts
    assert len(list(again)) == source.number
    for mine, theirs in zip(again, source, strict=True):
        assert list(mine) == list(theirs)
        for key, own in mine.items():
            np.testing.assert_array_equal(own.x, theirs[key].x)
            np.testing.assert_array_equal(own.normal, theirs[key].normal)


@pytest.mark.parametrize(
    "starts",
    [
        [[1, 0], [3, 1], [5, 2]],  # not from the start
        [[0, 0], [4, 2], [3, 2], [5, 2]],  # backwards
        [[0, 0], [3, 1], [3, 1], [5, 2]],  # an empty batch
        [[0, 0], [-1, 1], [5, 2]],
        [[0, 0, 0], [5, 2, 0]],
    ],
)
def test_batches_that_cannot_be_are_refused(starts, operator):
    record = without_functions(operator).factorisation
    assert isinstance(record, StreamRecord)
    with pytest.raises(ArgumentError):
        replace(record, starts=np.array(starts)).check()


@pytest.fixture(scope="module")
def operator():
    points = {"f": LINE.sample(5), "g": LINE.boundary.sample(2)}
    return ko.learn(PROBLEM, points=points, method=ko.Subspace(3, batch=4))


@pytest.fixture(scope="module")
def learned():
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary, name="g")
    )
    method = ko.Subspace(8, batch=15, penalty="rkhs")
    return ko.learn(problem, points=40, method=method, kernel=ko.Matern(3.5, 0.5), inputs=[(1.0, 0.0)])


class TestFromFiles:
    @pytest.fixture
    def path(self, learned, tmp_path):
        learned.save(tmp_path / "file")
        return tmp_path / "file"

    @pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
    def test_it_goes_on(self, learned, path):
        S, more = ko.load(path), {"f": [[0.4], [0.7]]}
        assert S.n_points == learned.n_points
        longer = learned.update(more)(1.0, 0.0)
        np.testing.assert_array_equal(S.update(more)(1.0, 0.0).coefficients, longer.coefficients)
        np.testing.assert_array_equal(learned.materialize().basis([[0.3]]), S.materialize().basis([[0.3]]))
        np.testing.assert_array_equal(S.solutions[0]([[0.3]]), learned.solutions[0]([[0.3]]))

    @pytest.mark.parametrize(
        "change",
        [
            lambda factor, arrays: factor.update(solutions=2),
            lambda factor, arrays: factor.update(n=3),
            lambda factor, arrays: factor.update(runner=None),
            lambda factor, arrays: factor["method"].update(batch=None),
            lambda factor, arrays: factor.update(noise="little"),
            lambda factor, arrays: factor["solutions"][0].update(paired=True),
            lambda factor, arrays: factor["solutions"][0].update(single=False, y={"array at": "points/f/x"}),
            lambda factor, arrays: arrays.pop("factorisation/starts"),
            lambda factor, arrays: factor.update(penalty={"array at": "points/f/x"}),
        ],
    )
    def test_what_does_not_fit_is_refused(self, path, change):
        header, arrays = read(path, "operator")
        change(header["factorisation"], arrays)
        write(path, "operator", header, arrays)
        with pytest.raises(FileError):
            ko.load(path)
