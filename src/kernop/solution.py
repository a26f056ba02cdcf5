"""The learned operator T: (f, g) ↦ u, and the solution u."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from kernop import storage
from kernop.changes import added, removed
from kernop.collocation import Functionals, collocate
from kernop.data import all_values, concrete, named_inputs, places, values_at
from kernop.domains import Points
from kernop.errors import (
    ArgumentError,
    FloatArray,
    InputNameError,
    ShapeError,
    check_integer,
    check_memory,
    describe,
    fail,
)
from kernop.estimates import ErrorEstimate, Known, Learned, can_be_fresh, error_estimate, fresh_points
from kernop.evidence import Evidence, data_scale, evidence
from kernop.fields import partial
from kernop.files import KIND, Writer, write_factorisation, write_operator, write_story
from kernop.kernels import Kernel
from kernop.kernels.base import check_smoothness
from kernop.methods import Expansion, Factorisation, Method
from kernop.methods.base import envelope_of
from kernop.methods.posterior import Posterior
from kernop.operators import Operator, identity, normal_form
from kernop.precision import float64
from kernop.problem import Condition, Problem
from kernop.progress import Stages

#: Points that cover the domain for a guaranteed bound.
COVERING = 10_000


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
    """

    problem: Problem
    points: Mapping[str, Points]
    method: Method
    factorisation: Factorisation
    stats: Mapping[str, float] = field(default_factory=dict[str, float])
    report: Any = None
    noise: Mapping[str, float] | None = None
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])

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

    @property
    def test_points(self) -> dict[str, Points]:
        """Points of each condition, by name, that T did not learn from: there `Solution.error_estimate` wants data."""
        if not can_be_fresh(self.problem):
            remedy = "leave them out: u.error_estimate() then uses the points of T, one left out at a time"
            raise fail(ArgumentError, "test_points", "a domain known only by its points, which has no others", remedy)
        return fresh_points(self.problem, self.factorisation)

    def __call__(self, *values: Any, **named: Any) -> Solution:
        """The solution for these inputs, in the order of the problem or by name."""
        data = self._columns(values, named)
        flat = data.reshape(len(data), -1)
        coefficients = self.factorisation.coefficients(flat)
        given, expansion = named_inputs(self.problem, values, named), self.factorisation.expansion
        return Solution(self.problem, expansion, coefficients, data.ndim == 1, self, flat, given)

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
        return FixedOperator(self, points.x, tuple(map(np.ascontiguousarray, matrices)))

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
        h = self._columns(values, named)
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
        storage.check_path(path)
        file = Writer()
        self._write(file)
        storage.write(path, KIND, file.header, file.arrays)

    def _write(self, file: Writer) -> None:
        write_operator(file, self.problem, self.points, self.method, self.factorisation)
        write_factorisation(file.below("factorisation"), self.factorisation)
        write_story(file, self.stats, self.report, self.noise, self.about)

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
        return replace(self, points=points, factorisation=factorisation, stats=stage.seconds, report=None)

    def _left(self, op: Operator, points: Points) -> Functionals:
        return _functionals(op, points, self.factorisation.expansion)

    def _columns(self, values: tuple[Any, ...], named: dict[str, Any]) -> FloatArray:
        """The data of these inputs, (N,) or (N, B), as numbers."""
        h = all_values(self.problem, named_inputs(self.problem, values, named), self.points)
        return concrete("T", h, "inside jit, grad or vmap use S = T.on(x), then S(f, g)")

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(points)}" for name, points in self.points.items())
        inputs = ", ".join(self.problem.inputs)
        return f"SolutionOperator(({inputs}) ↦ u; points {{{sizes}}}, {self.kernel!r}, {self.method!r})"


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


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution u, or B of them: a function of x with its derivatives.

    Attributes:
        operator: T with u = T(…), and data: (N, B), what T was given at its points; None if T came from a stream.
        inputs: what T was given, by name; None if it is not known.
    """

    problem: Problem
    expansion: Expansion
    coefficients: FloatArray
    single: bool
    operator: SolutionOperator | None = None
    data: FloatArray | None = None
    inputs: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        functions, columns = self.coefficients.shape
        number = "" if self.single else f"{columns} of them, "
        return f"Solution(x ↦ u(x) in {self.problem.dim}-D; {number}{functions} functions, {self.expansion.kernel!r})"

    def __call__(self, x: Any, *, outside: str = "raise") -> FloatArray:
        """u(x) for x of shape (M, d): (M,), or (M, B).

        ``outside`` says what to do with points outside the domain: "raise", "nan", or "extrapolate".
        """
        return self.apply(identity, x, outside=outside)

    def grad(self, x: Any, *, outside: str = "raise") -> FloatArray:
        """∇u(x): (M, d), or (M, d, B)."""
        points = places(self.problem, x, outside)
        parts = [self._evaluate(lambda u, k=k: partial(u, k), points) for k in range(points.dim)]
        return self._blank(np.stack(parts, axis=1), points, outside)

    def apply(self, op: Operator, x: Any, *, outside: str = "raise") -> FloatArray:
        """(P u)(x) for any linear operator P; give `Points` with normals where P needs them."""
        points = places(self.problem, x, outside)
        return self._blank(self._evaluate(op, points), points, outside)

    def std(self, x: Any, op: Operator = identity) -> FloatArray:
        """The posterior standard deviation of ``op(u)`` at x (M, d): (M,), or (M, B). The 95 % band is ± 1.96 of it.

        It is ``T.std(x)`` times the scale that makes these data most likely (``T.evidence``), or ``T.std(x)`` itself if
        the noise was stated in ``learn(noise=…)``. Where T has no prior (`Subspace` without λ), all functions of the
        subspace are taken as equally likely, and the level of noise comes from the residuals at the points,
        s² = Σ w_i |P_i u − h_i|² / (N − L): the standard error of least squares. It tells how errors in the data are
        felt, not what the subspace cannot express.
        """
        left, scale, factorisation = self._uncertain(x, op)
        found = np.sqrt(factorisation.variance(left))[:, None] * scale
        return found[:, 0] if self.single else found

    def samples(self, x: Any, number: int, *, op: Operator = identity, seed: int = 0) -> FloatArray:
        """Draws from the posterior of ``op(u)`` at x: (M, number), or (M, B, number); their deviation is `std`."""
        count, first = check_integer("number", number, least=1), check_integer("seed", seed, least=0)
        left, scale, factorisation = self._uncertain(x, op)
        return with_draws(self.apply(op, x), factorisation.posterior(left), scale, count, first)

    def _uncertain(self, x: Any, op: Operator) -> tuple[Functionals, FloatArray, Factorisation]:
        """op(u) at x, the scale of the prior for each input, (B,), and what knows the posterior for the scale 1."""
        operator = self._known_operator()
        return (
            _functionals(op, places(self.problem, x, None), self.expansion),
            self._scale(operator),
            operator.factorisation,
        )

    def _scale(self, operator: SolutionOperator) -> FloatArray:
        """The scale of the prior for each input, (B,): 1 if the noise was stated."""
        if operator.noise is not None:
            return np.ones(self.coefficients.shape[1])
        if self.data is None:
            got = "a solution of an operator that was learned from a stream, without a level of noise"
            raise fail(ArgumentError, "u.std", got, "state it in learn(noise=…), or learn without batch=")
        return data_scale(operator.factorisation, self.data)

    def _known_operator(self) -> SolutionOperator:
        if self.operator is None:
            got = "a solution that does not know its operator"
            raise fail(ArgumentError, "u", got, "ask a solution that T(…) gave")
        return self.operator

    def error_estimate(self, *values: Any, covering: int | None = COVERING, **named: Any) -> ErrorEstimate:
        """How wrong u is, for this input: estimates of its error, and a guaranteed bound where there is one.

        Arguments:
            values, named: inputs that T was given as arrays, in the order of the problem or by name, as functions or
                numbers, or as values at ``T.test_points[name].x``, of shape (n,) or (n, B). Without them, those arrays
                are known at the points of T alone, and the estimate uses leave-one-out residuals.
            covering: the number of points that cover the domain for the guaranteed bound; None for no bound.

        The error solves the same problem with the residuals as data: a richer operator, which T learns when it is
        first asked, answers them, and what it leaves over is multiplied by a stability constant from probing fields.
        """
        operator = self._known_operator()
        number = None if covering is None else check_integer("covering", covering, least=16)
        check_memory("covering", 3 * (number or 0) * self.problem.dim, f"{describe(number)} points", "ask for fewer")
        learned = Learned(self.problem, operator.points, operator.factorisation)
        return error_estimate(learned, self.coefficients, self._known(values, named), self.single, number)

    def report(self) -> str:
        """What `error_estimate` says, as a table for a person: ``print(u.report())``."""
        return str(self.error_estimate())

    def _known(self, values: tuple[Any, ...], named: dict[str, Any]) -> Known:
        """Where the data of all conditions is known."""
        names, given = self.problem.inputs, dict(self.inputs or {})
        added = dict(zip(names, values, strict=False)) | named
        unknown = [name for name in added if name not in names]
        if len(values) > len(names) or unknown or len(added) < len(values) + len(named):
            got = f"{len(values)} values and the names {list(named)}"
            remedy = f"give some of ({', '.join(names)}), each once"
            raise fail(InputNameError, "error_estimate", got, remedy)
        known = {name: value for name, value in given.items() if callable(value) or not np.iterable(value)} | added
        missing = [name for name in names if name not in known]
        arrays = [name for name, value in known.items() if np.iterable(value) and not callable(value)]
        why = ", ".join(f"{name!r} was given as an array" for name in missing + arrays)
        fresh = None
        if not missing and (added or can_be_fresh(self.problem)):
            tests = self.operator.test_points if self.operator is not None else {}
            parts = [self._column(condition, known, tests[condition.name]) for condition in self.problem.conditions]
            fresh = np.concatenate(parts)
        everywhere = None if why else lambda condition, points: self._column(condition, known, points)
        return Known(self.data, fresh, everywhere, why)

    def _column(self, condition: Condition, known: Mapping[str, Any], points: Points) -> FloatArray:
        """Data of a condition at points, (n, B)."""
        column = concrete(condition.name, values_at(condition, known.get(condition.name, condition.data), points))
        width = self.coefficients.shape[1]
        if column.ndim == 2 and column.shape[1] != width:
            got = f"data for {column.shape[1]} inputs"
            raise fail(ShapeError, condition.name, got, f"u is a batch of {width}: give as many columns, or one (n,)")
        return np.broadcast_to(column.reshape(len(points), -1), (len(points), width))

    def residual(self, name: str, points: Any, data: Any = None) -> FloatArray:
        """(P_k u − h_k) at points of condition ``name``: (n,), or (n, B).

        h_k is ``data``: a function, a number, or values at the points. Without it, it is what the problem fixes or what
        T was given; if that was an array, it is known at the points of T alone. P_k u itself: ``u.apply(op, points)``.
        """
        condition = self.problem[name]
        places = condition.on.adopt(points, "points")
        h = self._own(condition, places) if data is None else data
        found = self._evaluate(condition.op, places)
        target = concrete("data", values_at(condition, h, places))
        if target.ndim == 2 and target.shape != found.shape:
            got = f"data of shape {target.shape} for values of shape {found.shape}"
            raise fail(ShapeError, "data", got, "give one column for each solution, or values (n,) for all")
        return found - (target[:, None] if target.ndim < found.ndim else target)

    def _own(self, condition: Condition, places: Points) -> Any:
        """The data of a condition that u solves, if it is known at these places."""
        name, given = condition.name, {condition.name: condition.data, **(self.inputs or {})}
        h = given[name]
        if h is None:
            got = f"none, and what T was given for {name!r} is not known"
            raise fail(ArgumentError, "data", got, "give a function, a number, or values at the points")
        if callable(h) or not np.iterable(h):
            return h
        if self.operator is None or not np.array_equal(self.operator.points[name].x, places.x):
            got = f"none, and {name!r} was given as an array, which is known at the points of T alone"
            raise fail(ArgumentError, "data", got, "give values at these points, or use u.apply(op, points) for P u")
        return h

    def _evaluate(self, op: Operator, points: Points) -> FloatArray:
        values = self.expansion.apply(_functionals(op, points, self.expansion), self.coefficients)
        return values[:, 0] if self.single else values

    def _blank(self, values: FloatArray, points: Points, outside: str) -> FloatArray:
        if outside == "nan":
            values[~self.problem.contains(points.x)] = np.nan
        return values


def _product(matrices: tuple[FloatArray, ...]) -> FloatArray:
    return reduce(np.matmul, matrices)


def _functionals(op: Operator, points: Points, expansion: Expansion) -> Functionals:
    return Functionals((normal_form(op, points, multiplier=expansion.envelope),))


def with_draws(mean: FloatArray, posterior: Posterior, scale: FloatArray, number: int, seed: int) -> FloatArray:
    """mean + s · draws, for one input (M,) or B of them (M, B), of scales s (B,): (M, number) or (M, B, number)."""
    columns = mean.reshape(len(mean), -1, 1)
    draws = posterior.draws(number * columns.shape[1], seed).reshape(len(mean), -1, number)
    return (columns + scale[:, None] * draws).reshape(*mean.shape, number)
