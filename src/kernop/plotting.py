"""Figures: needs the extra ``kernop[plot]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FloatArray,
    MissingExtraError,
    ShapeError,
    check_array,
    check_coordinates,
    check_squares,
    describe,
    fail,
    naming,
)
from kernop.basics.storage import check_path

#: What `convergence` draws: numbers of points, and exponents.
MOST_POINTS, STEEPEST = 1e15, 15


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
    found: FloatArray | Mapping[str, FloatArray],
    path: str | Path,
    *,
    title: str = "",
    labels: Sequence[str] = ("x", "y"),
    truth: str = "exact solution",
) -> Path:
    """Panels on a square grid: the exact solution, then a row of prediction and absolute error for each estimator.

    Arguments:
        x: a full tensor grid with n points along each axis, (n², 2), first coordinate slowest.
        exact: values there, (n²,).
        found: ours, (n²,); or several, by name.
        labels: of the axes.
        truth: what ``exact`` is called.
    """
    x, n = _grid(x)
    exact = _values("exact", exact, len(x))
    rows = {
        name: _values("found", values, len(x))
        for name, values in (_entries("found", found) if isinstance(found, Mapping) else {"kernop": found}).items()
    }
    if not isinstance(labels, Sequence) or len(labels) != 2:
        raise fail(ShapeError, "labels", describe(labels), "give two, as in ('x', 'y')")
    heading, reference = _text("title", title), _text("truth", truth)
    across, up = (_text("labels", label) for label in labels)
    plt = pyplot()
    figure, axes = plt.subplots(
        len(rows), 3, figsize=(12.5, 0.4 + 3.6 * len(rows)), layout="constrained", squeeze=False
    )
    extent = (float(x[:, 0].min()), float(x[:, 0].max()), float(x[:, 1].min()), float(x[:, 1].max()))
    shared = {"cmap": "viridis", "vmin": float(exact.min()), "vmax": float(exact.max())}
    for line, (name, values) in zip(axes, rows.items(), strict=True):
        panels = (
            (reference, exact, shared),
            (name, values, shared),
            ("absolute error", np.abs(values - exact), {"cmap": "magma", "vmin": 0.0}),
        )
        for axis, (what, field, style) in zip(line, panels, strict=True):
            image = axis.imshow(field.reshape(n, n).T, origin="lower", extent=extent, interpolation="bilinear", **style)
            axis.set(title=what, xlabel=across, ylabel=up)
            bar = figure.colorbar(image, ax=axis, shrink=0.9)
            bar.formatter.set_powerlimits((-2, 3))
            bar.outline.set_visible(False)
    figure.suptitle(heading)
    return save(figure, path)


def field(x: FloatArray, values: FloatArray, path: str | Path, *, title: str = "") -> Path:
    """One function on a square grid, x (n², 2) and values (n²,)."""
    x, n = _grid(x)
    values, title = _values("values", values, len(x)), _text("title", title)
    plt = pyplot()
    figure, axis = plt.subplots(figsize=(4.6, 3.8), layout="constrained")
    extent = (float(x[:, 0].min()), float(x[:, 0].max()), float(x[:, 1].min()), float(x[:, 1].max()))
    image = axis.imshow(values.reshape(n, n).T, origin="lower", extent=extent, cmap="viridis")
    axis.set(title=title, xlabel="x", ylabel="y")
    figure.colorbar(image, ax=axis).outline.set_visible(False)
    return save(figure, path)


def curves(
    rows: Mapping[str, tuple[FloatArray, FloatArray, Mapping[str, FloatArray]]], path: str | Path, *, title: str = ""
) -> Path:
    """For each row: a function on the line with its approximations, and their absolute errors.

    Arguments:
        rows: by name, x (n,), the exact values (n,), and approximations (n,) by name.
    """
    rows = {name: _curves(row) for name, row in _entries("rows", rows).items()}
    title = _text("title", title)
    plt = pyplot()
    figure, axes = plt.subplots(len(rows), 2, figsize=(12, 0.4 + 3.3 * len(rows)), layout="constrained", squeeze=False)
    colours = ("tab:blue", "tab:green", "tab:red", "tab:orange")
    for (left, right), (name, (x, exact, found)) in zip(axes, rows.items(), strict=True):
        left.plot(x, exact, color="black", linewidth=2.2, label="exact")
        for (label, values), colour, dash in zip(found.items(), colours, ("-", "--", ":", "-."), strict=False):
            style = {"color": colour, "label": label}
            left.plot(x, values, dash, linewidth=1.2, **style)
            right.semilogy(x, np.maximum(np.abs(values - exact), 1e-17), dash, linewidth=1.0, **style)
        left.set(title=f"{name}: solution", xlabel="x")
        right.set(title=f"{name}: absolute error", xlabel="x")
        right.grid(alpha=0.3)
    figure.legend(*axes[0][0].get_legend_handles_labels(), frameon=False, ncols=5, loc="outside lower center")
    figure.suptitle(title)
    return save(figure, path)


def convergence(
    sizes: Sequence[int],
    lines: Mapping[str, Mapping[str, Any]],
    path: str | Path,
    *,
    title: str = "",
    slopes: Mapping[str, float] | None = None,
) -> Path:
    """Errors against the number of points, with their standard errors: left linear, right logarithmic with fitted N^−β.

    Arguments:
        lines: by label, ``mean`` and ``standard error``, one for each of ``sizes``, and the fitted ``slope`` β.
        slopes: what others report for β, by label.
    """
    n = check_array("sizes", sizes, remedy="give numbers of points")
    if n.ndim != 1 or n.size == 0 or np.any(n <= 0.0) or np.any(n > MOST_POINTS):
        raise fail(ShapeError, "sizes", describe(n), f"give numbers of points, from 1 to {MOST_POINTS:g}")
    read = {label: _line(line, len(n)) for label, line in _entries("lines", lines).items()}
    theirs = {} if slopes is None else {k: _number("slopes", b) for k, b in _entries("slopes", slopes).items()}
    title = _text("title", title)
    plt = pyplot()
    figure, (plain, logarithmic) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    styles = zip("osD^v", plt.cm.viridis(np.linspace(0.1, 0.8, 5)), strict=True)
    for (label, line), (marker, colour) in zip(read.items(), styles, strict=False):
        mean, bar, beta = line
        other = f" (paper: {theirs[label]:.2f})" if label in theirs else ""
        style = {"marker": marker, "color": colour, "capsize": 3}
        plain.errorbar(n / 1e3, mean, bar, label=label, **style)
        logarithmic.errorbar(n, mean, bar, linestyle="none", label=f"{label}, β = {beta:.2f}{other}", **style)
        fitted = np.mean(np.log(mean)) + beta * (np.mean(np.log(n)) - np.log(n))
        logarithmic.plot(n, np.exp(fitted), linestyle="--", linewidth=1, color=colour)
    plain.set(xlabel="points N, in thousands", ylabel="relative error", ylim=(0, None))
    plain.ticklabel_format(axis="y", scilimits=(-2, 3))
    logarithmic.set(xlabel="points N", xscale="log", yscale="log")
    for axis in (plain, logarithmic):
        axis.grid(alpha=0.3, which="both")
        axis.legend(frameon=False)
    figure.suptitle(title)
    return save(figure, path)


def calibration(
    x: FloatArray,
    exact: FloatArray,
    mean: FloatArray,
    std: FloatArray,
    draws: FloatArray,
    nominal: Sequence[float],
    coverage: Mapping[str, Sequence[float]],
    path: str | Path,
) -> Path:
    """Left a band on the line with draws from the posterior; right how much of the truth bands cover, and should.

    Arguments:
        x: points on the line, (n,), with the exact values (n,), the posterior mean and standard deviation (n,), and
            draws (n, B).
        nominal: what the bands are said to cover, each between 0 and 1.
        coverage: what they cover, by label.
    """
    x = check_coordinates("x", x, 1)[:, 0]
    exact, mean, std = (_values(k, v, len(x)) for k, v in (("exact", exact), ("mean", mean), ("std", std)))
    draws = check_array("draws", draws, remedy=f"give draws at the {len(x)} points, (n, B)")
    if draws.ndim != 2 or len(draws) != len(x):
        raise fail(ShapeError, "draws", describe(draws), f"give draws at the {len(x)} points, (n, B)")
    levels = _values("nominal", nominal, np.size(nominal))
    lines = {label: _values("coverage", part, len(levels)) for label, part in _entries("coverage", coverage).items()}
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained", width_ratios=(1.5, 1))
    left.fill_between(x, mean - 1.96 * std, mean + 1.96 * std, color="tab:blue", alpha=0.2, label="95 % band")
    left.plot(x, draws, color="tab:blue", linewidth=0.6, alpha=0.7)
    left.plot(x, mean, color="tab:blue", linewidth=1.8, label="mean, and draws")
    left.plot(x, exact, color="black", linewidth=1.8, linestyle="--", label="truth")
    left.set(title="posterior of u from noisy data", xlabel="x", ylabel="u")
    left.legend(frameon=False)
    right.axhline(0.0, color="grey", linewidth=1.0)
    colours = plt.cm.viridis(np.linspace(0.0, 0.9, len(lines)))
    for (label, values), colour, marker in zip(lines.items(), colours, cycle("osD^"), strict=False):
        style = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 0.9, "alpha": 0.8}
        right.plot(100.0 * levels, 100.0 * (values - levels), label=label, **style)
    right.set(title="truth in the band: measured − said, in %", xlabel="said, in %", ylim=(-5, 5))
    right.legend(frameon=False, fontsize=6, ncols=2)
    return save(figure, path)


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure, making its folder; the format follows the suffix."""
    plt = pyplot()
    try:
        check_path(path)
        target, formats = Path(path), figure.canvas.get_supported_filetypes()
        if target.suffix.lower().removeprefix(".") not in formats:
            got = f"{str(target)!r}, whose suffix is not that of a figure"
            raise fail(FileError, "path", got, "give one such as 'figure.png' or 'figure.pdf'")
        target.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(target)
    except OSError as error:
        raise fail(FileError, "path", f"{str(path)!r}, which cannot be written ({error})", "give another") from error
    finally:
        plt.close(figure)
    return target


