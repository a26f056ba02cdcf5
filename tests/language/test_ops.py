"""The normal form: against monomials, symbols and closed forms; superposition; precision; refusals."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kernop import (
    Ball,
    Box,
    Interval,
    Points,
    SpaceTime,
    apply_operator,
    div,
    dot,
    grad,
    laplacian,
    matvec,
    normal_derivative,
    partial,
)
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    NonFiniteError,
    NonlinearOperatorError,
    OperatorError,
    ShapeError,
)
from kernop.basics.precision import eagerly
from kernop.collocation.ansatz import Ansatz, normal_form
from kernop.collocation.functionals import Block, evaluations
from kernop.language.functions import padded
from kernop.language.ops import coefficient_values, itself, linear_forms, reading_once

TOP = 5  # one more than the highest order below; one set of monomials for all, which JAX compiles once
SQUARE = Box([0.2, 0.3], [1.2, 1.1])
POINTS = SQUARE.sample(5, seed=1)
RIM = Ball([0.3, 0.1], 0.9).boundary.sample(5, seed=1)
X, Y = POINTS.x.T


def a(x):
    return 1.5 + jnp.sin(x[..., 0] + 2.0 * x[..., -1])


def V(x):
    return jnp.exp(x[..., 0]) * x[..., -1]


def b(x):
    return jnp.stack([jnp.cos(x[..., 1]), x[..., 0] * x[..., 1]], axis=-1)


def A(x):
    s = jnp.sin(x[..., 0] * x[..., 1])
    rows = [[2.0 + s, x[..., 0] * x[..., 1]], [x[..., 0] ** 2 * x[..., 1], 3.0 - s]]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def rho(x):
    return x[..., 0] * (1.0 - x[..., 0]) * jnp.cos(x[..., -1])


def box(d):
    return Box(np.full(d, 0.2), np.full(d, 1.2)).sample(5, seed=d)


CASES = {
    "identity": (itself, POINTS),
    "darcy with potential": (lambda u: -div(a * grad(u)) + V * u, POINTS),
    "darcy in 1-D": (lambda u: -div(a * grad(u)) + V * u, box(1)),
    "darcy in 3-D": (lambda u: -div(a * grad(u)) + V * u, box(3)),
    "biharmonic in 1-D": (lambda u: laplacian(laplacian(u)), box(1)),
    "biharmonic in 2-D": (lambda u: laplacian(laplacian(u)), box(2)),
    "biharmonic in 3-D": (lambda u: laplacian(laplacian(u)), box(3)),
    "plate of varying stiffness": (lambda u: laplacian(a * laplacian(u)), POINTS),
    "advection by a function": (lambda u: -0.1 * laplacian(u) + dot(b, grad(u)), POINTS),
    "advection by a list": (lambda u: dot([V, 2.0], grad(u)), POINTS),
    "conservative advection": (lambda u: partial(V * u, 0) + partial(a * u, 1), POINTS),
    "anisotropic": (lambda u: -div(matvec(A, grad(u))) + u / a, POINTS),
    "divided by a function": (lambda u: div(grad(u) / a), POINTS),
    "heat": (lambda u: partial(u, -1) - 0.1 * laplacian(u, axes=(0,)), POINTS),
    "wave": (lambda u: partial(u, -1, 2) - laplacian(u, axes=(0,)), POINTS),
    "heat in a moving medium": (lambda u: partial(u, -1) - div(a * grad(u, axes=(0,)), axes=(0,)), POINTS),
    "neumann": (normal_derivative, RIM),
    "robin": (lambda u: V * u + a * normal_derivative(u), RIM),
    "flux": (lambda u: a * normal_derivative(V * u), RIM),
    "normal derivative of the laplacian": (lambda u: normal_derivative(laplacian(u)), RIM),
}
every_case = pytest.mark.parametrize(("op", "points"), CASES.values(), ids=CASES)


def multi_indices(d, order):
    return [alpha for alpha in itertools.product(range(order + 1), repeat=d) if sum(alpha) <= order]


def monomials(x0, alphas):
    """All (x − x₀)^α / α! at once, each row of x about its own row of x₀; functions are called with padded rows."""

    x0, index = padded(x0), np.array(alphas)
    top, factorials = np.max(index), np.array([math.prod(map(math.factorial, alpha)) for alpha in alphas], dtype=float)

    def u(x):
        z = x - x0[: len(x)]
        powers = jnp.stack([z**j for j in range(top + 1)], axis=-1)
        return math.prod(powers[..., k, index[:, k]] for k in range(x.shape[-1])) / factorials

    return u


def dense(form, alphas):
    """The coefficients for all of ``alphas``, 0 where the form has none."""
    known = dict(zip(form.alphas, form.coefficients.T, strict=True))
    return np.stack([known.get(alpha, np.zeros(len(form))) for alpha in alphas], axis=1)


def as_table(form):
    return dict(zip(form.alphas, form.coefficients.T, strict=True))


# ---- the normal form


@every_case
def test_coefficients_are_the_operator_on_monomials(op, points):
    form = normal_form(op, points)
    alphas = multi_indices(points.dim, TOP)
    assert form.order < TOP
    expected = apply_operator(op, monomials(points.x, alphas), points)
    assert np.allclose(dense(form, alphas), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["darcy with potential", "anisotropic", "biharmonic in 1-D", "robin", "heat"])
def test_coefficients_with_a_multiplier_are_the_operator_on_multiplied_monomials(name):
    op, points = CASES[name]
    form = normal_form(op, points, ansatz=Ansatz(envelope=rho))
    alphas = multi_indices(points.dim, TOP)
    assert form.order < TOP
    basis = monomials(points.x, alphas)
    expected = apply_operator(op, lambda x: rho(x)[..., None] * basis(x), points)
    assert np.allclose(dense(form, alphas), expected, rtol=1e-12, atol=1e-12)


@every_case
def test_the_symbol_gives_the_operator_on_exponentials(op, points):
    """P e^{k·x} = Σ φ_α k^α e^{k·x}."""
    form = normal_form(op, points)
    k = np.array([0.7, -1.3, 0.4])[: points.dim]
    powers = np.prod(k ** np.array(form.alphas), axis=1)
    expected = form.coefficients @ powers * np.exp(points.x @ k)
    assert np.allclose(apply_operator(op, lambda x: jnp.exp(x @ k), points), expected, rtol=1e-11, atol=1e-11)


def check_table(form, expected):
    assert form.alphas == tuple(sorted(expected))
    for alpha, values in as_table(form).items():
        assert np.allclose(values, expected[alpha], rtol=1e-13, atol=1e-13)


def test_darcy_in_closed_form():
    form = normal_form(lambda u: -div((lambda x: jnp.exp(x[..., 0] * x[..., 1])) * grad(u)) + 3.0 * u, POINTS)
    e = np.exp(X * Y)
    check_table(form, {(2, 0): -e, (0, 2): -e, (1, 0): -Y * e, (0, 1): -X * e, (0, 0): np.full(5, 3.0)})


def test_anisotropic_diffusion_in_closed_form():
    form = normal_form(lambda u: div(matvec(A, grad(u))), POINTS)
    s, c = np.sin(X * Y), np.cos(X * Y)
    first = {(1, 0): Y * c + X**2, (0, 1): Y - X * c}
    check_table(form, {(2, 0): 2 + s, (0, 2): 3 - s, (1, 1): X * Y + X**2 * Y} | first)


def test_an_envelope_in_closed_form():
    """Δ(ρu) = ρ Δu + 2 ∇ρ·∇u + u Δρ for ρ = x(1−x)y²."""
    form = normal_form(
        laplacian, POINTS, ansatz=Ansatz(envelope=lambda x: x[..., 0] * (1 - x[..., 0]) * x[..., 1] ** 2)
    )
    r, rx, ry = X * (1 - X) * Y**2, (1 - 2 * X) * Y**2, 2 * X * (1 - X) * Y
    zeroth = -2 * Y**2 + 2 * X * (1 - X)
    check_table(form, {(2, 0): r, (0, 2): r, (1, 0): 2 * rx, (0, 1): 2 * ry, (0, 0): zeroth})


def test_robin_in_closed_form():
    form = normal_form(lambda u: 2.0 * u + (lambda x: x[..., 0]) * normal_derivative(u), RIM)
    x, (nx, ny) = RIM.x[:, 0], RIM.normal.T
    check_table(form, {(0, 0): np.full(5, 2.0), (1, 0): x * nx, (0, 1): x * ny})


def test_a_third_order_coefficient_needs_third_derivatives():
    form = normal_form(lambda u: partial((lambda x: jnp.sin(x[..., 0])) * u, 0, 3), box(1))
    s, c = np.sin(box(1).x[:, 0]), np.cos(box(1).x[:, 0])
    check_table(form, {(3,): s, (2,): 3 * c, (1,): -3 * s, (0,): -c})


@pytest.mark.parametrize(
    ("op", "order"),
    [
        (itself, 0),
        (lambda u: dot([1, 1], grad(u)), 1),
        (laplacian, 2),
        (lambda u: partial(partial(u, 0), 1), 2),
        (lambda u: partial(laplacian(u), 0), 3),
        (lambda u: laplacian(laplacian(u)) + u, 4),
        (lambda u: partial(u, 0, 6), 6),
        (lambda u: laplacian(laplacian(u)) - div(grad(laplacian(u))) + partial(u, 1), 1),
    ],
)
def test_the_order_is_found(op, order):
    assert normal_form(op, POINTS).order == order


def test_coefficients_that_vanish_everywhere_are_dropped():
    nothing = lambda x: 0.0 * x[..., 0]
    left = lambda x: jnp.where(x[..., 0] > 5.0, 1.0, 0.0)
    form = normal_form(lambda u: nothing * laplacian(u) + left * partial(u, 0) + partial(u, 1), POINTS)
    assert form.alphas == ((0, 1),)
    assert form.order == 1


def test_the_gradient_of_a_constant_function_is_dropped():
    form = normal_form(lambda u: div((lambda x: 2.0) * grad(u)), POINTS)
    check_table(form, {(2, 0): np.full(5, 2.0), (0, 2): np.full(5, 2.0)})


def test_coefficients_that_vanish_at_some_points_are_kept():
    half = lambda x: jnp.where(x[..., 0] > 0.7, 1.0, 0.0)
    form = normal_form(lambda u: half * laplacian(u) + u, POINTS)
    assert 0 < np.count_nonzero(as_table(form)[2, 0]) < 5
    assert np.array_equal(as_table(form)[2, 0], (X > 0.7).astype(float))


def test_a_checkerboard_of_integers_is_a_coefficient():
    """The paper's a₃, as a user writes it: 1 or 10; pointwise −∇·(a∇u) = −aΔu."""
    board = lambda x: jnp.where((jnp.floor(4 * x[..., 0]) + jnp.floor(4 * x[..., 1])) % 2 == 0, 1, 10)
    form = normal_form(lambda u: -div(board * grad(u)), POINTS)
    values = np.where((np.floor(4 * X) + np.floor(4 * Y)) % 2 == 0, 1.0, 10.0)
    check_table(form, {(2, 0): -values, (0, 2): -values})


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points_are_as_good_as_many(n):
    op = CASES["darcy with potential"][0]
    few, many = normal_form(op, POINTS[:n]), normal_form(op, POINTS)
    assert few.coefficients.shape == (n, 5)
    assert np.allclose(few.coefficients, many.coefficients[:n], rtol=1e-14)


