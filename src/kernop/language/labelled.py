"""Arrays with named dimensions and coordinates, as xarray has them; xarray itself is not needed to read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, ArgumentTypeError, FloatArray, check_array, describe, fail


def read_labelled(array: Any, dims: Sequence[str] | None) -> tuple[NDArray[Any], tuple[FloatArray, ...]]:
    """The values of a DataArray in the order of ``dims``, and the coordinates along each, all increasing."""
    if not all(hasattr(array, name) for name in ("dims", "coords", "values", "transpose")):
        raise fail(ArgumentTypeError, "array", describe(array), "give an xarray.DataArray, such as dataset['k']")
    own = tuple(array.dims)
    wanted = own if dims is None else tuple(dims)
    if sorted(map(str, wanted)) != sorted(map(str, own)):
        remedy = f"name each of its dimensions once: {', '.join(map(str, own))}"
        raise fail(ArgumentError, "dims", describe(wanted), remedy)
    values, axes = np.asarray(array.transpose(*wanted).values), list[FloatArray]()
    for axis, name in enumerate(wanted):
        coordinates = _coordinates(array, name)
        if len(coordinates) > 1 and coordinates[0] > coordinates[-1]:
            coordinates, values = coordinates[::-1], np.flip(values, axis)
        axes.append(coordinates)
    return values, tuple(axes)


def _coordinates(array: Any, name: Any) -> FloatArray:
    if name not in array.coords:
        remedy = f"give it coordinates, array.assign_coords({name}=…), or use GridFunction(array.values, box)"
        raise fail(ArgumentError, f"coords[{name!r}]", "a dimension without coordinates", remedy)
    found = np.asarray(array.coords[name].values)
    if found.dtype.kind in "mM":
        remedy = "turn them into numbers first, such as (t - t[0]) / np.timedelta64(1, 'h')"
        raise fail(ArgumentTypeError, f"coords[{name!r}]", "dates or times", remedy)
    return check_array(f"coords[{name!r}]", found, remedy="give numbers")
