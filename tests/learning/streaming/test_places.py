"""Where the rows of batches stand: every row once, in the order of the conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernop as ko
from kernop.basics.errors import ArgumentError
from kernop.collocation.ansatz import collocate
from kernop.collocation.batches import chain, stream
from kernop.learning.streaming.places import Places

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: u, on=SQUARE, name="f"),
    ko.Dirichlet(on=SQUARE.face("left"), name="g"),
    ko.Dirichlet(on=SQUARE.face("right"), name="q"),
)


def points(counts):
    return {name: PROBLEM[name].on.sample(n, "uniform", 1) for name, n in zip(PROBLEM.names, counts, strict=True)}


@settings(max_examples=40, deadline=None)
@given(
    counts=st.tuples(*[st.integers(1, 25)] * 3), size=st.integers(1, 30), number=st.integers(1, 80), more=st.booleans()
)
def test_rows_and_even_spread(counts, size, number, more):
    first = points(counts)
    source = stream(PROBLEM, first, "halton", 0, size)
    held = {name: p.x for name, p in first.items()}
    if more:
        source = chain(source, {"g": first["g"]}, size)
        held["g"] = np.tile(held["g"], (2, 1))
    place = Places(source)
    found = np.full((sum(map(len, held.values())), 2), np.nan)
    for k in range(source.number):
        for name, rows in place.rows(k, source[k]).items():
            found[rows] = source[k][name].x
    np.testing.assert_array_equal(found, np.concatenate(list(held.values())))
    # The same points as representers have without a stream.
    whole = collocate(PROBLEM, {name: ko.Points(x) for name, x in held.items()}).spread(number)
    spread = place.spread(number)
    np.testing.assert_array_equal(
        np.concatenate([p.x for p in spread.values()]), np.concatenate([b.x for b in whole.blocks])
    )
    assert list(spread) == [name for name in PROBLEM.names if name in spread]


def test_iterators_have_no_places():
    source = stream(PROBLEM, iter([points((3, 3, 3))]), "halton", 0, 5)
    with pytest.raises(
        ArgumentError, match=r"T: got an operator whose points have passed .*; give arrays or ko\.Batches"
    ):
        Places(source)
