"""Parts that are applied together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.linalg import norms
from kernop.basics.shelf import shelf_for
from kernop.methods.parts.local import Local

#: Parts whose Q has fewer bytes are applied together, so many at a time: their calls would take more than their work.
SMALL, TOGETHER = 2**17, 64

#: Rows that follow each other and have one weight: of a part, among all, and √w.
Run = tuple[slice, slice, float]


@dataclass(kw_only=True, frozen=True, eq=False)
class Stack:
    """P parts that are applied together: they share what they do, or are small and of one shape.

    Arguments:
        q, from_trace, out: what they do, see `Local`: (…, n, m), (…, m, b), (…, b, m), one for all or one for each.
        parts: their numbers, (P,).
        starts: where their coordinates begin among all, (P,).
        rows: the numbers of their rows, (P, n).
        roots: √w of them, (P, n, 1).
        owned: the numbers of their unknowns, (P, b).
        told: do their residuals tell of the solution? (P,).
    """

    q: FloatArray
    from_trace: FloatArray
    out: FloatArray
    parts: NDArray[np.intp]
    starts: NDArray[np.intp]
    rows: NDArray[np.intp]
    roots: FloatArray
    owned: NDArray[np.intp]
    told: NDArray[np.bool_]

    @cached_property
    def runs(self) -> list[list[Run]] | None:
        """The rows of each part in a few runs, whose products need no copies of the data; None for small parts."""
        if self.q.ndim == 3:
            return None
        return [_runs(rows, roots[:, 0]) for rows, roots in zip(self.rows, self.roots, strict=True)]

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """Where their coordinates are among all, (P, m)."""
        return self.starts[:, None] + np.arange(self.out.shape[-1])

    @cached_property
    def spans(self) -> list[slice]:
        """The same, part by part."""
        return [slice(a, a + self.out.shape[-1]) for a in self.starts.tolist()]

    def pull(self, h: FloatArray, y: FloatArray) -> None:
        """y = Qᵀ (w h), for data h of all parts (N, B), into y of all parts (L, B)."""
        if self.runs is None:
            y[self.places] = self.q.swapaxes(-1, -2) @ (self.roots * h[self.rows])
            return
        for own, runs in zip(self.spans, self.runs, strict=True):
            for number, (here, there, root) in enumerate(runs):
                product = np.matmul(self.q[here].T, h[there], out=None if number else y[own])
                product *= root
                if number:
                    y[own] += product

    def push(self, incoming: FloatArray, y: FloatArray) -> None:
        """y += C t, for what comes in on all seams (count, B)."""
        if self.q.ndim == 3:
            y[self.places] += self.from_trace @ incoming[self.owned]
            return
        for span, own in zip(self.spans, self.owned, strict=True):
            y[span] += self.from_trace @ incoming[own]

    def sent(self, y: FloatArray) -> Iterable[FloatArray]:
        """What goes out of each part, (b, B), in its own units."""
        if self.q.ndim == 3:
            return self.out @ y[self.places]
        return (self.out @ y[own] for own in self.spans)

    def size(self, h: FloatArray, some: NDArray[np.bool_]) -> FloatArray:
        """|w h| over the rows of some of the parts, (B,)."""
        if self.runs is None:
            return norms((self.roots[some] * h[self.rows[some]]).reshape(-1, h.shape[1]))
        runs = [run for own, counts in zip(self.runs, some.tolist(), strict=True) if counts for run in own]
        return norms(np.stack([root * norms(h[there]) for _, there, root in runs]))

    def left(self, h: FloatArray, y: FloatArray) -> FloatArray:
        """w h − Q y over the rows of those parts whose residuals tell, (n, B)."""
        q = self.q if self.q.ndim == 2 or np.all(self.told) else self.q[self.told]
        found = self.roots[self.told] * h[self.rows[self.told]] - q @ y[self.places[self.told]]
        return found.reshape(-1, h.shape[1])


def _runs(rows: NDArray[np.intp], roots: FloatArray) -> list[Run]:
    """Rows (n,) with √w (n,) in runs."""
    ends = np.flatnonzero((np.diff(rows) != 1) | (np.diff(roots) != 0.0)) + 1
    return [
        (slice(a, b), slice(int(rows[a]), int(rows[a]) + b - a), float(roots[a]))
        for a, b in pairwise([0, *ends.tolist(), len(rows)])
    ]


def batched(
    parts: Sequence[Local],
    starts: NDArray[np.intp],
    rows: Sequence[NDArray[np.intp]],
    roots: Sequence[FloatArray],
    owned: Sequence[NDArray[np.intp]],
    told: Collection[int],
) -> list[Stack]:
    """All parts: equal ones together, small ones of one shape together, and large ones one by one.

    Arguments:
        parts: what each does.
        starts: where the coordinates of each begin among all.
        rows: the numbers of its rows.
        roots: √w of them.
        owned: the numbers of its unknowns.
        told: the parts whose residuals tell of the solution.
    """
    alike: dict[int, list[int]] = {}
    for k, own in enumerate(parts):
        alike.setdefault(id(own), []).append(k)
    small: dict[tuple[int, ...], list[int]] = {}
    for key, same in list(alike.items()):
        own = parts[same[0]]
        if len(same) == 1 and own.q.nbytes < SMALL:
            small.setdefault((*own.q.shape, *own.out.shape), []).append(alike.pop(key)[0])
    cut = [own[a : a + TOGETHER] for own in small.values() for a in range(0, len(own), TOGETHER)]

    def stack(numbers: list[int]) -> Stack:
        first = parts[numbers[0]]
        shared = all(parts[k] is first for k in numbers)
        return Stack(
            q=first.q if shared else np.stack([parts[k].q for k in numbers]),
            from_trace=first.from_trace if shared else np.stack([parts[k].from_trace for k in numbers]),
            out=first.out if shared else np.stack([parts[k].out for k in numbers]),
            parts=np.array(numbers),
            starts=starts[numbers],
            rows=np.stack([rows[k] for k in numbers]),
            roots=np.stack([roots[k] for k in numbers])[:, :, None],
            owned=np.stack([owned[k] for k in numbers]),
            told=np.array([k in told for k in numbers]),
        )

    copied = sum(parts[k].q.size + parts[k].from_trace.size + parts[k].out.size for own in cut for k in own)
    shelf = shelf_for("T", copied, "small parts, of which there are many", "use a machine with more memory")
    together = map(stack, cut) if shelf is None else shelf.opened([shelf.put(stack(own)) for own in cut])
    return [*map(stack, alike.values()), *together]
