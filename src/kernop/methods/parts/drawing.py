"""A picture of the parts of a space: where they are, how often cells were halved, their degrees, or any numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernop.basics.errors import ArgumentError, FloatArray, ShapeError, fail
from kernop.basics.extras import needed
from kernop.methods.parts.space import PartsSpace

#: Degrees are written into parts whose sides are at least this part of the whole, in letters of this size.
LEGIBLE, LETTERS = 0.06, 6.0


def halvings(space: PartsSpace) -> FloatArray:
    """How often the largest cell was halved to get the cell of each part, (P,)."""
    cells = space.mosaic.cells
    sides = np.max(cells.high - cells.low, axis=1)
    return np.round(np.log2(np.max(sides) / sides))[space.mosaic.owners[:, 0]]


def draw_parts(space: PartsSpace, axes: Any, values: ArrayLike | None = None, **options: Any) -> Any:
    """Draw the boxes around the parts of a space in the plane on axes of Matplotlib, coloured; what colours them.

    Arguments:
        values: a number for each part, (P,), such as ``u.error_estimate().parts``; None draws how often cells were
            halved.
        options: for Matplotlib's PolyCollection, such as ``cmap`` and ``norm``.
    """
    if space.dim != 2:
        raise fail(ArgumentError, "space", f"one in {space.dim} dimensions", "draw parts in the plane")
    low, high = space.boxes
    shown = halvings(space) if values is None else np.asarray(values, dtype=float)
    if shown.shape != (len(low),):
        raise fail(
            ShapeError, "values", f"an array of shape {shown.shape}", f"give a number for each of {len(low)} parts"
        )
    corners = np.stack([low, np.stack([high[:, 0], low[:, 1]], 1), high, np.stack([low[:, 0], high[:, 1]], 1)], axis=1)
    collections = needed("matplotlib.collections", "plot", "draw_parts")
    boxes = collections.PolyCollection(list(corners), array=shown, edgecolors="white", linewidths=0.4, **options)
    axes.add_collection(boxes)
    axes.autoscale()
    axes.set_aspect("equal")
    return boxes


def write_degrees(space: PartsSpace, axes: Any) -> None:
    """Write the degree of its polynomials into each part that is large enough for it to be read."""
    low, high = space.boxes
    extent = float(np.max(np.max(high, axis=0) - np.min(low, axis=0)))
    for k in np.flatnonzero(np.min(high - low, axis=1) >= LEGIBLE * extent).tolist():
        x, y = (0.5 * (low[k] + high[k])).tolist()
        shown = {"ha": "center", "va": "center", "fontsize": LETTERS, "zorder": 3, "clip_on": True}
        axes.text(x, y, str(space.of_parts[k]), **shown)
