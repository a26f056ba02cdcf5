"""A streamed operator with its map from data held: N × L numbers, in memory or in a mapped file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from kernop.errors import ArgumentTypeError, FileError, FloatArray, SingularGramError, check_memory, describe, fail
from kernop.linalg import add_square, cholesky, right_solve_upper
from kernop.methods import Factorisation
from kernop.methods.accumulators import Penalty
from kernop.methods.materialized import MaterializedFactorisation
from kernop.streaming.places import Places
from kernop.streaming.plan import Plan


def materialize(
    plan: Plan,
    factor: Factorisation,
    upper: FloatArray,
    penalty: Penalty,
    noise: float,
    path: str | os.PathLike[str] | None,
) -> MaterializedFactorisation:
    """One pass over the points that writes Q; in a file of NumPy's format if a path is given."""
    place, count = Places(plan.stream), len(upper)
    n = sum(place.counts.values())
    if path is None:
        check_memory("T", n * count, f"{n} rows of {count}", "give materialize(path), for a file")
        q: FloatArray = np.empty((n, count))
    else:
        q = _mapped(path, (n, count))
    root = penalty * np.eye(count) if isinstance(penalty, float | int) else penalty
    square = np.zeros((count, count), order="F")
    add_square(square, np.ascontiguousarray(right_solve_upper(upper, root)))
    for k in range(plan.stream.number or 0):
        batch = plan.stream[k]
        part = np.ascontiguousarray(right_solve_upper(upper, plan.rows.design(batch)))
        add_square(square, part)
        done = 0
        for rows in place.rows(k, batch).values():
            q[rows] = part[done : done + rows.stop - rows.start]
            done += rows.stop - rows.start
    second, failed = cholesky(square)
    if failed or not np.all(second.pivots > 0.0):
        got = f"an operator with λ = {factor.regularization:g}, whose triangle is singular to working precision"
        raise fail(SingularGramError, "T", got, "learn with a larger λ, or without regularization=")
    roots = np.repeat(np.sqrt(plan.rows.weights), list(place.counts.values()))
    return MaterializedFactorisation(
        factor.expansion,
        factor.regularization,
        factor.weights,
        noise,
        upper,
        second,
        q,
        roots,
        plan.method,
    )


def _mapped(path: Any, shape: tuple[int, int]) -> FloatArray:
    if not isinstance(path, str | os.PathLike):
        raise fail(ArgumentTypeError, "path", describe(path), "give the path of a file")
    try:
        return np.lib.format.open_memmap(os.fspath(path), mode="w+", dtype=np.float64, shape=shape)
    except OSError as error:
        got = f"{os.fspath(path)!r}, which cannot be written ({error})"
        raise fail(FileError, "path", got, "give a path in a folder with room") from error
