"""Integrals and means over every kind of region, initial velocities and point constraints, against closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest

import kernop as ko
from kernop.collocation.sampling import sample

SQUARE, DISK = ko.Box([0, 0], [1, 2]), ko.Ball([1, 0], 2)
CYLINDER = ko.SpaceTime(ko.Interval(0, 1), (0, 3))
GRID = np.stack(np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 2, 5), indexing="ij"), axis=-1).reshape(-1, 2)


def over(region, condition):
    """What a condition makes of u = x₀² + last coordinate, by the rule that `learn` would choose."""
    top = ko.Box([-9] * region.dim, [9] * region.dim) if not region.timed else CYLINDER
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=top, data=0.0), condition)
    rule = sample(problem, None)[condition.name]
    return problem.manufacture(lambda x: x[..., 0] ** 2 + x[..., -1], {condition.name: rule})[condition.name][0]


REGIONS = {
    "interval": (ko.Interval(0, 2), 4 / 3 + 1, 1e-12),
    "ends": (ko.Interval(0, 2).boundary, 3.0, 1e-12),
    "square": (SQUARE, 1 / 3 + 1, 1e-12),
    "sides": (SQUARE.boundary, (2 * (1 / 3 + 1) + 2 * (0 + 1) + 2 * (1 + 1)) / 6, 1e-12),
    "one side": (SQUARE.face("right"), 2.0, 1e-12),
    "disk": (DISK, 1 + 1, 1e-10),
    "circle": (DISK.boundary, 1 + 2, 1e-10),
    "ball": (ko.Ball([0, 0, 1], 1), 1 / 5 + 1, 1e-6),
    "sphere": (ko.Ball([0, 0, 1], 1).boundary, 1 / 3 + 1, 1e-6),
    "part of a square": (SQUARE.where(lambda x: x[..., 1] < x[..., 0]), 1 / 2 + 1 / 3, 2e-3),
    "part of a circle": (DISK.boundary.where(lambda x: x[..., 1] > 0), 3 + 4 / np.pi, 2e-3),
    "part of an end": (ko.Interval(0, 2).boundary.where(lambda x: x[..., 0] > 1), 6.0, 1e-12),
    "space and time": (CYLINDER, 1 / 3 + 1.5, 1e-12),
    "initial slice": (CYLINDER.initial, 1 / 3, 1e-12),
    "walls": (CYLINDER.walls, 0.5 + 1.5, 1e-12),
    "cloud": (ko.PointCloud(GRID[6:19], GRID[:6]), np.mean(GRID[6:19, 0] ** 2 + GRID[6:19, 1]), 1e-12),
    "points": (SQUARE.at(GRID[:3]), np.mean(GRID[:3, 0] ** 2 + GRID[:3, 1]), 1e-12),
}


@pytest.mark.parametrize("name", REGIONS)
def test_the_mean_over_every_region(name):
    region, mean, tolerance = REGIONS[name]
    assert over(region, ko.Mean(region)) == pytest.approx(mean, rel=tolerance)


@pytest.mark.parametrize("name", [name for name in REGIONS if name != "cloud"])
def test_integrals_are_the_measure_times_the_mean(name):
    region, mean, tolerance = REGIONS[name]
    measure = {"part of a square": 0.5, "part of a circle": 2 * np.pi}.get(name, region.measure)
    assert over(region, ko.Integral(2.0, region)) == pytest.approx(2 * measure * mean, rel=max(2 * tolerance, 1e-12))


def test_a_mean_over_a_part_closes_a_problem():
    """Neumann data leave a constant open; the mean over half of the square says which."""
    half = SQUARE.where(lambda x: x[..., 1] < 1.0)
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"),
        ko.Neumann(SQUARE.boundary),
        ko.Mean(half),
    )
    T = ko.learn(problem, method=ko.Subspace(200))
    u = lambda x: jnp.cos(x[..., 0]) * jnp.exp(x[..., 1])
    x = SQUARE.sample(100, "uniform").x
    found = T(**problem.manufacture(u, T.points))
    assert np.abs(found(x) - np.cos(x[:, 0]) * np.exp(x[:, 1])).max() < 1e-6


def test_an_initial_velocity():
    """A string that is struck: u_tt = u_xx, u = 0 and u_t = sin πx at the beginning."""
    string = ko.SpaceTime(ko.Interval(0, 1), (0, 1))
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u, 2) - ko.laplacian(u), on=string, data=0.0),
        ko.Dirichlet(string.walls, data=0.0),
        ko.Initial(string.initial, "u0", data=0.0),
        ko.Initial(string.initial, "v0", order=1),
    )
    u = ko.learn(problem, method=ko.Subspace(200))(lambda x: np.sin(np.pi * x[..., 0]))
    x = string.sample(100, "uniform").x
    assert np.abs(u(x) - np.sin(np.pi * x[:, 0]) * np.sin(np.pi * x[:, 1]) / np.pi).max() < 1e-7


def test_point_constraints_close_what_is_open():
    """Pure Neumann data with the value at one point, and a third-order line with a slope at an inner one."""
    pinned = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=SQUARE, name="f"),
        ko.Neumann(SQUARE.boundary),
        ko.Dirichlet(SQUARE.at([0.5, 0.5]), "pin"),
    )
    T, x = ko.learn(pinned, method=ko.Subspace(200)), SQUARE.sample(100, "uniform").x
    u = T(**pinned.manufacture(lambda x: jnp.cos(x[..., 0]) * jnp.exp(x[..., 1]), T.points))
    assert np.abs(u(x) - np.cos(x[:, 0]) * np.exp(x[:, 1])).max() < 1e-6
    line = ko.Interval(0, 1)
    beam = ko.Problem(
        ko.Equation(lambda u: ko.partial(u, 0, 3), on=line, data=6.0),
        ko.Dirichlet(line.boundary, data=lambda x: x[..., 0] ** 3),
        ko.Condition(lambda u: ko.partial(u, 0), line.at(0.25), "slope", data=3 / 16),
    )
    x = line.sample(20).x
    assert np.abs(ko.learn(beam)()(x) - x[:, 0] ** 3).max() < 1e-9


@pytest.mark.parametrize("region", [ko.Box([2, 2], [3, 3]), ko.Box([0.5, 0.5], [3, 3])], ids=["beyond", "in part"])
def test_an_integral_over_what_lies_outside_is_refused(region):
    square = ko.Box([0, 0], [1, 1])
    inside = (ko.Equation(lambda u: -ko.laplacian(u), on=square), ko.Neumann(on=square.boundary))
    ko.Problem(*inside, ko.Mean(square.boundary.where(lambda x: x[..., 0] > 0.5)))
    with pytest.raises(
        ko.errors.OutsideDomainError, match=r"mean: got .* lies outside the domain; integrate over a part"
    ):
        ko.Problem(*inside, ko.Mean(region))
