"""Inputs, batches, evaluation, derivatives, residuals, and gradients through JAX."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    InputNameError,
    NonFiniteError,
    OutsideDomainError,
    ShapeError,
)

SQUARE = ko.Box([0, 0], [1, 1])
PROBLEM = ko.Problem(
    ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"),
    ko.Dirichlet(on=SQUARE.face("left", "right"), name="g"),
    ko.Neumann(on=SQUARE.face("bottom"), name="q"),
    ko.Dirichlet(on=SQUARE.face("top"), name="lid", data=0.5),
)
X = SQUARE.sample(30, "uniform", seed=3).x


def exact(x):
    return 0.5 + jnp.sin(2 * x[..., 0]) * (1 - x[..., 1] ** 2)


@pytest.fixture(scope="module")
def operator():
    return ko.learn(
        PROBLEM, kernel=ko.Gaussian(1.0), points=400, regularization=1e-10, weights="balanced", method=ko.Full()
    )


@pytest.fixture(scope="module")
def data(operator):
    return PROBLEM.manufacture(exact, operator.points)


@pytest.fixture(scope="module")
def solution(operator, data):
    return operator(**data)


def test_positional_and_named_inputs_agree(operator, data, solution):
    np.testing.assert_array_equal(operator(data["f"], data["g"], data["q"])(X), solution(X))
    np.testing.assert_array_equal(operator(data["f"], q=data["q"], g=data["g"])(X), solution(X))


@pytest.mark.filterwarnings("ignore::kernop.AccuracyWarning")
def test_functions_numbers_and_arrays_agree(operator):
    constants = operator(lambda x: jnp.sin(x[..., 0]), 2.0, 0)
    arrays = operator(np.sin(operator.points["f"].x[:, 0]), np.full(len(operator.points["g"]), 2.0), lambda x: 0.0)
    np.testing.assert_allclose(constants(X), arrays(X), rtol=1e-9, atol=1e-9)


def test_numpy_functions_are_accepted_as_data(operator):
    a = operator(lambda x: np.sin(x[..., 0]), 1.0, 0.0)
    b = operator(lambda x: jnp.sin(x[..., 0]), 1.0, 0.0)
    np.testing.assert_allclose(a(X), b(X), rtol=1e-9, atol=1e-9)


def test_a_batch_is_its_columns(operator, data):
    factors = np.array([1.0, -2.0, 0.5])
    batch = operator(data["f"][:, None] * factors, data["g"][:, None] * factors, data["q"])
    assert batch(X).shape == (30, 3)
    assert batch.grad(X).shape == (30, 2, 3)
    for k, factor in enumerate(factors):
        single = operator(data["f"] * factor, data["g"] * factor, data["q"])
        np.testing.assert_allclose(batch(X)[:, k], single(X), atol=1e-6)  # rounding times large coefficients


def test_fixed_evaluation_points(operator, data, solution):
    s = operator.on(X)
    np.testing.assert_allclose(s(**data), solution(X), rtol=1e-9, atol=1e-9)
    slope = operator.on(X, lambda u: ko.partial(u, 0))
    np.testing.assert_allclose(slope(**data), solution.grad(X)[:, 0], rtol=1e-8, atol=1e-8)


def test_derivatives_of_the_solution(solution):
    np.testing.assert_allclose(solution(X), exact(X), atol=1e-5)
    gradient = np.stack([2 * np.cos(2 * X[:, 0]) * (1 - X[:, 1] ** 2), -2 * np.sin(2 * X[:, 0]) * X[:, 1]], axis=1)
    np.testing.assert_allclose(solution.grad(X), gradient, atol=1e-3)
    mixed = solution.apply(lambda u: ko.partial(ko.partial(u, 0), 1), X)
    np.testing.assert_allclose(mixed, -4 * np.cos(2 * X[:, 0]) * X[:, 1], atol=1e-2)


def test_derivatives_agree_with_finite_differences(solution):
    h, x = 1e-4, np.clip(X, 0.01, 0.99)
    for k, step in enumerate(h * np.eye(2)):
        slope = (solution(x + step) - solution(x - step)) / (2 * h)
        np.testing.assert_allclose(solution.grad(x)[:, k], slope, atol=1e-5)


def test_residuals(operator, data, solution):
    fresh = SQUARE.sample(50, "uniform", seed=11)
    f = ko.apply_operator(PROBLEM["f"].op, exact, fresh)
    assert np.abs(solution.residual("f", fresh, f)).max() < 1e-2 * np.abs(f).max()
    assert np.abs(solution.residual("lid", SQUARE.face("top").sample(9))).max() < 1e-5
    assert solution.residual("q", operator.points["q"], data["q"]).shape == data["q"].shape


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_residuals_with_what_the_operator_was_given(operator, data, solution):
    fresh = SQUARE.sample(50, "uniform", seed=11)
    at = operator.points["q"]
    np.testing.assert_array_equal(solution.residual("q", at), solution.residual("q", at, data["q"]))
    with pytest.raises(
        ArgumentError, match=r"data: got none, and 'f' was given as an array, .* of T alone; give values"
    ):
        solution.residual("f", fresh)
    u = operator(**data | {"f": lambda x: x[:, 0] ** 2, "g": 3.0})
    np.testing.assert_array_equal(u.residual("f", fresh), u.apply(PROBLEM["f"].op, fresh) - fresh.x[:, 0] ** 2)
    edge = operator.points["g"]
    np.testing.assert_array_equal(u.residual("g", edge), u(edge.x) - 3.0)
    unknown = dataclasses.replace(u, inputs=None)
    with pytest.raises(ArgumentError, match=r"data: got none, and what T was given for 'f' is not known"):
        unknown.residual("f", fresh)


def test_results_are_float64_and_the_configuration_is_untouched(operator, data, solution):
    assert not jax.config.jax_enable_x64
    assert (
        solution(X).dtype
        == solution.grad(X).dtype
        == operator.std(X).dtype
        == operator.on(X)(**data).dtype
        == np.float64
    )
    assert jnp.zeros(1).dtype == jnp.float32


class TestJax:
    def test_gradient_of_a_functional_of_the_solution(self, operator, data):
        s = operator.on(X)
        with jax.enable_x64(True):
            f = jnp.asarray(data["f"])
            gradient = jax.grad(lambda f: jnp.sum(s(f, data["g"], data["q"]) ** 2))(f)
            expected = 2 * s.matrix[:, : len(f)].T @ s(**data)
        np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-10)

    def test_jit_and_vmap(self, operator, data):
        s = operator.on(X)
        with jax.enable_x64(True):
            inputs = [jnp.asarray(data[name]) for name in ("f", "g", "q")]
            np.testing.assert_allclose(jax.jit(s)(*inputs), s(**data), rtol=1e-9, atol=1e-9)
            many = jax.vmap(lambda c: s(c * inputs[0], *inputs[1:]))(jnp.array([1.0, 2.0]))
        np.testing.assert_allclose(many[0], s(**data), rtol=1e-9, atol=1e-9)

    def test_float32_users_get_float64_values(self, operator, data):
        s = operator.on(X)
        found = s(jnp.asarray(data["f"]), jnp.asarray(data["g"]), jnp.asarray(data["q"]))
        assert isinstance(found, jax.Array)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, s(**data), rtol=1e-4, atol=1e-4)

    def test_traced_inputs_need_fixed_points(self, operator, data):
        with pytest.raises(ArgumentTypeError, match=r"T\.on\(x\)"):
            jax.jit(lambda f: operator(f, 0.0, 0.0)(X))(jnp.asarray(data["f"]))


class TestBadInput:
    def test_names(self, operator):
        with pytest.raises(InputNameError, match=r"no 'q'; give \(f, g, q\)"):
            operator(0.0, 0.0)
        with pytest.raises(InputNameError, match="unknown input 'h'"):
            operator(0.0, 0.0, 0.0, h=1.0)
        with pytest.raises(InputNameError, match=r"'lid' .*fixed in the problem"):
            operator(0.0, 0.0, 0.0, lid=1.0)
        with pytest.raises(InputNameError, match="'f' twice"):
            operator(0.0, 0.0, 0.0, f=1.0)
        with pytest.raises(InputNameError, match="4 inputs"):
            operator(0.0, 0.0, 0.0, 0.0)

    def test_batches_that_disagree(self, operator, data):
        with pytest.raises(ShapeError, match=r"T: got batches that disagree .*'f' with 3.*'g' with 2"):
            operator(np.outer(data["f"], [1, 2, 3]), np.outer(data["g"], [1, 2]), 0.0)

    @pytest.mark.parametrize("value", [np.nan, np.inf, lambda x: jnp.log(x[..., 0] - 2.0)])
    def test_data_that_is_not_finite(self, operator, value):
        with pytest.raises(NonFiniteError, match=r"f: got \d+ of \d+ values that are NaN"):
            operator(value, 0.0, 0.0)

    @pytest.mark.parametrize("value", ["text", None, [[1, 2], [3]], object()])
    def test_data_of_the_wrong_kind(self, operator, value):
        with pytest.raises(ArgumentTypeError, match="f: got"):
            operator(value, 0.0, 0.0)

    @pytest.mark.parametrize("shape", [(3,), (3, 2), (2, 2, 2), (0,)])
    def test_data_of_the_wrong_shape(self, operator, shape):
        with pytest.raises(ShapeError, match=r"f: got .*T\.points\['f'\]\.x of shape"):
            operator(np.zeros(shape), 0.0, 0.0)

    @pytest.mark.parametrize(
        "function", [lambda x: x[0], lambda x: jnp.sum(x**2), lambda x: x[..., 0, None, None, None]]
    )
    def test_data_functions_that_mix_up_points(self, operator, function):
        with pytest.raises(ShapeError, match=r"f: got .*x\[\.\.\., 0\]"):
            operator(function, 0.0, 0.0)

    @pytest.mark.parametrize("call", ["__call__", "grad"])
    def test_points_outside_the_domain(self, solution, call):
        with pytest.raises(OutsideDomainError, match=r"x: got 1 of 2 points outside .*outside='nan'"):
            getattr(solution, call)([[0.5, 0.5], [1.5, 0.5]])

    def test_points_outside_can_be_blanked_or_extrapolated(self, solution):
        x = [[0.5, 0.5], [1.01, 0.5]]
        np.testing.assert_array_equal(np.isnan(solution(x, outside="nan")), [False, True])
        np.testing.assert_array_equal(np.isnan(solution.grad(x, outside="nan")), [[False] * 2, [True] * 2])
        np.testing.assert_allclose(solution(x, outside="extrapolate"), exact(np.array(x)), atol=1e-4)

    @pytest.mark.parametrize("x", [[0.5, 0.5, 0.5], np.zeros((3, 3)), np.zeros((0, 2)), [[np.nan, 0.0]], "x"])
    def test_evaluation_points_of_the_wrong_shape_or_kind(self, operator, solution, x):
        for call in (solution, solution.grad, operator.on, operator.basis, operator.std):
            with pytest.raises(ko.errors.KernopError, match="x: got"):
                call(x)

    def test_residual_of_an_unknown_condition(self, solution):
        with pytest.raises(InputNameError, match="'h'; the conditions are 'f', 'g', 'q', 'lid'"):
            solution.residual("h", SQUARE.sample(3))


def test_what_is_typed_is_short(operator, data, solution):
    assert repr(solution).startswith("Solution(x ↦ u(x) in 2-D; 400 functions, Gaussian(")
    batch = operator(**data | {"f": np.zeros((len(operator.points["f"]), 3))})
    assert "3 of them, 400 functions" in repr(batch)
    assert repr(operator.on(X)) == "FixedOperator((f, g, q) ↦ u at 30 points)"
