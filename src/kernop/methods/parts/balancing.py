"""Data up the tree of groups, traces down; and the transpose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernop.basics.errors import FloatArray
from kernop.methods.parts.gluing import Glue, Group


def balanced(root: Group, outgoing: Sequence[FloatArray], glue: Glue) -> FloatArray:
    """What comes in on all faces, (count, B).

    Arguments:
        outgoing: r of each part, (b + k, B), in the order of its unknowns, with the sums behind them.
    """
    width = outgoing[0].shape[1]
    found = np.zeros((glue.count, width))
    held: dict[int, FloatArray] = {}

    def rise(group: Group) -> FloatArray:
        if not group.children:
            return outgoing[group.part]
        inside = len(group.across)
        whole = np.zeros((inside + len(group.out), width))
        for child, places in zip(group.children, group.places, strict=True):
            whole[places] += rise(child)
        if len(group.inner) == 0:
            return whole
        assert group.up is not None
        held[id(group)] = group.solve_inner(whole[:inside])
        outside = whole[inside:]
        outside -= group.up @ held[id(group)]
        return outside

    def fall(group: Group) -> None:
        if not group.children:
            return
        if len(group.inner):
            assert group.down is not None
            own = group.down @ found[group.outer]
            own += held.pop(id(group))
            found[group.inner] = np.negative(own, out=own)
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
        values = np.concatenate([mine, outside])
        for child, places in zip(group.children, group.places, strict=True):
            fall(child, values[places])

    rise(root)
    fall(root, np.zeros((len(root.out), pulls.shape[1])))
    return found
