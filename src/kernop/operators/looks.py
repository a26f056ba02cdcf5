"""Pictures of an operator: its points or parts, how it was learned, and an answer to a point source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from kernop.basics.errors import ArgumentError, FloatArray, KernopError, NumberArray
from kernop.collocation.batches import StreamPoints
from kernop.collocation.functionals import evenly
from kernop.geometry import Points
from kernop.methods.parts.drawing import draw_parts, write_degrees
from kernop.methods.parts.space import PartsSpace
from kernop.operators.evaluated import scene_of
from kernop.operators.green import GreenFunction
from kernop.operators.report import Report
from kernop.operators.solution import Solution
from kernop.trust.estimates import Learned
from kernop.views.figures import axes_for, limits_of, returned
from kernop.views.panels import Panel, cuts, panels_of
from kernop.views.pictures import draw, ratio, sampled
from kernop.views.sight import Sight

#: Places of point sources on a line, as parts of it; in the plane one is shown.
SOURCES = (0.25, 0.5, 0.8)
#: The width of a bump, as a part of the domain's extent.
BUMP = 0.1
#: Points of T that are drawn.
DRAWN = 4_000


def plot_operator(
    learned: Learned,
    report: Report | None,
    source: Callable[[FloatArray], GreenFunction],
    answer: Callable[[Mapping[str, Any]], Solution],
    ax: object = None,
) -> Any:
    """Panels beside each other; see ``T.plot``.

    Arguments:
        source: the Green's functions of sources at y (K, d).
        answer: the solution for data by name.
    """
    flat, panel = learned.problem.dim < 3, _response(learned, source, answer)
    number = flat + (report is not None) + 1
    axes = axes_for(number, ax, max(0.7, ratio(panel)) if flat else 0.9)
    rest = iter(axes)
    if flat:
        _places(learned, next(rest))
    if report is not None:
        report.draw(next(rest))
    mesh, values = sampled(panel)
    finite = np.isfinite(values)
    values = np.where(finite, values, np.max(values[finite], initial=0.0))  # a source, where it meets a point
    draw(panel, next(rest), mesh, values, None, limits_of(values))
    return returned(axes)


def _places(learned: Learned, axis: Any) -> None:
    """The conditions and the points of T, or its parts."""
    space, points = learned.factorisation.expansion, learned.points
    parted = isinstance(space, PartsSpace)
    parted_or_streamed = parted or isinstance(points, StreamPoints)
    own = 0 if parted_or_streamed else {name: p[evenly(len(p), DRAWN)] for name, p in points.items()}
    unlabelled(learned.problem.plot(points=own, ax=axis))
    axis.set_title(f"{len(space.uppers)} parts" if parted else "points")
    if parted and space.dim == 2:
        view = axis.axis()
        shown = draw_parts(space, axis, zorder=1.5, alpha=0.7, cmap="viridis_r")  # above the domain
        axis.axis(view)
        axis.figure.colorbar(shown, ax=axis, label="halved", shrink=0.7)
        if np.ptp(space.of_parts):
            write_degrees(space, axis)
        axis.set_title(f"{len(space.uppers)} parts of {space.told_degrees}")


def unlabelled(axis: Any) -> None:
    """Take the legend away, where there is no room for it."""
    axis.get_legend().remove()


def _response(
    learned: Learned, source: Callable[[FloatArray], GreenFunction], answer: Callable[[Mapping[str, Any]], Solution]
) -> Panel:
    """A Green's function; where there is none, the answer to a bump."""
    problem = learned.problem
    scene = scene_of(problem)
    try:
        if problem.dim > 2:
            raise ArgumentError("a Green's function is drawn on lines and in planes")
        y = _sources(learned, scene.low, scene.high)
        G = source(y)

        def evaluate(op: object, points: Points, outside: str) -> NumberArray:
            found = G(points.x)
            return found[:, 0] if len(y) == 1 else found

        labels = tuple(f"y = {place:.3g}" for place in y[:, 0].tolist()) if len(y) > 1 else ()
        where = "" if labels else f"y = ({', '.join(f'{value:.3g}' for value in y[0].tolist())})"
        return Panel(
            Sight("G(x, y)", scene, evaluate), "Green's function" if labels else "G", labels=labels, note=where
        )
    except KernopError:
        u, name = _bumped(learned, answer)
        panel = panels_of(cuts(u.sight(problem.unknowns.names[0]), None, None)[0], None)[0]
        return replace(panel, note=f"{name} a bump, other data 0")


def _sources(learned: Learned, low: FloatArray, high: FloatArray) -> FloatArray:
    """Points inside, which are points of T: near the middle and away from the boundary, or some on a line."""
    problem = learned.problem
    inner = next(c for c in problem.conditions if c.on.intrinsic_dim == problem.dim)
    x = learned.points[inner.name].x
    if problem.dim > 1:
        x = _deep(x, [learned.points[c.name].x for c in problem.conditions if c.on.intrinsic_dim == problem.dim - 1])
    wanted = [low + part * (high - low) for part in (SOURCES if problem.dim == 1 else (0.5,))]
    return np.stack([x[np.argmin(np.linalg.norm(x - place, axis=1))] for place in wanted])


def _deep(x: FloatArray, boundary: list[FloatArray]) -> FloatArray:
    """Those of the points x (n, d) that are at least half as far from points of the boundary as any is."""
    if not boundary:
        return x
    depth, _ = cKDTree(np.concatenate(boundary)).query(x)
    return x[depth >= 0.5 * np.max(depth)]


def _bumped(learned: Learned, answer: Callable[[Mapping[str, Any]], Solution]) -> tuple[Solution, str]:
    """The solution for data that are a bump in the middle, and their name: those of the initial time, or of the first
    condition."""
    problem, given = learned.problem, dict[str, Any]()
    names = [c.name for c in problem.conditions if not c.integral]
    first = [name for name in names if problem.timed and np.ptp(learned.points[name].x[:, -1]) == 0.0]
    name = (first or names)[0]
    for condition, layout in zip(problem.conditions, learned.layouts, strict=True):
        points = learned.points[condition.name]
        shape = (1 if condition.integral else len(points), *(() if layout.components is None else (layout.components,)))
        given[condition.name] = np.zeros(shape)
    x = learned.points[name].x
    width = BUMP * float(np.max(np.ptp(x[:, : problem.dim - problem.timed], axis=0)))
    centre = 0.5 * (x.min(axis=0) + x.max(axis=0))
    size = np.exp(-np.sum((x - centre) ** 2, axis=1) / width**2)
    given[name] += size.reshape(-1, *[1] * (given[name].ndim - 1))
    return answer(given), name