def _grid(x: Any) -> tuple[FloatArray, int]:
    """A square tensor grid (n², 2), and n."""
    places = check_coordinates("x", x, 2)
    n = round(len(places) ** 0.5)
    if n * n != len(places) or n < 2:
        raise fail(ShapeError, "x", f"{len(places)} points", "give a square tensor grid, (n², 2)")
    if np.any(np.ptp(places, axis=0) == 0.0):
        raise fail(ShapeError, "x", "points on one line", "give a square tensor grid, (n², 2)")
    return places, n


def _values(name: str, values: Any, n: int) -> FloatArray:
    found = check_array(name, values, remedy=f"give {n} numbers, one for each point")
    if found.shape != (n,):
        raise fail(ShapeError, name, f"an array of shape {found.shape}", f"give {n} numbers, one for each point of x")
    return check_squares(name, found, "scale them to be near 1")


def _number(name: str, value: Any) -> float:
    return float(_values(name, np.reshape(check_array(name, value, remedy="give numbers"), -1), 1)[0])


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise fail(ArgumentTypeError, name, describe(value), "give a string")
    return value


def _entries(name: str, value: Any) -> dict[str, Any]:
    """A dictionary by name, not empty."""
    if not isinstance(value, Mapping) or len(value) == 0:
        raise fail(ArgumentTypeError, name, describe(value), "give a dictionary, by name")
    return {_text(name, key): entry for key, entry in value.items()}


