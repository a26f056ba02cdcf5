"""A streamed operator with its map from data held: N × L numbers, in memory or in a mapped file."""

from __future__ import annotations

import os

import numpy as np

from kernop.basics.errors import FloatArray, SingularGramError, check_memory, fail
from kernop.basics.linalg import Cholesky, add_square, cholesky, right_solve_upper
from kernop.learning.streaming.matrix_file import Put, in_file
from kernop.learning.streaming.places import Places
from kernop.learning.streaming.plan import Plan
from kernop.methods import Factorisation
from kernop.methods.accumulators import Penalty
from kernop.methods.materialized import MaterializedFactorisation


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
        second = _fill(q.__setitem__, place, plan, factor, upper, penalty)
    else:
        q, second = in_file(path, (n, count), lambda put: _fill(put, place, plan, factor, upper, penalty))
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


def _fill(put: Put, place: Places, plan: Plan, factor: Factorisation, upper: FloatArray, penalty: Penalty) -> Cholesky:
    """Write Q row by row; S = QᵀQ + (P R⁻¹)ᵀ(P R⁻¹), factorised."""
    count = len(upper)
    root = penalty * np.eye(count) if isinstance(penalty, float | int) else penalty
    square = np.zeros((count, count), order="F")
    add_square(square, np.ascontiguousarray(right_solve_upper(upper, root)))
    for k in range(plan.stream.number or 0):
        batch = plan.stream[k]
        part = np.ascontiguousarray(right_solve_upper(upper, plan.rows.design(batch)))
        add_square(square, part)
        done = 0
        for rows in place.rows(k, batch).values():
            put(rows, part[done : done + rows.stop - rows.start])
            done += rows.stop - rows.start
    second, failed = cholesky(square)
    if failed or not np.all(second.pivots > 0.0):
        got = f"an operator with λ = {factor.regularization:g}, whose triangle is singular to working precision"
        raise fail(SingularGramError, "T", got, "learn with a larger λ, or without regularization=")
    return second
