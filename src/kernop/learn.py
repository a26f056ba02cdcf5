"""learn: from a problem to its solution operator. The story, in order."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kernop.collocation import collocate
from kernop.errors import ArgumentError, ArgumentTypeError, check_integer, check_number, describe, fail
from kernop.frame import frame_of
from kernop.heldout import HeldOut
from kernop.kernels import CustomKernel, Kernel
from kernop.kernels.base import check_smoothness
from kernop.methods import Method, Setting, Subspace
from kernop.methods.base import envelope_of
from kernop.methods.weights import read_weights
from kernop.problem import Problem
from kernop.progress import Stages
from kernop.refine import ToleranceWarning, refine
from kernop.sampling import sample
from kernop.solution import SolutionOperator


def learn(
    problem: Problem,
    *,
    tol: float | None = None,
    kernel: Kernel | Any = None,
    points: int | Mapping[str, Any] | None = None,
    sampling: str = "halton",
    regularization: float | None = None,
    weights: str | Mapping[str, float] | None = None,
    method: Method | None = None,
    seed: int = 0,
    progress: bool = False,
    inputs: Sequence[Any] | None = None,
    budget: int = 3000,
) -> SolutionOperator:
    """Learn the solution operator T: data ↦ u of a linear PDE, from the equation alone.

    Arguments:
        problem: the conditions P_k u = h_k.
        tol: add centres (and points, unless they are given) until the relative residual at points that were not
            used meets ``tol``; ``T.report`` tells what was reached. None learns once, at a sensible default.
        kernel: a `Kernel`, or a function K(x, y) of two points; None lets the method choose.
        points: how many points in all, or for each condition by name, or the `Points` themselves by name.
        sampling: "halton", "uniform" (independent; the paper's) or "grid".
        regularization: λ ≥ 0; None lets the method choose (next to nothing).
        weights: of the conditions: "unit", "balanced" (they count alike, whatever their scale), or numbers by name.
        method: `Subspace` (the default), `Full` or `LowRank`.
        seed: of the points.
        progress: show a progress bar.
        inputs: for ``tol``: inputs to measure by, each a tuple in the order of T or a dictionary, of functions and
            numbers; None measures by smooth random fields of several length scales.
        budget: for ``tol``: at most so many centres.
    """
    if not isinstance(problem, Problem):
        raise fail(
            ArgumentTypeError, "problem", describe(problem), "give a Problem(Equation(...), Dirichlet(...), ...)"
        )
    if method is not None and not isinstance(method, Method):
        raise fail(ArgumentTypeError, "method", describe(method), "give a method, such as ko.Full()")
    chosen = Subspace() if method is None else method
    ridge = None if regularization is None else check_number("regularization", regularization, least=0.0)
    known = _kernel(kernel, problem.dim)
    w = read_weights(chosen.default_weights if weights is None else weights, problem)
    box = frame_of(problem)

    def once(method: Method, points: Any, stage: Stages) -> SolutionOperator:
        with stage("sample"):
            placed = sample(problem, points, sampling, seed)
        with stage("collocate"):
            functionals = collocate(problem, placed, envelope_of(method))
            for name, block in zip(problem.names, functionals.blocks, strict=True):
                if known is not None:
                    check_smoothness(known, method.derivatives_needed(block.order), name)
        with stage("factorise") as tick:
            factorisation = method.factorise(Setting(functionals, box, known, ridge, w, tick))
        return SolutionOperator(problem, placed, method, factorisation, stage.seconds)

    with Stages(progress) as stage:
        if tol is None:
            return once(chosen, points, stage)
        tol = check_number("tol", tol, above=0.0)
        growing = _growing(chosen)
        given = sample(problem, points, sampling, seed) if points is not None else None
        most = check_integer("budget", budget, least=1)
        if given is not None:
            most = min(most, max(1, sum(map(len, given.values())) // 2))
        operator = refine(
            lambda centers, n: once(replace(growing, centers=centers), n if given is None else given, stage),
            tol,
            most,
            HeldOut(problem, box, inputs, seed, envelope_of(growing)),
            problem.dim,
            stage.say,
        )
    if not operator.report.met:
        warnings.warn(str(operator.report), ToleranceWarning, stacklevel=2)
    return operator


def _growing(method: Method) -> Subspace:
    if not isinstance(method, Subspace) or method.centers is not None:
        remedy = "leave tol out, or use method=ko.Subspace() without centers"
        raise fail(ArgumentError, "tol", f"a tolerance with {method!r}", remedy)
    return method


def _kernel(kernel: Any, dim: int) -> Kernel | None:
    if kernel is None:
        return None
    if callable(kernel) and not isinstance(kernel, Kernel):
        kernel = CustomKernel(kernel)
    if not isinstance(kernel, Kernel):
        raise fail(ArgumentTypeError, "kernel", describe(kernel), "give a kernel, such as ko.Gaussian(0.5)")
    kernel.check_dim(dim)
    return kernel
