"""Wrappers of LAPACK and BLAS against NumPy."""

import numpy as np
import pytest
from scipy.linalg import lapack

from kernop.basics import linalg
from kernop.basics.linalg import (
    cholesky,
    orthogonal,
    orthonormal_by_squares,
    pivoted_cholesky,
    product_of_upper,
    qr_seconds,
    right_solve_upper,
    solve_lower,
    solve_upper,
    syrk,
)

RNG = np.random.default_rng(0)
TALL = RNG.normal(size=(30, 7))
POSITIVE = TALL.T @ TALL + np.eye(7)
RIGHT = RNG.normal(size=(7, 3))


def fortran(a):
    return np.array(a, order="F")


class TestCholesky:
    def test_lower_triangle_and_pivots(self):
        factor, failed = cholesky(fortran(POSITIVE))
        expected = np.linalg.cholesky(POSITIVE)
        assert failed == 0
        np.testing.assert_allclose(np.tril(factor.lower), expected, rtol=1e-12)
        np.testing.assert_allclose(factor.pivots, np.diagonal(expected) ** 2, rtol=1e-12)

    @pytest.mark.parametrize("right", [RIGHT, RIGHT[:, :1], RIGHT[:, 0], np.ascontiguousarray(RIGHT.T).T])
    def test_solve(self, right):
        factor, _ = cholesky(fortran(POSITIVE))
        before = right.copy()
        np.testing.assert_allclose(factor.solve(right), np.linalg.solve(POSITIVE, right), rtol=1e-10)
        np.testing.assert_array_equal(right, before)

    def test_half_solve(self):
        factor, _ = cholesky(fortran(POSITIVE))
        expected = np.linalg.solve(np.linalg.cholesky(POSITIVE), RIGHT)
        np.testing.assert_allclose(factor.half_solve(RIGHT), expected, rtol=1e-10)

    def test_only_the_lower_triangle_is_read(self):
        dirty = fortran(np.tril(POSITIVE) + np.triu(np.full((7, 7), 1e9), 1))
        factor, _ = cholesky(dirty)
        np.testing.assert_allclose(factor.solve(RIGHT), np.linalg.solve(POSITIVE, RIGHT), rtol=1e-10)

    def test_works_in_place(self):
        a = fortran(POSITIVE)
        factor, _ = cholesky(a)
        assert np.shares_memory(a, factor.lower)

    @pytest.mark.parametrize("m", [1, 7, 50])
    def test_plus(self, m):
        rows = RNG.normal(size=(m, 7))
        factor, _ = cholesky(fortran(POSITIVE))
        before = factor.lower.copy()
        found = np.tril(factor.plus(rows).lower)
        np.testing.assert_allclose(found @ found.T, POSITIVE + rows.T @ rows, rtol=1e-11, atol=1e-12)
        np.testing.assert_array_equal(factor.lower, before)

    @pytest.mark.parametrize("known", [1, 4, 6])
    def test_bordered(self, known):
        factor, _ = cholesky(fortran(POSITIVE[:known, :known]))
        grown, failed = factor.bordered(POSITIVE[known:, :known], fortran(np.tril(POSITIVE[known:, known:])))
        assert failed == 0
        np.testing.assert_allclose(np.tril(grown.lower), np.linalg.cholesky(POSITIVE), rtol=1e-10, atol=1e-13)
        assert grown.lower.flags.f_contiguous
        np.testing.assert_allclose(grown.solve(RIGHT), np.linalg.solve(POSITIVE, RIGHT), rtol=1e-10)

    def test_bordered_tells_the_failing_row(self):
        factor, _ = cholesky(fortran(np.eye(3)))
        assert factor.bordered(np.zeros((2, 3)), fortran(np.diag([1.0, -1.0])))[1] == 5

    @pytest.mark.parametrize("n", [7, 100])  # one panel, and several
    @pytest.mark.parametrize("gone", [[0], [6], [3], [0, 1, 2], [4, 5, 6], [1, 3, 5], [0, 1, 2, 3, 4, 5]])
    def test_without(self, n, gone):
        tall = np.random.default_rng(1).normal(size=(2 * n, n))
        whole = tall.T @ tall
        dropped = np.isin(np.arange(n), np.array(gone) * (n // 7))
        factor, _ = cholesky(fortran(whole))
        factor.lower[np.triu_indices(n, 1)] = np.nan  # leftovers, not to be read
        found = factor.without(dropped)
        lower = np.tril(found.lower)
        expected = whole[np.ix_(~dropped, ~dropped)]
        np.testing.assert_allclose(lower @ lower.T, expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())
        right = np.ones((len(expected), 2))
        np.testing.assert_allclose(found.solve(right), np.linalg.solve(expected, right), rtol=1e-8)

    def test_tells_the_failing_row(self):
        indefinite = np.diag([1.0, 2.0, -3.0, 4.0])
        assert cholesky(fortran(indefinite))[1] == 3


def least_squares(factor, b):
    """argmin |A c − [b; 0]|, by R⁻¹ Qᵀ."""
    return solve_upper(factor.upper, factor.rotated(b)[0])


class TestOrthogonal:
    def test_triangle_is_that_of_numpy_up_to_signs(self):
        factor = orthogonal(TALL)
        expected = np.linalg.qr(TALL).R
        np.testing.assert_allclose(np.abs(np.triu(factor.upper)), np.abs(expected), rtol=1e-11, atol=1e-13)

    def test_columns_are_orthonormal_and_rebuild_the_matrix(self):
        factor = orthogonal(TALL)
        q = factor.columns(30)
        np.testing.assert_allclose(q.T @ q, np.eye(7), atol=1e-13)
        np.testing.assert_allclose(q @ np.triu(factor.upper), TALL, atol=1e-13)
        np.testing.assert_array_equal(factor.columns(4), q[:4])
        np.testing.assert_array_equal(factor.columns(30), q)  # the reflectors are still there

    @pytest.mark.parametrize("columns", [1, 3, 100])
    def test_least_squares(self, columns):
        b = RNG.normal(size=(30, columns))
        expected = np.linalg.lstsq(TALL, b, rcond=None)[0]
        np.testing.assert_allclose(least_squares(orthogonal(TALL), b), expected, rtol=1e-9, atol=1e-12)

    def test_least_squares_with_zeros_below(self):
        b = RNG.normal(size=(20, 2))
        expected = np.linalg.lstsq(TALL, np.vstack([b, np.zeros((10, 2))]), rcond=None)[0]
        before = b.copy()
        np.testing.assert_allclose(least_squares(orthogonal(TALL), b), expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(b, before)

    def test_products_with_q(self):
        factor = orthogonal(TALL)
        q = np.linalg.qr(TALL, mode="complete").Q
        b, top = RNG.normal(size=(20, 2)), RNG.normal(size=(7, 2))
        signs = np.sign(np.diagonal(factor.upper) * np.diagonal(np.linalg.qr(TALL).R))[:, None]
        np.testing.assert_allclose(
            factor.rotated(b)[0], signs * (q.T @ np.vstack([b, np.zeros((10, 2))]))[:7], atol=1e-13
        )
        np.testing.assert_allclose(factor.times(top), q[:, :7] @ (signs * top), atol=1e-13)

    def test_right_solve(self):
        factor = orthogonal(TALL)
        e = RNG.normal(size=(5, 7))
        np.testing.assert_allclose(right_solve_upper(factor.upper, e) @ np.triu(factor.upper), e, atol=1e-12)

    @pytest.mark.parametrize("size", [7, 500, 701])  # OpenBLAS: from 400 on bits depend on the number of columns
    def test_right_solve_gives_a_row_the_same_bits_whatever_rows_it_comes_with(self, size):
        upper = np.asfortranarray(np.triu(RNG.normal(size=(size, size))) + size**0.5 * np.eye(size))
        e = RNG.normal(size=(1100, size))
        whole = right_solve_upper(upper, e)
        np.testing.assert_allclose(whole @ upper, e, atol=1e-10)
        for rows in (slice(0, 1), slice(1, 25), slice(475, 520), slice(3, 700)):
            np.testing.assert_array_equal(right_solve_upper(upper, e[rows]), whole[rows])
        np.testing.assert_array_equal(right_solve_upper(np.ascontiguousarray(upper), e[480:]), whole[480:])

    def test_keeps_digits_that_normal_equations_lose(self):
        a = np.vander(np.linspace(0, 1, 30), 9)
        c = np.arange(1.0, 10.0)
        found = least_squares(orthogonal(a), (a @ c)[:, None])[:, 0]
        squared = np.linalg.solve(a.T @ a, a.T @ (a @ c))
        assert np.abs(found - c).max() < 1e-2 * np.abs(squared - c).max()

    @pytest.mark.parametrize("shape", [(30, 7), (64, 64), (200, 64), (150, 65), (300, 140)])
    def test_what_is_left_is_the_residual(self, shape):
        a, b = RNG.normal(size=shape), RNG.normal(size=(shape[0], 2))
        top, below = orthogonal(a).rotated(b)
        residual = b - a @ np.linalg.lstsq(a, b, rcond=None)[0]
        np.testing.assert_allclose(np.linalg.norm(below, axis=0), np.linalg.norm(residual, axis=0), atol=1e-12)
        assert top.shape == (shape[1], 2)
        np.testing.assert_allclose(orthogonal(a).times(top), b - residual, atol=1e-11)

    @pytest.mark.parametrize("shape", [(30, 7), (150, 65), (300, 140)])
    def test_from_the_scalars_alone(self, shape):
        """As files of the first version have it: reflectors and τ of geqrf."""
        a, b = RNG.normal(size=shape), RNG.normal(size=(shape[0], 3))
        packed, tau, _, _ = lapack.dgeqrf(a)
        factor = linalg.blocked(packed, tau)
        expected = lapack.dormqr("L", "T", packed, tau, np.asfortranarray(b), lwork=300)[0]
        np.testing.assert_allclose(np.vstack(factor.rotated(b)), expected, atol=1e-12)
        np.testing.assert_allclose(factor.columns(shape[0]), lapack.dorgqr(packed, tau)[0], atol=1e-13)

    def test_square(self):
        np.testing.assert_allclose(
            least_squares(orthogonal(POSITIVE), RIGHT), np.linalg.solve(POSITIVE, RIGHT), rtol=1e-9
        )


def test_syrk_is_half_of_a_product():
    found = syrk(TALL)
    np.testing.assert_allclose(np.tril(found), np.tril(TALL.T @ TALL), rtol=1e-12)
    assert np.all(np.triu(found, 1) == 0.0)
    assert found.flags.f_contiguous


def test_subtract_product_in_place_within_a_wider_array():
    rng = np.random.default_rng(0)
    whole = np.asfortranarray(rng.normal(size=(7, 9)))
    before, b = whole.copy(), rng.normal(size=(3, 4))
    linalg.subtract_product(whole[:, 4:7], whole[:, :4], b)
    np.testing.assert_allclose(whole[:, 4:7], before[:, 4:7] - before[:, :4] @ b.T, rtol=1e-13)
    np.testing.assert_array_equal(whole[:, [0, 1, 2, 3, 7, 8]], before[:, [0, 1, 2, 3, 7, 8]])


def test_triangular_solves_ignore_the_other_triangle():
    lower = np.tril(RNG.normal(size=(7, 7))) + 4 * np.eye(7)
    dirty = lower + np.triu(np.ones((7, 7)), 1)
    np.testing.assert_allclose(solve_lower(dirty, RIGHT), np.linalg.solve(lower, RIGHT), rtol=1e-10)
    np.testing.assert_allclose(solve_upper(dirty.T, RIGHT), np.linalg.solve(lower.T, RIGHT), rtol=1e-10)


class TestPivotedCholesky:
    def test_full_rank(self):
        rows, lower = pivoted_cholesky(POSITIVE, 1e-12)
        assert sorted(rows) == list(range(7))
        np.testing.assert_allclose(lower @ lower.T, POSITIVE[np.ix_(rows, rows)], rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(lower, np.tril(lower))
        assert np.all(np.diff(np.diagonal(lower)) <= 0)
        assert rows[0] == np.argmax(np.diagonal(POSITIVE))

    def test_stops_at_the_rank(self):
        a = RNG.normal(size=(12, 4))
        rows, lower = pivoted_cholesky(a @ a.T, 1e-10)
        assert lower.shape == (4, 4)
        np.testing.assert_allclose(lower @ lower.T, (a @ a.T)[np.ix_(rows, rows)], rtol=1e-10)

    def test_pivots_exceed_the_smallest(self):
        rows, lower = pivoted_cholesky(np.diag([1e-3, 5.0, 1.0, 1e-6]), 1e-2)
        np.testing.assert_array_equal(rows, [1, 2])
        np.testing.assert_allclose(np.diagonal(lower), np.sqrt([5.0, 1.0]))

    def test_leaves_its_argument_alone(self):
        before = fortran(POSITIVE)
        given = before.copy(order="F")
        pivoted_cholesky(given, 1e-12)
        np.testing.assert_array_equal(given, before)


def test_the_time_of_a_large_factorisation_is_told_from_a_small_one():
    assert qr_seconds(1000, 300) == 0.0  # not worth it
    times = [qr_seconds(4000 * k, 2000) for k in (1, 10)]
    assert 0.0 < times[0] < times[1]


class TestNearlyOrthogonalColumns:
    @pytest.mark.parametrize("condition", [1.0, 5.0, 1e3, 1e7, 1e13])
    def test_q_is_orthonormal_whatever_the_condition(self, condition):
        q, _ = np.linalg.qr(RNG.normal(size=(300, 170)))
        turn, _ = np.linalg.qr(RNG.normal(size=(170, 170)))
        a = (q * np.geomspace(1.0, 1.0 / condition, 170)) @ turn
        found, upper = orthonormal_by_squares(fortran(a))
        assert np.max(np.abs(found.T @ found - np.eye(170))) < 1e-13
        assert np.max(np.abs(found @ upper - a)) < 1e-14
        assert not np.any(np.tril(upper, -1))

    def test_columns_that_depend_on_each_other_have_an_orthonormal_q_too(self):
        a = fortran(np.hstack([TALL, TALL[:, :2]]))
        found, upper = orthonormal_by_squares(a.copy(order="F"))
        assert np.max(np.abs(found.T @ found - np.eye(9))) < 1e-13
        assert np.max(np.abs(found @ upper - a)) < 1e-13

    @pytest.mark.parametrize("n", [1, 7, 128, 129, 300])
    def test_products_of_triangles(self, n):
        one, other = (np.triu(RNG.normal(size=(n, n))) for _ in range(2))
        found = product_of_upper(one, other)
        assert np.max(np.abs(found - one @ other)) < 1e-12
        assert not np.any(np.tril(found, -1))
