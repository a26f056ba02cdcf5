"""QR with rows that came later, against QR of all rows at once."""

from itertools import pairwise

import numpy as np
import pytest

from kernop.basics.linalg import orthogonal, right_solve_upper, solve_upper
from kernop.methods.chain import chained

RNG = np.random.default_rng(0)
L = 6
ROWS = RNG.normal(size=(40, L))
#: A permutation of the rows, and where it is cut: 20 rows at first, then blocks of 1, 12 and 7.
ORDER = RNG.permutation(40)
CUTS = [20, 21, 33, 40]


def least_squares(factor, b):
    """argmin of |[A; …] c − b|, by R⁻¹ Qᵀ."""
    return solve_upper(factor.upper, factor.rotated(b)[0])


def chain(penalty):
    """Blocks of rows one after the other; at every step the rows so far are in the order of ROWS."""
    have = np.sort(ORDER[: CUTS[0]])
    factor = orthogonal(np.vstack([ROWS[have], penalty]))
    for start, stop in pairwise(CUTS):
        fresh = np.sort(ORDER[start:stop])
        together = np.sort(np.concatenate([have, fresh]))
        factor = chained(factor, ROWS[fresh], np.searchsorted(together, have), np.searchsorted(together, fresh))
        have = together
    return factor


@pytest.mark.parametrize("penalty", [np.zeros((0, L)), 0.5 * np.eye(L)])
class TestChain:
    def test_triangle(self, penalty):
        upper = np.triu(chain(penalty).upper)
        np.testing.assert_allclose(upper.T @ upper, ROWS.T @ ROWS + penalty.T @ penalty, rtol=1e-12, atol=1e-12)

    def test_least_squares(self, penalty):
        b = RNG.normal(size=(40, 3))
        right = np.vstack([b, np.zeros((len(penalty), 3))])
        expected = np.linalg.lstsq(np.vstack([ROWS, penalty]), right, rcond=None)[0]
        np.testing.assert_allclose(least_squares(chain(penalty), b), expected, rtol=1e-11, atol=1e-13)

    def test_columns(self, penalty):
        factor = chain(penalty)
        q = factor.columns(40)
        np.testing.assert_allclose(q @ np.triu(factor.upper), ROWS, atol=1e-13)
        np.testing.assert_allclose(right_solve_upper(factor.upper, ROWS), q, atol=1e-13)

    def test_one_more_leaves_the_others_alone(self, penalty):
        factor, b = chain(penalty), RNG.normal(size=(40, 2))
        before = least_squares(factor, b)
        chained(factor, np.ones((3, L)), np.arange(40), np.arange(40, 43))
        np.testing.assert_array_equal(least_squares(factor, b), before)


def test_keeps_digits_that_normal_equations_lose():
    a = np.vander(np.linspace(0, 1, 30), 9)
    c = np.arange(1.0, 10.0)
    factor = chained(orthogonal(a[::2]), a[1::2], np.arange(0, 30, 2), np.arange(1, 30, 2))
    found = least_squares(factor, (a @ c)[:, None])[:, 0]
    squared = np.linalg.solve(a.T @ a, a.T @ (a @ c))
    assert np.abs(found - c).max() < 1e-2 * np.abs(squared - c).max()
