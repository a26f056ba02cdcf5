"""Derivatives of users' functions: compiled code must say what the function says now."""

import gc
import weakref

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.basics.precision import eagerly
from kernop.language import slopes
from kernop.language.slopes import OFTEN, slope_of_function

X = np.random.default_rng(0).random((50, 2))


def asked(function, axis=0, times=OFTEN + 3):
    with eagerly():
        return [np.asarray(slope_of_function("a", function, X, axis)) for _ in range(times)]


@pytest.mark.parametrize("axis", [0, 1])
def test_compiled_derivatives_are_those_of_before(axis):
    found = asked(lambda x: jnp.exp(x[..., 0]) * jnp.sin(3 * x[..., 1]), axis)
    truth = np.exp(X[:, 0]) * [np.sin(3 * X[:, 1]), 3 * np.cos(3 * X[:, 1])][axis]
    for own in found:
        np.testing.assert_allclose(own, truth, rtol=1e-13)


def test_a_function_is_compiled_when_it_is_asked_often():
    calls = []

    def function(x):
        calls.append(type(x))
        return x[..., 0] ** 2

    asked(function)
    traced = calls.count(np.ndarray)
    calls.clear()
    asked(function, times=5)
    assert traced > 0
    assert calls == [np.ndarray] * 5  # for its values alone, by which it is seen that it is the same


def test_a_function_that_has_changed_is_compiled_again():
    factor = [1.0]
    function = lambda x: factor[0] * x[..., 0] ** 2
    np.testing.assert_allclose(asked(function)[-1], 2 * X[:, 0], rtol=1e-13)
    factor[0] = 1.0 + 1e-7
    np.testing.assert_allclose(asked(function, times=1)[0], 2 * factor[0] * X[:, 0], rtol=1e-13)
    factor[0] = jnp.array(5.0)
    np.testing.assert_allclose(asked(function, times=1)[0], 10 * X[:, 0], rtol=1e-13)


def test_a_function_that_asks_for_values_is_not_compiled():
    def function(x):
        return x[..., 0] ** 2 if jnp.max(x) < 2 else x[..., 0]

    for own in asked(function, times=2 * OFTEN):
        np.testing.assert_allclose(own, 2 * X[:, 0], rtol=1e-13)


def test_complex_values():
    np.testing.assert_allclose(asked(lambda x: (1 + 2j) * x[..., 1] ** 3, 1)[-1], (3 + 6j) * X[:, 1] ** 2, rtol=1e-13)


def test_functions_are_not_kept():
    function = lambda x: x[..., 0] ** 3
    asked(function)
    gone = weakref.ref(function)
    del function
    gc.collect()
    assert gone() is None


def test_an_operator_of_changed_coefficients(monkeypatch):
    """The same problem, learned again after a number has changed that its coefficient finds around it."""
    monkeypatch.setattr(slopes, "OFTEN", 0)
    square, power = ko.Box([0, 0], [1, 1]), [1.0]
    a = lambda x: jnp.exp(power[0] * x[..., 0])
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=square, name="f"), ko.Dirichlet(on=square.boundary, name="g")
    )
    for power[0] in (1.0, -1.0):
        T = ko.learn(problem, method=ko.Partition(cells=1, degree=9))
        # u = x has the flux a, and −∇·(a∇u) = −power · a.
        u = T(lambda x: -power[0] * np.exp(power[0] * x[..., 0]), lambda x: x[..., 0])
        assert np.max(np.abs(u(X) - X[:, 0])) < 1e-9
