"""Operators as functionals of the functions of a space: random systems on polynomials, whose derivatives are known."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial.polynomial import polyder, polyval2d

import kernop as ko
from kernop import div, grad, laplacian, normal_derivative, partial
from kernop.basics.errors import ArgumentError, ArgumentTypeError, OperatorError
from kernop.collocation.ansatz import (
    Ansatz,
    collocate,
    condition_functionals,
    condition_layouts,
    normal_form,
)
from kernop.collocation.functionals import Layout
from kernop.language.ops import itself
from kernop.language.unknowns import Unknowns

D = ko.Box([0.2, 0.3], [1.2, 1.1])
POINTS = D.sample(7, seed=2)
FLOW = Unknowns((("u", 2), ("p", 1)))
ALPHAS = [alpha for alpha in itertools.product(range(3), repeat=2) if sum(alpha) <= 2]
DEGREE = 4


def polynomials(count, seed):
    """Random coefficients of so many polynomials in the plane, (count, DEGREE, DEGREE)."""
    return np.random.default_rng(seed).standard_normal((count, DEGREE, DEGREE))


def derivative(coefficients, alpha, x):
    """∂^α of a polynomial, by the rule for powers."""
    for axis, order in enumerate(alpha):
        coefficients = polyder(coefficients, order, axis=axis)
    return polyval2d(*x.T, coefficients)


def as_function(coefficients):
    """The same as functions for JAX, (n, count); a number of them without the axis if there is one."""

    def u(x):
        powers = [jnp.stack([x[..., axis] ** j for j in range(DEGREE)], axis=-1) for axis in range(2)]
        found = jnp.einsum("...i,...j,kij->...k", *powers, coefficients)
        return found[..., 0] if len(coefficients) == 1 else found

    return u


def applied(rows, v):
    """What functionals say of polynomials v_k, as values."""
    found = []
    for block in rows.blocks:
        terms = zip(block.terms, block.coefficients.T, strict=True)
        found.append(sum(c * derivative(v[k], alpha, block.x) for (k, alpha), c in terms))
    return rows.layouts[0].values(np.concatenate(found)[:, None])[..., 0]


def random_system(seed, complex_too):
    """An operator (u, p) ↦ 3 parts, each a random combination of derivatives of order up to 2 of all components."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((3, 3, len(ALPHAS))) * (rng.random((3, 3, len(ALPHAS))) < 0.6)
    if complex_too:
        numbers = numbers * np.exp(2j * np.pi * rng.random(numbers.shape))

    def op(u, p):
        components = [*u, p]
        fields = [[partial(partial(f, 0, i), 1, j) for i, j in ALPHAS] for f in components]
        flat = sum((fields[k][0] * np.zeros(3) for k in range(3)), start=0)
        for k, own in enumerate(fields):
            for column, f in enumerate(own):
                flat = flat + f * numbers[:, k, column]
        return flat

    return op, numbers


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_random_systems_with_constant_coefficients(seed, complex_too):
    op, numbers = random_system(seed, complex_too)
    v = polynomials(3, seed)
    table = np.array([[derivative(own, alpha, POINTS.x) for alpha in ALPHAS] for own in v])  # (3, A, n)
    rows = Ansatz(FLOW).functionals(op, POINTS)
    assert rows.layouts == (Layout(3, complex_too),)
    np.testing.assert_allclose(applied(rows, v), np.einsum("ika,kan->ni", numbers, table), rtol=1e-12, atol=1e-12)


def a(x):
    return 1.5 + x[..., 0] * x[..., 1]


def c(x):
    return x[..., 0] + 2.0j * x[..., 1]


def rho(x):
    return x[..., 0] * (1.0 + x[..., 1])


