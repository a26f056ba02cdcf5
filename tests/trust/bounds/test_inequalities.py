"""The inequalities against their proofs, put together step by step, and the rates against a search."""

import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernop import bounds
from kernop.basics.errors import ArgumentError, ArgumentTypeError, KernopError, NonFiniteError

sizes = st.integers(1, 10**7)
lams, norms, deltas = st.floats(1e-8, 1e2), st.floats(0.1, 1e4), st.floats(1e-6, 0.9)
gammas = st.floats(0.0, 1.0)


def lemma(n, norm, size, delta):
    """Pinelis: a mean of N vectors of norm at most M²‖w‖, with variance at most M⁴‖w‖², is so far from its mean.

    P(‖mean‖ ≥ r) ≤ 2 exp(−N r²/(2σ² + 2 r H)) with H = 2M²‖w‖: solved for r, and √(a + b) ≤ √a + √b.
    """
    log, sigma, bound = math.log(2.0 / delta), norm**2 * size, 2.0 * norm**2 * size
    r = 2.0 * bound * log / n + sigma * math.sqrt(2.0 * log / n)
    exact = bound * log / n + math.sqrt((bound * log / n) ** 2 + 2.0 * sigma**2 * log / n)
    assert exact <= r * (1.0 + 1e-12)
    return r


@given(n=sizes, lam=lams, norm=norms, size=st.floats(1e-3, 1e3), delta=deltas)
def test_pathwise_is_the_sum_of_two_events(n, lam, norm, size, delta):
    largest = norm / math.sqrt(lam) * size  # of T_λ h
    wanted = (lemma(n, norm, size, delta / 2.0) + lemma(n, norm, largest, delta / 2.0)) / lam
    assert bounds.pathwise(n, lam, norm, size, delta) == pytest.approx(wanted, rel=1e-10)


@given(n=sizes, lam=lams, norm=norms, gap=st.floats(1e-3, 1e3), delta=deltas)
def test_sharper_is_one_event(n, lam, norm, gap, delta):
    assert bounds.sharper(n, lam, norm, gap, delta) == pytest.approx(lemma(n, norm, gap, delta) / lam, rel=1e-10)


@given(n=sizes, lam=lams, norm=norms, rank=st.floats(1.0, 1e4), gamma=gammas, delta=deltas)
def test_uniform_solves_the_inequality_of_bernstein(n, lam, norm, rank, gamma, delta):
    found = bounds.uniform(n, lam, norm, rank, gamma, 3.0, delta)
    t = found * lam / (2.0 * 3.0 * norm ** (2.0 * gamma))  # the deviation ‖B_N − B‖ that it stands for
    u, variance = 2.0 * norm**2, 4.0 * n * norm**4
    assert t >= (u + math.sqrt(u**2 + 36.0 * variance)) / (6.0 * n)  # where the inequality is valid
    probability = 14.0 * rank * math.exp(-(n**2 * t**2 / 2.0) / (variance + n * u * t / 3.0))
    assert probability <= delta * (1.0 + 1e-9)
    # and not by much: only √(a + b) ≤ √a + √b was given away, a factor √2 in t at most
    probability = 14.0 * rank * math.exp(-(n**2 * (0.7 * t) ** 2 / 2.0) / (variance + n * u * 0.7 * t / 3.0))
    assert probability >= delta


@given(lam=st.floats(1e-6, 10.0), norm=norms, delta=deltas)
def test_points_needed_is_where_the_bound_is_one(lam, norm, delta):
    n = bounds.points_needed(lam, norm, delta)
    assert bounds.pathwise(max(1, math.ceil(n)), lam, norm, 1.0, delta) <= 1.0 + 1e-9
    if n > 2:
        assert bounds.pathwise(math.floor(n) - 1, lam, norm, 1.0, delta) > 1.0 - 1e-9


@given(mu=st.floats(1e-9, 1e3), lam=lams, gamma=gammas)
def test_approximation_bounds_every_mode(mu, lam, gamma):
    """One mode of B with eigenvalue μ: u = μ^γ ψ, and T_λ h − u = −λ/(μ + λ) u."""
    assert lam / (mu + lam) * mu**gamma * 2.5 <= bounds.approximation(lam, gamma, 2.5) * (1.0 + 1e-12)