def test_rows_of_a_form_can_be_chosen_and_scaled():
    form = normal_form(lambda u: a * u + partial(u, 0), POINTS)
    factors = np.arange(1.0, 6.0)
    assert np.array_equal(form.scaled(factors).coefficients, form.coefficients * factors[:, None])
    assert np.array_equal(form[1:3].coefficients, form.coefficients[1:3])
    assert np.array_equal(form[1:3].x, POINTS.x[1:3])
    assert (len(form), len(form[[0]])) == (5, 1)


def test_evaluations_are_the_normal_form_of_the_identity():
    form, other = evaluations(POINTS.x), normal_form(itself, POINTS)
    assert form.alphas == other.alphas == ((0, 0),)
    assert np.array_equal(form.coefficients, other.coefficients)
    assert isinstance(form, Block)


# ---- operators on known functions


def sine(x):
    return jnp.sin(jnp.pi * x[..., 0]) * jnp.sin(jnp.pi * x[..., 1])


SINE = np.sin(np.pi * X) * np.sin(np.pi * Y)
SINE_X = np.pi * np.cos(np.pi * X) * np.sin(np.pi * Y)
SINE_Y = np.pi * np.sin(np.pi * X) * np.cos(np.pi * Y)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (itself, SINE),
        (lambda u: partial(u, 0), SINE_X),
        (lambda u: -laplacian(u), 2 * np.pi**2 * SINE),
        (lambda u: laplacian(laplacian(u)), 4 * np.pi**4 * SINE),
        (lambda u: -laplacian(u) - 400.0 * u, (2 * np.pi**2 - 400.0) * SINE),
        (
            lambda u: -div((lambda x: jnp.exp(x[..., 0] + x[..., 1])) * grad(u)),
            -np.exp(X + Y) * (SINE_X + SINE_Y - 2 * np.pi**2 * SINE),
        ),
        (lambda u: dot([lambda x: x[..., 1], -2.0], grad(u)), Y * SINE_X - 2.0 * SINE_Y),
        (lambda u: u * u, SINE**2),
        (lambda u: u + 1.0, SINE + 1.0),
        (lambda u: dot([1.0, 1.0], u * grad(u)), SINE * (SINE_X + SINE_Y)),
    ],
)
def test_operators_on_a_sine_in_closed_form(op, expected):
    assert np.allclose(apply_operator(op, sine, POINTS), expected, rtol=1e-11, atol=1e-11)


