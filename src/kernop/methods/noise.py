"""Noise in the data: a standard deviation for each condition, and the weights and λ that say the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.checks import check_number
from kernop.basics.errors import ArgumentError, describe, fail
from kernop.collocation.sampling import check_conditions
from kernop.language.problem import Problem

#: Beyond this, and the inverse of it, squares of levels and their quotients would leave the range of numbers.
SMALLEST = 1e-70
#: The noise in data of which none is stated, beside those of which some is.
EXACT = 1e-3


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
    """The noise that `learn` is told, and that the conditions of a problem state.

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
    if not isinstance(noise, Mapping):
        remedy = "give a positive number, or one for each condition by name"
        level = check_number("noise", noise, above=0.0, remedy=remedy)
        return Noise(tuple(own.get(name, level) for name in problem.names))
    named: Mapping[Any, Any] = noise
    check_conditions("noise", named, problem)
    for name in named:
        if name in own:
            got = f"{describe(named[name])} for {name!r}, which states {own[name]:g} itself"
            raise fail(ArgumentError, f"noise[{name!r}]", got, "state it in one place")
    check_conditions("noise", (*named, *own), problem, each="a level, small where data are exact,")
    levels = {name: check_number(f"noise[{name!r}]", named[name], above=0.0) for name in rest}
    return Noise(tuple(own[name] if name in own else levels[name] for name in problem.names))