@given(gamma=gammas)
def test_best_alpha_is_best(gamma):
    tried = np.linspace(5e-3, 0.5, 100)
    best = max(bounds.rate(alpha, gamma) for alpha in tried)
    assert best <= bounds.best_rate(gamma) + 1e-12
    assert best >= bounds.best_rate(gamma) - 5e-3
    assert bounds.rate(bounds.best_alpha(gamma), gamma) == pytest.approx(bounds.best_rate(gamma), abs=1e-15)


def test_rates_of_the_paper():
    assert bounds.best_alpha(0.5) == pytest.approx(1.0 / 3.0)
    assert bounds.best_rate(0.5) == pytest.approx(1.0 / 6.0)
    assert bounds.rate(0.4, 1.0) == pytest.approx(0.1)
    assert bounds.rate(0.1, 1.0) == pytest.approx(0.1)


GOOD = {
    bounds.pathwise: (100, 0.1, 2.0, 1.0, 0.05),
    bounds.sharper: (100, 0.1, 2.0, 1.0, 0.05),
    bounds.uniform: (100, 0.1, 2.0, 3.0, 0.5, 1.0, 0.05),
    bounds.points_needed: (0.1, 2.0, 0.05),
    bounds.approximation: (0.1, 0.5, 1.0),
    bounds.rate: (0.3, 0.5),
    bounds.best_alpha: (0.5,),
    bounds.best_rate: (0.5,),
}


@pytest.mark.parametrize("function", GOOD, ids=lambda function: function.__name__)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0, "much", None, [0.1, 0.2], 1j])
def test_bad_arguments_are_refused(function, bad):
    good = GOOD[function]
    assert function(*good) > 0.0
    for k in range(len(good)):
        with pytest.raises((ArgumentError, ArgumentTypeError, NonFiniteError)) as caught:
            function(*good[:k], bad, *good[k + 1 :])
        assert isinstance(caught.value, KernopError)


@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        (bounds.pathwise, (100, 0.0, 2.0), "regularization"),
        (bounds.pathwise, (100, 0.1, 2.0, 1.0, 1.0), "delta"),
        (bounds.pathwise, (1.5, 0.1, 2.0), "points"),
        (bounds.uniform, (100, 0.1, 2.0, 0.5, 0.5), "rank"),
        (bounds.uniform, (100, 0.1, 2.0, 3.0, 1.5), "gamma"),
        (bounds.rate, (0.51, 0.5), "alpha"),
        (bounds.approximation, (0.1, 1.01), "gamma"),
    ],
)
def test_errors_name_the_argument(function, arguments, name):
    with pytest.raises(KernopError, match=f"^{name}: got"):
        function(*arguments)


positive = st.floats(5e-324, 1.7e308)


@given(
    n=st.integers(1, 10**400), lam=positive, norm=positive, size=positive, gamma=gammas, delta=st.floats(1e-300, 0.999)
)
def test_extreme_numbers_give_a_number_or_an_error(n, lam, norm, size, gamma, delta):
    for bound in (
        lambda: bounds.pathwise(n, lam, norm, size, delta),
        lambda: bounds.sharper(n, lam, norm, size, delta),
        lambda: bounds.uniform(n, lam, norm, 1.0 + size, gamma, size, delta),
        lambda: bounds.points_needed(lam, norm, delta),
        lambda: bounds.approximation(lam, gamma, size),
    ):
        with suppress(ArgumentError):
            assert math.isfinite(bound())


@pytest.mark.parametrize("arguments", [(10, 1e-300, 1e100), (10, 1.0, 1e200), (10, 5e-324, 1.0)])
def test_bounds_that_overflow_are_refused(arguments):
    with pytest.raises(ArgumentError, match="pathwise: got numbers too extreme"):
        bounds.pathwise(*arguments)
    with pytest.raises(ArgumentError, match="points_needed: got numbers too extreme"):
        bounds.points_needed(*arguments[1:])