def test_heat_in_closed_form():
    points = SpaceTime(Interval(0, 1), (0, 1)).sample(6)
    x, t = points.x.T
    values = apply_operator(
        lambda u: partial(u, -1) - 0.1 * laplacian(u, axes=(0,)),
        lambda z: jnp.exp(-z[..., -1]) * jnp.sin(jnp.pi * z[..., 0]),
        points,
    )
    assert np.allclose(values, (-1 + 0.1 * np.pi**2) * np.exp(-t) * np.sin(np.pi * x), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_normal_derivative_of_the_square_of_the_radius(d):
    sphere = Ball(np.zeros(d), 1.7).boundary.sample(6)
    values = apply_operator(lambda u: u + 2.0 * normal_derivative(u), lambda x: jnp.sum(x**2, axis=-1), sphere)
    assert np.allclose(values, 1.7**2 + 2.0 * 2.0 * 1.7, rtol=1e-13)


@pytest.mark.parametrize(
    "name", ["darcy with potential", "anisotropic", "plate of varying stiffness", "robin", "identity"]
)
def test_batches_are_columns(name):
    op, points = CASES[name]
    functions = [sine, lambda x: jnp.exp(x[..., 0] - x[..., 1]), lambda x: x[..., 0] ** 3 * x[..., 1]]
    together = apply_operator(op, lambda x: jnp.stack([f(x) for f in functions], axis=-1), points)
    assert together.shape == (5, 3)
    for column, function in zip(together.T, functions, strict=True):
        assert np.allclose(column, apply_operator(op, function, points), rtol=1e-11, atol=1e-11)


def test_a_batch_as_wide_as_the_number_of_points_is_not_transposed():
    u = lambda x: jnp.stack([k * x[..., 0] for k in range(5)], axis=-1)
    assert np.allclose(apply_operator(lambda u: V * u, u, POINTS), np.outer(np.exp(X) * Y * X, np.arange(5)))


def test_unknowns_are_named_as_for_a_problem():
    points = Points(np.array([[0.5, 2.0], [1.0, 3.0]]), timed=False)
    known = {"u": lambda x: jnp.stack([x[..., 0] ** 2, x[..., 1]], axis=-1), "p": lambda x: x[..., 0] * x[..., 1]}
    found = apply_operator(lambda u, p: laplacian(u) + grad(p), known, points, unknowns={"u": 2, "p": 1})
    np.testing.assert_allclose(found, [[2.0 + 2.0, 0.5], [2.0 + 3.0, 1.0]], rtol=1e-14)


def test_a_constant_is_a_known_function():
    assert np.array_equal(apply_operator(lambda u: laplacian(u) + 2 * u, lambda x: 3.0, POINTS), np.full(5, 6.0))


@pytest.mark.parametrize("op", [itself, laplacian, lambda u: partial(a * u, 0)], ids=["u", "laplacian", "partial"])
@pytest.mark.parametrize("u", [lambda x: jnp.sum(x**2), lambda x: jnp.sin(x[0])], ids=["sum without axis", "x[0]"])
@pytest.mark.parametrize("n", [2, 5])
def test_known_functions_that_mix_up_the_points_are_refused(op, u, n):
    with pytest.raises(ShapeError, match=r"u: got .*last axis"):
        apply_operator(op, u, POINTS[:n])


def test_coefficients_that_mix_up_the_points_are_refused_under_derivatives_too():
    with pytest.raises(ShapeError, match=r"coefficient: got .*last axis"):
        apply_operator(lambda u: partial((lambda x: jnp.sum(x**2)) * u, 0), sine, POINTS)


@pytest.mark.parametrize(
    ("op", "u", "error", "message"),
    [
        (
            lambda u: grad(grad(u)),
            sine,
            OperatorError,
            r"q: got an operator that returns a matrix.*; return a scalar field",
        ),
        (lambda u: 0, sine, OperatorError, r"q: got an operator that returns 0; return a scalar field"),
        (laplacian, lambda x: np.sin(x[..., 0]), OperatorError, r"u: got .*cannot differentiate; .*jax\.numpy"),
        (itself, lambda x: jnp.ones((5, 2, 2)), ShapeError, r"u: got .* to shape \(5, 2, 2\)"),
        (normal_derivative, sine, OperatorError, r"normal_derivative: got points without normals"),
        (5, sine, ArgumentTypeError, r"q: got 5"),
        (laplacian, 5, ArgumentTypeError, r"u: got 5"),
        (laplacian, lambda x: x[..., 5], ShapeError, r"^q: u: got a function that fails"),
        (lambda u: partial((lambda x: x[..., 5]) * u, 0), sine, ShapeError, r"^q: coefficient: got a function that"),
        (itself, lambda x: jnp.log(x[..., 0] - 5.0), NonFiniteError, r"^q: got a result that is nan at x = .*5 of 5"),
        (itself, lambda x: 1.0 / (x - x[:1]), NonFiniteError, r"^q: got a result that is inf at x = .*\(1 of 5"),
        (jnp.sin, sine, NonlinearOperatorError, r"^q: got an operator that fails on a field"),
    ],
    ids=[
        "matrix",
        "zero",
        "numpy u",
        "3-D u",
        "no normals",
        "no operator",
        "no function",
        "index of u",
        "index of coefficient",
        "nan",
        "inf in a batch",
        "jnp.sin",
    ],
)
def test_operators_cannot_be_applied_to_anything(op, u, error, message):
    with pytest.raises(error, match=message):
        apply_operator(op, u, POINTS, name="q")


# ---- linearity


NONLINEAR = {
    "u u": lambda u: u * u,
    "u²": lambda u: u**2,
    "√u": lambda u: u**0.5,
    "u/u": lambda u: u / u,
    "1/u": lambda u: 1 / u,
    "1/Δu": lambda u: 1.0 / laplacian(u),
    "u Δu": lambda u: u * laplacian(u),
    "u u_x": lambda u: partial(u, 1) + u * grad(u)[0],
    "b·(u ∇u)": lambda u: dot([1, 2], u * grad(u)),
    "porous medium": lambda u: div(u * grad(u)),
    "(Δu)²": lambda u: laplacian(u) ** 2,
    "|∇u|² by parts": lambda u: grad(u)[0] * grad(u)[0] + grad(u)[1] * grad(u)[1],
    "|∇u|²": lambda u: dot(grad(u), grad(u)),
    "(u, u)·∇u": lambda u: dot([u, u], grad(u)),
    "u^u": lambda u: u**u,
    "a u² − V u": lambda u: a * u**2 - V * u,
}


@pytest.mark.parametrize("op", NONLINEAR.values(), ids=NONLINEAR)
def test_a_nonlinear_operator_is_refused_with_two_numbers_that_differ(op):
    with pytest.raises(NonlinearOperatorError, match=r"^f: got an operator that is not linear: at x = \[") as caught:
        normal_form(op, POINTS, name="f")
    message = str(caught.value)
    both = message.split("P(u + v) = ")[1].split()[0]
    apart = message.split("P(u) + P(v) = ")[1].split(";")[0]
    assert both != apart
    assert math.isfinite(float(both))
    assert math.isfinite(float(apart))


def test_the_numbers_of_a_counterexample_are_those_of_the_operator():
    """P(u) = u² at x₀, with the u = exp(Σx/2) and v = 2 + sin(Σx) of the library."""
    with pytest.raises(NonlinearOperatorError) as caught:
        normal_form(lambda u: u * u, Points([[0.5, 0.25]]))
    u, v = math.exp(0.375), 2 + math.sin(0.75)
    assert f"P(u + v) = {(u + v) ** 2:.6g}" in str(caught.value)
    assert f"P(u) + P(v) = {u**2 + v**2:.6g}" in str(caught.value)


@pytest.mark.parametrize(
    ("op", "at_zero"),
    [
        (lambda u: u + 1, 1.0),
        (lambda u: 3 - laplacian(u), 3.0),
        (lambda u: -laplacian(u) - V, -np.max(np.exp(X) * Y)),
        (lambda u: laplacian(u + V) - 0.5, np.max(np.exp(X) * Y) - 0.5),
        (lambda u: u**0, 1.0),
    ],
)
def test_an_affine_operator_is_refused_with_its_largest_value_at_zero(op, at_zero):
    with pytest.raises(
        NonlinearOperatorError, match=r"^f: got an operator that is affine: .*right-hand side"
    ) as caught:
        normal_form(op, POINTS, name="f")
    assert f"P(0) = {at_zero:.6g}, not 0" in str(caught.value)


def test_a_source_that_vanishes_at_the_first_point_is_affine_all_the_same():
    """The message must not claim that a number differs from itself."""
    source = lambda x: jnp.where(x[..., 0] > 0.5, 1.0, 0.0)
    with pytest.raises(NonlinearOperatorError, match=r"affine: at x = \[0\.9 0\.1\] P\(0\) = -1, not 0"):
        normal_form(lambda u: -laplacian(u) - source, Points([[0.1, 0.1], [0.9, 0.1]], timed=False))


def test_products_that_cancel_are_refused_without_numbers_that_agree():
    with pytest.raises(NonlinearOperatorError, match=r"^f: got an operator that multiplies or divides u by u"):
        normal_form(lambda u: u * laplacian(u) / u, POINTS, name="f")


def test_a_square_plus_one_is_not_affine():
    with pytest.raises(NonlinearOperatorError, match=r"not linear"):
        normal_form(lambda u: u * u + 1, POINTS)


def test_a_nonlinear_boundary_operator_is_shown_with_its_normal():
    with pytest.raises(NonlinearOperatorError, match=r"not linear: .*P\(u \+ v\) = "):
        normal_form(lambda u: u * normal_derivative(u), RIM)


@pytest.mark.parametrize(
    "op", [jnp.sin, np.sin, jnp.abs, abs, lambda u: 2**u, lambda u: jnp.where(u > 0, u, 0), lambda u: u.real]
)
def test_functions_that_do_not_know_fields_are_refused(op):
    with pytest.raises(NonlinearOperatorError, match=r"^f: got an operator that fails on a field .*build it"):
        normal_form(op, POINTS, name="f")  # in one line: of JAX's explanation only the first


def test_the_product_of_a_scalar_and_a_vector_of_u_is_not_linear():
    with pytest.raises(OperatorError, match=r"^f: got"):
        normal_form(lambda u: u * grad(u), POINTS, name="f")


# ---- operators that are refused for other reasons


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (lambda u: None, r"f: got an operator that returns None; return a scalar field, such as -laplacian\(u\)"),
        (lambda u: 0, r"f: got an operator that returns 0;"),
        (lambda u: V, r"f: got an operator that returns <function V"),
        (lambda u: np.ones(3), r"f: got an operator that returns an array of shape \(3,\)"),
        (lambda u: [u, u], r"f: got an operator that returns \["),
        (lambda u: grad(grad(u)), r"f: got an operator that returns a matrix field of shape \(2, 2\)"),
        (lambda u: u - u, r"f: got an operator that is zero; state an equation that involves u"),
        (lambda u: 0 * laplacian(u), r"f: got an operator that is zero;"),
        (normal_derivative, r"f: normal_derivative: got points without normals; use it on a boundary"),
        (lambda u: partial(u, 2), r"f: axis: got 2; give a whole number from -2 to 1"),
        (lambda u: div(u), r"f: div\(v\): got .*vector field"),
        (lambda u: u + grad(u), r"f: operator: got the sum of a scalar and a vector field"),
        (lambda u: grad(u)[2], r"^f: .*2"),
    ],
)
def test_operators_that_state_no_equation_are_refused(op, message):
    with pytest.raises(OperatorError, match=message):
        normal_form(op, POINTS, name="f")


