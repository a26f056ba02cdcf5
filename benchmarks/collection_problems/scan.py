"""The search for the best settings by hand: one knob after the other, at few centres; then more centres."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf, isnan

import numpy as np

from collection_problems.entry import Entry
from collection_problems.hand import Hand
from collection_problems.measure import run

#: Centres of the search among the other knobs, and beyond it.
FEW, MORE = 700, (1500, 3000)
#: On a line.
FEW_ON_A_LINE, MORE_ON_A_LINE = 40, (20, 80, 160, 320, 640, 1280)
#: At most so many points.
MOST_POINTS = 6000
#: A search ends when the error is below this, and no run may take longer than this.
ENOUGH, LONGEST = 1e-10, 12.0

#: Told of every attempt.
Tell = Callable[[Hand], None]


def scan(entry: Entry, resolution: tuple[float, ...] = (), tell: Tell = lambda hand: None) -> Hand:
    """The best settings that were found; ``resolution`` is where the search among the axes begins."""
    line = entry.problem().dim == 1
    search = _Search(entry, tell)
    best = search.first(Hand(FEW_ON_A_LINE if line else FEW, boundary=0.3, resolution=resolution))
    if not line:
        best = search.axes(best)
    best = search.knobs(best)
    for centers in MORE_ON_A_LINE if line else MORE:
        best = search.better(best, [replace(best, centers=centers, ratio=min(best.ratio, MOST_POINTS / centers))])
    return search.fine(best)


class _Search:
    """Attempts at an entry, and the best of them."""

    def __init__(self, entry: Entry, tell: Tell) -> None:
        self.entry, self.tell = entry, tell
        self.dim = entry.problem().dim

    def first(self, hand: Hand) -> Hand:
        self._try(hand)  # compiles
        return self._try(hand)

    def _try(self, hand: Hand) -> Hand:
        found = run(self.entry, twice=False, **hand.settings(self.entry.problem()))
        error = inf if isnan(found.error) or found.seconds > LONGEST else found.error
        tried = replace(hand, error=error, seconds=found.seconds)
        self.tell(tried)
        return tried

    def better(self, best: Hand, others: Iterable[Hand]) -> Hand:
        for hand in others:
            if best.error < ENOUGH:
                break
            tried = self._try(hand)
            best = tried if tried.error < best.error else best
        return best

    def axes(self, best: Hand) -> Hand:
        """Another resolution along one axis, as long as that helps; in many dimensions, for the last one only."""
        if not best.resolution:
            best = replace(best, resolution=(1.0,) * self.dim)
            best = self.better(replace(best, error=inf), [replace(best, resolution=()), best])
        for axis in range(self.dim) if self.dim <= 3 else [self.dim - 1]:
            for factor in (2.0, 0.5):
                before = best
                for _ in range(4):
                    counts = np.array(best.resolution or (1.0,) * self.dim)
                    counts[axis] *= factor
                    tried = self.better(best, [replace(best, resolution=tuple(float(c) for c in counts))])
                    if tried is best:
                        break
                    best = tried
                if best is not before:
                    break
        return best

    def knobs(self, best: Hand) -> Hand:
        for ratio in (1.5, 3.0, 4.0):
            best = self.better(best, [replace(best, ratio=ratio)])
        if self.dim > 1:
            for share in (0.15, 0.5, 0.7) if self.dim < 4 else (0.5, 0.7, 0.85):
                best = self.better(best, [replace(best, boundary=share)])
        for width in (2.0, 4.0, 6.0, 9.0):
            best = self.better(best, [replace(best, width=width)])
        return best

    def fine(self, best: Hand) -> Hand:
        """Width, ratio and margin again, with the number of centres that was found."""
        return self.better(
            best,
            [replace(best, width=best.width * 0.75), replace(best, width=best.width * 1.3), replace(best, margin=3.0)],
        )
