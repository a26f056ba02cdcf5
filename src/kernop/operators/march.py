"""Slabs of time one after the other: an operator that was learned on one of them, applied again and again."""

from __future__ import annotations

import warnings

from kernop.basics.checks import check_integer, check_memory
from kernop.basics.errors import AccuracyWarning, ArgumentError, fail
from kernop.basics.frozen import frozen
from kernop.basics.progress import Stages
from kernop.collocation.data import Input
from kernop.collocation.rows import Columns
from kernop.collocation.slabs import (
    NAME,
    Slab,
    by_slab,
    check_determined,
    check_repeatable,
    data_of_slabs,
    slab_of,
)
from kernop.methods.partition import PartsFactorisation
from kernop.methods.repeated import Repetition
from kernop.methods.walking import Walk
from kernop.operators.marched import MarchedSolution
from kernop.trust.estimates import Learned
from kernop.trust.estimates.chain import own_step

#: A map whose spectral radius makes this of an error in all steps together is said to grow.
GROWTH = 10.0
#: A map of more numbers than these from slab to slab is not written down as a matrix, if it is made of parts.
LARGE = 1000


def march(learned: Learned, steps: object, given: Input) -> MarchedSolution:
    """The solution over ``steps`` slabs for inputs by name; see ``SolutionOperator.march``."""
    number = check_integer("steps", steps, least=1)
    if learned.factorisation.rows is not None:
        got = "an operator that was learned from a stream, which passes over its points for every slab"
        raise fail(ArgumentError, NAME, got, "use T.materialize().march(…), which holds them")
    slab = slab_of(learned.problem)
    check_determined(slab, learned.collocated)
    if number > 1:
        check_repeatable(slab, learned.points, learned.ansatz, number)
    inputs = by_slab(slab, given, learned.points, learned.named_layouts, number)
    size = 3 * number * len(learned.collocated)
    check_memory("steps", size, f"data of {number} slabs", "march fewer, and begin again from where they end")
    with Stages(None) as stage, stage("march") as tick:
        tick(0.05, "data of all slabs")
        known, single, paired = data_of_slabs(slab, inputs, learned.points, learned.layouts)
        tick(0.3, "the map of one slab")
        repetition = _repetition(learned, slab, number)
        tick(0.6, f"{number} slabs")
        data = frozen(repetition.march(known)[0].reshape(len(known), -1))
        tick(0.9, "solutions")
        columns = Columns(None if single else known.shape[2] // (2 if paired else 1), paired)
        found = MarchedSolution.of(learned, slab, repetition, given, data, columns=columns)
    _warn_of_growth(repetition)
    return found


def _repetition(learned: Learned, slab: Slab, steps: int) -> Repetition | Walk:
    """The map that is repeated, as a matrix; or, for many parts, as their answers."""
    rows = slab.rows(learned.collocated)
    if len(rows) <= LARGE or not isinstance(learned.factorisation, PartsFactorisation):
        return own_step(learned, slab).over(steps)
    return Walk(learned.factorisation, rows, slab.handed(learned.points, learned.ansatz), steps)


def _warn_of_growth(repetition: Repetition | Walk) -> None:
    """Say so if the repeated map lets errors grow."""
    if repetition.steps > 1 and repetition.radius**repetition.steps > GROWTH:
        total = repetition.radius**repetition.steps
        warnings.warn(
            f"T.march: what a slab hands on grows {repetition.radius:.4g} times in each (the spectral radius of its "
            f"map), {total:.1e} times in {repetition.steps} slabs, and so do errors: of the equation, if its "
            "solutions grow; else of a space that does not resolve it. Ask u.error_estimate()",
            AccuracyWarning,
            stacklevel=4,
        )
