"""A stream: checked points of a problem in batches, which are read one after the other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from kernop.basics.checks import check_memory
from kernop.basics.errors import ArgumentError, ArgumentTypeError, describe, fail
from kernop.collocation.functionals import evenly, some
from kernop.collocation.sampling import check_conditions
from kernop.geometry import Points
from kernop.geometry.points import concatenate
from kernop.language.problem import Problem

#: At most so many batches are read, and about so many of their points are taken, for a look at the whole stream.
BATCHES_OF_LOOK, POINTS_OF_LOOK = 64, 4096
#: The points of some conditions, by name.
Batch = dict[str, Points]


class Stream:
    """Batches of checked points for a problem.

    Attributes:
        problem: the conditions; the points of a batch are in their order.
        number: how many batches; None if the stream only shows its end when it comes.
        again: can it be read more than once, and from anywhere?
        sliced: are batches slices of arrays, which cost nothing to look at?
    """

    number: int | None
    again: bool = True
    sliced: bool = False

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._seen: dict[int, int] = {}
        self._sampled: list[Batch] = []
        self._look: Batch = {}
        self._looked_at = dict.fromkeys(problem.names, 0)

    def _unchanged(self, k: int, points: Iterable[Points]) -> bool:
        """Are these points those that batch k had when it was read for the first time? True if this is the first."""
        found = int.from_bytes(fingerprint(points, 8), "little")
        return self._seen.setdefault(k, found) == found

    def __getitem__(self, k: int) -> Batch:
        """The points of batch k, by the name of their condition."""
        raise NotImplementedError

    def start(self, k: int) -> dict[str, int] | None:
        """How many points of each condition come before batch k; None if that cannot be known."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Batch]:
        return (self[k] for k in range(self.number or 0))

    @property
    def counts(self) -> dict[str, int] | None:
        """How many points of each condition there are; None if that cannot be known. It may take a pass to find out."""
        return self.start(self.number) if self.number is not None else None

    def total(self) -> int:
        """How many points there are."""
        if self.counts is None:
            remedy = "give Subspace(centers=…): the number of points is not known"
            raise fail(ArgumentError, "points", "an iterator", remedy)
        return sum(self.counts.values())

    def sampled(self) -> list[Batch]:
        """A few batches that stand for all: the first, the middle and the last. They are read once, and kept."""
        last = (self.number or 1) - 1
        self._sampled = self._sampled or [self[k] for k in sorted({0, last // 2, last})]
        return self._sampled

    def look(self) -> Batch:
        """Some of the points of all conditions, which stand for all whatever their order is; read once, and kept.

        Arrays may be sorted, or have their points part by part: first batches then say nothing of the others. Batches
        that a function makes are seen by a few, and of an iterator nothing but the first can be.
        """
        if not self._look:
            numbers = evenly(self.number or 1, BATCHES_OF_LOOK).tolist()
            batches = [self[k] for k in numbers] if self.sliced else self.sampled()
            size = sum(len(points) for batch in batches for points in batch.values())
            found: dict[str, list[Points]] = {name: [] for name in self.problem.names}
            for batch in batches:
                for name, points in batch.items():
                    self._looked_at[name] += len(points)
                    rule = self.problem[name].integral  # keeps all of its points
                    found[name].append(points if rule else points[some(len(points), min(1.0, POINTS_OF_LOOK / size))])
            self._look = {name: own[0] if len(own) == 1 else concatenate(own) for name, own in found.items() if own}
        return self._look

    def sizes(self) -> dict[str, int]:
        """How many points of each condition there are; if that takes a pass, how many there are where `look` looked."""
        self.look()
        return self._looked_at

    def points(self, name: str) -> Points:
        """All points of a condition."""
        size = 3 * (self.counts or {}).get(name, 0) * self.problem.dim
        check_memory("T.points", size, f"all points of {name!r}", "go through them batch by batch")
        parts = [batch[name] for batch in self if name in batch]
        if not parts:
            raise fail(ArgumentError, "T.points", f"{name!r}", "no batch had points of this condition")
        # A quadrature rule is in one batch, and keeps its weights.
        return parts[0] if len(parts) == 1 else concatenate(parts)

    def spread(self, number: int) -> Batch:
        """``number`` of all points, evenly spread over them; all if there are no more. An iterator: its first batch."""
        counts = self.counts
        if counts is None:
            first = self.sampled()[0]
            if sum(map(len, first.values())) >= number:
                return first
            remedy = "use basis='translates', or give arrays or ko.Batches: an iterator shows its first batch only"
            raise fail(ArgumentError, "centers", f"{number} representers, more than the first batch has points", remedy)
        starts = np.cumsum([0, *counts.values()])
        chosen = evenly(int(starts[-1]), number)
        parts = np.split(chosen, np.searchsorted(chosen, starts[1:-1]))
        own = {name: rows - first for name, rows, first in zip(counts, parts, starts, strict=False) if len(rows)}
        return {name: self.points(name)[rows] for name, rows in own.items()}

    def check_again(self, remedy: str | None = None) -> None:
        """Refuse to read points once more that came from an iterator."""
        if not self.again:
            remedy = remedy or "give arrays or ko.Batches to learn, or this input in learn(inputs=[…]), for T.solutions"
            raise fail(ArgumentError, "T", "an operator whose points have passed (they came from an iterator)", remedy)

    def _adopted(self, given: object) -> Batch:
        if not isinstance(given, Mapping):
            remedy = "a batch is a dictionary from names of conditions to points"
            raise fail(ArgumentTypeError, "points", f"a batch that is {describe(given)}", remedy)
        check_conditions("points", given, self.problem)
        known = self.problem.names
        batch = {n: self.problem[n].on.adopt(given[n], f"points[{n!r}]") for n in known if n in given}
        if not batch:
            raise fail(ArgumentError, "points", "a batch without points", "leave empty batches out")
        return batch


def fingerprint(points: Iterable[Points], size: int = 32) -> bytes:
    """A digest of coordinates and normals, by which points can be recognised."""
    digest = hashlib.blake2b(digest_size=size)
    for own in points:
        for array in (own.x, own.normal):
            digest.update(repr(None if array is None else array.shape).encode())
            digest.update(b"" if array is None else np.ascontiguousarray(array).data)
    return digest.digest()
