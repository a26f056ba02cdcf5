"""Weights of rows in the parts of a domain that interfaces cut: coefficients may differ by orders of magnitude."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernop.basics.errors import FloatArray, IntArray
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.functionals import Block, Functionals


@dataclass(frozen=True, eq=False)
class Contrast:
    """How much rows count beside others of their condition, by the part in which they are.

    Rows of an equation are made alike in all parts. In a part without boundary data of its own, such as an inclusion,
    u is determined up to a constant by itself; the constant follows from the total flux, and an error of the equation
    there counts a_inside / a_outside times. So in these parts the rows count by that ratio more, and so do those of the
    flux, where it is above 1.

    Attributes:
        shares: what makes rows alike, before conditions are balanced: a row for each block of functionals, a column for
            each of P parts and one for rows that are in no single part, as those of an interface; (blocks, P + 1).
        factors: by how much rows count more after that, likewise.
    """

    shares: FloatArray
    factors: FloatArray


def contrast(ansatz: Ansatz, functionals: Functionals, squares: FloatArray) -> Contrast | None:
    """From the squared sizes of the rows, (N,); None for a domain without parts."""
    if ansatz.parts is None:
        return None
    owned = _owned(ansatz)
    shares, factors = np.ones((2, len(functionals.blocks), len(owned) + 1))
    within = [part_of(ansatz, block) for block in functionals.blocks]
    # Values of u, or mixed with slopes, as on a boundary.
    values = [block.order <= 1 and any(not any(alpha) for alpha in block.alphas) for block in functionals.blocks]
    valued = [own for own, chosen in zip(within, values, strict=True) if chosen]
    anchored = np.array([any(np.any(own == p) for own in valued) for p in range(len(owned))])
    for k, ((rows, block), part) in enumerate(zip(functionals, within, strict=True)):
        if block.starts is not None:
            continue
        there = [p for p in range(len(owned)) if np.any(part == p)]
        sizes = {p: float(np.mean(squares[rows][part == p])) for p in there}
        sizes = {p: size for p, size in sizes.items() if size > 0.0}
        reference = min((size for p, size in sizes.items() if anchored[p]), default=np.inf)
        for p, size in sizes.items():
            shares[k, p] = max(sizes.values()) / size
            factors[k, p] = 1.0 if anchored[p] else max(1.0, size / reference)
        if not there:
            # On an interface: the ratio of its coefficients, if the larger ones are those of a part without data.
            columns = [[c for j in own for c in block.components.get(j, ())] for own in owned]
            norms = np.array([np.sqrt(np.mean(np.square(block.coefficients[:, c]))) if c else 0.0 for c in columns])
            steepness = float(np.max(norms) / np.min(norms[norms > 0.0]))
            factors[k, -1] = 1.0 if anchored[np.argmax(norms)] else steepness
    return Contrast(shares, factors)


def entries(ansatz: Ansatz, functionals: Functionals, table: FloatArray, numbers: Sequence[int]) -> FloatArray:
    """The entry of a table (blocks, P + 1) for each row, (N,), from the number of each block in the table."""
    parts = [part_of(ansatz, block) for block in functionals.blocks]
    return np.concatenate([table[k][part] for k, part in zip(numbers, parts, strict=True)])


def inherited(ansatz: Ansatz, functionals: Functionals, old: IntArray, weights: FloatArray) -> FloatArray:
    """Weights (N,) of rows of which some are old and have theirs: new ones have those of old ones of their kind.

    A kind is a block, and a part of the domain; one without old rows has the weight 1.
    """
    found, known = np.ones(len(functionals)), np.full(len(functionals), np.nan)
    known[old] = weights
    for rows, block in functionals:
        part = part_of(ansatz, block)
        for p in np.unique(part).tolist():
            own = known[rows][part == p]
            if not np.all(np.isnan(own)):
                found[rows][part == p] = np.nanmean(own)
    found[old] = weights
    return found


def part_of(ansatz: Ansatz, block: Block) -> IntArray:
    """The part in which each row of a block is, (n,); P for rows of several parts, or of several points."""
    owned = _owned(ansatz)
    if block.starts is not None:
        return np.full(len(block), len(owned))
    inside = np.stack([block.involves(own) for own in owned])
    return np.where(inside.sum(axis=0) == 1, np.argmax(inside, axis=0), len(owned))


def _owned(ansatz: Ansatz) -> list[tuple[int, ...]]:
    """The functions of each part; all of them are of one, if the domain is not cut."""
    return [ansatz.of_part(p) for p in range(1 if ansatz.parts is None else len(ansatz.parts))]
