"""The method of parts: every cell of a domain has its own space and its own operator, and faces glue them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import ceil, comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kernop.basics.checks import check_choice, check_integer
from kernop.basics.errors import ArgumentError, FloatArray, KernopError, fail
from kernop.basics.frozen import Kept
from kernop.basics.linalg import norms, weighted_norms
from kernop.basics.stored import stored
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.fluxes import Exchange
from kernop.collocation.functionals import Block, Functionals
from kernop.collocation.mosaic import FACES, Counts, Mosaic
from kernop.methods.base import Answer, Factorisation, Method, Setting
from kernop.methods.expansion import Combination
from kernop.methods.parts.balancing import balanced, balanced_transposed
from kernop.methods.parts.batches import Stack, batched
from kernop.methods.parts.crew import Crew, threads
from kernop.methods.parts.gluing import SINGULAR, Glue, Group, glued, unglued
from kernop.methods.parts.leaves import Known, Leaves, PartRows
from kernop.methods.parts.local import Local
from kernop.methods.parts.space import PartsSpace, by_degree
from kernop.methods.parts.subtrees import Subtrees
from kernop.methods.parts.traces import Trace, trace_of
from kernop.methods.posterior import Posterior

#: Degrees of the polynomials on a part, and of the traces on its faces, for d = 1, 2, 3.
DEGREES, TRACES = (24, 19, 10), (1, 16, 8)
#: Points for each function, on parts that are cut, and Gauss points on those that are not.
SCATTERED, GAUSS = 2, 1.3
#: The traces on all faces of a cell in the plane, as a part of its functions, at most.
MOST_TRACES = 0.76
#: The degree of polynomials on parts in which u is singular: more of them only follow what they cannot resolve.
BESIDE_SINGULARITIES = 7
#: What may be exchanged between parts.
GLUINGS = ("values", "robin", "impedance")
#: What many columns leave is seen in so many combinations of them, if these leave less than this part of what matters.
COMBINED, SURELY = 4, 0.01


@stored("Partition")
@dataclass(frozen=True)
class Partition(Method):
    """Cells of a 2^d-tree, each with polynomials of its own; values and fluxes are continuous across faces.

    Arguments:
        cells: about so many along the longest side before corners are graded; None chooses.
        degree: total degree of the polynomials on a cell; None chooses.
        levels: how often cells are halved at the corner, or the crossing of jumps, at which u is most singular, and at
            others less often, by their angles; None chooses. In space: how often those at the sides of a box are,
            towards the sides, so that its edges are resolved; None for never, unless a tolerance asks for it.
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

    def degree_for(self, dim: int) -> int:
        """The degree of polynomials on a part that fills as large a cell as any."""
        return self.degree or DEGREES[dim - 1]

    def factorise(self, setting: Setting) -> Factorisation:
        raise fail(ArgumentError, "method", "a Partition without cells", "use ko.learn(problem, method=ko.Partition())")


def held_low(degrees: NDArray[np.int64], singular: NDArray[np.bool_], dim: int) -> NDArray[np.int64]:
    """Degrees in cells, (C,), low where u is singular. At the edges of a box in space, where u is like r² log r, all
    polynomials are of use.
    """
    return degrees if dim == 3 else np.where(singular, np.minimum(degrees, BESIDE_SINGULARITIES), degrees)


