"""Weights of the conditions in the risk (1/N) Σ w_i |P_i u − h_i|², and noise in the data, which says what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.checks import check_choice, check_kind, check_number
from kernop.basics.errors import ArgumentError, FloatArray, NonFiniteError, describe, fail
from kernop.collocation.functionals import Functionals
from kernop.collocation.sampling import check_conditions
from kernop.collocation.units import frame_of
from kernop.geometry.cloud import CloudRegion
from kernop.language.conditions import Condition
from kernop.language.problem import Problem

#: Beyond this, and the inverse of it, squares of levels and their quotients would leave the range of numbers.
SMALLEST = 1e-70
#: The noise in data of which none is stated, beside those of which some is.
EXACT = 1e-3


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


@dataclass(frozen=True)
class Noise:
    """h_i = P_i u + ε_i with independent ε_i ~ N(0, σ_k²) in condition k.

    The estimator knows σ_k² as λN / w_k: only these quotients count, so the weights are 1 in the geometric mean.

    Arguments:
        levels: σ_k > 0, one for each condition.
    """

    levels: tuple[float, ...]

    def __post_init__(self) -> None:
        lowest, highest = min(self.levels), max(self.levels)
        if not (lowest > SMALLEST and highest < 1.0 / SMALLEST):
            got = f"levels from {lowest:g} to {highest:g}"
            remedy = f"choose units in which they lie between {SMALLEST:g} and {1.0 / SMALLEST:g}"
            raise fail(ArgumentError, "noise", got, remedy)

    @property
    def variance(self) -> float:
        """The variance σ² of the noise in a row of weight 1."""
        return float(np.exp(2.0 * np.mean(np.log(self.levels))))

    @property
    def weights(self) -> tuple[float, ...]:
        """w_k, one for each condition."""
        return tuple(self.variance / level**2 for level in self.levels)


def states_noise(problem: Problem) -> bool:
    """Does a condition of a problem state the noise in its data?"""
    return any(condition.noise is not None for condition in problem.conditions)


def read_noise(noise: object, problem: Problem, sizes: Callable[[], tuple[float, ...]]) -> Noise:
    """The noise that is given to `learn`, and that which the conditions of a problem state.

    What a condition states holds for it. For the others: a number is the standard deviation for all of them, a
    dictionary has one for each by name, and None means that their data are exact: known EXACT times better than the
    best of those that are measured, in the sense that a smooth u may be wrong by so much less.

    Arguments:
        sizes: gives for each condition what it makes of a smooth u of size 1.
    """
    own = {c.name: c.noise for c in problem.conditions if c.noise is not None}
    rest = [name for name in problem.names if name not in own]
    if noise is None:
        size = dict(zip(problem.names, sizes(), strict=True))
        best = EXACT * min(level / size[name] for name, level in own.items())
        return Noise(tuple(own.get(name, best * size[name]) for name in problem.names))
    if isinstance(noise, Mapping):
        named: Mapping[str, object] = noise
        check_conditions("noise", named, problem)
        for name in named:
            if name in own:
                got = f"{describe(named[name])} for {name!r}, which states {own[name]:g} itself"
                raise fail(ArgumentError, f"noise[{name!r}]", got, "state it in one place")
        check_conditions("noise", (*named, *own), problem, each="a level, small where data are exact,")
        levels = {name: check_number(f"noise[{name!r}]", named[name], above=0.0) for name in rest}
    else:
        remedy = "give a positive number, or one for each condition by name"
        levels = dict.fromkeys(rest, check_number("noise", noise, above=0.0, remedy=remedy))
    return Noise(tuple((own | levels)[name] for name in problem.names))
