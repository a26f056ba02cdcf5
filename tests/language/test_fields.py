"""The language of operators: tables of linear forms, coefficients, and what the words refuse."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernop import div, dot, grad, laplacian, matvec, normal_derivative, partial
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    NonFiniteError,
    NonlinearOperatorError,
    OperatorError,
    ShapeError,
)
from kernop.basics.precision import float64
from kernop.language.coefficients import Coefficient
from kernop.language.fields import AffineError, KnownField, ProductError, Unknown, VectorField
from kernop.language.functions import evaluate_at, values_of_function

X = np.random.default_rng(0).uniform(0.2, 1.2, (5, 2))


def table(op, d):
    """The coefficients of a field with constant coefficients."""
    return {alpha: c.constant for (_, alpha), c in op(Unknown.component(0, d, False)).terms.items()}


def values(coefficient, x=X, normal=None):
    with float64():
        return np.asarray(coefficient.at(jnp.asarray(x), normal), dtype=np.float64)


def known(function, d=2):
    return KnownField(d, False, lambda x, _: values_of_function("u", function, x))


# ---- tables of constant coefficients


@pytest.mark.parametrize(
    "op",
    [
        lambda u: 2 * u,
        lambda u: u * 2,
        lambda u: u / 0.5,
        lambda u: u + u,
        lambda u: 3 * u - u,
        lambda u: -(-2 * u),
        lambda u: +u + (u - 0),
        lambda u: 0 + 2 * u,
        lambda u: 0 - (-2.0) * u,
        lambda u: sum([u, u]),
        lambda u: np.float64(2.0) * u,
        lambda u: u * np.int32(2),
        lambda u: jnp.float32(2.0) * u,
        lambda u: np.array(2.0) * u,
        lambda u: (u**1) * 2,
        lambda u: 2 * partial(u, 0, 0),
        lambda u: u / np.float64(0.5),
        lambda u: grad(u)[0] - grad(u)[0] + 2 * u,
    ],
)
def test_arithmetic_says_twice_u_in_many_ways(op):
    assert table(op, 2) == {(0, 0): 2.0}


@pytest.mark.parametrize(("k", "d"), list(itertools.product((1, 2, 3), (1, 2, 3))))
def test_powers_of_the_laplacian_have_multinomial_coefficients(k, d):
    def op(u):
        for _ in range(k):
            u = laplacian(u)
        return u

    js = [j for j in itertools.product(range(k + 1), repeat=d) if sum(j) == k]
    expected = {tuple(2 * i for i in j): math.factorial(k) / math.prod(map(math.factorial, j)) for j in js}
    assert table(op, d) == expected


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_divergence_of_the_gradient_is_the_laplacian(d):
    assert (
        table(lambda u: div(grad(u)), d)
        == table(laplacian, d)
        == {tuple(2 * np.eye(d, dtype=int)[k]): 1.0 for k in range(d)}
    )


def test_partial_counts_axes_from_either_end():
    assert table(lambda u: partial(u, -1), 3) == table(lambda u: partial(u, 2), 3) == {(0, 0, 1): 1.0}
    assert table(lambda u: partial(u, np.int64(0), order=4), 2) == {(4, 0): 1.0}


def test_mixed_derivatives_commute():
    one, other = (table(lambda u, a=a: partial(partial(u, a), 1 - a), 2) for a in (0, 1))
    assert one == other == {(1, 1): 1.0}


def test_axes_choose_coordinates():
    assert table(lambda u: laplacian(u, axes=(0,)), 2) == {(2, 0): 1.0}
    assert table(lambda u: laplacian(u, axes=(0, -2)), 3) == {(2, 0, 0): 1.0, (0, 2, 0): 1.0}
    assert table(lambda u: div(grad(u, axes=(0, 1)), axes=(0, 1)), 3) == {(2, 0, 0): 1.0, (0, 2, 0): 1.0}
    assert table(lambda u: div(grad(u, axes=[1]), axes=[0]), 2) == {(1, 1): 1.0}


def test_dot_and_matvec_with_numbers():
    assert table(lambda u: dot([2, -3], grad(u)), 2) == {(1, 0): 2.0, (0, 1): -3.0}
    assert table(lambda u: dot(np.array([2.0, -3.0]), grad(u)), 2) == {(1, 0): 2.0, (0, 1): -3.0}
    a = [[1.0, 2.0], [3.0, 4.0]]
    assert table(lambda u: div(matvec(a, grad(u))), 2) == {(2, 0): 1.0, (1, 1): 5.0, (0, 2): 4.0}
    assert table(lambda u: div(matvec(jnp.asarray(a), grad(u))), 2) == {(2, 0): 1.0, (1, 1): 5.0, (0, 2): 4.0}


def test_a_matrix_of_numbers_and_functions():
    a = lambda x: 1.0 + x[..., 0] * x[..., 1]
    whole = lambda x: jnp.stack([jnp.stack([a(x), 2.0 + 0.0 * a(x)], -1), jnp.stack([a(x), 3.0 * a(x)], -1)], -2)
    u = known(lambda x: jnp.sin(3.0 * x[..., 0] - x[..., 1]))
    found, expected = (values(div(matvec(own, grad(u)))) for own in ([[a, 2.0], (a, lambda x: 3.0 * a(x))], whole))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("vector", "expected"),
    [
        (lambda v: v + v, {(1, 0): 2.0, (0, 1): 4.0}),
        (lambda v: v - 3 * v, {(1, 0): -2.0, (0, 1): -4.0}),
        (lambda v: -v, {(1, 0): -1.0, (0, 1): -2.0}),
        (lambda v: v * 2, {(1, 0): 2.0, (0, 1): 4.0}),
        (lambda v: v / 2, {(1, 0): 0.5, (0, 1): 1.0}),
        (lambda v: np.float64(2.0) * v, {(1, 0): 2.0, (0, 1): 4.0}),
        (lambda v: sum([v, v]), {(1, 0): 2.0, (0, 1): 4.0}),
    ],
)
def test_vectors_add_and_scale(vector, expected):
    assert table(lambda u: dot([1, 2], vector(grad(u))), 2) == expected


def test_vectors_have_parts():
    v = grad(Unknown.component(0, 3, False))
    assert len(v) == len(tuple(v)) == 3
    assert v[-1].terms.keys() == {(0, (0, 0, 1))}


def test_terms_that_cancel_are_dropped():
    assert table(lambda u: laplacian(u) - div(grad(u)) + u, 2) == {(0, 0): 1.0}
    assert table(lambda u: 0 * laplacian(u) + u, 2) == {(0, 0): 1.0}
    assert table(lambda u: u - u, 2) == {}


def test_a_field_is_not_changed_by_what_is_made_of_it():
    u = Unknown.component(0, 2, False)
    laplacian(u + 2 * u)
    assert {alpha: c.constant for (_, alpha), c in u.terms.items()} == {(0, 0): 1.0}


constant_operators = st.lists(
    st.tuples(st.integers(-3, 3).filter(bool), st.tuples(st.integers(0, 2), st.integers(0, 2))), min_size=1, max_size=4
)


def build(terms):
    return lambda u: sum(c * partial(partial(u, 0, i), 1, j) for c, (i, j) in terms)


def symbol(coefficients, k):
    return sum(c * k[0] ** alpha[0] * k[1] ** alpha[1] for alpha, c in coefficients.items())


@settings(max_examples=50, deadline=None)
@given(p=constant_operators, q=constant_operators)
def test_the_symbol_of_a_composition_is_the_product_of_symbols(p, q):
    both = table(lambda u: build(p)(build(q)(u)), 2)
    for k in [(1, 2), (-2, 3), (5, -1)]:
        product = math.prod(sum(c * k[0] ** i * k[1] ** j for c, (i, j) in terms) for terms in (p, q))
        assert symbol(both, k) == product


# ---- variable coefficients


def test_the_product_rule_gives_the_derivative_of_the_coefficient():
    terms = div((lambda x: jnp.exp(x[..., 0]) * x[..., 1]) * grad(Unknown.component(0, 2, False))).terms
    e, y = np.exp(X[:, 0]), X[:, 1]
    expected = {(2, 0): e * y, (0, 2): e * y, (1, 0): e * y, (0, 1): e}
    assert terms.keys() == {(0, alpha) for alpha in expected}
    for (_, alpha), c in terms.items():
        assert np.allclose(values(c), expected[alpha], rtol=1e-14)


def test_dividing_by_a_function_differentiates_the_quotient():
    terms = partial(Unknown.component(0, 2, False) / (lambda x: x[..., 0]), 0).terms
    assert np.allclose(values(terms[0, (1, 0)]), 1 / X[:, 0], rtol=1e-14)
    assert np.allclose(values(terms[0, (0, 0)]), -1 / X[:, 0] ** 2, rtol=1e-14)


def test_the_normal_derivative_takes_the_normals():
    normal = np.array([[0.6, 0.8]] * 5)
    terms = normal_derivative(Unknown.component(0, 2, False)).terms
    assert np.array_equal(values(terms[0, (1, 0)], X, normal), normal[:, 0])
    assert np.array_equal(values(terms[0, (0, 1)], X, normal), normal[:, 1])


def test_vectors_of_functions():
    b = [lambda x: x[..., 1], 3.0]
    terms = dot(b, grad(Unknown.component(0, 2, False))).terms
    assert np.array_equal(values(terms[0, (1, 0)]), X[:, 1])
    assert terms[0, (0, 1)].constant == 3.0
    whole = dot(
        lambda x: jnp.stack([x[..., 1], 3.0 + 0 * x[..., 0]], axis=-1), grad(Unknown.component(0, 2, False))
    ).terms
    assert np.array_equal(values(whole[0, (1, 0)]), X[:, 1])
    assert np.array_equal(values(whole[0, (0, 1)]), np.full(5, 3.0))


def test_constants_fold():
    two, three, function = Coefficient.of(2), Coefficient.of(3.0), Coefficient.of(lambda x: x[..., 0])
    assert (two + three).constant == 5.0
    assert (two * three).constant == 6.0
    assert two.inverse().constant == 0.5
    assert two.partial(0).constant == 0.0
    assert (function * Coefficient.of(0)).constant == 0.0
    assert (function * Coefficient.of(1)) is function
    assert (Coefficient.of(0) + function) is function


def test_functions_add_multiply_invert_and_differentiate():
    f, g = Coefficient.of(lambda x: x[..., 0] ** 2), Coefficient.of(lambda x: jnp.sin(x[..., 1]))
    x, y = X.T
    assert np.allclose(values(f + g), x**2 + np.sin(y), rtol=1e-14)
    assert np.allclose(values(f * g), x**2 * np.sin(y), rtol=1e-14)
    assert np.allclose(values(f.inverse()), x**-2, rtol=1e-14)
    assert np.allclose(values((f * g).partial(1)), x**2 * np.cos(y), rtol=1e-14)
    assert np.allclose(values(f.partial(0).partial(0)), 2.0, rtol=1e-14)


def test_integer_coefficients_can_be_differentiated():
    """A checkerboard written as 1 or 10 is piecewise constant: its gradient is 0, not an error."""
    steps = Coefficient.of(lambda x: jnp.where(x[..., 0] > 0.5, 1, 10))
    assert np.array_equal(values(steps), np.where(X[:, 0] > 0.5, 1.0, 10.0))
    assert np.array_equal(values(steps.partial(0)), np.zeros(5))


# ---- known functions


def test_known_fields_do_arithmetic_with_values():
    u, v = known(lambda x: x[..., 0]), known(lambda x: x[..., 1])
    x, y = X.T
    cases = [
        (u + v, x + y),
        (u * v, x * y),
        (u / v, x / y),
        (1 / u, 1 / x),
        (u**3, x**3),
        (2 - u, 2 - x),
        (u - 1, x - 1),
    ]
    for field, expected in cases:
        assert np.allclose(values(field), expected, rtol=1e-14)


def test_known_fields_are_differentiated():
    u = known(lambda x: jnp.sin(x[..., 0]) * x[..., 1] ** 2)
    x, y = X.T
    assert np.allclose(values(u.partial(0)), np.cos(x) * y**2, rtol=1e-14)
    assert np.allclose(values(laplacian(u)), np.sin(x) * (2 - y**2), rtol=1e-13)


def test_a_chain_of_factors_evaluates_the_function_a_few_times_only():
    """Ten factors must not call u 2¹⁰ times."""
    calls = []

    def function(x):
        calls.append(1)
        return x[..., 0]

    field = known(function)
    for _ in range(10):
        field = field * (lambda x: 1.0 + x[..., 1])
    assert np.allclose(values(field), X[:, 0] * (1.0 + X[:, 1]) ** 10)
    assert len(calls) <= 20


# ---- evaluation of the user's functions


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x[..., 0], X[:, 0]),
        (lambda x: x[:, 0], X[:, 0]),
        (lambda x: np.exp(x[..., 0]), np.exp(X[:, 0])),
        (lambda x: jnp.sum(x**2, axis=-1), np.sum(X**2, axis=1)),
        (lambda x: 3.0, np.full(5, 3.0)),
        (lambda x: 3, np.full(5, 3.0)),
        (lambda x: jnp.float32(3.0), np.full(5, 3.0)),
        (lambda x: [float(row[0]) for row in x], X[:, 0]),
        (lambda x: jnp.stack([x[..., 0], 2 * x[..., 1]], axis=-1), X * [1.0, 2.0]),
    ],
)
def test_values_of_functions(function, expected):
    with float64():
        assert np.allclose(values_of_function("f", function, jnp.asarray(X)), expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x: x[0],
            r"f: got a function that maps x of shape \(5, 2\) to shape \(2,\); .*last axis.*x\[\.\.\., 0\]",
        ),
        (lambda x: jnp.sum(x**2), r"f: got one number for all 5 points together; .*last axis"),
        (lambda x: np.sum(np.asarray(x)), r"f: got one number for all 5 points together"),
        (lambda x: jnp.sum(x, axis=0), r"f: got a function that maps .* to shape \(2,\)"),
        (lambda x: jnp.ones((5, 2, 2, 2)), r"f: got a function that maps .* to shape \(5, 2, 2, 2\)"),
        (lambda x: jnp.ones(4), r"f: got a function that maps .* to shape \(4,\)"),
        (lambda x: np.asarray(x)[..., 7], r"f: got a function that fails on x of shape \(5, 2\)"),
        (lambda x: x[0, 0], r"f: got one number for all 5 points together"),
        (lambda x: x[..., 7], r"f: got "),
    ],
    ids=["x[0]", "sum", "numpy sum", "axis=0", "4-D", "too few", "numpy index", "x[0, 0]", "index out of range"],
)
def test_functions_of_the_wrong_shape_are_refused(function, message):
    with float64(), pytest.raises(ShapeError, match=message):
        values_of_function("f", function, jnp.asarray(X))


@pytest.mark.parametrize(
    "function",
    [lambda x: None, lambda x: "two", lambda x: [1.0, [2.0]], lambda x: np.array([None] * 5)],
    ids=["None", "text", "ragged", "objects"],
)
def test_functions_that_do_not_give_numbers_are_refused(function):
    with float64(), pytest.raises(ArgumentTypeError, match=r"f: got a function .*; return numbers"):
        values_of_function("f", function, jnp.asarray(X))


def test_functions_for_jax_arrays_alone_are_evaluated():
    with float64():
        assert np.array_equal(
            values_of_function("f", lambda x: x.at[:, 0].set(1.0)[..., 0], jnp.asarray(X)), np.ones(5)
        )


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_values_at_points_are_numpy_and_do_not_depend_on_their_number(n):
    found = evaluate_at("f", lambda x: jnp.exp(x[..., 0]), X[:n])
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.float64
    assert np.allclose(found, np.exp(X[:n, 0]), rtol=1e-15)
    with pytest.raises(ShapeError, match=r"f: got a function that maps .* to shape \(2,\)"):
        evaluate_at("f", lambda x: x[0], X[:n])


def test_values_at_points_are_finite():
    with pytest.raises(NonFiniteError, match=r"f: got 1 of 3 values"):
        evaluate_at("f", lambda x: 1.0 / x[..., 0], np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]))


def test_values_at_points_may_be_traced():
    """A parameter of the data, by which the user differentiates."""

    def total(s):
        return jnp.sum(evaluate_at("f", lambda x: s * x[..., 0], X)) + evaluate_at("f", lambda x: s, X)[0]

    with float64():
        assert np.allclose(jax.grad(total)(2.0), np.sum(X[:, 0]) + 1.0)


@pytest.mark.parametrize("function", [lambda x: jnp.sum(x**2), lambda x: x[0]], ids=["sum", "x[0]"])
def test_functions_of_the_wrong_shape_are_refused_under_differentiation(function):
    with pytest.raises(ShapeError, match=r"one number|\(2,\)"):
        values(known(function).partial(0))


# ---- what the words refuse


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (math.nan, NonFiniteError, r"coefficient: got nan"),
        (math.inf, NonFiniteError, r"coefficient: got inf"),
        ("2", ArgumentTypeError, r"coefficient: got '2'"),
        (None, ArgumentTypeError, r"coefficient: got None"),
        (complex("nan"), NonFiniteError, r"coefficient: got \(nan"),
        (np.ones((3, 3, 3)), ArgumentTypeError, r"coefficient: got an array of shape .*number or a function of x"),
        ([1, 2], ArgumentTypeError, r"coefficient: got \[1, 2\]"),
    ],
)
@pytest.mark.parametrize("use", [lambda u, c: c * u, lambda u, c: u * c, lambda u, c: u / c, lambda u, c: u + c])
def test_bad_coefficients_are_refused(use, value, error, message):
    with pytest.raises(error, match=message):
        use(Unknown.component(0, 2, False), value)


@pytest.mark.parametrize("zero", [0, 0.0, np.float64(0.0)])
def test_division_by_zero_is_refused(zero):
    with pytest.raises(ArgumentError, match=r"coefficient: got a division by 0; divide by a number that is not 0"):
        Unknown.component(0, 2, False) / zero


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (lambda u: partial(u, 2), r"axis: got 2; give a whole number from -2 to 1"),
        (lambda u: partial(u, -3), r"axis: got -3"),
        (lambda u: partial(u, 0.5), r"axis: got 0\.5"),
        (lambda u: partial(u, "x"), r"axis: got 'x'"),
        (lambda u: grad(u, axes=(0, 5)), r"axis: got 5"),
        (lambda u: laplacian(u, axes=(7,)), r"axis: got 7"),
        (lambda u: div(grad(u), axes=(0,)), r"div\(v\): got a vector of 2 parts for 1 axes; .*name the axes"),
        (lambda u: div(grad(u, axes=(0,))), r"div\(v\): got a vector of 1 parts for 2 axes"),
        (lambda u: div(u), r"div\(v\): got .*; give a vector field, such as grad\(u\)"),
        (lambda u: grad(grad(grad(u))), r"grad\(u\): got .*; give a scalar field, such as u"),
        (lambda u: laplacian("u"), r"laplacian\(u\): got .*scalar field"),
        (lambda u: partial(3.0, 0), r"partial\(u\): got 3\.0; give a scalar field"),
        (lambda u: normal_derivative(2.0), r"normal_derivative\(u\): got .*scalar field"),
        (lambda u: dot([1, 2], u), r"dot\(b, v\): got .*vector field"),
        (lambda u: matvec(np.eye(2), u), r"matvec\(a, v\): got .*vector field"),
        (lambda u: u + grad(u), r"operator: got the sum of a scalar and a vector field"),
        (lambda u: u - grad(u), r"operator: got the sum of a scalar and a vector field"),
        (lambda u: grad(u) + u, r"operator: got .*; give a vector field"),
        (lambda u: grad(u) - u, r"operator: got .*; give a vector field"),
        (lambda u: grad(u) + 1, r"operator: got 1; give a vector field"),
        (lambda u: grad(u) * grad(u), r"operator: got the product of two vector fields; use dot"),
        (lambda u: grad(u) + grad(u, axes=(0,)), r"operator: got "),
        (lambda u: grad(u)[2], r"axis: got 2; give a whole number from -2 to 1"),
        (lambda u: laplacian(u, axes=()), r"laplacian\(u\): got no axes"),
        (lambda u: laplacian(u, axes=0), r"laplacian\(u\): got axes = 0; give axes as a tuple"),
        (lambda u: grad(u, axes=()), r"grad\(u\): got no axes"),
        (lambda u: div(grad(u), axes=()), r"div\(v\): got no axes"),
    ],
)
def test_words_refuse_what_they_cannot_read(op, message):
    with pytest.raises(OperatorError, match=message):
        op(Unknown.component(0, 2, False))


@pytest.mark.parametrize(
    ("op", "error", "message"),
    [
        (lambda u: partial(u, 0, -1), ArgumentError, r"order: got -1; give a whole number, at least 0"),
        (lambda u: partial(u, 0, 1.5), ArgumentTypeError, r"order: got 1\.5"),
        (lambda u: dot([1, 2, 3], grad(u)), ShapeError, r"b: got shape \(3,\); give shape \(2,\)"),
        (lambda u: dot(2.0, grad(u)), ShapeError, r"b: got shape \(\); give shape \(2,\)"),
        (lambda u: matvec(np.eye(3), grad(u)), ShapeError, r"a: got shape \(3, 3\); give shape \(2, 2\)"),
        (lambda u: matvec([1, 2], grad(u)), ShapeError, r"a: got shape \(2,\)"),
        (lambda u: matvec([[1, np.nan], [0, 1]], grad(u)), NonFiniteError, r"a: got 1 of 4 values"),
        (lambda u: dot([1, "x"], grad(u)), ArgumentTypeError, r"coefficient: got 'x'"),
        (lambda u: u ** "2", ArgumentTypeError, r"exponent: got '2'"),
    ],
)
def test_words_refuse_bad_numbers(op, error, message):
    with pytest.raises(error, match=message):
        op(Unknown.component(0, 2, False))


@pytest.mark.parametrize(
    ("field", "message"),
    [
        (
            lambda u: dot(lambda x: x[..., 0], grad(u)),
            r"b: got a function that maps x of shape \(5, 2\) to shape \(5,\)",
        ),
        (lambda u: matvec(lambda x: x, grad(u))[0], r"a: got a function that maps .* to shape \(5, 2\); .*\(n, 2, 2\)"),
        (lambda u: dot(lambda x: x[0], grad(u)), r"b: got a function that maps x of shape \(5, 2\) to shape \(2,\)"),
    ],
)
def test_vector_functions_of_the_wrong_shape_are_refused(field, message):
    coefficient = field(Unknown.component(0, 2, False)).terms[0, (1, 0)]
    with pytest.raises(ShapeError, match=message):
        values(coefficient)


@pytest.mark.parametrize(
    "op",
    [
        lambda u: u * u,
        lambda u: u / u,
        lambda u: u**2,
        lambda u: u**0.5,
        lambda u: 1 / u,
        lambda u: (lambda x: x[..., 0]) / u,
        lambda u: u * laplacian(u),
        lambda u: u * grad(u),
        lambda u: grad(u) * u,
        lambda u: grad(u) / u,
    ],
)
def test_products_of_the_unknown_are_refused(op):
    with pytest.raises(ProductError) as caught:
        op(Unknown.component(0, 2, False))
    assert isinstance(caught.value, NonlinearOperatorError)


@pytest.mark.parametrize("op", [lambda u: u + 1, lambda u: 1 - u, lambda u: u - (lambda x: x[..., 0])])
def test_terms_without_the_unknown_are_refused(op):
    with pytest.raises(AffineError):
        op(Unknown.component(0, 2, False))


def test_fields_of_two_operators_do_not_mix():
    with pytest.raises(OperatorError, match="field of another operator"):
        Unknown.component(0, 2, False) + known(lambda x: x[..., 0])
    with pytest.raises(OperatorError, match="field of another operator"):
        known(lambda x: x[..., 0]) * Unknown.component(0, 2, False)


def test_normals_are_needed_for_a_normal_derivative():
    with pytest.raises(OperatorError, match=r"normal_derivative: got points without normals; use it on a boundary"):
        values(normal_derivative(Unknown.component(0, 2, False)).terms[0, (1, 0)])


def test_vector_fields_cannot_be_changed():
    v = grad(Unknown.component(0, 2, False))
    assert isinstance(v, VectorField)
    with pytest.raises(AttributeError):
        v.parts = ()


@pytest.mark.parametrize("shape", [(20_000,), (64, 64), (17,)])
def test_an_array_of_data_is_no_vector_of_coefficients(shape):
    """It would become a field with as many components, one after the other."""
    with pytest.raises(OperatorError, match=r"coefficient: got an array .*; values on a grid are"):
        grad(Unknown.component(0, 2, False)) * np.ones(shape)


@pytest.mark.parametrize("array", [np.array([], dtype=str), np.empty((0, 2)), np.empty((2, 0))])
def test_an_empty_array_is_no_coefficient(array):
    with pytest.raises(OperatorError, match="coefficient"):
        table(lambda u: array * u, 2)
