"""Arrays with named dimensions and coordinates, as xarray has them; xarray itself is not needed to read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernop.basics.checks import check_array
from kernop.basics.errors import ArgumentError, ArgumentTypeError, FloatArray, NumberArray, describe, fail
from kernop.geometry.tables import usual_order


def read_labelled(array: Any, dims: Sequence[str] | None) -> tuple[NumberArray, tuple[FloatArray, ...]]:
    """The values of a DataArray in the order of ``dims``, and the coordinates along each, all increasing."""
    if not all(hasattr(array, name) for name in ("dims", "coords", "values", "transpose")):
        raise fail(ArgumentTypeError, "array", describe(array), _WANTED)
    if callable(array.values):
        raise fail(ArgumentTypeError, "array", "a dataset of several arrays", _WANTED)
    own = tuple(array.dims)
    wanted = own if dims is None else tuple(dims)
    names = tuple(map(str, own))
    if sorted(map(str, wanted)) != sorted(names):
        raise fail(ArgumentError, "dims", describe(wanted), f"name each of its dimensions once: {', '.join(names)}")
    if dims is None and usual_order(names) != names:  # ("y", "x"), as images have them
        got = f"an array whose dimensions are {names}, so that x[..., 0] would be {names[0]}"
        raise fail(ArgumentError, "dims", got, f"give dims={usual_order(names)}, or the order that is meant")
    values, axes = np.asarray(array.transpose(*wanted).values), list[FloatArray]()
    for axis, name in enumerate(wanted):
        coordinates = _coordinates(array, name)
        if len(coordinates) > 1 and coordinates[0] > coordinates[-1]:
            coordinates, values = coordinates[::-1], np.flip(values, axis)
        axes.append(coordinates)
    return values, tuple(axes)


def check_unlabelled(name: str, array: Any) -> None:
    """Raise if an array has named dimensions: as a plain array it would lose their order and its coordinates."""
    if hasattr(array, "dims") and hasattr(array, "coords"):
        got = f"an array with named dimensions {tuple(map(str, array.dims))}"
        remedy = "use GridFunction.from_xarray(array), which reads its coordinates, or give array.values"
        raise fail(ArgumentTypeError, name, got, remedy)


_WANTED = "give an xarray.DataArray, such as dataset['k']"


def _coordinates(array: Any, name: Any) -> FloatArray:
    if name not in array.coords:
        remedy = f"give it coordinates, array.assign_coords({name}=…), or use GridFunction(array.values, box)"
        raise fail(ArgumentError, f"coords[{name!r}]", "a dimension without coordinates", remedy)
    found = np.asarray(array.coords[name].values)
    if found.dtype.kind in "mM":
        remedy = "turn them into numbers first, such as (t - t[0]) / np.timedelta64(1, 'h')"
        raise fail(ArgumentTypeError, f"coords[{name!r}]", "dates or times", remedy)
    return check_array(f"coords[{name!r}]", found, remedy="give numbers")
