"""The learned operator T: (f, g) ↦ u, and T followed by evaluation at fixed points."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property, reduce, singledispatch
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kernop.basics import storage
from kernop.basics.codec import Encoder
from kernop.basics.errors import (
    AccuracyWarning,
    ArgumentError,
    FloatArray,
    check_integer,
    describe,
    fail,
)
from kernop.basics.frozen import frozen
from kernop.basics.precision import float64
from kernop.basics.progress import Stages
from kernop.basics.stored import stored
from kernop.basics.versions import now, versions
from kernop.collocation.changes import added, removed
from kernop.collocation.data import all_values, concrete, named_inputs, places
from kernop.collocation.functionals import Functionals, collocate
from kernop.geometry import Points
from kernop.kernels import Kernel
from kernop.kernels.base import check_smoothness
from kernop.language.ops import Operator, identity
from kernop.language.problem import Problem
from kernop.methods import Answer, Factorisation, Method, Subspace
from kernop.methods.base import envelope_of
from kernop.operators.closing import closed_problem, enveloped, known_envelope
from kernop.operators.report import Report
from kernop.operators.solution import Solution, functionals_of, with_draws
from kernop.trust.diagnosis import Diagnosis
from kernop.trust.estimates import Learned
from kernop.trust.evidence import Evidence, evidence

#: The part of the data that a solution may leave without a word, and with a penalty that the user asked for.
PROMISE, PENALISED = 1e-3, 0.1
#: The kind of file, and the version of what is in it: a reader refuses later ones.
KIND, FORMAT = "operator", 2
REWRITE = "write the file again"
#: How many times the norm of the stated noise counts as noise.
NOISE = 2.0


@stored("operator", by_value=False)
@dataclass(frozen=True, eq=False)
class SolutionOperator:
    """T with u = T(f, g): learned once, applied to any data.

    Made by `kernop.learn`. Inputs are functions of x (n, d), numbers, or arrays of values at ``T.points[name].x``,
    of shape (N_k,), or (N_k, B) for B inputs at once.

    Attributes:
        problem: the conditions.
        points: the points of each condition, by name.
        method: how it was learned; `kernel`, `regularization` and `weights` tell with what.
        stats: seconds of each stage of learning.
        report: what learning to a tolerance did and why it stopped; None if no tolerance was asked for.
        noise: the standard deviation of errors in the data that was stated, by name; None if none was.
        about: when it was learned, the seed of its points, and by which versions a file of it was written.
        diagnosis: what is doubtful whatever the data: how well the conditions determine u, and coefficients that are
            not resolved.
        functionals: the conditions at the points; None if they are made again when they are needed.
    """

    problem: Problem
    points: Mapping[str, Points]
    method: Method
    factorisation: Factorisation
    stats: Mapping[str, float] = field(default_factory=dict[str, float])
    report: Report | None = None
    noise: Mapping[str, float] | None = None
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    functionals: Functionals | None = None

    def __post_init__(self) -> None:
        frozen((self.factorisation, self.functionals))

    @property
    def collocated(self) -> Functionals:
        """The conditions at the points, as functionals of u (of u / envelope, if the method has one)."""
        if self.functionals is not None:
            return self.functionals
        return collocate(self.problem, self.points, envelope_of(self.method))

    @property
    def stability(self) -> float | None:
        """The largest ‖u‖ per unit of data, in natural units: near 1 for well-posed problems, huge for ill-posed ones.

        None if it was not measured.
        """
        return None if self.diagnosis.stability is None else self.diagnosis.stability.number

    @property
    def kernel(self) -> Kernel:
        """The kernel that was given or chosen."""
        return self.factorisation.kernel

    @property
    def regularization(self) -> float:
        """The λ that was given or chosen."""
        return self.factorisation.regularization

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each condition that was given or chosen, by name."""
        return dict(zip(self.problem.names, self.factorisation.weights, strict=True))

    @property
    def n_points(self) -> int:
        """The number N of points of all conditions together."""
        return sum(len(points) for points in self.points.values())

    @cached_property
    def learned(self) -> Learned:
        """What solutions keep of it."""
        return Learned(self.problem, self.points, self.factorisation, self.noise, self.diagnosis, self.functionals)

    @property
    def test_points(self) -> dict[str, Points]:
        """Points of each condition, by name, that T did not learn from: there `Solution.error_estimate` wants data."""
        return self.learned.test_points

    def __call__(self, *values: Any, **named: Any) -> Solution:
        """The solution for these inputs, in the order of the problem or by name."""
        u = self.answer(named_inputs(self.problem, values, named))
        self._speak_up(u)
        return u

    def answer(self, given: Mapping[str, Any]) -> Solution:
        """The solution for inputs by name, whatever it leaves of the data."""
        data = self._columns(given)
        flat = data.reshape(len(data), -1)
        return self.solution(self.factorisation.answer(flat), data.ndim == 1, flat, given)

    def _speak_up(self, u: Solution) -> None:
        """Warn if a solution leaves more of the data than the operator promises."""
        if u.misfits is None or u.sizes is None or np.fmax.reduce(u.misfits, initial=0.0) <= self.promise:
            return
        noise = NOISE * self._noise_norm / np.where(u.sizes > 0.0, u.sizes, 1.0)
        if not np.any(u.misfits > self.promise + noise):
            return
        worst = float(np.nanmax(u.misfits))
        warnings.warn(
            f"T: the solution leaves {worst:.1e} of the data unsatisfied at the points of T, more than the "
            f"{self.promise:.1e} that it promises: the space does not resolve this input, or the conditions contradict "
            "each other. Ask u.error_estimate(); learn with tol= and inputs=[…] for such data",
            AccuracyWarning,
            stacklevel=3,
        )

    @property
    def _noise_norm(self) -> float:
        """‖√W ε‖ for the errors ε in the data that were stated."""
        if self.noise is None:
            return 0.0
        counts = self.counts
        parts = zip(self.problem.names, self.factorisation.weights, strict=True)
        return (
            np.inf
            if counts is None
            else float(np.sqrt(sum(w * counts[name] * self.noise[name] ** 2 for name, w in parts)))
        )

    @property
    def counts(self) -> dict[str, int] | None:
        """The number of points of each condition, by name; None if it is not known."""
        return {name: len(points) for name, points in self.points.items()}

    @property
    def promise(self) -> float:
        """The part of the data that a solution may leave: that of the solutions on which ``tol`` was measured, or 1e-3.

        With a λ of the user the solution is not meant to satisfy the data: 0.1.
        """
        if self.report is not None:
            return self.report.promise
        return PENALISED if self.factorisation.penalised else PROMISE

    def solution(
        self, answer: Answer, single: bool, data: FloatArray | None, inputs: Mapping[str, Any] | None
    ) -> Solution:
        """The solution that an answer of the factorisation is."""
        return Solution(self.problem, answer.u, single, self.learned, data, inputs, answer.misfit, answer.size)

    def on(self, x: Any, op: Operator = identity, *, outside: str = "raise") -> FixedOperator:
        """T followed by evaluation of ``op(u)`` at x (M, d), precomputed: one matrix (M, N), or two if that is less.

        ``S = T.on(x)``; ``S(f, g)`` is (M,), or (M, B) for B inputs, and can be differentiated, jitted and vmapped
        with JAX.
        """
        points = places(self.problem, x, outside)
        matrices = self.factorisation.factors(self.factorisation.expansion.matrix(self._left(op, points)))
        separate = sum(matrix.size for matrix in matrices)
        if separate > len(points) * self.n_points:
            matrices = (_product(matrices),)
        return FixedOperator(self, points.x, frozen(tuple(map(np.ascontiguousarray, matrices))))

    def basis(self, x: Any) -> FloatArray:
        """The kernel basis ψ at x: (M, N), so that u(x) = ψ h. Interior columns approximate the Green's function."""
        return self.on(x).matrix

    def std(self, x: Any, op: Operator = identity) -> FloatArray:
        """The posterior standard deviation of ``op(u)`` at x (M, d): (M,).

        It is that of the Gaussian process with prior covariance K and independent noise of variance λN / w_k in the
        data (stated by ``learn(noise=…)``). It depends on where the data are, not on what they are. If no noise was
        stated, only its ratio to the prior is known: ``u.std(x)`` of a solution u = T(f, g) finds the scale of both
        from the data.

        The prior of `Subspace` has c ~ N(0, I) for the coefficients and noise λ / w_k, unless its penalty is "rkhs".
        """
        return np.sqrt(self.factorisation.variance(self._uncertain("std", x, op)))

    def covariance(self, x: Any, y: Any = None, op: Operator = identity) -> FloatArray:
        """The posterior covariance of ``op(u)`` at x with that at y, (M, M'); without y at x with itself, (M, M).

        As for `std`, whose squares are on the diagonal.
        """
        one = self.factorisation.posterior(self._uncertain("covariance", x, op))
        if y is None:
            return one.covariance()
        return one.across(self.factorisation.posterior(self._uncertain("covariance", y, op, "y")))

    def samples(
        self, x: Any, number: int, *values: Any, op: Operator = identity, seed: int = 0, **named: Any
    ) -> FloatArray:
        """Draws from the posterior of ``op(u)`` at x given these inputs: (M, number), or (M, B, number) for B inputs.

        Their mean is T(…)(x), their covariance `covariance`. Draws for several inputs are independent.
        """
        count, first = check_integer("number", number, least=1), check_integer("seed", seed, least=0)
        posterior = self.factorisation.posterior(self._uncertain("samples", x, op))
        mean = self(*values, **named).apply(op, x)
        return with_draws(mean, posterior, np.ones(1 if mean.ndim == 1 else mean.shape[1]), count, first)

    def evidence(self, *values: Any, **named: Any) -> Evidence:
        """The marginal likelihood of these inputs, and the scale of the prior at which it is largest."""
        h = self._columns(named_inputs(self.problem, values, named))
        flat = h.reshape(len(h), -1)
        return evidence(self.factorisation, flat, self.noise is not None, h.ndim == 1)

    def _uncertain(self, asked: str, x: Any, op: Operator, name: str = "x") -> Functionals:
        """op(u) at x, if there is a prior."""
        if not self.factorisation.proper:
            got = "a Subspace operator without regularisation, which has no prior"
            remedy = (
                "state the noise of the data in learn(noise=…), or give regularization= (λ > 0), or use ko.Full() or"
                " ko.LowRank(); or ask a solution, u.std(x), which finds the level of noise from its data"
            )
            raise fail(ArgumentError, asked, got, remedy)
        return self._left(op, places(self.problem, x, None, name))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the operator to a file, from which `kernop.load` brings it back: the same numbers to the last bit.

        The file holds numbers and words and no code. What you wrote as functions (coefficients, predicates, an
        envelope) is stored by its values at the points, so T, u and its derivatives work without them; where more is
        needed, an error says so, and ``load(path, problem=…)`` brings it back. A kernel of your own is refused.
        """
        storage.check_place(path)
        about = {**self.about, "written": {"when": now(), **versions()}}
        file = Encoder()
        header = file.encode(replace(closed(self), about=about))
        storage.write(path, KIND, {"format": FORMAT, **header}, file.arrays)

    def check(self) -> None:
        """Raise unless points, functionals and factorisation, which come from a file, belong to the conditions."""
        names, n, weights = self.problem.names, self.n_points, self.factorisation.weights
        if self.points.keys() != set(names) or (self.noise is not None and self.noise.keys() != set(names)):
            raise fail(ArgumentError, "points, noise", "other names than the conditions have", REWRITE)
        for condition in self.problem.conditions:
            own = self.points[condition.name]
            if own.timed != condition.on.timed or not np.all(condition.on.contains(own.x)):
                raise fail(ArgumentError, "points", f"some of {condition.name!r} outside its region", REWRITE)
        if len(weights) != len(names) or self.factorisation.size != n:
            got = f"one of {len(weights)} conditions and {self.factorisation.size} rows, not {len(names)} and {n}"
            raise fail(ArgumentError, "factorisation", got, REWRITE)
        if getattr(self.factorisation, "method", self.method) != self.method:
            raise fail(ArgumentError, "method", "another one than that of the factorisation", REWRITE)
        self._check_functionals()

    def _check_functionals(self) -> None:
        functionals = self.collocated
        same = len(functionals.blocks) == len(self.problem.names) and all(
            np.array_equal(block.x, self.points[name].x)
            for name, block in zip(self.problem.names, functionals.blocks, strict=True)
        )
        if not same:
            raise fail(ArgumentError, "functionals", "some that are not at the points", REWRITE)
        right = self.factorisation.expansion.functionals.order
        for name, block in zip(self.problem.names, functionals.blocks, strict=True):
            needed = max(self.method.derivatives_needed(block.order), block.order + right)
            check_smoothness(self.kernel, needed, name)

    def update(self, points: Mapping[str, Any]) -> SolutionOperator:
        """The operator learned from more points: a new one, at a fraction of the cost of learning again.

        Arguments:
            points: new points of some conditions by name: `Points`, or an array (n, d).

        Everything that was chosen stays: kernel, centres, weights, and the noise that λ stands for. So the result is,
        to rounding, that of learning from all N + n points with the same kernel, centres and weights, and λN / (N + n)
        for λ; `Subspace` keeps λ itself unless its penalty is "rkhs". (`LowRank` may choose other pivots; the
        estimates then agree as far as its ``tol``.) ``T.points[name]`` has the old points first, then the new ones.
        """
        together, new = added(self.problem, self.points, points)
        return self._changed(together, lambda functionals: self.factorisation.extended(functionals, new))

    def remove(self, points: Mapping[str, Any]) -> SolutionOperator:
        """The operator learned without some of the points, as when a sensor dies: a new one.

        Arguments:
            points: the numbers of points that leave, for some conditions by name: rows of ``T.points[name]``, or a
                mask. A condition keeps at least one point.

        The same stays as in `update`, so that ``T.update(…)`` followed by `remove` is T again. `Full` and `LowRank`
        change what they have; `Subspace` factorises again from the points that are left, because its triangle cannot
        be relieved of rows without losing all digits: this costs as much as learning.
        """
        left, gone = removed(self.problem, self.points, points)
        return self._changed(left, lambda functionals: self.factorisation.without(functionals, gone))

    def _changed(
        self, points: Mapping[str, Points], factorise: Callable[[Functionals], Factorisation]
    ) -> SolutionOperator:
        stage = Stages(False)
        with stage("collocate"):
            functionals = collocate(self.problem, points, envelope_of(self.method))
            for name, block in zip(self.problem.names, functionals.blocks, strict=True):
                check_smoothness(self.kernel, self.method.derivatives_needed(block.order), name)
        with stage("factorise"):
            factorisation = factorise(functionals)
        return replace(
            self, points=points, factorisation=factorisation, stats=stage.seconds, report=None, functionals=functionals
        )

    def _left(self, op: Operator, points: Points) -> Functionals:
        return functionals_of(op, points, self.factorisation.expansion)

    def _columns(self, given: Mapping[str, Any]) -> FloatArray:
        """The data of these inputs, (N,) or (N, B), as numbers."""
        h = all_values(self.problem, given, self.points)
        return concrete("T", h, "use S = T.on(x), then S(f, g), which JAX differentiates, jits and vmaps")

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(points)}" for name, points in self.points.items())
        inputs = ", ".join(self.problem.inputs)
        return f"SolutionOperator(({inputs}) ↦ u; points {{{sizes}}}, {self.kernel!r}, {self.how})"

    @property
    def how(self) -> str:
        """The method in short: how many functions u is written in, and what of it is not the default."""
        count = len(self.factorisation.expansion.functionals)
        parts = [f"{count} {'centres' if isinstance(self.method, Subspace) else 'functions'}"]
        for part in fields(self.method) if is_dataclass(self.method) else ():
            value = getattr(self.method, part.name)
            if part.name != "centers" and value is not part.default and value != part.default:
                parts.append(f"{part.name}={_shown(value)}")
        return f"{type(self.method).__name__}({', '.join(parts)})"


@singledispatch
def closed(operator: SolutionOperator) -> SolutionOperator:
    """The operator without a user's functions: what is known of them at the points stands in their place."""
    functionals, envelope = operator.collocated, envelope_of(operator.method)
    forms = dict(zip(operator.problem.names, functionals.blocks, strict=True))
    problem = closed_problem(operator.problem, operator.points, forms, envelope)
    method, factorisation = operator.method, operator.factorisation
    if envelope is not None:
        method, factorisation = enveloped(method, factorisation, known_envelope(envelope, operator.points))
    return replace(operator, problem=problem, method=method, factorisation=factorisation, functionals=functionals)


