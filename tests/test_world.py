"""Every kind of domain with every method, conditions on its pieces, files, fixed points, estimates and pictures.

Manufactured truth: u = sin(0.8 x + 0.3) exp(0.5 y) cos 0.4 z (exp(−t) in time), a smooth function with other slopes
along each axis; data from its derivatives in closed form, with the normals of the domains.
"""

import numpy as np
import pytest

import kernop as ko
from kernop.plotting import save

SQUARE, HOLE = ko.Box([0, 0], [1, 1]), ko.Ball([0.6, 0.5], 0.2)
TRIANGLE = [(0.3, 0.3), (0.6, 0.4), (0.4, 0.7)]
PYRAMID = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.4, 0.5, 1)]
SIDES = [(0, 1, 2), (0, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]


def cloud():
    disk = ko.Ball([0.5, 0.5], 0.5)
    rim = disk.boundary.sample(120)
    return ko.PointCloud(disk.sample(500).x, rim.x, rim.normal)


#: How a domain is made, and which part of its boundary has Neumann data.
DOMAINS = {
    "two pieces of a line": (lambda: ko.Interval(0, 1) - ko.Interval(0.4, 0.6), lambda D: D.boundary.of(D.second)),
    "polygon with a hole": (
        lambda: ko.Polygon([(0, 0), (1, 0), (1.2, 1), (0, 1)], holes=[TRIANGLE]),
        lambda D: D.edge(2, 5),
    ),
    "square with a hole": (lambda: SQUARE - HOLE, lambda D: D.boundary.of(HOLE)),
    "house": (
        lambda: SQUARE | ko.Polygon([(0, 1), (1, 1), (0.5, 1.5)]),
        lambda D: D.boundary.of(SQUARE.face("left")),
    ),
    "lens": (
        lambda: ko.Ball([0, 0.5], 0.8) & ko.Ball([1, 0.5], 0.8),
        lambda D: D.boundary.where(lambda x: x[..., 1] > 0.5),
    ),
    "ellipse": (
        lambda: ko.Implicit(lambda x: (x[..., 0] - 0.5) ** 2 + 2 * (x[..., 1] - 0.5) ** 2 - 0.2, ([0, 0], [1, 1])),
        lambda D: D.boundary.where(lambda x: x[..., 0] > 0.5),
    ),
    "cloud": (cloud, lambda D: D.boundary.where(lambda x: x[..., 0] > 0.5)),
    "pyramid": (lambda: ko.Solid(PYRAMID, SIDES), lambda D: D.boundary.where(lambda x: x[..., 2] < 1e-9)),
    "heat in a plate": (lambda: ko.SpaceTime(SQUARE - HOLE, (0, 0.5)), lambda D: D.walls.of(HOLE)),
}
METHODS = {
    "subspace": ({"method": ko.Subspace(120)}, 1e-5),
    "stream": ({"method": ko.Subspace(120, batch=150)}, 1e-4),
    "full": ({"method": ko.Full(), "kernel": ko.Gaussian(1.5), "regularization": 1e-12, "weights": "balanced"}, 1e-3),
    "lowrank": (
        {"method": ko.LowRank(), "kernel": ko.Gaussian(1.5), "regularization": 1e-12, "weights": "balanced"},
        1e-3,
    ),
}
#: Each domain with two of the methods, each method with all kinds of domains between them.
CELLS = [(name, way) for k, name in enumerate(DOMAINS) for way in (list(METHODS)[k % 4], list(METHODS)[(k + 2) % 4])]


def parts(x, timed):
    """sin and cos of the first axis, and the factor of the others."""
    rest = np.exp(0.5 * x[..., 1]) if x.shape[-1] > 1 else np.ones(len(x))
    if x.shape[-1] == 3:
        rest = rest * (np.exp(-x[..., 2]) if timed else np.cos(0.4 * x[..., 2]))
    return np.sin(0.8 * x[..., 0] + 0.3), 0.8 * np.cos(0.8 * x[..., 0] + 0.3), rest


def truth(x, timed):
    sine, _, rest = parts(x, timed)
    return sine * rest


def slope(points, timed):
    """∂u/∂n."""
    sine, cosine, rest = parts(points.x, timed)
    space = points.x.shape[1] - timed
    gradient = [cosine * rest, 0.5 * sine * rest, -0.4 * np.tan(0.4 * points.x[:, -1]) * sine * rest][:space]
    return np.sum(np.stack(gradient, axis=1) * points.normal[:, :space], axis=1)


def source(x, timed):
    """−Δu + u, or u_t − Δu."""
    minus = 0.64 - (0.25 if x.shape[1] > 1 else 0.0) + (0.16 if x.shape[1] == 3 and not timed else 0.0)
    return (minus + (-1.0 if timed else 1.0)) * truth(x, timed)


def stated(domain, piece):
    """The equation, Neumann data on a piece, and Dirichlet data on the rest of the boundary."""
    timed = isinstance(domain, ko.SpaceTime)
    op = (lambda u: ko.dt(u) - ko.laplacian(u)) if timed else (lambda u: -ko.laplacian(u) + u)
    around = domain.walls if timed else domain.boundary
    initial = [ko.Initial(on=domain.initial, name="u0")] if timed else []
    return ko.Problem(
        ko.Equation(op, on=domain, name="f"),
        ko.Neumann(on=piece, name="q"),
        ko.Dirichlet(on=around.where(lambda x: ~piece.contains(x)), name="g"),
        *initial,
    )


def data(points, timed):
    """The data of u by name, at points by name."""
    found = {"f": source, "g": truth, "u0": truth}
    return {n: slope(own, timed) if n == "q" else found[n](own.x, timed) for n, own in points.items()}


@pytest.mark.parametrize(("name", "way"), CELLS)
def test_a_domain_with_a_method(name, way, tmp_path):
    make, piece = DOMAINS[name]
    domain, (options, accuracy) = make(), METHODS[way]
    timed = isinstance(domain, ko.SpaceTime)
    problem = stated(domain, piece(domain))
    T = ko.learn(problem, points=None if name == "cloud" else 360, **options)
    h = data(T.points, timed)
    u = T(**h)
    x = (domain.sample(200) if name == "cloud" else domain.sample(200, "uniform", seed=7)).x
    wanted = truth(x, timed)
    error = np.linalg.norm(u(x) - wanted) / np.linalg.norm(wanted)
    assert error < accuracy
    if way == "subspace":
        fresh = {} if name == "cloud" else data(T.test_points, timed)
        assert error < 10.0 * u.error_estimate(**fresh).relative_l2 + 1e-12
    if way != "stream":
        np.testing.assert_allclose(T.on(x)(**h), u(x), atol=1e-8)
    T.save(tmp_path / "T.kernop")
    again = ko.load(tmp_path / "T.kernop", problem=problem)
    np.testing.assert_array_equal(again(**h)(x), u(x))
    if way == "subspace" and problem.dim < 3:
        axes = u.plot(points=400)
        assert save(axes.figure, tmp_path / "u.png").stat().st_size > 5000


def test_a_tolerance():
    make, piece = DOMAINS["two pieces of a line"]
    domain = make()
    T = ko.learn(stated(domain, piece(domain)), tol=1e-9)
    x = domain.sample(200, "uniform", seed=7).x
    wanted = truth(x, False)
    assert T.report.met
    assert np.linalg.norm(T(**data(T.points, False))(x) - wanted) < 1e-9 * np.linalg.norm(wanted)
