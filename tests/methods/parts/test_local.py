"""Parts on whose faces values are given: bubbles and all other functions, against least squares written out."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.methods.spaces.polynomials import legendre, total_degree

SQUARE = ko.Box([0, 0], [1, 1])


def coefficient(x, m=jnp):
    return 1.5 + 0.4 * m.sin(3.0 * x[..., 0]) * x[..., 1]


def flow(u):
    return -ko.div(coefficient * ko.grad(u)) + ko.partial(u, 0) + 2.0 * u


def exact(x, m=jnp):
    return m.sin(2.0 * x[..., 0] + 1.0) * m.exp(0.5 * x[..., 1])


PROBLEMS = {
    "values": ko.Problem(ko.Equation(flow, on=SQUARE, name="f"), ko.Dirichlet(on=SQUARE.boundary, name="g")),
    "values first, on two pieces": ko.Problem(
        ko.Dirichlet(on=SQUARE.face("x0-"), name="g"),
        ko.Dirichlet(on=SQUARE.face("x0+", "x1-", "x1+"), name="k"),
        ko.Equation(flow, on=SQUARE, name="f"),
    ),
    "a slope on one side": ko.Problem(
        ko.Equation(flow, on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.face("x0-", "x1-", "x1+"), name="g"),
        ko.Neumann(on=SQUARE.face("x0+"), name="q"),
    ),
}


@pytest.fixture(scope="module", params=PROBLEMS)
def learned(request):
    return ko.learn(PROBLEMS[request.param], method=ko.Partition(cells=3, degree=12, levels=0))


def with_bubbles(T):
    return [own.inner is not None for own in T.factorisation.locals]


def test_bubbles_are_taken_where_values_are_all_that_is_given(learned):
    """All parts but those at a side with slopes."""
    low = learned.factorisation.expansion.mosaic.cells.high[:, 0] < 1.0 - 1e-9
    sloped = "q" in learned.problem.names
    assert with_bubbles(learned) == (low.tolist() if sloped else [True] * 9)


def test_known_solutions(learned):
    x = SQUARE.sample(200, "uniform").x
    u = learned(**learned.problem.manufacture(exact, learned.points))
    np.testing.assert_allclose(u(x), exact(x, np), atol=2e-10)
    assert u.misfit < 1e-9


def test_what_rows_make_of_the_functions(learned):
    """Weighted rows of data by each part, beside the conditions applied to its polynomials."""
    found = learned.factorisation
    y = np.random.default_rng(0).normal(size=(len(found.expansion), 2))
    applied = found.expansion.apply(learned.collocated, y)
    parts = zip(found.locals, found.part_rows, found.roots, y.reshape(9, -1, 2), strict=True)
    for own, rows, roots, mine in parts:
        wanted = roots[:, None] * applied[rows.numbers]
        np.testing.assert_allclose(own.seen(mine), wanted, atol=1e-11 * np.max(np.abs(wanted)))


def test_the_transpose(learned):
    """ψ(x) h = u(x) for data that no solution has."""
    rng, x = np.random.default_rng(1), SQUARE.sample(7, "uniform").x
    data = {name: rng.normal(size=len(learned.points[name])) for name in learned.problem.names}
    h = np.concatenate([data[name] for name in learned.problem.names])
    with pytest.warns(ko.errors.AccuracyWarning):
        values = learned(**data)(x)
    np.testing.assert_allclose(learned.basis(x) @ h, values, atol=1e-10 * np.max(np.abs(values)))


def test_one_cell_is_least_squares_with_values_that_outweigh_equations():
    """In the limit of large weights of values on faces, in another basis; for data that no polynomial satisfies."""
    T = ko.learn(PROBLEMS["values"], method=ko.Partition(cells=1, degree=8, levels=0))
    assert with_bubbles(T) == [True]
    f, g = (np.cos(9.0 * T.points[name].x @ [1.0, 2.0]) for name in ("f", "g"))
    degrees = total_degree(2, 45)

    def table(x, *alpha):
        one, other = (legendre(2.0 * x[:, k] - 1.0, 8, 2)[own] * 2.0**own for k, own in enumerate(alpha))
        return (one[degrees[:, 0]] * other[degrees[:, 1]]).T

    x = T.points["f"].x
    a, slopes = coefficient(x, np), np.stack([1.2 * np.cos(3 * x[:, 0]) * x[:, 1], 0.4 * np.sin(3 * x[:, 0])])
    rows = -a[:, None] * (table(x, 2, 0) + table(x, 0, 2)) + 2.0 * table(x, 0, 0)
    rows += (1.0 - slopes[0])[:, None] * table(x, 1, 0) - slopes[1][:, None] * table(x, 0, 1)
    values = table(T.points["g"].x, 0, 0)
    _, _, right = np.linalg.svd(values)
    rank = np.linalg.matrix_rank(values)
    given, free = np.linalg.lstsq(values, g, rcond=1e-12)[0], right[rank:].T
    c = given + free @ np.linalg.lstsq(rows @ free, f - rows @ given, rcond=None)[0]
    places = SQUARE.sample(50, "uniform").x
    with pytest.warns(ko.errors.AccuracyWarning):
        u = T(f, g)
    np.testing.assert_allclose(u(places), table(places, 0, 0) @ c, atol=1e-10)

    np.testing.assert_allclose(u.residual("f", T.points["f"]), rows @ c - f, atol=1e-8)
