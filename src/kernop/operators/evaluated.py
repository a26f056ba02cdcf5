"""u as a function of x, on one domain or on many slabs of time: its unknowns by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, InputNameError, describe, fail
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.functionals import Functionals
from kernop.geometry import Points
from kernop.language.ops import itself
from kernop.language.problem import Problem
from kernop.language.unknowns import Operator
from kernop.methods import Combination
from kernop.operators.shapes import InputValue, PointsLike, blanked, values_of

One = TypeVar("One")


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluated(ABC, Generic[One]):
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

    def __getitem__(self, name: str) -> One:
        """The solution of one unknown, by name."""
        if name not in self.problem.unknowns.names:
            known = ", ".join(self.problem.unknowns.names)
            raise fail(InputNameError, "u", f"the unknown {describe(name)}", f"the unknowns are {known}")
        return self._unknown(name)

    def __getattr__(self, name: str) -> One:
        if not name.startswith("_") and name in self.problem.unknowns.slices:
            return self._unknown(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def grad(self, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """The derivatives of u along all coordinates: (M, d), or (M, d, B). On a SpaceTime the last is ∂u/∂t.

        Of an unknown with k components: (M, k, d), or (M, k, d, B).
        """
        if self.problem.unknowns.single is None:
            names = " and ".join(f"s.{name}.grad(x)" for name in self.problem.unknowns.names)
            raise fail(ArgumentError, "u.grad", "a solution with several unknowns", f"ask each of them: {names}")
        return self.gradient(self.problem.unknowns.single, x, outside)

    @abstractmethod
    def gradient(self, name: str, x: PointsLike, outside: str) -> FloatArray:
        """The derivatives of one unknown along all coordinates, as `grad` gives them."""

    @abstractmethod
    def apply(self, op: Operator, x: PointsLike, *, outside: str = "raise", of: str | None = None) -> FloatArray:
        """(P u)(x) for any linear operator P."""

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

    def _blank(self, values: Any, points: Points, outside: str) -> Any:
        """NaN where points are not inside, if that is what to do with points outside."""
        return blanked(values, self.problem.contains(points.x)) if outside == "nan" else values

    def _described(self, *parts: str) -> str:
        """What it is, in a line."""
        number = () if self.single else (f"{self.width} of them",)
        left = () if self.misfits is None else (f"leaves {np.max(self.misfits):.1e} of the data",)
        unknowns = ", ".join(self.problem.unknowns.names)
        what = f"x ↦ {unknowns if ',' in unknowns else 'u(x)'} in {self.problem.dim}-D"
        return f"{type(self).__name__}({what}; {', '.join((*number, *parts, *left))})"


@dataclass(frozen=True, eq=False)
class OneUnknown:
    """One unknown of several: a function of x with its derivatives."""

    solution: Evaluated[Any]
    name: str

    def __call__(self, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """u(x) for x of shape (M, d): (M,) or (M, k), and with a last axis B for B inputs."""
        return self.apply(itself, x, outside=outside)

    def grad(self, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """The derivatives along all coordinates: (M, d), or (M, k, d); with a last axis B for B inputs."""
        return self.solution.gradient(self.name, x, outside)

    def apply(self, op: Operator, x: PointsLike, *, outside: str = "raise") -> FloatArray:
        """(P u)(x) for any linear operator P of this unknown."""
        return self.solution.apply(op, x, outside=outside, of=self.name)

    def __repr__(self) -> str:
        return f"{self.name!r} of {self.solution!r}"
