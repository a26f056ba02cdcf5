"""Corners of plane domains: where two pieces of the boundary meet, and the angle of the domain between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray
from kernop.geometry.patch import Patch

#: Ends of pieces that are nearer than this part of the domain's extent meet.
MEETING = 1e-7
#: What turns by less than this is no corner.
STRAIGHT = 1e-6


@dataclass(frozen=True, eq=False)
class PlaneCorners:
    """The corners of a plane domain.

    Arguments:
        x: where they are, (k, 2).
        angle: the angle of the domain there, (k,), in radians: below π where it is convex, above π where re-entrant.
    """

    x: FloatArray
    angle: FloatArray

    def __len__(self) -> int:
        return len(self.angle)


def plane_corners(patches: Sequence[Patch], extent: float) -> PlaneCorners:
    """The corners between lines with outward normals that bound a plane domain of this extent."""
    ends = [_ends(patch) for patch in patches]
    x = np.concatenate([own[0] for own in ends])
    angle = np.concatenate([own[1] for own in ends])  # of the ray along the line, away from its end
    leaves = np.concatenate([own[2] for own in ends])  # is the domain to the left of that ray?
    places, angles = list[FloatArray](), list[float]()
    free = np.ones(len(x), dtype=bool)
    while free.any():
        first = int(np.argmax(free))
        here = np.flatnonzero(free & (np.linalg.norm(x - x[first], axis=1) <= MEETING * extent))
        free[here] = False
        for own in _sectors(angle[here], leaves[here]):
            if abs(own - np.pi) > STRAIGHT:
                places.append(x[first])
                angles.append(own)
    return PlaneCorners(np.array(places).reshape(-1, 2), np.array(angles))


def _ends(patch: Patch) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Both ends of a line: place (2, 2), the angle of the ray along it (2,), and whether the domain is to its left."""
    step = 1e-6
    points = patch.place(np.array([[0.0], [1.0], [step], [1.0 - step]]))
    away, normal = points.x[2:] - points.x[:2], points.outward[:2]
    tangent = np.stack([-normal[:, 1], normal[:, 0]], axis=1)  # with the domain to its left
    left = np.sum(tangent * away, axis=1) > 0.0
    ray = np.where(left[:, None], tangent, -tangent)
    return points.x[:2], np.arctan2(ray[:, 1], ray[:, 0]), left


def _sectors(angle: FloatArray, left: BoolArray) -> list[float]:
    """The angles of the domain around one point: from each ray with the domain to its left on to the next without."""
    found: list[float] = []
    until = np.sort(angle[~left])
    for own in angle[left]:
        if len(until):
            turn = np.mod(until - own, 2.0 * np.pi)
            found.append(float(np.min(np.where(turn > STRAIGHT, turn, 2.0 * np.pi))))
    return found
