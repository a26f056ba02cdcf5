"""Points where a predicate holds: as many as asked for, evenly spread, also where it holds in a small part of a box."""

import numpy as np
import pytest

from kernop.collocation.cells.surfaces import sequence_of
from kernop.geometry.seeking import sought

UNIT = np.zeros(2), np.ones(2)


@pytest.mark.parametrize("radius", [0.3, 0.05, 0.02])
def test_a_disk_of_any_size_is_filled_evenly(radius):
    middle = np.array([0.31, 0.62])
    x = sought(lambda t: np.hypot(*(t - middle).T) < radius, UNIT, UNIT, 400, sequence_of(2, 0))
    assert x.shape == (400, 2)
    z = (x - middle) / radius
    assert np.max(np.abs(np.mean(z, axis=0))) < 0.05
    assert np.mean(np.sum(z**2, axis=1)) == pytest.approx(0.5, abs=0.03)  # ∫ r² over the unit disk, divided by π


def test_nothing_is_found_where_nothing_is():
    assert len(sought(lambda t: np.zeros(len(t), dtype=bool), UNIT, UNIT, 50, sequence_of(2, 0))) == 0


def test_all_of_a_box_is_the_sequence_itself():
    first = sequence_of(2, 3)(0, 200)[:50]
    assert np.array_equal(sought(lambda t: np.ones(len(t), dtype=bool), UNIT, UNIT, 50, sequence_of(2, 3)), first)
