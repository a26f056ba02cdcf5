"""load: an operator from its file, and the check that a problem is the one that was learned."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace

from kernop.basics import storage
from kernop.basics.checks import check_kind
from kernop.basics.codec import MISFITS, Decoder
from kernop.basics.errors import ArgumentError, FileError, KernopError, MemoryLimitError, fail
from kernop.collocation.batches import StreamPoints
from kernop.language.functions import Function
from kernop.language.problem import Problem
from kernop.methods.base import envelope_of
from kernop.operators.agreement import check_envelope, check_problem
from kernop.operators.closing import enveloped
from kernop.operators.format1 import upgraded
from kernop.operators.known import shown
from kernop.operators.operator import FORMAT, KIND, SolutionOperator
from kernop.operators.partitions import PartsRecord
from kernop.operators.streams import StreamRecord
from kernop.trust.resolution import with_interfaces


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
        return replace(operator, factorisation=record.revived())
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
    problem = with_interfaces(problem)
    check_problem(problem, operator.problem, points, envelopes)
    return replace(operator, problem=problem)


def file_summary(path: str | os.PathLike[str]) -> dict[str, str]:
    """What a file holds, for a person."""
    operator = load(path)
    problem, about = operator.problem, dict(operator.about)
    written, told = about.pop("written", {}), {"file": f"{os.path.getsize(path) / 1e6:.3g} MB, digest right"}
    told["operator"] = f"({', '.join(problem.inputs)}) ↦ {', '.join(problem.unknowns.names)}"
    told |= {"learned": _listed(about), "written": _listed(written)}
    for condition in problem.conditions:
        data = "" if condition.data is None else f" = {condition.data!r}"
        n = len(operator.points[condition.name])
        told[f"condition {condition.name}"] = f"{shown(condition.op)}{data} on {condition.on!r}, {n} points"
    told |= {"kernel": operator.space, "method": repr(operator.method), "λ": f"{operator.regularization:.3g}"}
    told |= {"weights": _listed(operator.weights), "seconds": _listed(operator.stats)}
    told["functions"] = str(len(operator.factorisation.expansion))
    if operator.stability is not None:
        told["stability"] = f"{operator.stability:.3g}"
    return told if operator.report is None else {**told, "tolerance": str(operator.report)}


def _listed(facts: object) -> str:
    """Facts by name, for a person; a file may hold anything else in their place, of which nothing is told."""
    found = facts.items() if isinstance(facts, Mapping) else ()
    return ", ".join(f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in found)
