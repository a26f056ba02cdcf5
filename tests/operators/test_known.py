"""Functions in files: their values at the stored points, and an error elsewhere."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import MissingFunctionError
from kernop.collocation.ansatz import PLAIN, Ansatz, normal_form
from kernop.language.calculus import normal_derivative
from kernop.language.conditions import Robin
from kernop.language.functions import evaluate_at
from kernop.language.ops import apply_operator, itself
from kernop.operators.known import ConstantOperator, KnownFunction, KnownOperator, shown

BOX = ko.Box([0.0, 0.0], [1.0, 1.0])
POINTS = BOX.boundary.sample(30)


def a(x):
    return jnp.exp(x[..., 0])


def rho(x):
    return x[..., 0] * x[..., 1]


def op(u):
    return a * u + normal_derivative(u)


def agree(one, other):
    assert one.alphas == other.alphas
    np.testing.assert_array_equal(one.coefficients, other.coefficients)


class TestFunctions:
    stored = KnownFunction("data of condition 'g'", "problem", POINTS.x, np.asarray(a(POINTS.x)))

    def test_values_at_stored_points(self):
        some = POINTS.x[[4, 4, 1]]
        np.testing.assert_array_equal(evaluate_at("g", self.stored, some), np.asarray(a(POINTS.x))[[4, 4, 1]])

    def test_an_error_elsewhere(self):
        with pytest.raises(MissingFunctionError, match=r"the data of condition 'g' \(its value at x = .*problem=…"):
            evaluate_at("g", self.stored, POINTS.x[:2] + 1e-16 + 1e-3)

    def test_an_error_for_derivatives(self):
        with pytest.raises(MissingFunctionError, match="its derivatives"):
            jax.jvp(self.stored, (jnp.asarray(POINTS.x),), (jnp.ones(POINTS.x.shape),))


class TestConstants:
    operator = ConstantOperator(("u",), ((0, (0, 0)), (0, (1, 2))), [2.0, -0.3])

    def test_it_is_an_operator(self):
        agree(
            normal_form(self.operator, POINTS),
            normal_form(lambda u: 2 * u - 0.3 * ko.partial(ko.partial(u, 0), 1, 2), POINTS),
        )

    def test_on_a_known_function(self):
        found = apply_operator(self.operator, lambda x: x[..., 0] * x[..., 1] ** 2, POINTS)
        x, y = POINTS.x.T
        np.testing.assert_allclose(found, 2 * x * y**2 - 0.3 * 2.0, rtol=1e-12)


class TestOperators:
    stored = KnownOperator("f", ("u",), POINTS, PLAIN.functionals(op, POINTS))

    def test_at_stored_points(self):
        agree(normal_form(self.stored, POINTS), normal_form(op, POINTS))
        some = POINTS[[3, 7, 3]]
        agree(normal_form(self.stored, some), normal_form(op, some))

    def test_coefficients_that_vanish_are_dropped(self):
        left = POINTS[POINTS.normal[:, 0] != 0.0]
        assert normal_form(self.stored, left).alphas == normal_form(op, left).alphas == ((0, 0), (1, 0))

    def test_other_points_and_other_normals(self):
        turned = ko.Points(POINTS.x, -POINTS.normal)
        for points in (BOX.boundary.sample(4, seed=7), turned, ko.Points(POINTS.x)):
            with pytest.raises(MissingFunctionError, match=r"the operator of condition 'f' \(at x = "):
                normal_form(self.stored, points)

    def test_as_a_function(self):
        with pytest.raises(MissingFunctionError, match="as a function"):
            apply_operator(self.stored, lambda x: x[..., 0], POINTS)

    def test_with_an_envelope(self):
        product = Ansatz(envelope=rho).functionals(op, POINTS)
        missing = KnownFunction("envelope", "envelope", POINTS.x, rho(POINTS.x))
        for plain in (PLAIN.functionals(op, POINTS), op):
            stored = KnownOperator("f", ("u",), POINTS, plain, product)
            agree(normal_form(stored, POINTS, ansatz=Ansatz(envelope=missing)), product.blocks[0])
            agree(normal_form(stored, POINTS, ansatz=Ansatz(envelope=rho)), product.blocks[0])
            agree(normal_form(stored, POINTS), normal_form(op, POINTS))

    def test_with_an_envelope_elsewhere(self):
        product, inner = Ansatz(envelope=rho).functionals(op, POINTS), BOX.boundary.sample(4, seed=7)
        missing = KnownFunction("envelope", "envelope", POINTS.x, rho(POINTS.x))
        table = KnownOperator("f", ("u",), POINTS, PLAIN.functionals(op, POINTS), product)
        known = KnownOperator("f", ("u",), POINTS, itself, product)
        with pytest.raises(MissingFunctionError, match=r"'f' and the envelope .*load\(path, problem=…, envelope=…\)"):
            normal_form(table, inner, ansatz=Ansatz(envelope=missing))
        with pytest.raises(MissingFunctionError, match=r"hold the envelope .*load\(path, envelope=…\)"):
            normal_form(known, inner, ansatz=Ansatz(envelope=missing))
        agree(
            normal_form(known, inner, ansatz=Ansatz(envelope=rho)),
            normal_form(itself, inner, ansatz=Ansatz(envelope=rho)),
        )


def test_shown_to_a_person():
    assert shown(itself) == "u"
    assert shown(normal_derivative) == "∂u/∂n"
    assert shown(Robin(1.0, 2.5, on=BOX.boundary).op) == "1 u + 2.5 ∂u/∂n"
    assert shown(ConstantOperator(("u",), ((0, (0, 2)),), [-1.0])) == "-1 ∂^(0, 2) u"
    assert (
        shown(KnownOperator("f", ("u",), POINTS, PLAIN.functionals(op, POINTS)))
        == "order 1, coefficients at the stored points"
    )
