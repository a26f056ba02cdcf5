"""tune: the lengthscale and λ of the full estimator, chosen by a criterion from the equation alone, or from data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernop.basics.checks import check_array, check_choice, check_flag, check_integer, check_kind
from kernop.basics.errors import ArgumentError, FloatArray, fail
from kernop.basics.progress import Stages
from kernop.collocation import assembly
from kernop.collocation.data import all_values, concrete, named_inputs, real_columns
from kernop.collocation.functionals import Functionals
from kernop.collocation.probes import applied, probes_of
from kernop.collocation.sampling import sample
from kernop.collocation.scales import fitted
from kernop.collocation.units import frame_of
from kernop.geometry import Points
from kernop.kernels import Kernel
from kernop.kernels.base import check_smoothness
from kernop.language.problem import Problem
from kernop.learning.learn import learn
from kernop.learning.search import CRITERIA, FACTORS, Search, Trial
from kernop.methods import Full
from kernop.methods.full import wide_gaussian
from kernop.methods.weights import read_weights, row_weights
from kernop.operators.operator import SolutionOperator
from kernop.plotting import pyplot, save
from kernop.trust.criteria import lengthscales, with_lengthscales

LABELS = {"loo": "leave-one-out mean square", "gcv": "generalised cross-validation", "likelihood": "log likelihood"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Tuned:
    """The result of `tune`: the kernel and the λ with the best value of the criterion, and all that was tried.

    Attributes:
        problem: the conditions.
        kernel: the kernel with the best lengthscales.
        regularization: the best λ.
        criterion: "loo", "gcv" or "likelihood".
        value: of the criterion at the best. "loo" is a mean square relative to that of the data; "gcv" serves to
            compare only: it takes the mean over rows of all conditions, whose scales differ; "likelihood" is a
            logarithm, for data scaled to a weighted mean square of 1.
        path: everything that was tried, in order.
        points: the points of each condition, by name.
        weights: of each condition, by name.
    """

    problem: Problem
    kernel: Kernel
    regularization: float
    criterion: str
    value: float
    path: tuple[Trial, ...]
    points: Mapping[str, Points]
    weights: Mapping[str, float]

    def learn(self, *, progress: bool | None = None) -> SolutionOperator:
        """The full estimator with this kernel, λ, points and weights."""
        return learn(
            self.problem,
            kernel=self.kernel,
            points=self.points,
            regularization=self.regularization,
            weights=self.weights,
            method=Full(),
            progress=progress,
        )

    def plot(self, path: str | Path) -> Path:
        """The criterion against λ: a curve for each lengthscale that was tried, dots for single pairs, the best."""
        plt = pyplot()
        figure, axis = plt.subplots(figsize=(7.0, 4.4), layout="constrained")
        curves: dict[tuple[float, ...], list[Trial]] = {}
        for trial in sorted(self.path, key=lambda trial: (trial.factor, trial.regularization)):
            curves.setdefault(trial.lengthscales, []).append(trial)
        colours = plt.cm.viridis(np.linspace(0.0, 0.95, len(curves)))
        for colour, curve in zip(colours, curves.values(), strict=True):
            label = f"{curve[0].factor:.3g} ×" if len(curve) > 1 else None
            line = [trial.regularization for trial in curve], [trial.value for trial in curve]
            axis.plot(*line, ".-", color=colour, label=label, linewidth=1.0)
        axis.plot(self.regularization, self.value, "*", color="crimson", markersize=14, label="best")
        lengths = ", ".join(f"{length:.3g}" for length in lengthscales(self.kernel))
        title = f"best: lengthscale {lengths or 'none'}; λ = {self.regularization:.1e}"
        scale = "log" if CRITERIA[self.criterion] else "linear"
        axis.set(xscale="log", yscale=scale, xlabel="λ", ylabel=LABELS[self.criterion], title=title)
        axis.legend(title="lengthscale", fontsize=8, ncols=2)
        return save(figure, path)

    def __repr__(self) -> str:
        found = f"{self.criterion} = {self.value:.3g} after {len(self.path)} trials"
        return f"Tuned({self.kernel!r}, regularization={self.regularization:.3g}; {found})"


def tune(
    problem: Problem,
    kernel: Kernel,
    *,
    points: int | Mapping[str, Any] | None = None,
    sampling: str = "halton",
    criterion: str = "loo",
    regularizations: Any = None,
    data: Mapping[str, Any] | None = None,
    weights: str | Mapping[str, float] | None = None,
    seed: int = 0,
    lengthscales: bool = True,
    progress: bool | None = None,
) -> Tuned:
    """Choose the lengthscale and λ for `Full`; ``tune(...).learn()`` is the operator.

    Five lengthscales are tried, a factor 4 apart and the given one in the middle. Then a common factor of all
    lengthscales is refined ("loo", "gcv": 8 more), or each of them and λ by their gradient ("likelihood": L-BFGS-B,
    up to 40 more). Each costs one eigendecomposition, about 9 N³ operations, for all λ together.

    Arguments:
        problem: the conditions P_k u = h_k.
        kernel: where to start; anything with a lengthscale, also sums and products.
        points: as in `learn`: how many in all, or by name, or the `Points`.
        sampling: "halton", "uniform" or "grid".
        criterion: "loo" (leave-one-out), "gcv" (generalised cross-validation), or "likelihood" (of the data under
            the Gaussian process); see `kernop.trust.criteria`. Without one end of an interval the other points do not
            determine u: where a condition has very few points, leave-one-out misleads if their weight is high.
        regularizations: the λ to try, positive; for "likelihood" the range of them is searched. By default 25 from
            1e-14 to 1e-2 of the mean of w_i G_ii.
        data: by name, functions, numbers, or values at the points, (N_k,) or (N_k, B). Points that are sampled depend
            on ``seed`` only. By default smooth random fields are used as exact solutions, and the free waves of the
            equation.
        weights: of the conditions, as in `learn`; "unit" by default. "balanced" is worked out once, with a Gaussian
            as wide as the problem, and then kept: values for different lengthscales must be comparable.
        seed: of the points and of the random fields.
        lengthscales: False tunes λ only.
        progress: as in `learn`.

    Each column of data is scaled to a weighted mean square of 1, so that all count alike.
    """
    check_kind("problem", problem, Problem, "give a Problem(Equation(...), Dirichlet(...), ...)")
    check_choice("criterion", criterion, tuple(CRITERIA))
    _check_kernel(kernel, problem, check_flag("lengthscales", lengthscales))
    given = None if regularizations is None else _regularizations(regularizations)
    balance = read_weights("unit" if weights is None else weights, problem)
    seed = check_integer("seed", seed, least=0)
    placed = sample(problem, points, sampling, seed)
    frame = frame_of(problem)
    _, functionals = fitted(problem, placed, frame)
    for name, block in zip(problem.names, functionals.conditions, strict=True):
        check_smoothness(kernel, Full().derivatives_needed(block.order), name)
    w = row_weights(balance, functionals, assembly.squared_norms(wide_gaussian(frame), functionals))
    if data is None:
        h = applied(probes_of(functionals.blocks, frame, seed), functionals)
    else:
        h = _user_data(problem, placed, functionals, data)
    with Stages(progress) as stage, stage("tune") as tick:
        search = Search(
            kernel=kernel,
            functionals=functionals,
            weights=w,
            data=_normalised(h, w),
            criterion=criterion,
            regularizations=given,
            tick=tick,
        )
        _run(search, lengthscales)
    best = search.best
    found = with_lengthscales(kernel, np.array(best.lengthscales))
    per_condition = {name: float(w[rows.start]) for name, rows in zip(problem.names, functionals.slices, strict=True)}
    return Tuned(
        problem=problem,
        kernel=found,
        regularization=best.regularization,
        criterion=criterion,
        value=best.value,
        path=tuple(search.path),
        points=placed,
        weights=per_condition,
    )


def _run(search: Search, lengthscales: bool) -> None:
    """Try lengthscales far apart, then refine the best of them; or λ alone."""
    for factor in FACTORS if lengthscales else FACTORS[:1]:
        search.scan(factor)
    if search.criterion == "likelihood":
        search.climb(lengthscales)
    elif lengthscales:
        search.refine()


def _check_kernel(kernel: Any, problem: Problem, move: bool) -> None:
    check_kind("kernel", kernel, Kernel, "give a kernel to start from, such as ko.Gaussian(0.5)")
    kernel.check_dim(problem.dim)
    if move and len(lengthscales(kernel)) == 0:
        remedy = "use a kernel such as ko.Gaussian, or lengthscales=False to tune λ only"
        raise fail(ArgumentError, "kernel", f"{kernel!r}, which has no lengthscale", remedy)


def _regularizations(values: Any) -> FloatArray:
    """Positive numbers in ascending order, (Λ,)."""
    remedy = "give positive numbers, such as np.logspace(-12, -4, 9)"
    lams = np.unique(check_array("regularizations", values, remedy=remedy))
    if lams.size == 0 or lams[0] <= 0.0:
        got = "none" if lams.size == 0 else f"{lams[0]:g}"
        raise fail(ArgumentError, "regularizations", got, remedy)
    return lams


def _user_data(problem: Problem, points: Mapping[str, Points], functionals: Functionals, data: Any) -> FloatArray:
    """The user's data at the points, (N, B)."""
    check_kind("data", data, Mapping, "give a dictionary with data for " + ", ".join(map(repr, problem.inputs)))
    given = named_inputs(problem, (), data, "data")
    return real_columns(concrete("data", all_values(problem, given, points, functionals.layouts)))


def _normalised(h: FloatArray, weights: FloatArray) -> FloatArray:
    """Columns scaled to a weighted mean square of 1."""
    size = np.sqrt(weights @ np.square(h) / len(h))
    if np.any(size == 0.0):
        raise fail(ArgumentError, "data", "data that is zero everywhere", "give data that tells kernels apart")
    return h / size
