"""Stars at crossings of jumps: powers against the closed form of Kellogg, functions against the equation, u exactly."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.collocation.cells.divisible import pieces_of
from kernop.collocation.cells.mosaic import STAR
from kernop.collocation.cells.singularities import singularities
from kernop.collocation.cells.stars import Sectors, Star
from kernop.collocation.cells.transmission import powers_around

BOX = ko.Box([-1, -1], [1, 1])
QUARTERS = 0.5 * np.pi * np.arange(4)
THREE = Sectors(np.array([0.3, 1.7, 4.1]), np.array([1.0, 50.0, 3000.0]), 1.0, 3.0)


def flow(a, domain=BOX):
    return ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=domain), ko.Dirichlet(on=domain.boundary))


def quarters(one, other):
    return ko.Piecewise({ko.Box([0, 0], [1, 1]): one, ko.Box([-1, -1], [0, 0]): one}, otherwise=other)


def kellogg(contrast):
    """r^γ φ(θ), tan(πγ/4) = contrast^(−½)."""
    power = 4 / np.pi * np.arctan(contrast**-0.5)
    other = -1 / np.tan(0.25 * np.pi * power)

    def exact(x):
        angle = np.mod(np.arctan2(x[..., 1], x[..., 0]), 2 * np.pi)
        quarter = np.minimum((2 * angle / np.pi).astype(int), 3)
        turned = power * (angle - (quarter + 0.5) * 0.5 * np.pi)
        even = np.where(quarter % 2 == 0, np.cos(turned), other * np.sin(turned))
        return np.hypot(x[..., 0], x[..., 1]) ** power * np.where(quarter < 2, even, -even)

    return exact


@pytest.fixture(scope="module")
def thousand():
    return ko.learn(flow(quarters(1e3, 1.0)), method=ko.Partition(cells=2, degree=9, levels=2))


@pytest.mark.parametrize("contrast", [1.001, 10.0, 1e6, 1e8])
def test_powers_of_four_quarters(contrast):
    """γ, 2 − γ, 2, 2, 2 + γ, to rounding, however small."""
    found = powers_around(QUARTERS, np.array([contrast, 1.0, contrast, 1.0]), 3.0).powers
    power = 4 / np.pi * np.arctan(contrast**-0.5)
    np.testing.assert_allclose(found[1], power, rtol=1e-13)
    np.testing.assert_allclose(found[:6], [0, *sorted([power, 2 - power, 2, 2, 2 + power])], rtol=1e-12)


def test_functions_are_continuous_with_their_fluxes():
    found, a = powers_around(THREE.angles, THREE.coefficients, 14.0), THREE.coefficients
    widths = np.diff(np.append(THREE.angles, THREE.angles[0] + 2 * np.pi))
    turn = 0.5 * found.powers[:, None] * widths
    c, s = np.cos(turn), np.sin(turn)
    value, flux = found.even * c + found.odd * s, a * (found.odd * c - found.even * s)
    ahead = np.roll(found.even * c - found.odd * s, -1, axis=1)
    beyond = np.roll(a * (found.odd * c + found.even * s), -1, axis=1)
    assert np.max(np.abs(value - ahead)) < 1e-12
    assert np.max(np.abs(flux - beyond)) < 1e-12 * np.max(a)


def test_derivatives_and_sources():
    """Against differences; −a Δw_i is 1 on sector i and 0 elsewhere, and r^α Φ(θ) are harmonic."""
    low, high = np.array([0.0, 0.0]), np.array([0.3, 0.35])
    star = Star.of(THREE, np.array([0.1, 0.2]), low, high)
    z, step = np.random.default_rng(0).uniform(-1, 1, (60, 2)), 1e-5
    y = star.stretch * (z - star.centre)
    angle = np.mod(np.arctan2(y[:, 1], y[:, 0]) - 0.3, 2 * np.pi) + 0.3
    aside = np.min(np.abs(angle[:, None] - np.append(THREE.angles, 0.3 + 2 * np.pi)), axis=1) > 0.05
    z, angle = z[aside], angle[aside]
    found = star.derivatives(z, [(0, 0), (1, 0), (0, 1), (2, 0), (0, 2)])
    for alpha, axis in (((1, 0), 0), ((0, 1), 1)):
        move = step * np.eye(2)[axis]
        ahead, back = (star.derivatives(z + k * move, [(0, 0)])[0, 0] for k in (1, -1))
        np.testing.assert_allclose((ahead - back) / (2 * step), found[alpha], atol=1e-6)
    laplacian = found[2, 0] / star.stretch[0] ** 2 + found[0, 2] / star.stretch[1] ** 2
    sector = np.searchsorted(THREE.angles, angle, side="right") - 1
    a = THREE.coefficients / 3000.0
    np.testing.assert_allclose(-a[sector] * laplacian[:3], np.arange(3)[:, None] == sector, atol=1e-9)
    np.testing.assert_allclose(laplacian[3:], 0, atol=1e-9)


@pytest.mark.parametrize("contrast", [1e-6, 10.0, 1e6])
def test_an_exact_solution(contrast):
    """At all places, also in the star, after two halvings: no depth would be enough for r^0.001."""
    T = ko.learn(flow(quarters(contrast, 1.0)), method=ko.Partition(cells=2, degree=13, levels=2))
    exact, x = kellogg(contrast), BOX.sample(500, "uniform", seed=1).x
    mosaic = T.factorisation.expansion.mosaic
    assert np.sum(mosaic.singular == STAR) == len(mosaic.stars) == 1
    u = T(0.0, exact)
    assert np.max(np.abs(u(x) - exact(x))) < 2e-6
    near = 1e-3 * x
    assert np.max(np.abs(u(near) - exact(near))) < 2e-6


def test_coefficients_that_are_not_constant():
    """u = s(x) sin x₁ sin x₂ with s a = exp(…): its flux is continuous on the axes, where it is 0."""
    factor = lambda x: jnp.exp(0.3 * x[..., 0] + 0.2 * x[..., 1])
    a = quarters(lambda x: 1e4 * factor(x), factor)
    share = lambda x: np.where(x[..., 0] * x[..., 1] > 0, 1e-4, 1.0)
    exact = lambda x: share(x) * np.sin(x[..., 0]) * np.sin(x[..., 1])

    def source(x):
        s, t = x[..., 0], x[..., 1]
        slopes = 0.3 * np.cos(s) * np.sin(t) + 0.2 * np.sin(s) * np.cos(t)
        return np.exp(0.3 * s + 0.2 * t) * (2 * np.sin(s) * np.sin(t) - slopes)

    problem, x = flow(a), BOX.sample(500, "uniform", seed=2).x
    (rate,) = [own.rate for own in singularities(problem, pieces_of(problem)).sectors if own is not None]
    assert 1.0 < rate < 2.0
    errors = []
    for levels in (4, 8):
        u = ko.learn(problem, method=ko.Partition(cells=2, degree=9, levels=levels))(source, exact)
        errors.append(np.max(np.abs(u(x) - exact(x))))
    assert errors[1] < 0.1 * errors[0]
    assert errors[1] < 1e-5


@pytest.mark.parametrize(
    "a",
    [
        quarters(-10.0, 1.0),
        ko.Piecewise({ko.Box([-1, -1], [0, 0]): 3.0, ko.Box([-1, 0], [0, 1]): 3.0}, otherwise=1.0),
        ko.Piecewise({ko.Ball([-0.3, 0], 0.5) - ko.Ball([0.3, 0], 0.5): 9.0}, otherwise=1.0),
    ],
    ids=["two signs", "a straight line", "curved lines"],
)
def test_where_there_is_no_star(a):
    problem = flow(a)
    assert not any(own is not None for own in singularities(problem, pieces_of(problem)).sectors)


def test_a_matrix_has_no_star():
    a = quarters(10.0, 1.0)

    def op(u):
        return -ko.div(a * ko.matvec([[2.0, 0.0], [0.0, 1.0]], ko.grad(u)))

    problem = ko.Problem(ko.Equation(op, on=BOX), ko.Dirichlet(on=BOX.boundary))
    assert not any(own is not None for own in singularities(problem, pieces_of(problem)).sectors)


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")  # data are random values
def test_files_and_adjoints(thousand, tmp_path):
    T = thousand
    x = np.concatenate([BOX.sample(40, "uniform", seed=3).x, [[1e-3, 2e-3], [-0.05, 0.02], [0.0, 0.0]]])
    T.save(tmp_path / "T.npz")
    f, g = (lambda x: np.cos(x[..., 0])), (lambda x: x[..., 1])
    values = T(f, g)(x)
    np.testing.assert_array_equal(ko.load(tmp_path / "T.npz")(f, g)(x), values)
    np.testing.assert_allclose(T.on(x)(f, g), values, atol=1e-9)
    S, h = T.on(x), np.random.default_rng(5).normal(size=(2, len(T.points["f"])))
    with jax.enable_x64(True):
        slope = jax.jit(jax.grad(lambda source: jnp.sum(S(source, 0.0))))(jnp.asarray(h[0])) @ h[1]
    assert float(slope) == pytest.approx(float(np.sum(T(h[1], 0.0)(x))), rel=1e-9)


def test_estimates_with_stars(thousand):
    """A finer operator, with rings in the star of the coarser one, tells its error."""
    exact, x = kellogg(1e3), BOX.sample(400, "uniform", seed=4).x
    u = thousand(0.0, exact)
    error = np.max(np.abs(u(x) - exact(x)))
    found = u.error_estimate().linf
    assert error < found < 10.0 * error
