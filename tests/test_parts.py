"""Operators made of parts: corners, jumps, curved boundaries, waves, against exact solutions and known values."""

import warnings
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial import KDTree

import kernop as ko
from kernop.collocation.ansatz import condition_functionals

SQUARE = ko.Box([0, 0], [1, 1])
ELL = ko.Polygon([[-1, -1], [1, -1], [1, 0], [0, 0], [0, 1], [-1, 1]])


def poisson(domain):
    return ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=domain), ko.Dirichlet(on=domain.boundary))


def off(u, exact, x):
    return np.max(np.abs(u(x) - exact(x))) / np.max(np.abs(exact(x)))


def test_a_square_with_constant_source():
    """u(½, ½) = Σ 16 (−1)^… / (π⁴ …), to 12 digits: 0.0736713532815…"""
    u = ko.learn(poisson(SQUARE), method=ko.Partition(cells=2))(1.0, 0.0)
    assert u(np.array([[0.5, 0.5]]))[0] == pytest.approx(0.07367135328151, rel=1e-11)


def test_an_ell_with_constant_source():
    T = ko.learn(poisson(ELL), method=ko.Partition(cells=2, degree=11))
    found = T(1.0, 0.0)(np.array([[-0.5, -0.5], [-0.5, 0.5]]))
    np.testing.assert_allclose(found, [0.13105296203, 0.10236215766], rtol=2e-7)


def test_a_corner_that_is_turned():
    turn = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    turned = ko.Polygon(ELL.vertices @ turn.T)

    # r^(2/3) sin(2θ/3) from the edge along the positive x-axis through the domain, in turned coordinates.
    def exact(x):
        y = x @ turn
        angle = np.mod(np.arctan2(y[..., 1], y[..., 0]) - 0.5 * np.pi, 2 * np.pi)
        return np.hypot(y[..., 0], y[..., 1]) ** (2 / 3) * np.sin(2 / 3 * angle)

    u = ko.learn(poisson(turned), method=ko.Partition(cells=2, degree=11))(0.0, exact)
    assert off(u, exact, turned.sample(400, "uniform", seed=1).x) < 1e-6


def test_a_change_of_conditions_within_a_side():
    """r^½ sin(θ/2): zero for x > 0, without slope for x < 0."""
    D = ko.Box([-1, 0], [1, 1])
    free, held = (D.face("bottom").where(lambda x, s=s: s * x[..., 0] > 0) for s in (-1, 1))
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=D),
        ko.Neumann(on=free, name="q"),
        ko.Dirichlet(on=held, name="held"),
        ko.Dirichlet(on=D.face("left", "right", "top"), name="g"),
    )
    exact = lambda x: np.sqrt(np.hypot(x[..., 0], x[..., 1])) * np.sin(0.5 * np.arctan2(x[..., 1], x[..., 0]))
    u = ko.learn(problem, method=ko.Partition(cells=2, degree=11))(0.0, 0.0, 0.0, exact)
    assert off(u, exact, D.sample(400, "uniform", seed=1).x) < 1e-6


@pytest.mark.parametrize(
    "domain",
    [
        ko.Ball([0.1, 0.05], 1.0),
        ko.Box([-1, -1], [1, 1]) - ko.Ball([0.1, 0.2], 0.35),
        ko.Polygon([[0, 0], [2, 0.3], [1.7, 1.2], [0.4, 1.5]]),
        ko.Ball([0, 0], 1.0) & ko.Ball([0.8, 0], 1.0),
    ],
    ids=["disk", "hole", "polygon", "lens"],
)
def test_parts_of_any_shape(domain):
    a = lambda x: 1.5 + jnp.sin(x[..., 0]) * x[..., 1]
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)) + u, on=domain), ko.Dirichlet(on=domain.boundary)
    )
    wave = lambda x: jnp.sin(4 * x[..., 0]) * jnp.cos(3 * x[..., 1])
    T = ko.learn(problem, method=ko.Partition(cells=3, levels=0))
    u = T(**problem.manufacture(wave, T.points))
    exact = lambda x: np.sin(4 * x[..., 0]) * np.cos(3 * x[..., 1])
    assert off(u, exact, domain.sample(400, "uniform", seed=1).x) < 1e-11


@pytest.mark.parametrize("inside", [10.0, 1e6, 1e-6])
def test_an_inclusion_of_another_material(inside):
    D, disk = ko.Box([-1, -1], [1, 1]), ko.Ball([0.1, 0.2], 0.5)
    a = ko.Piecewise({disk: inside}, otherwise=1.0)
    problem = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=D), ko.Dirichlet(on=D.boundary))

    def exact(x):
        y = x - disk.center
        square = np.sum(y**2, axis=-1)
        around = y[..., 0] * (1 - (inside - 1) / (inside + 1) * 0.25 / np.maximum(square, 1e-9))
        return np.where(square < 0.25, 2 / (inside + 1) * y[..., 0], around)

    T = ko.learn(problem, method=ko.Partition(cells=5, levels=0))
    assert off(T(0.0, exact), exact, D.sample(400, "uniform", seed=1).x) < 2e-7


