"""Is this problem the one that was learned? A file knows its operators, regions and data at the points."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, KernopError, fail
from kernop.geometry import Points, Region
from kernop.geometry.remembered import Remembered
from kernop.language.functions import Function, evaluate_at
from kernop.language.ops import normal_form
from kernop.language.problem import Condition, Problem
from kernop.operators.closing import closed_region, column, values_of

#: How far values may be apart, relative to the largest of their kind, and of all kinds: rounding on other processors.
ROUNDING, NOISE = 1e-10, 1e-13


def check_problem(
    problem: Problem,
    stored: Problem,
    points: Mapping[str, Points],
    envelope: Function | None,
    stored_envelope: Function | None,
) -> None:
    """Raise unless a problem has the conditions that are stored, on the same regions, to rounding at the points."""
    if problem.names != stored.names:
        raise _other(f"the conditions {', '.join(problem.names)} where {', '.join(stored.names)} were learned")
    for mine, theirs in zip(problem.conditions, stored.conditions, strict=True):
        places = points[mine.name]
        if not _same_region(closed_region(mine.on, places), theirs.on):
            raise _other(f"{mine.name!r} on {mine.on!r}, not on {theirs.on!r}")
        if not np.all(mine.on.contains(places.x)):
            raise _other(f"{mine.name!r} on {mine.on!r}, to which some of the stored points do not belong")
        _check_operator(mine, theirs, places, None, None)
        if envelope is not None:
            _check_operator(mine, theirs, places, envelope, stored_envelope)
        if not _same_data(mine, theirs, places):
            raise _other(f"{mine.name!r} with other data, or with data that is fixed in only one of them")


def check_envelope(envelope: Function, stored: Function, points: Mapping[str, Points]) -> None:
    """Raise unless an envelope has the stored values at all points, to rounding."""
    for own in points.values():
        found, known = values_of("envelope", envelope, own), evaluate_at("envelope", stored, own.x)
        if not _close(found, known):
            remedy = "give the envelope with which the operator was learned"
            raise fail(ArgumentError, "envelope", "another function than the one that was learned", remedy)


def _other(difference: str) -> KernopError:
    remedy = "give the problem that was learned, or leave it out"
    return fail(ArgumentError, "problem", f"another one than the one in the file: {difference}", remedy)


def _same_region(mine: Region, theirs: Region) -> bool:
    """Are they equal? A predicate is seen by what it says of the points, so of parts: are they parts of the same?"""
    if isinstance(mine, Remembered) and isinstance(theirs, Remembered):
        return mine.base == theirs.base
    return mine == theirs


def _check_operator(
    mine: Condition, theirs: Condition, points: Points, envelope: Function | None, stored: Function | None
) -> None:
    found = normal_form(mine.op, points, multiplier=envelope, name=mine.name)
    known = normal_form(theirs.op, points, multiplier=stored, name=mine.name)
    largest = max(float(np.max(np.abs(form.coefficients))) for form in (found, known))
    for alpha in sorted({*found.alphas, *known.alphas}):
        one, other = column(found, alpha), column(known, alpha)
        room = ROUNDING * max(np.max(np.abs(one)), np.max(np.abs(other))) + NOISE * largest
        if np.any(np.abs(one - other) > room):
            i = int(np.argmax(np.abs(one - other)))
            raise _other(
                f"{mine.name!r} has the coefficient {one[i]:.6g} of ∂^{alpha} at x = {points.x[i]}, not {other[i]:.6g}"
            )


def _same_data(mine: Condition, theirs: Condition, points: Points) -> bool:
    if mine.data is None or theirs.data is None:
        return mine.data is theirs.data
    if not callable(mine.data) and not callable(theirs.data):
        return float(mine.data) == float(theirs.data)
    if not callable(mine.data) or not callable(theirs.data):
        return False
    return _close(*(evaluate_at(mine.name, condition.data, points.x) for condition in (mine, theirs)))


def _close(one: FloatArray, other: FloatArray) -> bool:
    return one.shape == other.shape and bool(np.all(np.abs(one - other) <= ROUNDING * np.max(np.abs(other))))
