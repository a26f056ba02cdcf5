"""Inside a closed surface of triangles or not: how often a ray crosses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray, IntArray

#: Pairs of a point and a triangle that are looked at together.
PAIRS = 2**20


@dataclass(kw_only=True, frozen=True, eq=False)
class TriangleColumns:
    """Triangles by the columns of a grid that they stand over, seen along a direction in which nothing is aligned.

    Arguments:
        turn: the rotation, (3, 3).
        corners: the turned triangles, (m, 3, 3).
        low, cell, count: the grid of columns.
        starts, numbers: the triangles of each column.
    """

    turn: FloatArray
    corners: FloatArray
    low: FloatArray
    cell: FloatArray
    count: int
    starts: IntArray
    numbers: IntArray

    @classmethod
    def of(cls, corners: FloatArray) -> TriangleColumns:
        turn, _ = np.linalg.qr(np.random.default_rng(7).standard_normal((3, 3)))
        corners = corners @ turn
        flat = corners[..., :2]
        low, high = flat.min(axis=(0, 1)), flat.max(axis=(0, 1))
        count = int(np.clip(np.sqrt(len(corners)), 1, 512))
        cell = (high - low) / count
        first = np.clip((flat.min(axis=1) - low) // cell, 0, count - 1).astype(np.intp)
        last = np.clip((flat.max(axis=1) - low) // cell, 0, count - 1).astype(np.intp)
        wide = last - first + 1
        each = wide[:, 0] * wide[:, 1]
        number, within = np.repeat(np.arange(len(corners)), each), _counted(each)
        i = first[number, 0] + within // wide[number, 1]
        j = first[number, 1] + within % wide[number, 1]
        column = i * count + j
        order = np.argsort(column, kind="stable")
        starts = np.searchsorted(column[order], np.arange(count * count + 1))
        return cls(turn=turn, corners=corners, low=low, cell=cell, count=count, starts=starts, numbers=number[order])

    def inside(self, x: FloatArray) -> BoolArray:
        x = x @ self.turn
        place = np.floor((x[:, :2] - self.low) / self.cell)
        over = np.all((place >= 0) & (place < self.count), axis=1)
        column = np.where(over, place[:, 0] * self.count + place[:, 1], 0).astype(np.intp)
        counts = np.where(over, self.starts[column + 1] - self.starts[column], 0)
        odd = np.zeros(len(x), dtype=bool)
        for chosen in _groups(counts):
            which = np.repeat(np.arange(len(x))[chosen], counts[chosen])
            if len(which) == 0:
                continue
            numbers = self.numbers[self.starts[column[which]] + _counted(counts[chosen])]
            crossed = _above(x[which], self.corners[numbers])
            odd[chosen] = np.bincount(which[crossed], minlength=len(x))[chosen] % 2 == 1
        return odd


def _above(x: FloatArray, corners: FloatArray) -> BoolArray:
    """Does the upward ray from x (n, 3) cross its triangle (n, 3, 3)? Neighbours agree on the edge between them."""
    flat = corners[..., :2] - x[:, None, :2]
    a, b = flat, np.roll(flat, -1, axis=1)
    swap = (a[..., 0] > b[..., 0]) | ((a[..., 0] == b[..., 0]) & (a[..., 1] > b[..., 1]))
    first, last = np.where(swap[..., None], b, a), np.where(swap[..., None], a, b)
    cross = first[..., 0] * last[..., 1] - first[..., 1] * last[..., 0]
    left = np.where(swap, -1.0, 1.0) * np.where(cross >= 0.0, 1.0, -1.0)
    hit = np.abs(np.sum(left, axis=1)) == 3.0
    signed = np.where(swap, -cross, cross)
    weights = np.roll(signed, -1, axis=1)  # the edge opposite to each corner
    total = np.sum(weights, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        height = np.sum(weights * corners[..., 2], axis=1) / total
    return hit & (total != 0.0) & (height > x[:, 2])


def _groups(counts: IntArray) -> Iterator[slice]:
    """Slices of rows that together have not too many pairs."""
    total, start = np.cumsum(counts), 0
    while start < len(counts):
        before = total[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + PAIRS, side="right")))
        yield slice(start, stop)
        start = stop


def _counted(counts: IntArray) -> IntArray:
    """0, 1, …, n − 1 for each n of the counts, one after the other."""
    return np.arange(int(np.sum(counts))) - np.repeat(np.cumsum(counts) - counts, counts)
