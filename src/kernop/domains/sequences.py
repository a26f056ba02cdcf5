"""Point sets in the unit cube [0, 1]^m: i.i.d., quasi-random, tensor grid; and how to share n points among pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy.stats import qmc

from kernop.errors import FloatArray

Scheme = Literal["halton", "uniform", "grid"]
SCHEMES: tuple[Scheme, ...] = ("halton", "uniform", "grid")


def unit_cube(n: int, sides: Sequence[float], scheme: str, rng: np.random.Generator) -> FloatArray:
    """n points in [0, 1]^m, shape (n, m), m = len(sides).

    ``grid`` gives cell centres of the finest tensor grid with at most n cells whose shape follows ``sides``.
    """
    if scheme == "grid":
        return cell_centres(grid_counts(n, sides))
    if scheme == "uniform":
        return rng.random((n, len(sides)))
    return np.asarray(qmc.Halton(len(sides), scramble=True, rng=rng).random(n), dtype=np.float64)


def grid_counts(n: int, sides: Sequence[float]) -> tuple[int, ...]:
    """Cells along each axis, as nearly cubic as ``sides`` allows; their product is at most n."""
    lengths = np.asarray(sides, dtype=np.float64)
    per_length = (n / np.prod(lengths)) ** (1.0 / len(sides))
    counts = np.maximum(1, np.floor(lengths * per_length + 1e-9).astype(int))
    while True:
        # An axis shorter than one cell was rounded up to one: take the surplus from the longest axis.
        if np.prod(counts) > n:
            counts[np.argmax(counts)] -= 1
            continue
        finer = [k for k in range(len(sides)) if np.prod(counts) // counts[k] * (counts[k] + 1) <= n]
        if not finer:
            return tuple(int(c) for c in counts)
        coarsest = max(finer, key=lambda k: lengths[k] / counts[k])
        counts[coarsest] += 1


def cell_centres(counts: Sequence[int]) -> FloatArray:
    """Centres of a tensor grid of cells in the unit cube, shape (Π counts, m)."""
    axes = [(np.arange(c) + 0.5) / c for c in counts]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(counts))


def shares(n: int, measures: Sequence[float]) -> list[int]:
    """Divide n in proportion to ``measures`` (largest remainders), at least one each while n suffices."""
    weights = np.asarray(measures, dtype=np.float64)
    exact = n * weights / weights.sum()
    counts = np.floor(exact).astype(int)
    for k in np.argsort(counts - exact, kind="stable")[: n - int(counts.sum())]:
        counts[k] += 1
    while n >= len(counts) and counts.min() == 0:
        counts[np.argmax(counts)] -= 1
        counts[np.argmin(counts)] += 1
    return [int(c) for c in counts]
