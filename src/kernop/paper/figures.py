"""Figures of the paper: functions on the line beside their approximations, and errors against the number of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.plotting import COLOURS, pyplot, save

#: Points on the line (n,), the exact values there (n,), and approximations (n,) by name.
Curve = tuple[FloatArray, FloatArray, Mapping[str, FloatArray]]
#: Errors for each number of points with their standard errors, and the fitted exponent β of N^−β.
ErrorCurve = TypedDict("ErrorCurve", {"mean": Sequence[float], "standard error": Sequence[float], "slope": float})


def error_curves(rows: Mapping[str, Curve], path: str | Path, *, title: str = "") -> Path:
    """For each row, by name: a function on the line with its approximations, and their absolute errors."""
    size = (12, 0.4 + 3.3 * len(rows))
    figure, axes = pyplot().subplots(len(rows), 2, figsize=size, layout="constrained", squeeze=False)
    for (left, right), (name, (x, exact, found)) in zip(axes, rows.items(), strict=True):
        left.plot(x, exact, color="black", linewidth=2.2, label="exact")
        for (label, values), colour, dash in zip(found.items(), COLOURS, ("-", "--", ":", "-."), strict=False):
            style = {"color": colour, "label": label}
            left.plot(x, values, dash, linewidth=1.2, **style)
            right.semilogy(x, np.maximum(np.abs(values - exact), 1e-17), dash, linewidth=1.0, **style)
        left.set(title=f"{name}: solution", xlabel="x", ylabel="u")
        right.set(title=f"{name}: absolute error", xlabel="x")
        right.grid(alpha=0.3)
    figure.legend(*axes[0][0].get_legend_handles_labels(), frameon=False, ncols=5, loc="outside lower center")
    figure.suptitle(title)
    return save(figure, path)


def convergence(
    sizes: Sequence[int],
    lines: Mapping[str, ErrorCurve],
    path: str | Path,
    *,
    title: str = "",
    slopes: Mapping[str, float] | None = None,
) -> Path:
    """Errors against the number of points, with their standard errors: left linear, right logarithmic with fitted N^−β.

    Arguments:
        lines: by label, one error for each of ``sizes``.
        slopes: what others report for β, by label.
    """
    n, plt = np.asarray(sizes, dtype=float), pyplot()
    figure, (plain, logarithmic) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    styles = zip("osD^v", plt.cm.viridis(np.linspace(0.1, 0.8, 5)), strict=True)
    for (label, line), (marker, colour) in zip(lines.items(), styles, strict=False):
        mean, bar, beta = line["mean"], line["standard error"], line["slope"]
        other = f" (paper: {slopes[label]:.2f})" if slopes and label in slopes else ""
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
