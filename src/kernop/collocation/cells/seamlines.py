"""Lines and faces on which parts meet, before their nodes are chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.cells.spatial import SeamNodes, along, nodes_between
from kernop.geometry.cells import Face

#: The degree of traces on the shortest seams.
FEWEST = 4

#: Places and normals on a seam, (n, d) each, for nodes in [0, 1]^(d−1), (n, d − 1).
OnFace = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class SeamLine:
    """A seam whose nodes are not chosen yet."""

    below: int
    above: int
    place: OnFace
    cut: bool = False  # in space: nodes are scattered, and place gives some of them


def told_apart(degree: int, part: float) -> int:
    """The degree of traces on a seam that is only a part, in length, of what bounds either of its sides.

    Of polynomials of degree p on [0, 1] about (2/π) arcsin(√r) p are told apart on a part of length r at the end,
    and a few more to a few digits; traces that neither part tells apart would make the balance of fluxes singular.
    """
    seen = min(1.0, 4.0 / np.pi * float(np.arcsin(np.sqrt(min(1.0, part)))))
    return min(degree, max(FEWEST, int(np.ceil(degree * (0.4 + 0.6 * seen)))))


def scattered_line(sheet: SeamNodes) -> SeamLine:
    """A seam with nodes of its own, of which the first ones are taken."""
    return SeamLine(sheet.below, sheet.above, lambda t: (sheet.x[: len(t)], sheet.normal[: len(t)]), cut=True)


def length_beside(span: FloatArray, sides: FloatArray) -> float:
    """How long a line with this span is for a part with these sides, (d,) each."""
    return max(float(np.max(span / sides)), float(np.linalg.norm(span) / np.max(sides)))


def placed_on(face: Face, low: FloatArray, high: FloatArray) -> OnFace:
    """Nodes on the part of a face between two corners."""

    def place(nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
        x = nodes_between(low, high, face.axis, nodes)
        return x, along(face.axis, x)

    return place