@pytest.mark.parametrize("op", [5, None, "laplacian", np.eye(2)], ids=repr)
def test_what_is_not_a_function_is_no_operator(op):
    with pytest.raises(ArgumentTypeError, match=r"^f: got .*; give a function of a field"):
        normal_form(op, POINTS, name="f")


@pytest.mark.parametrize(
    ("op", "error", "message"),
    [
        (lambda u: math.nan * u, NonFiniteError, r"coefficient: got nan"),
        (lambda u: u / 0, ArgumentError, r"division by 0"),
        (lambda u: dot([1, 2, 3], grad(u)), ShapeError, r"b: got shape \(3,\)"),
        (lambda u: partial(u, 0, -1), ArgumentError, r"order: got -1"),
        (lambda u: np.ones((3, 3, 3)) * u, ArgumentTypeError, r"coefficient: got an array of shape \(3, 3, 3\)"),
        (lambda u: "2" * u, ArgumentTypeError, r"coefficient: got '2'"),
    ],
    ids=["nan", "division by 0", "length of b", "order", "array", "text"],
)
def test_bad_arguments_inside_an_operator_keep_their_class_and_name_the_condition(op, error, message):
    """They say nothing about linearity."""
    with pytest.raises(error, match=message) as caught:
        normal_form(op, POINTS, name="temperature")
    assert not isinstance(caught.value, NonlinearOperatorError)
    assert str(caught.value).startswith("temperature: ")


