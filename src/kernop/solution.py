"""The learned operator T: (f, g) ↦ u, and the solution u."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from kernop.changes import added, removed
from kernop.collocation import Functionals, collocate
from kernop.domains import Points
from kernop.errors import (
    ArgumentTypeError,
    FloatArray,
    InputNameError,
    OutsideDomainError,
    ShapeError,
    check_array,
    check_choice,
    check_coordinates,
    describe,
    fail,
)
from kernop.fields import partial
from kernop.functions import evaluate_at
from kernop.kernels import Kernel
from kernop.kernels.base import check_smoothness
from kernop.methods import Expansion, Factorisation, Method
from kernop.methods.base import envelope_of
from kernop.operators import Operator, identity, normal_form
from kernop.precision import float64
from kernop.problem import Condition, Problem
from kernop.progress import Stages


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
    """

    problem: Problem
    points: Mapping[str, Points]
    method: Method
    factorisation: Factorisation
    stats: Mapping[str, float] = field(default_factory=dict[str, float])
    report: Any = None

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

    def __call__(self, *values: Any, **named: Any) -> Solution:
        """The solution for these inputs, in the order of the problem or by name."""
        h = self._data(self._inputs(values, named))
        if isinstance(h, Tracer):
            remedy = "inside jit, grad or vmap use S = T.on(x), then S(f, g)"
            raise fail(ArgumentTypeError, "T", "traced JAX values", remedy)
        data = np.asarray(h)
        flat = data.reshape(len(data), -1)
        return Solution(
            self.problem, self.factorisation.expansion, self.factorisation.coefficients(flat), data.ndim == 1
        )

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

    def std(self, x: Any) -> FloatArray:
        """The posterior standard deviation of u at x, (M,), in the Gaussian-process view with prior kernel K."""
        points = places(self.problem, x, "raise")
        return np.sqrt(self.factorisation.variance(self._left(identity, points)))

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

    def _inputs(self, values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        names = self.problem.inputs
        wanted = f"this operator takes ({', '.join(names)})"
        if len(values) > len(names):
            raise fail(InputNameError, "T", f"{len(values)} inputs", wanted)
        given = dict(zip(names, values, strict=False))
        for name, value in named.items():
            if name in given:
                raise fail(InputNameError, "T", f"{name!r} twice", wanted)
            if name not in names:
                fixed = " (its data is fixed in the problem)" if name in self.problem.names else ""
                raise fail(InputNameError, "T", f"the unknown input {name!r}{fixed}", wanted)
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise fail(InputNameError, "T", "no " + " and no ".join(map(repr, missing)), wanted)
        return given

    def _data(self, given: dict[str, Any]) -> Any:
        """All data in one column (N,), or (N, B); a JAX array if any input is one."""
        columns = {
            condition.name: values_at(condition, given.get(condition.name, condition.data), self.points[condition.name])
            for condition in self.problem.conditions
        }
        batches = {name: column.shape[1] for name, column in columns.items() if column.ndim == 2}
        if len(set(batches.values())) > 1:
            got = ", ".join(f"{name!r} with {b}" for name, b in batches.items())
            raise fail(
                ShapeError, "T", f"batches that disagree ({got})", "give the same number of columns to each input"
            )
        if not any(isinstance(column, jax.Array) for column in columns.values()):
            return _stacked(columns, np)
        with float64():
            return _stacked(columns, jnp)

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

    @property
    def matrix(self) -> FloatArray:
        """The kernel basis at x, (M, N)."""
        return _product(self.matrices)

    def __call__(self, *values: Any, **named: Any) -> Any:
        """(M,), or (M, B) for B inputs; NumPy for NumPy inputs, JAX for JAX inputs."""
        h = self.operator._data(self.operator._inputs(values, named))  # pyright: ignore[reportPrivateUsage]
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
    """A solution u, or B of them: a function of x with its derivatives."""

    problem: Problem
    expansion: Expansion
    coefficients: FloatArray
    single: bool

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

    def residual(self, name: str, points: Any, data: Any = None) -> FloatArray:
        """(P_k u − h_k) at points of condition ``name``; without ``data`` (and none fixed in the problem), P_k u.

        ``data`` is a function, a number, or values at the points.
        """
        condition = self.problem[name]
        places = condition.on.adopt(points, "points")
        found = self._evaluate(condition.op, places)
        h = condition.data if data is None else data
        if h is None:
            return found
        target = np.asarray(values_at(condition, h, places))
        return found - (target[:, None] if target.ndim < found.ndim else target)

    def _evaluate(self, op: Operator, points: Points) -> FloatArray:
        values = self.expansion.apply(_functionals(op, points, self.expansion), self.coefficients)
        return values[:, 0] if self.single else values

    def _blank(self, values: FloatArray, points: Points, outside: str) -> FloatArray:
        if outside == "nan":
            values[~self.problem.contains(points.x)] = np.nan
        return values


def _stacked(columns: Mapping[str, Any], library: Any) -> Any:
    """One column below the other; those of one input are repeated if others are of several."""
    width = max((column.shape[1] for column in columns.values() if column.ndim == 2), default=0)
    return library.concatenate(
        [
            library.broadcast_to(column[:, None], (len(column), width)) if width and column.ndim == 1 else column
            for column in columns.values()
        ]
    )


def _product(matrices: tuple[FloatArray, ...]) -> FloatArray:
    return reduce(np.matmul, matrices)


def _functionals(op: Operator, points: Points, expansion: Expansion) -> Functionals:
    return Functionals((normal_form(op, points, multiplier=expansion.envelope),))


def places(problem: Problem, x: Any, outside: str) -> Points:
    """Evaluation points, checked: shape, finite, and inside the domain unless told otherwise."""
    check_choice("outside", outside, ("raise", "nan", "extrapolate"))
    points = x if isinstance(x, Points) else Points(check_coordinates("x", x, problem.dim))
    if points.dim != problem.dim:
        raise fail(ShapeError, "x", f"points in {points.dim} dimensions", f"the problem has {problem.dim}")
    if outside == "raise":
        beyond = ~problem.contains(points.x)
        if np.any(beyond):
            first = points.x[np.argmax(beyond)]
            got = f"{int(beyond.sum())} of {len(points)} points outside the domain, the first at {first}"
            remedy = "give points inside, or outside='nan' to blank them, or outside='extrapolate'"
            raise fail(OutsideDomainError, "x", got, remedy)
    return points


def values_at(condition: Condition, value: Any, points: Points) -> Any:
    """Data of one condition at its points, (N_k,) or (N_k, B)."""
    name, n = condition.name, len(points)
    remedy = f"give a function of x, a number, or values at T.points[{name!r}].x of shape ({n},) or ({n}, B)"
    if isinstance(value, str | bytes) or value is None:
        raise fail(ArgumentTypeError, name, describe(value), remedy)
    if callable(value):
        value = evaluate_at(name, value, points.x)
    if isinstance(value, Tracer):
        with float64():
            column = jnp.asarray(value, dtype=np.float64)
            column = jnp.broadcast_to(column, (n,)) if column.ndim == 0 else column
    else:
        column = check_array(name, value, remedy=remedy, copy=False)
        column = np.full(n, column) if column.ndim == 0 else column
        if isinstance(value, jax.Array):
            with float64():
                column = jnp.asarray(column)
    if column.ndim > 2 or column.shape[0] != n or column.size == 0:
        raise fail(ShapeError, name, f"an array of shape {column.shape}", remedy)
    return column
