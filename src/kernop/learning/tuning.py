"""tune: the lengthscale and λ of the full estimator, chosen by a criterion from the equation alone, or from data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from kernop.basics.checks import check_array, check_choice, check_flag, check_integer, check_kind
from kernop.basics.errors import ArgumentError, FloatArray, SingularGramError, fail
from kernop.basics.linalg import one_thread
from kernop.basics.progress import Stages, Tick
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
from kernop.methods import Full
from kernop.methods.full import wide_gaussian
from kernop.methods.weights import read_weights, row_weights
from kernop.operators.operator import SolutionOperator
from kernop.plotting import pyplot, save
from kernop.trust.criteria import Spectrum, contract, spectrum, with_lengthscales
from kernop.trust.criteria import lengthscales as lengthscales_of

#: Is less better?
CRITERIA = {"loo": True, "gcv": True, "likelihood": False}
#: Factors of the lengthscale that are tried first; the search goes on between the neighbours of the best one.
STEP = 4.0
FACTORS = (1.0, 1.0 / STEP, STEP, STEP**-2, STEP**2)
#: Evaluations of that search, for a common factor and (at most) for the likelihood.
REFINEMENTS, CLIMBS = 8, 40
TINY = float(np.finfo(np.float64).tiny)
#: λ in units of the mean of w_i G_ii. Less than the first is lost in the rounding errors of the eigenvalues.
RELATIVE: FloatArray = np.logspace(-14.0, -2.0, 25)


@dataclass(frozen=True)
class Trial:
    """One pair of a kernel and a λ that was tried.

    Attributes:
        factor: of the lengthscales, against those given; their geometric mean if they changed differently.
        regularization: λ.
        value: of the criterion.
        lengthscales: all of them, one after the other.
    """

    factor: float
    regularization: float
    value: float
    lengthscales: tuple[float, ...]


@dataclass(eq=False, kw_only=True)
class Search:
    """The search over lengthscales and λ, and the record of it.

    Arguments:
        kernel: where it starts.
        functionals, weights, data: P_i, w_i (N,) and h (N, B).
        criterion: "loo", "gcv" or "likelihood".
        regularizations: the λ to try; None for a range in units of the mean of w_i G_ii.
        tick: is called with the part that is done.
    """

    kernel: Kernel
    functionals: Functionals
    weights: FloatArray
    data: FloatArray
    criterion: str
    regularizations: FloatArray | None
    tick: Tick | None = None
    path: list[Trial] = field(default_factory=list[Trial], init=False)

    def __post_init__(self) -> None:
        self.start, self._count = lengthscales_of(self.kernel), 0

    @property
    def best(self) -> Trial:
        """The best trial so far."""
        if not self.path:
            got = f"{self.regularizations}, all of them lost in rounding errors of the Gram matrix"
            raise fail(SingularGramError, "regularizations", got, "give larger ones, or None for a sensible range")
        return min(self.path, key=self._cost)

    def scan(self, factor: float) -> float:
        """Try a common factor of the lengthscales with every λ; the least cost."""
        lengths = factor * self.start
        factored = self._factorise(lengths)
        lams = factored.scale * RELATIVE if self.regularizations is None else self.regularizations
        lams = lams[lams >= 0.99 * RELATIVE[0] * factored.scale]
        found = [self._record(lengths, *pair) for pair in zip(lams, self._values(factored, lams), strict=True)]
        return min(map(self._cost, found), default=np.inf)

    def refine(self) -> None:
        """Search for the best common factor, between the neighbours of the best one so far."""
        middle, step = np.log(self.best.factor), np.log(STEP)
        minimize_scalar(
            lambda t: np.log(max(self.scan(float(np.exp(t))), TINY)),
            bounds=(middle - step, middle + step),
            method="bounded",
            options={"maxiter": REFINEMENTS, "xatol": 0.01},
        )

    def climb(self, move: bool) -> None:
        """Maximise the likelihood over all log lengthscales (if they may move) and log λ, from the best trial so far.

        When no λ were given, log(λ / scale) is the variable, so that its bounds follow the kernel.
        """
        best, lengths = self.best, np.log(self.best.lengthscales)
        kernel = with_lengthscales(self.kernel, np.array(best.lengthscales))
        scale = float(np.mean(self.weights * assembly.squared_norms(kernel, self.functionals)))
        unit, lams = (scale, RELATIVE) if self.regularizations is None else (1.0, self.regularizations)
        least = max(lams[0], RELATIVE[0] * scale / unit)
        span = np.log(STEP) if move else 0.0
        bounds = [*zip(lengths - span, lengths + span, strict=True), (np.log(least), np.log(max(least, lams[-1])))]
        minimize(
            self.descent,
            np.append(lengths, np.log(best.regularization / unit)),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxfun": CLIMBS, "ftol": 1e-6},
        )

    def descent(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """−(log likelihood) / N and its gradient, at the log lengthscales and log λ (or log(λ / scale))."""
        lengths, n = np.exp(theta[:-1]), len(self.functionals)
        factored = self._factorise(lengths)
        relative = self.regularizations is None
        lam = float(np.exp(theta[-1])) * (factored.scale if relative else 1.0)
        value = self._record(lengths, lam, self._values(factored, lam).item()).value
        m = factored.sensitivity(lam)
        slope = lam * n * float(np.trace(m))
        if relative:  # λ moves with the mean of the diagonal of B
            m[np.diag_indices(n)] += slope / (n * factored.scale)
        kernel = with_lengthscales(self.kernel, lengths)
        return -value / n, -np.append(contract(kernel, self.functionals, self.weights, m), slope) / n

    def _factorise(self, lengths: FloatArray) -> Spectrum:
        self._count += 1
        if self.tick is not None:
            self.tick(min(1.0, self._count / (len(FACTORS) + REFINEMENTS)))
        return spectrum(with_lengthscales(self.kernel, lengths), self.functionals, self.weights, self.data)

    def _values(self, factored: Spectrum, lams: FloatArray | float) -> FloatArray:
        return getattr(factored, self.criterion)(lams)

    def _record(self, lengths: FloatArray, lam: float, value: float) -> Trial:
        factor = float(np.exp(np.mean(np.log(lengths / self.start)))) if len(lengths) else 1.0
        self.path.append(Trial(factor, float(lam), float(value), tuple(map(float, lengths))))
        return self.path[-1]

    def _cost(self, trial: Trial) -> float:
        return trial.value if CRITERIA[self.criterion] else -trial.value


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
        lengths = ", ".join(f"{length:.3g}" for length in lengthscales_of(self.kernel))
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
    check_kind("kernel", kernel, Kernel, "give a kernel to start from, such as ko.Gaussian(0.5)")
    kernel.check_dim(problem.dim)
    if check_flag("lengthscales", lengthscales) and len(lengthscales_of(kernel)) == 0:
        remedy = "use a kernel such as ko.Gaussian, or lengthscales=False to tune λ only"
        raise fail(ArgumentError, "kernel", f"{kernel!r}, which has no lengthscale", remedy)
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
        check_kind("data", data, Mapping, "give a dictionary with data for " + ", ".join(map(repr, problem.inputs)))
        columns = all_values(problem, named_inputs(problem, (), data, "data"), placed, functionals.layouts)
        h = real_columns(concrete("data", columns))
    with one_thread, Stages(progress) as stage, stage("tune") as tick:
        search = Search(
            kernel=kernel,
            functionals=functionals,
            weights=w,
            data=_normalised(h, w),
            criterion=criterion,
            regularizations=given,
            tick=tick,
        )
        for factor in FACTORS if lengthscales else FACTORS[:1]:  # lengthscales far apart, then near the best of them
            search.scan(factor)
        if criterion == "likelihood":
            search.climb(lengthscales)
        elif lengthscales:
            search.refine()
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


def _regularizations(values: Any) -> FloatArray:
    """Positive numbers in ascending order, (Λ,)."""
    remedy = "give positive numbers, such as np.logspace(-12, -4, 9)"
    lams = np.unique(check_array("regularizations", values, remedy=remedy))
    if lams.size == 0 or lams[0] <= 0.0:
        got = "none" if lams.size == 0 else f"{lams[0]:g}"
        raise fail(ArgumentError, "regularizations", got, remedy)
    return lams


def _normalised(h: FloatArray, weights: FloatArray) -> FloatArray:
    """Columns scaled to a weighted mean square of 1."""
    size = np.sqrt(weights @ np.square(h) / len(h))
    if np.any(size == 0.0):
        raise fail(ArgumentError, "data", "data that is zero everywhere", "give data that tells kernels apart")
    return h / size
