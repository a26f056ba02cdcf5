"""Functionals as rows: blocks, slices, scaling and selection against brute force."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError
from kernop.collocation.ansatz import Ansatz, collocate
from kernop.collocation.functionals import Block, Functionals, Layout

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u) + (lambda x: x[..., 0]) * u, on=SQUARE, name="f"),
    ko.Dirichlet(on=SQUARE.face("left"), name="g"),
    ko.Neumann(on=SQUARE.face("top"), name="q"),
)
POINTS = {"f": SQUARE.sample(6), "g": SQUARE.face("left").sample(4), "q": SQUARE.face("top").sample(3)}
ROWS = collocate(PROBLEM, POINTS)


def quadratic_value(functionals):
    """(P_i u) for u = 1 + 2x − 3y + 4x² + 5xy + 6y², written out with the coefficients of each row."""
    values = []
    for block in functionals.blocks:
        for row in range(len(block)):
            x, y = block.x[row]
            derivative = {
                (0, 0): 1 + 2 * x - 3 * y + 4 * x**2 + 5 * x * y + 6 * y**2,
                (1, 0): 2 + 8 * x + 5 * y,
                (0, 1): -3 + 5 * x + 12 * y,
                (2, 0): 8,
                (1, 1): 5,
                (0, 2): 12,
            }
            values.append(sum(c * derivative[a] for a, c in zip(block.alphas, block.coefficients[row], strict=True)))
    return np.array(values)


def expected_values():
    f, g, q = (POINTS[name].x for name in "fgq")
    u = lambda x: 1 + 2 * x[:, 0] - 3 * x[:, 1] + 4 * x[:, 0] ** 2 + 5 * x[:, 0] * x[:, 1] + 6 * x[:, 1] ** 2
    return np.concatenate([-20 + f[:, 0] * u(f), u(g), -3 + 5 * q[:, 0] + 12 * q[:, 1]])


def test_rows_are_the_conditions_at_their_points_in_order():
    assert len(ROWS) == 13
    assert ROWS.dim == 2
    assert ROWS.order == 2
    np.testing.assert_allclose(quadratic_value(ROWS), expected_values(), rtol=1e-12)


def test_slices_tile_the_rows():
    assert ROWS.slices == (slice(0, 6), slice(6, 10), slice(10, 13))
    for (rows, block), name in zip(ROWS, "fgq", strict=True):
        assert rows.stop - rows.start == len(block)
        np.testing.assert_array_equal(block.x, POINTS[name].x)


def test_scaled_multiplies_each_row():
    factors = np.random.default_rng(0).normal(size=13)
    before = quadratic_value(ROWS)
    np.testing.assert_allclose(quadratic_value(ROWS.scaled(factors)), factors * before, rtol=1e-12)
    np.testing.assert_array_equal(quadratic_value(ROWS), before)


@pytest.mark.parametrize("rows", [[0], [12], [5, 6], [0, 3, 6, 9, 10, 12], list(range(13)), [1, 2, 11]])
def test_take_picks_rows(rows):
    taken = ROWS.take(np.array(rows))
    assert len(taken) == len(rows)
    np.testing.assert_array_equal(quadratic_value(taken), quadratic_value(ROWS)[rows])
    assert all(len(block) for block in taken.blocks)


@pytest.mark.parametrize("number", [1, 2, 5, 12, 13])
def test_spread_has_the_number_and_is_even(number):
    taken = ROWS.spread(number)
    assert len(taken) == number
    values = quadratic_value(ROWS).tolist()
    picked = [values.index(value) for value in quadratic_value(taken)]
    gaps = np.diff(picked)
    if number > 1:
        assert picked[0] == 0
        assert picked[-1] == 12
        assert gaps.min() >= 1
        assert gaps.max() - gaps.min() <= 1


def test_spread_of_more_than_there_are_is_all():
    np.testing.assert_array_equal(quadratic_value(ROWS.spread(100)), quadratic_value(ROWS))


@pytest.mark.parametrize("total", [7, 100, 999, 1000])
def test_spread_never_loses_one_to_rounding(total):
    x = np.linspace(0, 1, total)[:, None]
    line = Functionals((Block(x, ((0, (0,)),), np.ones((total, 1))),))
    assert [len(line.spread(n)) for n in range(1, total + 1)] == list(range(1, total + 1))


def test_merged_rows_mean_the_same_in_one_block():
    one = ROWS.merged()
    assert len(one.blocks) == 1
    np.testing.assert_array_equal(quadratic_value(one), quadratic_value(ROWS))


def test_a_multiplier_is_applied_before_the_operator():
    rho = lambda x: 1.0 + x[..., 0] * x[..., 1]
    rows = collocate(PROBLEM, POINTS, Ansatz(envelope=rho))

    def product(x, y):
        """ρu, its derivative along y, and its Laplacian, by the product rule with ∇ρ = (y, x)."""
        u = 1 + 2 * x - 3 * y + 4 * x**2 + 5 * x * y + 6 * y**2
        u_x, u_y = 2 + 8 * x + 5 * y, -3 + 5 * x + 12 * y
        r = 1 + x * y
        return r * u, x * u + r * u_y, 2 * (y * u_x + x * u_y) + 20 * r

    (f, _, f_lap), (g, _, _), (_, q_y, _) = (product(*POINTS[name].x.T) for name in "fgq")
    expected = np.concatenate([-f_lap + POINTS["f"].x[:, 0] * f, g, q_y])
    np.testing.assert_allclose(quadratic_value(rows), expected, rtol=1e-11, atol=1e-11)


def test_an_error_names_the_condition():
    problem = ko.Problem(ko.Equation(lambda u: (lambda x: jnp.log(x[..., 0] - 2)) * u, on=SQUARE, name="source"))
    with pytest.raises(ArgumentError, match=r"^source: got"):
        collocate(problem, {"source": SQUARE.sample(3)})


@pytest.mark.parametrize("envelope", [None, lambda x: x[..., 0] * (1 - x[..., 0])])
def test_a_condition_that_vanishes_at_all_points_is_refused(envelope):
    line = ko.Interval(0, 1)
    zero = (lambda u: (lambda x: 0 * x[..., 0]) * u) if envelope is None else (lambda u: u)
    problem = ko.Problem(ko.Condition(zero, on=line.boundary, name="g"))
    remedy = "involves u" if envelope is None else "the envelope ensures"
    with pytest.raises(ko.errors.OperatorError, match=f"g: got an operator that is zero at all points; .*{remedy}"):
        collocate(problem, {"g": line.boundary.sample(2)}, Ansatz(envelope=envelope))


# ---- rows that are sums over points


def summed():
    """Rows at points, two sums over 3 and 2 points, and a vector of two parts with a row for each of 40 points."""
    rng = np.random.default_rng(0)
    zero, slope = (0, (0, 0)), (1, (1, 0))
    points = Block(rng.random((4, 2)), (zero,), rng.standard_normal((4, 1)))
    sums = Block(rng.random((5, 2)), (zero, slope), rng.standard_normal((5, 2)), np.array([0, 3, 5]))
    parts = [Block(rng.random((40, 2)), (slope,), rng.standard_normal((40, 1))) for _ in range(2)]
    return Functionals((points, sums, *parts), (Layout(), Layout(), Layout(2)))


def field_values(rows):
    """What the rows say of u_0 = sin(x + 2 y), u_1 = x² y, point by point and then row by row."""
    found = []
    for block in rows.blocks:
        x, y = block.x.T
        table = {(0, (0, 0)): np.sin(x + 2.0 * y), (1, (1, 0)): 2.0 * x * y}
        single = sum(c * table[term] for term, c in zip(block.terms, block.coefficients.T, strict=True))
        ends = range(len(x) + 1) if block.starts is None else block.starts
        found += [single[a:b].sum() for a, b in itertools.pairwise(ends)]
    return np.array(found)


def test_sums_count_as_one_row():
    rows = summed()
    assert (len(rows), rows.count, rows.order, rows.summed) == (4 + 2 + 80, 2, 1, True)
    assert [len(own) for own in rows.conditions] == [4, 2, 80]
    assert len(rows.pointwise) == 4 + 5 + 80
    assert not rows.pointwise.summed
    single = field_values(rows.pointwise)
    for axis, values in ((0, single), (1, np.stack([single, single]))):
        parts = zip(rows.blocks, rows.divided(values, axis), strict=True)
        found = np.concatenate([block.collected(own, axis) for block, own in parts], axis=axis)
        np.testing.assert_allclose(found if axis == 0 else found[1], field_values(rows), rtol=1e-13)


def test_sums_in_one_block_are_the_same_rows():
    rows = summed()
    merged = rows.merged()
    assert len(merged.blocks) == 1
    np.testing.assert_allclose(field_values(merged), field_values(rows), rtol=1e-13)


@pytest.mark.parametrize("chosen", [[0, 3, 4], [4, 5], [5], [1, 5, 6, 85], list(range(86))])
def test_rows_are_taken_with_all_of_their_points(chosen):
    rows = summed()
    np.testing.assert_allclose(field_values(rows.take(np.array(chosen))), field_values(rows)[chosen], rtol=1e-13)


def test_sums_are_scaled_as_rows():
    rows = summed()
    factors = np.random.default_rng(1).standard_normal(len(rows))
    np.testing.assert_allclose(field_values(rows.scaled(factors)), factors * field_values(rows), rtol=1e-13)


def test_thinning_keeps_sums_and_all_parts_of_vectors():
    thin = summed().thinned(40)
    assert thin.layouts == summed().layouts
    points, sums, *parts = thin.blocks
    assert (len(points), len(sums), len(sums.x)) == (4, 2, 5)
    first, second = (
        [np.flatnonzero((own.x == x).all(axis=1))[0] for x in part.x]
        for own, part in zip(summed().blocks[2:], parts, strict=True)
    )
    assert first == second
    assert 10 <= len(first) < 40


def test_a_sum_over_all_points_is_an_integral():
    block = Block(np.random.default_rng(0).random((6, 2)), ((0, (0, 0)),), np.ones((6, 1)))
    weights = np.arange(1.0, 7.0)
    integral = block.integrated(weights)
    assert len(integral) == 1
    wanted = weights @ np.sin(block.x @ [1.0, 2.0])
    np.testing.assert_allclose(field_values(Functionals((integral,))), [wanted], rtol=1e-14)
    np.testing.assert_array_equal(integral.repeated(np.array([3.0])), np.full(6, 3.0))