# ---- coefficient functions


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "coefficient",
    [lambda x: x[0], lambda x: jnp.sum(x**2), lambda x: x[1], lambda x: jnp.prod(x), lambda x: jnp.sum(x, axis=0)],
    ids=["x[0]", "sum", "x[1]", "prod", "axis=0"],
)
@pytest.mark.parametrize("op", [lambda c: lambda u: c * u, lambda c: lambda u: div(c * grad(u))], ids=["c u", "div"])
def test_coefficients_that_mix_up_the_points_are_refused(coefficient, op, n):
    with pytest.raises(ShapeError, match=r"coefficient: got .*x\[\.\.\., 0\]"):
        normal_form(op(coefficient), POINTS[:n])


@pytest.mark.parametrize(
    "coefficient",
    [lambda x: x, lambda x: x[..., :1], lambda x: x[..., None, 0]],
    ids=["(n, 2)", "(n, 1)", "(n, 1) too"],
)
@pytest.mark.parametrize("op", [lambda c: lambda u: c * u, lambda c: lambda u: laplacian(u) + c * (V * u)])
def test_coefficients_with_two_axes_are_refused(coefficient, op):
    with pytest.raises(ShapeError, match=r"coefficient: got .*\(2048, [12]\)"):
        normal_form(op(coefficient), POINTS)


