"""Quadrature for functions that are smooth between lines only: Gauss on cells, and on what lines leave of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray, IntArray, KernopError
from kernop.basics.frozen import Kept, frozen
from kernop.geometry.bodies import body_rule, made_of_balls_and_boxes
from kernop.geometry.box import Box
from kernop.geometry.cells import SAME, distinct, filled, looks
from kernop.geometry.domain import Domain, SetOperation
from kernop.geometry.patch import Patch
from kernop.geometry.points import Points, concatenate
from kernop.geometry.region import Patchwork, Region
from kernop.geometry.sequences import gauss, tensor_grid

#: Nodes along each axis of a cell and of a line, and of the rule on what is left of a cell that is cut.
NODES, ON_LINES, LEFT = (24, 16, 10), 64, (24, 45, 1000)
#: Cells along each axis where none are given, for d = 1, 2, 3.
ALONG = (4, 4, 2)
#: The measure of a combination is an estimate; a rule that differs by more than this part of it is not right.
ALIKE = 0.02
#: How far from its faces a cell is looked at, as a part of its sides; lines of a boundary are looked at so many places,
#: and halved so often where something changes.
BESIDE, PLACES, HALVED = 1e-6, 2048, 50


def grid(region: Region, cuts: Sequence[Domain]) -> tuple[FloatArray, FloatArray]:
    """Cells of a region, of about one size: their corners, (C, d) each. Sides of boxes that cut it are grid lines.

    A part of a boundary is in one cell.
    """
    low, high = region.bounds
    if not isinstance(region, Domain):
        return low[None], high[None]
    boxes = [own.bounds for own in cuts]
    if made_of_balls_and_boxes(region):
        boxes += [leaf.bounds for leaf in region.leaves]
    axes: list[FloatArray] = []
    for k, (a, b) in enumerate(zip(low, high, strict=True)):
        marks = [a, b, *(float(own[k]) for pair in boxes for own in pair if a < own[k] < b)]
        axes.append(np.append(filled(distinct(np.array(marks)), (b - a) / ALONG[len(low) - 1]), b))
    return tensor_grid([own[:-1] for own in axes]), tensor_grid([own[1:] for own in axes])


def composite(region: Region, cuts: Sequence[Domain], low: FloatArray, high: FloatArray, n: int) -> Points:
    """A rule for functions that are smooth on each side of the boundaries of some domains, in each cell.

    Gauss's in cells of which all is inside and on one side; else those of what is there, which are exact for
    polynomials in the plane. On lines, Gauss's between the cells.

    Arguments:
        region: that is integrated over.
        cuts: between which functions are smooth.
        low, high: corners of the cells, (C, d).
        n: points of the rule of a region that has no such rule, as in space and time.
    """
    if isinstance(region, Domain) and not region.timed and region.dim <= len(LEFT):
        return _inside(region, cuts, low, high)
    if isinstance(region, Patchwork) and region.whole and not region.timed and region.intrinsic_dim == 1:
        return _together([_along(patch, cuts, low, high) for patch in region.patches])
    return region.quadrature(n)


def _inside(region: Domain, cuts: Sequence[Domain], low: FloatArray, high: FloatArray) -> Points:
    dim = region.dim
    if isinstance(region, Box):
        low, high = np.maximum(low, region.bounds[0]), np.minimum(high, region.bounds[1])
        kept = np.all(high - low > SAME * (region.bounds[1] - region.bounds[0]), axis=1)
        low, high = low[kept], high[kept]
    domains = cuts if isinstance(region, Box) else (region, *cuts)
    look = BESIDE + (1.0 - 2.0 * BESIDE) * np.concatenate(looks(dim))
    held = _held(domains, low[:, None] + look * (high - low)[:, None])
    mixed = np.any(held != held[:, :1], axis=1)
    along_lines = _along_lines(region, cuts) if np.any(mixed) else None
    if along_lines is not None:
        return along_lines
    plain = ~np.any(mixed, axis=1)
    if domains is not cuts:
        plain &= held[:, 0, 0]
    t, w = gauss((1.0,) * dim, NODES[dim - 1] ** dim)
    a, sides = low[plain], (high - low)[plain]
    x = (a[:, None] + t * sides[:, None]).reshape(-1, dim)
    found = [Points(x, None, False, np.ravel(np.prod(sides, axis=1)[:, None] * w))] if len(x) else []
    for cell in np.flatnonzero(np.any(mixed, axis=1)).tolist():
        which = np.flatnonzero(mixed[cell]).tolist()
        for inside in np.unique(held[cell], axis=0):
            if domains is cuts or inside[0]:
                found += _left(Box(low[cell], high[cell]), [domains[k] for k in which], inside[which])
    return _together(found)


_without_cuts: Kept[Domain, Points] = Kept()


def _along_lines(region: Domain, cuts: Sequence[Domain]) -> Points | None:
    """The rule along lines, of bodies that have one, unless it missed a piece, as the measure tells; else None."""
    if not made_of_balls_and_boxes(region, *cuts):
        return None
    found = body_rule(region, cuts) if cuts else _without_cuts.of(region, lambda: frozen(body_rule(region)))
    assert found.weight is not None
    return found if abs(float(np.sum(found.weight)) - region.measure) < ALIKE * region.measure else None


def measured(region: Region) -> float:
    """The measure of a region; of a body with a rule along lines by that, where its own measure is an estimate."""
    if not isinstance(region, SetOperation) or not made_of_balls_and_boxes(region):
        return region.measure
    weight = composite(region, (), *grid(region, ()), 0).weight
    assert weight is not None
    return float(np.sum(weight))


def _together(rules: Sequence[Points]) -> Points:
    """Rules one after the other."""
    return replace(
        concatenate(list(rules)), weight=np.concatenate([own.weight for own in rules if own.weight is not None])
    )


def _left(box: Box, domains: Sequence[Domain], inside: BoolArray) -> list[Points]:
    """The rule of what is inside of some domains, and outside of others, in a box; none if that is next to nothing."""

    def within(shape: Domain, pair: tuple[Domain, bool]) -> Domain:
        return shape & pair[0] if pair[1] else shape - pair[0]

    try:
        return [reduce(within, zip(domains, inside, strict=True), box).quadrature(LEFT[box.dim - 1])]
    except KernopError:  # too thin for points
        return []


def _held(domains: Sequence[Domain], x: FloatArray) -> BoolArray:
    """Which domains hold the points x (C, n, d): (C, n, domains)."""
    flat = x.reshape(-1, x.shape[-1])
    held = [own.contains(flat).reshape(x.shape[:2]) for own in domains]
    return np.stack(held, axis=-1) if held else np.zeros((*x.shape[:2], 0), dtype=bool)


def _along(patch: Patch, cuts: Sequence[Domain], low: FloatArray, high: FloatArray) -> Points:
    """Gauss's rule on each of the pieces into which cells, and domains, cut a line."""

    def labels(t: FloatArray) -> IntArray:
        x = patch.place(t[:, None]).x
        cell = np.argmax(np.all((x[:, None] >= low) & (x[:, None] <= high), axis=2), axis=1)
        return np.column_stack([cell, _held(cuts, x[None])[0]])

    t = (np.arange(PLACES) + 0.5) / PLACES
    here = labels(t)
    change = np.flatnonzero(np.any(here[1:] != here[:-1], axis=1))
    a, b = t[change], t[change + 1]
    for _ in range(HALVED if len(change) else 0):
        middle = 0.5 * (a + b)
        left = np.all(labels(middle) == here[change], axis=1)
        a, b = np.where(left, middle, a), np.where(left, b, middle)
    ends = np.concatenate([[0.0], 0.5 * (a + b), [1.0]])
    unit, w = gauss((1.0,), ON_LINES)
    places = (ends[:-1, None] + unit[:, 0] * np.diff(ends)[:, None]).reshape(-1, 1)
    weight = patch.measure * np.ravel(np.diff(ends)[:, None] * w)
    return replace(patch.place(places), weight=weight)
