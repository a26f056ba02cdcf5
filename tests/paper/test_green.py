"""The Green operator baseline: its objective, its minimum, and a fit as good as the authors'."""

import jax
import numpy as np
import pytest

from kernop.basics.errors import ArgumentError, ShapeError
from kernop.basics.precision import float64
from kernop.paper import green, helmholtz
from kernop.paper.green import Discrete, Parameters
from kernop.paper.pairs import Pairs, exact_green, training_pairs

gradient_of_loss = jax.jit(jax.grad(green.loss), static_argnames="space")


@pytest.fixture(scope="module")
def fitted():
    return green.fit(20)


# --- the objective and its minimum -----------------------------------------------------------------------------------


def small(rng):
    space = Discrete(0.1, points=9)
    pairs = Pairs(rng.normal(size=(9, 4)), rng.normal(size=(9, 4)))
    return Parameters(rng.normal(size=(9, 9)), rng.normal(size=9)), pairs, space


def test_the_loss_is_its_formula():
    """Written out with sums over the functions and np.trapezoid."""
    (densities, w), (f, u), space = small(np.random.default_rng(0))
    x, k = space.grid, np.exp(-((space.grid[:, None] - space.grid) ** 2) / (2 * 0.1**2))
    q = np.array([0.5, *[1.0] * 7, 0.5]) / 8
    c, b = np.diag(q) @ densities @ np.diag(q), q * w
    misfit = 0.0
    for i in range(4):
        predicted = np.trapezoid((k @ c @ k) * f[:, i, None], x, axis=0) + k @ b
        misfit += np.trapezoid((predicted - u[:, i]) ** 2, x) / 4
    norm = c.ravel() @ np.kron(k, k) @ c.ravel() + b @ k @ b
    with float64():
        found = green.loss(Parameters(densities, w), Pairs(f, u), space, 0.3)
    assert float(found) == pytest.approx(misfit + 0.3 * norm, rel=1e-12)


def test_the_gradient_agrees_with_finite_differences():
    rng = np.random.default_rng(1)
    at, pairs, space = small(rng)
    way, h = Parameters(rng.normal(size=(9, 9)), rng.normal(size=9)), 1e-5

    def along(t):
        return green.loss(Parameters(at.green + t * way.green, at.offset + t * way.offset), pairs, space, 0.3)

    with float64():
        gradient = gradient_of_loss(at, pairs, space, 0.3)
        slope = float((along(h) - along(-h)) / (2 * h))
    predicted = np.sum(np.asarray(gradient.green) * way.green) + np.asarray(gradient.offset) @ way.offset
    assert predicted == pytest.approx(slope, rel=1e-7)


def test_the_gradient_vanishes_at_the_minimum():
    regularization = 1e-6
    found = green.minimise(20, pairs=40, regularization=regularization)
    q = found.space.quadrature
    least = Parameters(found.coefficients / np.outer(q, q), found.offset_coefficients / q)
    start = jax.tree.map(np.zeros_like, least)
    pairs = training_pairs(20, 40, 0)
    with float64():
        there, here = (gradient_of_loss(p, pairs, found.space, regularization) for p in (least, start))
    assert np.max(np.abs(there.green)) < 1e-10 * np.max(np.abs(here.green))
    assert np.max(np.abs(there.offset)) < 1e-10 * np.max(np.abs(here.offset))


# --- the fit ---------------------------------------------------------------------------------------------------------


def test_the_fit_is_as_good_as_the_authors(fitted):
    """Their code reaches 2.2e-2 on new pairs and 8e-2 for G at ω = 20."""
    exact = exact_green(20, fitted.grid[:, None], fitted.grid)
    assert green.held_out_errors(fitted, count=10).l2 < 2.2e-2
    assert np.linalg.norm(fitted.green - exact) < 8e-2 * np.linalg.norm(exact)
    for smooth, most in ((False, 0.2), (True, 0.3)):
        experiment = helmholtz(20, smooth=smooth, count=10)
        f = experiment.problem.manufacture(experiment.family, {"f": fitted.grid[:, None]})["f"]
        u = np.asarray(experiment.family(fitted.grid[:, None]))
        assert np.mean(np.max(np.abs(fitted(f) - u), axis=0) / np.max(np.abs(u), axis=0)) < most
    assert fitted.losses.shape == (500,)
    assert fitted.losses.min() < 1e-3 * np.mean(training_pairs(20).solutions ** 2)


