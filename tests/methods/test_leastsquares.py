"""Least squares applied again and again: an explicit Q in place of reflectors."""

from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import numpy as np
import pytest

import kernop as ko
from kernop.methods import leastsquares

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g")
)


def learned(regularization=None):
    return ko.learn(PROBLEM, points=260, method=ko.Subspace(90), regularization=regularization)


PLAIN, PENALISED = learned(), learned(1e-6)
LONGER = PLAIN.update({"f": SQUARE.sample(20, seed=3)})
ALL = pytest.mark.parametrize("operator", [PLAIN, PENALISED, LONGER], ids=["plain", "penalised", "with more rows"])


def columns(operator, rough):
    """Data of a resolved solution and, of this relative size, data that no solution has: (N, 1)."""
    c = np.random.default_rng(0).normal(size=(len(operator.factorisation.expansion), 1))
    h = operator.factorisation.expansion.matrix(operator.collocated) @ c
    return h + rough * np.linalg.norm(h) / np.sqrt(len(h)) * np.random.default_rng(1).normal(size=h.shape)


@ALL
@pytest.mark.parametrize("rough", [0.0, 1e-8, 1e-4, 1.0])
@pytest.mark.parametrize("enough", [1e-12, 1e-3])
def test_the_same_answer(operator, rough, enough):
    h = columns(operator, rough)
    found, expected = operator.factorisation.answer_again(h, enough), operator.factorisation.answer(h)
    size = np.linalg.norm(expected.u.y)
    np.testing.assert_allclose(found.u.y, expected.u.y, rtol=0, atol=1e-14 * size)
    np.testing.assert_allclose(found.size, expected.size, rtol=1e-14)
    if found.exact:
        np.testing.assert_allclose(found.residual, expected.residual, rtol=1e-6, atol=1e-14 * size)
    else:
        assert expected.misfit[0] <= enough
        assert enough == 1e-3


@ALL
def test_what_is_left_is_known_to_all_digits_when_it_is_asked_for(operator):
    u = operator(lambda x: np.sin(3.0 * x[..., 0]), lambda x: x[..., 1] ** 2)
    expected = operator.factorisation.answer(u.data).misfit[0]
    assert u.misfit == pytest.approx(expected, rel=1e-12)


def test_where_it_is_too_large_it_is_not_made():
    with patch.object(leastsquares, "KEPT", 100), patch.object(leastsquares, "_thin", None):
        assert learned()(1.0, 0.0).misfit >= 0.0


def test_eight_threads_make_it_once_and_have_the_same_bits():
    operator, made = learned(), []
    columns = type(operator.factorisation.factor).columns

    def counted(self, n):
        made.append(n)
        return columns(self, n)

    with patch.object(type(operator.factorisation.factor), "columns", counted), ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: operator(1.0, 0.0).function.y, range(32)))
    assert len(made) == 1
    assert all(np.array_equal(y, found[0]) for y in found)
