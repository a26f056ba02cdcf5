"""Interfaces: inner surfaces across which u, or its flux, may jump."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import wraps
from typing import Any

import numpy as np

from kernop.basics.checks import check_kind
from kernop.basics.errors import (
    ArgumentError,
    BoolArray,
    FloatArray,
    NumberArray,
    OperatorError,
    describe,
    fail,
    naming,
)
from kernop.basics.precision import eagerly
from kernop.geometry import Points, Region, SetOperation, SpaceTime
from kernop.geometry.extents import meet
from kernop.language.calculus import collecting_fluxes
from kernop.language.conditions import Compound, Condition
from kernop.language.fields import Field, Unknown, VectorField, scalars_of
from kernop.language.functions import evaluate_at
from kernop.language.ops import coefficient_values, itself, linear_forms
from kernop.language.piecewise import Piecewise
from kernop.language.problem import Problem
from kernop.language.sides import LOOK, between_domains, boundary_of, sides
from kernop.language.unknowns import Operator, Unknowns

#: Points by which factors on the two sides are compared, and how far they may be apart.
FEW, SAME = 32, 1e-6


@dataclass(frozen=True)
class Interface(Compound):
    """u⁺ − u⁻ = jump and q⁺ − q⁻ = flux_jump across an inner surface, on whose sides u has functions of its own.

    u⁺ is u on the side to which the normals of the surface point: outside of an inclusion whose boundary it is. The
    flux q is the argument of ``div`` in the equation, along the normal: a ∂u/∂n for −div(a grad u). Coefficients, and
    equations, may differ on the two sides; ko.Piecewise states a jump of a.

    Arguments:
        on: the surface: the boundary of a domain, or a part of it, such as ``inclusion.boundary``. What of it does not
            lie inside the domain of the equation is left out.
        jump: u⁺ − u⁻: a number, a function of x, or the name of an input of T.
        flux_jump: q⁺ − q⁻, likewise.
        flux: the flux, an operator such as ``lambda u: a * normal_derivative(u)``; None takes it from the equation.
        name: the conditions are called ``name_jump`` and ``name_flux``.
        of: the unknown, if there are several.
    """

    on: Region
    jump: Any = 0.0
    flux_jump: Any = 0.0
    _: KW_ONLY
    flux: Operator | None = None
    name: str = "interface"
    of: str | None = None

    def __post_init__(self) -> None:
        check_kind("on", self.on, Region, "give a surface, such as inclusion.boundary")
        if self.on.enclosed is None:
            remedy = "give the boundary of a domain, or a part of it, such as Ball([0, 0], 0.5).boundary"
            raise fail(ArgumentError, "on", f"{self.on!r}, which bounds no domain", remedy)

    def conditions(self, others: Sequence[Condition], unknowns: Unknowns) -> tuple[Condition, ...]:
        top = max((c.on.intrinsic_dim for c in others), default=0)
        equations = [c for c in others if c.on.intrinsic_dim == top and top == self.on.dim]
        if not equations:
            remedy = "state an equation on the whole domain, or one on each side"
            raise fail(ArgumentError, self.name, "an interface without an equation around it", remedy)
        with naming(self.name):
            on = _inner(self.on, [c.on for c in equations])
            _check_lasts(on)
            self._check_agrees(on, [c for c in others if c.across and c.of == self.of])
        flux = self.flux or self._flux(equations, on, unknowns)
        return self._condition(itself, on, "jump", self.jump), self._condition(flux, on, "flux", self.flux_jump)

    def _check_agrees(self, on: Region, others: Sequence[Condition]) -> None:
        """Raise if another interface says something else where this one holds."""
        for other in others:
            what, own = ("jump", self.jump) if other.op is itself else ("flux_jump", self.flux_jump)
            if _is_zero(own) and _is_zero(other.data):
                continue
            points = on.sample(LOOK)
            both = other.on.contains(points.x)
            if not np.any(both):
                continue
            shared = points[both]
            mine, theirs = _values(own, shared), _values(other.data, shared)
            normal = other.on.normals(shared.x)
            turned = 1.0 if normal is None else np.sign(np.sum(normal * shared.outward, axis=1))
            if mine is None or theirs is None or not np.allclose(mine.T, turned * theirs.T, rtol=SAME):
                place = np.array2string(shared.x[0], precision=4)
                got = f"{describe(own)} at {place}, where {other.name!r} says what it is"
                raise fail(ArgumentError, what, got, "state one interface on each part of a surface")

    def _condition(self, op: Operator, on: Region, what: str, data: object) -> Condition:
        """One of the two, with data that are fixed, or an input of that name."""
        name, fixed = (data, None) if isinstance(data, str) else (f"{self.name}_{what}", data)
        return Condition(op, on, name, data=fixed, of=self.of, across=True)

    def _flux(self, equations: Sequence[Condition], on: Region, unknowns: Unknowns) -> Flux:
        if unknowns.single is None:
            remedy = "give flux=, such as lambda u, p: normal_component(2 * mu * sym(grad(u)) - p * identity(u))"
            raise fail(ArgumentError, self.name, "no flux, which equations of several unknowns do not tell", remedy)
        flux = Flux(tuple((c.op, c.on) for c in equations))
        if unknowns.components is None:
            _check_factor(flux, on, self.name)
        return flux


@dataclass(frozen=True)
class Flux:
    """The flux of an equation through a surface: what stands in its ``div``, or the gradient in its ``laplacian``.

    Arguments:
        equations: operators and where they hold; on each side of the surface one of them is asked.
    """

    equations: tuple[tuple[Operator, Region], ...]

    def __call__(self, *fields: Field | VectorField, **named: Field | VectorField) -> Field | VectorField:
        """The flux of the first equation."""
        return flux_of(self.equations[0][0])(*fields, **named)

    def beside(self, points: Points, name: str) -> list[tuple[Operator, BoolArray]]:
        """The equations that hold at points near the surface, and at which of them, (n,) each."""
        free, found = np.ones(len(points), dtype=bool), list[tuple[Operator, BoolArray]]()
        for equation, region in self.equations:
            here = free & region.contains(points.x)
            if np.any(here):
                found.append((equation, here))
                free &= ~here
        if np.any(free):
            got = f"a point of an interface, {points.x[np.argmax(free)]}, without an equation beside it"
            raise fail(ArgumentError, name, got, "state an equation on either side")
        return found

    @property
    def __signature__(self) -> inspect.Signature:
        """That of the first equation: by its parameters a problem knows which unknowns it takes."""
        return inspect.signature(self.equations[0][0])


def _check_lasts(surface: Region) -> None:
    """Raise if a surface is a moment of time: no flux goes through it."""
    some = surface.sample(FEW)
    if some.timed and some.normal is not None and np.all(np.abs(some.normal[:, -1]) > 0.5):
        got = f"{surface!r} inside the domain, where the equation changes from one time to the next"
        remedy = "state one problem until then, and one from there whose initial data are what the first ends with"
        raise fail(ArgumentError, "on", got, remedy)


def _is_zero(data: Any) -> bool:
    return data is not None and not isinstance(data, str) and not callable(data) and not np.any(data)


def _values(data: Any, points: Points) -> FloatArray | None:
    """What a jump is at points, (n,) or (n, k); None for an input of T, which is not known yet."""
    if data is None or isinstance(data, str):
        return None
    found = evaluate_at("jump", data, points.x) if callable(data) else np.asarray(data)
    return np.broadcast_to(found, (len(points), *found.shape[1 if callable(data) else 0 :]))


def flux_of(op: Operator) -> Operator:
    """The flux of one equation, as an operator."""

    @wraps(op)
    def flux(*fields: object, **named: object) -> Field | VectorField:
        with collecting_fluxes() as found:
            op(*fields, **named)
        remedy = "write it with one div or laplacian, or give the flux: Interface(…, flux=lambda u: …)"
        if len(found) != 1:
            got = f"an equation with {len(found)} divergences, whose flux is not plain"
            raise fail(OperatorError, "flux", got, remedy)
        (flux,) = found.values()
        order = max((own.order for own in scalars_of(flux) if isinstance(own, Unknown)), default=0)
        if order > 1:
            got = f"a flux with derivatives of order {order}, beside which others are continuous"
            raise fail(OperatorError, "flux", got, remedy)
        return flux

    return flux


def choices(op: Operator, points: Points, name: str) -> list[tuple[Operator, BoolArray]]:
    """The operators that are meant at points near a surface, and at which of them, (n,) each."""
    if not isinstance(op, Flux):
        return [(op, np.ones(len(points), dtype=bool))]
    return [(flux_of(equation), here) for equation, here in op.beside(points, name)]


def _check_factor(flux: Flux, surface: Region, name: str) -> None:
    """Raise if what multiplies the divergence jumps: a * laplacian(u) does not tell what is continuous."""
    points = surface.sample(FEW)
    found: list[NumberArray] = []
    for side in sides(surface, points, name):
        factor = np.ones(len(points), dtype=np.complex128)
        for equation, here in flux.beside(side.near[0], name):
            whole, inner = (_leading(op, side.near[0], name) for op in (equation, flux_of(equation)))
            here = here & (inner != 0.0)
            factor[here] = whole[here] / inner[here]
        found.append(factor)
    apart = np.abs(found[0] - found[1]) > SAME * np.maximum(np.abs(found[0]), np.abs(found[1]))
    if np.any(apart):
        row = int(np.argmax(apart))
        got = f"a factor before div or laplacian that jumps from {_plainly(found[1][row])} to {_plainly(found[0][row])}"
        remedy = "write -div(a * grad(u)), whose flux is a ∂u/∂n, or give flux="
        raise fail(OperatorError, name, got, remedy)


def _plainly(number: complex) -> str:
    return f"{number.real:.4g}" if number.imag == 0.0 else f"{number:.4g}"


def _leading(op: Operator, points: Points, name: str) -> NumberArray:
    """What an operator of order m makes of (n·(x − x_i))^m / m! at points, the coefficient along the normal: (n,)."""
    with eagerly():
        (form,), _ = linear_forms(op, points, name=name)
        for order in sorted({sum(alpha) for _, alpha in form.terms}, reverse=True):  # lower ones differentiate a
            terms = {term: c for term, c in form.terms.items() if sum(term[1]) == order}
            (table,) = coefficient_values((Unknown(form.dim, form.timed, terms),), points, name)
            if any(np.any(values) for values in table.values()):
                powers = [np.prod(points.outward ** np.asarray(alpha), axis=1) for _, alpha in table]
                return np.sum([own * power for own, power in zip(table.values(), powers, strict=True)], axis=0)
    return np.zeros(len(points))


def _inner(surface: Region, domains: Sequence[Region]) -> Region:
    """What of a surface has the domain on both sides."""

    def within(x: FloatArray) -> BoolArray:
        found = surface.contains(x)
        if np.any(found):
            found[found] = between_domains(surface, surface.adopt(x[found]), domains)
        return found

    here = within(surface.sample(LOOK).x)
    if np.all(here):
        return surface
    if not np.any(here):
        got = f"{surface!r}, of which no point has the domain of the equation on both sides"
        raise fail(ArgumentError, "on", got, "give a surface inside the domain")
    return surface.where(within)


def completed(problem: Problem, functions: Sequence[Piecewise]) -> Problem:
    """The problem with an interface on every surface where one of these functions jumps, inside the domain.

    It is left as it is if it has interfaces, several unknowns, or pieces whose boundaries are not known.
    """
    regions = list({id(region): region for function in functions for region in function.regions}.values())
    equations = [c for c in problem.conditions if c.on.intrinsic_dim == problem.dim]
    lasting = [_while(own, [c.on for c in equations]) for region in regions for own in _simple(region)]
    bounded = [boundary for boundary in map(boundary_of, lasting) if boundary is not None]
    if problem.cuts or problem.unknowns.single is None or not regions or len(bounded) < len(lasting):
        return problem
    interfaces: list[Interface] = []
    for k, surface in enumerate(bounded):
        points = surface.sample(LOOK)
        before = [other for other in bounded[:k] if meet(other.bounds, surface.bounds)]

        def new(x: FloatArray, before: Sequence[Region] = before) -> BoolArray:
            """On none of the surfaces before."""
            return ~np.any([np.zeros(len(x), dtype=bool), *(other.contains(x) for other in before)], axis=0)

        here = new(points.x)
        if np.any(between_domains(surface, points, [c.on for c in equations]) & here):
            interfaces.append(Interface(surface if np.all(here) else surface.where(new), name=f"piece{k}"))
    return Problem(*problem.conditions, *interfaces, unknowns=problem.unknowns) if interfaces else problem


def _simple(region: Region) -> list[Region]:
    """Domains whose boundaries together are that of a region: those of which it is made, if these do not meet.

    What lies within a ring and what lies around it are then subdomains of their own; so are two disks.
    """
    if isinstance(region, SpaceTime):
        own = _simple(region.space)
        return [SpaceTime(part, region.times) for part in own] if len(own) > 1 else [region]
    if not isinstance(region, SetOperation) or region.operation == "&":
        return [region]
    first, second = region.first, region.second
    within, beyond = first.height(second.boundary.sample(LOOK).x), second.height(first.boundary.sample(LOOK).x)
    apart = np.all(beyond > 0.0) and np.all(within < 0.0 if region.operation == "-" else within > 0.0)
    return [*_simple(first), *_simple(second)] if apart else [region]


def _while(region: Region, domains: Sequence[Region]) -> Region:
    """A region of space and time at the times of the domain: one that lasts far longer has next to no points there."""
    if not isinstance(region, SpaceTime):
        return region
    times = [own.times for own in domains if isinstance(own, SpaceTime)]
    first = max([region.times[0], min((a for a, _ in times), default=-np.inf)])
    last = min([region.times[1], max((b for _, b in times), default=np.inf)])
    return SpaceTime(region.space, (first, last)) if first < last else region
