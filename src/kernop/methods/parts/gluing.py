"""Gluing: fluxes balance on every face between parts. Faces are eliminated up a tree by dense Schur complements.

A part, or a group of them, turns traces t on its outer faces into fluxes S t + r, with r from the data. Where two
children of a group share a face, the fluxes of both cancel:

    S_ii t_i + S_ib t_b + r_i = 0,

with i the faces inside the group and b those on its outside. So S = S_bb − S_bi S_ii⁻¹ S_ib and
r = r_b − S_bi S_ii⁻¹ r_i belong to the group, and t_i = −S_ii⁻¹ (S_ib t_b + r_i) comes down when t_b is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, lu_solve

from kernop.basics.errors import FloatArray, SingularGramError, fail
from kernop.basics.stored import stored
from kernop.geometry.cells import Cell

#: The numbers of some unknowns.
Numbers = NDArray[np.intp]


@stored("group", by_value=False)
@dataclass(frozen=True, eq=False)
class Group:
    """A group of parts, of which inner traces are eliminated.

    Arguments:
        children: the groups, or parts, of which it is made; empty for a part.
        part: the number of a part; −1 for a group.
        inner: the unknowns that are eliminated here, (i,).
        outer: the unknowns on its outside, (b,).
        factor: LU factors of S_ii with scaled rows, and the scale.
        down: S_ii⁻¹ S_ib, (i, b).
        up: S_bi, (b, i).
    """

    children: tuple[Group, ...]
    part: int
    inner: Numbers
    outer: Numbers
    factor: tuple[FloatArray, Numbers, FloatArray] | None = None
    down: FloatArray | None = None
    up: FloatArray | None = None

    def solve_inner(self, r: FloatArray, transposed: bool = False) -> FloatArray:
        """S_ii⁻¹ r, or S_ii⁻ᵀ r, for r (i, B)."""
        assert self.factor is not None
        lu, pivots, scale = self.factor
        if transposed:
            return scale[:, None] * lu_solve((lu, pivots), r, trans=1, check_finite=False)
        return lu_solve((lu, pivots), scale[:, None] * r, check_finite=False)


def glued(
    cell: Cell,
    parts: Sequence[Sequence[int]],
    owned: Sequence[Numbers],
    steklov: Callable[[int], FloatArray],
) -> Group:
    """The tree of groups for a tree of cells.

    Arguments:
        parts: the numbers of the parts in each leaf.
        owned: the unknowns on the seams of each part.
        steklov: S of a part, (b, b), in the order of its unknowns.
    """
    group, _ = _glued(cell, parts, owned, steklov)
    assert len(group.outer) == 0
    return group


def _glued(
    cell: Cell,
    parts: Sequence[Sequence[int]],
    owned: Sequence[Numbers],
    steklov: Callable[[int], FloatArray],
) -> tuple[Group, FloatArray]:
    if cell.children:
        return _merged([_glued(child, parts, owned, steklov) for child in cell.children])
    alone = [(Group((), part, owned[part][:0], owned[part]), steklov(part)) for part in parts[cell.number]]
    return alone[0] if len(alone) == 1 else _merged(alone)


def _merged(pairs: Sequence[tuple[Group, FloatArray]]) -> tuple[Group, FloatArray]:
    """The group of some groups."""
    numbers, times = np.unique(np.concatenate([group.outer for group, _ in pairs]), return_counts=True)
    inner, outer = numbers[times == 2], numbers[times == 1]
    order = np.concatenate([inner, outer])
    place = np.argsort(order)
    whole = np.zeros((len(order), len(order)))
    for group, own in pairs:
        rows = place[np.searchsorted(order[place], group.outer)]
        whole[np.ix_(rows, rows)] += own
    children = tuple(group for group, _ in pairs)
    n = len(inner)
    if n == 0:
        return Group(children, -1, inner, outer), whole
    scale = 1.0 / np.maximum(np.max(np.abs(whole[:n]), axis=1), 1e-300)
    lu, pivots, _ = lapack.dgetrf(scale[:, None] * whole[:n, :n])  # not lu_factor, which warns before we refuse
    if not np.all(np.abs(np.diag(lu)) > 1e-14):
        got = "parts whose fluxes cannot be balanced: a resonance of a part, or conditions that do not determine u"
        raise fail(SingularGramError, "method", got, "use cells of another size, or one space, ko.Subspace()")
    factor = lu, pivots.astype(np.intp), scale
    group = Group(children, -1, inner, outer, factor)
    down = group.solve_inner(whole[:n, n:])
    up = whole[n:, :n]
    return Group(children, -1, inner, outer, factor, down, up), whole[n:, n:] - up @ down


def balanced(root: Group, fluxes: Sequence[FloatArray], count: int) -> FloatArray:
    """The traces (count, B) for which fluxes balance.

    Arguments:
        fluxes: r of each part, (b, B), in the order of its unknowns.
        count: the number of all unknowns.
    """
    width = fluxes[0].shape[1]
    collected, traces = np.zeros((count, width)), np.zeros((count, width))
    held: dict[int, FloatArray] = {}

    def rise(group: Group) -> FloatArray:
        if not group.children:
            return fluxes[group.part]
        for child, own in [(child, rise(child)) for child in group.children]:
            collected[child.outer] += own
        mine, outside = collected[group.inner].copy(), collected[group.outer].copy()
        collected[group.inner] = 0.0
        collected[group.outer] = 0.0
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
            traces[group.inner] = -group.solve_inner(held[id(group)]) - group.down @ traces[group.outer]
        for child in group.children:
            fall(child)

    rise(root)
    fall(root)
    return traces


def balanced_transposed(root: Group, pulls: FloatArray, parts: int) -> list[FloatArray]:
    """The transpose of `balanced`: for weights (count, B) of traces, those of the fluxes of each part."""
    weights = pulls.copy()
    found: list[FloatArray] = [np.zeros((0, pulls.shape[1]))] * parts
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
        numbers = np.concatenate([group.inner, group.outer])
        values = np.concatenate([mine, outside])
        place = np.argsort(numbers)
        for child in group.children:
            fall(child, values[place[np.searchsorted(numbers[place], child.outer)]])

    rise(root)
    fall(root, np.zeros((0, pulls.shape[1])))
    return found
