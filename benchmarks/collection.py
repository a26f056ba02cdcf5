"""Is kernop good by default, on problems that nobody tuned on? Published problems, by default and by hand.

Usage: python benchmarks/collection.py [--half tuning|held-out] [--family X] [--only NAME] [--fast] [--again]
       [--seconds S] [--gigabytes G] [--record FILE]
       python benchmarks/collection.py --hand-scan NAME|missing [--half …] [--family X]
       python benchmarks/collection.py --list

Relative L2 errors of u at 2500 random points of the domain, and seconds of learn without compilation: plain
``learn(problem)``; the same of the problem as it was published, with its data in it; ``learn(problem, inputs=[…])``,
which knows the data as well, but as arguments of T; ``learn(problem, tol=1e-6)`` (! if it warned);
the best that was found by hand with at most 3000 centres in 12 s; the best published figure of a neural solver that
could be checked. A fixed hash of the name puts each problem into the half that may be used for tuning, or into the half
that is held out.

--fast leaves out all but the first; --again runs the settings by hand again, which are quoted otherwise; --hand-scan
searches for them and prints the best, a line of `collection_problems/by_hand.py`, for a problem or for all that have
none there. A column that takes longer than S seconds, or more than G gigabytes, is ended and told as exceeded.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict

from casewise import EXCEEDED, Found, Limits, add_limits, casewise, limits_of
from collection_problems import ENTRIES
from collection_problems.entry import Entry
from collection_problems.hand import Hand
from collection_problems.measure import COLUMNS, Line, Run, Summary, by_hand, run
from collection_problems.scan import scan
from common import console, save, table
from rich.console import Console

HALVES = ("tuning", "held-out")
HEADINGS = (
    "problem",
    "default s",
    "error",
    "stated s",
    "error",
    "inputs s",
    "error",
    "tol s",
    "error",
    "by hand s",
    "error",
    "published",
    "÷ hand",
)


def chosen(half: str | None, family: str | None, only: str | None) -> list[Entry]:
    """The entries of this half, family and name."""
    for wanted, known in ((family, {e.family for e in ENTRIES}), (only, {e.name for e in ENTRIES})):
        if wanted is not None and wanted not in known:
            sys.exit(f"{wanted!r} is not there; --list shows families and names")
    return [e for e in ENTRIES if half in (None, e.half) and family in (None, e.family) and only in (None, e.name)]


def figures(found: Run | Hand | None) -> list[str]:
    if found is None:
        return ["–", "–"]
    if isinstance(found, Run) and found.exceeded:
        return [f"> {found.exceeded}", "–"]
    told = "!" if isinstance(found, Run) and found.told else ""
    return [f"{found.seconds:.1f}", f"{found.error:.0e}{told}"]


def row(line: Line) -> list[str]:
    entry = line.entry
    name = f"{entry.name} *" if entry.needs_parts else entry.name
    published = f"{entry.published.error:.0e}" if entry.published else "–"
    ratio = f"{line.ratio:.1g}" if line.hand else "–"
    return [
        name,
        *figures(line.default),
        *figures(line.stated),
        *figures(line.known),
        *figures(line.tol),
        *figures(line.hand),
        published,
        ratio,
    ]


def show(lines: Sequence[Line]) -> None:
    """A table for each family of each half, and a summary for each half."""
    for half in HALVES:
        own = [line for line in lines if line.entry.half == half]
        for family in dict.fromkeys(line.entry.family for line in own):
            rows = [row(line) for line in own if line.entry.family == family]
            table(f"{half}: {family} (relative L2; ! warned; * needs parts)", HEADINGS, rows)
    for half in HALVES:
        own = [line for line in lines if line.entry.half == half]
        if own:
            console.print(f"{half}: {Summary(own)}", highlight=False)


def recorded(line: Line) -> dict[str, object]:
    return {
        "family": line.entry.family,
        "half": line.entry.half,
        "source": line.entry.source,
        "published": asdict(line.entry.published) if line.entry.published else None,
        "default": asdict(line.default),
        "stated": asdict(line.stated) if line.stated else None,
        "inputs": asdict(line.known) if line.known else None,
        "tol": asdict(line.tol) if line.tol else None,
        "by hand": asdict(line.hand) if line.hand else None,
        "ratio": line.ratio,
    }


def asked(case: str) -> Found:
    """What a column of an entry gives, "name | column"."""
    name, _, column = case.partition(" | ")
    (entry,) = (entry for entry in ENTRIES if entry.name == name)
    if column == "by hand":
        assert entry.by_hand is not None
        return asdict(by_hand(entry, entry.by_hand))
    return asdict(run(entry, **COLUMNS[column](entry)))


def measured(entries: Sequence[Entry], columns: Sequence[str], limits: Limits) -> list[Line]:
    """The lines of entries, with these columns; settings by hand are quoted unless they are among them."""
    cases = [f"{e.name} | {c}" for e in entries for c in columns if c != "by hand" or e.by_hand is not None]
    found = dict(casewise(asked, cases, limits))

    def ran(entry: Entry, column: str) -> Run | None:
        own = found.get(f"{entry.name} | {column}")
        return None if own is None else Run.read(own, own.get(EXCEEDED))

    def hand(entry: Entry) -> Hand | None:
        own = found.get(f"{entry.name} | by hand", {EXCEEDED: ""})
        return entry.by_hand if EXCEEDED in own else Hand(**(own | {"resolution": tuple(own["resolution"])}))

    runs = [(e, ran(e, "default"), ran(e, "stated"), ran(e, "inputs"), ran(e, "tol")) for e in entries]
    return [Line(e, default, stated, known, tol, hand(e)) for e, default, stated, known, tol in runs if default]


def literal(name: str, hand: Hand) -> str:
    """A line of `by_hand.py`."""
    shape = f", resolution={hand.resolution}" if hand.resolution else ""
    margin = f", margin={hand.margin:g}" if hand.margin != Hand(1).margin else ""
    return (
        f'    "{name}": Hand({hand.centers}, {hand.ratio:g}, {hand.boundary:g}, {hand.width:.3g}{shape}{margin}, '
        f"error={hand.error:.1e}, seconds={hand.seconds:.2g}),"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Is kernop good by default?")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--family")
    parser.add_argument("--only", metavar="NAME")
    parser.add_argument("--columns", nargs="+", choices=COLUMNS, default=list(COLUMNS), help="which are measured")
    parser.add_argument("--fast", action="store_true", help="leave out all but the default")
    parser.add_argument("--again", action="store_true", help="run the settings by hand again")
    parser.add_argument("--list", action="store_true", help="show the problems")
    parser.add_argument("--hand-scan", metavar="NAME", help="search for the best settings of a problem")
    add_limits(parser)
    options = parser.parse_args()
    only = options.only if options.hand_scan in (None, "missing") else options.hand_scan
    entries = chosen(options.half, options.family, only)
    progress = Console(stderr=True)
    if options.list:
        for entry in entries:
            console.print(f"{entry} ({entry.half}): {entry.source}", highlight=False)
        return
    if options.hand_scan:
        for entry in entries:
            if options.hand_scan != "missing" or entry.by_hand is None:
                best = scan(entry, lambda hand: progress.print(literal("", hand), highlight=False))
                console.print(literal(entry.name, best), highlight=False, soft_wrap=True)
        return
    columns = ["default"] if options.fast else list(dict.fromkeys(["default", *options.columns]))
    lines = measured(entries, columns + ["by hand"] * options.again, limits_of(options))
    show(lines)
    save("collection", {"lines": {line.entry.name: recorded(line) for line in lines}})


if __name__ == "__main__":
    main()
