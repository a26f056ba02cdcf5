"""Powers of r at which solutions begin where coefficients jump, against the closed forms of Kellogg, and corners."""

import numpy as np
import pytest

import kernop as ko
from kernop.collocation.cells.crossings import exponent_at
from kernop.collocation.cells.divisible import jump_parts
from kernop.collocation.cells.pieces import Pieces

BOX = ko.Box([-1, -1], [1, 1])


def exponent(problem, domain, place):
    return exponent_at(problem, Pieces(domain, jump_parts(problem)), np.array(place, dtype=float), np.empty((0, 2)))


def flow(domain, a):
    return ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=domain), ko.Dirichlet(on=domain.boundary))


@pytest.mark.parametrize("contrast", [2.0, 10.0, 1e4])
def test_four_quarters(contrast):
    """tan(πγ/4) = contrast^(−½)."""
    a = ko.Piecewise({ko.Box([0, 0], [1, 1]): contrast, ko.Box([-1, -1], [0, 0]): contrast}, otherwise=1.0)
    found = exponent(flow(BOX, a), BOX, [0, 0])
    assert found == pytest.approx(4 / np.pi * np.arctan(contrast**-0.5), rel=1e-3)


def test_corners_of_a_domain():
    """π/ω with values of u on both sides, π/(2ω) with slopes on one."""
    ell = ko.Polygon([[-1, -1], [1, -1], [1, 0], [0, 0], [0, 1], [-1, 1]])
    assert exponent(flow(ell, 1.0), ell, [0, 0]) == pytest.approx(2 / 3, rel=1e-2)
    one = ell.boundary.where(lambda x: (np.abs(x[..., 0]) < 1e-9) & (x[..., 1] >= 0))
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=ell),
        ko.Neumann(on=one, name="q"),
        ko.Dirichlet(on=ell.boundary, name="g"),
    )
    assert exponent(problem, ell, [0, 0]) == pytest.approx(1 / 3, rel=1e-2)


def test_material_next_to_a_crossing_is_told_to_rounding():
    """A millionth of a millionth from a line on which a jumps, on either side of it."""
    a = ko.Piecewise({ko.Box([0.25, 0.25], [1, 1]): 10.0, ko.Box([-1, -1], [0.25, 0.25]): 10.0}, otherwise=1.0)
    step = 2.0**-40
    x = np.array([[0.25 + step, 0.25 + step], [0.25 - step, 0.25 + step], [0.25 - step, 0.25 - step]])
    np.testing.assert_array_equal(a(x), [10.0, 1.0, 10.0])
    np.testing.assert_array_equal(a(np.array([[0.25, 0.25], [0.25, 0.5]])), [10.0, 10.0])


def test_an_exact_solution_at_a_crossing():
    """r^γ φ(θ), contrast 10: cells are halved 20 times, to a millionth, and materials are not mixed up there."""
    power = 4 / np.pi * np.arctan(10**-0.5)
    other = -1 / np.tan(0.25 * np.pi * power)

    def exact(x):
        angle = np.mod(np.arctan2(x[..., 1], x[..., 0]), 2 * np.pi)
        quarter = np.minimum((2 * angle / np.pi).astype(int), 3)
        turned = power * (angle - (quarter + 0.5) * 0.5 * np.pi)
        even = np.where(quarter % 2 == 0, np.cos(turned), other * np.sin(turned))
        return np.hypot(x[..., 0], x[..., 1]) ** power * np.where(quarter < 2, even, -even)

    a = ko.Piecewise({ko.Box([0, 0], [2, 2]): 10.0, ko.Box([-2, -2], [0, 0]): 10.0}, otherwise=1.0)
    u = ko.learn(flow(BOX, a), method=ko.Partition(cells=2, degree=9, levels=20))(0.0, exact)
    x = BOX.sample(300, "uniform", seed=1).x
    x = x[np.linalg.norm(x, axis=1) > 0.1]
    assert np.max(np.abs(u(x) - exact(x))) < 2e-5
