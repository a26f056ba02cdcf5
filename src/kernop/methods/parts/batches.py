"""Parts that are applied together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.methods.parts.local import Local

#: Parts whose Q has fewer bytes are applied together, so many at a time: their calls would take more than their work.
SMALL, TOGETHER = 2**17, 64


@dataclass(kw_only=True, frozen=True, eq=False)
class Stack:
    """P parts that are applied together: they share what they do, or are small and of one shape.

    Arguments:
        q, from_trace, out: what they do, see `Local`: (…, n, m), (…, m, b), (…, b, m), one for all or one for each.
        parts: their numbers, (P,).
        rows: the numbers of their rows, (P, n).
        roots: √w of them, (P, n, 1).
        owned: the numbers of their unknowns, (P, b).
        told: do their residuals tell of the solution? (P,).
    """

    q: FloatArray
    from_trace: FloatArray
    out: FloatArray
    parts: NDArray[np.intp]
    rows: NDArray[np.intp]
    roots: FloatArray
    owned: NDArray[np.intp]
    told: NDArray[np.bool_]

    @property
    def told_q(self) -> FloatArray:
        """Q of those whose residuals tell."""
        return self.q if self.q.ndim == 2 or np.all(self.told) else self.q[self.told]


def batched(
    parts: Sequence[Local],
    rows: Sequence[NDArray[np.intp]],
    roots: Sequence[FloatArray],
    owned: Sequence[NDArray[np.intp]],
    told: Collection[int],
) -> list[Stack]:
    """All parts: equal ones together, small ones of one shape together, and large ones one by one.

    Arguments:
        parts: what each does.
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
    found: list[Stack] = []
    for numbers in (*alike.values(), *cut):
        first = parts[numbers[0]]
        shared = all(parts[k] is first for k in numbers)
        found.append(
            Stack(
                q=first.q if shared else np.stack([parts[k].q for k in numbers]),
                from_trace=first.from_trace if shared else np.stack([parts[k].from_trace for k in numbers]),
                out=first.out if shared else np.stack([parts[k].out for k in numbers]),
                parts=np.array(numbers),
                rows=np.stack([rows[k] for k in numbers]),
                roots=np.stack([roots[k] for k in numbers])[:, :, None],
                owned=np.stack([owned[k] for k in numbers]),
                told=np.array([k in told for k in numbers]),
            )
        )
    return found
