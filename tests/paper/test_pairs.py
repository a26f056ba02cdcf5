"""The pairs of the Green operator: sources, solutions, and the Green's function that is the truth."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from kernop.paper import pairs

OMEGAS = (20, 200)
FINE = np.linspace(0.0, 1.0, 9901)


def closed_form(omega, a, x):
    """u for f = cos(ax): a particular solution, and a homogeneous one that mends the boundary values."""
    particular = np.cos(a * x) / (a**2 - omega**2)
    left, right = -0.1 - particular[0], 0.1 - particular[-1]
    return particular + (left * np.sin(omega * (1 - x)) + right * np.sin(omega * x)) / np.sin(omega)


@pytest.mark.parametrize("omega", OMEGAS)
@pytest.mark.parametrize("a", [0.0, 7.0, 50.0])
def test_labels_agree_with_closed_forms(omega, a):
    exact = closed_form(omega, a, FINE)
    found = pairs.solve(omega, np.cos(a * FINE)[:, None])[:, 0]
    np.testing.assert_allclose(found, exact, atol=1e-6 * np.max(np.abs(exact)))


def test_labels_converge_with_the_fourth_order():
    errors = []
    for n in (201, 401):
        x = np.linspace(0.0, 1.0, n)
        errors.append(np.max(np.abs(pairs.solve(20, np.cos(7 * x)[:, None])[:, 0] - closed_form(20, 7.0, x))))
    assert 14 < errors[0] / errors[1] < 18


def test_sources_have_the_stated_covariance():
    """With unit vectors for the noise, the draws are a square root of the covariance."""
    x = np.linspace(0.0, 1.0, 23)

    class Unit:
        def normal(self, size):
            return np.eye(size[0])

    root = pairs._gaussian_process(x, 1, Unit())
    np.testing.assert_allclose(root @ root.T, np.exp(-((x[:, None] - x) ** 2) / 0.01), atol=1e-13)
    assert np.mean(pairs.training_pairs(20).sources ** 2) == pytest.approx(100.0**2, rel=0.1)


@pytest.mark.parametrize("omega", OMEGAS)
def test_exact_green_is_its_sine_series(omega):
    x, y = np.array([0.11, 0.5, 0.83, 0.3]), np.array([0.47, 0.5, 0.2, 1.0])
    k = np.pi * np.arange(1, 100_001)[:, None]
    series = np.sum(2 * np.sin(k * x) * np.sin(k * y) / (k**2 - omega**2), axis=0)
    np.testing.assert_allclose(pairs.exact_green(omega, x, y), series, atol=3e-6)


def test_exact_green_and_offset_solve_the_equation():
    """∫ G f + β, by quadrature, against an initial value problem that starts with its value and slope at 0."""

    def f(x):
        return np.exp(x) * np.sin(9 * x)

    def u(y):
        integral = quad(lambda x: pairs.exact_green(20, x, y) * f(x), 0, 1, points=[y], epsabs=1e-12, limit=200)[0]
        return integral + pairs.exact_offset(20, y)

    h = 1e-3
    slope = (-25 * u(0.0) + 48 * u(h) - 36 * u(2 * h) + 16 * u(3 * h) - 3 * u(4 * h)) / (12 * h)
    places = [0.2, 0.55, 1.0]
    path = solve_ivp(
        lambda x, s: [s[1], -400 * s[0] - f(x)], (0, 1), [-0.1, slope], t_eval=places, rtol=1e-10, atol=1e-12
    )
    assert u(0.0) == pytest.approx(-0.1)
    assert u(1.0) == pytest.approx(0.1)
    np.testing.assert_allclose(path.y[0], [u(y) for y in places], atol=1e-6)
