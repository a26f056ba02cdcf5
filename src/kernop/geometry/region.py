"""Regions: where a condition holds. A region can be sampled, measured, and asked whether a point lies in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from kernop.basics.checks import (
    as_array,
    called,
    check_choice,
    check_coordinates,
    check_integer,
    check_kind,
    check_memory,
)
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    BoolArray,
    FloatArray,
    IntArray,
    OutsideDomainError,
    ShapeError,
    describe,
    fail,
)
from kernop.basics.stored import stored
from kernop.geometry.extents import slack
from kernop.geometry.patch import PROBES, Patch, by_rejection
from kernop.geometry.points import Points, concatenate, subset
from kernop.geometry.sequences import SCHEMES, gauss, shares

Predicate = Callable[[FloatArray], Any]

#: Along each axis a product rule of Gauss has at least so many nodes.
FEWEST_NODES = 4


class Region(ABC):
    """A set of points in d dimensions with a measure (length, area, volume)."""

    #: Is it known of every point whether it lies in the region?
    known: bool = True
    #: Is the last coordinate time? Then grad, div, laplacian and normal_derivative are spatial.
    timed: bool = False

    @cached_property
    def dim(self) -> int:
        """The number d of coordinates."""
        return len(self.bounds[0])

    @property
    @abstractmethod
    def intrinsic_dim(self) -> int:
        """The dimension of the region itself: d inside, d − 1 on a boundary."""

    @property
    @abstractmethod
    def measure(self) -> float:
        """Length, area or volume; for a finite set of points, their number."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper corner of a box that holds the region, each of shape (d,)."""

    @property
    def enclosed(self) -> Region | None:
        """The domain of which this is the boundary, or a part of it; None if it is no boundary."""
        return None

    @abstractmethod
    def _contains(self, x: FloatArray) -> BoolArray: ...

    def normals(self, x: FloatArray) -> FloatArray | None:
        """Outward unit normals at points of the region, (n, d); None where there is no normal, as inside."""
        return None

    @abstractmethod
    def _draw(self, n: int, scheme: str, rng: np.random.Generator) -> Points:
        """Points of the region, uniform by measure."""

    def contains(self, x: object) -> BoolArray:
        """For each row of x (n, d): does it lie in the closed region, to rounding?"""
        return self.inside(check_coordinates("x", x, self.dim))

    def inside(self, x: FloatArray) -> BoolArray:
        """The same as `contains`, for coordinates that have been checked."""
        with np.errstate(over="ignore"):  # of points that are very far away
            return self._contains(x)

    def sample(self, n: int, scheme: str = "halton", seed: int = 0) -> Points:
        """Draw points that are uniform by measure.

        Arguments:
            n: how many. A grid has the largest size of tensor form that is at most n; a region of finitely many
                points gives each of them at most once.
            scheme: "halton" (scrambled, quasi-random), "uniform" (independent) or "grid" (cell centres).
            seed: the same seed gives the same points.
        """
        n = check_integer("n", n, least=1)
        self._check_room(n)
        scheme = check_choice("scheme", scheme, SCHEMES)
        drawn = self._draw(n, scheme, np.random.default_rng(check_integer("seed", seed, least=0)))
        return drawn.placed(self.timed)

    def _check_room(self, n: int) -> None:
        """Raise before drawing points that would not fit in memory: they are copied once or twice."""
        check_memory("n", 3 * n * self.dim, f"{describe(n)} points", "ask for fewer, or use Subspace(batch=…)")

    def adopt(self, x: object, name: str = "points") -> Points:
        """The user's own points as points of this region: checked to lie in it, with normals, and with its time."""
        given = x if isinstance(x, Points) else None
        coordinates = check_coordinates(name, x.x if isinstance(x, Points) else x, self.dim)
        outside = ~self.contains(coordinates)
        if np.any(outside):
            first = coordinates[np.argmax(outside)]
            got = f"{int(outside.sum())} of {len(coordinates)} points outside {self!r}, the first at {first}"
            remedy = "give points of the region" if self.known else "give stored points, or use load(path, problem=…)"
            raise fail(OutsideDomainError, name, got, remedy)
        normal = given.normal if given is not None and given.normal is not None else self.normals(coordinates)
        return Points(coordinates, normal, self.timed, None if given is None else given.weight)

    def quadrature(self, n: int) -> Points:
        """A quadrature rule of about n points with weights; here quasi-Monte Carlo, with an error of about 1/n."""
        points = self.sample(n)
        return replace(points, weight=np.full(len(points), self.measure / len(points)))

    def where(self, predicate: Predicate) -> Region:
        """The part of the region where ``predicate(x)`` is true; x is (n, d), the answer (n,)."""
        return Where(self, predicate)

    def at(self, x: Any) -> At:
        """Single points of the region, as a region: where a value, or a slope, is known.

        x is one point, a number on a line or d numbers, or several, (n, d); on a line also (n,). Points of a boundary
        have its normals: ``D.boundary.at(x)``.
        """
        if not isinstance(x, Points):
            x = as_array("x", x, f"give one point, or an array (n, {self.dim})")
            if x.ndim < 2:
                x = x.reshape(-1, 1) if self.dim == 1 else x.reshape(1, -1)
        return At(self.adopt(x, "x"))


