"""Coefficients that jump, as far as a problem tells."""

from __future__ import annotations

from collections.abc import Callable

from kernop.basics.frozen import Kept
from kernop.basics.precision import eagerly
from kernop.collocation.ansatz import Tabulated
from kernop.geometry import Points, Region
from kernop.geometry.domain import Domain
from kernop.language.coefficients import Coefficient
from kernop.language.conditions import Condition
from kernop.language.functions import Function
from kernop.language.ops import SCALAR, differentiated, itself, linear_forms
from kernop.language.piecewise import Piecewise
from kernop.language.problem import Problem
from kernop.language.unknowns import Operator, Unknowns

#: A point of a region, by which a message says that an operator is not linear.
_somewhere: Kept[Region, Points] = Kept()


def jumps(condition: Condition, unknowns: Unknowns = SCALAR) -> tuple[Piecewise, ...]:
    """The `Piecewise` coefficients that a condition differentiates, each once."""
    return _among(condition, unknowns, differentiated)


def broken(condition: Condition, unknowns: Unknowns = SCALAR) -> tuple[Piecewise, ...]:
    """All `Piecewise` coefficients of a condition, each once: where one jumps, so does a derivative of u."""
    return _among(condition, unknowns, _coefficients)


def varies(condition: Condition, unknowns: Unknowns = SCALAR) -> bool:
    """Are functions of the user among the coefficients of a condition?"""
    return bool(_functions(condition, unknowns, _coefficients))


def fixed_jumps(problem: Problem) -> list[Piecewise]:
    """Data of a problem that are fixed and jump between domains of space, where parts can follow them."""
    data = [c.data for c in problem.conditions if isinstance(c.data, Piecewise) and not problem.timed]
    return [own for own in data if all(isinstance(region, Domain) for region in own.regions)]


def _among(
    condition: Condition, unknowns: Unknowns, coefficients: Callable[..., list[Coefficient]]
) -> tuple[Piecewise, ...]:
    return tuple(own for own in _functions(condition, unknowns, coefficients) if isinstance(own, Piecewise))


def _functions(
    condition: Condition, unknowns: Unknowns, coefficients: Callable[..., list[Coefficient]]
) -> list[Function]:
    """The functions of the user in coefficients of a condition, each once."""
    if condition.op is itself or isinstance(condition.op, Tabulated):
        return []
    with eagerly():
        place = _somewhere.of(condition.on, lambda: condition.on.sample(1))
        found = coefficients(condition.op, place, unknowns, of=condition.of, name=condition.name)
    return list({id(own): own for c in found for own in c.functions}.values())


def _coefficients(op: Operator, points: Points, unknowns: Unknowns, *, of: str | None, name: str) -> list[Coefficient]:
    forms, _ = linear_forms(op, points, unknowns, of=of, name=name)
    return [c for form in forms for c in form.terms.values()]
