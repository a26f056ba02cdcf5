"""The weak form of an equation: fluxes, what stands beside the divergence, and what conditions tell of fluxes."""

import numpy as np
import pytest

import kernop as ko
from kernop.trust.estimates import weakform
from kernop.trust.estimates.weakform import weak_form

pytestmark = pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning", "ignore::kernop.IllPosedWarning")

SQUARE = ko.Box([0, 0], [1, 1])
TOP, REST = SQUARE.face("top"), SQUARE.face("left", "right", "bottom")


def slope(x):
    return 1.0 + x[..., 0] * x[..., 1]


def form_of(*conditions):
    operator = ko.learn(ko.Problem(*conditions), points=120, method=ko.Subspace(40))
    return weak_form(operator().learned, operator.points, 50)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_of_a_flux_only_lower_terms_are_left(sign):
    """±div(a ∇u) has the flux ∓a ∇u; ∇a·∇u is part of the divergence, and u_x and 3 u are not."""
    op = lambda u: -sign * ko.div(slope * ko.grad(u)) + ko.partial(u, 0) + 3.0 * u
    form = form_of(ko.Equation(op, on=SQUARE, name="f", data=0.0), ko.Dirichlet(on=SQUARE.boundary, name="g", data=0.0))
    x = form.x
    for j, alpha in enumerate([(1, 0), (0, 1)]):
        np.testing.assert_allclose(form.fluxes[0, j][0, alpha], sign * slope(x), rtol=1e-9)
    rest = form.rest[0]
    np.testing.assert_allclose(rest[0, (1, 0)], 1.0, atol=1e-7)
    np.testing.assert_allclose(rest[0, (0, 1)], 0.0, atol=1e-7)
    np.testing.assert_allclose(rest[0, (0, 0)], 3.0, atol=1e-7)
    assert form.measure == pytest.approx(1.0 / len(x))


def test_a_condition_on_the_slope_tells_the_flux():
    """2 u + 5 ∂u/∂n = q is a ∂u/∂n = (a / 5) (q − 2 u)."""
    form = form_of(
        ko.Equation(lambda u: -ko.div(slope * ko.grad(u)), on=SQUARE, name="f", data=0.0),
        ko.Dirichlet(on=REST, name="g", data=0.0),
        ko.Robin(2.0, 5.0, on=TOP, name="q", data=0.0),
    )
    (side,) = form.told
    np.testing.assert_allclose(side.shares[0] * len(side.x), slope(side.x) / 5.0, rtol=1e-9)
    np.testing.assert_allclose(side.values[0, 0], 2.0)
    assert list(form.prescribed) == ["g"]


def test_normals_that_point_into_the_domain_are_turned():
    """The sides of what was cut out by a predicate have the normals of another box."""
    half = ko.Box([0, 0], [1, 2]).where(lambda x: x[..., 1] < 1.0)
    equation = ko.Equation(lambda u: -ko.laplacian(u), on=half, name="f", data=0.0)
    held = ko.Dirichlet(on=REST, name="g", data=0.0)
    for side, sign in ((TOP, 1.0), (ko.Box([0, 1], [1, 2]).face("bottom"), -1.0)):
        (told,) = form_of(equation, held, ko.Neumann(on=side, name="q", data=0.0)).told
        inner = np.abs(told.x[:, 0] - 0.5) < 0.49
        np.testing.assert_allclose(told.shares[0, inner] * len(told.x), sign)


def test_the_side_of_a_narrow_hole_tells_the_flux_too():
    """Normals of a hole point into it, out of the domain, of which a step is a part, not of the hole."""
    hole = ko.Ball([0.5, 0.5], 1e-4)
    domain = SQUARE - hole
    form = form_of(
        ko.Equation(lambda u: -ko.laplacian(u), on=domain, name="f", data=0.0),
        ko.Dirichlet(on=domain.boundary.of(SQUARE), name="g", data=0.0),
        ko.Neumann(on=domain.boundary.of(hole), name="q", data=0.0),
    )
    (told,) = form.told
    np.testing.assert_allclose(told.shares[0] * len(told.x), 2e-4 * np.pi, rtol=1e-6)


def test_coefficients_are_not_asked_outside_of_a_box(monkeypatch):
    """An array on a grid is known within its box alone; of 8000 points of a cube a few are too near to its faces."""
    monkeypatch.setattr(weakform, "STEP", 0.05)  # more of the 50 points are
    x = np.linspace(0.0, 1.0, 9)
    a = ko.GridFunction(1.0 + x[:, None] + 0.0 * x, SQUARE)
    equation = ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE, name="f", data=0.0)
    form = form_of(equation, ko.Dirichlet(on=SQUARE.boundary, name="g", data=0.0))
    np.testing.assert_allclose(form.rest[0][0, (1, 0)], 0.0, atol=1e-9)  # ∇a·∇u is in the divergence


def test_other_problems_have_no_weak_form():
    cylinder = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
    heat = (
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=cylinder, name="f", data=0.0),
        ko.Dirichlet(on=cylinder.walls, name="g", data=0.0),
        ko.Initial(on=cylinder.initial, name="u0", data=0.0),
    )
    plate = (
        ko.Equation(lambda u: ko.laplacian(ko.laplacian(u)), on=SQUARE, name="f", data=0.0),
        ko.Dirichlet(on=SQUARE.boundary, name="g", data=0.0),
        ko.Neumann(on=SQUARE.boundary, name="q", data=0.0),
    )
    laplace = ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f", data=0.0)
    oblique = ko.Condition(lambda u: ko.partial(u, 0) + ko.partial(u, 1), on=TOP, name="q", data=0.0)
    thin = ko.Condition(lambda u: ko.normal_derivative(u) - ko.partial(u, 0, 2), on=TOP, name="q", data=0.0)
    inside = ko.Mean(on=SQUARE, name="s", data=0.0)
    assert form_of(*heat) is None
    assert form_of(*plate) is None
    assert form_of(laplace, ko.Dirichlet(on=REST, name="g", data=0.0), oblique) is None
    assert form_of(laplace, ko.Dirichlet(on=REST, name="g", data=0.0), thin) is None
    assert form_of(laplace, ko.Dirichlet(on=SQUARE.boundary, name="g", data=0.0), inside) is None
