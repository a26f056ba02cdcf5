"""Peaks of functions on a region: many points, and local searches from where a function is least like its neighbours.

All is done in the parameters t of the patches of a region, the unit cubes that its points come from: there a boundary
is no different from a domain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import BoolArray, FloatArray
from kernop.geometry import Points, Region
from kernop.geometry.patch import Patch
from kernop.geometry.points import concatenate
from kernop.geometry.region import Patchwork, Where, unrestricted
from kernop.geometry.sequences import cell_centres, fair_counts, shares, unit_cube

#: B functions at x (n, d): (n, B), NaN where they are not finite.
Values = Callable[[FloatArray], FloatArray]
SpotNumbers = NDArray[np.int_]

#: Distances, in cells, at which a function is compared with its neighbours on a grid.
STRIDES = (1, 4, 16, 64)
#: Cells across a thin side.
ROWS = 16
#: One point off the grid for so many on it: a ridge along an axis can hide between the lines of a grid.
OFF_GRID = 4
#: Points on a line, which are enough to see what is 1e-4 wide.
ON_A_LINE = 2**16
#: Points at a time: a user's function may need room for many numbers at each.
CHUNK = 2**15
#: What a peak rises from is so many cells away.
AROUND = 4
#: Steps of a local search; each halves its step or moves.
STEPS = 24
#: Widths of a peak, in cells, that are told apart.
WIDTHS = 2.0 ** np.arange(2.0, -12.5, -0.5)
SEED = 271_828


@dataclass(frozen=True, eq=False)
class Sheet:
    """A patch of a region with a grid of cells in its unit cube, and its share of the region's measure."""

    patch: Patch
    counts: tuple[int, ...]
    share: float


@dataclass(frozen=True, eq=False)
class Spots:
    """n places of a region: the sheet (n,) and the parameters (n, m) of each."""

    sheets: tuple[Sheet, ...]
    sheet: SpotNumbers
    t: FloatArray

    def __len__(self) -> int:
        return len(self.sheet)

    def __getitem__(self, rows: SpotNumbers | BoolArray) -> Spots:
        return Spots(self.sheets, self.sheet[rows], self.t[rows])

    def copies(self, t: FloatArray) -> Spots:
        """The same sheets with other parameters (…, n, m), one copy after the other; they are held in the cube."""
        t = np.clip(t, 0.0, 1.0).reshape(-1, t.shape[-1])
        return Spots(self.sheets, np.tile(self.sheet, len(t) // len(self)), t)

    def cells(self) -> FloatArray:
        """The sides of a cell, in parameters, (n, m)."""
        return np.array([[1.0 / count for count in sheet.counts] for sheet in self.sheets])[self.sheet]

    def points(self) -> Points:
        """The spots as points of the region, (n, d), with normals where it has them."""
        own = [np.flatnonzero(self.sheet == k) for k in range(len(self.sheets))]
        parts = [sheet.patch.place(self.t[rows]) for sheet, rows in zip(self.sheets, own, strict=True) if len(rows)]
        return concatenate(parts)[np.argsort(np.concatenate(own))]


@dataclass(frozen=True, eq=False)
class Scan:
    """The values of B functions at many points of a region, and how much they vary there.

    Arguments:
        weights: the part of the region's measure that each spot stands for, (n,).
        values: (n, B); NaN where a function is not finite.
        surprises: how little each value is like its neighbours, in several ways, (n, B) each.
    """

    spots: Spots
    weights: FloatArray
    values: FloatArray
    surprises: tuple[FloatArray, ...]

    def draw(self, number: int) -> tuple[SpotNumbers, FloatArray]:
        """Spots drawn by surprise, and weights ω with Σ ω r² ≈ the mean of r² over the region, for any r."""
        kinds = [self.weights]
        for surprise in self.surprises:
            size = np.max(surprise, axis=0)
            square = np.square(surprise / np.where(size > 0.0, size, 1.0))
            total = self.weights @ square
            kinds.append(self.weights * np.mean(square / np.where(total > 0.0, total, 1.0), axis=1))
        density = np.sum(kinds, axis=0)
        density /= np.sum(density)
        levels = (np.arange(number) + np.random.default_rng(SEED).random(number)) / number
        drawn = np.minimum(np.searchsorted(np.cumsum(density), levels), len(density) - 1)
        chosen, times = np.unique(drawn, return_counts=True)
        weights = times * self.weights[chosen] / np.where(density[chosen] > 0.0, density[chosen], 1.0) / number
        return chosen, weights

    def most_surprising(self, each: int) -> tuple[SpotNumbers, SpotNumbers]:
        """The ``each`` most surprising spots of each kind for each function: their rows, and the functions' numbers."""
        rows, columns = list[SpotNumbers](), list[SpotNumbers]()
        for surprise in self.surprises:
            top = _largest(surprise, each)
            rows.append(top.T.ravel())
            columns.append(np.repeat(np.arange(surprise.shape[1]), len(top)))
        return np.concatenate(rows), np.concatenate(columns)


def _largest(values: FloatArray, each: int) -> SpotNumbers:
    """The rows of the largest values (n, B) in each column, (each, B).

    A few maxima one after the other: `np.argpartition` takes a hundred times longer where many values are equal.
    """
    left, columns, rows = values.copy(), np.arange(values.shape[1]), list[SpotNumbers]()
    for _ in range(min(each, len(values))):
        rows.append(np.argmax(left, axis=0))
        left[rows[-1], columns] = -np.inf
    return np.array(rows)


def searchable(region: Region) -> bool:
    """Can a region be searched for peaks: has it patches with parameters, and more than finitely many points?"""
    whole = unrestricted(region)
    return isinstance(whole, Patchwork) and whole.intrinsic_dim > 0


def scan(region: Region, units: FloatArray, values: Values, number: int) -> Scan:
    """B functions at about ``number`` points; ``units`` are the natural lengths along the axes, (d,)."""
    sheets = _sheets(region, units, number)
    parts = [_of_sheet(sheet, region, values) for sheet in sheets]
    t, found, weights = (np.concatenate([part[k] for part in parts]) for k in range(3))
    spots = Spots(sheets, np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts]), t)
    surprises = tuple(np.concatenate([part[3][k] for part in parts]) for k in range(len(STRIDES) + 1))
    total = float(np.sum(weights))
    weights = weights / total if total > 0.0 else weights
    seen = np.where(np.isfinite(found) & (weights > 0.0)[:, None], found, 0.0)
    level = np.abs(seen - weights @ seen) * (weights > 0.0)[:, None]
    return Scan(spots, weights, found, (level, *surprises))


