"""The method of parts: every cell of a domain has its own space and its own operator, and faces glue them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from kernop.basics.errors import ArgumentError, FloatArray, KernopError, check_choice, check_integer, fail
from kernop.basics.linalg import EPS, norms
from kernop.basics.stored import stored
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.fluxes import Exchange
from kernop.collocation.functionals import Block, Functionals
from kernop.collocation.mosaic import Mosaic
from kernop.methods.base import Answer, Factorisation, Method, Setting
from kernop.methods.expansion import Combination
from kernop.methods.parts.gluing import SINGULAR, Glue, Group, balanced, balanced_transposed, glued, unglued
from kernop.methods.parts.local import Local, local
from kernop.methods.parts.space import PartsSpace
from kernop.methods.parts.traces import Trace, trace
from kernop.methods.posterior import Posterior
from kernop.methods.spaces.polynomials import total_degree

#: Degrees of the polynomials on a part, and of the traces on its faces, for d = 1, 2, 3.
DEGREES, TRACES = (24, 19, 10), (1, 16, 8)
#: The traces of a cell with six faces in the plane, as a part of its functions, at most.
MOST_TRACES = 0.68
#: The degree of polynomials on parts in which u is singular: more of them only follow what they cannot resolve.
BESIDE_SINGULARITIES = 7
#: By so much coefficients of others are held down there, in units of weighted rows.
HELD = 1e3
#: What may be exchanged between parts.
GLUINGS = ("values", "robin", "impedance")
#: How far the normalised coefficients of two parts may be apart so that they count as equal.
EQUAL = 1e-13
#: Parts with which a part is compared.
COMPARED = 64


@stored("Partition")
@dataclass(frozen=True)
class Partition(Method):
    """Cells of a 2^d-tree, each with polynomials of its own; values and fluxes are continuous across faces.

    Arguments:
        cells: about so many along the longest side before corners are graded; None chooses.
        degree: total degree of the polynomials on a cell; None chooses.
        levels: how often cells at corners are halved; None chooses by the angles.
        gluing: what is exchanged between parts: "values" of u for fluxes, or both mixed, "robin" with real factors and
            "impedance" with imaginary ones, for which parts have no resonances; None chooses.
    """

    cells: int | None = None
    degree: int | None = None
    levels: int | None = None
    gluing: Literal["values", "robin", "impedance"] | None = None

    def __post_init__(self) -> None:
        if self.gluing is not None:
            check_choice("gluing", self.gluing, GLUINGS)
        for name in ("cells", "degree", "levels"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, check_integer(name, value, least=0 if name == "levels" else 1))

    @property
    def default_weights(self) -> str:
        return "balanced"

    def derivatives_needed(self, order: int) -> int:
        return order

    def degrees_for(self, dim: int) -> tuple[int, int]:
        """The degree of polynomials on a part, and the number of degrees of traces."""
        degree = self.degree or DEGREES[dim - 1]
        traces = 1 if dim == 1 else max(2, round(degree * TRACES[dim - 1] / DEGREES[dim - 1]))
        # A cell beside smaller ones has six faces, and must have more functions than they have traces.
        return degree, min(traces, max(2, int(MOST_TRACES * comb(degree + 2, 2) / 6))) if dim == 2 else traces

    def factorise(self, setting: Setting) -> Factorisation:
        raise fail(ArgumentError, "method", "a Partition without cells", "use ko.learn(problem, method=ko.Partition())")


@dataclass(frozen=True, eq=False)
class PartRows:
    """The rows of one part among all rows.

    Arguments:
        slices: one for each block that has rows there: its number and its rows.
        numbers: of all of them, (n,).
    """

    slices: tuple[tuple[int, slice], ...]
    numbers: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PartsFactorisation(Factorisation):
    """The map from data to coordinates y of all parts.

    Arguments:
        locals: what each part does; equal parts share one.
        part_rows: of each part.
        roots: √w of the rows of each part, (n,).
        strengths: the unit of what goes out of each part.
        root: the tree of groups.
        glue: the unknowns on faces.
        number: of rows, N.
        integrals: the rows that are integrals over several parts, (k,).
        integrands: what they make of the functions of each part, (s, m), s = k; or s = 2k, if the unknowns have
            imaginary parts of which no data tell.
        condition: the worst reciprocal condition number in the tree.
    """

    locals: tuple[Local, ...]
    part_rows: tuple[PartRows, ...]
    roots: tuple[FloatArray, ...]
    strengths: FloatArray
    root: Group
    glue: Glue
    number: int
    integrals: NDArray[np.intp]
    integrands: tuple[FloatArray, ...]
    condition: float = 1.0

    @property
    def size(self) -> int:
        return self.number

    @property
    def penalised(self) -> bool:
        return False

    def _outgoing(self, part: int, y: FloatArray) -> FloatArray:
        """What goes out of a part with coordinates y, and its share of the integrals."""
        return np.concatenate([self.strengths[part] * (self.locals[part].out @ y), self.integrands[part] @ y])

    @property
    def _told(self) -> list[int]:
        """Parts whose residuals tell of the solution: at singularities they are large, and no harm is done."""
        assert isinstance(self.expansion, PartsSpace)
        smooth = np.flatnonzero(self.expansion.mosaic.singular == 0).tolist()
        return smooth or list(range(len(self.locals)))

    def answer(self, h: FloatArray) -> Answer:
        weighted, y, incoming = self._solved(h)
        told = self._told
        left = [weighted[k] - self.locals[k].q @ y[k] for k in told]
        return Answer(
            Combination(self.expansion, np.concatenate(y)),
            norms(np.concatenate([*left, self._unbalanced(y, incoming, h)])),
            self._size([weighted[k] for k in told], h),
        )

    def _size(self, weighted: list[FloatArray], h: FloatArray) -> FloatArray:
        """The size of weighted data, (B,). Integrals count where nothing else is given: a mean, however large, is
        satisfied by a constant, and must not hide what is not.
        """
        size = norms(np.concatenate(weighted))
        return np.where(size > 0.0, size, norms(self._sum_weights[:, None] * self._sum_data(h)))

    def imbalance(self, h: FloatArray) -> FloatArray:
        """What is left of data h (N, B) on seams and by integrals, as a part of their size, (B,).

        That is next to nothing unless the data contradict each other, as where only slopes are given that do not fit
        the source: ∫f ≠ −∮g.
        """
        weighted, y, incoming = self._solved(h)
        size = self._size(weighted, h)
        return norms(self._unbalanced(y, incoming, h)) / np.where(size > 0.0, size, 1.0)

    def _sum_data(self, h: FloatArray) -> FloatArray:
        """The data of all sums, (s, B): imaginary parts of which no data tell have integrals of 0."""
        return np.concatenate([h[self.integrals], np.zeros((self.glue.sums - len(self.integrals), h.shape[1]))])

    def _solved(self, h: FloatArray) -> tuple[list[FloatArray], list[FloatArray], FloatArray]:
        """Weighted data and coordinates y of each part, and what comes in on all seams."""
        parts = list(zip(self.locals, self.part_rows, self.roots, strict=True))
        weighted = [roots[:, None] * h[rows.numbers] for _, rows, roots in parts]
        y = [own.q.T @ data for own, data in zip(self.locals, weighted, strict=True)]
        outgoing = [self._outgoing(k, own) for k, own in enumerate(y)]
        outgoing[0][len(self.locals[0].out) :] -= self._sum_data(h)
        incoming = balanced(self.root, outgoing, self.glue)
        owned = zip(self.locals, y, self.glue.owned, strict=True)
        return weighted, [mine + own.from_trace @ incoming[k] for own, mine, k in owned], incoming

    @cached_property
    def _seam_weights(self) -> FloatArray:
        """√w of the rows that say that what goes out of a part is taken in, as those of a condition there, (P,)."""
        sizes = {id(own): float(np.linalg.norm(own.out @ own.upper)) for own in self.locals}
        return 1.0 / (self.strengths * np.array([sizes[id(own)] or 1.0 for own in self.locals]))

    @cached_property
    def _sum_weights(self) -> FloatArray:
        """√w of the sums, which are integrals over several parts, (s,)."""
        shares = [row @ own.upper for row, own in zip(self.integrands, self.locals, strict=True)]
        return 1.0 / np.linalg.norm(np.hstack(shares), axis=1)

    def _across(self, y: list[FloatArray], incoming: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What goes out on one side of a seam and does not come in on the other, (count, B), and the sums, (s, B)."""
        total = np.zeros((self.glue.count + self.glue.sums, incoming.shape[1]))
        for k, own in enumerate(y):
            total[np.concatenate([self.glue.owned[k], self.glue.sum_numbers])] += self._outgoing(k, own)
        across, sums = np.split(total, [self.glue.count])
        return across if self.glue.partner is None else incoming + across[self.glue.partner], sums

    def _unbalanced(self, y: list[FloatArray], incoming: FloatArray, h: FloatArray) -> FloatArray:
        """What is not satisfied of the rows of all seams, and of the integrals, weighted, (n, B)."""
        across, sums = self._across(y, incoming)
        weights = self._seam_weights * self._told_once
        seams = [w * across[k] for w, k in zip(weights, self.glue.owned, strict=True)]
        return np.concatenate([*seams, self._sum_weights[:, None] * (sums - self._sum_data(h))])

    @property
    def _told_once(self) -> float:
        """Of what both sides of a seam share both parts tell."""
        return float(np.sqrt(0.5)) if self.glue.partner is None else 1.0

    def leaks(self, h: FloatArray) -> FloatArray:
        """The rms of what is not balanced on the seams of each part, in units of u: in units of its flux, (P, B)."""
        _, y, incoming = self._solved(h)
        across, _ = self._across(y, incoming)
        found = [norms(across[k]) / s for k, s in zip(self.glue.owned, self.strengths, strict=True)]
        return self._told_once * np.stack(found)

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        m = len(self.locals[0].upper)
        pulls = [e[:, k * m : (k + 1) * m].T for k in range(len(self.locals))]
        incoming = np.zeros((self.glue.count, len(e)))
        for own, mine, k in zip(self.locals, pulls, self.glue.owned, strict=True):
            incoming[k] += own.from_trace.T @ mine
        outgoing = balanced_transposed(self.root, incoming, self.glue)
        found = np.zeros((len(e), self.number))
        parts = zip(
            self.locals, self.part_rows, self.roots, pulls, outgoing, self.strengths, self.integrands, strict=True
        )
        for own, rows, roots, mine, out, s, integrand in parts:
            flux, share = out[: len(own.out)], out[len(own.out) :]
            y = mine + own.out.T @ (s * flux) + integrand.T @ share
            found[:, rows.numbers] = (roots[:, None] * (own.q @ y)).T
        first = len(self.locals[0].out)
        found[:, self.integrals] -= outgoing[0][first : first + len(self.integrals)].T
        return (found,)

    def _refusal(self, done: str) -> KernopError:
        got = f"an operator made of parts, which cannot be {done}: its points are those that its cells need"
        return fail(ArgumentError, "T", got, "learn again, or use method=ko.Subspace()")

    def _unknown(self) -> KernopError:
        remedy = "use method=ko.Full(), or ko.Subspace() with noise="
        return fail(ArgumentError, "T", "an operator made of parts, which has no likelihood", remedy)

    def posterior(self, left: Functionals) -> Posterior:
        remedy = "use method=ko.Full(), or ko.Subspace() with noise="
        raise fail(ArgumentError, "T", "an operator made of parts, which has no prior", remedy)


