"""How parts are glued: by the first way whose equations on faces are well conditioned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import SingularGramError
from kernop.basics.progress import Tick
from kernop.basics.shelf import Shelf
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.cells.elliptic import Kind, kind_of
from kernop.collocation.cells.fluxes import Gluing, exchange
from kernop.collocation.cells.mosaic import Mosaic
from kernop.collocation.functionals import Functionals
from kernop.language.problem import Problem
from kernop.methods.parts.assembled import factorised
from kernop.methods.parts.crew import Crew, threads
from kernop.methods.parts.glued import PartsFactorisation
from kernop.methods.parts.gluing import unglued
from kernop.methods.parts.leaves import Known
from kernop.methods.parts.partition import Partition
from kernop.methods.parts.placing import Placing, placing_of

#: Gluing by values, and by mixed traces, is taken if its worst reciprocal condition number is above this …
GOOD = {"values": 1e-7, "robin": 1e-10, "impedance": 1e-10, "conjugate": 1e-10}
#: … else others are tried; the best of them is refused if its own is below this.
BAD = 1e-12
#: Equations in space and time count so much more than what is given at the first time and on faces. Where they count
#: alike, least squares follows what cannot be a solution, and what a slab of time hands on may grow.
EVOLVING = 10.0


def ways(problem: Problem, method: Partition, singular: bool) -> tuple[Gluing, ...]:
    """The ways of gluing to try, in order.

    One unknown that is smooth: values, unless a part, or a group of them, is near a resonance. Several, and plates:
    mixed traces, for which bodies that hardly change their volume are as good as others, and pressures are determined
    in each part. Where u is singular mixed traces too: what is wrong at a singularity fades away from part to part as
    it should, while values that do not fit those of the boundary at the end of a seam are carried far.
    """
    if method.gluing is not None:
        return ("impedance", "conjugate") if method.gluing == "impedance" else (method.gluing,)
    kind = kind_of(problem)
    assert isinstance(kind, Kind)
    plain = kind.order == 2 and len(kind.traced) == 1 and not kind.pressures
    if plain and singular:
        return ("robin", "values", "impedance", "conjugate")
    first: tuple[Gluing, ...] = ("values",) if plain else ()
    return (*first, "robin", "impedance", "conjugate")


def glued_operator(
    problem: Problem,
    placed: Mosaic,
    degrees: NDArray[np.int64],
    method: Partition,
    rows: Functionals,
    ansatz: Ansatz,
    known: Known | None = None,
    crew: Crew = threads,
) -> PartsFactorisation:
    """The map from data to u, with parts glued by the first good way, or else the best one.

    Where coefficients jump, by factors of any size, a large condition number says nothing against values.

    Arguments:
        degrees: of the polynomials on each part, (P,).
        known: parts that were learned before; others are added.
        crew: who learns the parts, and merges subtrees of them.
    """
    placing, counts = _placed(problem, placed, rows)
    if not placed.seams:
        return factorised(placed, degrees, rows, placing, None, ansatz, known, crew, counts)
    best = None
    for way in ways(problem, method, bool(np.any(placed.singular))):
        try:
            crossing = exchange(problem, placed, ansatz, way)
            found = factorised(placed, degrees, rows, placing, crossing, ansatz, known, crew, counts)
        except SingularGramError:
            continue
        if found.condition > (GOOD[way] if placed.pieces.parts is None else BAD):
            return found
        best = found if best is None or found.condition > best.condition else best
    if best is None or best.condition < BAD:
        raise unglued()
    return best


def watched(crew: Crew, tick: Tick) -> Crew:
    """A crew that tells how far it is: it learns the parts first, which is most of the work, then joins others.

    The workers of a cluster are given all at once, and tell nothing.
    """
    if crew is not threads:
        return crew
    begun, lock = 0.0, Lock()

    def work(
        job: Callable[[Any], Iterator[Any]], items: Sequence[Any], numbers: float = inf, shelf: Shelf | None = None, /
    ) -> list[list[Any]]:
        nonlocal begun
        done = 0

        def told(item: Any) -> Iterator[Any]:
            nonlocal done
            yield from job(item)
            with lock:
                done += 1
                tick(begun + 0.5 * (1.0 - begun) * done / len(items), f"{done} of {len(items)}")

        found = crew(told, items, numbers, shelf)
        begun += 0.5 * (1.0 - begun)
        return found

    return work


def _placed(problem: Problem, mosaic: Mosaic, rows: Functionals) -> tuple[Placing, tuple[float, ...]]:
    """Where the rows stand, and how much more each block of them counts: equations in space and time do."""
    names = [name for name in problem.names if name in mosaic.points]
    names = [name for name, own in zip(names, rows.conditions, strict=True) for _ in own.blocks]
    inner = [problem[name].on.intrinsic_dim == problem.dim for name in names]
    counts = tuple(EVOLVING if own else 1.0 for own in inner) if problem.timed else ()
    return placing_of(mosaic, rows, inner, names), counts