def test_no_fit_is_below_the_minimum(fitted):
    minimum = green.minimise(20)
    assert minimum.losses[0] < fitted.losses.min()
    f, u = training_pairs(20, 20, seed=7)
    assert np.linalg.norm(minimum(f) - u) < 5e-3 * np.linalg.norm(u)
    exact = exact_green(20, minimum.grid[:, None], minimum.grid)
    assert np.linalg.norm(minimum.green - exact) < 5e-2 * np.linalg.norm(exact)


def test_application_is_the_integral(fitted):
    f = training_pairs(20, 3, seed=9).sources
    u = np.trapezoid(fitted.green[:, :, None] * f[:, None, :], fitted.grid, axis=0) + fitted.offset[:, None]
    np.testing.assert_allclose(fitted(f), u, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted(f[:, 1]), u[:, 1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fitted(f, fitted.grid[::7]), u[::7], rtol=1e-9, atol=1e-12)
    assert fitted(f, [0.123]).shape == (1, 3)
    assert fitted(f[:, 0], [0.1, 0.2]).shape == (2,)
    assert fitted.green.shape == (100, 100)
    assert fitted.seconds > 0


def test_seeds_and_symmetry():
    a, b, c = (green.fit(20, seed, epochs=3, symmetric=True) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a.green, b.green)
    assert not np.allclose(a.green, c.green)
    np.testing.assert_allclose(a.green, a.green.T, atol=1e-15)
    one, other = training_pairs(20, 2, 0), training_pairs(20, 2, 1)
    assert one.sources.shape == one.solutions.shape == (100, 2)
    assert not np.allclose(one.sources, other.sources)


def test_the_best_epoch_is_kept():
    """With a rate that is too large the last epoch is not the best, and the operator is that of the best."""
    found = green.fit(20, epochs=3, rate=10.0, symmetric=True)
    assert found.losses[-1] > found.losses.min()
    q = found.space.quadrature
    kept = Parameters(found.coefficients / np.outer(q, q), found.offset_coefficients / q)
    with float64():
        again = green.loss(kept, training_pairs(20), found.space, 1e-4)
    assert float(again) == pytest.approx(found.losses.min(), rel=1e-9)


def test_the_papers_figures_are_stated():
    assert (green.PAPER[20, False].l2, green.PAPER[20, True].linf) == (2.084e-2, 9.509e-2)
    assert (green.PAPER[200, False].l2, green.PAPER[200, True].linf) == (9.138e-1, 7.364e-1)
    assert green.LENGTHSCALES == {20: 0.04, 200: 0.005}


def test_wrong_arguments(fitted):
    with pytest.raises(ArgumentError, match="lengthscale"):
        green.fit(30)
    with pytest.raises(ArgumentError, match="batch"):
        green.fit(20, batch=30)
    with pytest.raises(ShapeError, match="grid"):
        fitted(np.ones(99))


def test_adam_by_hand():
    """Gradients 2, −0.5, 0 at rate 0.1; in the third step amsgrad keeps the second step's square, 0.004246."""
    by_hand = [
        -0.1,
        -0.1 * (0.13 / 0.19) / np.sqrt(0.004246 / 0.001999),
        -0.1 * (0.117 / 0.271) / np.sqrt(0.004246 / 0.002997001),
    ]
    with float64():
        state = green.adam_start(np.zeros(()))
        for gradient, expected in zip([2.0, -0.5, 0.0], by_hand, strict=True):
            state, change = green.adam_step(state, np.asarray(gradient), 0.1)
            assert float(change) == pytest.approx(expected, rel=1e-7)
