"""How the unknowns are written in the functions of a space, and operators at points as functionals of those."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, ArgumentTypeError, FloatArray, OperatorError, fail
from kernop.basics.fitting import check_positive
from kernop.basics.precision import eagerly
from kernop.basics.stored import stored
from kernop.collocation.functionals import Block, Functionals, Layout, evaluations, tabulated, together
from kernop.geometry import Points
from kernop.language.fields import Term
from kernop.language.functions import Function, evaluate_at
from kernop.language.ops import SCALAR, coefficient_values, itself, linear_forms
from kernop.language.problem import Condition, Problem
from kernop.language.unknowns import Operator, Unknowns

#: (k, α) ↦ φ_{k,α}(x_i), arrays (n,), real or complex.
Table = Mapping[Term, NDArray[Any]]


class Tabulated(ABC):
    """An operator that is known by its functionals at some points, and perhaps not as a function."""

    @abstractmethod
    def __call__(self, u: Any) -> Any:
        """op(u), or an error if the operator is not known as a function."""

    @property
    @abstractmethod
    def components(self) -> int | None:
        """The number of components of a vector; None for a scalar."""

    @abstractmethod
    def functionals(self, points: Points, ansatz: Ansatz, of: str | None, name: str) -> Functionals:
        """See `Ansatz.functionals`; an error if the points are not among those that are known."""


@stored("ansatz")
@dataclass(frozen=True)
class Ansatz:
    """Component k of the unknowns is u_k = s_k ρ(x) v_k, with v_k in the space of a method.

    A complex component has two real functions, u_k = s_k ρ (v_k + i v_{m+k}), m the number of components.

    Arguments:
        unknowns: names, and numbers of components.
        envelope: ρ, or None for 1.
        scales: s_k, (m,); empty for 1. Unknowns may differ by orders of magnitude, the functions v_k do not.
        complex: are the unknowns complex?
    """

    unknowns: Unknowns = SCALAR
    envelope: Function | None = None
    scales: tuple[float, ...] = ()
    complex: bool = False

    def check(self) -> None:
        """Raise unless there is a scale for each component, or none."""
        if self.scales:
            check_positive("scales", self.scales, self.unknowns.total)

    @property
    def count(self) -> int:
        """The number of real functions v_k."""
        return self.unknowns.total * (2 if self.complex else 1)

    def functionals(self, op: Operator, points: Points, *, of: str | None = None, name: str = "op") -> Functionals:
        """(P u)(x_i), as functionals of the v_k.

        The product rule is applied to the coefficient functions by automatic differentiation, so
        φ_{k,α}(x₀) = P[(· − x₀)^α / α! e_k](x₀) holds to rounding. The order is found. Coefficients that vanish at all
        points are dropped (but one).
        """
        if isinstance(op, Tabulated):
            return op.functionals(points, self, of, name)
        if op is itself and points.weight is None:
            return self.evaluations(points.x, of)
        with eagerly():
            forms, vector = linear_forms(op, points, self.unknowns, of=of, envelope=self.envelope, name=name)
            tables = coefficient_values(forms, points, name)
        return self.split(points.x, tables, vector)

    def evaluations(self, x: FloatArray, of: str | None = None) -> Functionals:
        """u(x_i) for all components of the unknowns, or of one of them, without a detour through the language."""
        if self == PLAIN:
            return Functionals((evaluations(x),))
        own = range(self.unknowns.total)[self.unknowns.slices[of] if of is not None else slice(None)]
        zero = (0,) * x.shape[1]
        values = np.ones(len(x)) if self.envelope is None else envelope_values(self.envelope, x)
        vector = len(own) > 1 if of is not None else self.unknowns.components is not None
        return self.split(x, [{(k, zero): values} for k in own], vector)

    def gradients(self, x: FloatArray, k: int) -> Functionals | None:
        """∂u_k/∂x_j for all coordinates j, as a vector; None if an envelope asks for the product rule."""
        if self.envelope is not None:
            return None
        ones, d = np.ones(len(x)), x.shape[1]
        return self.split(x, [{(k, tuple(int(i == j) for i in range(d))): ones} for j in range(d)], True)

    def split(self, x: FloatArray, tables: list[Any], vector: bool) -> Functionals:
        """Tables of coefficients of the u_k as real functionals of the v_k, one table for each component of P u."""
        found = self.complex or any(np.iscomplexobj(values) for table in tables for values in table.values())
        scaled = [{t: self._scale(t[0]) * values for t, values in table.items()} for table in tables]
        parts = [tabulated(x, self._real(table)) for table in scaled]
        if found:
            parts += [tabulated(x, self._imaginary(table)) for table in scaled]
        return Functionals(tuple(parts), (Layout(len(tables) if vector else None, found),))

    def _scale(self, k: int) -> float:
        return self.scales[k] if self.scales else 1.0

    def _real(self, table: Table) -> dict[Term, FloatArray]:
        """Of (a + i b)(v + i w): a v − b w."""
        own = {term: np.real(values) for term, values in table.items()}
        return {**own, **{self._twin(t): -np.imag(v) for t, v in table.items() if np.iscomplexobj(v) and self.complex}}

    def _imaginary(self, table: Table) -> dict[Term, FloatArray]:
        """Of (a + i b)(v + i w): b v + a w."""
        own = {term: np.imag(values) for term, values in table.items() if np.iscomplexobj(values)}
        return {**own, **{self._twin(t): np.real(v) for t, v in table.items() if self.complex}}

    def _twin(self, term: Term) -> Term:
        """The term of the imaginary part w for that of the real part v."""
        return (term[0] + self.unknowns.total, term[1])


def envelope_values(envelope: Function, x: FloatArray) -> FloatArray:
    """ρ at points, (n,), real."""
    values = evaluate_at("envelope", envelope, x)
    if np.iscomplexobj(values):
        raise fail(ArgumentTypeError, "envelope", "a function with complex values", "return real numbers")
    return values


#: One real scalar unknown, as it is.
PLAIN = Ansatz()


def normal_form(op: Operator, points: Points, *, ansatz: Ansatz = PLAIN, name: str = "op") -> Block:
    """The one block of a real scalar operator at points: the table (k, α) ↦ φ_{k,α}(x_i)."""
    found = ansatz.functionals(op, points, name=name)
    block, *others = found.blocks
    if others:
        raise fail(OperatorError, name, "an operator with several parts", "give a real scalar one")
    return block


def condition_layouts(problem: Problem, ansatz: Ansatz) -> tuple[Layout, ...]:
    """How the values of each condition stand in rows, without values of its coefficients."""
    with eagerly():
        return tuple([_layout(condition, ansatz) for condition in problem.conditions])


def _layout(condition: Condition, ansatz: Ansatz) -> Layout:
    if isinstance(condition.op, Tabulated):
        return Layout(condition.op.components, ansatz.complex)
    place = condition.on.sample(1)[:1]
    forms, vector = linear_forms(condition.op, place, ansatz.unknowns, of=condition.of, name=condition.name)
    return Layout(len(forms) if vector else None, ansatz.complex)


def condition_functionals(condition: Condition, points: Points, ansatz: Ansatz) -> Functionals:
    """The functionals of one condition at its points; one row, or one for each component, if it is an integral."""
    found = ansatz.functionals(condition.op, points, of=condition.of, name=condition.name)
    if not condition.integral:
        return found
    if points.weight is None:
        remedy = "give a quadrature rule: Points with weights, such as region.quadrature(1000) or T.points"
        raise fail(ArgumentError, condition.name, "points without weights for an integral", remedy)
    return Functionals(tuple(block.integrated(points.weight) for block in found.blocks), found.layouts)


def collocate(problem: Problem, points: Mapping[str, Points], ansatz: Ansatz = PLAIN) -> Functionals:
    """The functionals of every condition that has points, in the order of the problem."""
    found = [(c, condition_functionals(c, points[c.name], ansatz)) for c in problem.conditions if c.name in points]
    for condition, own in found:
        if not any(np.any(block.coefficients) for block in own.blocks):
            remedy = "state a condition that involves u"
            if ansatz.envelope is not None:
                remedy = "leave out what the envelope ensures"
            raise fail(OperatorError, condition.name, "an operator that is zero at all points", remedy)
    return together([own for _, own in found])
