"""Factorisations in a file: of each kind the fields that are stored. A new kind needs an entry in the table below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentError, fail
from kernop.basics.linalg import BLOCK, Cholesky, Orthogonal, Rotation, blocked
from kernop.basics.parts import Reader, Writer
from kernop.methods import Expansion, Factorisation, LowRank, Method, Subspace
from kernop.methods.chain import Chain
from kernop.methods.full import FullFactorisation
from kernop.methods.leastsquares import NormalFactorisation, QRFactorisation
from kernop.methods.lowrank import LowRankFactorisation
from kernop.methods.materialized import MaterializedFactorisation


@dataclass(frozen=True, eq=False)
class Common:
    """What all factorisations have, and the number n of rows that they must fit."""

    expansion: Expansion
    regularization: float
    weights: tuple[float, ...]
    method: Method
    n: int

    @property
    def count(self) -> int:
        """The number L of functions in the expansion."""
        return len(self.expansion.functionals)

    @property
    def base(self) -> tuple[Expansion, float, tuple[float, ...]]:
        """The first fields of every factorisation."""
        return self.expansion, self.regularization, self.weights


@dataclass(frozen=True)
class Kind:
    """How factorisations of a class are written and read."""

    type: type[Factorisation]
    write: Callable[[Writer, Any], None]
    read: Callable[[Reader, Common], Factorisation]


def write_factorisation(file: Writer, factorisation: Factorisation) -> None:
    """What the map from data to coefficients is made of."""
    for name, kind in KINDS.items():
        if type(factorisation) is kind.type:
            file["kind"] = name
            kind.write(file, factorisation)
            return
    got = f"an operator that cannot be stored ({type(factorisation).__name__})"
    raise fail(ArgumentError, "T", got, "learn it with ko.Full(), ko.LowRank() or ko.Subspace()")


def read_factorisation(file: Reader, common: Common) -> Factorisation:
    """The map from data to coefficients, as it was."""
    return KINDS[file.word("kind", KINDS)].read(file, common)


def _write_full(file: Writer, f: FullFactorisation) -> None:
    file.triangle("factor", f.factor.lower, lower=True)
    file.array("scales", f.scales)
    file.array("order", f.order)


def _read_full(file: Reader, common: Common) -> FullFactorisation:
    n = common.n
    if common.count != n:
        raise file.wrong("order", f"for {n} rows and {common.count} functions")
    scales = file.positive("scales", (n,))
    return FullFactorisation(*common.base, _cholesky(file, "factor", n), scales, file.permutation("order", n))


def _write_lowrank(file: Writer, f: LowRankFactorisation) -> None:
    file.array("columns", f.columns)
    file.array("scales", f.scales)
    file.array("left", f.left)
    file.triangle("factor", f.factor.lower, lower=True)
    file.triangle("triangle", f.triangle, lower=True)
    file.array("order", f.order)


def _read_lowrank(file: Reader, common: Common) -> LowRankFactorisation:
    n, rank = common.n, common.count
    if not isinstance(common.method, LowRank):
        raise file.wrong("kind", "not of the method")
    return LowRankFactorisation(
        *common.base,
        common.method,
        file.floats("columns", (n, rank)),
        file.positive("scales", (n,)),
        file.floats("left", (n,)),
        _cholesky(file, "factor", rank),
        file.triangle("triangle", rank, lower=True),
        file.permutation("order", rank),
    )


def _write_qr(file: Writer, f: QRFactorisation) -> None:
    file["noise"] = f.noise
    file.array("roots", f.roots)
    first = f.factor.first if isinstance(f.factor, Chain) else f.factor
    file.array("packed", first.packed)
    file.array("t", first.t)
    if isinstance(f.factor, Chain):
        write_chain(file.below("chain"), f.factor)


def _read_qr(file: Reader, common: Common) -> QRFactorisation:
    first = _orthogonal(file, common.count)
    added = read_chain(file.below("chain"), first, common.n) if "chain" in file else None
    rows = common.n - (0 if added is None else sum(len(r.reflectors) for r in added.rotations))
    # Those of data, and perhaps those of a penalty below them.
    if len(first.packed) not in (rows, rows + common.count) or len(first.packed) < common.count:
        raise file.wrong("packed", f"an array of {len(first.packed)} rows")
    if not np.all(np.diagonal(first.packed)):
        raise file.wrong("packed", "a triangle with a zero on its diagonal")
    method = _subspace(file, common, "qr")
    noise, roots = file.number("noise", least=0.0), file.positive("roots", (common.n,))
    return QRFactorisation(*common.base, noise, method, roots, first if added is None else added)


def _orthogonal(file: Reader, count: int) -> Orthogonal:
    packed = file.floats("packed", (None, count))
    if file.has_array("tau"):  # files of kernop 0.1 held the scalars of the reflectors alone
        return blocked(packed, file.floats("tau", (count,)))
    t = file.floats("t", (None, count))
    if len(t) != min(BLOCK, count):
        raise file.wrong("t", f"an array of {len(t)} rows")
    return Orthogonal(packed, t)


def write_chain(file: Writer, chain: Chain) -> None:
    """All but the first factorisation."""
    file["rotations"] = len(chain.rotations)
    for k, rotation in enumerate(chain.rotations):
        file.array(f"reflectors {k}", rotation.reflectors)
        file.array(f"t {k}", rotation.t)
    file.triangle("upper", chain.upper, lower=False)
    file.array("order", chain.order)


def read_chain(file: Reader, first: Orthogonal, n: int) -> Chain:
    """The first factorisation and what was added."""
    count = first.packed.shape[1]
    rotations: list[Rotation] = []
    for k in range(file.integer("rotations", least=1, most=n)):
        reflectors = file.floats(f"reflectors {k}", (None, count))
        t = file.floats(f"t {k}", (None, count))
        if not 0 < len(reflectors) < n or not 0 < len(t) <= count:
            raise file.wrong(f"reflectors {k}", "of another size")
        rotations.append(Rotation(reflectors, t))
    upper = file.triangle("upper", count, lower=False)
    return Chain(first, tuple(rotations), upper, file.permutation("order", n))


def _write_normal(file: Writer, f: NormalFactorisation) -> None:
    file["noise"] = f.noise
    file.array("roots", f.roots)
    file.triangle("factor", f.factor.lower, lower=True)
    file.array("design", f.design)


def _read_normal(file: Reader, common: Common) -> NormalFactorisation:
    return NormalFactorisation(
        *common.base,
        file.number("noise", least=0.0),
        _subspace(file, common, "normal"),
        file.positive("roots", (common.n,)),
        _cholesky(file, "factor", common.count),
        file.floats("design", (common.n, common.count)),
    )


def _write_materialized(file: Writer, f: MaterializedFactorisation) -> None:
    file["noise"] = f.noise
    file.array("roots", f.roots)
    file.triangle("upper", f.upper, lower=False)
    file.triangle("square", f.square.lower, lower=True)
    file.array("q", f.q)


def _read_materialized(file: Reader, common: Common) -> MaterializedFactorisation:
    if not isinstance(common.method, Subspace):
        raise file.wrong("kind", "not of the method")
    return MaterializedFactorisation(
        *common.base,
        file.number("noise", least=0.0),
        file.triangle("upper", common.count, lower=False),
        _cholesky(file, "square", common.count),
        file.floats("q", (common.n, common.count)),
        file.positive("roots", (common.n,)),
        common.method,
    )


def _cholesky(file: Reader, name: str, n: int) -> Cholesky:
    return Cholesky(file.triangle(name, n, lower=True))  # an update may have left signs on its diagonal


def _subspace(file: Reader, common: Common, solver: str) -> Subspace:
    if not isinstance(common.method, Subspace) or common.method.solver != solver:
        raise file.wrong("kind", "not of the method")
    return common.method


#: Every kind of factorisation, by its name in a file.
KINDS: dict[str, Kind] = {
    "full": Kind(FullFactorisation, _write_full, _read_full),
    "low rank": Kind(LowRankFactorisation, _write_lowrank, _read_lowrank),
    "qr": Kind(QRFactorisation, _write_qr, _read_qr),
    "normal": Kind(NormalFactorisation, _write_normal, _read_normal),
    "materialized": Kind(MaterializedFactorisation, _write_materialized, _read_materialized),
}
