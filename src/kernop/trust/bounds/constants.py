"""The constants of the theorems: κ of a kernel, C of the coefficients, and the bound on the norm of the operators."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import jax.numpy as jnp
import numpy as np

from kernop.basics.checks import check_coordinates, check_integer, check_kind
from kernop.basics.errors import ArgumentError, FloatArray, RoughKernelError, describe, fail
from kernop.basics.precision import float64
from kernop.collocation import assembly
from kernop.collocation.changes import new_points
from kernop.collocation.functionals import Functionals
from kernop.collocation.sampling import held_out
from kernop.collocation.scales import fitted
from kernop.collocation.units import frame_of
from kernop.geometry import Points
from kernop.geometry.points import concatenate
from kernop.kernels import Kernel
from kernop.kernels.base import add, check_finite
from kernop.language.fields import MultiIndex
from kernop.language.problem import Problem
from kernop.methods.weights import read_weights, row_weights

#: Multi-indices times dimensions that `kappa` goes through, and their highest order: seconds of work.
MOST_DERIVATIVES, HIGHEST = 300_000, 64
#: Quasi-random points of each region on which suprema are sampled, beside the points that are given.
COVERING = 4096
#: Points on which the derivatives of a kernel that is not stationary are sampled.
SAMPLED = 512


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What the bounds need to know of a problem and a kernel.

    Attributes:
        dim: d.
        order: s, the highest derivative in any condition.
        kappa: κ, see `kappa`.
        exact: is κ in closed form? Otherwise it is a maximum over sampled points.
        coefficient: C, the largest |φ_α(x)| of any condition, √w φ_α with weights; a maximum over sampled points.
        functional: the largest ‖P_x‖_H found on the same points: at most `norm`, and often far below.
        sampled: on how many points.
    """

    dim: int
    order: int
    kappa: float
    exact: bool
    coefficient: float
    functional: float
    sampled: int

    @property
    def norm(self) -> float:
        """The paper's bound on the norm of the operators, M = binom(d+s, d) C κ."""
        return math.comb(self.dim + self.order, self.dim) * self.coefficient * self.kappa


def constants(
    problem: Problem,
    kernel: Kernel,
    points: Mapping[str, Any] | None = None,
    weights: str | Mapping[str, float] = "unit",
) -> Constants:
    """κ, C and the norms for a problem and a kernel.

    Suprema over the regions are maxima over `COVERING` quasi-random points of each region, and over ``points``. So C
    is exact for constant coefficients, and may be missed where a coefficient has a peak between the points.

    Arguments:
        points: more points for some conditions, by name.
        weights: of the conditions, as in `learn`.
    """
    check_kind("problem", problem, Problem, "give a Problem(Equation(...), Dirichlet(...), ...)")
    functionals = _covering(problem, {} if points is None else new_points(problem, points))
    x = np.concatenate([block.x for block in functionals.spread(SAMPLED).blocks])
    found = kappa(kernel, functionals.order, functionals.dim, x)
    squares = assembly.squared_norms(kernel, functionals)
    check_finite(kernel, squares)
    w = row_weights(read_weights(weights, problem), functionals, squares)
    largest = max(float(np.max(np.abs(block.coefficients))) for block in functionals.scaled(np.sqrt(w)).blocks)
    return Constants(
        dim=functionals.dim,
        order=functionals.order,
        kappa=found,
        exact=kernel.stationary,
        coefficient=largest,
        functional=math.sqrt(float(np.max(w * squares))),
        sampled=len(functionals),
    )


def kappa(kernel: Kernel, order: int, dim: int, x: FloatArray | None = None) -> float:
    """κ with κ² = max over |α| ≤ s and all x of ∂_x^α ∂_y^α K(x, x): then |∂^α u(x)| ≤ κ ‖u‖_H for all u.

    For a stationary kernel K = F(x − y) this is max |∂^(2α) F(0)|, in closed form, and equal to the paper's ‖K‖ in
    C_b^(2s) with the norm max_{|γ| ≤ 2s} sup |∂^γ K|: every such γ is α + β with |α|, |β| ≤ s, and by Cauchy–Schwarz
    |∂^(α+β) F(z)|² ≤ |∂^(2α) F(0)| |∂^(2β) F(0)|. For any other kernel it is the maximum over the points x, which is
    at most that norm, and all that the proofs use of it.

    Arguments:
        kernel: with at least 2s derivatives.
        order: s.
        dim: d.
        x: points (n, d) at which a kernel that is not stationary is sampled.
    """
    check_kind("kernel", kernel, Kernel, "give a kernel, such as ko.Gaussian(0.5)")
    s, d = check_integer("order", order, least=0), check_integer("dim", dim, least=1)
    kernel.check_dim(d)
    if s > HIGHEST or d > MOST_DERIVATIVES or math.comb(d + s, s) * d > MOST_DERIVATIVES:
        got = f"{describe(d)} and {describe(s)}, which leave too many derivatives to look at"
        raise fail(ArgumentError, "dim, order", got, "give smaller ones")
    if 2 * s > kernel.smoothness:
        got = f"{kernel!r}, which has {kernel.smoothness:g} derivatives, where order {s} needs {2 * s}"
        raise fail(RoughKernelError, "kernel", got, kernel.smoother(2 * s))
    with np.errstate(over="ignore", invalid="ignore"):
        squares = _at_zero(kernel, s, d) if kernel.stationary else _sampled(kernel, s, d, x)
    largest = float(np.max(squares))
    check_finite(kernel, squares)
    return math.sqrt(largest)


def multi_indices(dim: int, order: int) -> list[MultiIndex]:
    """All α with |α| ≤ s in d dimensions; binom(d+s, d) of them."""
    steps = (step for size in range(order + 1) for step in combinations_with_replacement(range(dim), size))
    return [tuple(step.count(axis) for axis in range(dim)) for step in steps]


def _at_zero(kernel: Kernel, order: int, dim: int) -> FloatArray:
    alphas = multi_indices(dim, order)
    zero: Any = np.zeros(()) if kernel.in_numpy else jnp.zeros(())  # in NumPy nothing waits for a compiler
    with float64():
        table = kernel.partials([zero] * dim, [add(alpha, alpha) for alpha in alphas])
        return np.array([abs(float(table[add(alpha, alpha)])) for alpha in alphas])


def _sampled(kernel: Kernel, order: int, dim: int, x: FloatArray | None) -> FloatArray:
    if x is None:
        got = f"none for {kernel!r}, which is no function of x − y"
        raise fail(ArgumentError, "x", got, "give points (n, d) at which its derivatives are sampled")
    columns = [*check_coordinates("x", x, dim).T]
    with float64():
        table = kernel.partials(
            [jnp.asarray(column) for column in columns + columns],
            [alpha + alpha for alpha in multi_indices(dim, order)],
        )
        return np.concatenate([np.atleast_1d(np.asarray(values)) for values in table.values()])


def _covering(problem: Problem, points: Mapping[str, Points]) -> Functionals:
    places = {
        c.name: held_out(problem, c, COVERING, 0) if c.integral else c.on.sample(COVERING) for c in problem.conditions
    }
    for name, more in points.items():
        places[name] = concatenate([places[name], more])
    return fitted(problem, places, frame_of(problem))[1]
