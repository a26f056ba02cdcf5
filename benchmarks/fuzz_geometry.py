"""Bad and good geometry: random polygons and random trees of set operations, against shapely and Monte Carlo.

Areas, lengths, normals and samples are right, or an error has a reason.

Usage: python benchmarks/fuzz_geometry.py [number] [first seed]. A run that was stopped goes on where it was; delete
out/benchmarks/fuzz_geometry.jsonl to begin anew.
"""

from __future__ import annotations

import json
import sys
from collections import Counter

import numpy as np
from common import OUT, console, save, table
from fuzzing.shapes import Shape, judged, polygon, tree

#: What was found, a line for each shape.
JOURNAL = OUT / "fuzz_geometry.jsonl"


def drawn(seed: int) -> tuple[str, Shape]:
    """The kind of the shape of this number, and the shape."""
    rng = np.random.default_rng(seed)
    kind = seed % 5
    if kind == 0:
        return "polygons", polygon(rng, star=bool(rng.random() < 0.5))
    if kind == 1:
        return "trees on a line", tree(rng, 1, 3)
    if kind == 2:
        return "trees in space", tree(rng, 3, 2)
    return "trees in the plane", tree(rng, 2, 3)


def found_before() -> dict[int, tuple[str, str, str]]:
    """What an earlier run, or one that was stopped, found: kind, outcome and reason by seed."""
    lines = JOURNAL.read_text().splitlines() if JOURNAL.exists() else []
    return {seed: (kind, outcome, why) for seed, kind, outcome, why in map(json.loads, lines)}


def main(number: int = 2000, first: int = 0) -> int:
    """Try so many, but for those that were tried before; the number of those that are wrong."""
    JOURNAL.parent.mkdir(parents=True, exist_ok=True)
    found = found_before()
    for seed in range(first, first + number):
        if seed not in found:
            kind, shape = drawn(seed)
            outcome, why = judged(shape, seed)
            found[seed] = kind, outcome, f"{why}\n    {shape.name}" if outcome == "wrong" else why
            with JOURNAL.open("a") as journal:
                journal.write(json.dumps([seed, *found[seed]]) + "\n")
    tried = {seed: found[seed] for seed in range(first, first + number)}
    wrong = [f"{seed}: {why}" for seed, (_, outcome, why) in tried.items() if outcome == "wrong"]
    counts = Counter((kind, outcome) for kind, outcome, _ in tried.values())
    kinds = sorted({kind for kind, _ in counts})
    rows = [[kind, *(str(counts[kind, outcome]) for outcome in ("right", "refused", "wrong"))] for kind in kinds]
    table(f"{number} random shapes", ["kind", "right", "refused with a reason", "wrong"], rows)
    console.print(*wrong, sep="\n")
    save("fuzz_geometry", {"rows": rows, "wrong": wrong})
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
