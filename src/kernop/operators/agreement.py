"""Is this problem the one that was learned? A file knows its operators, regions and data at the points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kernop.basics.errors import ArgumentError, KernopError, fail
from kernop.basics.stored import same
from kernop.collocation.ansatz import Ansatz, pointwise_functionals
from kernop.collocation.functionals import together
from kernop.collocation.parts import parts_of
from kernop.geometry import Points, Region
from kernop.geometry.remembered import Remembered, remembered
from kernop.language.conditions import Condition
from kernop.language.functions import Function, evaluate_at
from kernop.language.problem import Problem

#: How far values may be apart, relative to the largest of their kind, and of all kinds: rounding on other processors.
ROUNDING, NOISE = 1e-10, 1e-13


def check_problem(
    problem: Problem, stored: Problem, points: Mapping[str, Points], envelopes: tuple[Function, Function] | None
) -> None:
    """Raise unless a problem has the conditions that are stored, on the same regions, to rounding at the points.

    Arguments:
        envelopes: the function of the user, and what is stored of it; None if it is not given.
    """
    plain = Ansatz(problem.unknowns, parts=parts_of(problem))
    pairs = [(plain, plain)]
    if envelopes is not None:
        pairs.append((replace(plain, envelope=envelopes[0]), replace(plain, envelope=envelopes[1])))
    if problem.names != stored.names:
        raise _other(f"the conditions {', '.join(problem.names)} where {', '.join(stored.names)} were learned")
    if problem.unknowns != stored.unknowns:
        raise _other(f"the unknowns {dict(problem.unknowns.sizes)}, not {dict(stored.unknowns.sizes)}")
    for mine, theirs in zip(problem.conditions, stored.conditions, strict=True):
        places = points[mine.name]
        if not _same_region(remembered(mine.on, places), theirs.on):
            raise _other(f"{mine.name!r} on {mine.on!r}, not on {theirs.on!r}")
        if not np.all(mine.on.contains(places.x)):
            raise _other(f"{mine.name!r} on {mine.on!r}, to which some of the stored points do not belong")
        if (mine.integral, mine.across) != (theirs.integral, theirs.across):
            raise _other(f"{mine.name!r} that is an integral, or a jump, in only one of them")
        if mine.noise != theirs.noise:
            raise _other(f"{mine.name!r} with the noise {mine.noise}, not {theirs.noise}")
        if mine.paired != theirs.paired or (
            mine.paired and not np.allclose(mine.partners(places).x, theirs.partners(places).x)
        ):
            raise _other(f"{mine.name!r} that couples other places")
        for own, known in pairs:
            _check_operator(mine, theirs, places, own, known)
        functions = callable(mine.data), callable(theirs.data)
        if not (_close(mine.data, theirs.data, places) if all(functions) else same(mine.data, theirs.data)):
            raise _other(f"{mine.name!r} with other data, or with data that is fixed in only one of them")


def check_envelope(envelope: Function, stored: Function, points: Mapping[str, Points]) -> None:
    """Raise unless an envelope has the stored values at all points, to rounding."""
    if not all(_close(envelope, stored, own) for own in points.values()):
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
    """Raise unless all coefficients φ_{k,α} of two operators agree at the points."""
    found, known = pointwise_functionals(mine, points, ansatz), pointwise_functionals(theirs, points, stored)
    if found.layouts != known.layouts:
        raise _other(f"{mine.name!r} with other parts, or with complex coefficients in only one of them")
    (both,) = together([found, known]).merged().blocks
    parts = both.coefficients.reshape(2, len(found.blocks), len(points), len(both.terms))
    one, other = np.moveaxis(parts, 3, 1)  # (terms, parts, points) each
    largest = np.maximum(np.abs(one), np.abs(other)).max(axis=2, keepdims=True)
    wrong = np.argwhere(np.abs(one - other) > ROUNDING * largest + NOISE * np.max(largest))
    if len(wrong):
        at = tuple(wrong[0].tolist())
        k, alpha = both.terms[at[0]]
        of = f" of component {k}" if k else ""
        got = f"the coefficient {one[at]:.6g} of ∂^{alpha}{of} at x = {points.x[at[2]]}, not {other[at]:.6g}"
        raise _other(f"{mine.name!r} has {got}")


def _close(one: Function, other: Function, points: Points) -> bool:
    """Do two functions have the same values at points, to rounding?"""
    found, known = (evaluate_at("function", function, points.x) for function in (one, other))
    return found.shape == known.shape and bool(np.all(np.abs(found - known) <= ROUNDING * np.max(np.abs(known))))
