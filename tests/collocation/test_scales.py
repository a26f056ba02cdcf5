"""The sizes of unknowns beside each other, from the conditions alone, and whether they are complex."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop import div, grad, laplacian
from kernop.collocation.scales import SWING, fitted
from kernop.collocation.units import frame_of


def stokes(viscosity, side=1.0):
    box = ko.Box([0.0, 0.0], [side, side])
    return ko.Problem(
        ko.Equation(lambda u, p: -viscosity * laplacian(u) + grad(p), on=box),
        ko.Condition(div, box, "c", of="u"),
        ko.Dirichlet(box.boundary, of="u"),
        unknowns={"u": 2, "p": 1},
    )


def ansatz_of(problem, envelope=None):
    points = {c.name: c.on.quadrature(64) if c.integral else c.on.sample(20) for c in problem.conditions}
    return fitted(problem, points, frame_of(problem), envelope)


@pytest.mark.parametrize("viscosity", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("side", [1e-3, 1.0, 1e3])
def test_pressure_is_measured_in_viscosity_over_length(viscosity, side):
    """Both terms of −μ Δu + ∇p are then of one size for a field that turns by 2π over the side."""
    scales = ansatz_of(stokes(viscosity, side))[0].scales
    assert scales[:2] == (1.0, 1.0)
    # Δ is a sum of two terms for each component, ∇ one of one: their sizes differ by no more than a factor √2.
    assert scales[2] == pytest.approx(viscosity * SWING / side, rel=0.5)


def test_scales_do_not_depend_on_the_units_of_a_condition():
    """An equation multiplied by a number is the same equation."""
    plain = stokes(2.0)
    f, *others = plain.conditions
    scaled = ko.Problem(
        ko.Equation(lambda u, p: 1e5 * (-2.0 * laplacian(u) + grad(p)), on=f.on), *others, unknowns={"u": 2, "p": 1}
    )
    np.testing.assert_allclose(ansatz_of(scaled)[0].scales, ansatz_of(plain)[0].scales, rtol=1e-10)


def test_a_mean_does_not_change_the_scales():
    """It involves one unknown only, whose size its weight can follow."""
    plain = stokes(3.0)
    box = plain.conditions[0].on
    fixed = ko.Problem(*plain.conditions, ko.Mean(box, of="p"), unknowns={"u": 2, "p": 1})
    np.testing.assert_allclose(ansatz_of(fixed)[0].scales, ansatz_of(plain)[0].scales, rtol=1e-10)


def test_the_order_of_the_unknowns_changes_the_unit_alone():
    conditions = stokes(1e4).conditions
    u, _, p = ansatz_of(ko.Problem(*conditions, unknowns={"u": 2, "p": 1}))[0].scales
    first, *second = ansatz_of(ko.Problem(*conditions, unknowns={"p": 1, "u": 2}))[0].scales
    assert first == 1.0
    np.testing.assert_allclose(second, u / p, rtol=1e-10)


def test_an_unknown_that_no_condition_involves_has_a_finite_scale():
    box = ko.Box([0.0, 0.0], [1.0, 1.0])
    problem = ko.Problem(ko.Equation(lambda u: 1e8 * laplacian(u), on=box), unknowns={"u": 1, "q": 1})
    scales = ansatz_of(problem)[0].scales
    assert scales[0] == 1.0
    assert 0.0 < scales[1] < np.inf


BOX = ko.Box([0.0, 0.0], [1.0, 1.0])
COMPLEX = {
    "a number": (1j, True),
    "a number with no imaginary part": (2.0, False),
    "a function": (lambda x: x[..., 0] + 1j, True),
    "a real function": (lambda x: x[..., 0] + 1.0, False),
}


@pytest.mark.parametrize(("coefficient", "wanted"), COMPLEX.values(), ids=COMPLEX)
def test_a_complex_coefficient_makes_the_unknowns_complex(coefficient, wanted):
    problem = ko.Problem(ko.Equation(lambda u: -laplacian(u), on=BOX), ko.Robin(coefficient, 1.0, on=BOX.boundary))
    ansatz, rows = ansatz_of(problem)
    assert ansatz.complex is wanted
    assert ansatz.scales == ()
    assert all(layout.complex is wanted for layout in rows.layouts)
    assert rows.count == ansatz.count == (2 if wanted else 1)


def test_complex_data_do_not_make_the_unknowns_complex():
    data = lambda x: 1j * jnp.ones(x.shape[:-1])
    problem = ko.Problem(ko.Equation(lambda u: -laplacian(u), on=BOX), ko.Dirichlet(BOX.boundary, data=data))
    assert not ansatz_of(problem)[0].complex


def test_the_envelope_is_kept():
    rho = lambda x: x[..., 0]
    assert ansatz_of(stokes(1.0), rho)[0].envelope is rho
