"""Pictures of a problem: the domain, the pieces where conditions hold, points and normals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernop.basics.checks import check_integer
from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.extras import Axes
from kernop.geometry import Points, Region
from kernop.geometry.region import PointSet
from kernop.plotting import COLOURS
from kernop.views.figures import axes_for, framed, users_pyplot
from kernop.views.mesh import mesh_of
from kernop.views.scene import Scene, scene

#: Dots that make up a piece of a boundary, points inside, normals of each piece, and points of the mesh of a domain.
DOTS, INSIDE, NORMALS, FILLED = 600, 200, 12, 3_000


@dataclass(frozen=True, eq=False)
class Piece:
    """A condition as it is drawn: its name, what it says, and where."""

    name: str
    label: str
    on: Region


def plot_places(pieces: Sequence[Piece], points: object = None, ax: object = None, legend: bool = True) -> Axes:
    """Draw the regions of conditions, in colours; see ``problem.plot``."""
    top = max(piece.on.intrinsic_dim for piece in pieces)
    seen = scene([piece.on for piece in pieces if piece.on.intrinsic_dim == top])
    if seen.dim > 3:
        raise fail(ArgumentError, "plot", f"a problem in {seen.dim} dimensions", "three can be drawn")
    count = INSIDE if points is None else 0
    if points is not None and not isinstance(points, Mapping):
        count = check_integer("points", points, least=0)
    given: Mapping[str, Points] = points if isinstance(points, Mapping) else {}
    axis = _axes(seen, ax)
    if seen.dim == 2:
        mesh = mesh_of(seen, FILLED)
        flat = np.full(len(mesh.simplices), 0.1)
        axis.tripcolor(*mesh.x.T, mesh.simplices, flat, cmap="Greys", vmin=0.0, vmax=1.0, zorder=1).set_in_layout(False)
        framed(axis, seen.names, seen.low, seen.high, not seen.timed)
    for k, piece in enumerate(pieces):
        own = given.get(piece.name)
        _draw(axis, seen, piece, COLOURS[k % len(COLOURS)], k, own, count if piece.on.intrinsic_dim == top else 0)
    _finish(axis, seen, len(pieces))
    if legend:
        axis.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.02, 1.0), handletextpad=0.4)
    return axis


def _axes(seen: Scene, ax: object) -> Axes:
    if seen.dim == 3 and ax is None:
        figure = users_pyplot().figure(figsize=(6.4, 4.4), layout="constrained")
        return figure.add_subplot(projection="3d")
    sides = seen.high - seen.low
    ratio = 0.35 if seen.dim == 1 else 0.8 if seen.timed else float(sides[1] / sides[0])
    (axis,) = axes_for(1, ax, ratio, wide=6.2)
    if seen.dim == 3 and not hasattr(axis, "set_zlabel"):
        remedy = "give axes that were made with projection='3d', or leave ax out"
        raise fail(ArgumentError, "ax", "axes of a plane for a problem in space", remedy)
    return axis


def _draw(axis: Axes, seen: Scene, piece: Piece, colour: str, number: int, given: Points | None, count: int) -> None:
    """One condition: dots where it holds, normals on boundaries; inside, the points that are asked for."""
    inner = piece.on.intrinsic_dim == seen.dim
    if given is not None:
        points, size = given, float(np.clip(3000.0 / len(given), 1.0, 8.0))
    elif inner:
        points, size = (_sampled(piece.on, count), 5.0) if count else (None, 0.0)
    else:
        points, size = _sampled(piece.on, DOTS), 30.0 if piece.on.intrinsic_dim == 0 else 7.0 if seen.dim < 3 else 4.0
    style = {"color": colour, "s": size, "linewidths": 0.0, "label": piece.label, "zorder": 2.0 if inner else 3.0}
    if points is None:
        axis.scatter(*[[] for _ in range(max(2, seen.dim))], **style)
        return
    x = _placed(points.x, number)
    axis.scatter(*x.T, alpha=0.6 if inner else 1.0, **style)
    rim = points if isinstance(piece.on, PointSet) else _sampled(piece.on, DOTS)
    if rim.normal is not None and not inner and seen.dim > 1:
        _arrows(axis, seen, _spread(rim), colour)


def _sampled(region: Region, count: int) -> Points:
    if isinstance(region, PointSet):
        return region.points
    return region.sample(count, "grid" if region.intrinsic_dim == 1 else "halton")


def _spread(points: Points) -> Points:
    """Some points, each as far from those before it as any."""
    chosen, distance = [len(points) // 2], np.full(len(points), np.inf)
    for _ in range(min(NORMALS, len(points)) - 1):
        distance = np.minimum(distance, np.linalg.norm(points.x - points.x[chosen[-1]], axis=1))
        chosen.append(int(np.argmax(distance)))
    return points[np.array(chosen)]


def _placed(x: FloatArray, number: int) -> FloatArray:
    """Points of a line stand one below the other, by condition."""
    return np.column_stack([x, np.full(len(x), -0.25 * number)]) if x.shape[1] == 1 else x


def _arrows(axis: Axes, seen: Scene, points: Points, colour: str) -> None:
    length = 0.08 * (seen.high - seen.low) if seen.timed else 0.08 * np.full(seen.dim, np.max(seen.high - seen.low))
    normal = points.outward * length
    if seen.dim == 2:
        style = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.005, "clip_on": False}
        axis.quiver(*points.x.T, *normal.T, color=colour, zorder=4, **style).set_in_layout(False)
    else:
        axis.quiver(*points.x.T, *normal.T, color=colour, linewidth=0.8)


def _finish(axis: Axes, seen: Scene, number: int) -> None:
    """Names and limits of the axes, with room for normals."""
    room = 0.12 * (seen.high - seen.low) if seen.timed else 0.12 * np.full(seen.dim, np.max(seen.high - seen.low))
    low, high = seen.low - room, seen.high + room
    axis.set(xlabel=seen.names[0], xlim=(low[0], high[0]))
    if seen.dim == 1:
        axis.set(ylim=(-0.25 * number, 0.25), yticks=[])
        axis.spines[["top", "right", "left"]].set_visible(False)
        return
    axis.set(ylabel=seen.names[1], ylim=(low[1], high[1]))
    if seen.dim == 3:
        axis.set(zlabel=seen.names[2], zlim=(low[2], high[2]))
        axis.set_box_aspect(np.ones(3) if seen.timed else seen.high - seen.low)


def plot_levels(axis: Axes, centres: Sequence[int], errors: Sequence[float], returned: int, tol: float | None) -> None:
    """Error against the number of functions; the level that was returned is filled."""
    axis.semilogy(centres, errors, "o-", color=COLOURS[0], markerfacecolor="white")
    axis.semilogy([centres[returned]], [errors[returned]], "o", color=COLOURS[0], label="returned")
    if tol is not None:
        axis.axhline(tol, color=COLOURS[1], linestyle="--", label="tolerance")
    axis.set(xlabel="functions", ylabel="relative error", title="learning")
    axis.locator_params(axis="x", nbins=5)
    axis.margins(x=0.1)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
