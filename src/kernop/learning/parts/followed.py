"""Solutions by which operators made of parts are measured: how wrong they are, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, BoolArray, FloatArray, fail
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.cells.contacts import held_by
from kernop.collocation.cells.crossings import strength
from kernop.collocation.cells.grading import least_error
from kernop.collocation.cells.pieces import Pieces
from kernop.collocation.cells.singularities import jumping
from kernop.collocation.data import inputs_in_advance
from kernop.collocation.sampling import interior
from kernop.geometry.edges import made_of_boxes
from kernop.language.ops import itself
from kernop.language.problem import Problem
from kernop.learning.heldout import OnProbes, plain_data
from kernop.learning.parts.degrees import slopes
from kernop.learning.parts.plan import Plan, rings
from kernop.learning.parts.unseen import missed_between
from kernop.learning.task import Task
from kernop.methods import Answer
from kernop.methods.parts.glued import PartsFactorisation
from kernop.methods.parts.partition import Partition
from kernop.methods.parts.space import PartsSpace
from kernop.operators.operator import SolutionOperator
from kernop.trust.estimates.partwise import bending, errors_by_parts

#: Points inside at which solutions of two levels are compared, and by which their sizes are seen.
INSIDE, FEW = 600, 200
#: Constant data of which more than this is left by balance alone contradict each other, and are not followed; nor are,
#: beside such, those of which more than this part of it is left: small parts take what is left for little.
CONTRADICT, BESIDE_THESE = 1e-2, 1e-3
#: What grading leaves of an error, as a part of what it aims at; what a part leaves of the balance of its fluxes, in
#: units of what its coefficients make of u: on a line, where faces are points, measured for layers with contrasts of
#: 10² to 10¹², and elsewhere for a disk in a uniform field with contrasts of 10³ and 10⁶.
GRADED, LEAK = 0.1, (1e-15, 1e-10)
#: An unknown counts as zero if it is less than this part of what is natural beside others.
VANISHING = 1e-3


def space_on_parts(operator: SolutionOperator) -> PartsSpace:
    """The space of an operator made of parts."""
    space = operator.factorisation.expansion
    assert isinstance(space, PartsSpace)
    return space


@dataclass(kw_only=True, frozen=True)
class Seen:
    """What is seen of an operator: how wrong it is on known solutions, and others inside, (n, B), with the size of each
    unknown of each solution there, (n, B); and on each part, (P,), with the decay of the solution that is most wrong
    there, (P,). In ``rough`` parts data of inputs jump, (P,).
    """

    error: float
    measured: str
    misfit: float
    values: FloatArray
    sizes: FloatArray
    wrong: FloatArray
    slope: FloatArray
    rough: BoolArray


class Followed:
    """Solutions by which operators are measured: those of inputs, or probes and constant data."""

    def __init__(self, task: Task, pieces: Pieces, inputs: Sequence[Any] | None) -> None:
        self._task, self._pieces, self._jumps = task, pieces, pieces.parts is not None
        self._known = inputs_in_advance(task.problem, inputs) if inputs is not None else None
        self._x = interior(task.problem, INSIDE, task.seed + 1).x
        count = len(self._known) if self._known is not None else 0
        self._plain = plain_data(task.problem, task.frame, jumps=self._jumps)
        self.names = tuple(f"input {k}" for k in range(count)) or tuple(self._plain)
        if self._jumps and not self.names:
            got = "none, where nothing but the first time has data: 1 there does not fit the walls"
            raise fail(ArgumentError, "inputs", got, "give some that do, or Partition(cells=…) without tol")
        self.cut = pieces.dim == 2 and any(not made_of_boxes(own) for own in jumping(pieces))
        self._fresh = self._known is None
        self.fluxes = flux_error(task.problem, pieces, self._x)

    def __call__(self, operator: SolutionOperator) -> Seen:
        if self._fresh:
            self.names, self._fresh = self._without_contradictions(operator), False
        answers = operator.answers(self._known or [self._plain[name] for name in self.names])
        scales = _scales(operator.ansatz)
        values, sizes = np.dstack([flat(u(self._x), scales) for u in answers] or [np.empty((2, 0, 0))])
        misfit = max((float(np.max(u.misfits)) for u in answers if u.misfits is not None), default=0.0)
        error, measured, rough = 0.0, "", np.zeros(len(space_on_parts(operator).uppers), dtype=bool)
        if self._known is not None or self._jumps:
            h = np.hstack([u.data for u in answers if u.data is not None])
            found = missed_between(operator, answers) if self._known is not None else None
            rough = rough if found is None else found.rough
            between = None if found is None else found.wrong
            wrong, slope = _relative_by_parts(operator, h, operator.factorisation.answer(h), between=between)
        else:
            probes = OnProbes(
                self._task.problem, self._task.frame, self._task.seed, operator.ansatz, operator.collocated
            )
            h = probes.data(operator)
            answer = operator.factorisation.answer(h)
            left_out = np.array([name not in self.names for name in probes.unknown], dtype=bool)
            known = np.zeros(h.shape[1] - len(left_out), dtype=bool)
            wrong, slope = _relative_by_parts(operator, h, answer, np.append(known, left_out))
            error, measured = probes.judged(answer).error, probes.known
        return Seen(
            error=error,
            measured=measured,
            misfit=misfit,
            values=values,
            sizes=sizes,
            wrong=wrong,
            slope=slope,
            rough=rough,
        )

    def graded(self, plan: Plan, method: Partition) -> float:
        """What grading leaves of errors, about, where its depth is limited: from level to level it does not change."""
        deepest = least_error(self._task.problem, self._pieces) if method.levels is None else 0.0
        return max(deepest, GRADED * plan.target) if deepest > 0.0 else 0.0

    def _without_contradictions(self, operator: SolutionOperator) -> tuple[str, ...]:
        """Constant data that have a solution: where slopes alone are given, a source of 1 has none."""
        found = operator.factorisation
        assert isinstance(found, PartsFactorisation)
        if len(found.integrals) == 0:
            return self.names
        answers = operator.answers([self._plain[name] for name in self.names])
        h = np.hstack([u.data for u in answers if u.data is not None])
        left = found.imbalance(h)
        least = CONTRADICT if np.max(left) < CONTRADICT else min(CONTRADICT, BESIDE_THESE * float(np.max(left)))
        fit = tuple(name for name, part in zip(self.names, left, strict=True) if part < least)
        return self.names if self._jumps and not fit else fit


def bent_parts(operator: SolutionOperator) -> BoolArray:
    """Parts in the plane in which coefficients are not smooth, (P,); on a line cells are cut there."""
    found, plane = operator.factorisation, operator.problem.dim == 2 and not operator.problem.timed
    assert isinstance(found, PartsFactorisation)
    return bending(found, operator.collocated) if plane else np.zeros(len(found.locals), dtype=bool)


def flux_error(problem: Problem, pieces: Pieces, x: FloatArray) -> float:
    """What is left of errors, about, where coefficients jump: fluxes out of a part are not quite in balance.

    In a conductor on which no value is given u is nearly a constant, which the sum of small fluxes around it tells, or
    those through a crossing of jumps at which it meets another; those of its own parts are wrong by a small part of
    what large coefficients make of u.

    Arguments:
        x: places all over the domain, (n, d).
    """
    if pieces.parts is None or problem.unknowns.total > 1:
        return 0.0
    a, which, grounded = strength(problem, x[:, : pieces.dim]), pieces.which(x), np.zeros(len(pieces), dtype=bool)
    for condition in problem.conditions:
        if condition.op is itself and not condition.integral:
            grounded[pieces.which(condition.on.sample(INSIDE).x)] = True
    held = held_by(problem, pieces, grounded, float(np.min(a)))
    return LEAK[pieces.dim > 1] * float(np.max((a / held[which])[~grounded[which]], initial=0.0))


def _relative_by_parts(
    operator: SolutionOperator,
    h: FloatArray,
    answer: Answer,
    left_out: NDArray[np.bool_] | None = None,
    between: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """The largest error of a solution on each part, about, relative to the solution: (P,); 0 beside singularities.
    And how fast that solution decays there with the degree, (P,).

    Arguments:
        left_out: solutions that do not count, (B,).
        between: what they are wrong by at other points than those of the parts, (P, B).
    """
    wrong = errors_by_parts(operator.factorisation, operator.collocated, answer.u, h)
    assert wrong is not None
    if between is not None:
        np.maximum(wrong, between, out=wrong)
    mosaic = space_on_parts(operator).mosaic
    wrong[(mosaic.singular > 0) | np.isin(mosaic.owners[:, 0], rings(mosaic))] = 0.0
    x = interior(operator.problem, FEW, 0).x
    size = np.max(np.abs(answer.u.apply(operator.ansatz.evaluations(x))), axis=0)
    size = np.where(size > 0.0, size, np.inf)
    wrong /= size if left_out is None else np.where(left_out, np.inf, size)
    which = np.argmax(wrong, axis=1)[:, None]
    decay = slopes(space_on_parts(operator), answer.u.y)
    return np.take_along_axis(wrong, which, axis=1)[:, 0], np.take_along_axis(decay, which, axis=1)[:, 0]


def flat(values: Any, scales: Sequence[float]) -> FloatArray:
    """The values of all unknowns at all places, in one column, and the unit of each: its largest value, (2, n, 1).

    Where one vanishes, as the pressure of a uniform flow, rounding would be all of it: the unit is no less than a part
    of what is natural beside the others, whose scales are these.
    """
    fields = [np.ravel(field) for field in (values if isinstance(values, tuple) else (values,))]
    sizes = np.array([np.max(np.abs(field)) for field in fields])
    natural = np.max(sizes / scales) * np.asarray(scales)
    units = np.maximum(sizes, VANISHING * natural)
    each = [np.full(len(field), unit or 1.0) for field, unit in zip(fields, units, strict=True)]
    return np.stack([np.concatenate(fields), np.concatenate(each)])[:, :, None]


def _scales(ansatz: Ansatz) -> list[float]:
    """The natural scale of each unknown."""
    return [ansatz.scales[own.start] if ansatz.scales else 1.0 for own in ansatz.unknowns.slices.values()]
