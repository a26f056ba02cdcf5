"""learn: from a problem to its solution operator. The story, in order."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kernop.basics.checks import check_integer, check_kind, check_number
from kernop.basics.errors import (
    AccuracyWarning,
    ArgumentError,
    IllPosedWarning,
    JumpWarning,
    KernopError,
    describe,
    fail,
)
from kernop.basics.linalg import one_thread
from kernop.basics.progress import Stages
from kernop.collocation.data import Input, inputs_in_advance
from kernop.collocation.sampling import sample
from kernop.collocation.scales import condition_sizes, fitted
from kernop.collocation.squeezed import squeezed
from kernop.collocation.units import Frame, frame_of
from kernop.kernels import CustomKernel, Kernel
from kernop.language.functions import Function
from kernop.language.ops import reading_once
from kernop.language.problem import Problem
from kernop.learning.fewer import missed
from kernop.learning.fixed_data import inputs_to_measure
from kernop.learning.growing import grown
from kernop.learning.parts.choosing import better, in_parts_at_once, in_parts_if_better, one_space_may_do
from kernop.learning.parts.partitioned import partitioned
from kernop.learning.refine import Report, ToleranceWarning
from kernop.learning.streaming import OnWorkers, Passes, read_checkpoint
from kernop.learning.task import Task, diagnosed
from kernop.methods import Method, Partition, Subspace
from kernop.methods.base import envelope_of
from kernop.methods.weights import Noise, read_noise, read_weights, states_noise
from kernop.operators.operator import SolutionOperator
from kernop.operators.solution import check_unknowns
from kernop.trust.diagnosis import Diagnosis
from kernop.trust.resolution import between_functions, open_jumps, unlike_sides, with_interfaces

#: Points by which the sizes of conditions are compared.
FEW = 200
#: A solution that is followed, and has an estimated error above this, is warned of where no tolerance is asked for.
COARSE = 1e-3
#: A known solution that is missed by more than this, of whose data more than this is left, is warned of, too.
HOPELESS, LEFT = 0.5, 0.1
#: What smooth functions do not follow of a coefficient, as a part of u, for which solutions are looked at.
#: On a line they make three times as much of it, in the plane a tenth.
FELT = (5e-4, 5e-3)


def learn(
    problem: Problem,
    *,
    tol: float | None = None,
    kernel: Kernel | Any = None,
    points: Any = None,
    sampling: str = "halton",
    regularization: float | None = None,
    weights: str | Mapping[str, float] | None = None,
    noise: float | Mapping[str, float] | None = None,
    method: Method | None = None,
    seed: int = 0,
    progress: bool | None = None,
    inputs: Sequence[Any] | None = None,
    budget: int = 3000,
    checkpoint: Any = None,
    client: Any = None,
) -> SolutionOperator:
    """Learn the solution operator T: data ↦ u of a linear PDE, from the equation alone.

    Arguments:
        problem: the conditions P_k u = h_k.
        tol: add functions (and points, unless they are given) until the error on known solutions, at places that were
            not used, meets ``tol``; a warning says if it does not. None takes a number of functions that is enough for
            most problems, and tries others if that error is above 1e-6. ``T.report`` tells what was tried and reached.
        kernel: a `Kernel`, or a function K(x, y) of two points; None lets the method choose.
        points: how many points in all, or for each condition by name, or the `Points` themselves by name. With
            ``Subspace(batch=…)`` also arrays on disk by name, `Batches`, or an iterator of batches.
        sampling: "halton", "uniform" (independent; the paper's) or "grid".
        regularization: λ ≥ 0; None lets the method choose (next to nothing).
        weights: of the conditions: "unit", "balanced" (they count alike, whatever their scale), or numbers by name.
        noise: the standard deviation of the errors in the data, for all conditions or for each by name. It stands for
            λ and weights with λN / w_k = σ_k² (`Subspace`: λ / w_k unless its penalty is "rkhs"), and makes the bands
            of `std` absolute: the prior is then that of the kernel, with its scale. Conditions that state their own,
            ``Sensors(…, noise=σ)``, are left out; without this argument all others are exact beside them.
        method: `Subspace`, `Full`, `LowRank` or `Partition`; None takes `Subspace`, and `Partition` where no smooth
            space is good (at re-entrant corners, changes of the kind of condition, crossings of jumps), where one space
            misses a tolerance, or where it does not resolve the inputs; but one space if ``points``, ``kernel``,
            ``regularization``, ``weights`` or ``noise`` is given. Where conditions state their noise, the default is
            ``Subspace(penalty="rkhs")``, whose prior is that of the kernel.
        seed: of the points.
        progress: show a progress bar (True) or none (False); None shows one after two seconds, on a terminal and in a
            notebook.
        inputs: inputs to measure by, each a tuple in the order of T or a dictionary, of functions and
            numbers: how finely axes are resolved, and where functions are narrow, is chosen for them. None measures
            by smooth random fields of several length scales; by the data themselves, if all are fixed in the problem
            and vary; and by fixed data too that are not resolved otherwise. For ``Subspace(batch=…)``: inputs that are
            solved in the same pass over the points, for ``T.solutions``.
        budget: at most so many functions; at most so many parts, each with its own functions, where one space for the
            whole domain cannot meet a tolerance.
        checkpoint: for ``Subspace(batch=…)``: a path, or a `Checkpoint`, from which a pass goes on if it was killed.
        client: a Dask client, over whose workers the batches of ``Subspace(batch=…)`` are spread, or the parts of
            `Partition`, and those to which ``tol=`` or ``inputs=`` without a method may come.
    """
    check_kind("problem", problem, Problem, "give a Problem(Equation(...), Dirichlet(...), ...)")
    check_kind("method", method, Method | None, "give a method, such as ko.Full()")
    check_unknowns(problem.unknowns)
    with one_thread, reading_once(), Stages(progress) as stage:
        stated_as, problem = problem, with_interfaces(problem)
        chosen = method or (Subspace(penalty="rkhs") if states_noise(problem) else Subspace())
        task = _task(problem, chosen, kernel, regularization, weights, noise, sampling, seed)
        free = method is None and points is None and weights is None and task.open(chosen)  # to take parts
        measured = inputs_to_measure(problem, inputs)
        parts_perhaps = isinstance(chosen, Partition) or (free and (tol is not None or measured is not None))
        if client is not None and parts_perhaps:
            task, client = replace(task, crew=OnWorkers(client)), None
        passes, stated_task = _passes(chosen, checkpoint, client), replace(task, problem=stated_as)

        def in_parts(operator: SolutionOperator, by: Sequence[Any] | None) -> SolutionOperator:
            asked = free and (tol is not None or by is not None)
            return in_parts_if_better(stated_task, operator, by, budget, stage) if asked else operator

        if isinstance(chosen, Partition):
            _check_alone(points, kernel, regularization, noise, weights)
            return _examined(partitioned(stated_task, chosen, tol, measured, budget, stage), task, stage)
        parts = in_parts_at_once(stated_task, tol, measured, budget, stage) if free else None
        if parts is not None and not one_space_may_do(parts):
            return _examined(parts, task, stage)
        if parts is None:
            _warn_of_jumps(problem)
            _warn_of_thin(problem)
        if tol is None and not task.open(chosen):
            known = () if inputs is None or passes is None else inputs_in_advance(problem, inputs)
            return _once(task, chosen, points, stage, known, passes)
        if parts is None:
            found = grown(task, chosen, points, tol, measured, budget, stage, in_parts)
        else:
            found = better(parts, grown(task, chosen, points, tol, measured, budget, stage, lambda own, _: own))
        if not isinstance(found.method, Partition):
            _warn_between_functions(found, task.frame)
        return _examined(found, task, stage, by_default=free and not problem.timed)


def _task(
    problem: Problem,
    method: Method,
    kernel: Any,
    regularization: Any,
    weights: Any,
    noise: Any,
    sampling: str,
    seed: Any,
) -> Task:
    """What does not depend on how many functions there are."""
    stated = None
    if noise is not None or states_noise(problem):
        stated = _stated(noise, problem, regularization, weights, seed, envelope_of(method))
    weighing = method.default_weights if weights is None else weights
    return Task(
        problem=problem,
        kernel=_kernel(kernel, problem.dim),
        regularization=None if regularization is None else check_number("regularization", regularization, least=0.0),
        weights=stated.weights if stated else read_weights(weighing, problem),
        noise=stated,
        frame=frame_of(problem),
        sampling=sampling,
        seed=check_integer("seed", seed, least=0),
    )


def _examined(operator: SolutionOperator, task: Task, stage: Stages, *, by_default: bool = False) -> SolutionOperator:
    """The operator with what is doubtful whatever the data, which is said to the caller of `learn`."""
    with stage("examine"):
        if isinstance(operator.method, Partition):
            found = diagnosed(task, operator)
        else:
            found = replace(operator.diagnosis, stability=task.stability(operator.collocated, operator.ansatz))
    _warn(found, operator.report, level=4, prior=states_noise(task.problem), by_default=by_default)
    return replace(operator, diagnosis=found)


def _check_alone(points: Any, kernel: Any, regularization: Any, noise: Any, weights: Any) -> None:
    """Raise if something is given that an operator made of parts has no use for."""
    given = {"points": points, "kernel": kernel, "regularization": regularization, "noise": noise, "weights": weights}
    for name, value in given.items():
        if value is not None:
            remedy = "leave it out: a Partition chooses its points, has polynomials and no prior"
            raise fail(ArgumentError, name, f"{describe(value)} with method=ko.Partition(…)", remedy)


def _once(
    task: Task, method: Method, points: Any, stage: Stages, known: Sequence[Input], passes: Passes | None
) -> SolutionOperator:
    """Points are sampled, the conditions collocated there, what is doubtful is said, and the rows are factorised.

    Arguments:
        known: inputs that are known in advance, and …
        passes: … who passes over the points, if they come in batches.
    """
    with stage("sample"):
        placed = task.placed(method, points)
    with stage("collocate"):
        ansatz, rows = task.rows(method, placed, known)
    with stage("examine"):
        found = task.examined(placed, rows, ansatz)
    _warn(found, None, level=4, prior=states_noise(task.problem))  # a pass over batches may take days
    return task.factorised(method, placed, rows, ansatz, found, stage, passes)


def _passes(method: Method, checkpoint: Any, client: Any) -> Passes | None:
    """Who passes over points that come in batches; None for a method that takes all of them at once."""
    if method.batch is not None:
        return Passes(client, read_checkpoint(checkpoint))
    for name, value in (("checkpoint", checkpoint), ("client", client)):
        if value is not None:
            remedy = "use method=ko.Subspace(batch=2000)" + (", or ko.Partition()" if name == "client" else "")
            raise fail(ArgumentError, name, f"one with {method!r}", remedy)
    return None


def _warn(found: Diagnosis, report: Report | None, level: int, prior: bool, by_default: bool = False) -> None:
    """Say what is doubtful, to the caller of `learn`, so many calls above this one.

    What the conditions do not see is no news where sensors were stated, and a prior, whose band tells it.

    Arguments:
        by_default: was it left to us how to meet a tolerance? Then it is said if constant data miss it. (In space and
            time they do not fit each other at the first moment.)
    """
    ill_posed = found.stability is not None and found.stability.ill_posed and not prior
    if ill_posed:
        warnings.warn(str(found.stability), IllPosedWarning, stacklevel=level)
    if found.roughness is not None and found.roughness.unresolved:
        text = f"{found.roughness}; give more points and centres, or smooth it"
        warnings.warn(text, AccuracyWarning, stacklevel=level)
    if report is not None and report.asked and not report.met:
        warnings.warn(str(report), ToleranceWarning, stacklevel=level)
    if report is not None and report.asked and report.met and report.missed and by_default:
        text = (
            "data that are constant, or a wave, miss what smooth solutions meet, as at corners, in layers or at jumps"
        )
        warnings.warn(f"{text}: {report}", ToleranceWarning, stacklevel=level)
    poor = {} if report is None or report.asked else report.poorly(COARSE)
    if poor:
        missed = ", ".join(f"{name} by about {e:.0e}" for name, e in poor.items())
        text = f"solutions are missed: {missed}, relative; give tol=…, and a larger budget= if that is not met"
        warnings.warn(text, AccuracyWarning, stacklevel=level)
    if report is not None and not ill_posed and _hopeless(report):
        text = (
            f"known solutions are missed altogether, and leave up to {100 * report.best.misfit:.0f} % of their data "
            f"({report.measured}): the space does not resolve the waves, or the layers, of the equation; give tol=…, "
            "and a larger budget= if that is not met"
        )
        warnings.warn(text, AccuracyWarning, stacklevel=level)


def _hopeless(report: Report) -> bool:
    """Does an operator that was learned without a tolerance miss a known solution, and leave much of its data?"""
    return not report.asked and report.measured != "" and report.error > HOPELESS and report.best.misfit > LEFT


def _warn_of_jumps(problem: Problem) -> None:
    """Say where a coefficient jumps under a derivative without an interface, or from one periodic side to the other, to
    the caller of `learn`.
    """
    for name, function in open_jumps(problem):
        text = (
            f"{name}: {function!r} stands under a derivative, and jumps where no ko.Interface is. This is the strong "
            "form, piece by piece: the flux is not continuous there, as a physical problem asks"
        )
        warnings.warn(text, JumpWarning, stacklevel=3)
    for name, x in unlike_sides(problem):
        text = (
            f"{name}: coefficients at x = {np.array2string(x, precision=4)} are others than where it leads to. Slopes "
            "of u are equal there, not fluxes, as a physical problem asks; let the period begin where they are alike"
        )
        warnings.warn(text, JumpWarning, stacklevel=3)


def _warn_of_thin(problem: Problem) -> None:
    """Say where a piece between jumps is too thin for functions that are smooth, to the caller of `learn`."""
    found = squeezed(problem)
    if found is not None:
        text = (
            f"{found}: u may change across it, and the smooth function that it has on both sides cannot; name both "
            "sides as pieces of their own, ko.Piecewise({one: …, layer: …, other: …}), or take method=ko.Partition()"
        )
        warnings.warn(text, AccuracyWarning, stacklevel=3)


def _warn_between_functions(operator: SolutionOperator, frame: Frame) -> None:
    """Say what solutions miss where a potential or a flow varies faster than the functions, to who called `learn`."""
    problem, space = operator.problem, operator.factorisation.expansion
    rough = between_functions(problem, len(space) / space.ansatz.width, frame)
    if not rough.part > FELT[problem.dim > 1]:
        return
    tried = [{name: float(name == own) for name in problem.inputs} for own in problem.inputs] or [{}]
    try:
        found = missed(operator, frame, tried)
    except KernopError:  # as where numbers are no data
        return
    worst = int(np.argmax(found))
    if found[worst] > COARSE:
        what = f"{problem.inputs[worst]} = 1" if problem.inputs else "u"
        how = f"by about {found[worst]:.0e}, relative" if found[worst] < 1.0 else "altogether"
        text = (
            f"{rough.where}, a coefficient that nothing differentiates jumps, or varies faster than the functions: "
            f"{what} is missed {how}; if it jumps, name the pieces, "
            "ko.Piecewise({region: value, …}, otherwise=…), for which parts are taken; else give tol=…"
        )
        warnings.warn(text, AccuracyWarning, stacklevel=3)


def _stated(
    noise: Any, problem: Problem, regularization: Any, weights: Any, seed: int, envelope: Function | None
) -> Noise:
    for name, value in (("regularization", regularization), ("weights", weights)):
        if value is not None:
            raise fail(ArgumentError, "noise", f"one together with {name}", f"leave {name} out: noise stands for both")

    def sizes() -> tuple[float, ...]:
        frame = frame_of(problem)
        _, rows = fitted(problem, sample(problem, FEW, seed=seed), frame, envelope)
        return condition_sizes(rows, problem.unknowns, frame)

    return read_noise(noise, problem, sizes)


def _kernel(kernel: Any, dim: int) -> Kernel | None:
    if kernel is None:
        return None
    if callable(kernel) and not isinstance(kernel, Kernel):
        kernel = CustomKernel(kernel)
    check_kind("kernel", kernel, Kernel, "give a kernel, such as ko.Gaussian(0.5)")
    kernel.check_dim(dim)
    return kernel
