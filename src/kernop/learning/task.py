"""What is common to learning once and with more and more functions: from points to a factorised operator."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernop.basics.errors import SingularGramError, fail
from kernop.basics.frozen import Kept
from kernop.basics.progress import Stages
from kernop.basics.versions import now
from kernop.collocation.ansatz import Ansatz, coefficient_mark, collocate, condition_layouts, rows_mark
from kernop.collocation.batches import StreamPoints, check_whole, stream
from kernop.collocation.cells.elliptic import Kind, equations_of, kind_of
from kernop.collocation.data import Input
from kernop.collocation.functionals import Functionals
from kernop.collocation.rows import StreamedRows
from kernop.collocation.sampling import can_be_fresh, held_out, interior, sample, top_dimension
from kernop.collocation.scales import fitted
from kernop.collocation.subdomains import holes_of, subdomains_of
from kernop.collocation.units import Frame
from kernop.geometry import Points
from kernop.kernels import Kernel
from kernop.kernels.base import check_smoothness
from kernop.language.problem import Problem
from kernop.learning.streaming import Passes
from kernop.methods import Method, Setting, Subspace
from kernop.methods.base import envelope_of
from kernop.methods.parts.crew import Crew, threads
from kernop.methods.parts.glued import PartsFactorisation
from kernop.methods.weights import Noise, Weights
from kernop.operators.operator import SolutionOperator
from kernop.trust.coverage import open_boundary
from kernop.trust.diagnosis import Diagnosis
from kernop.trust.resolution import Roughness, roughness
from kernop.trust.resonance import by_powers
from kernop.trust.wellposed import Stability, stability

#: Points of each condition at which it is seen whether its coefficients are the same as before.
FEW = 64
#: At most so many evenly spread points show whether parts resolve the coefficients.
MANY = 100_000
#: Points inside at which it is seen how well the conditions determine u.
INSIDE = 256


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """The arguments of `learn`, checked, and its steps."""

    problem: Problem
    kernel: Kernel | None
    regularization: float | None
    weights: Weights
    noise: Noise | None
    frame: Frame
    sampling: str
    seed: int
    crew: Crew = threads

    def placed(self, method: Method, points: Any) -> Mapping[str, Points]:
        """The points of each condition by name; those of a stream come when they are asked for."""
        if method.batch is None:
            check_whole(points, method)
            return sample(self.problem, points, self.sampling, self.seed)
        return StreamPoints(stream(self.problem, points, self.sampling, self.seed, method.batch))

    def rows(
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
            check_smoothness(self.kernel, method.derivatives_needed(own.order), name)
        return ansatz, functionals

    def examined(self, placed: Mapping[str, Points], rows: Functionals | StreamedRows, ansatz: Ansatz) -> Diagnosis:
        """What is doubtful whatever the data; where the points come in batches, as seen at points of our own."""
        if isinstance(rows, StreamedRows):
            if self._bounded_by_points:
                return Diagnosis()
            placed = sample(self.problem, None, self.sampling, self.seed)
            rows = collocate(self.problem, placed, ansatz)
        return Diagnosis(self.stability(rows, ansatz), self.roughness(placed))

    def factorised(
        self,
        method: Method,
        placed: Mapping[str, Points],
        rows: Functionals | StreamedRows,
        ansatz: Ansatz,
        found: Diagnosis,
        stage: Stages,
        passes: Passes | None = None,
    ) -> SolutionOperator:
        """The operator that the method makes of the rows."""
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
                holes=holes_of(self.problem),
            )
            with self._naming_the_noise():
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

    def roughness(self, points: Mapping[str, Points]) -> Roughness:
        """How rough the coefficients are that are differentiated, at these points."""
        unknowns, parts = self.problem.unknowns, subdomains_of(self.problem)
        found = [
            roughness(c, points[c.name], self.frame, unknowns, parts) for c in self.problem.conditions if not c.across
        ]
        return max(found, key=lambda r: r.part)

    def stability(self, rows: Functionals, ansatz: Ansatz) -> Stability:
        """How well the conditions determine u."""
        inside = interior(self.problem, INSIDE, self.seed)
        fresh = None if self._bounded_by_points else lambda number: self._evenly(number, ansatz)
        found = stability(rows, inside.x, self.frame, ansatz, fresh)
        place = open_boundary(self.problem, rows) if ansatz.envelope is None else None
        if place is None or found.ill_posed:
            return found
        where = np.array2string(place, precision=3)
        return replace(found, number=np.inf, unseen=f"u on the boundary near x = {where}: no condition holds there")

    @property
    def _bounded_by_points(self) -> bool:
        """Is a region known by points alone?"""
        return not can_be_fresh(self.problem) or not all(condition.on.known for condition in self.problem.conditions)

    def _evenly(self, number: int, ansatz: Ansatz) -> Functionals:
        """About so many rows: half of them inside the domain, half on boundaries, in equal parts for each condition."""
        top = top_dimension(self.problem)
        inside = {c.name: c.on.intrinsic_dim == top for c in self.problem.conditions if not c.integral}
        points = {c.name: held_out(self.problem, c, 1, self.seed) for c in self.problem.conditions if c.integral}
        for condition, layout in zip(self.problem.conditions, condition_layouts(self.problem, ansatz), strict=True):
            if condition.name in inside:
                alike = list(inside.values()).count(inside[condition.name])
                each = -(-number // (2 * alike * layout.parts))
                points[condition.name] = condition.on.sample(each, seed=self.seed)
        return collocate(self.problem, points, ansatz)

    @contextmanager
    def _naming_the_noise(self) -> Generator[None]:
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


@dataclass(frozen=True, eq=False)
class _Seen:
    """What was found, and by which coefficients: at a few points, and at those of the last operator."""

    few: Mapping[str, Points]
    mark: bytes
    found: Diagnosis
    rows: bytes = b""


#: By the way in which points are drawn, and their seed.
_seen: Kept[Problem, dict[tuple[str, int], _Seen]] = Kept()


def diagnosed(task: Task, operator: SolutionOperator) -> Diagnosis:
    """What is doubtful of the problem of a task, at evenly spread points: those of parts crowd at corners.

    Arguments:
        operator: made of parts; coefficients that a few points do not resolve are looked at by as many as it has.
    """
    seen, key = _seen.of(task.problem, dict[tuple[str, int], _Seen]), (task.sampling, task.seed)
    known, mark = seen.get(key), rows_mark(operator.collocated)
    if known is None or (known.rows != mark and known.mark != _mark(task.problem, known.few)):
        placed = sample(task.problem, None, task.sampling, task.seed)
        ansatz, rows = fitted(task.problem, placed, task.frame)
        found = Diagnosis(roughness=task.roughness(placed), stability=_stability(task, operator, rows, ansatz))
        few = {c.name: placed[c.name][:FEW] for c in task.problem.conditions if not (c.integral or c.across)}
        known = _Seen(few, _mark(task.problem, few), found)
    seen[key] = replace(known, rows=mark)
    rough = known.found.roughness
    if rough is None or not rough.unresolved:
        return known.found
    if task.problem.dim == 1:  # where points crowd, too, all neighbours are looked at
        return Diagnosis(known.found.stability, task.roughness(operator.points))
    rough = task.roughness(sample(task.problem, min(operator.n_points, MANY), task.sampling, task.seed))
    return Diagnosis(known.found.stability, rough)


def _stability(task: Task, operator: SolutionOperator, rows: Functionals, ansatz: Ansatz) -> Stability:
    """By smooth functions, and by the operator itself, if it is graded to places at which u is singular."""
    found, kind = task.stability(rows, ansatz), kind_of(task.problem)
    equations = [k for k, c in enumerate(task.problem.conditions) if c in equations_of(task.problem)]
    plain = isinstance(kind, Kind) and task.problem.unknowns.total == 1 and not task.problem.timed
    tips = isinstance(operator.factorisation, PartsFactorisation) and operator.factorisation.graded
    if found.ill_posed or not plain or not tips or len(equations) != 1 or operator.ansatz.complex:
        return found
    inside = interior(task.problem, INSIDE, task.seed).x
    own = by_powers(operator.factorisation, operator.collocated, equations[0], inside, task.frame, operator.ansatz)
    return own if own.ill_posed else found


def _mark(problem: Problem, few: Mapping[str, Points]) -> bytes:
    """A digest of the coefficients of all conditions at a few points."""
    looks = [(c, few[c.name]) for c in problem.conditions if c.name in few]
    return coefficient_mark(looks, problem.unknowns)
