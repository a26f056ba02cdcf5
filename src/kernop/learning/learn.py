"""learn: from a problem to its solution operator. The story, in order."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernop.basics.errors import (
    AccuracyWarning,
    ArgumentError,
    ArgumentTypeError,
    IllPosedWarning,
    SingularGramError,
    check_integer,
    check_number,
    describe,
    fail,
)
from kernop.basics.progress import Stages
from kernop.basics.versions import now
from kernop.collocation.ansatz import Ansatz, collocate, condition_layouts
from kernop.collocation.batches import StreamPoints, check_whole, stream
from kernop.collocation.data import inputs_in_advance
from kernop.collocation.functionals import Functionals
from kernop.collocation.probes import FINER, free_waves
from kernop.collocation.rows import Input, StreamedRows
from kernop.collocation.sampling import can_be_fresh, held_out, interior, sample, share_out, top_dimension
from kernop.collocation.scales import fitted
from kernop.collocation.units import Frame, frame_of, waves_fineness
from kernop.geometry import Points
from kernop.kernels import CustomKernel, Kernel
from kernop.kernels.base import check_smoothness
from kernop.language.problem import Problem
from kernop.learning.adapt import adaptable, adapted
from kernop.learning.default import ENOUGH, by_default
from kernop.learning.heldout import Measure, OnInputs, OnProbes
from kernop.learning.refine import POINTS_PER_CENTRE, Report, ToleranceWarning, refine
from kernop.learning.streaming import Passes, read_checkpoint
from kernop.methods import Method, Setting, Subspace
from kernop.methods.base import envelope_of
from kernop.methods.noise import Noise, read_noise
from kernop.methods.spaces import Layers
from kernop.methods.spaces.layers import layers_in
from kernop.methods.weights import Weights, read_weights
from kernop.operators.operator import SolutionOperator
from kernop.operators.solution import check_unknowns
from kernop.trust.diagnosis import Diagnosis
from kernop.trust.resolution import Roughness, roughness
from kernop.trust.wellposed import Stability, stability

#: Wide functions with which adaptive centres begin, and points at which the equation is looked at before.
TRIAL, FEW = 250, 200
#: At least so many rows for each function, where the points are given.
FEWEST_ROWS = 1.8
#: Points inside at which it is seen how well the conditions determine u.
INSIDE = 256


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
    progress: bool = False,
    inputs: Sequence[Any] | None = None,
    budget: int = 3000,
    checkpoint: Any = None,
    client: Any = None,
) -> SolutionOperator:
    """Learn the solution operator T: data ↦ u of a linear PDE, from the equation alone.

    Arguments:
        problem: the conditions P_k u = h_k.
        tol: add functions (and points, unless they are given) until the error on known solutions, at places that were
            not used, meets ``tol``; a warning says if it does not. None tries a few numbers of functions, until that
            error is below 1e-6, and returns the best. ``T.report`` tells what was tried and reached.
        kernel: a `Kernel`, or a function K(x, y) of two points; None lets the method choose.
        points: how many points in all, or for each condition by name, or the `Points` themselves by name. With
            ``Subspace(batch=…)`` also arrays on disk by name, `Batches`, or an iterator of batches.
        sampling: "halton", "uniform" (independent; the paper's) or "grid".
        regularization: λ ≥ 0; None lets the method choose (next to nothing).
        weights: of the conditions: "unit", "balanced" (they count alike, whatever their scale), or numbers by name.
        noise: the standard deviation of the errors in the data, for all conditions or for each by name. It stands for
            λ and weights with λN / w_k = σ_k² (`Subspace`: λ / w_k unless its penalty is "rkhs"), and makes the bands
            of `std` absolute: the prior is then that of the kernel, with its scale.
        method: `Subspace` (the default), `Full` or `LowRank`.
        seed: of the points.
        progress: show a progress bar.
        inputs: inputs to measure by, each a tuple in the order of T or a dictionary, of functions and
            numbers; None measures by smooth random fields of several length scales. For ``Subspace(batch=…)``: inputs
            that are solved in the same pass over the points, for ``T.solutions``.
        budget: at most so many functions.
        checkpoint: for ``Subspace(batch=…)``: a path, or a `Checkpoint`, from which a pass goes on if it was killed.
        client: for ``Subspace(batch=…)``: a Dask client, over whose workers the batches are spread.
    """
    if not isinstance(problem, Problem):
        raise fail(
            ArgumentTypeError, "problem", describe(problem), "give a Problem(Equation(...), Dirichlet(...), ...)"
        )
    check_unknowns(problem.unknowns)
    if method is not None and not isinstance(method, Method):
        raise fail(ArgumentTypeError, "method", describe(method), "give a method, such as ko.Full()")
    chosen = Subspace() if method is None else method
    stated = None if noise is None else _stated(noise, problem, regularization, weights)
    wanted = chosen.default_weights if weights is None else weights
    task = _Task(
        problem=problem,
        kernel=_kernel(kernel, problem.dim),
        regularization=None if regularization is None else check_number("regularization", regularization, least=0.0),
        weights=stated.weights if stated else read_weights(wanted, problem),
        noise=stated,
        frame=frame_of(problem),
        sampling=sampling,
        seed=check_integer("seed", seed, least=0),
    )
    passes = _passes(chosen, checkpoint, client)
    with Stages(progress) as stage:
        if tol is None and not task.open(chosen):
            known = () if inputs is None or passes is None else inputs_in_advance(problem, inputs)
            return task.once(chosen, points, stage, known, passes)
        operator = task.grown(chosen, points, tol, inputs, budget, stage)
        with stage("examine"):
            stable = task.stability(operator.collocated, operator.ansatz)
    found = replace(operator.diagnosis, stability=stable)
    _warn(found, operator.report, level=3)
    return replace(operator, diagnosis=found)


def _passes(method: Method, checkpoint: Any, client: Any) -> Passes | None:
    """Who passes over points that come in batches; None for a method that takes all of them at once."""
    if method.batch is not None:
        return Passes(client, read_checkpoint(checkpoint))
    for name, value in (("checkpoint", checkpoint), ("client", client)):
        if value is not None:
            raise fail(ArgumentError, name, f"one with {method!r}", "use method=ko.Subspace(batch=2000)")
    return None


def _warn(found: Diagnosis, report: Report | None, level: int) -> None:
    """Say what is doubtful, to the caller of `learn`, so many calls above this one."""
    if found.stability is not None and found.stability.ill_posed:
        warnings.warn(str(found.stability), IllPosedWarning, stacklevel=level)
    if found.roughness is not None and found.roughness.unresolved:
        text = f"{found.roughness}; give more points and centres, or smooth it"
        warnings.warn(text, AccuracyWarning, stacklevel=level)
    if report is not None and report.asked and not report.met:
        warnings.warn(str(report), ToleranceWarning, stacklevel=level)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Task:
    """What is common to learning once and to a tolerance; arguments as for `learn`, checked."""

    problem: Problem
    kernel: Kernel | None
    regularization: float | None
    weights: Weights
    noise: Noise | None
    frame: Frame
    sampling: str
    seed: int

    def once(
        self, method: Method, points: Any, stage: Stages, known: Sequence[Input] = (), passes: Passes | None = None
    ) -> SolutionOperator:
        """Points are sampled, the conditions collocated there, what is doubtful is said, and the rows are factorised.

        Arguments:
            known: inputs that are known in advance, and …
            passes: … who passes over the points, if they come in batches.
        """
        with stage("sample"):
            placed = self._placed(method, points)
        with stage("collocate"):
            ansatz, rows = self._rows(method, placed, known)
        with stage("examine"):
            found = self._examined(method, placed, rows, ansatz)
        _warn(found, None, level=4)  # a pass over batches may take days
        return self._factorised(method, placed, rows, ansatz, found, stage, passes)

    def _placed(self, method: Method, points: Any) -> Mapping[str, Points]:
        if method.batch is None:
            check_whole(points, method)
            return sample(self.problem, points, self.sampling, self.seed)
        return StreamPoints(stream(self.problem, points, self.sampling, self.seed, method.batch))

    def _rows(
        self, method: Method, placed: Mapping[str, Points], known: Sequence[Input] = (), ansatz: Ansatz | None = None
    ) -> tuple[Ansatz, Functionals | StreamedRows]:
        """How the unknowns are written, and the conditions at the points: all rows now, or batch by batch."""
        if isinstance(placed, StreamPoints):
            seen = {name: own for batch in reversed(placed.stream.sampled()) for name, own in batch.items()}
            ansatz, _ = fitted(self.problem, seen, self.frame, envelope_of(method))
            return ansatz, StreamedRows(placed.stream, ansatz).given(known)
        if ansatz is None:
            ansatz, functionals = fitted(self.problem, placed, self.frame, envelope_of(method))
        else:
            functionals = collocate(self.problem, placed, ansatz)
        for name, own in zip(self.problem.names, functionals.conditions, strict=True):
            if self.kernel is not None:
                check_smoothness(self.kernel, method.derivatives_needed(own.order), name)
        return ansatz, functionals

    def _examined(
        self, method: Method, placed: Mapping[str, Points], rows: Functionals | StreamedRows, ansatz: Ansatz
    ) -> Diagnosis:
        """What is doubtful whatever the data; where the points come in batches, as seen at points of our own."""
        if isinstance(rows, StreamedRows):
            if self._bounded_by_points:
                return Diagnosis()
            placed = sample(self.problem, None, self.sampling, self.seed)
            rows = collocate(self.problem, placed, ansatz)
        return Diagnosis(self.stability(rows, ansatz), self.roughness(placed))

    def _factorised(
        self,
        method: Method,
        placed: Mapping[str, Points],
        rows: Functionals | StreamedRows,
        ansatz: Ansatz,
        found: Diagnosis,
        stage: Stages,
        passes: Passes | None = None,
    ) -> SolutionOperator:
        with stage("factorise") as tick:
            regularization = self._regularization(method, rows)
            setting = Setting(
                rows=rows,
                frame=self.frame,
                kernel=self.kernel,
                regularization=regularization,
                weights=self.weights,
                tick=tick,
                runner=passes,
                ansatz=ansatz,
            )
            with self._blaming_the_noise():
                factorisation = method.factorise(setting)
        if passes is not None:
            passes.complete()
        operator = SolutionOperator(
            problem=self.problem,
            points=placed,
            method=method,
            factorisation=factorisation,
            stats=stage.seconds,
            noise=self._levels,
            about={"when": now(), "seed": int(self.seed), "sampling": self.sampling},
            diagnosis=found,
            functionals=rows if isinstance(rows, Functionals) else None,
        )
        return operator.with_solutions()

    def open(self, method: Method) -> bool:
        """Is the number of functions ours to choose, and are they chosen for accuracy alone?"""
        if not isinstance(method, Subspace) or method.batch is not None or method.centers is not None:
            return False
        given = self.kernel is not None or self.regularization is not None or self.noise is not None
        return not given and method.basis != "representers" and method.solver == "qr" and not method.rkhs

    def grown(
        self, method: Method, points: Any, tol: float | None, inputs: Any, budget: int, stage: Stages
    ) -> SolutionOperator:
        """With more and more functions: until an error where nothing was learned is small enough, or the best of a
        few if no tolerance is given."""
        wanted = None if tol is None else check_number("tol", tol, above=0.0)
        growing = _growing(method, tol)
        given = sample(self.problem, points, self.sampling, self.seed) if points is not None else None
        most = check_integer("budget", budget, least=1)
        if given is not None:
            most = min(most, max(1, int(self._rows_at(given) / FEWEST_ROWS)))

        task = replace(self, frame=self._resolved(growing))
        ansatz: Ansatz | None = None  # of the first level, by which all are measured

        def place(number: int) -> Mapping[str, Points]:
            with stage("sample"):
                shares = share_out(self.problem, self._points_for(POINTS_PER_CENTRE * number), whole_clouds=True)
                return given or self._placed(growing, shares)

        def fit(centers: int | Layers, placed: Mapping[str, Points]) -> SolutionOperator:
            nonlocal ansatz
            larger = replace(growing, centers=centers)
            with stage("collocate"):
                ansatz, rows = self._rows(larger, placed, ansatz=ansatz)
            return task._factorised(larger, placed, rows, ansatz, Diagnosis(), stage)

        def build(centers: int) -> SolutionOperator:
            return fit(centers, place(centers))

        def examined(operator: SolutionOperator) -> SolutionOperator:
            return replace(operator, diagnosis=Diagnosis(None, self.roughness(operator.points)))

        def measure(operator: SolutionOperator) -> Measure:
            return self._measure(inputs, operator)

        local = inputs is not None and given is None and growing.basis is None and adaptable(self.problem)
        if wanted is None:
            uniform = min(most, ENOUGH[-1]) if local else most
            components = self.problem.unknowns.total
            operator = by_default(build, uniform, measure, self.problem.dim, stage.say, components)
        else:
            most = most if given is None else max(1, most // self.problem.unknowns.total)
            operator = refine(build, wanted, most, measure, self.problem.dim, stage.say, examined)
        report = operator.report
        if local and report is not None and not report.met:
            start = layers_in(task.frame, min(TRIAL, most))
            other = adapted(fit, place, start, self.problem, inputs, report.tol, most, seed=self.seed, tick=stage.say)
            if other.report is not None and other.report.error < report.error:
                operator = replace(other, report=replace(other.report, asked=report.asked))
        return operator if operator.diagnosis.roughness is not None else examined(operator)

    def _resolved(self, method: Method) -> Frame:
        """With axes as fine as the waves of the equation ask for; halfway, since data ask for other things."""
        if self.problem.dim == 1:
            return self.frame
        placed = sample(self.problem, FEW, self.sampling, self.seed)
        _, rows = fitted(self.problem, placed, self.frame, envelope_of(method))
        waves = [waves_fineness(self.frame, b) for b in rows.blocks if free_waves(b, self.frame, self.seed) is not None]
        finest = np.max([np.ones(self.problem.dim), *waves], axis=0)
        return replace(self.frame, fineness=np.sqrt(finest)) if np.max(finest) > FINER else self.frame

    def _rows_at(self, points: Mapping[str, Points]) -> int:
        """The number of rows that the conditions have at some points, a complex one counted once."""
        unknowns = self.problem.unknowns
        layouts = zip(self.problem.conditions, condition_layouts(self.problem, Ansatz(unknowns)), strict=True)
        return sum((1 if c.integral else len(points[c.name])) * layout.parts for c, layout in layouts)

    def _points_for(self, n: int) -> int:
        """The points that give n rows for each component: an equation for several unknowns has fewer rows than they."""
        top = top_dimension(self.problem)
        own = zip(self.problem.conditions, condition_layouts(self.problem, Ansatz(self.problem.unknowns)), strict=True)
        parts = [
            layout.parts for condition, layout in own if condition.on.intrinsic_dim == top and not condition.integral
        ]
        return round(n * self.problem.unknowns.total * len(parts) / sum(parts))

    def _measure(self, inputs: Any, operator: SolutionOperator) -> Measure:
        ansatz = operator.ansatz
        if inputs is not None:
            return OnInputs(self.problem, self.frame, inputs, self.seed, ansatz)
        rows = operator.collocated if ansatz.envelope is None else None
        return OnProbes(self.problem, self.frame, self.seed, ansatz, rows)

    def roughness(self, points: Mapping[str, Points]) -> Roughness:
        """How rough the coefficients are that are differentiated, at these points."""
        unknowns = self.problem.unknowns
        found = [roughness(c, points[c.name], self.frame, unknowns) for c in self.problem.conditions]
        return max(found, key=lambda r: r.part)

    def stability(self, rows: Functionals, ansatz: Ansatz) -> Stability:
        """How well the conditions determine u."""
        inside = interior(self.problem, INSIDE, self.seed)
        fresh = None if self._bounded_by_points else lambda number: self._evenly(number, ansatz)
        return stability(rows, inside.x, self.frame, ansatz, fresh)

    @property
    def _bounded_by_points(self) -> bool:
        """Is a region known by points alone?"""
        return not can_be_fresh(self.problem) or not all(condition.on.known for condition in self.problem.conditions)

    def _evenly(self, number: int, ansatz: Ansatz) -> Functionals:
        """About so many rows: half of them inside the domain, half on boundaries, in equal parts for each condition."""
        top = top_dimension(self.problem)
        inside = {c.name: c.on.intrinsic_dim == top for c in self.problem.conditions if not c.integral}
        points = {c.name: held_out(c, 1, self.seed) for c in self.problem.conditions if c.integral}
        for condition, layout in zip(self.problem.conditions, condition_layouts(self.problem, ansatz), strict=True):
            if condition.name in inside:
                alike = list(inside.values()).count(inside[condition.name])
                each = -(-number // (2 * alike * layout.parts))
                points[condition.name] = condition.on.sample(each, seed=self.seed)
        return collocate(self.problem, points, ansatz)

    @contextmanager
    def _blaming_the_noise(self) -> Generator[None]:
        """A system that is singular because of the noise that was stated says so."""
        try:
            yield
        except SingularGramError as error:
            if self.noise is None:
                raise
            got = f"{self._levels}, with which the linear system is singular to working precision"
            remedy = "state more noise where there is least, use ko.Subspace() or ko.LowRank(), or fewer points"
            raise fail(SingularGramError, "noise", got, remedy) from error

    def _regularization(self, method: Method, rows: Functionals | StreamedRows) -> float | None:
        """λ: the user's, or the one that says what the noise is."""
        if self.noise is None:
            return self.regularization
        # To count the rows of a stream may take a pass.
        return method.regularization_for(self.noise.variance, len(rows) if method.rkhs else 0)

    @property
    def _levels(self) -> dict[str, float] | None:
        return None if self.noise is None else dict(zip(self.problem.names, self.noise.levels, strict=True))


def _stated(noise: Any, problem: Problem, regularization: Any, weights: Any) -> Noise:
    for name, value in (("regularization", regularization), ("weights", weights)):
        if value is not None:
            raise fail(ArgumentError, "noise", f"one together with {name}", f"leave {name} out: noise stands for both")
    return read_noise(noise, problem)


def _growing(method: Method, tol: float | None) -> Subspace:
    if method.batch is not None:
        remedy = "leave out batch, or give Subspace(centers=…, batch=…) and no tol"
        raise fail(ArgumentError, "tol", f"{tol} with a stream of points", remedy)
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
