"""Layers at the outflow: cells that are much longer than wide."""

import jax
import jax.numpy as jnp
import numpy as np

import kernop as ko
from kernop.basics.precision import float64

EPS = 0.01
SQUARE = ko.Box([-1, -1], [1, 1])


@jax.jit
def truth(x):
    """Two layers of width EPS, which meet at the corner (1, 1)."""
    layer = lambda s: 1.0 - jnp.exp((s - 1.0) / EPS)
    return layer(x[..., 0]) * layer(x[..., 1]) * jnp.cos(jnp.pi * (x[..., 0] + x[..., 1]))


def test_long_cells_are_determined():
    """On Gauss points alone, polynomials of degree 19 in cells of 1 : 40 were not: errors of 2e-3."""
    problem = ko.Problem(
        ko.Equation(lambda u: -EPS * ko.laplacian(u) + 2.0 * ko.partial(u, 0) + ko.partial(u, 1), on=SQUARE, name="f"),
        ko.Dirichlet(on=SQUARE.boundary, name="g"),
    )
    T = ko.learn(problem, method=ko.Partition(cells=2))
    u = T(**problem.manufacture(truth, T.points))
    x = SQUARE.sample(2000, "uniform", seed=1).x
    with float64():
        expected = truth(x)
    assert np.max(np.abs(u(x) - expected)) < 1e-6
