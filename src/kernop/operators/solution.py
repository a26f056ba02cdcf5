"""The solution u = T(f, g): a function with its derivatives, its uncertainty, and its error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernop.basics.errors import (
    ArgumentError,
    FloatArray,
    InputNameError,
    ShapeError,
    check_integer,
    check_memory,
    describe,
    fail,
)
from kernop.basics.frozen import frozen
from kernop.collocation.data import check_untraced, concrete, places, values_at
from kernop.collocation.functionals import Functionals
from kernop.collocation.sampling import can_be_fresh
from kernop.geometry import Points
from kernop.language.fields import partial
from kernop.language.ops import Operator, identity, normal_form
from kernop.language.problem import Condition, Problem
from kernop.methods import Combination, Expansion, Factorisation
from kernop.methods.posterior import Posterior
from kernop.trust.estimates import ErrorEstimate, Known, Learned, error_estimate
from kernop.trust.evidence import data_scale

#: Points that cover the domain for a bound of the error, and values of functions that are searched for peaks.
COVERING, SEARCH = 10_000, 2**18


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution u, or B of them: a function of x with its derivatives.

    Attributes:
        function: u as a combination of the functions of a space.
        learned: what is known of T with u = T(…).
        data: what T was given at its points, (N, B); None if T came from a stream.
        inputs: what T was given, by name; None if it is not known.
        misfits: what least squares left of the data, relative, (B,); None if it is not known.
        sizes: the norm ‖√W h‖ of the data, (B,); None if it is not known.
    """

    problem: Problem
    function: Combination
    single: bool
    learned: Learned | None = None
    data: FloatArray | None = None
    inputs: Mapping[str, Any] | None = None
    misfits: FloatArray | None = None
    sizes: FloatArray | None = None

    def __post_init__(self) -> None:
        frozen((self.function.y, self.data, self.misfits, self.sizes))

    @property
    def expansion(self) -> Expansion:
        """The functions that u is made of."""
        return self.function.expansion

    @property
    def coefficients(self) -> FloatArray:
        """Those of the functions of the expansion, (L, B); for rough data they are large, and cancel."""
        return self.function.coefficients

    @property
    def misfit(self) -> Any:
        """‖√W (P u − h)‖ / ‖√W h‖ over the points of T: a float, or (B,); None if it is not known.

        The part of the data that u does not satisfy where it was fitted. It is small where u is resolved; it is not the
        error of u, which `error_estimate` tells.
        """
        if self.misfits is None:
            return None
        return float(self.misfits[0]) if self.single else self.misfits

    def __repr__(self) -> str:
        functions, columns = self.function.y.shape
        number = "" if self.single else f"{columns} of them, "
        left = "" if self.misfits is None else f", leaves {np.max(self.misfits):.1e} of the data"
        space = f"{functions} functions, {self.expansion.kernel!r}"
        return f"Solution(x ↦ u(x) in {self.problem.dim}-D; {number}{space}{left})"

    def __call__(self, x: Any, *, outside: str = "raise") -> FloatArray:
        """u(x) for x of shape (M, d): (M,), or (M, B).

        ``outside`` says what to do with points outside the domain: "raise", "nan", or "extrapolate".
        """
        return self.apply(identity, x, outside=outside)

    def grad(self, x: Any, *, outside: str = "raise") -> FloatArray:
        """The derivatives of u along all coordinates: (M, d), or (M, d, B). On a SpaceTime the last is ∂u/∂t."""
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
        learned = self._learned()
        left = functionals_of(op, places(self.problem, x, None), self.expansion)
        return left, self._scale(learned), learned.factorisation

    def _scale(self, learned: Learned) -> FloatArray:
        """The scale of the prior for each input, (B,): 1 if the noise was stated."""
        if learned.noise is not None:
            return np.ones(self.function.width)
        if self.data is None:
            got = "a solution of an operator that was learned from a stream, without a level of noise"
            raise fail(ArgumentError, "u.std", got, "state it in learn(noise=…), or learn without batch=")
        return data_scale(learned.factorisation, self.data)

    def _learned(self) -> Learned:
        if self.learned is None:
            got = "a solution that does not know its operator"
            raise fail(ArgumentError, "u", got, "ask a solution that T(…) gave")
        return self.learned

    def error_estimate(
        self, *values: Any, covering: int | None = COVERING, search: int | None = SEARCH, **named: Any
    ) -> ErrorEstimate:
        """How wrong u is, for this input: estimates of its error, and a bound from samples where there is one.

        Arguments:
            values, named: inputs that T was given as arrays, in the order of the problem or by name, as functions or
                numbers, or as values at ``T.test_points[name].x``, of shape (n,) or (n, B). Without them, those arrays
                are known at the points of T alone, and the estimate uses leave-one-out residuals.
            covering: the number of points that cover the domain for the bound; None for no bound.
            search: the number of values of an input that is a function, or a batch of functions, which is searched for
                what the points of T do not see; None for no search. What is found, `ErrorEstimate.unseen` tells.

        The error solves the same problem with the residuals as data: a richer operator, which T learns when it is
        first asked, answers them, and what it leaves over is multiplied by a stability constant from probing fields.
        """
        learned = self._learned()
        number = None if covering is None else check_integer("covering", covering, least=16)
        check_memory("covering", 3 * (number or 0) * self.problem.dim, f"{describe(number)} points", "ask for fewer")
        sought = None if search is None else check_integer("search", search, least=16)
        check_memory("search", 16 * (sought or 0) * self.problem.dim, f"{describe(sought)} values", "ask for fewer")
        known = self._known(values, named)
        return error_estimate(learned, self.function, known, self.single, number, sought)

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
            tests = self._learned().test_points
            parts = [self._column(condition, known, tests[condition.name]) for condition in self.problem.conditions]
            fresh = np.concatenate(parts)
        everywhere = None if why else lambda condition, points: self._column(condition, known, points)
        fixed = {condition.name: condition.data for condition in self.problem.conditions}
        functions = {name: value for name, value in (fixed | known).items() if callable(value)}
        return Known(self.data, fresh, everywhere, why, functions)

    def _column(self, condition: Condition, known: Mapping[str, Any], points: Points) -> FloatArray:
        """Data of a condition at points, (n, B)."""
        column = concrete(condition.name, values_at(condition, known.get(condition.name, condition.data), points))
        width = self.function.width
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
        check_untraced("points", points)
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
        if self.learned is None or not np.array_equal(self.learned.points[name].x, places.x):
            got = f"none, and {name!r} was given as an array, which is known at the points of T alone"
            raise fail(ArgumentError, "data", got, "give values at these points, or use u.apply(op, points) for P u")
        return h

    def _evaluate(self, op: Operator, points: Points) -> FloatArray:
        values = self.function.apply(functionals_of(op, points, self.expansion))
        return values[:, 0] if self.single else values

    def _blank(self, values: FloatArray, points: Points, outside: str) -> FloatArray:
        if outside == "nan":
            values[~self.problem.contains(points.x)] = np.nan
        return values


def functionals_of(op: Operator, points: Points, expansion: Expansion) -> Functionals:
    """op(u) at points, for functions u of an expansion."""
    return Functionals((normal_form(op, points, multiplier=expansion.envelope),))


def with_draws(mean: FloatArray, posterior: Posterior, scale: FloatArray, number: int, seed: int) -> FloatArray:
    """mean + s · draws, for one input (M,) or B of them (M, B), of scales s (B,): (M, number) or (M, B, number)."""
    columns = mean.reshape(len(mean), -1, 1)
    draws = posterior.draws(number * columns.shape[1], seed).reshape(len(mean), -1, number)
    return (columns + scale[:, None] * draws).reshape(*mean.shape, number)
