"""Figures: needs the extra ``kernop[plot]``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from kernop.basics.checks import check_array, check_coordinates, check_kind, check_squares
from kernop.basics.errors import ArgumentTypeError, FileError, FloatArray, ShapeError, describe, fail
from kernop.basics.extras import Artist, Axes, needed
from kernop.basics.replacing import check_path, writing

#: Pixels in an inch of a figure, at least.
DPI = 150
#: Colours that the colour-blind can tell apart (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
#: Errors below this part of the largest in a figure are drawn as nothing.
NEGLIGIBLE = 1e-16


def pyplot() -> ModuleType:
    """matplotlib.pyplot with our settings of sizes, and with a backend that needs no screen if it is new."""
    plt = _plain()
    sizes = {"figure.dpi": DPI, "font.size": 11, "axes.titlesize": 12}
    plt.rcParams.update({**sizes, "axes.spines.top": False, "axes.spines.right": False})
    return plt


def _plain() -> ModuleType:
    """matplotlib.pyplot, with a backend that needs no screen if it is new; or an error that says how to install it."""
    mpl = needed("matplotlib", "plot", "matplotlib")
    if "matplotlib.pyplot" not in sys.modules:  # else it is the user's, who may look at figures
        mpl.use("Agg")
    return needed("matplotlib.pyplot", "plot", "matplotlib")


def true_predicted_error(
    x: FloatArray,
    exact: FloatArray,
    found: FloatArray | Mapping[str, FloatArray],
    path: str | Path,
    *,
    title: str = "",
    labels: Sequence[str] = ("x", "y"),
    truth: str = "exact solution",
) -> Path:
    """Panels on a square grid: a row of exact solution, prediction and absolute error for each estimator.

    The errors of all rows have the same logarithmic colours.

    Arguments:
        x: a full tensor grid with n points along each axis, (n², 2), first coordinate slowest.
        exact: values there, (n²,).
        found: ours, (n²,); or several, by name.
        labels: of the axes.
        truth: what ``exact`` is called.
    """
    x, n = _grid(x)
    exact = _values("exact", exact, len(x))
    several = found if isinstance(found, Mapping) else {"kernop": found}
    rows = {_text("found", name): _values("found", values, len(x)) for name, values in several.items()}
    if not rows:
        raise fail(ArgumentTypeError, "found", describe(found), "give values, or a dictionary of them by name")
    if not isinstance(labels, Sequence) or len(labels) != 2:
        raise fail(ShapeError, "labels", describe(labels), "give two, as in ('x', 'y')")
    heading, reference = _text("title", title), _text("truth", truth)
    across, up = (_text("labels", label) for label in labels)
    size = (12.5, 0.4 + 3.6 * len(rows))
    figure, axes = pyplot().subplots(len(rows), 3, figsize=size, layout="constrained", squeeze=False)
    shared = {"vmin": float(exact.min()), "vmax": float(exact.max())}
    errors = {name: np.abs(values - exact) for name, values in rows.items()}
    norm, floor = _logarithmic(np.concatenate(list(errors.values())))
    for (left, middle, right), (name, values) in zip(axes, rows.items(), strict=True):
        _image(left, x, exact.reshape(n, n), reference, **shared)
        _image(middle, x, values.reshape(n, n), name, **shared)
        _image(right, x, np.maximum(errors[name], floor).reshape(n, n), "absolute error", cmap="magma", norm=norm)
    for axis in axes.flat:
        axis.set(xlabel=across, ylabel=up)
    figure.suptitle(heading)
    return save(figure, path)


def field(x: FloatArray, values: FloatArray, path: str | Path, *, title: str = "") -> Path:
    """One function on a square grid, x (n², 2) and values (n²,)."""
    x, n = _grid(x)
    values, title = _values("values", values, len(x)), _text("title", title)
    figure, axis = pyplot().subplots(figsize=(4.6, 3.8), layout="constrained")
    _image(axis, x, values.reshape(n, n), title)
    axis.set(xlabel="x", ylabel="y")
    return save(figure, path)


def _logarithmic(errors: FloatArray) -> tuple[Any, float]:
    """Logarithmic colours for errors, from the least that differs from zero to the largest; and the former."""
    largest = float(errors.max()) or NEGLIGIBLE
    seen = errors[errors > NEGLIGIBLE * largest]
    least = min(float(np.quantile(seen, 0.02)) if len(seen) else largest, 0.1 * largest)
    return needed("matplotlib.colors", "plot", "matplotlib").LogNorm(least, largest), least


def _image(axis: Axes, x: FloatArray, values: FloatArray, title: str, **style: Any) -> None:
    """Values (n, n) on a square grid as an image, the first coordinate to the right, with its colours."""
    pixel = np.ptp(x, axis=0) / (np.asarray(values.shape) - 1)  # points are the middles of pixels
    lo, hi = (x.min(axis=0) - 0.5 * pixel).tolist(), (x.max(axis=0) + 0.5 * pixel).tolist()
    style = {"origin": "lower", "interpolation": "bilinear", "cmap": "viridis", **style}
    image = axis.imshow(values.T, extent=(lo[0], hi[0], lo[1], hi[1]), **style)
    axis.set(title=title)
    bar = axis.figure.colorbar(image, ax=axis, shrink=0.9)
    if "norm" not in style:
        bar.formatter.set_powerlimits((-2, 3))
    bar.outline.set_visible(False)


def save(figure: Artist, path: str | Path) -> Path:
    """Write a figure, making its folder; the format follows the suffix."""
    plt = _plain()  # other settings between making and drawing would change the layout
    try:
        check_path(path)
        target, formats = Path(path), figure.canvas.get_supported_filetypes()
        if target.suffix.lower().removeprefix(".") not in formats:
            got = f"{str(target)!r}, whose suffix is not that of a figure"
            raise fail(FileError, "path", got, "give one such as 'figure.png' or 'figure.pdf'")
        with writing(path):
            target.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(target, dpi=max(DPI, figure.dpi))
    finally:
        plt.close(figure)
    return target


def _grid(x: object) -> tuple[FloatArray, int]:
    """A square tensor grid (n², 2), and n."""
    places = check_coordinates("x", x, 2)
    n = round(len(places) ** 0.5)
    if n * n != len(places) or n < 2:
        raise fail(ShapeError, "x", f"{len(places)} points", "give a square tensor grid, (n², 2)")
    if np.any(np.ptp(places, axis=0) == 0.0):
        raise fail(ShapeError, "x", "points on one line", "give a square tensor grid, (n², 2)")
    return places, n


def _values(name: str, values: object, n: int) -> FloatArray:
    found = check_array(name, values, remedy=f"give {n} numbers, one for each point of x", shape=(n,))
    return check_squares(name, found, "scale them to be near 1")


def _text(name: str, value: object) -> str:
    return check_kind(name, value, str, "give a string")
