"""Coefficients under a derivative: jumps are refused, steep fronts are reported, smooth coefficients pass."""

from __future__ import annotations

import warnings
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.collocation.units import frame_of
from kernop.trust.resolution import UNRESOLVED, roughness

LINE, SQUARE = ko.Interval(0, 1), ko.Box([0, 0], [1, 1])
TABLE = np.random.default_rng(0).uniform(1.0, 2.0, 64)


def nearest(x: Any) -> Any:
    return jnp.asarray(TABLE)[jnp.clip((64 * x[..., 0]).astype(int), 0, 63)]


def flux(a: Any, domain: Any) -> ko.Problem:
    return ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=domain), ko.Dirichlet(domain.boundary))


def found(a: Any, domain: Any, number: int) -> Any:
    stated = flux(a, domain)
    return roughness(stated.conditions[0], domain.sample(number), frame_of(stated))


JUMPS = {
    "where": lambda x: jnp.where(x[..., 0] < 0.5, 1.0, 10.0),
    "a small one": lambda x: 1.0 + 1e-3 * (x[..., 0] > 1 / 3),
    "floor": lambda x: 1.0 + jnp.floor(4.0 * x[..., 0]),
    "nearest neighbours in a table": nearest,
    "product with a smooth function": lambda x: jnp.exp(x[..., 0]) * jnp.where(x[..., 0] < 0.2, 1.0, 2.0),
}


@pytest.mark.parametrize("domain", [LINE, SQUARE])
@pytest.mark.parametrize("name", JUMPS)
def test_jumps_are_refused(name: str, domain: Any) -> None:
    with pytest.raises(ko.errors.JumpError, match=r"f: got a coefficient under a derivative that jumps .* flux"):
        ko.learn(flux(JUMPS[name], domain), points=600)


def test_the_place_is_named() -> None:
    with pytest.raises(ko.errors.JumpError, match=r"from 1 to 10 at x = \[0\.5"):
        ko.learn(flux(JUMPS["where"], LINE), points=100)


def test_a_jump_of_the_derivative_is_refused_where_it_is_differentiated_twice() -> None:
    bent = lambda x: 1.0 + jnp.abs(x[..., 0] - 0.4)
    twice = ko.Problem(
        ko.Equation(lambda u: ko.laplacian(bent * ko.laplacian(u)), on=LINE),
        ko.Dirichlet(LINE.boundary),
        ko.Neumann(LINE.boundary),
    )
    with pytest.raises(ko.errors.JumpError):
        ko.learn(twice, points=100)
    assert found(bent, LINE, 300).part < UNRESOLVED  # under one derivative it is continuous


def test_nothing_differentiates_a() -> None:
    """The paper's a3 in the strong form, −a Δu, is legal; so is a potential that jumps."""
    board = lambda x: jnp.where((jnp.floor(4 * x[..., 0]) + jnp.floor(4 * x[..., 1])) % 2 == 0, 1.0, 10.0)
    for op in (lambda u: -(board * ko.laplacian(u)), lambda u: -ko.laplacian(u) + board * u):
        stated = ko.Problem(ko.Equation(op, on=SQUARE), ko.Dirichlet(SQUARE.boundary))
        operator = ko.learn(stated, points=300, method=ko.Subspace(60))
        assert operator.diagnosis.roughness is not None
        assert operator.diagnosis.roughness.part == 0.0


SMOOTH = {
    "constant": lambda x: 2.0 + 0.0 * x[..., 0],
    "exponential": lambda x: jnp.exp(x[..., 0]),
    "through zero": lambda x: x[..., 0] - 0.3,
    "20 radians": lambda x: 1.0 + 0.5 * jnp.sin(20 * x[..., 0]),
    "front": lambda x: 5.5 + 4.5 * jnp.tanh((x[..., 0] - 0.5) / 0.1),
}


@pytest.mark.parametrize("domain", [LINE, SQUARE])
@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_ones_pass(name: str, domain: Any) -> None:
    assert found(SMOOTH[name], domain, 900).part < UNRESOLVED


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
@pytest.mark.parametrize("width", [1e-4, 1e-3])
def test_a_steep_front_counts(width: float) -> None:
    a = lambda x: 5.5 + 4.5 * jnp.tanh((x[..., 0] - 0.5) / width)
    with pytest.warns(ko.AccuracyWarning, match="not resolved"):
        operator = ko.learn(flux(a, SQUARE), points=600)
    u = operator(0.0, lambda x: x[..., 0])
    estimate = u.error_estimate(covering=None)
    # Exact: the flux is constant, u = ∫ 1/a / ∫ 1/a over the line.
    s = np.linspace(0.0, 1.0, 200_001)
    resistance = np.concatenate([[0.0], np.cumsum(0.5 * (1 / a(s[1:, None]) + 1 / a(s[:-1, None])) * np.diff(s))])
    exact = np.interp(0.25, s, resistance / resistance[-1])
    true = abs(u([[0.25, 0.5]])[0] - exact) / exact
    assert true > 0.01  # it is wrong indeed, …
    assert estimate.relative_l2 > 0.1  # … and says so


@pytest.mark.filterwarnings("ignore::kernop.errors.AccuracyWarning")
def test_a_steep_front_is_not_met() -> None:
    a = lambda x: 5.5 + 4.5 * jnp.tanh((x[..., 0] - 0.5) / 1e-4)
    with pytest.warns(ko.ToleranceWarning, match="coefficient unresolved"):
        operator = ko.learn(flux(a, LINE), tol=1e-6, budget=200, method=ko.Subspace())
    assert not operator.report.met


def test_jumps_beyond_the_domain_do_not_matter() -> None:
    a = lambda x: jnp.where(x[..., 0] < 1.5, 1.0, 10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ko.AccuracyWarning)
        u = ko.learn(flux(a, LINE), points=100, method=ko.Subspace(30))(2.0, 0.0)
    assert u([[0.25], [0.5]]) == pytest.approx([0.1875, 0.25], abs=1e-10)  # x (1 − x)
