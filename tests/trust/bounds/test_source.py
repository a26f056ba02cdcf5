"""The effective rank, γ and S against kernels whose spectrum is known."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop import bounds
from kernop.basics.errors import ArgumentError, ArgumentTypeError
from kernop.trust.criteria import Spectrum

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(ko.Dirichlet(on=LINE, name="h"))  # P = 1 on the whole line
MODES, POWER, N = 96, 4.0, 256
#: Midpoints, on which the cosines are orthogonal: G/N has exactly the eigenvalues μ_k.
MIDPOINTS = (np.arange(N)[:, None] + 0.5) / N
MU = np.arange(1, MODES + 1) ** -POWER


def cosines(x):
    """√2 cos(kπx), k = 1 …, orthonormal in L²(0, 1); (…, MODES)."""
    return math.sqrt(2.0) * np.cos(math.pi * x * np.arange(1, MODES + 1))


def features(x):
    """√μ_k times them: an orthonormal basis of the RKHS."""
    return np.sqrt(MU) * cosines(x)


def mercer(x, y):
    k = jnp.arange(1, MODES + 1)
    return 2.0 * jnp.sum(jnp.asarray(MU) * jnp.cos(math.pi * x[0] * k) * jnp.cos(math.pi * y[0] * k))


def seen(data, x=MIDPOINTS, weight=1.0):
    """What `kernop.trust.criteria.spectrum` gives for this kernel, P = 1, and equal weights."""
    phi = math.sqrt(weight) * features(x)
    values, vectors = np.linalg.eigh(phi @ phi.T)
    rotated = vectors.T @ (math.sqrt(weight) * data.reshape(len(x), -1))
    return Spectrum(np.maximum(values, 0.0), vectors, rotated, np.full(len(x), weight))


def solution(gamma):
    """Coefficients a_k = μ_k^γ / √k in the basis: the tails of Σ a_k² are those of μ^(2γ)."""
    return MU**gamma / np.sqrt(np.arange(1, MODES + 1))


@pytest.mark.parametrize("gamma", [0.1, 0.25, 0.5, 0.75])
def test_the_exponent_of_a_known_source_is_found(gamma):
    a = solution(gamma)
    found = bounds.source(seen(features(MIDPOINTS) @ a))
    assert found.gamma == pytest.approx(gamma, abs=0.06)
    assert found.solution_norm == pytest.approx(np.linalg.norm(a), rel=1e-6)


@pytest.mark.parametrize("weight", [1.0, 7.0])
def test_size_and_gap_are_those_of_the_modes(weight):
    a = solution(0.5)
    found = bounds.source(seen(features(MIDPOINTS) @ a, weight=weight), gamma=0.4)
    mu = weight * MU  # P becomes √w P
    assert found.gamma == 0.4
    assert found.size == pytest.approx(np.linalg.norm(a * mu**-0.4), rel=1e-6)
    for lam in (1e-5, 1e-2, 1.0):
        assert found.gap(lam) == pytest.approx(np.linalg.norm(lam / (mu + lam) * a), rel=1e-6)
        assert found.gap(lam) <= bounds.approximation(lam, found.gamma, found.size)


def test_the_worst_of_several_inputs_counts():
    columns = np.stack([features(MIDPOINTS) @ solution(gamma) for gamma in (0.25, 0.75)], axis=1)
    both, rough = bounds.source(seen(columns)), bounds.source(seen(columns[:, 0]))
    assert both.gamma == pytest.approx(rough.gamma)
    assert both.size == pytest.approx(rough.size)
    smooth = bounds.source(seen(10.0 * columns[:, 1]), gamma=rough.gamma)
    more = bounds.source(seen(columns * [1.0, 10.0]), gamma=rough.gamma)
    assert more.size == pytest.approx(smooth.size)
    assert more.solution_norm == pytest.approx(smooth.solution_norm)


def test_a_single_mode_has_the_largest_exponent():
    assert bounds.source(seen(features(MIDPOINTS)[:, 2])).gamma == 1.0


def test_the_gap_is_that_of_the_estimator():
    """‖T̂h − u‖ of `Full` on the same points, in the basis."""
    a, lam = solution(0.5), 1e-3
    h = features(MIDPOINTS) @ a
    operator = ko.learn(
        PROBLEM, kernel=ko.CustomKernel(mercer), points={"h": MIDPOINTS}, regularization=lam, method=ko.Full()
    )
    found = operator(h)
    coefficients = features(MIDPOINTS).T @ (operator.factorisation.scales * found.coefficients[:, 0])
    assert bounds.source(seen(h)).gap(lam) == pytest.approx(np.linalg.norm(coefficients - a), rel=1e-6)


@pytest.mark.parametrize("count", [1, 2, 9, 60])
def test_effective_rank_is_that_of_the_variance(count):
    x = np.random.default_rng(count).random((count, 1))
    outer = np.einsum("ni,nj->nij", features(x), features(x))
    z = outer - outer.mean(axis=0)
    variance = np.einsum("nij,njk->ik", z, z) / count
    wanted = 1.0 if count == 1 else np.trace(variance) / np.linalg.norm(variance, 2)
    assert bounds.effective_rank(seen(np.zeros(count), x)) == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("function", [bounds.source, bounds.effective_rank])
def test_what_is_no_spectrum(function):
    with pytest.raises(ArgumentTypeError, match=r"spectrum: got .*; give what kernop.trust.criteria.spectrum returns"):
        function(np.ones(3))


def test_what_says_nothing_is_refused():
    with pytest.raises(ArgumentError, match="inputs: got data that is zero"):
        bounds.source(seen(np.zeros(N)))
    with pytest.raises(ArgumentError, match=r"inputs: got data at points that resolve 2 .* or give gamma"):
        bounds.source(seen(np.ones(2), MIDPOINTS[[3, 160]]))
    with pytest.raises(ArgumentError, match=r"gamma: got 1\.5"):
        bounds.source(seen(np.ones(N)), gamma=1.5)
    with pytest.raises(ArgumentError, match="regularization: got 0"):
        bounds.source(seen(features(MIDPOINTS) @ solution(0.5))).gap(0.0)
