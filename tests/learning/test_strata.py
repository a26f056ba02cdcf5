"""Points where functions are narrow, and residuals there."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.collocation.sampling import sample
from kernop.collocation.units import frame_of
from kernop.learning.strata import EACH, residuals, strata, thickened
from kernop.methods.spaces import Layers
from kernop.methods.spaces.layers import layers_in

D = ko.Ball([0.0, 0.0], 1.0)
POISSON = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=D, name="f"), ko.Dirichlet(on=D.boundary, name="g"))
UNIFORM = sample(POISSON, 300, "halton", 0)


@pytest.fixture(scope="module")
def layers() -> Layers:
    """Around (1, 0), inside and on the boundary: cells of side 2 / 32."""
    cells = [[5, k, m] for k in (30, 31) for m in (15, 16)]
    return layers_in(frame_of(POISSON), 100).filled(np.array(cells))


def test_points_are_as_dense_as_functions(layers: Layers) -> None:
    found = thickened(POISSON, UNIFORM, layers, 0)
    for name, own in found.items():
        np.testing.assert_array_equal(own.x[: len(UNIFORM[name])], UNIFORM[name].x)
        assert np.all(POISSON[name].on.contains(own.x))
        assert np.all(layers.felt_at(own.x[len(UNIFORM[name]) :]) == 5)
    h = float(layers.spacing(5)[0])
    near = np.max(np.abs(found["f"].x - [0.95, 0.0]), axis=1) < 0.04
    assert near.sum() == pytest.approx(EACH[1] * (0.08 / h) ** 2, rel=0.15)
    arc = (np.abs(found["g"].x[:, 1]) < 0.06) & (found["g"].x[:, 0] > 0.0)
    density = len(UNIFORM["g"]) / (2 * np.pi) * layers.wide / (h / float(layers.side[0]))
    assert arc.sum() == pytest.approx(0.12 * density, rel=0.15)
    assert found["g"].normal is not None


def test_shares_of_fresh_points_are_those_of_integrals(layers: Layers) -> None:
    fresh = strata(POISSON, UNIFORM, layers, 1)
    assert fresh.shares["f"].sum() == pytest.approx(np.pi, rel=0.02)
    assert fresh.shares["g"].sum() == pytest.approx(2 * np.pi, rel=0.02)
    # A peak at (1, 0), half of which is inside: ∫ exp(−2000 r²) = π / 4000, with 1/√(2000 π) of curvature.
    r2 = np.sum((fresh.points["f"].x - [1.0, 0.0]) ** 2, axis=1)
    assert np.sum(fresh.shares["f"] * np.exp(-2000 * r2)) == pytest.approx(np.pi / 4000, rel=0.05)


def test_residuals_are_relative_and_know_their_place(layers: Layers) -> None:
    """u is a polynomial, which T finds exactly, so data that it does not know are the residual itself."""
    T = ko.learn(POISSON, points=UNIFORM, method=ko.Subspace(30, basis="polynomials"))
    exact = {"f": 4.0, "g": lambda x: 1.0 - jnp.sum(x**2, axis=-1)}
    fresh, inside = strata(POISSON, UNIFORM, layers, 1), T.ansatz.evaluations(D.sample(100).x)
    found = residuals(T, [exact], fresh, inside)
    assert found.error < 1e-8
    peak = lambda x: 4.0 + 1e3 * jnp.exp(-8000 * jnp.sum((x - jnp.array([0.94, 0.0])) ** 2, axis=-1))
    found = residuals(T, [{**exact, "f": peak}], fresh, inside)
    assert found.part < 0.01
    assert np.linalg.norm(found.x[np.argmax(found.squares / found.shares)] - [0.94, 0.0]) < 0.01
