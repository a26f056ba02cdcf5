"""What is stored of factorisations that hold more than numbers: streams of points, and operators made of parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import ArgumentError, FloatArray, IntArray, NumberArray, fail
from kernop.basics.fitting import REMEDY, check_positive, check_shape
from kernop.basics.ragged import Ragged
from kernop.basics.stored import stored
from kernop.collocation.batches import recorded
from kernop.collocation.cells.elliptic import equations_of
from kernop.collocation.cells.lasting import space_of
from kernop.collocation.functionals import Functionals
from kernop.collocation.rows import StreamedRows
from kernop.collocation.stream import Stream
from kernop.geometry import Points
from kernop.language.problem import Problem
from kernop.methods import Answer, Combination, Subspace
from kernop.methods.base import Factorisation
from kernop.methods.parts.glued import PartsFactorisation
from kernop.methods.parts.gluing import Glue, Group
from kernop.methods.parts.local import Local
from kernop.methods.parts.placing import PartRows
from kernop.methods.parts.space import PartsSpace
from kernop.methods.posterior import Posterior
from kernop.methods.regression import Regression
from kernop.methods.streamed import KeptOfRows, StreamedFactorisation
from kernop.operators.solution import Solution


@stored("solution of a stream", by_value=False)
@dataclass(frozen=True, eq=False)
class SolutionRecord:
    """The solution of inputs that were known in advance.

    Arguments:
        single: is it one function, and not B of them?
        y: coordinates Q₁ᵀ √W h, (L, B); (L, 2 B) if paired.
        misfit: what they leave of the data, (B,); None: y are coefficients.
        paired: are they the real parts of complex functions, followed by their imaginary parts?
    """

    single: bool
    y: FloatArray
    misfit: FloatArray | None
    paired: bool

    def check(self) -> None:
        """Raise unless there is a misfit for each of B functions."""
        each = 2 if self.paired else 1
        check_shape("y", self.y, None, each if self.single else None)
        if self.misfit is not None:
            check_shape("misfit", self.misfit, self.y.shape[1] // each)


@stored("stream", by_value=False)
@dataclass(frozen=True, eq=False, kw_only=True)
class StreamRecord(KeptOfRows):
    """What is stored of a streamed factorisation; the points are those of the operator.

    Arguments:
        starts: how many points of each condition come before batch k, (K + 1, conditions).
        solutions: those of inputs that were known in advance.
        contrast: how much rows count by the part of the domain they are in; see `Regression`.
    """

    method: Subspace
    starts: IntArray
    solutions: tuple[SolutionRecord, ...]
    contrast: FloatArray | None = None

    def check(self) -> None:
        super().check()
        count, steps = len(self.expansion), np.diff(self.starts, axis=0)
        check_shape("upper", self.upper, count, count)
        check_shape("starts", self.starts, None, len(self.weights))
        if np.any(self.starts[0]) or np.any(steps < 0) or not len(steps) or not np.all(np.any(steps, axis=1)):
            raise fail(ArgumentError, "starts", "numbers that are not where batches begin", REMEDY)
        if isinstance(self.penalty, np.ndarray):
            check_shape("penalty", self.penalty, count, count)
        for record in self.solutions:
            check_shape("y", record.y, count, record.y.shape[1])
        if self.method.batch is None:
            raise fail(ArgumentError, "method", "one without batches", REMEDY)

    def answer(self, h: FloatArray) -> Answer:
        raise self._refusal("asked before it is revived")

    def revived(self, problem: Problem, points: Mapping[str, Points]) -> StreamedFactorisation:
        """The factorisation, whose rows are those of a problem at all points."""
        if self.starts[-1].tolist() != [len(own) for own in points.values()]:
            raise fail(ArgumentError, "path", "a stream whose batches do not have all points", REMEDY)
        rows = StreamedRows(recorded(problem, points, self.starts), self.expansion.ansatz)
        regression = Regression(rows, self.expansion, self.weights, self.method.solver == "qr", self.contrast)
        return StreamedFactorisation(**_shared(self), regression=regression)

    def solved(self, problem: Problem) -> tuple[Solution, ...]:
        """The solutions of inputs that were known in advance."""
        return tuple(
            Solution(
                problem=problem,
                function=Combination(self.expansion, own.y, None if own.misfit is None else self.upper),
                single=own.single,
                left=own.misfit,
                paired=own.paired,
            )
            for own in self.solutions
        )


def stream_record(factorisation: StreamedFactorisation, solutions: Sequence[Solution]) -> StreamRecord:
    """What is stored of a streamed factorisation, and of solutions."""
    records = tuple(SolutionRecord(u.single, u.function.y, u.misfits, u.paired) for u in solutions)
    starts, parts = _starts(factorisation.rows.stream), factorisation.regression.contrast
    return StreamRecord(**_shared(factorisation), starts=starts, solutions=records, contrast=parts)


def _shared(kept: KeptOfRows) -> dict[str, Any]:
    """The arguments that a streamed factorisation and its record have in common."""
    return {field.name: getattr(kept, field.name) for field in fields(KeptOfRows)}


def _starts(stream: Stream) -> IntArray:
    stream.check_again("give arrays or ko.Batches to learn: the file of a stream holds its points")
    return np.array([list((stream.start(k) or {}).values()) for k in range((stream.number or 0) + 1)], dtype=np.intp)


@stored("parts of an operator", by_value=False)
@dataclass(kw_only=True, frozen=True, eq=False)
class PartsRecord(Factorisation):
    """What is stored of a `PartsFactorisation`.

    Arguments:
        locals: the K parts that differ.
        which: the one of them that each part is, (P,).
        rows_of: the numbers of the rows of each part.
        roots: √w of the rows of each part.
        strengths: the unit of fluxes of each part, (P,).
        unknowns: the numbers of the unknowns on the faces of each part.
        groups: of the tree, without their children, each behind its children; the last is the root.
        parents: the group of which each is a child, (G,); −1 for the root.
        count: the number of all unknowns.
        partner: the unknown on the other side of each, (count,); None if both sides share it.
        number: of rows, N.
        integrals: the rows that are integrals over several parts, (k,).
        integrands: what they, and their copies for imaginary parts, make of the functions of each part, (P, s, m),
            with zeros behind those of parts that have fewer functions than others.
        condition: the worst reciprocal condition number in the tree.
    """

    locals: tuple[Local, ...]
    which: NDArray[np.int64]
    rows_of: Ragged
    roots: Ragged
    strengths: FloatArray
    unknowns: Ragged
    groups: tuple[Group, ...]
    parents: NDArray[np.int64]
    count: int
    partner: NDArray[np.int64] | None
    number: int
    integrals: NDArray[np.int64]
    integrands: FloatArray
    condition: float

    @property
    def size(self) -> int:
        return self.number

    def check(self) -> None:
        super().check()
        space = self.expansion
        if not isinstance(space, PartsSpace) or not self.locals or not self.groups:
            raise fail(ArgumentError, "expansion", "one that is not made of parts", REMEDY)
        parts, widths = len(space.uppers), np.diff(space.starts).tolist()
        check_shape("which", self.which, parts)
        check_positive("strengths", self.strengths, parts)
        _check_numbers("which", self.which, len(self.locals))
        _check_numbers("rows", self.rows_of.values, self.number)
        _check_numbers("unknowns", self.unknowns.values, self.count)
        _check_numbers("integrals", self.integrals, self.number)
        _check_all("rows, integrals", np.concatenate([self.rows_of.values, self.integrals]), self.number)
        k = len(self.integrals)
        if self.integrands.shape not in {(parts, k, max(widths)), (parts, 2 * k, max(widths))}:
            raise fail(ArgumentError, "integrands", f"an array of shape {self.integrands.shape}", REMEDY)
        if self.partner is not None:
            _check_all("partner", self.partner, self.count)
        if {len(self.rows_of), len(self.roots), len(self.unknowns)} != {parts}:
            raise fail(ArgumentError, "rows, roots, unknowns", "those of other parts", REMEDY)
        lengths = self.rows_of.lengths, self.roots.lengths, self.unknowns.lengths
        for k, width, rows, roots, unknowns in zip(self.which.tolist(), widths, *lengths, strict=True):
            own = self.locals[k]
            check_shape("roots", np.empty(roots), int(rows))
            count, mu = own.split
            check_shape("q", own.q, int(rows) - count, width - mu)
            check_shape("upper", own.upper, width, width)
            if (own.inner is None) != (own.beside is None):
                raise fail(ArgumentError, "inner", "bubbles without what equations make of others", REMEDY)
            if own.beside is not None:
                check_shape("beside", own.beside, count, width - mu)
            for name, found, size in (("from_trace", own.from_trace.T, width - mu), ("out", own.out, width)):
                if found.shape != (unknowns, size):
                    raise fail(ArgumentError, name, f"an array of shape {found.shape}", REMEDY)
        glue = Glue(self.unknowns.arrays, self.count, self.partner, self.integrands.shape[1])
        _check_tree(self.groups, self.parents, glue)

    def answer(self, h: FloatArray) -> Answer:
        raise self._refusal("asked before it is revived")

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        raise self._refusal("asked before it is revived")

    def posterior(self, left: Functionals) -> Posterior:
        raise self._refusal("asked before it is revived")

    def revived(self, problem: Problem) -> PartsFactorisation:
        """The factorisation that the stored record describes, with the domain of the problem: finer parts need it."""
        space = self.expansion
        assert isinstance(space, PartsSpace)
        equations = equations_of(problem)
        domain = space_of(equations[0].on) if equations else None
        mosaic = replace(space.mosaic, pieces=replace(space.mosaic.pieces, domain=domain))
        children: list[list[Group]] = [[] for _ in self.groups]
        whole, which = self.groups[-1], self.which.tolist()
        for own, parent, below in zip(self.groups, self.parents.tolist(), children, strict=True):
            whole = replace(own, children=tuple(below))
            if parent >= 0:
                children[parent].append(whole)
        return PartsFactorisation(
            expansion=replace(space, mosaic=mosaic),
            regularization=self.regularization,
            weights=self.weights,
            locals=tuple(self.locals[k] for k in which),
            part_rows=tuple(PartRows((), numbers) for numbers in self.rows_of.arrays),
            roots=self.roots.arrays,
            strengths=self.strengths,
            root=whole,
            glue=Glue(self.unknowns.arrays, self.count, self.partner, self.integrands.shape[1]),
            number=self.number,
            integrals=self.integrals,
            integrands=tuple(
                own[:, : len(self.locals[k].upper)] for own, k in zip(self.integrands, which, strict=True)
            ),
            condition=self.condition,
        )


def parts_record(found: PartsFactorisation) -> PartsRecord:
    """What is stored of an operator made of parts."""
    numbers: dict[int, int] = {}
    which = [numbers.setdefault(id(own), len(numbers)) for own in found.locals]
    distinct = {id(own): own for own in found.locals}
    groups, parents = _in_a_row(found.root)
    widest = max(own.shape[1] for own in found.integrands)
    space = found.expansion
    assert isinstance(space, PartsSpace)
    placed = replace(space.mosaic, pieces=replace(space.mosaic.pieces, domain=None), points={}, starts={})
    return PartsRecord(
        expansion=replace(space, mosaic=placed),
        regularization=found.regularization,
        weights=found.weights,
        locals=tuple(distinct.values()),
        which=np.array(which, dtype=np.int64),
        rows_of=Ragged.of([rows.numbers for rows in found.part_rows]),
        roots=Ragged.of(found.roots),
        strengths=found.strengths,
        unknowns=Ragged.of(found.glue.owned),
        groups=groups,
        parents=parents,
        count=found.glue.count,
        partner=found.glue.partner,
        number=found.number,
        integrals=found.integrals,
        # With zeros behind those that have fewer columns than others.
        integrands=np.stack([np.pad(own, ((0, 0), (0, widest - own.shape[1]))) for own in found.integrands]),
        condition=found.condition,
    )


def _in_a_row(root: Group) -> tuple[tuple[Group, ...], NDArray[np.int64]]:
    """All groups without their children, each behind its children, and the numbers of their parents."""
    found: list[tuple[Group, int]] = []  # from the root on, and where its parent is
    waiting = [(root, -1)]
    while waiting:
        group, parent = waiting.pop()
        waiting += [(child, len(found)) for child in group.children]
        found.append((group, parent))
    last = len(found) - 1
    parents = [-1 if parent < 0 else last - parent for _, parent in reversed(found)]
    return tuple(replace(group, children=()) for group, _ in reversed(found)), np.array(parents, dtype=np.int64)


def _check_numbers(name: str, numbers: NumberArray, below: int) -> None:
    if numbers.dtype != np.int64 or np.any(numbers < 0) or np.any(numbers >= below):
        raise fail(ArgumentError, name, "numbers out of range", REMEDY)


def _check_all(name: str, numbers: NumberArray, count: int) -> None:
    if not np.array_equal(np.sort(numbers), np.arange(count)):
        raise fail(ArgumentError, name, "numbers of which some are missing, or occur twice", REMEDY)


def _check_tree(groups: Sequence[Group], parents: NDArray[np.int64], glue: Glue) -> None:
    """Raise unless groups from a file are a tree in which every part, and every unknown, occurs once."""
    check_shape("parents", parents, len(groups))
    numbers = np.arange(len(groups))
    if parents[-1] != -1 or np.any(parents[:-1] <= numbers[:-1]) or np.any(parents[:-1] >= len(groups)):
        raise fail(ArgumentError, "parents", "numbers that are no tree", REMEDY)
    leaf = np.ones(len(groups), dtype=bool)
    leaf[parents[:-1]] = False
    parts = sorted(group.part for group, alone in zip(groups, leaf, strict=True) if alone)
    if parts != list(range(len(glue.owned))):
        raise fail(ArgumentError, "groups", "parts that occur twice, or never", REMEDY)
    seen: list[list[NDArray[np.int64]]] = [[] for _ in groups]
    for k, (group, alone, parent) in enumerate(zip(groups, leaf.tolist(), parents.tolist(), strict=True)):
        if alone and not np.array_equal(glue.owned[group.part], group.outer):
            raise fail(ArgumentError, "groups", "a part with other unknowns", REMEDY)
        if not alone:
            _check_group(group, glue, np.concatenate(seen[k]))
        if parent >= 0:
            seen[parent].append(group.outer)
    if len(groups[-1].outer) or sum(len(group.inner) for group in groups) != glue.count:
        raise fail(ArgumentError, "groups", "unknowns that are left over", REMEDY)


def _check_group(group: Group, glue: Glue, numbers: NDArray[np.int64]) -> None:
    """Raise unless a group eliminates what is between its children, which have these unknowns."""
    inner, outer, across = glue.split(numbers)
    last = group.least is not None
    rows = np.concatenate([across, glue.sum_numbers]) if last else across
    same = zip((inner, outer, rows), (group.inner, group.outer, group.across), strict=True)
    if not all(np.array_equal(one, other) for one, other in same):
        raise fail(ArgumentError, "groups", "unknowns that are not between their children", REMEDY)
    if not np.array_equal(group.sums, glue.sum_numbers[: 0 if last else None]):
        raise fail(ArgumentError, "sums", "other numbers than those of the integrals", REMEDY)
    n = len(inner)
    if n == 0:
        return
    if group.factor is not None:
        lu, pivots, scale = group.factor
        check_shape("factor", lu, n, n)
        check_shape("factor", scale, n)
        check_shape("factor", pivots, n)
        _check_numbers("factor", pivots, n)
    elif group.least is not None:
        q, upper, scale = group.least
        check_shape("least", q, len(rows), n)
        check_shape("least", upper, n, n)
        check_shape("least", scale, len(rows))
    if (group.factor is None) == (group.least is None) or group.down is None or group.up is None:
        raise fail(ArgumentError, "groups", "one without its matrices", REMEDY)
    if group.down.shape != (n, len(outer)) or group.up.shape != (len(outer) + len(group.sums), n):
        raise fail(ArgumentError, "groups", "matrices that do not fit", REMEDY)
