"""From the rows of all parts to the map of the whole: least squares on every part, and the tree that glues them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import Kept
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.cells.fluxes import Exchange
from kernop.collocation.cells.mosaic import Mosaic
from kernop.collocation.functionals import Block, Functionals
from kernop.methods.parts.crew import Crew, threads
from kernop.methods.parts.glued import PartsFactorisation
from kernop.methods.parts.gluing import SINGULAR, Glue, glued, unglued
from kernop.methods.parts.leaves import Known, Leaves
from kernop.methods.parts.local import Local
from kernop.methods.parts.placing import Placing
from kernop.methods.parts.space import PartsSpace, by_degree
from kernop.methods.parts.subtrees import Subtrees
from kernop.methods.parts.traces import Trace


def factorised(
    mosaic: Mosaic,
    degrees: NDArray[np.int64],
    functionals: Functionals,
    placing: Placing,
    crossing: Exchange | None,
    ansatz: Ansatz,
    known: Known | None = None,
    crew: Crew = threads,
    counts: Sequence[float] = (),
) -> PartsFactorisation:
    """Least squares on every part, and the tree.

    Arguments:
        degrees: of the polynomials on each part, (P,).
        functionals: all N rows; each block belongs to a condition, or to one component of it.
        placing: which of them each part has, and where they stand; what no part has are integrals.
        crossing: what crosses the seams; None if there is one part alone.
        ansatz: how the unknowns are made of the components of the space.
        known: parts of operators that were learned before; others are added.
        crew: who learns the parts, and merges subtrees of them.
        counts: how much more than others each block of rows counts on its part; empty for alike.
    """
    dim = functionals.dim
    copies = 2 if crossing is not None and crossing.doubled else 1
    width, most = copies * ansatz.width, by_degree(dim, int(np.max(degrees)))
    space = PartsSpace(mosaic=mosaic, degrees=most, uppers=(), ansatz=ansatz, components=width)
    leaves = Leaves(
        space,
        functionals,
        placing,
        degrees=degrees,
        crossing=crossing,
        counts=counts,
    )
    plan, strengths = leaves.planned({} if known is None else known), leaves.strengths
    glue = _glue(mosaic, placing.traces, crossing, copies * len(placing.free))
    alike, shelf = plan.alike(strengths, glue.sums), leaves.shelf(plan)
    times = Counter(alike)
    subtrees = Subtrees(mosaic.cells.root, mosaic.of_cells, glue, [times[kind] == 1 for kind in alike])
    fitted = subtrees.learn({k: leaf for k, (_, leaf) in plan.waiting.items()}, strengths, crew, shelf)
    found = leaves.built(plan, fitted)
    if crossing is None:
        _check_alone(found[0].local)
    bubbly = np.array([own.local.inner is not None for own in found], dtype=np.int64)
    space = replace(space, uppers=tuple(own.local.upper for own in found), bubbly=bubbly)
    integrands = _integrands(space, functionals, placing.free, copies)
    units = np.zeros(glue.count)
    for strength, mine in zip(strengths, glue.owned, strict=True):
        units[mine] = np.maximum(units[mine], strength)

    def outgoing(k: int) -> FloatArray:
        return found[k].local.passed_on(float(strengths[k]), integrands[k])

    subtrees.merge(outgoing, crew, shelf)
    root, condition = glued(mosaic.cells.root, mosaic.of_cells, glue, outgoing, alike, units, subtrees.ready)
    return PartsFactorisation(
        expansion=space,
        regularization=0.0,
        weights=(1.0,) * len(functionals.layouts),
        locals=tuple(own.local for own in found),
        part_rows=placing.part_rows,
        roots=tuple(own.roots for own in found),
        strengths=strengths,
        root=root,
        glue=glue,
        number=len(functionals),
        integrals=placing.free,
        integrands=integrands,
        condition=min(condition, subtrees.worst),
    )


def _integrands(
    space: PartsSpace, functionals: Functionals, numbers: NDArray[np.intp], copies: int
) -> tuple[FloatArray, ...]:
    """What rows that are integrals make of the functions of each part, for each copy, (s, m)."""
    if len(numbers) == 0:
        return tuple(np.zeros((0, len(upper))) for upper in space.uppers)
    rows, shift = functionals.take(numbers), space.components // copies
    twins = [Functionals(tuple(_shifted(b, k * shift) for b in rows.blocks)) for k in range(copies)]
    whole = np.concatenate([space.matrix(own) for own in twins])
    return tuple(np.split(whole, space.starts[1:-1], axis=1))


def _check_alone(own: Local) -> None:
    """Raise if the conditions do not determine u on a part that has no neighbours."""
    size = np.abs(np.diagonal(own.upper))
    if not np.min(size) > SINGULAR * np.max(size):
        raise unglued()


def _shifted(block: Block, shift: int) -> Block:
    """The same functionals of other components."""
    return replace(block, terms=tuple((k + shift, alpha) for k, alpha in block.terms))


_glues: Kept[Mosaic, dict[tuple[int, bool, int], Glue]] = Kept()


def _glue(mosaic: Mosaic, traces: Sequence[Trace], crossing: Exchange | None, sums: int) -> Glue:
    """The numbers of the unknowns: seam after seam, the two sides of each behind each other if each has its own."""
    channels = 0 if crossing is None else len(crossing.incoming[0])
    shared = crossing is None or crossing.shared
    known, key = _glues.of(mosaic, dict[tuple[int, bool, int], Glue]), (channels, shared, sums)
    if key in known:
        return known[key]
    sizes = np.array([channels * len(own) for own in traces], dtype=np.intp)
    starts = np.cumsum([0, *(sizes if shared else 2 * sizes)])
    none, count = np.empty(0, dtype=np.intp), int(starts[-1])
    numbers = [
        [starts[f] + (0 if shared else side * sizes[f]) + np.arange(sizes[f]) for f, side in own]
        for own in mosaic.seams_of_parts
    ]
    partner = None
    if not shared:
        swapped = [start + np.roll(np.arange(2 * n), n) for start, n in zip(starts[:-1], sizes, strict=True)]
        partner = np.concatenate(swapped).astype(np.intp)
    found = Glue(tuple(np.concatenate([none, *own]).astype(np.intp) for own in numbers), count, partner, sums)
    return known.setdefault(key, found)
