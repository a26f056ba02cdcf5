"""What learn gives on an entry: by default, to a tolerance, by hand."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import kernop as ko
from collection_problems.entry import Entry
from collection_problems.hand import Hand
from kernop.basics.errors import KernopError

#: The tolerance of the second column.
TOL = 1e-6
#: Learning that is faster than this is timed a second time, without compilation.
QUICK = 5.0
#: By default within this factor of the best by hand is good.
ROOM = 10.0
#: No error counts as smaller than this: below it, rounding decides.
FLOOR = 1e-10
#: Warnings by which kernop tells that something is wrong.
TELLING = ("ToleranceWarning", "IllPosedWarning", "AccuracyWarning")


@dataclass(frozen=True)
class Run:
    """One learn: seconds, the relative L2 error (∞ if it was refused or exceeded a limit), the number of centres, what
    was said, and the limit that it exceeded.
    """

    seconds: float
    error: float
    centers: int = 0
    said: tuple[str, ...] = ()
    exceeded: str = ""

    @classmethod
    def read(cls, fields: dict[str, Any], exceeded: str | None = None) -> Run:
        """What `dataclasses.asdict` made of one; or what exceeded a limit."""
        if exceeded:
            return cls(float("inf"), float("inf"), exceeded=exceeded)
        return cls(**(fields | {"said": tuple(fields["said"])}))

    @property
    def told(self) -> bool:
        """Was there a warning of kernop, or a refusal?"""
        return any(name in TELLING or name.startswith("refused") for name in self.said)


def run(entry: Entry, *, twice: bool = True, stated: bool = False, **settings: Any) -> Run:
    """Learn, solve, compare; what is quick is timed a second time, unless ``twice`` is false.

    Arguments:
        stated: are the data in the problem, as it was published, or arguments of T?
    """
    problem = entry.stated() if stated else entry.problem()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        started = time.perf_counter()
        try:
            operator = ko.learn(problem, **settings)
            seconds = time.perf_counter() - started
            if twice and seconds < QUICK:
                started = time.perf_counter()
                operator = ko.learn(problem, **settings)
                seconds = time.perf_counter() - started
            error = entry.error(operator)
        except KernopError as failure:
            return Run(time.perf_counter() - started, float("inf"), 0, (f"refused: {type(failure).__name__}",))
    said = tuple(dict.fromkeys(warning.category.__name__ for warning in caught))
    return Run(seconds, error, _centers(operator), said)


def _centers(operator: ko.SolutionOperator) -> int:
    expansion = getattr(operator.factorisation, "expansion", None)
    return len(expansion) if expansion is not None else 0


def by_hand(entry: Entry, hand: Hand) -> Hand:
    """The settings with what they give now."""
    found = run(entry, **hand.settings(entry.problem()))
    return replace(hand, error=found.error, seconds=found.seconds)


@dataclass(frozen=True)
class Line:
    """An entry, what learn gives by default, with the data in the problem, knowing the inputs, and to a tolerance, and
    the best by hand.
    """

    entry: Entry
    default: Run
    stated: Run | None
    known: Run | None
    tol: Run | None
    hand: Hand | None

    @property
    def ratio(self) -> float:
        """The error by default ÷ by hand; neither counts as less than 1e-10."""
        return self.compared(self.default)

    def compared(self, found: Run | None) -> float:
        """The error of a run ÷ by hand, likewise; NaN if one of them is not there."""
        if self.hand is None or found is None:
            return float("nan")
        return max(found.error, FLOOR) / max(self.hand.error, FLOOR)

    @property
    def within(self) -> bool:
        """Is the default within ten times of the best by hand?"""
        return self.ratio <= ROOM

    def beats(self, found: Run | None) -> bool:
        """Is a run better than the published figure?"""
        published = self.entry.published
        return published is not None and found is not None and found.error < published.error


#: The settings of each column.
COLUMNS: dict[str, Callable[[Entry], dict[str, Any]]] = {
    "default": lambda entry: {},
    "stated": lambda entry: {"stated": True},
    "inputs": lambda entry: {"inputs": [dict(entry.inputs)]},
    "tol": lambda entry: {"tol": TOL},
}


@dataclass(frozen=True)
class Summary:
    """The counts of a half."""

    lines: Sequence[Line]

    def __str__(self) -> str:
        known = [line for line in self.lines if line.hand is not None]
        rivals = [line for line in self.lines if line.entry.published is not None]
        worse = [line.entry.name for line in rivals if not line.beats(line.default)]
        beaten = sum(line.beats(line.default) or line.beats(line.known) for line in rivals)
        parts = [line.entry.name for line in self.lines if line.entry.needs_parts]
        close = sum(line.within for line in known)
        told = [line for line in known if line.known is not None]
        knowing = sum(line.compared(line.known) <= ROOM for line in told)
        fixed = [line for line in known if line.stated is not None]
        stating = sum(line.compared(line.stated) <= ROOM for line in fixed)
        return (
            f"within ten times of the best by hand on {close} of {len(known)}"
            + (f" (with the data in the problem on {stating} of {len(fixed)})" if fixed else "")
            + (f" (with inputs= on {knowing} of {len(told)}); " if told else "; ")
            + f"others: {', '.join(line.entry.name for line in known if not line.within) or 'none'}; "
            f"better than the published figure on {len(rivals) - len(worse)} of {len(rivals)}"
            + (f" (with inputs= on {beaten}); " if told else "; ")
            + f"those that are not: {', '.join(worse) or 'none'}; need parts: {', '.join(parts) or 'none'}"
        )
