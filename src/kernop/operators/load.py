"""load: an operator from its file, and the check that a problem is the one that was learned."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from kernop.basics import storage
from kernop.basics.checks import check_kind
from kernop.basics.codec import MISFITS, Decoder
from kernop.basics.errors import ArgumentError, FileError, KernopError, MemoryLimitError, fail
from kernop.basics.stored import same
from kernop.collocation.ansatz import Ansatz, pointwise_functionals
from kernop.collocation.batches import StreamPoints
from kernop.collocation.functionals import together
from kernop.collocation.subdomains import subdomains_of
from kernop.geometry import Points
from kernop.geometry.remembered import Remembered, remembered
from kernop.language.conditions import Condition
from kernop.language.functions import Function, evaluate_at
from kernop.language.problem import Problem
from kernop.methods.base import envelope_of
from kernop.operators.closing import enveloped
from kernop.operators.format1 import upgraded
from kernop.operators.known import shown
from kernop.operators.operator import FORMAT, KIND, SolutionOperator
from kernop.operators.records import PartsRecord, StreamRecord
from kernop.trust.resolution import with_interfaces

#: How far values may be apart, relative to the largest of their kind, and of all kinds: rounding on other processors.
ROUNDING, NOISE = 1e-10, 1e-13


def load(
    path: str | os.PathLike[str], problem: Problem | None = None, envelope: Function | None = None
) -> SolutionOperator:
    """The operator that ``T.save(path)`` wrote: T(f, g), u(x) and ∇u(x) are the same to the last bit.

    Arguments:
        path: of the file. It is read whole or refused; nothing in it is run.
        problem: the problem that was learned, if more is needed than the file holds: an operator with coefficients
            that are functions, data that is a function, or a predicate, away from the stored points. It is checked
            against what the file knows of it.
        envelope: the envelope ρ of ``Subspace(envelope=…)``, if there was one: without it u is known at the stored
            points only.
    """
    check_kind("problem", problem, Problem | None, "give the Problem that was learned, or leave it out")
    check_kind("envelope", envelope, Callable | None, "give the function of x, or leave it out")
    try:
        return _loaded(path, problem, envelope)
    except MemoryError as error:
        if isinstance(error, KernopError):
            raise
        got = f"{os.fspath(path)!r}, for which there is no memory ({error})"
        raise fail(MemoryLimitError, "path", got, storage.MORE_MEMORY) from error


def _loaded(path: str | os.PathLike[str], problem: Problem | None, envelope: Function | None) -> SolutionOperator:
    header, arrays = storage.read(path, KIND)

    def refuse(got: str, remedy: str = "write it again") -> KernopError:
        return fail(FileError, "path", f"{os.fspath(path)!r}, {got}", remedy)

    found = header.get("format")
    if type(found) is not int or found not in range(1, FORMAT + 1):
        raise refuse(*storage.other_version(found, FORMAT))
    if found == 1:
        try:
            header = upgraded(header, arrays)
        except (*MISFITS, RecursionError) as error:
            raise refuse(f"whose parts do not fit each other ({type(error).__name__}: {error})") from error
    file = Decoder(arrays, refuse, defaults=found < FORMAT)  # in format 2 parts had no bubbles
    operator = file.decode(SolutionOperator, header)
    file.finish()
    return _revived(_completed(operator, problem, envelope))


def _revived(operator: SolutionOperator) -> SolutionOperator:
    """The operator; one made of parts with its tree, that of a stream with rows to pass over.

    ``T.with_client(client)`` gives a stream its workers again.
    """
    problem, record = operator.problem, operator.factorisation
    if isinstance(record, PartsRecord):
        return replace(operator, factorisation=record.revived(problem))
    if not isinstance(record, StreamRecord):
        return operator
    factorisation, solutions = record.revived(problem, operator.points), record.solved(problem)
    points = StreamPoints(factorisation.rows.stream)
    return replace(operator, points=points, factorisation=factorisation, solutions=solutions)


def _completed(operator: SolutionOperator, problem: Problem | None, envelope: Function | None) -> SolutionOperator:
    """With the user's functions in place of what is known of them, if they are given and the same."""
    known, envelopes = envelope_of(operator.method), None
    points = {name: operator.points[name] for name in operator.problem.names}
    operator = replace(operator, points=points)
    if envelope is not None:
        if known is None:
            raise fail(ArgumentError, "envelope", "one for an operator without envelope", "leave it out")
        check_envelope(envelope, known, points)
        envelopes = envelope, known
        method, factorisation = enveloped(operator.method, operator.factorisation, envelope)
        operator = replace(operator, method=method, factorisation=factorisation)
    if problem is None:
        return operator
    if not isinstance(operator.factorisation, PartsRecord):  # parts keep u and its flux continuous without interfaces
        problem = with_interfaces(problem)
    check_problem(problem, operator.problem, points, envelopes)
    return replace(operator, problem=problem)


def file_summary(path: str | os.PathLike[str]) -> dict[str, str]:
    """What a file holds, for a person."""
    operator = load(path)
    problem, about = operator.problem, dict(operator.about)
    written = about.pop("written", {})
    facts = {
        "file": f"{os.path.getsize(path) / 1e6:.3g} MB, digest right",
        "operator": f"({', '.join(problem.inputs)}) ↦ {', '.join(problem.unknowns.names)}",
        "learned": _listed(about),
        "written": _listed(written),
    }
    for c in problem.conditions:
        data = "" if c.data is None else f" = {c.data!r}"
        facts[f"condition {c.name}"] = f"{shown(c.op)}{data} on {c.on!r}, {len(operator.points[c.name])} points"
    facts |= {"kernel": operator.space, "method": repr(operator.method), "λ": f"{operator.regularization:.3g}"}
    facts |= {"weights": _listed(operator.weights), "seconds": _listed(operator.stats)}
    facts["functions"] = str(len(operator.factorisation.expansion))
    if operator.stability is not None:
        facts["stability"] = f"{operator.stability:.3g}"
    return facts if operator.report is None else {**facts, "tolerance": str(operator.report)}


def _listed(facts: object) -> str:
    """Facts by name, for a person; a file may hold anything else in their place, of which nothing is told."""
    found = facts.items() if isinstance(facts, Mapping) else ()
    return ", ".join(f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in found)


def check_problem(
    problem: Problem, stored: Problem, points: Mapping[str, Points], envelopes: tuple[Function, Function] | None
) -> None:
    """Raise unless a problem has the conditions that are stored, on the same regions, to rounding at the points.

    Arguments:
        envelopes: the function of the user, and what is stored of it; None if it is not given.
    """
    plain = Ansatz(problem.unknowns, parts=subdomains_of(problem))
    pairs = [(plain, plain)]
    if envelopes is not None:
        pairs.append((replace(plain, envelope=envelopes[0]), replace(plain, envelope=envelopes[1])))
    if problem.names != stored.names:
        raise _other(f"the conditions {', '.join(problem.names)} where {', '.join(stored.names)} were learned")
    if problem.unknowns != stored.unknowns:
        raise _other(f"the unknowns {dict(problem.unknowns.sizes)}, not {dict(stored.unknowns.sizes)}")
    for mine, theirs in zip(problem.conditions, stored.conditions, strict=True):
        places = points[mine.name]
        known = remembered(mine.on, places)  # a predicate is seen by what it says of the points
        both = (known, theirs.on)
        if isinstance(known, Remembered) and isinstance(theirs.on, Remembered):
            both = (known.base, theirs.on.base)
        if both[0] != both[1]:
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
