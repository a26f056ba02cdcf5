"""Problems and factorisations without a user's functions: what is known of these at the points stands in their place.

What was closed is made of numbers, words and arrays alone, works where the functions are not needed, and can be stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray, naming
from kernop.basics.stored import name_of
from kernop.collocation.ansatz import Ansatz, Tabulated
from kernop.collocation.functionals import Block, Functionals, tabulated
from kernop.geometry import Points, Region
from kernop.geometry.region import Where
from kernop.geometry.remembered import Remembered
from kernop.language.coefficients import Coefficient
from kernop.language.fields import Term
from kernop.language.functions import Function, evaluate_at
from kernop.language.ops import linear_forms
from kernop.language.problem import Condition, Problem
from kernop.language.unknowns import Operator, Unknowns
from kernop.methods import Factorisation, Method
from kernop.methods.base import envelope_of
from kernop.operators.known import ConstantOperator, KnownFunction, KnownOperator

#: Where the points of each condition are cut into batches: a user's function may round differently in another batch.
Cuts = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Closing:
    """What is known of a problem at points.

    Arguments:
        problem: with the functions of the user.
        points: of each condition, by name.
        ansatz: how the unknowns are written.
        functionals: the conditions at the points, in the ansatz; None if they are not at hand.
        cuts: where the points are cut into batches.
    """

    problem: Problem
    points: Mapping[str, Points]
    ansatz: Ansatz
    functionals: Functionals | None = None
    cuts: Cuts | None = None

    def closed(self) -> Problem:
        """The problem as it is known at the points."""
        return Problem(*map(self._condition, self.problem.conditions), unknowns=self.problem.unknowns)

    def envelope(self) -> KnownFunction | None:
        """The envelope by its values at all points, if there is one."""
        rho = self.ansatz.envelope
        if rho is None:
            return None
        values = [values_of("envelope", rho, own, self._within(name)) for name, own in self.points.items()]
        x = np.concatenate([own.x for own in self.points.values()])
        return KnownFunction("envelope", "envelope", x, np.concatenate(values))

    def _within(self, name: str) -> Sequence[int]:
        return () if self.cuts is None else self.cuts[name]

    def _condition(self, condition: Condition) -> Condition:
        own, data = self.points[condition.name], condition.data
        with naming(condition.name):
            op = self._operator(condition, own)
            if callable(data):
                what = f"data of condition {condition.name!r}"
                values = values_of(condition.name, data, own, self._within(condition.name))
                data = KnownFunction(what, "problem", own.x, values)
            elif data is not None:
                data = np.asarray(data).tolist()
            return replace(condition, op=op, on=closed_region(condition.on, own), data=data)

    def _operator(self, condition: Condition, points: Points) -> Operator:
        op: Any = condition.op
        plain = op.plain if isinstance(op, KnownOperator) else self._known(condition, points)
        if plain is None or isinstance(plain, Functionals):
            plain = self._table(condition, points, None)
        elif self.ansatz.envelope is None:
            return plain
        product = None if self.ansatz.envelope is None else self._table(condition, points, self.ansatz.envelope)
        return KnownOperator(condition.name, self._takes(condition), points, plain, product)

    def _table(self, condition: Condition, points: Points, envelope: Function | None) -> Functionals:
        """The coefficients of P, or of u ↦ P(ρ u), at the points; those of T itself where they are the same."""
        bare = Ansatz(self.problem.unknowns, envelope)
        if self.functionals is not None and bare == self.ansatz and not condition.integral:
            return self.functionals.conditions[self.problem.names.index(condition.name)]
        return table_at(condition, points, bare, self._within(condition.name))

    def _known(self, condition: Condition, points: Points) -> Operator | None:
        """The operator, if it needs no function of the user; None if it does."""
        op: Any = condition.op
        if name_of(op) is not None:
            return None if any(isinstance(value, Coefficient) for value in vars(op).values()) else op
        if isinstance(op, Tabulated):
            return op
        forms, vector = linear_forms(op, points, self.problem.unknowns, of=condition.of, name=condition.name)
        if any(c.constant is None for form in forms for c in form.terms.values()):
            return None
        terms = sorted({term for form in forms for term in form.terms})
        numbers = [[form.terms[term].constant if term in form.terms else 0.0 for term in terms] for form in forms]
        takes = self._takes(condition)
        own = _counted(self.problem.unknowns, takes)
        found = tuple((own.index(k), alpha) for k, alpha in terms)
        order = sorted(range(len(found)), key=found.__getitem__)
        rows = np.array(numbers)[:, order]
        return ConstantOperator(takes, tuple(found[i] for i in order), rows if vector else rows[0])

    def _takes(self, condition: Condition) -> tuple[str, ...]:
        found = self.problem.unknowns.arguments(condition.op, condition.of, condition.name)
        return (found,) if isinstance(found, str) else found


def _counted(unknowns: Unknowns, takes: tuple[str, ...]) -> list[int]:
    """The components of some unknowns, as they are counted among all."""
    return [k for name in takes for k in range(unknowns.total)[unknowns.slices[name]]]


def closed_region(region: Region, points: Points) -> Region:
    """A region; of one with a predicate the points of its condition are what is known."""
    if not isinstance(region, Where | Remembered):
        return region
    base = region.base
    while isinstance(base, Where | Remembered):
        base = base.base
    return Remembered(base, points, region.measure)


def table_at(condition: Condition, points: Points, ansatz: Ansatz, cuts: Sequence[int] = ()) -> Functionals:
    """The operator of a condition at all its points, integrated or not, made batch by batch."""
    slices = _slices(cuts, len(points))
    parts = [ansatz.functionals(condition.op, points[r], of=condition.of, name=condition.name) for r in slices]
    if len(parts) == 1:
        return parts[0]
    several = zip(*(part.blocks for part in parts), strict=True)
    return Functionals(tuple(_joined(points.x, blocks) for blocks in several), parts[0].layouts)


def _joined(x: FloatArray, blocks: Sequence[Block]) -> Block:
    terms = sorted({term for block in blocks for term in block.terms})
    return tabulated(x, {term: np.concatenate([column(block, term) for block in blocks]) for term in terms})


def column(block: Block, term: Term) -> FloatArray:
    """φ_{k,α} at all points, (n,); 0 where a block does not have it."""
    return block.coefficients[:, block.terms.index(term)] if term in block.terms else np.zeros(len(block.x))


def enveloped(method: Method, factorisation: Factorisation, envelope: Function) -> tuple[Method, Factorisation]:
    """The same with another function for the envelope, if they have one."""
    if envelope_of(method) is None:
        return method, factorisation
    expansion = factorisation.expansion
    changes: dict[str, Any] = {"expansion": expansion.with_ansatz(replace(expansion.ansatz, envelope=envelope))}
    held = replace(method, envelope=envelope)  # pyright: ignore[reportCallIssue, reportArgumentType]
    if hasattr(factorisation, "method"):
        changes["method"] = held
    return held, replace(factorisation, **changes)


def values_of(name: str, function: Function, points: Points, cuts: Sequence[int] = ()) -> NDArray[Any]:
    """Values of a user's function at all points, batch by batch."""
    return np.concatenate([evaluate_at(name, function, points.x[rows]) for rows in _slices(cuts, len(points))])


def _slices(cuts: Sequence[int], n: int) -> Iterable[slice]:
    ends = [0, *cuts, n]
    return [slice(first, last) for first, last in pairwise(ends) if last > first]
