"""Where functions on a line jump, though nobody tells: seen by their values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernop.basics.errors import FloatArray, NumberArray

#: A line [0, 1] is looked at in so many places. Of the steps between neighbours so many are looked into, the largest
#: ones, if they are more than this part of all that a function varies by.
LOOKS, WORST, STEEP = 512, 16, 0.01
#: What a function varies by counts as at least this part of its size, and as nothing if it is less than this.
ROUNDING, LEAST = 1e-9, 1e-290
#: So often a step is halved; a jump is left of it if no less than this part is in the end.
HALVINGS, LEFT = 36, 0.5
#: Digits of the place: one that has few is meant.
DIGITS = 10


def breaks(values: Callable[[FloatArray], NumberArray]) -> list[float]:
    """Where some functions jump inside (0, 1), in order.

    Arguments:
        values: of k functions at parameters (n,): (n, k).
    """
    t = (np.arange(LOOKS) + 0.5) / LOOKS
    found = values(t)
    span = np.maximum(np.max(np.abs(found - found[:1]), axis=0), ROUNDING * np.max(np.abs(found), axis=0))
    steps = np.max(np.abs(np.diff(found, axis=0)) / np.where(span > LEAST, span, 1.0), axis=1)
    worst = np.sort(np.argsort(-steps)[:WORST])
    worst = worst[steps[worst] > STEEP]
    low, high, left, right = t[worst], t[worst + 1], found[worst], found[worst + 1]
    before = right - left
    for _ in range(HALVINGS if len(worst) else 0):
        middle = 0.5 * (low + high)
        here = values(middle)
        lower = np.max(np.abs(here - left), axis=1) > np.max(np.abs(right - here), axis=1)
        low, high = np.where(lower, low, middle), np.where(lower, middle, high)
        left, right = np.where(lower[:, None], left, here), np.where(lower[:, None], here, right)
    kept = np.max(np.abs(right - left), axis=1) >= LEFT * np.max(np.abs(before), axis=1)
    return [round(float(place), DIGITS) for place in 0.5 * (low + high)[kept]]
