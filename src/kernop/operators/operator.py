"""The learned operator T: (f, g) ↦ u."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernop.basics import storage
from kernop.basics.codec import Encoder
from kernop.basics.errors import (
    AccuracyWarning,
    ArgumentError,
    ArgumentTypeError,
    FloatArray,
    NumberArray,
    describe,
    fail,
)
from kernop.basics.fitting import REMEDY
from kernop.basics.frozen import Kept, frozen
from kernop.basics.linalg import one_thread
from kernop.basics.progress import Stages
from kernop.basics.stored import same, stored
from kernop.basics.versions import now, versions
from kernop.collocation.ansatz import collocate, functionals_of, places_of
from kernop.collocation.batches import StreamPoints
from kernop.collocation.changes import added, new_points, removed
from kernop.collocation.data import InputValue, named_inputs, places, real_columns
from kernop.collocation.functionals import Functionals
from kernop.collocation.rows import StreamedRows
from kernop.geometry import Points
from kernop.kernels.base import check_smoothness
from kernop.language.unknowns import Operator
from kernop.methods import Factorisation, Subspace
from kernop.methods.parts.glued import PartsFactorisation
from kernop.methods.streamed import FROM_STREAM, StreamedFactorisation
from kernop.operators.answering import Answering
from kernop.operators.closing import Closing, enveloped
from kernop.operators.fixed import FixedOperator, fixed
from kernop.operators.green import GreenFunction, green_function, opened
from kernop.operators.looks import plot_operator, unlabelled
from kernop.operators.records import parts_record, stream_record
from kernop.operators.shapes import PointsLike, UserValues, by_unknown, deviations
from kernop.trust.evidence import Evidence, evidence
from kernop.views.html import html_table

#: The kind of file, and the version of what is in it: a reader refuses later ones.
KIND, FORMAT = "operator", 3

#: Factorisations, and rows, whose arrays are read-only: operators that differ in what is said of them share them.
_frozen: Kept[Factorisation | Functionals, bool] = Kept()


@stored("operator", by_value=False)
@dataclass(frozen=True, eq=False, kw_only=True)
class SolutionOperator(Answering):
    """T with u = T(f, g): learned once, applied to any data.

    Made by `kernop.learn`. Inputs are functions of x (n, d), numbers, or arrays of values at ``T.points[name].x``,
    of shape (N_k,), or (N_k, B) for B inputs at once. Several different ones: ``T.solve([(f1, g1), (f2, g2)])``.

    An operator that was learned from a stream (``Subspace(batch=…)``) keeps L × L numbers of its rows: every call
    passes over the points again, a few times, for all inputs that it is given together.

    Attributes:
        problem: the conditions.
        points: the points of each condition, by name; those of a stream are brought together when they are asked for.
        method: how it was learned; `kernel`, `regularization` and `weights` tell with what.
        stats: seconds of each stage of learning.
        report: what learning to a tolerance did and why it stopped; None if no tolerance was asked for.
        noise: the standard deviation of errors in the data that was stated, by name; None if none was.
        about: when it was learned, the seed of its points, and by which versions a file of it was written.
        diagnosis: what is doubtful whatever the data: how well the conditions determine u, and coefficients that are
            not resolved.
        functionals: the conditions at the points; None if they are made again when they are needed.
        solutions: of a stream, one for each of ``learn(inputs=[…])``.
    """

    def __post_init__(self) -> None:
        for own in (self.factorisation, self.functionals):
            if own is not None:
                _frozen.of(own, lambda own=own: frozen(own) is own)

    def on(self, x: PointsLike, op: Operator | None = None, *, outside: str = "raise") -> FixedOperator:
        """T followed by evaluation of ``op(u)`` at x (M, d), precomputed: one matrix (M, N), or two if that is less.

        ``S = T.on(x)``; ``S(f, g)`` is (M,), or (M, B) for B inputs, and can be differentiated, jitted and vmapped
        with JAX. With several unknowns, and no ``op``, it is a named tuple with an entry for each.
        """
        points = places(self.problem, x, outside)
        return fixed(self, points.x, functionals_of(op, points, self.ansatz), op is None)

    def basis(self, x: PointsLike) -> UserValues:
        """The kernel basis ψ at x: (M, N), so that u(x) = ψ h: column i is the answer to data 1 at point i, else 0.

        A column of an interior point is no Green's function: T sees the data at its N points as a function, so the
        column holds what a quadrature rule would have for a weight, and is as wide as the points are apart. G(x, y)
        itself: `green`.

        (M, k, N) for an unknown with k components, and a named tuple for several unknowns. The N columns belong to the
        rows of the data: for each condition part by part, real before imaginary, each at all points.
        """
        found = self.on(x)
        return by_unknown(found.layout.values(found.matrix), self.problem.unknowns)

    def green(self, x: PointsLike, y: PointsLike) -> NumberArray:
        """The Green's function G(x, y) at x (M, d) for point sources at y (K, d): (M, K).

        L G(·, y) = δ_y with all other data 0, so u(x) = ∫ G(x, y) f(y) dy for u = T(f, 0). Infinite where x = y in two
        dimensions and more. ``T.point_source(y)`` is G(·, y) as a function, with an estimate of its error. y must lie
        inside; for one scalar unknown and no time.
        """
        return self._point_source(y)(x)

    def point_source(self, y: PointsLike) -> GreenFunction:
        """The answers to unit point sources at y (K, d): ``G = T.point_source(y)``.

        ``G(x)`` is G(x, y), (M, K), and ``G.error_estimate()`` how wrong it is at most, (K,). Any equation on a line
        whose conditions at points are as many as its order; real elliptic equations of second order, and a Δ², in any
        dimension. They are accurate as T is where the coefficients are constant, and less so where they vary.
        """
        return self._point_source(y)

    def _point_source(self, y: PointsLike) -> GreenFunction:
        operator = replace(self, problem=opened(self.problem), solutions=())
        G = green_function(operator, operator.answer, y)
        worst = int(np.argmax(G.misfits))
        if G.misfits[worst] > self.promise:
            warnings.warn(
                f"T: the Green's function of the source at {G.y[worst]} leaves {G.misfits[worst]:.1e} of its data, "
                f"more than the {self.promise:.1e} that T promises: the source is too near to a boundary, or "
                "coefficients vary too much, for T. Ask T.point_source(y).error_estimate(); learn with more points and "
                "centres",
                AccuracyWarning,
                stacklevel=3,
            )
        return G

    @one_thread
    def std(self, x: PointsLike, op: Operator | None = None) -> UserValues:
        """The posterior standard deviation of ``op(u)`` at x (M, d): (M,).

        It is that of the Gaussian process with prior covariance K and independent noise of variance λN / w_k in the
        data (stated by ``learn(noise=…)``). It depends on where the data are, not on what they are. If no noise was
        stated, only its ratio to the prior is known: ``u.std(x)`` of a solution u = T(f, g) finds the scale of both
        from the data.

        The prior of `Subspace` has c ~ N(0, I) for the coefficients and noise λ / w_k, unless its penalty is "rkhs".
        """
        left = self._uncertain("std", x, op)
        found = deviations(self.factorisation.variance(left), left.layouts[0])
        return by_unknown(found, self.problem.unknowns) if op is None else found

    @one_thread
    def covariance(self, x: PointsLike, y: PointsLike | None = None, op: Operator | None = None) -> FloatArray:
        """The posterior covariance of ``op(u)`` at x with that at y, (M, M'); without y at x with itself, (M, M).

        As for `std`, whose squares are on the diagonal. Values with several parts stand part by part, real before
        imaginary, each at all points.
        """
        one = self.factorisation.posterior(self._uncertain("covariance", x, op))
        if y is None:
            return one.covariance()
        return one.across(self.factorisation.posterior(self._uncertain("covariance", y, op, "y")))

    def samples(
        self,
        x: PointsLike,
        number: int,
        *values: InputValue,
        op: Operator | None = None,
        seed: int = 0,
        **named: InputValue,
    ) -> UserValues:
        """Draws from the posterior of ``op(u)`` at x given these inputs: (M, number), or (M, B, number) for B inputs.

        Their mean is T(…)(x), their covariance `covariance`. Draws for several inputs are independent.
        """
        left = self._uncertain("samples", x, op)
        found = self(*values, **named).draws(left, self.factorisation.posterior(left), number, seed)
        return by_unknown(found, self.problem.unknowns) if op is None else found

    @one_thread
    def evidence(self, *values: InputValue, **named: InputValue) -> Evidence:
        """The marginal likelihood of these inputs, and the scale of the prior at which it is largest."""
        h = self._columns(named_inputs(self.problem, values, named))
        if np.iscomplexobj(h):
            remedy = "ask for the real and the imaginary part apart"
            raise fail(ArgumentTypeError, "evidence", "complex data for a real operator", remedy)
        return evidence(self.factorisation, real_columns(h), self.noise is not None, h.ndim == 1)

    def _uncertain(self, asked: str, x: PointsLike, op: Operator | None, name: str = "x") -> Functionals:
        """op(u) at x, if there is a prior."""
        if not self.factorisation.proper:
            got = "a Subspace operator without regularisation, which has no prior"
            remedy = (
                "state the noise of the data in learn(noise=…), or give regularization= (λ > 0), or use ko.Full() or"
                " ko.LowRank(); or ask a solution, u.std(x), which finds the level of noise from its data"
            )
            raise fail(ArgumentError, asked, got, remedy)
        return functionals_of(op, places(self.problem, x, None, name), self.ansatz)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the operator to a file, from which `kernop.load` brings it back: the same numbers to the last bit.

        The file holds numbers and words and no code. What you wrote as functions (coefficients, predicates, an
        envelope) is stored by its values at the points, so T, u and its derivatives work without them; where more is
        needed, an error says so, and ``load(path, problem=…)`` brings it back. A kernel of your own is refused.
        """
        storage.check_place(path)
        about = {**self.about, "written": {"when": now(), **versions()}}
        file = Encoder()
        header = file.encode(replace(without_functions(self), about=about))
        storage.write(path, KIND, {"format": FORMAT, **header}, file.arrays)

    def check(self) -> None:
        """Raise unless points, functionals and factorisation, which come from a file, belong to the conditions."""
        names, weights = self.problem.names, self.factorisation.weights
        if self.points.keys() != set(names) or (self.noise is not None and self.noise.keys() != set(names)):
            raise fail(ArgumentError, "points, noise", "other names than the conditions have", REMEDY)
        for condition in self.problem.conditions:
            own = self.points[condition.name]
            if own.timed != condition.on.timed or not np.all(condition.on.contains(own.x)):
                raise fail(ArgumentError, "points", f"some of {condition.name!r} outside its region", REMEDY)
            if condition.integral and own.weight is None:
                raise fail(ArgumentError, "points", f"some of the integral {condition.name!r} without weights", REMEDY)
        if self.factorisation.expansion.dim != self.problem.dim:
            raise fail(ArgumentError, "expansion", "functions in other dimensions than the problem", REMEDY)
        if self.ansatz.unknowns != self.problem.unknowns:
            raise fail(ArgumentError, "ansatz", "other unknowns than those of the problem", REMEDY)
        if getattr(self.factorisation, "method", self.method) != self.method:
            raise fail(ArgumentError, "method", "another one than that of the factorisation", REMEDY)
        n = self._check_functionals()
        if len(weights) != len(names) or self.factorisation.size != n:
            got = f"one of {len(weights)} conditions and {self.factorisation.size} rows, not {len(names)} and {n}"
            raise fail(ArgumentError, "factorisation", got, REMEDY)

    def _check_functionals(self) -> int:
        """The number of rows, if the functionals are those of the conditions at the points."""
        functionals, conditions = self.collocated, self.problem.conditions
        if len(functionals.layouts) != len(conditions) or functionals.count > self.ansatz.count:
            raise fail(ArgumentError, "functionals", "some of other conditions or unknowns", REMEDY)
        for condition, own in zip(conditions, functionals.conditions, strict=True):
            places = places_of(condition, self.points[condition.name])
            if not all(same((block.x, block.starts), places) for block in own.blocks):
                raise fail(ArgumentError, "functionals", "some that are not at the points", REMEDY)
            self.factorisation.expansion.check_order(own.order, condition.name)
            check_smoothness(self.kernel, self.method.derivatives_needed(own.order), condition.name)
        return len(functionals)

    @one_thread
    def update(self, points: Mapping[str, PointsLike]) -> SolutionOperator:
        """The operator learned from more points: a new one, at a fraction of the cost of learning again.

        Arguments:
            points: new points of some conditions by name: `Points`, or an array (n, d).

        Everything that was chosen stays: kernel, centres, weights, and the noise that λ stands for. So the result is,
        to rounding, that of learning from all N + n points with the same kernel, centres and weights, and λN / (N + n)
        for λ; `Subspace` keeps λ itself unless its penalty is "rkhs". (`LowRank` may choose other pivots; the
        estimates then agree as far as its ``tol``.) ``T.points[name]`` has the old points first, then the new ones.
        """
        if self.factorisation.rows is not None:
            return self._longer(self.factorisation.rows, points)
        together, new = added(self.problem, self.points, self.layouts, points)
        return self._changed(together, lambda functionals: self.factorisation.extended(functionals, new))

    @one_thread
    def remove(self, points: Mapping[str, ArrayLike]) -> SolutionOperator:
        """The operator learned without some of the points, as when a sensor dies: a new one.

        Arguments:
            points: the numbers of points that leave, for some conditions by name: rows of ``T.points[name]``, or a
                mask. A condition keeps at least one point.

        The same stays as in `update`, so that ``T.update(…)`` followed by `remove` is T again. `Full` and `LowRank`
        change what they have; `Subspace` factorises again from the points that are left, because its triangle cannot
        be relieved of rows without losing all digits: this costs as much as learning. Points of a stream cannot leave.
        """
        if self.factorisation.rows is not None:
            raise fail(ArgumentError, "T", FROM_STREAM, "learn again from what is left")
        left, gone = removed(self.problem, self.points, self.layouts, points)
        return self._changed(left, lambda functionals: self.factorisation.without(functionals, gone))

    def _longer(self, rows: StreamedRows, points: Mapping[str, PointsLike]) -> SolutionOperator:
        """With more points at the end of the stream; those until now are not read again."""
        rows.stream.check_again()
        new = new_points(self.problem, points)
        longer = rows.extended(new, self.method.batch or sum(map(len, new.values())))
        return replace(
            self,
            points=StreamPoints(longer.stream),
            factorisation=self.factorisation.longer(longer),
            stats={},
            report=None,
            solutions=(),
        )

    def with_client(self, client: object) -> SolutionOperator:
        """The same operator, whose passes run on the workers of a Dask client; in this process if it is None."""
        return replace(self, factorisation=self.factorisation.with_client(client))

    @one_thread
    def materialize(self, path: str | os.PathLike[str] | None = None) -> SolutionOperator:
        """The same operator, which passes over its points no more; T itself if it does not.

        Of a stream it holds an N × L matrix, in memory or in a file that is mapped. It can then do all that operators
        do (`on`, `basis`), at O(N L) for each input.
        """
        held = self.factorisation.materialized(path)
        if held is self.factorisation:
            return self
        return replace(self, points=dict(self.points), factorisation=held, solutions=())

    def _changed(
        self, points: Mapping[str, Points], factorise: Callable[[Functionals], Factorisation]
    ) -> SolutionOperator:
        stage = Stages(False)
        with stage("collocate"):
            functionals = collocate(self.problem, points, self.ansatz)
            for name, own in zip(self.problem.names, functionals.conditions, strict=True):
                check_smoothness(self.kernel, self.method.derivatives_needed(own.order), name)
        with stage("factorise"):
            factorisation = factorise(functionals)
        return replace(
            self, points=points, factorisation=factorisation, stats=stage.seconds, report=None, functionals=functionals
        )

    def plot(self, *, ax: object = None) -> Any:
        """Draw T: its points, or its parts; the error of every level of learning; and its answer to a point source.

        Returns axes of matplotlib, one for each panel: ``ax`` can give them. Needs ``kernop[plot]``.
        """
        return plot_operator(self, self.report, self._point_source, self.answer, ax)

    def _repr_html_(self) -> str:
        rows = [
            ("from", ", ".join(self.problem.inputs)),
            ("to", ", ".join(self.problem.unknowns.names)),
            ("points", f"{self.n_points}"),
            ("space", self.space),
            ("method", self.how),
        ]
        rows += [("learned", str(self.report).partition("\n")[0])] if self.report is not None else []
        draw = (lambda ax: unlabelled(self.problem.plot(points=0, ax=ax))) if self.problem.dim < 3 else None
        return html_table("SolutionOperator", rows, draw)

    def __repr__(self) -> str:
        if isinstance(self.points, StreamPoints):
            sizes = f"{self.n_points} points"
        else:
            sizes = f"points {{{', '.join(f'{name}: {len(own)}' for name, own in self.points.items())}}}"
        outputs = ", ".join(self.problem.unknowns.names)
        outputs = f"({outputs})" if "," in outputs else outputs
        return f"SolutionOperator(({', '.join(self.problem.inputs)}) ↦ {outputs}; {sizes}, {self.space}, {self.how})"

    @property
    def space(self) -> str:
        """The functions in which u is written, in short: their kernel, or what else they are."""
        return repr(self.factorisation.expansion)

    @property
    def how(self) -> str:
        """The method in short: how many functions u is written in, and what of it is not the default."""
        space, own = self.factorisation.expansion, isinstance(self.method, Subspace)
        count = len(space) // (self.ansatz.width if own else 1)
        parts = [f"{count} {'centres' if own and space.prior is not None else 'functions'}"]
        for part in fields(self.method) if is_dataclass(self.method) else ():
            value = getattr(self.method, part.name)
            if part.name != "centers" and value is not part.default and value != part.default:
                parts.append(f"{part.name}={_shown(value)}")
        return f"{type(self.method).__name__}({', '.join(parts)})"


def without_functions(operator: SolutionOperator) -> SolutionOperator:
    """The operator without a user's functions: what is known of them at the points stands in their place."""
    method, factorisation, functionals = operator.method, operator.factorisation, None
    if isinstance(factorisation, StreamedFactorisation):
        factorisation = stream_record(factorisation, operator.solutions)
    else:
        functionals = operator.collocated
    if isinstance(factorisation, PartsFactorisation):
        factorisation = parts_record(factorisation)
    points = dict(operator.points)
    closing = Closing(operator.problem, points, operator.ansatz, functionals)
    envelope, parts = closing.envelope(), {"points": points, "functionals": functionals, "solutions": ()}
    if envelope is not None:
        method, factorisation = enveloped(method, factorisation, envelope)
    return replace(operator, problem=closing.closed(), method=method, factorisation=factorisation, **parts)


def _shown(value: object) -> str:
    """A setting of a method, in short."""
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return f"{value:.3g}" if isinstance(value, float) else describe(value)
