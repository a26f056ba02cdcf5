"""Problems in space and time, seen from space."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.cells.lasting import at_time, lasting, lasting_region, space_of, times_of, without_parts
from kernop.errors import ArgumentError

SPACE = ko.Interval(0.0, 1.0)
SLAB = ko.SpaceTime(SPACE, (1.0, 3.0))
HEAT = ko.Problem(
    ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=SLAB, name="f"),
    ko.Dirichlet(on=SLAB.walls, name="g"),
    ko.Initial(on=SLAB.initial, name="u0"),
)


def test_space_and_times_of_a_problem():
    assert space_of(SLAB) is SPACE
    assert space_of(SPACE) is SPACE
    assert space_of(ko.SpaceTime(SPACE.where(lambda x: x[..., 0] < 0.5), (0.0, 1.0))) is None
    assert times_of(HEAT) == (1.0, 3.0)
    assert np.array_equal(lasting(HEAT, np.array([[0.25]])), [[0.25, 2.0]])


def test_conditions_at_the_ends_of_time_are_found():
    assert (at_time(HEAT, 0), at_time(HEAT, 1)) == (["u0"], [])
    assert without_parts(HEAT) is None
    around = ko.Problem(HEAT["f"], ko.Dirichlet(on=SLAB.boundary, name="around"))
    assert "'around'" in str(without_parts(around))


def test_regions_must_last():
    assert lasting_region(ko.SpaceTime(SPACE, (0.0, 9.0)), (1.0, 3.0)) is SPACE
    for brief in (ko.SpaceTime(SPACE, (1.5, 3.0)), ko.Box([0.0, 1.0], [1.0, 3.0])):
        with pytest.raises(ArgumentError, match="not at all times"):
            lasting_region(brief, (1.0, 3.0))
