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

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dgecon, dgetrf, dgetrs

from kernop.basics.errors import FloatArray, SingularGramError, fail
from kernop.basics.linalg import in_threads
from kernop.basics.stored import stored
from kernop.geometry.cells import Cell, numbered

#: The numbers of some unknowns.
Indices = NDArray[np.intp]
#: Equations of faces whose reciprocal condition number is below this do not determine what comes in.
SINGULAR = 1e-15
#: Subtrees of at most so many parts are merged apart from each other.
SUBTREE = 64

#: Who applies a function to each of many items: threads, or workers.
Crew = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]


@stored("group", by_value=False)
@dataclass(kw_only=True, frozen=True, eq=False)
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
    inner: Indices
    outer: Indices
    across: Indices
    sums: Indices
    factor: tuple[FloatArray, Indices, FloatArray] | None = None
    least: tuple[FloatArray, FloatArray, FloatArray] | None = None
    down: FloatArray | None = None
    up: FloatArray | None = None

    @property
    def out(self) -> Indices:
        """The numbers of what goes out, (b + k,)."""
        return np.concatenate([self.outer, self.sums]) if len(self.sums) else self.outer

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
            return scale[:, None] * dgetrs(lu, pivots, r, trans=1)[0]
        return dgetrs(lu, pivots, scale[:, None] * r, overwrite_b=1)[0]


@dataclass(frozen=True, eq=False)
class Glue:
    """How parts are glued.

    Arguments:
        owned: the unknowns of each part.
        count: of all unknowns.
        partner: the unknown on the other side of each, (count,); None if both sides share it.
        sums: how many sums go up.
    """

    owned: Sequence[Indices]
    count: int
    partner: Indices | None = None
    sums: int = 0

    @property
    def sum_numbers(self) -> Indices:
        """The numbers of the sums, behind those of all unknowns."""
        return np.arange(self.count, self.count + self.sums)

    def split(self, numbers: Indices) -> tuple[Indices, Indices, Indices]:
        """The unknowns inside and outside of groups that have these on their outsides, and across those inside."""
        if self.partner is None:
            found, times = np.unique(numbers, return_counts=True)
            return found[times == 2], found[times == 1], found[times == 2]
        found = np.sort(numbers)
        there = np.isin(self.partner[found], found)
        return found[there], found[~there], self.partner[found[there]]


def glued(
    cell: Cell,
    parts: Sequence[Sequence[int]],
    glue: Glue,
    maps: Callable[[int], FloatArray],
    alike: Sequence[int] | None = None,
    units: FloatArray | None = None,
    crew: Crew = in_threads,
) -> tuple[Group, float]:
    """The tree of groups for a tree of cells, and the worst reciprocal condition number in it.

    Arguments:
        parts: the numbers of the parts in each leaf.
        maps: S of a part, (b + k, b), in the order of its unknowns, with the sums behind them.
        alike: a number for each part, the same for parts with the same S; None if all differ. Equal groups of equal
            parts are merged once, and share their matrices.
        units: the size of what goes out of a part where 1 comes in, unknown by unknown, (count,): where nothing does,
            as where slopes alone are given, rounding is not to be mistaken for an equation. None takes S as it is.
        crew: who merges subtrees of parts that all differ; the top of the tree is merged here.
    """
    merging = _Merging(parts, glue, maps, range(len(glue.owned)) if alike is None else alike, units)
    merging.begin(cell, crew)
    group = merging.of(cell, last=True).group
    assert len(group.outer) == 0
    return group, merging.worst


def _cut(cell: Cell, parts: Sequence[Sequence[int]]) -> list[Cell]:
    """The largest cells of at most `SUBTREE` parts, but more than one."""
    count = sum(len(parts[leaf.number]) for leaf in cell.leaves())
    if count > SUBTREE:
        return [found for child in cell.children for found in _cut(child, parts)]
    return [cell] if count > 1 else []


