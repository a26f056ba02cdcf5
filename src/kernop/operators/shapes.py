"""How the rows of functionals become the values that a user sees: by input, by component, by unknown."""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernop.basics.errors import BoolArray, FloatArray, NumberArray
from kernop.collocation.functionals import Layout
from kernop.geometry import Points
from kernop.language.unknowns import Unknowns

#: What a user gives as points.
PointsLike = ArrayLike | Points
#: What a user gets: an array, or of several unknowns a named tuple with an array for each.
UserValues = Any


def values_of(rows: NumberArray, layout: Layout, *, single: bool, paired: bool = False) -> NumberArray:
    """Rows (R, B) as values: (n, B), or (n, k, B) of vectors; without the last axis if there is a single input.

    Paired columns are the real parts of B inputs of a real operator, then their imaginary parts: (R, 2 B).
    """
    if paired:
        half = rows.shape[1] // 2
        rows = rows[:, :half] + 1j * rows[:, half:]
    values = layout.values(rows)
    return values[..., 0] if single else values


def deviations(variance: FloatArray, layout: Layout) -> FloatArray:
    """The variances of rows (R,) as standard deviations of values: (n,), or (n, k) of vectors."""
    parts = variance.reshape(layout.parts, -1)
    if layout.complex:
        parts = parts[: layout.parts // 2] + parts[layout.parts // 2 :]
    found = np.sqrt(parts)
    return found[0] if layout.components is None else found.T


def by_unknown(values: NumberArray, unknowns: Unknowns) -> UserValues:
    """Values of all unknowns, (n, m) or (n, m, B), as a named tuple with one entry for each, such as v.u and v.p.

    Those of a single unknown are returned as they are.
    """
    if unknowns.single is not None:
        return values
    parts = {name: values[:, own] for name, own in unknowns.slices.items()}
    return _tuple(unknowns.names)(*(part[:, 0] if part.shape[1] == 1 else part for part in parts.values()))


@lru_cache
def _tuple(names: tuple[str, ...]) -> Any:
    return namedtuple("Values", names)  # pyright: ignore


def blanked(values: UserValues, inside: BoolArray) -> UserValues:
    """NaN where points are not inside; of a named tuple, in every entry."""
    if isinstance(values, tuple):
        return type(values)(*(blanked(part, inside) for part in values))
    values[~inside] = np.nan
    return values
