"""Adaptive centres: narrower functions, and more points, in the cells where the residual of a user's inputs is large.

Wide functions fill the domain; over them are layers of narrower ones (`Layers`), each of half the spacing of the one
before, in the cells of a 2^d-tree. One step measures the residual of the inputs at fresh points, marks the cells that
hold most of it, fills them, and learns again. A residual that is spread over the domain asks for more wide functions
instead: then the step is that of uniform refinement.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.collocation.sampling import interior
from kernop.collocation.units import Frame
from kernop.geometry import Points
from kernop.language.problem import Problem
from kernop.learning.strata import Residuals, residuals, strata, thickened
from kernop.methods.centres import spacing
from kernop.methods.spaces import Layers
from kernop.methods.spaces.layers import DEEPEST, layers_in, numbers
from kernop.operators.operator import SolutionOperator
from kernop.operators.report import Level, Report, Status

#: The part of the squared residual that marked cells hold.
BULK = 0.9
#: The residual is local if marked cells are at most this part of the domain.
LOCAL = 0.2
#: A cell is too large if its residual is in less than this part of one of its 2^d parts, as seen by so many points …
POINTED, SEEN = 1.0, 4
#: … and then a smaller one is taken, at most so many levels deeper.
DESCENT = 3
#: The growth of the number of functions in one step, at most.
GROWTH = 1.6
#: A layer is narrower than the wide functions by this factor at least.
NARROWER = 1.4
#: A step that does not improve on the best one by this factor has stagnated; so many in a row end the search.
IMPROVEMENT, PATIENCE = 1.2, 4


def first_level(frame: Frame, number: int, layers: Layers) -> int:
    """The least level whose functions are narrower than so many wide ones."""
    h = float(np.mean(layers.spacing(0) / frame.units))
    return min(DEEPEST, max(0, int(np.ceil(np.log2(NARROWER * h / spacing(frame, number))))))


def marked(layers: Layers, frame: Frame, found: Residuals) -> NDArray[np.int64]:
    """The cells that hold the bulk of the residual, worst first, (n, 1 + d).

    Each place counts for the cell in which the next narrower functions would be; for a smaller one, if the residual of
    that cell is in a small part of it.
    """
    least = first_level(frame, layers.number, layers)
    level = np.clip(layers.filled_at(found.x) + 1, least, DEEPEST)
    for _ in range(DESCENT):
        cells, inverse, sums = _gathered(layers, found.x, level, found.squares)
        count = np.bincount(inverse)
        peaked = np.bincount(inverse, weights=found.squares**2 / found.shares)
        volume = np.bincount(inverse, weights=found.shares)
        part = sums**2 / np.where(peaked > 0.0, peaked, np.inf) / volume
        deeper = (count >= SEEN * 2**layers.dim) & (part < POINTED / 2**layers.dim) & (cells[:, 0] < DEEPEST)
        if not np.any(deeper):
            break
        level = level + deeper[inverse]
    cells, _, sums = _gathered(layers, found.x, level, found.squares)
    order = np.argsort(-sums, kind="stable")
    count = 1 + int(np.searchsorted(np.cumsum(sums[order]), BULK * np.sum(sums)))
    return cells[order[:count]]


def _gathered(
    layers: Layers, x: FloatArray, level: NDArray[np.int64], values: FloatArray
) -> tuple[NDArray[np.int64], NDArray[np.intp], FloatArray]:
    """The cells of these levels in which the points lie, (m, 1 + d); the cell of each point (n,), and sums (m,)."""
    own = numbers(x, layers.low, layers.side / 2.0 ** level[:, None])
    cells, inverse = np.unique(np.column_stack([level, own]), axis=0, return_inverse=True)
    return cells, inverse.ravel(), np.bincount(inverse.ravel(), weights=values)


def grown(layers: Layers, frame: Frame, found: Residuals, budget: int) -> Layers:
    """The next layers: narrower functions where the residual is, or more wide ones if it is everywhere."""
    most = min(budget, round(GROWTH * layers.size))
    if found.part > LOCAL:
        return widened(layers, frame, layers.number + most - layers.size)
    chosen = marked(layers, frame, found)
    low, high = 0, len(chosen)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if layers.filled(chosen[:middle]).size <= most else (low, middle - 1)
    if low == 0 and layers.filled(chosen[:1]).size <= budget:
        low = 1
    return layers.filled(chosen[:low])


def widened(layers: Layers, frame: Frame, number: int) -> Layers:
    """With another number of wide functions, and without layers that are no narrower."""
    least = first_level(frame, number, layers)
    return replace(layers, number=number, cells=layers.cells[layers.cells[:, 0] >= least])
