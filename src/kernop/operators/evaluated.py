"""u as a function of x, on one domain or on many slabs of time: its unknowns by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np

from kernop.basics.checks import check_kind, check_scalar
from kernop.basics.errors import ArgumentError, FloatArray, InputNameError, ShapeError, describe, fail
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.data import flattened, reshaped
from kernop.collocation.functionals import Functionals
from kernop.geometry import Points
from kernop.language.ops import itself
from kernop.language.problem import Problem
from kernop.language.unknowns import Operator
from kernop.methods import Combination
from kernop.operators.shapes import InputValue, PointsLike, blanked, values_of
from kernop.operators.snapshot import Snapshot
from kernop.views import pictures
from kernop.views.html import html_table
from kernop.views.scene import Scene, scene
from kernop.views.sight import Sight
from kernop.views.viewed import Viewed

One = TypeVar("One")

_FACTOR = "give a number, real or complex"


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluated(Viewed, Generic[One]):
    """A function u of x, or B of them, with its derivatives; of several unknowns, each is one by its name.

    Attributes:
        problem: the conditions.
        function: u as a combination of the functions of a space.
        single: is it one input, or a batch?
        paired: was a real operator given complex data? Then the functions are real parts, followed by imaginary parts.
        left: what least squares left of the data, relative, (B,); None if it is not known yet.
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
        """What least squares left of the data, relative, (B,); None if it is not known."""
        return self.left

    def within(self, promise: float) -> bool:
        """Is no more left of the data than this part, as far as it is known?"""
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

    @abstractmethod
    def _unknown(self, name: str) -> One:
        """The solution of one unknown."""

    @overload
    def __getitem__(self, name: str) -> One: ...

    @overload
    def __getitem__(self, name: int) -> Self: ...

    def __getitem__(self, name: str | int) -> One | Self:
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
        return self._unknown(name)

    def __getattr__(self, name: str) -> One:
        if not name.startswith("_") and name in self.problem.unknowns.slices:
            return self._unknown(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def scene(self) -> Scene:
        """Where u is defined, as pictures and tables see it."""
        return scene_of(self.problem)

    def sight(self, name: str) -> Sight:
        """One unknown as a function on the domain."""
        alone = self.problem.unknowns.single is not None

        def evaluate(op: Any, points: Points, outside: str) -> Any:
            if op is None and alone:
                return self(points, outside=outside)
            return self.apply(itself if op is None else op, points, outside=outside, of=name)

        return Sight(name, self.scene(), evaluate, self.single, lambda: [own.sight(name) for own in self._inputs()])

    def _whole(self) -> Sight:
        return Sight(
            ", ".join(self.problem.unknowns.names),
            self.scene(),
            lambda op, points, outside: self.apply(op, points, outside=outside),
            self.single,
            lambda: [own._whole() for own in self._inputs()],
        )

    def _inputs(self) -> list[Self]:
        """The solution of each input of a batch."""
        return [self.pick(number) for number in range(self.width)]

    @abstractmethod
    def pick(self, number: int) -> Self:
        """The solution of one input of a batch."""

    @abstractmethod
    def combined(self, terms: Sequence[tuple[complex, Any]]) -> Self:
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

    def _sights(self) -> tuple[Sight, ...]:
        return tuple(map(self.sight, self.problem.unknowns.names))

    def at(self, t: float) -> Snapshot:
        """u(·, t) on a SpaceTime: a function of x (…, d − 1), which can be drawn, integrated and handed on."""
        return Snapshot(self, self._sights(), self._whole(), t)

    def __call__(self, x: PointsLike, *, outside: str = "raise") -> Any:
        """u(x) for x of shape (M, d): (M,), or (M, B); (M, k) or (M, k, B) for an unknown with k components.

        x may also be one point, (d,), or have more axes, (…, d), which the values then have in place of M; on a line
        plain numbers will do. With several unknowns it is a named tuple with an entry for each: ``s(x).u``.
        ``outside`` says what to do with points outside the domain: "raise", "nan", or "extrapolate".
        """
        flat, shape = flattened("x", x, self.problem.dim)
        return reshaped(self._valued(flat, outside), shape)

    @abstractmethod
    def _valued(self, x: PointsLike, outside: str) -> Any:
        """u(x) for x of shape (M, d)."""

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
        flat, shape = flattened("x", x, self.problem.dim)
        return reshaped(self._derived(name, flat, outside), shape)

    @abstractmethod
    def _derived(self, name: str, x: PointsLike, outside: str) -> FloatArray:
        """The derivatives of one unknown for x of shape (M, d)."""

    def apply(self, op: Operator, x: PointsLike, *, outside: str = "raise", of: str | None = None) -> FloatArray:
        """(P u)(x) for any linear operator P; give `Points` with normals where P needs them. x is as for u(x).

        With several unknowns P takes them by the names of its parameters, or the one that ``of`` names. The values are
        (M,), (M, k) of a vector field, (M, k, l) of a matrix field such as a stress; with a last axis B for B inputs.
        On slabs of time, coefficients are functions of the time of all slabs.
        """
        flat, shape = flattened("x", x, self.problem.dim)
        return reshaped(self._applied(op, flat, outside, of), shape)

    @abstractmethod
    def _applied(self, op: Operator, x: PointsLike, outside: str, of: str | None) -> FloatArray:
        """(P u)(x) for x of shape (M, d)."""

    def _added(self, values: tuple[InputValue, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """Some of the inputs of T by name, in the order of the problem or by name, each once."""
        names = self.problem.inputs
        added = {**dict(zip(names, values, strict=False)), **named}
        if len(values) > len(names) or any(n not in names for n in added) or len(added) < len(values) + len(named):
            got = f"{len(values)} values and the names {list(named)}"
            raise fail(InputNameError, "error_estimate", got, f"give some of ({', '.join(names)}), each once")
        return added

    def _evaluated(self, function: Combination, rows: Functionals) -> Any:
        """What the functionals of one operator say of u, or of u in one slab, as the user sees it."""
        return values_of(function.apply(rows), rows.layouts[0], single=self.single, paired=self.paired)

    def _blank(self, values: object, points: Points, outside: str) -> Any:
        """NaN where points are not inside, if that is what to do with points outside."""
        return blanked(values, self.problem.contains(points.x)) if outside == "nan" else values

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


def scene_of(problem: Problem) -> Scene:
    """The regions of full dimension on which conditions are stated."""
    regions = [condition.on for condition in problem.conditions]
    top = max(region.intrinsic_dim for region in regions)
    return scene([region for region in regions if region.intrinsic_dim == top], problem.contains)


@dataclass(frozen=True, eq=False)
class OneUnknown(Viewed):
    """One unknown of several: a function of x with its derivatives."""

    solution: Evaluated[Any]
    name: str

    def _sights(self) -> tuple[Sight, ...]:
        return (self.solution.sight(self.name),)

    def error_sights(self) -> list[tuple[Sight, str]]:
        names = self.solution.problem.unknowns.names
        return [own for name, own in zip(names, self.solution.error_sights(), strict=True) if name == self.name]

    def at(self, t: float) -> Snapshot:
        """The same at one time, a function of x (…, d − 1); see `Evaluated.at`."""
        return Snapshot(self, self._sights(), self._whole(), t)

    def __call__(self, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """u(x) for x of shape (…, d): (…) or (…, k), and with a last axis B for B inputs."""
        return self.apply(itself, x, outside=outside)

    def grad(self, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """The derivatives along all coordinates: (M, d), or (M, k, d); with a last axis B for B inputs."""
        return self.solution.gradient(self.name, x, outside)

    def apply(self, op: Operator, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """(P u)(x) for any linear operator P of this unknown."""
        return self.solution.apply(op, x, outside=outside, of=self.name)

    def __repr__(self) -> str:
        return f"{self.name!r} of {self.solution!r}"
