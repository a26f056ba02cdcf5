"""Streams in files: the same points in the same batches."""

from dataclasses import replace

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError
from kernop.collocation.batches import chain, recorded, stream
from kernop.operators.operator import closed
from kernop.operators.streams import StreamRecord

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
    record = closed(operator).factorisation
    assert isinstance(record, StreamRecord)
    with pytest.raises(ArgumentError):
        replace(record, starts=np.array(starts)).check()


@pytest.fixture(scope="module")
def operator():
    points = {"f": LINE.sample(5), "g": LINE.boundary.sample(2)}
    return ko.learn(PROBLEM, points=points, method=ko.Subspace(3, batch=4))