def _curves(row: Any) -> tuple[FloatArray, FloatArray, dict[str, FloatArray]]:
    if not isinstance(row, tuple | list) or len(row) != 3:
        raise fail(ShapeError, "rows", describe(row), "give (x, exact, {name: found}) for each")
    with naming("rows"):
        x = check_coordinates("x", row[0], 1)[:, 0]
        found = {name: _values(name, values, len(x)) for name, values in _entries("found", row[2]).items()}
        return x, _values("exact", row[1], len(x)), found


def _line(line: Any, n: int) -> tuple[FloatArray, FloatArray, float]:
    wanted = ("mean", "standard error", "slope")
    if not isinstance(line, Mapping) or not all(key in line for key in wanted):
        raise fail(ArgumentTypeError, "lines", describe(line), f"give {', '.join(map(repr, wanted))} for each")
    with naming("lines"):
        mean, bar = _values("mean", line["mean"], n), _values("standard error", line["standard error"], n)
        if np.any(mean <= 0.0) or np.any(bar < 0.0):
            raise fail(ShapeError, "mean", f"{mean} ± {bar}", "give errors, which are positive")
        slope = _number("slope", line["slope"])
        if abs(slope) > STEEPEST:
            raise fail(ArgumentError, "slope", f"{slope:g}", f"give the exponent β of N^−β, at most {STEEPEST}")
        return mean, bar, slope
