"""The solution u = T(f, g): a function with its derivatives, its uncertainty, and its error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kernop.basics.checks import check_integer, check_memory
from kernop.basics.errors import ArgumentError, ArgumentTypeError, FloatArray, NumberArray, ShapeError, describe, fail
from kernop.basics.frozen import frozen
from kernop.basics.linalg import one_thread
from kernop.basics.progress import Stages
from kernop.collocation.ansatz import condition_functionals, functionals_of
from kernop.collocation.data import (
    Input,
    InputValue,
    all_values,
    check_untraced,
    concrete,
    flattened,
    known_everywhere,
    places,
    real_columns,
    reshaped,
    split_pairs,
    values_at,
)
from kernop.collocation.functionals import Functionals, Layout
from kernop.collocation.rows import Columns
from kernop.collocation.sampling import can_be_fresh
from kernop.geometry import Points
from kernop.language.conditions import Condition
from kernop.language.unknowns import Operator, Unknowns
from kernop.methods import Answer, Expansion, Factorisation
from kernop.methods.posterior import Posterior
from kernop.operators.combining import combined, picked
from kernop.operators.evaluated import Evaluated, Segment
from kernop.operators.shapes import PointsLike, UserValues, by_unknown, deviations, values_of
from kernop.trust.estimates import ErrorEstimate, KnownData, Learned, error_estimate
from kernop.trust.estimates.stability import from_fresh_points
from kernop.trust.evidence import data_scale
from kernop.views.sight import Sight

#: Points that cover the domain for a bound of the error, and values of functions that are searched for peaks.
COVERING, SEARCH = 10_000, 2**18


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution(Evaluated):
    """A solution u, or B of them: a function of x with its derivatives.

    With several unknowns, ``s.u`` and ``s.p`` are the solutions of each.

    Attributes:
        learned: what is known of T with u = T(…).
        data: what T was given at its points, (N, B); None if T came from a stream.
        inputs: what T was given, by name; None if it is not known.
    """

    learned: Learned | None = None
    data: FloatArray | None = None
    inputs: Input | None = None

    def __post_init__(self) -> None:
        frozen((self.function.y, self.data, self.left, self.sizes))

    @cached_property
    def misfits(self) -> FloatArray | None:
        """What least squares left of the data, relative, (B,); measured now if T saw only that it is little."""
        if self.left is not None or self.learned is None or self.data is None:
            return self.left
        answer = self.learned.factorisation.answer(self.data)
        return frozen((answer.paired() if self.paired else answer).misfit)

    @property
    def expansion(self) -> Expansion:
        """The functions that u is made of."""
        return self.function.expansion

    @property
    def coefficients(self) -> FloatArray:
        """Those of the functions of the expansion, (L, B); for rough data they are large, and cancel."""
        return self.function.coefficients

    @property
    def width(self) -> int:
        """The number B of inputs."""
        return self.function.width // 2 if self.paired else self.function.width

    def pick(self, number: int) -> Solution:
        columns = [number, number + self.width] if self.paired else [number]
        learned = self.learned
        return replace(
            self,
            function=replace(self.function, y=self.function.y[:, columns]),
            single=True,
            data=None if self.data is None else self.data[:, columns],
            inputs=None if self.inputs is None or learned is None else picked(learned, self.inputs, number),
            left=None if self.left is None else self.left[[number]],
            sizes=None if self.sizes is None else self.sizes[[number]],
        )

    def combined(self, terms: Sequence[tuple[complex, Evaluated]]) -> Solution:
        own = [(a, u) for a, u in terms if isinstance(u, Solution)]
        learned = self._learned()
        if learned.factorisation.rows is not None:
            got = "solutions of an operator that was learned from a stream"
            raise fail(ArgumentError, "u + v", got, "add what T is given, or use T.materialize()")
        fixed = {condition.name: condition.data for condition in self.problem.conditions}
        given = [(a, {**fixed, **(u.inputs or {})}) for a, u in own]
        if any(value is None for _, data in given for value in data.values()):
            raise fail(ArgumentError, "u + v", "a solution whose data is not known", "add solutions that T(…) gave")
        return answered(learned, combined(learned, given))

    def __repr__(self) -> str:
        return self._described(f"{len(self.function.y)} functions", repr(self.expansion))

    def _segments(self, x: PointsLike, outside: str) -> list[Segment]:
        points = places(self.problem, x, outside)
        return [Segment(self.function, points, points)]

    @one_thread
    def std(self, x: PointsLike, op: Operator | None = None) -> UserValues:
        """The posterior standard deviation of ``op(u)`` at x (M, d): (M,), or (M, B). The 95 % band is ± 1.96 of it.

        It is ``T.std(x)`` times the scale that makes these data most likely (``T.evidence``), or ``T.std(x)`` itself if
        the noise was stated in ``learn(noise=…)``. Where T has no prior (`Subspace` without λ), all functions of the
        subspace are taken as equally likely, and the level of noise comes from the residuals at the points,
        s² = Σ w_i |P_i u − h_i|² / (N − L): the standard error of least squares. It tells how errors in the data are
        felt, not what the subspace cannot express.
        """
        flat, shape = flattened("x", x, self.problem.dim)
        left, scale, factorisation = self._uncertain(flat, op)
        found = deviations(factorisation.variance(left), left.layouts[0])[..., None] * scale
        found = found[..., 0] if self.single else found
        return reshaped(by_unknown(found, self.problem.unknowns) if op is None else found, shape)

    def samples(self, x: PointsLike, number: int, *, op: Operator | None = None, seed: int = 0) -> UserValues:
        """Draws from the posterior of ``op(u)`` at x: (M, number), or (M, B, number); their deviation is `std`."""
        flat, shape = flattened("x", x, self.problem.dim)
        left, scale, factorisation = self._uncertain(flat, op)
        found = self.draws(left, factorisation.posterior(left), number, seed, scale)
        return reshaped(by_unknown(found, self.problem.unknowns) if op is None else found, shape)

    @one_thread
    def draws(
        self, left: Functionals, posterior: Posterior, number: int, seed: int, scale: FloatArray | float = 1.0
    ) -> NumberArray:
        """mean + s · draws, for one input or B of them, of scales s (B,): (M, …, number) or (M, …, B, number)."""
        count, first = check_integer("number", number, least=1), check_integer("seed", seed, least=0)
        rows = posterior.draws(count * self.function.width, first)
        drawn = values_of(rows, left.layouts[0], single=False, paired=self.paired)
        drawn = drawn.reshape(*drawn.shape[:-1], self.width, count) * np.reshape(scale, (-1, 1))
        mean = self._evaluated(self.function, left)
        found = (mean[..., None] if self.single else mean)[..., None] + drawn
        return found[..., 0, :] if self.single else found

    def _uncertain(self, x: PointsLike, op: Operator | None) -> tuple[Functionals, FloatArray, Factorisation]:
        """op(u) at x, the scale of the prior for each input, (B,), and what knows the posterior for the scale 1."""
        learned = self._learned()
        left = functionals_of(op, places(self.problem, x, None), self.ansatz)
        return left, self._scale(learned), learned.factorisation

    def _scale(self, learned: Learned) -> FloatArray:
        """The scale of the prior for each input, (B,): 1 if the noise was stated."""
        if learned.noise is not None:
            return np.ones(self.width)
        if self.data is None:
            got = "a solution of an operator that was learned from a stream, without a level of noise"
            raise fail(ArgumentError, "u.std", got, "state it in learn(noise=…), or learn without batch=")
        found = data_scale(learned.factorisation, self.data)
        return np.hypot(*np.split(found, 2)) if self.paired else found

    def _learned(self) -> Learned:
        if self.learned is None:
            got = "a solution that does not know its operator"
            raise fail(ArgumentError, "u", got, "ask a solution that T(…) gave")
        return self.learned

    def error_estimate(
        self, *values: InputValue, covering: int | None = COVERING, search: int | None = SEARCH, **named: InputValue
    ) -> ErrorEstimate:
        """How wrong u is, for this input: estimates of its error, and a bound from samples where there is one.

        Arguments:
            values, named: inputs that T was given as arrays, in the order of the problem or by name, as functions or
                numbers, or as values at ``T.test_points[name].x``, of shape (n,) or (n, B). Without them, those arrays
                are known at the points of T alone, and the estimate uses leave-one-out residuals, or those of parts.
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
        kind = {"single": self.single, "paired": self.paired}
        with one_thread, Stages(None) as stage, stage("estimate") as tick:
            known = self._known(values, named)
            return error_estimate(learned, self.function, known, **kind, covering=number, search=sought, tick=tick)

    @one_thread
    def correction(self) -> Solution:
        """ê, an estimate of the error u − û as a function, with which `error_estimate` begins; û + ê is nearer to u."""
        known = self._known((), {})
        if known.at_tests is None:
            got = f"a solution whose data is known at the points of T alone ({known.why_not or 'a cloud'})"
            raise fail(ArgumentError, "u", got, "give inputs as functions or numbers; u.error_estimate() needs neither")
        knowledge = from_fresh_points(self._learned())
        found = knowledge.answers.answer(knowledge.residuals(self.function, known.at_tests)).u
        return Solution(problem=self.problem, function=found, single=self.single, paired=self.paired)

    def error_sights(self) -> list[tuple[Sight, str]]:
        estimate, error = self.error_estimate(), self.correction()
        sights = [
            replace(error.sight(name), name="ê" if len(estimate.of) == 1 else f"ê of {name}") for name in estimate.of
        ]
        words = [f"relative L2 error {np.max(own.relative_l2):.0e}" for own in estimate.of.values()]
        return list(zip(sights, words, strict=True))

    def report(self) -> str:
        """What `error_estimate` says, as a table for a person: ``print(u.report())``."""
        return str(self.error_estimate())

    def _known(self, values: tuple[InputValue, ...], named: Input) -> KnownData:
        """Where the data of all conditions is known."""
        names, given = self.problem.inputs, dict(self.inputs or {})
        added = self._added(values, named)
        layouts = self._learned().named_layouts

        def everywhere_known(name: str, value: InputValue) -> bool:
            return known_everywhere(self.problem[name], value, layouts[name])

        known = {name: value for name, value in given.items() if everywhere_known(name, value)} | added
        missing = [name for name in names if name not in known]
        arrays = [name for name, value in known.items() if not everywhere_known(name, value)]
        why = ", ".join(f"{name!r} was given as an array" for name in missing + arrays)
        fresh = None
        if not missing and (added or can_be_fresh(self.problem)):
            tests = self._learned().test_points
            parts = [self._rows(c, known, tests[c.name], layouts[c.name]) for c in self.problem.conditions]
            fresh = np.concatenate(parts)
        everywhere = None if why else lambda c, points: self._rows(c, known, points, layouts[c.name])
        fixed = {condition.name: condition.data for condition in self.problem.conditions}
        functions = {name: value for name, value in (fixed | known).items() if callable(value)}
        return KnownData(self.data, fresh, everywhere, why, functions)

    def _rows(self, condition: Condition, known: Input, points: Points, layout: Layout) -> FloatArray:
        """Data of a condition at points as rows, (n, B), or (n, 2 B) if they are paired."""
        values = values_at(condition, known.get(condition.name, condition.data), points, layout)
        rows = layout.rows(concrete(condition.name, values))
        if np.iscomplexobj(rows) and not self.paired:
            got = "complex data for a solution of real data"
            raise fail(ArgumentTypeError, condition.name, got, "give the data that T was given")
        if rows.ndim == 2 and rows.shape[1] != self.width:
            got = f"data for {rows.shape[1]} inputs"
            remedy = f"u is a batch of {self.width}: give as many columns, or one (n,)"
            raise fail(ShapeError, condition.name, got, remedy)
        columns = np.broadcast_to(rows.reshape(len(rows), -1), (len(rows), self.width))
        return split_pairs(columns) if self.paired else columns

    def residual(self, name: str, points: PointsLike, data: InputValue | None = None) -> FloatArray:
        """(P_k u − h_k) at points of condition ``name``: (n,), or (n, B).

        h_k is ``data``: a function, a number, or values at the points. Without it, it is what the problem fixes or what
        T was given; if that was an array, it is known at the points of T alone. P_k u itself: ``u.apply(op, points)``.
        """
        condition = self.problem[name]
        check_untraced("points", points)
        places = condition.on.adopt(points, "points")
        rows = condition_functionals(condition, places, self.ansatz)
        found, layout = self._evaluated(self.function, rows), rows.layouts[0]
        h = self._own(condition, places, layout) if data is None else data
        target = concrete("data", values_at(condition, h, places, layout))
        if target.ndim > layout.ndim and target.shape != found.shape:
            got = f"data of shape {target.shape} for values of shape {found.shape}"
            raise fail(ShapeError, "data", got, "give one column for each solution, or values (n,) for all")
        return found - (target[..., None] if target.ndim < found.ndim else target)

    def _own(self, condition: Condition, places: Points, layout: Layout) -> InputValue:
        """The data of a condition that u solves, if it is known at these places."""
        name, given = condition.name, {condition.name: condition.data, **(self.inputs or {})}
        h = given[name]
        if h is None:
            got = f"none, and what T was given for {name!r} is not known"
            raise fail(ArgumentError, "data", got, "give a function, a number, or values at the points")
        if known_everywhere(condition, h, layout):
            return h
        if self.learned is None or not np.array_equal(self.learned.points[name].x, places.x):
            got = f"none, and {name!r} was given as an array, which is known at the points of T alone"
            raise fail(ArgumentError, "data", got, "give values at these points, or use u.apply(op, points) for P u")
        return h


