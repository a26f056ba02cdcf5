"""What all parts with the same faces share, if values are given on all of them: functions that these determine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray
from kernop.basics.linalg import orthonormal
from kernop.methods.parts.patterns import RECENT, Family, Pattern, bubbles
from kernop.methods.parts.traces import Trace

#: Bubbles that are smaller than this at all places on faces vanish there.
VANISHING = 1e-10
#: The smallest number on the diagonal of R_B, as a part of the largest, by which values determine all other functions.
DETERMINED = 1e-3


@dataclass(frozen=True, eq=False)
class Skeleton:
    """B = Q_B R_B for the values of functions b on faces, weighted as rows of least squares are.

    Arguments:
        q: rows of Q_B at the places of data, (k, m − μ).
        upper: R_B, (m − μ, m − μ).
        from_trace: Q_Bᵀ of the traces on seams, (m − μ, b).
        weights: by which the rows of each condition on the boundary are divided.
    """

    q: FloatArray
    upper: FloatArray
    from_trace: FloatArray
    weights: tuple[float, ...]


def ordered_for(degrees: NDArray[np.int64], basis: Family) -> NDArray[np.int64]:
    """The same polynomials (m, d) as a part of this basis has them: bubbles come first, see `Local`."""
    return degrees if basis == "legendre" else degrees[np.argsort(~bubbles(degrees), kind="stable")]


@lru_cache(maxsize=RECENT)
def skeleton_of(
    data: tuple[Pattern, ...], into: tuple[Pattern, ...], traces: tuple[Trace, ...], count: int
) -> Skeleton | None:
    """What values on faces determine; None if that is not all but bubbles, or bubbles do not vanish there.

    Arguments:
        data: where each condition on the boundary gives values.
        into: where values come in, on all seams.
        traces: on each seam.
        count: the number of bubbles, which come first.
    """
    if not count or not (data or into):
        return None
    wholes = [own.derivatives[own.alphas[0]] for own in (*data, *into)]
    if max(float(np.max(np.abs(whole[:count]), initial=0.0)) for whole in wholes) > VANISHING:
        return None
    given, taken = wholes[: len(data)], wholes[len(data) :]
    weights = [float(np.linalg.norm(whole)) for whole in given]
    size = float(np.linalg.norm([np.linalg.norm(whole) for whole in taken])) or 1.0
    scaled = [whole / w for whole, w in zip(wholes, [*weights, *[size] * len(taken)], strict=True)]
    b = np.concatenate(scaled, axis=1)[count:].T
    if b.shape[0] < b.shape[1]:
        return None
    q, upper = orthonormal(np.asfortranarray(b))
    diagonal = np.abs(np.diagonal(upper))
    if np.min(diagonal) < DETERMINED * np.max(diagonal):
        return None
    first = sum(len(own.z) for own in data)
    places = np.cumsum([first, *(len(trace.nodes) for trace in traces)])
    parts = [q[a:b].T @ (trace.values / size) for a, b, trace in zip(places[:-1], places[1:], traces, strict=True)]
    none = np.empty((len(upper), 0))
    return Skeleton(np.ascontiguousarray(q[:first]), upper, np.hstack([none, *parts]), tuple(weights))
