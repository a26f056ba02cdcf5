"""Places that are asked for again and again: functions are called once for all of them, and nothing else changes."""

import gc
import weakref

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.language.foreseen import MOST, foreseeing, placed
from kernop.language.ops import coefficient_values, linear_forms, reading_once

SQUARE = ko.Box([0, 0], [1, 1])
METHOD = ko.Partition(cells=2, degree=7, levels=0)
PLACE = np.array([[0.3, 0.6]])


class Owner:
    pass


def darcy(coefficient):
    return ko.Problem(
        ko.Equation(lambda u: -ko.div(coefficient * ko.grad(u)), on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.boundary, name="g"),
    )


def test_what_was_asked_for_twice_is_expected_and_nothing_else():
    owner, inner, outer = Owner(), SQUARE.sample(30), SQUARE.boundary.sample(20)
    for expected in (False, False, True, True):
        with foreseeing(owner):
            one, other = placed(inner), placed(outer)
            assert (one.x is other.x) == (one.known is other.known) == expected
            assert np.array_equal(one.x[one.rows], inner.x)
            assert np.array_equal(other.x[other.rows], outer.x)
            assert np.array_equal(other.normal[other.rows], outer.normal)
            assert np.allclose(np.linalg.norm(other.normal, axis=1), 1.0)
            assert one.normal is None
            assert placed(SQUARE.sample(30)).x is not one.x  # the same places in another array
    with foreseeing(Owner()):
        assert placed(inner).x is not placed(outer).x
    assert placed(inner).x is not placed(outer).x


def test_of_many_places_those_that_have_room_are_remembered_and_an_owner_may_go():
    owner, few, many = Owner(), SQUARE.sample(30), SQUARE.sample(MOST)
    for _ in range(3):
        with foreseeing(owner):
            first, second = placed(few), placed(many)
    assert first.x is not second.x
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_a_function_is_called_once_for_all_places_of_a_problem_that_is_learned_again():
    calls = []

    def a(x):
        calls.append(x.shape)
        return 1.5 + jnp.sin(3.0 * x[..., 0]) * x[..., 1]

    problem, counts, found = darcy(a), [], []
    for _ in range(40):
        calls.clear()
        T = ko.learn(problem, method=METHOD)
        counts.append(len(calls))
        found.append(T(0.0, lambda x: x[..., 0])(PLACE))
    assert counts[-1] == 1  # values at sides, points and seams; slopes are compiled by now
    assert counts[1] > 2
    np.testing.assert_allclose(np.array(found), found[-1][0], rtol=1e-12)


def test_a_coefficient_that_changes_between_learns_is_seen():
    factor = [1.0]
    problem = darcy(lambda x: factor[0] * (1.5 + x[..., 0]))
    for k in (1.0, 1.0, 1.0, 4.0, 4.0, 0.5):
        factor[0] = k
        same = ko.learn(darcy(lambda x, k=k: k * (1.5 + x[..., 0])), method=METHOD)
        own = ko.learn(problem, method=METHOD)
        np.testing.assert_allclose(own.on(PLACE).matrix, same.on(PLACE).matrix, rtol=1e-10, atol=1e-14)


def test_what_is_not_finite_is_reported_where_it_is():
    bad = [False]

    def a(x):
        return jnp.where((x[..., 0] > 0.9) & bad[0], jnp.nan, 1.0 + x[..., 1])

    points, other = SQUARE.sample(50), SQUARE.boundary.sample(20)
    op, owner = lambda u: a * ko.laplacian(u), Owner()
    for bad[0] in (False, False, True):
        with reading_once(owner):
            forms, _ = linear_forms(op, points)
            inside = SQUARE.adopt(points.x[points.x[:, 0] < 0.9])
            for own in (points, other) if not bad[0] else (inside,):
                coefficient_values(forms, own, "f")
            if bad[0]:
                with pytest.raises(ko.errors.NonFiniteError, match=r"f: .*\[0\.9"):
                    coefficient_values(forms, points, "f")
