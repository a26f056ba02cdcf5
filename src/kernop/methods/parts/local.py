"""One part: least squares in polynomials of its own, and what it makes of data and of traces on its faces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.linalg import orthonormal, transpose_solve_upper
from kernop.basics.stored import stored
from kernop.language.fields import MultiIndex, Term
from kernop.methods.parts.traces import Trace
from kernop.methods.spaces.polynomials import legendre


@stored("local", by_value=False)
@dataclass(frozen=True, eq=False)
class Local:
    """u = Φ R⁻¹ y on a part, with y = Qᵀ (w h) + C t with data h at its points, and t coming in on inner faces.

    Equal parts share one.

    Arguments:
        q: the rows of Q that belong to the data, (n, m).
        upper: R, (m, m).
        from_trace: C, (m, b).
        out: from y to the coefficients of what goes out, (b, m), in units of the part.
    """

    q: FloatArray
    upper: FloatArray
    from_trace: FloatArray
    out: FloatArray

    def passed_on(self, strength: float, shares: FloatArray) -> FloatArray:
        """S: what goes out, in this unit, and the shares of sums of y (s, m), for what comes in, (b + s, b)."""
        return np.concatenate([strength * self.out, shares]) @ self.from_trace


@dataclass(frozen=True, eq=False)
class Pattern:
    """Places in the cell [−1, 1]^d, at which the polynomials of many parts are the same.

    Arguments:
        z: the places, (n, d).
        degrees: multi-indices of the polynomials, (m, d).
        alphas: the derivatives that are asked for.
    """

    z: FloatArray
    degrees: NDArray[np.int64]
    alphas: tuple[MultiIndex, ...]

    def __reduce__(self) -> tuple[type[Pattern], tuple[object, ...]]:
        """Without what is computed from it: that is much larger."""
        return Pattern, (self.z, self.degrees, self.alphas)

    @cached_property
    def derivatives(self) -> dict[MultiIndex, FloatArray]:
        """∂^α of all polynomials at all places, (m, n) each."""
        highest = max(map(max, self.alphas))
        tables = [legendre(np.ascontiguousarray(own), int(np.max(self.degrees)), highest) for own in self.z.T]
        found: dict[MultiIndex, FloatArray] = {}
        for alpha in self.alphas:
            first, *others = (table[k][nu] for table, k, nu in zip(tables, alpha, self.degrees.T, strict=True))
            for other in others:
                first *= other
            found[alpha] = first
        return found


@dataclass(frozen=True, eq=False)
class LocalRows:
    """Functionals of one part in its own units: Σ φ_{k,α} ∂^α v_k at places of a pattern.

    Arguments:
        terms: the A pairs (k, α).
        coefficients: φ, (n, A).
        pattern: the places.
        starts: where the sums begin that the functionals are; None if they are none.
    """

    terms: tuple[Term, ...]
    coefficients: FloatArray
    pattern: Pattern
    starts: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.coefficients) if self.starts is None else len(self.starts) - 1

    def fill(self, found: FloatArray, shift: int = 0) -> None:
        """What they make of the functions of all components, each k counted on by a shift: into found, (m c, n)."""
        if self.starts is not None:
            whole = np.empty((len(found), len(self.coefficients)))
            LocalRows(self.terms, self.coefficients, self.pattern).fill(whole, shift)
            found[:] = np.add.reduceat(whole, self.starts[:-1], axis=1)
            return
        m, seen = len(self.pattern.degrees), set[int]()
        for (k, alpha), factor in zip(self.terms, self.coefficients.T, strict=True):
            own = found[(k + shift) * m : (k + shift + 1) * m]
            if k in seen:
                own += self.pattern.derivatives[alpha] * factor
            else:
                np.multiply(self.pattern.derivatives[alpha], factor, out=own)
            seen.add(k)
        for k in set(range(len(found) // m)) - {k + shift for k in seen}:
            found[k * m : (k + 1) * m] = 0.0


@dataclass(kw_only=True, frozen=True, eq=False)
class Leaf:
    """All that a part is learned from.

    Arguments:
        data: the conditions at its points.
        into: what it takes in on its faces, one for each face and channel, and …
        out: … what it gives out there.
        traces: on the face of each of ``into``.
        components: the number c of components, each of which has the polynomials.
        leading: those by which conditions are weighted; empty for all.
        doubled: has each component a second one, c/2 behind it, for which the conditions hold with data 0?
        counts: how much more than others each of ``data`` counts; empty for alike.
    """

    data: tuple[LocalRows, ...]
    into: tuple[LocalRows, ...]
    out: tuple[LocalRows, ...]
    traces: tuple[Trace, ...]
    components: int
    leading: tuple[int, ...] = ()
    doubled: bool = False
    counts: tuple[float, ...] = ()

    @property
    def numbers(self) -> int:
        """How many numbers what is learned from it has."""
        functions = self.components * len(self.data[0].pattern.degrees)
        return functions * (sum(map(len, self.data)) + functions + 2 * sum(map(len, self.traces)))


def learned(leaf: Leaf) -> tuple[Local, list[float]]:
    """Least squares on a part, and the weights of its conditions."""
    m = len(leaf.data[0].pattern.degrees)
    data = _ends(leaf.data, 0)
    twins = _ends(leaf.data if leaf.doubled else (), data[-1])
    taken = _ends(leaf.into, twins[-1])
    whole = np.zeros((m * leaf.components, taken[-1]))  # transposed, so that it is in Fortran's order for LAPACK
    mine = zip(leaf.data, _slices(data), leaf.counts or (1.0,) * len(leaf.data), strict=True)
    weights = [_placed(rows, whole, part, leaf.leading, count) for rows, part, count in mine]
    for rows, part, weight in zip(leaf.data if leaf.doubled else (), _slices(twins), weights, strict=False):
        rows.fill(whole[:, part], leaf.components // 2)
        whole[:, part] /= weight
    for rows, part in zip(leaf.into, _slices(taken), strict=True):
        rows.fill(whole[:, part])
    size = float(np.linalg.norm(whole[:, taken[0] :])) or 1.0
    whole[:, taken[0] :] /= size
    q, upper = orthonormal(whole.T)
    given = np.empty((len(whole), sum(map(len, leaf.traces))))
    from_trace = np.empty_like(given)
    columns = _slices(np.cumsum([0, *map(len, leaf.traces)]).tolist())
    for rows, trace, part, own in zip(leaf.out, leaf.traces, _slices(taken), columns, strict=True):
        there = np.empty((len(whole), len(rows)))
        rows.fill(there)
        given[:, own] = there @ trace.project.T
        from_trace[:, own] = q[part].T @ (trace.values / size)
    out = transpose_solve_upper(upper, given).T
    return Local(np.ascontiguousarray(q[: data[-1]]), upper, from_trace, np.ascontiguousarray(out)), weights


def _placed(rows: LocalRows, whole: FloatArray, part: slice, leading: tuple[int, ...], count: float) -> float:
    """Put rows of data where they belong, divided by their size for the components that are traced, and counted more.

    Pressures have none of their own.
    """
    own, m = whole[:, part], len(rows.pattern.degrees)
    rows.fill(own)
    sizes = [float(np.linalg.norm(own[k * m : (k + 1) * m])) for k in leading]
    weight = (float(np.linalg.norm(sizes)) or float(np.linalg.norm(own))) / count
    own /= weight
    return weight


def _ends(rows: Sequence[LocalRows], start: int) -> list[int]:
    """Where each of some rows begins, and the last one ends."""
    return (start + np.cumsum([0, *map(len, rows)])).tolist()


def _slices(ends: list[int]) -> list[slice]:
    return [slice(a, b) for a, b in pairwise(ends)]
