"""Conditions in a file: region, points, what is known of the operator without the user's code, and fixed data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kernop.basics.errors import FloatArray, naming
from kernop.basics.parts import Reader, Writer
from kernop.collocation.ansatz import normal_form
from kernop.collocation.functionals import Block as NormalForm
from kernop.collocation.functionals import tabulated as tabulate
from kernop.geometry import Points
from kernop.language.calculus import normal_derivative
from kernop.language.coefficients import Coefficient
from kernop.language.functions import Function, evaluate_at
from kernop.language.ops import itself as identity
from kernop.language.unknowns import Operator

constant_coefficients = None
from kernop.language.problem import Condition, Mixed
from kernop.operators.files.functions import ConstantOperator, StoredFunction, StoredOperator
from kernop.operators.files.points import read_alphas, read_points, read_table, write_alphas, write_points, write_table
from kernop.operators.files.regions import read_region, write_region

#: How the operator of a condition is stored; all but the last need no function of the user.
KINDS = ("identity", "normal derivative", "mixed", "constant", "table")


def write_condition(
    file: Writer, condition: Condition, points: Points, cuts: Sequence[int], envelope: Function | None
) -> None:
    """A condition with its points.

    Arguments:
        cuts: where the points are cut into batches. A user's function may round differently in another batch.
        envelope: ρ, or None.
    """
    file["name"], file["points"] = condition.name, len(points)
    with naming(condition.name):
        write_region(file.below("region"), condition.on)
        write_points(file, points)
        _write_operator(file.below("operator"), condition, points, cuts, envelope)
        _write_data(file, condition, points, cuts)


def read_condition(file: Reader, dim: int, envelope: bool) -> tuple[Condition, Points]:
    """The condition, as far as it is known, and its points."""
    name = file.text("name")
    points = read_points(file, dim)
    if file.integer("points") != len(points):
        raise file.wrong("points", "not the number of its points")
    region = read_region(file.below("region"), points)
    if region.dim != dim:
        raise file.wrong("region", f"in {region.dim} dimensions and not in {dim}")
    points = points.placed(region.timed)
    if not np.all(region.contains(points.x)):
        raise file.wrong("points", "outside its region")
    op = _read_operator(file.below("operator"), name, points, envelope)
    return Condition(op, region, name, _read_data(file, name, points)), points


def _write_operator(
    file: Writer, condition: Condition, points: Points, cuts: Sequence[int], envelope: Function | None
) -> None:
    op: Any = condition.op
    if isinstance(op, StoredOperator):
        op = op.plain
    if not _write_known(file, op, points, condition.name):
        file["kind"] = "table"
        write_table(file, _form(condition, points, cuts, None))
    if envelope is not None:
        write_table(file.below("with envelope"), _form(condition, points, cuts, envelope))


def _write_known(file: Writer, op: Any, points: Points, name: str) -> bool:
    """What needs no function of the user; False if the operator does."""
    if isinstance(op, NormalForm):
        return False
    if op is identity or op is normal_derivative:
        file["kind"] = "identity" if op is identity else "normal derivative"
        return True
    if isinstance(op, Mixed) and op.alpha.constant is not None and op.beta.constant is not None:
        file["kind"], file["alpha"], file["beta"] = "mixed", op.alpha.constant, op.beta.constant
        return True
    terms = constant_coefficients(op, points, name)
    if terms is None:
        return False
    file["kind"] = "constant"
    write_alphas(file, tuple(terms))
    file["coefficients"] = list(terms.values())
    return True


def _read_operator(file: Reader, name: str, points: Points, envelope: bool) -> Operator:
    kind = file.word("kind", KINDS)
    known: NormalForm | Operator
    if kind == "identity":
        known = identity
    elif kind == "normal derivative":
        known = normal_derivative
    elif kind == "mixed":
        known = Mixed(Coefficient.of(file.number("alpha")), Coefficient.of(file.number("beta")))
    elif kind == "constant":
        alphas = read_alphas(file, points.dim)
        numbers = file.numbers("coefficients", len(alphas))
        if not all(numbers):
            raise file.wrong("coefficients", "0 in part")
        known = ConstantOperator(dict(zip(alphas, numbers, strict=True)))
    else:
        known = read_table(file, points.x)
    if points.normal is None and kind in ("normal derivative", "mixed"):
        raise file.wrong("kind", f"{kind!r}, on points without normals")
    product = read_table(file.below("with envelope"), points.x) if envelope else None
    return StoredOperator(name, points, known, product) if envelope or isinstance(known, NormalForm) else known


def _form(condition: Condition, points: Points, cuts: Sequence[int], envelope: Function | None) -> NormalForm:
    """The normal form at all points, batch by batch."""
    parts = [
        normal_form(condition.op, points[rows], multiplier=envelope, name=condition.name)
        for rows in _slices(cuts, len(points))
    ]
    if len(parts) == 1:
        return parts[0]
    alphas = sorted({alpha for part in parts for alpha in part.alphas})
    columns = {
        alpha: np.concatenate(
            [
                part.coefficients[:, part.alphas.index(alpha)] if alpha in part.alphas else np.zeros(len(part))
                for part in parts
            ]
        )
        for alpha in alphas
    }
    return tabulate(points.x, columns)


def _write_data(file: Writer, condition: Condition, points: Points, cuts: Sequence[int]) -> None:
    if callable(condition.data):
        file["data"] = "values"
        file.array("data", values_of(condition.name, condition.data, points, cuts))
    elif condition.data is not None:
        file["data"] = float(condition.data)


def _read_data(file: Reader, name: str, points: Points) -> Any:
    if not file.has_array("data"):
        return file.number("data") if "data" in file else None
    file.word("data", ("values",))
    return StoredFunction(f"data of condition {name!r}", "problem", points.x, read_values(file, "data", len(points)))


def read_values(file: Reader, name: str, n: int) -> FloatArray:
    """Values of one function at n points, (n,), or of several, (n, B)."""
    return file.floats(name, (n, None) if file.ndim(name) == 2 else (n,))


def values_of(name: str, function: Function, points: Points, cuts: Sequence[int] = ()) -> FloatArray:
    """Values of a user's function at all points, batch by batch."""
    return np.concatenate([evaluate_at(name, function, points.x[rows]) for rows in _slices(cuts, len(points))])


def _slices(cuts: Sequence[int], n: int) -> Iterable[slice]:
    ends = [0, *cuts, n]
    return [slice(first, last) for first, last in pairwise(ends) if last > first]
