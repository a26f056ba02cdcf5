"""Streams in files: the same points in the same batches."""

import numpy as np
import pytest
from kernop.operators.files import Reader, Writer

import kernop as ko
from kernop.basics.errors import FileError, fail
from kernop.collocation.batches import chain, stream
from kernop.learning.streaming.recorded import Recorded, read_starts

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
    recorded = Recorded(PROBLEM, points, starts)
    assert recorded.counts == source.counts
    assert len(list(recorded)) == source.number
    for mine, theirs in zip(recorded, source, strict=True):
        assert list(mine) == list(theirs)
        for key, own in mine.items():
            np.testing.assert_array_equal(own.x, theirs[key].x)
            np.testing.assert_array_equal(own.normal, theirs[key].normal)


@pytest.mark.parametrize(
    "starts",
    [
        [[0, 0], [3, 1], [5, 1]],  # not all points
        [[1, 0], [3, 1], [5, 2]],  # not from the start
        [[0, 0], [4, 2], [3, 2], [5, 2]],  # backwards
        [[0, 0], [3, 1], [3, 1], [5, 2]],  # an empty batch
        [[0, 0], [-1, 1], [5, 2]],
        [[0, 0, 0], [5, 2, 0]],
        [[0.0, 0.0], [5.0, 2.0]],
    ],
)
def test_batches_that_cannot_be_are_refused(starts):
    file = Writer({"batches": len(starts) - 1})
    file.array("starts", np.array(starts))
    with pytest.raises(FileError):
        read_starts(Reader(file.header, file.arrays, lambda got: fail(FileError, "path", got, "")), [5, 2])
