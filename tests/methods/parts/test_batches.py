"""Many columns of data through many parts: the same as one by one, and no column that is not satisfied hides."""

import numpy as np
import pytest
from scipy.linalg import block_diag

import kernop as ko
from kernop.methods.parts import glued

SQUARE = ko.Box([0, 0], [1, 1])
COLUMNS = 12


@pytest.fixture(scope="module", params=[3, 14])
def learned(request):
    """Small parts, which are applied together, and large ones; a coefficient that no two of them have alike."""
    coefficient = lambda x: 2.0 + x[..., 0] + 0.5 * x[..., 1] ** 2
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(coefficient * ko.grad(u)), on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.boundary, name="g"),
    )
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=request.param, levels=0))
    assert all(own.inner is None for own in T.factorisation.locals) == (request.param == 3)
    return T


def data(T, rough=0):
    """Linear functions u = b·x, for which f = −∇a·b; to some of the columns noise is added."""
    b = np.random.default_rng(0).normal(size=(2, COLUMNS))
    x = T.points["f"].x
    f = -(b[0] + x[:, 1:] * b[1])
    f[:, :rough] += 2e3 * np.random.default_rng(1).normal(size=(len(f), rough))
    return f, T.points["g"].x @ b, b


def test_coordinates_are_the_products_that_define_them(learned):
    """y = Qᵀ(w h) + C t on each part, with Q and C written out."""
    found = learned.factorisation
    f, g, _ = data(learned)
    h = np.concatenate([f, g])
    y, incoming = found._solved(h)
    each = np.split(y, found.expansion.starts[1:-1])
    parts = zip(found.locals, found.part_rows, found.roots, found.glue.owned, each, strict=True)
    for own, rows, roots, numbers, mine in parts:
        q = own.q if own.inner is None else block_diag(own.inner, own.q)
        c = np.zeros((len(own.upper), own.from_trace.shape[1]))
        c[own.split[1] :] = own.from_trace
        wanted = q.T @ (roots[:, None] * h[rows.numbers]) + c @ incoming[numbers]
        assert np.allclose(mine, wanted, rtol=1e-12, atol=1e-12 * np.max(np.abs(wanted)))
    weighted = np.concatenate(
        [root[:, None] * h[own.numbers] for own, root in zip(found.part_rows, found.roots, strict=True)]
    )
    assert found.answer(h).size == pytest.approx(np.linalg.norm(weighted, axis=0))


def test_what_is_left_of_many_columns_is_seen_in_a_few_of_their_combinations(learned):
    f, g, b = data(learned)
    h = np.concatenate([f, g])
    quick, slow = learned.factorisation.answer_again(h, 1e-3), learned.factorisation.answer(h)
    assert not quick.exact
    assert np.array_equal(quick.u.y, slow.u.y)
    assert np.max(slow.misfit) < 1e-10
    u = learned(f, g)
    x = SQUARE.sample(50, "uniform").x
    assert np.max(np.abs(u(x) - x @ b)) < 1e-10
    assert u.misfit == pytest.approx(slow.misfit)  # measured when it is asked for


def test_a_single_column_that_is_not_satisfied_is_told(learned):
    f, g, _ = data(learned, rough=1)
    with pytest.warns(ko.errors.AccuracyWarning, match="unsatisfied at the points"):
        u = learned(f, g)
    alone = np.array([learned.factorisation.answer(np.concatenate([f, g])[:, k : k + 1]).misfit[0] for k in (0, 1)])
    assert alone[0] > 0.01 > 1e-9 > alone[1]
    assert u.misfit[:2] == pytest.approx(alone, rel=1e-6, abs=1e-12)


def test_few_columns_are_measured_at_once(learned):
    f, g, _ = data(learned)
    few = glued.COMBINED
    assert learned.factorisation.answer_again(np.concatenate([f, g])[:, :few], 1e-3).exact
