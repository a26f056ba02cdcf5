"""The bounds hold: −u″ = f on (0, 1), u = g at the ends, where the estimator of infinitely many points is known.

Nothing of the truth uses kernop: the spectrum of B is that of the Gaussian kernel, differentiated by hand, under a
Gauss–Legendre rule. `benchmarks/bounds.py` does the same with the library's own operators, and at full size.
"""

import numpy as np
import pytest

import kernop as ko
from kernop import bounds

LINE = ko.Interval(0, 1)
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary, name="g")
)
KERNEL, GAMMA, DELTA, DRAWS = ko.Gaussian(1.0), 0.5, 0.05, 200
SIZES = (40, 80, 160, 320, 640)
DERIVATIVES = {0: lambda z: 1.0, 2: lambda z: 4 * z**2 - 2, 4: lambda z: 16 * z**4 - 48 * z**2 + 12}


def cross(x, second, y, right):
    """P_i^(1) P_j^(2) K: −∂² where ``second`` (or ``right``) is true, else the value."""
    z = np.subtract.outer(x, y)
    order = np.add.outer(2 * second.astype(int), 2 * right.astype(int))
    sign = np.where(order == 2, -1.0, 1.0)
    return sign * sum((order == k) * d(z) for k, d in DERIVATIVES.items()) * np.exp(-(z**2))


