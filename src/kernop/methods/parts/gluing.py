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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dgecon, dgetrf, dgetrs

from kernop.basics.checks import check_memory
from kernop.basics.errors import ArgumentError, FloatArray, SingularGramError, fail
from kernop.basics.linalg import product, threads_for
from kernop.basics.stored import stored
from kernop.geometry.cells import Cell

#: Of matrices of more numbers than this it is seen before whether they fit into memory, so many times.
LARGE, COPIES = 10_000_000, 3
#: The numbers of some unknowns.
Indices = NDArray[np.intp]
#: Equations of faces whose reciprocal condition number is below this do not determine what comes in.
SINGULAR = 1e-15
#: Equations that are smaller than this, in units of what goes out of a part, are rounding errors.
ROUNDING = 1e-13


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

    @cached_property
    def places(self) -> tuple[Indices, ...]:
        """Where what goes out of each child stands among ``across`` and, behind them, what goes out of the group."""
        numbers = np.concatenate([self.across, self.out])
        return tuple(positions(numbers, child.out) for child in self.children)

    def solve_inner(self, r: FloatArray, transposed: bool = False) -> FloatArray:
        """E⁻¹ r, or E⁻ᵀ r, for r (i, B)."""
        if self.least is not None:
            q, upper, scale = self.least
            if transposed:
                return scale[:, None] * (q @ solve_triangular(upper, r, trans=1, check_finite=False))
            return solve_triangular(upper, q.T @ (scale[:, None] * r), check_finite=False)
        assert self.factor is not None
        lu, pivots, scale = self.factor
        with threads_for(2.0 * lu.size * r.shape[1]):
            if transposed:
                return scale[:, None] * dgetrs(lu, pivots, r, trans=1)[0]
            return dgetrs(lu, pivots, scale[:, None] * r, overwrite_b=1)[0]


@dataclass(frozen=True, eq=False)
class Joint:
    """How some groups become one, as far as it is known before any of their matrices is.

    Arguments:
        order: of the groups: that of their unknowns, which is the same in a mirrored group, while that of cells is not.
        inner, outer, across: see `Group`.
        where: rows and columns of S of each group, in this order, in the matrix of all.
    """

    order: tuple[int, ...]
    inner: Indices
    outer: Indices
    across: Indices
    where: tuple[tuple[Indices, Indices], ...]

    @cached_property
    def pattern(self) -> tuple[object, ...]:
        """What is the same for groups that become one in the same way."""
        return len(self.inner), *(own.tobytes() for both in self.where for own in both)


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
    _joints: dict[int, Joint] = field(default_factory=dict[int, "Joint"], init=False, repr=False)

    def joint(self, cell: Cell, groups: Sequence[Group]) -> Joint:
        """How the groups in a cell of the tree, which lives as long as this, become one."""
        if id(cell) not in self._joints:
            self._joints[id(cell)] = self._joined(groups)
        return self._joints[id(cell)]

    def _joined(self, groups: Sequence[Group]) -> Joint:
        if not all(len(group.outer) for group in groups):
            got = "parts that do not touch others: a domain in several pieces, or one that is thin beside its cells"
            raise fail(ArgumentError, "method", got, "learn each piece by itself, or use more cells")
        order = sorted(range(len(groups)), key=lambda k: int(np.min(groups[k].outer)))
        inner, outer, across = self.split(np.concatenate([group.outer for group in groups]))
        columns, rows = np.concatenate([inner, outer]), np.concatenate([across, outer, self.sum_numbers])
        where = [(positions(rows, groups[k].out)[:, None], positions(columns, groups[k].outer)) for k in order]
        return Joint(tuple(order), inner, outer, across, tuple(where))

    @property
    def numbers(self) -> Sequence[Indices]:
        """The numbers of what goes out of each part: of its unknowns, and of the sums."""
        return [np.concatenate([own, self.sum_numbers]) for own in self.owned] if self.sums else self.owned

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
    ready: Mapping[int, Merged] | None = None,
) -> tuple[Group, float]:
    """The tree of groups for a tree of cells, and the worst reciprocal condition number in it.

    Arguments:
        parts: the numbers of the parts in each leaf.
        maps: S of a part, (b + k, b), in the order of its unknowns, with the sums behind them.
        alike: a number for each part, the same for parts with the same S; None if all differ. Equal groups of equal
            parts are merged once, and share their matrices.
        units: the size of what goes out of a part where 1 comes in, unknown by unknown, (count,): where nothing does,
            as where slopes alone are given, rounding is not to be mistaken for an equation. None takes S as it is.
        ready: groups of subtrees of parts that all differ, by the id of their cells.
    """
    merging = Merging(parts, glue, maps, alike=alike, units=units, ready=ready)
    group = merging.of(cell, last=True).group
    assert len(group.outer) == 0
    return group, merging.worst


