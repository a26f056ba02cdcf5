"""Plain `learn` where coefficients jump twice within a short distance: layers, rings, small disks, thin strips."""

import warnings

import numpy as np
import pytest

import kernop as ko

LINE, DISK, SQUARE = ko.Interval(0, 1), ko.Ball([0, 0], 1), ko.Box([0, 0], [1, 1])


def conducting(a, domain):
    return ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=domain, name="f"),
        ko.Dirichlet(on=domain.boundary, name="g"),
    )


@pytest.mark.parametrize("width", [0.02, 1e-3, 1e-5])
def test_an_insulating_layer_on_a_line(width):
    """a = w within [½, ½ + w], else 1: u is linear in each piece. One space for both sides was wrong by 33 %."""
    end = 0.5 + width
    T = ko.learn(conducting(ko.Piecewise({ko.Interval(0.5, end): width}, otherwise=1.0), LINE))
    x = np.linspace(0.0, 1.0, 1001)
    q = 1.0 / (1.0 - width + 1.0)
    exact = np.interp(x, [0.0, 0.5, end, 1.0], [0.0, 0.5 * q, 1.0 - q * (1.0 - end), 1.0])
    assert np.max(np.abs(T(0.0, lambda x: x[..., 0])(x[:, None]) - exact)) < 1e-11


@pytest.mark.parametrize(("width", "inside"), [(0.1, 0.01), (1e-3, 1e-4)])
def test_a_ring_has_other_functions_within_and_around(width, inside):
    """f = 1, radial: u was wrong by 97 %, with the same functions within the ring and around it."""
    radius, end = 0.5, 0.5 + width
    T = ko.learn(
        conducting(ko.Piecewise({ko.Ball([0, 0], end) - ko.Ball([0, 0], radius): inside}, otherwise=1.0), DISK)
    )
    x = DISK.sample(500, "uniform", seed=1).x
    r = np.hypot(*x.T)
    exact = (1.0 - np.maximum(r, end) ** 2) / 4.0 + (end**2 - np.clip(r, radius, end) ** 2) / 4.0 / inside
    exact += (radius**2 - np.minimum(r, radius) ** 2) / 4.0
    assert np.max(np.abs(T(1.0, 0.0)(x) - exact)) < 1e-9 * np.max(exact)


def test_a_small_disk_has_enough_points_on_its_rim():
    """u = x outside, but for a dipole: with four points on the rim u was wrong by 2 %, after 3000 functions."""
    radius, inside = 0.03, 1e-3
    a = ko.Piecewise({ko.Ball([0, 0], radius): inside}, otherwise=1.0)
    T = ko.learn(conducting(a, DISK), budget=1000)
    assert all(len(T.points[name]) >= 48 for name in ("piece0_jump", "piece0_flux"))
    rows = [[1, 1, 0], [1, radius**-2, -1], [1, -(radius**-2), -inside]]
    plain, dipole, within = np.linalg.solve(rows, [1, 0, 0])
    x = np.concatenate([DISK.sample(300, seed=1).x, 3.0 * radius * DISK.sample(300, seed=2).x])
    r2 = np.sum(x**2, axis=1)
    exact = np.where(r2 < radius**2, within, plain + dipole / np.maximum(r2, radius**2)) * x[:, 0]
    assert np.max(np.abs(T(0.0, lambda x: x[..., 0])(x) - exact)) < 1e-4


def test_a_thin_strip_of_a_potential():
    """−Δu + c u = 0 with c = 10⁴ within 0.01: no point of one space was in it, or few."""
    low, high, k = 0.41, 0.42, 100.0
    c = ko.Piecewise({ko.Box([low, 0], [high, 1]): k**2}, otherwise=0.0)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) + c * u, on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.face("left", "right"), name="g"),
        ko.Neumann(on=SQUARE.face("bottom", "top"), name="q", data=0.0),
    )
    T = ko.learn(problem)
    assert "nothing differentiates jumps" in str(T.report)
    s, c_ = np.sinh(k * (high - low)), np.cosh(k * (high - low))
    rows = [[low, -1, 0, 0], [1, 0, -k, 0], [0, c_, s, 1 - high], [0, k * s, k * c_, -1]]
    first, even, odd, last = np.linalg.solve(rows, [0, 0, 1, 0])
    x = SQUARE.sample(500, "uniform", seed=3).x
    z = k * np.clip(x[:, 0] - low, 0.0, high - low)
    inside = even * np.cosh(z) + odd * np.sinh(z)
    exact = np.where(x[:, 0] < low, first * x[:, 0], np.where(x[:, 0] < high, inside, 1 - last * (1 - x[:, 0])))
    assert np.max(np.abs(T(0.0, lambda x: x[..., 0])(x) - exact)) < 1e-6


def test_a_thin_slab_in_space_is_warned_of():
    """Nobody cuts it into parts by himself: u jumps nearly across it, and no smooth function does."""
    cube = ko.Box([0, 0, 0], [1, 1, 1])
    a = ko.Piecewise({ko.Box([0, 0, 0.4], [1, 1, 0.42]): 0.01}, otherwise=1.0)
    with pytest.warns(ko.AccuracyWarning, match=r"a piece is 0.02\d? thick at .* name both sides"):
        ko.learn(conducting(a, cube), points=600, method=ko.Subspace(100))


def test_a_piece_without_a_point_is_warned_of():
    """In the dimensions, and by the methods, that do not cut: the coefficient is not resolved."""
    c = ko.Piecewise({ko.Interval(0.4, 0.4001): 1e6}, otherwise=0.0)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u) + c * u, on=LINE, name="f"), ko.Dirichlet(on=LINE.boundary, name="g")
    )
    with pytest.warns(ko.AccuracyWarning, match="no point of 'f' lies in"):
        T = ko.learn(problem, method=ko.Subspace(30))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert T(0.0, lambda x: x[..., 0]).error_estimate().relative_l2 > 0.9
