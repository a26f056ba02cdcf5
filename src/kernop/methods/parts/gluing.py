"""Gluing: what parts give out and take in agrees on every face between them. Faces are eliminated up a tree.

A part, or a group of them, turns what comes in on its outer faces, t, into what goes out, S t + r, with r from data.
There are two ways to glue. Either both sides share t, the values of u, and what goes out is the flux, which cancels
(the Steklov–Poincaré equation); or each side has a t of its own, flux + η u, and what goes out, flux − η u, comes in on
the other side with its sign changed. With i the unknowns inside a group, b those on its outside, and P the swap of the
two sides of a face, both are

    J t_i + P (S_ii t_i + S_ib t_b + r_i) = 0,        J = 0, P = 1   or   J = 1,

dense Schur complements: with E = J + P S_ii, S = S_bb − S_bi E⁻¹ P S_ib and r = r_b − S_bi E⁻¹ P r_i belong to the
group, and t_i = −E⁻¹ P (S_ib t_b + r_i) comes down when t_b is known.

Integrals over all parts are sums that go up with what goes out; the last group balances them too, by least squares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_solve, solve_triangular
from scipy.linalg.lapack import dgecon, dgetrf

from kernop.basics.errors import FloatArray, SingularGramError, fail
from kernop.basics.stored import stored
from kernop.geometry.cells import Cell

#: The numbers of some unknowns.
Numbers = NDArray[np.intp]
#: Equations of faces whose reciprocal condition number is below this do not determine what comes in.
SINGULAR = 1e-15


@stored("group", by_value=False)
@dataclass(frozen=True, eq=False)
class Group:
    """A group of parts, of which inner unknowns are eliminated.

    Arguments:
        children: the groups, or parts, of which it is made; empty for a part.
        part: the number of a part; −1 for a group.
        inner: the unknowns that are eliminated here, (i,).
        outer: the unknowns on its outside, (b,).
        across: where what goes out stands that the equations of ``inner`` take, (i,); in the last group, sums too.
        sums: the numbers of the sums that go up with what goes out, (k,).
        factor: LU factors of E with scaled rows, and the scale.
        least: Q and R of E with scaled rows, if it has more rows than columns, and the scale.
        down: E⁻¹ P S_ib, (i, b).
        up: S_bi, (b + k, i).
    """

    children: tuple[Group, ...]
    part: int
    inner: Numbers
    outer: Numbers
    across: Numbers
    sums: Numbers
    factor: tuple[FloatArray, Numbers, FloatArray] | None = None
    least: tuple[FloatArray, FloatArray, FloatArray] | None = None
    down: FloatArray | None = None
    up: FloatArray | None = None

    @property
    def out(self) -> Numbers:
        """The numbers of what goes out, (b + k,)."""
        return np.concatenate([self.outer, self.sums])

    def solve_inner(self, r: FloatArray, transposed: bool = False) -> FloatArray:
        """E⁻¹ r, or E⁻ᵀ r, for r (i, B)."""
        if self.least is not None:
            q, upper, scale = self.least
            if transposed:
                return scale[:, None] * (q @ solve_triangular(upper, r, trans=1, check_finite=False))
            return solve_triangular(upper, q.T @ (scale[:, None] * r), check_finite=False)
        assert self.factor is not None
        lu, pivots, scale = self.factor
        if transposed:
            return scale[:, None] * lu_solve((lu, pivots), r, trans=1, check_finite=False)
        return lu_solve((lu, pivots), scale[:, None] * r, check_finite=False)


@dataclass(frozen=True, eq=False)
class Glue:
    """How parts are glued.

    Arguments:
        owned: the unknowns of each part.
        count: of all unknowns.
        partner: the unknown on the other side of each, (count,); None if both sides share it.
        sums: how many sums go up.
    """

    owned: Sequence[Numbers]
    count: int
    partner: Numbers | None = None
    sums: int = 0

    @property
    def sum_numbers(self) -> Numbers:
        """The numbers of the sums, behind those of all unknowns."""
        return np.arange(self.count, self.count + self.sums)

    def split(self, numbers: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """The unknowns inside and outside of groups that have these on their outsides, and across those inside."""
        if self.partner is None:
            found, times = np.unique(numbers, return_counts=True)
            return found[times == 2], found[times == 1], found[times == 2]
        found = np.sort(numbers)
        there = np.isin(self.partner[found], found)
        return found[there], found[~there], self.partner[found[there]]


@dataclass(eq=False)
class Conditions:
    """The worst reciprocal condition number of the equations of a group that was met, and units of equations."""

    units: FloatArray
    worst: float = field(default=1.0)


def glued(
    cell: Cell,
    parts: Sequence[Sequence[int]],
    glue: Glue,
    maps: Callable[[int], FloatArray],
    units: FloatArray | None = None,
) -> tuple[Group, float]:
    """The tree of groups for a tree of cells, and the worst reciprocal condition number in it.

    Arguments:
        parts: the numbers of the parts in each leaf.
        maps: S of a part, (b + k, b), in the order of its unknowns, with the sums behind them.
        units: the size of what goes out of a part where 1 comes in, unknown by unknown, (count,): where nothing does,
            as where slopes alone are given, rounding is not to be mistaken for an equation. None takes S as it is.
    """
    seen = Conditions(units=np.zeros(glue.count) if units is None else units)
    group, _ = _glued(cell, parts, glue, maps, True, seen)
    assert len(group.outer) == 0
    return group, seen.worst


def _glued(
    cell: Cell,
    parts: Sequence[Sequence[int]],
    glue: Glue,
    maps: Callable[[int], FloatArray],
    last: bool,
    seen: Conditions,
) -> tuple[Group, FloatArray]:
    if cell.children:
        return _merged([_glued(c, parts, glue, maps, False, seen) for c in cell.children], glue, last, seen)
    none, sums = np.arange(0), glue.sum_numbers
    alone = [(Group((), k, none, glue.owned[k], none, sums), maps(k)) for k in parts[cell.number]]
    return alone[0] if len(alone) == 1 else _merged(alone, glue, last, seen)


def _merged(
    pairs: Sequence[tuple[Group, FloatArray]], glue: Glue, last: bool, seen: Conditions
) -> tuple[Group, FloatArray]:
    """The group of some groups."""
    children = tuple(group for group, _ in pairs)
    inner, outer, across = glue.split(np.concatenate([group.outer for group in children]))
    sums = glue.sum_numbers
    columns, rows = np.concatenate([inner, outer]), np.concatenate([across, outer, sums])
    whole = np.zeros((len(rows), len(columns)))
    for group, own in pairs:
        whole[np.ix_(_places(rows, group.out), _places(columns, group.outer))] += own
    n = len(inner)
    if glue.partner is not None:
        whole[np.arange(n), np.arange(n)] += 1.0
    if n == 0:
        return Group(children, -1, inner, outer, across, sums), whole
    if last and len(sums):
        units = np.concatenate([seen.units[across], np.zeros(len(sums))])
        return _least(children, inner, outer, np.concatenate([across, sums]), whole, units), whole[:0]
    scale = 1.0 / np.maximum(np.max(np.abs(whole[:n]), axis=1), 1e-300)
    scaled = scale[:, None] * whole[:n, :n]
    lu, pivots, _ = dgetrf(scaled)
    _note(seen, lu, scaled)
    group = Group(children, -1, inner, outer, across, sums, (lu, pivots.astype(np.intp), scale))
    down, up = group.solve_inner(whole[:n, n:]), whole[n:, :n]
    return Group(children, -1, inner, outer, across, sums, group.factor, None, down, up), whole[n:, n:] - up @ down


def _places(numbers: Numbers, wanted: Numbers) -> Numbers:
    """Where each of some numbers stands among others."""
    order = np.argsort(numbers)
    return order[np.searchsorted(numbers[order], wanted)]


def _note(seen: Conditions, lu: FloatArray, scaled: FloatArray) -> None:
    """Estimate a condition number; raise if there is no solution."""
    found, _ = dgecon(lu, float(np.max(np.sum(np.abs(scaled), axis=0))))
    seen.worst = min(seen.worst, float(found))
    if not found > SINGULAR:
        raise unglued()


def _least(
    children: tuple[Group, ...], inner: Numbers, outer: Numbers, across: Numbers, whole: FloatArray, units: FloatArray
) -> Group:
    """The last group, whose equations and sums hold by least squares, each in units not below those given."""
    scale = 1.0 / np.maximum(np.max(np.abs(whole), axis=1), np.maximum(units, 1e-300))
    q, upper = np.linalg.qr(scale[:, None] * whole)
    size = np.abs(np.diagonal(upper))
    if not np.min(size) > SINGULAR * np.max(size):
        raise unglued()
    none = np.zeros((len(inner), 0))
    return Group(children, -1, inner, outer, across, np.arange(0), None, (q, upper, scale), none, none.T)


def unglued() -> SingularGramError:
    """The error of parts of which no way of gluing determines u."""
    got = "parts that cannot be glued: a resonance of a part, or conditions that do not determine u"
    error = fail(SingularGramError, "method", got, "use cells of another size, or one space, ko.Subspace()")
    assert isinstance(error, SingularGramError)
    return error


def balanced(root: Group, outgoing: Sequence[FloatArray], glue: Glue) -> FloatArray:
    """What comes in on all faces, (count, B).

    Arguments:
        outgoing: r of each part, (b + k, B), in the order of its unknowns, with the sums behind them.
    """
    width = outgoing[0].shape[1]
    collected, found = np.zeros((glue.count + glue.sums, width)), np.zeros((glue.count, width))
    held: dict[int, FloatArray] = {}

    def rise(group: Group) -> FloatArray:
        if not group.children:
            return outgoing[group.part]
        for child, own in [(child, rise(child)) for child in group.children]:
            collected[child.out] += own
        out = group.out
        mine, outside = collected[group.across].copy(), collected[out].copy()
        collected[group.across] = 0.0
        collected[out] = 0.0
        held[id(group)] = mine
        if len(group.inner) == 0:
            return outside
        assert group.up is not None
        return outside - group.up @ group.solve_inner(mine)

    def fall(group: Group) -> None:
        if not group.children:
            return
        if len(group.inner):
            assert group.down is not None
            found[group.inner] = -group.solve_inner(held[id(group)]) - group.down @ found[group.outer]
        for child in group.children:
            fall(child)

    rise(root)
    fall(root)
    return found


def balanced_transposed(root: Group, pulls: FloatArray, glue: Glue) -> list[FloatArray]:
    """The transpose of `balanced`: for weights (count, B) of what comes in, those of r of each part."""
    weights = pulls.copy()
    found: list[FloatArray] = [np.zeros((0, pulls.shape[1]))] * len(glue.owned)
    held: dict[int, FloatArray] = {}

    def rise(group: Group) -> None:
        for child in group.children:
            rise(child)
        if len(group.inner):
            assert group.down is not None
            own = weights[group.inner]
            held[id(group)] = -group.solve_inner(own, transposed=True)
            weights[group.outer] -= group.down.T @ own

    def fall(group: Group, outside: FloatArray) -> None:
        if not group.children:
            found[group.part] = outside
            return
        mine = held.get(id(group), np.zeros((0, pulls.shape[1])))
        if len(group.inner):
            assert group.up is not None
            mine = mine - group.solve_inner(group.up.T @ outside, transposed=True)
        numbers, values = np.concatenate([group.across, group.out]), np.concatenate([mine, outside])
        for child in group.children:
            fall(child, values[_places(numbers, child.out)])

    rise(root)
    fall(root, np.zeros((len(root.out), pulls.shape[1])))
    return found
