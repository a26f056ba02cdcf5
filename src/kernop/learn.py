"""learn: from a problem to its solution operator. The story, in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernop.collocation import collocate
from kernop.errors import ArgumentTypeError, check_number, describe, fail
from kernop.kernels import CustomKernel, Kernel
from kernop.kernels.base import check_smoothness
from kernop.methods import Full, Method
from kernop.methods.weights import read_weights
from kernop.problem import Problem
from kernop.progress import Stages
from kernop.sampling import sample
from kernop.solution import SolutionOperator


def learn(
    problem: Problem,
    *,
    kernel: Kernel | Any,
    points: int | Mapping[str, Any] | None = None,
    sampling: str = "halton",
    regularization: float = 1e-10,
    weights: str | Mapping[str, float] | None = None,
    method: Method | None = None,
    seed: int = 0,
    progress: bool = False,
) -> SolutionOperator:
    """Learn the solution operator T: data ↦ u of a linear PDE, from the equation alone.

    Arguments:
        problem: the conditions P_k u = h_k.
        kernel: a `Kernel`, or a function K(x, y) of two points.
        points: how many points in all, or for each condition by name, or the `Points` themselves by name.
        sampling: "halton", "uniform" (independent; the paper's) or "grid".
        regularization: λ ≥ 0 in (1/N) Σ w_i |P_i u − h_i|² + λ‖u‖².
        weights: w_i: "unit", "balanced" (conditions count alike, whatever their scale), or a number by name.
        method: how it is computed.
        seed: of the points.
        progress: show a progress bar.
    """
    if not isinstance(problem, Problem):
        raise fail(
            ArgumentTypeError, "problem", describe(problem), "give a Problem(Equation(...), Dirichlet(...), ...)"
        )
    if method is not None and not isinstance(method, Method):
        raise fail(ArgumentTypeError, "method", describe(method), "give a method, such as ko.Full()")
    chosen = Full() if method is None else method
    ridge = check_number("regularization", regularization, least=0.0)
    known = _kernel(kernel, problem.dim)
    w = read_weights(chosen.default_weights if weights is None else weights, problem)
    with Stages(progress) as stage:
        with stage("sample"):
            placed = sample(problem, points, sampling, seed)
        with stage("collocate"):
            functionals = collocate(problem, placed, chosen.envelope)
            for name, block in zip(problem.names, functionals.blocks, strict=True):
                check_smoothness(known, chosen.derivatives_needed(block.order), name)
        with stage("factorise") as tick:
            factorisation = chosen.factorise(known, functionals, ridge, w, tick)
    return SolutionOperator(problem, placed, known, chosen, ridge, factorisation, stage.seconds)


def _kernel(kernel: Any, dim: int) -> Kernel:
    if callable(kernel) and not isinstance(kernel, Kernel):
        kernel = CustomKernel(kernel)
    if not isinstance(kernel, Kernel):
        raise fail(ArgumentTypeError, "kernel", describe(kernel), "give a kernel, such as ko.Gaussian(0.5)")
    kernel.check_dim(dim)
    return kernel
