"""One call: what the theorems say about a learned operator, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.checks import check_integer
from kernop.basics.errors import ArgumentError, ArgumentTypeError, FloatArray, describe, fail
from kernop.collocation.data import all_values, concrete, named_inputs, real_columns
from kernop.collocation.functionals import evenly
from kernop.methods.full import KernelFactorisation
from kernop.methods.weights import repeated
from kernop.trust.bounds.constants import Constants, constants
from kernop.trust.bounds.inequalities import (
    approximation,
    best_alpha,
    best_rate,
    check_exponent,
    check_probability,
    pathwise,
    points_needed,
    sharper,
    uniform,
)
from kernop.trust.bounds.source import Source, effective_rank, source
from kernop.trust.criteria import spectrum
from kernop.trust.estimates import Learned


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundsReport:
    """What is known of an operator before it is applied; `print` it. Norms are those of the RKHS.

    Attributes:
        points: N.
        regularization: λ.
        delta: each bound holds with probability 1 − δ.
        constants: κ, C, and the norms M.
        rank: the effective rank r_N, estimated on ``rows`` points.
        rows: see there.
        source: γ and S of the inputs; None without inputs.
        pathwise: bound on ‖T̂h − T_λ h‖; without inputs, relative to ‖u‖.
        points_needed: the N from which `pathwise` is less than ‖u‖, at this λ.
        sharper: the bound that is not in the paper, with the largest ‖P_x‖ found; without inputs, relative to ‖u‖.
        uniform: bound on ‖T̂h − T_λ h‖ for all h with this γ and S; None without inputs.
        approximation: S λ^γ; None without inputs.
        total: uniform + approximation, with probability 1 − δ a bound on ‖T̂h − u‖; None without inputs.
    """

    points: int
    regularization: float
    delta: float
    constants: Constants
    rank: float
    rows: int
    source: Source | None
    pathwise: float
    points_needed: float
    sharper: float
    uniform: float | None
    approximation: float | None
    total: float | None

    def __str__(self) -> str:
        c, found, how = self.constants, self.source, "closed form" if self.constants.exact else "sampled"
        lines = [
            f"A priori bounds for N = {self.points}, λ = {self.regularization:.2g}; each with probability"
            f" {1.0 - self.delta:g}, for independent points, in the norm of the RKHS",
            f"  κ = {c.kappa:.3g} ({how}), C = {c.coefficient:.3g} (largest at {c.sampled} points),"
            f" order {c.order} in {c.dim} dimension{'s' if c.dim > 1 else ''}",
            f"  ‖P_x‖ ≤ binom(d+s, d) C κ = {c.norm:.3g}; the largest found is {c.functional:.3g}",
            f"  effective rank r_N = {self.rank:.3g} (from {self.rows} points)",
        ]
        if found is not None:
            size = f"S = {found.size:.3g}, ‖u‖ = {found.solution_norm:.3g}"
            lines.append(f"  γ = {found.gamma:.2g}, {size} (estimated from the data)")
        unit = " ‖u‖" if found is None else ""
        lines += [
            f"  estimation, one input:   ≤ {self.pathwise:.2g}{unit}; less than ‖u‖, which is certain,"
            f" from N = {self.points_needed:.1g} at this λ",
            f"  the same, sharper:       ≤ {self.sharper:.2g}{unit}",
        ]
        if found is None:
            return "\n".join([*lines, "  give inputs for γ, the approximation and the total error"])
        lines += [
            f"  estimation, all inputs:  ≤ {self.uniform:.2g}",
            f"  approximation:           ≤ {self.approximation:.2g} = S λ^γ;"
            f" {found.gap(self.regularization):.2g} from the spectrum",
            f"  total:                   ≤ {self.total:.2g}",
            f"  best: λ ~ N^-{best_alpha(found.gamma):.2g}, total error ~ N^-{best_rate(found.gamma):.2g}",
        ]
        return "\n".join(lines)


def report(
    operator: object, inputs: object = None, *, delta: float = 0.05, gamma: float | None = None, rows: int = 1500
) -> BoundsReport:
    """The paper's bounds for an operator learned by `Full` or `LowRank`.

    They hold for points drawn independently (``sampling="uniform"``), each condition in proportion to its number of
    points; for quasi-random points they are no theorem. Weights are part of the operators: √w P and √w h.

    Arguments:
        operator: T, with λ > 0.
        inputs: a tuple in the order of T, or a dictionary; functions, numbers or values at the points, also batches.
            From them γ, S and ‖u‖ are estimated, see `source`. None leaves out what needs them.
        delta: δ.
        gamma: γ if it is known.
        rows: the spectrum is computed from at most so many points, spread over all.
    """
    learned = _check(operator)
    factorisation, n = learned.factorisation, sum(map(len, learned.points.values()))
    assert isinstance(factorisation, KernelFactorisation)
    most, lam = check_integer("rows", rows, least=1), factorisation.regularization
    delta = check_probability(delta)
    if gamma is not None:
        check_exponent(gamma)
    data = np.zeros((n, 1)) if inputs is None else _data(learned, inputs)
    weights = dict(zip(learned.problem.names, factorisation.weights, strict=True))
    known = constants(learned.problem, factorisation.kernel, learned.points, weights)
    relative = pathwise(n, lam, known.norm, 1.0, delta)
    functionals = learned.collocated
    chosen = evenly(n, most)
    own = repeated(factorisation.weights, functionals)[chosen]
    seen = spectrum(factorisation.kernel, functionals.take(chosen), own, data[chosen])
    found = None if inputs is None else source(seen, gamma)
    rank, bound = effective_rank(seen), None if found is None else approximation(lam, found.gamma, found.size)
    everywhere = None if found is None else uniform(n, lam, known.norm, rank, found.gamma, found.size, delta)
    return BoundsReport(
        points=n,
        regularization=lam,
        delta=delta,
        constants=known,
        rank=rank,
        rows=len(chosen),
        source=found,
        pathwise=relative * (1.0 if found is None else found.solution_norm),
        points_needed=points_needed(lam, known.norm, delta),
        sharper=sharper(n, lam, known.functional, 1.0 if found is None else found.gap(lam), delta),
        uniform=everywhere,
        approximation=bound,
        total=None if bound is None or everywhere is None else bound + everywhere,
    )


def _check(operator: Any) -> Learned:
    """The operator as the estimates see it; an error unless it was learned by `Full` or `LowRank` with λ > 0."""
    learned: object = operator
    if not isinstance(learned, Learned):
        raise fail(ArgumentTypeError, "operator", describe(operator), "give an operator from ko.learn")
    if not isinstance(learned.factorisation, KernelFactorisation):
        got = f"one learned by {operator.method!r}, of which the theorems do not speak"
        raise fail(ArgumentError, "operator", got, "learn with method=ko.Full() or ko.LowRank()")
    if not learned.factorisation.regularization > 0.0:
        got = "one learned with λ = 0, where all bounds are infinite"
        raise fail(ArgumentError, "operator", got, "learn with λ > 0")
    return learned


def _data(learned: Learned, inputs: object) -> FloatArray:
    """The data of all conditions at the points of T, (N, B)."""
    named = dict(inputs) if isinstance(inputs, Mapping) else {}
    values = () if isinstance(inputs, Mapping) else inputs if isinstance(inputs, tuple) else (inputs,)
    given = named_inputs(learned.problem, values, named)
    h = concrete("inputs", all_values(learned.problem, given, learned.points, learned.collocated.layouts))
    return real_columns(h)