def factorised(
    mosaic: Mosaic,
    method: Partition,
    functionals: Functionals,
    part_rows: Sequence[PartRows],
    crossing: Exchange | None,
    ansatz: Ansatz,
    known: Known | None = None,
) -> PartsFactorisation:
    """Least squares on every part, and the tree.

    Arguments:
        functionals: all N rows; each block belongs to a condition, or to one component of it.
        part_rows: which of them each part has; what no part has are integrals.
        crossing: what crosses the seams; None if there is one part alone.
        ansatz: how the unknowns are made of the components of the space.
        known: parts of operators that were learned before with the same degree; others are added.
    """
    dim = functionals.dim
    degree, _ = method.degrees_for(dim)
    traces = [trace(dim - 1, seam.degree) for seam in mosaic.seams]
    copies = 2 if crossing is not None and crossing.doubled else 1
    space = PartsSpace(mosaic, total_degree(dim, comb(degree + dim, dim)), (), ansatz, copies * ansatz.width)
    owned: list[list[tuple[int, int]]] = [[] for _ in part_rows]  # seam, side
    for number, seam in enumerate(mosaic.seams):
        owned[seam.below].append((number, 0))
        owned[seam.above].append((number, 1))
    builder = _Builder(space, functionals, crossing, traces, {} if known is None else known)
    found = [builder.part(k, rows, owned[k]) for k, rows in enumerate(part_rows)]
    strengths = np.array([own.strength for own in found])
    space = replace(space, uppers=tuple(own.local.upper for own in found))
    integrals, integrands = _integrals(space, functionals, part_rows, copies)
    glue = _glue(traces, owned, crossing, copies * len(integrals))
    units = np.zeros(glue.count)
    for strength, mine in zip(strengths, glue.owned, strict=True):
        units[mine] = np.maximum(units[mine], strength)

    def outgoing(k: int) -> FloatArray:
        own = found[k].local
        return np.concatenate([strengths[k] * own.out, integrands[k]]) @ own.from_trace

    root, condition = glued(mosaic.cells.root, mosaic.of_cells, glue, outgoing, units)
    return PartsFactorisation(
        space,
        0.0,
        (1.0,) * len(functionals.layouts),
        tuple(own.local for own in found),
        tuple(part_rows),
        tuple(own.roots for own in found),
        strengths,
        root,
        glue,
        len(functionals),
        integrals,
        integrands,
        condition,
    )


