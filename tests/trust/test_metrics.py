"""Errors in closed form."""

import jax.numpy as jnp
import numpy as np
import pytest

from kernop.basics.errors import ArgumentTypeError, NonFiniteError, ShapeError
from kernop.trust.metrics import relative_l2, relative_linf


def test_closed_forms():
    assert relative_l2([3.0, 4.0], [0.0, 4.0]) == pytest.approx(3 / 4)
    assert relative_l2([0.0, 0.0], [3.0, 4.0]) == pytest.approx(1.0)
    assert relative_linf([1.0, -2.0, 5.0], [1.0, -4.0, 3.5]) == pytest.approx(2 / 4)
    assert relative_linf([1.0, 2.0], [1.0, 2.0]) == 0.0


@pytest.mark.parametrize("metric", [relative_l2, relative_linf])
def test_each_column_by_itself(metric):
    rng = np.random.default_rng(0)
    found, exact = rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    columns = [float(metric(found[:, k], exact[:, k])) for k in range(3)]
    assert metric(found, exact).shape == (3,)
    assert metric(found[:, 0], exact[:, 0]).shape == ()
    np.testing.assert_allclose(metric(found, exact), columns)


@pytest.mark.parametrize("metric", [relative_l2, relative_linf])
def test_relative_to_the_second_and_free_of_scale(metric):
    found, exact = np.array([1.0, 2.0]), np.array([10.0, 20.0])
    assert metric(found, exact) == pytest.approx(0.9)
    assert metric(exact, found) == pytest.approx(9.0)
    assert metric(1e-9 * found, 1e-9 * exact) == pytest.approx(0.9)


@pytest.mark.parametrize("metric", [relative_l2, relative_linf])
def test_lists_and_jax_arrays(metric):
    assert metric(jnp.array([1.0, 2.0]), [2, 4]) == pytest.approx(0.5)


@pytest.mark.parametrize("metric", [relative_l2, relative_linf])
@pytest.mark.parametrize(
    ("found", "exact", "error"),
    [
        (np.ones(3), np.ones(4), ShapeError),
        (np.ones(3), np.ones((3, 1)), ShapeError),  # would broadcast to (3, 3)
        (1.0, 1.0, ShapeError),
        ([np.nan, 1.0], [1.0, 1.0], NonFiniteError),
        ([1.0], ["a"], ArgumentTypeError),
    ],
)
def test_bad_input(metric, found, exact, error):
    with pytest.raises(error, match=r"found|exact"):
        metric(found, exact)