REAL = {
    "stokes": lambda u, p: -laplacian(u) + grad(p),
    "elasticity": lambda u: div(a * (grad(u) + ko.transpose(grad(u)))),
    "divergence": lambda u: div(a * u),
    "pressure": lambda p: a * laplacian(p) + p,
}
COMPLEX = {
    "a complex function": lambda u, p: c * u + 1j * grad(p),
    "a complex number": lambda p: laplacian(p) - (2.0 + 1.0j) * p,
    "a complex part": lambda u, p: u + 1j * p * np.array([0.0, 1.0]) + p * np.array([1.0, 0.0]),
}
ANSATZE = {
    "plain": Ansatz(FLOW),
    "scaled": Ansatz(FLOW, None, (2.0, 2.0, 1e3)),
    "envelope": Ansatz(FLOW, rho, (2.0, 2.0, 1e-2)),
    "complex": Ansatz(FLOW, None, (2.0, 2.0, 30.0), True),
    "complex envelope": Ansatz(FLOW, rho, (), True),
}


@pytest.mark.parametrize("ansatz", ANSATZE.values(), ids=ANSATZE)
@pytest.mark.parametrize("op", (REAL | COMPLEX).values(), ids=REAL | COMPLEX)
def test_the_functions_of_the_space_stand_for_the_unknowns(op, ansatz):
    """(P u)(x) for u_k = s_k ρ (v_k + i v_{m+k}): by functionals of the v, and by automatic differentiation of u."""
    v = polynomials(ansatz.count, 3)
    scales = np.array(ansatz.scales or (1.0, 1.0, 1.0))
    plus = v[:3] + 1j * v[3:] if ansatz.complex else v
    both = as_function(plus * scales[:, None, None])

    def u(x):
        return both(x) if ansatz.envelope is None else both(x) * rho(x)[..., None]

    wanted = ko.apply_operator(op, {"u": lambda x: u(x)[..., :2], "p": lambda x: u(x)[..., 2]}, POINTS, unknowns=FLOW)
    found = applied(ansatz.functionals(op, POINTS), v)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11 * np.max(np.abs(wanted)))


@pytest.mark.parametrize("ansatz", ANSATZE.values(), ids=ANSATZE)
def test_values_and_gradients_do_not_need_the_language(ansatz):
    v = polynomials(ansatz.count, 4)
    shortcut, whole = ansatz.evaluations(POINTS.x), applied(ansatz.evaluations(POINTS.x), v)
    assert whole.shape == (7, 3)
    for name, own in FLOW.slices.items():
        through = ansatz.functionals(lambda f: 1.0 * f, POINTS, of=name)
        part = ansatz.functionals(itself, POINTS, of=name)
        assert part.layouts == through.layouts
        np.testing.assert_allclose(applied(part, v), applied(through, v), rtol=1e-13)
        np.testing.assert_allclose(applied(part, v).reshape(7, -1), whole[:, own], rtol=1e-13)
    assert shortcut.layouts == (Layout(3, ansatz.complex),)
    gradients = ansatz.gradients(POINTS.x, 2)
    assert (gradients is None) == (ansatz.envelope is not None)
    if gradients is not None:
        np.testing.assert_allclose(
            applied(gradients, v), applied(ansatz.functionals(grad, POINTS, of="p"), v), rtol=1e-13
        )


def test_a_real_operator_of_complex_unknowns_does_the_same_to_both_parts():
    ansatz = Ansatz(Unknowns((("u", 1),)), complex=True)
    real, imaginary = ansatz.functionals(lambda u: laplacian(u) + a * u, POINTS).blocks
    assert {k for k, _ in real.terms} == {0}
    assert {k for k, _ in imaginary.terms} == {1}
    np.testing.assert_array_equal(real.coefficients, imaginary.coefficients)


def test_a_complex_operator_of_real_unknowns_has_two_rows():
    rows = Ansatz().functionals(lambda u: laplacian(u) + 2.0j * u, POINTS)
    assert rows.layouts == (Layout(None, True),)
    assert [set(block.terms) for block in rows.blocks] == [{(0, (0, 2)), (0, (2, 0))}, {(0, (0, 0))}]
    v = polynomials(1, 1)
    wanted = (
        derivative(v[0], (2, 0), POINTS.x)
        + derivative(v[0], (0, 2), POINTS.x)
        + 2j * derivative(v[0], (0, 0), POINTS.x)
    )
    np.testing.assert_allclose(applied(rows, v), wanted, rtol=1e-12)


# ---- problems


