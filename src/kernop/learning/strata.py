"""Points that are denser where the functions of layers are narrower, and the residuals of inputs at such points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.ansatz import collocate
from kernop.collocation.data import Input
from kernop.collocation.functionals import Functionals
from kernop.collocation.sampling import between, rule
from kernop.collocation.units import frame_of
from kernop.geometry import Points, Region
from kernop.geometry.cloud import CloudRegion
from kernop.geometry.points import concatenate
from kernop.geometry.sequences import halton
from kernop.language.conditions import Condition
from kernop.language.problem import Problem
from kernop.learning.heldout import Findings, data_columns, relative_residuals
from kernop.methods.spaces import Layers
from kernop.operators.operator import SolutionOperator

#: Points for each function of a layer, with those of all wider ones that are there too, for d = 1, 2 and more.
EACH = (6, 3, 3)
#: Points of a boundary that are drawn, at most, to find those in the cells of a layer.
DRAWN = 2**18
#: Fresh points of a condition where there are no layers, for d = 1, 2, 3 and beyond; and in each box of a layer.
SCAN, FRESH = (500, 4000, 16000), 2


def thickened(problem: Problem, uniform: Mapping[str, Points], layers: Layers, seed: int) -> dict[str, Points]:
    """The points of a uniform level, and more of them where there are layers, in proportion to their functions."""
    each = EACH[min(layers.dim, 3) - 1]
    found = {name: [own] for name, own in uniform.items()}
    for condition in filter(_divisible, problem.conditions):
        own = found[condition.name]
        for level in layers.levels:
            drawn, _ = _drawn(condition.on, layers, level, each, len(own[0]), seed + level + 1)
            own += [drawn] if drawn is not None else []
    return {name: concatenate(parts) if len(parts) > 1 else parts[0] for name, parts in found.items()}


@dataclass(frozen=True, eq=False)
class Strata:
    """Fresh points of each condition, by name, and the measure for which each of them stands, (n,)."""

    points: Mapping[str, Points]
    shares: Mapping[str, FloatArray]


def strata(problem: Problem, uniform: Mapping[str, Points], layers: Layers, seed: int) -> Strata:
    """Points from which nothing was learned: a few in each cell, however small."""
    points, shares = dict[str, Points](), dict[str, FloatArray]()
    for condition in problem.conditions:
        name, on = condition.name, condition.on
        if condition.integral:
            points[name] = rule(problem, condition)
            shares[name] = np.ones(1)
            continue
        wide = between(on, SCAN[min(max(on.intrinsic_dim, 1), 3) - 1], seed)
        parts, sizes = [wide], [np.full(len(wide), on.measure / len(wide))]
        if _divisible(condition) and layers.levels:
            outside = np.flatnonzero(layers.felt_at(wide.x) < 0)
            parts, sizes = ([wide[outside]], [sizes[0][outside]]) if len(outside) else ([], [])
            for level in layers.levels:
                drawn, each = _drawn(on, layers, level, FRESH, len(uniform[name]), seed + level + 1)
                if drawn is not None:
                    parts.append(drawn)
                    sizes.append(np.full(len(drawn), each))
        points[name], shares[name] = concatenate(parts), np.concatenate(sizes)
    return Strata(points, shares)


def _divisible(condition: Condition) -> bool:
    """Are there points of the condition in every cell, and can they be found?"""
    on = condition.on
    return not condition.integral and on.intrinsic_dim > 0 and on.known and not isinstance(on, CloudRegion)


def _drawn(
    region: Region, layers: Layers, level: int, each: int, uniform: int, seed: int
) -> tuple[Points | None, float]:
    """Points of a region where this layer is the deepest, ``each`` for a function; and the measure of each of them.

    Inside, they are drawn in the boxes around the centres. On a boundary of m dimensions that has so many points of a
    uniform level, of spacing h, they are (h / h_ℓ)^m times as dense.
    """
    if region.intrinsic_dim == region.dim:
        h = layers.spacing(level)
        corners = layers.low + layers.boxes[level] * h
        unit = halton(each * len(corners), region.dim, np.random.default_rng(seed))
        x = np.repeat(corners, each, axis=0) + h * unit
        inside = region.contains(x) & (layers.felt_at(x) == level)
        return Points(x[inside], timed=region.timed) if np.any(inside) else None, float(np.prod(h)) / each
    ratio = layers.wide / float((layers.spacing(level) / layers.side)[0])
    number = min(DRAWN, max(1, round(uniform * each / EACH[min(layers.dim, 3) - 1] * ratio**region.intrinsic_dim)))
    drawn = region.sample(number, seed=seed)
    kept = np.flatnonzero(layers.felt_at(drawn.x) == level)
    return drawn[kept] if len(kept) else None, region.measure / number


@dataclass(kw_only=True, frozen=True, eq=False)
class Residuals:
    """The residuals of B inputs at fresh points.

    Attributes:
        error: the worst relative residual, of any condition and input.
        x: the places, (n, d).
        squares: what each place contributes to the squared relative residuals of all inputs together, (n,).
        shares: the part of its region for which each place stands, (n,).
        values: the solutions at some points inside, (m, B).
        misfit: the largest part of their data that the solutions leave at the points of the operator.
    """

    error: float
    x: FloatArray
    squares: FloatArray
    shares: FloatArray
    values: FloatArray
    misfit: float

    @property
    def findings(self) -> Findings:
        """Error, misfit and values, as operators are compared by them; without the places."""
        return Findings(self.error, self.error, self.misfit, self.values)

    @property
    def part(self) -> float:
        """The part of the domain that holds the residual r: (∫ r²)² / ∫ r⁴, which is 1 if it is constant."""
        total = np.sum(self.squares)
        return float(total**2 / np.sum(self.squares**2 / self.shares)) if total > 0.0 else 1.0


def residuals(operator: SolutionOperator, inputs: Sequence[Input], fresh: Strata, inside: Functionals) -> Residuals:
    """Relative residuals as root mean squares over the regions, whatever the density of the points."""
    problem, layouts = operator.problem, operator.layouts
    answer = operator.factorisation.answer(np.hstack(data_columns(problem, inputs, operator.points, layouts)))
    rows, values = collocate(problem, fresh.points, operator.ansatz), answer.u.apply(inside)
    targets = np.hstack(data_columns(problem, inputs, fresh.points, layouts))
    size, units = np.sqrt(np.mean(np.square(values), axis=0)), frame_of(problem).units
    shares = {name: share / np.sum(share) for name, share in fresh.shares.items()}
    parts = {name: len(own.blocks) for name, own in zip(problem.names, rows.conditions, strict=True)}
    weights = [np.tile(shares[name], count)[:, None] for name, count in parts.items()]
    relative = relative_residuals(answer.u, rows, targets, weights, size, units)
    worst = np.array([np.sqrt(np.max(np.sum(own, axis=0))) for own in relative])
    squares = {
        name: own.reshape(parts[name], len(shares[name]), -1).sum(axis=(0, 2))
        for name, own in zip(parts, relative, strict=True)
        if not problem[name].integral
    }
    return Residuals(
        error=float(np.max(np.where(np.isfinite(worst), worst, np.inf))),
        x=np.concatenate([fresh.points[name].x for name in squares]),
        squares=np.concatenate(list(squares.values())),
        shares=np.concatenate([shares[name] for name in squares]),
        values=values,
        misfit=float(np.max(answer.misfit)),
    )
