"""Leave-one-out residuals in closed form: what each row would have said of the estimate without it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.frozen import frozen
from kernop.collocation.functionals import Functionals
from kernop.methods import Combination, Factorisation
from kernop.methods.full import FullFactorisation

#: A row with less freedom than this is alone with what it says, like the end of an interval: without it the problem
#: has no unique solution, so its own residual stands.
LEAST_FREEDOM = 1e-2


def leave_one_out(
    factorisation: Factorisation, functionals: Functionals
) -> Callable[[Combination, FloatArray], FloatArray]:
    """h_i − P_i û₋ᵢ for every row i, with û₋ᵢ from all rows but i and all that was chosen held fixed.

    With A = G + λN W⁻¹ (`Full`): (A⁻¹h)_i / (A⁻¹)_ii. With fitted values S h (others): (h − S h)_i / (1 − S_ii). The
    result is a function of the solutions u and their data h (N, B), which gives (N, B).
    """
    full = isinstance(factorisation, FullFactorisation)
    divisors = frozen(_inverse_diagonal(factorisation) if full else _freedom(factorisation, functionals))
    return lambda u, h: (u.coefficients if full else h - u.apply(functionals)) / divisors[:, None]


def _inverse_diagonal(factorisation: FullFactorisation) -> FloatArray:
    """(A⁻¹)_ii for rows of the scaled A, times the scale of row i, (N,)."""
    half = factorisation.factor.half_solve(np.eye(len(factorisation.scales)))
    diagonal = np.empty(len(half))
    diagonal[factorisation.order] = np.einsum("ij,ij->j", half, half)
    return diagonal * factorisation.scales


def _freedom(factorisation: Factorisation, functionals: Functionals) -> FloatArray:
    """1 − S_ii, (N,), and 1 for rows that have next to none."""
    remedy = "give the inputs as functions or numbers, or u.error_estimate(…) their values at T.test_points"
    try:
        freedom = 1.0 - factorisation.leverages(functionals)
    except ArgumentError as error:
        raise fail(ArgumentError, "T", "an operator whose residuals cannot be left out one by one", remedy) from error
    alone = freedom < LEAST_FREEDOM
    if np.mean(alone) > 0.5:
        raise fail(ArgumentError, "T", "an operator with about as many centres as points", remedy)
    return np.where(alone, 1.0, freedom)