class Patchwork(Region):
    """A region made of patches."""

    @property
    @abstractmethod
    def patches(self) -> tuple[Patch, ...]:
        """The pieces; they overlap in sets of measure zero only."""

    @property
    def measure(self) -> float:
        return float(sum(patch.measure for patch in self.patches))

    @property
    def intrinsic_dim(self) -> int:
        return len(self.patches[0].sides)

    @property
    def whole(self) -> bool:
        """Do the images of the unit cubes make up the region, with nothing left out, and are the maps smooth?"""
        return all(patch.keeps is None and patch.smooth for patch in self.patches)

    def _draw(self, n: int, scheme: str, rng: np.random.Generator) -> Points:
        patches = self.patches
        if not patches[0].sides:  # finitely many points: each once
            return concatenate([patch.place(np.zeros((1, 0))) for patch in patches])
        self._check_room(n)  # rejection asks for more than its caller
        measures = [patch.measure for patch in patches]
        if scheme == "uniform":
            counts = [int(c) for c in rng.multinomial(n, np.asarray(measures) / sum(measures))]
        else:
            counts = shares(n, measures)
        drawn = [p.draw(c, scheme, rng) for p, c in zip(patches, counts, strict=True) if c > 0]
        found = [points for points in drawn if points is not None]
        return concatenate(found) if found else self._draw(n, "halton", rng)

    def quadrature(self, n: int) -> Points:
        """Gauss–Legendre rules on the unit cubes of the patches: spectral accuracy for smooth functions on boxes.

        Quasi-Monte Carlo where n points make no product rule, as in many dimensions, or patches are not whole.
        """
        n, patches = check_integer("n", n, least=1), self.patches
        axes = len(patches[0].sides)
        each = max(1, n // len(patches))
        if not self.whole or (axes and round(each ** (1.0 / axes)) < FEWEST_NODES):
            return super().quadrature(n)
        rules = [gauss(patch.sides, each) for patch in patches]
        points = concatenate([patch.place(t) for patch, (t, _) in zip(patches, rules, strict=True)])
        weights = [patch.measure * w for patch, (_, w) in zip(patches, rules, strict=True)]
        return replace(points, weight=np.concatenate(weights)).placed(self.timed)


class Subregion(Region):
    """A part of another region, of the same dimension.

    Arguments:
        base: the region of which it is a part.
        measure: the measure of the part.
    """

    def __init__(self, base: Region, measure: float) -> None:
        self.base, self._measure, self.timed = base, measure, base.timed

    @property
    def intrinsic_dim(self) -> int:
        return self.base.intrinsic_dim

    @property
    def measure(self) -> float:
        """The measure, estimated by quasi-Monte Carlo with 4096 points."""
        return self._measure

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.base.bounds

    @property
    def enclosed(self) -> Region | None:
        return self.base.enclosed

    def normals(self, x: FloatArray) -> FloatArray | None:
        return self.base.normals(x)

    def __repr__(self) -> str:
        return f"{self.base!r}.where(...)"


class Where(Subregion):
    """The part of a region on which a predicate holds; sampled by rejection."""

    def __init__(self, base: Region, predicate: Predicate) -> None:
        self._predicate = predicate
        probe = base.sample(PROBES, "halton")
        inside = holds(predicate, probe.x)
        for own in (inside, ~inside):  # means, maxima and quantiles of these are others
            if own.any() and not np.all(holds(predicate, probe.x[own]) == inside[own]):
                got = "a predicate whose answer at a point depends on the other points that it is given, or on chance"
                raise fail(ArgumentError, "predicate", got, "compute means, maxima and random numbers before, outside")
        self._fraction = float(np.mean(inside))
        if self._fraction == 0.0:
            got = f"a predicate that is false at all of {len(probe)} points of {base!r}"
            raise fail(ArgumentError, "predicate", got, "give one that holds on a part of the region")
        super().__init__(base, base.measure * self._fraction)

    def _contains(self, x: FloatArray) -> BoolArray:
        return self.base.contains(x) & holds(self._predicate, x)

    def restricted(self, patch: Patch) -> Patch:
        """The part of a patch of the base on which the predicate holds."""
        return patch.restricted(lambda points: holds(self._predicate, points.x))

    def _draw(self, n: int, scheme: str, rng: np.random.Generator) -> Points:
        def attempt(asked: int) -> tuple[Points, IntArray]:
            drawn = self.base._draw(asked, scheme, rng)
            return drawn, np.flatnonzero(holds(self._predicate, drawn.x))

        finite = self.intrinsic_dim == 0  # and has no more to give at a second attempt
        asked = max(8, int(np.ceil(n / self._fraction)))
        drawn, kept = by_rejection(attempt, 0 if finite else n, asked, self._fraction, rng)
        if len(kept) < n and not finite:
            got = f"one that held at {len(kept)} of {len(drawn)} points, and at {self._fraction:g} of those before"
            raise fail(ArgumentError, "predicate", got, "give one that holds on a part with a measure")
        return drawn[np.sort(rng.permutation(kept)[:n])]


def unrestricted(region: Region) -> Region:
    """The region of which it is a part, or a part of a part, by predicates."""
    while isinstance(region, Where):
        region = region.base
    return region


class PointSet(Region):
    """A region of finitely many points, all of which are known."""

    def __init__(self, points: Points) -> None:
        self.points, self.timed = points, bool(points.timed)

    @property
    def measure(self) -> float:
        """The number of points: a finite set has no other measure."""
        return float(len(self.points))

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.points.x.min(axis=0), self.points.x.max(axis=0)

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self.points.x)

    def _contains(self, x: FloatArray) -> BoolArray:
        distance, _ = self._tree.query(x)
        return np.asarray(distance <= np.max(slack(*self.bounds)))

    def normals(self, x: FloatArray) -> FloatArray | None:
        return None if self.points.normal is None else self.points.normal[self._tree.query(x)[1]]

    def quadrature(self, n: int) -> Points:
        """All of the points, whatever n, each with the weight 1."""
        return replace(self.points, weight=np.ones(len(self.points)))


