"""Layers of narrow functions in the cells of a tree, over wide functions that fill the domain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, ShapeError, fail
from kernop.basics.fitting import check_positive, check_shape
from kernop.basics.stored import stored
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.functionals import Block, Functionals, evaluations
from kernop.collocation.units import Frame
from kernop.kernels import Gaussian
from kernop.methods.centres import spacing, width_of
from kernop.methods.spaces.kernel_functions import KernelFunctions

#: Centres along a side of a cell, for d = 1, 2, 3 and beyond; and beyond the cell, on either side.
ALONG, MARGIN = (4, 4, 3), (3, 1, 1)
#: Functions are felt so many spacings beyond their centres: there too points must be as dense (in 3-D they are many).
FELT = (3, 3, 1)
#: A layer is narrower than the wide functions by this factor at least.
NARROWER = 1.4
#: The smallest cells have a side of 2⁻²⁰ of the domain: coordinates have few digits left to tell points apart.
DEEPEST = 20

#: The numbers of cells or centres along each axis, (n, d).
GridNumbers = NDArray[np.int64]


@stored("layers")
@dataclass(frozen=True, eq=False)
class Layers:
    """Wide functions that fill the domain, and for each level ℓ Gaussians in some cells of side s / 2^ℓ.

    A filled cell has a regular grid of centres of spacing h_ℓ = s / (2^ℓ a), a along each side, and a few more beyond
    it; their lengthscale is tied to h_ℓ as that of all translates is to their spacing.

    Arguments:
        number: of wide functions for each component: translates augmented by polynomials.
        low, high: the corners of the box of the problem, (d,); cell (0, …, 0) begins at ``low``.
        side: s, (d,): the lengths that the wide functions resolve alike.
        cells: the filled ones, each with its level and its numbers k along the axes, (n, 1 + d): it reaches from
            low + k s / 2^ℓ to low + (k + 1) s / 2^ℓ.
    """

    number: int
    low: FloatArray
    high: FloatArray
    side: FloatArray
    cells: GridNumbers

    def __post_init__(self) -> None:
        check_shape("low", self.low, None)
        check_shape("high", self.high, self.dim)
        check_positive("side", self.side, self.dim)
        if self.cells.shape[1:] != (1 + self.dim,):
            remedy = f"give a level and {self.dim} numbers for each cell"
            raise fail(ShapeError, "cells", f"an array of shape {self.cells.shape}", remedy)
        depth = self.cells[:, 0]
        if self.number < 1 or np.any((depth < 0) | (depth > DEEPEST)):
            got = f"{self.number} wide functions, and cells of levels up to {np.max(depth, initial=0)}"
            raise fail(ArgumentError, "layers", got, f"give at least one, and levels from 0 to {DEEPEST}")

    def __repr__(self) -> str:
        filled = ", ".join(f"{len(grid)} of level {level}" for level, grid in self.grids.items())
        return f"Layers({self.number}{' and ' if filled else ''}{filled})"

    @property
    def dim(self) -> int:
        """The number d of coordinates."""
        return len(self.low)

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels that have filled cells."""
        return tuple(np.unique(self.cells[:, 0]).tolist())

    @property
    def size(self) -> int:
        """The number of functions for each component."""
        return self.number + sum(map(len, self.grids.values()))

    @property
    def wide(self) -> float:
        """The spacing of the wide functions in units of s."""
        return spacing(Frame(self.low, self.high, self.side), self.number)

    @property
    def first(self) -> int:
        """The least level whose functions are narrower than the wide ones."""
        return max(0, math.ceil(math.log2(NARROWER / (self.wide * ALONG[min(self.dim, 3) - 1]))))

    def widened(self, number: int) -> Layers:
        """With another number of wide functions, and without layers that are no narrower."""
        other = replace(self, number=number)
        return replace(other, cells=self.cells[self.cells[:, 0] >= other.first])

    def shares(self, functionals: Functionals) -> FloatArray:
        """The volume for which the point of each row stands, (N,), relative to points without layers.

        Points are as dense as functions: (h_ℓ / h)^d, where h is the spacing of the wide ones. With these weights the
        sum of squared residuals is an integral; without them it would be small where points are dense, and what narrow
        functions miss would be pushed out of their cells.
        """
        return np.concatenate([self._shares(block) for block in functionals.blocks])

    def _shares(self, block: Block) -> FloatArray:
        if block.starts is not None:  # sums have no place
            return np.ones(len(block))
        found, level = np.ones(len(block)), self.felt_at(block.x)
        ratio = 1.0 / (ALONG[min(self.dim, 3) - 1] * self.wide)
        found[level >= 0] = np.minimum(1.0, ratio / 2.0 ** level[level >= 0]) ** self.dim
        return found

    def cell(self, level: int) -> FloatArray:
        """The sides of a cell, (d,)."""
        return self.side / 2.0**level

    def spacing(self, level: int) -> FloatArray:
        """h_ℓ along each axis, (d,)."""
        return self.cell(level) / ALONG[min(self.dim, 3) - 1]

    def centres(self, level: int) -> FloatArray:
        """The centres of a level, (n, d)."""
        return self.low + (self.grids[level] + 0.5) * self.spacing(level)

    def filled_at(self, x: FloatArray) -> NDArray[np.int64]:
        """The deepest level of which each point is in a filled cell; −1: none. (n,)."""
        return self._deepest(x, {level: (self.cell(level), self._of(level)) for level in self.levels})

    def felt_at(self, x: FloatArray) -> NDArray[np.int64]:
        """The deepest level whose functions are felt at each point; −1: none. (n,)."""
        return self._deepest(x, {level: (self.spacing(level), boxes) for level, boxes in self.boxes.items()})

    def _deepest(self, x: FloatArray, known: Mapping[int, tuple[FloatArray, GridNumbers]]) -> NDArray[np.int64]:
        found = np.full(len(x), -1)
        for level, (step, cells) in known.items():
            found[among(numbers(x, self.low, step), cells)] = level
        return found

    def filled(self, cells: GridNumbers) -> Layers:
        """With more filled cells, (n, 1 + d)."""
        return replace(self, cells=np.unique(np.vstack([self.cells, cells]), axis=0))

    def _of(self, level: int) -> GridNumbers:
        """The filled cells of one level, (n, d)."""
        return self.cells[self.cells[:, 0] == level, 1:]

    @cached_property
    def grids(self) -> dict[int, GridNumbers]:
        """The numbers of the centres of each level along each axis, (n, d): z = low + (number + ½) h_ℓ."""
        return {level: self._around(level, MARGIN[min(self.dim, 3) - 1]) for level in self.levels}

    @cached_property
    def boxes(self) -> dict[int, GridNumbers]:
        """The numbers of the boxes of side h_ℓ in which functions of each level are felt, (n, d)."""
        margin = MARGIN[min(self.dim, 3) - 1] + FELT[min(self.dim, 3) - 1]
        return {level: self._around(level, margin) for level in self.levels}

    def _around(self, level: int, margin: int) -> GridNumbers:
        """The numbers of boxes of side h_ℓ in filled cells, and so many beyond them, (n, d)."""
        along = ALONG[min(self.dim, 3) - 1]
        each = [np.arange(-margin, along + margin)] * self.dim
        offsets = np.stack(np.meshgrid(*each, indexing="ij"), axis=-1).reshape(-1, self.dim)
        return np.unique((along * self._of(level)[:, None] + offsets).reshape(-1, self.dim), axis=0)


