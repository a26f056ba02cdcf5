"""Every kind of region, once, for the tests that all of them must pass.

A test that asks for ``any_region``, ``any_domain``, ``any_space`` (a domain without time), ``any_cylinder`` (one with
time) or ``any_boundary`` (a pair of a domain and a piece of its boundary) is run for each.
"""

import jax.numpy as jnp
import numpy as np
import trimesh

import kernop as ko

BOX, CUBE = ko.Box([0.0, -1.0], [3.0, 1.0]), ko.Box([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])
DISK, HOLE = ko.Ball([1.0, -2.0], 1.5), ko.Ball([1.0, 0.0], 0.4)
SQUARE = ko.Box([0.0, 0.0], [1.0, 1.0])
ELL = ko.Polygon([[0, 0], [2, 0], [2, 0.9], [0.93, 0.9], [0.93, 2.1], [0, 2.1]])
FRAME = ko.Polygon([[0, 0], [0, 3], [3, 3], [3, 0]], [[[1, 1], [2, 1], [2, 2]], [[0.5, 2], [1, 2.5], [0.5, 2.5]]])
STAR = ko.Polygon(
    [(1.0 + 0.5 * (-1) ** k) * np.array([np.cos(k * np.pi / 5), np.sin(k * np.pi / 5)]) for k in range(10)]
)

PLAIN = {
    "interval": ko.Interval(-1.0, 2.0),
    "rectangle": BOX,
    "box3": ko.Box([0.0, 1.0, -2.0], [1.0, 3.0, 4.0]),
    "box4": ko.Box([0.0] * 4, [1.0, 2.0, 0.5, 1.0]),
    "ball1": ko.Ball([3.0], 0.5),
    "disk": DISK,
    "ball3": ko.Ball([0.0, 0.5, 1.0], 0.7),
    "ball5": ko.Ball([0.0] * 5, 2.0),
}
POLYGONS = {"triangle": ko.Polygon([[0, 0], [1, 3], [2, 0]]), "L": ELL, "frame": FRAME, "star": STAR}
COMBINED = {
    "two intervals": ko.Interval(0.0, 1.0) | ko.Interval(2.0, 4.0),
    "interval less interval": (ko.Interval(0.0, 1.0) | ko.Interval(1.0, 4.0)) - ko.Ball([2.0], 0.5),
    "square with a hole": BOX - HOLE,
    "annulus": ko.Ball([0.0, 0.0], 1.0) - ko.Ball([0.2, 0.0], 0.5),
    "lens": ko.Ball([0.0, 0.0], 1.0) & ko.Ball([1.0, 0.5], 1.0),
    "touching boxes": SQUARE | ko.Box([1.0, 0.0], [2.0, 0.5]),
    "L from boxes": ko.Box([0.0, 0.0], [2.0, 2.0]) - ko.Box([1.0, 1.0], [2.0, 2.0]),
    "keyhole": (SQUARE - ko.Ball([0.5, 0.5], 0.2)) - ko.Box([0.45, 0.5], [0.55, 1.0]),
    "nested": ((ELL | ko.Ball([2.0, 0.5], 0.4)) - ko.Ball([0.5, 0.5], 0.3)) & ko.Box([0.1, 0.05], [3.0, 1.7]),
    "cube with a hole": CUBE - ko.Ball([0.5, 0.5, 0.5], 0.3),
    "cube with a bump": CUBE | ko.Ball([0.96, 0.47, 0.52], 0.3),
    "two cubes": CUBE | ko.Box([1.0, 0.0, 0.0], [2.0, 1.0, 1.0]),
    "notched cube": CUBE - ko.Box([0.5, 0.5, 0.0], [1.0, 1.0, 1.0]),
}


def torus(x):
    return jnp.hypot(jnp.hypot(x[..., 0], x[..., 1]) - 1.0, x[..., 2]) - 0.4


def ellipse(x):
    """No distance, and not written with JAX."""
    return x[..., 0] ** 2 / 4.0 + x[..., 1] ** 2 - 1.0 + 0.0 * np.asarray(x[..., 0])


def ring(x):
    return jnp.abs(jnp.linalg.norm(x, axis=-1) - 1.0) - 0.25