@stored("at")
class At(PointSet):
    """Finitely many points, each of which is always used. Made by ``region.at(x)``.

    Arguments:
        points: the points, with normals if they lie on a boundary.
    """

    @property
    def intrinsic_dim(self) -> int:
        return 0

    def _draw(self, n: int, scheme: str, rng: np.random.Generator) -> Points:
        return self.points if n >= len(self.points) else subset(self.points, n, scheme, rng)

    def __repr__(self) -> str:
        if len(self.points) > 1:
            return f"at {len(self.points)} points"
        return "at " + np.array2string(self.points.x[0], precision=3)


def holds(predicate: Predicate, x: FloatArray) -> BoolArray:
    """The answer of a predicate: one truth value for each point."""
    check_kind("predicate", predicate, Callable, "give a function of x (n, d) that returns (n,)")
    remedy = f"return one truth value for each of the {len(x)} rows of x, as in x[..., 0] < 0.5"
    try:
        mask = as_array("predicate", called("predicate", predicate, x, remedy=remedy), remedy)
    except IndexError as error:
        got = f"a function that fails on x of shape {x.shape}: {error}"
        raise fail(ShapeError, "predicate", got, f"x has {x.shape[1]} coordinates, x[..., 0] and so on") from error
    if mask.shape != (len(x),):
        raise fail(ShapeError, "predicate", f"a result of shape {mask.shape}", remedy)
    if mask.dtype.kind != "b":
        raise fail(ArgumentTypeError, "predicate", f"a result of dtype {mask.dtype}", remedy)
    return mask