def test_layers_that_no_cell_is_aligned_with():
    a = ko.Piecewise({ko.Box([0, 0], [1, 0.31]): 1.0, ko.Box([0, 0.31], [1, 0.6]): 20.0}, otherwise=0.1)
    problem = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary))

    def exact(x):
        y = x[..., 1]
        return np.where(y < 0.31, y, np.where(y < 0.6, 0.31 + (y - 0.31) / 20, 0.3245 + (y - 0.6) * 10))

    T = ko.learn(problem, method=ko.Partition(cells=2, degree=9, levels=0))
    assert off(T(0.0, exact), exact, SQUARE.sample(400, "uniform", seed=1).x) < 1e-11
    with pytest.raises(ko.errors.ArgumentError, match="coefficients that jump"):  # it was wrong by 88 %, without a word
        T.green([[0.5, 0.5]], [[0.5, 0.2]])


def test_waves():
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) - 50.0**2 * u, on=SQUARE), ko.Dirichlet(on=SQUARE.boundary)
    )
    exact = lambda x: np.cos(50 * (np.cos(0.4) * x[..., 0] + np.sin(0.4) * x[..., 1]))
    u = ko.learn(problem, method=ko.Partition(cells=8, levels=0))(0.0, exact)
    assert off(u, exact, SQUARE.sample(400, "uniform", seed=1).x) < 1e-8


def test_a_line_and_a_cube():
    line, cube = ko.Interval(0, 1), ko.Box([0, 0, 0], [1, 1, 1])
    u = ko.learn(poisson(line), method=ko.Partition(cells=4))(1.0, 0.0)
    x = np.linspace(0, 1, 50)[:, None]
    np.testing.assert_allclose(u(x), 0.5 * x[:, 0] * (1 - x[:, 0]), atol=1e-13)
    exact = lambda x: np.sin(2 * x[..., 0]) * np.cos(x[..., 1]) * np.exp(x[..., 2])
    source = lambda x: 4.0 * exact(x)
    T = ko.learn(poisson(cube), method=ko.Partition(cells=2, degree=8))
    assert off(T(source, exact), exact, cube.sample(300, "uniform", seed=1).x) < 1e-5


def test_a_gear_has_no_value_that_its_boundary_does_not_allow():
    """Δu = 0, 0 at the teeth, heat enters at the bore: u is largest there, and nowhere below 0."""
    outline = np.loadtxt(Path(__file__).parents[1] / "examples" / "data" / "gear.csv", delimiter=",", skiprows=1)
    wheel, bore = ko.Polygon(outline), ko.Ball([0, 0], 0.3)
    gear = wheel - bore
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=gear),
        ko.Dirichlet(on=gear.boundary.of(wheel), name="g"),
        ko.Neumann(on=gear.boundary.of(bore), name="q"),
    )
    with pytest.warns(ko.errors.AccuracyWarning):
        u = ko.learn(problem, method=ko.Partition(cells=2, degree=9, levels=3))(0.0, 0.0, 1.0)
    found, rim = u(gear.sample(6000, "uniform", seed=1).x), u(gear.boundary.of(bore).sample(300).x)
    assert -1e-3 < np.min(found) < np.max(found) < np.max(rim) + 1e-3
    assert np.max(rim) == pytest.approx(0.299, abs=5e-3)


