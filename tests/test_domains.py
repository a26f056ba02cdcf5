"""Learning on every kind of domain: smooth solutions to 1e-9 with nothing but ``ko.learn(problem)``, and files."""

import jax.numpy as jnp
import numpy as np
import pytest
import trimesh

import kernop as ko

BALL = trimesh.creation.icosphere(subdivisions=2)
HOLE = ko.Ball([0.5, 0.5], 0.25)


def torus(x):
    return jnp.hypot(jnp.hypot(x[..., 0], x[..., 1]) - 1.0, x[..., 2]) - 0.4


PLANE = {
    "L": lambda: ko.Polygon([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]),
    "annulus": lambda: ko.Ball([0, 0], 1.0) - ko.Ball([0.2, 0], 0.4),
    "square with a hole": lambda: ko.Box([0, 0], [1, 1]) - HOLE,
    "ellipse": lambda: ko.Implicit(lambda x: x[..., 0] ** 2 / 2 + x[..., 1] ** 2 - 1, ([-1.5, -1.1], [1.5, 1.1])),
}
SPACE = {
    "torus": lambda: ko.Implicit(torus, ([-1.5, -1.5, -0.5], [1.5, 1.5, 0.5])),
    "faceted ball with a hole": lambda: ko.Solid(BALL.vertices, BALL.faces) - ko.Ball([0, 0, 0], 0.4),
}


def u(x):
    """sin(2.1 x + 0.4) exp(0.8 y), times cos z in space."""
    value = np.sin(2.1 * x[..., 0] + 0.4) * np.exp(0.8 * x[..., 1])
    return value * np.cos(x[..., 2]) if x.shape[-1] == 3 else value


def f(x):
    """−Δu."""
    return (2.1**2 - 0.8**2 + (1.0 if x.shape[-1] == 3 else 0.0)) * u(x)


def slope(points):
    """∂u/∂n in the plane."""
    x, y = points.x.T
    gradient = np.stack([2.1 * np.cos(2.1 * x + 0.4), 0.8 * np.sin(2.1 * x + 0.4)], axis=1) * np.exp(0.8 * y)[:, None]
    return np.sum(gradient * points.normal, axis=1)


def poisson(domain):
    return ko.Problem(
        ko.Equation(lambda v: -ko.laplacian(v), on=domain, name="f"), ko.Dirichlet(on=domain.boundary, name="g")
    )


def error(solution, domain):
    x = domain.sample(500, "uniform", seed=77).x
    return np.linalg.norm(solution(x) - u(x)) / np.linalg.norm(u(x))


@pytest.mark.parametrize("name", PLANE)
def test_smooth_solutions_in_the_plane(name):
    domain = PLANE[name]()
    assert error(ko.learn(poisson(domain))(f, u), domain) < 1e-9


@pytest.mark.parametrize("name", SPACE)
def test_smooth_solutions_in_space(name):
    domain = SPACE[name]()
    solution = ko.learn(poisson(domain), points=2100, method=ko.Subspace(centers=700))(f, u)
    assert error(solution, domain) < 1e-7


def test_an_insulated_hole_and_a_file(tmp_path):
    """u on the sides, ∂u/∂n on the hole; the operator comes back from a file with its domain."""
    domain = PLANE["square with a hole"]()
    problem = ko.Problem(
        ko.Equation(lambda v: -ko.laplacian(v), on=domain, name="f"),
        ko.Dirichlet(on=domain.boundary.of(ko.Box([0, 0], [1, 1])), name="g"),
        ko.Neumann(on=domain.boundary.of(HOLE), name="q"),
    )
    T = ko.learn(problem)
    solution = T(f=f, g=u, q=slope(T.points["q"]))
    assert error(solution, domain) < 1e-9
    T.save(tmp_path / "plate.kernop")
    again = ko.load(tmp_path / "plate.kernop")
    assert again.problem["q"].on == domain.boundary.of(HOLE)
    x = domain.sample(20).x
    np.testing.assert_array_equal(again(f=f, g=u, q=slope(again.points["q"]))(x), solution(x))


def test_a_domain_told_by_a_function_comes_back_with_its_points(tmp_path):
    domain = PLANE["ellipse"]()
    T = ko.learn(poisson(domain), points=400, method=ko.Subspace(centers=100))
    T.save(tmp_path / "ellipse.kernop")
    x = domain.sample(20).x
    again = ko.load(tmp_path / "ellipse.kernop")
    np.testing.assert_array_equal(again(f, u)(x, outside="extrapolate"), T(f, u)(x))
    with pytest.raises(ko.errors.OutsideDomainError, match=r"load\(path, problem=…\)"):
        again(f, u)(x)
    assert not again.problem["f"].on.known
    known = ko.load(tmp_path / "ellipse.kernop", problem=poisson(domain))
    assert known.problem["f"].on is domain


def test_heat_in_an_annulus():
    """u = exp(−t) J(x, y) with ΔJ = 0: the walls of both circles, one by one."""
    outer, inner = ko.Ball([0, 0], 1.0), ko.Ball([0.2, 0], 0.4)
    domain = ko.SpaceTime(outer - inner, (0.0, 0.5))

    def true(x):
        return np.exp(-x[..., 2]) * (x[..., 0] ** 2 - x[..., 1] ** 2 + 0.5 * x[..., 0])

    problem = ko.Problem(
        ko.Equation(lambda v: ko.dt(v) - ko.laplacian(v), on=domain, name="f"),
        ko.Dirichlet(on=domain.walls.of(outer), name="g"),
        ko.Dirichlet(on=domain.walls.of(inner), name="h"),
        ko.Initial(on=domain.initial, name="u0"),
    )
    solution = ko.learn(problem, points=3000, method=ko.Subspace(centers=800))(lambda x: -true(x), true, true, true)
    x = domain.sample(500, "uniform", seed=77).x
    assert np.linalg.norm(solution(x) - true(x)) / np.linalg.norm(true(x)) < 1e-7
