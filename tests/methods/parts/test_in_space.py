"""Operators made of parts on domains in space: solutions that are known, on bodies that cells do not fill."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko

CUBE = ko.Box([-1.0, -1.0, -1.0], [1.0, 1.0, 1.0])
BALL = ko.Ball([0.0, 0.0, 0.0], 1.0)
COLUMN = CUBE - ko.Box([0.0, 0.0, -2.0], [2.0, 2.0, 2.0])
#: Made when they are asked for: a level set in space takes a second.
BODIES = {
    "ball": (lambda: BALL, {"cells": 2}),
    "cube with a hollow": (lambda: CUBE - ko.Ball([0.1, 0.0, 0.0], 0.45), {"cells": 3}),
    "three quarters of a column": (lambda: COLUMN, {"cells": 2, "degree": 11}),
    "level set": (lambda: ko.Implicit(lambda x: jnp.sum(x**4, axis=-1) - 0.8, CUBE.bounds), {"cells": 2}),
}


def u(x):
    return np.sin(2.0 * x[..., 0] + x[..., 1]) * np.exp(x[..., 2])


def slope(x):
    """∇u."""
    c = np.cos(2.0 * x[..., 0] + x[..., 1]) * np.exp(x[..., 2])
    return np.stack([2.0 * c, c, u(x)], axis=-1)


def poisson(domain, *conditions, op=lambda v: -ko.laplacian(v)):
    return ko.Problem(ko.Equation(op, on=domain, name="f"), *conditions or (ko.Dirichlet(domain.boundary, "g"),))


def error(found, domain, truth=u):
    x = domain.sample(1000).x
    return float(np.max(np.abs(found(x) - truth(x))) / np.max(np.abs(truth(x))))


@pytest.mark.parametrize("name", BODIES)
def test_a_smooth_solution_on_a_body(name):
    body, how = BODIES[name]
    domain = body()
    T = ko.learn(poisson(domain), method=ko.Partition(**how))
    assert error(T(lambda x: 4.0 * u(x), u), domain) < 3e-6


def test_higher_degrees_gain_digits():
    errors = [
        error(ko.learn(poisson(BALL), method=ko.Partition(cells=2, degree=p))(lambda x: 4.0 * u(x), u), BALL)
        for p in (6, 12)
    ]
    assert errors[1] < 5e-7
    assert errors[1] < 1e-2 * errors[0]


def test_slopes_and_values_on_a_sphere():
    slopes = lambda x: np.sum(slope(x) * x, axis=-1)  # the normal of the unit sphere is x
    T = ko.learn(
        poisson(BALL, ko.Robin(1.0, 2.0, on=BALL.boundary, name="g"), op=lambda v: v - ko.laplacian(v)),
        method=ko.Partition(cells=2),
    )
    assert error(T(lambda x: 5.0 * u(x), lambda x: u(x) + 2.0 * slopes(x)), BALL) < 1e-5


def test_layers_in_a_box_have_a_continuous_flux():
    a = ko.Piecewise({ko.Box([-1.0, -1.0, -1.0], [0.2, 1.0, 1.0]): 1.0}, otherwise=100.0)
    truth = lambda x: np.where(x[..., 0] < 0.2, x[..., 0], 0.2 + (x[..., 0] - 0.2) / 100.0)
    T = ko.learn(poisson(CUBE, op=lambda v: -ko.div(a * ko.grad(v))), method=ko.Partition(cells=2, degree=5))
    assert error(T(0.0, truth), CUBE, truth) < 1e-12


def test_a_ball_of_another_material_in_a_uniform_field():
    contrast, radius = 10.0, 0.8
    a = ko.Piecewise({ko.Ball([0.0, 0.0, 0.0], radius): contrast}, otherwise=1.0)

    def truth(x):
        """x outside of a dipole, and uniform inside."""
        r = np.maximum(np.sqrt(np.sum(x**2, axis=-1)), radius)
        k = (contrast - 1.0) / (contrast + 2.0)
        return x[..., 0] * (1.0 - k * (radius / r) ** 3)

    T = ko.learn(poisson(CUBE, op=lambda v: -ko.div(a * ko.grad(v))), method=ko.Partition(cells=2))
    assert error(T(0.0, truth), CUBE, truth) < 2e-3


def test_a_singular_edge_is_told_of():
    T = ko.learn(poisson(COLUMN), method=ko.Partition(cells=2, degree=6))
    with pytest.warns(ko.errors.AccuracyWarning, match="unsatisfied"):
        T(1.0, 0.0)


def test_the_basis_and_a_file_give_the_same_answer(tmp_path):
    T = ko.learn(poisson(BALL), method=ko.Partition(cells=2, degree=6))
    rng, x = np.random.default_rng(0), BALL.sample(7).x
    h = [rng.normal(size=len(T.points[name].x)) for name in ("f", "g")]
    with pytest.warns(ko.errors.AccuracyWarning):
        values = T(*h)(x)
    assert np.allclose(T.basis(x) @ np.concatenate(h), values, atol=1e-10 * np.max(np.abs(values)))
    T.save(tmp_path / "ball.kernop")
    with pytest.warns(ko.errors.AccuracyWarning):
        assert np.array_equal(ko.load(tmp_path / "ball.kernop")(*h)(x), values)
