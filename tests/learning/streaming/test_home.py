"""Accumulators that come home in any order: the same bits, and the same again from a checkpoint."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernop as ko
from kernop.collocation.batches import stream
from kernop.collocation.functionals import Functionals, evaluations
from kernop.collocation.rows import StreamedRows
from kernop.learning.streaming.checkpoint import CheckpointFile
from kernop.learning.streaming.home import Home, merged
from kernop.methods.regression import Regression
from kernop.methods.spaces import KernelFunctions

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=LINE))
EXPANSION = KernelFunctions(ko.Gaussian([0.3]), Functionals((evaluations(np.linspace(0, 1, 4)[:, None]),)))
REGRESSION = Regression(StreamedRows(stream(PROBLEM, {"f": LINE.sample(70)}, "halton", 0, 7)), EXPANSION, (1.0,))


def part(k):
    accumulator = REGRESSION.accumulator()
    REGRESSION.add(accumulator, REGRESSION.rows[k])
    return accumulator


PARTS = [part(k) for k in range(10)]


def by_levels(parts):
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [merged(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@settings(max_examples=40, deadline=None)
@given(order=st.integers(1, 10).flatmap(lambda n: st.permutations(range(n))), stop=st.integers(0, 10))
def test_any_order_and_any_interruption(folder, order, stop):
    checkpoint = ko.Checkpoint(folder / "file", every=0)
    count, file = len(order), CheckpointFile(checkpoint, REGRESSION, len(order))
    home = Home(REGRESSION, count, file)
    for k in order[:stop]:
        home.put(k, PARTS[k], str(k))
    home = Home(REGRESSION, count, CheckpointFile(checkpoint, REGRESSION, count))
    assert [k for k in range(count) if home.has(k)] == sorted(order[:stop])
    home.check({k: (7, str(k)) for k in order[:stop]})
    for k in order[stop:]:
        home.put(k, PARTS[k], str(k))
    found, expected = home.whole(), by_levels(PARTS[:count])
    assert found.rows == 7 * count
    np.testing.assert_array_equal(found.arrays()["packed"], expected.arrays()["packed"])
    file.remove()
