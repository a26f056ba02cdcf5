"""Periodic conditions: what leaves through one piece of the boundary comes in through another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernop.basics.checks import check_array, check_kind
from kernop.basics.errors import ArgumentError, FloatArray, OperatorError, ShapeError, fail
from kernop.basics.precision import eagerly
from kernop.basics.stored import Numbers, stored
from kernop.geometry import Points, Region
from kernop.geometry.extents import slack
from kernop.language.calculus import normal_derivative
from kernop.language.conditions import Condition
from kernop.language.fields import Field, VectorField
from kernop.language.ops import linear_forms
from kernop.language.unknowns import Unknowns, signature_of

#: Points at which two pieces are compared.
COMPARED = 256
#: How far the measures of two pieces may be apart, relative: that of a part by predicate is an estimate.
ALIKE = 0.05
#: How far normals may be from opposite.
OPPOSITE = 1e-6


@stored("traces")
@dataclass(frozen=True, eq=False)
class Traces:
    """The operator u ↦ (u, ℓ ∂u/∂n, …, ℓ^(s−1) ∂^(s−1)u/∂n^(s−1)), for each component of each unknown.

    Arguments:
        orders: (name, s) of each unknown.
        length: ℓ, so that all parts are of one size.
    """

    orders: tuple[tuple[str, int], ...]
    length: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "__signature__", signature_of(name for name, _ in self.orders))

    def __call__(self, *given: Field | VectorField, **named: Field | VectorField) -> Field | VectorField:
        """The traces of fields, in their order or by name."""
        fields = given or tuple(named[name] for name, _ in self.orders)
        parts: list[Field | VectorField] = []
        for field, (_, order) in zip(fields, self.orders, strict=True):
            for part in field.scalars if isinstance(field, VectorField) else (field,):
                trace: Field | VectorField = part
                for _ in range(order):
                    parts.append(trace)
                    trace = normal_derivative(trace, axes=range(part.dim)) * self.length
        return parts[0] if len(parts) == 1 else VectorField(tuple(parts))

    def __repr__(self) -> str:
        return "traces of " + ", ".join(f"{name} up to order {order - 1}" for name, order in self.orders)


@stored("paired")
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Paired(Condition):
    """P u(x) − P u(x + shift) = h for x in a region; normals are those at x.

    Arguments:
        to: the region of the x + shift.
        shift: the translation, (d,).
    """

    to: Region
    shift: Numbers

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "shift", check_array("shift", self.shift, remedy="give d numbers"))

    @property
    def paired(self) -> bool:
        return True

    def partners(self, points: Points) -> Points:
        return replace(points, x=points.x + self.shift)

    def completed(self, others: Sequence[Condition], unknowns: Unknowns) -> Condition:
        """With as many normal derivatives as the equations ask for: one fewer than their order, for each unknown."""
        if isinstance(self.op, Traces) and self.op.orders:
            return self
        inside = [c for c in others if c.on.intrinsic_dim == c.on.dim == self.on.dim and not c.integral]
        names = unknowns.names if self.of is None else (self.of,)
        orders = _orders(inside, self.on, unknowns)
        found = tuple((name, orders[name]) for name in names if orders.get(name, 0) > 0)
        if not found:
            remedy = "state the equation inside the domain, of at least first order across the boundary, beside it"
            raise fail(OperatorError, self.name, "a problem without an equation that takes a trace there", remedy)
        length = float(np.linalg.norm(self.shift)) / (2.0 * np.pi)
        return replace(self, op=Traces(found, length))

    def __repr__(self) -> str:
        return f"Periodic({self.name!r} on {self.on!r}, to {self.to!r})"


def Periodic(
    on: Region, to: Region, name: str = "periodic", *, of: str | None = None, data: object = 0.0, shift: object = None
) -> Condition:
    """u on one piece of the boundary is u on another one, with its normal derivatives below the order of the equation.

    For −Δu and the like: u(x) = u(x + s) and ∂u/∂n(x) = ∂u/∂n(x + s), n the normal at x, for x on the first piece; the
    second is the first one moved by s, which is found. In space–time the pieces are parts of the walls, such as
    ``D.walls.of(space.face("left"))``; or the initial and the final slice, for solutions that repeat. The coefficients
    of the equation should have the same period. With several unknowns, of all, or of the one that ``of`` names.

    Arguments:
        on, to: the pieces; of the same shape, and with opposite normals.
        data: what the traces differ by, part by part: u(x) − u(x + s), then (|s| / 2π)^j times the same of the j-th
            derivative; 0, unless a jump is wanted.
        shift: s, (d,), if it is to be given.
    """
    for key, region in (("on", on), ("to", to)):
        check_kind(key, region, Region, "give a piece of a boundary, such as D.face('left')")
        if region.intrinsic_dim != region.dim - 1:
            got = f"{region!r}, of dimension {region.intrinsic_dim} in {region.dim} coordinates"
            raise fail(ArgumentError, key, got, "give a piece of a boundary, such as D.face('left')")
    if on.dim != to.dim or on.timed != to.timed:
        raise fail(ShapeError, "to", f"{to!r} for {on!r}", "give pieces of the boundary of one domain")
    found = _shift(on, to, shift)
    return Paired(Traces((), 1.0), on, name, data=data, of=of, to=to, shift=found)


def _shift(on: Region, to: Region, given: object) -> FloatArray:
    """The translation that takes one piece to the other; an error that says how they do not match."""
    remedy = "give two pieces of the same shape that face each other, such as D.face('left') and D.face('right')"
    if not abs(on.measure - to.measure) <= ALIKE * on.measure:
        got = f"{to!r}, which measures {to.measure:.4g}, for {on!r}, which measures {on.measure:.4g}"
        raise fail(ArgumentError, "to", got, remedy)
    here, there = on.sample(COMPARED), to.sample(COMPARED)
    if given is not None:
        candidates = [check_array("shift", given, remedy=f"give {on.dim} numbers", shape=(on.dim,))]
    else:
        candidates = _candidates(on, to, here, there)
    for step in candidates:
        if np.any(step) and np.all(to.contains(here.x + step)) and np.all(on.contains(there.x - step)):
            _check_facing(on, to, here, step)
            return step
    step = candidates[0]
    outside = ~to.contains(here.x + step)
    where = here.x[np.argmax(outside)] if np.any(outside) else there.x[0] - step
    got = f"{to!r} for {on!r}: moved by {step}, the point {where} does not come to lie on it"
    raise fail(ArgumentError, "to", got, remedy)


def _candidates(on: Region, to: Region, here: Points, there: Points) -> list[FloatArray]:
    """From the corners of the pieces; and, where they are flat, from their distance along the normal."""
    found = [to.bounds[0] - on.bounds[0]]
    if here.normal is not None and np.ptp(here.normal, axis=0).max() == 0.0:
        normal = here.normal[0]
        found.insert(0, float(there.x[0] @ normal - here.x[0] @ normal) * normal)
    return [np.where(np.abs(step) <= slack(*on.bounds) + slack(*to.bounds), 0.0, step) for step in found]


def _check_facing(on: Region, to: Region, here: Points, step: FloatArray) -> None:
    """Raise unless the normals of the two pieces are opposite: what leaves here comes in there."""
    there = to.normals(here.x + step)
    if here.normal is None or there is None:
        raise fail(ArgumentError, "on, to", f"{on!r} and {to!r}, without normals", "give pieces with normals")
    apart = np.linalg.norm(here.normal + there, axis=1)
    if np.any(apart > OPPOSITE):
        got = f"{to!r} for {on!r}, whose normals at {here.x[np.argmax(apart)]} and opposite it are not opposite"
        raise fail(ArgumentError, "to", got, "give two pieces that face each other")


def _orders(inside: Sequence[Condition], on: Region, unknowns: Unknowns) -> dict[str, int]:
    """The highest derivative of each unknown in the equations, along the directions that the normal has."""
    normal = on.sample(1).normal
    in_time = on.timed and normal is not None and bool(normal[0, -1])
    found: dict[str, int] = {}
    for condition in inside:
        place = condition.on.sample(1)[:1]
        with eagerly():
            forms, _ = linear_forms(condition.op, place, unknowns, of=condition.of, name=condition.name)
        for k, alpha in (term for form in forms for term in form.terms):
            order = alpha[-1] if in_time else sum(alpha[:-1] if on.timed else alpha)
            name = next(own for own, part in unknowns.slices.items() if part.start <= k < part.stop)
            found[name] = max(found.get(name, 0), order)
    return found
