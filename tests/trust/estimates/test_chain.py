"""Errors of marched solutions: sums over slabs against loops, one slab against a solution without slabs, and truth."""

import warnings
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.collocation.slabs import slab_of
from kernop.trust.estimates.chain import _handed_on, own_step

D = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, 0.3))
PROBLEM = ko.Problem(
    ko.Equation(lambda u: ko.dt(u) - 0.1 * ko.laplacian(u), on=D, name="f"),
    ko.Dirichlet(on=D.walls, name="g"),
    ko.Initial(on=D.initial, name="u0"),
)


@jax.jit
def exact(x):
    return jnp.sin(2.0 * x[..., 0] + 0.3) * jnp.cos(1.5 * x[..., 1]) + 1.0


@jax.jit
def source(x):
    """u_t − 0.1 u_xx of the exact solution, by hand."""
    phase = 2.0 * x[..., 0] + 0.3
    return jnp.sin(phase) * (-1.5 * jnp.sin(1.5 * x[..., 1]) + 0.4 * jnp.cos(1.5 * x[..., 1]))


@cache
def learned():
    return ko.learn(PROBLEM, points=200, method=ko.Subspace(40))


def marched(steps, scale=1.0):
    data = {name: (lambda x, f=f: scale * f(x)) for name, f in {"f": source, "g": exact, "u0": exact}.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learned().march(steps, **data)


def test_what_is_left_is_handed_on_to_all_later_slabs():
    """e_k = Σ_{j<k} gain_{k−j} left_j, with one gain for each distance, norm and unknown."""
    rng, steps, width = np.random.default_rng(0), 5, 3
    left, gains = rng.random(steps * width), rng.random((steps, 2, 1))
    expected = np.zeros((2, 1, steps, width))
    for k in range(steps):
        for j in range(k):
            expected[:, :, k] += gains[k - j - 1][:, :, None] * left.reshape(steps, width)[j]
    np.testing.assert_allclose(_handed_on(left, gains, steps), expected.reshape(2, 1, -1), rtol=1e-13)


def test_the_step_of_an_operator_is_made_once():
    assert own_step(learned(), slab_of(PROBLEM)) is own_step(learned(), slab_of(PROBLEM))


def test_one_slab_is_a_solution_without_slabs():
    chain = marched(1).error_estimate()
    plain = learned()(source, exact, exact).error_estimate(covering=None, search=None)
    assert chain.relative_l2 == pytest.approx(plain.relative_l2, rel=1e-6)
    assert chain.relative_linf == pytest.approx(plain.relative_linf, rel=1e-6)
    for name, residual in plain.residuals.items():
        assert chain.residuals[name].rms == pytest.approx(residual.rms, rel=1e-6)
    np.testing.assert_allclose(chain.slabs_l2, [chain.l2])


def test_above_the_truth_on_every_slab():
    steps, u = 8, marched(8)
    estimate = u.error_estimate()
    x = ko.SpaceTime(D.space, u.times).sample(4000, "uniform", seed=1).x
    error, number = np.abs(u(x) - exact(x)), np.minimum((x[:, 1] / 0.3).astype(int), steps - 1)
    rms = np.array([np.sqrt(np.mean(error[number == k] ** 2)) for k in range(steps)])
    worst = np.array([error[number == k].max() for k in range(steps)])
    assert np.all(rms <= estimate.slabs_l2)
    assert np.all(worst <= estimate.slabs_linf)
    assert estimate.l2 <= 30.0 * np.sqrt(np.mean(error**2))


def test_the_whole_is_made_of_its_slabs():
    estimate = marched(6).error_estimate()
    assert estimate.l2 == pytest.approx(np.sqrt(np.mean(estimate.slabs_l2**2)))
    assert estimate.linf == pytest.approx(np.max(estimate.slabs_linf))
    own = own_step(learned(), slab_of(PROBLEM)).map
    powers = [np.linalg.norm(np.linalg.matrix_power(own, k), 2) for k in range(7)]
    np.testing.assert_allclose(estimate.growth, powers, rtol=1e-8)


def test_in_other_units():
    one, other = marched(4).error_estimate(), marched(4, 1e6).error_estimate()
    assert other.relative_l2 == pytest.approx(one.relative_l2, rel=1e-5)
    assert other.l2 == pytest.approx(1e6 * one.l2, rel=1e-5)


def test_nothing_for_nothing():
    estimate = learned().march(3, 0.0, 0.0, 0.0).error_estimate()
    assert estimate.l2 == estimate.relative_l2 == estimate.linf == 0.0


def test_what_it_says():
    assert "4 slabs: L2 error " in str(marched(4).error_estimate())


def test_data_that_disagree_where_the_first_slab_begins_are_seen():
    """A rod is quenched, u = 1 and then 0 at its ends: û is wrong by up to 1 there, between the points."""
    slab = ko.SpaceTime(ko.Interval(0.0, 1.0), (0.0, 1.0))
    operator = ko.learn(
        ko.Problem(
            ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=slab, name="f"),
            ko.Dirichlet(on=slab.walls, name="g"),
            ko.Initial(on=slab.initial, name="u0"),
        ),
        method=ko.Subspace(1000),
        points=3000,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        u, own = operator.march(2, f=0.0, g=0.0, u0=1.0), operator(f=0.0, g=0.0, u0=1.0)
    near = np.geomspace(1e-7, 0.5, 2000)
    most = [
        np.max(np.abs(u(np.stack([near, 0.0 * near], axis=1)) - 1.0)),
        np.max(np.abs(u(np.stack([0.0 * near, 2.0 * near], axis=1)))),
    ]
    estimate = u.error_estimate()
    assert 1.0 < estimate.slabs_linf[0] / max(most) < 2.5
    plain = own.error_estimate(covering=None, search=None)
    assert 1.0 < plain.linf / max(most) < 2.5