@pytest.fixture(scope="module")
def truth():
    """μ_i, the features ⟨P_x K, e_i⟩ as a function, and ψ; half of the mass is at the ends."""
    t, weights = np.polynomial.legendre.leggauss(60)
    x, second = np.concatenate([0.5 * (t + 1.0), [0.0, 1.0]]), np.arange(62) < 60
    mass = np.concatenate([0.25 * weights, [0.25, 0.25]])
    values, vectors = np.linalg.eigh(np.sqrt(np.outer(mass, mass)) * cross(x, second, x, second))
    kept = values > 1e-12 * values[-1]
    basis = np.sqrt(mass)[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    psi = vectors[:, kept].T @ (np.sqrt(mass) * np.sign(x - 0.37))
    return values[kept], lambda at, inside: cross(at, inside, x, second) @ basis, psi


def draw(rng, n):
    inside = rng.random(n) < 0.5
    inside[:2] = True, False  # both conditions occur
    return np.where(inside, rng.random(n), rng.integers(2, size=n)), inside


@pytest.fixture(scope="module")
def errors(truth):
    """For each N, with λ = N^(−α) and λ = 0.1: the errors of one input and of the worst in all draws, (DRAWS, 2)."""
    mu, features, psi = truth
    rng, found = np.random.default_rng(0), {}
    for n in SIZES:
        phis = [features(*draw(rng, n)) for _ in range(DRAWS)]
        for lam in (n ** -bounds.best_alpha(GAMMA), 0.1):
            found[n, lam] = np.array([error(phi, mu, psi, lam) for phi in phis])
    return found


def error(phi, mu, psi, lam):
    seen = phi.T @ phi / len(phi)
    estimate = np.linalg.solve(seen + lam * np.eye(len(mu)), seen * mu**GAMMA)  # T̂ P B^γ
    difference = estimate - np.diag(mu ** (1.0 + GAMMA) / (mu + lam))
    return np.linalg.norm(difference @ psi), np.linalg.norm(difference, 2) * np.linalg.norm(psi)


def test_the_library_gives_the_same_estimate(truth):
    mu, features, psi = truth
    x, inside = draw(np.random.default_rng(1), 50)
    phi, lam = features(x, inside), 0.1
    h = phi @ (mu**GAMMA * psi)
    points = {"f": x[inside][:, None], "g": x[~inside][:, None]}
    u = ko.learn(PROBLEM, kernel=KERNEL, points=points, regularization=lam, method=ko.Full())(f=h[inside], g=h[~inside])
    seen = phi.T @ phi / len(phi)
    coefficients = np.linalg.solve(seen + lam * np.eye(len(mu)), seen @ (mu**GAMMA * psi))
    place = np.linspace(0.0, 1.0, 9)
    wanted = features(place, np.zeros(9, dtype=bool)) @ coefficients
    np.testing.assert_allclose(u(place[:, None]), wanted, atol=1e-9 * np.max(np.abs(wanted)))


def test_bounds_hold_in_all_but_delta_of_the_draws(truth, errors):
    mu, _, psi = truth
    known = bounds.constants(PROBLEM, KERNEL)
    size, source = np.linalg.norm(mu**GAMMA * psi), np.linalg.norm(psi)
    for (n, lam), found in errors.items():
        gap = np.linalg.norm(lam / (mu + lam) * mu**GAMMA * psi)
        limits = {
            "pathwise": (found[:, 0], bounds.pathwise(n, lam, known.norm, size, DELTA)),
            "sharper": (found[:, 0], bounds.sharper(n, lam, known.functional, gap, DELTA)),
            "uniform": (found[:, 1], bounds.uniform(n, lam, known.norm, 1.0, GAMMA, source, DELTA)),
        }
        for name, (measured, bound) in limits.items():
            assert np.mean(measured <= bound) >= 1.0 - DELTA, name
        assert np.quantile(found[:, 0], 1.0 - DELTA) > 3e-3 * limits["sharper"][1]
        assert gap <= bounds.approximation(lam, GAMMA, source)
        assert np.max(found[:, 0]) <= size  # of any points, whatever the bounds say


def test_bounds_are_nearly_reached_by_the_toss_of_a_coin():
    """P_x is M e_1 or M e_2, each half of the time, and λ is so large that nothing is amplified."""
    n, m, rng = 400, 2.0, np.random.default_rng(3)
    lam, mean = 20.0 * m**2, 0.5 * m**2
    heads = rng.binomial(n, 0.5, size=4000) / n
    errors = [np.abs(m**2 * part / (m**2 * part + lam) - mean / (mean + lam)) for part in (heads, 1.0 - heads)]
    one, worst = errors[0], np.max(errors, axis=0)  # the input with u = e_1, and all with ‖u‖ ≤ 1
    limits = {
        "pathwise": (one, bounds.pathwise(n, lam, m, 1.0, DELTA), 0.15),
        "sharper": (one, bounds.sharper(n, lam, m, lam / (mean + lam), DELTA), 0.2),
        "uniform": (worst, bounds.uniform(n, lam, m, 2.0, 0.0, 1.0, DELTA), 0.04),
    }
    for name, (measured, bound, part) in limits.items():
        assert part * bound < np.quantile(measured, 1.0 - DELTA) <= bound, name


def slope(errors, column, chosen):
    medians = [np.median(errors[n, chosen(n)][:, column]) for n in SIZES]
    return -np.polyfit(np.log(SIZES), np.log(medians), 1)[0]


@pytest.mark.parametrize("column", [0, 1], ids=["one input", "worst input"])
def test_errors_decay_as_predicted(errors, column):
    alpha = bounds.best_alpha(GAMMA)
    assert slope(errors, column, lambda n: 0.1) == pytest.approx(0.5, abs=0.1)
    assert slope(errors, column, lambda n: n**-alpha) >= (1.0 - 2.0 * alpha) / 2.0


def test_the_total_error_decays_as_predicted(truth, errors):
    mu, _, psi = truth
    alpha = bounds.best_alpha(GAMMA)
    totals = [np.linalg.norm((n**-alpha) / (mu + n**-alpha) * mu**GAMMA * psi) for n in SIZES]
    totals = [gap + np.median(errors[n, n**-alpha][:, 0]) for gap, n in zip(totals, SIZES, strict=True)]
    assert -np.polyfit(np.log(SIZES), np.log(totals), 1)[0] >= bounds.rate(alpha, GAMMA)


def test_the_effective_rank_is_estimated_from_points(truth):
    """r_N of 400 points against the same with the expectation by a rule."""
    mu, features, _ = truth
    x, inside = draw(np.random.default_rng(2), 400)
    points = {"f": x[inside][:, None], "g": x[~inside][:, None]}
    operator = ko.learn(PROBLEM, kernel=KERNEL, points=points, regularization=0.1, method=ko.Full())
    t, weights = np.polynomial.legendre.leggauss(60)
    at, second = np.concatenate([0.5 * (t + 1.0), [0.0, 1.0]]), np.arange(62) < 60
    phi, mass = features(at, second), np.concatenate([0.25 * weights, [0.25, 0.25]])
    variance = (phi * (mass * np.sum(phi**2, axis=1))[:, None]).T @ phi - np.diag(mu**2)
    wanted = np.trace(variance) / np.linalg.norm(variance, 2)
    assert bounds.report(operator).rank == pytest.approx(wanted, rel=0.1)
