"""Noise in the data: a standard deviation for each condition, and the weights and λ that say the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentError, check_number, fail
from kernop.collocation.sampling import check_conditions
from kernop.language.problem import Problem

#: Beyond this, and the inverse of it, squares of levels and their quotients would leave the range of numbers.
SMALLEST = 1e-70


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
        """That of a row of weight 1."""
        return float(np.exp(2.0 * np.mean(np.log(self.levels))))

    @property
    def weights(self) -> tuple[float, ...]:
        """w_k, one for each condition."""
        return tuple(self.variance / level**2 for level in self.levels)


def read_noise(noise: Any, problem: Problem) -> Noise:
    """The user's ``noise``: a standard deviation for all conditions, or for each of them by name."""
    if not isinstance(noise, Mapping):
        remedy = "give a positive number, or one for each condition by name"
        return Noise((check_number("noise", noise, above=0.0, remedy=remedy),) * len(problem.names))
    named: Mapping[Any, Any] = noise
    check_conditions("noise", named, problem, each="a level, small where data are exact,")
    return Noise(tuple(check_number(f"noise[{name!r}]", named[name], above=0.0) for name in problem.names))