@pytest.mark.parametrize("coefficient", [lambda x: x[0], lambda x: jnp.sum(x**2)], ids=["x[0]", "sum"])
def test_the_message_about_a_coefficient_names_the_condition(coefficient):
    with pytest.raises(ShapeError, match=r"^temperature: .*coefficient"):
        normal_form(lambda u: coefficient * u, POINTS, name="temperature")


@pytest.mark.parametrize("coefficient", [lambda x: "a", lambda x: None], ids=["text", "None"])
def test_coefficients_that_are_not_numbers_are_refused(coefficient):
    with pytest.raises(ArgumentTypeError, match=r"f: .*got"):
        normal_form(lambda u: coefficient * u, POINTS, name="f")


def test_numpy_coefficients_work_where_they_are_not_differentiated():
    form = normal_form(lambda u: -laplacian(u) + (lambda x: np.exp(x[..., 0])) * u, POINTS)
    assert np.allclose(as_table(form)[0, 0], np.exp(X), rtol=1e-15)
    vector = normal_form(lambda u: dot(lambda x: np.stack([x[..., 1], x[..., 0]], -1), grad(u)), POINTS)
    check_table(vector, {(1, 0): Y, (0, 1): X})


def test_pure_numpy_code_works_where_it_is_not_differentiated():
    def lookup(x):
        out = np.zeros(len(x))
        out[np.asarray(x)[:, 0] > 0.7] = 4.0
        return out

    form = normal_form(lambda u: -laplacian(u) + lookup * u, POINTS)
    assert np.array_equal(as_table(form)[0, 0], np.where(X > 0.7, 4.0, 0.0))
    values = apply_operator(lambda u: lookup * u, sine, POINTS)
    assert np.allclose(values, np.where(X > 0.7, 4.0, 0.0) * SINE)


