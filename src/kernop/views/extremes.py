"""The largest and the least value of a function on a domain, and where.

The best of many points, inside and on the boundary, are followed by smaller and smaller clouds around them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.geometry.sequences import halton
from kernop.views.mesh import nothing_inside, spots
from kernop.views.scene import Scene

#: Points that are looked at first, how many of them are followed, and points of a cloud for each.
POINTS, FOLLOWED, CLOUD = 8_000, 6, 32
#: Clouds become smaller by the first factor, by the second while they lead on, until they are this part of the domain's
#: extent. What is outside is drawn back to the boundary, by so many halvings.
SHRINK, FOLLOW, SMALLEST, HALVINGS = 0.6, 0.85, 1e-10, 12

#: Takes points (n, d) to values (n,).
Objective = Callable[[FloatArray], FloatArray]


class Extremum(NamedTuple):
    """A largest or least value, and where it is: a number and (d,), or (B,) and (B, d) for B inputs."""

    value: Any
    x: FloatArray


def largest(scene: Scene, function: Objective) -> Extremum:
    """The largest value of a function on a scene, and its place."""
    start = spots(scene, POINTS)
    if not len(start):
        raise nothing_inside(scene)
    values = function(start)
    sides = scene.high - scene.low
    spacing = float(len(start)) ** (-1.0 / scene.dim)
    x, best = _apart(start / sides, values, 2.0 * spacing)
    x, radius = x * sides, np.full(len(x), 2.0 * spacing)
    ball = 2.0 * halton(CLOUD, scene.dim, np.random.default_rng(0)) - 1.0
    while np.max(radius) > SMALLEST:
        around = x[:, None, :] + radius[:, None, None] * sides * ball
        cloud = _held_back(scene, np.clip(around, scene.low, scene.high))
        inside = scene.contains(cloud.reshape(-1, scene.dim))
        found = np.full(len(inside), -np.inf)
        if inside.any():
            found[inside] = function(cloud.reshape(-1, scene.dim)[inside])
        found = found.reshape(len(x), -1)
        k = np.argmax(found, axis=1)
        top = found[np.arange(len(x)), k]
        better = top > best
        x, best = np.where(better[:, None], cloud[np.arange(len(x)), k], x), np.where(better, top, best)
        radius *= np.where(better, FOLLOW, SHRINK)
    k = int(np.argmax(best))
    return Extremum(float(best[k]), x[k])


def _held_back(scene: Scene, clouds: FloatArray) -> FloatArray:
    """Clouds (k, n, d), points outside drawn back to the boundary, about, towards the middle of those inside."""
    flat = clouds.reshape(-1, scene.dim)
    inside = scene.contains(flat)
    each = clouds.shape[1]
    own = inside.reshape(-1, each)
    count = np.maximum(np.sum(own, axis=1), 1)
    middle = np.repeat(np.sum(np.where(own[..., None], clouds, 0.0), axis=1) / count[:, None], each, axis=0)
    outside = ~inside & np.repeat(np.any(own, axis=1), each)
    if not outside.any():
        return clouds
    start, step = middle[outside], (flat - middle)[outside]
    part, half = np.zeros(len(start)), 0.5
    for _ in range(HALVINGS):
        part = part + np.where(scene.contains(start + (part + half)[:, None] * step), half, 0.0)
        half *= 0.5
    flat = flat.copy()
    flat[outside] = start + part[:, None] * step
    return flat.reshape(clouds.shape)


def _apart(x: FloatArray, values: FloatArray, distance: float) -> tuple[FloatArray, FloatArray]:
    """The points with the largest values, of which no two are nearer than a distance."""
    chosen: list[int] = []
    for k in np.argsort(-values, kind="stable").tolist():
        if all(np.max(np.abs(x[k] - x[other])) > distance for other in chosen):
            chosen.append(k)
        if len(chosen) == FOLLOWED:
            break
    return x[chosen], values[chosen]
