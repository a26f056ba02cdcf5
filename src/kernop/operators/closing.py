"""Problems and factorisations without a user's functions: what is known of these at the points stands in their place.

What was closed is made of numbers, words and arrays alone, works where the functions are not needed, and can be stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from kernop.basics.errors import FloatArray, naming
from kernop.basics.stored import name_of
from kernop.geometry import Points, Region
from kernop.geometry.region import Where
from kernop.geometry.remembered import Remembered
from kernop.language.functions import Function, evaluate_at
from kernop.language.ops import NormalForm, Operator, Tabulated, constant_coefficients, normal_form, tabulate
from kernop.language.problem import Condition, Mixed, Problem
from kernop.methods import Factorisation, Method
from kernop.methods.base import envelope_of
from kernop.operators.known import ConstantOperator, KnownFunction, KnownOperator

#: Where the points of each condition are cut into batches: a user's function may round differently in another batch.
Cuts = Mapping[str, Sequence[int]]
Enveloped = TypeVar("Enveloped", Method, Factorisation)


def closed_problem(
    problem: Problem,
    points: Mapping[str, Points],
    forms: Mapping[str, NormalForm],
    envelope: Function | None = None,
    cuts: Cuts | None = None,
) -> Problem:
    """The problem as it is known at the points.

    Arguments:
        forms: the functionals of each condition at its points; with an envelope ρ those of u ↦ P(ρ u).
        envelope: ρ.
    """

    def closed(condition: Condition) -> Condition:
        own, within = points[condition.name], () if cuts is None else cuts[condition.name]
        with naming(condition.name):
            op = _closed_operator(condition, own, forms[condition.name], envelope, within)
            data = condition.data
            if callable(data):
                what = f"data of condition {condition.name!r}"
                data = KnownFunction(what, "problem", own.x, values_of(condition.name, data, own, within))
            return Condition(op, closed_region(condition.on, own), condition.name, data)

    return Problem(*map(closed, problem.conditions))


def closed_region(region: Region, points: Points) -> Region:
    """A region; of one with a predicate the points of its condition are what is known."""
    if not isinstance(region, Where | Remembered):
        return region
    base = region.base
    while isinstance(base, Where | Remembered):
        base = base.base
    return Remembered(base, points, region.measure)


def _closed_operator(
    condition: Condition, points: Points, form: NormalForm, envelope: Function | None, cuts: Sequence[int]
) -> Operator:
    op: Any = condition.op
    plain = op.plain if isinstance(op, KnownOperator) else _known(op, points, condition.name)
    if envelope is not None:
        without = form_at(condition, points, None, cuts) if plain is None else plain
        return KnownOperator(condition.name, points, without, form)
    return KnownOperator(condition.name, points, form) if plain is None or isinstance(plain, NormalForm) else plain


def _known(op: Any, points: Points, name: str) -> Operator | None:
    """The operator, if it needs no function of the user; None if it does."""
    if isinstance(op, Mixed):
        return None if callable(op.alpha) or callable(op.beta) else op
    if isinstance(op, Tabulated) or name_of(op) is not None:
        return op
    terms = constant_coefficients(op, points, name)
    return None if terms is None else ConstantOperator(tuple(terms), np.array(list(terms.values())))


def form_at(condition: Condition, points: Points, envelope: Function | None, cuts: Sequence[int] = ()) -> NormalForm:
    """The functionals of a condition at all its points, made batch by batch."""
    if not cuts:
        return normal_form(condition.op, points, multiplier=envelope, name=condition.name)
    parts = [form_at(condition, points[rows], envelope) for rows in _slices(cuts, len(points))]
    alphas = sorted({alpha for part in parts for alpha in part.alphas})
    columns = {alpha: np.concatenate([column(part, alpha) for part in parts]) for alpha in alphas}
    return tabulate(points.x, columns)


def column(form: NormalForm, alpha: tuple[int, ...]) -> FloatArray:
    """φ_α at all points, (n,); 0 where a normal form does not have it."""
    return form.coefficients[:, form.alphas.index(alpha)] if alpha in form.alphas else np.zeros(len(form))


def known_envelope(envelope: Function, points: Mapping[str, Points], cuts: Cuts | None = None) -> KnownFunction:
    """An envelope by its values at all points."""
    values = [values_of("envelope", envelope, own, () if cuts is None else cuts[name]) for name, own in points.items()]
    x = np.concatenate([own.x for own in points.values()])
    return KnownFunction("envelope", "envelope", x, np.concatenate(values))


def enveloped(method: Method, factorisation: Factorisation, envelope: Function) -> tuple[Method, Factorisation]:
    """The same with another function for the envelope, if they have one."""
    if envelope_of(method) is None:
        return method, factorisation
    changes: dict[str, Any] = {"expansion": replace(factorisation.expansion, envelope=envelope)}
    held = replace(method, envelope=envelope)  # pyright: ignore[reportCallIssue, reportArgumentType]
    if hasattr(factorisation, "method"):
        changes["method"] = held
    return held, replace(factorisation, **changes)


def values_of(name: str, function: Function, points: Points, cuts: Sequence[int] = ()) -> FloatArray:
    """Values of a user's function at all points, batch by batch."""
    return np.concatenate([evaluate_at(name, function, points.x[rows]) for rows in _slices(cuts, len(points))])


def _slices(cuts: Sequence[int], n: int) -> Iterable[slice]:
    ends = [0, *cuts, n]
    return [slice(first, last) for first, last in pairwise(ends) if last > first]
