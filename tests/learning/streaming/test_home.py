"""Accumulators that come home in any order: the same bits, and the same again from a checkpoint."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernop as ko
from kernop.collocation.batches import batch_digest, stream
from kernop.collocation.functionals import Functionals, evaluations
from kernop.collocation.rows import StreamedRows
from kernop.learning.streaming.checkpoint import CheckpointFile
from kernop.learning.streaming.home import Home, chunks, chunks_of, merged, seen
from kernop.methods.regression import Regression
from kernop.methods.spaces import KernelFunctions

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=LINE))
EXPANSION = KernelFunctions(ko.Gaussian([0.3]), Functionals((evaluations(np.linspace(0, 1, 3)[:, None]),)))
POINTS = LINE.sample(70)


def regression(count):
    """So many batches of 7 rows, each a chunk."""
    batches = ko.Batches(count, lambda k: {"f": POINTS[7 * k : 7 * k + 7]})
    return Regression(StreamedRows(stream(PROBLEM, batches, "halton", 0, 7)), EXPANSION, (1.0,))


def part(k):
    own = regression(10)
    accumulator, batch = own.accumulator(), own.rows.stream[k]
    own.add(accumulator, own.rows.at(batch), batch_digest(k, batch))
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
    checkpoint, count = ko.Checkpoint(folder / "file", every=0), len(order)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("kernop.learning.streaming.home.ROWS_PER_FUNCTION", 1)
        own = regression(count)
        file = CheckpointFile(checkpoint, own)
        home = Home(own, file)
        for k in order[:stop]:
            home.put(home.chunks[k], PARTS[k])
            home.offer()
        home = Home(own, CheckpointFile(checkpoint, own))
    assert home.known() == [range(k, k + 1) for k in sorted(order[:stop])]
    home.check(*seen(own, ((k, own.rows.stream[k]) for k in order[:stop])))
    for k in order[stop:]:
        home.put(home.chunks[k], PARTS[k])
    found, expected = home.root(), by_levels(PARTS[:count])
    assert found.rows == 7 * count
    np.testing.assert_array_equal(found.kept().packed, expected.kept().packed)
    file.remove()


@pytest.mark.parametrize(("batches", "reach"), [((0, 1, 2), 3), ((0, 1, 4), 2), ((3,), 0), ((), 0)])
def test_a_pass_in_order_goes_on_from_what_it_has_from_the_first_batch_on(monkeypatch, batches, reach):
    monkeypatch.setattr("kernop.learning.streaming.home.ROWS_PER_FUNCTION", 1)
    home = Home(regression(5))
    for k in batches:
        home.put(home.chunks[k], PARTS[k])
    assert home.reach() == reach
    assert [home.has(chunk) for chunk in home.chunks] == [k < reach for k in range(5)]


class TestChunks:
    @pytest.mark.parametrize("batches", [1, 2, 15, 16, 17, 100, 799, 800, 801, 5000])
    @pytest.mark.parametrize("most", [1, 4, 64, 10**9])
    def test_every_batch_once_in_order(self, batches, most):
        found = chunks(batches, most)
        assert [k for chunk in found for k in chunk] == list(range(batches))
        assert all(found)
        assert min(batches, most, 16) <= len(found) <= min(batches, most)
        assert max(map(len, found)) <= 50 or len(found) == most

    @pytest.mark.parametrize(("batches", "number"), [(1, 1), (12, 2), (24, 4), (200, 16), (2000, 40)])
    def test_enough_rows_for_every_function(self, batches, number):
        """12 functions, batches of 31 rows: 96 rows are worth a merger."""
        points = SimpleNamespace(number=batches, sampled=lambda: [{"f": range(30), "g": range(1)}])
        assert len(chunks_of(SimpleNamespace(rows=SimpleNamespace(stream=points), count=12))) == number
        assert 31 * batches / number >= 96 or number == 1