BALL_OF_FACES, BLOCK = trimesh.creation.icosphere(subdivisions=2), trimesh.creation.box([1.0, 2.0, 3.0])
SHELL = np.vstack([BLOCK.vertices, 0.4 * BALL_OF_FACES.vertices])
SHELL_FACES = np.vstack([BLOCK.faces, BALL_OF_FACES.faces + len(BLOCK.vertices)])
IMPLICIT = {
    "ellipse": ko.Implicit(ellipse, ([-2.1, -1.1], [2.1, 1.1])),
    "ring": ko.Implicit(ring, ([-1.3, -1.3], [1.3, 1.3])),
    "half a ring": ko.Implicit(ring, ([-1.3, -1.3], [1.3, 1.3])) & ko.Box([-2.0, -0.03], [2.0, 2.0]),
    "torus": ko.Implicit(torus, ([-1.5, -1.5, -0.5], [1.5, 1.5, 0.5])),
}
SOLIDS = {
    "faceted ball": ko.Solid(BALL_OF_FACES.vertices, BALL_OF_FACES.faces),
    "block": ko.Solid(BLOCK.vertices, BLOCK.faces[:, ::-1]),
    "block with a cavity": ko.Solid(SHELL, SHELL_FACES),
    "faceted ball less a ball": ko.Solid(BALL_OF_FACES.vertices, BALL_OF_FACES.faces) - ko.Ball([0.1, 0.0, 0.0], 0.5),
}
SPACES = PLAIN | POLYGONS | COMBINED | IMPLICIT | SOLIDS
TIMED = {
    f"{name} x time": ko.SpaceTime(SPACES[name], (-1.0, 1.5))
    for name in ("interval", "rectangle", "disk", "L", "annulus", "two intervals", "cube with a bump", "ring", "block")
}
DOMAINS = SPACES | TIMED

#: The domain, and a piece of its boundary.
PIECES = {
    "left": (PLAIN["interval"], PLAIN["interval"].face("left")),
    "top and left": (BOX, BOX.face("top", "left")),
    "front": (PLAIN["box3"], PLAIN["box3"].face("front")),
    "edges of a polygon": (FRAME, FRAME.edge(1, 5)),
    "hole": (COMBINED["square with a hole"], COMBINED["square with a hole"].boundary.of(HOLE)),
    "bottom of L": (COMBINED["nested"], COMBINED["nested"].boundary.of(ELL)),
    "part of a combination": (COMBINED["lens"], COMBINED["lens"].boundary.where(lambda x: x[..., 0] > 0.5)),
    "wall of a hole": (TIMED["annulus x time"], TIMED["annulus x time"].walls.of(ko.Ball([0.2, 0.0], 0.5))),
    "wall of an edge": (TIMED["L x time"], TIMED["L x time"].walls.of(ELL.edge(2))),
    "wall of a part": (
        TIMED["rectangle x time"],
        TIMED["rectangle x time"].walls.of(BOX.boundary.where(lambda x: x[..., 1] > 0.0)),
    ),
}
for _name in ("interval x time", "disk x time", "L x time", "cube with a bump x time"):
    for _part in ("initial", "final", "walls"):
        PIECES[f"{_name} {_part}"] = (TIMED[_name], getattr(TIMED[_name], _part))
BOUNDARIES = {f"{name} boundary": (domain, domain.boundary) for name, domain in DOMAINS.items()} | PIECES
PARTS = {
    "half L": ELL.where(lambda x: x[..., 0] < 1.0),
    "half a disk x time": ko.SpaceTime(DISK.where(lambda x: x[..., 0] > 1.0), (0.0, 1.0)),
}
REGIONS = DOMAINS | {name: boundary for name, (_, boundary) in BOUNDARIES.items()} | PARTS

KINDS = {
    "any_region": REGIONS,
    "any_domain": DOMAINS,
    "any_space": SPACES,
    "any_cylinder": TIMED,
    "any_boundary": BOUNDARIES,
}


def pytest_generate_tests(metafunc):
    for name, regions in KINDS.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, regions.values(), ids=regions.keys())
