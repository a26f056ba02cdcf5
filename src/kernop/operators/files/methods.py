"""Methods in a file. A new method needs an entry in the table below; its factorisation one in `factorisations`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from kernop.basics.errors import ArgumentTypeError, describe, fail
from kernop.basics.parts import Reader, Writer
from kernop.language.functions import Function
from kernop.methods import Full, LowRank, Method, Subspace


@dataclass(frozen=True)
class Kind:
    """How methods of a class are written, and read again with the envelope of the operator."""

    type: type[Method]
    write: Callable[[Writer, Any], None]
    read: Callable[[Reader, int, Function | None], Method]


def write_method(file: Writer, method: Method) -> None:
    """The name of its class, and its settings."""
    for name, kind in KINDS.items():
        if type(method) is kind.type:
            file["kind"] = name
            kind.write(file, method)
            return
    remedy = "use ko.Full(), ko.LowRank() or ko.Subspace()"
    raise fail(ArgumentTypeError, "method", f"{describe(method)}, which cannot be stored", remedy)


def read_method(file: Reader, dim: int, envelope: Function | None) -> Method:
    """The method of that name, with those settings, in ``dim`` dimensions."""
    return KINDS[file.word("kind", KINDS)].read(file, dim, envelope)


def _write_full(file: Writer, method: Full) -> None:
    """It has no settings."""


def _write_lowrank(file: Writer, method: LowRank) -> None:
    file["rank"], file["tol"], file["block"], file["seed"] = method.rank, method.tol, method.block, method.seed


def _read_lowrank(file: Reader, dim: int, envelope: Function | None) -> LowRank:
    rank = file.integer("rank", least=1) if "rank" in file else None
    return LowRank(rank, file.number("tol", above=0.0), file.integer("block", least=1), file.integer("seed"))


def _write_subspace(file: Writer, method: Subspace) -> None:
    if isinstance(method.centers, np.ndarray):
        file.array("centers", method.centers)
    else:
        file["centers"] = method.centers
    file["basis"], file["solver"], file["penalty"] = method.basis, method.solver, method.penalty
    file["batch"] = method.batch
    file["envelope"] = method.envelope is not None


def _read_subspace(file: Reader, dim: int, envelope: Function | None) -> Subspace:
    if file.has_array("centers"):
        centers: Any = file.floats("centers", (None, dim))
    else:
        centers = file.integer("centers", least=1) if "centers" in file else None
    return Subspace(
        centers,
        cast("Any", file.word("basis", ("translates", "representers"))),
        envelope,
        cast("Any", file.word("solver", ("qr", "normal"))),
        cast("Any", file.word("penalty", ("coefficients", "rkhs"))),
        file.integer("batch", least=1) if "batch" in file else None,
    )


#: Every method, by its name in a file.
KINDS: dict[str, Kind] = {
    "Full": Kind(Full, _write_full, lambda *_: Full()),
    "LowRank": Kind(LowRank, _write_lowrank, _read_lowrank),
    "Subspace": Kind(Subspace, _write_subspace, _read_subspace),
}
