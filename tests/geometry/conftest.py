"""Every kind of region, once, for the tests that all of them must pass.

A test that asks for ``any_region``, ``any_domain``, ``any_space`` (a domain without time), ``any_plain`` (boxes and
balls, also over time), ``any_cylinder`` (a domain with time) or ``any_boundary`` (a pair of a domain and a piece of its
boundary) is run for each. A region is made when the first test asks for it: that takes longer than most tests.
"""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest
import trimesh

import kernop as ko

BOX, CUBE = ko.Box([0.0, -1.0], [3.0, 1.0]), ko.Box([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
DISK, HOLE = ko.Ball([1.0, -2.0], 1.5), ko.Ball([1.0, 0.0], 0.4)
SQUARE, INNER = ko.Box([0.0, 0.0], [1.0, 1.0]), ko.Ball([0.2, 0.0], 0.5)
ELL = ko.Polygon([[0, 0], [2, 0], [2, 0.9], [0.93, 0.9], [0.93, 2.1], [0, 2.1]])
FRAME = ko.Polygon([[0, 0], [0, 3], [3, 3], [3, 0]], [[[1, 1], [2, 1], [2, 2]], [[0.5, 2], [1, 2.5], [0.5, 2.5]]])
STAR = [(1.0 + 0.5 * (-1) ** k) * np.array([np.cos(k * np.pi / 5), np.sin(k * np.pi / 5)]) for k in range(10)]


def torus(x):
    return jnp.hypot(jnp.hypot(x[..., 0], x[..., 1]) - 1.0, x[..., 2]) - 0.4


def ellipse(x):
    """No distance, and not written with JAX."""
    return x[..., 0] ** 2 / 4.0 + x[..., 1] ** 2 - 1.0 + 0.0 * np.asarray(x[..., 0])


def ring():
    distance = lambda x: jnp.abs(jnp.linalg.norm(x, axis=-1) - 1.0) - 0.25
    return ko.Implicit(distance, ([-1.3, -1.3], [1.3, 1.3]))


def block(flipped):
    """A block of triangles, which may look the wrong way."""
    found = trimesh.creation.box([1.0, 2.0, 3.0])
    return found.vertices, found.faces[:, ::-1] if flipped else found.faces


def faceted():
    found = trimesh.creation.icosphere(subdivisions=2)
    return found.vertices, found.faces


def shell():
    (x, faces), (inner, others) = block(flipped=False), faceted()
    return np.vstack([x, 0.4 * inner]), np.vstack([faces, others + len(x)])


PLAIN = {
    "interval": lambda: ko.Interval(-1.0, 2.0),
    "rectangle": lambda: BOX,
    "box3": lambda: ko.Box([0.0, 1.0, -2.0], [1.0, 3.0, 4.0]),
    "box4": lambda: ko.Box([0.0] * 4, [1.0, 2.0, 0.5, 1.0]),
    "ball1": lambda: ko.Ball([3.0], 0.5),
    "disk": lambda: DISK,
    "ball3": lambda: ko.Ball([0.0, 0.5, 1.0], 0.7),
    "ball5": lambda: ko.Ball([0.0] * 5, 2.0),
}
POLYGONS = {
    "triangle": lambda: ko.Polygon([[0, 0], [1, 3], [2, 0]]),
    "L": lambda: ELL,
    "frame": lambda: FRAME,
    "star": lambda: ko.Polygon(STAR),
}
COMBINED = {
    "two intervals": lambda: ko.Interval(0.0, 1.0) | ko.Interval(2.0, 4.0),
    "interval less interval": lambda: (ko.Interval(0.0, 1.0) | ko.Interval(1.0, 4.0)) - ko.Ball([2.0], 0.5),
    "square with a hole": lambda: BOX - HOLE,
    "annulus": lambda: ko.Ball([0.0, 0.0], 1.0) - INNER,
    "lens": lambda: ko.Ball([0.0, 0.0], 1.0) & ko.Ball([1.0, 0.5], 1.0),
    "touching boxes": lambda: SQUARE | ko.Box([1.0, 0.0], [2.0, 0.5]),
    "L from boxes": lambda: ko.Box([0.0, 0.0], [2.0, 2.0]) - ko.Box([1.0, 1.0], [2.0, 2.0]),
    "keyhole": lambda: (SQUARE - ko.Ball([0.5, 0.5], 0.2)) - ko.Box([0.45, 0.5], [0.55, 1.0]),
    "nested": lambda: ((ELL | ko.Ball([2.0, 0.5], 0.4)) - ko.Ball([0.5, 0.5], 0.3)) & ko.Box([0.1, 0.05], [3.0, 1.7]),
    "cube with a hole": lambda: CUBE - ko.Ball([0.5, 0.5, 0.5], 0.3),
    "cube with a bump": lambda: CUBE | ko.Ball([0.96, 0.47, 0.52], 0.3),
    "two cubes": lambda: CUBE | ko.Box([1.0, 0.0, 0.0], [2.0, 1.0, 1.0]),
    "notched cube": lambda: CUBE - ko.Box([0.5, 0.5, 0.0], [1.0, 1.0, 1.0]),
}
IMPLICIT = {
    "ellipse": lambda: ko.Implicit(ellipse, ([-2.1, -1.1], [2.1, 1.1])),
    "ring": ring,
    "half a ring": lambda: ring() & ko.Box([-2.0, -0.03], [2.0, 2.0]),
    "torus": lambda: ko.Implicit(torus, ([-1.5, -1.5, -0.5], [1.5, 1.5, 0.5])),
}
SOLIDS = {
    "faceted ball": lambda: ko.Solid(*faceted()),
    "block": lambda: ko.Solid(*block(flipped=True)),
    "block with a cavity": lambda: ko.Solid(*shell()),
    "faceted ball less a ball": lambda: ko.Solid(*faceted()) - ko.Ball([0.1, 0.0, 0.0], 0.5),
}
SPACES = PLAIN | POLYGONS | COMBINED | IMPLICIT | SOLIDS
TIMED = {
    f"{name} x time": lambda name=name: ko.SpaceTime(domain(name), (-1.0, 1.5))
    for name in ("interval", "rectangle", "disk", "L", "annulus", "two intervals", "cube with a bump", "ring", "block")
}
DOMAINS = SPACES | TIMED
PLAIN_TOO = [*PLAIN, "interval x time", "rectangle x time", "disk x time"]

#: The name of a domain, and a piece of its boundary.
PIECES = {
    "left": ("interval", lambda D: D.face("left")),
    "top and left": ("rectangle", lambda D: D.face("top", "left")),
    "front": ("box3", lambda D: D.face("front")),
    "x3+": ("box4", lambda D: D.face("x3+")),
    "upper half of rectangle": ("rectangle", lambda D: D.boundary.where(lambda x: x[..., 1] > 0.0)),
    "right half circle": ("disk", lambda D: D.boundary.where(lambda x: x[..., 0] > 1.0)),
    "edges of a polygon": ("frame", lambda D: D.edge(1, 5)),
    "hole": ("square with a hole", lambda D: D.boundary.of(HOLE)),
    "bottom of L": ("nested", lambda D: D.boundary.of(ELL)),
    "part of a combination": ("lens", lambda D: D.boundary.where(lambda x: x[..., 0] > 0.5)),
    "wall of a hole": ("annulus x time", lambda D: D.walls.of(INNER)),
    "wall of an edge": ("L x time", lambda D: D.walls.of(ELL.edge(2))),
    "wall of a part": ("rectangle x time", lambda D: D.walls.of(BOX.boundary.where(lambda x: x[..., 1] > 0.0))),
}
for _name in ("interval x time", "rectangle x time", "disk x time", "L x time", "cube with a bump x time"):
    for _part in ("initial", "final", "walls"):
        PIECES[f"{_name} {_part}"] = (_name, lambda D, part=_part: getattr(D, part))
BOUNDARIES = {f"{name} boundary": (name, lambda D: D.boundary) for name in DOMAINS} | PIECES
PARTS = {
    "half box3": lambda: domain("box3").where(lambda x: x[..., 2] < 1.0),
    "half L": lambda: ELL.where(lambda x: x[..., 0] < 1.0),
    "half a disk x time": lambda: ko.SpaceTime(DISK.where(lambda x: x[..., 0] > 1.0), (0.0, 1.0)),
}


@cache
def domain(name):
    return DOMAINS[name]()


@cache
def piece(name):
    """A domain, and a piece of its boundary."""
    of, taken = BOUNDARIES[name]
    return domain(of), taken(domain(of))


@cache
def region(name):
    return domain(name) if name in DOMAINS else PARTS[name]() if name in PARTS else piece(name)[1]


KINDS = {
    "any_region": [*DOMAINS, *BOUNDARIES, *PARTS],
    "any_domain": DOMAINS,
    "any_plain": PLAIN_TOO,
    "any_space": SPACES,
    "any_cylinder": TIMED,
    "any_boundary": BOUNDARIES,
}


def pytest_generate_tests(metafunc):
    for name in {*KINDS} & {*metafunc.fixturenames}:
        metafunc.parametrize(name, [*KINDS[name]], indirect=True)


@pytest.fixture
def any_region(request):
    return region(request.param)


@pytest.fixture
def any_boundary(request):
    return piece(request.param)


any_domain = pytest.fixture(name="any_domain")(lambda request: domain(request.param))
any_plain = pytest.fixture(name="any_plain")(lambda request: domain(request.param))
any_space = pytest.fixture(name="any_space")(lambda request: domain(request.param))
any_cylinder = pytest.fixture(name="any_cylinder")(lambda request: domain(request.param))