@dataclass(frozen=True, eq=False)
class Merged:
    """A group, with S.

    Arguments:
        kind: the same number for equal groups; −1 if there is no other like it.
    """

    group: Group
    s: FloatArray
    kind: int


class Merging:
    """Merges groups, those that are equal once; for its arguments see `glued`."""

    def __init__(
        self,
        parts: Sequence[Sequence[int]],
        glue: Glue,
        maps: Callable[[int], FloatArray],
        *,
        alike: Sequence[int] | None = None,
        units: FloatArray | None = None,
        ready: Mapping[int, Merged] | None = None,
    ) -> None:
        self._parts, self._glue, self._maps = parts, glue, maps
        self._alike = range(len(glue.owned)) if alike is None else alike
        self._units = np.zeros(glue.count) if units is None else units
        self._times = Counter(self._alike)
        self._leaves: dict[int, FloatArray] = {}
        self._known: dict[tuple[object, ...], Merged] = {}
        self._ready = ready or {}
        self.worst = 1.0

    def of(self, cell: Cell, *, last: bool = False) -> Merged:
        """The group of all parts in a cell."""
        if id(cell) in self._ready:
            return self._ready[id(cell)]
        if cell.children:
            return self._merged(cell, [self.of(child) for child in cell.children], last)
        alone = [self._leaf(k) for k in self._parts[cell.number]]
        return alone[0] if len(alone) == 1 else self._merged(cell, alone, last)

    def _leaf(self, k: int) -> Merged:
        none, kind = np.arange(0), self._alike[k]
        group = Group(
            children=(), part=k, inner=none, outer=self._glue.owned[k], across=none, sums=self._glue.sum_numbers
        )
        if self._times[kind] == 1:
            return Merged(group, self._maps(k), -1)
        if kind not in self._leaves:
            self._leaves[kind] = self._maps(k)
        return Merged(group, self._leaves[kind], kind)

    def _merged(self, cell: Cell, pairs: Sequence[Merged], last: bool) -> Merged:
        """The group of all groups in a cell."""
        joint = self._glue.joint(cell, [own.group for own in pairs])
        pairs = [pairs[k] for k in joint.order]
        sums, children = self._glue.sum_numbers, tuple(own.group for own in pairs)
        group = Group(children=children, part=-1, inner=joint.inner, outer=joint.outer, across=joint.across, sums=sums)
        kinds = tuple(own.kind for own in pairs)
        single = last or min(kinds) < 0
        key = () if single else (kinds, *joint.pattern)
        if not single and key in self._known:
            own = self._known[key]
            mine = {"children": children, "inner": joint.inner, "outer": joint.outer, "across": joint.across}
            return replace(own, group=replace(own.group, **mine))
        shape = len(joint.across) + len(joint.outer) + len(sums), len(joint.inner) + len(joint.outer)
        if shape[0] * shape[1] > LARGE:
            remedy = "use fewer cells, a lower degree, or a machine with more memory"
            check_memory("method", COPIES * shape[0] * shape[1], f"a seam of {shape[1]} unknowns between parts", remedy)
        whole = np.zeros(shape)
        for own, where in zip(pairs, joint.where, strict=True):
            whole[where] += own.s
        group, s = self._eliminated(group, whole, last)
        found = Merged(group, s, -1 if single else len(self._alike) + len(self._known))
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
        sizes = np.max(np.abs(whole[:n]), axis=1)
        if np.any(sizes < ROUNDING * self._units[group.across]):
            raise unglued()
        scale = 1.0 / np.maximum(sizes, 1e-300)
        scaled = np.multiply(scale[:, None], whole[:n, :n], order="F")
        size = float(np.max(np.sum(np.abs(scaled), axis=0)))
        with threads_for(2.0 / 3.0 * n**3):
            lu, pivots, _ = dgetrf(scaled, overwrite_a=1)
        self._note(lu, size)
        group = replace(group, factor=(lu, pivots.astype(np.intp), scale))
        down, up = group.solve_inner(whole[:n, n:]), whole[n:, :n].copy()
        return replace(group, down=down, up=up), whole[n:, n:] - product(up, down)

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
