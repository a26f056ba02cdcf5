"""Functions on regular grids, with NaN outside the domain: arrays with names, and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from kernop.basics.checks import check_integer, check_memory
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    BoolArray,
    FloatArray,
    NumberArray,
    ShapeError,
    describe,
    fail,
)
from kernop.basics.extras import needed
from kernop.basics.versions import VERSION
from kernop.geometry.sequences import tensor_grid
from kernop.views.mesh import nothing_inside
from kernop.views.scene import Scene
from kernop.views.sight import Sight

#: Points of a grid if no shape is given.
POINTS = 10_000
#: Points that are evaluated at a time.
PIECE = 2**16


def read_shape(own: Scene, shape: object) -> tuple[int, ...]:
    """The numbers of coordinates along each axis: those of the user, one number for all axes, or about 10⁴ points."""
    remedy = f"give {own.dim} numbers, of ({', '.join(own.names)}), or one for all axes"
    if shape is None:
        return own.shape_of(POINTS)
    if isinstance(shape, int | np.integer) and not isinstance(shape, bool):
        shape = (shape,) * own.dim
    if not isinstance(shape, Sequence | np.ndarray) or isinstance(shape, str):
        raise fail(ArgumentTypeError, "shape", describe(shape), remedy)
    if len(shape) != own.dim:
        raise fail(ShapeError, "shape", f"{len(shape)} numbers", remedy)
    found = tuple(check_integer("shape", number, least=2) for number in shape)
    check_memory("shape", 4 * math.prod(found) * own.dim, f"a grid of {math.prod(found)} points", "ask for fewer")
    return found


def on_grid(sight: Sight, shape: tuple[int, ...]) -> tuple[tuple[FloatArray, ...], NumberArray]:
    """Coordinates along each axis, and the values there, (n_1, …, n_d), with (…, k) of vectors, (…, B) of batches."""
    lines, x, inside = _nodes(sight.scene, shape)
    rows = np.flatnonzero(inside)
    found = np.concatenate([sight(x[rows[k : k + PIECE]]) for k in range(0, len(rows), PIECE)])
    check_memory("shape", len(x) * found[0].size, f"{len(x)} points", "ask for fewer")
    values = np.full((len(x), *found.shape[1:]), np.nan, dtype=found.dtype)
    values[inside] = found
    return lines, values.reshape(*shape, *found.shape[1:])


def _nodes(scene: Scene, shape: tuple[int, ...]) -> tuple[tuple[FloatArray, ...], FloatArray, BoolArray]:
    """Coordinates along each axis, the nodes of the grid, (n, d), and which of them lie inside, (n,): at least one."""
    lines = scene.lines(shape)
    x = tensor_grid(lines)
    inside = scene.contains(x)
    if not inside.any():
        raise nothing_inside(scene)
    return lines, x, inside


def to_xarray(sights: Sequence[Sight], shape: object) -> Any:
    """A DataArray, or a Dataset of several unknowns; see ``u.to_xarray``."""
    xarray = needed("xarray", "xarray", "to_xarray")
    sizes = read_shape(sights[0].scene, shape)
    found = {sight.name: _labelled(xarray, sight, sizes) for sight in sights}
    if len(found) == 1:
        return next(iter(found.values()))
    return xarray.Dataset(found, attrs={"source": f"kernop {VERSION}"})


def _labelled(xarray: ModuleType, sight: Sight, shape: tuple[int, ...]) -> Any:
    scene = sight.scene
    lines, values = on_grid(sight, shape)
    more = ["input"] if not sight.single else []
    if values.ndim > scene.dim + len(more):
        more = [f"{sight.name}_component", *more]
    notes = {"source": f"kernop {VERSION}", "outside_the_domain": "NaN"}
    notes |= {"where": scene.where} if scene.where else {}
    coords = dict(zip(scene.names, lines, strict=True))
    return xarray.DataArray(values, dims=(*scene.names, *more), coords=coords, name=sight.name, attrs=notes)


def to_pandas(sights: Sequence[Sight], shape: object) -> Any:
    """A DataFrame with a row for each point of a grid inside the domain; see ``u.to_pandas``."""
    pandas = needed("pandas", "pandas", "to_pandas")
    scene = sights[0].scene
    _, x, inside = _nodes(scene, read_shape(scene, shape))
    x = x[inside]
    columns: dict[str, NumberArray] = dict(zip(scene.names, x.T, strict=True))
    for sight in sights:
        for name, values in columns_of(sight, sight(x)).items():
            if name in columns:
                got = f"an unknown and a coordinate with the name {name!r}"
                raise fail(ArgumentError, "to_pandas", got, "use u.to_xarray(), or another name of the unknown")
            columns[name] = values
    return pandas.DataFrame(columns)


def columns_of(sight: Sight, values: NumberArray) -> dict[str, NumberArray]:
    """Values (n, …) by name: u, or u_1, u_2 of a vector; and u[0], u[1] of a batch."""
    inputs = [("", values)] if sight.single else [(f"[{b}]", values[..., b]) for b in range(values.shape[-1])]
    found: dict[str, NumberArray] = {}
    for end, own in inputs:
        if own.ndim == 1:
            found[f"{sight.name}{end}"] = own
        else:
            found |= {f"{sight.name}_{k + 1}{end}": own[:, k] for k in range(own.shape[1])}
    return found
