"""Subtrees of a tree of parts: learned and merged apart from each other, here or elsewhere, to the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, pairwise

import numpy as np

from kernop.basics.errors import FloatArray, SingularGramError
from kernop.basics.shelf import Shelf
from kernop.geometry.cells import Cell
from kernop.methods.parts.crew import Crew
from kernop.methods.parts.gluing import Glue, Group, Indices, Merged, Merging, unglued
from kernop.methods.parts.local import Leaf, Local, learned

#: Subtrees have at most so many parts.
SUBTREE = 64
#: Parts that are in no subtree are learned in about so many packages, with at most so many parts each.
PACKAGES, TOGETHER = 16, 8

#: What a part does, and the weights of its blocks of rows.
Fitted = tuple[Local, list[float]]
#: The group of a subtree, its S, and the worst reciprocal condition number in it; None if it has no solution.
MergedApart = tuple[Group, FloatArray, float] | None


@dataclass(kw_only=True, frozen=True, eq=False)
class Subtree:
    """All that is needed to merge the parts of a cell elsewhere, but what they do.

    Arguments:
        cell: the cell, with leaves that are counted from 0, and without its places.
        parts: of each leaf, counted from 0.
        owned: the unknowns of each part, counted from 0.
        partner: see `Glue`.
        numbers: of the parts among all.
        unknowns: their numbers among all.
        sums: the numbers of the sums among all.
    """

    cell: Cell
    parts: tuple[tuple[int, ...], ...]
    owned: tuple[Indices, ...]
    partner: Indices | None
    numbers: Indices
    unknowns: Indices
    sums: Indices

    @classmethod
    def of(cls, cell: Cell, parts: Sequence[Sequence[int]], glue: Glue) -> Subtree:
        """A subtree with unknowns and parts counted anew, in the same order."""
        own = [parts[leaf.number] for leaf in cell.leaves()]
        numbers = np.array([k for some in own for k in some], dtype=np.intp)
        owned = [glue.owned[k] for k in numbers.tolist()]
        unknowns, partner = np.unique(np.concatenate(owned)), glue.partner
        if partner is not None:
            unknowns = np.union1d(unknowns, partner[unknowns])
        first = np.cumsum([0, *map(len, own)]).tolist()
        return cls(
            cell=_bare(cell, count()),
            parts=tuple(tuple(range(a, b)) for a, b in pairwise(first)),
            owned=tuple(np.searchsorted(unknowns, mine) for mine in owned),
            partner=None if partner is None else np.searchsorted(unknowns, partner[unknowns]),
            numbers=numbers,
            unknowns=unknowns,
            sums=glue.sum_numbers,
        )

    def merged(self, maps: Sequence[FloatArray]) -> MergedApart:
        """With S of each part; the groups have the numbers that parts and unknowns have among all."""
        glue = Glue(self.owned, len(self.unknowns), self.partner, len(self.sums))
        merging = Merging(self.parts, glue, maps.__getitem__)
        try:
            found = merging.of(self.cell)
        except SingularGramError:
            return None
        return self._at_home(found.group), found.s, merging.worst

    def _at_home(self, group: Group) -> Group:
        children = tuple(self._at_home(child) for child in group.children)
        inner, outer, across = (self.unknowns[own] for own in (group.inner, group.outer, group.across))
        part = group.part if group.part < 0 else int(self.numbers[group.part])
        return replace(group, children=children, part=part, inner=inner, outer=outer, across=across, sums=self.sums)


@dataclass(frozen=True, eq=False)
class Package:
    """Parts that are learned together, and merged if they are those of a subtree.

    Arguments:
        leaves: what they are learned from.
        strengths: the unit of what goes out of each, (P,).
        subtree: of all of them, in this order.
    """

    leaves: tuple[Leaf, ...]
    strengths: FloatArray
    subtree: Subtree | None = None

    def done(self) -> Iterator[Fitted | MergedApart]:
        """What each does, without what its skeleton gives; and then the group of all, if they have a subtree."""
        maps: list[FloatArray] = []
        for strength, leaf in zip(self.strengths.tolist(), self.leaves, strict=True):
            own, weights = learned(leaf)
            if self.subtree is not None:
                maps.append(own.passed_on(strength, np.empty((0, own.out.shape[1]))))
            yield own.without(leaf.skeleton), weights
        if self.subtree is not None:
            yield self.subtree.merged(maps)


class Subtrees:
    """The subtrees of at most `SUBTREE` parts, no two of which are alike.

    Arguments:
        root: of the tree of cells.
        parts: the numbers of the parts in each leaf.
        glue: the unknowns.
        single: is no other part like it? One for each part.
    """

    def __init__(self, root: Cell, parts: Sequence[Sequence[int]], glue: Glue, single: Sequence[bool]) -> None:
        self._root, self._parts, self._glue = root, parts, glue
        several = len(single) > SUBTREE
        self._open = [cell for cell in _cut(root, parts) if self._all(cell, single)] if several else []
        self.ready: dict[int, Merged] = {}
        self.worst = 1.0
        self._solvable = True

    def _all(self, cell: Cell, flags: Sequence[bool]) -> bool:
        return all(flags[k] for leaf in cell.leaves() for k in self._parts[leaf.number])

    def learn(
        self, leaves: dict[int, Leaf], strengths: FloatArray, crew: Crew, shelf: Shelf | None
    ) -> dict[int, Fitted]:
        """Learn parts, by number, and merge the subtrees of which all are among them, unless sums go up the tree."""
        fresh = [k in leaves for k in range(len(strengths))]
        cells = [] if self._glue.sums else [cell for cell in self._open if self._all(cell, fresh)]
        subtrees = [Subtree.of(cell, self._parts, self._glue) for cell in cells]
        taken = {k for own in subtrees for k in own.numbers.tolist()}
        rest = [k for k in leaves if k not in taken]
        size = max(1, min(TOGETHER, -(-len(rest) // PACKAGES)))
        cut = [
            *(own.numbers.tolist() for own in subtrees),
            *(rest[a : a + size] for a in range(0, len(rest), size)),
        ]
        packages = [
            Package(tuple(leaves[k] for k in own), strengths[own], subtrees[i] if i < len(subtrees) else None)
            for i, own in enumerate(cut)
        ]
        numbers = sum(leaf.numbers for leaf in leaves.values()) / max(1, len(leaves))
        done = crew(Package.done, packages, numbers, shelf)
        self._merged(cells, [found.pop() for found in done[: len(cells)]])
        pairs = zip(chain(*cut), chain(*done), strict=True)
        return {k: (own.with_arrays_of(leaves[k].skeleton), weights) for k, (own, weights) in pairs}

    def merge(self, maps: Callable[[int], FloatArray], crew: Crew, shelf: Shelf | None) -> None:
        """Merge the other subtrees, with S of their parts by number. Raises if one of all has no solution."""
        cells = [cell for cell in self._open if id(cell) not in self.ready]
        subtrees = [Subtree.of(cell, self._parts, self._glue) for cell in cells]
        items = [(own, [maps(k) for k in own.numbers.tolist()]) for own in subtrees]
        if items:
            numbers = sum(own.size for _, some in items for own in some) / len(items)
            self._merged(cells, [group for (group,) in crew(_merged, items, numbers, shelf)])
        if not self._solvable:
            raise unglued()

    def _merged(self, cells: Sequence[Cell], groups: Sequence[MergedApart]) -> None:
        for cell, found in zip(cells, groups, strict=True):
            self._solvable &= found is not None
            if found is not None:
                group, s, worst = found
                self.ready[id(cell)] = Merged(group, s, -1)
                self.worst = min(self.worst, worst)


#: Stands for places that nobody asks for.
NOWHERE = np.empty(0)


def _bare(cell: Cell, numbers: Iterator[int]) -> Cell:
    if not cell.children:
        return Cell(NOWHERE, NOWHERE, (), next(numbers))
    return Cell(NOWHERE, NOWHERE, tuple(_bare(child, numbers) for child in cell.children))


def _merged(item: tuple[Subtree, Sequence[FloatArray]]) -> Iterator[MergedApart]:
    subtree, maps = item
    yield subtree.merged(maps)


def _cut(cell: Cell, parts: Sequence[Sequence[int]]) -> Iterator[Cell]:
    """The largest cells of at most `SUBTREE` parts, but more than one."""
    number = sum(len(parts[leaf.number]) for leaf in cell.leaves())
    if number > SUBTREE:
        for child in cell.children:
            yield from _cut(child, parts)
    elif number > 1:
        yield cell
