"""Closed lines on which a function of the plane vanishes: found on a grid, and parametrised by their length."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.interpolate import CubicSpline

from kernop.basics.errors import AccuracyWarning, BoolArray, FloatArray
from kernop.geometry.levelset import NAME, LevelSet
from kernop.geometry.patch import Patch
from kernop.geometry.points import Points
from kernop.geometry.sequences import gauss

#: Nodes of a spline for each crossing of the grid, at least so many, and the patches into which a line is divided.
DENSER, FEWEST, PATCHES = 2, 512, 8
#: A line that turns by more, in radians, between two nodes that were halved so often has a corner.
SHARP, HALVINGS = 0.5, 10
#: The corners of a cell in order around it; edge k joins corner k and the next.
CORNERS = ((0, 0), (1, 0), (1, 1), (0, 1))

Key = tuple[int, int, int]


def crossings(inside: BoolArray) -> list[list[Key]]:
    """Closed chains of edges of a grid along which ``inside`` (nx, ny) changes; outside surrounds the inside.

    An edge is (i, j, axis): from node (i, j) to the next along the axis. Where a cell is crossed twice, the inside is
    not joined through its middle.
    """
    nx, ny = inside.shape
    mixed = np.zeros((nx - 1, ny - 1), dtype=int)
    for di, dj in CORNERS:
        mixed += inside[di : nx - 1 + di, dj : ny - 1 + dj]
    joins: dict[Key, list[Key]] = {}
    for i, j in np.argwhere((mixed > 0) & (mixed < 4)):
        edges: tuple[Key, ...] = ((i, j, 0), (i + 1, j, 1), (i, j + 1, 0), (i, j, 1))
        signs = [bool(inside[i + di, j + dj]) for di, dj in CORNERS]
        crossed = [k for k in range(4) if signs[k] != signs[(k + 1) % 4]]
        if len(crossed) == 4 and signs[0]:  # each inner corner has the edges beside it: 3 and 0 for the first
            crossed = [3, 0, 1, 2]
        for one, other in zip(crossed[::2], crossed[1::2], strict=True):
            joins.setdefault(edges[one], []).append(edges[other])
            joins.setdefault(edges[other], []).append(edges[one])
    return _chains(joins)


def _chains(joins: dict[Key, list[Key]]) -> list[list[Key]]:
    """The closed chains of edges, each of which is joined to two others."""
    chains: list[list[Key]] = []
    while joins:
        chain, here = list[Key](), next(iter(joins))
        while here in joins:
            chain.append(here)
            *_, there = joins.pop(here)
            if there in joins:
                joins[there].remove(here)
            here = there
        chains.append(chain)
    return chains


def loop(nodes: FloatArray, level: LevelSet) -> list[Patch]:
    """A closed line through nodes near the zero set, (k, 2), as patches of equal length with normals.

    The length is that of a periodic spline through points of the zero set, to about 1e-9; points that are drawn from it
    are moved to the zero set itself.
    """
    spacing = float(np.max(np.linalg.norm(np.roll(nodes, -1, axis=0) - nodes, axis=1)))
    count = max(FEWEST, DENSER * len(nodes))
    line = _spline(level.found(nodes, spacing))
    even = level.projected(line(np.linspace(0.0, line.x[-1], count, endpoint=False)), spacing)
    _look_for_corners(even, level)
    line = _spline(even)
    t, w = gauss((1.0,), 6)
    u = line.x[:-1, None] + np.diff(line.x)[:, None] * t[:, 0]
    speed = np.linalg.norm(line(u.ravel(), 1), axis=1).reshape(u.shape)
    length = np.concatenate([[0.0], np.cumsum(np.diff(line.x) * (speed @ w))])
    back = CubicSpline(length, line.x)

    def part(k: int) -> Patch:
        def place(t: FloatArray) -> Points:
            at = line(back(length[-1] * (k + t[:, 0]) / PATCHES))
            x = level.projected(at, spacing)
            return Points(x, level.normals(x))

        own = float(length[-1]) / PATCHES
        return Patch(own, (own,), place)

    return [part(k) for k in range(PATCHES)]


def _look_for_corners(x: FloatArray, level: LevelSet) -> None:
    """Warn if a line through points (k, 2) turns from one to the next, and however near they are."""
    sharpest = int(np.argmin(_cosines(level.normals(x))))
    pair = x[[sharpest, (sharpest + 1) % len(x)]]
    for _ in range(HALVINGS):
        middle = level.projected(pair.mean(axis=0, keepdims=True), float(np.linalg.norm(pair[1] - pair[0])))
        three = np.stack([pair[0], middle[0], pair[1]])
        pair = three[:2] if np.argmin(_cosines(level.normals(three))[:2]) == 0 else three[1:]
    if _cosines(level.normals(pair))[0] < np.cos(SHARP):
        place = np.array2string(pair[0], precision=3)
        warnings.warn(
            f"{NAME}: got a function whose zero set has a corner near {place}. There the boundary is cut off by about "
            "a cell of the grid on which it is looked for, and its angle is not known: combine functions without "
            "corners, Implicit(f, …) & Implicit(g, …), or use Polygon",
            AccuracyWarning,
            stacklevel=2,
        )


def _cosines(normal: FloatArray) -> FloatArray:
    """Of the angle from each of some normals (k, 2) to the next, (k,)."""
    return np.sum(normal * np.roll(normal, -1, axis=0), axis=1)


def _spline(nodes: FloatArray) -> CubicSpline:
    closed = np.concatenate([nodes, nodes[:1]])
    steps = np.linalg.norm(np.diff(closed, axis=0), axis=1)
    kept = np.concatenate([[True], steps[:-1] > 1e-3 * np.median(steps), [True]])
    closed = closed[kept]
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    return CubicSpline(along, closed, bc_type="periodic")
