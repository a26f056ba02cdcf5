"""Places on a line at which coefficients are not smooth."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.collocation.cells.kinks import kinks

LINE = ko.Interval(0, 1)


def found(a=1.0, c=0.0):
    operator = lambda u: -ko.div(a * ko.grad(u)) + c * u
    return kinks(ko.Problem(ko.Equation(operator, on=LINE), ko.Dirichlet(on=LINE.boundary)))


@pytest.mark.parametrize("c", [0.5, 1.0 / 3.0, 0.37])
@pytest.mark.parametrize("power", [0.25, 0.5, 1.0, 1.5])
def test_powers_of_the_distance_from_a_place(power, c):
    own = found(lambda x: 1.0 + jnp.abs(x[..., 0] - c) ** power)
    assert own.places == pytest.approx([c], abs=1e-12 if power <= 1.0 else 3e-6)
    assert own.powers == pytest.approx([np.inf if power == 1.0 else power], rel=0.02)


def test_what_nothing_differentiates_is_felt_less():
    assert found(c=lambda x: jnp.sqrt(jnp.abs(x[..., 0] - 0.37))).powers == pytest.approx([1.5], rel=0.01)


def test_several_places():
    a = lambda x: jnp.interp(x[..., 0], jnp.array([0.0, 0.3, 0.6, 1.0]), jnp.array([1.0, 2.0, 1.5, 3.0]))
    own = found(a, lambda x: jnp.where(x[..., 0] < 0.77, 0.0, 100.0))
    assert own.places == pytest.approx([0.3, 0.6, 0.77], abs=1e-12)
    assert np.all(own.powers == np.inf)


@pytest.mark.parametrize(
    "a",
    [
        1.0,
        lambda x: jnp.exp(x[..., 0]),
        lambda x: 1.1 + jnp.cos(1000.0 * x[..., 0]),
        lambda x: 1.1 + jnp.tanh((x[..., 0] - 0.4) / 1e-4),
        ko.GridFunction(np.random.default_rng(0).uniform(1.0, 2.0, 30), LINE),
        ko.Piecewise({ko.Interval(0, 0.3): 1.0}, otherwise=2.0),
    ],
)
def test_what_is_smooth_and_what_is_told_has_none(a):
    assert len(found(a, lambda x: x[..., 0] - 0.3).places) == 0


def test_between_jumps_that_are_told():
    a = ko.Piecewise({ko.Interval(0, 0.3): 1.0}, otherwise=lambda x: 2.0 + jnp.abs(x[..., 0] - 0.6))
    assert found(a).places == pytest.approx([0.6], abs=1e-12)


def test_rounding_of_coordinates_is_no_kink():
    """A short interval far from 0: coordinates are known to 1e-10 of its length, and nine places were found."""
    line = ko.Interval(1000.0, 1000.001)
    a = lambda x: 1.0 + 1e3 * jnp.abs(x[..., 0] - 1000.00037)
    own = kinks(ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=line), ko.Dirichlet(on=line.boundary)))
    assert own.places == pytest.approx([1000.00037], abs=1e-12)
