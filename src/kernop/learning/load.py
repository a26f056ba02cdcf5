"""load: an operator from its file, and the check that a problem is the one that was learned."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from kernop.basics import storage
from kernop.basics.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    KernopError,
    MemoryLimitError,
    describe,
    fail,
)
from kernop.language.functions import Function
from kernop.language.problem import Problem
from kernop.learning.agreement import check_envelope, check_problem
from kernop.learning.refine import Level, Report
from kernop.learning.streaming.restored import read_streamed
from kernop.methods import Subspace
from kernop.operators.files import KIND, Contents, Reader, check_format, read_factorisation, read_operator
from kernop.operators.files.functions import shown
from kernop.operators.files.operator import FORMAT
from kernop.operators.operator import SolutionOperator
from kernop.trust.diagnosis import from_entries

#: What may happen when parts of a file that were rewritten do not fit each other.
MISFITS = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RecursionError, np.linalg.LinAlgError)


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
    if problem is not None and not isinstance(problem, Problem):
        raise fail(
            ArgumentTypeError, "problem", describe(problem), "give the Problem that was learned, or leave it out"
        )
    if envelope is not None and not callable(envelope):
        raise fail(ArgumentTypeError, "envelope", describe(envelope), "give the function of x, or leave it out")
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

    file = Reader(header, arrays, refuse)
    check_format(file, refuse)
    try:
        contents = read_operator(file)
    except MISFITS as error:
        raise _refused(error, refuse) from error
    contents = _completed(contents, problem, envelope)
    try:
        operator = _operator(file, contents)
        file.finish()
    except MISFITS as error:
        raise _refused(error, refuse) from error
    return operator


def summary(path: str | os.PathLike[str]) -> dict[str, str]:
    """What a file holds, for a person."""
    operator = load(path)
    about = dict(operator.about)
    written = about.pop("written")
    rows = {
        "operator": f"({', '.join(operator.problem.inputs)}) ↦ u",
        "learned": ", ".join(f"{name} {value}" if name != "when" else f"{value}" for name, value in about.items()),
        "written": ", ".join(f"{name} {value}" if name != "when" else f"{value}" for name, value in written.items()),
        "file": f"{os.path.getsize(path) / 1e6:.3g} MB, format {FORMAT}, digest right",
    }
    for condition in operator.problem.conditions:
        n = len(operator.points[condition.name])
        data = "" if condition.data is None else f" = {condition.data!r}"
        rows[f"condition {condition.name}"] = f"{shown(condition.op)}{data} on {condition.on!r}, {n} points"
    rows |= {
        "kernel": repr(operator.kernel),
        "method": repr(operator.method),
        "λ": f"{operator.regularization:.3g}",
        "weights": ", ".join(f"{name}: {weight:.3g}" for name, weight in operator.weights.items()),
        "functions": str(len(operator.factorisation.expansion.functionals)),
        "seconds": ", ".join(f"{name}: {seconds:.3g}" for name, seconds in operator.stats.items()),
    }
    return rows if operator.report is None else {**rows, "tolerance": str(operator.report)}


def _refused(error: Exception, refuse: Any) -> Exception:
    if isinstance(error, FileError):
        return error
    why = str(error).partition("\n")[0].rstrip(".")
    return refuse(f"whose parts do not fit each other ({why})")


def _completed(contents: Contents, problem: Problem | None, envelope: Function | None) -> Contents:
    """With the user's functions in place of what is known of them, if they are given and the same."""
    common, stored = contents.common, contents.common.expansion.envelope
    if envelope is not None:
        if stored is None or not isinstance(common.method, Subspace):
            raise fail(ArgumentError, "envelope", "one for an operator without envelope", "leave it out")
        check_envelope(envelope, stored, contents.points)
        expansion, method = replace(common.expansion, envelope=envelope), replace(common.method, envelope=envelope)
        common = replace(common, expansion=expansion, method=method)
    if problem is not None:
        check_problem(problem, contents.problem, contents.points, envelope, stored)
        contents = replace(contents, problem=problem)
    return replace(contents, common=common)


def _operator(file: Reader, contents: Contents) -> SolutionOperator:
    part = file.below("factorisation")
    if part.value("kind") == "stream":
        return replace(read_streamed(file, contents), report=_report(file), diagnosis=from_entries(contents.about))
    return SolutionOperator(
        contents.problem,
        contents.points,
        contents.common.method,
        read_factorisation(part, contents.common),
        contents.stats,
        _report(file),
        contents.noise,
        contents.about,
        from_entries(contents.about),
    )


def _report(file: Reader) -> Report | None:
    if "report" not in file:
        return None
    part = file.below("report")
    levels = tuple(
        Level(
            level.integer("centers", least=1),
            level.integer("points", least=1),
            _error(level),
            level.number("seconds", least=0.0),
            tuple(level.numbers("changes")) if "changes" in level else None,
            level.number("misfit", least=0.0) if "misfit" in level else 0.0,
            level.number("roughness", least=0.0) if "roughness" in level else 0.0,
        )
        for level in part.parts("levels")
    )
    status: Any = part.word("status", ("met", "stagnated", "budget"))
    returned = part.integer("returned", most=len(levels) - 1)
    return Report(
        status,
        part.number("tol", above=0.0),
        levels,
        returned,
        part.text("measured") if "measured" in part else "",
        tuple(map(str, part.list("followed"))) if "followed" in part and part.value("followed") else (),
        tuple(part.numbers("estimates")) if "estimates" in part and part.value("estimates") else None,
    )


def _error(level: Reader) -> float:
    """Null stands for infinity, which JSON does not have; files of kernop 0.1 had residuals instead of errors."""
    for name in ("error", "residual"):
        if name in level:
            return level.number(name, least=0.0)
    return np.inf
