"""Parts that are applied together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.shelf import shelf_for
from kernop.methods.parts.local import Local

#: Parts whose Q has fewer bytes are applied together, so many at a time: their calls would take more than their work.
SMALL, TOGETHER = 2**17, 64


@dataclass(kw_only=True, frozen=True, eq=False)
class Stack:
    """P parts that are applied together: they share what they do, or are small and of one shape.

    Arguments:
        local: what they do, one for all, or with a leading axis for each.
        parts: their numbers, (P,).
        starts: where their coordinates begin among all, (P,).
        rows: the numbers of their rows, (P, n).
        roots: √w of them, (P, n, 1).
        owned: the numbers of their unknowns, (P, b).
    """

    local: Local
    parts: NDArray[np.intp]
    starts: NDArray[np.intp]
    rows: NDArray[np.intp]
    roots: FloatArray
    owned: NDArray[np.intp]

    @cached_property
    def _place(self) -> slice | NDArray[np.intp]:
        """Where their coordinates are among all, (P m,); a slice needs no copies."""
        m = self.local.out.shape[-1]
        if np.all(np.diff(self.starts) == m):
            return slice(int(self.starts[0]), int(self.starts[-1]) + m)
        return (self.starts[:, None] + np.arange(m)).ravel()

    def coordinates(self, y: FloatArray) -> FloatArray:
        """Theirs, (P, m, B), among those of all parts, (L, B); a copy unless they follow each other."""
        return y[self._place].reshape(len(self.parts), -1, y.shape[1])

    def _put(self, y: FloatArray, mine: FloatArray) -> None:
        """Write what was changed in a copy of their coordinates."""
        if not isinstance(self._place, slice):
            y[self._place] = mine.reshape(-1, y.shape[1])

    @cached_property
    def _inside(self) -> tuple[slice | NDArray[np.intp], FloatArray | None]:
        """Where the rows of equations of bubbles stand, and √w of them, (P, 1, 1), if it is one number for each part.

        They are a slice of all rows, if they follow each other, which needs no copy of the data.
        """
        count, _ = self.local.split
        rows, roots = self.rows[:, :count].ravel(), self.roots[:, :count]
        plain = bool(np.all(np.diff(rows) == 1))
        alike = bool(np.all(roots == roots[:, :1]))
        return slice(int(rows[0]), int(rows[-1]) + 1) if plain else rows, roots[:, :1] if alike else None

    def weighted(self, h: FloatArray, start: int = 0) -> FloatArray:
        """Rows of data h of all parts (N, B), from one on, with their weights: (P, n − start, B)."""
        return self.roots[:, start:] * h[self.rows[:, start:]]

    def pull(self, h: FloatArray, y: FloatArray) -> FloatArray:
        """y = Qᵀ (w h), for data h of all parts (N, B), into y of all parts (L, B); what goes out, (P, b, B)."""
        local, (count, mu), mine = self.local, self.local.split, self.coordinates(y)
        out: FloatArray | None = None
        if local.inner is not None:
            place, root = self._inside
            inside = h[place].reshape(len(self.parts), count, -1)
            bubbles = np.swapaxes(local.inner, -1, -2) @ (self.roots[:, :count] * inside if root is None else inside)
            if root is not None:
                bubbles *= root
            mine[:, :mu] = bubbles
            out = local.out[..., :mu] @ bubbles
        if self._given:
            others = np.swapaxes(local.q, -1, -2) @ self.weighted(h, count)
            mine[:, mu:] = others
            more = local.out[..., mu:] @ others
            out = more if out is None else np.add(out, more, out=out)
        assert out is not None
        self._put(y, mine)
        return out

    def push(self, incoming: FloatArray, y: FloatArray) -> None:
        """y += C t, for what comes in on all seams (count, B)."""
        _, mu = self.local.split
        come, mine = self.local.from_trace @ incoming[self.owned], self.coordinates(y)
        if self._given:
            mine[:, mu:] += come
        else:
            mine[:, mu:] = come
        self._put(y, mine)

    @property
    def _given(self) -> bool:
        """Have they other data than those that determine bubbles?"""
        return self.local.inner is None or self.local.q.shape[-2] > 0


def batched(
    parts: Sequence[Local],
    starts: NDArray[np.intp],
    rows: Sequence[NDArray[np.intp]],
    roots: Sequence[FloatArray],
    owned: Sequence[NDArray[np.intp]],
) -> list[Stack]:
    """All parts: equal ones together, small ones of one shape together, and large ones one by one.

    Arguments:
        parts: what each does.
        starts: where the coordinates of each begin among all.
        rows: the numbers of its rows.
        roots: √w of them.
        owned: the numbers of its unknowns.
    """
    alike: dict[int, list[int]] = {}
    for k, own in enumerate(parts):
        alike.setdefault(id(own), []).append(k)
    small: dict[tuple[object, ...], list[int]] = {}
    for key, same in list(alike.items()):
        own = parts[same[0]]
        if len(same) == 1 and max(own.q.nbytes, 0 if own.inner is None else own.inner.nbytes) < SMALL:
            small.setdefault((own.split, *own.q.shape, *own.out.shape), []).append(alike.pop(key)[0])
    cut = [own[a : a + TOGETHER] for own in small.values() for a in range(0, len(own), TOGETHER)]

    def stack(numbers: list[int]) -> Stack:
        return Stack(
            local=stacked([parts[k] for k in numbers]),
            parts=np.array(numbers),
            starts=starts[numbers],
            rows=np.stack([rows[k] for k in numbers]),
            roots=np.stack([roots[k] for k in numbers])[:, :, None],
            owned=np.stack([owned[k] for k in numbers]),
        )

    copied = sum(parts[k].numbers - parts[k].upper.size for own in cut for k in own)
    shelf = shelf_for("T", copied, "small parts, of which there are many", "use a machine with more memory")
    together = map(stack, cut) if shelf is None else shelf.opened([shelf.put(stack(own)) for own in cut])
    return [*map(stack, alike.values()), *together]


def stacked(parts: Sequence[Local]) -> Local:
    """What parts of one shape do, with a leading axis for each, unless all are the same; arrays that all share stay."""
    if all(own is parts[0] for own in parts):
        return parts[0]
    inner, beside = ([own for own in arrays if own is not None] for arrays in zip(*map(_inside, parts), strict=True))
    return Local(
        q=_together([own.q for own in parts]),
        upper=parts[0].upper,  # no stack is asked for it
        from_trace=_together([own.from_trace for own in parts]),
        out=_together([own.out for own in parts]),
        inner=_together(inner) if inner else None,
        beside=_together(beside) if beside else None,
    )


def _inside(own: Local) -> tuple[FloatArray | None, FloatArray | None]:
    return own.inner, own.beside


def _together(arrays: Sequence[FloatArray]) -> FloatArray:
    """Arrays with a leading axis, by columns if they are; one that all share as it is."""
    if all(own is arrays[0] for own in arrays):
        return arrays[0]
    by_columns = arrays[0].flags.f_contiguous and not arrays[0].flags.c_contiguous
    return np.swapaxes(np.stack([own.T for own in arrays]), -1, -2) if by_columns else np.stack(arrays)