@pytest.mark.parametrize(
    "op",
    [
        lambda u: div((lambda x: np.exp(x[..., 0])) * grad(u)),
        lambda u: partial((lambda x: np.sqrt(np.asarray(x)[:, 0])) * u, 0),
        lambda u: partial(dot(lambda x: np.asarray(x), grad(u)), 0),
        lambda u: div(matvec(lambda x: np.asarray(x)[:, :1, None] * np.eye(2), grad(u))),
    ],
    ids=["exp", "asarray", "dot", "matvec"],
)
def test_numpy_coefficients_that_are_differentiated_are_refused(op):
    with pytest.raises(OperatorError, match=r"^f: .*JAX cannot differentiate; write it with jax\.numpy"):
        normal_form(op, POINTS, name="f")


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (lambda u: (lambda x: jnp.log(x[..., 0] - 5.0)) * u, r"∂\^\(0, 0\) that is nan at x = \[.*\(5 of 5 are not\)"),
        (lambda u: laplacian(u) / (lambda x: 0.0 * x[..., 0]), r"∂\^\(2, 0\) that is inf at x = .*\(5 of 5"),
        (
            lambda u: div((lambda x: jnp.sqrt(x[..., 0])) * grad(u)),
            r"∂\^\(1, 0\) that is inf at x = \[0\. +0\.5\].*\(1 of",
        ),
        (lambda u: (lambda x: jnp.where(x[..., 0] > 1, jnp.nan, 1.0)) * u, r"nan at x = \[1\.5 0\.5\].*\(1 of 2"),
    ],
    ids=["log", "division", "derivative of a root", "nan"],
)
def test_coefficients_that_are_not_finite_are_refused_at_their_place(op, message):
    points = Points([[0.0, 0.5], [1.5, 0.5]], timed=False) if "of 5" not in message else POINTS
    with pytest.raises(NonFiniteError, match=r"^f: got a coefficient of .*" + message):
        normal_form(op, points, name="f")


