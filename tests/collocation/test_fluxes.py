"""What parts exchange where coefficients jump by large factors."""

import numpy as np
import pytest

import kernop as ko

SQUARE, DISK = ko.Box([0.0, 0.0], [1.0, 1.0]), ko.Ball([0.45, 0.55], 0.25)


def uniform_field(contrast):
    """u = y₀ far from a disk: 2 y₀ / (k + 1) inside, and outside with a dipole, y = x − centre."""

    def exact(x):
        y = x - DISK.center
        square = np.sum(y**2, axis=-1)
        outside = y[..., 0] * (1.0 - (contrast - 1.0) / (contrast + 1.0) * DISK.radius**2 / np.maximum(square, 1e-9))
        return np.where(square < DISK.radius**2, 2.0 / (contrast + 1.0) * y[..., 0], outside)

    return exact


@pytest.mark.parametrize("contrast", [1e6, 1e-6])
def test_mixed_traces_keep_the_balance_of_a_conductor(contrast):
    """In units of the conductor, or of the mean, the constant in it was wrong by 75 % for 1 : 10⁶."""
    a = ko.Piecewise({DISK: contrast}, otherwise=1.0)
    problem = ko.Problem(ko.Equation(lambda u: -ko.div(a * ko.grad(u)), on=SQUARE), ko.Dirichlet(on=SQUARE.boundary))
    T = ko.learn(problem, method=ko.Partition(cells=6, degree=9, levels=0, gluing="robin"))
    exact, x = uniform_field(contrast), SQUARE.sample(500).x
    assert np.max(np.abs(T(0.0, exact)(x) - exact(x))) < 1e-3
