"""Grids of cells with some rows across every axis, however thin a box is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernop.geometry.sequences import grid_counts


def fair_counts(number: int, sides: Sequence[float], rows: int) -> tuple[int, ...]:
    """Cells along each axis: shaped after ``sides``, but at least ``rows`` of them, or number^(1/d) if that is less.

    Their product is at most ``number``.
    """
    least = max(1, min(rows, int(number ** (1.0 / len(sides)) + 1e-9)))
    lengths, counts = np.asarray(sides, dtype=np.float64), np.full(len(sides), least)
    free, order = number, list(np.argsort(lengths, kind="stable"))
    while order:
        found = grid_counts(free, tuple(lengths[order]))
        if found[0] >= least:
            counts[order] = found
            break
        free //= least
        order.pop(0)  # the thinnest axis has its rows, and the others share the rest
    return tuple(map(int, counts))