@dataclass(frozen=True, eq=False)
class FixedOperator:
    """S = T.on(x): data ↦ values at fixed points, one or two matrix products for each input.

    Attributes:
        x: the points, (M, d).
        matrices: their product is the kernel basis at x, (M, N).
    """

    operator: SolutionOperator
    x: FloatArray
    matrices: tuple[FloatArray, ...]

    def __repr__(self) -> str:
        return f"FixedOperator(({', '.join(self.operator.problem.inputs)}) ↦ u at {len(self.x)} points)"

    @property
    def matrix(self) -> FloatArray:
        """The kernel basis at x, (M, N)."""
        return _product(self.matrices)

    def __call__(self, *values: Any, **named: Any) -> Any:
        """(M,), or (M, B) for B inputs; NumPy for NumPy inputs, JAX for JAX inputs."""
        problem = self.operator.problem
        h = all_values(problem, named_inputs(problem, values, named), self.operator.points)
        if isinstance(h, jax.Array):
            with float64():
                for matrix in reversed(self.matrices):
                    h = jnp.asarray(matrix) @ h
                return h
        for matrix in reversed(self.matrices):
            h = matrix @ h
        return h


def _shown(value: Any) -> str:
    """A setting of a method, in short."""
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return f"{value:.3g}" if isinstance(value, float) else describe(value)


def _product(matrices: tuple[FloatArray, ...]) -> FloatArray:
    return reduce(np.matmul, matrices)
