"""Where an operator made of parts is wrong: by what its solutions leave of the data, and by how far they jump."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from kernop.basics.errors import BoolArray, FloatArray, IntArray
from kernop.collocation.ansatz import Ansatz
from kernop.collocation.functionals import Functionals
from kernop.methods import Combination, Factorisation
from kernop.methods.parts.glued import PartsFactorisation
from kernop.methods.parts.leaves import unit_of
from kernop.methods.parts.space import PartsSpace
from kernop.methods.spaces.polynomials import legendre, total_degree

#: −Δe = 1 on [−1, 1]² with e = 0 on the boundary is 0.29 at its largest: so much of a residual, in units of a part, is
#: error.
SHARE = 0.3
#: A coefficient is not smooth in a part if the finer polynomials leave more than this part of what the coarser ones
#: leave, and more than this part of it.
SLOW, SMOOTH = 0.2, 1e-8
#: Polynomials of this degree are enough to see it. What varies by less than this part of the largest does not matter.
HALF, EVEN = 6, 1e-3


def errors_by_parts(
    found: Factorisation, rows: Functionals, u: Combination, h: FloatArray, components: Sequence[int] | None = None
) -> FloatArray | None:
    """How wrong solutions are on each part, about: (P, B); None if they are not made of parts.

    That is the largest residual of a condition at the points of the part, in units in which its largest coefficient is
    1 and the part has half sides of 1; or the largest jump on a seam, if that is more. On the parts at a singularity,
    which are too small to matter, it is the jump alone.

    Arguments:
        rows: the conditions at the points.
        u: the solutions.
        h: their data at the points, (N, B).
        components: those that may be wrong, and of which coefficients count; None for all.
    """
    space = u.expansion
    if not isinstance(found, PartsFactorisation) or not isinstance(space, PartsSpace):
        return None
    mosaic, owned = space.mosaic, range(space.components) if components is None else components
    half = 0.5 * mosaic.sides
    worst = np.zeros((len(mosaic.owners), h.shape[1]))
    parts = zip(found.locals, found.part_rows, found.roots, half, strict=True)
    for k, (own, places, roots, sides) in enumerate(parts):
        y = u.y[space.span(k)]
        residual, start = np.abs(h[places.numbers] - own.seen(y) / roots[:, None]), 0
        for number, part in () if mosaic.singular[k] else _slices(places.numbers, rows):
            block, stop = rows.blocks[number][part], start + part.stop - part.start
            if (unit := unit_of(block, sides, owned)) > 0.0:
                share = (SHARE if block.order else 1.0) / unit
                worst[k] = np.maximum(worst[k], share * np.max(residual[start:stop], axis=0))
            start = stop
    jumps = space.jumps(u.y, components)
    for side in (0, 1):
        np.maximum.at(worst, mosaic.sewn.sides[:, side], jumps)
    return worst


def bending(found: PartsFactorisation, rows: Functionals) -> BoolArray:
    """In which parts coefficients of the equations are not smooth, (P,): polynomials of half the degree of a part, at
    most `HALF`, do not miss far less of them than those of half of that.

    Arguments:
        rows: the conditions at the points.
    """
    space, highest = found.expansion, max(block.order for block in rows.blocks)
    assert isinstance(space, PartsSpace)
    low, high = space.boxes
    flagged = np.zeros(len(low), dtype=bool)
    for k, places in enumerate(found.part_rows):
        half = 0.5 * (high[k] - low[k])
        for number, part in () if space.mosaic.singular[k] else _slices(places.numbers, rows):
            block = rows.blocks[number]
            values = block.coefficients[part]
            if block.starts is not None or block.order < highest or not np.any(np.ptp(values, axis=0)):
                continue
            values = values / np.prod(half ** np.array(block.alphas), axis=1)
            if np.max(np.ptp(values, axis=0)) < EVEN * np.max(np.abs(values)):
                continue
            degree = min(int(space.of_parts[k]) // 2, HALF)
            coarse, fine = (
                _missed(values, (block.x[part] - low[k]) / half - 1.0, own) for own in (degree // 2, degree)
            )
            flagged[k] |= fine > max(SLOW * coarse, SMOOTH * float(np.max(np.abs(values))))
    return flagged


def _missed(values: FloatArray, z: FloatArray, degree: int) -> float:
    """The most that polynomials up to a total degree miss of functions with values (n, k) at places in [−1, 1]^d."""
    powers = total_degree(z.shape[1], comb(degree + z.shape[1], z.shape[1]))
    tables = [legendre(own, degree, 0)[0] for own in z.T]
    q, _ = np.linalg.qr(np.prod([table[nu] for table, nu in zip(tables, powers.T, strict=True)], axis=0).T)
    return float(np.max(np.abs(values - q @ (q.T @ values))))


def errors_of_unknowns(found: Factorisation, rows: Functionals, u: Combination, h: FloatArray) -> FloatArray | None:
    """The same for each of U unknowns, as if it were all that is wrong: (U, P, B)."""
    each = [(errors_by_parts(found, rows, u, h, own), scale) for own, scale in _owned(u.expansion.ansatz)]
    known = [errors * scale for errors, scale in each if errors is not None]
    return np.stack(known) if known else None


def jumps_of_unknowns(u: Combination) -> FloatArray:
    """The largest jump of each of U unknowns between parts, (U, B)."""
    space = u.expansion
    assert isinstance(space, PartsSpace)
    pairs = _owned(space.ansatz)
    return np.stack([scale * np.max(space.jumps(u.y, own), axis=0, initial=0.0) for own, scale in pairs])


def _owned(ansatz: Ansatz) -> list[tuple[list[int], float]]:
    """The numbers of the functions of each unknown, and their scale."""
    found: list[tuple[list[int], float]] = []
    for own in ansatz.unknowns.slices.values():
        real = list(range(own.start, own.stop))
        both = [*real, *(k + ansatz.unknowns.total for k in real)] if ansatz.complex else real
        found.append((both, ansatz.scales[own.start] if ansatz.scales else 1.0))
    return found


def mean_and_most(found: Factorisation, wrong: FloatArray) -> FloatArray:
    """Errors on the parts of an operator (U, P, B) as errors on the domain, in the mean and at most: (2, U, B)."""
    space = found.expansion
    assert isinstance(space, PartsSpace)
    volumes = np.prod(space.mosaic.sides, axis=1)
    return np.stack([np.sqrt(volumes / np.sum(volumes) @ np.square(wrong)), np.max(wrong, axis=1)])


def polluting(found: Factorisation, wrong: FloatArray) -> FloatArray:
    """What errors (U, P, B) in parts at singularities are elsewhere, in the mean and at most, (2, U, B).

    An error in a cell of side s at a singularity r^α reaches a domain of extent L as its part (s/L)^α; α = ½ is that of
    a slit, and of a change of the kind of condition.
    """
    space = found.expansion
    assert isinstance(space, PartsSpace)
    mosaic, (low, high) = space.mosaic, space.boxes
    extent = float(np.max(np.max(high, axis=0) - np.min(low, axis=0)))
    felt = np.where(mosaic.singular > 0, np.sqrt(np.max(mosaic.sides, axis=1) / extent), 0.0)
    return np.tile(np.max(felt[:, None] * wrong, axis=1), (2, 1, 1))


def errors_by_leaks(found: Factorisation, h: FloatArray) -> FloatArray:
    """How wrong solutions are for data h (N, B), about, because fluxes do not balance on seams, (B,); 0 without parts.

    Points inside the parts see nothing of it. A source of strength q on a line of length s in a domain of extent L
    makes −Δe = q δ of the size q s (1 + log(L / s)) / 4, at most; those of all seams may add up.
    """
    space = found.expansion
    if not isinstance(found, PartsFactorisation) or not isinstance(space, PartsSpace):
        return np.zeros(h.shape[1])
    low, high = space.boxes
    extent = float(np.max(np.max(high, axis=0) - np.min(low, axis=0)))
    depth = 1.0 + np.log(extent / np.max(high - low, axis=1))
    return 0.5 * depth @ found.leaks(h)


def _slices(numbers: IntArray, rows: Functionals) -> list[tuple[int, slice]]:
    """Blocks, and rows in them, of some rows, of which those of a block follow each other."""
    ends = np.cumsum([0, *map(len, rows.blocks)])
    block = np.searchsorted(ends, numbers, side="right") - 1
    found = dict.fromkeys(block.tolist())
    first = [int(numbers[block == k][0] - ends[k]) for k in found]
    count = [int(np.sum(block == k)) for k in found]
    return [(int(k), slice(a, a + n)) for k, a, n in zip(found, first, count, strict=True)]
