"""u + v, 2 u, one input of a batch, points of any shape, moments: each against u itself."""

import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import ArgumentError, ArgumentTypeError, OutsideDomainError, ShapeError

pytestmark = pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")  # data that do not meet at corners
SQUARE = ko.Box([0, 0], [1, 1])
X = SQUARE.sample(40).x


@pytest.fixture(scope="module")
def T():
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE),
        ko.Dirichlet(on=SQUARE.face("left", "right"), name="g"),
        ko.Dirichlet(on=SQUARE.face("top", "bottom"), name="h", data=1.0),
    )
    return ko.learn(problem, points=500, method=ko.Subspace(120))


def test_sums_and_multiples_are_solutions(T):
    u, v = T(lambda x: np.sin(x[..., 0]), 1.0), T(2.0, lambda x: x[..., 1])
    w = 2 * u - v / 4 + (-u) * np.float64(0.5)
    np.testing.assert_allclose(w(X), 1.5 * u(X) - 0.25 * v(X), atol=1e-12)
    top = SQUARE.face("top").sample(9)
    np.testing.assert_allclose(w.residual("h", top), w(top.x) - 1.25, atol=1e-12)  # the fixed data are combined too
    estimate, *parts = (solution.error_estimate(covering=None, search=2**12) for solution in (w, u, v))
    assert estimate.source == "fresh points"
    assert estimate.l2 < 2 * (1.5 * parts[0].l2 + 0.25 * parts[1].l2)


def test_complex_factors_batches_and_arrays(T):
    n = len(T.points["f"])
    u, batch = T(lambda x: x[..., 0], 0.5), T(np.random.default_rng(0).normal(size=(n, 3)), 0.0)
    z = (1 + 2j) * u
    np.testing.assert_allclose(z(X), (1 + 2j) * u(X), atol=1e-13)
    together = u + batch
    np.testing.assert_allclose(together(X), u(X)[:, None] + batch(X), atol=1e-10)
    np.testing.assert_allclose(together[2](X), together(X)[:, 2], atol=1e-13)
    np.testing.assert_allclose((1j * batch)[-1](X), 1j * batch(X)[:, 2], atol=1e-10)
    many = T(lambda x: x[..., :1] ** np.arange(3), 0.0)
    own, alone = (u.error_estimate(covering=None, search=2**12) for u in (many[1], T(lambda x: x[..., 0], 0.0)))
    assert own.relative_l2 == pytest.approx(alone.relative_l2, rel=1e-3)


def test_what_cannot_be_added(T):
    u = T(1.0, 0.0)
    other = ko.learn(T.problem, points=300, method=ko.Subspace(60))(1.0, 0.0)
    with pytest.raises(ArgumentError, match="two operators"):
        u + other
    with pytest.raises(ArgumentTypeError, match=r"u \+ v: got 1"):
        u + 1
    with pytest.raises(ArgumentError, match="divisor"):
        u / 0
    with pytest.raises(ArgumentTypeError, match="factor"):
        u * "2"
    with pytest.raises(ArgumentError, match="no batch"):
        u[0]
    n = len(T.points["f"])
    with pytest.raises(ShapeError, match="batches of 2 and 3"):
        T(np.ones((n, 2)), 0.0) + T(np.ones((n, 3)), 0.0)


def test_points_of_any_shape(T):
    u = T(lambda x: x[..., 0], 0.0)
    grid = X.reshape(5, 2, 4, 2)
    np.testing.assert_array_equal(u(grid), u(X).reshape(5, 2, 4))
    np.testing.assert_array_equal(u.grad(grid), u.grad(X).reshape(5, 2, 4, 2))
    np.testing.assert_array_equal(u.apply(ko.grad, grid), u.apply(ko.grad, X).reshape(5, 2, 4, 2))
    assert u.grad(X[3]).shape == (2,)
    assert isinstance(u(X[3]), float)
    assert u(X[3]) == pytest.approx(u(X)[3], abs=1e-14)
    assert u.std(X[3]).shape == ()
    assert np.isnan(u([3.0, 3.0], outside="nan"))
    for wrong in ([0.1, 0.2, 0.3], 0.5, np.zeros((2, 2, 3)), np.zeros((0, 2))):
        with pytest.raises(ShapeError, match="x: got"):
            u(wrong)
    line = ko.Interval(0, 1)
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=line), ko.Dirichlet(on=line.boundary))
    v = ko.learn(problem, points=60, method=ko.Subspace(20))(2.0, 0.0)  # x (1 − x)
    assert v(0.25) == pytest.approx(0.1875, abs=1e-6)
    assert v([0.25, 0.5]).shape == (2,)
    assert v(np.full((3, 4, 1), 0.5)).shape == (3, 4)


def test_moments_and_marched_sums():
    slab = ko.SpaceTime(ko.Interval(0, 1), (0, 0.1))
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=slab, data=0.0),
        ko.Dirichlet(on=slab.walls, data=0.0),
        ko.Initial(on=slab.initial),
    )
    T = ko.learn(problem, points=600, method=ko.Subspace(150))
    u, v = (T.march(4, lambda x, k=k: np.sin(k * np.pi * x[..., 0])) for k in (1, 2))
    w = u - 2 * v
    x = np.column_stack([np.linspace(0, 1, 9), np.linspace(0, 0.4, 9)])
    np.testing.assert_allclose(w(x), u(x) - 2 * v(x), atol=1e-9)
    assert w.error_estimate().relative_l2 < 10 * v.error_estimate().relative_l2 + u.error_estimate().relative_l2
    at = u.at(t=0.25)
    np.testing.assert_allclose(at(x[:, 0]), np.exp(-0.25 * np.pi**2) * np.sin(np.pi * x[:, 0]), atol=1e-4)
    assert at(0.5) == u([0.5, 0.25])
    np.testing.assert_array_equal(at.grad(0.3), u.grad([0.3, 0.25])[:1])
    np.testing.assert_array_equal(at.apply(ko.dt, 0.3), u.apply(ko.dt, [0.3, 0.25]))
    with pytest.raises(OutsideDomainError, match=r"t: got 0\.5; give a time from 0 to 0\.4"):
        u.at(t=0.5)
    many = T.march(2, lambda x: np.sin(np.pi * x[..., :1] * np.arange(1, 4)))
    np.testing.assert_allclose(many[1](x[:4]), v(x[:4]), atol=1e-9)
    with pytest.raises(ArgumentError, match="without time"):
        ko.learn(
            ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary)),
            points=100,
            method=ko.Subspace(20),
        )(1.0, 0.0).at(0.5)
