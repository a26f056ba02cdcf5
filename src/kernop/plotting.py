"""Figures: needs the extra ``kernop[plot]``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernop.errors import FloatArray, MissingExtraError, ShapeError, fail


def pyplot() -> Any:
    """matplotlib.pyplot with a backend that needs no screen, or an error that says how to install it."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        remedy = "install the extra: pip install 'kernop[plot]'"
        raise fail(MissingExtraError, "matplotlib", "no such package", remedy) from error
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {"figure.dpi": 150, "font.size": 11, "axes.titlesize": 12, "axes.spines.top": False, "axes.spines.right": False}
    )
    return plt


def true_predicted_error(
    x: FloatArray,
    exact: FloatArray,
    found: FloatArray,
    path: str | Path,
    *,
    title: str = "",
    labels: Sequence[str] = ("x", "y"),
) -> Path:
    """Three panels on a square grid: the exact solution, ours on the same colour scale, and the absolute error.

    Arguments:
        x: a full tensor grid with n points along each axis, (n², 2), first coordinate slowest.
        exact, found: values there, (n²,).
    """
    n = round(len(x) ** 0.5)
    if n * n != len(x) or exact.shape != (len(x),) or found.shape != (len(x),):
        got = f"{len(x)} points with values of shapes {exact.shape} and {found.shape}"
        raise fail(ShapeError, "x", got, "give a square tensor grid and one value for each point")
    plt = pyplot()
    figure, axes = plt.subplots(1, 3, figsize=(12.5, 3.9), layout="constrained")
    limits = {"vmin": float(exact.min()), "vmax": float(exact.max())}
    panels = (
        ("exact solution", exact, {"cmap": "viridis", **limits}),
        ("kernop", found, {"cmap": "viridis", **limits}),
        ("absolute error", np.abs(found - exact), {"cmap": "magma", "vmin": 0.0}),
    )
    extent = (*(x[:, 0].min(), x[:, 0].max()), *(x[:, 1].min(), x[:, 1].max()))
    for axis, (name, values, style) in zip(axes, panels, strict=True):
        image = axis.imshow(values.reshape(n, n).T, origin="lower", extent=extent, interpolation="bilinear", **style)
        axis.set(title=name, xlabel=labels[0], ylabel=labels[1], aspect="auto" if extent[1] != extent[3] else "equal")
        bar = figure.colorbar(image, ax=axis, shrink=0.9)
        bar.formatter.set_powerlimits((-2, 3))
        bar.outline.set_visible(False)
    figure.suptitle(title)
    return save(figure, path)


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure, making its folder; the format follows the suffix."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target)
    pyplot().close(figure)
    return target
