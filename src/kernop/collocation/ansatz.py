"""How the unknowns are written in the functions of a space, and operators at points as functionals of those."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FloatArray,
    IntArray,
    NumberArray,
    OperatorError,
    fail,
)
from kernop.basics.fitting import check_positive
from kernop.basics.precision import eagerly
from kernop.basics.stored import stored
from kernop.collocation.functionals import Block, Functionals, Layout, evaluations, tabulated, together
from kernop.collocation.subdomains import Subdomains
from kernop.geometry import Points
from kernop.language.conditions import Condition
from kernop.language.fields import Term
from kernop.language.functions import Function, evaluate_at
from kernop.language.interface import choices
from kernop.language.ops import SCALAR, coefficient_values, itself, linear_forms, plain_values
from kernop.language.problem import Problem
from kernop.language.sides import LIMIT, Side, sides
from kernop.language.unknowns import Operator, Unknowns

#: (k, α) ↦ φ_{k,α}(x_i), arrays (n,), real or complex.
TermTable = Mapping[Term, NumberArray]


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

    @abstractmethod
    def jumps(self, sides: tuple[Side, Side], ansatz: Ansatz, of: str | None, name: str) -> Functionals:
        """The jump of the operator across a surface, as `Ansatz.jumps` gives it, from what is tabulated."""


@stored("ansatz")
@dataclass(frozen=True)
class Ansatz:
    """Component k of the unknowns is u_k = s_k ρ(x) v_k, with v_k in the space of a method.

    A complex component has two real functions, u_k = s_k ρ (v_k + i v_{m+k}), m the number of components. Where
    interfaces cut the domain, each part has functions v_k of its own; they are counted through, part by part.

    Arguments:
        unknowns: names, and numbers of components.
        envelope: ρ, or None for 1.
        scales: s_k, (m,); empty for 1. Unknowns may differ by orders of magnitude, the functions v_k do not.
        complex: are the unknowns complex?
        parts: the parts of the domain, if it is cut.
    """

    unknowns: Unknowns = SCALAR
    envelope: Function | None = None
    scales: tuple[float, ...] = ()
    complex: bool = False
    parts: Subdomains | None = None

    def check(self) -> None:
        """Raise unless there is a scale for each component, or none."""
        if self.scales:
            check_positive("scales", self.scales, self.unknowns.total)

    @property
    def width(self) -> int:
        """The number of real functions v_k of one part, of which the values of the unknowns at a point are made."""
        return self.unknowns.total * (2 if self.complex else 1)

    @property
    def count(self) -> int:
        """The number of real functions v_k, of all parts."""
        return self.width * (1 if self.parts is None else len(self.parts))

    def of_part(self, part: int) -> tuple[int, ...]:
        """The numbers k of the functions of a part; the imaginary parts of all stand behind the real ones."""
        own = range(part * self.unknowns.total, (part + 1) * self.unknowns.total)
        return tuple(own) if not self.complex else (*own, *(k + self.count // 2 for k in own))

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

    def jumps(self, op: Operator, sides: tuple[Side, Side], *, of: str | None = None, name: str = "op") -> Functionals:
        """[P u](x_i), P u on the side to which the normals point minus P u on the other, as functionals of the v_k."""
        if isinstance(op, Tabulated):
            return op.jumps(sides, self, of, name)
        (plus, vector), (minus, _) = (self.one_sided(op, side, of, name) for side in sides)
        return self.difference(sides, plus, minus, vector)

    def one_sided(self, op: Operator, side: Side, of: str | None, name: str) -> tuple[list[TermTable], bool]:
        """The coefficients of P at points of a surface, as limits from one side; and whether P makes a vector."""
        found, vector = list[dict[Term, NumberArray]](), False
        for own, here in choices(op, side.near[0], name):
            with eagerly():
                forms, vector = linear_forms(own, side.points, self.unknowns, of=of, envelope=self.envelope, name=name)
                near = [coefficient_values(forms, points, name) for points in side.near]
            found = found or [{} for _ in forms]
            for k, table in enumerate(found):
                limits = {t: sum(w * values[k][t] for w, values in zip(LIMIT, near, strict=True)) for t in near[0][k]}
                table |= {t: np.where(here, values, table.get(t, 0.0)) for t, values in limits.items()}
        return list(found), vector

    def difference(
        self, sides: tuple[Side, Side], plus: list[TermTable], minus: list[TermTable], vector: bool
    ) -> Functionals:
        """Functionals of the v_k from tables of coefficients on the two sides of a surface."""
        over, under = (
            [self._placed(table, side.near[0].x) for table in tables]
            for side, tables in zip(sides, (plus, minus), strict=True)
        )
        both = [  # a term that one of two tables lacks is 0 there
            {t: np.asarray(one.get(t, 0.0)) - np.asarray(other.get(t, 0.0)) for t in (*one, *other)}
            for one, other in zip(over, under, strict=True)
        ]
        return self._split(sides[0].points.x, both, vector)

    def evaluations(self, x: FloatArray, of: str | None = None) -> Functionals:
        """u(x_i) for all components of the unknowns, or of one of them, without a detour through the language."""
        if self == PLAIN:
            return Functionals((evaluations(x),))
        own = range(self.unknowns.total)[self.unknowns.slices[of] if of is not None else slice(None)]
        zero = (0,) * x.shape[1]
        values = np.ones(len(x)) if self.envelope is None else evaluate_at("envelope", self.envelope, x)
        if np.iscomplexobj(values):
            raise fail(ArgumentTypeError, "envelope", "a function with complex values", "return real numbers")
        vector = len(own) > 1 if of is not None else self.unknowns.components is not None
        return self.split(x, [{(k, zero): values} for k in own], vector)

    def gradients(self, x: FloatArray, *components: int) -> Functionals | None:
        """∂u_k/∂x_j for some components k and all coordinates j, as a vector; None if an envelope asks for the product
        rule."""
        if self.envelope is not None:
            return None
        ones, axes = np.ones(len(x)), np.eye(x.shape[1], dtype=int).tolist()
        return self.split(x, [{(k, tuple(axis)): ones} for k in components for axis in axes], True)

    def split(self, x: FloatArray, tables: Sequence[TermTable], vector: bool) -> Functionals:
        """Tables of coefficients of the u_k as real functionals of the v_k, one table for each component of P u."""
        return self._split(x, [self._placed(table, x) for table in tables], vector)

    def _split(self, x: FloatArray, tables: Sequence[TermTable], vector: bool) -> Functionals:
        """Tables of complex coefficients of the v_k as real functionals, real parts before imaginary parts."""
        found = self.complex or any(np.iscomplexobj(values) for table in tables for values in table.values())
        rows = [tabulated(x, self._real(table)) for table in tables]
        if found:
            rows += [tabulated(x, self._imaginary(table)) for table in tables]
        return Functionals(tuple(rows), (Layout(len(tables) if vector else None, found),))

    def _placed(self, table: TermTable, x: FloatArray) -> dict[Term, NumberArray]:
        """A table of coefficients of the u_k as one of the v_k of those parts in which the points x lie."""
        scales = self.scales or (1.0,) * self.unknowns.total
        scaled = {t: scales[t[0]] * values for t, values in table.items()}
        if self.parts is None:
            return scaled
        part, m = self.parts.which(x), self.unknowns.total
        return {
            (k + p * m, alpha): np.where(part == p, values, 0.0)
            for p in np.unique(part).tolist()
            for (k, alpha), values in scaled.items()
        }

    def _real(self, table: TermTable) -> dict[Term, FloatArray]:
        """The real part of a table: a v − b w, for coefficients a + i b of v + i w."""
        own = {term: np.real(values) for term, values in table.items()}
        return {**own, **{self._twin(t): -np.imag(v) for t, v in table.items() if np.iscomplexobj(v) and self.complex}}

    def _imaginary(self, table: TermTable) -> dict[Term, FloatArray]:
        """The imaginary part of a table: b v + a w, for coefficients a + i b of v + i w."""
        own = {term: np.imag(values) for term, values in table.items() if np.iscomplexobj(values)}
        return {**own, **{self._twin(t): np.real(v) for t, v in table.items() if self.complex}}

    def _twin(self, term: Term) -> Term:
        """The term of the imaginary part w for that of the real part v."""
        return (term[0] + self.count // 2, term[1])


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
    found: list[int | None] = []
    for c in problem.conditions:
        if isinstance(c.op, Tabulated):
            found.append(c.op.components)
            continue
        with eagerly():
            forms, vector = linear_forms(c.op, c.on.sample(1)[:1], ansatz.unknowns, of=c.of, name=c.name)
        found.append(len(forms) if vector else None)
    return tuple(Layout(components, ansatz.complex) for components in found)


def pointwise_functionals(condition: Condition, points: Points, ansatz: Ansatz) -> Functionals:
    """P u, or its jump across a surface, at each of the points, as functionals."""
    if condition.across:
        both = sides(condition.on, points, condition.name)
        return ansatz.jumps(condition.op, both, of=condition.of, name=condition.name)
    return ansatz.functionals(condition.op, points, of=condition.of, name=condition.name)


def condition_functionals(condition: Condition, points: Points, ansatz: Ansatz) -> Functionals:
    """The functionals of one condition at its points; one row, or one for each component, if it is an integral.

    Those of a paired condition are differences, P u(x) − P u(x′).
    """
    found = pointwise_functionals(condition, points, ansatz)
    if condition.paired:
        there = pointwise_functionals(condition, condition.partners(points), ansatz)
        pairs = zip(found.blocks, there.blocks, strict=True)
        return Functionals(tuple(here.minus(own) for here, own in pairs), found.layouts)
    if not condition.integral:
        return found
    if points.weight is None:
        remedy = "give a quadrature rule: Points with weights, such as region.quadrature(1000) or T.points"
        raise fail(ArgumentError, condition.name, "points without weights for an integral", remedy)
    return Functionals(tuple(block.integrated(points.weight) for block in found.blocks), found.layouts)


def places_of(condition: Condition, points: Points) -> tuple[FloatArray, IntArray | None]:
    """Where the functionals of a condition stand, and where sums of them begin, as in a `Block`."""
    if condition.paired:
        both = np.stack([points.x, condition.partners(points).x], axis=1)
        return both.reshape(-1, points.dim), 2 * np.arange(len(points) + 1)
    return points.x, np.array([0, len(points)]) if condition.integral else None


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


def functionals_of(op: Operator | None, points: Points, ansatz: Ansatz) -> Functionals:
    """op(u) at points; u itself, with all of its components, if there is no op."""
    return ansatz.evaluations(points.x) if op is None else ansatz.functionals(op, points)


def coefficient_mark(looks: Iterable[tuple[Condition, Points]], unknowns: Unknowns) -> bytes:
    """A digest of the coefficients of conditions, each at a few points; none is differentiated."""
    mark = blake2b(digest_size=16)
    for c, points in looks:
        if not isinstance(c.op, Tabulated):
            with eagerly():
                for term, values in plain_values(c.op, points, unknowns, of=c.of, name=c.name):
                    mark.update(repr(term).encode() + np.ascontiguousarray(values).tobytes())
    return mark.digest()


def rows_mark(rows: Functionals) -> bytes:
    """A digest of rows: of the coefficients of all conditions, derivatives too, at all of their points."""
    mark = blake2b(digest_size=16)
    for block in rows.blocks:
        mark.update(repr(block.terms).encode())
        for own in (block.x, block.coefficients):
            mark.update(np.ascontiguousarray(own).data)
    return mark.digest()
