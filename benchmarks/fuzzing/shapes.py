"""Random shapes and trees of set operations on them, what is true of them, and whether kernop says the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

import kernop as ko
from kernop.errors import KernopError

#: Chords of a quarter of a circle: its area is right to 1e-7 of it.
CHORDS = 1024
#: Points by which shapes in space are measured.
PROBES = 40_000
#: A step across a boundary, in shapes of size 1 to 10.
STEP = 1e-6
#: What errors say of shapes that are none.
REASONS = ("empty", "sliver", "a side of", "is not one", "no area", "are the same", "give at least 3")


@dataclass(frozen=True)
class Shape:
    """A shape for kernop, and what is true of it.

    Arguments:
        name: how it is written.
        make: makes it.
        true: the same for shapely, or a function that tells the inside; None if it is no shape.
        straight: has it no arcs, for which shapely has chords?
        doubtful: is it, or any part of its tree, so thin or small that it may be refused?
    """

    name: str
    make: Callable[[], Any]
    true: Any
    straight: bool
    doubtful: bool = False


def tree(rng: np.random.Generator, dim: int, depth: int) -> Shape:
    """A random tree of set operations, at most so deep."""
    if depth == 0 or rng.random() < 0.2:
        return (_line, _plane, _space)[dim - 1](rng)
    one, other = tree(rng, dim, depth - 1), tree(rng, dim, depth - 1)
    word = str(rng.choice(["|", "|", "&", "-", "-"]))
    made = {"|": lambda a, b: a | b, "&": lambda a, b: a & b, "-": lambda a, b: a - b}[word]
    true = _together(one.true, other.true, word, made)
    return Shape(
        f"({one.name} {word} {other.name})",
        lambda: made(one.make(), other.make()),
        true,
        one.straight and other.straight,
        one.doubtful or other.doubtful or _doubtful(true, dim),
    )


def _doubtful(true: Any, dim: int) -> bool:
    """Is it empty, or thin beyond what the tests see?"""
    if true is None:
        return True
    if callable(true):
        x = np.random.default_rng(0).uniform(-3.0, 13.0, (50_000, dim))
        return np.count_nonzero(true(x)) < 20
    return true.area < 1e-3 or true.area < 1e-3 * true.length or not true.is_valid


def _together(one: Any, other: Any, word: str, made: Callable[[Any, Any], Any]) -> Any:
    if one is None or other is None:
        return None
    if not callable(one):
        return made(one, other)
    if word == "|":
        return lambda x: one(x) | other(x)
    return (lambda x: one(x) & other(x)) if word == "&" else (lambda x: one(x) & ~other(x))


def _coordinate(rng: np.random.Generator, low: float, high: float, size: int) -> Any:
    """Half of the time whole numbers, so that surfaces coincide."""
    x = rng.uniform(low, high, size)
    return np.round(x) if rng.random() < 0.5 else x


def _line(rng: np.random.Generator) -> Shape:
    a = float(_coordinate(rng, 0, 8, 1)[0])
    b = a + max(0.3, float(_coordinate(rng, 0.5, 4, 1)[0]))
    return Shape(f"[{a:.4g}, {b:.4g}]", lambda: ko.Interval(a, b), lambda x: (x[:, 0] > a) & (x[:, 0] < b), True)


def _plane(rng: np.random.Generator) -> Shape:
    kind = rng.integers(4)
    if kind == 0:
        low = _coordinate(rng, 0, 5, 2)
        high = low + np.maximum(0.3, _coordinate(rng, 0.6, 4, 2))
        return Shape(f"Box({low}, {high})", lambda: ko.Box(low, high), shapely.box(*low, *high), True)
    if kind == 1:
        centre, r = _coordinate(rng, 1, 6, 2), max(0.3, float(_coordinate(rng, 0.4, 3, 1)[0]))
        round_ = shapely.Point(centre).buffer(r, quad_segs=CHORDS)
        return Shape(f"Ball({centre}, {r:.4g})", lambda: ko.Ball(centre, r), round_, False)
    return polygon(rng, star=bool(rng.random() < 0.9))


def polygon(rng: np.random.Generator, star: bool) -> Shape:
    """A star around a point, or vertices anywhere, whose edges often cross."""
    number = int(rng.integers(3, 9))
    if star:
        angle = 2.0 * np.pi * (np.arange(number) + 0.6 * rng.random(number)) / number
        vertices = rng.uniform(1, 5, 2) + rng.uniform(0.5, 3.0, (number, 1)) * np.stack(
            [np.cos(angle), np.sin(angle)], 1
        )
    else:
        vertices = np.round(rng.uniform(0, 6, (int(rng.integers(3, 6)), 2)))
    if rng.random() < 0.5:
        vertices = vertices[::-1]
    holes = [vertices.mean(axis=0) + 0.1 * (vertices - vertices.mean(axis=0))] if rng.random() < 0.3 else []
    true = shapely.Polygon(vertices, holes)
    true = true if true.is_valid and true.area > 0.0 else None
    twice = any(np.array_equal(one, other) for one, other in zip(vertices, np.roll(vertices, -1, axis=0), strict=True))
    name = f"Polygon({vertices.tolist()}, {[hole.tolist() for hole in holes]})"
    return Shape(name, lambda: ko.Polygon(vertices, holes), true, True, twice or _doubtful(true, 2))


def _space(rng: np.random.Generator) -> Shape:
    if rng.random() < 0.5:
        low = _coordinate(rng, 0, 5, 3)
        high = low + np.maximum(0.5, _coordinate(rng, 1, 4, 3))
        return Shape(
            f"Box({low}, {high})", lambda: ko.Box(low, high), lambda x: np.all((x > low) & (x < high), axis=1), True
        )
    centre, r = _coordinate(rng, 1, 6, 3), max(0.5, float(_coordinate(rng, 0.6, 3, 1)[0]))
    return Shape(
        f"Ball({centre}, {r:.4g})",
        lambda: ko.Ball(centre, r),
        lambda x: np.sum((x - centre) ** 2, axis=1) < r * r,
        False,
    )


def judged(shape: Shape, seed: int) -> tuple[str, str]:
    """("right" | "refused" | "wrong", why): what kernop makes of a shape, beside what is true."""
    try:
        domain = shape.make()
    except KernopError as error:
        return _refused(shape, str(error))
    except Exception as error:
        return "wrong", f"{type(error).__name__}: {error}"
    if shape.true is None:
        return "wrong", "taken, but no shape"
    for look in (_measure, _boundary, _samples):
        why = look(shape, domain, seed)
        if why:
            return "wrong", why
    return "right", ""


def _refused(shape: Shape, why: str) -> tuple[str, str]:
    """A refusal has a reason, which its message says: some part of the tree is empty, thin, or no polygon."""
    if not any(word in why for word in REASONS):
        return "wrong", f"refused without a reason: {why}"
    if not shape.doubtful:
        return "wrong", f"refused, but well: {why}"
    return "refused", why


def _measure(shape: Shape, domain: Any, seed: int) -> str:
    low, high = domain.bounds
    if callable(shape.true):
        x = low + (high - low) * np.random.default_rng(seed).random((PROBES, len(low)))
        part = float(np.mean(shape.true(x)))
        error = 5.0 * (part * (1.0 - part) / PROBES) ** 0.5 + 1e-3
        found = domain.measure / float(np.prod(high - low))
        return "" if abs(found - part) <= error else f"measure {found:.5g} of the box, not {part:.5g}"
    exact, tolerance = shape.true.area, 1e-9 if shape.straight else 3e-6
    if abs(domain.measure - exact) > tolerance * max(exact, 1.0):
        return f"area {domain.measure:.12g}, not {exact:.12g}"
    rim = shape.true.boundary.length
    if shape.true.geom_type != "GeometryCollection" and abs(domain.boundary.measure - rim) > 2e-5 * max(rim, 1.0):
        return f"length {domain.boundary.measure:.9g}, not {rim:.9g}"
    return ""


def _boundary(shape: Shape, domain: Any, seed: int) -> str:
    points = domain.boundary.sample(60, "uniform", seed)
    if not np.all(domain.boundary.contains(points.x)):
        return "a boundary that does not hold its own points"
    outward = ~domain.contains(points.x + STEP * points.normal)
    inward = domain.contains(points.x - STEP * points.normal)
    # Two surfaces may be nearer to each other than a step: at a corner, or in a cleft.
    return "" if np.mean(outward & inward) > 0.9 else f"{np.count_nonzero(~(outward & inward))} normals not outward"


def _samples(shape: Shape, domain: Any, seed: int) -> str:
    x = domain.sample(60, "halton", seed).x
    if callable(shape.true):
        rim = np.abs(domain.distance(x)) < STEP
        return "" if np.all(shape.true(x) | rim) else "samples outside"
    apart = shapely.distance(shape.true, shapely.points(x))
    return "" if np.max(apart) < 1e-5 else f"samples {np.max(apart):.1e} outside"