def problems():
    rim = D.boundary
    yield ko.Problem(ko.Equation(lambda u: -laplacian(u), on=D), ko.Robin(-2j, 1.0, on=rim))
    yield ko.Problem(
        ko.Equation(REAL["stokes"], on=D),
        ko.Condition(div, D, "c", of="u"),
        ko.Dirichlet(rim, of="u"),
        ko.Mean(D, of="p"),
        unknowns={"u": 2, "p": 1},
    )
    yield ko.Problem(ko.Equation(REAL["elasticity"], on=D), ko.Neumann(rim), ko.Integral(a, D), unknowns={"u": 2})


@pytest.mark.parametrize("problem", list(problems()))
@pytest.mark.parametrize("complex_too", [False, True])
def test_layouts_are_known_without_coefficients(problem, complex_too):
    points = {c.name: c.on.quadrature(16) if c.integral else c.on.sample(5) for c in problem.conditions}
    ansatz = Ansatz(problem.unknowns, complex=complex_too or "r" in problem.names)
    rows = collocate(problem, points, ansatz)
    assert condition_layouts(problem, ansatz) == rows.layouts
    expected = [
        layout.parts * (1 if c.integral else 5) for c, layout in zip(problem.conditions, rows.layouts, strict=True)
    ]
    assert [len(own) for own in rows.conditions] == expected


def test_an_integral_is_one_row_for_each_part():
    """∫ w u_k dx of polynomials over a rectangle, by a Gauss rule that is exact for them."""
    unknowns = Unknowns((("u", 2),))
    condition = ko.Integral(lambda x: x[..., 0], D)
    rows = condition_functionals(condition, D.quadrature(64), Ansatz(unknowns))
    assert [len(block) for block in rows.blocks] == [1, 1]
    v = polynomials(2, 5)
    values = [
        block.collected(block.coefficients[:, 0] * derivative(own, (0, 0), block.x))
        for block, own in zip(rows.blocks, v, strict=True)
    ]
    i, j = np.arange(DEGREE)[:, None], np.arange(DEGREE)[None, :]
    exact = (1.2 ** (i + 2) - 0.2 ** (i + 2)) / (i + 2) * (1.1 ** (j + 1) - 0.3 ** (j + 1)) / (j + 1)
    np.testing.assert_allclose(np.concatenate(values), np.sum(v * exact, axis=(1, 2)), rtol=1e-13)


def test_an_integral_needs_weights():
    with pytest.raises(ArgumentError, match="mean: got points without weights for an integral; give a quadrature rule"):
        condition_functionals(ko.Mean(D), D.sample(5), Ansatz())


def test_conditions_that_vanish_are_refused():
    problem = ko.Problem(
        ko.Equation(lambda p: p, on=D), ko.Integral(lambda x: 0.0 * x[..., 0], D, of="u"), unknowns={"u": 2, "p": 1}
    )
    points = {"f": POINTS, "integral": D.quadrature(64)}
    with pytest.raises(OperatorError, match="integral: got an operator that is zero at all points"):
        collocate(problem, points, Ansatz(FLOW))
    with pytest.raises(OperatorError, match="operator that is zero"):
        Ansatz().functionals(ko.Integral(0.0, D).op, POINTS)


def test_an_envelope_is_real():
    with pytest.raises(ArgumentTypeError, match="envelope: got a function with complex values; return real numbers"):
        Ansatz(envelope=c).evaluations(POINTS.x)


def test_the_normal_form_of_a_vector_is_refused():
    with pytest.raises(OperatorError, match="f: got an operator with several parts; give a real scalar one"):
        normal_form(grad, POINTS, name="f")


def test_normals_reach_vectors():
    rim = ko.Ball([0.0, 0.0], 1.0).boundary.sample(7, seed=1)
    v = polynomials(3, 6)
    found = applied(Ansatz(FLOW).functionals(normal_derivative, rim, of="u"), v)
    for part in range(2):
        slopes = np.stack([derivative(v[part], alpha, rim.x) for alpha in [(1, 0), (0, 1)]], axis=1)
        np.testing.assert_allclose(found[:, part], np.sum(slopes * rim.x, axis=1), rtol=1e-12)
