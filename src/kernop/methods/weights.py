"""Weights of the conditions in the risk (1/N) Σ w_i |P_i u − h_i|²."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.checks import check_choice, check_kind, check_number
from kernop.basics.errors import FloatArray, NonFiniteError, fail
from kernop.collocation.functionals import Functionals
from kernop.collocation.sampling import check_conditions
from kernop.collocation.units import frame_of
from kernop.geometry.cloud import CloudRegion
from kernop.language.conditions import Condition
from kernop.language.problem import Problem


@dataclass(frozen=True)
class Balance:
    """How much each condition counts when weights are balanced.

    Conditions of one kind, the same operator on regions of the same dimension, have one weight for all their rows, as
    if they were one condition; the sum Σ w_i · squares_i over a kind is what its regions measure, as a part of the box
    around the problem or of its faces. So a boundary that is cut into pieces counts as before.

    Arguments:
        kinds: the kind of each condition.
        shares: what each condition measures.
    """

    kinds: tuple[int, ...]
    shares: tuple[float, ...]

    @classmethod
    def even(cls, number: int) -> Balance:
        """Equal weights: all conditions count alike."""
        return cls(tuple(range(number)), (1.0,) * number)

    def weights(self, sums: FloatArray) -> tuple[float, ...]:
        """w_k for each condition from the sums of its squared rows; 1 in the geometric mean, by shares.

        So λ keeps its meaning.
        """
        kinds, shares = np.asarray(self.kinds), np.asarray(self.shares)
        found = np.array([shares[kinds == k].sum() / sums[kinds == k].sum() for k in kinds])
        return tuple(map(float, found / np.exp(np.average(np.log(found), weights=shares))))


#: One weight for each condition; or balanced ones, which the method finds from the scale of its rows (None: evenly).
Weights = tuple[float, ...] | Balance | None


def read_weights(weights: object, problem: Problem) -> Weights:
    """The user's ``weights``: "unit", "balanced", or a positive number for each condition by name (1 if not named)."""
    if isinstance(weights, Mapping):
        named: Mapping[str, Any] = weights
        check_conditions("weights", named, problem)
        return tuple(check_number(f"weights[{n!r}]", named.get(n, 1.0), above=0.0) for n in problem.names)
    check_kind("weights", weights, str, "give 'unit', 'balanced' or a dict of numbers")
    word = check_choice("weights", weights, ("unit", "balanced"))
    return balance_of(problem) if word == "balanced" else (1.0,) * len(problem.names)


def balance_of(problem: Problem) -> Balance:
    """How much the conditions of a problem count."""
    frame, conditions = frame_of(problem), problem.conditions
    total = sum(c.on.measure for c in conditions if _finite(c))

    def share(condition: Condition) -> float:
        if condition.integral:
            return 1.0
        return condition.on.measure / total if _finite(condition) else min(1.0, frame.part(condition.on))

    # The kind of a condition is the number of the first that is like it.
    kinds = tuple(next(k for k, other in enumerate(conditions) if _alike(c, other)) for c in conditions)
    return Balance(kinds, tuple(map(share, conditions)))


def _finite(condition: Condition) -> bool:
    """Is the region a finite set, whose measure is a number of points?"""
    return not condition.integral and (condition.on.intrinsic_dim == 0 or isinstance(condition.on, CloudRegion))


def _alike(one: Condition, other: Condition) -> bool:
    """Have they the same operator, of the same unknown, on regions of the same dimension?"""
    same = one.of == other.of and one.integral == other.integral and one.on.intrinsic_dim == other.on.intrinsic_dim
    return same and one.paired == other.paired and (one.op is other.op or bool(one.op == other.op))


def row_weights(weights: Weights, functionals: Functionals, squares: FloatArray) -> FloatArray:
    """w_i for each row, (N,): `condition_weights`, repeated."""
    return repeated(condition_weights(weights, functionals, squares), functionals)


def condition_weights(weights: Weights, functionals: Functionals, squares: FloatArray) -> tuple[float, ...]:
    """One weight for each condition: the user's, or balanced ones from the squared sizes of the rows (N,)."""
    if isinstance(weights, tuple):
        return weights
    sums = np.array([float(np.sum(squares[rows])) for rows in functionals.slices])
    usable = (sums > 0.0) & np.isfinite(sums)
    if not np.all(usable):
        got = f"'balanced' with rows of a condition whose squares add up to {sums[np.argmin(usable)]:g}"
        raise fail(NonFiniteError, "kernel, weights", got, "give a lengthscale, and units, that fit the domain")
    return (weights or Balance.even(len(sums))).weights(sums)


def repeated(weights: tuple[float, ...], functionals: Functionals) -> FloatArray:
    """The weight of each row, (N,), from one for each condition."""
    return np.repeat(np.asarray(weights), [rows.stop - rows.start for rows in functionals.slices])
