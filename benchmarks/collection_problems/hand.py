"""Settings of learn by hand: how many centres and points, where, and how wide along each axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import qmc

import kernop as ko

FloatArray = Any


@dataclass(frozen=True)
class Hand:
    """The knobs, and what they gave.

    Arguments:
        centers: L.
        ratio: points for each centre, N / L.
        boundary: the share of the points that boundary and initial conditions get together, in equal parts.
        width: the lengthscale of the Gaussians in spacings of the centres.
        resolution: the number of centres along an axis per side, relative to the others; () for a mesh that is
            isotropic in the units of the problem (time: its duration).
        margin: how far centres reach beyond the domain, in spacings.
        error, seconds: what was found.
    """

    centers: int
    ratio: float = 2.0
    boundary: float = 0.25
    width: float = 3.0
    resolution: tuple[float, ...] = ()
    margin: float = 6.0
    error: float = float("nan")
    seconds: float = float("nan")

    def settings(self, problem: ko.Problem) -> dict[str, Any]:
        """The keyword arguments of learn."""
        counts = np.asarray(self.resolution or isotropic(problem))
        z, spacing = _filled(*_bounds(problem), counts, self.centers, self.margin)
        return {
            "points": self._points(problem),
            "kernel": ko.Gaussian(tuple(float(s) for s in self.width * spacing)),
            "method": ko.Subspace(centers=z),
        }

    def _points(self, problem: ko.Problem) -> dict[str, int]:
        total = round(self.ratio * self.centers)
        regions = {c.name: c.on for c in problem.conditions}
        top = max(region.intrinsic_dim for region in regions.values())
        ends = {name: round(region.measure) for name, region in regions.items() if region.intrinsic_dim == 0}
        rims = [name for name, region in regions.items() if 0 < region.intrinsic_dim < top]
        inside = [name for name, region in regions.items() if region.intrinsic_dim == top]
        on_rims = self.boundary * total if rims else 0.0
        counts = {name: max(4, round(on_rims / len(rims))) for name in rims}
        return {name: round((total - on_rims) / len(inside)) for name in inside} | counts | ends


def _bounds(problem: ko.Problem) -> tuple[FloatArray, FloatArray]:
    """The corners of the box around a problem, (d,)."""
    low = np.min([c.on.bounds[0] for c in problem.conditions], axis=0)
    return low, np.max([c.on.bounds[1] for c in problem.conditions], axis=0)


def isotropic(problem: ko.Problem) -> tuple[float, ...]:
    """Relative numbers along the axes: one spacing in space, and as many in time as along the longest side."""
    low, high = _bounds(problem)
    sides = high - low
    counts = sides / np.max(sides[:-1] if problem.timed else sides)
    if problem.timed:
        counts[-1] = 1.0
    return tuple(float(count) for count in counts)


def _filled(
    low: FloatArray, high: FloatArray, counts: FloatArray, number: int, margin: float
) -> tuple[FloatArray, FloatArray]:
    """Quasi-random centres (L, d) in the box and a margin around it, and their spacing along each axis (d,).

    With n_k = s · counts_k spacings along side k the box with its margin has Π (n_k + 2 m_k) cells, which is L;
    m_k ≤ a quarter of the cells along the axis (n_k + 2 m_k).
    """
    d = len(low)
    small, large = 1e-6, 1e9
    n = edge = counts
    for _ in range(200):
        scale = (small * large) ** 0.5
        n = scale * counts
        edge = np.minimum(margin, 0.5 * n)
        small, large = (scale, large) if np.prod(n + 2 * edge) < number else (small, scale)
    spacing = (high - low) / n
    unit = np.asarray(qmc.Halton(d, scramble=True, rng=np.random.default_rng(0)).random(number))
    return low - edge * spacing + unit * (n + 2 * edge) * spacing, spacing
