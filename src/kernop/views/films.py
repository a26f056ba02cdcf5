"""Films: a function of space and time, moment after moment."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from kernop.basics.checks import check_choice, check_integer
from kernop.basics.errors import ArgumentError, FileError, FloatArray, fail
from kernop.basics.extras import Artist, Axes, needed
from kernop.basics.progress import Stages
from kernop.basics.replacing import check_path, writing
from kernop.views.figures import axes_for, limits_of
from kernop.views.mesh import Mesh, mesh_of
from kernop.views.panels import PARTS, Panel, cuts, panels_of
from kernop.views.pictures import curves, paint, quiver, ratio
from kernop.views.scene import read_cut
from kernop.views.sight import Sight
from kernop.views.vtkfiles import read_times

#: Moments of a film, and points of its pictures.
MOMENTS, POINTS = 60, 4_000
#: What files of films are called.
SUFFIXES = (".gif", ".mp4", ".html")
#: Shows moment k, and says what has changed.
Change = Callable[[int], list[Artist]]


def animate(
    sight: Sight,
    path: str | os.PathLike[str] | None,
    *,
    times: object,
    fps: int,
    axis: Axes,
    at: Any,
    part: object,
    points: object,
    cmap: str | None,
) -> Any:
    """A film of a function of space and time; see ``u.animate``."""
    needed("matplotlib", "plot", "animate")
    target, rate = _target(path), check_integer("fps", fps, least=1, most=120)
    own = sight.alone("animate")
    if not own.scene.timed:
        raise fail(ArgumentError, "animate", "a function without time", "use u.plot()")
    shown = check_choice("part", part, [name for name in PARTS if name]) if part is not None else None
    number = POINTS if points is None else check_integer("points", points, least=16)
    moments = read_times(own, times, MOMENTS)
    own = own.fixed(read_cut(own.scene, axis, at)) if axis is not None or at is not None else own
    if not own.scene.timed:
        raise fail(ArgumentError, "at", "a fixed time", "use u.plot(at=…), or u.at(t=…).plot()")
    last = own.scene.dim - 1
    planes = [cuts(own.fixed({last: t}), None, None)[0] for t in moments.tolist()]
    panels = [panels_of(plane, shown)[0] for plane in planes]  # of complex values the real part
    mesh, frames = mesh_of(panels[0].sight.scene, number), list[FloatArray]()
    with Stages(None) as stages, stages("film") as tick:
        for k, panel in enumerate(panels):
            frames.append(panel.of(panel.sight(mesh.x)))
            tick((k + 1) / (2 * len(panels)), f"{k + 1} of {len(panels)} moments")
        (axis,) = axes_for(1, None, ratio(panels[0]))
        moving = _curves if panels[0].sight.scene.dim == 1 else _colours
        film = _film(axis, panels, moving(axis, panels, mesh, frames, cmap), rate)
        if target is None:
            return film
        return _save(film, axis.figure, target, rate, lambda k, n: tick(0.5 + (k + 1) / (2 * max(n, 1)), "drawing"))


def _film(axis: Axes, panels: list[Panel], change: Change, fps: int) -> Artist:
    """The animation of panels, one after the other."""

    def show(k: int) -> list[Artist]:
        axis.set_title(panels[k].title)
        return change(k)

    show(0)
    animation = needed("matplotlib.animation", "plot", "animate")
    return animation.FuncAnimation(axis.figure, show, frames=len(panels), interval=1000.0 / fps, repeat=True)


def _curves(axis: Axes, panels: list[Panel], mesh: Mesh, frames: list[FloatArray], cmap: str | None) -> Change:
    """Curves that move between fixed limits."""
    lines, (low, high) = curves(panels[0], axis, mesh, frames[0]), limits_of(np.concatenate(frames))
    room = 0.04 * (high - low)
    axis.set_ylim(low - room, high + room)

    def change(k: int) -> list[Artist]:
        for line, rows, column in lines:
            values = frames[k][rows]
            line.set_ydata(values if values.ndim == 1 else values[:, column])
        return [line for line, _, _ in lines]

    return change


def _colours(axis: object, panels: list[Panel], mesh: Mesh, frames: list[FloatArray], cmap: str | None) -> Change:
    """Colours, and perhaps arrows, whose meaning does not change."""
    limits = limits_of(np.concatenate(frames))
    image = paint(panels[0], axis, mesh, frames[0], cmap, limits)
    arrows = quiver(panels[0], axis, limits[1]) if panels[0].arrows is not None else None

    def change(k: int) -> list[Artist]:
        image.set_array(frames[k])
        shown = panels[k].arrows
        if arrows is not None and shown is not None:
            arrows.set_UVC(*shown(panels[k].sight(np.asarray(arrows.XY))).T)
        return [image]

    return change


def _target(path: str | os.PathLike[str] | None) -> Path | None:
    """Where the film goes, if its kind is known and can be written here."""
    if path is None:
        return None
    check_path(path)
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        got = f"{str(target)!r}, whose suffix is not that of a film"
        raise fail(FileError, "path", got, "give one such as 'u.gif', 'u.mp4' or 'u.html'")
    if target.suffix.lower() == ".mp4" and ffmpeg() is None:
        got, remedy = f"{str(target)!r}, and no program ffmpeg", "pip install 'kernop[film]', which brings one"
        raise fail(FileError, "path", got, f"{remedy}, or give 'u.gif' or 'u.html'")
    return target


def ffmpeg() -> str | None:
    """The program that writes MP4: that of the settings of matplotlib, else that of the extra ``film``."""
    mpl = needed("matplotlib", "plot", "animate")
    if (own := shutil.which(mpl.rcParams["animation.ffmpeg_path"])) is not None:
        return own
    try:
        return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError):  # the latter: a platform for which the package has no program
        return None


def _save(film: Artist, figure: Artist, target: Path, fps: int, drawn: Callable[[int, int], None]) -> Path:
    plt, mpl = needed("matplotlib.pyplot", "plot", "animate"), needed("matplotlib", "plot", "animate")
    kind, settings = target.suffix.lower(), {}
    if kind == ".mp4":
        settings = {"animation.ffmpeg_path": ffmpeg()}
    try:
        with writing(target), mpl.rc_context(settings):
            target.parent.mkdir(parents=True, exist_ok=True)
            if kind == ".html":
                target.write_text(film.to_jshtml(fps=fps), encoding="utf-8")
            else:
                film.save(target, writer="ffmpeg" if settings else "pillow", fps=fps, progress_callback=drawn)
    finally:
        plt.close(figure)
    return target
