"""Powers of r at which solutions begin where coefficients jump, against the closed forms of Kellogg, and corners."""

import numpy as np
import pytest
from scipy.optimize import brentq

import kernop as ko
from kernop.collocation.cells.crossings import exponent_at
from kernop.collocation.cells.divisible import jump_parts, pieces_of
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.singularities import singular_places

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


@pytest.mark.parametrize("values", [True, False])
def test_a_line_of_jumps_that_leaves_the_domain(values):
    """Where it meets a straight side under an angle ω, u ~ r^γ with a cot γω + b cot γ(π − ω) = 0 where values are
    given, and a tan γω + b tan γ(π − ω) = 0 where slopes are. The corners of either side lie outside of the domain.
    """
    angle, (a, b) = 1.2, (1.0, 100.0)
    along = np.array([np.cos(angle), np.sin(angle)])
    square, start = ko.Box([0, 0], [1, 1]), np.array([0.4, 0.0])
    right = ko.Polygon([start - along, start - along + [5, 0], start + 3 * along + [5, 0], start + 3 * along])
    coefficient = ko.Piecewise({right: a}, otherwise=b)
    side = ko.Dirichlet if values else ko.Neumann
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(coefficient * ko.grad(u)), on=square),
        side(on=square.face("bottom"), name="below"),
        ko.Dirichlet(on=square.face("left", "right", "top"), name="around"),
    )
    places, exponents = singular_places(problem, pieces_of(problem))
    near = np.linalg.norm(places - start, axis=1)

    def balance(power):
        """The above times sines, or cosines."""
        one, other = power * angle, power * (np.pi - angle)
        if values:
            return a * np.cos(one) * np.sin(other) + b * np.cos(other) * np.sin(one)
        return a * np.sin(one) * np.cos(other) + b * np.sin(other) * np.cos(one)

    assert np.min(near) < 1e-9
    assert exponents[np.argmin(near)] == pytest.approx(brentq(balance, 0.3, 1.45), rel=5e-3)


def test_slopes_that_jump_along_a_side():
    """Re(z log z) has the slope π on one part of a straight side and 0 on the other: u is like r log r between them."""
    box = ko.Box([-1, 0], [1, 1])
    left, right = (box.face("bottom").where(own) for own in (lambda x: x[..., 0] < 0.2, lambda x: x[..., 0] >= 0.2))

    def exact(x):
        z = x[..., 0] - 0.2 + 1j * x[..., 1]
        return np.real(z * np.log(np.where(z == 0.0, 1.0, z)))

    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=box, data=0.0),
        ko.Neumann(on=left, name="left", data=np.pi),
        ko.Neumann(on=right, name="right", data=0.0),
        ko.Dirichlet(on=box.face("left", "right", "top"), name="g"),
    )
    u = ko.learn(problem, method=ko.Partition(cells=2, degree=9))(g=exact)
    x = np.array([[0.2, 0.0], [0.21, 0.001], [0.5, 0.5], [-0.5, 0.1]])
    np.testing.assert_allclose(u(x), exact(x), atol=1e-5)
