"""Largest and least values: closed forms, a dense search, places."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError


def test_inside_and_on_boundaries(dome, plate):
    value, x = dome.max()
    assert value == pytest.approx(1.0, abs=1e-7)
    np.testing.assert_allclose(x, [0, 0], atol=1e-4)
    assert dome.min().value == pytest.approx(0.0, abs=1e-7)
    assert np.hypot(*dome.min().x) == pytest.approx(1.0, abs=1e-7)
    high, low = plate.max(), plate.min()
    assert (high.value, low.value) == pytest.approx((9.0, -4.0), abs=1e-6)
    np.testing.assert_allclose([high.x, low.x], [[3, 0], [0, 2]], atol=1e-6)


def test_against_a_dense_search(disk):
    wavy = disk(lambda x: 30 * np.sin(5 * x[..., 0]) * np.cos(4 * x[..., 1] + 1), lambda x: 0.1 * x[..., 0])
    x = ko.Ball([0, 0], 1).sample(200_000).x
    values = wavy(x)
    value, place = wavy.max()
    assert values.max() <= value <= values.max() + 1e-3
    assert wavy(place) == pytest.approx(value, abs=1e-12)
    assert wavy.min().value <= values.min()


def test_of_an_operator_of_a_batch_and_at_a_moment(dome, disk, heat, cube):
    assert dome.max(op=lambda u: ko.partial(u, 0)).value == pytest.approx(2.0, abs=1e-6)
    two = disk(np.stack([np.full(len(disk.points["f"]), k) for k in (4.0, -8.0)], axis=1), 0.0)
    np.testing.assert_allclose(two.max().value, [1.0, 0.0], atol=1e-7)
    assert two.max().x.shape == (2, 2)
    value, x = heat[1].at(0.1).max()
    assert value == pytest.approx(np.exp(-0.1 * np.pi**2), abs=1e-5)
    np.testing.assert_allclose(x, [0.5], atol=1e-2)
    assert cube.max().value == pytest.approx(2.0, abs=1e-5)


def test_what_has_no_order(dome, rotation):
    with pytest.raises(ArgumentError, match="complex values"):
        (1j * dome).max()
    with pytest.raises(ArgumentError, match="a vector"):
        rotation.u.max()
    assert rotation.u.norm("max") == pytest.approx(np.sqrt(2), abs=1e-7)
