"""One part: least squares in polynomials of its own, and what it makes of data and of traces on its faces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.basics.frozen import frozen
from kernop.basics.linalg import (
    orthonormal,
    orthonormal_by_squares,
    product_of_upper,
    right_solve_lower,
    transpose_solve_upper,
)
from kernop.basics.stored import stored
from kernop.methods.parts.patterns import LocalRows
from kernop.methods.parts.skeleton import Skeleton
from kernop.methods.parts.traces import Trace

#: Stands for arrays that are somewhere else.
NOTHING = frozen(np.empty((0, 0)))


@stored("local", by_value=False)
@dataclass(kw_only=True, frozen=True, eq=False)
class Local:
    """u = Φ R⁻¹ y on a part, with y = Qᵀ (w h) + C t with data h at its points, and t coming in on inner faces.

    On most parts Q is that of all rows. Where values are given on all faces, Φ = [β, b] with *bubbles* β that vanish
    there, and so do the equations' rows and those of values: equations A c_β + E c_b = f, with A = Q_A R_A, determine
    bubbles, and values B c_b = g, with B = Q_B R_B, all others. Then

        Q = [Q_A  0 ]        R = [R_A  Q_Aᵀ E]
            [0   Q_B],           [0    R_B   ],

    and only Q_A, of about a third of the numbers, differs from part to part. Equal parts share one. All arrays may have
    a leading axis: one part for each.

    Arguments:
        q: the rows of Q, or of Q_B, that belong to the data, (n − i, m − μ).
        upper: R, (m, m).
        from_trace: the rows of C that are not 0: the last ones, (m − μ, b).
        out: from y to the coefficients of what goes out, (b, m), in units of the part.
        inner: Q_A, for the i rows of equations and μ bubbles, (i, μ); None for i = μ = 0.
        beside: E R_B⁻¹, (i, m − μ); None for i = 0.
    """

    q: FloatArray
    upper: FloatArray
    from_trace: FloatArray
    out: FloatArray
    inner: FloatArray | None = None
    beside: FloatArray | None = None

    def passed_on(self, strength: float, shares: FloatArray) -> FloatArray:
        """S: what goes out, in this unit, and the shares of sums of y (s, m), for what comes in, (b + s, b)."""
        _, mu = self.split
        return np.concatenate([strength * self.out[:, mu:], shares[:, mu:]]) @ self.from_trace

    def without(self, skeleton: Skeleton | None) -> Local:
        """The same without the arrays of its skeleton, which many parts share."""
        return self if skeleton is None else replace(self, q=NOTHING, from_trace=NOTHING)

    def with_arrays_of(self, skeleton: Skeleton | None) -> Local:
        """The same with them."""
        return self if skeleton is None else replace(self, q=skeleton.q, from_trace=skeleton.from_trace)

    @property
    def split(self) -> tuple[int, int]:
        """i and μ."""
        return (0, 0) if self.inner is None else (self.inner.shape[-2], self.inner.shape[-1])

    @property
    def numbers(self) -> int:
        """How many numbers it has."""
        own = (self.q, self.upper, self.from_trace, self.out, self.inner, self.beside)
        return sum(array.size for array in own if array is not None)

    @property
    def leverages(self) -> FloatArray:
        """How much the solution at each point follows the datum there, (n,): the squared norms of the rows of Q."""
        parts = [self.q] if self.inner is None else [self.inner, self.q]
        return np.concatenate([np.einsum("ij,ij->i", part, part) for part in parts])

    def spread(self, y: FloatArray) -> FloatArray:
        """Q y, (…, n, B), for y (…, m, B)."""
        _, mu = self.split
        found = self.q @ y[..., mu:, :]
        return found if self.inner is None else np.concatenate([self.inner @ y[..., :mu, :], found], axis=-2)

    def seen(self, y: FloatArray) -> FloatArray:
        """What the weighted rows of data make of Φ R⁻¹ y, (…, n, B): Q y, and what equations make of b beside A."""
        if self.inner is None or self.beside is None:
            return self.spread(y)
        _, mu = self.split
        others = self.beside @ y[..., mu:, :]
        inside = self.inner @ (y[..., :mu, :] - np.swapaxes(self.inner, -1, -2) @ others) + others
        return np.concatenate([inside, self.q @ y[..., mu:, :]], axis=-2)


@dataclass(kw_only=True, frozen=True, eq=False)
class Leaf:
    """All that a part is learned from.

    Arguments:
        data: the conditions at its points, those in its inside first.
        into: what it takes in, channel after channel, each at the nodes of all its faces, and …
        out: … what it gives out there.
        traces: on each of its faces.
        components: the number c of components, each of which has the polynomials.
        leading: those by which conditions are weighted; empty for all.
        doubled: has each component a second one, c/2 behind it, for which the conditions hold with data 0?
        counts: how much more than others each of ``data`` counts; empty for alike.
        skeleton: what values on its faces determine, if these are all that is given there.
    """

    data: tuple[LocalRows, ...]
    into: tuple[LocalRows, ...]
    out: tuple[LocalRows, ...]
    traces: tuple[Trace, ...]
    components: int
    leading: tuple[int, ...] = ()
    doubled: bool = False
    counts: tuple[float, ...] = ()
    skeleton: Skeleton | None = None

    @property
    def numbers(self) -> int:
        """How many numbers what is learned from it has."""
        functions, rows = self.components * len(self.data[0].pattern.degrees), sum(map(len, self.data))
        traces = len(self.into) * sum(map(len, self.traces))
        if self.skeleton is None:
            return functions * (rows + functions + 2 * traces)
        others, inside = len(self.skeleton.upper), rows - len(self.skeleton.q)
        return functions * (inside + functions + traces) + others * (rows - inside + traces)

    def crossing(self) -> list[tuple[int, slice, slice, Trace]]:
        """Face after face, channel after channel: the channel, the nodes, the unknowns there, and the trace."""
        channels, found = len(self.into), list[tuple[int, slice, slice, Trace]]()
        node = unknown = 0
        for trace in self.traces:
            for channel in range(channels):
                nodes, own = slice(node, node + len(trace.nodes)), slice(unknown, unknown + len(trace))
                found.append((channel, nodes, own, trace))
                unknown = own.stop
            node += len(trace.nodes)
        return found


def learned(leaf: Leaf) -> tuple[Local, list[float]]:
    """What a part does, and the weights of its conditions."""
    return _by_least_squares(leaf) if leaf.skeleton is None else _condensed(leaf, leaf.skeleton)


def _by_least_squares(leaf: Leaf) -> tuple[Local, list[float]]:
    m = len(leaf.data[0].pattern.degrees)
    data = _ends(leaf.data, 0)
    twins = _ends(leaf.data if leaf.doubled else (), data[-1])
    taken = _ends(leaf.into, twins[-1])
    whole = np.zeros((m * leaf.components, taken[-1]))  # transposed, so that it is in Fortran's order for LAPACK
    counted = zip(leaf.data, _slices(data), leaf.counts or (1.0,) * len(leaf.data), strict=True)
    weights = [_placed(rows, whole[:, part], leaf.leading, count) for rows, part, count in counted]
    for rows, part, weight in zip(leaf.data if leaf.doubled else (), _slices(twins), weights, strict=False):
        rows.fill(whole[:, part], leaf.components // 2)
        whole[:, part] /= weight
    for rows, part in zip(leaf.into, _slices(taken), strict=True):
        rows.fill(whole[:, part])
    size = float(np.linalg.norm(whole[:, taken[0] :])) or 1.0
    whole[:, taken[0] :] /= size
    q, upper = orthonormal(whole.T)
    crossing = leaf.crossing()
    from_trace = np.empty((len(whole), crossing[-1][2].stop if crossing else 0))
    for channel, nodes, own, trace in crossing:
        part = slice(taken[channel] + nodes.start, taken[channel] + nodes.stop)
        from_trace[:, own] = q[part].T @ (trace.values / size)
    mine = np.ascontiguousarray(q[: data[-1]])
    return Local(q=mine, upper=upper, from_trace=from_trace, out=_out(leaf, upper)), weights


def _condensed(leaf: Leaf, skeleton: Skeleton) -> tuple[Local, list[float]]:
    """Least squares in bubbles, where values on faces determine all other functions."""
    inside = leaf.data[: len(leaf.data) - len(skeleton.weights)]
    others, ends = len(skeleton.upper), _ends(inside, 0)
    m = len(leaf.data[0].pattern.degrees)
    whole, mu = np.empty((m, ends[-1])), m - others
    if inside[0].pattern.basis == "laplace":
        inside[0].fill(whole)
        q, own = orthonormal_by_squares(whole[:mu].T)
        own = product_of_upper(own, inside[0].pattern.combination)
        weights = [float(np.hypot(np.linalg.norm(own), np.linalg.norm(whole[mu:])))]  # as of rows of β and b
        own /= weights[0]
        whole[mu:] /= weights[0]
    else:
        weights = [_placed(rows, whole[:, part], (), 1.0) for rows, part in zip(inside, _slices(ends), strict=True)]
        q, own = orthonormal_by_squares(whole[:mu].T)
    upper = np.zeros((m, m))
    upper[:mu, :mu], upper[mu:, mu:] = own, skeleton.upper
    np.matmul(q.T, whole[mu:].T, out=upper[:mu, mu:])
    beside = right_solve_lower(skeleton.upper.T, whole[mu:].T)
    local = Local(
        q=skeleton.q,
        upper=upper,
        from_trace=skeleton.from_trace,
        out=_out(leaf, upper),
        inner=q,
        beside=beside,
    )
    return local, [*weights, *skeleton.weights]


def _out(leaf: Leaf, upper: FloatArray) -> FloatArray:
    """From y to the coefficients of what goes out, (b, m)."""
    there = [np.empty((len(upper), len(rows))) for rows in leaf.out]
    for rows, whole in zip(leaf.out, there, strict=True):
        rows.fill(whole)
    crossing = leaf.crossing()
    given = np.empty((len(upper), crossing[-1][2].stop if crossing else 0))
    for channel, nodes, own, trace in crossing:
        np.matmul(there[channel][:, nodes], trace.project.T, out=given[:, own])
    return np.ascontiguousarray(transpose_solve_upper(upper, given).T)


def _placed(rows: LocalRows, own: FloatArray, leading: tuple[int, ...], count: float) -> float:
    """Put rows of data where they belong, divided by their size for the components that are traced, and counted more.

    Pressures have none of their own.
    """
    m = len(rows.pattern.degrees)
    rows.fill(own)
    sizes = [float(np.linalg.norm(own[k * m : (k + 1) * m])) for k in leading]
    weight = (float(np.linalg.norm(sizes)) or float(np.linalg.norm(own))) / count
    own /= weight
    return weight


def _ends(rows: Sequence[LocalRows], start: int) -> list[int]:
    """Where each of some rows begins, and the last one ends."""
    return list(accumulate(map(len, rows), initial=start))


def _slices(ends: list[int]) -> list[slice]:
    return [slice(a, b) for a, b in pairwise(ends)]
