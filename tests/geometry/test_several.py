"""Many regions that are asked together contain what each of them contains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernop as ko
from kernop.geometry.several import Several

REGIONS = [
    ko.Box([0.0, 0.0], [0.5, 1.0]),
    ko.Box([0.5, 0.0], [1.0, 1.0]) - ko.Ball([0.75, 0.5], 0.1),
    ko.Ball([0.75, 0.5], 0.1),
    ko.Polygon([[2.0, 0.0], [3.0, 0.0], [2.0, 1.0]]),
    ko.Box([0.0, 0.0], [1.0, 1.0]).where(lambda x: x[..., 0] + x[..., 1] < 0.7),
]


def naive(x, exactly):
    exact = exactly and [isinstance(own, ko.Domain) for own in REGIONS]
    return np.stack(
        [own.holds(x) if exact and exact[k] else own.contains(x) for k, own in enumerate(REGIONS)],
    )


@pytest.mark.parametrize("exactly", [False, True])
def test_points_anywhere_on_sides_and_just_outside(exactly):
    rng = np.random.default_rng(0)
    x = rng.uniform(-0.5, 3.5, (2000, 2))
    on_sides = np.stack([np.full(50, 0.5), np.linspace(0.0, 1.0, 50)], axis=1)
    beside = np.concatenate([np.add(on_sides, [shift, 0.0]) for shift in (-1e-8, -1e-12, 1e-16, 1e-12, 4e-10, 1e-8)])
    x = np.concatenate([x, on_sides, beside, [[0.0, 1.0 + 1e-12], [2.0, 1.0 + 1e-10]]])
    assert np.array_equal(Several(REGIONS).containing(x, exactly=exactly), naive(x, exactly))
    assert Several(REGIONS).containing(np.empty((0, 2))).shape == (len(REGIONS), 0)


@settings(deadline=None, max_examples=50)
@given(distinct=st.integers(0, 5), repeats=st.integers(0, 40))
def test_a_row_that_is_repeated_at_the_end_is_asked_for_once(distinct, repeats):
    rng = np.random.default_rng(distinct)
    x = rng.uniform(0.0, 1.0, (distinct + 1, 2))
    x = np.concatenate([x, np.repeat(x[-1:], repeats, axis=0)])
    seen = []

    def function(y):
        seen.append(len(y))
        return np.round(1e9 * y[:, 0]).astype(np.int64)

    assert np.array_equal(Several(REGIONS[:4]).once(function, x), np.round(1e9 * x[:, 0]).astype(np.int64))
    assert seen[-1] <= distinct + 1 + (distinct == 0)
    assert np.array_equal(Several(REGIONS).once(function, x), np.round(1e9 * x[:, 0]).astype(np.int64))
    assert seen[-1] == len(x), "functions of users are asked for all rows"
