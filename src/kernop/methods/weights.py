"""Weights of the conditions in the risk (1/N) Σ w_i |P_i u − h_i|²."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernop.basics.errors import (
    ArgumentTypeError,
    FloatArray,
    NonFiniteError,
    check_choice,
    check_number,
    describe,
    fail,
)
from kernop.collocation.functionals import Functionals
from kernop.collocation.sampling import check_conditions
from kernop.language.problem import Problem

#: One weight for each condition, or None for "balanced": the method finds them from the scale of its rows.
Weights = tuple[float, ...] | None


def read_weights(weights: Any, problem: Problem) -> Weights:
    """The user's ``weights``: "unit", "balanced", or a positive number for each condition by name (1 if not named)."""
    if isinstance(weights, Mapping):
        named: Mapping[str, Any] = weights
        check_conditions("weights", named, problem)
        return tuple(check_number(f"weights[{n!r}]", named.get(n, 1.0), above=0.0) for n in problem.names)
    if not isinstance(weights, str):
        raise fail(ArgumentTypeError, "weights", describe(weights), "give 'unit', 'balanced' or a dict of numbers")
    word = check_choice("weights", weights, ("unit", "balanced"))
    return None if word == "balanced" else (1.0,) * len(problem.names)


def row_weights(weights: Weights, functionals: Functionals, squares: FloatArray) -> FloatArray:
    """w_i for each row, (N,): `condition_weights`, repeated."""
    return repeated(condition_weights(weights, functionals, squares), functionals)


def condition_weights(weights: Weights, functionals: Functionals, squares: FloatArray) -> tuple[float, ...]:
    """One weight for each condition; balanced ones give every condition the same sum Σ w_i · squares_i.

    ``squares`` are the squared sizes of the rows, (N,); balanced weights average to 1 in the geometric mean, so that
    λ keeps its meaning.
    """
    if weights is not None:
        return weights
    sums = np.array([float(np.sum(squares[rows])) for rows in functionals.slices])
    usable = (sums > 0.0) & np.isfinite(sums)
    if not np.all(usable):
        got = f"'balanced' with rows of a condition whose squares add up to {sums[np.argmin(usable)]:g}"
        raise fail(NonFiniteError, "kernel, weights", got, "give a lengthscale, and units, that fit the domain")
    return equalising(sums)


def equalising(sums: FloatArray) -> tuple[float, ...]:
    """Weights w_k with w_k · sums_k the same for all k, and 1 in the geometric mean."""
    return tuple(map(float, np.exp(np.mean(np.log(sums))) / sums))


def repeated(weights: tuple[float, ...], functionals: Functionals) -> FloatArray:
    """The weight of each row, (N,), from one for each condition."""
    return np.repeat(np.asarray(weights), [rows.stop - rows.start for rows in functionals.slices])