@dataclass(kw_only=True, frozen=True, eq=False)
class Subtree:
    """All that is needed to merge the parts of a cell elsewhere.

    Arguments:
        cell: the cell, with leaves that are counted from 0.
        parts: of each leaf, counted from 0.
        owned: the unknowns of each part, counted from 0.
        partner: see `Glue`.
        maps: S of each part.
        numbers: of the parts among all.
        unknowns: their numbers among all.
        sums: the numbers of the sums among all.
    """

    cell: Cell
    parts: tuple[tuple[int, ...], ...]
    owned: tuple[Indices, ...]
    partner: Indices | None
    maps: tuple[FloatArray, ...]
    numbers: Indices
    unknowns: Indices
    sums: Indices

    def at_home(self, group: Group) -> Group:
        """A group of this subtree with the numbers that parts and unknowns have among all."""
        children = tuple(self.at_home(child) for child in group.children)
        inner, outer, across = (self.unknowns[own] for own in (group.inner, group.outer, group.across))
        part = group.part if group.part < 0 else int(self.numbers[group.part])
        return replace(group, children=children, part=part, inner=inner, outer=outer, across=across, sums=self.sums)


def _merged_apart(subtree: Subtree) -> tuple[Group, FloatArray, float] | None:
    """The group of a subtree, its S, and the worst reciprocal condition number in it; None if it has no solution."""
    glue = Glue(subtree.owned, len(subtree.unknowns), subtree.partner, len(subtree.sums))
    merging = _Merging(subtree.parts, glue, subtree.maps.__getitem__, range(len(subtree.owned)))
    try:
        found = merging.of(subtree.cell)
    except SingularGramError:
        return None
    return found.group, found.s, merging.worst


@dataclass(frozen=True, eq=False)
class _Merged:
    """A group, with S.

    Arguments:
        kind: the same number for equal groups; −1 if there is no other like it.
    """

    group: Group
    s: FloatArray
    kind: int


