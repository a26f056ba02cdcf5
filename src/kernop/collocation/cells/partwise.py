"""Points of a problem's conditions, part after part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.sampling import QUADRATURE
from kernop.geometry import Points, Region
from kernop.geometry.cells import Cells
from kernop.geometry.composite import composite
from kernop.geometry.domain import Domain
from kernop.language.problem import Problem


class PartwisePoints:
    """Points of conditions, part after part."""

    def __init__(self, problem: Problem, pieces: Pieces, cells: Cells, count: int) -> None:
        self._problem, self._pieces, self._cells, self._count = problem, pieces, cells, count
        self._found: dict[str, tuple[NDArray[np.intp], FloatArray, FloatArray | None]] = {}

    def add(
        self, own: Sequence[tuple[int, FloatArray]], normal: FloatArray | None, places: FloatArray | None, dim: int
    ) -> None:
        """Give points of parts to the conditions on whose regions, of this dimension, they lie.

        Arguments:
            own: parts and points, part after part.
            normal: at all points, if they are on the boundary.
            places: beside the points, where it is looked for regions; None looks at the points.
        """
        if not own:
            return
        part = np.repeat([k for k, _ in own], [len(x) for _, x in own])
        x = np.concatenate([x for _, x in own])
        free = np.ones(len(x), dtype=bool)
        places = x if places is None else places
        for condition in self._problem.conditions:
            if condition.on.intrinsic_dim != dim or condition.across or condition.integral:
                continue
            here = condition.on.contains(places)
            if np.any(here):
                self._found[condition.name] = part[here], x[here], None if normal is None else normal[here]
                free &= ~here
        if np.any(free):
            got = f"no condition at x = {np.array2string(x[np.argmax(free)], precision=4)}"
            raise fail(ArgumentError, "problem", got, "state one on all of the domain, and of its boundary")

    def done(self) -> tuple[dict[str, Points], dict[str, NDArray[np.intp]]]:
        """Points by name, and where those of each part begin."""
        points, starts = dict[str, Points](), dict[str, NDArray[np.intp]]()
        for condition in self._problem.conditions:
            name, own = condition.name, self._found.get(condition.name)
            if condition.integral:
                points[name] = self._rule(condition.on)
                continue
            if condition.across:
                continue
            if own is None:
                raise fail(ArgumentError, name, "no point of it in any cell", "state it on a part of the domain")
            part, x, normal = own
            points[name] = Points(x, normal, self._problem.timed)
            starts[name] = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=self._count))])
        return points, starts

    def _rule(self, region: Region) -> Points:
        """Points with weights for an integral: u is smooth in each part."""
        parts = () if self._pieces.parts is None else self._pieces.parts.domains
        cuts = [own for own in parts if isinstance(own, Domain)]
        n = QUADRATURE[min(region.intrinsic_dim, 3) - 1]
        return composite(region, cuts, self._cells.low, self._cells.high, n)