def layers_in(frame: Frame, number: int) -> Layers:
    """So many wide functions, and no layers yet."""
    return Layers(number, frame.low, frame.high, frame.resolved, np.zeros((0, 1 + len(frame.low)), np.int64))


def narrow(layers: Layers, ansatz: Ansatz) -> tuple[KernelFunctions, ...]:
    """The functions of each layer, from wide to narrow, the same for each component of the unknowns."""
    width = width_of(layers.dim)
    found: list[KernelFunctions] = []
    for level in layers.levels:
        z = layers.centres(level)
        functions = Functionals(tuple(evaluations(z, k) for k in range(ansatz.count)))
        found.append(KernelFunctions(Gaussian(width * layers.spacing(level)), functions, ansatz))
    return tuple(found)


def numbers(x: FloatArray, low: FloatArray, step: FloatArray) -> GridNumbers:
    """The number along each axis of the cell of sides ``step`` in which each point lies, (n, d)."""
    return np.floor((x - low) / step).astype(np.int64)


def among(rows: GridNumbers, known: GridNumbers) -> BoolArray:
    """Which of the rows (n, d) are among the known ones (m, d): (n,)."""
    together, inverse = np.unique(np.vstack([known, rows]), axis=0, return_inverse=True)
    held = np.zeros(len(together), dtype=bool)
    held[inverse.ravel()[: len(known)]] = True
    return held[inverse.ravel()[len(known) :]]
