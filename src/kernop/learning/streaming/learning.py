"""Learn from a stream: plan, pass, solve."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kernop.basics.errors import ArgumentError, NonFiniteError, SingularGramError, check_memory, fail
from kernop.basics.linalg import EPS, add_triangle
from kernop.basics.progress import Stages, Tick
from kernop.collocation.batches import Batch, Stream
from kernop.collocation.units import Frame
from kernop.kernels import Kernel
from kernop.kernels.base import check_smoothness
from kernop.language.problem import Problem
from kernop.learning.streaming.checkpoint import Checkpoint, Guard
from kernop.learning.streaming.cluster import OnWorkers
from kernop.learning.streaming.operator import Here, Passes, StreamedFactorisation, StreamedOperator, StreamPoints
from kernop.learning.streaming.places import Places
from kernop.learning.streaming.plan import Plan
from kernop.learning.streaming.rows import Input, Rows, balanced, functionals_of
from kernop.methods import Answer, Combination, Setting, Subspace
from kernop.methods.accumulators import Accumulator
from kernop.methods.centres import default_number

#: λ when the user gives none, relative to ‖A‖²: for QR as small as the corrections of later inputs allow, for normal
#: equations at their rounding error.
TINY = {"qr": 1e-14**2, "normal": EPS}


def make_plan(
    problem: Problem,
    stream: Stream,
    method: Subspace,
    frame: Frame,
    kernel: Kernel | None = None,
    weights: tuple[float, ...] | None = None,
    inputs: Sequence[Input] = (),
) -> Plan:
    """Choose the functions, and the weights from a few batches; look at all inputs there."""
    batches = stream.sampled()
    for batch in batches:
        for name, block in zip(batch, functionals_of(problem, batch, method.envelope).blocks, strict=True):
            if kernel is not None:
                check_smoothness(kernel, method.derivatives_needed(block.order), name)
    number = _number(stream) if method.centers is None else 0
    first = batches[0] if method.basis == "translates" else _spread(stream, method.centers or default_number(number))
    expansion = method.expansion(Setting(functionals_of(problem, first, method.envelope), frame, kernel), number)
    count = len(expansion.functionals)
    check_memory("centers", 4 * count**2, f"matrices of {count} × {count}", "use fewer centres")
    unit = Rows(problem, expansion, (1.0,) * len(problem.conditions))
    rows = replace(unit, weights=balanced(unit, batches, stream.sizes(batches)) if weights is None else weights)
    return Plan(rows, stream, method, tuple(inputs), rows.widths(batches, inputs))


def _spread(stream: Stream, number: int) -> Batch:
    """Points for so many representers, from all of the stream."""
    if stream.again:
        return Places(stream).spread(number)
    first = stream.sampled()[0]
    if sum(map(len, first.values())) < number:
        remedy = "use basis='translates', or give arrays or ko.Batches: an iterator shows its first batch only"
        raise fail(ArgumentError, "centers", f"{number} representers, more than the first batch has points", remedy)
    return first


def _number(stream: Stream) -> int:
    counts = stream.counts
    if counts is None:
        remedy = "give Subspace(centers=…): the number of points is not known"
        raise fail(ArgumentError, "points", "an iterator", remedy)
    return sum(counts.values())


def learn_stream(
    plan: Plan,
    regularization: float | None,
    stage: Stages,
    checkpoint: Checkpoint | None = None,
    client: Any = None,
) -> StreamedOperator:
    """Pass over all points, here or on the workers of a Dask client, and solve."""
    workers = OnWorkers(client) if client is not None else None
    _check_spread(plan, workers, checkpoint)
    guard = Guard(checkpoint, plan) if checkpoint is not None else None
    with stage("stream") as tick:
        accumulator = workers.accumulate(plan, tick) if workers is not None else passed(plan, tick, guard)
    with stage("solve"):
        operator = finish(plan, accumulator, regularization, stage.seconds, workers)
    if guard is not None:
        guard.remove()
    return operator


def _check_spread(plan: Plan, workers: OnWorkers | None, checkpoint: Checkpoint | None) -> None:
    if workers is not None and not plan.stream.again:
        remedy = "give arrays or ko.Batches, of which workers can read their parts"
        raise fail(ArgumentError, "points", "an iterator together with a client", remedy)
    if workers is not None and checkpoint is not None:
        remedy = "leave checkpoint out: what a worker loses is computed again by others"
        raise fail(ArgumentError, "checkpoint", "one together with a client", remedy)


def passed(plan: Plan, tick: Tick | None = None, guard: Guard | None = None) -> Accumulator:
    """One pass over all points in this process, from the last checkpoint on if there is one."""
    accumulator, batches = plan.accumulator(), iter(plan.stream)
    first = guard.resume(accumulator, batches) if guard is not None else 0
    rows, started = accumulator.rows, time.perf_counter()
    for done, batch in enumerate(batches, start=first + 1):
        plan.add(accumulator, batch)
        if guard is not None:
            guard.offer(accumulator, batch)
        if tick is not None:
            rate = (accumulator.rows - rows) / (time.perf_counter() - started)
            tick(done / (plan.stream.number or np.inf), f"{accumulator.rows} rows, {rate:.3g} per second")
    return accumulator


def finish(
    plan: Plan,
    accumulator: Accumulator,
    regularization: float | None,
    stats: Mapping[str, float],
    passes: Passes | None = None,
) -> StreamedOperator:
    """The operator, from what was kept of all points."""
    method, square = plan.method, accumulator.square
    if not np.isfinite(square):
        got = f"{plan.rows.expansion.kernel!r} with derivatives that are not finite"
        raise fail(NonFiniteError, "kernel", got, "use another, such as ko.Gaussian")
    tiny = TINY[method.solver] * square
    # Below that the corrections of later inputs would diverge; normal equations say themselves that they are singular.
    given = tiny if regularization is None else regularization
    chosen = max(given, tiny) if method.solver == "qr" else given
    penalty = method.penalty_root(plan.rows.expansion, chosen, accumulator.rows)
    if isinstance(penalty, np.ndarray) and method.solver == "qr":
        # The norm of the kernel may leave some coefficients free, all but for rounding.
        penalty = np.asfortranarray(penalty)
        add_triangle(penalty, np.asfortranarray(np.sqrt(tiny) * np.eye(len(penalty))))
    solved = accumulator.solve(penalty)
    if solved.failed:
        got = f"{chosen:g}, with which the least-squares problem has no unique solution (row {solved.failed})"
        raise fail(SingularGramError, "regularization", got, "give a larger λ, more points, or solver='qr'")
    noise = (accumulator.rows if method.penalty == "rkhs" else 1) * (regularization or 0.0)
    factorisation = StreamedFactorisation(
        plan.rows.expansion, chosen, plan.rows.weights, noise, plan, solved.upper, penalty, passes or Here()
    )
    operator = StreamedOperator(
        plan.rows.problem, StreamPoints(plan.stream), method, factorisation, stats, rows=accumulator.rows
    )
    found = Answer(Combination(plan.rows.expansion, solved.y, solved.upper), solved.residual, solved.size)
    return operator.with_solutions(found, plan.widths, plan.inputs)