# ---- precision


def test_everything_is_float64_and_the_configuration_of_jax_is_left_alone():
    assert jax.config.jax_enable_x64 is False
    form = normal_form(lambda u: -div(a * grad(u)) + V * u, POINTS)
    values = apply_operator(laplacian, sine, POINTS)
    assert form.coefficients.dtype == form.x.dtype == values.dtype == np.float64
    assert np.max(np.abs(values / (-2 * np.pi**2 * SINE) - 1)) < 1e-13
    assert np.max(np.abs(as_table(form)[0, 0] / (np.exp(X) * Y) - 1)) < 1e-14
    assert jax.config.jax_enable_x64 is False
    assert jnp.zeros(1).dtype == jnp.float32


def test_the_configuration_of_jax_is_left_alone_after_an_error():
    with pytest.raises(NonlinearOperatorError):
        normal_form(lambda u: u * u, POINTS)
    assert jax.config.jax_enable_x64 is False
    assert jnp.zeros(1).dtype == jnp.float32


def test_arguments_in_single_precision_do_not_lower_the_precision():
    weight = jnp.asarray(2.0)
    assert weight.dtype == jnp.float32
    values = apply_operator(lambda u: weight * laplacian(u), lambda x: weight * sine(x), POINTS)
    assert np.max(np.abs(values / (-8 * np.pi**2 * SINE) - 1)) < 1e-13


def test_a_coefficient_is_called_once_for_its_value_and_once_for_each_derivative():
    """−div(a ∇u) = −a Δu − ∇a·∇u has four terms with a; where it is known, it is not asked again."""
    calls = []

    def a(x):
        calls.append(type(x))
        return 1.0 + x[..., 0] * x[..., 1]

    points = Box([0, 0], [1, 1]).sample(20)
    with eagerly():
        forms, _ = linear_forms(lambda u: -div(a * grad(u)), points)
        (table,) = coefficient_values(forms, points, "f")
    assert len(calls) == 3 + 1  # and once to see that its value at a point does not depend on the other points
    x, y = points.x.T
    assert np.allclose(table[0, (2, 0)], -1.0 - x * y)
    assert np.allclose(table[0, (1, 0)], -y)
    assert np.allclose(table[0, (0, 1)], -x)


def test_an_operator_is_read_once_in_a_learn_and_again_in_the_next():
    """Numbers around it may have changed in between."""
    factor, read = [2.0], []

    def op(u):
        read.append(factor[0])
        return factor[0] * laplacian(u)

    def leading():
        (form,), _ = linear_forms(op, POINTS)
        return form.terms[0, (2, 0)].constant

    with reading_once():
        assert leading() == leading() == 2.0
        assert linear_forms(op, Points(POINTS.x[:, :1], None, False))[0][0].terms.keys() == {(0, (2,))}
    assert len(read) == 2
    factor[0] = 3.0
    with reading_once():
        assert leading() == 3.0
    assert leading() == 3.0
    assert len(read) == 4


def test_the_forms_of_an_operator_that_was_forgotten_are_not_those_of_another():
    with reading_once():
        found = [
            linear_forms(lambda u, k=k: float(k) * laplacian(u), POINTS)[0][0].terms[0, (2, 0)].constant
            for k in range(1, 9)
        ]
    assert found == [float(k) for k in range(1, 9)]
