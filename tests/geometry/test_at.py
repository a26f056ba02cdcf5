"""region.at(x): conditions at single points."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko

LINE, SQUARE, CUBE = ko.Interval(0, 2), ko.Box([0, 0], [1, 1]), ko.Box([0, 0, 0], [1, 1, 1])


@pytest.mark.parametrize(
    ("domain", "x", "shape"),
    [
        (LINE, 0.3, (1, 1)),
        (LINE, [0.3, 0.4, 1.0], (3, 1)),
        (LINE, [[0.3], [0.4]], (2, 1)),
        (SQUARE, [0.3, 0.4], (1, 2)),
        (SQUARE, [[0.3, 0.4], [0.1, 0.9], [0.0, 0.0]], (3, 2)),
        (CUBE, ko.Points(np.full((2, 3), 0.5)), (2, 3)),
        (ko.Ball([0, 0, 0], 1.0), (0.1, 0.2, 0.3), (1, 3)),
        (ko.SpaceTime(LINE, (0, 1)), [0.5, 0.5], (1, 2)),
    ],
)
def test_one_point_or_several(domain: Any, x: Any, shape: tuple[int, int]) -> None:
    region = domain.at(x)
    assert region.sample(1000).x.shape == shape
    assert region.intrinsic_dim == 0
    assert region.measure == shape[0]
    assert region.timed == domain.timed == region.sample(1).timed
    assert np.all(region.contains(region.points.x))
    assert not np.any(region.contains(region.points.x + 1e-3))


def test_points_of_a_boundary_have_its_normals() -> None:
    region = SQUARE.boundary.at([[0.0, 0.5], [0.3, 1.0]])
    assert region.sample(5).normal is not None
    np.testing.assert_array_equal(region.sample(5).normal, [[-1, 0], [0, 1]])
    np.testing.assert_array_equal(region.normals(np.array([[0.3, 1.0]])), [[0, 1]])


@pytest.mark.parametrize("x", [2.5, [0.1, 3.0], [[0.1, 0.2]], "here", np.nan])
def test_refused(x: Any) -> None:
    with pytest.raises(ko.errors.KernopError, match="x: got"):
        LINE.at(x)


def test_initial_values_of_an_oscillator() -> None:
    """u″ + 9u = 0 with u and u′ at 0.5, inside: u = cos 3(x − ½) + 2 sin 3(x − ½)."""
    T = ko.learn(
        ko.Problem(
            ko.Equation(lambda u: ko.partial(u, 0, 2) + 9.0 * u, on=LINE, data=0.0),
            ko.Dirichlet(on=LINE.at(0.5), name="u0"),
            ko.Condition(lambda u: ko.partial(u, 0), LINE.at(0.5), "u1"),
        ),
        points=200,
        method=ko.Subspace(60),
    )
    x = np.linspace(0, 2, 50)[:, None]
    u = T(u0=1.0, u1=6.0)
    s = 3 * (x[:, 0] - 0.5)
    np.testing.assert_allclose(u(x), np.cos(s) + 2 * np.sin(s), atol=1e-7)
    assert u.error_estimate().relative_linf < 1e-5
    assert len(T.points["u0"]) == 1


@pytest.mark.parametrize("tol", [None, 1e-4])
def test_a_value_that_pure_slopes_leave_open(tol: float | None, tmp_path: Any) -> None:
    """−Δu = f with ∂u/∂n on the whole boundary and u at one point; saved and loaded."""

    def truth(x: Any) -> Any:
        return jnp.exp(x[..., 0]) * jnp.cos(x[..., 1]) + x[..., 0] ** 2

    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, data=-2.0),
        ko.Neumann(on=SQUARE.boundary),
        ko.Dirichlet(on=SQUARE.at([0.25, 0.5]), name="p"),
    )
    T = ko.learn(problem, tol=tol)
    data = problem.manufacture(truth, T.points)
    x = SQUARE.sample(100).x
    np.testing.assert_allclose(T(**data)(x), truth(x), atol=1e-4)
    T.save(tmp_path / "T.kernop")
    back = ko.load(tmp_path / "T.kernop")
    np.testing.assert_array_equal(back(**data)(x), T(**data)(x))
    assert "at [0.25 0.5 ]" in repr(back.problem)


def test_time_and_many_points() -> None:
    """A decaying wave known at the initial time, the walls, and at three points on its way, which agree."""
    D = ko.SpaceTime(ko.Interval(0, 1), (0, 1))

    def truth(x: Any) -> Any:
        return jnp.exp(-x[..., 1]) * jnp.sin(3 * x[..., 0])

    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=D),
        ko.Dirichlet(on=D.walls),
        ko.Initial(on=D.initial),
        ko.Dirichlet(on=D.at([[0.2, 0.5], [0.5, 0.5], [0.7, 0.9]]), name="seen"),
    )
    T = ko.learn(problem, points=600, method=ko.Subspace(200))
    x = D.sample(100).x
    np.testing.assert_allclose(T(**problem.manufacture(truth, T.points))(x), truth(x), atol=1e-6)


def test_green_with_a_condition_inside() -> None:
    """−u″ = δ_y, u(0) = 0 and u(1) = 0 on (0, 2): for y > 1 nothing is felt on (0, 1), and u = −(x − y)₊ beyond."""
    T = ko.learn(
        ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=LINE), ko.Dirichlet(on=LINE.at([0.0, 1.0]))),
        points=200,
        method=ko.Subspace(40),
    )
    x = np.linspace(0, 2, 41)
    found = T.green(x[:, None], [[1.5], [0.5]])
    np.testing.assert_allclose(found[:, 0], -np.maximum(x - 1.5, 0), atol=1e-9)
    np.testing.assert_allclose(found[:, 1], 0.5 * x - np.maximum(x - 0.5, 0), atol=1e-9)
