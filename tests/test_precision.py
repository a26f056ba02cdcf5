"""float64 inside the context, the user's setting outside."""

import jax
import jax.numpy as jnp
import pytest

from kernop.precision import float64


def test_double_inside_and_single_outside():
    assert jnp.zeros(1).dtype == jnp.float32
    with float64():
        assert jnp.zeros(1).dtype == jnp.float64
        assert float(jnp.asarray(1.0) + 1e-12) != 1.0
    assert jnp.zeros(1).dtype == jnp.float32


def test_contexts_nest():
    with float64():
        with float64():
            pass
        assert jnp.zeros(1).dtype == jnp.float64
    assert jnp.zeros(1).dtype == jnp.float32


def test_an_exception_restores_the_setting():
    def fails():
        with float64():
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert jnp.zeros(1).dtype == jnp.float32


def test_the_users_double_precision_survives():
    with jax.enable_x64(True):
        with float64():
            pass
        assert jnp.zeros(1).dtype == jnp.float64


def test_compiled_functions_know_the_precision():
    third = jax.jit(lambda x: x / 3.0)
    assert third(1.0).dtype == jnp.float32
    with float64():
        assert third(1.0).dtype == jnp.float64
        assert float(third(1.0)) == 1.0 / 3.0
    assert third(1.0).dtype == jnp.float32
