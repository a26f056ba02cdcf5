"""Functions that jump, and say where: coefficients of layered and mixed materials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.core import Tracer
from numpy.typing import NDArray

from kernop.basics.checks import check_array, check_kind, check_scalar
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    BoolArray,
    FloatArray,
    IntArray,
    KernopError,
    OutsideDomainError,
    ShapeError,
    describe,
    fail,
)
from kernop.basics.precision import float64
from kernop.basics.stored import stored
from kernop.geometry import Region
from kernop.geometry.several import Several
from kernop.language.functions import Function, values_of_function
from kernop.language.sides import boundary_of

#: Points of each region that are looked for in the others.
LOOKED_AT = 512


@stored("piecewise")
class Piecewise:
    """One number or function on each of several regions, with jumps between them that kernop knows of.

    Of x (…, d) it gives (…,). Inside a piece its derivatives are those of the piece. A point that two regions share
    with their boundaries belongs to the first of them.

    Under ``div`` or ``grad`` it is the coefficient of a physical problem: `learn` puts an `Interface` on the boundaries
    of its regions, so that u and its flux a ∂u/∂n are continuous there. Where it cannot, it says so (`JumpWarning`).

    Arguments:
        pieces: {region: number or function of x}, or pairs of them. The regions do not overlap.
        otherwise: number or function where there is no region; None: such points are an error.
    """

    def __init__(self, pieces: tuple[tuple[Region, Any], ...] | Mapping[Region, Any], otherwise: Any = None) -> None:
        self.pieces = _read(pieces)
        self.otherwise = None if otherwise is None else _value("otherwise", otherwise)
        _check_apart([region for region, _ in self.pieces])
        self._several = Several(self.regions)
        self._last: tuple[FloatArray, IntArray] | None = None  # value and derivatives are asked for in turn

    @property
    def regions(self) -> tuple[Region, ...]:
        """The regions of the pieces, in order."""
        return tuple(region for region, _ in self.pieces)

    @property
    def dim(self) -> int:
        """The number d of coordinates."""
        return self.pieces[0][0].dim

    def which(self, x: Any) -> IntArray:
        """The number of the piece of each point x (n, d), and −1 where ``otherwise`` holds: (n,).

        A point that lies inside two regions, or in none without ``otherwise``, is an error.
        """
        last = self._last
        if last is None or not np.array_equal(last[0], x):
            last = np.array(x), self._several.once(self._which, np.asarray(x))
            self._last = last
        return last[1].copy()

    def _which(self, x: FloatArray) -> IntArray:
        inside = self._several.containing(x)
        self._check_overlap(inside, x)
        none = ~np.any(inside, axis=0)
        if self.otherwise is None and np.any(none):
            got = f"{int(none.sum())} of {len(none)} points in none of the regions, the first at {x[none][0]}"
            raise fail(OutsideDomainError, "Piecewise", got, "cover the domain with regions, or give otherwise=")
        # `contains` is tolerant: near a line that two pieces share it is looked more closely on which side a point is.
        close = inside & self._several.containing(x, exactly=True)
        lost = ~np.any(close, axis=0)
        if self.otherwise is None:
            close[:, lost] = inside[:, lost]
            lost = none
        return np.where(lost, -1, np.argmax(close, axis=0))

    def __call__(self, x: Any) -> Any:
        """The values at x (…, d): (…,), in NumPy or, for arrays of JAX, in JAX."""
        if isinstance(x, Tracer | jax.Array):
            return self._values(x)
        places = check_array("x", x, remedy="give points of shape (…, d)", copy=False)
        with float64():
            found = np.asarray(self._values(jnp.asarray(places)))
        return check_array("Piecewise", found, remedy="make it finite where it holds", copy=False, complex_too=True)

    def _values(self, x: Array) -> Array:
        if x.ndim == 0 or x.shape[-1] != self.dim:
            got = f"points of shape {x.shape} for regions in {self.dim} dimensions"
            raise fail(ShapeError, "Piecewise", got, f"give points of shape (…, {self.dim})")
        flat = x.reshape(-1, self.dim)
        number = self._numbers(flat)
        values = dict(enumerate(value for _, value in self.pieces))
        if self.otherwise is not None:
            values[-1] = self.otherwise  # also the last of a table, as -1 asks for
        constants = jnp.asarray(np.array([0.0 if callable(value) else value for value in values.values()]))
        found = constants[number]
        for k in (k for k, value in values.items() if callable(value)):
            found = found + self._piece(flat, number == k, k)
        return found.reshape(x.shape[:-1])

    def _numbers(self, x: Array) -> Array:
        """`which`, at points that JAX may trace: known now, or when the compiled function runs."""

        def numbers(places: Array) -> NDArray[np.int32]:
            known = np.asarray(places, dtype=np.float64)
            return self.which(known.reshape(-1, self.dim)).reshape(known.shape[:-1]).astype(np.int32)

        still = jax.lax.stop_gradient(x)
        try:
            with jax.ensure_compile_time_eval():
                return jnp.asarray(self.which(np.asarray(still, dtype=np.float64)))
        except jax.errors.TracerArrayConversionError:
            shape = jax.ShapeDtypeStruct(x.shape[:-1], np.int32)
            return jax.pure_callback(numbers, shape, still, vmap_method="broadcast_all")

    def _piece(self, x: Array, mine: Array, k: int) -> Array:
        """The values of piece k, a function, at its points, and 0 at others, (n,).

        It is asked at its own points only: elsewhere it may be infinite, or not known.
        """
        value: Any = self.otherwise if k < 0 else self.pieces[k][1]
        if isinstance(mine, Tracer):
            own = jnp.asarray(self.pieces[k][0].sample(1).x[0]) if k >= 0 else x[0]
        elif not np.any(np.asarray(mine)):
            return jnp.zeros(len(x))
        else:
            own = jax.lax.stop_gradient(x)[int(np.argmax(np.asarray(mine)))]
        places, name = jnp.where(mine[:, None], x, own), "otherwise" if k < 0 else f"pieces, value {k}"
        found: Any = value(places) if isinstance(mine, Tracer) else values_of_function(name, value, places, ())
        return jnp.where(mine, found, 0.0)

    def _check_overlap(self, inside: BoolArray, x: FloatArray) -> None:
        """Raise if a point lies in two regions, and on the boundary of neither, as far as that is known."""
        shared = np.flatnonzero(np.sum(inside, axis=0) > 1)
        if len(shared) == 0:
            return
        beside = np.zeros(len(shared), dtype=bool)
        for region, held in zip(self.regions, inside[:, shared], strict=True):
            # Where a boundary is not known, as of .where(…), a point that two of them hold may well lie on it.
            boundary = boundary_of(region)
            if np.any(held):
                beside[held] |= True if boundary is None else boundary.contains(x[shared[held]])
        if not np.all(beside):
            place = int(shared[np.argmin(beside)])
            one, other = np.flatnonzero(inside[:, place])[:2].tolist()
            raise _overlapping(self.regions[one], self.regions[other], x[place])

    def __repr__(self) -> str:
        shown = [f"{region!r}: {describe(value)}" for region, value in self.pieces]
        rest = "" if self.otherwise is None else f", otherwise {describe(self.otherwise)}"
        return f"Piecewise({{{', '.join(shown)}}}{rest})"


_WANTED = "give {region: value}, such as {ko.Box([0, 0], [0.5, 1]): 1.0, ko.Box([0.5, 0], [1, 1]): 10.0}"


def _read(pieces: object) -> tuple[tuple[Region, float | complex | Function], ...]:
    pairs = list(pieces.items() if isinstance(pieces, Mapping) else pieces if isinstance(pieces, Iterable) else ())
    if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise fail(ArgumentTypeError, "pieces", describe(pieces), _WANTED)
    found: list[tuple[Region, Any]] = []
    for k, (region, value) in enumerate(pairs):
        check_kind(f"pieces, region {k}", region, Region, _WANTED)
        if region.dim != pairs[0][0].dim or region.intrinsic_dim != region.dim:
            got = f"{region!r}, of dimension {region.intrinsic_dim} in {region.dim} coordinates"
            raise fail(ShapeError, f"pieces, region {k}", got, "give domains in the same space, and no boundaries")
        found.append((region, _value(f"pieces, value {k}", value)))
    return tuple(found)


def _value(name: str, value: object) -> Any:
    return value if callable(value) else check_scalar(name, value, "give a number or a function of x")


def _check_apart(regions: list[Region]) -> None:
    """Raise if sampled points of one region lie within another, and not on the boundary of either."""
    for k, region in enumerate(regions):
        x = region.sample(LOOKED_AT).x if region.known else None
        for other in regions[k + 1 :]:
            low, high = np.maximum(region.bounds[0], other.bounds[0]), np.minimum(region.bounds[1], other.bounds[1])
            if x is None or np.any(low > high):
                continue
            for place in x[other.contains(x)]:
                if not (_on_boundary(region, place[None]) or _on_boundary(other, place[None])):
                    raise _overlapping(region, other, place)


def _on_boundary(region: Region, x: FloatArray) -> bool:
    """Does a point (1, d) lie on the boundary? False where the region does not know its boundary."""
    boundary = boundary_of(region)
    return boundary is not None and bool(boundary.contains(x)[0])


def _overlapping(one: Region, other: Region, x: FloatArray) -> KernopError:
    got = f"{one!r} and {other!r}, which overlap: both hold {np.array2string(x, precision=4)}"
    return fail(ArgumentError, "Piecewise", got, "give regions that have no more than boundaries in common")
