"""u as a function of x, on one domain or on many slabs of time: its unknowns by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, overload

import numpy as np

from kernop.basics.checks import check_kind, check_scalar
from kernop.basics.errors import (
    ArgumentError,
    FloatArray,
    InputNameError,
    IntArray,
    NumberArray,
    ShapeError,
    describe,
    fail,
)
from kernop.collocation.ansatz import Ansatz, Tabulated
from kernop.collocation.data import Input, InputValue, flattened, reshaped
from kernop.collocation.functionals import Functionals
from kernop.collocation.slabs import Later
from kernop.geometry import Points
from kernop.geometry.points import points_at
from kernop.language.calculus import grad
from kernop.language.ops import flattened_rows, itself, matrix_shape
from kernop.language.problem import Problem
from kernop.language.unknowns import Operator
from kernop.methods import Combination
from kernop.operators.shapes import PointsLike, UserValues, blanked, by_unknown, values_of
from kernop.operators.snapshot import Differentiable
from kernop.views import pictures
from kernop.views.html import html_table
from kernop.views.scene import Scene, scene
from kernop.views.sight import Sight

_FACTOR = "give a number, real or complex"


@dataclass(frozen=True, eq=False)
class Segment:
    """Points at which u is one combination of the functions of its space: all of them, or those of one slab of time.

    Arguments:
        function: the combination.
        points: n points, in the time of u.
        own: the same points in the time of the function, which is earlier by …
        shift: … this.
        rows: the numbers of the points among all at which u is asked for, (n,); None: these are all.
    """

    function: Combination
    points: Points
    own: Points
    shift: float = 0.0
    rows: IntArray | None = None

    def applied(self, op: Operator, ansatz: Ansatz, of: str | None) -> Functionals:
        """(P u)(x_i) as functionals of the function: coefficients of P are taken at the points, u at their own."""
        if self.shift == 0.0 or isinstance(op, Tabulated):
            return ansatz.functionals(op, self.own, of=of)
        if ansatz.envelope is not None:
            ansatz = replace(ansatz, envelope=Later(ansatz.envelope, -self.shift))
        rows = ansatz.functionals(op, self.points, of=of)
        return replace(rows, blocks=tuple(replace(block, x=self.own.x) for block in rows.blocks))


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluated(Differentiable):
    """A function u of x, or B of them, with its derivatives; of several unknowns, each is one by its name.

    Attributes:
        problem: the conditions.
        function: u as a combination of the functions of a space.
        single: is it one input, or a batch?
        paired: was a real operator given complex data? Then the functions are real parts, followed by imaginary parts.
        left: the relative least-squares residual of the data, (B,); None if it is not known yet.
        sizes: the norm ‖√W h‖ of the data, (B,); None if it is not known.
    """

    problem: Problem
    function: Combination
    single: bool
    paired: bool = False
    left: FloatArray | None = None
    sizes: FloatArray | None = None

    @property
    @abstractmethod
    def width(self) -> int:
        """The number B of inputs."""

    @property
    def ansatz(self) -> Ansatz:
        """How the unknowns are written in the functions of the space."""
        return self.function.expansion.ansatz

    @cached_property
    def misfits(self) -> FloatArray | None:
        """The relative least-squares residual of the data, (B,); None if it is not known."""
        return self.left

    def within(self, promise: float) -> bool:
        """Is the relative residual of the data at most this, as far as it is known?"""
        return self.left is None or float(np.fmax.reduce(self.left, initial=0.0)) <= promise

    @property
    def misfit(self) -> FloatArray | float | None:
        """‖√W (P u − h)‖ / ‖√W h‖ over the points of T: a float, or (B,); None if it is not known.

        The part of the data that u does not satisfy where it was fitted. It is small where u is resolved; it is not the
        error of u, which `error_estimate` tells.
        """
        if self.misfits is None:
            return None
        return float(self.misfits[0]) if self.single else self.misfits

    @overload
    def __getitem__(self, name: str) -> OneUnknown: ...

    @overload
    def __getitem__(self, name: int) -> Self: ...

    def __getitem__(self, name: str | int) -> OneUnknown | Self:
        """The solution of one unknown, by name; or of one input of a batch, by number."""
        if isinstance(name, int | np.integer) and not isinstance(name, bool):
            if self.single or not -self.width <= name < self.width:
                got, last = f"the number {name}", self.width - 1
                remedy = "u is one input, no batch" if self.single else f"give a number from 0 to {last}"
                raise fail(ArgumentError, "u", got, remedy)
            return self.pick(int(name) % self.width)
        if name not in self.problem.unknowns.names:
            known = ", ".join(self.problem.unknowns.names)
            raise fail(InputNameError, "u", f"the unknown {describe(name)}", f"the unknowns are {known}")
        return OneUnknown(self, name)

    def __getattr__(self, name: str) -> OneUnknown:
        if not name.startswith("_") and name in self.problem.unknowns.slices:
            return OneUnknown(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def scene(self) -> Scene:
        """Where u is defined, as pictures and tables see it."""
        return scene_of(self.problem)

    def sight(self, name: str | None) -> Sight:
        """One unknown as a function on the domain; None: all of them, of which operators are taken by their names."""

        def evaluate(op: Operator | None, points: Points, outside: str) -> NumberArray:
            return self.apply(itself if op is None else op, points, outside=outside, of=name)

        def picks() -> list[Sight]:
            return [self.pick(number).sight(name) for number in range(self.width)]

        return Sight(name or ", ".join(self.problem.unknowns.names), self.scene(), evaluate, self.single, picks)

    def _sights(self) -> tuple[Sight, ...]:
        return tuple(map(self.sight, self.problem.unknowns.names))

    def _whole(self) -> Sight:
        return self.sight(None)

    @abstractmethod
    def pick(self, number: int) -> Self:
        """The solution of one input of a batch."""

    @abstractmethod
    def combined(self, terms: Sequence[tuple[complex, Evaluated]]) -> Self:
        """Σ a_i u_i for solutions of the same operator: the solution of the combined data."""

    def __add__(self, other: object) -> Self:
        return self.combined([(1.0, self), (1.0, self._partner(other))])

    def __sub__(self, other: object) -> Self:
        return self.combined([(1.0, self), (-1.0, self._partner(other))])

    def __neg__(self) -> Self:
        return self.combined([(-1.0, self)])

    def __mul__(self, factor: object) -> Self:
        return self.combined([(check_scalar("factor", factor, _FACTOR), self)])

    __rmul__ = __mul__

    def __truediv__(self, divisor: object) -> Self:
        number = check_scalar("divisor", divisor, _FACTOR)
        if number == 0.0:
            raise fail(ArgumentError, "divisor", "0", "divide by another number")
        return self.combined([(1.0 / number, self)])

    #: numpy.float64(2) * u is ours.
    __array_ufunc__ = None

    def _partner(self, other: Any) -> Self:
        """Another solution of the same operator, of as many inputs."""
        remedy = "give a solution of the same operator T"
        check_kind("u + v", other, type(self), remedy)
        if other.function.expansion is not self.function.expansion:
            raise fail(ArgumentError, "u + v", "solutions of two operators", remedy)
        if not self.single and not other.single and self.width != other.width:
            raise fail(ShapeError, "u + v", f"batches of {self.width} and {other.width}", "add batches of one size")
        return other

    def __call__(self, x: PointsLike, *, outside: str = "raise") -> UserValues:
        """u(x) for x of shape (M, d): (M,), or (M, B); (M, k) or (M, k, B) for an unknown with k components.

        x may also be one point, (d,), or have more axes, (…, d), which the values then have in place of M; on a line
        plain numbers will do. With several unknowns it is a named tuple with an entry for each: ``s(x).u``.
        ``outside`` says what to do with points outside the domain: "raise", "nan", or "extrapolate".
        """
        ansatz, unknowns = self.ansatz, self.problem.unknowns
        return self._read(
            x, outside, lambda segment: ansatz.evaluations(segment.own.x), lambda v: by_unknown(v, unknowns)
        )

    def grad(self, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """The derivatives of u along all coordinates: (M, d), or (M, d, B). On a SpaceTime the last is ∂u/∂t.

        Of an unknown with k components: (M, k, d), or (M, k, d, B). x is as for u(x).
        """
        if self.problem.unknowns.single is None:
            names = " and ".join(f"s.{name}.grad(x)" for name in self.problem.unknowns.names)
            raise fail(ArgumentError, "u.grad", "a solution with several unknowns", f"ask each of them: {names}")
        return self.gradient(self.problem.unknowns.single, x, outside)

    def gradient(self, name: str, x: PointsLike, outside: str) -> FloatArray:
        """The derivatives of one unknown along all coordinates, as `grad` gives them."""
        ansatz, unknowns, dim = self.ansatz, self.problem.unknowns, self.problem.dim
        components = range(unknowns.total)[unknowns.slices[name]]
        shape = (dim,) if len(components) == 1 else (len(components), dim)
        every = flattened_rows(lambda u: grad(u, axes=range(dim)))

        def derivatives(segment: Segment) -> Functionals:
            return ansatz.gradients(segment.own.x, *components) or segment.applied(every, ansatz, name)

        return self._read(x, outside, derivatives, lambda found: found.reshape(len(found), *shape, *found.shape[2:]))

    def apply(self, op: Operator, x: PointsLike, *, outside: str = "raise", of: str | None = None) -> FloatArray:
        """(P u)(x) for any linear operator P; give `Points` with normals where P needs them. x is as for u(x).

        With several unknowns P takes them by the names of its parameters, or the one that ``of`` names. The values are
        (M,), (M, k) of a vector field, (M, k, l) of a matrix field such as a stress; with a last axis B for B inputs.
        On slabs of time, coefficients are functions of the time of all slabs.
        """
        place = points_at(np.zeros((1, self.problem.dim)), self.problem.timed)
        known = isinstance(op, Tabulated)
        matrix = None if known else matrix_shape(op, place, self.problem.unknowns, of=of)
        flat = op if matrix is None else flattened_rows(op)

        def shaped(found: NumberArray) -> NumberArray:
            return found if matrix is None else found.reshape(len(found), *matrix, *found.shape[2:])

        return self._read(x, outside, lambda segment: segment.applied(flat, self.ansatz, of), shaped)

    @abstractmethod
    def _segments(self, x: PointsLike, outside: str) -> list[Segment]:
        """Points x (M, d), checked, and u there."""

    def _read(
        self,
        x: PointsLike,
        outside: str,
        functionals: Callable[[Segment], Functionals],
        shaped: Callable[[NumberArray], UserValues],
    ) -> Any:
        """The values of functionals of u at x (…, d), as the user sees them.

        Arguments:
            functionals: those of one operator at the points of a segment.
            shaped: gives their values, (M, …), the shape that is asked for.
        """
        flat, shape = flattened("x", x, self.problem.dim)
        segments = self._segments(flat, outside)
        found = shaped(joined(segments, [self._evaluated(own.function, functionals(own)) for own in segments]))
        if outside == "nan":
            found = blanked(found, joined(segments, [self.problem.contains(own.own.x) for own in segments]))
        return reshaped(found, shape)

    def _evaluated(self, function: Combination, rows: Functionals) -> NumberArray:
        """The values of the functionals of one operator for u, or for u in one slab."""
        return values_of(function.apply(rows), rows.layouts[0], single=self.single, paired=self.paired)

    def std(self, x: PointsLike, op: Operator | None = None) -> UserValues:
        """The posterior standard deviation of ``op(u)`` at x, where it is known: see `Solution.std`."""
        remedy = "ask one slab, u.slabs[k].std(x), in the time of T"
        raise fail(ArgumentError, "u.std", "a solution over slabs of time", remedy)

    def _added(self, values: tuple[InputValue, ...], named: Input) -> dict[str, InputValue]:
        """Some of the inputs of T by name, in the order of the problem or by name, each once."""
        names = self.problem.inputs
        added = {**dict(zip(names, values, strict=False)), **named}
        if len(values) > len(names) or any(n not in names for n in added) or len(added) < len(values) + len(named):
            got = f"{len(values)} values and the names {list(named)}"
            raise fail(InputNameError, "error_estimate", got, f"give some of ({', '.join(names)}), each once")
        return added

    def _repr_html_(self) -> str:
        name, _, rest = repr(self).partition("(")
        what, _, parts = rest.removesuffix(")").partition("; ")
        draw = pictures.small_picture(self._sights()[0]) if self.single else None
        return html_table(name, [("what", what), ("of", parts)], draw)

    def _described(self, *parts: str) -> str:
        """What it is, in a line."""
        number = () if self.single else (f"{self.width} of them",)
        left = () if self.misfits is None else (f"leaves {np.max(self.misfits):.1e} of the data",)
        unknowns = ", ".join(self.problem.unknowns.names)
        what = f"x ↦ {unknowns if ',' in unknowns else 'u(x)'} in {self.problem.dim}-D"
        return f"{type(self).__name__}({what}; {', '.join((*number, *parts, *left))})"


def joined(segments: Sequence[Segment], values: Sequence[NumberArray]) -> NumberArray:
    """Values at all points, in their order, from those at the points of each segment."""
    rows = [own.rows for own in segments if own.rows is not None]
    return np.concatenate(values)[np.argsort(np.concatenate(rows))] if len(rows) > 1 else values[0]


def scene_of(problem: Problem) -> Scene:
    """The regions of full dimension on which conditions are stated."""
    regions = [condition.on for condition in problem.conditions]
    top = max(region.intrinsic_dim for region in regions)
    return scene([region for region in regions if region.intrinsic_dim == top], problem.contains)


@dataclass(frozen=True, eq=False)
class OneUnknown(Differentiable):
    """One unknown of several: a function of x with its derivatives."""

    solution: Evaluated
    name: str

    def _sights(self) -> tuple[Sight, ...]:
        return (self.solution.sight(self.name),)

    def error_sights(self) -> list[tuple[Sight, str]]:
        names = self.solution.problem.unknowns.names
        return [own for name, own in zip(names, self.solution.error_sights(), strict=True) if name == self.name]

    def __call__(self, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """u(x) for x of shape (…, d): (…) or (…, k), and with a last axis B for B inputs."""
        return self.apply(itself, x, outside=outside)

    def grad(self, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """The derivatives along all coordinates: (M, d), or (M, k, d); with a last axis B for B inputs."""
        return self.solution.gradient(self.name, x, outside)

    def apply(self, op: Operator, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """(P u)(x) for any linear operator P of this unknown."""
        return self.solution.apply(op, x, outside=outside, of=self.name)

    def std(self, x: PointsLike) -> FloatArray:
        """The posterior standard deviation at x; see `Solution.std`."""
        found = self.solution.std(x)
        return getattr(found, self.name) if self.solution.problem.unknowns.single is None else found

    def __repr__(self) -> str:
        return f"{self.name!r} of {self.solution!r}"
