"""Quadrature for integrals of functions that are smooth on each cell only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernop.collocation.sampling import QUADRATURE
from kernop.geometry import Box, Points
from kernop.geometry.cells import Cells
from kernop.geometry.sequences import gauss
from kernop.language.conditions import Condition

#: Nodes along each axis of a cell, for d = 1, 2, 3.
NODES = (24, 16, 10)


def rule(condition: Condition, cells: Cells) -> Points:
    """Points with weights for the integral of a condition: Gauss on every cell of a box, or the rule of its region."""
    region = condition.on
    if not isinstance(region, Box):
        return region.quadrature(QUADRATURE[min(region.intrinsic_dim, 3) - 1])
    nodes, weights = gauss((1.0,) * region.dim, NODES[region.dim - 1] ** region.dim)
    sides = cells.high - cells.low
    x = (cells.low[:, None] + nodes * sides[:, None]).reshape(-1, region.dim)
    own = np.prod(sides, axis=1)[:, None] * weights
    kept = region.contains(x)
    return replace(region.adopt(x[kept]), weight=own.ravel()[kept])
