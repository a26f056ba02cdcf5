"""A part of a region that was loaded without its predicate: only its stored points are known."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, OutsideDomainError
from kernop.geometry.remembered import Remembered

BALL = ko.Ball([0.0, 0.0], 1.0)
PART = BALL.boundary.where(lambda x: x[..., 0] < 0.0)
POINTS = PART.sample(30)
FOUND = Remembered(BALL.boundary, POINTS, PART.measure)


def test_only_stored_points_are_inside():
    assert FOUND.contains(POINTS.x).all()
    assert not FOUND.contains(PART.sample(10, seed=4).x).any()


def test_it_is_like_the_part_otherwise():
    assert (FOUND.dim, FOUND.intrinsic_dim, FOUND.measure) == (PART.dim, PART.intrinsic_dim, PART.measure)
    np.testing.assert_array_equal(FOUND.bounds, PART.bounds)
    np.testing.assert_array_equal(FOUND.normals(POINTS.x[::-1]), POINTS.normal[::-1])
    np.testing.assert_allclose(FOUND.normals(POINTS.x), PART.normals(POINTS.x), atol=1e-14)
    assert repr(FOUND) == repr(PART)


def test_points_that_are_not_stored_are_refused():
    with pytest.raises(OutsideDomainError, match=r"give stored points, or use load\(path, problem=…\)"):
        FOUND.adopt([[-1.0, 0.0]])


@pytest.mark.parametrize("scheme", ["halton", "uniform", "grid"])
def test_samples_are_stored_points_each_once(scheme):
    drawn = FOUND.sample(12, scheme, seed=3).x
    assert len(np.unique(drawn, axis=0)) == 12
    assert FOUND.contains(drawn).all()
    with pytest.raises(ArgumentError, match=r"31 points of .*, of which 30 were stored.*load\(path, problem=…\)"):
        FOUND.sample(31, scheme)
