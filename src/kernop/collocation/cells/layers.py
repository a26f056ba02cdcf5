"""Boundary layers of equations that flow dominates, and grid lines that resolve them.

Where −a u_nn + b_n u_n + … = f leaves a domain, b_n > 0 along the outer normal, u has a layer exp(−s b_n / a) in the
distance s from the boundary; along a side with b_n = 0 one of width √(a L / |b|), L the length of the side. Cells
as wide as a few of these widths, and twice as wide next to them, resolve it with polynomials.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import Kept
from kernop.collocation.ansatz import coefficient_mark
from kernop.collocation.cells.elliptic import Kind, Table, equations_of, kind_of, tables_of
from kernop.geometry import Box, Points
from kernop.geometry.domain import Domain
from kernop.language.problem import Problem

#: Grid lines stand so many widths of a layer away from the boundary, as far as that is within the first cell.
WIDTHS = (5.0, 12.0, 26.0, 52.0)
#: A side is along the flow if less than this part of it goes through.
ALONG = 1e-9
#: Points of a side at which the flow is looked at.
LOOK = 64

#: Widths of layers beside all sides, by what the coefficients there are.
_seen: Kept[Problem, dict[bytes, tuple[float, ...]]] = Kept()


def with_layers(lines: list[FloatArray], widths: Sequence[float]) -> list[FloatArray]:
    """Grid lines of a box, with others beside its sides where u has layers, of widths as in `layer_widths`."""
    found = [own.copy() for own in lines]
    for width, (axis, side, sign) in zip(widths, _sides(len(lines)), strict=False):
        first = abs(float(lines[axis][side] - lines[axis][1 if side == 0 else -2]))
        near = [lines[axis][side] - sign * k * width for k in WIDTHS if k * width < 0.7 * first]
        if near:
            found[axis] = np.unique(np.concatenate([found[axis], near]))
    return found


def layer_widths(problem: Problem, domain: Domain) -> tuple[float, ...]:
    """The widths of the thinnest layers beside the sides of a box; empty where none are looked for.

    They are those of before, if the coefficients at the sides have not changed.
    """
    kind = kind_of(problem)
    plain = isinstance(domain, Box) and not problem.timed
    if not plain or not isinstance(kind, Kind) or len(kind.traced) > 1 or kind.order != 2:
        return ()
    sides, bounds = _sides(problem.dim), np.stack(domain.bounds)
    points = Points(np.concatenate([_on_side(bounds, *own[:2]) for own in sides]), None, False)
    seen = _seen.of(problem, dict[bytes, tuple[float, ...]])
    mark = coefficient_mark([(c, points) for c in equations_of(problem)], problem.unknowns)
    if mark not in seen:
        (whole,) = tables_of(problem, points)
        length = float(np.max(bounds[1] - bounds[0]))
        tables = [{term: own[a : a + LOOK] for term, own in whole.items()} for a in range(0, len(points), LOOK)]
        seen.clear()
        found = [_width(table, axis, sign, length) for table, (axis, _, sign) in zip(tables, sides, strict=True)]
        seen[mark] = tuple(found)
    return seen[mark]


def _sides(dim: int) -> list[tuple[int, int, float]]:
    """The sides of a box: the axis, the first or the last place along it, and the sign of the outer normal."""
    return [(axis, side, sign) for axis in range(dim) for side, sign in ((0, -1.0), (-1, 1.0))]


def _on_side(bounds: FloatArray, axis: int, side: int) -> FloatArray:
    """Points of a side of a box with bounds (2, d), along its diagonal, (n, d)."""
    nodes = (np.arange(LOOK) + 0.5) / LOOK
    x = bounds[0] + nodes[:, None] * (bounds[1] - bounds[0])
    x[:, axis] = bounds[side, axis]
    return x


def _width(table: Table, axis: int, sign: float, length: float) -> float:
    """The width of the thinnest layer beside a side; infinite if there is none."""
    none = np.zeros(LOOK)

    def coefficient(*axes: int) -> FloatArray:
        d = len(next(iter(table))[1])
        return np.real(table.get((next(iter(table))[0], tuple(axes.count(j) for j in range(d))), none))

    d = len(next(iter(table))[1])
    spread = -coefficient(axis, axis)
    flow = np.stack([coefficient(j) for j in range(d)])
    speed = np.max(np.abs(flow), axis=0)
    spreads = spread != 0.0  # a coefficient may vanish at a side
    out = sign * flow[axis] / np.where(spreads, spread, 1.0)
    leaves = spreads & (out * np.abs(spread) > ALONG * speed)
    along = (np.abs(flow[axis]) <= ALONG * speed) & (speed > 0.0)
    widths = np.full(LOOK, np.inf)
    widths[leaves] = 1.0 / out[leaves]
    widths[along] = np.sqrt(np.abs(spread[along]) * length / speed[along])
    return float(np.min(widths))
