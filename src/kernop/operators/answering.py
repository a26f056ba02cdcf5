"""T as a map from data to solutions, and what it promises of them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from kernop.basics.errors import AccuracyWarning, NumberArray
from kernop.basics.linalg import one_thread
from kernop.collocation.batches import StreamPoints
from kernop.collocation.data import Input, InputValue, all_values, concrete, listed_inputs, named_inputs
from kernop.collocation.rows import StreamedRows
from kernop.kernels import Kernel
from kernop.methods import Answer, Method, Partition
from kernop.operators.between import beyond_noise, left_between, left_in_parts, left_of_terms
from kernop.operators.march import MarchedSolution, march
from kernop.operators.report import Report
from kernop.operators.solution import Solution, answered, solution_of
from kernop.trust.estimates import Learned

#: The part of the data that a solution may leave without a word, and with a penalty that the user asked for.
PROMISE, PENALISED = 1e-3, 0.1
#: The part that it may leave between the points: corners and layers leave some, data that were not seen far more.
BETWEEN = 0.05
#: The part of their terms that equations in space and time may leave, where more than a part of the promise is left.
UNBALANCED, LITTLE = 0.5, 0.1
BETWEEN_POINTS = (
    "{:.1e} of the data unsatisfied between the points of T, where it meets them at the points: the data vary faster "
    "than the points are dense, or there are too few points for so many functions"
)
UNRESOLVED = (
    "{:.0%} of the terms of its equations between the points of T: u changes faster than the space resolves, as where "
    "the first time is forgotten within a small part of all; learn on a shorter time, for T.march"
)
#: How many times the norm of the stated noise counts as noise.
NOISE = 2.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Answering(Learned):
    """T as a map: data in, solutions out, and a word where a solution leaves too much of its data.

    Attributes: see `SolutionOperator`.
    """

    method: Method
    stats: Mapping[str, float] = field(default_factory=dict[str, float])
    report: Report | None = None
    about: Mapping[str, object] = field(default_factory=dict[str, object])
    solutions: tuple[Solution, ...] = ()

    @property
    def stability(self) -> float | None:
        """The largest ‖u‖ per unit of data, in natural units: near 1 for well-posed problems, huge for ill-posed ones.

        None if it was not measured.
        """
        return None if self.diagnosis.stability is None else self.diagnosis.stability.number

    @property
    def kernel(self) -> Kernel | None:
        """The kernel that was given or chosen; None for polynomials."""
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
        streamed = self.factorisation.rows is not None
        if streamed and all(layout.parts == 1 for layout in self.layouts):
            return self.factorisation.size  # to count the points of a stream may take a pass over them
        counts = self.counts
        return self.factorisation.size if counts is None else sum(counts.values())

    def __call__(self, *values: InputValue, **named: InputValue) -> Solution:
        """The solution for these inputs, in the order of the problem or by name."""
        return self._warned([named_inputs(self.problem, values, named)])[0]

    def solve(self, inputs: Sequence[Any]) -> tuple[Solution, ...]:
        """The solutions of several inputs, each a tuple in the order of the problem or a dictionary, in one go."""
        return self._warned(listed_inputs(self.problem, inputs, "T"))

    def _warned(self, inputs: Sequence[Input]) -> tuple[Solution, ...]:
        """The solutions of several inputs by name, for a user who may ask for many more."""
        with one_thread:
            found = self.answers(inputs, again=True)
            for u in found:
                self._warn_of(u, stacklevel=4)
        return found

    def march(self, steps: int, *values: InputValue, **named: InputValue) -> MarchedSolution:
        """The solution over ``steps`` slabs of time, each as long as that on which T was learned: u(x), x = (…, t).

        Conditions on ``.initial`` take what is given in the first slab; afterwards what the slab before ends with.
        Other inputs are functions of x with the time of all slabs, t0 … t0 + steps · (t1 − t0); numbers; or arrays of
        values for each slab at ``T.points[name].x``, (steps, n) or (steps, n, B). Coefficients must not depend on time.
        """
        with one_thread:
            u = march(self, steps, named_inputs(self.problem, values, named))
            self._warn_of(u)
        return u

    def answer(self, given: Input) -> Solution:
        """The solution for inputs by name, whatever it leaves of the data."""
        return self.answers([given])[0]

    @one_thread
    def answers(self, inputs: Sequence[Input], *, again: bool = False) -> tuple[Solution, ...]:
        """The solutions of several inputs by name, whatever they leave of their data.

        ``again`` says that others will follow, for which it pays to prepare T.
        """
        rows = self.factorisation.rows
        if rows is None:
            return tuple(answered(self, given, self.promise if again else None) for given in inputs)
        rows.stream.check_again()
        known = rows.given(inputs)
        return self._split(self.factorisation.passed(known), known)

    def with_solutions(self) -> Self:
        """The same operator with the solutions of inputs that were known in advance, if there are any."""
        rows = self.factorisation.rows
        if rows is None or not rows.inputs:
            return self
        return replace(self, solutions=self._split(self.factorisation.passed(rows), rows))

    def _split(self, answer: Answer, rows: StreamedRows) -> tuple[Solution, ...]:
        """One solution for each input of the rows."""
        ends = np.cumsum([columns.count for columns in rows.columns]).tolist()
        return tuple(
            solution_of(self, answer.column(slice(end - own.count, end)), own, given)
            for own, end, given in zip(rows.columns, ends, rows.inputs, strict=True)
        )

    def _warn_of(self, u: Solution | MarchedSolution, stacklevel: int = 3) -> None:
        """Warn if a solution leaves more of the data than the operator promises, or than their noise explains."""
        found = beyond_noise(self, u) if isinstance(u, Solution) and self.noise is not None else []
        if left := self.leaves(u):
            advice = "Ask u.error_estimate(); learn with tol= and inputs=[…] for such data"
            found = [*found, f"the solution leaves {left}. {advice}"]
        for text in found:
            warnings.warn(f"T: {text}", AccuracyWarning, stacklevel=stacklevel)

    def leaves(self, u: Solution | MarchedSolution) -> str:
        """What a solution leaves of its data, in words; nothing if it is no more than the operator promises."""
        if not u.within(self.promise) and u.misfits is not None and u.sizes is not None:
            noise = NOISE * self._noise_norm / np.where(u.sizes > 0.0, u.sizes, 1.0)
            if np.any(u.misfits > self.promise + noise):
                return (
                    f"{float(np.nanmax(u.misfits)):.1e} of the data unsatisfied at the points of T, more than the "
                    f"{self.promise:.1e} that it promises: the space does not resolve this input, or the conditions "
                    "contradict each other"
                )
        counts, parted = self.counts, isinstance(self.method, Partition)
        if self.noise is not None or counts is None or not isinstance(u, Solution):
            return ""
        if parted:
            left = left_in_parts(self, u, max(BETWEEN, self.promise))
            return BETWEEN_POINTS.format(left) if left else ""
        weights = {name: weight * counts[name] for name, weight in self.weights.items()}
        left = left_between(self, u, weights)
        if not left > max(BETWEEN, self.promise):
            exact = not self.factorisation.penalised
            left = left_of_terms(self, u, weights, LITTLE * self.promise) if exact else 0.0
            return "" if left <= UNBALANCED else UNRESOLVED.format(left)
        return BETWEEN_POINTS.format(left)

    @property
    def _noise_norm(self) -> float:
        """‖√W ε‖ for the errors ε in the data that were stated; infinite if the number of points is not known."""
        if self.noise is None or self.counts is None:
            return 0.0 if self.noise is None else np.inf
        return math.sqrt(sum(w * self.counts[name] * self.noise[name] ** 2 for name, w in self.weights.items()))

    @property
    def counts(self) -> dict[str, int] | None:
        """The number of points of each condition, by name; None if it is not known."""
        if isinstance(self.points, StreamPoints):
            return self.points.stream.counts
        return {name: len(points) for name, points in self.points.items()}

    @property
    def promise(self) -> float:
        """The part of the data that a solution may leave: that of the solutions on which ``tol`` was measured, or 1e-3.

        With a λ of the user the solution is not meant to satisfy the data: 0.1.
        """
        if self.report is not None and self.report.asked:
            return self.report.promise
        return PENALISED if self.factorisation.penalised else PROMISE

    def _columns(self, given: Input) -> NumberArray:
        """The data of these inputs as rows, (N,) or (N, B); complex if a real operator is given complex data."""
        h = all_values(self.problem, given, self.points, self.layouts)
        return concrete("T", h, "use S = T.on(x), then S(f, g), which JAX differentiates, jits and vmaps")
