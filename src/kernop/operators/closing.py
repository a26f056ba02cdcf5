"""Problems and factorisations without a user's functions: what is known of these at the points stands in their place.

What was closed is made of numbers, words and arrays alone, works where the functions are not needed, and can be stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from kernop.basics.errors import naming
from kernop.basics.stored import name_of, storable
from kernop.collocation.ansatz import Ansatz, Tabulated
from kernop.collocation.functionals import Functionals
from kernop.geometry import Points
from kernop.geometry.remembered import remembered
from kernop.language.coefficients import Coefficient
from kernop.language.conditions import Condition
from kernop.language.functions import Function, evaluate_at
from kernop.language.ops import linear_forms
from kernop.language.periodic import Paired
from kernop.language.problem import Problem
from kernop.language.sides import sides
from kernop.language.unknowns import Operator
from kernop.methods import Factorisation, Method
from kernop.methods.base import envelope_of
from kernop.operators.known import ConstantOperator, KnownFunction, KnownJump, KnownOperator


@dataclass(frozen=True)
class Closing:
    """What is known of a problem at points.

    Arguments:
        problem: with the functions of the user.
        points: of each condition, by name.
        ansatz: how the unknowns are written.
        functionals: the conditions at the points, in the ansatz; None if they are not at hand.
    """

    problem: Problem
    points: Mapping[str, Points]
    ansatz: Ansatz
    functionals: Functionals | None = None

    def closed(self) -> Problem:
        """The problem as it is known at the points."""
        return Problem(*map(self._condition, self.problem.conditions), unknowns=self.problem.unknowns)

    def envelope(self) -> KnownFunction | None:
        """The envelope by its values at all points, if there is one."""
        if self.ansatz.envelope is None:
            return None
        x = np.concatenate([own.x for own in self.points.values()])
        return KnownFunction("envelope", "envelope", x, evaluate_at("envelope", self.ansatz.envelope, x))

    def _condition(self, condition: Condition) -> Condition:
        own, data = self.points[condition.name], condition.data
        with naming(condition.name):
            op = self._operator(condition, own)
            if callable(data) and not storable(data):
                what = f"data of condition {condition.name!r}"
                data = KnownFunction(what, "problem", own.x, evaluate_at(condition.name, data, own.x))
            elif data is not None and not callable(data):
                data = np.asarray(data).tolist()
            found = replace(condition, op=op, on=remembered(condition.on, own), data=data)
            if isinstance(found, Paired):
                return replace(found, to=remembered(found.to, found.partners(own)))
            return found

    def _operator(self, condition: Condition, points: Points) -> Operator:
        op = condition.op
        if condition.across and not isinstance(op, Tabulated) and name_of(op) is None:
            return self._jump(condition, points)
        plain = op.plain if isinstance(op, KnownOperator) else self._known(condition, points)
        if plain is None or isinstance(plain, Functionals):
            plain = self._table(condition, points, None)
        elif self.ansatz.envelope is None:
            return plain
        product = None if self.ansatz.envelope is None else self._table(condition, points, self.ansatz.envelope)
        return KnownOperator(condition.name, self._takes(condition), points, plain, product)

    def _jump(self, condition: Condition, points: Points) -> KnownJump:
        """The coefficients of P at the points of a surface, on either side."""
        bare = Ansatz(self.problem.unknowns, self.ansatz.envelope)
        found = [
            bare.split(points.x, *bare.one_sided(condition.op, side, condition.of, condition.name))
            for side in sides(condition.on, points, condition.name)
        ]
        return KnownJump(condition.name, self._takes(condition), points, *found)

    def _table(self, condition: Condition, points: Points, envelope: Function | None) -> Functionals:
        """The coefficients of P, or of u ↦ P(ρ u), at the points; those of T itself where they are the same."""
        bare = Ansatz(self.problem.unknowns, envelope)
        if self.functionals is not None and bare == self.ansatz and not condition.integral:
            return self.functionals.conditions[self.problem.names.index(condition.name)]
        return bare.functionals(condition.op, points, of=condition.of, name=condition.name)

    def _known(self, condition: Condition, points: Points) -> Operator | None:
        """The operator, if it needs no function of the user; None if it does."""
        op, unknowns = condition.op, self.problem.unknowns
        if name_of(op) is not None:
            return op if storable(op) else None
        if isinstance(op, Tabulated):
            return op
        forms, vector = linear_forms(op, points, unknowns, of=condition.of, name=condition.name)
        if any(c.constant is None for form in forms for c in form.terms.values()):
            return None
        takes = self._takes(condition)
        counted = [k for name in takes for k in range(unknowns.total)[unknowns.slices[name]]]
        terms = sorted((counted.index(k), alpha) for k, alpha in {term for form in forms for term in form.terms})
        zero = Coefficient.of(0.0)
        rows = np.array([[form.terms.get((counted[k], a), zero).constant for k, a in terms] for form in forms])
        return ConstantOperator(takes, tuple(terms), rows if vector else rows[0])

    def _takes(self, condition: Condition) -> tuple[str, ...]:
        found = self.problem.unknowns.arguments(condition.op, condition.of, condition.name)
        return (found,) if isinstance(found, str) else found


def enveloped(method: Method, factorisation: Factorisation, envelope: Function) -> tuple[Method, Factorisation]:
    """The same with another function for the envelope, if they have one."""
    if envelope_of(method) is None:
        return method, factorisation
    held = replace(method, envelope=envelope)  # pyright: ignore[reportCallIssue, reportArgumentType]
    expansion = factorisation.expansion
    expansion = expansion.with_ansatz(replace(expansion.ansatz, envelope=envelope))
    own = {"method": held} if hasattr(factorisation, "method") else {}
    return held, replace(factorisation, expansion=expansion, **own)
