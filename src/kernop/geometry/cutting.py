"""Cutting a patch: the pieces of it on which a sign is not zero, such as the part of one boundary outside another.

A sign is +1, −1 or 0 at each point of a patch. On a line the places where it changes are found to rounding: an interval
that is shorter than twice the distance of its middle from everything that could change the sign is not looked at again,
any other is halved. On a surface pieces are found by rejection, and measured on a grid that is finer near their rims.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.geometry.patch import PROBES, Patch
from kernop.geometry.points import Points
from kernop.geometry.sequences import cell_centres, grid_counts, unit_cube

Signs = NDArray[np.int8]
#: The sign at points with normals, (n,).
Sign = Callable[[Points], Signs]
#: At most how near each point is to what could change its sign, (n,).
Nearness = Callable[[FloatArray], FloatArray]

#: Intervals of a line at the beginning; how often they are halved; and how many may be halved at once.
FIRST, HALVINGS, MOST = 16, 18, 4096
#: Where a line runs along what cuts it, intervals are not halved beyond this part of it.
ALONGSIDE = 1.0 / 256
#: Pieces of a line that are shorter than this part of it are rounding; their ends are found to so much of it.
ROUNDING, NARROW = 1e-9, 2e-15
#: How many times more points measure a part of a surface near its rim: the error is about 1e-4 of the surface in space,
#: and 1e-3 beyond.
FINER = 8


def cut(patch: Patch, sign: Sign, near: Nearness, room: float) -> list[Patch]:
    """The pieces of a patch where the sign is not 0; normals are turned where it is −1.

    Arguments:
        room: what is nearer than this lies on what cuts.
    """
    if not patch.sides:
        found = int(sign(patch.place(np.zeros((1, 0))))[0])
        return [] if found == 0 else [_turned(patch, found)]
    if len(patch.sides) == 1 and patch.keeps is None:
        return [_piece(patch, *own) for own in _intervals(patch, sign, near, room)]
    return _parts(patch, sign)


def _intervals(patch: Patch, sign: Sign, near: Nearness, room: float) -> list[tuple[float, float, int]]:
    """First and last parameter of each piece of a line, and its sign."""

    def at(t: FloatArray) -> Points:
        return patch.place(t[:, None])

    edges = _split(at, near, patch.measure, room)
    middles = 0.5 * (edges[:-1] + edges[1:])
    signs = sign(at(middles))
    changes = np.flatnonzero(signs[1:] != signs[:-1])
    low, high, before = middles[changes], middles[changes + 1], signs[changes]
    while np.any(high - low > NARROW):
        middle = 0.5 * (low + high)
        same = sign(at(middle)) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    ends = np.concatenate([[0.0], 0.5 * (low + high), [1.0]])
    own = [*signs[changes], signs[-1]]
    pieces = zip(ends[:-1], ends[1:], own, strict=True)
    return [(float(a), float(b), int(s)) for a, b, s in pieces if s != 0 and b - a > ROUNDING]


def _split(at: Callable[[FloatArray], Points], near: Nearness, length: float, room: float) -> FloatArray:
    """Parameters between which the sign does not change, but for what is shorter than is looked for, (k + 1,)."""
    step = 1.0 / FIRST
    left, done = np.linspace(0.0, 1.0, FIRST, endpoint=False), list[FloatArray]()
    for _ in range(HALVINGS):
        looked = (0.5,) if step > ALONGSIDE else (0.5, 0.1, 0.9)
        places = np.concatenate([left + share * step for share in looked])
        distance, *ends = near(at(places).x).reshape(len(looked), -1)
        settled = distance > 0.51 * length * step
        if ends:
            settled |= (distance <= room) & (np.minimum(*ends) <= room)
        done.append(left[settled])
        left = left[~settled]
        if len(left) == 0 or len(left) > MOST:
            break
        step *= 0.5
        left = np.concatenate([left, left + step])
    return np.append(np.unique(np.concatenate([*done, left])), 1.0)


def _piece(patch: Patch, first: float, last: float, sign: int) -> Patch:
    """The piece of a line between two parameters."""
    length = last - first

    def place(t: FloatArray) -> Points:
        return patch.place(np.clip(first + length * t, first, last))

    return _turned(Patch(length * patch.measure, (length * patch.sides[0],), place), sign)


def _parts(patch: Patch, sign: Sign) -> list[Patch]:
    """The pieces of a surface: one for each sign that it has."""

    def signs(t: FloatArray) -> Signs:
        found = np.zeros(len(t), dtype=np.int8)
        kept = patch.kept(t)
        if kept.any():
            found[kept] = sign(patch.place(t[kept]))
        return found

    values, weight = _probed(signs, patch.sides)
    found: list[Patch] = []
    for own in (1, -1):
        part = float(weight @ (values == own))
        if part >= (1.0 - 1e-12) * patch.part:
            return [_turned(patch, own)]
        if part > 0.0:
            piece = patch.restricted(lambda points, own=own: sign(points) == own, min(part, patch.part))
            found.append(_turned(piece, own))
    return found


def _probed(signs: Callable[[FloatArray], Signs], sides: tuple[float, ...]) -> tuple[Signs, FloatArray]:
    """Signs at places in the unit cube, and the parts of it for which they stand.

    On a square: the middles of cells, and of the cells of those cells whose neighbours have another sign.
    """
    if len(sides) != 2:
        t = unit_cube(PROBES, sides, "halton", np.random.default_rng(0))
        return signs(t), np.full(len(t), 1.0 / len(t))
    counts = grid_counts(PROBES, sides)
    t = cell_centres(counts)
    coarse = signs(t)
    table = coarse.reshape(counts)
    mixed = np.zeros(counts, dtype=bool)
    for axis in (0, 1):
        change = np.diff(table, axis=axis) != 0
        rim = [(0, 0), (0, 0)]
        for before in ((0, 1), (1, 0)):
            rim[axis] = before
            mixed |= np.pad(change, rim)
    cell = mixed.ravel()
    fine = int(np.clip(np.sqrt(FINER * len(t) / max(1, np.count_nonzero(cell))), 1, 16))
    shift = np.random.default_rng(0).random((np.count_nonzero(cell), 1, 2))  # a rim may run along the grid
    within = (np.mod(cell_centres((fine, fine)) + shift, 1.0) - 0.5) / counts
    finer = (t[cell][:, None, :] + within).reshape(-1, 2)
    found = np.concatenate([coarse[~cell], signs(finer) if len(finer) else coarse[:0]])
    weight = np.concatenate([np.ones(np.count_nonzero(~cell)), np.full(len(finer), 1.0 / fine**2)]) / len(t)
    return found, weight


def _turned(patch: Patch, sign: int) -> Patch:
    if sign > 0:
        return patch

    def place(t: FloatArray) -> Points:
        points = patch.place(t)
        return replace(points, normal=-points.outward)

    return replace(patch, place=place)
