"""Where one looks: a domain as pictures and tables see it, with the names of its axes, and cuts of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import binary_dilation

from kernop.basics.checks import check_number
from kernop.basics.errors import ArgumentError, ArgumentTypeError, BoolArray, FloatArray, describe, fail
from kernop.geometry import Domain, PointCloud, Region, SpaceTime


@dataclass(kw_only=True, frozen=True, eq=False)
class Scene:
    """A set of points with names for its coordinates.

    Arguments:
        names: of the axes, such as ("x", "y", "t").
        low, high: the corners of a box around it, (d,) each.
        contains: which rows of x (n, d) lie in it, (n,).
        rim: points of its boundary, about n of them, (m, d); none if it is not known.
        timed: is the last coordinate time?
        axes: which coordinates of u these are, if some are fixed.
        regions: of which it is the union; none for a cut.
        where: what is fixed, in words.
    """

    names: tuple[str, ...]
    low: FloatArray
    high: FloatArray
    contains: Callable[[FloatArray], BoolArray]
    rim: Callable[[int], FloatArray]
    timed: bool
    axes: tuple[int, ...]
    regions: tuple[Region, ...] = ()
    where: str = ""

    @property
    def dim(self) -> int:
        """The number d of coordinates."""
        return len(self.names)

    @property
    def space(self) -> int:
        """The number of coordinates that are not time."""
        return self.dim - self.timed

    def lines(self, shape: Sequence[int]) -> tuple[FloatArray, ...]:
        """Coordinates along each axis, from end to end."""
        return tuple(np.linspace(a, b, n) for a, b, n in zip(self.low, self.high, shape, strict=True))

    def shape_of(self, points: int) -> tuple[int, ...]:
        """The numbers of coordinates along each axis of a grid with about so many points, alike in all directions."""
        sides = self.high - self.low
        if self.timed:  # time does not compare with space
            sides = np.append(sides[:-1] / np.max(sides[:-1]), 1.0)
        spacing = float(np.prod(sides) / points) ** (1.0 / self.dim)
        return tuple(max(5, round(side / spacing) + 1) for side in sides.tolist())

    def axis(self, name: object) -> int:
        """The number of an axis, from its name or its number."""
        remedy = f"give one of {', '.join(map(repr, self.names))}, or a number from 0 to {self.dim - 1}"
        if isinstance(name, str) and name in self.names:
            return self.names.index(name)
        if isinstance(name, int | np.integer) and not isinstance(name, bool) and -self.dim <= name < self.dim:
            return int(name) % self.dim
        raise fail(ArgumentError, "axis", describe(name), remedy)

    def fixed(self, at: Mapping[int, float]) -> Scene:
        """The cut where some coordinates, by their numbers, have these values."""
        free = [k for k in range(self.dim) if k not in at]
        for k, value in at.items():
            if not self.low[k] <= value <= self.high[k]:
                remedy = f"give a value from {self.low[k]:g} to {self.high[k]:g}"
                raise fail(ArgumentError, "at", f"{self.names[k]} = {value:g}", remedy)
        fixed = ", ".join(f"{self.names[k]} = {value:.4g}" for k, value in at.items())
        where = ", ".join(filter(None, (self.where, fixed)))
        kept = [k for k in at if self.timed and k == self.dim - 1]
        spaces = [region.space if isinstance(region, SpaceTime) else None for region in self.regions]
        if kept and len(at) == 1 and spaces and None not in spaces:  # a moment: a domain of its own
            return scene([space for space in spaces if space is not None], where=where)
        return Scene(
            names=tuple(self.names[k] for k in free),
            low=self.low[free],
            high=self.high[free],
            contains=lambda x: self.contains(embedded(x, free, at)),
            rim=lambda n: self._traced(free, at, n),
            timed=self.timed and not kept,
            axes=tuple(self.axes[k] for k in free),
            where=where,
        )

    def _traced(self, free: Sequence[int], at: Mapping[int, float], n: int) -> FloatArray:
        """Points of the boundary of a plane cut: where the distance from the boundary of the domain is 0."""
        nothing = np.empty((0, len(free)))
        if len(free) != 2 or not self.regions or not all(isinstance(region, Domain) for region in self.regions):
            return nothing
        from contourpy import contour_generator  # which matplotlib brings

        lines = [np.linspace(self.low[k], self.high[k], max(16, n // 2)) for k in free]
        x = embedded(np.stack(np.meshgrid(*lines, indexing="xy"), axis=-1).reshape(-1, 2), free, at)
        inside = self.contains(x).reshape(len(lines[1]), len(lines[0]))
        # The line depends on the distances beside it alone, which cost much more than the sides.
        beside = _beside(inside)
        heights = [region.height(x[beside.ravel()]) for region in self.regions if isinstance(region, Domain)]
        height = np.where(inside, -1.0, 1.0)
        height[beside] = np.min(heights, axis=0)
        found = contour_generator(lines[0], lines[1], height).lines(0.0)
        return np.concatenate([nothing, *map(np.asarray, found)])


def _beside(inside: BoolArray) -> BoolArray:
    """The nodes of a grid (n, m) at most two steps from a change from inside to outside."""
    found = np.zeros_like(inside)
    found[1:] |= inside[1:] != inside[:-1]
    found[:, 1:] |= inside[:, 1:] != inside[:, :-1]
    return binary_dilation(found, np.ones((3, 3), dtype=np.int8), iterations=2)


def embedded(x: FloatArray, free: Sequence[int], at: Mapping[int, float]) -> FloatArray:
    """Points (n, d) whose free coordinates are x (n, m) and whose others are fixed."""
    whole = np.empty((len(x), len(free) + len(at)))
    whole[:, free] = x
    for k, value in at.items():
        whole[:, k] = value
    return whole


def scene(
    regions: Sequence[Region], contains: Callable[[FloatArray], BoolArray] | None = None, where: str = ""
) -> Scene:
    """The union of regions of full dimension; ``contains`` decides what lies in it, where it is given."""
    known = tuple({id(region): region for region in regions}.values())
    low, high = (np.array([region.bounds[k] for region in known]) for k in (0, 1))
    dim, timed = known[0].dim, known[0].timed

    return Scene(
        names=axis_names(dim, timed),
        low=low.min(axis=0),
        high=high.max(axis=0),
        contains=contains or (lambda x: np.any([region.contains(x) for region in known], axis=0)),
        rim=lambda n: _rim(known, n),
        timed=timed,
        axes=tuple(range(dim)),
        regions=known,
        where=where,
    )


def axis_names(dim: int, timed: bool) -> tuple[str, ...]:
    """x, y, z, in more dimensions x1, x2, …; and t."""
    space = dim - timed
    names = ("x", "y", "z")[:space] if space <= 3 else tuple(f"x{k + 1}" for k in range(space))
    return (*names, "t") if timed else names


def _rim(regions: Sequence[Region], n: int) -> FloatArray:
    """Points of the boundaries of regions, with the corners of plane ones."""
    found = [np.empty((0, regions[0].dim))]
    for region in regions:
        if isinstance(region, PointCloud):
            found.append(region.boundary.points.x)
        elif isinstance(region, Domain):
            found.append(region.boundary.sample(n, "grid").x)
            found += [region.corners.x] if region.dim == 2 else []
    return np.concatenate(found)


def read_cut(own: Scene, axis: Any, at: Any) -> dict[int, float]:
    """What a user fixes: ``at={"z": 0.5}``, or ``axis="z", at=0.5``; by the numbers of axes."""
    if at is None and axis is None:
        return {}
    if isinstance(at, Mapping):
        if axis is not None:
            raise fail(ArgumentError, "axis", "an axis and a dictionary at=", "give one of them, such as at={'z': 0.5}")
        return {own.axis(name): check_number(f"at[{name!r}]", value) for name, value in at.items()}
    if axis is None:
        if own.timed:
            return {own.dim - 1: check_number("at", at)}
        raise fail(ArgumentError, "axis", "at= without axis=", "say which coordinate it is, such as axis='z'")
    if at is None:
        k = own.axis(axis)
        return {k: float(0.5 * (own.low[k] + own.high[k]))}
    if np.ndim(at) != 0:
        raise fail(ArgumentTypeError, "at", describe(at), "give one number, or a dictionary such as {'z': 0.5}")
    return {own.axis(axis): check_number("at", at)}
