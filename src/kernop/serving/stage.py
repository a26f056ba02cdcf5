"""What the live page draws on: a grid of nodes over the domain, its mask, arrows, and frames of time or height."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, IntArray, fail
from kernop.language.problem import Problem

#: Nodes along the longest side of a map, or of a curve; fewer if there are frames too.
MAP, MAP_IN_FRAMES, CURVE, CURVE_IN_FRAMES, FRAMES = 49, 23, 401, 121, 13
CURVE_FRAMES = 41
#: Pixels of the mask for each cell of the grid.
FINE, FINE_IN_FRAMES = 10, 20
#: Nodes between neighbouring arrows.
STRIDE, STRIDE_IN_FRAMES = 4, 3


@dataclass(kw_only=True, frozen=True, eq=False)
class Stage:
    """The grid of a page: one or two coordinates that are shown, and perhaps one more that is played.

    Arguments:
        low, high: of all coordinates, (d,).
        shown: how many coordinates are axes of the picture, 1 or 2.
        timed: is the last coordinate time?
        shape: the number of nodes along the axes that are shown, x first.
        frames: the values of the last coordinate, (F,); empty if it is shown.
        mask: which pixels lie inside, (1 or F, height, width), a whole number for each cell, from low to high.
        nodes: the numbers of the nodes where u is computed, of x + nx · y: those inside, in any frame.
        arrows: the numbers of those that have an arrow.
    """

    low: FloatArray
    high: FloatArray
    shown: int
    timed: bool
    shape: tuple[int, ...]
    frames: FloatArray
    mask: BoolArray
    nodes: IntArray
    arrows: IntArray

    @property
    def space(self) -> int:
        """The number of coordinates of space, in which sources lie."""
        return len(self.low) - self.timed

    @property
    def middle(self) -> FloatArray:
        """The middle of the box around the domain, (d,)."""
        return 0.5 * (self.low + self.high)

    @property
    def side(self) -> float:
        """The shortest side of the box around the domain in space."""
        return float(np.min((self.high - self.low)[: self.space]))

    def inside(self, numbers: IntArray) -> BoolArray:
        """Which nodes lie inside in which frame: (F n,), as `places`."""
        count, (_, height, width) = max(len(self.frames), 1), self.mask.shape
        if self.shown == 1:
            return np.ones(count * len(numbers), dtype=bool)
        across, up = np.unravel_index(numbers, self.shape, order="F")
        fine = (width - 1) // (self.shape[0] - 1), (height - 1) // (self.shape[1] - 1)
        found = self.mask[:, up * fine[1], across * fine[0]]
        return np.broadcast_to(found, (count, len(numbers))).ravel()

    def places(self, numbers: IntArray) -> FloatArray:
        """The coordinates of nodes in all frames, frame by frame: (F n, d)."""
        return _places(self.low, self.high, self.shape, self.frames, numbers)


def stage_of(problem: Problem, nodes: int | None = None) -> Stage:
    """The grid for a problem with at most three coordinates; ``nodes`` along its longest side."""
    low, high = problem.bounds
    timed, dim = problem.timed, problem.dim
    shown = min(dim - timed, 2)
    if dim - shown > 1:
        got = f"an operator with {dim} coordinates"
        raise fail(ArgumentError, "T", got, "a page shows two coordinates and plays a third one: slice it in Python")
    played = dim > shown
    most = nodes or ((MAP_IN_FRAMES if played else MAP) if shown == 2 else CURVE_IN_FRAMES if played else CURVE)
    sides = (high - low)[:shown]
    shape = tuple(int(n) for n in np.maximum(np.round((most - 1) * sides / sides.max()), 8) + 1)
    count = CURVE_FRAMES if shown == 1 else FRAMES
    frames = np.linspace(low[-1], high[-1], count) if played else np.empty(0)
    mask, within, arrows = np.ones((1, 1, shape[0]), bool), np.arange(shape[0]), np.arange(0)
    if shown == 2:
        fine = FINE_IN_FRAMES if played else FINE
        pixels, moments = tuple(fine * (n - 1) + 1 for n in shape), frames[:1] if timed else frames
        x = _places(low, high, pixels, moments, np.arange(int(np.prod(pixels))))
        mask = problem.contains(np.clip(x, low, high)).reshape(max(len(moments), 1), pixels[1], pixels[0])
        inside = np.any(mask, axis=0)[::fine, ::fine]
        stride = STRIDE_IN_FRAMES if played else STRIDE
        chosen = np.zeros_like(inside)
        chosen[stride // 2 :: stride, stride // 2 :: stride] = True
        within, arrows = np.flatnonzero(inside), np.flatnonzero(inside & chosen)
    return Stage(
        low=low, high=high, shown=shown, timed=timed, shape=shape, frames=frames, mask=mask, nodes=within, arrows=arrows
    )


def _places(
    low: FloatArray, high: FloatArray, shape: tuple[int, ...], frames: FloatArray, numbers: IntArray
) -> FloatArray:
    index = np.stack(np.unravel_index(numbers, shape, order="F"), axis=1)
    x = low[: len(shape)] + index * (high - low)[: len(shape)] / (np.array(shape) - 1)
    if len(frames) == 0:
        return x
    return np.column_stack([np.tile(x, (len(frames), 1)), np.repeat(frames, len(x))])
