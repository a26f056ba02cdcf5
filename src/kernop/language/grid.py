"""Functions from arrays on grids: coefficients, sources and initial states that come from a file."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from kernop.basics.checks import check_array, check_choice, check_integer
from kernop.basics.errors import (
    AccuracyWarning,
    ArgumentError,
    ArgumentTypeError,
    FloatArray,
    NumberArray,
    OutsideDomainError,
    ShapeError,
    describe,
    fail,
)
from kernop.basics.frozen import frozen
from kernop.basics.stored import ComplexArray, stored
from kernop.geometry import Box, SpaceTime
from kernop.geometry.extents import slack
from kernop.geometry.sequences import tensor_grid
from kernop.language.labelled import check_unlabelled, read_labelled
from kernop.language.splines import interpolant

#: Degrees of the spline: C², C⁴ and C⁶.
DEGREES = (3, 5, 7)
#: Values whose ratio is smaller are no concern: a spline swings by less than that.
STEEP = 4.0
#: At most so many coordinates of middles of cells are looked at.
MIDDLES = 300_000
#: How far outside single precision may put a point, as a part of the box.
SINGLE = 1e-6


@stored("grid function")
class GridFunction:
    """A smooth function through the values of an array on a grid, for use in JAX and in any operator.

    A tensor-product spline: all values are met, and with degree 3 two derivatives are continuous. Of x (…, d) it gives
    (…,), in NumPy or in JAX, under jit, vmap and grad too. Outside the box it is not known: an error, or NaN where JAX
    traces x, because a compiled function cannot raise.

    Arguments:
        values: (n_1, …, n_d), at least two along each axis; axis k of the array is coordinate x_k. Real or complex, and
            all finite. With further axes, (n_1, …, n_d, m), a vector at each node: a velocity for `dot`, or a matrix.
        box: an `Interval`, a `Box`, or a `SpaceTime` over one of them, with time as the last axis; over which the nodes
            are spread evenly. Or the coordinates of the nodes themselves, one increasing sequence for each axis.
        at: "nodes": the first and the last node of each axis lie on the boundary of the box, as in
            ``np.linspace(a, b, n)``; "cells": values are those at the centres of n equal cells, and the outermost
            polynomials go on over the last half cell.
        degree: 3, 5 or 7; along an axis with fewer nodes than that, the polynomial through them.
    """

    def __init__(
        self,
        values: Any,
        box: Box | SpaceTime | tuple[FloatArray, ...],
        at: Literal["nodes", "cells"] = "nodes",
        degree: int = 3,
    ) -> None:
        check_unlabelled("values", values)
        remedy = "give finite numbers of shape (n_1, …, n_d), one axis for each coordinate"
        self.values: FloatArray | ComplexArray = frozen(check_array("values", values, remedy=remedy, complex_too=True))
        self.at = check_choice("at", at, ("nodes", "cells"))
        self.degree = check_integer("degree", degree, least=DEGREES[0])
        if self.degree not in DEGREES:
            raise fail(ArgumentError, "degree", describe(degree), "give 3, 5 or 7")
        if isinstance(box, Box | SpaceTime):
            low, high = _corners(box)
            _check_sizes(self.values, (None,) * len(low))
            axes = self._spread(low, high)
        else:
            box = axes = _axes(box, self.at, self.values.ndim)
            low, high = np.array([own[0] for own in axes]), np.array([own[-1] for own in axes])
            _check_sizes(self.values, tuple(map(len, axes)))
        self.box, self._low, self._high = box, low, high
        self._spline = frozen(interpolant(axes, self.values, self.degree))
        self._check_sign(axes)

    def _check_sign(self, axes: tuple[FloatArray, ...]) -> None:
        """Warn if all values are positive, and the spline is not: it swings where they jump."""
        if self.values.ndim > len(axes) or np.iscomplexobj(self.values) or np.min(self.values) <= 0.0:
            return
        if np.max(self.values) < STEEP * np.min(self.values):
            return
        x = tensor_grid([0.5 * (own[1:] + own[:-1]) for own in axes])
        x = x[:: 1 + x.size // MIDDLES]
        found = np.asarray(self._spline.at(x))
        if np.min(found) <= 0.0:
            place = np.array2string(x[np.argmin(found)], precision=4)
            warnings.warn(
                f"values: got positive numbers between which the spline falls to {np.min(found):.3g}, at {place}. As a "
                "conductivity it would make no sense: interpolate the logarithm, g = GridFunction(np.log(values), box) "
                "and lambda x: jnp.exp(g(x)); or tell jumps with ko.Piecewise",
                AccuracyWarning,
                stacklevel=3,
            )

    @classmethod
    def from_xarray(cls, array: object, dims: Sequence[str] | None = None, degree: int = 3) -> GridFunction:
        """From an ``xarray.DataArray`` with numeric coordinates along its dimensions, evenly spaced or not.

        Arguments:
            dims: its dimensions in the order of the coordinates of x, such as ("x", "y", "t"); as they stand if None.
                Coordinates that fall are turned around.
        """
        values, axes = read_labelled(array, dims)
        return cls(values, axes, degree=degree)

    @property
    def dim(self) -> int:
        """The number d of coordinates."""
        return len(self._low)

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """The corners of the box in which the function is known, (d,) each."""
        return self._low.copy(), self._high.copy()

    def __call__(self, x: Any) -> Any:
        """The values at x (…, d): (…,), or (…, m) of vectors."""
        if isinstance(x, Tracer):
            inside, values = jnp.all(self._inside(self._checked_shape(x), jnp), axis=-1), self._spline(x)
            return jnp.where(inside.reshape(inside.shape + (1,) * (values.ndim - inside.ndim)), values, jnp.nan)
        places = self._checked_shape(x if isinstance(x, jax.Array) else check_array("x", x, remedy=_POINTS, copy=False))
        outside = ~np.all(self._inside(np.asarray(places), np), axis=-1)
        if np.any(outside):
            first = np.asarray(places)[outside][0]
            got = f"{int(outside.sum())} of {outside.size} points outside the grid, the first at {first}"
            remedy = f"the grid reaches from {self._low} to {self._high}; give values on a larger one"
            raise fail(OutsideDomainError, "GridFunction", got, remedy)
        return self._spline(x) if isinstance(x, jax.Array) else self._spline.at(places)

    def _checked_shape(self, x: Any) -> Any:
        if x.ndim == 0 or x.shape[-1] != self.dim:
            got = f"an array of shape {x.shape} for a grid in {self.dim} dimensions"
            remedy = f"give points of shape (…, {self.dim})"
            if x.ndim and x.shape[-1] > self.dim:
                remedy += f"; of the first coordinates alone, such as those of space, lambda x: g(x[..., :{self.dim}])"
            raise fail(ShapeError, "GridFunction", got, remedy)
        return x

    def _inside(self, x: Any, library: Any) -> Any:
        """Which coordinates lie within the box, to rounding: (…, d)."""
        room = slack(self._low, self._high)
        if x.dtype.itemsize < 8:
            room = np.maximum(room, SINGLE * (self._high - self._low))
        low, high = library.asarray(self._low - room), library.asarray(self._high + room)
        return library.logical_and(x >= low, x <= high)

    def _spread(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, ...]:
        counts = self.values.shape[: len(low)]
        if self.at == "nodes":
            return tuple(np.linspace(a, b, n) for a, b, n in zip(low, high, counts, strict=True))
        return tuple(a + (b - a) * (np.arange(n) + 0.5) / n for a, b, n in zip(low, high, counts, strict=True))

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.values.shape[: self.dim]))
        return f"GridFunction({shape} {self.at} from {self._low.tolist()} to {self._high.tolist()})"


_POINTS = "give points of shape (…, d)"
_WHERE = "give an Interval, a Box, a SpaceTime over one of them, or increasing coordinates for each axis"


def _corners(box: Box | SpaceTime) -> tuple[FloatArray, FloatArray]:
    if isinstance(box, SpaceTime) and not isinstance(box.space, Box):
        raise fail(ArgumentTypeError, "box", describe(box), "an array fills a box: " + _WHERE)
    low, high = box.bounds
    return frozen((low, high))


def _axes(given: object, at: str, most: int) -> tuple[FloatArray, ...]:
    """The coordinates of the nodes along each axis, checked."""
    if at != "nodes" or not isinstance(given, Sequence) or isinstance(given, str) or not 0 < len(given) <= most:
        got = describe(given) if at == "nodes" else "the coordinates of nodes together with at='cells'"
        raise fail(ArgumentTypeError, "box", got, _WHERE)
    axes = tuple(check_array(f"box[{k}]", own, remedy=_WHERE) for k, own in enumerate(given))
    for k, own in enumerate(axes):
        if own.ndim != 1 or not np.all(np.diff(own) > 0.0):
            falling = f"{np.array2string(own, threshold=6)}, which do not increase"
            got = f"an array of shape {own.shape}" if own.ndim != 1 else falling
            remedy = "give Box(lo, hi), or the increasing coordinates of the nodes along each axis"
            raise fail(ArgumentError, f"box[{k}]", got, remedy)
    return frozen(axes)


def _check_sizes(values: NumberArray, nodes: tuple[int | None, ...]) -> None:
    """Raise unless the values have an axis for each coordinate, with so many nodes where that is known."""
    d, found = len(nodes), values.shape[: len(nodes)]
    if values.ndim < d or values.ndim > d + 2 or values.size == 0:
        got = f"an array of shape {values.shape} for a box in {d} dimensions"
        raise fail(ShapeError, "values", got, "give one axis for each coordinate, and at most two more for vectors")
    if any(n not in (None, own) for n, own in zip(nodes, found, strict=True)):
        got = f"an array of shape {values.shape} for {nodes} nodes"
        raise fail(ShapeError, "values", got, "give one for each node")
    if min(found) < 2:
        raise fail(ShapeError, "values", f"{min(found)} node along an axis", "give at least two along each axis")
