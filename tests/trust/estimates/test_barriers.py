"""Barriers against the exact solution of L w = 1, w = 0 on the boundary: closed forms and finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import solve_banded

from kernop.trust.estimates.barriers import Coefficients, best_barrier

N = 4000


def on_a_line(a, b, length=1.0):
    x = (np.arange(N) + 0.5)[:, None] / N * length
    flat = np.ones((N, 1))
    return Coefficients(x, (a(x[:, 0]) * flat.T).T[:, :, None], (b(x[:, 0]) * flat.T).T)


def torsion(a, b, length=1.0):
    """max w of −a w″ + b w′ = 1, w = 0 at the ends, by finite differences."""
    h = length / N
    x = np.arange(1, N) * h
    A, B = a(x) * np.ones(N - 1) / h**2, b(x) * np.ones(N - 1) / (2 * h)
    bands = np.zeros((3, N - 1))
    bands[0, 1:], bands[1], bands[2, :-1] = (B - A)[:-1], 2 * A, (-A - B)[1:]
    return float(np.max(solve_banded((1, 1), bands, np.ones(N - 1))))


def best(of, length=1.0):
    return best_barrier(of, np.zeros(1), np.full(1, length), 0.5 * length)


def test_without_drift_the_slab_is_exact():
    assert best(on_a_line(lambda x: 2.0, lambda x: 0.0, 3.0), 3.0).supremum == pytest.approx(9.0 / 16.0)


@pytest.mark.parametrize("b", [-40.0, -3.0, 0.5, 8.0, 900.0])
def test_with_constant_drift_the_slab_is_exact(b):
    found = best(on_a_line(lambda x: 0.5, lambda x: b)).supremum
    if abs(b) < 100:  # finite differences are too coarse beyond
        assert found == pytest.approx(torsion(lambda x: 0.5, lambda x: b), rel=1e-4)
    assert found <= 1.0 / abs(b)  # the time that the flow takes


@settings(max_examples=20, deadline=None)
@given(st.floats(0.1, 3), st.floats(-0.9, 0.9), st.floats(-6, 6), st.floats(-6, 6))
def test_a_barrier_is_never_below_the_exact_solution(scale, swing, drift, shear):
    def a(x):
        return scale * (1.0 + swing * np.sin(7 * x))

    def b(x):
        return drift + shear * (x - 0.5)

    found = best(on_a_line(a, b))
    assert found is None or found.supremum >= (1.0 - 1e-4) * torsion(a, b)


def test_on_a_disk_the_quadratic_is_exact():
    x = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    of = Coefficients(x, np.tile(np.eye(2), (500, 1, 1)), np.zeros((500, 2)))
    found = best_barrier(of, np.full(2, -1.0), np.full(2, 1.0), 1.0)
    assert found.supremum == pytest.approx(0.25)
    assert found.name == "quadratic"


def test_a_drift_that_no_barrier_withstands():
    # It holds what it carries in the middle, for a time that is exponential in its strength.
    x = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    of = Coefficients(x, np.tile(np.eye(2), (500, 1, 1)), 200.0 * x)
    assert best_barrier(of, np.full(2, -1.0), np.full(2, 1.0), np.sqrt(2.0)) is None
