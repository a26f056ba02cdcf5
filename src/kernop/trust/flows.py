"""Equations that flow dominates, with as much diffusion as a space of functions resolves.

−ε Δu + b·∇u = f has layers of width ε / |b|. A space whose functions stand h apart sees them for |b| h / ε up to about
2; beyond, it does not tell whether u is determined. With more diffusion it does: where every stream line comes from the
boundary, u is determined with any ε; where flow leaves a domain on all sides, as εu″ = x u′ on (−1, 1), what is inside
is felt at the boundary by exp(−|b| L / ε) alone, so what is ill-posed with more diffusion is worse with less.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.collocation.functionals import Block, Functionals

#: |b| h / ε, at most.
CELL = 2.0
#: What grows faster than 1 / ε to this power grows exponentially; the largest exponent that is told.
POWER, HUGE = 3.0, 300.0


def diffused(rows: Functionals, spacing: FloatArray) -> tuple[Functionals, float]:
    """The rows, those of equations that flow dominates with more diffusion, and how many times more; 1 if none has.

    Arguments:
        spacing: of the functions along each axis, h, (d,).
    """
    factors = [_lacking(block, spacing) for block in rows.blocks]
    blocks = tuple(_spread(block, own) for block, own in zip(rows.blocks, factors, strict=True))
    return replace(rows, blocks=blocks), max(factors)


def extrapolated(first: float, second: float, finer: float, factor: float) -> float:
    """The stability of a flow, from the numbers of two spaces with as much diffusion as they resolve.

    Where nothing determines u but diffusion against the flow, the number is like exp(c / ε). It must grow with the
    space by more than powers of ε would make it: they belong to flows that turn in circles, which diffusion determines.

    Arguments:
        first, second: the numbers; the spacing of the second space is ``finer`` times smaller.
        factor: how many times more diffusion the first one had.
    """
    growth = second / first
    if not growth > finer**POWER:
        return second
    return float(np.exp(min(HUGE, np.log(first) + np.log(growth) * (factor - 1.0) / (finer - 1.0))))


def _lacking(block: Block, spacing: FloatArray) -> float:
    """How many times more diffusion an equation needs to be resolved; 1 if flow does not dominate."""
    if block.order != 2 or len(block.components) != 1:
        return 1.0
    d, size = len(spacing), np.abs(block.coefficients).max(axis=0)
    flow, spread, sign, reaction = np.zeros(d), np.zeros(d), np.zeros(d), 0.0
    for column, alpha in enumerate(block.alphas):
        axis = int(np.argmax(alpha))
        if sum(alpha) == 0:
            reaction = float(size[column])
        elif sum(alpha) == 1:
            flow[axis] = size[column]
        elif max(alpha) == 2:
            spread[axis] = np.sqrt(np.mean(np.square(block.coefficients[:, column])))
            sign[axis] = np.sign(np.mean(block.coefficients[:, column]))
    # In time, and where terms of order 0 are larger, u is determined otherwise, or not.
    if np.any(spread == 0.0) or abs(np.sum(sign)) < d or reaction > 0.5 * np.max(flow / spacing):
        return 1.0
    return max(1.0, float(np.max(flow * spacing / (CELL * spread))))


def _spread(block: Block, factor: float) -> Block:
    """With terms of second order so many times larger."""
    second = np.array([sum(alpha) == 2 for alpha in block.alphas])
    return replace(block, coefficients=np.where(second, factor, 1.0) * block.coefficients)
