"""Pictures of a function: a curve, colours in the plane, cuts of space, arrows of a vector, parts of complex values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kernop.basics.checks import check_choice, check_integer
from kernop.basics.errors import FloatArray
from kernop.basics.extras import Artist, Axes
from kernop.geometry.sequences import cell_centres
from kernop.views.figures import SIGNED, VALUES, axes_for, colour_bar, coloured, framed, limits_of, returned
from kernop.views.mesh import Mesh, mesh_of
from kernop.views.panels import PARTS, Panel, cuts, panels_of
from kernop.views.sight import Sight

#: Points of a curve and of an image, and arrows along the longer side.
CURVE, IMAGE, ARROWS = 801, 8_000, 14


def plot(
    sights: Sequence[Sight],
    *,
    ax: object = None,
    axis: object = None,
    at: object = None,
    part: object = None,
    points: object = None,
    cmap: str | None = None,
    errors: Sequence[tuple[Sight, str]] = (),
) -> Any:
    """Draw functions beside each other, and what is known of their errors; see ``u.plot``."""
    shown = check_choice("part", part, [own for own in PARTS if own]) if part is not None else None
    number = None if points is None else check_integer("points", points, least=16)
    panels = [panel for sight in sights for own in cuts(sight, axis, at) for panel in panels_of(own, shown)]
    for sight, note in errors:
        found = [panel for own in cuts(sight, axis, at) for panel in panels_of(own, shown)]
        panels += [replace(panel, arrows=None, signed=not panel.label.startswith("|"), note=note) for panel in found]
    axes = axes_for(len(panels), ax, max(map(ratio, panels)))
    drawn = [sampled(panel, number) for panel in panels]
    for panel, own, (mesh, values) in zip(panels, axes, drawn, strict=True):
        alike = [v for other, (_, v) in zip(panels, drawn, strict=True) if other.label == panel.label]
        draw(panel, own, mesh, values, cmap, limits_of(np.concatenate(alike), panel.signed))
    return returned(axes)


def small_picture(sight: Sight) -> Callable[[Axes], None]:
    """Draws a function on axes, small: its first panel."""

    def on(axis: Axes) -> None:
        panel = panels_of(cuts(sight, None, None)[0], None)[0]
        mesh, values = sampled(panel, 200 if panel.sight.scene.dim == 1 else 900)
        draw(replace(panel, arrows=None), axis, mesh, values, None, limits_of(values))

    return on


def sampled(panel: Panel, points: int | None = None) -> tuple[Mesh, FloatArray]:
    """A mesh for a panel, and what is shown at its points, (n,) or (n, m)."""
    mesh = mesh_of(panel.sight.scene, points or (CURVE if panel.sight.scene.dim == 1 else IMAGE))
    return mesh, panel.of(panel.sight(mesh.x))


def draw(
    panel: Panel, axis: Axes, mesh: Mesh, values: FloatArray, cmap: str | None, limits: tuple[float, float]
) -> None:
    """Draw one panel; cuts of one function have the same colours."""
    if panel.sight.scene.dim == 1:
        curves(panel, axis, mesh, values)
    else:
        paint(panel, axis, mesh, values, cmap, limits)
        if panel.arrows is not None:
            quiver(panel, axis)
    axis.set_title(panel.title)


def paint(
    panel: Panel, axis: object, mesh: Mesh, values: FloatArray, cmap: str | None, limits: tuple[float, float]
) -> Artist:
    """Values on a mesh as colours, with their bar."""
    scene, colours = panel.sight.scene, cmap or (SIGNED if panel.signed else VALUES)
    image = coloured(axis, mesh, values, limits, colours)
    colour_bar(axis, image)
    framed(axis, scene.names, scene.low, scene.high, not scene.timed)
    return image


def quiver(panel: Panel, axis: Axes, longest: float = 0.0) -> Artist:
    """Arrows of a vector on a grid of the plane; of the longest, if that is not the longest among them."""
    assert panel.arrows is not None
    scene = panel.sight.scene
    sides = scene.high - scene.low
    shape = [max(4, round(ARROWS * side / float(np.max(sides)))) for side in sides.tolist()]
    x = scene.low + cell_centres(shape) * sides
    x = x[scene.contains(x)]
    v = panel.arrows(panel.sight(x))
    longest = longest or float(np.max(np.linalg.norm(v, axis=1), initial=0.0)) or 1.0
    scale = longest / (float(np.max(sides)) / ARROWS)  # the longest reaches from one to the next
    style = {"color": "white", "edgecolor": "0.15", "linewidth": 0.5, "width": 0.009, "headlength": 4.0, "pivot": "mid"}
    arrows = axis.quiver(*x.T, *v.T, angles="xy", scale_units="xy", scale=scale, **style)
    arrows.set_in_layout(False)
    return arrows


def ratio(panel: Panel) -> float:
    """Height and width of the axes of a panel."""
    scene = panel.sight.scene
    return 0.8 if scene.dim == 1 or scene.timed else float((scene.high - scene.low)[1] / (scene.high - scene.low)[0])


def curves(panel: Panel, axis: Axes, mesh: Mesh, values: FloatArray) -> list[tuple[Artist, slice, int]]:
    """Curves on a line; each with the points that it passes through, and the column of its values."""
    drawn: list[tuple[Artist, slice, int]] = []
    starts = np.flatnonzero(np.diff(mesh.simplices[:, 0]) > 1) + 1  # of connected pieces of the line
    for rows in (slice(int(own[0, 0]), int(own[-1, 1]) + 1) for own in np.split(mesh.simplices, starts)):
        for k, own in enumerate(values[rows].T if values.ndim == 2 else [values[rows]]):
            label = panel.labels[k] if panel.labels and rows.start == 0 else None
            style = {"color": f"C{k}", "linestyle": ("-", "--", ":", "-.")[k % 4], "label": label}
            drawn.append((axis.plot(mesh.x[rows, 0], own, **style)[0], rows, k))
    axis.set(xlabel=panel.sight.scene.names[0], ylabel=panel.label)
    axis.margins(x=0.01)
    axis.spines[["top", "right"]].set_visible(False)
    axis.ticklabel_format(axis="y", scilimits=(-3, 4))
    if panel.labels:
        axis.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return drawn
