"""Quadrature rules for a region, each better than the one before: their differences estimate the error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kernop.basics.errors import ArgumentError
from kernop.geometry import Box, Domain, Points, Region, SpaceTime
from kernop.geometry.domain import Carved
from kernop.geometry.points import concatenate
from kernop.geometry.region import Patchwork, PointSet, Where, unrestricted
from kernop.geometry.spacetime import Cylinder, product_rule

#: Gauss nodes along each axis of a patch, cells along each side of a plane domain, and points without structure.
NODES, CELLS, POINTS = (16, 32, 64), (1, 2, 4), (2**12, 2**14, 2**16)
#: No rule has more points.
MOST = 2**17


def rules(region: Region) -> Iterator[Points]:
    """Rules with weights, one better than the other; of finitely many points there is one."""
    if isinstance(region, PointSet) or region.intrinsic_dim == 0:
        yield region.quadrature(1)
    elif isinstance(region, Where):
        yield from (_masked(region, n) for n in POINTS)
    elif isinstance(region, SpaceTime) and not region.whole:
        clock = region.clock
        for inner, nodes in zip(rules(region.space), NODES, strict=False):
            yield product_rule(inner, clock.quadrature(nodes))
    elif isinstance(region, Cylinder) and region.parts in (("initial",), ("final",)) and not region.whole:
        moment = region.spacetime.clock.face("left" if region.parts == ("initial",) else "right")
        for inner in rules(region.spacetime.space):
            found = product_rule(inner, moment.quadrature(1))
            yield replace(found, normal=region.normals(found.x))
    elif isinstance(region, Carved) and region.dim == 2 and region.boundary.whole:
        yield from (_by_cells(region, cells) for cells in CELLS)
    elif isinstance(region, Patchwork) and region.whole:
        sizes = [len(region.patches) * nodes**region.intrinsic_dim for nodes in NODES]
        yield from (region.quadrature(n) for n in sizes if n <= MOST or n == sizes[0])
    else:
        yield from (region.quadrature(n) for n in POINTS)


def _masked(region: Where, n: int) -> Points:
    """Points of the whole with equal weights, of which those in a part are kept."""
    whole = unrestricted(region)
    points = whole.sample(n, "grid" if whole.intrinsic_dim == 1 else "halton")
    points = replace(points, weight=np.full(len(points), whole.measure / len(points)))
    return points[region.contains(points.x)]


def _by_cells(domain: Domain, cells: int) -> Points:
    """The rules of the parts of a plane domain in the cells of a grid, each exact for polynomials."""
    if cells == 1:
        return domain.quadrature(POINTS[0])
    low, high = domain.bounds
    side = (high - low) / cells
    found: list[Points] = []
    for place in np.ndindex(cells, cells):
        corner = low + np.array(place) * side
        part = _part(domain, Box(corner, np.where(np.array(place) == cells - 1, high, corner + side)))
        found += [] if part is None else [part.quadrature(POINTS[0])]
    weights = [points.weight for points in found if points.weight is not None]
    return replace(concatenate(found), weight=np.concatenate(weights)).placed(domain.timed)


def _part(domain: Domain, cell: Box) -> Domain | None:
    """The part of a domain in a cell: the cell itself if it lies inside; None if it is empty, or a sliver."""
    low, high = cell.bounds
    depth = float(domain.height(0.5 * (low + high)[None, :])[0])
    if depth < -0.5 * float(np.linalg.norm(high - low)):
        return cell
    try:
        return domain & cell
    except ArgumentError:
        return None