def test_the_edges_of_a_cube():
    """−Δu = 1 at the centre: the value of a square less Σ 16 / (π² i j g²) (±1) / cosh(g/2), g² = π² (i² + j²)."""
    odd = np.arange(1, 60, 2)
    i, j = np.meshgrid(odd, odd, indexing="ij")
    g, sign = np.pi * np.hypot(i, j), (-1.0) ** ((i + j) // 2 - 1)
    truth = 0.07367135328151 - np.sum(16.0 * sign / (np.pi**2 * i * j * g**2 * np.cosh(0.5 * g)))
    problem, centre = poisson(ko.Box([0, 0, 0], [1, 1, 1])), np.array([[0.5, 0.5, 0.5]])
    with pytest.warns(ko.errors.AccuracyWarning):
        found = [ko.learn(problem, method=ko.Partition(cells=2, degree=7, levels=k))(1.0, 0.0)(centre) for k in (0, 1)]
    even, crowded = np.abs(np.ravel(found) / truth - 1.0)
    assert crowded < 2e-4
    assert even > 5.0 * crowded


def test_a_tolerance_at_a_corner_without_a_word_of_parts():
    T = ko.learn(poisson(ELL), tol=1e-4)
    assert T.report.met
    assert "parts" in str(T.report)
    assert isinstance(T.method, ko.Partition)
    np.testing.assert_allclose(T(1.0, 0.0)(np.array([[-0.5, -0.5]])), [0.13105296203], rtol=1e-4)


@pytest.fixture(scope="module")
def small():
    return ko.learn(poisson(SQUARE), method=ko.Partition(cells=2, degree=8, levels=1))


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_fixed_places_and_batches(small):
    x = SQUARE.sample(20, "uniform", seed=2).x
    f, g = np.random.default_rng(0).normal(size=(2, len(small.points["f"]), 3))[:1].squeeze(0), 0.0
    np.testing.assert_allclose(small.on(x)(f, g), small(f, g)(x), atol=1e-11)
    np.testing.assert_allclose(small.basis(x).shape, (20, small.n_points))


def test_derivatives(small):
    u = small(lambda x: 0.0 * x[..., 0], lambda x: x[..., 0] * x[..., 1])
    x = SQUARE.sample(50, "uniform", seed=3).x
    np.testing.assert_allclose(u.grad(x), x[:, ::-1], atol=1e-9)
    np.testing.assert_allclose(u.apply(lambda v: ko.partial(v, 0, 2), x), 0.0, atol=1e-7)


def test_arguments_of_other_methods_are_refused():
    with pytest.raises(ko.errors.ArgumentError, match=r"points.*Partition"):
        ko.learn(poisson(SQUARE), method=ko.Partition(), points=100)


def test_a_boundary_without_a_condition_is_said():
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE), ko.Dirichlet(on=SQUARE.face("left")))
    with pytest.raises(ko.errors.ArgumentError, match="no condition at"):
        ko.learn(problem, method=ko.Partition(cells=2))


def test_a_jump_that_is_not_told_is_refused():
    a = lambda x: jnp.where(x[..., 0] < 0.4, 1.0, 10.0)
    problem = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary))
    with pytest.raises(ko.errors.JumpError, match="Interface"):
        ko.learn(problem, method=ko.Partition(cells=2, degree=6, levels=0))


def test_sums_over_points_of_several_parts(small):
    rule = SQUARE.quadrature(400)
    u = small(0.0, lambda x: x[..., 0])
    mean = ko.Mean(on=SQUARE)
    rows = condition_functionals(mean, rule, small.ansatz)
    assert float(u.function.apply(rows)[0, 0]) == pytest.approx(0.5, abs=1e-9)
    space = small.factorisation.expansion
    np.testing.assert_allclose(space.matrix(rows) @ u.function.y, u.function.apply(rows), atol=1e-12)


def test_what_needs_a_prior_is_refused(small):
    for ask in (lambda: small.std([[0.5, 0.5]]), lambda: small.evidence(1.0, 0.0)):
        with pytest.raises(ko.errors.ArgumentError, match="made of parts"):
            ask()


def test_a_coefficient_that_jumps_on_a_line():
    a = ko.Piecewise({ko.Interval(0.0, 0.4): 1.0, ko.Interval(0.4, 1.0): 10.0})
    rod = ko.Interval(0.0, 1.0)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=rod, name="f"), ko.Dirichlet(on=rod.boundary, name="g")
    )
    u = ko.learn(problem, method=ko.Partition(cells=2, degree=4))(1.0, 0.0)
    # a u′ = c − x with u(0) = u(1) = 0: c (0.4 + 0.06) = 0.08 + 0.042.
    c = 0.122 / 0.46
    assert u([[0.4]])[0] == pytest.approx(0.4 * c - 0.08, rel=1e-12)
    assert u.grad([[0.7]])[0, 0] == pytest.approx((c - 0.7) / 10.0, rel=1e-11)


def test_sources_that_parts_do_not_resolve_are_said():
    """Points of parts are few, and functions almost as many: narrow sources are met at the points, or miss them, and u
    was wrong by half without a word. Smooth data and places at corners make no false alarm.
    """
    plate = ko.Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=plate), ko.Dirichlet(on=plate.boundary))
    T = ko.learn(problem, method=ko.Partition(cells=2, degree=13, levels=10))
    points = KDTree(T.points["f"].x)

    def between(x):
        """1 at the points of T, and 2 elsewhere."""
        return 1.0 + (points.query(np.asarray(x))[0] > 1e-9)

    with pytest.warns(ko.errors.AccuracyWarning, match="unsatisfied between the points"):
        u = T(between, 0.0)
    assert u.misfit < T.promise
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        T(lambda x: jnp.cos(3.0 * x[..., 0] + x[..., 1]), lambda x: x[..., 0] ** 2)
        T(1.0, 0.0)
        T(lambda x: jnp.exp(-jnp.sum((x + 0.5) ** 2, axis=-1) / (2.0 * 0.3**2)), 0.0)
