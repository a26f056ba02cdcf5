"""Points of a box at which a predicate holds, also where that is a small part of the box."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kernop.basics.errors import FloatArray

#: At most so many points are drawn at once, and in all.
MOST = 2**18
#: How often as many points as are sought are drawn before nothing is found.
PATIENCE = 16

#: Does it hold at points (n, m)? (n,).
Holds = Callable[[FloatArray], NDArray[np.bool_]]
#: Points of a sequence in the unit cube, from one on, so many: (n, m).
Sequence = Callable[[int, int], FloatArray]


def sought(
    holds: Holds,
    box: tuple[FloatArray, FloatArray],
    bounds: tuple[FloatArray, FloatArray],
    number: int,
    sequence: Sequence,
    patience: int = PATIENCE,
) -> FloatArray:
    """Points at which a predicate holds, so many unless that is next to nowhere, evenly spread: (n, m).

    The box in which they are drawn shrinks around those that were found, with some room, so that a small part of it is
    filled too; points that were found in a larger box are few beside the others.

    Arguments:
        box: lower and upper corner of the box in which is looked first.
        bounds: the box in which it is looked at all.
        number: how many points.
        sequence: whose points are drawn.
        patience: nothing is found if so many times the number of points were drawn, and it holds at none.
    """
    (a, b), (low, high) = box, bounds
    found, drawn, asked = np.empty((0, len(a))), 0, 4 * number
    while len(found) < number and drawn < MOST:
        x = a + sequence(drawn, asked) * (b - a)
        found, drawn = np.concatenate([found, x[holds(x)]]), drawn + asked
        if len(found) == 0 and drawn >= patience * number:
            break
        if 0 < len(found) < number:
            least, most = np.min(found, axis=0), np.max(found, axis=0)
            room = np.maximum(0.5 * (most - least), (b - a) * drawn ** (-1.0 / len(a)))
            a, b = np.maximum(low, least - room), np.minimum(high, most + room)
        asked = min(4 * asked, MOST)
    return found[:number]
