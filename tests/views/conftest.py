"""Solutions that are known in closed form, learned once."""

import matplotlib as mpl
import numpy as np
import pytest

import kernop as ko

mpl.use("Agg")


def poisson(domain, **settings):
    problem = ko.Problem(ko.Equation(lambda u: -ko.laplacian(u), on=domain), ko.Dirichlet(on=domain.boundary))
    return ko.learn(problem, **settings)


@pytest.fixture(scope="session")
def disk():
    """The operator of −Δu = f in the unit disk."""
    return poisson(ko.Ball([0, 0], 1), points=700, method=ko.Subspace(150, basis="polynomials"))


@pytest.fixture(scope="session")
def dome(disk):
    """1 − x² − y² in the unit disk."""
    return disk(4.0, 0.0)


@pytest.fixture(scope="session")
def plate():
    """x² − y², harmonic, in an L-shaped plate with a hole."""
    corners = [[0, 0], [3, 0], [3, 1], [1.2, 1], [1.2, 2], [0, 2]]
    domain = ko.Polygon(corners, holes=[[[0.3, 0.3], [0.8, 0.3], [0.55, 0.8]]])
    return poisson(domain, points=700, method=ko.Subspace(66, basis="polynomials"))(
        0.0, lambda x: x[..., 0] ** 2 - x[..., 1] ** 2
    )


@pytest.fixture(scope="session")
def cube():
    """x y z, harmonic, in the box (0,1) × (0,2) × (0,1)."""
    domain = ko.Box([0, 0, 0], [1, 2, 1])
    operator = poisson(domain, points=600, method=ko.Subspace(56, basis="polynomials"))
    return operator(0.0, lambda x: x[..., 0] * x[..., 1] * x[..., 2])


@pytest.fixture(scope="session")
def heat():
    """exp(−π² t) sin πx, t < 0.2: the operator, and the solution."""
    domain = ko.SpaceTime(ko.Interval(0, 1), (0, 0.2))
    problem = ko.Problem(
        ko.Equation(lambda u: ko.dt(u) - ko.laplacian(u), on=domain, data=0.0),
        ko.Dirichlet(on=domain.walls, data=0.0),
        ko.Initial(on=domain.initial),
    )
    operator = ko.learn(problem, points=900, method=ko.Subspace(200))
    return operator, operator(lambda x: np.sin(np.pi * x[..., 0]))


@pytest.fixture(scope="session")
def rotation():
    """u = (−y, x) and p = x y in a square: a system with a vector, for which u and p are each harmonic."""
    domain = ko.Box([-1, -1], [1, 1])
    problem = ko.Problem(
        ko.Equation(lambda u: -ko.laplacian(u), on=domain, name="f", data=0.0),
        ko.Equation(lambda p: -ko.laplacian(p), on=domain, name="h", data=0.0),
        ko.Dirichlet(on=domain.boundary, name="g", of="u"),
        ko.Dirichlet(on=domain.boundary, name="q", of="p"),
        unknowns={"u": 2, "p": 1},
    )
    operator = ko.learn(problem, points=600, method=ko.Subspace(28, basis="polynomials"))
    velocity = lambda x: np.stack([-x[..., 1], x[..., 0]], axis=-1)
    return operator(g=velocity, q=lambda x: x[..., 0] * x[..., 1])


@pytest.fixture
def axes():
    """Matplotlib as a new process has it, whatever tests before have set; closes what a test draws."""
    plt = pytest.importorskip("matplotlib.pyplot")
    with mpl.rc_context():
        mpl.rcdefaults()
        yield plt
        plt.close("all")
