"""Weights of rows in the parts of a domain that interfaces cut: coefficients may differ by orders of magnitude."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.functionals import Block, Functionals


@dataclass(frozen=True, eq=False)
class Contrast:
    """How much rows count beside others of their condition, (N,) each.

    Rows of an equation are made alike in all parts. In a part without boundary data of its own, such as an inclusion,
    u is determined up to a constant by itself; the constant follows from the total flux, and an error of the equation
    there counts a_inside / a_outside times. So in these parts the rows count by that ratio more, and so do those of the
    flux, where it is above 1.

    Attributes:
        shares: what makes rows alike, before conditions are balanced.
        factors: by how much rows count more after that.
    """

    shares: FloatArray
    factors: FloatArray


def contrast(ansatz: Ansatz, functionals: Functionals, squares: FloatArray) -> Contrast:
    """From the squared sizes of the rows, (N,); all ones for a domain without parts."""
    shares, factors = np.ones(len(functionals)), np.ones(len(functionals))
    if ansatz.parts is None:
        return Contrast(shares, factors)
    owned = [ansatz.of_part(p) for p in range(len(ansatz.parts))]
    within = [np.stack([block.involves(own) for own in owned]) for block in functionals.blocks]
    values = [_alone(inside) for block, inside in zip(functionals.blocks, within, strict=True) if _is_value(block)]
    anchored = np.any([own.any(axis=1) for own in values], axis=0) if values else np.zeros(len(owned), dtype=bool)
    for (rows, block), inside in zip(functionals, within, strict=True):
        if block.starts is not None:
            continue
        alone = _alone(inside)
        if np.any(alone):
            sizes = np.array([float(np.mean(squares[rows][own])) if np.any(own) else 0.0 for own in alone])
            there = sizes > 0.0
            reference = np.min(sizes[there & anchored], initial=np.inf)
            for own, size, fixed in zip(alone, sizes, anchored, strict=True):
                if size > 0.0:
                    shares[rows][own] = np.max(sizes) / size
                    factors[rows][own] = 1.0 if fixed else max(1.0, size / reference)
        else:
            factors[rows] = _steepness(block, owned, anchored)
    return Contrast(shares, factors)


def _alone(inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of rows that involve parts or not, (P, n): those that involve one, which rows of an interface do not."""
    return inside & (inside.sum(axis=0) == 1)


def _is_value(block: Block) -> bool:
    """Are these values of u, or mixed with slopes, as on a boundary?"""
    return block.order <= 1 and any(not any(alpha) for alpha in block.alphas)


def _steepness(block: Block, owned: list[tuple[int, ...]], anchored: NDArray[np.bool_]) -> float:
    """The ratio of the coefficients on the two sides of an interface, if the larger ones are those of a free part."""
    sizes = [block.coefficients[:, [c for k in own for c in block.components.get(k, ())]] for own in owned]
    norms = np.array([np.sqrt(np.mean(np.square(own))) if own.size else 0.0 for own in sizes])
    largest, smallest = int(np.argmax(norms)), float(np.min(norms[norms > 0.0]))
    return 1.0 if anchored[largest] else float(norms[largest] / smallest)
