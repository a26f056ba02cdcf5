"""The one place that makes figures: axes beside each other, colours, and files."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentTypeError, FloatArray, NumberArray, ShapeError, describe, fail
from kernop.basics.extras import Artist, Axes, needed
from kernop.views.mesh import Mesh

#: Maps of colours that the colour-blind can read: of values, and of what has a sign.
VALUES, SIGNED = "viridis", "RdBu_r"
#: What varies by less than this part of its size is drawn as a constant.
CONSTANT = 1e-6
#: Inches of a panel, and of what stands around its axes; panels in a row; ticks of a colour bar at most.
WIDE, AROUND, ACROSS, TICKS = 4.2, (1.2, 0.9), 4, 7


def users_pyplot() -> ModuleType:
    """matplotlib.pyplot, with whatever backend there is; or an error that says how to install it."""
    return needed("matplotlib.pyplot", "plot", "plot")


def axes_for(number: int, ax: object, ratio: float = 0.8, wide: float = WIDE) -> list[Axes]:
    """So many axes: those of the user, or new ones beside each other, of this ratio of height and width."""
    if ax is None:
        across = min(number, 3 if number in (3, 5, 6, 9) else ACROSS)
        down = -(-number // across)
        size = (wide * across, down * float(np.clip((WIDE - AROUND[0]) * ratio + AROUND[1], 1.9, 5.0)))
        _, made = users_pyplot().subplots(down, across, figsize=size, layout="constrained", squeeze=False)
        for extra in made.flat[number:]:
            extra.remove()
        return list(made.flat[:number])
    users_pyplot()
    given = list(np.ravel(np.asarray(ax, dtype=object)))
    if not all(hasattr(own, "plot") and hasattr(own, "figure") for own in given):
        raise fail(ArgumentTypeError, "ax", describe(ax), "give axes of matplotlib, as plt.subplots() makes them")
    if len(given) != number:
        remedy = f"give {number}, as plt.subplots(1, {number}) makes them, or leave ax out"
        raise fail(ShapeError, "ax", f"{len(given)} axes for {number} panels", remedy)
    return given


def returned(axes: Sequence[Axes]) -> Any:
    """One axes as it is, several as an array."""
    if len(axes) == 1:
        return axes[0]
    found = np.empty(len(axes), dtype=object)
    found[:] = axes
    return found


def coloured(axis: Axes, mesh: Mesh, values: NumberArray, limits: tuple[float, float], cmap: str) -> Artist:
    """Values (n,) at the corners of triangles, as colours in between."""
    tri = needed("matplotlib.tri", "plot", "plot")
    triangles = tri.Triangulation(mesh.x[:, 0], mesh.x[:, 1], mesh.simplices)
    style = {"shading": "gouraud", "cmap": cmap, "vmin": limits[0], "vmax": limits[1], "rasterized": True}
    image = axis.tripcolor(triangles, values, **style)
    image.set_in_layout(False)  # it is as large as the axes, and slow to measure
    return image


def colour_bar(axis: Axes, image: Artist) -> None:
    """What the colours mean, beside the axes and as high."""
    # A number of ticks that does not depend on the height: else their labels change after room was made for them.
    ticks = needed("matplotlib.ticker", "plot", "plot").MaxNLocator(TICKS, steps=[1, 2, 2.5, 5, 10])
    bar = axis.figure.colorbar(image, cax=axis.inset_axes((1.04, 0.0, 0.045, 1.0)), ticks=ticks)
    bar.formatter.set_powerlimits((-2, 3))
    bar.update_ticks()
    bar.outline.set_visible(False)


def framed(axis: Axes, names: Sequence[str], low: FloatArray, high: FloatArray, equal: bool) -> None:
    """Names and limits of the axes; the same unit on both where both are space."""
    axis.set(xlabel=names[0], ylabel=names[1], xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    if equal:
        axis.set_aspect("equal")
        pad = 0.02 * float(np.max(high - low))
        axis.set(xlim=(low[0] - pad, high[0] + pad), ylim=(low[1] - pad, high[1] + pad))
        axis.spines[:].set_visible(False)


def limits_of(values: NumberArray, signed: bool = False) -> tuple[float, float]:
    """The least and the largest value; around 0 if the sign matters. A constant has some room."""
    low, high = float(np.min(values)), float(np.max(values))
    if signed:
        high = max(abs(low), abs(high)) or 1.0
        return -high, high
    size = max(abs(low), abs(high)) or 1.0
    return (low, high) if high - low > CONSTANT * size else (low - 0.01 * size, high + 0.01 * size)
