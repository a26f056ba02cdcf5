"""Is this problem the one that was learned? A file knows its operators, regions and data at the points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, KernopError, fail
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.functionals import Block
from kernop.geometry import Points, Region
from kernop.geometry.remembered import Remembered
from kernop.language.functions import Function, evaluate_at
from kernop.language.problem import Condition, Problem
from kernop.operators.closing import closed_region, column, values_of

#: How far values may be apart, relative to the largest of their kind, and of all kinds: rounding on other processors.
ROUNDING, NOISE = 1e-10, 1e-13


def check_problem(
    problem: Problem,
    stored: Problem,
    points: Mapping[str, Points],
    envelope: Function | None,
    known: Function | None,
) -> None:
    """Raise unless a problem has the conditions that are stored, on the same regions, to rounding at the points.

    Arguments:
        envelope: the function of the user, and …
        known: … what is stored of it.
    """
    if problem.names != stored.names:
        raise _other(f"the conditions {', '.join(problem.names)} where {', '.join(stored.names)} were learned")
    if problem.unknowns != stored.unknowns:
        raise _other(f"the unknowns {dict(problem.unknowns.sizes)}, not {dict(stored.unknowns.sizes)}")
    for mine, theirs in zip(problem.conditions, stored.conditions, strict=True):
        places = points[mine.name]
        if not _same_region(closed_region(mine.on, places), theirs.on):
            raise _other(f"{mine.name!r} on {mine.on!r}, not on {theirs.on!r}")
        if not np.all(mine.on.contains(places.x)):
            raise _other(f"{mine.name!r} on {mine.on!r}, to which some of the stored points do not belong")
        if mine.integral != theirs.integral:
            raise _other(f"{mine.name!r} that is an integral in only one of them")
        plain = Ansatz(problem.unknowns)
        _check_operator(mine, theirs, places, plain, plain)
        if envelope is not None:
            _check_operator(mine, theirs, places, replace(plain, envelope=envelope), replace(plain, envelope=known))
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


def _check_operator(mine: Condition, theirs: Condition, points: Points, ansatz: Ansatz, stored: Ansatz) -> None:
    found = ansatz.functionals(mine.op, points, of=mine.of, name=mine.name)
    known = stored.functionals(theirs.op, points, of=theirs.of, name=mine.name)
    if found.layouts != known.layouts:
        raise _other(f"{mine.name!r} with other parts, or with complex coefficients in only one of them")
    largest = max(float(np.max(np.abs(block.coefficients))) for block in (*found.blocks, *known.blocks))
    for one, other in zip(found.blocks, known.blocks, strict=True):
        _check_block(mine.name, one, other, largest)


def _check_block(name: str, mine: Block, theirs: Block, largest: float) -> None:
    for term in sorted({*mine.terms, *theirs.terms}):
        one, other = column(mine, term), column(theirs, term)
        room = ROUNDING * max(np.max(np.abs(one)), np.max(np.abs(other))) + NOISE * largest
        if np.any(np.abs(one - other) > room):
            i, (k, alpha) = int(np.argmax(np.abs(one - other))), term
            of = f" of component {k}" if k else ""
            raise _other(
                f"{name!r} has the coefficient {one[i]:.6g} of ∂^{alpha}{of} at x = {mine.x[i]}, not {other[i]:.6g}"
            )


def _same_data(mine: Condition, theirs: Condition, points: Points) -> bool:
    if mine.data is None or theirs.data is None:
        return mine.data is theirs.data
    if not callable(mine.data) and not callable(theirs.data):
        return np.array_equal(np.asarray(mine.data), np.asarray(theirs.data))
    if not callable(mine.data) or not callable(theirs.data):
        return False
    return _close(*(evaluate_at(mine.name, condition.data, points.x) for condition in (mine, theirs)))


def _close(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.shape == other.shape and bool(np.all(np.abs(one - other) <= ROUNDING * np.max(np.abs(other))))
