"""Slabs of time one after the other: an operator that was learned on one of them, applied again and again."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.checks import check_integer, check_memory
from kernop.basics.errors import AccuracyWarning, ArgumentError, FloatArray, fail
from kernop.basics.frozen import frozen
from kernop.basics.progress import Stages
from kernop.collocation.slabs import (
    NAME,
    Slab,
    by_slab,
    check_determined,
    check_repeatable,
    data_of_slabs,
    slab_of,
)
from kernop.geometry import Points
from kernop.language.conditions import Condition
from kernop.methods import Answer
from kernop.methods.glued import PartsFactorisation
from kernop.methods.repeated import Repetition
from kernop.methods.walking import Walk
from kernop.operators.marched import MarchedSolution
from kernop.operators.shapes import values_of
from kernop.operators.solution import Solution
from kernop.trust.estimates import Learned
from kernop.trust.estimates.chain import own_step

#: A map whose spectral radius makes this of an error in all steps together is said to grow.
GROWTH = 10.0
#: A map of more numbers than these from slab to slab is not written down as a matrix, if it is made of parts.
LARGE = 1000


@dataclass(frozen=True, eq=False)
class Handed:
    """What a solution hands on: P u(x, t1) for x at the beginning of the next slab, P the operator of a condition."""

    slab: Slab
    condition: Condition
    before: Solution

    def __call__(self, x: Any) -> Any:
        """Its values at x (n, d), whatever their time: (n,), or as the data of the condition are."""
        places = np.asarray(x, dtype=np.float64)
        points = Points(places, self.condition.on.normals(places), True)
        rows = self.slab.at_end(self.condition, points, self.before.ansatz)
        return values_of(
            self.before.function.apply(rows), rows.layouts[0], single=self.before.single, paired=self.before.paired
        )


def march(learned: Learned, steps: object, given: Mapping[str, Any]) -> MarchedSolution:
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
        answer = learned.factorisation.answer_again(data, 0.0)  # as T has it, where there is one slab
    _warn_of_growth(repetition)
    slabs = _slabs(learned, slab, inputs, data, answer, single, paired)
    residual, sizes = (
        _moduli(values.reshape(number, -1), paired).max(axis=0) for values in (answer.residual, answer.size)
    )
    return MarchedSolution(
        problem=learned.problem,
        slabs=slabs,
        slab=slab,
        repetition=repetition,
        given=given,
        learned=learned,
        data=data,
        function=answer.u,
        left=np.divide(residual, sizes, out=np.zeros_like(sizes), where=sizes > 0.0),
        sizes=sizes,
        single=single,
        paired=paired,
    )


def _repetition(learned: Learned, slab: Slab, steps: int) -> Repetition | Walk:
    """The map that is repeated, as a matrix; or, for many parts, as their answers."""
    rows = slab.rows(learned.collocated)
    if len(rows) <= LARGE or not isinstance(learned.factorisation, PartsFactorisation):
        return own_step(learned, slab).over(steps)
    return Walk(learned.factorisation, rows, slab.handed(learned.points, learned.ansatz), steps)


def _moduli(values: FloatArray, paired: bool) -> FloatArray:
    return np.hypot(*np.split(values, 2, axis=1)) if paired else values


def _slabs(
    learned: Learned,
    slab: Slab,
    inputs: Sequence[Mapping[str, Any]],
    data: FloatArray,
    answer: Answer,
    single: bool,
    paired: bool,
) -> tuple[Solution, ...]:
    """The solution of each slab; those after the first know what the one before handed on."""
    width = data.shape[1] // len(inputs)
    found: list[Solution] = []
    for k, own in enumerate(inputs):
        columns = slice(k * width, (k + 1) * width)
        part = answer.column(columns)
        known = part.paired() if paired else part
        handed = {} if k == 0 else {c.name: _handed(slab, c, learned, found[-1]) for c in slab.conditions}
        found.append(
            Solution(
                problem=learned.problem,
                function=part.u,
                single=single,
                learned=learned,
                data=data[:, columns],
                inputs={**own, **handed},
                left=known.misfit,
                sizes=known.size,
                paired=paired,
            )
        )
    return tuple(found)


def _handed(slab: Slab, condition: Condition, learned: Learned, before: Solution) -> Any:
    """What a condition at the beginning of a slab gets from the solution before: a function, or one value."""
    if not condition.integral:
        return Handed(slab, condition, before)
    rows = slab.at_end(condition, learned.points[condition.name], learned.ansatz)
    return values_of(before.function.apply(rows), rows.layouts[0], single=before.single, paired=before.paired)


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