def _integrals(
    space: PartsSpace, functionals: Functionals, part_rows: Sequence[PartRows], copies: int
) -> tuple[NDArray[np.intp], tuple[FloatArray, ...]]:
    """The rows that no part has, (k,), and what they make of the functions of each part, for each copy, (s, m)."""
    free = np.ones(len(functionals), dtype=bool)
    for rows in part_rows:
        free[rows.numbers] = False
    numbers = np.flatnonzero(free)
    if len(numbers) == 0:
        return numbers, (np.zeros((0, space.each)),) * len(part_rows)
    rows, shift = functionals.take(numbers), space.components // copies
    twins = [Functionals(tuple(_shifted(b, k * shift) for b in rows.blocks)) for k in range(copies)]
    whole = np.concatenate([space.matrix(own) for own in twins])
    return numbers, tuple(np.split(whole, len(part_rows), axis=1))


def _glue(
    traces: Sequence[Trace], owned: Sequence[Sequence[tuple[int, int]]], crossing: Exchange | None, sums: int
) -> Glue:
    """The numbers of the unknowns: seam after seam, the two sides of each behind each other if each has its own."""
    channels = 0 if crossing is None else len(crossing.incoming[0])
    shared = crossing is None or crossing.shared
    sizes = np.array([channels * len(own) for own in traces], dtype=np.intp)
    starts = np.cumsum([0, *(sizes if shared else 2 * sizes)])
    numbers = [
        [starts[f] + (0 if shared else side * sizes[f]) + np.arange(sizes[f]) for f, side in own] for own in owned
    ]
    count = int(starts[-1])
    partner = None
    if not shared:
        swapped = [start + np.roll(np.arange(2 * n), n) for start, n in zip(starts[:-1], sizes, strict=True)]
        partner = np.concatenate(swapped).astype(np.intp)
    none = np.empty(0, dtype=np.intp)
    return Glue(tuple(np.concatenate([none, *own]).astype(np.intp) for own in numbers), count, partner, sums)


