"""Points that come to a learned operator, and points that leave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernop.basics.checks import as_array, check_kind
from kernop.basics.errors import ArgumentError, ArgumentTypeError, BoolArray, IntArray, ShapeError, describe, fail
from kernop.collocation.functionals import Layout
from kernop.collocation.sampling import check_conditions
from kernop.geometry import Points
from kernop.geometry.points import concatenate
from kernop.language.problem import Problem

#: The numbers of some rows, sorted.
RowNumbers = IntArray


def added(
    problem: Problem, held: Mapping[str, Points], layouts: Sequence[Layout], points: object
) -> tuple[dict[str, Points], RowNumbers]:
    """The points of each condition, old then new; and which rows are new when all conditions follow one another.

    Arguments:
        held: the points until now.
        layouts: how the values of each condition stand in rows.
        points: new ones for some conditions by name, `Points` or an array (n, d).
    """
    new = new_points(problem, points)
    together = {name: concatenate([old, new[name]]) if name in new else old for name, old in held.items()}
    masks = {name: np.arange(len(all_)) >= len(held[name]) for name, all_ in together.items()}
    return together, _rows(problem, masks, layouts)


def new_points(problem: Problem, points: object) -> dict[str, Points]:
    """New points for some conditions, by name and in their order, checked."""
    given = _by_name(problem, points, "`Points` or an array (n, d)")
    return {n: problem[n].on.adopt(given[n], f"points[{n!r}]") for n in problem.names if n in given}


def removed(
    problem: Problem, held: Mapping[str, Points], layouts: Sequence[Layout], points: object
) -> tuple[dict[str, Points], RowNumbers]:
    """The points of each condition that stay; and which rows leave when all conditions follow one another.

    Arguments:
        held: the points until now.
        layouts: how the values of each condition stand in rows.
        points: for some conditions by name, which of their points leave: whole numbers, or a mask.
    """
    given = _by_name(problem, points, "the numbers of points, or a mask")
    gone = {name: np.zeros(len(old), dtype=bool) for name, old in held.items()}
    for name, value in given.items():
        gone[name] = _mask(f"points[{name!r}]", value, len(held[name]))
        if np.all(gone[name]):
            remedy = "keep at least one, or learn a problem without the condition"
            raise fail(ArgumentError, f"points[{name!r}]", f"all {len(gone[name])} points of it", remedy)
    rows = _rows(problem, gone, layouts)
    if len(rows) == 0:
        raise fail(ArgumentError, "points", "none that leave", "give the number of at least one")
    return {name: old[~gone[name]] if np.any(gone[name]) else old for name, old in held.items()}, rows


def _by_name(problem: Problem, points: Any, wanted: str) -> Mapping[str, Any]:
    remedy = f"give a dictionary from names of conditions to {wanted}"
    check_kind("points", points, Mapping, remedy)
    if len(points) == 0:
        raise fail(ArgumentError, "points", "an empty dictionary", remedy)
    check_conditions("points", points, problem)
    for name in points:
        if problem[name].integral:
            remedy = "learn again with another number of points for it"
            raise fail(ArgumentError, "points", f"points of {name!r}, whose points are a quadrature rule", remedy)
    return points


def _rows(problem: Problem, masks: Mapping[str, BoolArray], layouts: Sequence[Layout]) -> RowNumbers:
    """The rows of points that are marked: each part of a condition has a row for every point, or one if it is a sum."""
    marked = [
        np.tile(mask[:1] if problem[name].integral else mask, layout.parts)
        for (name, mask), layout in zip(masks.items(), layouts, strict=True)
    ]
    return np.flatnonzero(np.concatenate(marked))


def _mask(name: str, value: Any, n: int) -> BoolArray:
    """Whole numbers from −n to n − 1, or a mask (n,), as a mask (n,)."""
    remedy = f"give whole numbers below {n}, or a mask of {n} truth values"
    array = np.atleast_1d(as_array(name, value, remedy))
    if array.ndim != 1 or (array.dtype.kind == "b" and len(array) != n):
        raise fail(ShapeError, name, f"an array of shape {np.shape(value)}", remedy)
    if array.dtype.kind not in "iub" and (array.size or array.dtype.kind != "f"):  # an empty list is of floats
        raise fail(ArgumentTypeError, name, describe(value), remedy)
    if array.dtype.kind == "b":
        return array
    beyond = (array < -n) | (array >= n)
    if np.any(beyond):
        raise fail(ArgumentError, name, f"the number {array[np.argmax(beyond)]} of {n} points", remedy)
    mask = np.zeros(n, dtype=bool)
    mask[array.astype(np.intp)] = True
    return mask
