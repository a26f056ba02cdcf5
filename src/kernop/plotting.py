"""Figures: needs the extra ``kernop[plot]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    found: FloatArray | Mapping[str, FloatArray],
    path: str | Path,
    *,
    title: str = "",
    labels: Sequence[str] = ("x", "y"),
) -> Path:
    """Panels on a square grid: the exact solution, then a row of prediction and absolute error for each estimator.

    Arguments:
        x: a full tensor grid with n points along each axis, (n², 2), first coordinate slowest.
        exact: values there, (n²,).
        found: ours, (n²,); or several, by name.
    """
    rows = found if isinstance(found, Mapping) else {"kernop": found}
    n = round(len(x) ** 0.5)
    if n * n != len(x) or any(values.shape != (len(x),) for values in (exact, *rows.values())):
        got = f"{len(x)} points with values of shapes {[values.shape for values in (exact, *rows.values())]}"
        raise fail(ShapeError, "x", got, "give a square tensor grid and one value for each point")
    plt = pyplot()
    figure, axes = plt.subplots(
        len(rows), 3, figsize=(12.5, 0.4 + 3.6 * len(rows)), layout="constrained", squeeze=False
    )
    extent = (float(x[:, 0].min()), float(x[:, 0].max()), float(x[:, 1].min()), float(x[:, 1].max()))
    shared = {"cmap": "viridis", "vmin": float(exact.min()), "vmax": float(exact.max())}
    for line, (name, values) in zip(axes, rows.items(), strict=True):
        panels = (
            ("exact solution", exact, shared),
            (name, values, shared),
            ("absolute error", np.abs(values - exact), {"cmap": "magma", "vmin": 0.0}),
        )
        for axis, (heading, field, style) in zip(line, panels, strict=True):
            image = axis.imshow(field.reshape(n, n).T, origin="lower", extent=extent, interpolation="bilinear", **style)
            axis.set(title=heading, xlabel=labels[0], ylabel=labels[1])
            bar = figure.colorbar(image, ax=axis, shrink=0.9)
            bar.formatter.set_powerlimits((-2, 3))
            bar.outline.set_visible(False)
    figure.suptitle(title)
    return save(figure, path)


def field(x: FloatArray, values: FloatArray, path: str | Path, *, title: str = "") -> Path:
    """One function on a square grid, x (n², 2) and values (n²,)."""
    n = round(len(x) ** 0.5)
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
    plt = pyplot()
    figure, axes = plt.subplots(len(rows), 2, figsize=(12, 0.4 + 3.3 * len(rows)), layout="constrained", squeeze=False)
    colours = ("tab:blue", "tab:green", "tab:red", "tab:orange")
    for (left, right), (name, (x, exact, found)) in zip(axes, rows.items(), strict=True):
        left.plot(x, exact, color="black", linewidth=2.2, label="exact")
        for (label, values), colour, dash in zip(found.items(), colours, ("-", "--", ":", "-."), strict=False):
            left.plot(x, values, dash, color=colour, linewidth=1.2, label=label)
            right.semilogy(x, np.maximum(np.abs(values - exact), 1e-17), color=colour, linewidth=1.0, label=label)
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
    plt = pyplot()
    figure, (plain, logarithmic) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    n = np.asarray(sizes, dtype=float)
    styles = zip("osD^v", plt.cm.viridis(np.linspace(0.1, 0.8, 5)), strict=True)
    for (label, line), (marker, colour) in zip(lines.items(), styles, strict=False):
        mean, bar, beta = np.asarray(line["mean"]), np.asarray(line["standard error"]), float(line["slope"])
        theirs = f" (paper: {slopes[label]:.2f})" if slopes and label in slopes else ""
        style = {"marker": marker, "color": colour, "capsize": 3}
        plain.errorbar(n / 1e3, mean, bar, label=label, **style)
        logarithmic.errorbar(n, mean, bar, linestyle="none", label=f"{label}, β = {beta:.2f}{theirs}", **style)
        centre = np.exp(np.mean(np.log(mean)) + beta * np.mean(np.log(n)))
        logarithmic.plot(n, centre * n**-beta, linestyle="--", linewidth=1, color=colour)
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
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained", width_ratios=(1.5, 1))
    left.fill_between(x, mean - 1.96 * std, mean + 1.96 * std, color="tab:blue", alpha=0.2, label="95 % band")
    left.plot(x, draws, color="tab:blue", linewidth=0.6, alpha=0.7)
    left.plot(x, mean, color="tab:blue", linewidth=1.8, label="mean, and draws")
    left.plot(x, exact, color="black", linewidth=1.8, linestyle="--", label="truth")
    left.set(title="posterior of u from noisy data", xlabel="x")
    left.legend(frameon=False)
    right.plot([0, 1], [0, 1], color="grey", linewidth=1.0)
    colours = plt.cm.viridis(np.linspace(0.0, 0.9, len(coverage)))
    for (label, values), colour in zip(coverage.items(), colours, strict=True):
        right.plot(nominal, values, "o-", color=colour, markersize=3.5, linewidth=0.9, alpha=0.8, label=label)
    right.set(title="part of the truth in the band", xlabel="nominal", ylabel="measured", xlim=(0.4, 1), ylim=(0.4, 1))
    right.legend(frameon=False, fontsize=6)
    return save(figure, path)


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure, making its folder; the format follows the suffix."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target)
    pyplot().close(figure)
    return target
