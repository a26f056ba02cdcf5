"""The largest and the least value of a function on a domain, and where.

The best of many points, inside and on the boundary, are followed by smaller and smaller clouds around them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import qmc

from kernop.basics.errors import FloatArray
from kernop.views.mesh import nothing_inside, spots
from kernop.views.scene import Scene

#: Points that are looked at first, how many of them are followed, and points of a cloud for each.
POINTS, FOLLOWED, CLOUD = 8_000, 6, 32
#: Clouds become smaller by this factor, until they are this part of the domain's extent.
SHRINK, SMALLEST = 0.6, 1e-10

#: Takes points (n, d) to values (n,).
Function = Callable[[FloatArray], FloatArray]


class Extremum(NamedTuple):
    """A largest or least value, and where it is: a number and (d,), or (B,) and (B, d) for B inputs."""

    value: Any
    x: FloatArray


def largest(scene: Scene, function: Function) -> Extremum:
    """The largest value of a function on a scene, and its place."""
    start = spots(scene, POINTS)
    if not len(start):
        raise nothing_inside(scene)
    values = function(start)
    sides = scene.high - scene.low
    spacing = float(len(start)) ** (-1.0 / scene.dim)
    x, best = _apart(start / sides, values, 2.0 * spacing)
    x, radius = x * sides, 2.0 * spacing
    ball = 2.0 * qmc.Halton(scene.dim, rng=np.random.default_rng(0)).random(CLOUD) - 1.0
    while radius > SMALLEST:
        cloud = np.clip(x[:, None, :] + radius * sides * ball, scene.low, scene.high).reshape(-1, scene.dim)
        inside = scene.contains(cloud)
        found = np.full(len(cloud), -np.inf)
        if inside.any():
            found[inside] = function(cloud[inside])
        found, cloud = found.reshape(len(x), -1), cloud.reshape(len(x), -1, scene.dim)
        k = np.argmax(found, axis=1)
        top = found[np.arange(len(x)), k]
        better = top > best
        x, best = np.where(better[:, None], cloud[np.arange(len(x)), k], x), np.where(better, top, best)
        radius *= SHRINK
    k = int(np.argmax(best))
    return Extremum(float(best[k]), x[k])


def _apart(x: FloatArray, values: FloatArray, distance: float) -> tuple[FloatArray, FloatArray]:
    """The points with the largest values, of which no two are nearer than a distance."""
    chosen: list[int] = []
    for k in np.argsort(-values, kind="stable").tolist():
        if all(np.max(np.abs(x[k] - x[other])) > distance for other in chosen):
            chosen.append(k)
        if len(chosen) == FOLLOWED:
            break
    return x[chosen], values[chosen]
