"""Nearness to a resonance whose eigenfunction is singular at a corner."""

import warnings

import pytest

import kernop as ko

ELL = ko.Polygon([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)])
#: The first eigenvalue of −Δ on it (Trefethen and Betcke 2006).
FIRST = 9.6397238440219
GRADED = ko.Partition(cells=2, degree=11, levels=14)


def helmholtz(number, conductivity=1.0):
    flux = lambda u: conductivity * ko.grad(u)
    return ko.Problem(
        ko.Equation(lambda u: -ko.div(flux(u)) - number * u, on=ELL, name="f"), ko.Dirichlet(on=ELL.boundary, name="g")
    )


def test_it_grows_like_the_inverse_distance():
    """Of smooth functions none is near the eigenfunction, and the number was 10 at any distance."""
    found = []
    for apart in (1e-3, 1e-5):
        with pytest.warns(ko.errors.IllPosedWarning, match="a resonance"):
            found.append(ko.learn(helmholtz(FIRST + apart), method=GRADED).stability)
    assert found[0] > 5e3
    assert found[1] == pytest.approx(100.0 * found[0], rel=0.1)


def test_no_alarm_away_from_it_or_for_large_contrasts():
    inside = ko.Piecewise({ko.Box([-0.5, -0.5], [-0.1, -0.1]): 1e6}, otherwise=1.0)
    for problem in (helmholtz(FIRST + 1.0), helmholtz(400.0), helmholtz(0.0), helmholtz(0.0, inside)):
        with warnings.catch_warnings():
            warnings.simplefilter("error", ko.errors.IllPosedWarning)
            ko.learn(problem, method=GRADED)