def climb(spots: Spots, columns: SpotNumbers, values: Values) -> Spots:
    """Local searches for the peak of h_b at each spot, b = columns, all at once: where they end.

    A peak is where h_b is most different from the mean of its values a few cells away from the first spot.

    Along each parameter both sides are tried, and the best is taken; where none is better, the step is halved.
    """
    m = spots.t.shape[1]
    step = spots.cells()
    directions = np.concatenate([np.eye(m), -np.eye(m)])
    around = spots.copies(spots.t + AROUND * directions[:, None, :] * step)
    reference = np.mean(np.nan_to_num(_own(around, np.tile(columns, 2 * m), values)).reshape(2 * m, -1), axis=0)
    best = rises(spots, columns, reference, values)
    for _ in range(STEPS):
        tried = spots.t + directions[:, None, :] * step  # (2m, n, m)
        around = spots.copies(tried)
        found = rises(around, np.tile(columns, 2 * m), np.tile(reference, 2 * m), values).reshape(2 * m, -1)
        which = np.argmax(found, axis=0)
        top = found[which, np.arange(len(spots))]
        better = top > best
        spots = spots.copies(np.where(better[:, None], tried[which, np.arange(len(spots))], spots.t))
        best = np.where(better, top, best)
        step = np.where(better[:, None], step, 0.5 * step)
    return spots


def widths(spots: Spots, columns: SpotNumbers, reference: FloatArray, best: FloatArray, values: Values) -> FloatArray:
    """How far from each peak |h_b − reference| is half of its height, along each parameter: in cells, (n, m).

    Between 4 cells and 2⁻¹² of one, up to a factor of √2; the nearer of both sides.
    """
    n, m = spots.t.shape
    cells, found = spots.cells(), np.empty((n, m))
    for axis in range(m):
        shift = np.zeros((2, len(WIDTHS), 1, m))
        shift[0, :, 0, axis], shift[1, :, 0, axis] = WIDTHS, -WIDTHS
        t = spots.t + shift * cells
        inside = np.all((t >= 0.0) & (t <= 1.0), axis=-1)
        many = 2 * len(WIDTHS)
        around_it = rises(spots.copies(t), np.tile(columns, many), np.tile(reference, many), values)
        low = np.any((around_it.reshape(inside.shape) < 0.5 * best) & inside, axis=0)
        found[:, axis] = np.min(np.where(low, WIDTHS[:, None], WIDTHS[0]), axis=0)
    return found


