"""A few of the shapes of benchmarks/fuzz_geometry.py: right, or refused with a reason."""

import numpy as np
import pytest
from fuzzing.shapes import Shape, judged, polygon, tree
from hypothesis import given, settings
from hypothesis import strategies as st

import kernop as ko


@pytest.mark.parametrize(("dim", "depth", "number"), [(1, 3, 20), (2, 3, 15), (3, 2, 4)])
def test_trees_of_set_operations(dim, depth, number):
    for seed in range(number):
        shape = tree(np.random.default_rng(1000 + seed), dim, depth)
        outcome, why = judged(shape, seed)
        assert outcome != "wrong", f"{shape.name}: {why}"


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), star=st.booleans())
def test_polygons_of_all_sorts(seed, star):
    shape = polygon(np.random.default_rng(seed), star)
    outcome, why = judged(shape, 0)
    assert outcome != "wrong", f"{shape.name}: {why}"


def test_the_judge_sees_what_is_wrong():
    """A shape that is not the one it is compared with, one that is refused for nothing, and one that is none."""
    rng = np.random.default_rng(0)
    right = polygon(rng, star=True)
    assert judged(right, 0)[0] == "right"
    other = Shape("", lambda: ko.Ball([0, 0], 1.0), right.true, True)
    assert judged(other, 0)[0] == "wrong"
    assert judged(Shape("", lambda: ko.Polygon([[0, 0], [1, 1], [2, 2]]), right.true, True), 0)[0] == "wrong"
    assert judged(Shape("", right.make, None, True), 0)[0] == "wrong"