@dataclass(frozen=True, eq=False)
class _Built:
    local: Local
    roots: FloatArray
    strength: float


class Alike:
    """Parts with rows of the same kinds, by the numbers that make them."""

    def __init__(self) -> None:
        self._near: list[tuple[FloatArray, _Learned]] = []
        self._same: dict[bytes, _Learned] = {}

    def find(self, numbers: FloatArray, near: float) -> _Learned | None:
        """A part whose numbers are the same, or, among the first ones, as near as this."""
        exact = self._same.get(_digest(numbers))
        if exact is not None:
            return exact
        return next((own for seen, own in self._near if np.max(np.abs(seen - numbers)) < near), None)

    def add(self, numbers: FloatArray, own: _Learned) -> None:
        """Remember a part."""
        self._same[_digest(numbers)] = own
        if len(self._near) < COMPARED:
            self._near.append((numbers, own))


def _digest(numbers: FloatArray) -> bytes:
    return blake2b(numbers.tobytes(), digest_size=16).digest()


#: What a part does, and the weights of its blocks of rows.
_Learned = tuple[Local, list[float]]
#: Parts that are known, by the kinds of their rows.
Known = dict[tuple[object, ...], Alike]


class _Builder:
    """Makes parts, and remembers them, so that equal ones are made once."""

    def __init__(
        self,
        space: PartsSpace,
        functionals: Functionals,
        crossing: Exchange | None,
        traces: Sequence[Trace],
        known: Known,
    ) -> None:
        self._space, self._functionals, self._crossing, self._traces = space, functionals, crossing, traces
        self._starts = np.cumsum([0, *(len(own.nodes) for own in traces)])
        self._known = known

    def part(self, k: int, rows: PartRows, owned: list[tuple[int, int]]) -> _Built:
        """Part k, with the seams that it has, and on which side of them it is."""
        blocks = [self._functionals.blocks[c][own] for c, own in rows.slices]
        low, high = (own[k] for own in self._space.mosaic.boxes)
        half, middle = 0.5 * (high - low), 0.5 * (high + low)
        into, out = self._at_seams(owned)
        sizes = [unit_of(block, half) for block in blocks]
        strength = max((unit_of(block, half) for block in out), default=1.0)
        units = [*sizes, *[1.0] * len(into), *[strength] * len(out)]
        every = [*blocks, *into, *out]
        tables = [_table(b, half, middle, s) for b, s in zip(every, units, strict=True)]
        numbers = np.concatenate([own.ravel() for own in tables])
        shape = (tuple(b.terms for b in every), tuple(map(len, every)), tuple(side for _, side in owned))
        degree = int(self._space.degrees.max())
        shape = (*shape, degree, int(self._space.mosaic.singular[k]))
        alike = self._known.setdefault(shape, Alike())
        near = EQUAL + 32.0 * EPS * float(np.max(np.abs(middle) / half))
        equal = alike.find(numbers, near)
        if equal is None:
            scaled = [block.scaled(np.full(len(block), 1.0 / size)) for block, size in zip(blocks, sizes, strict=True)]
            sent = [block.scaled(np.full(len(block), 1.0 / strength)) for block in out]
            equal = self._learned(k, scaled, into, sent, owned)
            alike.add(numbers, equal)
        own, weights = equal
        roots = [np.full(len(b), 1.0 / (s * w)) for b, s, w in zip(blocks, sizes, weights, strict=True)]
        return _Built(own, np.concatenate(roots), strength)

    def _at_seams(self, owned: list[tuple[int, int]]) -> tuple[list[Block], list[Block]]:
        """What comes in, and what goes out, seam after seam, channel after channel."""
        if self._crossing is None:
            return [], []
        into, out = list[Block](), list[Block]()
        for f, side in owned:
            own = slice(*self._starts[f : f + 2].tolist())
            into += [block[own] for block in self._crossing.incoming[side]]
            out += [block[own] for block in self._crossing.outgoing[side]]
        return into, out

    def _learned(
        self, k: int, blocks: list[Block], into: list[Block], out: list[Block], owned: list[tuple[int, int]]
    ) -> tuple[Local, list[float]]:
        polynomials = self._space.polynomials(k)
        rows = [polynomials.matrix(Functionals((block,))) for block in blocks]
        weights = [self._weight(own) for own in rows]
        weighted = [own / w for own, w in zip(rows, weights, strict=True)]
        data = sum(map(len, blocks))
        if self._crossing is not None and self._crossing.doubled:
            shift = self._space.components // 2
            twins = [polynomials.matrix(Functionals((_shifted(block, shift),))) for block in blocks]
            weighted += [own / w for own, w in zip(twins, weights, strict=True)]
        if self._space.mosaic.singular[k]:
            weighted.append(self._held())
        if not into:
            empty, none = np.zeros((0, weighted[0].shape[1])), np.zeros((0, 0))
            found = local(np.concatenate(weighted), empty, empty, none, none, data)
            size = np.abs(np.diagonal(found.upper))
            if not np.min(size) > SINGULAR * np.max(size):
                raise unglued()
            return found, weights
        taken = np.concatenate([polynomials.matrix(Functionals((block,))) for block in into])
        given = np.concatenate([polynomials.matrix(Functionals((block,))) for block in out])
        size = float(np.linalg.norm(taken))
        channels = len(into) // len(owned)
        own = [self._traces[f] for f, _ in owned for _ in range(channels)]
        basis, project = block_diag(*(t.values for t in own)), block_diag(*(t.project for t in own))
        return local(np.concatenate(weighted), taken / size, given, basis / size, project, data), weights

    def _held(self) -> FloatArray:
        """Rows that keep the coefficients of polynomials of higher degrees near 0."""
        high = np.flatnonzero(np.sum(self._space.degrees, axis=1) > BESIDE_SINGULARITIES)
        m = len(self._space.degrees)
        columns = np.concatenate([high + k * m for k in range(self._space.components)])
        rows = np.zeros((len(columns), self._space.each))
        rows[np.arange(len(columns)), columns] = HELD
        return rows

    def _weight(self, rows: FloatArray) -> float:
        """The size of rows, for the components that are traced: pressures have none of their own."""
        if self._crossing is None:
            return float(np.linalg.norm(rows))
        m = len(self._space.degrees)
        leading = [rows[:, k * m : (k + 1) * m] for k in self._crossing.leading]
        return float(np.sqrt(sum(np.sum(np.square(own)) for own in leading)) or np.linalg.norm(rows))


def _shifted(block: Block, shift: int) -> Block:
    """The same functionals of other components."""
    return replace(block, terms=tuple((k + shift, alpha) for k, alpha in block.terms))


def unit_of(block: Block, half: FloatArray) -> float:
    """The size of coefficients in units of a part."""
    powers = np.array([np.prod(half ** np.array(alpha)) for alpha in block.alphas])
    return float(np.max(np.abs(block.coefficients) / powers))


def _table(block: Block, half: FloatArray, middle: FloatArray, size: float) -> FloatArray:
    """Coefficients and places in units of a part, (n, A + d)."""
    powers = np.array([np.prod(half ** np.array(a)) for a in block.alphas])
    return np.hstack([block.coefficients / powers / size, (block.x - middle) / half])