@cache
def counts_for(dim: int, degree: int) -> Counts:
    """Points and traces of a part with polynomials up to a degree. It must have more functions than its faces have
    traces, which are six and more beside smaller cells.
    """
    functions = comb(degree + dim, dim)
    traces = 1 if dim == 1 else max(2, round(degree * TRACES[dim - 1] / DEGREES[dim - 1]))
    room = int(MOST_TRACES * functions) if dim == 2 else None
    return Counts(
        scattered=SCATTERED * functions,
        along=ceil((GAUSS * functions) ** (1.0 / dim)),
        told=max(1, degree - 1),
        traces=traces,
        whole=max(2, degree - 2, traces if room is None else min(traces, room // FACES)),
        room=room,
    )


@dataclass(kw_only=True, frozen=True, eq=False)
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

    @cached_property
    def _told(self) -> NDArray[np.bool_]:
        """Parts whose residuals tell of the solution, (P,): at singularities they are large, and no harm is done."""
        smooth = self._space.mosaic.singular == 0
        return smooth if np.any(smooth) else np.ones(len(self.locals), dtype=bool)

    @cached_property
    def _squares(self) -> FloatArray:
        """w of all rows, (N,); 0 for integrals over several parts."""
        found = np.zeros(self.number)
        for rows, roots in zip(self.part_rows, self.roots, strict=True):
            found[rows.numbers] = roots**2
        return found

    @cached_property
    def _batches(self) -> list[Stack]:
        """All parts."""
        rows = [own.numbers for own in self.part_rows]
        return batched(self.locals, self._space.starts, rows, self.roots, self.glue.owned)

    @property
    def _space(self) -> PartsSpace:
        assert isinstance(self.expansion, PartsSpace)
        return self.expansion

    def answer(self, h: FloatArray) -> Answer:
        y, incoming = self._solved(h)
        return Answer(Combination(self.expansion, y), self._left(h, y, incoming), self._told_size(h))

    def answer_again(self, h: FloatArray, enough: float) -> Answer:
        """What many columns of data leave is seen in a few random combinations of them, each in units of its size.

        The norms of Gaussian combinations have the mean square ‖E‖², with E all that is left: all of them are below
        δ‖E‖ with a probability of δ to the power of their number at most. Unless all are so small, all is measured.
        """
        if h.shape[1] <= COMBINED:
            return self.answer(h)
        y, incoming = self._solved(h)
        size = self._told_size(h)
        mixed = np.random.default_rng(0).standard_normal((h.shape[1], COMBINED))
        mixed *= np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)[:, None]
        left = self._left(h @ mixed, y @ mixed, incoming @ mixed)
        u = Combination(self.expansion, y)
        if np.max(left) <= SURELY * enough:
            return Answer(u, np.max(left) * size, size, exact=False)
        return Answer(u, self._left(h, y, incoming), size)

    def _left(self, h: FloatArray, y: FloatArray, incoming: FloatArray) -> FloatArray:
        """The norm of what is not satisfied of weighted rows of parts that tell, of seams and of sums, (B,)."""
        left = np.sqrt(self._told_squares)[:, None] * h
        for batch in self._batches:
            told = self._told[batch.parts]
            if np.any(told):
                left[batch.rows[told]] -= batch.local.seen(batch.coordinates(y))[told]
        return norms(np.stack([norms(left), norms(self._unbalanced(y, incoming, h))]))

    def _told_size(self, h: FloatArray) -> FloatArray:
        """The size of the weighted data of parts that tell, (B,)."""
        return self._size(self._told_squares, h)

    @cached_property
    def _told_squares(self) -> FloatArray:
        """w of the rows of parts that tell, (N,), else 0."""
        found = self._squares.copy()
        for rows, told in zip(self.part_rows, self._told.tolist(), strict=True):
            found[rows.numbers] *= told
        return found

    def _size(self, squares: FloatArray, h: FloatArray) -> FloatArray:
        """The size of data weighted by w (N,), (B,). Integrals count where nothing else is given: a mean, however
        large, is satisfied by a constant, and must not hide what is not.
        """
        size = weighted_norms(squares, h)
        return np.where(size > 0.0, size, norms(self._sum_weights[:, None] * self._sum_data(h)))

    def imbalance(self, h: FloatArray) -> FloatArray:
        """What is left of data h (N, B) on seams and by integrals, as a part of their size, (B,).

        That is next to nothing unless the data contradict each other, as where only slopes are given that do not fit
        the source: ∫f ≠ −∮g.
        """
        y, incoming = self._solved(h)
        size = self._size(self._squares, h)
        return norms(self._unbalanced(y, incoming, h)) / np.where(size > 0.0, size, 1.0)

    def _sum_data(self, h: FloatArray) -> FloatArray:
        """The data of all sums, (s, B): imaginary parts of which no data tell have integrals of 0."""
        return np.concatenate([h[self.integrals], np.zeros((self.glue.sums - len(self.integrals), h.shape[1]))])

    def _solved(self, h: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coordinates y of all parts (L, B), and what comes in on seams."""
        y = np.zeros((len(self._space), h.shape[1]))
        outgoing = self._with_sums([batch.pull(h, y) for batch in self._batches], y)
        outgoing[0][len(self.locals[0].out) :] -= self._sum_data(h)
        incoming = balanced(self.root, outgoing, self.glue)
        for batch in self._batches:
            batch.push(incoming, y)
        return y, incoming

    def _outgoing(self, y: FloatArray) -> list[FloatArray]:
        """What goes out of each part, (b, B), with its shares of the sums behind."""
        return self._with_sums([batch.local.out @ batch.coordinates(y) for batch in self._batches], y)

    def _with_sums(self, sent: Sequence[FloatArray], y: FloatArray) -> list[FloatArray]:
        """The same for what goes out of the parts of each batch in their units, (P, b, B), which is lost."""
        found = [np.empty((0, y.shape[1]))] * len(self.locals)
        for batch, all_ in zip(self._batches, sent, strict=True):
            all_ *= self.strengths[batch.parts, None, None]
            for k, out in zip(batch.parts.tolist(), all_, strict=True):
                shares = self.integrands[k] @ y[self._space.span(k)] if self.glue.sums else None
                found[k] = out if shares is None else np.concatenate([out, shares])
        return found

    @cached_property
    def _seam_weights(self) -> FloatArray:
        """√w of the rows that say that what goes out of a part is taken in, as those of a condition there, (count,).

        Of what both sides of a seam share both parts tell.
        """
        sizes = {id(own): float(np.linalg.norm(own.out @ own.upper)) for own in self.locals}
        weights = self._told_once / (self.strengths * np.array([sizes[id(own)] or 1.0 for own in self.locals]))
        found = np.zeros(self.glue.count)
        for weight, own in zip(weights, self.glue.owned, strict=True):
            found[own] += weight**2
        return np.sqrt(found)

    @cached_property
    def _sum_weights(self) -> FloatArray:
        """√w of the sums, which are integrals over several parts, (s,)."""
        shares = [row @ own.upper for row, own in zip(self.integrands, self.locals, strict=True)]
        return 1.0 / np.linalg.norm(np.hstack(shares), axis=1)

    def _across(self, y: FloatArray, incoming: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What goes out on one side of a seam and does not come in on the other, (count, B), and the sums, (s, B)."""
        total = np.zeros((self.glue.count + self.glue.sums, incoming.shape[1]))
        for own, out in zip(self.glue.numbers, self._outgoing(y), strict=True):
            total[own] += out
        across, sums = np.split(total, [self.glue.count])
        return across if self.glue.partner is None else incoming + across[self.glue.partner], sums

    def _unbalanced(self, y: FloatArray, incoming: FloatArray, h: FloatArray) -> FloatArray:
        """What is not satisfied of the rows of all seams, and of the integrals, weighted, (n, B)."""
        across, sums = self._across(y, incoming)
        seams = self._seam_weights[:, None] * across
        return np.concatenate([seams, self._sum_weights[:, None] * (sums - self._sum_data(h))])

    @property
    def _told_once(self) -> float:
        """Of what both sides of a seam share both parts tell."""
        return float(np.sqrt(0.5)) if self.glue.partner is None else 1.0

    def leaks(self, h: FloatArray) -> FloatArray:
        """The rms of what is not balanced on the seams of each part, in units of u: in units of its flux, (P, B)."""
        y, incoming = self._solved(h)
        across, _ = self._across(y, incoming)
        found = [norms(across[k]) / s for k, s in zip(self.glue.owned, self.strengths, strict=True)]
        return self._told_once * np.stack(found)

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        pulls = [e[:, self._space.span(k)].T for k in range(len(self.locals))]
        incoming = np.zeros((self.glue.count, len(e)))
        for own, mine, k in zip(self.locals, pulls, self.glue.owned, strict=True):
            incoming[k] += own.from_trace.T @ mine[own.split[1] :]
        outgoing = balanced_transposed(self.root, incoming, self.glue)
        found = np.zeros((len(e), self.number))
        parts = zip(
            self.locals, self.part_rows, self.roots, pulls, outgoing, self.strengths, self.integrands, strict=True
        )
        for own, rows, roots, mine, out, s, integrand in parts:
            flux, share = out[: len(own.out)], out[len(own.out) :]
            y = mine + own.out.T @ (s * flux) + integrand.T @ share
            found[:, rows.numbers] = (roots[:, None] * own.spread(y)).T
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
    degrees: NDArray[np.int64],
    functionals: Functionals,
    part_rows: Sequence[PartRows],
    crossing: Exchange | None,
    ansatz: Ansatz,
    known: Known | None = None,
    crew: Crew = threads,
    counts: Sequence[float] = (),
) -> PartsFactorisation:
    """Least squares on every part, and the tree.

    Arguments:
        degrees: of the polynomials on each part, (P,).
        functionals: all N rows; each block belongs to a condition, or to one component of it.
        part_rows: which of them each part has; what no part has are integrals.
        crossing: what crosses the seams; None if there is one part alone.
        ansatz: how the unknowns are made of the components of the space.
        known: parts of operators that were learned before; others are added.
        crew: who learns the parts, and merges subtrees of them.
        counts: how much more than others each block of rows counts on its part; empty for alike.
    """
    dim = functionals.dim
    traces = [trace_of(seam) for seam in mosaic.seams]
    copies = 2 if crossing is not None and crossing.doubled else 1
    width, most = copies * ansatz.width, by_degree(dim, int(np.max(degrees)))
    space = PartsSpace(mosaic=mosaic, degrees=most, uppers=(), ansatz=ansatz, components=width)
    leaves = Leaves(
        space,
        functionals,
        part_rows,
        degrees=degrees,
        crossing=crossing,
        traces=traces,
        counts=counts,
    )
    plan, strengths = leaves.planned({} if known is None else known), leaves.strengths
    integrals = _integrals(functionals, part_rows)
    glue = _glue(mosaic, traces, crossing, copies * len(integrals))
    alike, shelf = plan.alike(strengths, glue.sums), leaves.shelf(plan)
    times = Counter(alike)
    subtrees = Subtrees(mosaic.cells.root, mosaic.of_cells, glue, [times[kind] == 1 for kind in alike])
    fitted = subtrees.learn({k: leaf for k, (_, leaf) in plan.waiting.items()}, strengths, crew, shelf)
    found = leaves.built(plan, fitted)
    if crossing is None:
        _check_alone(found[0].local)
    bubbly = np.array([own.local.inner is not None for own in found], dtype=np.int64)
    space = replace(space, uppers=tuple(own.local.upper for own in found), bubbly=bubbly)
    integrands = _integrands(space, functionals, integrals, copies)
    units = np.zeros(glue.count)
    for strength, mine in zip(strengths, glue.owned, strict=True):
        units[mine] = np.maximum(units[mine], strength)

    def outgoing(k: int) -> FloatArray:
        return found[k].local.passed_on(float(strengths[k]), integrands[k])

    subtrees.merge(outgoing, crew, shelf)
    root, condition = glued(mosaic.cells.root, mosaic.of_cells, glue, outgoing, alike, units, subtrees.ready)
    return PartsFactorisation(
        expansion=space,
        regularization=0.0,
        weights=(1.0,) * len(functionals.layouts),
        locals=tuple(own.local for own in found),
        part_rows=tuple(part_rows),
        roots=tuple(own.roots for own in found),
        strengths=strengths,
        root=root,
        glue=glue,
        number=len(functionals),
        integrals=integrals,
        integrands=integrands,
        condition=min(condition, subtrees.worst),
    )


def _integrals(functionals: Functionals, part_rows: Sequence[PartRows]) -> NDArray[np.intp]:
    """The rows that no part has, (k,)."""
    free = np.ones(len(functionals), dtype=bool)
    for rows in part_rows:
        free[rows.numbers] = False
    return np.flatnonzero(free)


def _integrands(
    space: PartsSpace, functionals: Functionals, numbers: NDArray[np.intp], copies: int
) -> tuple[FloatArray, ...]:
    """What rows that are integrals make of the functions of each part, for each copy, (s, m)."""
    if len(numbers) == 0:
        return tuple(np.zeros((0, len(upper))) for upper in space.uppers)
    rows, shift = functionals.take(numbers), space.components // copies
    twins = [Functionals(tuple(_shifted(b, k * shift) for b in rows.blocks)) for k in range(copies)]
    whole = np.concatenate([space.matrix(own) for own in twins])
    return tuple(np.split(whole, space.starts[1:-1], axis=1))


def _check_alone(own: Local) -> None:
    """Raise if the conditions do not determine u on a part that has no neighbours."""
    size = np.abs(np.diagonal(own.upper))
    if not np.min(size) > SINGULAR * np.max(size):
        raise unglued()


def _shifted(block: Block, shift: int) -> Block:
    """The same functionals of other components."""
    return replace(block, terms=tuple((k + shift, alpha) for k, alpha in block.terms))


_glues: Kept[Mosaic, dict[tuple[int, bool, int], Glue]] = Kept()


def _glue(mosaic: Mosaic, traces: Sequence[Trace], crossing: Exchange | None, sums: int) -> Glue:
    """The numbers of the unknowns: seam after seam, the two sides of each behind each other if each has its own."""
    channels = 0 if crossing is None else len(crossing.incoming[0])
    shared = crossing is None or crossing.shared
    known, key = _glues.of(mosaic, dict[tuple[int, bool, int], Glue]), (channels, shared, sums)
    if key in known:
        return known[key]
    sizes = np.array([channels * len(own) for own in traces], dtype=np.intp)
    starts = np.cumsum([0, *(sizes if shared else 2 * sizes)])
    none, count = np.empty(0, dtype=np.intp), int(starts[-1])
    numbers = [
        [starts[f] + (0 if shared else side * sizes[f]) + np.arange(sizes[f]) for f, side in own]
        for own in mosaic.seams_of_parts
    ]
    partner = None
    if not shared:
        swapped = [start + np.roll(np.arange(2 * n), n) for start, n in zip(starts[:-1], sizes, strict=True)]
        partner = np.concatenate(swapped).astype(np.intp)
    found = Glue(tuple(np.concatenate([none, *own]).astype(np.intp) for own in numbers), count, partner, sums)
    return known.setdefault(key, found)
