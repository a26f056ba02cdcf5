"""The search for the best settings by hand: one knob after the other, at few centres; then more centres."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf, isnan

import numpy as np

from collection_problems.entry import Entry
from collection_problems.hand import Hand, isotropic
from collection_problems.measure import run

#: Centres of the search among the other knobs, and beyond it.
FEW, MORE = 700, (1500, 3000)
#: On a line.
FEW_ON_A_LINE, MORE_ON_A_LINE = 40, (20, 80, 160, 320, 640, 1280)
#: At most so many points.
MOST_POINTS = 6000
#: A search ends when the error is below this, more centres are tried above that, and no run may take longer (seconds;
#: twice as many as a machine needs that does nothing else).
ENOUGH, GOOD, LONGEST = 1e-10, 1e-8, 24.0

#: Where the search among the axes begins, where a search from one spacing for all would see nothing.
BEGIN = {
    "PINNacle Heat2d-MS": (16.0, 2.0, 2.0),
    "wave of speed 10": (1.0, 6.0),
    "heat, sin 500πx": (300.0, 1.0),
    "heat, sin 50πx": (40.0, 1.0),
    "diffusion 1/(500π)² and 1/π²": (12.0, 1.0),
    "Poisson, sin 20πx sin πy": (12.0, 1.0),
    "Poisson on a strip 100 : 1": (4.0, 1.0),
    "Laplace on a fin 20 : 1": (4.0, 1.0),
    "stretched grid, ε = 1e-3": (3.0, 1.0),
    "convection, β = 30": (1.0, 4.0),
}

#: Told of every attempt.
Tell = Callable[[Hand], None]


def scan(entry: Entry, tell: Tell = lambda hand: None, patience: float = inf) -> Hand:
    """The best settings that were found; no attempt is made after ``patience`` seconds of the processor."""
    line = entry.problem().dim == 1
    search = _Search(entry, tell, time.process_time() + patience)
    first = Hand(FEW_ON_A_LINE if line else FEW, boundary=0.3, resolution=BEGIN.get(entry.name, ()), error=inf)
    best = search.better(first, [first])
    if not line:
        best = search.axes(best)
    best = search.knobs(best)
    for centers in MORE_ON_A_LINE if line else MORE:
        if best.error < GOOD and not line:
            break
        best = search.better(best, [replace(best, centers=centers, ratio=min(best.ratio, MOST_POINTS / centers))])
    return search.fine(best)


class _Search:
    """Attempts at an entry, and the best of them."""

    def __init__(self, entry: Entry, tell: Tell, end: float) -> None:
        self.entry, self.tell, self.end = entry, tell, end
        self.dim = entry.problem().dim

    def _try(self, hand: Hand) -> Hand:
        found = run(self.entry, twice=False, **hand.settings(self.entry.problem()))
        error = inf if isnan(found.error) or found.seconds > LONGEST else found.error
        tried = replace(hand, error=error, seconds=found.seconds)
        self.tell(tried)
        return tried

    def better(self, best: Hand, others: Iterable[Hand]) -> Hand:
        for hand in others:
            if best.error < ENOUGH or time.process_time() > self.end:
                break
            tried = self._try(hand)
            best = tried if tried.error < best.error else best
        return best

    def axes(self, best: Hand) -> Hand:
        """Another resolution along one axis, as long as that helps; in many dimensions, for the last one only."""
        for axis in range(self.dim) if self.dim <= 3 else [self.dim - 1]:
            for factor in (2.0, 0.5):
                before = best
                for _ in range(4):
                    tried = self.better(best, [replace(best, resolution=self._scaled(best, axis, factor))])
                    if tried is best:
                        break
                    best = tried
                if best is not before:
                    break
        return best

    def _scaled(self, hand: Hand, axis: int, factor: float) -> tuple[float, ...]:
        """The resolution with another one along an axis."""
        counts = np.array(hand.resolution or isotropic(self.entry.problem()))
        counts[axis] *= factor
        return tuple(float(count) for count in np.round(counts / np.min(counts), 3))

    def knobs(self, best: Hand) -> Hand:
        """Points for each centre, the share of the boundary, the width."""
        for ratio in (3.0,) if self.dim > 1 else (1.5, 3.0, 5.0):
            best = self.better(best, [replace(best, ratio=ratio)])
        if self.dim > 1:
            for share in (0.15, 0.5) if self.dim < 4 else (0.7, 0.85):
                best = self.better(best, [replace(best, boundary=share)])
        for width in (4.0, 6.0):
            best = self.better(best, [replace(best, width=width)])
        return best

    def fine(self, best: Hand) -> Hand:
        """The width again, with the number of centres that was found."""
        if best.error < GOOD:
            return best
        return self.better(best, [replace(best, width=best.width * factor) for factor in (0.75, 1.3)])
