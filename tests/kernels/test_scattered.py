"""ScatteredFunction against the naive formula of kriging, closed forms and SciPy's interpolant."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import RBFInterpolator

import kernop as ko

BOX = ko.Box([0, 0], [4, 1])
POINTS, PLACES = BOX.sample(300, "uniform").x, BOX.sample(200, "uniform", seed=1).x


def bumpy(x):
    return np.sin(2 * x[..., 0]) * np.exp(-x[..., 1]) + 3 + x[..., 0]


def test_it_is_kriging_with_a_linear_trend():
    x, kernel, noise = POINTS[:20], ko.Matern(3.5, [1.0, 0.4]), 0.1
    own = ko.ScatteredFunction(x, bumpy(x), kernel=kernel, noise=noise)
    line = np.column_stack([np.ones(20), x])
    # Minimal variance: the saddle-point system of universal kriging, point by point.
    inner = np.array(kernel(x[:, None], x[None])) + noise**2 * np.eye(20)
    system = np.block([[inner, line], [line.T, np.zeros((3, 3))]])
    right = np.vstack([np.array(kernel(x[:, None], PLACES[None])), np.ones(len(PLACES)), PLACES.T])
    assert np.allclose(own(PLACES), np.linalg.solve(system, right)[:20].T @ bumpy(x), atol=1e-8)


def test_values_are_met_and_smooth_functions_found():
    own = ko.ScatteredFunction(POINTS, bumpy(POINTS))
    assert np.abs(own(POINTS) - bumpy(POINTS)).max() < 2e-6
    error = np.sqrt(np.mean((own(PLACES) - bumpy(PLACES)) ** 2))
    theirs = RBFInterpolator(POINTS / [4, 1], bumpy(POINTS))(PLACES / [4, 1])
    assert error < 2e-4
    assert error < 0.1 * np.sqrt(np.mean((theirs - bumpy(PLACES)) ** 2))


def test_a_dozen_points_and_thousands():
    few, many = BOX.sample(12).x, BOX.sample(2000).x
    assert np.abs(ko.ScatteredFunction(few, bumpy(few))(PLACES) - bumpy(PLACES)).max() < 1.0
    assert np.abs(ko.ScatteredFunction(many, bumpy(many))(PLACES) - bumpy(PLACES)).max() < 3e-5


def test_a_linear_function_is_found_exactly_even_outside():
    flat = lambda x: 2 - 3 * x[..., 0] + 1e3 * x[..., 1]
    own = ko.ScatteredFunction(POINTS[:10], flat(POINTS[:10]))
    assert np.allclose(own(3 * PLACES), flat(3 * PLACES), rtol=1e-8)


def test_noise_is_smoothed():
    data = bumpy(POINTS) + 0.2 * np.random.default_rng(0).normal(size=len(POINTS))
    own = ko.ScatteredFunction(POINTS, data, noise=0.2)
    assert np.sqrt(np.mean((own(PLACES) - bumpy(PLACES)) ** 2)) < 0.08


def test_derivatives_are_exact_at_the_points_too():
    own = ko.ScatteredFunction(POINTS, bumpy(POINTS), kernel=ko.Matern(4.5, [2.0, 1.0]))
    smooth = lambda x: jnp.sin(2 * x[..., 0]) * jnp.exp(-x[..., 1]) + 3 + x[..., 0]
    with jax.enable_x64(True):
        x = jnp.asarray(np.vstack([POINTS[:20], PLACES[:20]]))
        slopes, truth = (np.asarray(jax.jit(jax.vmap(jax.hessian(f)))(x)) for f in (own, smooth))
        step, grad = 1e-5, jax.jit(jax.vmap(jax.grad(own)))
        moved = [np.asarray(grad(x + sign * np.array([0.0, step]))) for sign in (1, -1)]
    assert np.abs(slopes - truth).max() < 0.3  # second derivatives, at the edge too
    assert np.allclose(slopes[:, 1], (moved[0] - moved[1]) / (2 * step), atol=1e-4)


def test_as_a_coefficient_under_div():
    a = ko.ScatteredFunction(POINTS, np.exp(np.sin(POINTS[:, 0]) * POINTS[:, 1]))
    smooth = lambda x: jnp.exp(jnp.sin(x[..., 0]) * x[..., 1])
    problem, exact = (
        ko.Problem(ko.Equation(lambda u, a=own: -ko.div(a * ko.grad(u)), on=BOX), ko.Dirichlet(BOX.boundary))
        for own in (a, smooth)
    )
    T = ko.learn(problem, method=ko.Subspace(200))
    u = lambda x: jnp.sin(x[..., 0] + x[..., 1])
    found = T(**exact.manufacture(u, T.points))(PLACES)
    assert np.abs(found - np.asarray(u(PLACES))).max() < 1e-4


def test_complex_values_vectors_and_shapes():
    values = np.stack([bumpy(POINTS), 2j * bumpy(POINTS)], axis=1)
    own, kernel = ko.ScatteredFunction(POINTS, values, kernel=ko.Matern(4.5, 1.0)), ko.Matern(4.5, 1.0)
    one = ko.ScatteredFunction(POINTS, bumpy(POINTS), kernel=kernel)
    assert np.allclose(own(PLACES), np.stack([one(PLACES), 2j * one(PLACES)], axis=1), atol=1e-7)
    assert one(PLACES.reshape(10, 20, 2)).shape == (10, 20)
    assert one(PLACES[0]).shape == ()


def test_many_places_at_a_time():
    own = ko.ScatteredFunction(POINTS, bumpy(POINTS))
    many = np.tile(PLACES, (200, 1))
    assert np.allclose(own(many)[-200:], own(PLACES), atol=1e-9)


def test_in_files(tmp_path):
    own = ko.ScatteredFunction(POINTS[:30], bumpy(POINTS[:30]))
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=BOX, data=own), ko.Dirichlet(BOX.boundary))
    ko.learn(problem, method=ko.Subspace(60)).save(tmp_path / "T.kernop")
    back = ko.load(tmp_path / "T.kernop").problem["f"].data
    assert back == own
    assert np.allclose(back(PLACES), own(PLACES), atol=1e-10)


@pytest.mark.parametrize(
    ("x", "values", "more", "said"),
    [
        (np.vstack([POINTS[:9], POINTS[4:5]]), np.zeros(10), {}, "points 4 and 9 at the same place"),
        (POINTS[:10], np.zeros(9), {}, "one value for each of the 10 points"),
        (POINTS[:2], np.zeros(2), {}, "2 points in 2 dimensions"),
        (np.column_stack([POINTS[:9, 0], 2 * POINTS[:9, 0]]), np.zeros(9), {}, "do not lie in a plane"),
        (POINTS[:9], np.full(9, np.inf), {}, "9 of 9 values"),
        (POINTS[:9], np.zeros(9), {"noise": 0.0}, "noise: got 0; .* greater than 0"),
        (POINTS[:9], np.zeros(9), {"kernel": "matern"}, "give a kernel"),
    ],
)
def test_what_is_wrong_is_said(x, values, more, said):
    with pytest.raises(ko.errors.KernopError, match=said):
        ko.ScatteredFunction(x, values, **more)


def test_a_rough_kernel_cannot_be_differentiated_often():
    own = ko.ScatteredFunction(POINTS[:20], bumpy(POINTS[:20]), kernel=ko.Matern(1.5, 1.0))
    with pytest.raises(ko.errors.RoughKernelError), jax.enable_x64(True):
        jax.hessian(jax.grad(own))(jnp.asarray(PLACES[0]))