def rises(spots: Spots, columns: SpotNumbers, reference: FloatArray, values: Values) -> FloatArray:
    """|h_b − reference| at each spot, b = columns, (n,); what is not finite counts as no rise."""
    return np.nan_to_num(np.abs(_own(spots, columns, values) - reference))


def _own(spots: Spots, columns: SpotNumbers, values: Values) -> FloatArray:
    """h_b at each spot, b = columns, (n,); NaN where it is not finite."""
    return values(spots.points().x)[np.arange(len(spots)), columns]


def _sheets(region: Region, units: FloatArray, number: int) -> tuple[Sheet, ...]:
    low, high = region.bounds
    lasting = bool(high[-1] > low[-1] and units[-1] != units[0])  # then the last parameter is time
    whole = unrestricted(region)
    assert isinstance(whole, Patchwork)
    patches = whole.patches
    measures = [patch.measure for patch in patches]
    number = min(number, ON_A_LINE) if whole.intrinsic_dim == 1 else number
    return tuple(
        Sheet(
            patch,
            fair_counts(max(1, count), _natural(patch.sides, units, lasting), ROWS),
            patch.measure / sum(measures),
        )
        for patch, count in zip(patches, shares(number, measures), strict=True)
    )


def _natural(sides: tuple[float, ...], units: FloatArray, lasting: bool) -> list[float]:
    scaled = [side / units[0] for side in sides]
    return [*scaled[:-1], sides[-1] / units[-1]] if lasting else scaled


def _of_sheet(
    sheet: Sheet, region: Region, values: Values
) -> tuple[FloatArray, FloatArray, FloatArray, list[FloatArray]]:
    """Parameters t of the spots of a sheet, values, weights, and surprises: on the grid for each stride, and off it."""
    on = cell_centres(sheet.counts)
    rng = np.random.default_rng(SEED)
    off = unit_cube(max(1, len(on) // OFF_GRID), sheet.patch.sides, "halton", rng)
    t = np.concatenate([on, off])
    found, weights = _evaluated(sheet, region, t, values)
    finite = np.where(np.isfinite(found), found, 0.0)
    grid = finite[: len(on)].reshape(*sheet.counts, -1)
    none_on, none_off = np.zeros((len(on), found.shape[1])), np.zeros((len(off), found.shape[1]))
    surprises = [np.concatenate([_bends(grid, stride).reshape(len(on), -1), none_off]) for stride in STRIDES]
    cell = np.ravel_multi_index(tuple((off * sheet.counts).astype(int).T), sheet.counts, mode="clip")
    surprises.append(np.concatenate([none_on, np.abs(finite[len(on) :] - finite[cell])]))
    return t, found, weights, [surprise * (weights > 0.0)[:, None] for surprise in surprises]


def _evaluated(sheet: Sheet, region: Region, t: FloatArray, values: Values) -> tuple[FloatArray, FloatArray]:
    """Values at parameters t, (n, B), and weights; both 0 outside the region, where a function may not be defined."""
    parts, inside = list[FloatArray](), list[BoolArray]()
    for start in range(0, len(t), CHUNK):
        own_t = t[start : start + CHUNK]
        x = sheet.patch.place(own_t).x
        kept = np.ones(len(x), dtype=bool) if sheet.patch.keeps is None else sheet.patch.keeps(own_t)
        if isinstance(region, Where):
            kept &= region.contains(x)
        own = values(x[kept]) if kept.any() else np.zeros((0, 1))
        part = np.zeros((len(x), own.shape[1]))
        part[kept] = own
        parts.append(part)
        inside.append(kept)
    width = max(part.shape[1] for part in parts)
    found = np.concatenate([np.broadcast_to(part, (len(part), width)) for part in parts])
    finite = np.all(np.isfinite(found), axis=1)
    return found, np.where(np.concatenate(inside) & finite, sheet.share / len(t), 0.0)


def _bends(grid: FloatArray, stride: int) -> FloatArray:
    """|v − (v₊ + v₋)/2| with neighbours ``stride`` cells away, the largest of all axes; at the rim that of the next."""
    bent = np.zeros_like(grid)
    for axis, count in enumerate(grid.shape[:-1]):
        if count <= 2 * stride:
            continue
        v = np.moveaxis(grid, axis, 0)
        rim = [(stride, stride)] + [(0, 0)] * (v.ndim - 1)
        second = np.abs(v[stride:-stride] - 0.5 * v[: -2 * stride] - 0.5 * v[2 * stride :])
        bent = np.maximum(bent, np.moveaxis(np.pad(second, rim, mode="edge"), 0, axis))
    return bent
