"""Normal matrices and triangular factors accumulated from batches of rows, against least squares of all rows."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernop.methods.accumulators import NormalSums, Triangle

L, B, N = 7, 3, 60
RNG = np.random.default_rng(0)
ROWS, DATA = RNG.normal(size=(N, L)), RNG.normal(size=(N, B))
#: Upper triangular, as a penalty is.
ROOT = np.triu(RNG.normal(size=(L, L))) + 3.0 * np.eye(L)

kinds = pytest.mark.parametrize("kind", [Triangle, NormalSums])
penalties = pytest.mark.parametrize("penalty", [0.0, 0.3, ROOT], ids=["none", "number", "matrix"])


def add(accumulator, rows, data=None):
    design, right = accumulator.room(len(rows))
    design[:] = rows
    if data is not None:
        right[:] = data
    accumulator.add()


def passed(kind, cuts=(), rows=ROWS, data=DATA):
    """All rows, cut into batches."""
    accumulator = kind(rows.shape[1], data.shape[1])
    for part, right in zip(np.split(rows, cuts), np.split(data, cuts), strict=True):
        add(accumulator, part, right)
    return accumulator


def expected(penalty, rows=ROWS, data=DATA):
    """R up to the signs of its rows, and the coefficients."""
    root = penalty if isinstance(penalty, np.ndarray) else penalty * np.eye(rows.shape[1])
    stacked = np.vstack([rows, root])
    right = np.vstack([data, np.zeros((len(root), data.shape[1]))])
    return np.linalg.qr(stacked).R, np.linalg.lstsq(stacked, right, rcond=None)[0]


def coefficients(solved):
    return np.linalg.solve(np.triu(solved.upper), solved.y)


def parts(solved):
    return [np.triu(solved.upper), solved.y, solved.residual, solved.size, solved.failed]


def assert_solved(accumulator, penalty, rows=ROWS, data=DATA, tol=1e-11):
    solved = accumulator.solve(penalty)
    upper, c = solved.upper, coefficients(solved)
    r, wanted = expected(penalty, rows, data)
    root = penalty if isinstance(penalty, np.ndarray) else penalty * np.eye(rows.shape[1])
    left = np.linalg.norm(np.vstack([rows @ wanted - data, root @ wanted]), axis=0)
    # The sums know the residual to half of the digits.
    np.testing.assert_allclose(solved.residual, left, atol=1e-6 * np.max(solved.size, initial=1.0))
    np.testing.assert_allclose(solved.size, np.linalg.norm(data, axis=0), rtol=1e-12)
    assert solved.failed == 0
    assert upper.shape == r.shape
    np.testing.assert_allclose(np.abs(np.triu(upper)), np.abs(r), rtol=tol, atol=tol * np.abs(r).max())
    np.testing.assert_allclose(c, wanted, rtol=tol, atol=tol)


@kinds
class TestAgainstNumPy:
    @penalties
    @pytest.mark.parametrize("cuts", [(), (20, 40), (1, 2, 3, 50), tuple(range(1, N))])
    def test_least_squares(self, kind, cuts, penalty):
        assert_solved(passed(kind, cuts), penalty)

    def test_rows_and_squares(self, kind):
        accumulator = passed(kind, (8, 30))
        assert accumulator.rows == N
        assert accumulator.squares == pytest.approx(np.sum(ROWS**2, axis=0), rel=1e-13)

    @penalties
    def test_without_data(self, kind, penalty):
        accumulator = kind(L)
        add(accumulator, ROWS)
        solved = accumulator.solve(penalty)
        upper = solved.upper
        assert solved.y.shape == (L, 0)
        assert solved.failed == 0
        r = expected(penalty)[0]
        np.testing.assert_allclose(np.abs(np.triu(upper)), np.abs(r), rtol=1e-11, atol=1e-11)

    def test_one_function(self, kind):
        assert_solved(passed(kind, (3,), ROWS[:, :1]), 0.1, ROWS[:, :1])

    def test_many_columns_and_more_functions_than_a_panel(self, kind):
        rng = np.random.default_rng(2)
        rows, data = rng.normal(size=(200, 70)), rng.normal(size=(200, 40))
        assert_solved(passed(kind, (5, 30, 120), rows, data), 0.5, rows, data, tol=1e-10)

    @pytest.mark.parametrize("penalty", [0.3, ROOT], ids=["number", "matrix"])
    def test_fewer_rows_than_functions_with_a_penalty(self, kind, penalty):
        assert_solved(passed(kind, (1,), ROWS[:3], DATA[:3]), penalty, ROWS[:3], DATA[:3])

    def test_no_rows_at_all(self, kind):
        solved = kind(L, B).solve(0.5)
        assert solved.failed == 0
        np.testing.assert_allclose(np.abs(np.triu(solved.upper)), 0.5 * np.eye(L))
        assert not np.any(solved.y)

    @settings(max_examples=40, deadline=None)
    @given(cuts=st.sets(st.integers(1, N - 1)), penalty=st.sampled_from([0.0, 0.3, ROOT]))
    def test_any_split(self, kind, cuts, penalty):
        assert_solved(passed(kind, sorted(cuts)), penalty)

    @settings(max_examples=40, deadline=None)
    @given(owner=st.lists(st.integers(0, 3), min_size=N, max_size=N), order=st.permutations(range(4)))
    def test_any_rows_merged_in_any_order(self, kind, owner, order):
        parts = [passed(kind, (), ROWS[own], DATA[own]) for own in (np.array(owner) == k for k in range(4)) if any(own)]
        whole = kind(L, B)
        for k in order:
            if k < len(parts):
                whole = whole.merged(parts[k])
        assert whole.rows == N
        assert_solved(whole, 0.3)


@kinds
class TestGoingOn:
    @penalties
    def test_solving_in_the_middle_does_no_harm(self, kind, penalty):
        accumulator = kind(L, B)
        for k in range(0, N, 15):
            add(accumulator, ROWS[k : k + 15], DATA[k : k + 15])
            assert_solved(accumulator, penalty, ROWS[: k + 15], DATA[: k + 15])
            assert_solved(accumulator, ROOT, ROWS[: k + 15], DATA[: k + 15])
        straight = passed(kind, (15, 30, 45))
        for one, other in zip(parts(accumulator.solve(penalty)), parts(straight.solve(penalty)), strict=True):
            np.testing.assert_array_equal(one, other)

    def test_the_penalty_is_left_alone(self, kind):
        before = ROOT.copy()
        passed(kind).solve(ROOT)
        np.testing.assert_array_equal(ROOT, before)

    @pytest.mark.parametrize("copied", [deepcopy, lambda a: pickle.loads(pickle.dumps(a))], ids=["copy", "pickle"])
    def test_a_copy_goes_on_to_the_same_bits(self, kind, copied):
        first = passed(kind, (13,), ROWS[:30], DATA[:30])
        second = copied(first)
        assert second.rows == 30
        for accumulator in (first, second):
            add(accumulator, ROWS[30:], DATA[30:])
        assert second.rows == N
        for one, other in zip(parts(first.solve(0.3)), parts(second.solve(0.3)), strict=True):
            np.testing.assert_array_equal(one, other)
        assert_solved(second, 0.3)

    def test_a_pickle_has_one_triangle_and_no_room(self, kind):
        accumulator = kind(100)
        add(accumulator, RNG.normal(size=(2000, 100)))
        assert len(pickle.dumps(accumulator)) < 8 * 100 * 101 / 2 + 1000

    def test_what_is_kept_restores_the_state_to_the_bit(self, kind):
        accumulator = passed(kind, (), ROWS[:30], DATA[:30])
        before, kept = accumulator.solve(0.3), accumulator.kept()
        add(accumulator, ROWS[30:], DATA[30:])  # what was taken out does not change
        other = kind(L, B)
        other.restore(kept)
        for one, two in zip(parts(other.solve(0.3)), parts(before), strict=True):
            np.testing.assert_array_equal(one, two)
        add(other, ROWS[30:], DATA[30:])  # nor does it when another goes on from it
        again = kind(L, B)
        again.restore(kept)
        for one, two in zip(parts(again.solve(0.3)), parts(before), strict=True):
            np.testing.assert_array_equal(one, two)

    def test_room_of_another_size(self, kind):
        accumulator = kind(L, B)
        for n in (1, 5, 5, 2, 17, 30):
            done = accumulator.rows
            add(accumulator, ROWS[done : done + n], DATA[done : done + n])
        assert_solved(accumulator, 0.1)


@kinds
class TestSingular:
    def test_no_rows(self, kind):
        assert kind(L, B).solve(0.0).failed != 0

    def test_a_function_that_is_zero_everywhere(self, kind):
        rows = ROWS.copy()
        rows[:, 4] = 0.0
        accumulator = passed(kind, (20,), rows)
        assert accumulator.solve(0.0).failed == 5
        assert_solved(accumulator, 0.3, rows)


def test_a_triangle_keeps_digits_that_sums_lose():
    rows = np.vander(np.linspace(0, 1, N), 9)
    c = np.arange(1.0, 10.0)[:, None]
    errors = {}
    for kind in (Triangle, NormalSums):
        errors[kind] = np.abs(coefficients(passed(kind, range(7, N, 7), rows, rows @ c).solve(0.0)) - c).max()
    assert errors[Triangle] < 1e-8
    assert errors[Triangle] < 1e-3 * errors[NormalSums]


@kinds
def test_a_copy_goes_its_own_way(kind):
    first = passed(kind, rows=ROWS[:30], data=DATA[:30])
    other = pickle.loads(pickle.dumps(first))
    add(other, ROWS[30:], DATA[30:])
    assert (first.rows, other.rows) == (30, N)
    assert_solved(first, 0.0, ROWS[:30], DATA[:30])
    assert_solved(other, 0.0)
