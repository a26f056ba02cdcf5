"""The method of parts: every cell of a domain has its own space and its own operator, and faces glue them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from kernop.basics.errors import ArgumentError, FloatArray, KernopError, check_integer, fail
from kernop.basics.linalg import EPS, norms
from kernop.basics.stored import stored
from kernop.collocation.functionals import Block, Functionals, evaluations
from kernop.collocation.mosaic import Mosaic
from kernop.methods.base import Answer, Factorisation, Method, Setting
from kernop.methods.expansion import Combination
from kernop.methods.parts.gluing import Group, balanced, balanced_transposed, glued
from kernop.methods.parts.local import Local, local
from kernop.methods.parts.space import PartsSpace
from kernop.methods.parts.traces import Trace, trace
from kernop.methods.posterior import Posterior
from kernop.methods.spaces.polynomials import total_degree

#: Degrees of the polynomials on a part, and of the traces on its faces, for d = 1, 2, 3.
DEGREES, TRACES = (24, 19, 10), (1, 16, 8)
#: The traces of a cell with six faces in the plane, as a part of its functions, at most.
MOST_TRACES = 0.68
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
    """

    cells: int | None = None
    degree: int | None = None
    levels: int | None = None

    def __post_init__(self) -> None:
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
        slices: one for each condition that has rows there: condition number and rows of its block.
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
        strengths: the unit of fluxes of each part.
        unknowns: the numbers of the trace coefficients on the inner faces of each part.
        root: the tree of groups.
        count: the number of all trace coefficients.
        number: of rows, N.
    """

    locals: tuple[Local, ...]
    part_rows: tuple[PartRows, ...]
    roots: tuple[FloatArray, ...]
    strengths: FloatArray
    unknowns: tuple[NDArray[np.intp], ...]
    root: Group
    count: int
    number: int

    @property
    def size(self) -> int:
        return self.number

    @property
    def penalised(self) -> bool:
        return False

    def answer(self, h: FloatArray) -> Answer:
        parts = list(zip(self.locals, self.part_rows, self.roots, strict=True))
        weighted = [roots[:, None] * h[rows.numbers] for _, rows, roots in parts]
        y = [own.q.T @ data for (own, _, _), data in zip(parts, weighted, strict=True)]
        fluxes = [s * (own.out @ mine) for (own, _, _), mine, s in zip(parts, y, self.strengths, strict=True)]
        traces = balanced(self.root, fluxes, self.count)
        y = [mine + own.from_trace @ traces[k] for (own, _, _), mine, k in zip(parts, y, self.unknowns, strict=True)]
        left = [data - own.q @ mine for (own, _, _), data, mine in zip(parts, weighted, y, strict=True)]
        together = np.concatenate(y)
        return Answer(
            Combination(self.expansion, together), norms(np.concatenate(left)), norms(np.concatenate(weighted))
        )

    def factors(self, e: FloatArray) -> tuple[FloatArray, ...]:
        m = len(self.locals[0].upper)
        pulls = [e[:, k * m : (k + 1) * m].T for k in range(len(self.locals))]
        traces = np.zeros((self.count, len(e)))
        for own, mine, k in zip(self.locals, pulls, self.unknowns, strict=True):
            traces[k] += own.from_trace.T @ mine
        fluxes = balanced_transposed(self.root, traces, len(self.locals))
        found = np.zeros((len(e), self.number))
        parts = zip(self.locals, self.part_rows, self.roots, pulls, fluxes, self.strengths, strict=True)
        for own, rows, roots, mine, flux, s in parts:
            found[:, rows.numbers] = (roots[:, None] * (own.q @ (mine + own.out.T @ (s * flux)))).T
        return (found,)

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
    fluxes: tuple[Block, Block] | None,
) -> PartsFactorisation:
    """Least squares on every part, and the tree.

    Arguments:
        functionals: all N rows, one block for each condition.
        part_rows: which of them each part has.
        fluxes: at the nodes of the seams, from below and from above; None if there is one part alone.
    """
    dim = functionals.dim
    degree, _ = method.degrees_for(dim)
    traces = [trace(dim - 1, seam.degree) for seam in mosaic.seams]
    degrees = total_degree(dim, comb(degree + dim, dim))
    owned: list[list[tuple[int, int]]] = [[] for _ in part_rows]  # seam, side
    for number, seam in enumerate(mosaic.seams):
        owned[seam.below].append((number, 0))
        owned[seam.above].append((number, 1))
    builder = _Builder(PartsSpace(mosaic, degrees, ()), functionals, fluxes, traces)
    found = [builder.part(k, rows, owned[k]) for k, rows in enumerate(part_rows)]
    starts = np.cumsum([0, *map(len, traces)])
    unknowns = tuple(
        np.concatenate([np.arange(starts[f], starts[f + 1]) for f, _ in own] or [np.empty(0)]).astype(np.intp)
        for own in owned
    )
    strengths = np.array([own.strength for own in found])
    root = glued(mosaic.cells.root, mosaic.of_cells, unknowns, lambda k: strengths[k] * found[k].local.steklov)
    return PartsFactorisation(
        PartsSpace(mosaic, degrees, tuple(own.local.upper for own in found)),
        0.0,
        (1.0,) * len(functionals.layouts),
        tuple(own.local for own in found),
        tuple(part_rows),
        tuple(own.roots for own in found),
        strengths,
        unknowns,
        root,
        int(starts[-1]),
        len(functionals),
    )


@dataclass(frozen=True, eq=False)
class _Built:
    local: Local
    roots: FloatArray
    strength: float


class _Builder:
    """Makes parts, and remembers them, so that equal ones are made once."""

    def __init__(
        self,
        space: PartsSpace,
        functionals: Functionals,
        fluxes: tuple[Block, Block] | None,
        traces: Sequence[Trace],
    ) -> None:
        self._space, self._functionals, self._fluxes, self._traces = space, functionals, fluxes, traces
        self._starts = np.cumsum([0, *(len(own.nodes) for own in traces)])
        self._known: dict[tuple[object, ...], list[tuple[FloatArray, Local, list[float]]]] = {}

    def part(self, k: int, rows: PartRows, owned: list[tuple[int, int]]) -> _Built:
        """Part k, with the seams that it has, and on which side of them it is."""
        blocks = [self._functionals.blocks[c][own] for c, own in rows.slices]
        low, high = (own[k] for own in self._space.mosaic.boxes)
        half, middle = 0.5 * (high - low), 0.5 * (high + low)
        ends = [slice(*self._starts[f : f + 2].tolist()) for f, _ in owned]
        pairs = zip(owned, ends, strict=True)
        seams = [self._fluxes[side][own] for (_, side), own in pairs] if self._fluxes else []
        sizes = [_size(block, half) for block in blocks]
        strength = max((_size(block, half) for block in seams), default=1.0)
        tables = [_table(b, half, middle, s) for b, s in zip(blocks, sizes, strict=True)]
        tables += [_table(b, half, middle, strength) for b in seams]
        numbers = np.concatenate([own.ravel() for own in tables])
        lengths = tuple(map(len, (*blocks, *seams)))
        shape = (tuple(b.terms for b in (*blocks, *seams)), lengths, tuple(side for _, side in owned))
        known = self._known.setdefault(shape, [])
        near = EQUAL + 32.0 * EPS * float(np.max(np.abs(middle) / half))
        equal = next(((own, norms) for seen, own, norms in known if np.max(np.abs(seen - numbers)) < near), None)
        if equal is None:
            scaled = [block.scaled(np.full(len(block), 1.0 / size)) for block, size in zip(blocks, sizes, strict=True)]
            equal = self._learned(k, scaled, seams, owned, strength)
            if len(known) < COMPARED:
                known.append((numbers, *equal))
        own, weights = equal
        roots = [np.full(len(b), 1.0 / (s * w)) for b, s, w in zip(blocks, sizes, weights, strict=True)]
        return _Built(own, np.concatenate(roots), strength)

    def _learned(
        self, k: int, blocks: list[Block], faces: list[Block], owned: list[tuple[int, int]], strength: float
    ) -> tuple[Local, list[float]]:
        polynomials = self._space.polynomials(k)
        rows = [polynomials.matrix(Functionals((block,))) for block in blocks]
        weights = [float(np.linalg.norm(own)) for own in rows]
        weighted = np.concatenate([own / w for own, w in zip(rows, weights, strict=True)])
        if not faces:
            empty = np.zeros((0, weighted.shape[1]))
            none = np.zeros((0, 0))
            return local(weighted, empty, empty, none, none), weights
        values = np.concatenate([polynomials.matrix(Functionals((evaluations(face.x),))) for face in faces])
        fluxes = np.concatenate(
            [
                (1 - 2 * side) / strength * polynomials.matrix(Functionals((face,)))
                for face, (_, side) in zip(faces, owned, strict=True)
            ]
        )
        size = float(np.linalg.norm(values))
        own = [self._traces[f] for f, _ in owned]
        basis, project = block_diag(*(t.values for t in own)), block_diag(*(t.project for t in own))
        return local(weighted, values / size, fluxes, basis / size, project), weights


def _size(block: Block, half: FloatArray) -> float:
    """The size of coefficients in units of a part."""
    powers = np.array([np.prod(half ** np.array(alpha)) for alpha in block.alphas])
    return float(np.max(np.abs(block.coefficients) / powers))


def _table(block: Block, half: FloatArray, middle: FloatArray, size: float) -> FloatArray:
    """Coefficients and places in units of a part, (n, A + d)."""
    powers = np.array([np.prod(half ** np.array(a)) for a in block.alphas])
    return np.hstack([block.coefficients / powers / size, (block.x - middle) / half])