class _Merging:
    """Merges groups, those that are equal once."""

    def __init__(
        self,
        parts: Sequence[Sequence[int]],
        glue: Glue,
        maps: Callable[[int], FloatArray],
        alike: Sequence[int],
        units: FloatArray | None = None,
    ) -> None:
        self._parts, self._glue, self._maps, self._alike = parts, glue, maps, alike
        self._units = np.zeros(glue.count) if units is None else units
        self._times = Counter(alike)
        self._leaves: dict[int, FloatArray] = {}
        self._known: dict[tuple[object, ...], _Merged] = {}
        self._ready: dict[int, _Merged] = {}
        self.worst = 1.0

    def begin(self, root: Cell, crew: Crew) -> None:
        """Merge all subtrees of at most so many parts, all of which differ, apart from each other."""
        cells = [cell for cell in _cut(root, self._parts) if cell is not root and self._single(cell)]
        subtrees = [self._subtree(cell) for cell in cells]
        for cell, own, found in zip(cells, subtrees, crew(_merged_apart, subtrees), strict=True):
            if found is None:
                raise unglued()
            group, s, worst = found
            self._ready[id(cell)] = _Merged(own.at_home(group), s, -1)
            self.worst = min(self.worst, worst)

    def _single(self, cell: Cell) -> bool:
        return all(self._times[self._alike[k]] == 1 for leaf in cell.leaves() for k in self._parts[leaf.number])

    def _subtree(self, cell: Cell) -> Subtree:
        """A subtree with unknowns and parts counted anew, in the same order."""
        own = [self._parts[leaf.number] for leaf in cell.leaves()]
        numbers = np.array([k for parts in own for k in parts], dtype=np.intp)
        owned = [self._glue.owned[k] for k in numbers.tolist()]
        unknowns, partner = np.unique(np.concatenate(owned)), self._glue.partner
        if partner is not None:
            unknowns = np.union1d(unknowns, partner[unknowns])
        first = np.cumsum([0, *map(len, own)]).tolist()
        return Subtree(
            cell=numbered(cell),
            parts=tuple(tuple(range(a, b)) for a, b in pairwise(first)),
            owned=tuple(np.searchsorted(unknowns, mine) for mine in owned),
            partner=None if partner is None else np.searchsorted(unknowns, partner[unknowns]),
            maps=tuple(map(self._maps, numbers.tolist())),
            numbers=numbers,
            unknowns=unknowns,
            sums=self._glue.sum_numbers,
        )

    def of(self, cell: Cell, *, last: bool = False) -> _Merged:
        """The group of all parts in a cell."""
        if id(cell) in self._ready:
            return self._ready.pop(id(cell))
        if cell.children:
            return self._merged([self.of(child) for child in cell.children], last)
        alone = [self._leaf(k) for k in self._parts[cell.number]]
        return alone[0] if len(alone) == 1 else self._merged(alone, last)

    def _leaf(self, k: int) -> _Merged:
        none, kind = np.arange(0), self._alike[k]
        group = Group(
            children=(), part=k, inner=none, outer=self._glue.owned[k], across=none, sums=self._glue.sum_numbers
        )
        if self._times[kind] == 1:
            return _Merged(group, self._maps(k), -1)
        if kind not in self._leaves:
            self._leaves[kind] = self._maps(k)
        return _Merged(group, self._leaves[kind], kind)

    def _merged(self, pairs: Sequence[_Merged], last: bool) -> _Merged:
        """The group of some groups."""
        # In the order of their unknowns, which is the same in a mirrored group, while that of its cells is not.
        pairs = sorted(pairs, key=lambda own: int(np.min(own.group.outer)))
        glue, children = self._glue, tuple(own.group for own in pairs)
        inner, outer, across = glue.split(np.concatenate([group.outer for group in children]))
        sums = glue.sum_numbers
        columns, rows = np.concatenate([inner, outer]), np.concatenate([across, outer, sums])
        where = [(positions(rows, group.out), positions(columns, group.outer)) for group in children]
        kinds = tuple(own.kind for own in pairs)
        single = last or min(kinds) < 0
        key = () if single else (kinds, len(inner), *(own.tobytes() for both in where for own in both))
        if not single and key in self._known:
            own = self._known[key]
            return replace(own, group=replace(own.group, children=children, inner=inner, outer=outer, across=across))
        whole = np.zeros((len(rows), len(columns)))
        for own, (here, there) in zip(pairs, where, strict=True):
            whole[np.ix_(here, there)] += own.s
        group = Group(children=children, part=-1, inner=inner, outer=outer, across=across, sums=sums)
        group, s = self._eliminated(group, whole, last)
        found = _Merged(group, s, -1 if single else len(self._alike) + len(self._known))
        if not single:
            self._known[key] = found
        return found

    def _eliminated(self, group: Group, whole: FloatArray, last: bool) -> tuple[Group, FloatArray]:
        """A group with its inner unknowns eliminated, and S of what is left."""
        n = len(group.inner)
        if self._glue.partner is not None:
            whole[np.arange(n), np.arange(n)] += 1.0
        if n == 0:
            return group, whole
        if last and len(group.sums):
            across = np.concatenate([group.across, group.sums])
            units = np.concatenate([self._units[group.across], np.zeros(len(group.sums))])
            return _least(group, across, whole, units), whole[:0]
        scale = 1.0 / np.maximum(np.max(np.abs(whole[:n]), axis=1), 1e-300)
        scaled = np.multiply(scale[:, None], whole[:n, :n], order="F")
        size = float(np.max(np.sum(np.abs(scaled), axis=0)))
        lu, pivots, _ = dgetrf(scaled, overwrite_a=1)
        self._note(lu, size)
        group = replace(group, factor=(lu, pivots.astype(np.intp), scale))
        down, up = group.solve_inner(whole[:n, n:]), whole[n:, :n].copy()
        return replace(group, down=down, up=up), whole[n:, n:] - up @ down

    def _note(self, lu: FloatArray, size: float) -> None:
        """Estimate a condition number from LU factors and the norm of what they are of; raise if it is hopeless."""
        found, _ = dgecon(lu, size)
        self.worst = min(self.worst, float(found))
        if not found > SINGULAR:
            raise unglued()


def positions(numbers: Indices, wanted: Indices) -> Indices:
    """Where each of some numbers stands among others."""
    order = np.argsort(numbers)
    return order[np.searchsorted(numbers[order], wanted)]


def _least(group: Group, across: Indices, whole: FloatArray, units: FloatArray) -> Group:
    """The last group, whose equations and sums hold by least squares, each in units not below those given."""
    scale = 1.0 / np.maximum(np.max(np.abs(whole), axis=1), np.maximum(units, 1e-300))
    q, upper = np.linalg.qr(scale[:, None] * whole)
    size = np.abs(np.diagonal(upper))
    if not np.min(size) > SINGULAR * np.max(size):
        raise unglued()
    none = np.zeros((len(group.inner), 0))
    return replace(group, across=across, sums=np.arange(0), least=(q, upper, scale), down=none, up=none.T)


def unglued() -> SingularGramError:
    """The error of parts of which no way of gluing determines u."""
    got = "parts that cannot be glued: a resonance of a part, or conditions that do not determine u"
    error = fail(SingularGramError, "method", got, "use cells of another size, or one space, ko.Subspace()")
    assert isinstance(error, SingularGramError)
    return error
