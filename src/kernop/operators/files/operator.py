"""An operator in a file: conditions with their points, kernel, method, expansion, factorisation, and its story."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

import jax
import numpy as np
import scipy

from kernop.basics.errors import ForkError, KernopError, MemoryLimitError
from kernop.basics.parts import Reader, Writer
from kernop.basics.storage import other_version
from kernop.collocation.ansatz import normal_form
from kernop.geometry import Points
from kernop.kernels.base import check_smoothness
from kernop.language.problem import Problem
from kernop.methods import Expansion, Factorisation, Method
from kernop.operators.files.conditions import read_condition, values_of, write_condition
from kernop.operators.files.factorisations import Common
from kernop.operators.files.functions import StoredFunction
from kernop.operators.files.kernels import read_kernel, write_kernel
from kernop.operators.files.methods import read_method, write_method
from kernop.operators.files.points import read_functionals, write_functionals

#: The version of what is below; a reader refuses others.
FORMAT = 1
#: The kind of file.
KIND = "operator"


@dataclass(frozen=True, eq=False)
class Contents:
    """What a file tells before its factorisation is read.

    Arguments:
        problem: the conditions, as far as they are known without the user's functions.
        points: of each condition, by name.
        common: expansion, λ, weights and method.
        stats, noise, about: see `SolutionOperator`.
    """

    problem: Problem
    points: dict[str, Points]
    common: Common
    stats: dict[str, float]
    noise: dict[str, float] | None
    about: dict[str, Any]


def write_operator(
    file: Writer,
    problem: Problem,
    points: Mapping[str, Points],
    method: Method,
    factorisation: Factorisation,
    cuts: Mapping[str, Sequence[int]] | None = None,
) -> None:
    """All but the factorisation itself.

    Arguments:
        cuts: where the points of each condition are cut into batches, for a stream.
    """
    expansion = factorisation.expansion
    file["format"], file["dimension"] = FORMAT, problem.dim
    file["envelope"] = expansion.envelope is not None
    file["conditions"] = len(problem.conditions)
    for k, condition in enumerate(problem.conditions):
        part, own = file.below(f"condition {k}"), points[condition.name]
        within = () if cuts is None else cuts[condition.name]
        write_condition(part, condition, own, within, expansion.envelope)
        if expansion.envelope is not None:
            part.array("envelope", values_of("envelope", expansion.envelope, own, within))
    write_kernel(file.below("kernel"), expansion.kernel)
    write_method(file.below("method"), method)
    write_functionals(file.below("expansion"), expansion.functionals)
    file["regularization"], file["weights"] = factorisation.regularization, list(factorisation.weights)


def write_story(
    file: Writer,
    stats: Mapping[str, float],
    report: Any,
    noise: Mapping[str, float] | None,
    about: Mapping[str, Any],
) -> None:
    """What was learned and when, how long it took, and with what it is written: for a person."""
    file["noise"] = None if noise is None else dict(noise)
    file["seconds"] = dict(stats)
    file["learned"] = {name: value for name, value in about.items() if name != "written"}
    file["report"] = _told(report) if is_dataclass(report) and not isinstance(report, type) else None
    file["written"] = {"when": now(), **versions()}


def _told(report: Any) -> dict[str, Any]:
    """A report as JSON, which has no infinity: numbers that are not finite are null, and so are lists with one."""
    told = asdict(report)
    for part in (told, *told["levels"]):
        for name, value in part.items():
            numbers = [number for number in np.atleast_1d(value if value is not None else 0.0) if name != "levels"]
            if any(isinstance(number, float) and not np.isfinite(number) for number in numbers):
                part[name] = None
    return told


def now() -> str:
    """The date and the time of day, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())


def versions() -> dict[str, str]:
    """Of what matters to the numbers."""
    packages = {"numpy": np.__version__, "scipy": scipy.__version__, "jax": jax.__version__}
    return {"kernop": str(sys.modules["kernop"].__version__), "python": platform.python_version(), **packages}


def check_format(file: Reader, refuse: Any) -> None:
    """Refuse another version of the format, before anything else is looked at."""
    found = file.value("format")
    if found != FORMAT or isinstance(found, bool):
        raise refuse(*other_version(found, FORMAT))


def read_operator(file: Reader) -> Contents:
    """All but the factorisation itself."""
    dim = file.integer("dimension", least=1, most=1000)
    has_envelope = file.flag("envelope")
    parts = [file.below(f"condition {k}") for k in range(file.integer("conditions", least=1, most=10_000))]
    found = [read_condition(part, dim, has_envelope) for part in parts]
    problem = Problem(*(condition for condition, _ in found))
    points = {condition.name: own for condition, own in found}
    kernel = read_kernel(file.below("kernel"))
    kernel.check_dim(dim)
    envelope = _read_envelope(parts, list(points.values())) if has_envelope else None
    method = read_method(file.below("method"), dim, envelope)
    expansion = Expansion(kernel, read_functionals(file.below("expansion"), dim), envelope)
    weights = tuple(file.numbers("weights", len(found)))
    if not all(weight > 0.0 for weight in weights):
        raise file.wrong("weights", "not positive")
    contents = Contents(
        problem,
        points,
        Common(expansion, file.number("regularization", least=0.0), weights, method, sum(map(len, points.values()))),
        {name: file.below("seconds").number(name, least=0.0) for name in file.below("seconds").names()},
        {name: file.below("noise").number(name, above=0.0) for name in problem.names} if "noise" in file else None,
        {"written": _texts(file.below("written")), **_texts(file.below("learned"))},
    )
    _check_orders(file, contents)
    return contents


def _read_envelope(parts: Sequence[Reader], points: Sequence[Points]) -> StoredFunction:
    values = [part.floats("envelope", (len(own),)) for part, own in zip(parts, points, strict=True)]
    x = np.concatenate([own.x for own in points])
    return StoredFunction("envelope", "envelope", x, np.concatenate(values))


def _check_orders(file: Reader, contents: Contents) -> None:
    """The kernel must have the derivatives that the conditions ask for."""
    common = contents.common
    for condition in contents.problem.conditions:
        try:
            form = normal_form(condition.op, contents.points[condition.name], multiplier=common.expansion.envelope)
        except (ForkError, MemoryLimitError):  # nothing that the file is to blame for
            raise
        except KernopError as error:
            raise file.wrong("conditions", f"not readable ({error})") from error
        needed = max(common.method.derivatives_needed(form.order), form.order + common.expansion.functionals.order)
        check_smoothness(common.expansion.kernel, needed, condition.name)


def _texts(file: Reader) -> dict[str, Any]:
    """Words and numbers for a person to read."""
    found: dict[str, Any] = {}
    for name in file.names():
        value = file.value(name) if name in file else None
        if isinstance(value, str):
            value = file.text(name)
        elif value is not None and not isinstance(value, bool):
            value = file.integer(name, least=-(10**40), most=10**40) if isinstance(value, int) else file.number(name)
        found[name] = value
    return found