def solution_of(
    learned: Learned, answer: Answer, columns: Columns, inputs: Input, data: FloatArray | None = None
) -> Solution:
    """The solution that an answer of the factorisation is.

    Arguments:
        columns: how the data stood in columns: for one input or B of them, complex or not.
        inputs: what T was given, by name.
        data: what T was given at its points, (N, B); None if that is not held.
    """
    found = answer.paired() if columns.paired else answer
    return Solution(
        problem=learned.problem,
        function=answer.u,
        single=columns.width is None,
        learned=learned,
        data=data,
        inputs=inputs,
        left=found.misfit if found.exact else None,
        sizes=found.size,
        paired=columns.paired,
    )


def answered(learned: Learned, given: Input, enough: float | None = None) -> Solution:
    """The solution for inputs by name, of an operator that holds what it needs of its rows.

    ``enough`` says that others will follow, for which it pays to prepare the operator, and how much may be left of the
    data before it must be known exactly.
    """
    data = all_values(learned.problem, given, learned.points, learned.layouts)
    data = concrete("T", data, "use S = T.on(x), then S(f, g), which JAX differentiates, jits and vmaps")
    columns, shape = real_columns(data), Columns(None if data.ndim == 1 else data.shape[1], np.iscomplexobj(data))
    learnt = learned.factorisation
    answer = learnt.answer(columns) if enough is None else learnt.answer_again(columns, enough)
    return solution_of(learned, answer, shape, given, columns)


def check_unknowns(unknowns: Unknowns) -> None:
    """Raise if an unknown has the name of something else that a solution has: ``s.data`` would not be the unknown."""
    for name in unknowns.names:
        if any(name in vars(kind) for kind in Solution.__mro__) or name in Solution.__dataclass_fields__:
            got = f"the name {name!r}, which means something else for a solution"
            raise fail(ArgumentError, "unknowns", got, f"choose another one, such as {name[0]!r}")
